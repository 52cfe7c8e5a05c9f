//! Fully connected layers.

use super::{Activation, TensorError, parameters::Layout};
use tch::Tensor;

/// `hidden_layers` times a linear map and an activation, then a linear map to the outputs. No normalisation, no dropout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mlp {
    activation: Activation,
}

impl Mlp {
    /// A network whose parts are appended to `layout` as `<name>.0`, `<name>.2`, ... (odd numbers are the activations).
    pub(super) fn append(
        layout: &mut Layout,
        name: &str,
        widths: &[usize],
        activation: Activation,
    ) -> Self {
        for (layer, ends) in widths.windows(2).enumerate() {
            layout.push_linear(&format!("{name}.{}", 2 * layer), ends[0], ends[1]);
        }
        Self { activation }
    }

    pub(super) fn activation(&self) -> Activation {
        self.activation
    }

    /// `rows` (`[batch, inputs]`) to `[batch, outputs]`; `views` holds weight and bias of each layer in turn.
    pub(super) fn forward(&self, views: &[Tensor], rows: &Tensor) -> Result<Tensor, TensorError> {
        let mut hidden = rows.shallow_clone();
        for (layer, view) in views.chunks_exact(2).enumerate() {
            if layer > 0 {
                hidden = self.activation.apply(hidden)?;
            }
            hidden = view[1].f_addmm(&hidden, &view[0].f_transpose(0, 1)?)?;
        }
        Ok(hidden)
    }

    /// Takes the layer views of `views` (as in [`Mlp::forward`], without gradients) in the form its forward pass wants.
    pub(super) fn bind(&self, views: &[Tensor]) -> Result<BoundMlp, TensorError> {
        let pairs = views.chunks_exact(2);
        let layers = pairs
            .map(|view| {
                Ok(BoundLayer {
                    weight: view[0].f_transpose(0, 1)?,
                    bias: view[1].shallow_clone(),
                })
            })
            .collect::<Result<_, TensorError>>()?;
        Ok(BoundMlp {
            layers,
            activation: self.activation,
        })
    }
}

/// The error function itself, not its hyperbolic tangent approximation.
const EXACT: &str = "none";

impl Activation {
    /// Of `hidden`, which nobody else reads. In place where the gradient allows it: one tensor less to touch.
    pub(super) fn apply(self, mut hidden: Tensor) -> Result<Tensor, TensorError> {
        Ok(match self {
            Self::Relu => hidden.f_relu_()?,
            Self::Gelu => hidden.f_gelu(EXACT)?,
        })
    }
}

struct BoundLayer {
    /// `[inputs, outputs]`, a transposed view of the parameters.
    weight: Tensor,
    /// `[outputs]`.
    bias: Tensor,
}

/// Layer views that stay split.
pub(super) struct BoundMlp {
    layers: Vec<BoundLayer>,
    activation: Activation,
}

impl BoundMlp {
    /// The same layers once more, in the same memory.
    pub(super) fn share(&self) -> Self {
        let layers = self.layers.iter().map(|layer| BoundLayer {
            weight: layer.weight.shallow_clone(),
            bias: layer.bias.shallow_clone(),
        });
        Self {
            layers: layers.collect(),
            activation: self.activation,
        }
    }

    /// As [`Mlp::forward`], with activations in place: a layer allocates one tensor instead of two, half the pages to touch.
    pub(super) fn forward(&self, rows: &Tensor) -> Result<Tensor, TensorError> {
        let mut hidden = rows.shallow_clone();
        for (layer, part) in self.layers.iter().enumerate() {
            if layer > 0 {
                let _ = match self.activation {
                    Activation::Relu => hidden.f_relu_()?,
                    Activation::Gelu => hidden.f_gelu_(EXACT)?,
                };
            }
            hidden = part.bias.f_addmm(&hidden, &part.weight)?;
        }
        Ok(hidden)
    }
}
