//! Invariants of states along random games.

use coorl_async::game::{
    Game, Player,
    lost_cities::{Card, LostCities, Phase, State},
};
use proptest::prelude::{
    ProptestConfig, TestCaseError, any, prop_assert, prop_assert_eq, proptest,
};

use crate::random_games::{any_game, play, random_action, stream};

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_state_of_a_game_is_sound(game in any_game(), seed in any::<u64>()) {
        let mut rng = stream(seed);
        let mut state = game.deal(&mut rng);
        check(&game, &state)?;
        for _ in 0..2_000 {
            if game.mover(&state).is_none() {
                break;
            }
            let action = random_action(&game, &state, &mut rng);
            let before = state.clone();
            game.apply(&mut state, action);
            check(&game, &state)?;
            check_turn(&before, &state)?;
        }
    }

    #[test]
    fn a_chance_outcome_deals_its_card_and_only_permutes_the_rest(
        game in any_game(),
        seed in any::<u64>(),
        plies in 0..200_usize,
    ) {
        let mut rng = stream(seed);
        let mut state = game.deal(&mut rng);
        play(&game, &mut state, plies, &mut rng);
        for action in game.legal_actions(&state).iter() {
            let outcomes = game.chance_outcomes(&state, action);
            let draws_deck = state.phase() == Phase::Draw && action == game.deck_action();
            prop_assert_eq!(outcomes, if draws_deck { state.deck_len() } else { 1 });
            for outcome in 0..outcomes {
                let mut after = state.clone();
                game.apply_outcome(&mut after, action, outcome);
                if draws_deck {
                    let mover = state.current_player();
                    let mut rest = state.deck().to_vec();
                    let card = rest.remove(outcome);
                    prop_assert_eq!(after.hand(mover).last(), Some(&card));
                    prop_assert_eq!(sorted(after.deck().to_vec()), sorted(rest));
                }
                if outcome == outcomes - 1 {
                    let mut as_it_lies = state.clone();
                    game.apply(&mut as_it_lies, action);
                    prop_assert_eq!(format!("{after:?}"), format!("{as_it_lies:?}"));
                }
            }
        }
    }
}

fn sorted(mut cards: Vec<Card>) -> Vec<Card> {
    cards.sort_unstable();
    cards
}

/// The invariants of `spec/rules.md` section 6.
fn check(game: &LostCities, state: &State) -> Result<(), TestCaseError> {
    let colors = 0..game.rules().n_colors as usize;
    let mut cards = state.deck().to_vec();
    let mut face_up = Vec::new();
    for player in Player::BOTH {
        let hand = state.hand(player);
        let due = game.rules().hand_size as usize;
        let draws = state.phase() == Phase::Draw && player == state.current_player();
        // A last draw fills the hand again, and the phase stays.
        let full = !draws || (state.is_terminal() && hand.len() == due);
        prop_assert_eq!(hand.len(), if full { due } else { due - 1 });
        cards.extend(hand);
        for color in colors.clone() {
            let expedition = state.expedition(player, color);
            let ranks: Vec<u8> = expedition.ranks().collect();
            let numbers = &ranks[expedition.handshakes as usize..];
            prop_assert!(
                ranks[..expedition.handshakes as usize]
                    .iter()
                    .all(|&rank| rank == 0)
            );
            prop_assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(numbers.first().is_none_or(|&rank| rank > 0));
            prop_assert_eq!(numbers.last().copied().unwrap_or(0), expedition.last_rank);
            prop_assert_eq!(numbers.len(), expedition.numbers as usize);
            prop_assert_eq!(ranks.len(), expedition.cards() as usize);
            prop_assert_eq!(
                numbers.iter().map(|&rank| u16::from(rank)).sum::<u16>(),
                expedition.rank_sum
            );
            face_up.extend(ranks.into_iter().map(|rank| Card {
                color: color as u8,
                rank,
            }));
        }
    }
    for color in colors {
        let pile = state.pile(color).iter();
        face_up.extend(pile.map(|&rank| Card {
            color: color as u8,
            rank,
        }));
    }
    let mut counts = vec![0; state.face_up().len()];
    let card_types = game.rules().n_ranks as usize + 1;
    face_up
        .iter()
        .for_each(|card| counts[card.color as usize * card_types + card.rank as usize] += 1);
    prop_assert_eq!(state.face_up(), &counts);
    cards.extend(face_up);
    prop_assert_eq!(sorted(cards), sorted(game.cards()), "cards are conserved");
    if let Some(color) = state.pending() {
        prop_assert_eq!(state.phase(), Phase::Draw);
        prop_assert!(!state.pile(color).is_empty());
    }
    let legal = game.legal_actions(state);
    prop_assert_eq!(legal.is_empty(), state.is_terminal());
    prop_assert_eq!(game.mover(state).is_none(), state.is_terminal());
    prop_assert!(
        legal
            .iter()
            .all(|action| (action as usize) < game.num_actions())
    );
    prop_assert_eq!(
        game.payoff(state, Player::P0),
        -game.payoff(state, Player::P1)
    );
    check_openings(game, state)
}

/// Opening actions are the legal plays on colours that the mover has not begun.
fn check_openings(game: &LostCities, state: &State) -> Result<(), TestCaseError> {
    let player = state.current_player();
    let opens = |slot: usize| {
        let color = state.hand(player)[slot].color as usize;
        state.expedition(player, color).cards() == 0
    };
    let plays = game.legal_actions(state).iter();
    let wanted: Vec<_> = plays
        .filter(|&action| {
            state.phase() == Phase::Card && action % 2 == 0 && opens(action as usize / 2)
        })
        .collect();
    prop_assert_eq!(
        game.opening_actions(state).iter().collect::<Vec<_>>(),
        wanted
    );
    Ok(())
}

/// Who acts next, and how the turn count goes.
fn check_turn(before: &State, after: &State) -> Result<(), TestCaseError> {
    let mover = before.current_player();
    let drew = before.phase() == Phase::Draw;
    prop_assert_eq!(after.turn_count(), before.turn_count() + u32::from(drew));
    if drew && !after.is_terminal() {
        prop_assert_eq!(
            (after.current_player(), after.phase()),
            (mover.opponent(), Phase::Card)
        );
    } else {
        prop_assert_eq!(
            (after.current_player(), after.phase()),
            (mover, Phase::Draw)
        );
    }
    if drew {
        prop_assert_eq!(after.is_terminal(), after.deck_len() == 0);
        prop_assert_eq!(after.pending(), None);
    } else {
        prop_assert_eq!(after.deck(), before.deck());
    }
    Ok(())
}
