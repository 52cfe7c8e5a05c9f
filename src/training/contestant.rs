//! What of a saved run plays, for the judge.

use super::{
    AveragingScheme, Resumption, Role,
    averaging::{Cast, Learned, PolicyJournal, averaging, read_policies},
    durable::differences,
    guided::{playing, reading},
    learner::{expect_length, in_target_units},
};
use crate::{
    config::{Config, GameKind},
    encoding::Encoding,
    evaluation::{Contestant, Evaluated, Reading},
    game::{Game, Player},
    inference::Head,
    network::Architecture,
    random::{Purpose, Stream},
    regret::Matching,
};
use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};

/// Which policy of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SavedPolicy {
    /// The average strategy as the run has it: a network, or past policies.
    #[default]
    Average,
    /// The networks of the last iteration as they are: advantages, regret-matched, or logits under policy gradient and hedge.
    Current,
}

/// A saved run with the settings that its checkpoint was made with.
#[derive(Debug)]
pub struct SavedRun {
    /// The checkpoint, and the folder with its journals.
    pub saved: Resumption,
    /// The settings that the checkpoint's manifest holds. A `config.yaml` beside it is not asked: it may have changed since.
    pub config: Config,
}

impl SavedRun {
    /// Reads the settings of a checkpoint.
    ///
    /// # Errors
    /// Settings of another version of the program.
    pub fn new(saved: Resumption) -> anyhow::Result<Self> {
        let config = serde_json::from_value(saved.checkpoint.config.clone()).context(
            "the settings in the checkpoint's manifest are not those of this program: use the version that wrote it",
        )?;
        Ok(Self { saved, config })
    }

    /// Refuses a run of another game, or of other rules.
    ///
    /// # Errors
    /// What differs, in words.
    pub fn expect_same_game(&self, other: &SavedRun) -> anyhow::Result<()> {
        let game = |run: &SavedRun| serde_json::to_value(run.config.game);
        let (own, others) = (game(self)?, game(other)?);
        ensure!(
            own == others,
            "the checkpoints are of different games, {own} and {others}: they cannot meet"
        );
        let rules = |run: &SavedRun| serde_json::to_value(&run.config.rules);
        let (own, others) = (rules(self)?, rules(other)?);
        ensure!(
            own == others || self.config.game != GameKind::LostCities,
            "the checkpoints were trained under different rules ({}, there being the second): they cannot meet",
            differences(&others, &own)
        );
        Ok(())
    }

    /// What `policy` is made of, in words.
    pub fn words(&self, policy: SavedPolicy) -> String {
        let past = self.saved.checkpoint.policies.len();
        match (policy, self.config.averaging.scheme) {
            (SavedPolicy::Current, _) | (_, AveragingScheme::Current) => {
                let networks = match reading(&self.config, Matching::of(&self.config)) {
                    Reading::Advantages { .. } => "advantage networks",
                    Reading::Logits => "policy network",
                };
                format!("current policies ({networks})")
            }
            (SavedPolicy::Average, AveragingScheme::StrategyNetwork) => {
                "average strategy (strategy network)".to_owned()
            }
            (SavedPolicy::Average, AveragingScheme::SingleNetwork) => {
                format!("average strategy ({past} past policies)")
            }
        }
    }

    /// `policy`, ready to play. Where it is made of past policies, at most `pairs` of them are drawn, by weight and from `seed`.
    ///
    /// # Errors
    /// A checkpoint that lacks what it takes, or holds networks of other lengths.
    pub fn contestant<G: Game, E: Encoding<G>>(
        &self,
        encoding: E,
        policy: SavedPolicy,
        pairs: usize,
        seed: u64,
    ) -> anyhow::Result<Contestant<E>> {
        let colors = encoding.color_layout();
        let (inputs, outputs) = (encoding.info_len(), encoding.num_actions());
        let settings = &self.config.network;
        let architecture = Architecture::new(settings, inputs, outputs, colors.as_ref())?;
        let (policy, weights) = match policy {
            SavedPolicy::Average => self.average(&architecture, pairs, seed)?,
            SavedPolicy::Current => self.current(&architecture)?,
        };
        for (_, parameters) in &weights {
            expect_length(&architecture, "a past policy in it", parameters)?;
        }
        Ok(Contestant {
            encoding,
            architectures: architecture.into(),
            policy,
            weights,
        })
    }

    fn average(&self, architecture: &Architecture, pairs: usize, seed: u64) -> Playing {
        let Config {
            averaging: settings,
            training_weighting,
            run,
            ..
        } = &self.config;
        let matching = Matching::of(&self.config);
        let reading = reading(&self.config, matching);
        let mut average = averaging(settings, training_weighting, reading, matching, run.seed);
        let strategy = match settings.scheme {
            AveragingScheme::Current => return self.current(architecture),
            AveragingScheme::StrategyNetwork => self.network(architecture, Role::Strategy)?,
            AveragingScheme::SingleNetwork => {
                let marks = &self.saved.checkpoint.policies;
                ensure!(
                    !marks.is_empty(),
                    "the checkpoint holds no past policies yet, of which its average strategy is made: judge the current ones \
                     with --strategy current"
                );
                let journal = self.saved.folder.join(PolicyJournal::FILE);
                average.restore(read_policies(&journal, marks)?);
                Vec::new()
            }
        };
        let learned = Learned {
            advantages: &Default::default(),
            strategy: &strategy,
        };
        let mut stream = Stream::new(seed, Purpose::Judgement, u64::MAX, 0);
        let Cast { policy, weights } = average.cast(learned, pairs, &mut stream);
        let weights = weights
            .into_iter()
            .map(|(head, parameters)| (head, parameters.to_vec()));
        Ok((policy, weights.collect()))
    }

    fn current(&self, architecture: &Architecture) -> Playing {
        let reading = reading(&self.config, Matching::of(&self.config));
        let weights = Player::BOTH.map(|player| {
            let role = playing(&self.config, Role::Advantage(player));
            let parameters = self.network(architecture, role)?;
            Ok((Head::advantage(player), parameters))
        });
        let policy = Evaluated::Current(reading);
        Ok((policy, weights.into_iter().collect::<anyhow::Result<_>>()?))
    }

    /// The flat parameters of a network of the checkpoint, answers in target units.
    fn network(&self, architecture: &Architecture, role: Role) -> anyhow::Result<Vec<f32>> {
        let name = role.name();
        let network = self.saved.checkpoint.network(name);
        let network =
            network.with_context(|| format!("the checkpoint holds no network \"{name}\""))?;
        expect_length(architecture, name, &network.parameters)?;
        let parameters = network.parameters.clone();
        Ok(in_target_units(architecture, parameters, network.scale))
    }
}

/// Who is asked, and the weights for it.
type Playing = anyhow::Result<(Evaluated, Vec<(Head, Vec<f32>)>)>;
