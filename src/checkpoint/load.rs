//! Reading a checkpoint.

use super::manifest::{LEAGUE, Manifest, NETWORKS, NetworkEntry, OPTIMIZERS};
use super::save::snapshot_name;
use super::{Checkpoint, CheckpointError, NetworkState, folder, tensors};
use crate::network::LossScaleState;
use safetensors::SafeTensors;
use std::path::{Path, PathBuf};

impl Checkpoint {
    /// Reads a checkpoint: `path` is a run folder (its `latest`, or without one its highest numbered checkpoint) or a
    /// checkpoint folder. After an interrupted save it takes what [`super::locate`] finds.
    ///
    /// # Errors
    /// When there is none, it has another format version, or a file is missing or not as it was written.
    pub fn load(path: &Path) -> Result<Self, CheckpointError> {
        let folder = folder::locate(path)?;
        let manifest = Manifest::read(&folder)?;
        let networks = read_networks(&folder, &manifest)?;
        let snapshots = read_snapshots(&folder, &manifest)?;
        Ok(Self {
            iteration: manifest.iteration,
            seed: manifest.seed,
            config: manifest.config,
            rules: manifest.rules,
            info_len: manifest.encoding.info_len,
            actions: manifest.encoding.actions,
            networks,
            snapshots,
            memories: manifest.memories,
            policies: manifest.policies,
            metrics: manifest.metrics,
        })
    }
}

/// A tensor file of a checkpoint, read and verified.
struct TensorFile {
    path: PathBuf,
    content: Vec<u8>,
}

impl TensorFile {
    fn read(folder: &Path, manifest: &Manifest, name: &str) -> Result<Self, CheckpointError> {
        Ok(Self {
            path: folder.join(name),
            content: manifest.content(folder, name)?,
        })
    }

    /// Opens the file and checks that it holds `count` tensors.
    fn tensors(&self, count: usize) -> Result<SafeTensors<'_>, CheckpointError> {
        let file = SafeTensors::deserialize(&self.content)
            .map_err(|error| CheckpointError::damaged(&self.path, error.to_string()))?;
        if file.len() != count {
            let what = format!("it holds {} tensors instead of {count}", file.len());
            return Err(CheckpointError::damaged(&self.path, what));
        }
        Ok(file)
    }

    fn damaged(&self, what: String) -> CheckpointError {
        CheckpointError::damaged(&self.path, what)
    }
}

fn read_networks(folder: &Path, manifest: &Manifest) -> Result<Vec<NetworkState>, CheckpointError> {
    let file = TensorFile::read(folder, manifest, NETWORKS)?;
    let parameters = file.tensors(manifest.networks.iter().map(|n| n.tensors.len()).sum())?;
    let mut networks = Vec::with_capacity(manifest.networks.len());
    for entry in &manifest.networks {
        let network = read_network(&parameters, entry).map_err(|what| file.damaged(what))?;
        networks.push(network);
    }
    let with_optimizer = manifest.networks.iter().filter(|n| n.optimizer).count();
    if with_optimizer == 0 {
        return Ok(networks);
    }
    let file = TensorFile::read(folder, manifest, OPTIMIZERS)?;
    let moments = file.tensors(2 * with_optimizer)?;
    for (network, _) in networks
        .iter_mut()
        .zip(&manifest.networks)
        .filter(|(_, entry)| entry.optimizer)
    {
        let shape = [network.parameters.len()];
        for (kind, values) in [
            ("first_moment", &mut network.first_moment),
            ("second_moment", &mut network.second_moment),
        ] {
            let name = format!("{}.{kind}", network.name);
            tensors::read(&moments, &name, Some(&shape), values)
                .map_err(|what| file.damaged(what))?;
        }
    }
    Ok(networks)
}

fn read_network(file: &SafeTensors<'_>, entry: &NetworkEntry) -> Result<NetworkState, String> {
    let mut parameters = Vec::new();
    for tensor in &entry.tensors {
        let name = format!("{}.{}", entry.name, tensor.name);
        tensors::read(file, &name, Some(&tensor.shape), &mut parameters)?;
    }
    if !entry.scale.is_normal() || entry.scale < 0.0 {
        return Err(format!("`{}` has the scale {}", entry.name, entry.scale));
    }
    if let Some(LossScaleState { scale, .. }) = entry.loss_scale
        && (!scale.is_normal() || scale < 0.0)
    {
        return Err(format!("`{}` has the loss scale {scale}", entry.name));
    }
    let layout = entry.tensors.iter();
    Ok(NetworkState {
        name: entry.name.clone(),
        layout: layout
            .map(|tensor| (tensor.name.clone(), tensor.shape.clone()))
            .collect(),
        parameters,
        scale: entry.scale,
        first_moment: Vec::new(),
        second_moment: Vec::new(),
        step: entry.step,
        loss_scale: entry.loss_scale,
    })
}

fn read_snapshots(
    folder: &Path,
    manifest: &Manifest,
) -> Result<Vec<Vec<Vec<f32>>>, CheckpointError> {
    let count = manifest.snapshots.iter().sum();
    if count == 0 {
        return Ok(vec![Vec::new(); manifest.snapshots.len()]);
    }
    let file = TensorFile::read(folder, manifest, LEAGUE)?;
    let tensors = file.tensors(count)?;
    let mut snapshots = Vec::with_capacity(manifest.snapshots.len());
    for (snapshot, &networks) in manifest.snapshots.iter().enumerate() {
        let mut all = Vec::with_capacity(networks);
        for network in 0..networks {
            let mut values = Vec::new();
            tensors::read(
                &tensors,
                &snapshot_name(snapshot, network),
                None,
                &mut values,
            )
            .map_err(|what| file.damaged(what))?;
            all.push(values);
        }
        snapshots.push(all);
    }
    Ok(snapshots)
}
