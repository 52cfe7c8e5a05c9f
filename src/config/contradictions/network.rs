//! Networks by colour.

use super::Search;
use crate::{
    config::GameKind,
    encoding,
    inference::Kernels,
    network::{Kind, Settings},
};

impl Search<'_> {
    /// What networks by colour need.
    pub(super) fn network(&mut self) {
        let network = &self.config.network;
        let kind = network.kind;
        if kind != Kind::Mlp && self.config.game != GameKind::LostCities {
            let why = "the network treats the colours of a game alike, and this game has none; set network.kind to mlp";
            self.contradiction(&["network.kind", "game"], why);
        }
        if kind == Kind::ColorSet && self.config.encoding.kind == encoding::Kind::Slots {
            let why = "its answers are by colour, and the actions of that encoding are not; set encoding.kind to cards, or network.kind to mlp \
                       or color_shared";
            self.contradiction(&["network.kind", "encoding.kind", "game"], why);
        }
        if kind == Kind::ColorSet && network.num_layers == 0 {
            let why =
                "the colours hear each other in hidden layers only; set num_layers to 1 or more";
            self.contradiction(&["network.num_layers", "network.kind"], why);
        }
        if kind == Kind::ColorShared && self.config.inference.kernels == Kernels::Packed {
            let why = "packed kernels are made for mlp and color_set; set inference.kernels to auto or torch";
            self.contradiction(&["inference.kernels", "network.kind"], why);
        }
        self.attention();
    }

    fn attention(&mut self) {
        const LAYERS: &str = "network.color_attention_layers";
        const HEADS: &str = "network.color_attention_heads";
        let (network, usual) = (&self.config.network, Settings::default());
        let (layers, heads) = (
            network.color_attention_layers,
            network.color_attention_heads,
        );
        if network.kind != Kind::ColorShared {
            for (differs, key) in [
                (layers != usual.color_attention_layers, LAYERS),
                (heads != usual.color_attention_heads, HEADS),
            ] {
                if differs {
                    let text = "has no effect unless network.kind is color_shared";
                    self.note(key, text.to_owned());
                }
            }
        } else if layers > 0 && !network.hidden_size.is_multiple_of(heads.max(1)) {
            let why =
                "the heads share the hidden units evenly; choose a number that divides hidden_size";
            self.contradiction(&[HEADS, "network.hidden_size"], why);
        }
    }
}
