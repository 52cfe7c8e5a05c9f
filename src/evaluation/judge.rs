//! The judge: mirrored games against scripts or another policy, on deals that no training meets.

use super::{
    Arena, Deals, Diagnosed, Evaluated, EvaluationError, OnMaxSteps, PolicyMode, Rival, Settings,
    Standing,
};
use crate::{
    bots::ScriptedGame,
    encoding::Encoding,
    inference::{
        self, Computing, Engine, EngineError, EngineNetworks, Head, HeadArchitectures, Kernels,
        NetworkControl, NetworkSets, Place, Set, StopFlag,
    },
    network::TensorError,
};
use tch::Device;

/// Games against one opponent in flight.
const IN_FLIGHT: usize = 64;
/// Rows of a network call at most.
const MAX_BATCH: usize = 256;

/// A trained policy with all that it takes to play.
#[derive(Clone, Debug)]
pub struct Contestant<E> {
    /// The encoding it was trained with.
    pub encoding: E,
    /// Its networks' layers.
    pub architectures: HeadArchitectures,
    /// Which of them play.
    pub policy: Evaluated,
    /// Flat parameters (`[num_parameters]`) of the heads that `policy` names.
    pub weights: Vec<(Head, Vec<f32>)>,
}

/// Why nothing was judged. The cause is the error's source, not part of its message.
#[derive(Debug, thiserror::Error)]
pub enum JudgeError {
    /// No games, or they did not come to an end.
    #[error("the games were not played")]
    Evaluation(#[from] EvaluationError),
    /// The engine did not start.
    #[error("no network could be asked")]
    Engine(#[from] EngineError),
    /// Weights that are not the architecture's.
    #[error("a network could not be loaded")]
    Weights(#[from] TensorError),
}

impl JudgeError {
    /// Whether somebody asked for a stop.
    pub fn is_interrupted(&self) -> bool {
        matches!(
            self,
            JudgeError::Evaluation(EvaluationError::Engine(EngineError::Interrupted))
                | JudgeError::Engine(EngineError::Interrupted)
        )
    }
}

/// How policies are judged. The same judge comes to the same numbers whatever `threads` are.
#[derive(Clone, Debug)]
pub struct Judge {
    /// Deals, positive; each is played from both seats.
    pub deals: usize,
    /// What deals and chance derive from.
    pub seed: u64,
    /// Plies of both players after which a game is a timeout, positive.
    pub max_plies: usize,
    /// How strategies become actions: all games are played with each.
    pub modes: Vec<PolicyMode>,
    /// Threads that play.
    pub threads: usize,
    /// Where the networks compute. Answers of two devices differ in their last bits.
    pub device: Device,
}

impl Judge {
    /// Games against one opponent in one mode.
    pub fn games(&self) -> usize {
        2 * self.deals
    }

    /// `contestant` against each of `opponents`, in each mode. `progress` is told the number of finished games after each.
    ///
    /// # Errors
    /// Opponents or weights that do not fit, a network that answers no numbers, or [`JudgeError::is_interrupted`].
    pub fn against_scripts<G: ScriptedGame + Diagnosed, E: Encoding<G>>(
        &self,
        game: &G,
        contestant: &Contestant<E>,
        opponents: &[&str],
        stop: &StopFlag,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Vec<Standing>, JudgeError> {
        let (engine, networks) = self.start(&contestant.architectures, None, opponents.len())?;
        self.load(&networks, Set::First, contestant)?;
        let round = |settings: &Settings, progress: &mut dyn FnMut(usize)| {
            self.arena(game, contestant, &engine, settings).evaluate(
                opponents,
                Deals::Mirrored,
                stop,
                progress,
            )
        };
        self.rounds(opponents.len(), round, progress)
    }

    /// `contestant` against `rival`, called `name`, in each mode. As [`Judge::against_scripts`].
    ///
    /// # Errors
    /// As [`Judge::against_scripts`].
    pub fn head_to_head<G, E, R>(
        &self,
        game: &G,
        contestant: &Contestant<E>,
        (name, rival): (&str, &Contestant<R>),
        stop: &StopFlag,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Vec<Standing>, JudgeError>
    where
        G: ScriptedGame + Diagnosed,
        E: Encoding<G>,
        R: Encoding<G>,
    {
        let (engine, networks) =
            self.start(&contestant.architectures, Some(&rival.architectures), 1)?;
        self.load(&networks, Set::First, contestant)?;
        self.load(&networks, Set::Second, rival)?;
        let round = |settings: &Settings, progress: &mut dyn FnMut(usize)| {
            let opponent = Rival {
                encoding: rival.encoding.clone(),
                policy: rival.policy,
            };
            let arena = self.arena(game, contestant, &engine, settings);
            arena.head_to_head(name, opponent, Deals::Mirrored, stop, progress)
        };
        self.rounds(1, round, progress)
    }

    fn arena<'a, G, E>(
        &self,
        game: &'a G,
        contestant: &'a Contestant<E>,
        engine: &'a Engine,
        settings: &'a Settings,
    ) -> Arena<'a, G, E> {
        Arena {
            engine,
            policy: contestant.policy,
            game,
            encoding: &contestant.encoding,
            settings,
            seed: self.seed,
        }
    }

    /// A round of games against `opponents` in every mode; standings by opponent, then by mode.
    fn rounds(
        &self,
        opponents: usize,
        round: impl Fn(
            &Settings,
            &mut dyn FnMut(usize),
        ) -> Result<Vec<super::OpponentReport>, EvaluationError>,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Vec<Standing>, JudgeError> {
        let games = opponents * self.games();
        let mut by_mode = Vec::new();
        for (number, mode) in self.modes.iter().enumerate() {
            let settings = Settings {
                games: self.games(),
                max_steps: self.max_plies,
                on_max_steps: OnMaxSteps::Loss,
                batch_size: IN_FLIGHT,
                policy: *mode,
                ..Settings::default()
            };
            let reports = round(&settings, &mut |done| progress(number * games + done))?;
            let standings = reports.iter().map(|report| Standing::of(report, *mode));
            by_mode.push(standings.collect::<Vec<_>>());
        }
        let of = |opponent: usize| by_mode.iter().map(move |mode| mode[opponent].clone());
        Ok((0..opponents).flat_map(of).collect())
    }

    fn computing(&self) -> Computing {
        Computing {
            place: Place::of(self.device),
            // Threads change batches, and batches must not change answers.
            deterministic: true,
            ..Kernels::Auto.into()
        }
    }

    /// Gives every lane the weights of `contestant`.
    fn load<E>(
        &self,
        networks: &NetworkControl<NetworkSets>,
        set: Set,
        contestant: &Contestant<E>,
    ) -> Result<(), JudgeError> {
        for (head, parameters) in &contestant.weights {
            let prepared = inference::LaneNetworks::prepare(
                &contestant.architectures,
                &self.computing(),
                *head,
                parameters.clone(),
            )?;
            let head = *head;
            let loaded = networks.with_all(move |lane| lane.load(set, head, &prepared))?;
            loaded.into_iter().collect::<Result<(), _>>()?;
        }
        Ok(())
    }

    fn start(
        &self,
        first: &HeadArchitectures,
        second: Option<&HeadArchitectures>,
        opponents: usize,
    ) -> Result<(Engine, NetworkControl<NetworkSets>), EngineError> {
        let settings = inference::Settings {
            max_batch: MAX_BATCH,
            ..inference::Settings::default()
        };
        let networks = |architectures| EngineNetworks {
            architectures,
            computing: self.computing(),
            workers: self.threads,
            batches_in_flight: settings.batches_in_flight,
        };
        let capacity = opponents.max(1) * IN_FLIGHT.min(self.games());
        let second = second.map(networks);
        NetworkSets::start(networks(first), second, &settings, capacity)
    }
}
