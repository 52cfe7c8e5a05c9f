//! The ways in which a network of this program can run here.

use super::Way;
use crate::{
    network::{Architecture, Compile, PackedNetwork, PackedScratch, Precision, Ready, TensorError},
    platform::{
        logical_cores,
        transfers::{Waiting, to_device},
    },
};
use std::time::Instant;
use tch::{Device, Tensor};

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
    let network = Prepared {
        architecture,
        parameters,
        most,
    };
    let mut ways = Vec::new();
    if all > 1 {
        ways.push(network.torch_on_cpu(all, Compile::None)?);
    }
    ways.push(network.torch_on_cpu(1, Compile::None)?);
    ways.push(network.torch_on_cpu(1, Compile::Script)?);
    if let Some(network) = architecture.pack(parameters)? {
        ways.push(packed(network, architecture, most));
    }
    if tch::Cuda::is_available() {
        for (precision, compile) in [
            (Precision::F32, Compile::None),
            (Precision::F32, Compile::Script),
            (Precision::Bf16, Compile::None),
            (Precision::F16, Compile::None),
        ] {
            ways.push(network.torch_on_cuda(precision, compile)?);
        }
    }
    Ok(ways)
}

/// What every way with libtorch is made of.
struct Prepared<'a> {
    architecture: &'a Architecture,
    parameters: &'a [f32],
    most: usize,
}

impl Prepared<'_> {
    fn torch_on_cpu(&self, threads: usize, compile: Compile) -> Result<Way<'static>, TensorError> {
        let (network, rows) = self.on(Device::Cpu, Precision::F32, compile)?;
        let code = code(compile);
        Ok(Way {
            name: match threads {
                1 => format!("{code}, 1 thread"),
                threads => format!("{code}, {threads} threads"),
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

    /// With the rows there already: copies to and from the device are not part of it.
    fn torch_on_cuda(
        &self,
        precision: Precision,
        compile: Compile,
    ) -> Result<Way<'static>, TensorError> {
        let (network, rows) = self.on(Device::Cuda(0), precision, compile)?;
        let format = match precision {
            Precision::F32 => "",
            Precision::Bf16 => ", bf16",
            Precision::F16 => ", f16",
        };
        Ok(Way {
            name: format!("{}, CUDA{format}", code(compile)),
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
    fn on(
        &self,
        device: Device,
        precision: Precision,
        compile: Compile,
    ) -> Result<(Ready, Tensor), TensorError> {
        let inputs = self.architecture.inputs();
        let there = |values: &[f32]| -> Result<Tensor, TensorError> {
            let values = Tensor::f_from_slice(values)?;
            match device {
                Device::Cpu => Ok(values),
                device => Ok(to_device(&values, device, Waiting::Blocking)?),
            }
        };
        let flat = there(self.parameters)?;
        let rows = there(&quarter_set(self.most * inputs))?;
        let network = self.architecture.ready(&flat, precision, compile)?;
        Ok((network, rows.f_view([self.most as i64, inputs as i64])?))
    }
}

fn code(compile: Compile) -> &'static str {
    match compile {
        Compile::None => "torch",
        Compile::Script => "script",
    }
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

/// Numbers a quarter of which are set.
fn quarter_set(count: usize) -> Vec<f32> {
    (0..count)
        .map(|i| f32::from(u8::from(i * 7 % 4 == 0)))
        .collect()
}

fn narrow(rows: &Tensor, count: usize) -> Result<Tensor, TensorError> {
    Ok(rows.f_narrow(0, 0, count as i64)?)
}
