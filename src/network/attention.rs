//! Attention over the colours.

use super::{
    Activation, TensorError,
    parameters::{Initial, Layout},
};
use tch::Tensor;

/// Keeps the division finite where all units are equal.
const EPSILON: f64 = 1e-5;
/// Parts of a block.
pub(super) const PARTS: usize = 12;

/// A transformer block with the normalisation first (Xiong et al., On Layer Normalization in the Transformer Architecture, 2020):
///
/// ```text
/// x <- x + out(attention(norm1(x)))        softmax(q k' / sqrt(width / heads)) v over the colours of a row, by head
/// x <- x + W2 act(W1 norm2(x))             4 width units between
/// ```
///
/// Colours have no position. There is no dropout: it would make a fit depend on a generator that no checkpoint keeps, and in a regression
/// whose answers are matched as regrets it is noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attention {
    pub width: usize,
    pub heads: usize,
    pub activation: Activation,
}

impl Attention {
    /// Appends the parts of block `number` to `layout`.
    pub(super) fn append(&self, layout: &mut Layout, number: usize) {
        let (width, wide) = (self.width, 4 * self.width);
        let name = |part: &str| format!("color_attention.layers.{number}.{part}");
        let projections = Initial::Projections(width);
        layout.push(
            name("self_attn.in_proj_weight"),
            &[3 * width, width],
            projections,
        );
        layout.push(name("self_attn.in_proj_bias"), &[3 * width], Initial::Zero);
        layout.push(
            name("self_attn.out_proj.weight"),
            &[width, width],
            Initial::FanIn(width),
        );
        layout.push(name("self_attn.out_proj.bias"), &[width], Initial::Zero);
        layout.push_linear(&name("linear1"), width, wide);
        layout.push_linear(&name("linear2"), wide, width);
        for norm in ["norm1", "norm2"] {
            layout.push(name(&format!("{norm}.weight")), &[width], Initial::One);
            layout.push(name(&format!("{norm}.bias")), &[width], Initial::Zero);
        }
    }

    /// `x` (`[batch, colors, width]`) through the block whose parts are `views`.
    pub(super) fn forward(&self, views: &[Tensor], x: &Tensor) -> Result<Tensor, TensorError> {
        let [
            in_weight,
            in_bias,
            out_weight,
            out_bias,
            weight_1,
            bias_1,
            weight_2,
            bias_2,
            norm_1 @ ..,
        ] = views
        else {
            return Err(TensorError::new("an attention block lacks parts"));
        };
        let (norm_1, norm_2) = norm_1.split_at(2);
        let attended = self.attend(&self.normalised(norm_1, x)?, in_weight, in_bias)?;
        let x = x.f_add(&attended.f_linear(out_weight, Some(out_bias))?)?;
        let wide = self
            .normalised(norm_2, &x)?
            .f_linear(weight_1, Some(bias_1))?;
        let narrow = self
            .activation
            .apply(wide)?
            .f_linear(weight_2, Some(bias_2))?;
        Ok(x.f_add(&narrow)?)
    }

    fn normalised(&self, norm: &[Tensor], x: &Tensor) -> Result<Tensor, TensorError> {
        let width = [self.width as i64];
        Ok(x.f_layer_norm(width, Some(&norm[0]), Some(&norm[1]), EPSILON, false)?)
    }

    /// What each colour takes from all of them, `[batch, colors, width]`.
    fn attend(&self, x: &Tensor, weight: &Tensor, bias: &Tensor) -> Result<Tensor, TensorError> {
        let (width, heads) = (self.width as i64, self.heads as i64);
        let (colors, part) = (x.size()[1], width / heads);
        let projected = x.f_linear(weight, Some(bias))?;
        let projected = projected.f_view([-1, colors, 3, heads, part])?;
        let [q, k, v] = <[Tensor; 3]>::try_from(projected.f_permute([2, 0, 3, 1, 4])?.f_unbind(0)?)
            .map_err(|_| TensorError::new("three projections make queries, keys and values"))?;
        let scores = q.f_matmul(&k.f_transpose(-2, -1)?)?;
        let scores = scores.f_mul_scalar(1.0 / (part as f64).sqrt())?;
        let taken = scores.f_softmax(-1, None)?.f_matmul(&v)?;
        Ok(taken.f_transpose(1, 2)?.f_reshape([-1, colors, width])?)
    }
}
