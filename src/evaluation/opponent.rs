//! Who sits opposite the evaluated policy, and how a network decides.

use super::{Evaluated, GameError, PolicyMode, PolicySource, Reading, Side, Times, pairing::Lap};
use crate::{
    bots::Bot,
    encoding::Encoding,
    game::{Action, Game, Player},
    inference::Head,
    random::Stream,
};
use std::future::Future;

/// A position of an evaluation game, with somebody to act.
#[derive(Debug)]
pub struct Position<'a, G: Game> {
    /// The rules.
    pub game: &'a G,
    /// What is on the table.
    pub state: &'a G::State,
    /// Who is to act.
    pub mover: Player,
    /// Plies played before.
    pub ply: usize,
    /// How strategies become actions.
    pub mode: PolicyMode,
}

/// Who sits opposite the evaluated policy.
pub trait Opponent<G: Game>: Send + Sync + 'static {
    /// The game action it takes. A network answers through `source`, as [`Side::Opponent`]; what is drawn comes from `stream`.
    ///
    /// # Errors
    /// As [`super::Pairing::play`].
    fn turn<S: PolicySource>(
        &self,
        position: &Position<'_, G>,
        stream: &mut Stream,
        source: &mut S,
    ) -> impl Future<Output = Result<Action, GameError>> + Send;

    /// The head that answers for it on deal `deal` in `seat`; `None` where it asks nobody.
    fn head(&self, _deal: usize, _seat: Player) -> Option<Head> {
        None
    }
}

/// A scripted opponent.
#[derive(Clone, Debug)]
pub struct Scripted<B>(pub B);

impl<G: Game, B: Bot<G>> Opponent<G> for Scripted<B> {
    async fn turn<S: PolicySource>(
        &self,
        position: &Position<'_, G>,
        stream: &mut Stream,
        _source: &mut S,
    ) -> Result<Action, GameError> {
        Ok(self.0.act(position.game, position.state, stream))
    }
}

/// Another trained policy.
#[derive(Clone, Debug)]
pub struct Rival<E> {
    /// The encoding it was trained with.
    pub encoding: E,
    /// Which networks play for it, in the second set of heads.
    pub policy: Evaluated,
}

impl<G: Game, E: Encoding<G>> Opponent<G> for Rival<E> {
    async fn turn<S: PolicySource>(
        &self,
        position: &Position<'_, G>,
        stream: &mut Stream,
        source: &mut S,
    ) -> Result<Action, GameError> {
        let eyes = Eyes {
            encoding: &self.encoding,
            reading: self.policy.reading(),
            side: Side::Opponent,
        };
        let mut times = Times::default();
        let decided = eyes.decide(position, stream, source, &mut times).await?;
        Ok(decided.action)
    }

    fn head(&self, deal: usize, seat: Player) -> Option<Head> {
        Some(self.policy.head(deal, seat))
    }
}

/// A network's eyes and hands.
pub(super) struct Eyes<'a, E> {
    pub(super) encoding: &'a E,
    pub(super) reading: Reading,
    pub(super) side: Side,
}

/// What a network decided.
pub(super) struct Decided {
    /// The game's action id.
    pub(super) action: Action,
    /// Entropy of the policy over the legal actions, in nats.
    pub(super) entropy: f64,
}

impl<E> Eyes<'_, E> {
    /// Encodes, asks, decides.
    pub(super) async fn decide<G: Game, S: PolicySource>(
        &self,
        position: &Position<'_, G>,
        stream: &mut Stream,
        source: &mut S,
        times: &mut Times,
    ) -> Result<Decided, GameError>
    where
        E: Encoding<G>,
    {
        let Position { game, state, .. } = *position;
        let mut lap = Lap::start();
        let legal = self.encoding.legal_actions(game, state);
        lap.add_to(&mut times.legal_mask);
        // Rows may be longer: another network may share them.
        let row = &mut source.info_mut()[..self.encoding.info_len()];
        self.encoding
            .encode(game, state, position.mover, legal, row);
        lap.add_to(&mut times.encoding);
        let answer = source.answer(self.side).await?;
        lap.add_to(&mut times.network);
        let answer = &answer[..self.encoding.num_actions()];
        let decision = position
            .mode
            .decide(self.reading, answer, legal, stream)
            .ok_or(GameError::NoDecision { ply: position.ply })?;
        let action = self.encoding.to_game(game, state, decision.action);
        lap.add_to(&mut times.postprocess);
        Ok(Decided {
            action,
            entropy: decision.entropy,
        })
    }
}
