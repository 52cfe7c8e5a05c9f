//! The order of measurements: rounds, the budget, and one list at a time where the whole grid would take too long.

use super::{Grid, List, MeasureError, Measurer, Results, Setting};
use std::time::Duration;

/// Rounds that the whole grid must be able to have for it to be measured whole.
const LEAST_ROUNDS: usize = 3;
/// The share of the budget in which coordinate descent looks for the best; the rest goes into rounds of what it found.
const SEARCH: f64 = 0.6;
/// The most settings that coordinate descent compares in the end.
const MOST_FINALISTS: usize = 8;
/// Rounds without a budget and without a number.
const ROUNDS: u32 = 5;

/// What a sweep is to do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What is tried.
    pub grid: Grid,
    /// The setting that is configured; it is always measured.
    pub start: Setting,
    /// Rounds of every setting (of the finalists, under coordinate descent); `None`: 5, or with a budget as many as it has time for.
    pub rounds: Option<u32>,
    /// Time for everything; `None`: as long as it takes.
    pub budget: Option<Duration>,
}

/// Which settings were measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// All of the grid.
    WholeGrid,
    /// One list at a time through the best so far, then rounds of the fastest.
    CoordinateDescent,
}

/// Why a sweep ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// All rounds are measured.
    Complete,
    /// The budget is used up.
    OutOfTime,
    /// A stop was asked for.
    Interrupted,
}

/// A sweep and its results so far.
#[derive(Debug)]
pub struct Sweep {
    plan: Plan,
    results: Results,
    method: Option<Method>,
    /// Rounds begun.
    round: u32,
}

/// Why measuring stops early.
enum Halt {
    OutOfTime,
    Interrupted,
    Failed(anyhow::Error),
}

impl Sweep {
    /// Nothing measured yet.
    pub fn new(plan: Plan) -> Self {
        Self {
            plan,
            results: Results::default(),
            method: None,
            round: 0,
        }
    }

    /// What is to be done.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What was measured so far.
    pub fn results(&self) -> &Results {
        &self.results
    }

    /// Which settings are measured, once that is decided.
    pub fn method(&self) -> Option<Method> {
        self.method
    }

    /// Rounds begun.
    pub fn round(&self) -> u32 {
        self.round
    }

    /// Measures until the end, and calls `watch` after each measurement.
    ///
    /// # Errors
    /// What a measurement failed with. Earlier ones stay in [`Sweep::results`], as they do when the sweep is interrupted.
    pub fn run(
        &mut self,
        measurer: &mut dyn Measurer,
        watch: &mut dyn FnMut(&Sweep),
    ) -> anyhow::Result<Ending> {
        match self.measure_all(measurer, watch) {
            Ok(()) => Ok(Ending::Complete),
            Err(Halt::OutOfTime) => Ok(Ending::OutOfTime),
            Err(Halt::Interrupted) => Ok(Ending::Interrupted),
            Err(Halt::Failed(error)) => Err(error),
        }
    }

    fn measure_all(
        &mut self,
        measurer: &mut dyn Measurer,
        watch: &mut dyn FnMut(&Sweep),
    ) -> Result<(), Halt> {
        let Some(budget) = self.plan.budget else {
            self.method = Some(Method::WholeGrid);
            return self.whole_grid(measurer, watch);
        };
        // Speed varies most with the walks in flight, so that line tells best how long the grid would take.
        let probe = self.plan.grid.line(List::InFlight, self.plan.start);
        self.round = 1;
        self.measure_round(&probe, measurer, watch)?;
        let each = self.seconds_each(measurer);
        let rounds = self
            .plan
            .rounds
            .map_or(LEAST_ROUNDS, |rounds| LEAST_ROUNDS.min(rounds as usize));
        let whole = (rounds * self.plan.grid.len()).saturating_sub(probe.len());
        let needed = measurer.elapsed().as_secs_f64() + each * whole as f64;
        if needed <= budget.as_secs_f64() {
            self.method = Some(Method::WholeGrid);
            self.round = 0;
            self.whole_grid(measurer, watch)
        } else {
            self.method = Some(Method::CoordinateDescent);
            self.coordinate_descent(budget, measurer, watch)
        }
    }

    fn whole_grid(
        &mut self,
        measurer: &mut dyn Measurer,
        watch: &mut dyn FnMut(&Sweep),
    ) -> Result<(), Halt> {
        let settings = self.plan.grid.settings();
        self.rounds_of(&settings, measurer, watch)
    }

    /// As many rounds of `settings` as are planned.
    fn rounds_of(
        &mut self,
        settings: &[Setting],
        measurer: &mut dyn Measurer,
        watch: &mut dyn FnMut(&Sweep),
    ) -> Result<(), Halt> {
        let unlimited = if self.plan.budget.is_some() {
            u32::MAX
        } else {
            ROUNDS
        };
        for _ in 0..self.plan.rounds.unwrap_or(unlimited) {
            self.round += 1;
            self.measure_round(settings, measurer, watch)?;
        }
        Ok(())
    }

    /// One list after the other through the best so far, until none of them moves it or the time for that is over; then rounds of
    /// the fastest.
    fn coordinate_descent(
        &mut self,
        budget: Duration,
        measurer: &mut dyn Measurer,
        watch: &mut dyn FnMut(&Sweep),
    ) -> Result<(), Halt> {
        let search = budget.mul_f64(SEARCH);
        let line = self.plan.grid.line(List::InFlight, self.plan.start);
        let mut best = self.fastest_of(&line).unwrap_or(self.plan.start);
        let lists = [List::Batches, List::Timeouts, List::InFlight];
        // The line that was the probe goes through its fastest setting already.
        let mut unmoved = 1;
        for list in lists.into_iter().cycle() {
            let line = self.plan.grid.line(list, best);
            let time = self.seconds_each(measurer) * line.len() as f64;
            if unmoved == lists.len()
                || measurer.elapsed().as_secs_f64() + time > search.as_secs_f64()
            {
                break;
            }
            self.round += 1;
            self.measure_round(&line, measurer, watch)?;
            let fastest = self.fastest_of(&line).unwrap_or(best);
            unmoved = if fastest == best { unmoved + 1 } else { 0 };
            best = fastest;
        }
        let left = budget.saturating_sub(measurer.elapsed()).as_secs_f64();
        let each = self.seconds_each(measurer) * LEAST_ROUNDS as f64;
        let finalists = (left / each.max(1e-9)) as usize;
        let finalists = self.finalists(best, finalists.clamp(2, MOST_FINALISTS));
        self.rounds_of(&finalists, measurer, watch)
    }

    /// The fastest of a line in the present round.
    fn fastest_of(&self, line: &[Setting]) -> Option<Setting> {
        let rate = |setting: &Setting| {
            let measured = self.results.get(*setting)?;
            let (_, measurement) = measured.iter().find(|(round, _)| *round == self.round)?;
            Some((measurement.nodes_per_second(), *setting))
        };
        let rates = line.iter().filter_map(rate);
        rates
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, setting)| setting)
    }

    /// The fastest of all against `best` in the rounds they share, `best` first.
    fn finalists(&self, best: Setting, count: usize) -> Vec<Setting> {
        let Some(at_best) = self.results.get(best) else {
            return vec![best];
        };
        let others = self.results.iter().filter(|(setting, _)| *setting != best);
        let mut others: Vec<(f64, Setting)> = others
            .filter_map(|(setting, measured)| {
                let ratios = measured.log_ratios(at_best);
                let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
                (!ratios.is_empty()).then_some((mean, setting))
            })
            .collect();
        others.sort_by(|a, b| b.0.total_cmp(&a.0));
        let others = others.into_iter().map(|(_, setting)| setting);
        std::iter::once(best).chain(others).take(count).collect()
    }

    /// Measures `settings` with the walks of the present round, where that is not done yet. Every other round goes backwards, so that
    /// no setting always comes first.
    fn measure_round(
        &mut self,
        settings: &[Setting],
        measurer: &mut dyn Measurer,
        watch: &mut dyn FnMut(&Sweep),
    ) -> Result<(), Halt> {
        let mut order: Vec<Setting> = settings.to_vec();
        if self.round.is_multiple_of(2) {
            order.reverse();
        }
        order.retain(|setting| !self.results.has(*setting, self.round));
        for setting in order {
            if self.is_out_of_time(measurer) {
                return Err(Halt::OutOfTime);
            }
            match measurer.measure(setting, self.round) {
                Ok(measurement) => self.results.add(setting, self.round, measurement),
                Err(MeasureError::Interrupted) => return Err(Halt::Interrupted),
                Err(MeasureError::Failed(error)) => {
                    return Err(Halt::Failed(error.context(format!("{setting} failed"))));
                }
            }
            watch(self);
        }
        Ok(())
    }

    /// Whether another measurement would probably end after the budget. The first is always made.
    fn is_out_of_time(&self, measurer: &dyn Measurer) -> bool {
        let budget = self.plan.budget.unwrap_or(Duration::MAX);
        let next = measurer.elapsed().as_secs_f64() + self.seconds_each(measurer);
        !self.results.is_empty() && next > budget.as_secs_f64()
    }

    /// Mean seconds of a measurement so far, with its warm-up; 0 before the first.
    fn seconds_each(&self, measurer: &dyn Measurer) -> f64 {
        match self.results.measurements() {
            0 => 0.0,
            count => measurer.elapsed().as_secs_f64() / count as f64,
        }
    }
}
