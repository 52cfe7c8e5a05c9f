//! Test players: bots, a policy that shadows a bot, and sources of logits.

use coorl_async::{
    bots::Bot,
    encoding::Encoding,
    evaluation::{PolicySource, Side},
    game::lost_cities::{LostCities, Phase, State},
    game::{Action, ActionSet, Game, Player},
    inference::Stopped,
    random::{Purpose, Randomness, Stream},
};
use std::collections::VecDeque;

/// Any legal action.
#[derive(Clone)]
pub struct Chaotic;

impl Bot<LostCities> for Chaotic {
    fn act<R: Randomness>(&self, game: &LostCities, state: &State, rng: &mut R) -> Action {
        let legal = game.legal_actions(state);
        legal.nth(rng.index(legal.len())).unwrap()
    }
    fn name(&self) -> &'static str {
        "chaotic"
    }
}

/// Plays its lowest playable card (first slot among equals) when it lies on a started colour or the hand holds `patience` cards of its
/// colour, else discards slot 0; draws the deck.
#[derive(Clone)]
pub struct Patient {
    pub patience: usize,
}

impl Bot<LostCities> for Patient {
    fn act<R: Randomness>(&self, game: &LostCities, state: &State, _: &mut R) -> Action {
        if state.phase() == Phase::Draw {
            return game.legal_actions(state).first().unwrap();
        }
        let player = state.current_player();
        let hand = state.hand(player);
        let wanted = |slot: &usize| {
            let card = hand[*slot];
            let started = state.expedition(player, card.color as usize).cards() > 0;
            let held = hand.iter().filter(|other| other.color == card.color);
            game.is_playable(state, player, card) && (started || held.count() >= self.patience)
        };
        let chosen = (0..hand.len())
            .filter(wanted)
            .min_by_key(|&slot| hand[slot].rank);
        chosen.map_or(1, |slot| 2 * slot as Action)
    }
    fn name(&self) -> &'static str {
        "patient"
    }
}

/// Never touches the deck while a pile can be drawn, so that its games do not end by themselves.
#[derive(Clone)]
pub struct Endless;

impl Bot<LostCities> for Endless {
    fn act<R: Randomness>(&self, game: &LostCities, state: &State, _: &mut R) -> Action {
        let legal = game.legal_actions(state);
        let last = legal.iter().last().unwrap();
        match state.phase() {
            Phase::Card => legal.iter().find(|action| action % 2 == 1).unwrap(),
            Phase::Draw => last,
        }
    }
    fn name(&self) -> &'static str {
        "endless"
    }
}

/// What a bot without need of chance does.
pub fn act_of(bot: &impl Bot<LostCities>, game: &LostCities, state: &State) -> Action {
    bot.act(game, state, &mut Stream::new(0, Purpose::Trial, 0, 0))
}

/// Writes a row that is 1 at the action its bot takes and 0 elsewhere. Its action numbers run backwards through the game's, so that a
/// mixed-up numbering shows.
#[derive(Clone)]
pub struct Shadow<B>(pub B);

impl<B: Bot<LostCities>> Encoding<LostCities> for Shadow<B> {
    fn info_len(&self) -> usize {
        128
    }
    fn num_actions(&self) -> usize {
        128
    }
    fn legal_actions(&self, game: &LostCities, state: &State) -> ActionSet {
        let legal = game.legal_actions(state);
        legal.iter().map(|action| 127 - action).collect()
    }
    fn to_game(&self, _: &LostCities, _: &State, action: Action) -> Action {
        127 - action
    }
    fn encode(
        &self,
        game: &LostCities,
        state: &State,
        observer: Player,
        _: ActionSet,
        row: &mut [f32],
    ) {
        assert_eq!(game.mover(state), Some(observer), "the mover's own view");
        row.fill(0.0);
        row[127 - act_of(&self.0, game, state) as usize] = 1.0;
    }
}

/// Answers with the info state row itself.
pub struct Echo(pub [f32; 128]);

impl Echo {
    pub fn new() -> Self {
        Self([f32::NAN; 128])
    }
}

impl PolicySource for Echo {
    fn info_mut(&mut self) -> &mut [f32] {
        &mut self.0
    }
    async fn answer(&mut self, _: Side) -> Result<&[f32], Stopped> {
        Ok(&self.0)
    }
}

/// Answers a given number of times, then stops; each answer is a constant row.
pub struct Canned {
    pub row: [f32; 128],
    pub answers: VecDeque<[f32; 128]>,
}

impl PolicySource for Canned {
    fn info_mut(&mut self) -> &mut [f32] {
        &mut self.row
    }
    async fn answer(&mut self, _: Side) -> Result<&[f32], Stopped> {
        self.row = self.answers.pop_front().ok_or(Stopped)?;
        Ok(&self.row)
    }
}
