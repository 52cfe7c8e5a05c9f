//! Which settings make a run learn something else than CFR's average strategy.

use super::guided::exploration;
use crate::{
    config::{Config, GameKind},
    encoding,
    traversal::{self, Bias, GuidedTargets, SamplingMode},
};

/// Every biased choice of `config`: those of the walks ([`traversal::biases`]), of value-guided ones, and of the weights of samples; none with
/// the defaults.
pub fn biases(config: &Config) -> Vec<Bias> {
    let weighting = config.training_weighting.scheme().bias().map(|why| Bias {
        key: "training_weighting.mode",
        why,
    });
    let guided = config.traversal.sampling_mode == SamplingMode::ValueGuided;
    let explores = guided && exploration(config, 1).max(exploration(config, u32::MAX)) > 0.0;
    let exploring = explores.then_some(Bias {
        key: "value_guided.exploration",
        why: "an opponent that explores gets to an info set with other hands than their policy does, by as much as they explore",
    });
    let scatters = guided && config.value_guided.scattered_starts > 0.0;
    let scattering = scatters.then_some(Bias {
        key: "value_guided.scattered_starts",
        why: "walks that start half at random get to info sets with other hands than the policies do",
    });
    let open = config.game == GameKind::LostCities && config.encoding.kind == encoding::Kind::Cards;
    let looks_ahead = guided && config.value_guided.targets == GuidedTargets::Children;
    let blind = (looks_ahead && !open).then_some(Bias {
        key: "value_guided.targets",
        why: "this encoding does not show the critic both hands, so where the other moves it values hands that they cannot face; set it to q",
    });
    let mut all = traversal::biases(&config.traversal);
    all.extend(exploring);
    all.extend(scattering);
    all.extend(blind);
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
        config.traversal.sampling_mode = SamplingMode::ValueGuided;
        assert_eq!(biases(&config)[0].key, "value_guided.exploration");
        config.value_guided.scattered_starts = 0.1;
        assert_eq!(biases(&config)[1].key, "value_guided.scattered_starts");
        config.value_guided.scattered_starts = 0.0;
        config.value_guided.targets = GuidedTargets::Children;
        assert_eq!(biases(&config)[1].key, "value_guided.targets");
        config.encoding.kind = encoding::Kind::Cards;
        assert_eq!(biases(&config).len(), 2);
        config.value_guided.exploration = 0.0;
        assert_eq!(biases(&config).len(), 1);
        // Discounts that are alike for both signs are powers of age.
        config.training_weighting.dcfr_beta = config.training_weighting.dcfr_alpha;
        assert_eq!(biases(&config), []);
    }
}
