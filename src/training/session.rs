//! A run: iterations until an end, with everything they leave behind.
//!
//! ```text
//! RUN/config.yaml    what was asked for          RUN/metrics.jsonl   one row per iteration
//! RUN/train.log      what was said               RUN/latest/         the last checkpoint
//! RUN/*.journal      replay contents, past policies
//! ```
//!
//! An iteration either counts wholly or not at all: a run that is stopped inside one saves the state after the one before,
//! and when it is resumed it walks the same walks again.

use super::{
    Due, Exploitability, IterationError, IterationReport, Phase, Resumption, TrainedGame, Trainer,
    Watcher,
    averaging::PolicyJournal,
    durable::{Replay, checkpoint_of, open_policies, restore},
    metrics,
    placement::searches_scale,
};
use crate::{
    bots::ScriptedGame,
    checkpoint::{Checkpoint, numbered},
    config::Config,
    encoding::Encoding,
    evaluation::{OpponentReport, Schedule, table},
    inference::StopFlag,
    replay::Journal,
    telemetry::{MetricsFile, MetricsRow, RunDir, iteration_line},
};
use anyhow::Context;
use std::{
    path::PathBuf,
    time::{Duration, Instant},
};
use tracing::{info, warn};

/// Why a run came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// `run.max_iterations` is reached.
    Finished,
    /// `run.max_minutes` are over.
    TimeUp,
    /// It was asked to stop.
    Interrupted,
}

/// What a run came to.
#[derive(Debug)]
pub struct Outcome {
    /// Why it ended.
    pub ending: Ending,
    /// Iterations completed, those before a resume included.
    pub iteration: u32,
    /// The checkpoint to go on from.
    pub checkpoint: PathBuf,
    /// The last evaluation.
    pub evaluation: Vec<OpponentReport>,
    /// NashConv when it was last measured.
    pub exploitability: Option<Exploitability>,
}

/// A run under way.
pub struct Session<G: ScriptedGame, E> {
    trainer: Trainer<G, E>,
    config: Config,
    folder: RunDir,
    journals: Option<[Journal; 3]>,
    /// Where past policies go, if the average strategy is made of them.
    policies: Option<PolicyJournal>,
    metrics: MetricsFile,
    started: Instant,
    /// The state after the last complete iteration, and whether it lies in `latest/`.
    last: Checkpoint,
    saved: bool,
    evaluation: Vec<OpponentReport>,
    exploitability: Option<Exploitability>,
}

impl<G: TrainedGame, E: Encoding<G>> Session<G, E> {
    /// Prepares a run in `folder`: new, or going on from `resumption`.
    ///
    /// # Errors
    /// Settings that do not fit, a checkpoint of another game or network, files that cannot be read or written.
    pub fn new(
        game: G,
        encoding: E,
        config: &Config,
        folder: RunDir,
        resumption: Option<&Resumption>,
    ) -> anyhow::Result<Self> {
        let started = Instant::now();
        let mut trainer = Trainer::new(game, encoding, config)?;
        if let Some(resumption) = resumption {
            restore(&mut trainer, config, &resumption.checkpoint)
                .context("the checkpoint cannot be resumed with this configuration")?;
        }
        let Replay { journals, marks } = Replay::open(&mut trainer, config, &folder, resumption)?;
        let (policies, kept) = open_policies(&mut trainer, &folder, resumption)?;
        let metrics = match resumption {
            Some(resumption) => resumption.metrics(&folder)?,
            None => MetricsFile::create(&folder.metrics_file())?,
        };
        write_config(&folder, config)?;
        let mut last = checkpoint_of(&trainer, config, marks, kept)?;
        if let Some(resumption) = resumption {
            last.metrics.clone_from(&resumption.checkpoint.metrics);
        }
        Ok(Self {
            trainer,
            config: config.clone(),
            saved: resumption.is_some_and(|resumption| resumption.is_latest_of(&folder)),
            folder,
            journals,
            policies,
            metrics,
            started,
            last,
            evaluation: Vec::new(),
            exploitability: None,
        })
    }

    /// Iterates until an end.
    ///
    /// # Errors
    /// What failed. The last complete iteration is saved first where that is possible.
    pub fn run(mut self, stop: &StopFlag, watcher: &mut dyn Watcher) -> anyhow::Result<Outcome> {
        let ending = self.iterate_until_end(stop, watcher);
        let saving = self.save_last();
        // Of two failures the first explains the second.
        if ending.is_ok() {
            saving?;
        } else if self.saved {
            info!(
                "the run up to iteration {} is saved in {}",
                self.last.iteration,
                self.folder.latest_checkpoint().display()
            );
        }
        Ok(Outcome {
            ending: ending?,
            iteration: self.last.iteration,
            checkpoint: self.folder.latest_checkpoint(),
            evaluation: self.evaluation,
            exploitability: self.exploitability,
        })
    }

    fn iterate_until_end(
        &mut self,
        stop: &StopFlag,
        watcher: &mut dyn Watcher,
    ) -> anyhow::Result<Ending> {
        let last = self.config.run.max_iterations.unwrap_or(u32::MAX);
        loop {
            if self.trainer.iteration() >= last {
                return Ok(Ending::Finished);
            }
            if self.time_is_up() {
                return Ok(Ending::TimeUp);
            }
            let iteration = self.trainer.iteration() + 1;
            match self.iteration(last, stop, watcher) {
                Ok(()) => {}
                Err(IterationError::Interrupted) => return Ok(Ending::Interrupted),
                Err(IterationError::Failed(error)) => {
                    return Err(error.context(format!("iteration {iteration} failed")));
                }
            }
        }
    }

    fn iteration(
        &mut self,
        last: u32,
        stop: &StopFlag,
        watcher: &mut dyn Watcher,
    ) -> Result<(), IterationError> {
        let limit = time_limit(&self.config);
        let (started, config) = (self.started, &self.config);
        let due = |iteration: u32| {
            let final_one =
                iteration >= last || limit.is_some_and(|limit| started.elapsed() >= limit);
            due_at(config, iteration, final_one)
        };
        let report = self.trainer.iterate(&due, stop, watcher)?;
        warn_of_skipped_steps(&report, &self.config);
        let mut row = metrics::row(&report, self.trainer.walker());
        let saving = Instant::now();
        watcher.begin(Phase::Checkpoint, 1);
        self.remember(&report, &row)?;
        watcher.advance(1, 0);
        metrics::set_checkpoint_time(&mut row, &report, saving.elapsed());
        self.metrics.append(&row).map_err(anyhow::Error::from)?;
        info!("{}", iteration_line(&row));
        self.exploitability = report.exploitability.or(self.exploitability);
        if !report.evaluation.is_empty() {
            info!(
                "evaluation after iteration {}\n{}",
                report.iteration,
                table(&report.evaluation)
            );
            self.evaluation = report.evaluation;
        }
        Ok(())
    }

    /// Makes the iteration durable as the settings say.
    fn remember(&mut self, report: &IterationReport<G>, row: &MetricsRow) -> anyhow::Result<()> {
        let marks = match &mut self.journals {
            None => None,
            Some(journals) => {
                let memories = self.trainer.memories_mut();
                let appended = journals
                    .iter_mut()
                    .zip(memories)
                    .map(|(journal, memory)| journal.append(memory));
                Some(
                    appended
                        .collect::<Result<Vec<_>, _>>()
                        .context("the replay journal was not written")?,
                )
            }
        };
        let kept = match (&mut self.policies, self.trainer.policies()) {
            (Some(journal), Some(policies)) => journal.append(policies)?,
            _ => Vec::new(),
        };
        self.last = checkpoint_of(&self.trainer, &self.config, marks, kept)?;
        self.last.metrics = row.to_json();
        self.saved = false;
        let settings = self.config.checkpoint.clone();
        if settings.save_latest {
            self.save_last()?;
        }
        if settings.save_every > 0
            && (report.iteration as usize).is_multiple_of(settings.save_every)
        {
            let folder = numbered(self.folder.path(), report.iteration);
            self.last.save(&folder)?;
        }
        Ok(())
    }

    fn save_last(&mut self) -> anyhow::Result<()> {
        if !self.saved {
            self.last.save(&self.folder.latest_checkpoint())?;
            self.saved = true;
        }
        Ok(())
    }

    fn time_is_up(&self) -> bool {
        time_limit(&self.config).is_some_and(|limit| self.started.elapsed() >= limit)
    }
}

fn time_limit(config: &Config) -> Option<Duration> {
    let minutes = config.run.max_minutes?;
    Duration::try_from_secs_f64(60.0 * minutes).ok()
}

/// What is due: by schedule, and at the end of a run everything.
fn due_at(config: &Config, iteration: u32, final_one: bool) -> Due<'_> {
    let schedule = Schedule::new(&config.evaluation);
    let every = config.evaluation.exploitability_every;
    if final_one {
        Due {
            opponents: schedule.all_opponents(),
            exploitability: every > 0,
        }
    } else {
        Due {
            opponents: schedule.opponents_at(iteration),
            exploitability: every > 0 && (iteration as usize).is_multiple_of(every),
        }
    }
}

/// A run whose networks have left the numbers goes on, but not unnoticed. In f16 a few steps are left out while the loss scale finds its size.
fn warn_of_skipped_steps<G: ScriptedGame>(report: &IterationReport<G>, config: &Config) {
    let (skipped, steps) = (report.skipped_steps(), report.steps());
    let usual = if searches_scale(config) {
        steps / 10
    } else {
        0
    };
    if skipped > usual {
        warn!(
            "iteration {}: {skipped} of {steps} optimizer steps were skipped because the loss or its gradient was not a finite number; \
             if this goes on, lower optimization.learning_rate or set optimization.grad_clip, and resume from an earlier checkpoint",
            report.iteration
        );
    }
}

fn write_config(folder: &RunDir, config: &Config) -> anyhow::Result<()> {
    let path = folder.config_file();
    std::fs::write(&path, config.to_yaml()).with_context(|| {
        format!(
            "cannot write {}: is the disk full, or the folder read-only?",
            path.display()
        )
    })
}
