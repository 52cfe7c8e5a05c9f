//! The average as a network fitted to strategy samples.

use super::{Averaging, Cast, Learned};
use crate::{
    evaluation::{Evaluated, exploitability::Profile},
    inference::Head,
    random::Stream,
    training::exploitability::Meter,
};

/// The strategy network of Deep CFR (Brown et al. 2019): fitted to the policies at sampled decisions, weighed by iteration.
#[derive(Clone, Copy, Debug)]
pub struct StrategyNetwork;

impl Averaging for StrategyNetwork {
    fn walked(&mut self, _: u32, _: [Vec<f32>; 2]) {}

    fn cast<'a>(&'a self, learned: Learned<'a>, _: usize, _: &mut Stream) -> Cast<'a> {
        Cast {
            policy: Evaluated::StrategyNetwork,
            weights: vec![(Head::STRATEGY, learned.strategy)],
        }
    }

    fn profile(&mut self, meter: &Meter, learned: Learned<'_>) -> anyhow::Result<Profile> {
        meter.strategy(learned.strategy)
    }
}
