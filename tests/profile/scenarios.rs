//! The scenarios under `profiles/`.

use crate::program::repository;
use coorl_async::config::load;

#[test]
fn every_scenario_loads_and_tells_how_it_is_run() {
    for name in ["traversal", "fit", "evaluation"] {
        let path = repository(&format!("profiles/{name}.yaml"));
        let loaded = load(
            &[path.clone().into()],
            std::iter::empty::<(String, String)>(),
            &[],
        );
        let loaded = loaded.unwrap_or_else(|error| panic!("{path}: {error}"));
        assert!(loaded.notes.is_empty(), "{path}: {:?}", loaded.notes);
        let config = loaded.config;
        assert_eq!(config.run.experiment_name, name);
        assert_eq!(
            (config.network.hidden_size, config.network.num_layers),
            (512, 3)
        );
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(
            text.contains(&format!("profile run --config profiles/{name}.yaml")),
            "{path}"
        );
        // What dominates: states that the network sees in each phase of an iteration, roughly.
        let walked = 2 * config.traversal.traversals_per_player * 150;
        let optimization = &config.optimization;
        // Three passes in a step, forward and backward.
        let fitted = 3
            * (2 * optimization.advantage_updates_per_iteration
                * optimization.advantage_batch_size
                + optimization.strategy_updates_per_iteration * optimization.strategy_batch_size);
        let evaluation = &config.evaluation;
        let played = if evaluation.eval_every == 1 {
            evaluation.games * evaluation.opponents.len() * 40
        } else {
            0
        };
        let costs = [
            ("traversal", walked),
            ("fit", fitted),
            ("evaluation", played),
        ];
        let most = costs.iter().max_by_key(|(_, cost)| *cost).unwrap();
        assert_eq!(most.0, name, "{costs:?}");
    }
}
