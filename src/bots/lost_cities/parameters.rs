//! The three parameter sets of the heuristic.

use serde::Serialize;

/// What tells one heuristic from another. Values are points unless the name says ratio or weight.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Parameters {
    /// Share of a colour's face sum that an opening wants in hand.
    pub open_target_ratio: f64,
    /// Share of the hand size that an opening wants in number cards.
    pub open_min_card_ratio: f64,
    /// Factor on the opening target before a handshake is played.
    pub handshake_target_multiplier: f64,
    /// Share of the hand size that a handshake wants in number cards.
    pub handshake_min_card_ratio: f64,
    /// Share of all cards at which the deck counts as late.
    pub late_deck_ratio: f64,
    /// Share of all cards at which the deck counts as half-way.
    pub mid_deck_ratio: f64,
    /// Weight of the commitment to a colour in the value of its numbers.
    pub commitment_weight: f64,
    /// Weight of what a discard is worth to the opponent.
    pub gift_penalty_weight: f64,
    /// For discarding what the opponent cannot play.
    pub discard_safety_bonus: f64,
    /// For discarding what the mover cannot play.
    pub unusable_discard_bonus: f64,
    /// Value of the deck while it is early.
    pub deck_draw_early_value: f64,
    /// Value of the deck from half-way on.
    pub deck_draw_mid_value: f64,
    /// Value of the deck when it is late.
    pub deck_draw_late_value: f64,
    /// Weight of keeping a pile's top from the opponent.
    pub deny_opponent_weight: f64,
    /// For drawing the deck when ahead.
    pub winning_deck_bonus: f64,
    /// Against drawing the deck when not ahead.
    pub losing_deck_penalty: f64,
    /// For drawing a pile when not ahead.
    pub losing_visible_draw_bonus: f64,
    /// For drawing a low or supported card of an unstarted colour.
    pub speculative_visible_draw_bonus: f64,
    /// Against drawing a card that cannot be played.
    pub dead_visible_draw_penalty: f64,
    /// Against drawing an unstarted colour with three colours started.
    pub unopened_draw_penalty_three_open: f64,
    /// Against drawing an unstarted colour with four or more started.
    pub unopened_draw_penalty_four_open: f64,
    /// Worth to the opponent from which a hopeless draw is still made.
    pub strong_deny_threshold: f64,
    /// Share of all cards at which openings stop.
    pub late_open_block_ratio: f64,
    /// For low cards of a colour the mover is committed to.
    pub low_card_sequence_bonus: f64,
    /// For any number on a started expedition.
    pub started_expedition_play_bonus: f64,
    /// Added to the play bonus, as a term of its own.
    pub started_expedition_followup_bonus: f64,
}

impl Parameters {
    /// `safe_heuristic`.
    pub const DEFAULT: Self = Self {
        open_target_ratio: 0.50,
        open_min_card_ratio: 0.40,
        handshake_target_multiplier: 1.15,
        handshake_min_card_ratio: 0.34,
        late_deck_ratio: 0.20,
        mid_deck_ratio: 0.35,
        commitment_weight: 1.0,
        gift_penalty_weight: 1.0,
        discard_safety_bonus: 6.0,
        unusable_discard_bonus: 20.0,
        deck_draw_early_value: 2.0,
        deck_draw_mid_value: 1.0,
        deck_draw_late_value: -1.0,
        deny_opponent_weight: 0.40,
        winning_deck_bonus: 0.75,
        losing_deck_penalty: 1.25,
        losing_visible_draw_bonus: 1.5,
        speculative_visible_draw_bonus: 1.5,
        dead_visible_draw_penalty: 2.0,
        unopened_draw_penalty_three_open: 10.0,
        unopened_draw_penalty_four_open: 20.0,
        strong_deny_threshold: 10.0,
        late_open_block_ratio: 0.20,
        low_card_sequence_bonus: 5.0,
        started_expedition_play_bonus: 4.0,
        started_expedition_followup_bonus: 3.0,
    };

    /// `safe_heuristic_loose`: opens earlier and later, on less.
    pub const LOOSE: Self = Self {
        open_target_ratio: 0.42,
        open_min_card_ratio: 0.30,
        handshake_target_multiplier: 1.00,
        handshake_min_card_ratio: 0.25,
        late_open_block_ratio: 0.12,
        ..Self::DEFAULT
    };

    /// `safe_heuristic_strict`: opens on more, and stops earlier.
    pub const STRICT: Self = Self {
        open_target_ratio: 0.62,
        open_min_card_ratio: 0.50,
        handshake_target_multiplier: 1.35,
        handshake_min_card_ratio: 0.45,
        late_open_block_ratio: 0.30,
        ..Self::DEFAULT
    };
}
