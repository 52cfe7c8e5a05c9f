//! From the text of a setting to a device that is there.

use super::cuda_unavailable;
use tch::Device;

/// A device, and why it is that one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenDevice {
    /// The device.
    pub device: Device,
    /// Why `auto` took it; `None` where it was asked for by name.
    pub why: Option<String>,
}

/// Why a device cannot be had. There is no falling back: whoever asks for one gets it, or this.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// No such word.
    #[error("{key} is {text}, which is no device: allowed are auto, cpu, cuda, cuda:N")]
    Unknown {
        /// The setting.
        key: String,
        /// What it says.
        text: String,
    },
    /// There is no CUDA device at all.
    #[error("{key} is {text}, but {cause}; or compute on the CPU: {}", on_cpu(key))]
    Unavailable {
        /// The setting.
        key: String,
        /// What it says.
        text: String,
        /// Library not found, driver missing, none visible: with the remedy.
        cause: String,
    },
    /// There are CUDA devices, but not this one.
    #[error(
        "{key} is {text}, but the devices here are {}: check CUDA_VISIBLE_DEVICES; or compute on the CPU: {}",
        listed(*devices),
        on_cpu(key)
    )]
    NoSuchIndex {
        /// The setting.
        key: String,
        /// What it says.
        text: String,
        /// Devices that there are, at least 1.
        devices: usize,
    },
}

impl ChosenDevice {
    /// One line for the log.
    pub fn line(&self, key: &str) -> String {
        let name = device_name(self.device);
        match &self.why {
            Some(why) => format!("{key} auto: {name}, because {why}"),
            None => format!("{key}: {name}"),
        }
    }
}

/// The device that the setting `key` asks for with `text`: `auto`, `cpu`, `cuda` (the first) or `cuda:N`. ROCm builds of libtorch answer to
/// `cuda` as well.
///
/// `auto` is the first CUDA device if there is one, else the CPU.
///
/// # Errors
/// No such word, or a device that is not there, with the cause.
pub fn choose_device(key: &str, text: &str) -> Result<ChosenDevice, DeviceError> {
    let asked = Asked::parse(text).ok_or_else(|| DeviceError::Unknown {
        key: key.into(),
        text: text.into(),
    })?;
    // Looking for a GPU wakes its driver: not for a run that does not want one.
    if asked == Asked::Cpu {
        return Ok(ChosenDevice {
            device: Device::Cpu,
            why: None,
        });
    }
    choose(key, text, asked, found())
}

/// The name of `device` as a setting spells it.
pub fn device_name(device: Device) -> String {
    match device {
        Device::Cpu => "cpu".into(),
        Device::Cuda(index) => format!("cuda:{index}"),
        other => format!("{other:?}").to_lowercase(),
    }
}

/// Waits for all that was given to `device`; the CPU is never behind.
pub fn synchronize(device: Device) {
    if let Device::Cuda(index) = device {
        tch::Cuda::synchronize(index as i64);
    }
}

/// What a text asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Auto,
    Cpu,
    Cuda(usize),
}

impl Asked {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "auto" => Some(Self::Auto),
            "cpu" => Some(Self::Cpu),
            "cuda" => Some(Self::Cuda(0)),
            _ => {
                let number = text.strip_prefix("cuda:")?;
                let digits = number.chars().all(|digit| digit.is_ascii_digit());
                digits
                    .then(|| number.parse().ok())
                    .flatten()
                    .map(Self::Cuda)
            }
        }
    }
}

/// CUDA devices that libtorch can use, at least 1, or why it can use none.
fn found() -> Result<usize, String> {
    match cuda_unavailable() {
        Some(cause) => Err(cause),
        None => Ok(usize::try_from(tch::Cuda::device_count())
            .unwrap_or(0)
            .max(1)),
    }
}

fn choose(
    key: &str,
    text: &str,
    asked: Asked,
    found: Result<usize, String>,
) -> Result<ChosenDevice, DeviceError> {
    let (device, why) = match (asked, found) {
        (Asked::Cpu, _) => (Device::Cpu, None),
        (Asked::Auto, Err(cause)) => (Device::Cpu, Some(cause)),
        (Asked::Auto, Ok(devices)) => {
            let why = format!("the devices here are {}", listed(devices));
            (Device::Cuda(0), Some(why))
        }
        (Asked::Cuda(_), Err(cause)) => {
            return Err(DeviceError::Unavailable {
                key: key.into(),
                text: text.into(),
                cause,
            });
        }
        (Asked::Cuda(index), Ok(devices)) if index >= devices => {
            return Err(DeviceError::NoSuchIndex {
                key: key.into(),
                text: text.into(),
                devices,
            });
        }
        (Asked::Cuda(index), Ok(_)) => (Device::Cuda(index), None),
    };
    Ok(ChosenDevice { device, why })
}

/// How the setting, or the argument of a command, is changed.
fn on_cpu(key: &str) -> String {
    if key.starts_with("--") {
        format!("{key} cpu")
    } else {
        format!("--set {key}=cpu")
    }
}

fn listed(devices: usize) -> String {
    match devices {
        1 => "cuda:0 alone".into(),
        _ => format!("cuda:0 to cuda:{}", devices.saturating_sub(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "run.device";

    fn chosen(text: &str, found: Result<usize, String>) -> Result<ChosenDevice, DeviceError> {
        choose(KEY, text, Asked::parse(text).unwrap(), found)
    }

    #[test]
    fn auto_takes_what_is_there_and_says_why() {
        let none = chosen("auto", Err("no NVIDIA driver: install the driver".into())).unwrap();
        assert_eq!(none.device, Device::Cpu);
        let line = none.line(KEY);
        assert!(
            line.starts_with("run.device auto: cpu, because no NVIDIA driver"),
            "{line}"
        );
        let some = chosen("auto", Ok(2)).unwrap();
        assert_eq!(some.device, Device::Cuda(0));
        let line = some.line(KEY);
        assert!(
            line.contains("cuda:0, because") && line.contains("cuda:1"),
            "{line}"
        );
    }

    #[test]
    fn a_device_asked_for_is_that_one_or_an_error_with_the_cause() {
        assert_eq!(chosen("cuda", Ok(1)).unwrap().device, Device::Cuda(0));
        assert_eq!(chosen("cuda:1", Ok(2)).unwrap().device, Device::Cuda(1));
        assert_eq!(
            chosen("cuda:1", Ok(2)).unwrap().line(KEY),
            "run.device: cuda:1"
        );
        let error = chosen("cuda:1", Ok(1)).unwrap_err().to_string();
        assert!(
            error.contains("cuda:1") && error.contains("cuda:0 alone"),
            "{error}"
        );
        let error = chosen("cuda", Err("the driver is gone".into())).unwrap_err();
        for part in [
            "run.device is cuda",
            "the driver is gone",
            "--set run.device=cpu",
        ] {
            assert!(error.to_string().contains(part), "{error}");
        }
    }

    #[test]
    fn the_cpu_is_always_there_and_other_words_are_refused() {
        assert_eq!(choose_device(KEY, "cpu").unwrap().device, Device::Cpu);
        for text in ["tpu", "cuda:", "cuda:-1", "cuda:+1", ""] {
            let error = choose_device(KEY, text).unwrap_err();
            assert!(
                matches!(error, DeviceError::Unknown { .. }),
                "{text}: {error}"
            );
        }
    }

    #[test]
    fn what_this_machine_has_is_what_is_chosen() {
        let auto = choose_device(KEY, "auto").unwrap();
        assert!(auto.why.is_some());
        match choose_device(KEY, "cuda") {
            Ok(chosen) => assert_eq!(
                (chosen.device, auto.device),
                (Device::Cuda(0), Device::Cuda(0))
            ),
            Err(error) => {
                assert_eq!(auto.device, Device::Cpu);
                assert_eq!(Some(cause_of(&error)), auto.why);
            }
        }
    }

    fn cause_of(error: &DeviceError) -> String {
        match error {
            DeviceError::Unavailable { cause, .. } => cause.clone(),
            other => panic!("{other}"),
        }
    }
}
