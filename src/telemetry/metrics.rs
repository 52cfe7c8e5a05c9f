//! Metrics: one flat JSON object per iteration, one line each.

use serde_json::{Map, Value};
use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// One figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MetricValue {
    /// A count.
    Int(i64),
    /// A measure; written as null unless finite.
    Float(f64),
}

impl MetricValue {
    /// The figure as a float.
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}

impl From<f64> for MetricValue {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<u64> for MetricValue {
    /// Counts beyond `i64::MAX` stay there.
    fn from(value: u64) -> Self {
        Self::Int(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<usize> for MetricValue {
    fn from(value: usize) -> Self {
        Self::from(value as u64)
    }
}

impl From<u32> for MetricValue {
    fn from(value: u32) -> Self {
        Self::Int(value.into())
    }
}

impl From<i64> for MetricValue {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

/// The figures of one iteration, in the order of their names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MetricsRow(BTreeMap<String, MetricValue>);

impl MetricsRow {
    /// A row with nothing but its iteration, counted from 1.
    pub fn new(iteration: u32) -> Self {
        let mut row = Self::default();
        row.set(ITERATION, iteration);
        row
    }

    /// Sets a figure, in place of an earlier one of that name.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<MetricValue>) {
        self.0.insert(name.into(), value.into());
    }

    /// The figure of that name.
    pub fn get(&self, name: &str) -> Option<MetricValue> {
        self.0.get(name).copied()
    }

    /// Every figure, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, MetricValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// Takes over every figure of `other`.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// The row as a JSON object with sorted keys. A float that is not finite becomes null, and `metrics/nonfinite` counts those; it is
    /// absent when there are none.
    pub fn to_json(&self) -> Map<String, Value> {
        let mut row = self.0.clone();
        let nonfinite = row
            .values()
            .filter(|value| !value.as_f64().is_finite())
            .count();
        if nonfinite > 0 {
            row.insert(NONFINITE.into(), nonfinite.into());
        }
        row.into_iter()
            .map(|(name, value)| match value {
                MetricValue::Int(value) => (name, value.into()),
                MetricValue::Float(value) => (name, value.into()),
            })
            .collect()
    }
}

const ITERATION: &str = "iteration";
const NONFINITE: &str = "metrics/nonfinite";

/// Why a metrics file cannot be written or taken up.
#[derive(Debug, thiserror::Error)]
pub enum MetricsError {
    /// The file cannot be read or written.
    #[error(
        "cannot write metrics to {path}: {source}; check the disk's space and the folder's permissions"
    )]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line in the middle is no row.
    #[error(
        "{path}, line {line}, is no metrics row ({reason}): delete that line, then resume again"
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
}

/// `metrics.jsonl`: rows are appended, and each is with the system before the next begins.
#[derive(Debug)]
pub struct MetricsFile {
    path: PathBuf,
    file: File,
}

impl MetricsFile {
    /// Starts an empty file, in place of an earlier one.
    ///
    /// # Errors
    /// [`MetricsError::Io`].
    pub fn create(path: &Path) -> Result<Self, MetricsError> {
        let file = File::create(path).map_err(|source| failed(path, source))?;
        Ok(Self {
            path: path.to_owned(),
            file,
        })
    }

    /// Takes up the file of a run that continues after `last_iteration`: a last line that was torn by a crash and the rows of later
    /// iterations are dropped, so that no iteration appears twice. A file that is not there is started. `last_row`, the row of
    /// `last_iteration` as its checkpoint has it, is appended if the run ended between checkpoint and row; empty, it is not.
    ///
    /// # Errors
    /// [`MetricsError::Corrupt`] if another line than the last is no row; [`MetricsError::Io`].
    pub fn resume(
        path: &Path,
        last_iteration: u32,
        last_row: &Map<String, Value>,
    ) -> Result<Self, MetricsError> {
        let written = match fs::read(path) {
            Ok(written) => written,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(failed(path, source)),
        };
        let mut kept = rows_up_to(&written, last_iteration).map_err(|(line, reason)| {
            MetricsError::Corrupt {
                path: path.to_owned(),
                line,
                reason,
            }
        })?;
        let mut iterations = kept.split(|&byte| byte == b'\n').map(iteration_of);
        if !last_row.is_empty() && !iterations.any(|found| found == Ok(last_iteration.into())) {
            kept.extend(Value::Object(last_row.clone()).to_string().bytes());
            kept.push(b'\n');
        }
        if kept != written {
            replace(path, &kept).map_err(|source| failed(path, source))?;
        }
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(path)
            .map_err(|source| failed(path, source))?;
        Ok(Self {
            path: path.to_owned(),
            file,
        })
    }

    /// Appends a row as one line.
    ///
    /// # Errors
    /// [`MetricsError::Io`].
    pub fn append(&mut self, row: &MetricsRow) -> Result<(), MetricsError> {
        let mut line = Value::Object(row.to_json()).to_string();
        line.push('\n');
        // One write, unbuffered: a row is in the file whole or, after a crash, as a torn last line.
        self.file
            .write_all(line.as_bytes())
            .map_err(|source| failed(&self.path, source))
    }
}

fn failed(path: &Path, source: io::Error) -> MetricsError {
    MetricsError::Io {
        path: path.to_owned(),
        source,
    }
}

/// The lines of `written` whose iteration is at most `last_iteration`, or the number of a line that is no row and why.
fn rows_up_to(written: &[u8], last_iteration: u32) -> Result<Vec<u8>, (usize, String)> {
    let mut kept = Vec::with_capacity(written.len());
    let lines: Vec<&[u8]> = written.split(|&byte| byte == b'\n').collect();
    for (index, line) in lines.iter().enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        match iteration_of(line) {
            Ok(iteration) if iteration <= u64::from(last_iteration) => {
                kept.extend_from_slice(line);
                kept.push(b'\n');
            }
            Ok(_) => {}
            // Without a line end behind it, it is the last line.
            Err(_) if index + 1 == lines.len() => {}
            Err(reason) => return Err((index + 1, reason)),
        }
    }
    Ok(kept)
}

fn iteration_of(line: &[u8]) -> Result<u64, String> {
    let row: Map<String, Value> =
        serde_json::from_slice(line).map_err(|error| error.to_string())?;
    let iteration = row.get(ITERATION).and_then(Value::as_u64);
    iteration.ok_or_else(|| format!("it has no whole number `{ITERATION}`"))
}

/// Replaces the file's content whole or not at all.
fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let beside = path.with_extension("jsonl.new");
    let mut file = File::create(&beside)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&beside, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(iteration: u32) -> MetricsRow {
        let mut row = MetricsRow::new(iteration);
        row.set("traversal/nodes", 10_u64 * u64::from(iteration));
        row.set("loss/advantage", 0.5);
        row
    }

    fn file_with(rows: u32, torn: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.jsonl");
        let mut file = MetricsFile::create(&path).unwrap();
        for iteration in 1..=rows {
            file.append(&row(iteration)).unwrap();
        }
        file.file.write_all(torn.as_bytes()).unwrap();
        (folder, path)
    }

    fn iterations(path: &Path) -> Vec<u64> {
        let text = fs::read_to_string(path).unwrap();
        assert!(text.is_empty() || text.ends_with('\n'));
        text.lines()
            .map(|line| iteration_of(line.as_bytes()).unwrap())
            .collect()
    }

    #[test]
    fn a_row_is_one_flat_object_with_sorted_keys() {
        let (_folder, path) = file_with(1, "");
        assert_eq!(
            fs::read_to_string(path).unwrap(),
            "{\"iteration\":1,\"loss/advantage\":0.5,\"traversal/nodes\":10}\n"
        );
    }

    #[test]
    fn floats_that_are_not_finite_become_null_and_are_counted() {
        let mut row = row(1);
        row.set("loss/advantage", f64::NAN);
        row.set("loss/strategy", f64::INFINITY);
        let json = row.to_json();
        assert_eq!(json["loss/advantage"], Value::Null);
        assert_eq!(json["loss/strategy"], Value::Null);
        assert_eq!(json["metrics/nonfinite"], Value::from(2));
        let names: Vec<_> = json.keys().collect();
        assert!(names.is_sorted(), "{names:?}");
    }

    #[test]
    fn resuming_drops_a_torn_line_and_later_rows_and_goes_on() {
        let (_folder, path) = file_with(4, "{\"iteration\":5,\"loss/adv");
        let mut file = MetricsFile::resume(&path, 2, &row(2).to_json()).unwrap();
        assert_eq!(iterations(&path), [1, 2]);
        file.append(&row(3)).unwrap();
        assert_eq!(iterations(&path), [1, 2, 3]);
    }

    #[test]
    fn a_whole_row_that_lacks_only_its_line_end_is_kept() {
        let (_folder, path) = file_with(1, "{\"iteration\":2}");
        let mut file = MetricsFile::resume(&path, 9, &Map::new()).unwrap();
        file.append(&row(3)).unwrap();
        assert_eq!(iterations(&path), [1, 2, 3]);
    }

    #[test]
    fn resuming_without_a_file_starts_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.jsonl");
        MetricsFile::resume(&path, 7, &Map::new())
            .unwrap()
            .append(&row(8))
            .unwrap();
        assert_eq!(iterations(&path), [8]);
    }

    #[test]
    fn a_row_that_only_its_checkpoint_has_is_added() {
        let (_folder, path) = file_with(2, "{\"iteration\":3,\"loss/adv");
        let mut file = MetricsFile::resume(&path, 3, &row(3).to_json()).unwrap();
        file.append(&row(4)).unwrap();
        assert_eq!(iterations(&path), [1, 2, 3, 4]);
        let text = fs::read_to_string(&path).unwrap();
        assert!(
            text.lines()
                .nth(2)
                .unwrap()
                .contains("\"traversal/nodes\":30")
        );
    }

    #[test]
    fn a_broken_line_in_the_middle_is_named_and_nothing_is_touched() {
        let (_folder, path) = file_with(1, "nonsense\n{\"iteration\":2}\n");
        let before = fs::read(&path).unwrap();
        let error = MetricsFile::resume(&path, 1, &Map::new()).unwrap_err();
        assert!(
            matches!(error, MetricsError::Corrupt { line: 2, .. }),
            "{error}"
        );
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}
