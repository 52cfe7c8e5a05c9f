//! A network made ready for inference: its number format, and whether its function was traced.

use super::{AmpDtype, Architecture, Bound, TensorError};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tch::{CModule, Kind, Tensor};

/// The number format of an inference: weights and activations. Answers are f32 whatever it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// 24 significant bits.
    #[default]
    F32,
    /// 8 significant bits, the range of f32.
    Bf16,
    /// 11 significant bits; values beyond 65,504 are infinite.
    F16,
}

impl Precision {
    /// Libtorch's name of it.
    pub fn kind(self) -> Kind {
        match self {
            Self::F32 => Kind::Float,
            Self::Bf16 => AmpDtype::Bf16.kind(),
            Self::F16 => AmpDtype::F16.kind(),
        }
    }
}

/// Whether an inference runs operation by operation or as a traced function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compile {
    /// Operation by operation.
    #[default]
    None,
    /// As a function of the rows traced once for each set of weights, which it holds as constants: TorchScript.
    Script,
}

/// A network with its parameters, for calls without gradients. What is shared by [`Ready::share`] is in memory once.
pub struct Ready {
    form: Form,
    kind: Kind,
}

enum Form {
    Operations(Bound),
    Script(Arc<CModule>),
}

impl Ready {
    /// Prepares `flat` (`[num_parameters]`, f32, on any device); in another format it is copied once, there.
    ///
    /// # Errors
    /// A tensor of another length, and failures of the device.
    pub(super) fn new(
        architecture: &Architecture,
        flat: &Tensor,
        precision: Precision,
        compile: Compile,
    ) -> Result<Self, TensorError> {
        let kind = precision.kind();
        let bound = architecture.bind(&flat.f_to_kind(kind)?)?;
        let form = match compile {
            Compile::None => Form::Operations(bound),
            Compile::Script => {
                let size = [TRACED_ROWS, architecture.inputs() as i64];
                let rows = Tensor::f_zeros(size, (kind, flat.device()))?;
                Form::Script(Arc::new(trace(&bound, rows)?))
            }
        };
        Ok(Self { form, kind })
    }

    /// The same network once more, for another thread.
    pub fn share(&self) -> Self {
        Self {
            form: match &self.form {
                Form::Operations(bound) => Form::Operations(bound.share()),
                Form::Script(module) => Form::Script(Arc::clone(module)),
            },
            kind: self.kind,
        }
    }

    /// `rows` (`[batch, inputs]`, f32, unchanged) to a fresh `[batch, outputs]`, f32; records nothing for gradients.
    ///
    /// # Errors
    /// Rows of another length or device, and failures of the device.
    pub fn forward(&self, rows: &Tensor) -> Result<Tensor, TensorError> {
        let _guard = tch::no_grad_guard();
        let rows = rows.f_to_kind(self.kind)?;
        let answers = match &self.form {
            Form::Operations(bound) => bound.forward(&rows)?,
            Form::Script(module) => module.forward_ts(&[rows])?,
        };
        Ok(answers.f_to_kind(Kind::Float)?)
    }
}

/// Rows of the call that is traced: any number does, but one might be taken for a shape that is always 1.
const TRACED_ROWS: i64 = 2;

/// The function of `network` as a module, the network's tensors constants in it.
fn trace(network: &Bound, rows: Tensor) -> Result<CModule, TensorError> {
    let _guard = tch::no_grad_guard();
    let mut outcome = Ok(());
    let traced =
        CModule::create_by_tracing("network", "forward", &[rows], &mut |inputs| match network
            .forward(&inputs[0])
        {
            Ok(answers) => vec![answers],
            Err(error) => {
                outcome = Err(error);
                Vec::new()
            }
        });
    outcome?;
    let mut module = traced?;
    module.f_set_eval()?;
    Ok(module)
}
