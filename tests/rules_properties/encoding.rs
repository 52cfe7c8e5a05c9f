//! The encoding by slot against its specification, and what it must not tell.

use coorl_async::{
    encoding::{Encoding, Settings, Slots},
    game::{
        Action, Game, Player,
        lost_cities::{Card, LostCities, Phase, State},
    },
};
use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, proptest};
use rand::seq::SliceRandom;

use crate::random_games::{any_game, play, stream};

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rows_are_the_specified_quotients(game in any_game(), seed in any::<u64>(), plies in 0..400_usize) {
        let mut rng = stream(seed);
        let mut state = game.deal(&mut rng);
        play(&game, &mut state, plies, &mut rng);
        for settings in all_settings() {
            let slots = Slots::new(&game, &settings);
            prop_assert_eq!(slots.num_actions(), game.num_actions());
            let layout = slots.color_layout().expect("colours");
            let values = layout.colors() * layout.block_len() + layout.common.len();
            prop_assert_eq!(values, slots.info_len());
            for observer in Player::BOTH {
                let wanted = specified(&game, &state, observer, &settings);
                let row = encode(&slots, &game, &state, observer);
                prop_assert!(row.iter().all(|value| value.is_finite()));
                prop_assert_eq!(row, wanted);
            }
        }
    }

    #[test]
    fn the_mover_is_told_nothing_hidden(game in any_game(), seed in any::<u64>(), plies in 0..200_usize) {
        let mut rng = stream(seed);
        let mut deck = game.cards();
        deck.shuffle(&mut rng);
        let mut state = game.deal_deck(&deck).expect("a permutation");
        let actions = play(&game, &mut state, plies, &mut rng);

        let hidden = hidden_positions(&game, &deck, &actions, state.current_player().opponent());
        let mut cards: Vec<Card> = hidden.iter().map(|&position| deck[position]).collect();
        cards.shuffle(&mut rng);
        hidden.iter().zip(cards).for_each(|(&position, card)| deck[position] = card);
        let mut other = game.deal_deck(&deck).expect("a permutation");
        for &action in &actions {
            game.try_apply(&mut other, action).expect("hidden cards take no part");
        }
        for settings in all_settings() {
            let slots = Slots::new(&game, &settings);
            let mover = state.current_player();
            prop_assert_eq!(encode(&slots, &game, &state, mover), encode(&slots, &game, &other, mover));
        }
    }
}

#[test]
fn the_classic_rows_have_their_documented_lengths() {
    let game = LostCities::new(Default::default()).expect("classic rules");
    let lengths = all_settings().map(|settings| Slots::new(&game, &settings).info_len());
    assert_eq!(lengths, [171, 219, 249, 297]);
}

#[test]
fn the_colours_lie_where_the_table_says() {
    let game = LostCities::new(Default::default()).expect("classic rules");
    for settings in all_settings() {
        let slots = Slots::new(&game, &settings);
        let layout = slots.color_layout().expect("colours");
        for (color, block) in layout.info.iter().enumerate() {
            let mut wanted: Vec<usize> = [(29, 4), (49, 4), (69, 4), (89, 10), (143, 1), (166, 1)]
                .into_iter()
                .flat_map(|(start, len)| start + len * color..start + len * (color + 1))
                .collect();
            if settings.derived_playability {
                wanted.extend(171 + 15 * color..171 + 15 * (color + 1));
            }
            assert_eq!(block, &wanted);
        }
        let common = match (
            settings.derived_playability,
            settings.slot_aware_playability,
        ) {
            (false, false) => 51,
            (true, false) => 54,
            (false, true) => 99,
            (true, true) => 102,
        };
        assert_eq!((layout.colors(), layout.common.len()), (5, common));
        assert_eq!(
            (layout.actions_per_color(), layout.common_actions.len()),
            (0, 22)
        );
    }
}

fn all_settings() -> [Settings; 4] {
    [(false, false), (false, true), (true, false), (true, true)].map(
        |(derived_playability, slot_aware_playability)| Settings {
            derived_playability,
            slot_aware_playability,
            ..Settings::default()
        },
    )
}

fn encode(slots: &Slots, game: &LostCities, state: &State, observer: Player) -> Vec<f32> {
    let mut row = vec![f32::NAN; slots.info_len()];
    let legal = slots.legal_actions(game, state);
    slots.encode(game, state, observer, legal, &mut row);
    row
}

/// Where in the deck of the deal the cards lay that are now in `owner`'s hand unseen, or in the draw deck.
pub fn hidden_positions(
    game: &LostCities,
    deck: &[Card],
    actions: &[Action],
    owner: Player,
) -> Vec<usize> {
    let mut rest: Vec<usize> = (0..deck.len()).collect();
    let mut hands = [vec![], vec![]];
    for dealt in 0..2 * game.rules().hand_size as usize {
        hands[dealt % 2].extend(rest.pop());
    }
    let mut piles = vec![vec![]; game.rules().n_colors as usize];
    let mut seen = vec![false; deck.len()];
    for (step, &action) in actions.iter().enumerate() {
        let hand = &mut hands[step / 2 % 2];
        if step % 2 == 0 {
            let position = hand.remove(action as usize / 2);
            seen[position] = true;
            if action % 2 == 1 {
                piles[deck[position].color as usize].push(position);
            }
        } else if action == game.deck_action() {
            hand.extend(rest.pop());
        } else {
            hand.extend(piles[(action - game.pile_action(0)) as usize].pop());
        }
    }
    let [first, second] = hands;
    let owned = if owner == Player::P0 { first } else { second };
    rest.into_iter()
        .chain(owned)
        .filter(|&position| !seen[position])
        .collect()
}

/// A row as `spec/encoding.md` has it, value after value.
fn specified(game: &LostCities, state: &State, observer: Player, settings: &Settings) -> Vec<f32> {
    let mut row = base_block(game, state, observer);
    if settings.derived_playability {
        row.extend(derived_block(game, state, observer));
    }
    if settings.slot_aware_playability {
        row.extend(slot_block(game, state, observer));
    }
    row
}

fn quotient(numerator: i32, denominator: i32) -> f32 {
    numerator as f32 / denominator as f32
}

fn flag(value: bool) -> f32 {
    f32::from(u8::from(value))
}

fn base_block(game: &LostCities, state: &State, observer: Player) -> Vec<f32> {
    let rules = game.rules();
    let (c, r, h) = (rules.n_colors, rules.n_ranks, rules.n_handshakes);
    let (k, n) = (r + h, c * (r + h));
    let d = (rules.bonus_amount + r * (r + 1) * (h + 1)).max(1);
    let colors = 0..c as usize;
    let mut row = vec![
        flag(state.phase() == Phase::Card),
        flag(state.phase() == Phase::Draw),
    ];
    row.extend([state.current_player(), observer].map(|player| player.index() as f32));
    row.push(quotient(state.deck_len() as i32, n));
    for slot in 0..rules.hand_size as usize {
        row.extend(state.hand(observer).get(slot).map_or([0.0; 3], |card| {
            [
                1.0,
                quotient(i32::from(card.color) + 1, c),
                quotient(i32::from(card.rank), r),
            ]
        }));
    }
    for (player, color) in Player::BOTH
        .into_iter()
        .flat_map(|p| colors.clone().map(move |c| (p, c)))
    {
        let expedition = state.expedition(player, color);
        row.push(quotient(expedition.ranks().count() as i32, k));
        row.push(quotient(
            i32::from(expedition.ranks().last().unwrap_or(0)),
            r,
        ));
        row.push(quotient(
            expedition.ranks().filter(|&rank| rank == 0).count() as i32,
            h.max(1),
        ));
        row.push(quotient(game.expedition_score(expedition), d));
    }
    for color in colors.clone() {
        let pile = state.pile(color);
        row.extend(pile.last().map_or([0.0; 4], |&top| {
            [
                quotient(pile.len() as i32, k),
                1.0,
                quotient(color as i32 + 1, c),
                quotient(i32::from(top), r),
            ]
        }));
    }
    for (color, rank) in colors.flat_map(|color| (0..=r as u8).map(move |rank| (color, rank))) {
        let expeditions = Player::BOTH
            .into_iter()
            .flat_map(|p| state.expedition(p, color).ranks());
        let seen = expeditions.chain(state.pile(color).iter().copied());
        row.push(seen.filter(|&seen| seen == rank).count() as f32);
    }
    let [own, other] = [observer, observer.opponent()].map(|player| game.score(state, player));
    row.extend([own, other, own - other].map(|score| quotient(score, d)));
    row.push(quotient(state.turn_count() as i32, 2 * n));
    row.extend((0..=c as usize).map(|color| flag(state.pending().unwrap_or(c as usize) == color)));
    let legal = game.legal_actions(state);
    row.extend((0..game.num_actions()).map(|action| flag(legal.contains(action as Action))));
    row
}

fn derived_block(game: &LostCities, state: &State, observer: Player) -> Vec<f32> {
    let rules = game.rules();
    let (c, r, h) = (rules.n_colors, rules.n_ranks, rules.n_handshakes);
    let (k, n, w) = (r + h, c * (r + h), h.max(1));
    let face = |rank: u8| {
        if rank == 0 {
            0
        } else {
            rules.min_rank + i32::from(rank) - 1
        }
    };
    let m: i32 = (1..=r as u8).map(face).sum();
    let mut row = vec![];
    for color in 0..c as usize {
        let own: Vec<u8> = state.expedition(observer, color).ranks().collect();
        let other = state.expedition(observer.opponent(), color).ranks().count();
        let last = own.last().copied().unwrap_or(0);
        let of_color = state
            .hand(observer)
            .iter()
            .filter(|card| card.color as usize == color);
        let hand: Vec<u8> = of_color.map(|card| card.rank).collect();
        let playable: Vec<u8> = hand.iter().copied().filter(|&rank| rank > last).collect();
        let dead: Vec<u8> = hand
            .iter()
            .copied()
            .filter(|&rank| 1 <= rank && rank <= last)
            .collect();
        let faces = |ranks: &[u8]| ranks.iter().map(|&rank| face(rank)).sum::<i32>();
        let handshakes = |ranks: &[u8]| ranks.iter().filter(|&&rank| rank == 0).count() as i32;
        let pile = state.pile(color);
        let top = pile.last().copied().filter(|&top| top > last);
        let known = hand.len() + own.len() + other + pile.len();
        row.extend([
            flag(own.is_empty()),
            flag(!own.is_empty() && last == 0),
            quotient(faces(&own), m),
            quotient(handshakes(&own), w),
            quotient(own.len() as i32, k),
            quotient(i32::from(last), m),
            quotient(hand.len() as i32, k),
            quotient(handshakes(&hand), w),
            quotient(faces(&playable), m),
            quotient(playable.len() as i32, k),
            quotient(dead.len() as i32, k),
            quotient(faces(&dead), m),
            flag(top.is_some()),
            quotient(top.map_or(0, face), m),
            quotient((k - known as i32).max(0), k),
        ]);
    }
    let deck = state.deck_len() as i32;
    row.extend([
        quotient(deck, n),
        quotient(state.turn_count() as i32, 2 * n),
        quotient(deck, 2 * n),
    ]);
    row
}

fn slot_block(game: &LostCities, state: &State, observer: Player) -> Vec<f32> {
    let mut row = vec![];
    for slot in 0..game.rules().hand_size as usize {
        let Some(card) = state.hand(observer).get(slot) else {
            row.extend([0.0; 6]);
            continue;
        };
        let own: Vec<u8> = state
            .expedition(observer, card.color as usize)
            .ranks()
            .collect();
        let last = own.last().copied().unwrap_or(0);
        let number = card.rank > 0;
        let ok = if number { card.rank > last } else { last == 0 };
        row.extend([
            flag(ok && last == 0),
            flag(ok && last == 0 && number),
            flag(ok && last == 0 && !number && own.is_empty()),
            flag(ok && last > 0),
            flag(number && !ok),
            flag(!number && ok),
        ]);
    }
    row
}
