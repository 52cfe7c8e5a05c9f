//! Random variants of the rules and random games under them.

use coorl_async::{
    game::{
        Action, ActionSet, Game,
        lost_cities::{LostCities, Rules, State},
    },
    random::{Purpose, Randomness, Stream},
};
use proptest::prelude::{Just, Strategy};

/// Any rules that are valid: small games and the largest ones.
pub fn any_game() -> impl Strategy<Value = LostCities> {
    any_game_of(|colors| Rules::MAX_CARDS / colors)
}

/// Any rules with few enough actions for the encoding by card.
pub fn any_card_game() -> impl Strategy<Value = LostCities> {
    any_game_of(|colors| {
        let actions_per_color = (ActionSet::CAPACITY - 1) / colors;
        ((actions_per_color - 3) / 2).min(Rules::MAX_CARDS / colors)
    })
}

fn any_game_of(most_ranks: fn(usize) -> usize) -> impl Strategy<Value = LostCities> {
    let colors = 1..=Rules::MAX_COLORS;
    let ranks = colors
        .prop_flat_map(move |colors| (Just(colors), 1..=most_ranks(colors).min(Rules::MAX_RANKS)));
    let cards = ranks.prop_flat_map(|(colors, ranks)| {
        let most = Rules::MAX_CARDS / colors - ranks;
        (Just(colors), Just(ranks), 0..=most.min(12))
    });
    let sizes = cards
        .prop_filter("two cards", |(colors, ranks, handshakes)| {
            colors * (ranks + handshakes) >= 2
        })
        .prop_flat_map(|(colors, ranks, handshakes)| {
            let most = colors * (ranks + handshakes) / 2;
            let hand_size = 1..=most.min(Rules::MAX_HAND);
            (Just(colors), Just(ranks), Just(handshakes), hand_size)
        });
    let points = (1..=40, -100..=20, 1..=20, -60..=100);
    (sizes, points).prop_map(|(sizes, (min_rank, penalty, threshold, bonus))| {
        let (n_colors, n_ranks, n_handshakes, hand_size) = sizes;
        LostCities::new(Rules {
            n_colors: n_colors as i32,
            n_ranks: n_ranks as i32,
            n_handshakes: n_handshakes as i32,
            hand_size: hand_size as i32,
            min_rank,
            expedition_penalty: penalty,
            bonus_threshold: threshold,
            bonus_amount: bonus,
        })
        .expect("valid rules")
    })
}

/// A random number stream for one case.
pub fn stream(seed: u64) -> Stream {
    Stream::new(seed, Purpose::Trial, 0, 0)
}

/// Plays `plies` random legal actions from `state` or to the end, and gives the actions.
pub fn play(game: &LostCities, state: &mut State, plies: usize, rng: &mut Stream) -> Vec<Action> {
    let mut played = Vec::new();
    while played.len() < plies && game.mover(state).is_some() {
        let action = random_action(game, state, rng);
        game.apply(state, action);
        played.push(action);
    }
    played
}

/// A legal action, each as likely as the others.
pub fn random_action(game: &LostCities, state: &State, rng: &mut Stream) -> Action {
    let legal = game.legal_actions(state);
    let number = rng.index(legal.len());
    legal.nth(number).expect("a number below the length")
}
