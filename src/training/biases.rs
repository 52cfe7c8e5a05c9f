//! Which settings make a run learn something else than CFR's average strategy.

use crate::{
    config::Config,
    traversal::{self, Bias},
};

/// Every biased choice of `config`: those of the walks ([`traversal::biases`]) and of the weights of samples; none with the defaults.
pub fn biases(config: &Config) -> Vec<Bias> {
    let weighting = config.training_weighting.scheme().bias().map(|why| Bias {
        key: "training_weighting.mode",
        why,
    });
    let mut all = traversal::biases(&config.traversal);
    all.extend(weighting);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::WeightingMode;

    #[test]
    fn the_defaults_have_none_and_discounts_by_sign_are_one() {
        let mut config = Config::default();
        assert_eq!(biases(&config), []);
        config.training_weighting.mode = WeightingMode::Dcfr;
        let found = biases(&config);
        assert_eq!(found.len(), 1);
        let line = found[0].to_string();
        assert!(line.contains("training_weighting.mode"), "{line}");
        assert!(line.contains("lcfr"), "names the remedy: {line}");
        // Discounts that are alike for both signs are powers of age.
        config.training_weighting.dcfr_beta = config.training_weighting.dcfr_alpha;
        assert_eq!(biases(&config), []);
    }
}
