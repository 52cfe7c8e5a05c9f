//! The numbers that define a variant.

use serde::{Deserialize, Serialize};

/// The rules of a variant; the default is the classic game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rules {
    /// Colours, 1 to 16.
    pub n_colors: i32,
    /// Number cards per colour, 1 to 30.
    pub n_ranks: i32,
    /// Face value of the lowest number card, positive.
    pub min_rank: i32,
    /// Handshake (wager) cards per colour, 0 or more.
    pub n_handshakes: i32,
    /// Cards in a hand, 1 to 32.
    pub hand_size: i32,
    /// Points added to a started expedition, normally negative.
    pub expedition_penalty: i32,
    /// Cards from which an expedition earns the bonus, positive.
    pub bonus_threshold: i32,
    /// Points of the bonus.
    pub bonus_amount: i32,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            n_colors: 5,
            n_ranks: 9,
            min_rank: 2,
            n_handshakes: 3,
            hand_size: 8,
            expedition_penalty: -20,
            bonus_threshold: 8,
            bonus_amount: 20,
        }
    }
}

/// Why rules, or a deck for them, are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RulesError {
    /// A number outside what the engine holds.
    #[error("rules.{key} is {value}; allowed: {allowed}")]
    Range {
        /// The key under `rules`.
        key: &'static str,
        /// Its value.
        value: i32,
        /// What is allowed, in words.
        allowed: String,
    },
    /// The deck cannot fill both hands.
    #[error(
        "rules.hand_size is {hand_size}, but rules.n_colors x (rules.n_ranks + rules.n_handshakes) gives {cards} cards; \
         two hands need {}", 2 * hand_size
    )]
    TooFewCards {
        /// Cards in the deck.
        cards: i32,
        /// Cards per hand.
        hand_size: i32,
    },
    /// More cards than the engine holds.
    #[error(
        "rules.n_colors x (rules.n_ranks + rules.n_handshakes) gives {cards} cards; allowed: at most {max}",
        max = Rules::MAX_CARDS
    )]
    TooManyCards {
        /// Cards in the deck.
        cards: i32,
    },
    /// A supplied deck is not a permutation of the cards.
    #[error("the deck does not hold exactly the cards of these rules")]
    Deck,
}

impl Rules {
    /// The most colours the engine holds.
    pub const MAX_COLORS: usize = 16;
    /// The most number cards per colour.
    pub const MAX_RANKS: usize = 30;
    /// The most cards in a hand.
    pub const MAX_HAND: usize = 32;
    /// The most cards in the deck.
    pub const MAX_CARDS: usize = 160;

    /// Cards of one colour.
    pub fn cards_per_color(&self) -> usize {
        (self.n_ranks + self.n_handshakes) as usize
    }

    /// Cards in the deck.
    pub fn num_cards(&self) -> usize {
        self.n_colors as usize * self.cards_per_color()
    }

    /// Unified action ids: `2 hand_size + 1 + n_colors`.
    pub fn num_actions(&self) -> usize {
        (2 * self.hand_size + 1 + self.n_colors) as usize
    }

    /// Checks every number against what the rules and the engine allow; an error names the first key that is wrong.
    pub fn validate(&self) -> Result<(), RulesError> {
        const CARDS: i32 = Rules::MAX_CARDS as i32;
        let ranges = [
            ("n_colors", self.n_colors, 1, Self::MAX_COLORS as i32),
            ("n_ranks", self.n_ranks, 1, Self::MAX_RANKS as i32),
            ("min_rank", self.min_rank, 1, 1_000),
            ("n_handshakes", self.n_handshakes, 0, CARDS),
            ("hand_size", self.hand_size, 1, Self::MAX_HAND as i32),
            (
                "expedition_penalty",
                self.expedition_penalty,
                -POINTS,
                POINTS,
            ),
            ("bonus_threshold", self.bonus_threshold, 1, i32::MAX),
            ("bonus_amount", self.bonus_amount, -POINTS, POINTS),
        ];
        for (key, value, low, high) in ranges {
            if !(low..=high).contains(&value) {
                let allowed = if high == i32::MAX {
                    format!("{low} or more")
                } else {
                    format!("{low} to {high}")
                };
                return Err(RulesError::Range {
                    key,
                    value,
                    allowed,
                });
            }
        }
        let cards = self.num_cards() as i32;
        if cards > CARDS {
            return Err(RulesError::TooManyCards { cards });
        }
        if cards < 2 * self.hand_size {
            return Err(RulesError::TooFewCards {
                cards,
                hand_size: self.hand_size,
            });
        }
        Ok(())
    }
}

/// The largest penalty or bonus, so that sums of scores stay far from overflow.
const POINTS: i32 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_classic_game_is_accepted_and_has_22_actions_and_60_cards() {
        let rules = Rules::default();
        assert_eq!(rules.validate(), Ok(()));
        assert_eq!((rules.num_cards(), rules.num_actions()), (60, 22));
    }

    #[test]
    fn messages_name_the_key_its_value_and_what_is_allowed() {
        let message = |rules: Rules| rules.validate().unwrap_err().to_string();
        let classic = Rules::default;
        assert_eq!(
            message(Rules {
                n_colors: 17,
                ..classic()
            }),
            "rules.n_colors is 17; allowed: 1 to 16"
        );
        assert_eq!(
            message(Rules {
                bonus_threshold: 0,
                ..classic()
            }),
            "rules.bonus_threshold is 0; allowed: 1 or more"
        );
        assert_eq!(
            message(Rules {
                hand_size: 31,
                ..classic()
            }),
            "rules.hand_size is 31, but rules.n_colors x (rules.n_ranks + rules.n_handshakes) gives 60 cards; \
             two hands need 62"
        );
        assert_eq!(
            message(Rules {
                n_handshakes: 24,
                ..classic()
            }),
            "rules.n_colors x (rules.n_ranks + rules.n_handshakes) gives 165 cards; allowed: at most 160"
        );
    }
}
