//! Where fits compute, in which precision, and how their minibatches get there.

use crate::network::AmpDtype;
use tch::Device;

/// Who looks whether losses and gradients are finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepChecks {
    /// The host, which reads both numbers at each step: free on a CPU, and a wait for everything on another device.
    OnHost,
    /// The device, which masks the step; the host reads what happened once in 64 steps.
    OnDevice,
}

/// Where a fit's minibatches come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowSource {
    /// The host's memory, where the learner reads them.
    InPlace,
    /// The host's memory: a thread gathers the next ones and copies them to the device while the last ones are fitted to.
    Prefetched,
    /// The device's own copy of the memory; where that is lost, `Prefetched`.
    Mirrored,
}

/// Where and how a learner computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compute {
    /// The device that holds parameters, optimizer and minibatches.
    pub device: Device,
    /// The type of mixed precision; `None` = f32 throughout. Parameters, optimizer, losses and softmax are f32 in any case.
    pub amp: Option<AmpDtype>,
    /// Who looks whether a step is finite.
    pub checks: StepChecks,
    /// Where minibatches come from.
    pub rows: RowSource,
}

impl Compute {
    /// f32 on the CPU.
    pub const CPU: Self = Self {
        device: Device::Cpu,
        amp: None,
        checks: StepChecks::OnHost,
        rows: RowSource::InPlace,
    };

    /// On `device` in the type `amp`, with minibatches from `rows`. A loss scale lives where the checks are, so f16 has them on the device.
    pub fn new(device: Device, amp: Option<AmpDtype>, rows: RowSource) -> Self {
        let on_host = device == Device::Cpu && amp != Some(AmpDtype::F16);
        let checks = if on_host {
            StepChecks::OnHost
        } else {
            StepChecks::OnDevice
        };
        Self {
            device,
            amp,
            checks,
            rows,
        }
    }
}
