//! The average as past advantage networks, one pair drawn for each game.

use super::{Averaging, Cast, KeptPolicy, Learned, PolicyHistory};
use crate::{
    evaluation::{
        Evaluated,
        exploitability::{AverageProfile, Profile},
    },
    game::Player,
    inference::Head,
    random::{Randomness, Stream},
    regret::Matching,
    training::{Role, exploitability::Meter},
};

/// The most pairs that one evaluation has in the executor; games share them.
const MOST_PAIRS: usize = 100;

/// Single Deep CFR (Steinberger 2019): the average strategy is the mixture of the iterations' policies, a game being played by one of
/// them from the first ply to the last.
pub struct SingleNetwork {
    history: PolicyHistory,
    matching: Matching,
    /// The mixture of the first so many policies of the history.
    mixed: Option<(usize, AverageProfile)>,
}

impl SingleNetwork {
    /// The scheme over `history`.
    pub fn new(history: PolicyHistory, matching: Matching) -> Self {
        Self {
            history,
            matching,
            mixed: None,
        }
    }
}

impl Averaging for SingleNetwork {
    fn fits(&self) -> &'static [Role] {
        &[Role::Advantage(Player::P0), Role::Advantage(Player::P1)]
    }

    fn walked(&mut self, iteration: u32, networks: [Vec<f32>; 2]) {
        self.history.push(iteration, networks);
    }

    fn cast<'a>(&'a self, _: Learned<'a>, games: usize, stream: &mut Stream) -> Cast<'a> {
        let pairs = games.clamp(1, MOST_PAIRS);
        let drawn = (0..pairs).filter_map(|_| self.history.draw(stream.uniform()));
        let weights = drawn.zip(0u8..).flat_map(|(policy, number)| {
            Player::BOTH.map(|player| {
                let head = Head::snapshot(number, player);
                (head, policy.networks[player.index()].as_slice())
            })
        });
        let Matching { epsilon, fallback } = self.matching;
        Cast {
            policy: Evaluated::Panel {
                pairs: pairs as u8,
                epsilon,
                fallback,
            },
            weights: weights.collect(),
        }
    }

    fn profile(&mut self, meter: &Meter, _: Learned<'_>) -> anyhow::Result<Profile> {
        let entries = self.history.entries();
        // A policy that was merged into a neighbour changes weights that are mixed already.
        let still = self.mixed.take().filter(|_| !self.history.has_merged());
        let (mixed, mut average) = still.unwrap_or_else(|| (0, meter.mixture()));
        for entry in &entries[mixed..] {
            let profile = meter.current(&entry.networks)?;
            meter.mix(&mut average, &profile, entry.weight);
        }
        let profile = meter.mixed(&average);
        self.mixed = Some((entries.len(), average));
        Ok(profile)
    }

    fn history(&self) -> Option<&PolicyHistory> {
        Some(&self.history)
    }

    fn restore(&mut self, history: Vec<KeptPolicy>) {
        self.history.restore(history);
        self.mixed = None;
    }
}
