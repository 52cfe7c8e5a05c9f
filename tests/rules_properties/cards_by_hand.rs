//! Rows of the encoding by card for one game, every value worked out by hand.

use coorl_async::{
    encoding::{Cards, Encoding},
    game::{
        Action, Game, Player,
        lost_cities::{Card, LostCities, State},
    },
};
use std::collections::BTreeMap;

use crate::cards::encode;

/// Player 0's hand, player 1's hand and what the deck gives, as (colour, rank).
const FIRST: [(u8, u8); 8] = [
    (0, 0),
    (0, 0),
    (0, 3),
    (1, 5),
    (1, 9),
    (2, 1),
    (3, 2),
    (4, 7),
];
const SECOND: [(u8, u8); 8] = [
    (0, 0),
    (0, 8),
    (1, 1),
    (2, 2),
    (2, 4),
    (3, 0),
    (4, 9),
    (4, 6),
];
const DRAWN: [(u8, u8); 4] = [(1, 2), (4, 0), (3, 9), (1, 0)];

const PLAY: usize = 0;
const DISCARD: usize = 10;
const DECK: usize = 105;

fn action(color: usize, what: usize) -> usize {
    21 * color + what
}

fn pile(color: usize) -> usize {
    action(color, 20)
}

fn deal(game: &LostCities) -> State {
    let dealt = FIRST
        .into_iter()
        .zip(SECOND)
        .flat_map(|(first, second)| [first, second]);
    let known: Vec<Card> = dealt
        .chain(DRAWN)
        .map(|(color, rank)| Card { color, rank })
        .collect();
    let mut deck = game.cards();
    for card in &known {
        let at = deck.iter().position(|other| other == card).unwrap();
        deck.remove(at);
    }
    deck.extend(known.iter().rev());
    game.deal_deck(&deck).unwrap()
}

/// The game until player 0 is to draw in their fourth turn.
fn opening(game: &LostCities, cards: &Cards) -> State {
    let mut state = deal(game);
    for action in [
        [action(0, PLAY), DECK],
        [action(2, DISCARD + 4), DECK],
        [action(1, DISCARD + 9), pile(2)],
        [action(0, PLAY + 8), pile(1)],
        [action(0, PLAY + 3), DECK],
        [action(3, DISCARD), DECK],
    ]
    .into_iter()
    .flatten()
    {
        act(game, cards, &mut state, action);
    }
    act(game, cards, &mut state, action(4, DISCARD + 7));
    state
}

fn act(game: &LostCities, cards: &Cards, state: &mut State, action: usize) {
    let action = action as Action;
    assert!(
        cards.legal_actions(game, state).contains(action),
        "{action}"
    );
    let action = cards.to_game(game, state, action);
    game.try_apply(state, action).unwrap();
}

/// Values other than 0 by where they are.
type Sparse = BTreeMap<usize, f32>;

fn sparse(values: &[f32]) -> Sparse {
    let values = values.iter().copied().enumerate();
    values.filter(|(_, value)| *value != 0.0).collect()
}

/// The values of a colour in the classic game by offset, where not 0. Unseen are `handshakes` thirds and the numbers but `seen`.
fn block(values: &[(usize, f32)], handshakes: f32, seen: &[usize]) -> Sparse {
    let numbers = (1..=9).filter(|rank| !seen.contains(rank));
    let numbers = numbers.map(|rank| (60 + rank, 1.0));
    let handshakes = (handshakes > 0.0).then_some((60, handshakes / 3.0));
    values
        .iter()
        .copied()
        .chain(numbers)
        .chain(handshakes)
        .collect()
}

#[test]
fn every_value_of_a_position_is_as_worked_out() {
    let game = LostCities::new(Default::default()).unwrap();
    let cards = Cards::new(&game).unwrap();
    let state = opening(&game, &cards);
    let third = 1.0 / 3.0;
    let blocks = [
        block(
            &[
                (0, third), // hand: a handshake
                (10, third),
                (13, 1.0), // own expedition: a handshake, rank 3
                (28, 1.0), // the other's: rank 8
                (90, 2.0 / 12.0),
                (91, third),
                (92, 3.0 / 9.0),
                (93, -32.0 / 50.0),
                (94, 4.0 / 54.0),
                (95, 1.0),
                (96, 1.0 / 12.0),
                (98, 8.0 / 9.0),
                (99, -11.0 / 50.0),
                (100, 1.0),
                (108, -32.0 / 50.0),
                (109, 36.0 / 54.0), // ranks 4, 5, 6, 7, 9
            ],
            1.0,
            &[3, 8],
        ),
        block(
            &[
                (2, 1.0),
                (5, 1.0),
                (59, 1.0), // the other took the 9
                (72, 1.0),
                (75, 1.0),
                (82, 1.0),
                (85, 1.0),
                (104, 9.0 / 54.0),
                (105, 2.0 / 9.0),
                (108, -11.0 / 50.0),
                (109, 35.0 / 54.0),
            ],
            3.0,
            &[2, 5, 9],
        ),
        block(
            &[
                (1, 1.0),
                (4, 1.0),
                (71, 1.0),
                (74, 1.0),
                (81, 1.0),
                (84, 1.0),
                (104, 7.0 / 54.0),
                (105, 2.0 / 9.0),
                (108, -13.0 / 50.0),
                (109, 47.0 / 54.0),
            ],
            3.0,
            &[1, 4],
        ),
        block(
            &[
                (2, 1.0),
                (9, 1.0),
                (30, third),
                (40, 1.0),
                (72, 1.0),
                (79, 1.0),
                (82, 1.0),
                (89, 1.0),
                (101, 1.0 / 12.0),
                (103, 1.0),
                (104, 13.0 / 54.0),
                (105, 2.0 / 9.0),
                (106, 1.0),
                (107, 1.0),
                (108, -7.0 / 50.0),
                (109, 41.0 / 54.0),
            ],
            2.0,
            &[2, 9],
        ),
        block(
            &[
                (37, 1.0),
                (47, 1.0),
                (101, 1.0 / 12.0),
                (102, 1.0),
                (106, 1.0),
                (107, 1.0),
                (108, -20.0 / 50.0),
                (109, 46.0 / 54.0),
            ],
            3.0,
            &[7],
        ),
    ];
    let row = encode(&cards, &game, &state, Player::P0);
    for (color, wanted) in blocks.iter().enumerate() {
        assert_eq!(
            &sparse(&row[110 * color..][..110]),
            wanted,
            "colour {color}"
        );
    }
    let common = [
        (0, 1.0),
        (1, 40.0 / 44.0),
        (10, 1.0),
        (11, -0.32),
        (12, -0.11),
        (13, -0.21),
        (14, 13.0 / 200.0),
        (15, 0.2),
        (16, 0.2),
    ];
    assert_eq!(sparse(&row[550..]), Sparse::from(common));

    // The critic's row is the same with player 1's hand.
    let open = Cards::open(&game).unwrap();
    let hands: [&[(usize, f32)]; 5] = [
        &[(0, third)],
        &[(0, third), (1, 1.0), (9, 1.0)],
        &[(2, 1.0)],
        &[],
        &[(0, third), (6, 1.0), (9, 1.0)],
    ];
    let open_row = encode(&open, &game, &state, Player::P0);
    for (color, hand) in hands.into_iter().enumerate() {
        let block = &open_row[120 * color..][..120];
        assert_eq!(block[..110], row[110 * color..][..110]);
        assert_eq!(sparse(&block[110..]), hand.iter().copied().collect());
    }
    assert_eq!(open_row[600..], row[550..]);
}

#[test]
fn actions_are_by_card() {
    let game = LostCities::new(Default::default()).unwrap();
    let cards = Cards::new(&game).unwrap();
    let legal = |state: &State| -> Vec<usize> {
        let legal = cards.legal_actions(&game, state);
        legal.iter().map(usize::from).collect()
    };
    let mut state = opening(&game, &cards);
    assert_eq!(legal(&state), [pile(3), DECK]);
    act(&game, &cards, &mut state, pile(3));
    // Player 1 sees what player 0 took: rank 4 of colour 2 and a handshake of colour 3.
    let row = encode(&cards, &game, &state, Player::P1);
    let known = (0..5).flat_map(|color| row[110 * color + 50..110 * color + 60].to_vec());
    let known: Vec<f32> = known.collect();
    assert_eq!(sparse(&known), Sparse::from([(24, 1.0), (30, 1.0 / 3.0)]));
    // Player 1 may not add to colour 0 after rank 8, and may play all else; nothing twice.
    let held = [
        (0, 0),
        (1, 0),
        (1, 1),
        (1, 9),
        (2, 2),
        (4, 0),
        (4, 6),
        (4, 9),
    ];
    let plays = held[1..]
        .iter()
        .map(|&(color, rank)| action(color, PLAY + rank));
    let discards = held
        .iter()
        .map(|&(color, rank)| action(color, DISCARD + rank));
    let mut wanted: Vec<usize> = plays.chain(discards).collect();
    wanted.sort_unstable();
    assert_eq!(legal(&state), wanted);
}

#[test]
fn equal_handshakes_are_one_action_that_of_the_lowest_slot() {
    let game = LostCities::new(Default::default()).unwrap();
    let cards = Cards::new(&game).unwrap();
    let state = deal(&game);
    let legal = cards.legal_actions(&game, &state);
    assert_eq!((game.legal_actions(&state).len(), legal.len()), (16, 14));
    for (what, slot_action) in [(PLAY, 0), (DISCARD, 1), (PLAY + 3, 4)] {
        let action = action(0, what) as Action;
        assert!(legal.contains(action));
        assert_eq!(cards.to_game(&game, &state, action), slot_action);
    }
}
