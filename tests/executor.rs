//! The executor with a network that is not torch: no lost wake-up, no mixed-up answer, no hang.

use coorl_async::{
    game::Player,
    inference::{
        Engine, EngineError, EngineThreads, Head, Job, Lease, Network, NetworkControl, RowShape,
        Settings, StopFlag, Stopped,
    },
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    time::{Duration, Instant},
};

const SHAPE: RowShape = RowShape {
    info_len: 3,
    actions: 2,
};

/// Answers `[head + 10 a + 100 b, c]` for a row `[a, b, c]`; can be told to fail.
struct Fake {
    stage: Vec<f32>,
    answers: Vec<f32>,
    sizes: Arc<std::sync::Mutex<Vec<(u8, usize)>>>,
    behaviour: Behaviour,
    calls: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Behaviour {
    Answer,
    FailAt(usize),
    PanicAt(usize),
    ShortAnswer,
}

fn expected(head: Head, row: &[f32]) -> [f32; 2] {
    [f32::from(head.0) + 10.0 * row[0] + 100.0 * row[1], row[2]]
}

impl Network for Fake {
    fn stage(&mut self, rows: usize) -> &mut [f32] {
        self.stage.resize(rows * SHAPE.info_len, 0.0);
        &mut self.stage
    }

    fn run(&mut self, head: Head, rows: usize) -> Result<&[f32], String> {
        self.calls += 1;
        match self.behaviour {
            Behaviour::FailAt(call) if call == self.calls => return Err("out of luck".into()),
            Behaviour::PanicAt(call) if call == self.calls => panic!("kernel trouble"),
            Behaviour::ShortAnswer => return Ok(&[]),
            _ => {}
        }
        self.sizes.lock().unwrap().push((head.0, rows));
        let staged = self.stage.chunks_exact(SHAPE.info_len).take(rows);
        self.answers = staged.flat_map(|row| expected(head, row)).collect();
        Ok(&self.answers)
    }
}

type Sizes = Arc<std::sync::Mutex<Vec<(u8, usize)>>>;

fn start(
    max_batch: usize,
    collect_timeout_us: u64,
    workers: usize,
    behaviour: Behaviour,
) -> (Engine, NetworkControl<Fake>, Sizes) {
    let settings = Settings {
        max_batch,
        collect_timeout_us,
        ..Settings::default()
    };
    let sizes = Sizes::default();
    let build = {
        let sizes = Arc::clone(&sizes);
        move || {
            Ok(Fake {
                stage: vec![],
                answers: vec![],
                sizes: Arc::clone(&sizes),
                behaviour,
                calls: 0,
            })
        }
    };
    let (engine, control) = {
        let threads = EngineThreads::new(workers, workers);
        Engine::start(&settings, SHAPE, 4_096, threads, build).unwrap()
    };
    (engine, control, sizes)
}

/// Asks `steps(index)` times, heads alternating, and checks every answer.
struct Walks {
    steps: fn(usize) -> usize,
}

impl Job for Walks {
    type Output = f64;

    async fn run(&self, index: usize, lease: &mut Lease) -> Result<f64, Stopped> {
        let mut sum = 0.0;
        for step in 0..(self.steps)(index) {
            let row = [index as f32, step as f32, 0.5 * index as f32];
            lease.info_mut().copy_from_slice(&row);
            let head = if step % 2 == 0 {
                Head::STRATEGY
            } else {
                Head::advantage(Player::P1)
            };
            lease.request(head).await?;
            assert_eq!(
                lease.answer(),
                expected(head, &row),
                "walk {index}, step {step}"
            );
            assert_eq!(lease.info(), row);
            sum += f64::from(lease.answer()[0]);
        }
        Ok(sum)
    }
}

/// Fails instead of hanging.
fn within<T: Send + 'static>(seconds: u64, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, finished) = mpsc::channel();
    std::thread::spawn(move || drop(done.send(work())));
    finished
        .recv_timeout(Duration::from_secs(seconds))
        .expect("did not finish in time, or panicked")
}

#[test]
fn every_walk_gets_its_own_answers_in_index_order() {
    within(60, || {
        for (max_batch, timeout, workers, in_flight) in [
            (1, 0, 1, 1),
            (7, 0, 2, 64),
            (64, 50, 3, 1_000),
            (4_096, 1_000_000, 2, 333),
        ] {
            let (engine, _control, _) = start(max_batch, timeout, workers, Behaviour::Answer);
            let job = Arc::new(Walks {
                steps: |index| index % 13,
            });
            let mut seen = Vec::new();
            engine
                .run(job, 2_000, in_flight, &StopFlag::default(), |index, _| {
                    seen.push(index)
                })
                .unwrap();
            assert_eq!(seen, (0..2_000).collect::<Vec<_>>());
            let requests: usize = (0..2_000).map(|index| index % 13).sum();
            assert_eq!(engine.take_statistics().rows, requests as u64);
        }
    });
}

#[test]
fn outputs_do_not_depend_on_how_walks_were_batched() {
    let outputs = |max_batch, timeout, workers, in_flight| {
        within(60, move || {
            let (engine, _control, _) = start(max_batch, timeout, workers, Behaviour::Answer);
            let job = Arc::new(Walks {
                steps: |index| 5 + index % 31,
            });
            let mut outputs = Vec::new();
            engine
                .run(job, 500, in_flight, &StopFlag::default(), |_, sum| {
                    outputs.push(sum.to_bits())
                })
                .unwrap();
            outputs
        })
    };
    let reference = outputs(1, 0, 1, 1);
    for (max_batch, timeout, workers, in_flight) in
        [(3, 0, 2, 10), (100, 10_000, 4, 500), (4_096, 0, 1, 77)]
    {
        assert_eq!(outputs(max_batch, timeout, workers, in_flight), reference);
    }
}

#[test]
fn fewer_walks_than_a_batch_never_stall() {
    // With a timeout of an hour only quiescence can run a batch of 5 of 4,096.
    let statistics = within(30, || {
        let (engine, _control, _) = start(4_096, 3_600_000_000, 2, Behaviour::Answer);
        engine
            .run(
                Arc::new(Walks { steps: |_| 200 }),
                5,
                5,
                &StopFlag::default(),
                |_, _| {},
            )
            .unwrap();
        engine.take_statistics()
    });
    assert_eq!(statistics.flushes, [0, 0, statistics.total_flushes()]);
    assert_eq!(statistics.rows, 1_000);
}

#[test]
fn a_full_head_runs_without_waiting_for_the_others() {
    let (sizes, statistics) = within(30, || {
        let (engine, _control, sizes) = start(8, 3_600_000_000, 2, Behaviour::Answer);
        engine
            .run(
                Arc::new(Walks { steps: |_| 40 }),
                64,
                64,
                &StopFlag::default(),
                |_, _| {},
            )
            .unwrap();
        let sizes = sizes.lock().unwrap().clone();
        (sizes, engine.take_statistics())
    });
    assert!(statistics.flushes[0] > 0, "{:?}", statistics.flushes);
    assert!(sizes.iter().all(|&(_, rows)| rows <= 8), "{sizes:?}");
    assert_eq!(sizes.iter().map(|(_, rows)| rows).sum::<usize>(), 64 * 40);
}

/// One walk that asks at once, one that works for a while first.
struct Unequal;

impl Job for Unequal {
    type Output = Duration;

    async fn run(&self, index: usize, lease: &mut Lease) -> Result<Duration, Stopped> {
        if index == 1 {
            std::thread::sleep(Duration::from_millis(600));
        }
        let asked = Instant::now();
        lease.request(Head::STRATEGY).await?;
        Ok(asked.elapsed())
    }
}

#[test]
fn the_oldest_request_waits_no_longer_than_the_timeout() {
    let (waits, statistics) = within(30, || {
        let (engine, _control, _) = start(100, 20_000, 2, Behaviour::Answer);
        let mut waits = Vec::new();
        engine
            .run(Arc::new(Unequal), 2, 2, &StopFlag::default(), |_, wait| {
                waits.push(wait)
            })
            .unwrap();
        (waits, engine.take_statistics())
    });
    assert!(
        waits[0] >= Duration::from_millis(20),
        "ran before its timeout: {waits:?}"
    );
    assert!(
        waits[0] < Duration::from_millis(400),
        "waited for the slow walk: {waits:?}"
    );
    assert_eq!(statistics.flushes[1], 1);
}

#[test]
fn a_failing_or_panicking_network_ends_the_run_with_its_message() {
    for (behaviour, message) in [
        (Behaviour::FailAt(3), "out of luck"),
        (Behaviour::PanicAt(3), "kernel trouble"),
        (Behaviour::ShortAnswer, "gave 0 values"),
    ] {
        let (first, second) = within(30, move || {
            let (engine, control, _) = start(16, 100, 2, behaviour);
            let job = Arc::new(Walks { steps: |_| 50 });
            let first = engine.run(Arc::clone(&job), 100, 50, &StopFlag::default(), |_, _| {});
            let second = engine.run(job, 100, 50, &StopFlag::default(), |_, _| {});
            assert!(control.with(|_| ()).is_err());
            (first, second)
        });
        for error in [first, second] {
            let error = error.unwrap_err();
            assert!(
                matches!(&error, EngineError::Network(text) if text.contains(message)),
                "{error}"
            );
        }
    }
}

struct Panics;

impl Job for Panics {
    type Output = ();

    async fn run(&self, index: usize, lease: &mut Lease) -> Result<(), Stopped> {
        lease.request(Head::STRATEGY).await?;
        assert!(index != 17, "seventeen is unlucky");
        lease.request(Head::STRATEGY).await
    }
}

#[test]
fn a_panicking_walk_is_an_error_and_the_engine_lives_on() {
    within(30, || {
        let (engine, _control, _) = start(16, 100, 2, Behaviour::Answer);
        let error = engine
            .run(Arc::new(Panics), 100, 10, &StopFlag::default(), |_, ()| {})
            .unwrap_err();
        assert_eq!(
            error,
            EngineError::Panic {
                index: 17,
                message: "seventeen is unlucky".into()
            }
        );
        let job = Arc::new(Walks { steps: |_| 3 });
        let mut finished = 0;
        engine
            .run(job, 4_096, 4_096, &StopFlag::default(), |_, _| {
                finished += 1
            })
            .unwrap();
        assert_eq!(finished, 4_096, "all slots came back");
    });
}

#[test]
fn a_raised_flag_stops_a_run_that_would_go_on_for_ever() {
    within(30, || {
        let (engine, _control, _) = start(16, 100, 2, Behaviour::Answer);
        let stop = StopFlag::default();
        let raiser = stop.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            raiser.raise();
        });
        let job = Arc::new(Walks {
            steps: |_| usize::MAX,
        });
        assert_eq!(
            engine.run(job, 10, 10, &stop, |_, _| {}),
            Err(EngineError::Interrupted)
        );
        let job = Arc::new(Walks { steps: |_| 3 });
        engine
            .run(job, 4_096, 4_096, &StopFlag::default(), |_, _| {})
            .unwrap();
    });
}

#[test]
fn ten_thousand_steps_deep_works_on_a_default_stack() {
    within(120, || {
        let (engine, _control, _) = start(16, 100, 2, Behaviour::Answer);
        engine
            .run(
                Arc::new(Walks { steps: |_| 10_000 }),
                3,
                3,
                &StopFlag::default(),
                |_, _| {},
            )
            .unwrap();
    });
}

/// Drops a request in flight, then the walk.
struct Abandons {
    dropped: AtomicUsize,
}

impl Job for Abandons {
    type Output = ();

    async fn run(&self, index: usize, lease: &mut Lease) -> Result<(), Stopped> {
        if index.is_multiple_of(3) {
            let request = lease.request(Head::STRATEGY);
            futures::pin_mut!(request);
            assert!(futures::poll!(request).is_pending());
            self.dropped.fetch_add(1, Ordering::Relaxed);
            panic!("walk away");
        }
        lease.request(Head::STRATEGY).await
    }
}

#[test]
fn a_walk_that_ends_with_a_request_in_flight_frees_its_slot_once_answered() {
    within(60, || {
        let (engine, _control, _) = start(64, 100, 2, Behaviour::Answer);
        for _ in 0..200 {
            let job = Arc::new(Abandons {
                dropped: AtomicUsize::new(0),
            });
            let error = engine
                .run(Arc::clone(&job), 64, 64, &StopFlag::default(), |_, ()| {})
                .unwrap_err();
            assert!(matches!(error, EngineError::Panic { .. }));
            assert!(job.dropped.load(Ordering::Relaxed) > 0);
        }
        std::thread::sleep(Duration::from_millis(300));
        let job = Arc::new(Walks { steps: |_| 3 });
        engine
            .run(job, 4_096, 4_096, &StopFlag::default(), |_, _| {})
            .unwrap();
    });
}

#[test]
fn errands_reach_the_network_between_batches() {
    within(30, || {
        let (engine, control, _) = start(16, 100, 2, Behaviour::Answer);
        engine
            .run(
                Arc::new(Walks { steps: |_| 3 }),
                10,
                10,
                &StopFlag::default(),
                |_, _| {},
            )
            .unwrap();
        let calls = control.with(|fake| fake.calls).unwrap();
        assert!(calls > 0);
        drop(control);
        let job = Arc::new(Walks { steps: |_| 3 });
        assert!(
            engine
                .run(job, 10, 10, &StopFlag::default(), |_, _| {})
                .is_err()
        );
    });
}
