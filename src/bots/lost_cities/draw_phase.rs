//! The heuristic's draw phase: the deck or the pile of greatest value.

use super::position::Position;
use crate::game::Action;
use crate::game::lost_cities::Card;

/// The draw action of a position that has one. The deck wins ties with piles, the highest colour among piles.
pub(super) fn choose(position: &Position) -> Action {
    let difference = position.score_difference();
    let mut best: Option<(f64, Action)> = None;
    for color in 0..position.rules.n_colors as usize {
        let action = position.game.pile_action(color);
        if !position.legal.contains(action) {
            continue;
        }
        let Some(top) = position.top(color) else {
            continue;
        };
        let value = pile_value(position, top, difference);
        if best.is_none_or(|(most, _)| value >= most) {
            best = Some((value, action));
        }
    }
    let deck = position.game.deck_action();
    match best {
        Some((value, pile)) => {
            let deck_wins =
                position.legal.contains(deck) && deck_value(position, difference) >= value;
            if deck_wins { deck } else { pile }
        }
        None => deck,
    }
}

fn deck_value(position: &Position, difference: i32) -> f64 {
    let (parameters, limits) = (position.bot.parameters, &position.bot.thresholds);
    let value = if position.deck_len > limits.mid_deck_threshold {
        parameters.deck_draw_early_value
    } else if position.deck_len > limits.late_deck_threshold {
        parameters.deck_draw_mid_value
    } else {
        parameters.deck_draw_late_value
    };
    if difference > 0 {
        value + parameters.winning_deck_bonus
    } else {
        value - parameters.losing_deck_penalty
    }
}

fn pile_value(position: &Position, top: Card, difference: i32) -> f64 {
    let color = top.color as usize;
    let parameters = position.bot.parameters;
    let denied = position.value_to_them(top);
    let mut value = parameters.deny_opponent_weight * denied;
    if difference <= 0 {
        value += parameters.losing_visible_draw_bonus;
    }
    if position.is_new(color) {
        if position.started >= 4 {
            value -= parameters.unopened_draw_penalty_four_open;
        } else if position.started == 3 {
            value -= parameters.unopened_draw_penalty_three_open;
        }
    }
    let hopeless = |support: f64| {
        position.started >= 4
            && support < 6.0
            && denied < parameters.strong_deny_threshold
            && difference > -15
    };
    if top.rank == 0 {
        handshake_value(position, color, value, hopeless)
    } else {
        number_value(position, top, value, hopeless)
    }
}

/// The value of a new colour's card that nothing in the hand supports.
const HOPELESS: f64 = -8.0;

fn handshake_value(
    position: &Position,
    color: usize,
    value: f64,
    hopeless: impl Fn(f64) -> bool,
) -> f64 {
    let bot = position.bot;
    if position.mine(color).last_rank > 0 {
        return value - bot.parameters.dead_visible_draw_penalty;
    }
    let numbers = position.numbers_from(color, 1);
    let thin = numbers.count < bot.thresholds.min_handshake_numeric_cards
        || f64::from(numbers.sum) < bot.handshake_target();
    if position.is_new(color) && thin {
        let top = Card {
            color: color as u8,
            rank: 0,
        };
        let support = support(position, top);
        return if hopeless(support) {
            HOPELESS
        } else {
            value + support - 0.5
        };
    }
    value + 6.0 + position.commitment(color)
}

fn number_value(
    position: &Position,
    top: Card,
    mut value: f64,
    hopeless: impl Fn(f64) -> bool,
) -> f64 {
    let color = top.color as usize;
    let expedition = position.mine(color);
    if expedition.takes(top.rank) {
        value += position.face(top);
        value += 0.7 * position.commitment(color);
        if expedition.cards() > 0 {
            value += 5.0;
        } else {
            let support = support(position, top);
            if hopeless(support) {
                return HOPELESS;
            }
            value += support;
        }
    } else {
        value -= position.bot.parameters.dead_visible_draw_penalty;
    }
    value + position.bonus(color, 1, 0, None)
}

/// What the hand adds to a pile's top of an unstarted colour.
fn support(position: &Position, top: Card) -> f64 {
    let color = top.color as usize;
    let speculative = position.bot.parameters.speculative_visible_draw_bonus;
    let above = position.numbers_from(color, top.rank).count;
    let handshakes = position.handshakes(color);
    let mut value = 0.8 * f64::from(above);
    value += 1.0 * f64::from(handshakes);
    if position.is_low(top) {
        value += speculative;
    }
    if completes_opening(position, top) {
        value += 4.0;
    } else if position.started <= 2 && (above > 0 || handshakes > 0) {
        value += speculative;
    }
    if position.started <= 2 {
        value += 0.25 * position.plan(top).value;
    } else if position.started == 3 {
        value += 0.1 * position.plan(top).value.max(0.0);
    }
    value
}

/// Whether the top and the hand's numbers from its rank up make an opening: cards, face sum, and a high one.
fn completes_opening(position: &Position, top: Card) -> bool {
    let color = top.color as usize;
    let limits = &position.bot.thresholds;
    let numbers = position.numbers_from(color, top.rank);
    let high_from = top.rank.max(limits.middle_rank as u8);
    let has_high = i32::from(top.rank) >= limits.middle_rank
        || position.numbers_from(color, high_from).count > 0;
    numbers.count + 1 >= limits.min_open_cards
        && f64::from(numbers.sum) + position.face(top) >= limits.open_target_sum
        && has_high
}
