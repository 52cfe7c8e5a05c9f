//! An iteration's report as a row of metrics.

use super::{Exploitability, FitReport, IterationReport, LossKind, Phase, Role, RowSource};
use crate::{
    bots::ScriptedGame,
    encoding::Encoding,
    platform::{
        self,
        transfers::{Copies, Transfers},
    },
    telemetry::MetricsRow,
    traversal::Walker,
};

use std::time::Duration;

/// The row of one iteration, but for what [`set_checkpoint_time`] adds when its checkpoints are written.
pub fn row<G: ScriptedGame, E: Encoding<G>>(
    report: &IterationReport<G>,
    walker: &Walker<G, E>,
) -> MetricsRow {
    let mut row = MetricsRow::new(report.iteration);
    losses(report, &mut row);
    samples(report, &mut row);
    times(report, &mut row);
    device(report, &mut row);
    walker.emit(&report.walks, &mut |name, value| {
        row.set(format!("traversal/{name}"), value)
    });
    // A count that is told on its own must not be rounded.
    row.set("traversal/nodes", report.walks.counts.nodes);
    report
        .batches
        .emit(&mut |name, value| row.set(format!("inference/{name}"), value));
    transfers(&report.transfers, &mut row);
    for games in &report.evaluation {
        games.emit(&mut |name, value| row.set(name, value));
    }
    if let Some(Exploitability { current, average }) = report.exploitability {
        row.set("exploitability/nash_conv_current", current);
        row.set("exploitability/nash_conv_average", average);
    }
    if let Some(bytes) = platform::peak_memory_bytes() {
        row.set("process/peak_memory_bytes", bytes);
    }
    row
}

/// Adds the time of writing checkpoints, and with it the time of the whole iteration and what is measured by that.
pub fn set_checkpoint_time<G: ScriptedGame>(
    row: &mut MetricsRow,
    report: &IterationReport<G>,
    checkpoint: Duration,
) {
    let seconds = report.seconds + checkpoint.as_secs_f64();
    let nodes = report.walks.counts.nodes as f64;
    row.set("time/checkpoint_seconds", checkpoint.as_secs_f64());
    row.set("time/iteration_seconds", seconds);
    row.set("time/nodes_per_second", nodes / seconds.max(1e-9));
}

impl<G: ScriptedGame> IterationReport<G> {
    /// Minibatches drawn in all fits.
    pub fn steps(&self) -> usize {
        self.all_fits().map(|fit| fit.steps_run).sum()
    }

    /// Those that changed no parameter, because the loss or its gradient was not finite.
    pub fn skipped_steps(&self) -> usize {
        let skipped = |fit: &FitReport| fit.nonfinite_losses + fit.nonfinite_gradients;
        self.all_fits().map(skipped).sum()
    }

    fn all_fits(&self) -> impl Iterator<Item = &FitReport> {
        self.fits.iter().flatten().chain(&self.critic)
    }
}

fn losses<G: ScriptedGame>(report: &IterationReport<G>, row: &mut MetricsRow) {
    let [p0, p1, strategy] = &report.fits;
    let fitted: Vec<f64> = [p0, p1]
        .into_iter()
        .flatten()
        .map(|fit| fit.mean_loss)
        .collect();
    row.set(
        "loss/advantage",
        fitted.iter().sum::<f64>() / fitted.len().max(1) as f64,
    );
    let strategy = strategy
        .as_ref()
        .map(|fit| fit.reported_loss(LossKind::Strategy));
    row.set("loss/strategy", strategy.unwrap_or(0.0));
    let held_out = |roles: &[Option<FitReport>]| {
        let losses = roles.iter().flatten().filter_map(|fit| fit.held_out_loss);
        let (sum, count) = losses.fold((0.0, 0), |(sum, count), loss| (sum + loss, count + 1));
        (count > 0).then(|| sum / f64::from(count))
    };
    let (advantage, strategy) = report.fits.split_at(2);
    for (kind, fits) in [("advantage", advantage), ("strategy", strategy)] {
        if let Some(loss) = held_out(fits) {
            row.set(format!("loss/{kind}_held_out"), loss);
        }
    }
    for (player, fit) in advantage.iter().enumerate() {
        if let Some(scale) = fit.as_ref().and_then(|fit| fit.target_scale) {
            row.set(format!("loss/advantage_scale_player_{player}"), scale);
        }
    }
    if let Some(fit) = &report.critic {
        row.set("loss/critic", fit.mean_loss);
    }
    let skipped = report.skipped_steps();
    if skipped > 0 {
        row.set("amp/nonfinite_loss_count", skipped);
    }
    let scales = report.all_fits().filter_map(|fit| fit.loss_scale);
    if let Some(least) = scales.reduce(f64::min) {
        row.set("amp/loss_scale", least);
    }
}

/// How a device was used, why it had nothing to do in the walks, and what fits there cost in copies, whose seconds are those of the calling
/// threads.
fn device<G: ScriptedGame>(report: &IterationReport<G>, row: &mut MetricsRow) {
    if report.compute.rows == RowSource::InPlace {
        return;
    }
    if let Some(used) = &report.device {
        used.tell(row);
    }
    idle(report, row);
    row.set("fit/mirrored_memories", report.mirrored);
    let seconds: f64 = report.all_fits().map(|fit| fit.seconds).sum();
    row.set("fit/seconds", seconds);
    let timed = report.all_fits().filter_map(FitReport::device_seconds);
    if let Some(seconds) = timed.reduce(|sum, seconds| sum + seconds) {
        row.set("fit/device_seconds", seconds);
    }
    let mut tell = |name: &str, of: fn(&Transfers) -> Copies| {
        let copies = || report.all_fits().map(|fit| of(&fit.transfers));
        let bytes: u64 = copies().map(|copies| copies.bytes).sum();
        let seconds: f64 = copies().map(Copies::seconds).sum();
        row.set(format!("fit/{name}_bytes"), bytes);
        row.set(format!("fit/{name}_seconds"), seconds);
    };
    tell("to_device", |transfers| transfers.to_device);
    tell("to_host", |transfers| transfers.to_host);
}

/// Shares of the walks' time: without work on a lane, and why.
fn idle<G: ScriptedGame>(report: &IterationReport<G>, row: &mut MetricsRow) {
    let walking = report.clock.get(Phase::Traversal).unwrap_or_default();
    let batches = &report.batches;
    for (name, time) in [
        ("idle", batches.idle),
        ("waiting_for_walks", batches.waiting_for_walks),
        ("waiting_for_lanes", batches.waiting_for_lanes),
    ] {
        let share = time.as_secs_f64() / walking.as_secs_f64().max(1e-9);
        row.set(format!("inference/{name}_share"), share);
    }
}

fn samples<G: ScriptedGame>(report: &IterationReport<G>, row: &mut MetricsRow) {
    let [p0, p1, strategy] = report.samples;
    for prefix in ["samples", "memory"] {
        row.set(format!("{prefix}/advantage"), p0 + p1);
        row.set(format!("{prefix}/strategy"), strategy);
        row.set(format!("{prefix}/advantage_player_0"), p0);
        row.set(format!("{prefix}/advantage_player_1"), p1);
    }
    for player in 0..2 {
        if report.fits[player].is_some() {
            let name = format!("samples/advantage_player_{player}_first_open");
            row.set(name, report.first_open[player]);
        }
    }
}

/// Copies between the host and devices, where there were any.
fn transfers(transfers: &Transfers, row: &mut MetricsRow) {
    let directions = [
        ("to_device", transfers.to_device),
        ("to_host", transfers.to_host),
    ];
    for (name, copies) in directions.into_iter().filter(|(_, made)| made.count > 0) {
        row.set(format!("transfer/{name}_copies"), copies.count);
        row.set(format!("transfer/{name}_bytes"), copies.bytes);
        row.set(format!("transfer/{name}_seconds"), copies.seconds());
    }
}

fn times<G: ScriptedGame>(report: &IterationReport<G>, row: &mut MetricsRow) {
    for phase in Phase::ALL {
        let time = report.clock.get(phase);
        // Phases that every iteration has are reported even when they took no time.
        let optional = matches!(phase, Phase::Evaluation | Phase::CriticFit);
        if time.is_some() || !optional {
            let seconds = time.unwrap_or_default().as_secs_f64();
            row.set(format!("time/{}_seconds", phase.metric()), seconds);
        }
    }
    for role in Role::ALL {
        let name = match role {
            Role::Advantage(player) => format!("advantage_player_{}", player.index()),
            Role::Strategy => "strategy".into(),
        };
        if report.fits[role.index()].is_some() {
            row.set(
                format!("time/{name}_sample_seconds"),
                report.sample_seconds[role.index()],
            );
        }
    }
    let nodes = report.walks.counts.nodes as f64;
    let walking = report
        .clock
        .get(Phase::Traversal)
        .unwrap_or_default()
        .as_secs_f64();
    row.set("time/traversal_nodes_per_second", nodes / walking.max(1e-9));
}
