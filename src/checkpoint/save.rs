//! Writing a checkpoint.

use super::manifest::{LEAGUE, MANIFEST, Manifest, NETWORKS, OPTIMIZERS};
use super::{Checkpoint, CheckpointError, NetworkState, folder, tensors};
use std::collections::HashSet;
use std::io;
use std::path::Path;

impl Checkpoint {
    /// Writes the checkpoint as folder `dir` (`RUN/latest`, `RUN/iteration_00050`), replacing the one that is there.
    ///
    /// The new folder is complete on disk before the old one moves, and the old one goes last.
    ///
    /// # Errors
    /// When the state contradicts itself or the disk is full or fails; a checkpoint that was there is then still there.
    pub fn save(&self, dir: &Path) -> Result<(), CheckpointError> {
        folder::replace(dir, &self.files(dir)?, &mut |_| Ok(()))
    }

    /// The files of the folder: name and content.
    pub(super) fn files(&self, dir: &Path) -> Result<Vec<(String, Vec<u8>)>, CheckpointError> {
        self.check()?;
        let mut files = Vec::new();
        for (name, tensors) in [
            (NETWORKS, self.parameter_tensors()),
            (OPTIMIZERS, self.moment_tensors()),
            (LEAGUE, self.snapshot_tensors()),
        ] {
            if !tensors.is_empty() || name == NETWORKS {
                let content = tensors::write(tensors).map_err(|error| {
                    CheckpointError::io(&dir.join(name), "encode")(io::Error::other(error))
                })?;
                files.push((name.to_owned(), content));
            }
        }
        let manifest = Manifest::of(self, &files).to_files().map_err(|error| {
            CheckpointError::io(&dir.join(MANIFEST), "encode")(io::Error::other(error))
        })?;
        files.extend(manifest);
        Ok(files)
    }

    fn check(&self) -> Result<(), CheckpointError> {
        let mut names = HashSet::new();
        for network in &self.networks {
            network
                .check()
                .map_err(|what| CheckpointError::Inconsistent {
                    network: network.name.clone(),
                    what,
                })?;
            if !names.insert(&network.name) {
                return Err(CheckpointError::Inconsistent {
                    network: network.name.clone(),
                    what: "appears twice".into(),
                });
            }
        }
        Ok(())
    }

    fn parameter_tensors(&self) -> Vec<tensors::Named<'_>> {
        let mut all = Vec::new();
        for network in &self.networks {
            let mut rest = network.parameters.as_slice();
            for (name, shape) in &network.layout {
                let (values, after) = rest.split_at(shape.iter().product());
                all.push((format!("{}.{name}", network.name), shape.clone(), values));
                rest = after;
            }
        }
        all
    }

    fn moment_tensors(&self) -> Vec<tensors::Named<'_>> {
        let with_optimizer = self.networks.iter().filter(|n| !n.first_moment.is_empty());
        with_optimizer
            .flat_map(|network| {
                [
                    ("first_moment", &network.first_moment),
                    ("second_moment", &network.second_moment),
                ]
                .map(|(kind, values)| {
                    let name = format!("{}.{kind}", network.name);
                    (name, vec![values.len()], values.as_slice())
                })
            })
            .collect()
    }

    fn snapshot_tensors(&self) -> Vec<tensors::Named<'_>> {
        let snapshots = self.snapshots.iter().enumerate();
        snapshots
            .flat_map(|(snapshot, networks)| {
                networks.iter().enumerate().map(move |(network, values)| {
                    let name = snapshot_name(snapshot, network);
                    (name, vec![values.len()], values.as_slice())
                })
            })
            .collect()
    }
}

/// The tensor of a network in a league snapshot.
pub(super) fn snapshot_name(snapshot: usize, network: usize) -> String {
    format!("snapshot_{snapshot:03}.{network}")
}

impl NetworkState {
    fn check(&self) -> Result<(), String> {
        let shapes = self.layout.iter().map(|(_, shape)| shape);
        let wanted: usize = shapes.map(|shape| shape.iter().product::<usize>()).sum();
        if self.parameters.len() != wanted {
            let found = self.parameters.len();
            return Err(format!(
                "has {found} parameters where its layout has {wanted}"
            ));
        }
        let moments = [self.first_moment.len(), self.second_moment.len()];
        if moments != [0, 0] && moments != [wanted, wanted] {
            return Err(format!(
                "has moments of {moments:?} values for {wanted} parameters"
            ));
        }
        if !self.scale.is_normal() || self.scale < 0.0 {
            return Err(format!("has the scale {}", self.scale));
        }
        let mut names = HashSet::new();
        match self.layout.iter().find(|(name, _)| !names.insert(name)) {
            Some((name, _)) => Err(format!("has two tensors named `{name}`")),
            None => Ok(()),
        }
    }
}
