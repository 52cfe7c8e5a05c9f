//! What the parameters mean under the rules of a variant.

use super::Parameters;
use crate::game::lost_cities::Rules;
use serde::Serialize;

/// Numbers derived once from [`Parameters`] and [`Rules`]. Ratios round to the nearest integer, ties to even.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Thresholds {
    /// The middle rank, `(R + 1) / 2` rounded down.
    pub middle_rank: i32,
    /// Face sum of all numbers of a colour.
    pub max_color_sum: i32,
    /// Face sum that pays for an expedition.
    pub break_even_sum: i32,
    /// Face sum an opening wants in hand.
    pub open_target_sum: f64,
    /// Number cards an opening wants in hand.
    pub min_open_cards: i32,
    /// Number cards a handshake wants in hand.
    pub min_handshake_numeric_cards: i32,
    /// The deck is late at this length and below.
    pub late_deck_threshold: i32,
    /// The deck is half-way at this length and below; above the late one.
    pub mid_deck_threshold: i32,
    /// No opening at this deck length and below.
    pub late_open_block_threshold: i32,
    /// Whether an expedition can hold enough cards for the bonus.
    pub bonus_possible: bool,
    /// Cards of one colour.
    pub max_expedition_cards: i32,
}

impl Thresholds {
    /// Derives the thresholds of valid rules.
    pub fn new(parameters: &Parameters, rules: &Rules) -> Self {
        let of_hand = |ratio: f64| share(rules.hand_size, ratio).clamp(1, rules.hand_size.max(1));
        let cards = rules.num_cards() as i32;
        let of_deck = |ratio: f64| share(cards, ratio);
        let max_color_sum = rules.n_ranks * (2 * rules.min_rank + rules.n_ranks - 1) / 2;
        let break_even_sum = -rules.expedition_penalty;
        let cheap = 0.8 * f64::from(break_even_sum);
        let late_deck_threshold = of_deck(parameters.late_deck_ratio).max(1);
        let max_expedition_cards = rules.n_ranks + rules.n_handshakes;
        Self {
            middle_rank: (rules.n_ranks + 1) / 2,
            max_color_sum,
            break_even_sum,
            open_target_sum: cheap.min(parameters.open_target_ratio * f64::from(max_color_sum)),
            min_open_cards: of_hand(parameters.open_min_card_ratio),
            min_handshake_numeric_cards: of_hand(parameters.handshake_min_card_ratio),
            late_deck_threshold,
            mid_deck_threshold: of_deck(parameters.mid_deck_ratio).max(late_deck_threshold + 1),
            late_open_block_threshold: of_deck(parameters.late_open_block_ratio).max(1),
            bonus_possible: max_expedition_cards >= rules.bonus_threshold,
            max_expedition_cards,
        }
    }
}

/// `whole * ratio`, the double product rounded to the nearest integer, ties to even.
fn share(whole: i32, ratio: f64) -> i32 {
    (f64::from(whole) * ratio).round_ties_even() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classic_thresholds_are_the_documented_ones() {
        let of = |parameters| Thresholds::new(&parameters, &Rules::default());
        let balanced = of(Parameters::DEFAULT);
        assert_eq!(balanced.open_target_sum, 16.0);
        assert_eq!(
            (balanced.late_deck_threshold, balanced.mid_deck_threshold),
            (12, 21)
        );
        let (loose, strict) = (of(Parameters::LOOSE), of(Parameters::STRICT));
        assert_eq!(
            [2, 3, 4],
            [loose, balanced, strict].map(|t| t.min_open_cards)
        );
        assert_eq!(
            [7, 12, 18],
            [loose, balanced, strict].map(|t| t.late_open_block_threshold)
        );
    }

    #[test]
    fn halves_round_to_the_even_neighbour() {
        assert_eq!((share(5, 0.5), share(7, 0.5), share(16, 0.34)), (2, 4, 5));
    }
}
