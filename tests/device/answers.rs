//! A device runs the operations that libtorch runs on the host.

use crate::{ask, host, lane, mlp, of_lost_cities, parameters, rows, stand_in};
use coorl_async::{
    inference::{Computing, Head, HeadArchitectures, LaneNetworks, Network},
    network::{Compile, Kind},
};

const HEADS: [Head; 3] = [Head(0), Head(1), Head::STRATEGY];

fn weights(architectures: &HeadArchitectures) -> Vec<(Head, Vec<f32>)> {
    let of = |head: Head| parameters(architectures.of(head).unwrap(), head.0.into());
    HEADS.map(|head| (head, of(head))).to_vec()
}

#[test]
fn the_stand_in_answers_as_the_host_does_to_the_bit() {
    for architecture in [
        mlp(37, 11),
        of_lost_cities(Kind::ColorSet),
        of_lost_cities(Kind::ColorShared),
    ] {
        let info_len = architecture.inputs();
        let architectures = HeadArchitectures::from(architecture);
        let heads = weights(&architectures);
        let [mut there, mut here] =
            [stand_in(), host()].map(|computing| lane(&architectures, &computing, 300, &heads));
        for (number, batch) in [1, 7, 64, 300, 3].into_iter().enumerate() {
            let rows = rows(batch * info_len, number as u64);
            for head in HEADS {
                let [there, here] = [&mut there, &mut here].map(|lane| {
                    let answers = ask(lane, head, &rows, info_len);
                    answers.into_iter().map(f32::to_bits).collect::<Vec<_>>()
                });
                assert_eq!(there, here, "{batch} rows, head {}", head.0);
            }
        }
    }
}

#[test]
fn deterministic_answers_do_not_depend_on_the_batch() {
    let architectures = HeadArchitectures::from(mlp(37, 11));
    let computing = Computing {
        deterministic: true,
        ..stand_in()
    };
    let heads = weights(&architectures);
    let mut lane = lane(&architectures, &computing, 500, &heads);
    let rows = rows(450 * 37, 1);
    let whole = ask(&mut lane, HEADS[0], &rows, 37);
    for (number, row) in rows.chunks_exact(37).enumerate().step_by(41) {
        let alone = ask(&mut lane, HEADS[0], row, 37);
        assert_eq!(alone, whole[11 * number..][..11], "row {number}");
    }
}

#[test]
fn a_traced_function_answers_as_its_operations_do() {
    for architecture in [
        mlp(37, 11),
        of_lost_cities(Kind::ColorSet),
        of_lost_cities(Kind::ColorShared),
    ] {
        let info_len = architecture.inputs();
        let architectures = HeadArchitectures::from(architecture);
        let heads = weights(&architectures);
        let traced = Computing {
            compile: Compile::Script,
            ..stand_in()
        };
        let [mut traced, mut plain] =
            [traced, stand_in()].map(|computing| lane(&architectures, &computing, 300, &heads));
        for (number, batch) in [1, 5, 200, 64].into_iter().enumerate() {
            let rows = rows(batch * info_len, number as u64);
            for head in HEADS {
                let traced = ask(&mut traced, head, &rows, info_len);
                let plain = ask(&mut plain, head, &rows, info_len);
                let near = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-5 * b.abs().max(1.0);
                assert!(traced.iter().zip(&plain).all(near), "{batch} rows");
            }
        }
    }
}

#[test]
fn one_batch_of_many_is_timed_on_the_device() {
    let architectures = HeadArchitectures::from(mlp(5, 3));
    let heads = weights(&architectures);
    let mut lane = lane(&architectures, &stand_in(), 10, &heads);
    let timed = (0..256).filter(|_| {
        ask(&mut lane, HEADS[0], &[0.5; 10], 5);
        lane.device_time().is_some()
    });
    assert_eq!(timed.count(), 4);
}

#[test]
fn what_does_not_fit_is_refused() {
    let architectures = HeadArchitectures::from(mlp(5, 3));
    let mut lane = lane(&architectures, &stand_in(), 10, &[]);
    lane.stage(1);
    let error = lane.run(HEADS[0], 1).unwrap_err();
    assert!(error.contains("head 0 has no weights"), "{error}");
    let prepare = |computing, head, parameters| {
        LaneNetworks::prepare(&architectures, &computing, head, parameters)
    };
    assert!(prepare(stand_in(), HEADS[0], vec![0.0; 7]).is_err());
    let right = parameters(&architectures.policy, 0);
    assert!(prepare(stand_in(), Head::CRITIC, right.clone()).is_err());
    let of_the_host = prepare(host(), HEADS[0], right).unwrap();
    assert!(lane.load(HEADS[0], &of_the_host).is_err());
}
