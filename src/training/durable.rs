//! What a run leaves for its continuation, and how it is taken up again.

use super::{
    LearnerState, Role, TrainedGame, Trainer,
    averaging::{PolicyJournal, read_policies},
    guided::{FITTED, SMOOTHED},
    learner::in_target_units,
};
use crate::{
    checkpoint::{Checkpoint, NetworkState, PolicyMark, locate},
    config::Config,
    encoding::Encoding,
    network::{Architecture, Moments},
    replay::{Journal, MemoryMark},
    telemetry::{MetricsError, MetricsFile, RunDir},
};
use anyhow::{Context, bail, ensure};
use serde_json::Value;
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};
use tracing::warn;

/// The critic's name in a checkpoint.
const CRITIC: &str = "critic";

/// A checkpoint to go on from.
#[derive(Debug)]
pub struct Resumption {
    /// What was saved.
    pub checkpoint: Checkpoint,
    /// The run's folder it lies in, with the journals.
    pub folder: PathBuf,
}

impl Resumption {
    /// Whether the run goes on where it was.
    fn in_place(&self, folder: &RunDir) -> bool {
        self.folder == folder.path()
    }

    /// Whether `latest/` of `folder` already holds this checkpoint.
    pub(super) fn is_latest_of(&self, folder: &RunDir) -> bool {
        let latest = folder.latest_checkpoint();
        let found = locate(&latest).and_then(|found| Checkpoint::load(&found));
        found.is_ok_and(|found| found == self.checkpoint)
    }

    /// The metrics of the run up to here.
    pub(super) fn metrics(&self, folder: &RunDir) -> Result<MetricsFile, MetricsError> {
        let Checkpoint {
            iteration, metrics, ..
        } = &self.checkpoint;
        MetricsFile::resume(&folder.metrics_file(), *iteration, metrics)
    }
}

/// The replay journals of a run.
pub(super) struct Replay {
    /// By [`Role::index`]; `None` where replay contents are not kept.
    pub(super) journals: Option<[Journal; 3]>,
    /// How far the journals in the folder count, for a checkpoint written before the next iteration ends.
    pub(super) marks: Option<Vec<MemoryMark>>,
}

impl Replay {
    /// Opens the journals in `folder`, with the memories filled from those of `resumption`.
    ///
    /// Where replay contents are not kept the memories start empty, whatever the checkpoint has.
    pub(super) fn open<G: TrainedGame, E: Encoding<G>>(
        trainer: &mut Trainer<G, E>,
        config: &Config,
        folder: &RunDir,
        resumption: Option<&Resumption>,
    ) -> anyhow::Result<Self> {
        let marks = resumption.and_then(|resumption| resumption.checkpoint.memories.as_deref());
        let keeps = config.checkpoint.exact_resume;
        if resumption.is_some_and(|resumption| resumption.checkpoint.iteration > 0)
            && (marks.is_none() || !keeps)
        {
            let why = if keeps {
                "the checkpoint holds no replay contents"
            } else {
                "checkpoint.exact_resume is false"
            };
            warn!("the memories start empty: {why}");
        }
        let in_place = resumption.filter(|resumption| resumption.in_place(folder));
        if !keeps {
            // The journals in place stay as they are until a checkpoint without them replaces this one.
            let marks = in_place.and(marks).map(<[MemoryMark]>::to_vec);
            let journals = None;
            return Ok(Self { journals, marks });
        }
        let source = resumption.zip(marks);
        let mut open = |role: Role| open_journal(trainer, role, folder, source);
        let [p0, p1, strategy] = Role::ALL;
        let opened = [open(p0)?, open(p1)?, open(strategy)?];
        let marks = opened.iter().map(|(_, mark)| mark.clone()).collect();
        let journals = Some(opened.map(|(journal, _)| journal));
        Ok(Self { journals, marks })
    }
}

/// The journal of one memory in `folder`, and how far it counts. The memory is filled from the journal in the folder of `source`.
fn open_journal<G: TrainedGame, E: Encoding<G>>(
    trainer: &mut Trainer<G, E>,
    role: Role,
    folder: &RunDir,
    source: Option<(&Resumption, &[MemoryMark])>,
) -> anyhow::Result<(Journal, Option<MemoryMark>)> {
    let memory = &mut trainer.memories_mut()[role.index()];
    let path = journal_path(folder.path(), role);
    let Some((resumption, marks)) = source else {
        return Ok((Journal::create(&path, memory)?, None));
    };
    let mark = marks
        .get(role.index())
        .context("the checkpoint names too few replay journals")?;
    if resumption.in_place(folder) {
        return Ok((Journal::open(&path, mark, memory)?, Some(mark.clone())));
    }
    Journal::read(&journal_path(&resumption.folder, role), mark, memory)?;
    let mut journal = Journal::create(&path, memory)?;
    // A checkpoint written before the first iteration is over counts on the contents, too.
    let mark = journal.append(memory)?;
    Ok((journal, Some(mark)))
}

fn journal_path(folder: &Path, role: Role) -> PathBuf {
    folder.join(format!("{}.journal", role.name()))
}

/// The journal of past policies in `folder`, with the trainer's filled from that of `resumption`, and where they lie in it; `None` where
/// the average strategy is not made of them.
pub(super) fn open_policies<G: TrainedGame, E: Encoding<G>>(
    trainer: &mut Trainer<G, E>,
    folder: &RunDir,
    resumption: Option<&Resumption>,
) -> anyhow::Result<(Option<PolicyJournal>, Vec<PolicyMark>)> {
    if trainer.policies().is_none() {
        return Ok((None, Vec::new()));
    }
    let path = folder.path().join(PolicyJournal::FILE);
    let Some(resumption) = resumption else {
        return Ok((Some(PolicyJournal::create(&path)?), Vec::new()));
    };
    let Checkpoint {
        iteration,
        policies: marks,
        ..
    } = &resumption.checkpoint;
    if *iteration > 0 && marks.is_empty() {
        warn!(
            "the average strategy starts anew at iteration {}: the checkpoint holds no past policies",
            iteration + 1
        );
    }
    let source = resumption.folder.join(PolicyJournal::FILE);
    let policies = match marks.is_empty() {
        true => Vec::new(),
        false => read_policies(&source, marks)?,
    };
    let opened = if resumption.in_place(folder) && !marks.is_empty() {
        (PolicyJournal::open(&path, marks)?, marks.clone())
    } else {
        let mut journal = PolicyJournal::create(&path)?;
        let marks = journal.append(&policies)?;
        (journal, marks)
    };
    trainer.restore_policies(policies);
    Ok((Some(opened.0), opened.1))
}

/// The state of `trainer` between two iterations; `marks` say how far the journals in the run's folder count, `policies` where its past
/// policies lie there.
pub(super) fn checkpoint_of<G: TrainedGame, E: Encoding<G>>(
    trainer: &Trainer<G, E>,
    config: &Config,
    marks: Option<Vec<MemoryMark>>,
    policies: Vec<PolicyMark>,
) -> anyhow::Result<Checkpoint> {
    let architecture = trainer.architecture();
    let states = trainer.states()?;
    let mut networks: Vec<_> = (Role::ALL.into_iter().zip(states))
        .map(|(role, state)| network_state(role.name(), architecture, state))
        .collect();
    if let (Some(critic), Some(state)) = (trainer.critic_architecture(), trainer.critic_state()?) {
        networks.push(network_state(CRITIC, critic, state));
    }
    Ok(Checkpoint {
        iteration: trainer.iteration(),
        seed: config.run.seed,
        config: serde_json::to_value(config)?,
        rules: serde_json::to_value(&config.rules)?,
        info_len: architecture.inputs(),
        actions: architecture.outputs(),
        networks,
        snapshots: trainer.league().map(|pair| pair.to_vec()).collect(),
        memories: marks,
        policies,
        metrics: serde_json::Map::new(),
    })
}

fn network_state(name: &str, architecture: &Architecture, state: LearnerState) -> NetworkState {
    let size = |length: &i64| usize::try_from(*length).unwrap_or(0);
    let layout = architecture.layout().iter();
    let layout = layout.map(|view| (view.name.clone(), view.shape.iter().map(size).collect()));
    NetworkState {
        name: name.into(),
        layout: layout.collect(),
        parameters: state.parameters,
        scale: state.scale,
        first_moment: state.moments.m,
        second_moment: state.moments.v,
        step: state.moments.steps,
        loss_scale: state.loss_scale,
    }
}

/// Takes up networks, optimizers and league from `checkpoint`.
pub(super) fn restore<G: TrainedGame, E: Encoding<G>>(
    trainer: &mut Trainer<G, E>,
    config: &Config,
    checkpoint: &Checkpoint,
) -> anyhow::Result<()> {
    let game = serde_json::to_value(config.game)?;
    let there = &checkpoint.config["game"];
    ensure!(
        *there == game,
        "it was trained on game {there}, and game is {game} now; set game as it was"
    );
    let rules = serde_json::to_value(&config.rules)?;
    ensure!(
        checkpoint.rules == rules,
        "it was trained under other rules ({}); set them as they were",
        differences(&checkpoint.rules, &rules)
    );
    let state = |name: &str| -> anyhow::Result<LearnerState> {
        let named = checkpoint
            .networks
            .iter()
            .find(|network| network.name == name);
        let network = named.with_context(|| format!("it holds no network \"{name}\""))?;
        Ok(LearnerState {
            parameters: network.parameters.clone(),
            scale: network.scale,
            moments: Moments {
                m: network.first_moment.clone(),
                v: network.second_moment.clone(),
                steps: network.step,
            },
            loss_scale: network.loss_scale,
        })
    };
    let [p0, p1, strategy] = Role::ALL;
    let states = [p0, p1, strategy].map(|role| state(role.name()));
    let [p0, p1, strategy] = states;
    let mut states = [p0?, p1?, strategy?];
    let averaged = checkpoint.config["value_guided"]["smoothing"].as_f64();
    if config.value_guided.smoothing > 0.0 && averaged.unwrap_or(0.0) == 0.0 {
        // The average of a run that had none begins where the fitted network is.
        let LearnerState {
            parameters, scale, ..
        } = states[FITTED.index()].clone();
        let smoothed = &mut states[SMOOTHED.index()];
        smoothed.parameters = in_target_units(trainer.architecture(), parameters, scale);
        smoothed.scale = 1.0;
    }
    let critic = trainer.critic_architecture().map(|_| state(CRITIC));
    let mut league = Vec::new();
    for snapshot in &checkpoint.snapshots {
        let Ok(pair) = <[Vec<f32>; 2]>::try_from(snapshot.clone()) else {
            bail!("a league snapshot in it does not hold two networks");
        };
        league.push(pair);
    }
    trainer.restore(
        checkpoint.iteration,
        &states,
        critic.transpose()?.as_ref(),
        league,
    )
}

/// The entries that differ, as `rules.hand_size = 8 there, 6 here`.
pub(super) fn differences(there: &Value, here: &Value) -> String {
    let names = there.as_object().into_iter().chain(here.as_object());
    let names: BTreeSet<&String> = names.flat_map(serde_json::Map::keys).collect();
    let different = names.into_iter().filter(|&name| there[name] != here[name]);
    let words: Vec<String> = different
        .map(|name| format!("rules.{name} = {} there, {} here", there[name], here[name]))
        .collect();
    words.join("; ")
}
