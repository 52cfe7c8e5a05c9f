//! Games of one opponent, summed.

use super::diagnostics::GameDiagnostics;
use super::report::OpponentReport;
use super::statistics::{mean, standard_error, wilson95};
use super::{Deals, GameRecord, Outcome, Times};
use crate::game::Game;
use std::{marker::PhantomData, time::Instant};

/// Games against one opponent, added in game order.
#[derive(Debug)]
pub struct Tally<G, D> {
    opponent: String,
    wins: u64,
    draws: u64,
    losses: u64,
    timeouts: u64,
    policy_turns: u64,
    opponent_turns: u64,
    entropy: f64,
    score_diffs: Vec<f64>,
    games_per_deal: usize,
    diagnostics: D,
    times: Times,
    span: Option<(Instant, Instant)>,
    game: PhantomData<fn() -> G>,
}

impl<G: Game, D: GameDiagnostics<G>> Tally<G, D> {
    /// No games yet against `opponent`, spelled as in the configuration.
    pub fn new(opponent: impl Into<String>) -> Self {
        Self {
            opponent: opponent.into(),
            wins: 0,
            draws: 0,
            losses: 0,
            timeouts: 0,
            policy_turns: 0,
            opponent_turns: 0,
            entropy: 0.0,
            score_diffs: Vec::new(),
            games_per_deal: 1,
            diagnostics: D::default(),
            times: Times::default(),
            span: None,
            game: PhantomData,
        }
    }

    /// The same for games on `deals`: those on one deal are one observation of the score difference.
    pub fn on(mut self, deals: Deals) -> Self {
        self.games_per_deal = deals.games_per_deal();
        self
    }

    /// Adds a game.
    pub fn add(&mut self, record: GameRecord<D>) {
        match record.outcome {
            Outcome::Win => self.wins += 1,
            Outcome::Draw => self.draws += 1,
            Outcome::Loss => self.losses += 1,
        }
        self.timeouts += u64::from(record.timed_out);
        self.policy_turns += record.policy_turns as u64;
        self.opponent_turns += record.opponent_turns as u64;
        self.entropy += record.entropy;
        self.score_diffs.push(record.score_diff);
        self.diagnostics.merge(record.diagnostics);
        self.times.add(&record.times);
        let (first, last) = self.span.unwrap_or((record.started, record.ended));
        self.span = Some((first.min(record.started), last.max(record.ended)));
    }

    /// The report on the games so far.
    pub fn report(&self) -> OpponentReport {
        let games = self.score_diffs.len() as u64;
        let mut metrics = Vec::new();
        let mut out = |name: &'static str, value: f64| metrics.push((name, value));
        self.emit_match(games, &mut out);
        self.emit_times(games, &mut out);
        self.diagnostics.emit(games, self.policy_turns, &mut out);
        OpponentReport::new(self.opponent.clone(), metrics)
    }

    fn emit_match(&self, games: u64, out: &mut dyn FnMut(&'static str, f64)) {
        let share = |count: u64| count as f64 / games.max(1) as f64;
        out("games", games as f64);
        out("wins0", self.wins as f64);
        out("wins1", self.losses as f64);
        out("draws", self.draws as f64);
        out("win_rate0", share(self.wins));
        out("win_rate1", share(self.losses));
        out("draw_rate", share(self.draws));
        let (low, high) = wilson95(self.wins, games);
        out("win_rate0_low", low);
        out("win_rate0_high", high);
        out("avg_score_diff0", mean(&self.score_diffs));
        let observed = self.score_diffs.chunks(self.games_per_deal).map(mean);
        let error = standard_error(&observed.collect::<Vec<_>>());
        out("avg_score_diff0_se", error);
        out(
            "avg_game_length",
            share(self.policy_turns + self.opponent_turns),
        );
        out("max_step_timeouts", self.timeouts as f64);
        out(
            "policy_entropy",
            self.entropy / self.policy_turns.max(1) as f64,
        );
        out("policy_turns", self.policy_turns as f64);
        out("opponent_turns", self.opponent_turns as f64);
    }

    fn emit_times(&self, games: u64, out: &mut dyn FnMut(&'static str, f64)) {
        let elapsed = self.span.map_or(0.0, |(first, last)| {
            last.duration_since(first).as_secs_f64()
        });
        let per_second = |count: u64| {
            if elapsed > 0.0 {
                count as f64 / elapsed
            } else {
                0.0
            }
        };
        out("elapsed_seconds", elapsed);
        out("games_per_second", per_second(games));
        out(
            "steps_per_second",
            per_second(self.policy_turns + self.opponent_turns),
        );
        let times = &self.times;
        let select = times.legal_mask + times.encoding + times.network + times.postprocess;
        for (name, time) in [
            ("policy_select_seconds", select),
            ("policy_legal_mask_seconds", times.legal_mask),
            ("policy_encoding_seconds", times.encoding),
            ("policy_network_seconds", times.network),
            ("policy_postprocess_seconds", times.postprocess),
            ("opponent_act_seconds", times.opponent),
            ("apply_action_seconds", times.apply),
            ("diagnostics_seconds", times.diagnostics),
            ("final_scoring_seconds", times.final_scoring),
        ] {
            out(name, time.as_secs_f64());
        }
    }
}
