//! A policy that does not learn, in the seat opposite the one that does.

use super::questions::Question;
use crate::{
    game::{Action, Game, Player},
    inference::{Head, Stopped},
    traversal::{WalkSlot, seats::Seats},
};

/// A policy that does not learn.
pub trait Opposite<G: Game>: Send + Sync {
    /// The head that answers for it in `seat` of game `number`.
    fn head(&self, number: usize, seat: Player) -> Head;

    /// Writes what it sees of the position into the beginning of `row`.
    fn encode(&self, game: &G, state: &G::State, mover: Player, row: &mut [f32]);

    /// The game's action that `point`, uniform in `[0, 1)`, draws from the policy that `answer` stands for.
    fn act(&self, game: &G, state: &G::State, answer: &[f32], point: f64) -> Action;
}

/// Who has which seat in a game against a policy that does not learn.
pub struct Table<'a, G> {
    /// The policy that does not learn.
    pub opposite: &'a dyn Opposite<G>,
    /// The seat of the one that does.
    pub learner: Player,
    /// The game's number.
    pub number: usize,
}

impl<G> Clone for Table<'_, G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<G> Copy for Table<'_, G> {}

impl<G: Game> Table<'_, G> {
    /// Whether somebody acts who does not learn.
    pub(super) fn is_opposite(&self, mover: Player) -> bool {
        mover != self.learner
    }

    /// Asks for the opposite policy's action, and waits for it.
    pub(super) async fn turn<L: WalkSlot>(
        &self,
        game: &G,
        state: &G::State,
        seats: &mut Seats<'_, L, Question>,
        point: f64,
    ) -> Result<Action, Stopped> {
        let mover = self.learner.opponent();
        // Nothing else of this walk waits: its own slot is vacant.
        let seat = seats.vacant().unwrap_or_default();
        (self.opposite).encode(game, state, mover, seats.slot(seat).info_mut());
        let head = self.opposite.head(self.number, mover);
        seats.ask(seat, head, Question::Policy).await?;
        seats.give_back_vacant();
        let mut answered = Vec::with_capacity(1);
        seats.wait(&mut answered).await?;
        let slot = answered.first().and_then(|&seat| seats.take(seat));
        let (_, slot) = slot.ok_or(Stopped)?;
        Ok(self.opposite.act(game, state, slot.answer(), point))
    }
}
