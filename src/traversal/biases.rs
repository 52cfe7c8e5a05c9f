//! Which settings make the samples estimate something else than CFR's quantities.

use super::{Explorers, SamplingMode, Settings, UnsampledRegret};
use std::fmt;

/// A setting that biases what is learned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bias {
    /// The dotted key.
    pub key: &'static str,
    /// What is estimated instead, or why it is another thing.
    pub why: &'static str,
}

impl fmt::Display for Bias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} biases what is learned: {}", self.key, self.why)
    }
}

/// Every biased choice that `settings` make; none with the defaults. `tests/unbiased` shows that targets are biased with them and
/// unbiased without.
pub fn biases(settings: &Settings) -> Vec<Bias> {
    let outcome = settings.sampling_mode == SamplingMode::Outcome;
    let against_itself = settings
        .opponent_policy
        .trim()
        .eq_ignore_ascii_case("network");
    let choices = [
        (
            outcome && settings.outcome_unsampled_regret == UnsampledRegret::Zero,
            "traversal.outcome_unsampled_regret",
            "with zero, the target of an action estimates (1 - pi) Q and not Q - V: who is ahead, not which action is better",
        ),
        (
            outcome && settings.outcome_sampling_value_clip.is_some(),
            "traversal.outcome_sampling_value_clip",
            "where it binds, an action that is seldom tried counts as plus or minus the clip whatever it is worth, and so do the decisions above",
        ),
        (
            outcome && settings.outcome_sampling_epsilon <= 0.0,
            "traversal.outcome_sampling_epsilon",
            "without exploration, the target of an action that the policy never plays is -V whatever it is worth",
        ),
        (
            outcome && against_itself && settings.outcome_sampling_explorers == Explorers::Both,
            "traversal.outcome_sampling_explorers",
            "an opponent that explores gets to an info set with other hands than their policy does, and targets are averages over these",
        ),
        (
            outcome && settings.outcome_unsampled_first_open_prior_alpha != 0.0,
            "traversal.outcome_unsampled_first_open_prior_alpha",
            "the targets of opening plays that were not sampled are guesses from the hand",
        ),
        (
            !against_itself,
            "traversal.opponent_policy",
            "advantages against another player than the current network lead to a best response to them, without CFR's guarantees",
        ),
        (
            settings.store_strategy_on_traverser_nodes,
            "traversal.store_strategy_on_traverser_nodes",
            "the average strategy is weighted by how the traverser explores and not by how they play",
        ),
    ];
    let made = choices.into_iter().filter(|(made, ..)| *made);
    made.map(|(_, key, why)| Bias { key, why }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_have_none_and_the_earlier_trainers_settings_all_of_theirs() {
        assert!(biases(&Settings::default()).is_empty());
        let earlier = Settings {
            outcome_unsampled_regret: UnsampledRegret::Zero,
            outcome_sampling_value_clip: Some(500.0),
            outcome_sampling_explorers: Explorers::Both,
            store_strategy_on_traverser_nodes: true,
            ..Settings::default()
        };
        let keys = |settings: &Settings| -> Vec<_> {
            let named = biases(settings).into_iter().map(|bias| bias.key);
            named
                .map(|key| key.trim_start_matches("traversal."))
                .collect()
        };
        assert_eq!(
            keys(&earlier),
            [
                "outcome_unsampled_regret",
                "outcome_sampling_value_clip",
                "outcome_sampling_explorers",
                "store_strategy_on_traverser_nodes",
            ]
        );
        // What belongs to outcome sampling biases no other walk.
        let external = Settings {
            sampling_mode: SamplingMode::External,
            store_strategy_on_traverser_nodes: false,
            ..earlier
        };
        assert!(keys(&external).is_empty());
    }
}
