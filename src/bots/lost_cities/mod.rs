//! The scripted opponents of Lost Cities.
//!
//! ```text
//! name --> LostCitiesBot --+-- random, passive_discard: legal actions alone
//!                          +-- heuristic: Position (own hand and public information, summed up per colour)
//!                                |-- card_phase: handshake > number > forced opening > discard
//!                                +-- draw_phase: deck against piles
//!                          +-- noisy: the heuristic, and now and then random
//! ```

mod card_phase;
mod draw_phase;
mod parameters;
mod position;
mod thresholds;

pub use parameters::Parameters;
pub use thresholds::Thresholds;

use super::{Bot, BotError, ScriptedGame};
use crate::game::lost_cities::{LostCities, Phase, Rules, State};
use crate::game::{Action, ActionSet, Game};
use crate::random::Randomness;
use position::Position;

/// How the heuristic counts the hand when it asks whether a play brings the bonus within reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Every card equal to the one being played is left out, all equal handshakes too.
    Registry,
    /// The whole hand counts, the card being played included. Differs in fewer than 0.1 % of states.
    Twin,
}

/// The rule-based player under one parameter set and one variant of the rules.
#[derive(Clone, Copy, Debug)]
pub struct Heuristic {
    parameters: &'static Parameters,
    thresholds: Thresholds,
    variant: Variant,
}

impl Heuristic {
    /// The most colours it plays.
    pub const MAX_COLORS: usize = 8;
    /// The most number cards per colour it plays.
    pub const MAX_RANKS: usize = 16;
    /// The most cards in a hand it plays.
    pub const MAX_HAND: usize = 16;

    /// Whether the rules are within what it plays.
    fn plays(rules: &Rules) -> bool {
        rules.n_colors as usize <= Self::MAX_COLORS
            && rules.n_ranks as usize <= Self::MAX_RANKS
            && rules.hand_size as usize <= Self::MAX_HAND
    }

    fn new(parameters: &'static Parameters, rules: &Rules) -> Self {
        Self {
            parameters,
            thresholds: Thresholds::new(parameters, rules),
            variant: Variant::Registry,
        }
    }

    /// What tells this heuristic from the others.
    pub fn parameters(&self) -> &'static Parameters {
        self.parameters
    }

    /// What its parameters mean under its rules.
    pub fn thresholds(&self) -> &Thresholds {
        &self.thresholds
    }

    /// Face sum a handshake wants behind it.
    fn handshake_target(&self) -> f64 {
        self.thresholds.open_target_sum * self.parameters.handshake_target_multiplier
    }

    fn act(&self, game: &LostCities, state: &State, legal: ActionSet) -> Action {
        let position = Position::new(self, game, state, legal);
        match state.phase() {
            Phase::Card => card_phase::choose(&position),
            Phase::Draw => draw_phase::choose(&position),
        }
    }
}

/// How a bot comes to its action.
#[derive(Clone, Copy, Debug)]
enum Script {
    /// Uniform over the legal actions.
    Random,
    /// Discards slot 0 and draws the deck, else the lowest pile.
    PassiveDiscard,
    /// By the rules of the heuristic.
    Heuristic(Heuristic),
    /// The heuristic, but uniform over the legal actions with probability [`LostCitiesBot::NOISE`].
    Noisy(Heuristic),
}

/// A scripted player of one variant of the rules; made by [`ScriptedGame::bot`]. A small value, copied freely.
///
/// It answers in unified action ids and sees its own hand and public information only.
#[derive(Clone, Copy, Debug)]
pub struct LostCitiesBot {
    name: &'static str,
    script: Script,
}

impl LostCitiesBot {
    /// The canonical names.
    pub const NAMES: [&'static str; 6] = [
        "random",
        "passive_discard",
        "safe_heuristic",
        "safe_heuristic_loose",
        "safe_heuristic_strict",
        "noisy_safe",
    ];

    /// The probability that `noisy_safe` explores.
    pub const NOISE: f64 = 0.15;

    /// The bot of a name or alias for the given rules, which must be the rules it then plays.
    fn named(name: &str, rules: &Rules) -> Result<Self, BotError> {
        let Some(canonical) = canonical(name) else {
            return Err(BotError::Unknown {
                name: name.trim().to_owned(),
                known: Self::NAMES.to_vec(),
            });
        };
        let heuristic = |parameters| {
            Heuristic::plays(rules)
                .then(|| Heuristic::new(parameters, rules))
                .ok_or(BotError::Limit {
                    name: canonical,
                    limit: "8 colours, 16 ranks and 16 cards in a hand",
                })
        };
        let script = match canonical {
            "random" => Script::Random,
            "passive_discard" => Script::PassiveDiscard,
            "safe_heuristic_loose" => Script::Heuristic(heuristic(&Parameters::LOOSE)?),
            "safe_heuristic_strict" => Script::Heuristic(heuristic(&Parameters::STRICT)?),
            "noisy_safe" => Script::Noisy(heuristic(&Parameters::DEFAULT)?),
            _ => Script::Heuristic(heuristic(&Parameters::DEFAULT)?),
        };
        Ok(Self {
            name: canonical,
            script,
        })
    }

    /// The same bot with its heuristic, if it has one, in [`Variant::Twin`].
    pub fn twin(mut self) -> Self {
        if let Script::Heuristic(heuristic) | Script::Noisy(heuristic) = &mut self.script {
            heuristic.variant = Variant::Twin;
        }
        self
    }

    /// The rules it decides by, when it has any.
    pub fn heuristic(&self) -> Option<&Heuristic> {
        match &self.script {
            Script::Heuristic(heuristic) | Script::Noisy(heuristic) => Some(heuristic),
            Script::Random | Script::PassiveDiscard => None,
        }
    }
}

/// The canonical name of a name or alias: trimmed, any case, `-` and `_` alike.
fn canonical(name: &str) -> Option<&'static str> {
    Some(
        match name.trim().to_lowercase().replace('-', "_").as_str() {
            "random" => "random",
            "passive_discard" | "discard_only" => "passive_discard",
            "safe_heuristic" | "heuristic_balanced" => "safe_heuristic",
            "safe_heuristic_loose" | "heuristic_aggressive" => "safe_heuristic_loose",
            "safe_heuristic_strict" | "heuristic_cautious" => "safe_heuristic_strict",
            "noisy_safe" | "heuristic_noisy" => "noisy_safe",
            _ => return None,
        },
    )
}

impl Bot<LostCities> for LostCitiesBot {
    fn act<R: Randomness>(&self, game: &LostCities, state: &State, rng: &mut R) -> Action {
        let legal = game.legal_actions(state);
        debug_assert!(
            !legal.is_empty(),
            "a bot was asked to move in a finished game"
        );
        let any = |rng: &mut R| legal.nth(rng.index(legal.len())).unwrap_or_default();
        match &self.script {
            Script::Random => any(rng),
            Script::PassiveDiscard => match state.phase() {
                Phase::Card => 1,
                Phase::Draw => legal.first().unwrap_or_default(),
            },
            Script::Heuristic(heuristic) => heuristic.act(game, state, legal),
            Script::Noisy(_) if rng.uniform() < Self::NOISE => any(rng),
            Script::Noisy(heuristic) => heuristic.act(game, state, legal),
        }
    }

    fn name(&self) -> &'static str {
        self.name
    }
}

impl ScriptedGame for LostCities {
    type Bot = LostCitiesBot;

    fn bot_names() -> &'static [&'static str] {
        &LostCitiesBot::NAMES
    }

    fn bot(&self, name: &str) -> Result<LostCitiesBot, BotError> {
        LostCitiesBot::named(name, self.rules())
    }
}

#[cfg(test)]
mod tests;
