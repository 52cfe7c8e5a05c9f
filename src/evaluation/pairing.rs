//! One evaluation game as a suspendable future.

use super::{
    OnMaxSteps, Opponent, Position, Reading, Settings, diagnostics::GameDiagnostics, opponent::Eyes,
};
use crate::encoding::Encoding;
use crate::game::{Action, Game, Player};
use crate::inference::{Head, Lease, Stopped};
use crate::random::Stream;
use std::future::Future;
use std::time::{Duration, Instant};

/// Whose network is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The evaluated policy's.
    Policy,
    /// The opponent's.
    Opponent,
}

/// Where the answers of networks come from: a leased slot, or a stand-in.
pub trait PolicySource: Send {
    /// The info state row to encode into, at least as long as the encodings of both sides ask for.
    fn info_mut(&mut self) -> &mut [f32];
    /// The answer of a side's network to the info state row, at least as long as its encoding has actions, illegal entries included.
    ///
    /// # Errors
    /// [`Stopped`] when nobody answers any more.
    fn answer(&mut self, side: Side) -> impl Future<Output = Result<&[f32], Stopped>> + Send;
}

/// A slot whose rows go to the head of the side that asks.
pub(super) struct Asking<'a> {
    pub(super) lease: &'a mut Lease,
    /// By side.
    pub(super) heads: [Head; 2],
}

impl PolicySource for Asking<'_> {
    fn info_mut(&mut self) -> &mut [f32] {
        self.lease.info_mut()
    }
    async fn answer(&mut self, side: Side) -> Result<&[f32], Stopped> {
        self.lease.request(self.heads[side as usize]).await?;
        Ok(self.lease.answer())
    }
}

/// Why a game was not played to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GameError {
    /// The executor is gone.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// No action follows from the answer.
    #[error(
        "the policy network's answer at ply {ply} has a legal action that is not a finite number, or the encoding offers no legal \
         action; lower optimization.learning_rate, set optimization.grad_clip, or go back to an earlier checkpoint"
    )]
    NoDecision {
        /// Plies played before.
        ply: usize,
    },
}

/// How a game counts for the evaluated policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Won by the policy.
    Win,
    /// Neither.
    Draw,
    /// Won by the opponent.
    Loss,
}

/// Time spent in the pieces of a game, or summed over games. Every piece but `network` (and a network as `opponent`) runs on one thread
/// without a break.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// Legal actions of the policy's turns.
    pub legal_mask: Duration,
    /// Writing info states.
    pub encoding: Duration,
    /// From request to resumption: queueing, the batch, and being woken. Games wait side by side, so a sum over games exceeds wall time.
    pub network: Duration,
    /// From an answer to an action.
    pub postprocess: Duration,
    /// The opponent's decisions; of a network, waiting for its answers included.
    pub opponent: Duration,
    /// Applying actions.
    pub apply: Duration,
    /// Watching decisions.
    pub diagnostics: Duration,
    /// Watching and scoring the last position.
    pub final_scoring: Duration,
}

impl Times {
    /// Adds the times of another game.
    pub fn add(&mut self, other: &Times) {
        self.legal_mask += other.legal_mask;
        self.encoding += other.encoding;
        self.network += other.network;
        self.postprocess += other.postprocess;
        self.opponent += other.opponent;
        self.apply += other.apply;
        self.diagnostics += other.diagnostics;
        self.final_scoring += other.final_scoring;
    }
}

/// What one game leaves behind; `D` is what was watched.
#[derive(Clone, Debug)]
pub struct GameRecord<D> {
    /// The policy's seat.
    pub policy: Player,
    /// How the game counts.
    pub outcome: Outcome,
    /// The policy's payoff in the last position.
    pub score_diff: f64,
    /// Whether `max_steps` plies did not end it.
    pub timed_out: bool,
    /// Plies of the policy.
    pub policy_turns: usize,
    /// Plies of the opponent.
    pub opponent_turns: usize,
    /// Sum over the policy's decisions of the entropy in nats.
    pub entropy: f64,
    /// What was watched.
    pub diagnostics: D,
    /// Where the time went.
    pub times: Times,
    /// When it was dealt.
    pub started: Instant,
    /// When it was scored.
    pub ended: Instant,
}

impl<D: Default> GameRecord<D> {
    pub(super) fn new(policy: Player) -> Self {
        let now = Instant::now();
        Self {
            policy,
            outcome: Outcome::Draw,
            score_diff: 0.0,
            timed_out: false,
            policy_turns: 0,
            opponent_turns: 0,
            entropy: 0.0,
            diagnostics: D::default(),
            times: Times::default(),
            started: now,
            ended: now,
        }
    }
}

impl<D> GameRecord<D> {
    /// Plies of both players.
    pub fn plies(&self) -> usize {
        self.policy_turns + self.opponent_turns
    }
}

/// Reads the clock once per piece: the time since the last reading.
pub(super) struct Lap(Instant);

impl Lap {
    pub(super) fn start() -> Self {
        Self(Instant::now())
    }
    pub(super) fn add_to(&mut self, total: &mut Duration) {
        let now = Instant::now();
        *total += now - self.0;
        self.0 = now;
    }
}

/// The evaluated policy and its opponent at one table.
#[derive(Debug)]
pub struct Pairing<'a, G, E, O> {
    /// The rules.
    pub game: &'a G,
    /// The policy's eyes and hands.
    pub encoding: &'a E,
    /// How the policy's answers are read.
    pub reading: Reading,
    /// The opponent.
    pub opponent: &'a O,
    /// `max_steps`, `on_max_steps` and `policy` are read.
    pub settings: &'a Settings,
}

impl<G: Game, E: Encoding<G>, O: Opponent<G>> Pairing<'_, G, E, O> {
    /// Plays game `number` from a deal that comes from `stream`, as the players' chance does after it: see [`Pairing::play_on`].
    ///
    /// # Errors
    /// As [`Pairing::play_on`].
    pub async fn play<D, S>(
        &self,
        number: usize,
        mut stream: Stream,
        source: &mut S,
    ) -> Result<GameRecord<D>, GameError>
    where
        D: GameDiagnostics<G>,
        S: PolicySource,
    {
        let state = self.game.deal(&mut stream);
        self.play_on(number, state, stream, source).await
    }

    /// Plays game `number` from `state`: the policy sits in seat `number % 2`; the players' chance comes from `stream`. The deck is taken
    /// as it lies.
    ///
    /// # Errors
    /// [`GameError::Stopped`] when `source` stops answering, [`GameError::NoDecision`] when no action follows from an answer.
    pub async fn play_on<D, S>(
        &self,
        number: usize,
        mut state: G::State,
        mut stream: Stream,
        source: &mut S,
    ) -> Result<GameRecord<D>, GameError>
    where
        D: GameDiagnostics<G>,
        S: PolicySource,
    {
        let mut record = GameRecord::<D>::new(Player::from_parity(number));
        while record.plies() < self.settings.max_steps {
            let Some(mover) = self.game.mover(&state) else {
                break;
            };
            let position = Position {
                game: self.game,
                state: &state,
                mover,
                ply: record.plies(),
                mode: self.settings.policy,
            };
            let action = if mover == record.policy {
                self.policy_turn(&position, &mut record, &mut stream, source)
                    .await?
            } else {
                let mut lap = Lap::start();
                let turn = self.opponent.turn(&position, &mut stream, source);
                let action = turn.await?;
                record.opponent_turns += 1;
                lap.add_to(&mut record.times.opponent);
                action
            };
            let mut lap = Lap::start();
            self.game.apply(&mut state, action);
            lap.add_to(&mut record.times.apply);
        }
        self.score(&state, &mut record);
        Ok(record)
    }

    /// Decides and watches; the game action id of the decision.
    async fn policy_turn<D, S>(
        &self,
        position: &Position<'_, G>,
        record: &mut GameRecord<D>,
        stream: &mut Stream,
        source: &mut S,
    ) -> Result<Action, GameError>
    where
        D: GameDiagnostics<G>,
        S: PolicySource,
    {
        let eyes = Eyes {
            encoding: self.encoding,
            reading: self.reading,
            side: Side::Policy,
        };
        let times = &mut record.times;
        let decided = eyes.decide(position, stream, source, times).await?;
        let mut lap = Lap::start();
        let diagnostics = &mut record.diagnostics;
        diagnostics.record_decision(self.game, position.state, decided.action);
        record.entropy += decided.entropy;
        record.policy_turns += 1;
        lap.add_to(&mut record.times.diagnostics);
        Ok(decided.action)
    }

    fn score<D: GameDiagnostics<G>>(&self, state: &G::State, record: &mut GameRecord<D>) {
        let mut lap = Lap::start();
        record.timed_out = self.game.mover(state).is_some();
        record.score_diff = self.game.payoff(state, record.policy);
        record.outcome = match self.settings.on_max_steps {
            OnMaxSteps::Loss if record.timed_out => Outcome::Loss,
            OnMaxSteps::Draw if record.timed_out => Outcome::Draw,
            _ if record.score_diff > 0.0 => Outcome::Win,
            _ if record.score_diff < 0.0 => Outcome::Loss,
            _ => Outcome::Draw,
        };
        record
            .diagnostics
            .record_end(self.game, state, record.policy);
        lap.add_to(&mut record.times.final_scoring);
        record.ended = lap.0;
    }
}
