//! Which setting is best, which are as good as it, and which of those to take.

use super::{Measured, Results, Setting, mean_interval};

/// How much slower than the best a setting may be, on average over shared rounds, and still be taken for as good.
///
/// Two or three rounds hardly tell settings apart: without a limit, noise alone would recommend a slow one.
pub const MARGIN: f64 = 0.05;

/// What a sweep's results say.
///
/// * *best*: the greatest median of nodes per second among the settings with more than half as many rounds as any.
/// * *within noise* of it: the settings that share at least two rounds with it, whose 95 % Student t interval of the mean logarithm of
///   the ratio to the best within those rounds reaches 0, and whose mean ratio is no worse than 1 - [`MARGIN`]. The ratio within a round is
///   free of the machine's drift between rounds. The best is within noise of itself.
/// * *recommended*: of those the one with the shortest wait: the least `collect_timeout_us`, then the least measured median queue wait,
///   then the greatest median of nodes per second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The best.
    pub best: Setting,
    /// Those within noise of the best, itself included, ascending.
    pub within_noise: Vec<Setting>,
    /// The one to take.
    pub recommended: Setting,
}

impl Verdict {
    /// The verdict on `results`; `None` when there are none.
    pub fn of(results: &Results) -> Option<Self> {
        let most = results
            .iter()
            .map(|(_, measured)| measured.rounds())
            .max()?;
        let ranked = results.ranked();
        let (best, at_best) = ranked
            .iter()
            .find(|(_, measured)| 2 * measured.rounds() > most)?;
        let within: Vec<(Setting, &Measured)> = results
            .iter()
            .filter(|(setting, measured)| setting == best || as_good(measured, at_best))
            .collect();
        let (recommended, _) = within.iter().min_by(|(a, of_a), (b, of_b)| {
            let wait = |measured: &Measured| measured.middle(|m| m.wait_p50_us);
            a.collect_timeout_us
                .cmp(&b.collect_timeout_us)
                .then(wait(of_a).total_cmp(&wait(of_b)))
                .then(of_b.nodes_per_second().total_cmp(&of_a.nodes_per_second()))
        })?;
        Some(Self {
            best: *best,
            recommended: *recommended,
            within_noise: within.iter().map(|(setting, _)| *setting).collect(),
        })
    }

    /// Whether `setting` is within noise of the best.
    pub fn is_within_noise(&self, setting: Setting) -> bool {
        self.within_noise.contains(&setting)
    }
}

/// Whether shared rounds show no difference to the best, and room for none that matters.
fn as_good(measured: &Measured, best: &Measured) -> bool {
    let ratios = measured.log_ratios(best);
    let mean = ratios.iter().sum::<f64>() / ratios.len().max(1) as f64;
    mean_interval(&ratios)
        .is_some_and(|interval| interval.high >= 0.0 && mean >= (1.0 - MARGIN).ln())
}
