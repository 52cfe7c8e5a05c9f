//! One line of play under way.

use super::{CutoffValue, WalkCounts, WalkRandomness, Walker, frames::Parent, scheme::Along};
use crate::{
    bots::{Bot, ScriptedGame},
    game::{Action, Game, Player},
    random::Randomness,
};

/// A position that a walk goes on from.
pub(super) struct Branch<S, R> {
    pub(super) state: S,
    pub(super) rng: R,
    /// What chance is drawn from, if not from `rng`.
    pub(super) chance: Option<R>,
    /// Plies since the root.
    pub(super) depth: usize,
    pub(super) parent: Parent,
    pub(super) along: Along,
    /// The stretch of the walk that its samples belong to.
    pub(super) segment: u32,
}

impl<S, R: WalkRandomness> Branch<S, R> {
    /// Applies the game's `action` with chance sampled afresh.
    pub(super) fn apply<G: Game<State = S>>(&mut self, game: &G, action: Action) {
        let chance = self.chance.as_mut().unwrap_or(&mut self.rng);
        apply_sampled(game, &mut self.state, action, chance);
        self.depth += 1;
    }

    /// The value of a cut-off branch for `traverser`: the payoff as the position stands, or the mean over playouts from it.
    pub(super) fn cutoff_value<G, E>(
        &mut self,
        walker: &Walker<G, E>,
        traverser: Player,
        counts: &mut WalkCounts,
    ) -> f64
    where
        G: ScriptedGame<State = S>,
        S: Clone,
    {
        let (game, settings) = (&walker.game, &walker.settings);
        let playouts = match settings.cutoff_value_mode {
            CutoffValue::ScoreDiff => 0,
            CutoffValue::RandomRollout => settings.cutoff_rollouts,
        };
        if playouts == 0 {
            return game.payoff(&self.state, traverser);
        }
        let mut sum = 0.0;
        for _ in 0..playouts {
            let mut state = self.state.clone();
            let mut plies = 0;
            while game.mover(&state).is_some() && plies < settings.cutoff_rollout_max_steps {
                let action = match &walker.playout {
                    Some(bot) => bot.act(game, &state, &mut self.rng),
                    None => {
                        let legal = game.legal_actions(&state);
                        let index = self.rng.index(legal.len());
                        legal.nth(index).unwrap_or_default()
                    }
                };
                apply_sampled(game, &mut state, action, &mut self.rng);
                plies += 1;
            }
            let [count, steps, timeouts] = &mut counts.playouts;
            *count += 1;
            *steps += plies as u64;
            *timeouts += u64::from(game.mover(&state).is_some());
            sum += game.payoff(&state, traverser);
        }
        sum / playouts as f64
    }
}

/// Applies `action` with one of its chance outcomes drawn uniformly; consumes nothing when there is but one.
fn apply_sampled<G: Game, R: Randomness>(
    game: &G,
    state: &mut G::State,
    action: Action,
    rng: &mut R,
) {
    match game.chance_outcomes(state, action) {
        0 | 1 => game.apply(state, action),
        outcomes => {
            let outcome = rng.index(outcomes);
            game.apply_outcome(state, action, outcome);
        }
    }
}
