//! Networks: architectures over one flat parameter tensor, and an optimizer whose state saves like any other tensor.
//!
//! ```text
//! flat [num_parameters] --split--> net.0.weight, net.0.bias, net.2.weight, ... --forward(rows)--> outputs
//!      ^                                                                                            | loss
//!      +-- AdamW::step <-- clip <-- one flat gradient <-- one concatenation <----------- backward <-+
//! ```
//!
//! [`Architecture`] knows the layout and the function, and owns no parameter. [`Bound`] is an architecture with parameters that
//! are split once, for inference, [`Ready`] the same in another number format or traced; [`PackedNetwork`] is for the CPU without
//! libtorch, made for batches of any size.
//!
//! Two of the architectures treat the colours of a game alike. They read them where the encoding's
//! [`ColorLayout`](crate::encoding::ColorLayout) says:
//!
//! ```text
//! color_shared  each colour's block --one mlp--> [attention] --mean, max over colours-- + common values --mlp--> outputs
//! color_set     each colour's block --layers that also hear the mean over colours--> outputs per colour
//!                                                                            mean --> common outputs
//! ```

mod adamw;
mod architecture;
mod attention;
mod blocks;
mod color_set;
mod color_shared;
mod mixed_precision;
mod mlp;
mod packed;
mod parameters;
mod ready;
mod refusal;

pub use adamw::{AdamW, Moments, clip};
pub use architecture::{Architecture, Bound};
pub use mixed_precision::{AmpDtype, LossScale, LossScaleState};
pub use packed::{PackedNetwork, PackedScratch};
pub use parameters::ParameterView;
pub use ready::{Compile, Precision, Ready};
pub use refusal::ArchitectureError;

/// A tensor operation failed: shapes or devices that do not fit, or a device that is out of memory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a tensor operation failed: {0}")]
pub struct TensorError(String);

impl TensorError {
    /// An error of our own making, in a line.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl From<tch::TchError> for TensorError {
    /// Keeps the message's first line; libtorch appends a page of its own stack frames.
    fn from(error: tch::TchError) -> Self {
        let message = error.to_string();
        Self(message.lines().next().unwrap_or_default().to_owned())
    }
}

use serde::{Deserialize, Serialize};

/// Which architecture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Fully connected layers.
    #[default]
    Mlp,
    /// One encoder for all colours, whose mean and maximum over the colours enter fully connected layers. The order of the colours cannot be
    /// told from the encoder's side; outputs are not by colour.
    ColorShared,
    /// Layers shared by all colours that also hear the mean over colours, and outputs by colour: exchanging two colours in the inputs exchanges
    /// their outputs. Needs actions by colour.
    ColorSet,
}

impl Kind {
    /// Its name in a configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mlp => "mlp",
            Self::ColorShared => "color_shared",
            Self::ColorSet => "color_set",
        }
    }
}

/// The activation after each hidden layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    /// `max(x, 0)`.
    #[default]
    Relu,
    /// `x Phi(x)` with the exact error function.
    Gelu,
}

/// The shape shared by the advantage and strategy networks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The architecture: `mlp`, `color_shared` or `color_set`.
    pub kind: Kind,
    /// Units of a hidden layer, 1 to 65,536.
    pub hidden_size: usize,
    /// Hidden layers, 0 to 64; 0 leaves one linear map. `color_shared` has so many in its encoder and again in its last part; `color_set` needs
    /// one at least.
    pub num_layers: usize,
    /// `relu` or `gelu`.
    pub activation: Activation,
    /// Transformer blocks over the colours between the two parts of `color_shared`, 0 to 64.
    pub color_attention_layers: usize,
    /// Heads of each of them, 1 to 1,024; they share `hidden_size` evenly.
    pub color_attention_heads: usize,
    /// How libtorch runs an inference: `none`, operation by operation, or as a traced function, `script`. Without effect on packed kernels. On a
    /// CPU the traced function brings nothing: an `mlp` of 64 units was 7 to 14 % slower in calls of 64 to 1,024 rows, larger networks as fast
    /// within noise. On a GPU it is not measured yet: `coorl-async profile forward` does it.
    pub compile: Compile,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            kind: Kind::Mlp,
            hidden_size: 64,
            num_layers: 2,
            activation: Activation::Relu,
            color_attention_layers: 0,
            color_attention_heads: 4,
            compile: Compile::None,
        }
    }
}
