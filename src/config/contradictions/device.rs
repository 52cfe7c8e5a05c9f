//! Fits on a GPU.

use super::Search;
use crate::{network::AmpDtype, replay::ReplayDevice};

impl Search<'_> {
    /// What is for GPUs, and what a CPU makes of it.
    pub(super) fn fits_on_a_device(&mut self) {
        let (run, replay) = (&self.config.run, &self.config.replay);
        let cpu = run.device == "cpu";
        if run.use_amp && cpu {
            let text = "brings no speed on run.device cpu: fits are less exact there and can be many times slower; mixed precision is for GPUs";
            self.note("run.use_amp", text.to_owned());
        }
        if !run.use_amp && run.amp_dtype != AmpDtype::default() {
            let text = "has no effect unless run.use_amp is true";
            self.note("run.amp_dtype", text.to_owned());
        }
        if cpu && replay.device == ReplayDevice::Device {
            let why = "the CPU has no other memory than the host's; set replay.device to auto";
            self.contradiction(&["replay.device", "run.device"], why);
        } else if cpu && replay.device == ReplayDevice::Host {
            let text = "has no effect on run.device cpu, which reads the host's memory where it is";
            self.note("replay.device", text.to_owned());
        }
    }
}
