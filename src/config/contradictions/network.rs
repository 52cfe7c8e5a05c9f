//! Networks by colour, and the settings of network calls.

use super::Search;
use crate::{
    config::GameKind,
    encoding,
    inference::{self, Kernels},
    network::{Compile, Kind, Settings},
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

    /// What only libtorch, or only a device, does.
    pub(super) fn inference(&mut self) {
        let (inference, usual) = (&self.config.inference, inference::Settings::default());
        let (kernels, batches) = (inference.kernels, inference.batches_in_flight);
        let on_cpu = self.config.run.device == "cpu";
        let of_torch = [
            (
                inference.precision != usual.precision,
                "inference.precision",
            ),
            (
                self.config.network.compile != Compile::None,
                "network.compile",
            ),
        ];
        for (_, key) in of_torch.into_iter().filter(|(asked, _)| *asked) {
            if kernels == Kernels::Packed {
                let why = "packed kernels compute in f32, by code of their own; set inference.kernels to torch, or leave this out";
                self.contradiction(&[key, "inference.kernels"], why);
            } else if kernels == Kernels::Auto && on_cpu {
                let text = "has no effect where packed kernels are, on run.device cpu; inference.kernels torch does without them";
                self.note(key, text.to_owned());
            }
        }
        if on_cpu && batches != usual.batches_in_flight {
            let text = "has no effect on run.device cpu: a batch for each worker runs there";
            self.note("inference.batches_in_flight", text.to_owned());
        }
        let evaluation = &self.config.evaluation;
        if evaluation.device.is_some() && evaluation.eval_every == 0 {
            let text = "has no effect: evaluation.eval_every is 0";
            self.note("evaluation.device", text.to_owned());
        }
    }
}
