//! Lost Cities by card: the same block of values for every colour, actions by what is played.
//!
//! Hands lie in arrival order, so an encoding by slot shows one situation in many disguises. Here a card has a place of its own.
//!
//! ```text
//! | colour 0 | colour 1 | ... | common |    an info state
//! | colour 0 | colour 1 | ... | deck   |    the actions: per colour plays, discards, the draw from its pile
//! ```
//!
//! The card types of a colour are numbered as its ranks: 0 the handshake, of which a place holds the share of all there are, and 1 to R the numbers.
//! Counts, faces and points are shares of what the rules allow; what that is in the classic game stands in brackets.

mod color_cards;
mod row;

use self::row::Scales;
use super::{ColorLayout, Encoding};
use crate::game::{
    Action, ActionSet, Game, Player,
    lost_cities::{LostCities, Phase, State},
};

/// The encoding of Lost Cities by card.
///
/// With `T = n_ranks + 1` card types a colour has `9 T + 20` values, p being the observer and q the other player:
///
/// | offset | values | content |
/// |---|---|---|
/// | 0 | T | in p's hand |
/// | T | T | in p's expedition |
/// | 2T | T | in q's expedition |
/// | 3T | T | in the pile |
/// | 4T | T | one-hot: the top of the pile |
/// | 5T | T | known to be in q's hand ([`State::known_hand`]) |
/// | 6T | T | unseen by p: in the deck or, unknown, in q's hand |
/// | 7T | T | in p's hand and playable by p |
/// | 8T | T | in p's hand and playable by q |
/// | 9T | 6 | p's expedition: cards (12), handshakes (3), last rank (9), score (50), face sum (54), opened |
/// | 9T + 6 | 5 | q's expedition: cards (12), handshakes (3), last rank (9), score (50), opened |
/// | 9T + 11 | 3 | pile: cards (12), discarded there just now, drawable in this decision |
/// | 9T + 14 | 2 | numbers in p's hand and playable by p: face sum (54), count (9) |
/// | 9T + 16 | 2 | top of the pile: playable by p, by q |
/// | 9T + 18 | 1 | (face sums of p's expedition and of the playable numbers in hand + penalty) (handshakes played + 1) (50) |
/// | 9T + 19 | 1 | face sum of the unseen numbers playable by p (54) |
/// | 9T + 20 | T | q's hand, of [`Cards::open`] alone |
///
/// After the colours come 17 common values: draw phase; deck over what the deal leaves (44); one-hot 1 to 8 cards in the deck; deck, at most 10,
/// over 10; p's score, q's, the difference (100); plies, at most two a card of the game (120), over ten thirds of the cards (200); colours
/// opened by p and by q (5). In the classic game that is 5 x 110 + 17 = 567 values.
///
/// The scale of points (50, and twice that for whole scores) is 50/94 of the greatest face sum, the penalty and, where a colour has enough cards
/// for it, the bonus together. Countdowns of the deck are in cards whatever the rules.
///
/// Nothing names the seats or the player to act: a row is meant for the mover.
///
/// Actions: `(2 T + 1) c` on are those of colour `c`: T plays, T discards, the draw from its pile. The last is the draw from the deck. That is
/// 106 in the classic game. Equal handshakes in a hand are one action.
#[derive(Clone, Debug)]
pub struct Cards {
    colors: usize,
    /// Card types of a colour, T.
    types: usize,
    sight: Sight,
    scales: Scales,
}

/// What a row shows of the other player's hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sight {
    /// What was taken from piles and is still held.
    Known,
    /// All of it, after each colour's other values.
    Open,
}

/// Why a variant cannot be encoded by card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CardsError {
    /// More actions than a set of actions holds.
    #[error(
        "encoding.kind cards gives rules.n_colors x (2 x rules.n_ranks + 3) + 1 = {actions} actions; allowed: at most {max}",
        max = ActionSet::CAPACITY
    )]
    TooManyActions {
        /// How many there would be.
        actions: usize,
    },
}

impl Cards {
    /// The encoding for the rules of `game`.
    ///
    /// # Errors
    /// More than [`ActionSet::CAPACITY`] actions.
    pub fn new(game: &LostCities) -> Result<Self, CardsError> {
        Self::with_sight(game, Sight::Known)
    }

    /// The same encoding with the other player's hand in it, T more values at the end of each colour's block (classic: 617 in all). For a critic in
    /// training only, never for play: what it shows is hidden from the player to act.
    ///
    /// # Errors
    /// As [`Cards::new`].
    pub fn open(game: &LostCities) -> Result<Self, CardsError> {
        Self::with_sight(game, Sight::Open)
    }

    fn with_sight(game: &LostCities, sight: Sight) -> Result<Self, CardsError> {
        let rules = game.rules();
        let cards = Self {
            colors: rules.n_colors as usize,
            types: rules.n_ranks as usize + 1,
            sight,
            scales: Scales::new(rules),
        };
        match cards.num_actions() {
            actions if actions > ActionSet::CAPACITY => Err(CardsError::TooManyActions { actions }),
            _ => Ok(cards),
        }
    }

    /// Values of an info state per colour.
    fn block_len(&self) -> usize {
        let hand = match self.sight {
            Sight::Known => 0,
            Sight::Open => self.types,
        };
        row::MARKS * self.types + row::FIGURES + hand
    }

    /// Actions per colour.
    fn actions_per_color(&self) -> usize {
        2 * self.types + 1
    }

    fn pile_action(&self, color: usize) -> usize {
        self.actions_per_color() * color + 2 * self.types
    }

    fn deck_action(&self) -> usize {
        self.actions_per_color() * self.colors
    }

    /// The number of a legal action of the game.
    fn number(&self, game: &LostCities, state: &State, action: Action) -> Action {
        let number = if state.phase() == Phase::Card {
            let card = state.hand(state.current_player())[action as usize / 2];
            let what = (action as usize % 2) * self.types + card.rank as usize;
            self.actions_per_color() * card.color as usize + what
        } else if action == game.deck_action() {
            self.deck_action()
        } else {
            self.pile_action((action - game.pile_action(0)) as usize)
        };
        number as Action
    }
}

impl Encoding<LostCities> for Cards {
    fn info_len(&self) -> usize {
        self.colors * self.block_len() + row::COMMON
    }

    fn num_actions(&self) -> usize {
        self.deck_action() + 1
    }

    fn critic_view(&self) -> Option<Self> {
        Some(Self {
            sight: Sight::Open,
            ..self.clone()
        })
    }

    fn legal_actions(&self, game: &LostCities, state: &State) -> ActionSet {
        let legal = game.legal_actions(state);
        legal
            .iter()
            .map(|action| self.number(game, state, action))
            .collect()
    }

    /// Of equal handshakes in hand the one in the lowest slot.
    fn to_game(&self, game: &LostCities, state: &State, action: Action) -> Action {
        let action = action as usize;
        if action == self.deck_action() {
            return game.deck_action();
        }
        let color = action / self.actions_per_color();
        let what = action % self.actions_per_color();
        if what == 2 * self.types {
            return game.pile_action(color);
        }
        let (discards, rank) = (what / self.types, what % self.types);
        let mut hand = state.hand(state.current_player()).iter();
        let slot = hand.position(|card| (card.color as usize, card.rank as usize) == (color, rank));
        debug_assert!(slot.is_some(), "illegal action {action}");
        // What is not in hand becomes an action that the rules refuse.
        slot.map_or(Action::MAX, |slot| (2 * slot + discards) as Action)
    }

    fn encode(
        &self,
        game: &LostCities,
        state: &State,
        observer: Player,
        legal: ActionSet,
        row: &mut [f32],
    ) {
        assert_eq!(
            row.len(),
            self.info_len(),
            "the length of an info state row"
        );
        let view = row::View {
            cards: self,
            game,
            state,
            observer,
            legal,
        };
        view.write(row);
    }

    fn color_layout(&self) -> Option<ColorLayout> {
        let parts = |len: usize| {
            let starts = (0..self.colors).map(move |color| len * color);
            starts.map(|start| (start..start + len).collect()).collect()
        };
        let info = parts(self.block_len());
        let actions = parts(self.actions_per_color());
        Some(ColorLayout::new(
            info,
            self.info_len(),
            actions,
            self.num_actions(),
        ))
    }
}
