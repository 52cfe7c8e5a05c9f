//! Lost Cities: scores, kinds of actions, how expeditions are opened and how they end.

use super::{Diagnosed, GameDiagnostics};
use crate::evaluation::statistics::{mean, percentile};
use crate::game::lost_cities::{Card, LostCities, Phase, Rules, State};
use crate::game::{Action, Player};

impl Diagnosed for LostCities {
    type Diagnostics = ExpeditionDiagnostics;
}

/// How promising an opening is by the opener's hand alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpeningClass {
    /// The hand's cards of the colour recover the penalty.
    Good,
    /// They do not, yet they are enough for the bonus.
    Weak,
    /// Neither.
    Bad,
}

/// The first card on a colour, judged before the move.
#[derive(Clone, Copy, Debug)]
struct Opening {
    /// `R = (face sum + penalty) (1 + handshakes)` over the hand's cards of the colour, all playable since nothing lies there.
    recoverable: i32,
    class: OpeningClass,
}

impl Opening {
    fn judge(game: &LostCities, hand: &[Card], color: u8) -> Self {
        let (mut cards, mut faces, mut handshakes) = (0, 0, 0);
        for card in hand.iter().filter(|card| card.color == color) {
            cards += 1;
            faces += game.face_value(card.rank);
            handshakes += i32::from(card.rank == 0);
        }
        let rules = game.rules();
        let recoverable = (faces + rules.expedition_penalty) * (1 + handshakes);
        let class = match recoverable {
            0.. => OpeningClass::Good,
            _ if cards >= rules.bonus_threshold => OpeningClass::Weak,
            _ => OpeningClass::Bad,
        };
        Self { recoverable, class }
    }
}

/// An expedition (a started colour) of the policy at the end of a game.
#[derive(Clone, Copy, Debug)]
struct Ended {
    score: i32,
    bonus: bool,
    /// `R` when it was opened.
    recoverable: i32,
}

/// Scores, actions, openings and expeditions of the evaluated policy.
#[derive(Clone, Debug, Default)]
pub struct ExpeditionDiagnostics {
    /// Openings of the game in hand by colour.
    first_open: [Option<i32>; Rules::MAX_COLORS],
    plays: u64,
    discards: u64,
    deck_draws: u64,
    pile_draws: u64,
    openings: Vec<Opening>,
    expeditions: Vec<Ended>,
    expedition_cards: u64,
    /// Games in which every colour was opened.
    all_colors_open: u64,
    /// Sum over games of total score / max(1, opened colours).
    score_per_color: f64,
    /// Sum over games of the scores of policy and opponent.
    scores: [i64; 2],
}

impl GameDiagnostics<LostCities> for ExpeditionDiagnostics {
    fn record_decision(&mut self, game: &LostCities, state: &State, action: Action) {
        match state.phase() {
            Phase::Draw if action == game.deck_action() => self.deck_draws += 1,
            Phase::Draw => self.pile_draws += 1,
            Phase::Card if action % 2 == 1 => self.discards += 1,
            Phase::Card => {
                self.plays += 1;
                self.record_play(game, state, action as usize / 2);
            }
        }
    }

    fn record_end(&mut self, game: &LostCities, state: &State, policy: Player) {
        let colors = game.rules().n_colors as usize;
        let mut opened = 0;
        for color in 0..colors {
            let expedition = state.expedition(policy, color);
            let recoverable = self.first_open[color].take();
            if expedition.cards() == 0 {
                continue;
            }
            opened += 1;
            self.expedition_cards += u64::from(expedition.cards());
            self.expeditions.push(Ended {
                score: game.expedition_score(expedition),
                bonus: i32::from(expedition.cards()) >= game.rules().bonus_threshold,
                recoverable: recoverable.unwrap_or(0),
            });
        }
        let score = game.score(state, policy);
        self.all_colors_open += u64::from(opened == colors);
        self.score_per_color += f64::from(score) / opened.max(1) as f64;
        self.scores[0] += i64::from(score);
        self.scores[1] += i64::from(game.score(state, policy.opponent()));
    }

    fn merge(&mut self, later: Self) {
        self.plays += later.plays;
        self.discards += later.discards;
        self.deck_draws += later.deck_draws;
        self.pile_draws += later.pile_draws;
        self.openings.extend(later.openings);
        self.expeditions.extend(later.expeditions);
        self.expedition_cards += later.expedition_cards;
        self.all_colors_open += later.all_colors_open;
        self.score_per_color += later.score_per_color;
        self.scores[0] += later.scores[0];
        self.scores[1] += later.scores[1];
    }

    fn emit(&self, games: u64, decisions: u64, out: &mut dyn FnMut(&'static str, f64)) {
        let per_game = |total: f64| total / games.max(1) as f64;
        out("avg_score0", per_game(self.scores[0] as f64));
        out("avg_score1", per_game(self.scores[1] as f64));
        let rate = |count: u64| count as f64 / decisions.max(1) as f64;
        out("play_action_rate", rate(self.plays));
        out("discard_action_rate", rate(self.discards));
        out("draw_deck_rate", rate(self.deck_draws));
        out("draw_pile_rate", rate(self.pile_draws));
        self.emit_openings(per_game, out);
        out("avg_opened_colors", per_game(self.expeditions.len() as f64));
        out(
            "avg_expedition_cards",
            per_game(self.expedition_cards as f64),
        );
        out("5_color_open_count", self.all_colors_open as f64);
        out("score_per_opened_color", per_game(self.score_per_color));
        self.emit_expeditions(per_game, out);
        self.emit_final_scores(out);
    }
}

impl ExpeditionDiagnostics {
    fn record_play(&mut self, game: &LostCities, state: &State, slot: usize) {
        let player = state.current_player();
        let hand = state.hand(player);
        let color = hand[slot].color;
        if state.expedition(player, color as usize).cards() == 0 {
            let opening = Opening::judge(game, hand, color);
            self.first_open[color as usize] = Some(opening.recoverable);
            self.openings.push(opening);
        }
    }

    fn emit_openings(&self, per_game: impl Fn(f64) -> f64, out: &mut dyn FnMut(&'static str, f64)) {
        let openings = self.openings.len() as f64;
        out("opening_play_actions", per_game(openings));
        for (class, count_name, rate_name) in [
            (OpeningClass::Good, "good_open_actions", "good_open_rate"),
            (OpeningClass::Weak, "weak_open_actions", "weak_open_rate"),
            (OpeningClass::Bad, "bad_open_actions", "bad_open_rate"),
        ] {
            let of_class = self.openings.iter().filter(|o| o.class == class);
            let count = of_class.count() as f64;
            out(count_name, per_game(count));
            out(rate_name, count / openings.max(1.0));
        }
        let recoverable = self.openings.iter().map(|o| f64::from(o.recoverable));
        out(
            "opening_recoverable_score_mean",
            mean(&recoverable.collect::<Vec<_>>()),
        );
    }

    fn emit_expeditions(
        &self,
        per_game: impl Fn(f64) -> f64,
        out: &mut dyn FnMut(&'static str, f64),
    ) {
        let count = |holds: fn(&Ended) -> bool| {
            self.expeditions.iter().filter(|ended| holds(ended)).count() as f64
        };
        let share = |count: f64| count / (self.expeditions.len() as f64).max(1.0);
        let positive = count(|ended| ended.score > 0);
        let negative = count(|ended| ended.score < 0);
        let bonus = count(|ended| ended.bonus);
        out("per_game_positive_expeditions", per_game(positive));
        out("per_game_negative_expeditions", per_game(negative));
        out(
            "per_game_breakeven_expeditions",
            per_game(count(|ended| ended.score == 0)),
        );
        out("per_game_bonus_expeditions", per_game(bonus));
        out(
            "per_game_below_minus_20_expeditions",
            per_game(count(|ended| ended.score < -20)),
        );
        out("positive_expedition_rate", share(positive));
        out("negative_expedition_rate", share(negative));
        out("bonus_expedition_rate", share(bonus));
    }

    fn emit_final_scores(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let ended = self.expeditions.iter();
        let mut scores: Vec<f64> = ended.map(|ended| f64::from(ended.score)).collect();
        scores.sort_unstable_by(f64::total_cmp);
        out("avg_final_score_per_opened_expedition", mean(&scores));
        for (name, q) in [
            ("final_expedition_score_p25", 25.0),
            ("final_expedition_score_median", 50.0),
            ("final_expedition_score_p75", 75.0),
            ("final_expedition_score_p90", 90.0),
        ] {
            out(name, percentile(&scores, q));
        }
        let below = scores.partition_point(|&score| score < 0.0);
        let above = scores.partition_point(|&score| score <= 0.0);
        out("negative_expedition_score_mean", mean(&scores[..below]));
        out("positive_expedition_score_mean", mean(&scores[above..]));
        let promise = |holds: fn(&Ended) -> bool| {
            let chosen = self.expeditions.iter().filter(|ended| holds(ended));
            mean(
                &chosen
                    .map(|ended| f64::from(ended.recoverable))
                    .collect::<Vec<_>>(),
            )
        };
        out(
            "first_open_recoverable_score_mean_for_positive_final",
            promise(|ended| ended.score > 0),
        );
        out(
            "first_open_recoverable_score_mean_for_negative_final",
            promise(|ended| ended.score < 0),
        );
    }
}
