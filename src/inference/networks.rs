//! The networks of a lane, and which code runs them.

use super::{Head, Kernels, Network, RowShape, TorchNetworks};
use crate::network::{Architecture, PackedNetwork, PackedScratch, TensorError};
use std::sync::Arc;

/// The heads' networks of one lane.
pub struct LaneNetworks(Form);

enum Form {
    Packed(PackedNetworks),
    Torch(TorchNetworks),
}

/// One head's weights, prepared once for all lanes.
#[derive(Clone)]
pub struct HeadWeights(Weights);

#[derive(Clone)]
enum Weights {
    Packed(Arc<PackedNetwork>),
    Plain(Arc<[f32]>),
}

impl LaneNetworks {
    /// No head loaded yet; batches of at most `max_batch` rows. `deterministic` says that an answer must not depend on the rest of its batch.
    ///
    /// # Errors
    /// `inference.kernels: packed` for a network or a processor without packed kernels.
    pub fn new(
        architecture: Architecture,
        kernels: Kernels,
        max_batch: usize,
        deterministic: bool,
    ) -> Result<Self, String> {
        Ok(Self(if packs(&architecture, kernels)? {
            Form::Packed(PackedNetworks::new(&architecture))
        } else {
            Form::Torch(TorchNetworks::new(architecture, max_batch, deterministic))
        }))
    }

    /// Prepares `parameters` (`[num_parameters]`) for lanes of these settings.
    ///
    /// # Errors
    /// Another length than the architecture's.
    pub fn prepare(
        architecture: &Architecture,
        kernels: Kernels,
        parameters: Vec<f32>,
    ) -> Result<HeadWeights, TensorError> {
        let packed = match kernels {
            Kernels::Torch => None,
            Kernels::Auto | Kernels::Packed => architecture.pack(&parameters)?,
        };
        Ok(HeadWeights(match packed {
            Some(packed) => Weights::Packed(Arc::new(packed)),
            None => Weights::Plain(parameters.into()),
        }))
    }

    /// Gives `head` its weights.
    ///
    /// # Errors
    /// Weights of another network, or prepared for other kernels.
    pub fn load(&mut self, head: Head, weights: &HeadWeights) -> Result<(), TensorError> {
        match (&mut self.0, &weights.0) {
            (Form::Packed(networks), Weights::Packed(packed)) => {
                networks.load(head, Arc::clone(packed))
            }
            (Form::Torch(networks), Weights::Plain(parameters)) => networks.load(head, parameters),
            _ => Err(TensorError::new("weights prepared for other kernels")),
        }
    }
}

/// Whether network calls run on packed kernels.
fn packs(architecture: &Architecture, kernels: Kernels) -> Result<bool, String> {
    match kernels {
        Kernels::Torch => Ok(false),
        Kernels::Auto => Ok(architecture.packs()),
        Kernels::Packed if architecture.packs() => Ok(true),
        Kernels::Packed => Err(
            "inference.kernels is packed, which runs relu networks of kind mlp or color_set on processors with fused multiply-add vectors (AVX2, AVX-512, \
             Neon): use auto or torch"
                .into(),
        ),
    }
}

impl Network for LaneNetworks {
    fn stage(&mut self, rows: usize) -> &mut [f32] {
        match &mut self.0 {
            Form::Packed(networks) => networks.stage(rows),
            Form::Torch(networks) => networks.stage(rows),
        }
    }

    fn run(&mut self, head: Head, rows: usize) -> Result<&[f32], String> {
        match &mut self.0 {
            Form::Packed(networks) => networks.run(head, rows),
            Form::Torch(networks) => networks.run(head, rows),
        }
    }
}

/// Networks in packed form. An answer depends on its row alone, whatever the batch.
struct PackedNetworks {
    shape: RowShape,
    /// `[staged rows, info_len]`.
    stage: Vec<f32>,
    /// `[staged rows, actions]`.
    answers: Vec<f32>,
    scratch: PackedScratch,
    heads: Vec<Option<Arc<PackedNetwork>>>,
}

impl PackedNetworks {
    fn new(architecture: &Architecture) -> Self {
        Self {
            shape: RowShape {
                info_len: architecture.inputs(),
                actions: architecture.outputs(),
            },
            stage: Vec::new(),
            answers: Vec::new(),
            scratch: PackedScratch::default(),
            heads: Vec::new(),
        }
    }

    fn load(&mut self, head: Head, network: Arc<PackedNetwork>) -> Result<(), TensorError> {
        let RowShape { info_len, actions } = self.shape;
        if (network.inputs(), network.outputs()) != (info_len, actions) {
            return Err(TensorError::new(format!(
                "a network from {} to {} numbers where rows have {info_len} and answers {actions}",
                network.inputs(),
                network.outputs()
            )));
        }
        let index = head.0 as usize;
        if self.heads.len() <= index {
            self.heads.resize(index + 1, None);
        }
        self.heads[index] = Some(network);
        Ok(())
    }
}

impl Network for PackedNetworks {
    fn stage(&mut self, rows: usize) -> &mut [f32] {
        let length = rows * self.shape.info_len;
        if self.stage.len() < length {
            self.stage.resize(length, 0.0);
        }
        &mut self.stage[..length]
    }

    fn run(&mut self, head: Head, rows: usize) -> Result<&[f32], String> {
        let network = self.heads.get(head.0 as usize).and_then(Option::as_ref);
        let network = network.ok_or_else(|| format!("head {} has no weights", head.0))?;
        let (inputs, outputs) = (rows * self.shape.info_len, rows * self.shape.actions);
        if self.answers.len() < outputs {
            self.answers.resize(outputs, 0.0);
        }
        let answers = &mut self.answers[..outputs];
        network.forward(&self.stage[..inputs], &mut self.scratch, answers);
        Ok(answers)
    }
}
