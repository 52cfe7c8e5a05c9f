//! Past advantage networks within a byte budget.

use crate::{
    random::{Purpose, Randomness, Stream},
    training::WeightingSettings,
};

/// The advantage networks of one iteration, or of one that stands for several.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptPolicy {
    /// The iteration that walked with them, from 1.
    pub iteration: u32,
    /// Its share of the average, in proportion to the others'.
    pub weight: f64,
    /// Flat parameters by seat, answers in points.
    pub networks: [Vec<f32>; 2],
}

impl KeptPolicy {
    fn bytes(&self) -> usize {
        let values: usize = self.networks.iter().map(Vec::len).sum();
        values * size_of::<f32>()
    }
}

/// Past advantage networks, oldest first.
///
/// Iteration `t` weighs as its strategy samples would: 1, `t^lcfr_alpha` or `t^dcfr_gamma`. When the networks outgrow the budget, the two
/// neighbours with the least weight together become one: either, drawn by weight, with both weights. What is drawn derives
/// from the seed and the newest iteration alone.
#[derive(Clone, Debug)]
pub struct PolicyHistory {
    entries: Vec<KeptPolicy>,
    weighting: WeightingSettings,
    budget: usize,
    seed: u64,
    merged: bool,
}

impl PolicyHistory {
    /// No networks yet, and `budget` bytes for them. One pair is kept whatever the budget.
    pub fn new(weighting: WeightingSettings, budget: usize, seed: u64) -> Self {
        Self {
            entries: Vec::new(),
            weighting,
            budget,
            seed,
            merged: false,
        }
    }

    /// The networks kept, oldest first.
    pub fn entries(&self) -> &[KeptPolicy] {
        &self.entries
    }

    /// Whether the budget ever made two entries one.
    pub fn has_merged(&self) -> bool {
        self.merged
    }

    /// Adds the networks that `iteration` walked with.
    pub fn push(&mut self, iteration: u32, networks: [Vec<f32>; 2]) {
        self.entries.push(KeptPolicy {
            iteration,
            weight: self.weight(iteration),
            networks,
        });
        let mut stream = Stream::new(self.seed, Purpose::Average, iteration.into(), 0);
        while self.entries.len() > 1 && self.bytes() > self.budget {
            self.merge_lightest(&mut stream);
        }
    }

    /// Goes on with `entries`, oldest first.
    pub fn restore(&mut self, entries: Vec<KeptPolicy>) {
        let whole = |entry: &KeptPolicy| entry.weight == self.weight(entry.iteration);
        self.merged = !entries.iter().all(whole);
        self.entries = entries;
    }

    /// The entry that `r`, uniform in `[0, 1)`, draws by weight; `None` when there is none.
    pub fn draw(&self, r: f64) -> Option<&KeptPolicy> {
        let total: f64 = self.entries.iter().map(|entry| entry.weight).sum();
        let mut left = r * total;
        let hit = self.entries.iter().find(|entry| {
            left -= entry.weight;
            left < 0.0
        });
        hit.or(self.entries.last())
    }

    fn weight(&self, iteration: u32) -> f64 {
        self.weighting.scheme().policy(iteration)
    }

    fn bytes(&self) -> usize {
        self.entries.iter().map(KeptPolicy::bytes).sum()
    }

    fn merge_lightest(&mut self, stream: &mut Stream) {
        let pair = |first: usize| self.entries[first].weight + self.entries[first + 1].weight;
        let firsts = 0..self.entries.len() - 1;
        let Some(first) = firsts.min_by(|&a, &b| pair(a).total_cmp(&pair(b))) else {
            return;
        };
        let both = pair(first);
        let older_stays = stream.uniform() * both < self.entries[first].weight;
        self.entries.remove(first + usize::from(older_stays));
        self.entries[first].weight = both;
        self.merged = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear() -> WeightingSettings {
        WeightingSettings::default()
    }

    fn networks(iteration: u32) -> [Vec<f32>; 2] {
        [vec![iteration as f32; 3], vec![0.0; 2]]
    }

    /// Twenty bytes a pair.
    fn history(pairs: usize, iterations: u32, seed: u64) -> PolicyHistory {
        let mut history = PolicyHistory::new(linear(), 20 * pairs, seed);
        (1..=iterations).for_each(|iteration| history.push(iteration, networks(iteration)));
        history
    }

    #[test]
    fn everything_is_kept_within_the_budget_with_linear_weights() {
        let history = history(10, 10, 1);
        let weights: Vec<_> = history.entries().iter().map(|entry| entry.weight).collect();
        assert_eq!(weights, (1..=10).map(f64::from).collect::<Vec<_>>());
        assert!(!history.has_merged());
        assert_eq!(history.draw(0.0).unwrap().iteration, 1);
        assert_eq!(history.draw(1.5 / 55.0).unwrap().iteration, 2);
        assert_eq!(history.draw(1.0 - 1e-12).unwrap().iteration, 10);
    }

    #[test]
    fn beyond_the_budget_the_total_weight_stays_and_each_iteration_keeps_its_share_in_expectation()
    {
        let (iterations, trials) = (12, 4_000);
        let mut shares = vec![0.0; iterations as usize];
        for seed in 0..trials {
            let history = history(4, iterations, seed);
            assert_eq!(history.entries().len(), 4);
            let total: f64 = history.entries().iter().map(|entry| entry.weight).sum();
            assert_eq!(total, 78.0);
            for entry in history.entries() {
                assert_eq!(entry.networks, networks(entry.iteration));
                shares[entry.iteration as usize - 1] += entry.weight / trials as f64;
            }
        }
        // An entry carries at most 78, so a mean over 4,000 trials has a standard error of at most 0.62.
        for (index, share) in shares.iter().enumerate() {
            assert!((share - (index + 1) as f64).abs() < 2.5, "{index}: {share}");
        }
    }

    #[test]
    fn what_is_kept_derives_from_the_seed_and_survives_a_restore() {
        let whole = history(4, 12, 7);
        let mut halves = history(4, 6, 7);
        let kept = halves.entries().to_vec();
        halves = PolicyHistory::new(linear(), 80, 7);
        halves.restore(kept);
        assert!(halves.has_merged());
        (7..=12).for_each(|iteration| halves.push(iteration, networks(iteration)));
        assert_eq!(halves.entries(), whole.entries());
    }
}
