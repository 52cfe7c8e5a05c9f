//! Which network plays for the evaluated policy.

use super::Reading;
use crate::{game::Player, inference::Head, regret::Fallback};

/// Who is evaluated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Evaluated {
    /// The strategy network, [`Head::STRATEGY`].
    StrategyNetwork,
    /// Pairs of advantage networks under the heads of snapshots `0..pairs`: game `g` is played by pair `g % pairs` from the first ply to the
    /// last. Where each pair was drawn by its weight in an average, that is the average strategy itself (Steinberger 2019).
    Panel {
        /// Pairs there are, positive.
        pairs: u8,
        /// Regret matching falls back when positive advantages sum to no more than this.
        epsilon: f64,
        /// What to play then.
        fallback: Fallback,
    },
    /// The current networks, under [`Head::advantage`].
    Current(Reading),
}

impl Evaluated {
    /// The head that answers in game `number`, where the policy has `seat`.
    pub fn head(self, number: usize, seat: Player) -> Head {
        match self {
            Evaluated::StrategyNetwork => Head::STRATEGY,
            Evaluated::Current(_) => Head::advantage(seat),
            Evaluated::Panel { pairs, .. } => {
                Head::snapshot((number % usize::from(pairs.max(1))) as u8, seat)
            }
        }
    }

    /// How answers are read.
    pub fn reading(self) -> Reading {
        match self {
            Evaluated::StrategyNetwork => Reading::Logits,
            Evaluated::Current(reading) => reading,
            Evaluated::Panel {
                epsilon, fallback, ..
            } => Reading::Advantages { epsilon, fallback },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panel_takes_turns_by_game_and_answers_by_seat() {
        let panel = Evaluated::Panel {
            pairs: 3,
            epsilon: 0.0,
            fallback: Fallback::Uniform,
        };
        let heads: Vec<_> = (0..4)
            .map(|game| panel.head(game, Player::from_parity(game)))
            .collect();
        let expected = [(0, 0), (1, 1), (2, 0), (0, 1)];
        let expected = expected.map(|(pair, seat)| Head::snapshot(pair, Player::BOTH[seat]));
        assert_eq!(heads, expected);
        assert_eq!(
            Evaluated::StrategyNetwork.head(5, Player::P1),
            Head::STRATEGY
        );
    }
}
