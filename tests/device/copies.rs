//! One copy to the device and one back for each batch; weights once, however many lanes there are.

use crate::{ask, mlp, of_lost_cities, parameters, rows, stand_in};
use coorl_async::{
    inference::{Computing, Head, HeadArchitectures, LaneNetworks},
    network::Kind,
    platform::transfers,
};

#[test]
fn a_batch_travels_once_each_way_whatever_the_network() {
    for (architecture, deterministic) in [
        (mlp(37, 11), false),
        (mlp(37, 11), true),
        (of_lost_cities(Kind::ColorSet), false),
    ] {
        let (info_len, actions) = (architecture.inputs(), architecture.outputs());
        let architectures = HeadArchitectures::from(architecture);
        let computing = Computing {
            deterministic,
            ..stand_in()
        };
        let heads = [(Head::STRATEGY, parameters(&architectures.policy, 0))];
        let mut lane = crate::lane(&architectures, &computing, 256, &heads);
        for batch in [256, 1, 100] {
            let rows = rows(batch * info_len, 1);
            let before = transfers::of_this_thread();
            ask(&mut lane, Head::STRATEGY, &rows, info_len);
            let made = transfers::of_this_thread() - before;
            assert_eq!((made.to_device.count, made.to_host.count), (1, 1));
            let padded = if deterministic {
                batch.next_multiple_of(64)
            } else {
                batch
            };
            assert_eq!(made.to_device.bytes as usize, 4 * padded * info_len);
            assert_eq!(made.to_host.bytes as usize, 4 * batch * actions);
        }
    }
}

#[test]
fn weights_travel_once_for_all_lanes() {
    let architectures = HeadArchitectures::from(mlp(37, 11));
    let computing = stand_in();
    let lane = || LaneNetworks::new(&architectures, &computing, 64).unwrap();
    let mut lanes = [lane(), lane(), lane()];
    let parameters = parameters(&architectures.policy, 0);
    let bytes = 4 * parameters.len();
    let before = transfers::of_this_thread();
    let head = Head::advantage(coorl_async::game::Player::P1);
    let weights = LaneNetworks::prepare(&architectures, &computing, head, parameters).unwrap();
    for lane in &mut lanes {
        lane.load(head, &weights).unwrap();
    }
    let made = transfers::of_this_thread() - before;
    assert_eq!(made.to_host.count, 0);
    assert_eq!(made.to_device.count, 1);
    assert_eq!(made.to_device.bytes as usize, bytes);
    let rows = rows(5 * 37, 2);
    let [first, second, third] = lanes.map(|mut lane| ask(&mut lane, head, &rows, 37));
    assert!(first == second && second == third);
}
