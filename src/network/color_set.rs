//! Layers shared by all colours that hear each other through their mean.

use super::{
    Activation, ArchitectureError, Settings, TensorError,
    blocks::Blocks,
    parameters::{Initial, Layout},
};
use crate::encoding::ColorLayout;
use tch::Tensor;

/// Parts of a layer: its weight, the weight of what all colours share, its bias.
pub(super) const LAYER: usize = 3;

/// A network on a set of colours (Zaheer et al., Deep Sets, 2017, equation 4): with `x_c` the block of colour `c` and `m` the common values,
///
/// ```text
/// h_c <- act(W x_c + V m + b)          first layer
/// h_c <- act(W h_c + V mean(h) + b)    the others
/// answer of colour c    H h_c + g
/// common answers        D act(P mean(h) + p) + q
/// ```
///
/// Exchanging two colours in the inputs exchanges their answers and leaves the common ones. The mean and the common values are mapped once per
/// row, not once per colour.
///
/// Tensors inside are `[colors, batch, width]`: a sum over colours then adds whole contiguous arrays, and one product per colour reads its
/// columns of the rows where they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ColorSet {
    pub info: Blocks,
    pub answer: Blocks,
    pub num_layers: usize,
    pub activation: Activation,
}

impl ColorSet {
    /// A network whose parts are appended to `layout`: `layers.<n>.{weight,shared,bias}`, `pool.{weight,bias}`, and the output layer,
    /// `common.{weight,bias}` and `color.{weight,bias}`; of the last six only those that there are outputs for.
    ///
    /// # Errors
    /// More than two outputs (the values of both players) of which none is by colour, and colours that do not fit the lengths.
    pub(super) fn append(
        layout: &mut Layout,
        settings: &Settings,
        inputs: usize,
        outputs: usize,
        colors: &ColorLayout,
    ) -> Result<Self, ArchitectureError> {
        let (num_layers, hidden) = (settings.num_layers, settings.hidden_size);
        ArchitectureError::check("network.num_layers of a color_set", num_layers, 1..=64)?;
        if outputs > 2 && colors.actions_per_color() == 0 {
            return Err(ArchitectureError::NoColorActions);
        }
        let (info, answer) = (
            Blocks::of_info(colors, inputs)?,
            Blocks::of_answer(colors, outputs)?,
        );
        let mut widths = (info.block, info.common);
        for number in 0..num_layers {
            let name = |part: &str| format!("layers.{number}.{part}");
            let (own, shared) = (Initial::FanIn(widths.0), Initial::FanIn(widths.1));
            layout.push(name("weight"), &[hidden, widths.0], own);
            layout.push(name("shared"), &[hidden, widths.1], shared);
            layout.push(name("bias"), &[hidden], own);
            widths = (hidden, hidden);
        }
        if answer.common > 0 {
            layout.push_linear("pool", hidden, hidden);
        }
        for (name, outputs) in [("common", answer.common), ("color", answer.block)] {
            if outputs > 0 {
                let weight = &[outputs, hidden];
                layout.push(format!("{name}.weight"), weight, Initial::NearZero);
                layout.push(format!("{name}.bias"), &[outputs], Initial::Zero);
            }
        }
        Ok(Self {
            info,
            answer,
            num_layers,
            activation: settings.activation,
        })
    }

    /// Parts between the layers and the answers by colour.
    pub(super) fn common_parts(&self) -> usize {
        if self.answer.common > 0 { 4 } else { 0 }
    }

    /// Parts at the end of the layout that make the output layer.
    pub(super) fn output_parts(&self) -> usize {
        2 * (usize::from(self.answer.common > 0) + usize::from(self.answer.block > 0))
    }

    /// `rows` (`[batch, inputs]`) to `[batch, outputs]` with the parts `views`.
    pub(super) fn forward(&self, views: &[Tensor], rows: &Tensor) -> Result<Tensor, TensorError> {
        let (layers, heads) = views.split_at(LAYER * self.num_layers);
        let arranged = self.info.arranged(rows)?;
        let mut hidden = self.info.of(&arranged)?.f_transpose(0, 1)?;
        let mut shared = self.info.common_of(&arranged)?;
        for (number, views) in layers.chunks_exact(LAYER).enumerate() {
            if number > 0 {
                shared = self.mean(&hidden)?;
            }
            let term = linear(&views[1], &views[2], &shared)?;
            hidden = self
                .activation
                .apply(by_color(&views[0], &term, &hidden)?)?;
        }
        let (common, color) = heads.split_at(self.common_parts());
        let mut answers = Vec::with_capacity(2);
        if let [weight, bias] = color {
            let answer = by_color(weight, bias, &hidden)?.f_transpose(0, 1)?;
            let width = self.answer.colors * self.answer.block;
            answers.push(answer.f_reshape([-1, width as i64])?.f_contiguous()?);
        }
        if let [pool_weight, pool_bias, weight, bias] = common {
            let pooled = linear(pool_weight, pool_bias, &self.mean(&hidden)?)?;
            answers.push(linear(weight, bias, &self.activation.apply(pooled)?)?);
        }
        let answers = match <[Tensor; 1]>::try_from(answers) {
            Ok([answer]) => answer,
            Err(answers) => Tensor::f_cat(&answers, 1)?,
        };
        self.answer.restored(answers)
    }

    /// The mean of `[colors, batch, width]` over colours. Scaled after the sum: the gradient is then scaled before it is spread.
    fn mean(&self, hidden: &Tensor) -> Result<Tensor, TensorError> {
        let sum = hidden.f_sum_dim_intlist(0, false, None)?;
        Ok(sum.f_mul_scalar(1.0 / self.info.colors as f64)?)
    }
}

/// `x` (`[batch, inputs]`) times `weight` (`[outputs, inputs]`) plus `bias`.
fn linear(weight: &Tensor, bias: &Tensor, x: &Tensor) -> Result<Tensor, TensorError> {
    Ok(bias.f_addmm(x, &weight.f_transpose(0, 1)?)?)
}

/// `x` (`[colors, batch, inputs]`) times `weight` (`[outputs, inputs]`) plus `term` (`[batch, outputs]` or `[outputs]`), which the product starts
/// from: no pass of its own.
fn by_color(weight: &Tensor, term: &Tensor, x: &Tensor) -> Result<Tensor, TensorError> {
    let [outputs, inputs] = weight.size()[..] else {
        return Err(TensorError::new("a weight has two dimensions"));
    };
    let weight = weight
        .f_transpose(0, 1)?
        .f_expand([x.size()[0], inputs, outputs], false)?;
    Ok(term.f_baddbmm(x, &weight, 1, 1)?)
}

#[cfg(test)]
pub(super) mod tests;
