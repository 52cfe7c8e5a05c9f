//! Encodings: how a state becomes the row of numbers a network sees, and which numbers its actions have.
//!
//! An encoding is a type apart from the rules. Networks, slots and replay know only its two lengths.

mod cards;
mod color_layout;
mod kuhn;
mod leduc;
mod slots;

pub use cards::{Cards, CardsError};
pub use color_layout::ColorLayout;
pub use kuhn::KuhnBits;
pub use leduc::LeducBits;
pub use slots::Slots;

use crate::game::{Action, ActionSet, Game, Player};
use serde::{Deserialize, Serialize};

/// What an info state of Lost Cities holds and how actions are numbered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// By hand slot, in the order in which cards arrived: [`Slots`].
    #[default]
    Slots,
    /// By card, colour after colour: [`Cards`].
    Cards,
}

/// How an info state of Lost Cities is made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// By slot or by card.
    pub kind: Kind,
    /// By slot only: appends per colour what lies and what could be played there: counts and face sums (15 C + 3 values).
    pub derived_playability: bool,
    /// By slot only: appends six flags per hand slot (6 S values).
    pub slot_aware_playability: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            kind: Kind::Slots,
            derived_playability: true,
            slot_aware_playability: true,
        }
    }
}

/// The info state of a game and the numbering of its actions.
pub trait Encoding<G: Game>: Clone + Send + Sync + 'static {
    /// Values in an info state row.
    fn info_len(&self) -> usize;
    /// Outputs of a network; action numbers of this encoding are below it.
    fn num_actions(&self) -> usize;
    /// The legal actions of the mover in this encoding's numbers; empty when the game is over.
    fn legal_actions(&self, game: &G, state: &G::State) -> ActionSet;
    /// The game's action id behind a legal action of this encoding.
    fn to_game(&self, game: &G, state: &G::State, action: Action) -> Action;
    /// The encoding that also shows what the other player holds, with the same actions: for a critic in training. `None` where there is none.
    fn critic_view(&self) -> Option<Self> {
        None
    }
    /// Writes what `observer` knows into all of `row` (`[info_len]`), whatever it held. `legal` is [`Encoding::legal_actions`] of
    /// the state: the mover's, also when the observer is the other player.
    ///
    /// # Panics
    /// When `row` has another length.
    fn encode(
        &self,
        game: &G,
        state: &G::State,
        observer: Player,
        legal: ActionSet,
        row: &mut [f32],
    );
    /// Which values and actions belong to which colour; `None` where the game has no colours, or the encoding does not keep them apart.
    fn color_layout(&self) -> Option<ColorLayout> {
        None
    }
}
