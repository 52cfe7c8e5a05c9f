//! How network calls are computed, and where.

use super::{HeadArchitectures, Kernels};
use crate::{
    network::{Compile, Precision},
    platform::device_name,
};
use tch::Device;

/// Where network calls are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On the host's cores, where the rows are.
    Host,
    /// On a device, behind copies. The CPU can stand in for one: the same code on any machine, for tests.
    Device(Device),
}

impl Place {
    /// The place of computing on `device`: the CPU is the host, not a device that stands for itself.
    pub fn of(device: Device) -> Self {
        match device {
            Device::Cpu => Self::Host,
            device => Self::Device(device),
        }
    }
}

/// How network calls are computed, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Computing {
    /// Where.
    pub place: Place,
    /// With which code on the host.
    pub kernels: Kernels,
    /// In which number format, where libtorch computes.
    pub precision: Precision,
    /// Whether as a traced function, where libtorch computes.
    pub compile: Compile,
    /// Whether an answer must not depend on the rest of its batch.
    pub deterministic: bool,
}

impl From<Kernels> for Computing {
    /// On the host, in f32, operation by operation.
    fn from(kernels: Kernels) -> Self {
        Self {
            place: Place::Host,
            kernels,
            precision: Precision::F32,
            compile: Compile::None,
            deterministic: false,
        }
    }
}

impl Computing {
    /// Whether networks of `architectures` run on packed kernels.
    ///
    /// # Errors
    /// Packed kernels asked for by name, for a network or a processor without.
    pub(super) fn packs(&self, architectures: &HeadArchitectures) -> Result<bool, String> {
        if self.place != Place::Host {
            return Ok(false);
        }
        let all = architectures.pack();
        match self.kernels {
            Kernels::Torch => Ok(false),
            Kernels::Auto => Ok(all),
            Kernels::Packed if all => Ok(true),
            Kernels::Packed => Err(
                "inference.kernels is packed, which runs relu networks of kind mlp or color_set on processors with fused multiply-add vectors \
                 (AVX2, AVX-512, Neon): use auto or torch"
                    .into(),
            ),
        }
    }

    /// What was asked for and has no effect here, a line each: which device there is and whether kernels are packed is known only now.
    pub fn without_effect(&self, architectures: &HeadArchitectures) -> Vec<String> {
        let mut lines = Vec::new();
        if let Place::Device(device) = self.place
            && self.kernels != Kernels::Auto
        {
            let device = device_name(device);
            lines.push(format!(
                "inference.kernels has no effect: network calls run on {device}"
            ));
        }
        if self.packs(architectures) == Ok(true) {
            let asked = [
                (self.precision != Precision::F32, "inference.precision"),
                (self.compile != Compile::None, "network.compile"),
            ];
            lines.extend(asked.iter().filter(|(asked, _)| *asked).map(|(_, key)| {
                format!(
                    "{key} has no effect: packed kernels compute network calls on the CPU, in f32; set inference.kernels to torch"
                )
            }));
        }
        lines
    }
}
