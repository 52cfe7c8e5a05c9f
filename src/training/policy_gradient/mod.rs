//! Policy gradient with a clipped surrogate (PPO: Schulman et al. 2017, Proximal Policy Optimization Algorithms), the yardstick of Deep CFR.
//!
//! ```text
//! value-guided walks --(info state, action taken, its probability, its return - the critic's value)--> Decisions
//!                                                                                                          | a few passes
//!                                                  policy network <-- clipped surrogate + entropy bonus <--+
//! ```
//!
//! It shares walks, critic, networks and judge with the other ways to learn and differs in the update alone: the sampled action of a decision
//! teaches, and no other; nothing of past iterations is learned from again. In self-play it has no guarantee to come near an equilibrium.

mod decisions;
mod fit;
mod loss;
mod settings;

pub(super) use decisions::Decisions;
pub(super) use fit::PolicyFit;
pub use loss::{Surrogate, SurrogateBatch};
pub use settings::Settings;
