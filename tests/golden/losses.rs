//! `losses.jsonl.gz`: losses, gradients and optimizer steps of small networks, for both kinds of loss.

use crate::vectors::{array, floats, folder, integer, rows};
use coorl_async::{
    network::{Architecture, Settings},
    training::{
        FitPlan, Keep, Learner, LossKind, Minibatch, Minibatches, OptimizationSettings,
        RateSchedule, WeightingSettings, fit,
    },
};
use safetensors::SafeTensors;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tch::Tensor;

/// Largest relative error of losses, norms and sums.
const RELATIVE: f64 = 1e-5;
/// Largest error of a gradient's entry, relative to its largest entry.
const GRADIENT: f64 = 2e-6;
/// Largest error of a parameter, in step sizes per step.
const STEP_SHARE: f64 = 1e-3;

#[test]
fn losses_gradients_and_optimizer_steps_agree() {
    let path = folder().join("losses_weights.safetensors");
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let weights = SafeTensors::deserialize(&bytes).expect("a safetensors file");
    for row in rows("losses.jsonl.gz") {
        for (kind, name) in [
            (LossKind::Advantage, "advantage"),
            (LossKind::Strategy, "strategy"),
        ] {
            let case = Case::new(&row, &weights, kind, name);
            case.check_first_step();
            case.check_fit();
        }
    }
}

/// One row under one kind of loss.
struct Case<'a> {
    label: String,
    architecture: Architecture,
    before: Vec<f32>,
    gradient: Vec<f32>,
    after: Vec<f32>,
    kind: LossKind,
    batch: Batch,
    weighting: WeightingSettings,
    optimization: OptimizationSettings,
    row: &'a Value,
    expected: &'a Value,
}

impl<'a> Case<'a> {
    fn new(row: &'a Value, weights: &SafeTensors<'_>, kind: LossKind, name: &str) -> Self {
        let width = |key: &str| integer(&row[key]) as usize;
        let settings = Settings {
            hidden_size: width("hidden"),
            num_layers: integer(&row["num_layers"]).max(0) as usize,
            activation: parsed(&row["activation"]),
            ..Settings::default()
        };
        let architecture = Architecture::new(&settings, width("din"), width("dout"), None).unwrap();
        let prefix = format!("case{}.{name}", integer(&row["id"]));
        let flat =
            |part: &str| flat_parameters(&architecture, weights, &format!("{prefix}.{part}"));
        Self {
            label: format!("row {} {name}", integer(&row["id"])),
            before: flat("before"),
            gradient: flat("grad"),
            after: flat("after"),
            architecture,
            kind,
            batch: Batch::new(row, name),
            weighting: parsed(&row["weighting"]),
            optimization: parsed(&row["optim"]),
            row,
            expected: &row[name],
        }
    }

    fn plan(&self) -> FitPlan<'_> {
        FitPlan {
            loss: self.kind,
            steps: integer(&self.row["steps"]) as usize,
            iteration: integer(&self.row["current_iteration"]) as u32,
            weighting: &self.weighting,
            keep: Keep::Last,
            held_out_checks: 1,
            rate: 1.0,
            schedule: RateSchedule::Constant,
        }
    }

    fn learner(&self) -> Learner {
        let architecture = self.architecture.clone();
        Learner::new(architecture, &self.before, &self.optimization).unwrap()
    }

    fn check_first_step(&self) {
        self.check_sums("checksum_before", &self.before, 1e-12);
        let learner = self.learner();
        let (loss, gradient) = learner
            .loss_and_gradient(&self.batch.view(), &self.plan())
            .unwrap();
        self.check_near("loss_first_step", loss, RELATIVE * loss.abs());
        let gradient = Vec::<f32>::try_from(gradient.expect("a finite loss")).unwrap();
        let norm = gradient.iter().map(|&g| f64::from(g).powi(2)).sum::<f64>();
        for key in ["grad_norm_f32", "grad_norm_f64"] {
            self.check_near(key, norm.sqrt(), RELATIVE * norm.sqrt());
        }
        let largest = self.gradient.iter().fold(0f32, |most, g| most.max(g.abs()));
        self.check_entries(
            "gradient",
            &gradient,
            &self.gradient,
            GRADIENT * f64::from(largest),
        );
    }

    fn check_fit(&self) {
        let (mut learner, plan) = (self.learner(), self.plan());
        let report = fit(&mut learner, &plan, &mut self.batch.source(), || false).unwrap();
        assert_eq!(report.updates(), plan.steps, "{}: updates", self.label);
        let loss = report.reported_loss(self.kind);
        self.check_near("loss_reported", loss, RELATIVE * loss.abs());
        let after = learner.snapshot().unwrap();
        let tolerance = STEP_SHARE * self.optimization.learning_rate * plan.steps as f64;
        self.check_entries("parameters", &after, &self.after, tolerance);
        self.check_sums("checksum_after", &after, RELATIVE);
    }

    fn check_near(&self, key: &str, found: f64, tolerance: f64) {
        let expected = self.expected[key].as_f64().expect("a number");
        assert!(
            (found - expected).abs() <= tolerance,
            "{}: {key} is {found:e} instead of {expected:e}",
            self.label
        );
    }

    fn check_entries(&self, what: &str, found: &[f32], expected: &[f32], tolerance: f64) {
        for view in self.architecture.layout() {
            for index in view.range() {
                let (found, expected) = (f64::from(found[index]), f64::from(expected[index]));
                assert!(
                    (found - expected).abs() <= tolerance,
                    "{}: {what} {}[{}] is {found:e} instead of {expected:e}, tolerance {tolerance:e}",
                    self.label,
                    view.name,
                    index - view.offset
                );
            }
        }
    }

    /// Compares the four sums of a flat vector, each to a tolerance relative to the sum of its terms' magnitudes.
    fn check_sums(&self, key: &str, flat: &[f32], relative: f64) {
        type Term = fn((usize, f64)) -> f64;
        let terms: [(&str, Term); 4] = [
            ("sum", |(_, p)| p),
            ("sum_abs", |(_, p)| p.abs()),
            ("sum_sq", |(_, p)| p * p),
            ("sum_index_weighted", |(i, p)| (i + 1) as f64 * p),
        ];
        let expected = &self.expected[key];
        assert_eq!(integer(&expected["n"]), flat.len() as i64, "{}", self.label);
        for (name, term) in terms {
            let values = flat.iter().map(|&p| f64::from(p)).enumerate().map(term);
            let magnitude = values.clone().map(f64::abs).sum::<f64>();
            let (found, expected) = (values.sum::<f64>(), expected[name].as_f64().unwrap());
            assert!(
                (found - expected).abs() <= relative * magnitude,
                "{}: {key}.{name} is {found} instead of {expected}",
                self.label
            );
        }
    }
}

/// The row's only minibatch.
struct Batch {
    info: Tensor,
    target: Tensor,
    legal: Tensor,
    iteration: Tensor,
}

impl Batch {
    fn new(row: &Value, name: &str) -> Self {
        let matrix = |key: &str, width: &str| {
            let values: Vec<f32> = array(&row[key]).iter().flat_map(floats).collect();
            Tensor::from_slice(&values).view((-1, integer(&row[width])))
        };
        let actions = integer(&row["dout"]);
        let legal: Vec<bool> = array(&row["legal"])
            .iter()
            .flat_map(|ids| {
                let ids: Vec<i64> = array(ids).iter().map(integer).collect();
                (0..actions).map(move |action| ids.contains(&action))
            })
            .collect();
        let iterations = array(&row["sample_iteration"]);
        let iterations: Vec<i32> = iterations.iter().map(|t| integer(t) as i32).collect();
        Self {
            info: matrix("x", "din"),
            target: matrix(&format!("y_{name}"), "dout"),
            legal: Tensor::from_slice(&legal).view((-1, actions)),
            iteration: Tensor::from_slice(&iterations),
        }
    }

    fn view(&self) -> Minibatch<'_> {
        Minibatch {
            info: &self.info,
            info_of: None,
            target: &self.target,
            legal: &self.legal,
            iteration: &self.iteration,
        }
    }

    fn source(&self) -> Same<'_> {
        Same(self.view())
    }
}

/// The same minibatch again and again.
struct Same<'a>(Minibatch<'a>);

impl Minibatches for Same<'_> {
    fn next(&mut self) -> anyhow::Result<Minibatch<'_>> {
        Ok(self.0)
    }
}

/// The tensors `<prefix>.<view name>` in layout order as one vector.
pub fn flat_parameters(
    architecture: &Architecture,
    weights: &SafeTensors<'_>,
    prefix: &str,
) -> Vec<f32> {
    let mut flat = Vec::with_capacity(architecture.num_parameters());
    for view in architecture.layout() {
        let name = format!("{prefix}.{}", view.name);
        let tensor = weights
            .tensor(&name)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let shape: Vec<i64> = tensor.shape().iter().map(|&length| length as i64).collect();
        assert_eq!(shape, view.shape, "{name}");
        let numbers = tensor.data().chunks_exact(4);
        flat.extend(numbers.map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())));
    }
    flat
}

fn parsed<T: DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{value}: {error}"))
}
