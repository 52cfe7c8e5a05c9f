//! Network calls on a device, with the CPU standing in for one: the same answers, the copies that there should be, and no others.

mod answers;
mod copies;
mod parity;
mod walks;

use coorl_async::{
    inference::{Computing, Head, HeadArchitectures, Kernels, LaneNetworks, Network, Place},
    network::{Architecture, Kind, Settings},
    random::{Purpose, Randomness, Stream},
};
use tch::Device;

/// The CPU as a device.
fn stand_in() -> Computing {
    Computing {
        place: Place::Device(Device::Cpu),
        ..Kernels::Auto.into()
    }
}

/// Libtorch on the host.
fn host() -> Computing {
    Kernels::Torch.into()
}

fn mlp(inputs: usize, outputs: usize) -> Architecture {
    let settings = Settings {
        hidden_size: 48,
        ..Settings::default()
    };
    Architecture::new(&settings, inputs, outputs, None).unwrap()
}

/// Networks for Lost Cities by card, by colour or not.
fn of_lost_cities(kind: Kind) -> Architecture {
    use coorl_async::{encoding::Encoding, game::lost_cities};
    let rules = lost_cities::Rules::default();
    let game = lost_cities::LostCities::new(rules).unwrap();
    let encoding = coorl_async::encoding::Cards::new(&game).unwrap();
    let settings = Settings {
        kind,
        hidden_size: 32,
        ..Settings::default()
    };
    let (inputs, outputs) = (encoding.info_len(), encoding.num_actions());
    let colors = encoding.color_layout();
    Architecture::new(&settings, inputs, outputs, colors.as_ref()).unwrap()
}

fn parameters(architecture: &Architecture, number: u64) -> Vec<f32> {
    architecture.initial(&mut Stream::new(3, Purpose::Weights, number, 0))
}

/// `rows` rows, of which a quarter of the numbers is set, as info states are sparse.
fn rows(count: usize, seed: u64) -> Vec<f32> {
    let mut stream = Stream::new(seed, Purpose::Trial, 0, 0);
    let draw = |_| {
        let drawn = stream.uniform();
        if drawn < 0.25 {
            4.0 * drawn as f32
        } else {
            0.0
        }
    };
    (0..count).map(draw).collect()
}

/// A lane with the given weights by head.
fn lane(
    architectures: &HeadArchitectures,
    computing: &Computing,
    max_batch: usize,
    heads: &[(Head, Vec<f32>)],
) -> LaneNetworks {
    let mut lane = LaneNetworks::new(architectures, computing, max_batch).unwrap();
    for (head, parameters) in heads {
        let weights = LaneNetworks::prepare(architectures, computing, *head, parameters.clone());
        lane.load(*head, &weights.unwrap()).unwrap();
    }
    lane
}

/// The answers of `head` to `rows`, of `info_len` numbers each.
fn ask(lane: &mut LaneNetworks, head: Head, rows: &[f32], info_len: usize) -> Vec<f32> {
    let count = rows.len() / info_len;
    lane.stage(count)[..rows.len()].copy_from_slice(rows);
    lane.run(head, count).unwrap().to_vec()
}
