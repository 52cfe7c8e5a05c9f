//! The real measurements: an iteration's walks through the engine with the real networks.

use super::{MeasureError, Measurement, Measurer, Setting};
use crate::{
    bots::ScriptedGame,
    checkpoint::Checkpoint,
    encoding::Encoding,
    game::Player,
    inference::{
        self, Engine, EngineError, EngineNetworks, Head, HeadWeights, Job, Lease, StopFlag, Stopped,
    },
    network::Architecture,
    random::{Purpose, Stream},
    traversal::{IterationWalks, Traversers, Walker},
};
use anyhow::{Context, bail};
use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

/// How long a fresh engine walks before it is measured: its memory is touched and its threads are up after a few batches.
const WARM_UP: Duration = Duration::from_millis(100);
/// A measurement walks for at least about this long: iterations shorter than that are repeated.
const LEAST: Duration = Duration::from_millis(100);
/// The most iterations in a measurement.
const MOST_REPEATS: u32 = 1_000;

/// The networks' weights by head.
#[derive(Clone, Debug)]
pub struct Weights {
    heads: Vec<(Head, Arc<[f32]>)>,
    /// League snapshots among them.
    snapshots: usize,
}

impl Weights {
    /// The random weights that a run with `seed` starts with.
    pub fn random(architecture: &Architecture, seed: u64) -> Self {
        let heads = [Head(0), Head(1), Head::STRATEGY].into_iter();
        let heads = heads.map(|head| {
            let mut stream = Stream::new(seed, Purpose::Weights, head.0.into(), 0);
            (head, architecture.initial(&mut stream).into())
        });
        Self {
            heads: heads.collect(),
            snapshots: 0,
        }
    }

    /// Those of a checkpoint, its league snapshots included.
    ///
    /// # Errors
    /// It holds other networks than `architecture`, or lacks one.
    pub fn of(checkpoint: &Checkpoint, architecture: &Architecture) -> anyhow::Result<Self> {
        let named = [
            (Head::advantage(Player::P0), "advantage_0"),
            (Head::advantage(Player::P1), "advantage_1"),
            (Head::STRATEGY, "strategy"),
        ];
        let mut heads: Vec<(Head, Arc<[f32]>)> = Vec::new();
        for (head, name) in named {
            let network = checkpoint.network(name);
            let network =
                network.with_context(|| format!("the checkpoint holds no network \"{name}\""))?;
            heads.push((head, network.parameters.as_slice().into()));
        }
        for (number, snapshot) in checkpoint.snapshots.iter().enumerate() {
            let number = u8::try_from(number).ok().filter(|number| *number < 100);
            let (Some(number), [p0, p1]) = (number, snapshot.as_slice()) else {
                bail!("the checkpoint's league snapshots are not pairs of networks, at most 100");
            };
            for (player, parameters) in Player::BOTH.into_iter().zip([p0, p1]) {
                heads.push((Head::snapshot(number, player), parameters.as_slice().into()));
            }
        }
        let wanted = architecture.num_parameters();
        let others = heads
            .iter()
            .find(|(_, parameters)| parameters.len() != wanted);
        if let Some((_, parameters)) = others {
            bail!(
                "the checkpoint's networks have {} parameters, the configured ones {wanted}: give the config.yaml of its run to --config",
                parameters.len()
            );
        }
        Ok(Self {
            heads,
            snapshots: checkpoint.snapshots.len(),
        })
    }
}

/// Measures by walking. Every measurement has an engine of its own, so that only one has threads and memory at a time.
pub struct Walking<'a, G: ScriptedGame, E> {
    walker: Arc<Walker<G, E>>,
    networks: EngineNetworks<'a>,
    heads: Vec<(Head, HeadWeights)>,
    /// League snapshots among them.
    snapshots: usize,
    seed: u64,
    /// Walks of an iteration.
    walks: usize,
    /// Iterations in a measurement.
    repeats: u32,
    stop: StopFlag,
    started: Instant,
}

impl<'a, G: ScriptedGame, E: Encoding<G>> Walking<'a, G, E> {
    /// Walks iterations of `walks` walks under `seed`. Walks one with `start` to see how many make a measurement.
    ///
    /// # Errors
    /// As [`Measurer::measure`].
    pub fn new(
        walker: Walker<G, E>,
        networks: EngineNetworks<'a>,
        weights: Weights,
        seed: u64,
        walks: usize,
        start: Setting,
        stop: &StopFlag,
    ) -> Result<Self, MeasureError> {
        let heads = weights.heads.iter().map(|(head, parameters)| {
            let weights = networks.prepare(*head, parameters.to_vec());
            weights.map(|weights| (*head, weights))
        });
        let heads = heads
            .collect::<Result<_, _>>()
            .map_err(|error| MeasureError::Failed(error.into()))?;
        let mut walking = Self {
            walker: Arc::new(walker),
            networks,
            heads,
            snapshots: weights.snapshots,
            seed,
            walks,
            repeats: 1,
            stop: stop.clone(),
            started: Instant::now(),
        };
        let first = walking.measure(start, 1)?;
        let repeats = (LEAST.as_secs_f64() / first.seconds.max(1e-6)).ceil();
        walking.repeats = (repeats as u32).clamp(1, MOST_REPEATS);
        walking.started = Instant::now();
        Ok(walking)
    }

    /// Walks in a measurement.
    pub fn walks_measured(&self) -> usize {
        self.walks * self.repeats as usize
    }

    fn engine(&self, setting: Setting) -> anyhow::Result<Warm> {
        let settings = inference::Settings {
            collect_timeout_us: setting.collect_timeout_us,
            max_batch: setting.max_batch,
            ..inference::Settings::default()
        };
        let (engine, networks) = self
            .networks
            .start(&settings, self.walker.slots(setting.in_flight))?;
        for (head, weights) in &self.heads {
            let (head, weights) = (*head, weights.clone());
            let loaded = networks.with_all(move |network| network.load(head, &weights))?;
            loaded.into_iter().collect::<Result<(), _>>()?;
        }
        Ok(Warm {
            engine,
            _networks: Box::new(networks),
        })
    }

    fn iteration(&self, iteration: u32) -> Arc<IterationWalks<G, E>> {
        Arc::new(IterationWalks {
            walker: Arc::clone(&self.walker),
            seed: self.seed,
            iteration,
            snapshots: self.snapshots,
            traversers: Traversers::Both,
        })
    }

    /// Walks for [`WARM_UP`] at the full number in flight; the walks then under way are dropped.
    fn warm_up(&self, engine: &Engine, in_flight: usize) -> Result<(), MeasureError> {
        let over = StopFlag::default();
        let outcome = thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(WARM_UP);
                over.raise();
            });
            let mut outcome = Ok(());
            while outcome.is_ok() && !over.is_raised() {
                // Iteration 0 is no run's: these walks are nobody's measurement.
                outcome = engine.run(self.iteration(0), self.walks, in_flight, &over, |_, _| {});
            }
            outcome
        });
        match outcome {
            Ok(()) | Err(EngineError::Interrupted) => {}
            Err(error) => return Err(MeasureError::Failed(error.into())),
        }
        // Requests that walks left behind are answered once every slot is free again: they are nobody's measurement either.
        engine
            .run(
                Arc::new(Nothing),
                engine.capacity(),
                engine.capacity(),
                &StopFlag::default(),
                |_, ()| {},
            )
            .map_err(|error| MeasureError::Failed(error.into()))?;
        drop(engine.take_statistics());
        Ok(())
    }
}

/// A job that does nothing with its slot.
struct Nothing;

impl Job for Nothing {
    type Output = ();

    async fn run(&self, _: usize, _: &mut Lease) -> Result<(), Stopped> {
        Ok(())
    }
}

/// An engine that answers as long as this lives.
struct Warm {
    engine: Engine,
    /// Dropping it would end the executor.
    _networks: Box<dyn std::any::Any>,
}

impl<G: ScriptedGame, E: Encoding<G>> Measurer for Walking<'_, G, E> {
    fn measure(&mut self, setting: Setting, round: u32) -> Result<Measurement, MeasureError> {
        if self.stop.is_raised() {
            return Err(MeasureError::Interrupted);
        }
        let warm = self.engine(setting)?;
        self.warm_up(&warm.engine, setting.in_flight)?;
        let first = (round.max(1) - 1).saturating_mul(self.repeats);
        let mut nodes = 0;
        let started = Instant::now();
        for repeat in 1..=self.repeats {
            let iteration = self.iteration(first.saturating_add(repeat));
            let walked = warm.engine.run(
                iteration,
                self.walks,
                setting.in_flight,
                &self.stop,
                |_, walk| nodes += walk.statistics.counts.nodes,
            );
            walked.map_err(|error| match error {
                EngineError::Interrupted => MeasureError::Interrupted,
                error => MeasureError::Failed(error.into()),
            })?;
        }
        let seconds = started.elapsed().as_secs_f64();
        let batches = warm.engine.take_statistics();
        Ok(Measurement {
            nodes,
            seconds,
            batches: batches.batches,
            rows: batches.rows,
            room: batches.room,
            flushes: batches.flushes,
            forward_seconds: batches.forward.as_secs_f64(),
            batch_p99: batches.batch_quantile(0.99) as f64,
            wait_p50_us: batches.wait_quantile_us(0.5),
            wait_p99_us: batches.wait_quantile_us(0.99),
        })
    }

    fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}
