//! What was measured, by setting and round.

use super::{Interval, Measurement, Setting, mean_interval, median};
use std::collections::BTreeMap;

/// Everything measured so far.
#[derive(Clone, Debug, Default)]
pub struct Results(BTreeMap<Setting, Measured>);

/// The rounds of one setting.
#[derive(Clone, Debug, Default)]
pub struct Measured(BTreeMap<u32, Measurement>);

impl Results {
    /// Adds the measurement of a round.
    pub fn add(&mut self, setting: Setting, round: u32, measurement: Measurement) {
        self.0
            .entry(setting)
            .or_default()
            .0
            .insert(round, measurement);
    }

    /// The rounds of `setting`, if it was measured.
    pub fn get(&self, setting: Setting) -> Option<&Measured> {
        self.0.get(&setting)
    }

    /// Whether `setting` was measured in `round`.
    pub fn has(&self, setting: Setting, round: u32) -> bool {
        self.get(setting)
            .is_some_and(|measured| measured.0.contains_key(&round))
    }

    /// Whether nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Every setting measured, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (Setting, &Measured)> {
        self.0
            .iter()
            .map(|(setting, measured)| (*setting, measured))
    }

    /// Every setting measured, the one with the most nodes per second (median) first.
    pub fn ranked(&self) -> Vec<(Setting, &Measured)> {
        let mut ranked: Vec<_> = self.iter().collect();
        ranked.sort_by(|a, b| b.1.nodes_per_second().total_cmp(&a.1.nodes_per_second()));
        ranked
    }

    /// Measurements of all settings together.
    pub fn measurements(&self) -> usize {
        self.0.values().map(Measured::rounds).sum()
    }
}

impl Measured {
    /// How many rounds were measured.
    pub fn rounds(&self) -> usize {
        self.0.len()
    }

    /// The rounds with their measurements, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Measurement)> {
        self.0
            .iter()
            .map(|(round, measurement)| (*round, measurement))
    }

    /// The median over rounds; 0 without any.
    pub fn nodes_per_second(&self) -> f64 {
        self.middle(Measurement::nodes_per_second)
    }

    /// The 95 % Student t interval of the mean over rounds; `None` of fewer than two.
    pub fn interval(&self) -> Option<Interval> {
        let rates = self.0.values().map(Measurement::nodes_per_second);
        mean_interval(&rates.collect::<Vec<_>>())
    }

    /// The median of a figure over rounds; 0 without any.
    pub fn middle(&self, figure: impl Fn(&Measurement) -> f64) -> f64 {
        let figures: Vec<f64> = self.0.values().map(figure).collect();
        median(&figures).unwrap_or(0.0)
    }

    /// The sum of a figure over rounds.
    pub fn sum(&self, figure: impl Fn(&Measurement) -> f64) -> f64 {
        self.0.values().map(figure).sum()
    }

    fn ratio(
        &self,
        over: impl Fn(&Measurement) -> f64,
        under: impl Fn(&Measurement) -> f64,
    ) -> f64 {
        let under = self.sum(under);
        if under > 0.0 {
            self.sum(over) / under
        } else {
            0.0
        }
    }

    /// Mean rows of a network call over all rounds.
    pub fn mean_batch(&self) -> f64 {
        self.ratio(|m| m.rows as f64, |m| m.batches as f64)
    }

    /// Rows run over rows that could have run, over all rounds.
    pub fn fill_rate(&self) -> f64 {
        self.ratio(|m| m.rows as f64, |m| m.room as f64)
    }

    /// Flushes over all rounds: full, by timeout, quiescent.
    pub fn flushes(&self) -> [u64; 3] {
        [0, 1, 2].map(|reason| self.0.values().map(|m| m.flushes[reason]).sum())
    }

    /// Seconds in network calls over seconds, over all rounds.
    pub fn forward_share(&self) -> f64 {
        self.ratio(|m| m.forward_seconds, |m| m.seconds)
    }

    /// The logarithms of this one's speed over `other`'s in each round that both have.
    pub fn log_ratios(&self, other: &Self) -> Vec<f64> {
        let rate = |m: &Measurement| m.nodes_per_second().max(f64::MIN_POSITIVE).ln();
        let shared = self.0.iter().filter_map(|(round, own)| {
            let other = other.0.get(round)?;
            Some(rate(own) - rate(other))
        });
        shared.collect()
    }
}
