//! Settings that are fine one by one and make no sense together.

mod device;
mod guided;
mod network;
mod policy_gradient;
mod sampling;

use super::bot_names::{normal, why_not};
use super::error::{Note, Problem, Reason, Source};
use super::layer::Findings;
use super::render::value_text;
use super::{Config, GameKind};
use crate::encoding::{Cards, Kind};
use crate::game::lost_cities::LostCities;
use crate::inference::Kernels;
use crate::network::Activation;
use crate::training::{AveragingScheme, Keep, MinibatchOrder};
use crate::traversal::{CutoffPlayout, CutoffValue, SamplingMode};
use std::collections::BTreeMap;

/// Looks for contradictions (refused) and for settings without effect (noted).
pub(super) fn find(
    config: &Config,
    provenance: &BTreeMap<String, Source>,
    findings: &mut Findings,
) {
    let mut search = Search {
        config,
        provenance,
        findings,
    };
    search.rules();
    search.encoding();
    search.strategy_samples();
    search.sampling();
    search.sampling_without_effect();
    search.cutoffs();
    search.held_out();
    search.minibatches();
    search.evaluation();
    search.network();
    search.value_guided();
    search.policy_gradient();
    search.device();
    search.fits_on_a_device();
    search.bots();
}

struct Search<'a> {
    config: &'a Config,
    provenance: &'a BTreeMap<String, Source>,
    findings: &'a mut Findings,
}

impl Search<'_> {
    /// The size of the deck: what single numbers may be stands in the table of keys.
    fn rules(&mut self) {
        if let Err(error) = self.config.rules.validate() {
            let keys = [
                "rules.hand_size",
                "rules.n_colors",
                "rules.n_ranks",
                "rules.n_handshakes",
            ];
            self.contradiction(&keys, &error.to_string());
        }
    }

    /// Variants with too many actions by card, and the blocks that only the encoding by slot has.
    fn encoding(&mut self) {
        if self.config.game != GameKind::LostCities || self.config.encoding.kind != Kind::Cards {
            return;
        }
        let refused = LostCities::new(self.config.rules.clone())
            .ok()
            .and_then(|game| Cards::new(&game).err());
        if let Some(error) = refused {
            let keys = ["encoding.kind", "rules.n_colors", "rules.n_ranks"];
            self.contradiction(&keys, &error.to_string());
        }
        for key in [
            "encoding.derived_playability",
            "encoding.slot_aware_playability",
        ] {
            let text = "has no effect unless encoding.kind is slots";
            self.note(key, text.to_owned());
        }
    }

    /// The strategy network learns from stored samples only.
    fn strategy_samples(&mut self) {
        let traversal = &self.config.traversal;
        let policy = traversal.opponent_policy.as_str();
        if self.config.averaging.scheme != AveragingScheme::StrategyNetwork {
            let scheme = value_text(self.config, "averaging.scheme");
            if policy == "average_strategy" {
                let why = format!(
                    "the opponent would be the strategy network, which is not trained under averaging.scheme {scheme}; \
                     choose another opponent_policy, or strategy_network"
                );
                self.contradiction(&["traversal.opponent_policy", "averaging.scheme"], &why);
            }
            for (stores, key) in [
                (
                    traversal.store_strategy_on_traverser_nodes,
                    "traversal.store_strategy_on_traverser_nodes",
                ),
                (
                    traversal.store_strategy_on_opponent_nodes,
                    "traversal.store_strategy_on_opponent_nodes",
                ),
            ] {
                if stores {
                    let text = format!(
                        "has no effect: averaging.scheme is {scheme}, which learns from no strategy samples"
                    );
                    self.note(key, text);
                }
            }
            return;
        }
        let opponent_can = matches!(policy, "network" | "self_play_league");
        let opponent = traversal.store_strategy_on_opponent_nodes;
        let stored = traversal.store_strategy_on_traverser_nodes || (opponent && opponent_can);
        let keys = [
            "traversal.store_strategy_on_traverser_nodes",
            "traversal.store_strategy_on_opponent_nodes",
        ];
        let only = "the opponent's decisions give samples only under opponent_policy network or self_play_league";
        if !stored && policy == "average_strategy" {
            let why = format!(
                "the strategy network would play the opponent without ever being trained; set store_strategy_on_traverser_nodes ({only})"
            );
            let keys = ["traversal.opponent_policy", keys[0], keys[1]];
            self.contradiction(&keys, &why);
        } else if !stored && self.config.evaluation.eval_every > 0 {
            let why = format!(
                "the strategy network would be evaluated without ever being trained; set store_strategy_on_traverser_nodes, or eval_every to 0 ({only})"
            );
            let (every, policy) = ("evaluation.eval_every", "traversal.opponent_policy");
            self.contradiction(&[every, policy, keys[0], keys[1]], &why);
        } else if opponent && !opponent_can {
            self.note(keys[1], format!("has no effect with {policy}: {only}"));
        }
    }

    /// What the walks other than outcome sampling's need.
    fn sampling(&mut self) {
        const MODE: &str = "traversal.sampling_mode";
        let traversal = &self.config.traversal;
        let mode = traversal.sampling_mode;
        if mode == SamplingMode::Outcome {
            return;
        }
        if traversal.max_nodes_per_traversal.is_some() {
            let why = "a limit of nodes would cut off whichever branches are walked last, and so bias every target above them; set it \
                       to null, and max_depth to shorten the game";
            self.contradiction(&["traversal.max_nodes_per_traversal", MODE], why);
        }
        if normal(&traversal.opponent_policy) != "network" {
            let why = "only outcome sampling plays against others than the current networks; set opponent_policy to network";
            self.contradiction(&["traversal.opponent_policy", MODE], why);
        }
        if traversal.outcome_unsampled_first_open_prior_alpha != 0.0 {
            let why = "the prior is for actions that outcome sampling leaves out; set it to 0";
            let prior = "traversal.outcome_unsampled_first_open_prior_alpha";
            self.contradiction(&[prior, MODE], why);
        }
        if self.config.game == GameKind::LostCities && traversal.max_depth.is_none() {
            let why = "players can draw from the piles for ever, and a walk follows every such line; set max_depth";
            self.contradiction(&[MODE, "traversal.max_depth", "game"], why);
        }
        let (own, others) = (
            traversal.store_strategy_on_traverser_nodes,
            traversal.store_strategy_on_opponent_nodes,
        );
        let stores = self.config.averaging.scheme == AveragingScheme::StrategyNetwork;
        if stores && mode != SamplingMode::AllActions && (own || !others) {
            let why = "the average strategy is that of the opponent's decisions, which are sampled from their policy; set \
                       store_strategy_on_traverser_nodes to false and store_strategy_on_opponent_nodes to true";
            let keys = [
                MODE,
                "traversal.store_strategy_on_traverser_nodes",
                "traversal.store_strategy_on_opponent_nodes",
            ];
            self.contradiction(&keys, why);
        }
    }

    fn cutoffs(&mut self) {
        let traversal = &self.config.traversal;
        let rollouts = traversal.cutoff_value_mode == CutoffValue::RandomRollout;
        if rollouts && traversal.cutoff_rollouts == 0 {
            let text = "no playouts: a cut-off walk is scored as it stands until this is 1 or more";
            self.note("traversal.cutoff_rollouts", text.to_owned());
        } else if !rollouts && traversal.cutoff_rollouts > 0 {
            let text = "has no effect unless traversal.cutoff_value_mode is random_rollout";
            self.note("traversal.cutoff_rollouts", text.to_owned());
        }
    }

    /// The best parameters are found by samples that are kept out of fits.
    fn held_out(&mut self) {
        let training = &self.config.training;
        if training.keep == Keep::BestHeldout && training.held_out == 0.0 {
            self.contradiction(
                &["training.keep", "training.held_out"],
                "no rows would be held out to find the best parameters by; set held_out (0.1, say), or keep to last",
            );
        }
    }

    /// A sweep meets every sample equally often.
    fn minibatches(&mut self) {
        let optimization = &self.config.optimization;
        let sweeps = optimization.minibatches == MinibatchOrder::Sweep;
        if sweeps && optimization.advantage_first_open_fraction > 0.0 {
            self.contradiction(
                &[
                    "optimization.minibatches",
                    "optimization.advantage_first_open_fraction",
                ],
                "a sweep cannot prefer some samples; set minibatches to independent, or the fraction to 0",
            );
        }
    }

    fn evaluation(&mut self) {
        let evaluation = &self.config.evaluation;
        let (every, extended) = (evaluation.eval_every, evaluation.extended_eval_every);
        if every == 0 {
            if extended > 0 {
                let text = "has no effect: evaluation.eval_every is 0";
                self.note("evaluation.extended_eval_every", text.to_owned());
            }
            return;
        }
        if evaluation.opponents.is_empty()
            && (extended == 0 || evaluation.extended_opponents.is_empty())
        {
            self.contradiction(
                &["evaluation.eval_every", "evaluation.opponents"],
                "there is nobody to play; name opponents, or set eval_every to 0",
            );
        }
        if extended > 0 && extended % every != 0 {
            let both = extended / greatest_common_divisor(extended, every) * every;
            let text = format!(
                "acts on evaluation iterations only, that is on every {both}th with evaluation.eval_every = {every}"
            );
            self.note("evaluation.extended_eval_every", text);
        }
        if let Some(last) = self.config.run.max_iterations
            && every > last as usize
        {
            let text = format!(
                "happens once, at the end: the last iteration is {last} (run.max_iterations)"
            );
            self.note("evaluation.eval_every", text);
        }
    }

    fn device(&mut self) {
        let (kernels, activation) = (
            self.config.inference.kernels,
            self.config.network.activation,
        );
        if kernels == Kernels::Packed && activation != Activation::Relu {
            self.contradiction(
                &["inference.kernels", "network.activation"],
                "packed kernels are made for relu networks; set inference.kernels to auto or torch",
            );
        }
        self.inference();
    }

    /// The heuristics know variants up to a size only.
    fn bots(&mut self) {
        let (config, evaluation) = (self.config, &self.config.evaluation);
        let policy = normal(&config.traversal.opponent_policy);
        let opponent = match policy.as_str() {
            "network" | "average_strategy" => None,
            "self_play_league" => Some("safe_heuristic".to_owned()),
            _ => Some(policy),
        };
        let playout = (config.traversal.cutoff_value_mode == CutoffValue::RandomRollout
            && config.traversal.cutoff_rollout_policy == CutoffPlayout::SafeHeuristic)
            .then(|| "safe_heuristic".to_owned());
        let mut asked: Vec<(&str, Vec<String>)> = vec![
            ("traversal.opponent_policy", opponent.into_iter().collect()),
            (
                "traversal.cutoff_rollout_policy",
                playout.into_iter().collect(),
            ),
        ];
        if evaluation.eval_every > 0 {
            asked.push(("evaluation.opponents", evaluation.opponents.clone()));
        }
        if evaluation.eval_every > 0 && evaluation.extended_eval_every > 0 {
            let extended = evaluation.extended_opponents.clone();
            asked.push(("evaluation.extended_opponents", extended));
        }
        for (key, names) in asked {
            let mut refusals = names
                .iter()
                .filter_map(|name| why_not(name, config.game, &config.rules));
            if let Some(refusal) = refusals.next() {
                let keys = match config.game {
                    GameKind::LostCities => {
                        vec![key, "rules.n_colors", "rules.n_ranks", "rules.hand_size"]
                    }
                    GameKind::Kuhn | GameKind::Leduc => vec![key, "game"],
                };
                self.contradiction(&keys, &refusal.to_string());
            }
        }
    }

    /// Refuses the combination of `keys`, unless one of them has a problem of its own and so not the value that was meant. The
    /// first of them that was set by somebody stands for the rest.
    fn contradiction(&mut self, keys: &[&str], why: &str) {
        let refused = |problem: &Problem| keys.contains(&problem.key.as_str());
        if self.findings.problems.iter().any(refused) {
            return;
        }
        let set = |key: &&&str| self.source(key) != Source::Default;
        let Some(head) = keys.iter().find(set).or(keys.first()) else {
            return;
        };
        let others = keys.iter().filter(|key| *key != head).map(|key| {
            let value = value_text(self.config, key);
            format!("{key} = {value} ({})", self.source(key))
        });
        let others: Vec<_> = others.collect();
        let problem = Problem {
            key: (*head).to_owned(),
            value: Some(value_text(self.config, head)),
            source: self.source(head),
            reason: Reason::Contradiction {
                explanation: format!("with {}: {why}", others.join(", ")),
            },
        };
        self.findings.problems.push(problem);
    }

    /// Notes that `key` does not do what its value says.
    fn note(&mut self, key: &str, text: String) {
        // A default that has no effect was asked for by nobody.
        let source = self.source(key);
        if source != Source::Default {
            self.findings.notes.push(Note {
                key: key.to_owned(),
                value: Some(value_text(self.config, key)),
                source,
                text,
            });
        }
    }

    fn source(&self, key: &str) -> Source {
        self.provenance.get(key).cloned().unwrap_or(Source::Default)
    }
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}
