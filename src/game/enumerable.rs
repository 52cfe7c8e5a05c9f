//! Games small enough to look at whole.

use super::{Game, Player};

/// A game whose deals can be listed and whose players' sight can be compared: what exact tools need.
pub trait Enumerable: Game {
    /// Every deal with its probability; `None` when there are more than `most`. Deals that differ only in what
    /// [`Game::chance_outcomes`] draws anew later may count as one.
    fn deals(&self, most: usize) -> Option<Vec<(Self::State, f64)>>;

    /// Appends what `player` sees of the position: the same bytes exactly where the player cannot tell two positions apart by
    /// looking. What they remember of earlier positions is not part of it.
    fn observe(&self, state: &Self::State, player: Player, view: &mut Vec<u8>);
}
