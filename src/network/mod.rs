//! Networks: architectures over one flat parameter tensor, and an optimizer whose state saves like any other tensor.
//!
//! ```text
//! flat [num_parameters] --split--> net.0.weight, net.0.bias, net.2.weight, ... --forward(rows)--> outputs
//!      ^                                                                                            | loss
//!      +-- AdamW::step <-- clip <-- one flat gradient <-- one concatenation <----------- backward <-+
//! ```
//!
//! [`Architecture`] knows the layout and the function, and owns no parameter. [`Bound`] is an architecture with parameters that
//! are split once, for inference; [`PackedMlp`] the same for the CPU without libtorch, made for batches of any size.

mod adamw;
mod architecture;
mod mlp;
mod packed;
mod parameters;

pub use adamw::{AdamW, Moments, clip};
pub use architecture::{Architecture, Bound, ShapeError};
pub use packed::{PackedMlp, PackedScratch};
pub use parameters::ParameterView;

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
    /// The architecture: `mlp`.
    pub kind: Kind,
    /// Units of a hidden layer, 1 to 65,536.
    pub hidden_size: usize,
    /// Hidden layers, 0 to 64; 0 leaves one linear map.
    pub num_layers: usize,
    /// `relu` or `gelu`.
    pub activation: Activation,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            kind: Kind::Mlp,
            hidden_size: 64,
            num_layers: 2,
            activation: Activation::Relu,
        }
    }
}
