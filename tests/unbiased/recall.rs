//! Any game with players who remember everything they saw, so that a row names an info set.

use coorl_async::{
    bots::{Bot, BotError, ScriptedGame},
    encoding::Encoding,
    game::{Action, ActionSet, Enumerable, Game, Player},
    random::Randomness,
};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The game `G`, its states with a memory per player.
#[derive(Clone)]
pub struct Recall<G>(pub G);

/// A position, and per player a hash of all that they saw until then.
#[derive(Clone)]
pub struct Remembered<S> {
    position: S,
    memory: [u64; 2],
}

impl<G: Enumerable> Recall<G> {
    /// A root.
    pub fn root(&self, position: G::State) -> Remembered<G::State> {
        let mut state = Remembered {
            position,
            memory: [0; 2],
        };
        self.look(&mut state);
        state
    }

    fn look(&self, state: &mut Remembered<G::State>) {
        for player in Player::BOTH {
            let mut view = Vec::new();
            self.0.observe(&state.position, player, &mut view);
            let memory = &mut state.memory[player.index()];
            *memory = xxh3_64_with_seed(&view, *memory);
        }
    }

    /// What names the info set of `player`.
    pub fn info_set(&self, state: &Remembered<G::State>, player: Player) -> u64 {
        state.memory[player.index()]
    }
}

impl<G: Enumerable> Game for Recall<G> {
    type State = Remembered<G::State>;
    type Profile = ();

    fn num_actions(&self) -> usize {
        self.0.num_actions()
    }
    fn deal<R: rand::Rng + ?Sized>(&self, rng: &mut R) -> Self::State {
        self.root(self.0.deal(rng))
    }
    fn mover(&self, state: &Self::State) -> Option<Player> {
        self.0.mover(&state.position)
    }
    fn legal_actions(&self, state: &Self::State) -> ActionSet {
        self.0.legal_actions(&state.position)
    }
    fn chance_outcomes(&self, state: &Self::State, action: Action) -> usize {
        self.0.chance_outcomes(&state.position, action)
    }
    fn apply_outcome(&self, state: &mut Self::State, action: Action, outcome: usize) {
        self.0.apply_outcome(&mut state.position, action, outcome);
        self.look(state);
    }
    fn apply(&self, state: &mut Self::State, action: Action) {
        self.0.apply(&mut state.position, action);
        self.look(state);
    }
    fn payoff(&self, state: &Self::State, player: Player) -> f64 {
        self.0.payoff(&state.position, player)
    }
    fn opening_actions(&self, state: &Self::State) -> ActionSet {
        self.0.opening_actions(&state.position)
    }
    fn opening_recovers(&self, state: &Self::State, action: Action) -> bool {
        self.0.opening_recovers(&state.position, action)
    }
}

/// Nobody: the walks here are played by networks.
#[derive(Clone)]
pub struct NoBot;

impl<G: Enumerable> Bot<Recall<G>> for NoBot {
    fn act<R: Randomness>(&self, _: &Recall<G>, _: &Remembered<G::State>, _: &mut R) -> Action {
        unreachable!("no bot plays")
    }
    fn name(&self) -> &'static str {
        "nobody"
    }
}

impl<G: Enumerable> ScriptedGame for Recall<G> {
    type Bot = NoBot;

    fn bot_names() -> &'static [&'static str] {
        &[]
    }
    fn bot(&self, _: &str) -> Result<NoBot, BotError> {
        Ok(NoBot)
    }
}

/// The info set as a row: the memory's 16-bit words. Actions are the game's own.
#[derive(Clone)]
pub struct Words;

/// Writes `name` as a row that [`info_set_of`] reads.
pub fn write_words(name: u64, row: &mut [f32]) {
    for (word, value) in row.iter_mut().enumerate() {
        *value = (name >> (16 * word) & 0xffff) as f32;
    }
}

/// The info set that a row of [`Words`] names.
pub fn info_set_of(row: &[f32]) -> u64 {
    row.iter()
        .rev()
        .fold(0, |memory, &word| memory << 16 | word as u64)
}

impl<G: Enumerable> Encoding<Recall<G>> for Words {
    fn info_len(&self) -> usize {
        4
    }
    fn num_actions(&self) -> usize {
        // The longest of the games here; networks may have more outputs than there are actions.
        16
    }
    fn legal_actions(&self, game: &Recall<G>, state: &Remembered<G::State>) -> ActionSet {
        game.legal_actions(state)
    }
    fn to_game(&self, _: &Recall<G>, _: &Remembered<G::State>, action: Action) -> Action {
        action
    }
    fn encode(
        &self,
        game: &Recall<G>,
        state: &Remembered<G::State>,
        observer: Player,
        _: ActionSet,
        row: &mut [f32],
    ) {
        write_words(game.info_set(state, observer), row);
    }
}
