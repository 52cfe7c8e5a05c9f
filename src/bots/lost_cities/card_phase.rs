//! The heuristic's card phase: handshake, number, forced opening, discard; the first stage with a candidate decides.

use super::position::Position;
use crate::game::Action;
use crate::game::lost_cities::Card;

/// The card action of a position whose mover holds a card.
pub(super) fn choose(position: &Position) -> Action {
    let play = best_play(position, handshake_value)
        .or_else(|| best_play(position, number_value))
        .or_else(|| best_play(position, forced_opening_value));
    if let Some(slot) = play {
        return 2 * slot;
    }
    let discard = best_slot(position, |_, card| Some(discard_value(position, card)));
    2 * discard.unwrap_or_default() + 1
}

/// The slot whose legal play is worth most in a stage; `None` when the stage has no candidate.
fn best_play(
    position: &Position,
    value: impl Fn(&Position, Card) -> Option<f64>,
) -> Option<Action> {
    best_slot(position, |slot, card| {
        let is_legal = position.legal.contains(2 * slot);
        is_legal.then(|| value(position, card)).flatten()
    })
}

/// The slot of greatest value, the last among equals.
fn best_slot(position: &Position, value: impl Fn(Action, Card) -> Option<f64>) -> Option<Action> {
    let mut best = None;
    for (slot, &card) in position.hand.iter().enumerate() {
        let slot = slot as Action;
        let Some(value) = value(slot, card) else {
            continue;
        };
        if best.is_none_or(|(most, _)| value >= most) {
            best = Some((value, slot));
        }
    }
    best.map(|(_, slot)| slot)
}

/// Stage 1: a handshake when the hand carries its colour and the deck lasts.
fn handshake_value(position: &Position, card: Card) -> Option<f64> {
    if card.rank != 0 {
        return None;
    }
    let color = card.color as usize;
    let bot = position.bot;
    // A handshake is legal only before any number, so every number in hand is playable.
    let numbers = position.numbers_from(color, 1);
    let (a, s) = (f64::from(numbers.count), f64::from(numbers.sum));
    let wanted = bot.handshake_target();
    let rejected = numbers.count < bot.thresholds.min_handshake_numeric_cards
        || s < wanted
        || position.deck_len <= bot.thresholds.late_open_block_threshold;
    (!rejected)
        .then(|| s + 2.0 * a + position.bonus(color, 0, 1, Some(0)) - position.late_penalty())
}

/// Stage 2: a number on a started expedition, or one that opens a colour worth it.
fn number_value(position: &Position, card: Card) -> Option<f64> {
    if card.rank == 0 {
        None
    } else if position.is_new(card.color as usize) {
        opening_value(position, card)
    } else {
        Some(continuation_value(position, card))
    }
}

fn continuation_value(position: &Position, card: Card) -> f64 {
    let color = card.color as usize;
    let (parameters, limits) = (position.bot.parameters, &position.bot.thresholds);
    let (expedition, face) = (position.mine(color), position.face(card));
    let later = position.numbers_from(color, card.rank + 1);
    let projected = f64::from(position.game.face_sum(expedition)) + face + f64::from(later.sum);
    let mut value = 0.0;
    value += parameters.started_expedition_play_bonus;
    value += parameters.started_expedition_followup_bonus;
    value += lowness(position, card);
    if position.deck_len <= limits.late_deck_threshold {
        value += 2.0 * face;
    } else if position.deck_len <= limits.mid_deck_threshold {
        value += 0.8 * face;
    }
    if projected < limits.open_target_sum {
        value -= 6.0;
    }
    value += 3.0 * f64::from(expedition.handshakes);
    value + position.bonus(color, 0, 1, Some(card.rank))
}

fn opening_value(position: &Position, card: Card) -> Option<f64> {
    let limits = &position.bot.thresholds;
    if position.deck_len <= limits.late_open_block_threshold {
        return None;
    }
    let plan = position.plan(card);
    if plan.value <= 0.0 {
        return None;
    }
    let below_middle = (limits.middle_rank - i32::from(card.rank)).max(0);
    let mut value = f64::from(plan.numbers.sum)
        + 2.0 * f64::from(plan.numbers.count)
        + 1.5 * f64::from(plan.handshakes);
    value += plan.value;
    value += f64::from(position.rules.expedition_penalty);
    value += f64::from(below_middle);
    value += position.bonus(card.color as usize, 0, 1, Some(card.rank));
    Some(value - position.late_penalty())
}

/// Stage 3: with nothing started, the number that opens least badly.
fn forced_opening_value(position: &Position, card: Card) -> Option<f64> {
    if position.started > 0 || card.rank == 0 {
        return None;
    }
    let limits = &position.bot.thresholds;
    let plan = position.plan(card).value;
    let numbers = position.numbers_from(card.color as usize, 1);
    let sum = f64::from(numbers.sum);
    let poor = plan <= 0.0
        && numbers.count < 2
        && sum < 0.5 * limits.open_target_sum
        && position.deck_len > limits.mid_deck_threshold;
    (!poor).then(|| plan + 0.2 * sum + lowness(position, card))
}

/// Stage 4: the card that is worth least to both.
fn discard_value(position: &Position, card: Card) -> f64 {
    let color = card.color as usize;
    let parameters = position.bot.parameters;
    let mine = position.mine(color).takes(card.rank);
    let mut value =
        -position.value_to_me(card) - parameters.gift_penalty_weight * position.value_to_them(card);
    if !mine {
        value += parameters.unusable_discard_bonus;
    }
    if !position.theirs(color).takes(card.rank) {
        value += parameters.discard_safety_bonus;
    }
    if card.rank == 0 && mine {
        value -= 4.0;
    }
    value
}

/// How far a number lies below the end of its colour, plus one: `m + R - v`.
fn lowness(position: &Position, card: Card) -> f64 {
    f64::from(position.rules.min_rank + position.rules.n_ranks) - position.face(card)
}
