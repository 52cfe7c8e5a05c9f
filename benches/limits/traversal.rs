//! The traversal phase against the bare network, at the configured number of walks and at four times that.

use crate::{
    bare::Bare,
    report::{Bound, Row, median},
};
use coorl_async::{
    config::Config,
    encoding::Slots,
    game::lost_cities::LostCities,
    inference::StopFlag,
    platform,
    training::{Phase, PhaseClock, Trainer},
};
use std::time::{Duration, Instant};

/// Between the walks and a timing of the bare network: memory for the next walks is made ready meanwhile.
const SETTLE: Duration = Duration::from_millis(300);

type LostCitiesTrainer = Trainer<LostCities, Slots>;

/// What the rounds at one number of walks gave.
#[derive(Default)]
struct Rounds {
    bare: Vec<Bare>,
    rows_per_second: Vec<f64>,
    engine: Vec<f64>,
    nodes_per_second: Vec<f64>,
    adding: Vec<f64>,
}

impl Rounds {
    /// Round by round: the bare network's time for as many rows at its best batch / traversal seconds.
    fn limit(&self) -> Vec<f64> {
        let rounds = self.bare.iter().zip(&self.rows_per_second);
        rounds
            .map(|(bare, rows)| rows * bare.at_best_of(&self.bare).1 / 1e6)
            .collect()
    }

    /// Nodes/s that the bare network at its best batch allows, the median of the rounds.
    fn allowed(&self) -> f64 {
        let limits = self.limit();
        let rounds = self.nodes_per_second.iter().zip(&limits);
        median(rounds.map(|(nodes, limit)| nodes / limit).collect())
    }
}

/// A trainer of `config` with `times` its walks.
pub fn trainer(config: &Config, times: usize) -> anyhow::Result<LostCitiesTrainer> {
    let mut config = config.clone();
    config.traversal.traversals_per_player *= times;
    let game = LostCities::new(config.rules.clone())?;
    let encoding = Slots::new(&game, &config.encoding);
    let trainer = Trainer::new(game, encoding, &config)?;
    trainer.upload()?;
    Ok(trainer)
}

/// The rows of the traversal phase. Both numbers of walks run in every round, so that a drift of the machine meets both.
pub fn rows(config: &Config, rounds: u32) -> anyhow::Result<Vec<Row>> {
    let threads = config.run.threads.unwrap_or_else(platform::logical_cores);
    let mut base = (trainer(config, 1)?, Rounds::default());
    let mut four = (trainer(config, 4)?, Rounds::default());
    for round in 1..=rounds {
        for (trainer, measured) in [&mut base, &mut four] {
            measure(trainer, round, threads, measured)?;
        }
    }
    let (base, four) = (base.1, four.1);
    let scale = (base.nodes_per_second.iter().zip(&four.nodes_per_second))
        .map(|(base, four)| four / base)
        .collect();
    let nodes = |name, what: &String, rounds: &Rounds| {
        Row::new(
            name,
            what,
            "nodes/s",
            None::<Bound>,
            rounds.nodes_per_second.clone(),
        )
        .against("bare network at its best batch", rounds.allowed())
    };
    let default = format!("{} x 2 walks", config.traversal.traversals_per_player);
    Ok(vec![
        nodes("nodes", &default, &base),
        nodes("nodes-4x", &"four times the walks".to_owned(), &four),
        Row::new(
            "traversal",
            "bare network's time for as many rows at its best batch / traversal seconds",
            "",
            Bound::AtLeast(0.65),
            base.limit(),
        ),
        Row::new(
            "traversal-4x",
            "the same at four times the walks",
            "",
            Bound::AtLeast(0.80),
            four.limit(),
        ),
        Row::new(
            "engine",
            "bare network's time for the batch sizes that occurred / traversal seconds",
            "",
            Bound::AtLeast(0.80),
            base.engine,
        ),
        Row::new(
            "engine-4x",
            "the same at four times the walks",
            "",
            None::<Bound>,
            four.engine,
        ),
        Row::new(
            "scale",
            "nodes/s at four times the walks / nodes/s at the default, pair by pair",
            "",
            Bound::AtLeast(1.0),
            scale,
        )
        .within_noise(),
        Row::new(
            "memory-add",
            "seconds of copying samples into replay / traversal seconds",
            "",
            Bound::AtMost(0.02),
            base.adding,
        )
        .known_to_miss(Bound::AtMost(0.12)),
        Row::new(
            "memory-add-4x",
            "the same at four times the walks",
            "",
            None::<Bound>,
            four.adding,
        ),
    ])
}

/// One traversal phase, between two measurements of the bare network.
fn measure(
    trainer: &mut LostCitiesTrainer,
    round: u32,
    threads: usize,
    into: &mut Rounds,
) -> anyhow::Result<()> {
    std::thread::sleep(SETTLE);
    let before = Bare::measure(trainer.architecture(), threads)?;
    let started = Instant::now();
    let mut clock = PhaseClock::default();
    let (statistics, batches) =
        trainer.traverse(round, &mut clock, &StopFlag::default(), &mut ())?;
    let seconds = started.elapsed().as_secs_f64();
    std::thread::sleep(SETTLE);
    let bare = before.mean(&Bare::measure(trainer.architecture(), threads)?);
    let (best_rows, best) = bare.at_best_of(std::slice::from_ref(&bare));
    let engine = bare.seconds(&batches) / seconds;
    let nodes = statistics.counts.nodes as f64;
    let adding = clock.get(Phase::MemoryAdd).unwrap_or_default();
    println!(
        "{} walks: {seconds:.2} s, {nodes} nodes, {:.0} nodes/s; bare network {best:.2} us a row at {best_rows}, engine \
         {engine:.3}; rows per flush {:.0}, per batch {:.0}; flushes {:?}; forward {:.2} s, without work {:.2} s, memory add {:.3} s",
        statistics.counts.endpoints(),
        nodes / seconds,
        batches.mean_flush(),
        batches.mean_batch(),
        batches.flushes,
        batches.forward.as_secs_f64(),
        batches.idle.as_secs_f64(),
        adding.as_secs_f64(),
    );
    into.bare.push(bare);
    into.rows_per_second.push(batches.rows as f64 / seconds);
    into.engine.push(engine);
    into.nodes_per_second.push(nodes / seconds);
    into.adding.push(adding.as_secs_f64() / seconds);
    Ok(())
}
