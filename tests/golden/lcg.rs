//! The reference's random stream.

use coorl_async::random::Randomness;

/// A 32-bit linear congruential generator that counts what is drawn from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lcg {
    /// The last word, or the seed before the first.
    pub state: u32,
    /// Words drawn, for doubles and indices together.
    pub u32_draws: u64,
    /// Words drawn for doubles: in a walk those that sample a policy.
    pub policy_draws: u64,
}

impl Lcg {
    /// A generator that continues from `state`.
    pub fn new(state: u32) -> Self {
        Self {
            state,
            u32_draws: 0,
            policy_draws: 0,
        }
    }

    /// The next word.
    pub fn next_u32(&mut self) -> u32 {
        self.state = self
            .state
            .wrapping_mul(1_664_525)
            .wrapping_add(1_013_904_223);
        self.u32_draws += 1;
        self.state
    }
}

impl Randomness for Lcg {
    fn uniform(&mut self) -> f64 {
        self.policy_draws += 1;
        f64::from(self.next_u32()) / 4_294_967_296.0
    }

    fn index(&mut self, n: usize) -> usize {
        self.next_u32() as usize % n
    }
}
