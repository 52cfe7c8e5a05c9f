//! One encoder for all colours, pooled.

use super::{
    ArchitectureError, Settings, TensorError,
    attention::{self, Attention},
    blocks::Blocks,
    mlp::Mlp,
    parameters::Layout,
};
use crate::encoding::ColorLayout;
use tch::Tensor;

/// Each colour's block goes through one encoder; the mean and the maximum over colours and the common values go through a second network.
///
/// ```text
/// [batch, colors, block] --encoder--> [batch, colors, hidden] --attention blocks--> mean, max --+
/// [batch, common] ------------------------------------------------------------------------------+--> [batch, 2 hidden + common]
///                                                                                                      --final_net--> outputs
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ColorShared {
    blocks: Blocks,
    encoder: Mlp,
    /// Parts of the encoder: weight and bias of each layer.
    encoder_parts: usize,
    attention: Attention,
    attention_layers: usize,
    last: Mlp,
}

impl ColorShared {
    /// A network whose parts are appended to `layout`: `color_encoder.*`, `color_attention.layers.*`, `final_net.*`.
    ///
    /// # Errors
    /// Heads that cannot share the hidden units, and colours that do not fit the inputs.
    pub(super) fn append(
        layout: &mut Layout,
        settings: &Settings,
        inputs: usize,
        outputs: usize,
        colors: &ColorLayout,
    ) -> Result<Self, ArchitectureError> {
        let (hidden_size, heads) = (settings.hidden_size, settings.color_attention_heads);
        let attention_layers = settings.color_attention_layers;
        ArchitectureError::check("network.color_attention_layers", attention_layers, 0..=64)?;
        ArchitectureError::check("network.color_attention_heads", heads, 1..=1024)?;
        if attention_layers > 0 && !hidden_size.is_multiple_of(heads) {
            return Err(ArchitectureError::Heads { heads, hidden_size });
        }
        let blocks = Blocks::of_info(colors, inputs)?;
        let activation = settings.activation;
        let widths = |inputs, outputs| {
            let mut widths = vec![inputs];
            widths.resize(1 + settings.num_layers, hidden_size);
            widths.push(outputs);
            widths
        };
        let encoder = widths(blocks.block, hidden_size);
        let encoder = Mlp::append(layout, "color_encoder", &encoder, activation);
        let encoder_parts = layout.views().len();
        let attention = Attention {
            width: hidden_size,
            heads,
            activation,
        };
        (0..attention_layers).for_each(|number| attention.append(layout, number));
        let last = widths(2 * hidden_size + blocks.common, outputs);
        let last = Mlp::append(layout, "final_net", &last, activation);
        Ok(Self {
            blocks,
            encoder,
            encoder_parts,
            attention,
            attention_layers,
            last,
        })
    }

    /// `rows` (`[batch, inputs]`) to `[batch, outputs]` with the parts `views`.
    pub(super) fn forward(&self, views: &[Tensor], rows: &Tensor) -> Result<Tensor, TensorError> {
        let (encoder, views) = views.split_at(self.encoder_parts);
        let (blocks, last) = views.split_at(attention::PARTS * self.attention_layers);
        let arranged = self.blocks.arranged(rows)?;
        let block = self.blocks.of(&arranged)?;
        let block = block.f_reshape([-1, self.blocks.block as i64])?;
        let tokens = self.encoder.forward(encoder, &block)?;
        let (colors, width) = (self.blocks.colors as i64, self.attention.width as i64);
        let mut tokens = tokens.f_view([-1, colors, width])?;
        for views in blocks.chunks_exact(attention::PARTS) {
            tokens = self.attention.forward(views, &tokens)?;
        }
        let mean = tokens.f_mean_dim(1, false, None)?;
        let (max, _) = tokens.f_max_dim(1, false)?;
        let pooled = Tensor::f_cat(&[mean, max, self.blocks.common_of(&arranged)?], 1)?;
        self.last.forward(last, &pooled)
    }
}
