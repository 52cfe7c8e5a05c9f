//! Lost Cities with a log of what was applied, so that walks can be compared action by action.

use coorl_async::{
    bots::{Bot, BotError, ScriptedGame},
    encoding::{Encoding, Slots},
    game::{
        Action, ActionSet, DecisionProfile, Game, Player,
        lost_cities::{FallbackProfile, LostCities, State},
    },
    random::Randomness,
};
use std::sync::{Arc, Mutex};

/// The game, and every action applied with the deck index it drew (-1 for none or the top).
#[derive(Clone)]
pub struct Traced {
    pub game: LostCities,
    pub log: Arc<Mutex<Vec<(Action, i64)>>>,
}

/// What the plain game counts about fallback decisions.
#[derive(Clone, Default)]
pub struct TracedProfile(pub FallbackProfile);

impl DecisionProfile<Traced> for TracedProfile {
    fn record(&mut self, game: &Traced, state: &State, legal: ActionSet, action: Action) {
        self.0.record(&game.game, state, legal, action);
    }
    fn merge(&mut self, other: &Self) {
        DecisionProfile::<LostCities>::merge(&mut self.0, &other.0);
    }
    fn emit(&self, fallbacks: u64, out: &mut dyn FnMut(&str, f64)) {
        DecisionProfile::<LostCities>::emit(&self.0, fallbacks, out);
    }
}

impl Game for Traced {
    type State = State;
    type Profile = TracedProfile;

    fn num_actions(&self) -> usize {
        self.game.num_actions()
    }
    fn deal<R: rand::Rng + ?Sized>(&self, rng: &mut R) -> State {
        self.game.deal(rng)
    }
    fn mover(&self, state: &State) -> Option<Player> {
        self.game.mover(state)
    }
    fn legal_actions(&self, state: &State) -> ActionSet {
        self.game.legal_actions(state)
    }
    fn chance_outcomes(&self, state: &State, action: Action) -> usize {
        self.game.chance_outcomes(state, action)
    }
    fn apply_outcome(&self, state: &mut State, action: Action, outcome: usize) {
        let moved = outcome + 1 != state.deck_len();
        let index = if moved { outcome as i64 } else { -1 };
        self.log.lock().unwrap().push((action, index));
        self.game.apply_outcome(state, action, outcome);
    }
    fn apply(&self, state: &mut State, action: Action) {
        self.log.lock().unwrap().push((action, -1));
        self.game.apply(state, action);
    }
    fn payoff(&self, state: &State, player: Player) -> f64 {
        self.game.payoff(state, player)
    }
    fn opening_actions(&self, state: &State) -> ActionSet {
        self.game.opening_actions(state)
    }
    fn opening_recovers(&self, state: &State, action: Action) -> bool {
        self.game.opening_recovers(state, action)
    }
}

/// A bot of the plain game.
#[derive(Clone)]
pub struct TracedBot(pub <LostCities as ScriptedGame>::Bot);

impl Bot<Traced> for TracedBot {
    fn act<R: Randomness>(&self, game: &Traced, state: &State, rng: &mut R) -> Action {
        self.0.act(&game.game, state, rng)
    }
    fn name(&self) -> &'static str {
        Bot::<LostCities>::name(&self.0)
    }
}

impl ScriptedGame for Traced {
    type Bot = TracedBot;

    fn bot_names() -> &'static [&'static str] {
        LostCities::bot_names()
    }
    fn bot(&self, name: &str) -> Result<TracedBot, BotError> {
        self.game.bot(name).map(TracedBot)
    }
}

/// The encoding of the plain game.
#[derive(Clone)]
pub struct TracedSlots(pub Slots);

impl Encoding<Traced> for TracedSlots {
    fn info_len(&self) -> usize {
        Encoding::<LostCities>::info_len(&self.0)
    }
    fn num_actions(&self) -> usize {
        Encoding::<LostCities>::num_actions(&self.0)
    }
    fn legal_actions(&self, game: &Traced, state: &State) -> ActionSet {
        self.0.legal_actions(&game.game, state)
    }
    fn to_game(&self, game: &Traced, state: &State, action: Action) -> Action {
        self.0.to_game(&game.game, state, action)
    }
    fn encode(
        &self,
        game: &Traced,
        state: &State,
        observer: Player,
        legal: ActionSet,
        row: &mut [f32],
    ) {
        self.0.encode(&game.game, state, observer, legal, row);
    }
}
