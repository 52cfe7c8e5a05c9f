//! The networks of a lane, and which code runs them.

use super::{
    Computing, Head, Network, Place, RowShape, Set, TorchNetworks, device::DeviceNetworks,
};
use crate::{
    network::{Architecture, PackedNetwork, PackedScratch, Ready, TensorError},
    platform::transfers::{Waiting, to_device},
};
use std::{sync::Arc, time::Duration};
use tch::Tensor;

/// The networks' layers by head.
#[derive(Clone, Debug)]
pub struct HeadArchitectures {
    /// Of every other head.
    pub policy: Architecture,
    /// Of [`Head::CRITIC`], if there is one.
    pub critic: Option<Architecture>,
    /// Of the heads of the second set ([`Head::of_set`]), if they are not as the others.
    pub rival: Option<Architecture>,
}

impl From<Architecture> for HeadArchitectures {
    /// Without a critic or a rival.
    fn from(policy: Architecture) -> Self {
        Self {
            policy,
            critic: None,
            rival: None,
        }
    }
}

impl HeadArchitectures {
    /// The layers of `head`.
    ///
    /// # Errors
    /// The critic where there is none.
    pub fn of(&self, head: Head) -> Result<&Architecture, TensorError> {
        if head != Head::CRITIC {
            let rival = self.rival.as_ref();
            let rival = rival.filter(|_| head.set().0 == Set::Second);
            return Ok(rival.unwrap_or(&self.policy));
        }
        let critic = self.critic.as_ref();
        critic.ok_or_else(|| TensorError::new("these networks have no critic"))
    }

    /// The lengths of slots that fit every head.
    pub fn row_shape(&self) -> RowShape {
        let mut shape = Self::rows_of(&self.policy);
        for RowShape { info_len, actions } in self.all().map(Self::rows_of) {
            shape.info_len = shape.info_len.max(info_len);
            shape.actions = shape.actions.max(actions);
        }
        shape
    }

    /// The lengths of a network's rows.
    pub(super) fn rows_of(architecture: &Architecture) -> RowShape {
        RowShape {
            info_len: architecture.inputs(),
            actions: architecture.outputs(),
        }
    }

    fn all(&self) -> impl Iterator<Item = &Architecture> {
        std::iter::once(&self.policy)
            .chain(&self.critic)
            .chain(&self.rival)
    }

    /// Whether all of them have packed kernels here.
    pub(super) fn pack(&self) -> bool {
        self.all().all(Architecture::packs)
    }
}

/// The heads' networks of one lane.
pub struct LaneNetworks(Form);

enum Form {
    Packed(PackedNetworks),
    Torch(TorchNetworks),
    Device(DeviceNetworks),
}

/// One head's weights, prepared once for all lanes.
#[derive(Clone)]
pub struct HeadWeights(Weights);

enum Weights {
    Packed(Arc<PackedNetwork>),
    Plain(Arc<[f32]>),
    /// On the device, once for all lanes.
    Placed(Ready),
}

impl Clone for Weights {
    fn clone(&self) -> Self {
        match self {
            Self::Packed(network) => Self::Packed(Arc::clone(network)),
            Self::Plain(parameters) => Self::Plain(Arc::clone(parameters)),
            Self::Placed(network) => Self::Placed(network.share()),
        }
    }
}

impl LaneNetworks {
    /// No head loaded yet; batches of at most `max_batch` rows.
    ///
    /// # Errors
    /// `inference.kernels: packed` for a network or a processor without packed kernels; a device without memory.
    pub fn new(
        architectures: &HeadArchitectures,
        computing: &Computing,
        max_batch: usize,
    ) -> Result<Self, String> {
        let packs = computing.packs(architectures)?;
        let architectures = architectures.clone();
        Ok(Self(match computing.place {
            Place::Device(device) => Form::Device(
                DeviceNetworks::new(architectures, device, computing, max_batch)
                    .map_err(|error| error.to_string())?,
            ),
            Place::Host if packs => Form::Packed(PackedNetworks::new(architectures)),
            Place::Host => Form::Torch(TorchNetworks::new(architectures, computing, max_batch)),
        }))
    }

    /// Prepares `parameters` (`[num_parameters]`) of `head` for lanes of these settings. For a device this is where they travel there.
    ///
    /// # Errors
    /// Another length than the architecture's, a head that there is not, or a device that fails.
    pub fn prepare(
        architectures: &HeadArchitectures,
        computing: &Computing,
        head: Head,
        parameters: Vec<f32>,
    ) -> Result<HeadWeights, TensorError> {
        if let Place::Device(device) = computing.place {
            let flat = Tensor::f_from_slice(&parameters)?;
            let flat = to_device(&flat, device, Waiting::Blocking)?;
            let (precision, compile) = (computing.precision, computing.compile);
            let network = architectures.of(head)?.ready(&flat, precision, compile)?;
            return Ok(HeadWeights(Weights::Placed(network)));
        }
        let packed = match computing.packs(architectures) {
            Ok(true) => architectures.of(head)?.pack(&parameters)?,
            _ => None,
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
            (Form::Device(networks), Weights::Placed(network)) => {
                networks.load(head, network.share())
            }
            _ => Err(TensorError::new(
                "weights prepared for other kernels, or another place",
            )),
        }
    }
}

impl Network for LaneNetworks {
    fn stage(&mut self, rows: usize) -> &mut [f32] {
        match &mut self.0 {
            Form::Packed(networks) => networks.stage(rows),
            Form::Torch(networks) => networks.stage(rows),
            Form::Device(networks) => networks.stage(rows),
        }
    }

    fn row_shape(&self, head: Head) -> Option<RowShape> {
        match &self.0 {
            Form::Packed(networks) => networks.row_shape(head),
            Form::Torch(networks) => networks.row_shape(head),
            Form::Device(networks) => networks.row_shape(head),
        }
    }

    fn run(&mut self, head: Head, rows: usize) -> Result<&[f32], String> {
        match &mut self.0 {
            Form::Packed(networks) => networks.run(head, rows),
            Form::Torch(networks) => networks.run(head, rows),
            Form::Device(networks) => networks.run(head, rows),
        }
    }

    fn device_time(&self) -> Option<Duration> {
        match &self.0 {
            Form::Packed(_) | Form::Torch(_) => None,
            Form::Device(networks) => networks.device_time(),
        }
    }
}

/// Networks in packed form. An answer depends on its row alone, whatever the batch.
struct PackedNetworks {
    architectures: HeadArchitectures,
    shape: RowShape,
    /// `[staged rows, info_len]`.
    stage: Vec<f32>,
    /// `[staged rows, actions]`.
    answers: Vec<f32>,
    scratch: PackedScratch,
    heads: Vec<Option<Arc<PackedNetwork>>>,
}

impl PackedNetworks {
    fn new(architectures: HeadArchitectures) -> Self {
        Self {
            shape: architectures.row_shape(),
            architectures,
            stage: Vec::new(),
            answers: Vec::new(),
            scratch: PackedScratch::default(),
            heads: Vec::new(),
        }
    }

    fn load(&mut self, head: Head, network: Arc<PackedNetwork>) -> Result<(), TensorError> {
        let RowShape { info_len, actions } =
            HeadArchitectures::rows_of(self.architectures.of(head)?);
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

    fn row_shape(&self, head: Head) -> Option<RowShape> {
        let architecture = self.architectures.of(head).ok();
        architecture.map(HeadArchitectures::rows_of)
    }

    fn run(&mut self, head: Head, rows: usize) -> Result<&[f32], String> {
        let network = self.heads.get(head.0 as usize).and_then(Option::as_ref);
        let network = network.ok_or_else(|| format!("head {} has no weights", head.0))?;
        let (inputs, outputs) = (rows * network.inputs(), rows * network.outputs());
        if self.answers.len() < outputs {
            self.answers.resize(outputs, 0.0);
        }
        let answers = &mut self.answers[..outputs];
        network.forward(&self.stage[..inputs], &mut self.scratch, answers);
        Ok(answers)
    }
}
