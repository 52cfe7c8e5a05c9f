//! The manifest: everything about a checkpoint that is not a tensor.

use super::{Checkpoint, CheckpointError, PolicyMark};
use crate::network::LossScaleState;
use crate::replay::{Checksum, MemoryMark};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fs;
use std::path::Path;

/// The format this program writes and reads.
pub(super) const FORMAT_VERSION: u32 = 1;
pub(super) const MANIFEST: &str = "manifest.json";
const MANIFEST_CHECKSUM: &str = "manifest.xxh3";
pub(super) const NETWORKS: &str = "networks.safetensors";
pub(super) const OPTIMIZERS: &str = "optimizers.safetensors";
pub(super) const LEAGUE: &str = "league.safetensors";

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub format_version: u32,
    pub program_version: String,
    pub iteration: u32,
    pub seed: u64,
    pub rules: Value,
    pub encoding: Lengths,
    pub networks: Vec<NetworkEntry>,
    /// Networks in each league snapshot.
    pub snapshots: Vec<usize>,
    pub memories: Option<Vec<MemoryMark>>,
    #[serde(default)]
    pub policies: Vec<PolicyMark>,
    pub files: Vec<FileEntry>,
    pub metrics: Map<String, Value>,
    pub config: Value,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Lengths {
    pub info_len: usize,
    pub actions: usize,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct NetworkEntry {
    pub name: String,
    pub step: u64,
    /// Target units per unit of the answers; not named by checkpoints older than it.
    #[serde(default = "unscaled")]
    pub scale: f64,
    /// Named in f16 only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_scale: Option<LossScaleState>,
    /// Whether the optimizer's moments are saved.
    pub optimizer: bool,
    pub tensors: Vec<TensorEntry>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TensorEntry {
    pub name: String,
    pub shape: Vec<usize>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct FileEntry {
    pub name: String,
    pub bytes: u64,
    pub checksum: Checksum,
}

impl Manifest {
    /// Describes a checkpoint whose tensor files are `files` (name and content).
    pub fn of(checkpoint: &Checkpoint, files: &[(String, Vec<u8>)]) -> Self {
        let networks = checkpoint.networks.iter().map(|network| NetworkEntry {
            name: network.name.clone(),
            step: network.step,
            scale: network.scale,
            loss_scale: network.loss_scale,
            optimizer: !network.first_moment.is_empty(),
            tensors: network
                .layout
                .iter()
                .map(|(name, shape)| TensorEntry {
                    name: name.clone(),
                    shape: shape.clone(),
                })
                .collect(),
        });
        let files = files.iter().map(|(name, content)| FileEntry {
            name: name.clone(),
            bytes: content.len() as u64,
            checksum: Checksum::of(content),
        });
        Self {
            format_version: FORMAT_VERSION,
            program_version: env!("CARGO_PKG_VERSION").to_owned(),
            iteration: checkpoint.iteration,
            seed: checkpoint.seed,
            rules: checkpoint.rules.clone(),
            encoding: Lengths {
                info_len: checkpoint.info_len,
                actions: checkpoint.actions,
            },
            networks: networks.collect(),
            snapshots: checkpoint.snapshots.iter().map(Vec::len).collect(),
            memories: checkpoint.memories.clone(),
            policies: checkpoint.policies.clone(),
            files: files.collect(),
            metrics: checkpoint.metrics.clone(),
            config: checkpoint.config.clone(),
        }
    }

    /// The manifest's checksum and the manifest as files (name and content), to be written last and in this order: a
    /// folder with a manifest has everything else.
    pub fn to_files(&self) -> Result<[(String, Vec<u8>); 2], serde_json::Error> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        let checksum = checksum_line(&text).into_bytes();
        Ok([
            (MANIFEST_CHECKSUM.into(), checksum),
            (MANIFEST.into(), text),
        ])
    }

    /// Reads a folder's manifest and checks that all its files are there at their sizes.
    pub fn read(folder: &Path) -> Result<Self, CheckpointError> {
        let path = folder.join(MANIFEST);
        let text = fs::read(&path).map_err(CheckpointError::io(&path, "read"))?;
        let checksum_path = folder.join(MANIFEST_CHECKSUM);
        let checksum =
            fs::read(&checksum_path).map_err(CheckpointError::io(&checksum_path, "read"))?;
        if checksum != checksum_line(&text).as_bytes() {
            return Err(CheckpointError::damaged(
                &path,
                format!("it does not have the checksum in {MANIFEST_CHECKSUM}"),
            ));
        }
        let manifest = Self::parse(&path, &text)?;
        for file in &manifest.files {
            let path = folder.join(&file.name);
            let found = fs::metadata(&path).map_err(CheckpointError::io(&path, "read"))?;
            if found.len() != file.bytes {
                let what = format!("it has {} bytes instead of {}", found.len(), file.bytes);
                return Err(CheckpointError::damaged(&path, what));
            }
        }
        Ok(manifest)
    }

    fn parse(path: &Path, text: &[u8]) -> Result<Self, CheckpointError> {
        let unreadable =
            |error: serde_json::Error| CheckpointError::damaged(path, error.to_string());
        let value: Value = serde_json::from_slice(text).map_err(unreadable)?;
        // Before anything else: another version may mean other fields.
        let version = &value["format_version"];
        if version.as_u64() != Some(FORMAT_VERSION.into()) {
            return Err(CheckpointError::Version {
                path: path.to_path_buf(),
                found: version.to_string(),
                supported: FORMAT_VERSION,
                program: value["program_version"]
                    .as_str()
                    .unwrap_or("unknown")
                    .into(),
            });
        }
        let manifest: Self = serde_json::from_value(value).map_err(unreadable)?;
        let marks = manifest.memories.iter().flatten().map(|mark| &mark.file);
        let mut names = manifest.files.iter().map(|file| &file.name).chain(marks);
        match names.find(|name| !is_plain(name)) {
            Some(name) => {
                let what = format!("`{name}` is not the name of a file beside it");
                Err(CheckpointError::damaged(path, what))
            }
            None => Ok(manifest),
        }
    }

    /// Reads a file of the checkpoint and verifies its checksum.
    pub fn content(&self, folder: &Path, name: &str) -> Result<Vec<u8>, CheckpointError> {
        let Some(entry) = self.files.iter().find(|file| file.name == name) else {
            let what = format!("it does not list {name}");
            return Err(CheckpointError::damaged(&folder.join(MANIFEST), what));
        };
        let path = folder.join(name);
        let content = fs::read(&path).map_err(CheckpointError::io(&path, "read"))?;
        if content.len() as u64 != entry.bytes || Checksum::of(&content) != entry.checksum {
            let what = "it does not have the checksum in the manifest";
            return Err(CheckpointError::damaged(&path, what));
        }
        Ok(content)
    }
}

/// The scale of answers in points.
fn unscaled() -> f64 {
    1.0
}

fn checksum_line(text: &[u8]) -> String {
    format!("{}\n", Checksum::of(text))
}

/// Whether a name stays inside its folder.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '\\']) && name != "." && name != ".."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_of_older_checkpoints_answer_in_points() {
        let entry = r#"{"name": "strategy", "step": 3, "optimizer": false, "tensors": []}"#;
        let entry: NetworkEntry = serde_json::from_str(entry).unwrap();
        assert_eq!((entry.step, entry.scale), (3, 1.0));
        assert_eq!(entry.loss_scale, None);
    }
}
