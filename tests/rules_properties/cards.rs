//! The encoding by card against `spec/strength.md` as a slow observer computes it, under exchanged colours and hidden cards.

use coorl_async::{
    encoding::{Cards, CardsError, Encoding},
    game::{
        Action, ActionSet, Game, Player,
        lost_cities::{Card, LostCities, Rules, State},
    },
};
use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, proptest};
use rand::seq::SliceRandom;

use crate::{
    encoding::hidden_positions,
    history::History,
    random_games::{any_card_game, play, stream},
};

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rows_are_as_an_observer_of_the_game_computes_them(
        game in any_card_game(),
        seed in any::<u64>(),
        plies in 0..400_usize,
    ) {
        let (deck, actions, state) = random_game(&game, seed, plies);
        let history = History::new(&game, &deck, &actions);
        for player in Player::BOTH {
            let mut known: Vec<Card> = state.known_hand(player).collect();
            let mut wanted = history.known[player.index()].clone();
            known.sort_unstable();
            wanted.sort_unstable();
            prop_assert_eq!(known, wanted);
        }
        if state.is_terminal() {
            return Ok(());
        }
        for (open, cards) in both(&game).iter().enumerate() {
            for observer in Player::BOTH {
                let wanted = specified(&game, &history, observer, open == 1);
                let row = encode(cards, &game, &state, observer);
                prop_assert_eq!(row.len(), wanted.len());
                for (at, (value, wanted)) in row.into_iter().zip(wanted).enumerate() {
                    let error = (f64::from(value) - wanted).abs();
                    prop_assert!(error <= 1e-6 * wanted.abs().max(1.0), "value {}: {} for {}", at, value, wanted);
                }
            }
        }
    }

    #[test]
    fn exchanged_colours_exchange_their_blocks_and_actions(
        game in any_card_game(),
        seed in any::<u64>(),
        plies in 0..200_usize,
    ) {
        let (deck, actions, state) = random_game(&game, seed, plies);
        let colors = game.rules().n_colors as usize;
        let mut renamed: Vec<usize> = (0..colors).collect();
        renamed.shuffle(&mut stream(!seed));
        let new_deck: Vec<Card> = deck
            .iter()
            .map(|card| Card { color: renamed[card.color as usize] as u8, ..*card })
            .collect();
        let new_action = |action: Action| match action.checked_sub(game.pile_action(0)) {
            Some(color) => game.pile_action(renamed[color as usize]),
            None => action,
        };
        let mut other = game.deal_deck(&new_deck).expect("a permutation");
        for &action in &actions {
            game.try_apply(&mut other, new_action(action)).expect("the same game");
        }
        for cards in both(&game) {
            let layout = cards.color_layout().expect("colours");
            let (before, after) = (legal(&cards, &game, &state), legal(&cards, &game, &other));
            let number = |action: usize| action as Action;
            let mut pairs: Vec<(usize, usize)> = layout.common_actions.iter().map(|&at| (at, at)).collect();
            for (color, &new_color) in renamed.iter().enumerate() {
                let pair = layout.actions[color].iter().zip(&layout.actions[new_color]);
                pairs.extend(pair.map(|(&old, &new)| (old, new)));
            }
            prop_assert_eq!(pairs.len(), cards.num_actions());
            for (old, new) in pairs {
                prop_assert_eq!(before.contains(number(old)), after.contains(number(new)));
                if before.contains(number(old)) {
                    let done = cards.to_game(&game, &state, number(old));
                    prop_assert_eq!(new_action(done), cards.to_game(&game, &other, number(new)));
                }
            }
            for observer in Player::BOTH {
                let (row, new_row) = (encode(&cards, &game, &state, observer), encode(&cards, &game, &other, observer));
                let values = |row: &[f32], indices: &[usize]| -> Vec<f32> { indices.iter().map(|&at| row[at]).collect() };
                prop_assert_eq!(values(&row, &layout.common), values(&new_row, &layout.common));
                for (color, &new_color) in renamed.iter().enumerate() {
                    let (block, new_block) = (&layout.info[color], &layout.info[new_color]);
                    prop_assert_eq!(values(&row, block), values(&new_row, new_block));
                }
            }
        }
    }

    #[test]
    fn an_observer_is_told_nothing_hidden(game in any_card_game(), seed in any::<u64>(), plies in 0..200_usize) {
        let (mut deck, actions, state) = random_game(&game, seed, plies);
        let cards = Cards::new(&game).expect("few actions");
        let observer = Player::from_parity(seed as usize % 2);
        let hidden = hidden_positions(&game, &deck, &actions, observer.opponent());
        let mut shuffled: Vec<Card> = hidden.iter().map(|&position| deck[position]).collect();
        shuffled.shuffle(&mut stream(!seed));
        hidden.iter().zip(shuffled).for_each(|(&position, card)| deck[position] = card);
        let mut other = game.deal_deck(&deck).expect("a permutation");
        for &action in &actions {
            game.try_apply(&mut other, action).expect("hidden cards take no part");
        }
        prop_assert_eq!(encode(&cards, &game, &state, observer), encode(&cards, &game, &other, observer));
        if observer == state.current_player() {
            prop_assert_eq!(legal(&cards, &game, &state), legal(&cards, &game, &other));
        }
    }

    #[test]
    fn every_legal_action_has_a_number_that_only_equal_handshakes_share(
        game in any_card_game(),
        seed in any::<u64>(),
        plies in 0..200_usize,
    ) {
        let (_, _, state) = random_game(&game, seed, plies);
        let cards = Cards::new(&game).expect("few actions");
        let types = game.rules().n_ranks as usize + 1;
        let of_game = game.legal_actions(&state);
        let numbers = legal(&cards, &game, &state);
        let hand = state.hand(state.current_player());
        let what = |action: Action| (action < game.deck_action()).then(|| (action % 2, hand[action as usize / 2]));
        for action in of_game.iter() {
            let number = match what(action) {
                Some((discards, card)) => {
                    (2 * types + 1) * card.color as usize + types * discards as usize + card.rank as usize
                }
                None if action == game.deck_action() => cards.num_actions() - 1,
                None => {
                    let color = (action - game.pile_action(0)) as usize;
                    (2 * types + 1) * color + 2 * types
                }
            };
            prop_assert!(numbers.contains(number as Action), "action {} has no number", action);
            let chosen = cards.to_game(&game, &state, number as Action);
            prop_assert!(of_game.contains(chosen) && chosen <= action);
            prop_assert_eq!(what(chosen), what(action));
            let is_handshake = what(action).is_some_and(|(_, card)| card.rank == 0);
            prop_assert!(chosen == action || is_handshake);
        }
        let mut chosen: Vec<Action> = numbers.iter().map(|number| cards.to_game(&game, &state, number)).collect();
        chosen.sort_unstable();
        chosen.dedup();
        prop_assert_eq!(chosen.len(), numbers.len());
        prop_assert!(chosen.into_iter().all(|action| of_game.contains(action)));
    }
}

#[test]
fn the_classic_game_has_the_documented_lengths() {
    let game = LostCities::new(Default::default()).unwrap();
    let [cards, open] = both(&game);
    assert_eq!((cards.info_len(), cards.num_actions()), (567, 106));
    assert_eq!((open.info_len(), open.num_actions()), (617, 106));
    for (cards, block) in [(cards, 110), (open, 120)] {
        let layout = cards.color_layout().unwrap();
        assert_eq!((layout.colors(), layout.block_len()), (5, block));
        assert!(layout.info[4].iter().copied().eq(4 * block..5 * block));
        assert!(layout.common.iter().copied().eq(5 * block..5 * block + 17));
        assert!(layout.actions[4].iter().copied().eq(84..105));
        assert_eq!(layout.common_actions, [105]);
    }
}

#[test]
fn variants_have_lengths_of_their_own_up_to_128_actions() {
    let cards = |n_colors, n_ranks, n_handshakes| {
        let rules = Rules {
            n_colors,
            n_ranks,
            n_handshakes,
            hand_size: 2,
            ..Rules::default()
        };
        Cards::new(&LostCities::new(rules).unwrap())
    };
    let lengths = |cards: Cards| (cards.info_len(), cards.num_actions());
    assert_eq!(lengths(cards(2, 3, 0).unwrap()), (2 * 56 + 17, 2 * 9 + 1));
    assert_eq!(lengths(cards(1, 30, 1).unwrap()), (299 + 17, 64));
    assert_eq!(lengths(cards(6, 9, 3).unwrap()), (677, 127));
    let error = cards(7, 8, 2).unwrap_err();
    assert_eq!(error, CardsError::TooManyActions { actions: 134 });
    let text = error.to_string();
    for part in ["encoding.kind", "rules.n_colors", "134", "at most 128"] {
        assert!(text.contains(part), "{text}");
    }
}

/// The encoding and that with the other player's hand.
fn both(game: &LostCities) -> [Cards; 2] {
    [Cards::new(game), Cards::open(game)].map(|cards| cards.expect("few actions"))
}

/// The deck, up to `plies` random actions, and the state after them.
fn random_game(game: &LostCities, seed: u64, plies: usize) -> (Vec<Card>, Vec<Action>, State) {
    let mut rng = stream(seed);
    let mut deck = game.cards();
    deck.shuffle(&mut rng);
    let mut state = game.deal_deck(&deck).expect("a permutation");
    let actions = play(game, &mut state, plies, &mut rng);
    (deck, actions, state)
}

fn legal(cards: &Cards, game: &LostCities, state: &State) -> ActionSet {
    cards.legal_actions(game, state)
}

pub fn encode(cards: &Cards, game: &LostCities, state: &State, observer: Player) -> Vec<f32> {
    let mut row = vec![f32::NAN; cards.info_len()];
    cards.encode(game, state, observer, legal(cards, game, state), &mut row);
    row
}

/// A row as the table has it, value after value.
fn specified(game: &LostCities, history: &History, p: Player, open: bool) -> Vec<f64> {
    let colors = 0..game.rules().n_colors as usize;
    let mut row: Vec<f64> = colors
        .clone()
        .flat_map(|color| color_block(game, history, p, color, open))
        .collect();
    let rules = game.rules();
    let cards = game.cards().len() as f64;
    let undealt = cards - 2.0 * f64::from(rules.hand_size);
    let deck = history.deck.len();
    row.push(flag(history.is_draw_phase()));
    row.push(deck as f64 / undealt.max(1.0));
    row.extend((1..=8).map(|left| flag(deck == left)));
    row.push(deck.min(10) as f64 / 10.0);
    let [own, other] = [p, p.opponent()].map(|player| -> f64 {
        let scores = colors
            .clone()
            .map(|color| score(game, &history.expedition(player, color)));
        scores.sum()
    });
    row.extend([own, other, own - other].map(|score| score / (2.0 * points(game))));
    row.push((history.plies as f64).min(2.0 * cards) / (200.0 * cards / 60.0));
    for player in [p, p.opponent()] {
        let opened = colors
            .clone()
            .filter(|&color| !history.expedition(player, color).is_empty());
        row.push(opened.count() as f64 / f64::from(rules.n_colors));
    }
    row
}

fn color_block(
    game: &LostCities,
    history: &History,
    p: Player,
    color: usize,
    open: bool,
) -> Vec<f64> {
    let rules = game.rules();
    let q = p.opponent();
    let of_color = |cards: &[Card]| -> Vec<u8> {
        let cards = cards.iter().filter(|card| card.color as usize == color);
        cards.map(|card| card.rank).collect()
    };
    let [own, other] = [p, q].map(|player| history.expedition(player, color));
    let hand = of_color(&history.hands[p.index()]);
    let known = of_color(&history.known[q.index()]);
    let pile = of_color(&history.piles[color]);
    let top: Vec<u8> = pile.last().copied().into_iter().collect();
    let mut unseen = of_color(&game.cards());
    for rank in [&hand, &own, &other, &pile, &known].into_iter().flatten() {
        let at = unseen
            .iter()
            .position(|unseen| unseen == rank)
            .expect("a card of the game");
        unseen.remove(at);
    }
    let playable = |ranks: &[u8], player| -> Vec<u8> {
        let ranks = ranks.iter().copied();
        ranks
            .filter(|&rank| history.plays(player, color, rank))
            .collect()
    };
    let handshakes = f64::from(rules.n_handshakes.max(1));
    let shares = |ranks: &[u8]| -> Vec<f64> {
        let count = |rank| ranks.iter().filter(|&&other| other == rank).count() as f64;
        let numbers = (1..=rules.n_ranks as u8).map(count);
        std::iter::once(count(0) / handshakes)
            .chain(numbers)
            .collect()
    };
    let mut row = [&hand, &own, &other, &pile]
        .map(|ranks| shares(ranks))
        .concat();
    row.extend((0..=rules.n_ranks as u8).map(|rank| flag(top == [rank])));
    row.extend(
        [&known, &unseen, &playable(&hand, p), &playable(&hand, q)]
            .map(|ranks| shares(ranks))
            .concat(),
    );

    let cards = f64::from(rules.n_ranks + rules.n_handshakes);
    let ranks = f64::from(rules.n_ranks);
    let all_faces = faces(game, &(1..=rules.n_ranks as u8).collect::<Vec<_>>());
    let points = points(game);
    let expedition = |ranks_of: &[u8]| {
        [
            ranks_of.len() as f64 / cards,
            ranks_of.iter().filter(|&&rank| rank == 0).count() as f64 / handshakes,
            f64::from(ranks_of.last().copied().unwrap_or(0)) / ranks,
            score(game, ranks_of) / points,
        ]
    };
    row.extend(expedition(&own));
    row.extend([faces(game, &own) / all_faces, flag(!own.is_empty())]);
    row.extend(expedition(&other));
    row.push(flag(!other.is_empty()));
    row.push(pile.len() as f64 / cards);
    row.extend([history.pending == Some(color), history.draws(color)].map(flag));
    let numbers: Vec<u8> = playable(&hand, p)
        .into_iter()
        .filter(|&rank| rank > 0)
        .collect();
    row.extend([
        faces(game, &numbers) / all_faces,
        numbers.len() as f64 / ranks,
    ]);
    row.extend([p, q].map(|player| flag(!playable(&top, player).is_empty())));
    let multiplier = 1.0 + own.iter().filter(|&&rank| rank == 0).count() as f64;
    let hope = faces(game, &own) + faces(game, &numbers) + f64::from(rules.expedition_penalty);
    row.push(hope * multiplier / points);
    row.push(faces(game, &playable(&unseen, p)) / all_faces);
    if open {
        row.extend(shares(&of_color(&history.hands[q.index()])));
    }
    row
}

fn flag(value: bool) -> f64 {
    f64::from(u8::from(value))
}

fn faces(game: &LostCities, ranks: &[u8]) -> f64 {
    let numbers = ranks.iter().filter(|&&rank| rank > 0);
    let faces = numbers.map(|&rank| game.rules().min_rank + i32::from(rank) - 1);
    f64::from(faces.sum::<i32>())
}

fn score(game: &LostCities, expedition: &[u8]) -> f64 {
    let rules = game.rules();
    if expedition.is_empty() {
        return 0.0;
    }
    let handshakes = expedition.iter().filter(|&&rank| rank == 0).count() as f64;
    let bonus = if expedition.len() >= rules.bonus_threshold as usize {
        f64::from(rules.bonus_amount)
    } else {
        0.0
    };
    (faces(game, expedition) + f64::from(rules.expedition_penalty)) * (1.0 + handshakes) + bonus
}

/// The scale of points: 50 in the classic game, where numbers, penalty and bonus of a colour come to 54 + 20 + 20.
fn points(game: &LostCities) -> f64 {
    let rules = game.rules();
    let all_faces = faces(game, &(1..=rules.n_ranks as u8).collect::<Vec<_>>());
    let reachable = rules.n_ranks + rules.n_handshakes >= rules.bonus_threshold;
    let bonus = if reachable { rules.bonus_amount } else { 0 };
    (all_faces + f64::from(rules.expedition_penalty.abs() + bonus.abs())) / 94.0 * 50.0
}
