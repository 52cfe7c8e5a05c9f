//! The ways in which a network of this program can run here.

use super::Way;
use crate::{
    network::{Architecture, Bound, PackedNetwork, PackedScratch, TensorError},
    platform::logical_cores,
};
use std::time::Instant;
use tch::{Device, Kind, Tensor};

/// Every way of running `architecture` with `parameters` (`[num_parameters]`) on this machine, for calls of at most `most` rows.
///
/// # Errors
/// Parameters of another length, or a device that is out of memory.
pub fn ways(
    architecture: &Architecture,
    parameters: &[f32],
    most: usize,
) -> Result<Vec<Way<'static>>, TensorError> {
    let all = logical_cores();
    let mut ways = vec![torch_on_cpu(architecture, parameters, most, 1)?];
    if all > 1 {
        ways.insert(0, torch_on_cpu(architecture, parameters, most, all)?);
    }
    if let Some(network) = architecture.pack(parameters)? {
        ways.push(packed(network, architecture, most));
    }
    if tch::Cuda::is_available() {
        ways.push(torch_on_cuda(architecture, parameters, most)?);
    }
    Ok(ways)
}

fn torch_on_cpu(
    architecture: &Architecture,
    parameters: &[f32],
    most: usize,
    threads: usize,
) -> Result<Way<'static>, TensorError> {
    let (network, rows) = prepare(architecture, parameters, most, Device::Cpu)?;
    Ok(Way {
        name: match threads {
            1 => "torch, 1 thread".to_owned(),
            threads => format!("torch, {threads} threads"),
        },
        run: Box::new(move |count, calls| {
            // One number for the whole process, which the way before may have set.
            tch::set_num_threads(i32::try_from(threads).unwrap_or(i32::MAX));
            let part = narrow(&rows, count)?;
            let started = Instant::now();
            for _ in 0..calls {
                let _ = network.forward(&part)?;
            }
            Ok(started.elapsed())
        }),
    })
}

/// One lane: there is one per core, and each runs as if alone.
fn packed(network: PackedNetwork, architecture: &Architecture, most: usize) -> Way<'static> {
    let (inputs, outputs) = (architecture.inputs(), architecture.outputs());
    let rows = quarter_set(most * inputs);
    let mut answers = vec![0.0; most * outputs];
    let mut scratch = PackedScratch::default();
    Way {
        name: "packed, 1 lane".to_owned(),
        run: Box::new(move |count, calls| {
            let answers = &mut answers[..count * outputs];
            let started = Instant::now();
            for _ in 0..calls {
                network.forward(&rows[..count * inputs], &mut scratch, answers);
            }
            Ok(started.elapsed())
        }),
    }
}

/// With the rows there already: copies to and from the device are not part of it.
fn torch_on_cuda(
    architecture: &Architecture,
    parameters: &[f32],
    most: usize,
) -> Result<Way<'static>, TensorError> {
    let (network, rows) = prepare(architecture, parameters, most, Device::Cuda(0))?;
    Ok(Way {
        name: "torch, CUDA".to_owned(),
        run: Box::new(move |count, calls| {
            let part = narrow(&rows, count)?;
            tch::Cuda::synchronize(0);
            let started = Instant::now();
            for _ in 0..calls {
                let _ = network.forward(&part)?;
            }
            tch::Cuda::synchronize(0);
            Ok(started.elapsed())
        }),
    })
}

/// The network and `[most, inputs]` rows, a quarter of whose inputs are set, as info states are sparse.
fn prepare(
    architecture: &Architecture,
    parameters: &[f32],
    most: usize,
    device: Device,
) -> Result<(Bound, Tensor), TensorError> {
    let network = architecture.bind_snapshot(parameters, device)?;
    let rows = Tensor::f_from_slice(&quarter_set(most * architecture.inputs()))?
        .f_view([most as i64, architecture.inputs() as i64])?
        .f_to_device(device)?
        .f_to_kind(Kind::Float)?;
    Ok((network, rows))
}

/// Numbers a quarter of which are set.
fn quarter_set(count: usize) -> Vec<f32> {
    (0..count)
        .map(|i| f32::from(u8::from(i * 7 % 4 == 0)))
        .collect()
}

fn narrow(rows: &Tensor, count: usize) -> Result<Tensor, TensorError> {
    Ok(rows.f_narrow(0, 0, count as i64)?)
}
