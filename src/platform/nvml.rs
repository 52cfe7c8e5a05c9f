//! What NVIDIA's management library (NVML) tells of a device. The driver brings the library; it is opened at run time.

use super::device_bus::bus_id;
use nvml_wrapper::{Nvml, enums::device::UsedGpuMemory, error::NvmlError};
use std::ffi::OsStr;
use tch::Device;

/// The name that a driver alone brings; the other one is of the development package.
const LIBRARY: &str = "libnvidia-ml.so.1";

/// Tells how a device is used. Every answer is of the moment it is asked for.
pub trait DeviceReader: Send + Sync {
    /// The device's name and the version of its driver, in one line.
    ///
    /// # Errors
    /// The driver's words.
    fn about(&self) -> Result<String, String>;

    /// Share of the driver's last sampling period (a sixth of a second to a second) in which the device computed anything, 0 to 1.
    ///
    /// # Errors
    /// The driver's words.
    fn busy(&self) -> Result<f64, String>;

    /// Bytes that this process has there, what libtorch keeps for later use included.
    ///
    /// # Errors
    /// The driver's words, or that it lists this process under another number, as in a container.
    fn process_bytes(&self) -> Result<u64, String>;
}

/// A device as NVML tells of it.
pub struct NvmlDevice {
    nvml: Nvml,
    /// What it is called on the bus: libtorch's number of it is among the visible ones, NVML's among all.
    bus_id: String,
}

impl NvmlDevice {
    /// The device that libtorch calls `device`; `None` for a CPU.
    ///
    /// # Errors
    /// Why nothing can be told: no library, or a device that cannot be found on the bus.
    pub fn open(device: Device) -> Option<Result<Self, String>> {
        let Device::Cuda(index) = device else {
            return None;
        };
        Some(Self::open_index(index))
    }

    fn open_index(index: usize) -> Result<Self, String> {
        let bus_id =
            bus_id(index).ok_or("the CUDA runtime does not tell where it is on the bus")?;
        let nvml = Nvml::builder().lib_path(OsStr::new(LIBRARY)).init();
        let nvml = nvml.map_err(words)?;
        let found = Self { nvml, bus_id };
        found.ask(|_| Ok(()))?;
        Ok(found)
    }

    fn ask<R>(
        &self,
        question: impl FnOnce(&nvml_wrapper::Device<'_>) -> Result<R, NvmlError>,
    ) -> Result<R, String> {
        let device = self.nvml.device_by_pci_bus_id(self.bus_id.as_str());
        device.and_then(|device| question(&device)).map_err(words)
    }
}

impl DeviceReader for NvmlDevice {
    fn about(&self) -> Result<String, String> {
        let name = self.ask(|device| device.name())?;
        let driver = self.nvml.sys_driver_version().map_err(words)?;
        Ok(format!("{name}, driver {driver}"))
    }

    fn busy(&self) -> Result<f64, String> {
        let rates = self.ask(|device| device.utilization_rates())?;
        Ok(f64::from(rates.gpu) / 100.0)
    }

    fn process_bytes(&self) -> Result<u64, String> {
        let processes = self.ask(|device| device.running_compute_processes())?;
        let this = std::process::id();
        let here = processes.iter().filter(|process| process.pid == this);
        let bytes = here.filter_map(|process| match process.used_gpu_memory {
            UsedGpuMemory::Used(bytes) => Some(bytes),
            UsedGpuMemory::Unavailable => None,
        });
        bytes
            .reduce(|sum, bytes| sum + bytes)
            .ok_or_else(|| "the driver does not list this process by its number here".into())
    }
}

fn words(error: NvmlError) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_is_not_looked_for_and_a_device_that_is_not_there_has_its_reason() {
        assert!(NvmlDevice::open(Device::Cpu).is_none());
        let reason = NvmlDevice::open(Device::Cuda(4_000)).unwrap().err();
        assert!(!reason.unwrap().is_empty());
    }
}
