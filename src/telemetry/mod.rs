//! What a run tells: its folder, metrics, log and progress.
//!
//! ```text
//! training --row--> MetricsFile    metrics.jsonl, one flat object per iteration
//!          |------> iteration_line --tracing--> stderr, train.log
//!          |------> Phase          one live line on a terminal, nothing in a pipe
//! DeviceWatch --utilisation, memory--> training
//! tuning, benches --> Chart       an SVG plot with error bars, or several in one file
//! ```
//!
//! Log lines and live lines share standard error: everything that writes there goes through `terminal`, so that a log line never
//! tears a live one.

mod device;
mod logging;
mod metrics;
mod plot;
mod progress;
mod run_dir;
mod summary;
mod terminal;

pub use device::{DeviceUse, DeviceWatch};
pub use logging::{LogFormat, Logging};
pub use metrics::{MetricValue, MetricsError, MetricsFile, MetricsRow};
pub use plot::{Axis, Chart, PlotError, Point, Scale, Series, write_stacked};
pub use progress::{LiveText, Phase, Progress};
pub use run_dir::{Retention, RunDir, RunDirError, fresh_folder, stamp};
pub use summary::{general, iteration_line};
