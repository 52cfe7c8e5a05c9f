//! Inputs that the benchmarks share, each described where it is made.

use coorl_async::{
    encoding::{Encoding, Settings, Slots},
    game::{
        Action, ActionSet, Game,
        lost_cities::{LostCities, Rules, State},
    },
    inference::{
        Engine, EngineError, EngineThreads, Head, Job, Lease, Network, NetworkControl, RowShape,
        Stopped,
    },
    platform,
    random::{Purpose, Randomness, Stream},
    replay::{Memory, MemoryError, Sample},
};

/// Values of an info state of the default encoding.
pub const INFO_LEN: usize = 297;
/// Actions of the default encoding.
pub const ACTIONS: usize = 22;

/// One decision of random play.
pub struct Decision {
    /// The position.
    pub state: State,
    /// The legal action drawn, uniformly.
    pub action: Action,
    /// Whether it is a game's first.
    pub opening: bool,
}

/// The classic game with its default encoding.
pub fn classic() -> anyhow::Result<(LostCities, Slots)> {
    let game = LostCities::new(Rules::default())?;
    let encoding = Slots::new(&game, &Settings::default());
    Ok((game, encoding))
}

/// The decisions of whole games of uniformly random play, at least `least` of them, in the order they were met.
pub fn random_play(game: &LostCities, least: usize) -> Vec<Decision> {
    let mut rng = Stream::new(1, Purpose::Trial, 0, 0);
    let mut decisions = Vec::new();
    while decisions.len() < least {
        let mut state = game.deal(&mut rng);
        let mut opening = true;
        while game.mover(&state).is_some() {
            let legal = game.legal_actions(&state);
            let Some(action) = legal.nth(rng.index(legal.len())) else {
                break;
            };
            let before = state.clone();
            game.apply(&mut state, action);
            decisions.push(Decision {
                state: before,
                action,
                opening,
            });
            opening = false;
        }
    }
    decisions
}

/// Rows of the default encoding: what the movers of random play see, with the legal actions, one after the other.
pub struct Rows {
    info: Vec<f32>,
    target: Vec<f32>,
    legal: Vec<ActionSet>,
}

impl Rows {
    /// `count` rows of random play.
    pub fn new(count: usize) -> anyhow::Result<Self> {
        let (game, encoding) = classic()?;
        let decisions = random_play(&game, count);
        let mut rows = Self {
            info: vec![0.0; count * INFO_LEN],
            target: vec![0.0; count * ACTIONS],
            legal: Vec::with_capacity(count),
        };
        let places = rows.info.chunks_exact_mut(INFO_LEN);
        for ((decision, info), target) in decisions
            .iter()
            .zip(places)
            .zip(rows.target.chunks_exact_mut(ACTIONS))
        {
            let legal = encoding.legal_actions(&game, &decision.state);
            if let Some(mover) = game.mover(&decision.state) {
                encoding.encode(&game, &decision.state, mover, legal, info);
            }
            for action in legal.iter() {
                target[action as usize] = f32::from(action) - 10.0;
            }
            rows.legal.push(legal);
        }
        Ok(rows)
    }

    /// Row `number` of as many as there are, over and over; every eighth is first-open.
    pub fn sample(&self, number: usize) -> Sample<'_> {
        let row = number % self.legal.len();
        Sample {
            info: &self.info[row * INFO_LEN..][..INFO_LEN],
            target: &self.target[row * ACTIONS..][..ACTIONS],
            legal: self.legal[row],
            iteration: 1,
            first_open: number.is_multiple_of(8),
        }
    }
}

/// An empty memory for `capacity` rows of the default encoding.
pub fn memory(capacity: usize) -> Result<Memory, MemoryError> {
    let stream = Stream::new(1, Purpose::Reservoir, 0, 0);
    Memory::new(capacity, INFO_LEN, ACTIONS, stream)
}

/// A network that answers at once: nothing but the executor is left to measure.
pub struct Instant {
    stage: Vec<f32>,
    answers: Vec<f32>,
}

impl Network for Instant {
    fn stage(&mut self, rows: usize) -> &mut [f32] {
        let values = rows * INFO_LEN;
        if self.stage.len() < values {
            self.stage.resize(values, 0.0);
        }
        &mut self.stage[..values]
    }

    fn run(&mut self, _: Head, rows: usize) -> Result<&[f32], String> {
        let values = rows * ACTIONS;
        if self.answers.len() < values {
            self.answers.resize(values, 0.5);
        }
        Ok(&self.answers[..values])
    }
}

/// Walks that only ask: `requests` times each, three heads in turn, rows as they are.
pub struct Asking {
    /// Requests of a walk.
    pub requests: usize,
}

impl Job for Asking {
    type Output = ();

    async fn run(&self, index: usize, lease: &mut Lease) -> Result<(), Stopped> {
        for request in 0..self.requests {
            lease.request(Head(((index + request) % 3) as u8)).await?;
        }
        Ok(())
    }
}

/// An engine with [`Instant`] networks and the default settings, a worker and a lane per core, rows of the default encoding.
pub fn instant_engine(slots: usize) -> Result<(Engine, NetworkControl<Instant>), EngineError> {
    let shape = RowShape {
        info_len: INFO_LEN,
        actions: ACTIONS,
    };
    let threads = EngineThreads::new(platform::logical_cores(), platform::logical_cores());
    Engine::start(&Default::default(), shape, slots, threads, || {
        Ok(Instant {
            stage: Vec::new(),
            answers: Vec::new(),
        })
    })
}
