//! Where the fits of a run compute, and where their samples lie, as the configuration and the machine have it.

use super::{AveragingScheme, Compute, Role, RowSource, guided};
use crate::{
    config::Config,
    game::Player,
    network::AmpDtype,
    platform::{choose_device, device_memory, device_name},
    random::{Purpose, Stream},
    replay::{Faults, HeldOut, Memory, MemoryError, ReplayDevice},
    traversal::SamplingMode,
};
use anyhow::bail;
use tch::Device;
use tracing::{info, warn};

/// Bytes of a device that `auto` leaves to networks, activations and inference, at least; a quarter of what is free if that is more.
const LEFT_ALONE: u64 = 2 << 30;

impl Compute {
    /// Where a run under `config` computes, whose samples have so many values. Says in the log what it chose and why.
    ///
    /// # Errors
    /// A device that was asked for and is not there, with the cause.
    pub fn of(config: &Config, info_len: usize, actions: usize) -> anyhow::Result<Self> {
        let device = choose_device("run.device", &config.run.device)?.device;
        let amp = config.run.use_amp.then_some(config.run.amp_dtype);
        // Of a CPU that was asked for the configuration has told already.
        if device == Device::Cpu && amp.is_some() && config.run.device != "cpu" {
            warn!(
                "run.use_amp: fits run in reduced precision on a CPU, which makes them less exact there and no faster"
            );
        }
        let needed = mirrored(config).into_iter();
        let needed =
            needed.map(|role| Memory::column_bytes(capacity(config, role), info_len, actions));
        let free = || device_memory(device).map(|memory| memory.free_bytes);
        let placed = place(config.replay.device, device, needed.sum(), free)?;
        if let Some(why) = placed.why {
            info!("replay.device: {why}");
        }
        Ok(Self::new(device, amp, placed.rows))
    }
}

/// The empty memory of `role`, of samples with so many info state and target values, with a copy on the device where fits draw from one.
///
/// # Errors
/// When the address space cannot be had.
pub(super) fn new_memory(
    config: &Config,
    role: Role,
    [info_len, actions]: [usize; 2],
    compute: Compute,
    faults: &Faults,
) -> Result<Memory, MemoryError> {
    let capacity = capacity(config, role);
    let number = role.index() as u64;
    let stream = Stream::new(config.run.seed, Purpose::Reservoir, number, 0);
    let memory = Memory::new(capacity, info_len, actions, stream)?;
    let mut memory = memory.with_held_out(HeldOut::share(config.training.held_out));
    if compute.rows == RowSource::Mirrored && mirrored(config).contains(&role) {
        memory.try_mirror_on(compute.device, capacity, faults.clone());
    }
    Ok(memory)
}

/// The samples that the memory of `role` can hold.
fn capacity(config: &Config, role: Role) -> usize {
    match role {
        Role::Advantage(_) => config.replay.advantage_capacity,
        Role::Strategy => config.replay.strategy_capacity,
    }
}

/// The memories that fits draw from over many iterations: those worth a copy on the device.
fn mirrored(config: &Config) -> Vec<Role> {
    let mut roles = Player::BOTH.map(Role::Advantage).to_vec();
    if config.traversal.sampling_mode == SamplingMode::ValueGuided {
        // One policy for both seats; rules that do not replay keep no memory.
        roles.truncate(usize::from(guided::update(config, 1).replays()));
    }
    if config.averaging.scheme == AveragingScheme::StrategyNetwork {
        roles.push(Role::Strategy);
    }
    roles
}

/// Where samples lie, and why; no reason where there was no choice.
#[derive(Debug, PartialEq, Eq)]
struct Placed {
    rows: RowSource,
    why: Option<String>,
}

/// Chooses by what was `asked`, and under `auto` by whether `needed` bytes fit into those that `free` tells.
fn place(
    asked: ReplayDevice,
    device: Device,
    needed: u64,
    free: impl FnOnce() -> Option<u64>,
) -> anyhow::Result<Placed> {
    if device == Device::Cpu {
        if asked == ReplayDevice::Device {
            bail!(
                "replay.device is device, but run.device is cpu here: there is no other memory than the host's; set replay.device to auto"
            );
        }
        return Ok(Placed {
            rows: RowSource::InPlace,
            why: None,
        });
    }
    let (name, wanted) = (device_name(device), gib(needed));
    let (rows, why) = match asked {
        ReplayDevice::Device => (
            RowSource::Mirrored,
            format!("device: a copy of the memories takes {wanted} of {name}"),
        ),
        ReplayDevice::Host => (RowSource::Prefetched, "host: as asked for".to_owned()),
        ReplayDevice::Auto => match free() {
            None => (
                RowSource::Prefetched,
                format!("auto: host, because {name} does not tell how much memory it has free"),
            ),
            Some(free) => {
                let left = LEFT_ALONE.max(free / 4);
                let (rows, word, verb) = if needed.saturating_add(left) <= free {
                    (RowSource::Mirrored, "device", "fits into")
                } else {
                    (RowSource::Prefetched, "host", "does not fit into")
                };
                let why = format!(
                    "auto: {word}, because a copy of the memories ({wanted}) {verb} {name} with {} free, of which {} are for the rest",
                    gib(free),
                    gib(left)
                );
                (rows, why)
            }
        },
    };
    let why = Some(why);
    Ok(Placed { rows, why })
}

fn gib(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / (1u64 << 30) as f64)
}

/// Whether fits look for a loss scale: f16 does, and leaves out a few steps until it is found.
pub(super) fn searches_scale(config: &Config) -> bool {
    config.run.use_amp && config.run.amp_dtype == AmpDtype::F16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::regret::UpdateRule;

    const GIB: u64 = 1 << 30;

    fn placed(asked: ReplayDevice, device: Device, needed: u64, free: Option<u64>) -> Placed {
        place(asked, device, needed, || free).unwrap()
    }

    #[test]
    fn a_cpu_has_one_memory_only() {
        for asked in [ReplayDevice::Auto, ReplayDevice::Host] {
            let found = placed(asked, Device::Cpu, GIB, None);
            assert_eq!((found.rows, found.why), (RowSource::InPlace, None));
        }
        let error = place(ReplayDevice::Device, Device::Cpu, 1, || None).unwrap_err();
        assert!(error.to_string().contains("replay.device"), "{error}");
    }

    #[test]
    fn auto_looks_at_what_is_free_and_says_so() {
        let auto = |needed, free| placed(ReplayDevice::Auto, Device::Cuda(1), needed, free);
        for (needed, free, rows, word) in [
            (8, Some(24), RowSource::Mirrored, "device, because"),
            (18, Some(24), RowSource::Mirrored, "18.0 GiB"),
            (19, Some(24), RowSource::Prefetched, "does not fit"),
            (3, Some(4), RowSource::Prefetched, "host, because"),
            (1, None, RowSource::Prefetched, "does not tell"),
        ] {
            let found = auto(needed * GIB, free.map(|free| free * GIB));
            let why = found.why.unwrap();
            assert_eq!(found.rows, rows, "{needed} of {free:?}");
            assert!(why.contains(word) && why.contains("cuda:1"), "{why}");
        }
        let asked = placed(ReplayDevice::Device, Device::Cuda(0), 100 * GIB, None);
        assert_eq!(asked.rows, RowSource::Mirrored);
        let asked = placed(ReplayDevice::Host, Device::Cuda(0), 1, Some(100 * GIB));
        assert_eq!(asked.rows, RowSource::Prefetched);
    }

    #[test]
    fn only_memories_that_are_fitted_to_are_copied() {
        let mut config = Config::default();
        assert_eq!(mirrored(&config), Role::ALL);
        config.averaging.scheme = AveragingScheme::SingleNetwork;
        assert_eq!(mirrored(&config), Role::ALL[..2]);
        config.traversal.sampling_mode = SamplingMode::ValueGuided;
        assert_eq!(mirrored(&config), Role::ALL[..1]);
        config.training.update = UpdateRule::Hedge;
        assert_eq!(mirrored(&config), []);
    }
}
