//! Sweeps: which timeout, batch and number of walks in flight make this machine walk fastest.
//!
//! ```text
//! Grid --settings--> Sweep, in rounds --setting, round--> Measurer --Measurement--> Results
//!                      | every round, the same walks for each setting    |            | Verdict: best, within noise, recommended
//!                      +- whole grid, or one list at a time              Walking      +--> table.md points.json timeouts.svg
//!                                                              walks, engine, networks     recommended.yaml
//! ```
//!
//! A machine's speed drifts by more than settings differ. So every round measures all settings in its turn with the same walks, and
//! settings are compared by their ratios within rounds, see [`Verdict`].

mod grid;
mod measure;
mod report;
mod results;
mod statistics;
mod sweep;
mod table;
mod verdict;
mod walking;

pub use grid::{Grid, GridError, List, Setting};
pub use measure::{MeasureError, Measurement, Measurer};
pub use report::{FILES, Report, ReportError};
pub use results::{Measured, Results};
pub use statistics::{Interval, mean_interval, median, t_quantile};
pub use sweep::{Ending, Method, Plan, Sweep};
pub use table::table;
pub use verdict::{MARGIN, Verdict};
pub use walking::{Walking, Weights};
