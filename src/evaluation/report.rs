//! What evaluation says about one opponent, as metrics and as a table.

use std::fmt::Write;

/// The metrics of the games against one opponent.
///
/// "0" is the policy and "1" the opponent, whatever their seats. Names, units and formulas:
///
/// | metrics | meaning |
/// |---|---|
/// | `games`, `wins0`, `wins1`, `draws`, `max_step_timeouts` | games; timeouts are counted among the first three as `on_max_steps` says |
/// | `win_rate0`, `win_rate1`, `draw_rate` | share of the games |
/// | `win_rate0_low`, `win_rate0_high` | 95 % Wilson interval of `win_rate0` |
/// | `avg_score_diff0`, `avg_score_diff0_se` | mean final score difference and its standard error (mirrored games: of the means by deal), points |
/// | `avg_game_length`, `policy_turns`, `opponent_turns` | plies: mean per game; totals |
/// | `policy_entropy` | mean over the policy's decisions, nats |
/// | `elapsed_seconds` | wall time from the first deal to the last score; opponents overlap |
/// | `policy_{legal_mask,encoding,postprocess}_seconds`, `opponent_act_seconds`, `apply_action_seconds`, `diagnostics_seconds`, `final_scoring_seconds` | work, summed over games |
/// | `policy_network_seconds` | time games were suspended on an answer, summed over games; many wait at once, so it exceeds wall time |
/// | `policy_select_seconds` | the four `policy_*` times together |
///
/// To these a game adds its own, see [`super::Diagnosed`]. Rates and means of nothing are 0.
#[derive(Clone, Debug, PartialEq)]
pub struct OpponentReport {
    opponent: String,
    metrics: Vec<(&'static str, f64)>,
}

impl OpponentReport {
    pub(super) fn new(opponent: String, metrics: Vec<(&'static str, f64)>) -> Self {
        Self { opponent, metrics }
    }

    /// The opponent as the configuration spells it.
    pub fn opponent(&self) -> &str {
        &self.opponent
    }

    /// The metrics by name, without prefix.
    pub fn metrics(&self) -> impl Iterator<Item = (&'static str, f64)> {
        self.metrics.iter().copied()
    }

    /// One metric by its name without prefix.
    pub fn metric(&self, name: &str) -> Option<f64> {
        self.metrics()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    }

    /// Emits every metric as `eval/<opponent>/<metric>`.
    pub fn emit(&self, out: &mut dyn FnMut(&str, f64)) {
        for (name, value) in self.metrics() {
            out(&format!("eval/{}/{name}", self.opponent), value);
        }
    }
}

/// A plain-text table, one row per opponent: games; win rate with its 95 % interval, draw and loss rate in percent; mean score difference
/// with its standard error in points (`?` below two games); plies per game; timeouts.
pub fn table(reports: &[OpponentReport]) -> String {
    let header = [
        "opponent",
        "games",
        "win %",
        "95 % interval",
        "draw %",
        "loss %",
        "score diff",
        "plies",
        "timeouts",
    ];
    let mut rows = vec![header.map(String::from)];
    rows.extend(reports.iter().map(row));
    aligned(&rows)
}

/// Lines of columns two blanks apart: the first one's cells to the left, the others' to the right.
pub(super) fn aligned<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: [usize; N] = std::array::from_fn(|column| width(column).unwrap_or(0));
    let mut text = String::new();
    for row in rows {
        let mut line = format!("{:<1$}", row[0], widths[0]);
        for (cell, width) in row.iter().zip(widths).skip(1) {
            // Writing to a string cannot fail.
            let _ = write!(line, "  {cell:>width$}");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn row(report: &OpponentReport) -> [String; 9] {
    let value = |name: &str| report.metric(name).unwrap_or(0.0);
    let percent = |name: &str| format!("{:.1}", 100.0 * value(name));
    let error = if value("games") < 2.0 {
        "?".to_owned()
    } else {
        format!("{:.2}", value("avg_score_diff0_se"))
    };
    let score_diff = format!("{:+.2} ± {error}", value("avg_score_diff0"));
    [
        report.opponent.clone(),
        format!("{:.0}", value("games")),
        percent("win_rate0"),
        format!(
            "{} to {}",
            percent("win_rate0_low"),
            percent("win_rate0_high")
        ),
        percent("draw_rate"),
        percent("win_rate1"),
        score_diff,
        format!("{:.1}", value("avg_game_length")),
        format!("{:.0}", value("max_step_timeouts")),
    ]
}
