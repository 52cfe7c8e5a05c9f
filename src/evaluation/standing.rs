//! How a policy stands against one opponent, judged.

use super::{OpponentReport, PolicyMode, report::aligned, statistics::Z95};
use serde::Serialize;

/// The result of mirrored games against one opponent. A game at the limit of plies is a timeout: neither won, drawn nor lost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Standing {
    /// Whom the policy met.
    pub opponent: String,
    /// How strategies became actions.
    pub policy: PolicyMode,
    /// Games; two on each deal.
    pub games: u64,
    /// Games won before the limit.
    pub wins: u64,
    /// Games drawn before the limit.
    pub draws: u64,
    /// Games lost before the limit.
    pub losses: u64,
    /// Games that the limit ended.
    pub timeouts: u64,
    /// `wins / games`.
    pub win_rate: f64,
    /// Lower end of its 95 % Wilson interval.
    pub win_rate_low: f64,
    /// Upper end.
    pub win_rate_high: f64,
    /// Mean of the policy's score minus the opponent's, timeouts included as they stood.
    pub mean_difference_points: f64,
    /// Lower end of its 95 % interval (normal, the two games on a deal being one observation); `None` below two deals.
    pub mean_difference_low_points: Option<f64>,
    /// Upper end.
    pub mean_difference_high_points: Option<f64>,
    /// Mean length of a game.
    pub mean_length_plies: f64,
}

impl Standing {
    /// Reads off a report on mirrored games where a timeout counted as lost.
    pub(super) fn of(report: &OpponentReport, policy: PolicyMode) -> Self {
        let value = |name: &str| report.metric(name).unwrap_or(0.0);
        let count = |name: &str| value(name) as u64;
        let (games, timeouts) = (count("games"), count("max_step_timeouts"));
        let difference = value("avg_score_diff0");
        let reach = (games > 2).then(|| Z95 * value("avg_score_diff0_se"));
        Self {
            opponent: report.opponent().to_owned(),
            policy,
            games,
            wins: count("wins0"),
            draws: count("draws"),
            losses: count("wins1").saturating_sub(timeouts),
            timeouts,
            win_rate: value("win_rate0"),
            win_rate_low: value("win_rate0_low"),
            win_rate_high: value("win_rate0_high"),
            mean_difference_points: difference,
            mean_difference_low_points: reach.map(|reach| difference - reach),
            mean_difference_high_points: reach.map(|reach| difference + reach),
            mean_length_plies: value("avg_game_length"),
        }
    }

    /// A plain-text table, a row for each of `standings`: win rate with its 95 % interval, draws, losses and timeouts in percent of the
    /// games; mean score difference in points with half its 95 % interval (`?` below two deals).
    pub fn table(standings: &[Standing]) -> String {
        let header = [
            "opponent",
            "policy",
            "win %",
            "95 % interval",
            "draw %",
            "loss %",
            "timeout %",
            "difference",
        ];
        let mut rows = vec![header.map(String::from)];
        rows.extend(standings.iter().map(Standing::row));
        aligned(&rows)
    }

    fn row(&self) -> [String; 8] {
        let percent = |share: f64| format!("{:.1}", 100.0 * share);
        let share = |count: u64| percent(count as f64 / self.games.max(1) as f64);
        let mean = self.mean_difference_points;
        let reach = match self.mean_difference_high_points {
            Some(high) => format!("{:.2}", high - mean),
            None => "?".to_owned(),
        };
        let policy = match self.policy {
            PolicyMode::Greedy => "greedy",
            PolicyMode::Sampled => "sampled",
        };
        [
            self.opponent.clone(),
            policy.to_owned(),
            percent(self.win_rate),
            format!(
                "{} to {}",
                percent(self.win_rate_low),
                percent(self.win_rate_high)
            ),
            share(self.draws),
            share(self.losses),
            share(self.timeouts),
            format!("{mean:+.2} ± {reach}"),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        evaluation::{Deals, GameRecord, Outcome, Tally},
        game::{Player, kuhn::Kuhn},
    };

    /// The standing after games with these differences, `None` for one that timed out two points ahead.
    fn standing(differences: &[Option<f64>]) -> Standing {
        let mut tally = Tally::<Kuhn, ()>::new("somebody").on(Deals::Mirrored);
        for (number, difference) in differences.iter().enumerate() {
            let mut record = GameRecord::new(Player::from_parity(number));
            record.timed_out = difference.is_none();
            record.score_diff = difference.unwrap_or(2.0);
            record.outcome = match difference {
                Some(0.0) => Outcome::Draw,
                Some(points) if *points > 0.0 => Outcome::Win,
                _ => Outcome::Loss,
            };
            tally.add(record);
        }
        Standing::of(&tally.report(), PolicyMode::Sampled)
    }

    #[test]
    fn games_on_one_deal_are_one_observation_and_timeouts_are_apart() {
        // By deal 1, 3, 0, 2: mean 1.5, squares 0.25 + 2.25 + 2.25 + 0.25 = 5, standard error sqrt(5 / 3 / 4) = 0.645497.
        let games = [10.0, -8.0, 4.0, 2.0, 0.0, 0.0].map(Some);
        let games = [&games[..], &[None, Some(2.0)]].concat();
        let judged = standing(&games);
        let counts = [judged.wins, judged.draws, judged.losses, judged.timeouts];
        assert_eq!((judged.games, counts), (8, [4, 2, 1, 1]));
        assert_eq!((judged.win_rate, judged.mean_difference_points), (0.5, 1.5));
        // Wilson, 4 of 8: 0.5 +- 1.959964 sqrt(0.25 / 8 + 3.841459 / 256) / (1 + 3.841459 / 8) = 0.5 +- 0.284784.
        assert!((judged.win_rate_low - 0.215_216).abs() < 1e-5);
        assert!((judged.win_rate_high - 0.784_784).abs() < 1e-5);
        let reach = 1.959_964 * 0.645_497;
        let low = judged.mean_difference_low_points.unwrap();
        let high = judged.mean_difference_high_points.unwrap();
        assert!((low - (1.5 - reach)).abs() < 1e-5 && (high - (1.5 + reach)).abs() < 1e-5);
    }

    #[test]
    fn one_deal_has_no_interval_and_rows_fit_into_100_columns() {
        let one = standing(&[Some(1.0), Some(-3.0)]);
        assert_eq!(one.mean_difference_low_points, None);
        assert_eq!(one.mean_difference_points, -1.0);
        let longest = Standing {
            opponent: "safe_heuristic_strict".into(),
            win_rate: 1.0,
            win_rate_high: 1.0,
            mean_difference_points: -101.0,
            mean_difference_high_points: Some(-90.0),
            mean_length_plies: 10_000.0,
            ..standing(&[None, None])
        };
        let text = Standing::table(&[one, longest]);
        assert_eq!(text.lines().count(), 3);
        let widths: Vec<_> = text.lines().map(|line| line.chars().count()).collect();
        assert!(widths.iter().all(|width| *width <= 100), "{text}");
        assert!(widths.windows(2).all(|pair| pair[0] == pair[1]), "{text}");
        assert!(
            text.contains("-1.00 ± ?") && text.contains("-101.00 ± 11.00"),
            "{text}"
        );
    }
}
