//! Hand-made positions for each class of openings and for how expeditions end.

use coorl_async::evaluation::{ExpeditionDiagnostics, GameDiagnostics};
use coorl_async::game::lost_cities::{Card, LostCities, Rules, State};
use coorl_async::game::{Action, Game, Player};
use std::collections::BTreeMap;

/// A deal in which player 0 holds `hand`, first slot first; the rest of the cards lie in ascending order.
fn deal(game: &LostCities, hand: &[(u8, u8)]) -> State {
    let mut rest = game.cards();
    let mut order = Vec::new();
    for &(color, rank) in hand {
        let wanted = Card { color, rank };
        let at = rest
            .iter()
            .position(|card| *card == wanted)
            .expect("the card exists");
        order.push(rest.remove(at));
    }
    let mut mine = order.into_iter();
    let mut dealt = Vec::new();
    for _ in 0..game.rules().hand_size {
        dealt.extend(mine.next());
        dealt.push(rest.pop().expect("enough cards"));
    }
    rest.extend(dealt.into_iter().rev());
    let state = game.deal_deck(&rest).expect("all cards");
    assert!(
        state
            .hand(Player::P0)
            .iter()
            .map(|card| (card.color, card.rank))
            .eq(hand.iter().copied())
    );
    state
}

fn emitted(
    diagnostics: &ExpeditionDiagnostics,
    games: u64,
    decisions: u64,
) -> BTreeMap<&'static str, f64> {
    let mut metrics = BTreeMap::new();
    GameDiagnostics::<LostCities>::emit(diagnostics, games, decisions, &mut |name, value| {
        assert!(metrics.insert(name, value).is_none(), "{name} twice");
    });
    metrics
}

/// The classes of one opening with slot 0: `(good, weak, bad, R)`.
fn opening(rules: Rules, hand: &[(u8, u8)]) -> (f64, f64, f64, f64) {
    let game = LostCities::new(rules).unwrap();
    let state = deal(&game, hand);
    let mut diagnostics = ExpeditionDiagnostics::default();
    diagnostics.record_decision(&game, &state, 0);
    let m = emitted(&diagnostics, 1, 1);
    assert_eq!(
        (m["opening_play_actions"], m["play_action_rate"]),
        (1.0, 1.0)
    );
    (
        m["good_open_rate"],
        m["weak_open_rate"],
        m["bad_open_rate"],
        m["opening_recoverable_score_mean"],
    )
}

#[test]
fn openings_are_judged_by_the_hand_before_the_move() {
    let classic = Rules::default;
    let filler = [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1)];
    let hand = |own: &[(u8, u8)]| {
        own.iter()
            .chain(&filler)
            .copied()
            .take(8)
            .collect::<Vec<_>>()
    };
    // Faces 10 + 9 + 2 = 21 of colour 0: 1 above the penalty.
    assert_eq!(
        opening(classic(), &hand(&[(0, 1), (0, 8), (0, 9)])),
        (1.0, 0.0, 0.0, 1.0)
    );
    // 20 is exactly enough, and a handshake doubles nothing.
    assert_eq!(
        opening(classic(), &hand(&[(0, 0), (0, 9), (0, 8), (0, 0)])),
        (0.0, 0.0, 1.0, -3.0)
    );
    assert_eq!(
        opening(classic(), &hand(&[(0, 9), (0, 5), (0, 3)])),
        (1.0, 0.0, 0.0, 0.0)
    );
    // 10 short, with one handshake in hand: -20.
    assert_eq!(
        opening(classic(), &hand(&[(0, 9), (0, 0), (1, 3)])),
        (0.0, 0.0, 1.0, -20.0)
    );
    // Short of the penalty, yet as many cards as the bonus asks for; a handshake counts as a card.
    let early_bonus = || Rules {
        bonus_threshold: 3,
        ..Rules::default()
    };
    assert_eq!(
        opening(early_bonus(), &hand(&[(0, 1), (0, 0), (0, 2)])),
        (0.0, 1.0, 0.0, -30.0)
    );
    assert_eq!(
        opening(early_bonus(), &hand(&[(0, 1), (0, 2), (1, 3)])),
        (0.0, 0.0, 1.0, -15.0)
    );
    assert_eq!(
        opening(early_bonus(), &hand(&[(0, 7), (0, 8), (0, 9)])),
        (1.0, 0.0, 0.0, 7.0)
    );
}

/// Plays `policy`'s turns in seat 0 from hand (every play of slot 0, then the deck) and lets the opponent discard.
fn play_out(game: &LostCities, hand: &[(u8, u8)], plays: usize) -> ExpeditionDiagnostics {
    let mut state = deal(game, hand);
    let mut diagnostics = ExpeditionDiagnostics::default();
    let deck = game.deck_action();
    let mut step = |state: &mut State, action: Action| {
        if game.mover(state) == Some(Player::P0) {
            diagnostics.record_decision(game, state, action);
        }
        game.try_apply(state, action).expect("a legal action");
    };
    for _ in 0..plays {
        for action in [0, deck, 1, deck] {
            step(&mut state, action);
        }
    }
    diagnostics.record_end(game, &state, Player::P0);
    diagnostics
}

#[test]
fn expeditions_are_counted_as_they_end() {
    let game = LostCities::new(Rules {
        bonus_threshold: 3,
        ..Rules::default()
    })
    .unwrap();
    // Colour 0: 9 + 10 - 20 = -1. Colour 1: (4 + 7 + 9 - 20) + 20 = 20 by its bonus. Colour 2: (2 - 20) 2 = -36. Colour 3: 10 - 20.
    let hand = [
        (0, 8),
        (0, 9),
        (1, 3),
        (1, 6),
        (1, 8),
        (2, 0),
        (2, 1),
        (3, 9),
    ];
    let m = emitted(&play_out(&game, &hand, 8), 1, 16);
    for (name, wanted) in [
        ("avg_score0", -27.0),
        ("avg_score1", 0.0),
        ("avg_opened_colors", 4.0),
        ("avg_expedition_cards", 8.0),
        ("5_color_open_count", 0.0),
        ("score_per_opened_color", -6.75),
        ("per_game_positive_expeditions", 1.0),
        ("per_game_negative_expeditions", 3.0),
        ("per_game_breakeven_expeditions", 0.0),
        ("per_game_bonus_expeditions", 1.0),
        ("per_game_below_minus_20_expeditions", 1.0),
        ("negative_expedition_rate", 0.75),
        // -36, -10, -1, 20
        ("final_expedition_score_p25", -16.5),
        ("final_expedition_score_median", -5.5),
        ("final_expedition_score_p75", 4.25),
        ("final_expedition_score_p90", 13.7),
        ("positive_expedition_score_mean", 20.0),
        ("negative_expedition_score_mean", -47.0 / 3.0),
        ("play_action_rate", 0.5),
        ("draw_deck_rate", 0.5),
    ] {
        assert!(
            (m[name] - wanted).abs() < 1e-9,
            "{name}: {} instead of {wanted}",
            m[name]
        );
    }
}

#[test]
fn games_merge_into_sums_and_a_colour_opens_anew_in_each() {
    let game = LostCities::new(Rules::default()).unwrap();
    let rich = [
        (0, 6),
        (0, 7),
        (0, 8),
        (0, 9),
        (1, 1),
        (2, 1),
        (3, 1),
        (4, 1),
    ];
    let poor = [
        (0, 1),
        (1, 1),
        (2, 1),
        (3, 1),
        (4, 1),
        (1, 2),
        (2, 2),
        (3, 2),
    ];
    // Faces 7 + 8 + 9 + 10 = 34 end at 14; each of five colours opened with a 2 ends at -18, three of them later with a 3 at -15.
    let mut both = play_out(&game, &rich, 4);
    both.merge(play_out(&game, &poor, 8));
    let m = emitted(&both, 2, 24);
    for (name, wanted) in [
        ("avg_score0", (14.0 - 18.0 * 2.0 - 15.0 * 3.0) / 2.0),
        ("opening_play_actions", 3.0),
        ("good_open_actions", 0.5),
        ("bad_open_rate", 5.0 / 6.0),
        ("5_color_open_count", 1.0),
        ("avg_opened_colors", 3.0),
        ("first_open_recoverable_score_mean_for_positive_final", 14.0),
        ("final_expedition_score_p90", -0.5),
        ("positive_expedition_rate", 1.0 / 6.0),
    ] {
        assert!(
            (m[name] - wanted).abs() < 1e-9,
            "{name}: {} instead of {wanted}",
            m[name]
        );
    }
    assert!(m["first_open_recoverable_score_mean_for_negative_final"] < -14.0);
}
