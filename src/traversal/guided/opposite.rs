//! A policy that does not learn, in the seat opposite the one that does.

use super::questions::Question;
use crate::{
    game::{Action, ActionSet, Game, Player},
    inference::{Head, Stopped},
    regret,
    traversal::{WalkSlot, seats::Seats},
};

/// A policy that does not learn.
pub trait Opposite<G: Game>: Send + Sync {
    /// The head that answers for it in `seat` of game `number`.
    fn head(&self, number: usize, seat: Player) -> Head;

    /// Writes what it sees of the position into the beginning of `row`.
    fn encode(&self, game: &G, state: &G::State, mover: Player, row: &mut [f32]);

    /// Writes the policy that `answer` stands for to `policy`, by the game's own actions (`[game actions]`).
    fn policy(&self, game: &G, state: &G::State, answer: &[f32], policy: &mut [f32]);
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

    /// Asks for the opposite policy's action for `mover`, and waits for it. Leaves the policy in `policy`, by the game's own actions.
    pub(super) async fn turn<L: WalkSlot>(
        &self,
        game: &G,
        (state, mover): (&G::State, Player),
        seats: &mut Seats<'_, L, Question>,
        point: f64,
        policy: &mut [f32; ActionSet::CAPACITY],
    ) -> Result<Action, Stopped> {
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
        let policy = &mut policy[..game.num_actions()];
        self.opposite.policy(game, state, slot.answer(), policy);
        let legal = game.legal_actions(state);
        let drawn = regret::draw(policy, legal, point).or(legal.first());
        Ok(drawn.unwrap_or_default())
    }
}
