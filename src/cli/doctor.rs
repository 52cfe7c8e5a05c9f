//! `coorl-async doctor`: what the program, its libraries and the machine are, and whether they work.

use crate::platform::{self, CudaDevice, Driver};
use serde::Serialize;
use std::{
    io::Write,
    time::{Duration, Instant},
};
use tch::{Device, Kind, Tensor};

/// What to look at.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct DoctorArgs {
    /// Prints one JSON object instead of lines
    #[arg(long)]
    pub json: bool,
    /// Fails unless a CUDA device is usable
    #[arg(long)]
    pub require_cuda: bool,
}

/// Looks at everything, prints it, and tells whether everything needed is there.
///
/// # Errors
/// Standard output cannot be written.
pub fn run(args: &DoctorArgs) -> anyhow::Result<bool> {
    let report = Report::make(args.require_cuda);
    let mut text = Vec::new();
    if args.json {
        serde_json::to_writer_pretty(&mut text, &report)?;
        text.push(b'\n');
    } else {
        report.print(&mut text)?;
    }
    super::print(&text)?;
    Ok(report.problems.is_empty())
}

/// tch fixes the libtorch it works with; both are pinned in Cargo.toml.
const TCH: &str = "0.24.0";
const LIBTORCH_WANTED: &str = "2.11.0";

#[derive(Debug, Serialize)]
struct Report {
    program: &'static str,
    target: &'static str,
    profile: &'static str,
    tch: &'static str,
    libtorch: Option<String>,
    libtorch_file: Option<String>,
    devices: Vec<String>,
    cuda_devices: Vec<CudaDevice>,
    cuda_unavailable: Option<String>,
    logical_cores: usize,
    physical_cores: Option<usize>,
    torch_threads: i32,
    simd: &'static str,
    torch_capability: Option<String>,
    memory_total_bytes: u64,
    memory_available_bytes: u64,
    forward: Option<ForwardTest>,
    peak_memory_bytes: Option<u64>,
    problems: Vec<String>,
}

impl Report {
    fn make(require_cuda: bool) -> Self {
        let mut problems = Vec::new();
        let cuda_unavailable = platform::cuda_unavailable();
        if let (true, Some(cause)) = (require_cuda, &cuda_unavailable) {
            problems.push(format!("CUDA is not available: {cause}"));
        }
        let libtorch = platform::libtorch();
        let running = libtorch.as_ref().map(|libtorch| libtorch.version.clone());
        if let Some(running) = running
            .as_deref()
            .filter(|running| *running != LIBTORCH_WANTED)
        {
            problems.push(format!("libtorch {running} is loaded and tch {TCH} works with {LIBTORCH_WANTED}: run `make setup`"));
        }
        let device = Device::cuda_if_available();
        let forward = match ForwardTest::run(device, Duration::from_secs(1)) {
            Ok(test) => {
                if !test.finite {
                    problems.push("the forward test gave outputs that are not finite: the processor or libtorch is broken".into());
                }
                Some(test)
            }
            Err(error) => {
                problems.push(format!("the forward test failed on {device:?} ({error}): check the driver and free device memory"));
                None
            }
        };
        Self {
            program: env!("CARGO_PKG_VERSION"),
            target: env!("COORL_TARGET"),
            profile: env!("COORL_PROFILE"),
            tch: TCH,
            libtorch: running,
            libtorch_file: libtorch.and_then(|libtorch| Some(libtorch.file?.display().to_string())),
            devices: usable_devices(),
            cuda_devices: listed_devices(),
            cuda_unavailable,
            logical_cores: platform::logical_cores(),
            physical_cores: platform::physical_cores(),
            torch_threads: tch::get_num_threads(),
            simd: platform::simd_level().name(),
            torch_capability: std::env::var("ATEN_CPU_CAPABILITY").ok(),
            memory_total_bytes: platform::total_memory_bytes(),
            memory_available_bytes: platform::available_memory_bytes(),
            forward,
            peak_memory_bytes: platform::peak_memory_bytes(),
            problems,
        }
    }

    fn print(&self, out: &mut impl Write) -> std::io::Result<()> {
        let unknown = || "unknown".to_owned();
        let file = self.libtorch_file.clone().unwrap_or_else(unknown);
        let physical = self
            .physical_cores
            .map_or_else(unknown, |cores| cores.to_string());
        writeln!(
            out,
            "coorl-async  {} ({}, {})",
            self.program, self.target, self.profile
        )?;
        writeln!(out, "tch          {}", self.tch)?;
        writeln!(
            out,
            "libtorch     {} ({file})",
            self.libtorch.clone().unwrap_or_else(unknown)
        )?;
        writeln!(out, "devices      {}", self.devices.join(", "))?;
        for device in &self.cuda_devices {
            writeln!(
                out,
                "             cuda:{} {}, {}",
                device.index,
                device.name,
                gib(device.memory_bytes)
            )?;
        }
        if let Some(cause) = &self.cuda_unavailable {
            writeln!(out, "no CUDA      {cause}")?;
        }
        writeln!(
            out,
            "cores        {} logical, {physical} physical",
            self.logical_cores
        )?;
        writeln!(
            out,
            "threads      {} in tensor operations",
            self.torch_threads
        )?;
        let chosen = self.torch_capability.as_ref();
        let chosen = chosen.map_or_else(String::new, |name| {
            format!(" (ATEN_CPU_CAPABILITY={name} is set)")
        });
        writeln!(out, "SIMD         {}{chosen}", self.simd)?;
        let (available, total) = (
            gib(self.memory_available_bytes),
            gib(self.memory_total_bytes),
        );
        writeln!(out, "memory       {available} available of {total}")?;
        if let Some(test) = &self.forward {
            writeln!(out, "forward      {test}")?;
        }
        if self.problems.is_empty() {
            writeln!(out, "everything needed is there")?;
        }
        for problem in &self.problems {
            writeln!(out, "problem      {problem}")?;
        }
        Ok(())
    }
}

fn gib(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}

/// What libtorch can compute on.
fn usable_devices() -> Vec<String> {
    let cuda = (0..tch::Cuda::device_count()).map(|index| format!("cuda:{index}"));
    std::iter::once("cpu".to_owned()).chain(cuda).collect()
}

/// What the driver lists, usable or not.
fn listed_devices() -> Vec<CudaDevice> {
    match platform::driver() {
        Driver::Running { devices, .. } => devices,
        Driver::Missing(_) | Driver::Failed(_) => Vec::new(),
    }
}

/// The default network's shape: info state, three hidden layers, actions.
const LAYERS: [i64; 5] = [297, 512, 512, 512, 22];
const BATCH: i64 = 256;

/// How fast the default network answers, with plain tensor operations.
#[derive(Debug, Serialize)]
struct ForwardTest {
    device: String,
    batch: i64,
    calls: u64,
    states_per_second: f64,
    microseconds_per_state: f64,
    finite: bool,
}

impl ForwardTest {
    fn run(device: Device, duration: Duration) -> Result<Self, tch::TchError> {
        let _no_gradients = tch::no_grad_guard();
        let options = (Kind::Float, device);
        let layers = LAYERS
            .windows(2)
            .map(|sizes| {
                let scale = (2.0 / sizes[0] as f64).sqrt();
                let weights =
                    Tensor::f_randn([sizes[1], sizes[0]], options)?.f_mul_scalar(scale)?;
                Ok((weights, Tensor::f_zeros([sizes[1]], options)?))
            })
            .collect::<Result<Vec<_>, tch::TchError>>()?;
        let states = Tensor::f_rand([BATCH, LAYERS[0]], options)?;
        let mut answers = forward(&layers, &states)?;
        let began = Instant::now();
        let mut calls = 0_u64;
        while began.elapsed() < duration {
            answers = forward(&layers, &states)?;
            calls += 1;
            // A device works behind the caller's back: reading one number waits for it.
            if device.is_cuda() {
                answers.f_double_value(&[0, 0])?;
            }
        }
        let seconds = began.elapsed().as_secs_f64();
        let rows = (calls * BATCH as u64) as f64;
        Ok(Self {
            device: platform::device_name(device),
            batch: BATCH,
            calls,
            states_per_second: rows / seconds,
            microseconds_per_state: seconds * 1e6 / rows,
            finite: answers.f_isfinite()?.f_all()?.f_int64_value(&[])? == 1,
        })
    }
}

fn forward(layers: &[(Tensor, Tensor)], states: &Tensor) -> Result<Tensor, tch::TchError> {
    let mut rows = states.shallow_clone();
    for (depth, (weights, bias)) in layers.iter().enumerate() {
        rows = rows.f_linear(weights, Some(bias))?;
        if depth + 1 < layers.len() {
            rows = rows.f_relu_()?;
        }
    }
    Ok(rows)
}

impl std::fmt::Display for ForwardTest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            device,
            batch,
            states_per_second,
            microseconds_per_state,
            finite,
            ..
        } = self;
        let shape = LAYERS.map(|units| units.to_string()).join("-");
        let outputs = if *finite {
            "all outputs finite"
        } else {
            "outputs NOT finite"
        };
        write!(
            f,
            "{states_per_second:.0} states/s, {microseconds_per_state:.2} µs/state on {device} ({shape}, batch {batch}), {outputs}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forward_test_measures_and_checks() {
        let test = ForwardTest::run(Device::Cpu, Duration::from_millis(20)).unwrap();
        assert!(
            test.finite && test.calls > 0 && test.states_per_second > 0.0,
            "{test:?}"
        );
        let product = test.states_per_second * test.microseconds_per_state;
        assert!((product - 1e6).abs() < 1.0, "{product}");
    }

    #[test]
    fn the_stated_tch_is_the_pinned_one() {
        let manifest = include_str!("../../Cargo.toml");
        assert!(
            manifest.contains(&format!("tch = \"={TCH}\"")),
            "Cargo.toml pins another tch than {TCH}"
        );
    }

    #[test]
    fn a_missing_device_is_a_problem_only_if_required() {
        let cause = platform::cuda_unavailable();
        let report = Report::make(true);
        assert_eq!(
            report.problems.len(),
            usize::from(cause.is_some()),
            "{:?}",
            report.problems
        );
        let mut text = Vec::new();
        report.print(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        for part in [
            "libtorch     2.11.0",
            "devices      cpu",
            "SIMD",
            "memory",
            "forward",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
