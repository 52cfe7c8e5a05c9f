//! Value-guided walks: a game played on by both players' current policies, the legal actions of its decisions judged by a critic.
//!
//! ```text
//! state --encode------> policy head --update rule--> policy pi --explore, draw--> action --> next state
//!       --encode open-> critic head --> q, one value per action     (both rows wait in one batch)
//! a decision's advantages: q_a - sum_b pi_b q_b, for every legal action and either player
//! the walk's end:          TD(lambda) returns, from which the critic learns
//! ```
//!
//! [`Targets`] says what the critic knows. Under `q` it answers with the values of all actions of a state, and learns the return of the one that
//! was taken. Under `children` it answers with what a state is worth to the player to move and to the other (two numbers, as a game that is cut
//! off may cost both), and learns from every state of the walk; `q_a` is then what the action brings at once plus its answer about the state
//! after it, with chance sampled, and a share of the decisions is looked at so.
//!
//! Some walks start scattered: their first plies are played half at random and recorded by nobody. In walks against a policy that does not learn
//! ([`Table`]) only the learner's decisions are recorded.
//!
//! No importance weight is anywhere, so targets vary as little as values do; and a walk costs one path, with samples of both players.
//!
//! What a target estimates: the advantage of the action for the player to move, in the units of the critic, against the current policy of the
//! other player and with the own one after it, as the critic sees them. Where the critic is exact it is exact, history by history
//! (`tests/unbiased`). A network that is fitted to the targets averages them over the histories that the walks reach an info set by: those of
//! the players' current policies, so that as exploration goes to 0 it is the counterfactual advantage over the probability of being there
//! that regret matching wants (Brown et al. 2019). An exploring opponent reaches it with other hands than their policy does; that bias is
//! bounded by the exploration. The critic's own error is a bias, too: it makes a run a heuristic where the critic is not exact.

mod children;
mod imitation;
mod job;
mod opposite;
mod questions;
mod record;
mod returns;
mod settings;
mod walk;

pub use imitation::ImitationWalks;
pub use job::GuidedWalks;
pub use opposite::{Opposite, Table};
pub use record::Taken;
pub use settings::{Settings, Targets};
pub use walk::{GuidedWalk, GuidedWalker};
