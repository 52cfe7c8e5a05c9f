//! A save that ends after any of its steps leaves a checkpoint that loads, and a next save that works.

use super::*;
use std::fs;

fn checkpoint(iteration: u32) -> Checkpoint {
    Checkpoint {
        iteration,
        seed: 3,
        config: serde_json::json!({}),
        rules: serde_json::Value::Null,
        info_len: 1,
        actions: 1,
        networks: vec![NetworkState {
            name: "strategy".into(),
            layout: vec![("net.0.bias".into(), vec![2])],
            parameters: vec![iteration as f32, 0.5],
            scale: 1.0,
            first_moment: vec![0.0; 2],
            second_moment: vec![0.0; 2],
            step: 1,
            loss_scale: None,
        }],
        snapshots: Vec::new(),
        memories: None,
        policies: Vec::new(),
        metrics: serde_json::Map::new(),
    }
}

/// Saves and stops after `steps` steps; returns whether it got that far.
fn save_and_crash(checkpoint: &Checkpoint, dir: &std::path::Path, steps: usize) -> bool {
    let files = checkpoint.files(dir).unwrap();
    let mut left = steps;
    let crash = &mut |_: folder::Step| {
        left = left.saturating_sub(1);
        match left {
            0 => Err(CheckpointError::damaged(dir, "crash")),
            _ => Ok(()),
        }
    };
    folder::replace(dir, &files, crash).is_err()
}

#[test]
fn a_crash_after_any_step_leaves_the_old_or_the_new_checkpoint() {
    let mut steps = 1;
    loop {
        let run = tempfile::tempdir().unwrap();
        let latest = run.path().join(LATEST);
        checkpoint(1).save(&latest).unwrap();
        let crashed = save_and_crash(&checkpoint(2), &latest, steps);
        let found = Checkpoint::load(run.path()).unwrap();
        assert_eq!(found, Checkpoint::load(&latest).unwrap(), "{steps} steps");
        assert_eq!(found, checkpoint(found.iteration), "{steps} steps");
        // Settled and four files of the new folder come first; from then on the new one counts.
        assert_eq!(
            found.iteration,
            if steps <= 4 { 1 } else { 2 },
            "{steps} steps"
        );
        // A second crash, at every step, on top of the first.
        for again in 1..=steps {
            save_and_crash(&checkpoint(3), &latest, again);
            assert!(Checkpoint::load(run.path()).unwrap().iteration >= found.iteration.min(2));
        }
        checkpoint(4).save(&latest).unwrap();
        assert_eq!(Checkpoint::load(run.path()).unwrap(), checkpoint(4));
        let left = fs::read_dir(run.path()).unwrap().count();
        assert_eq!(left, 1, "{steps} steps: something was left beside latest");
        if !crashed {
            break;
        }
        steps += 1;
    }
    assert!(steps > 8, "the save has {steps} steps");
}

#[test]
fn a_crash_of_the_first_save_leaves_none_or_the_new_one() {
    for steps in 1..=8 {
        let run = tempfile::tempdir().unwrap();
        save_and_crash(&checkpoint(1), &run.path().join(LATEST), steps);
        match Checkpoint::load(run.path()) {
            Ok(found) => assert!(steps >= 5 && found == checkpoint(1), "{steps} steps"),
            Err(error) => {
                assert!(steps < 5, "{steps} steps: {error}");
                assert!(matches!(error, CheckpointError::NotFound { .. }), "{error}");
            }
        }
        checkpoint(2).save(&run.path().join(LATEST)).unwrap();
        assert_eq!(Checkpoint::load(run.path()).unwrap(), checkpoint(2));
    }
}

#[test]
fn a_half_written_new_folder_is_passed_over() {
    let run = tempfile::tempdir().unwrap();
    let latest = run.path().join(LATEST);
    checkpoint(1).save(&latest).unwrap();
    // All files of the new folder are there, and then a file turns out shorter than its manifest says.
    save_and_crash(&checkpoint(2), &latest, 6);
    let file = run.path().join("latest.new").join(manifest::NETWORKS);
    let content = fs::read(&file).unwrap();
    fs::write(&file, &content[..content.len() - 1]).unwrap();
    assert_eq!(Checkpoint::load(run.path()).unwrap(), checkpoint(1));
}

#[test]
fn a_save_that_cannot_write_leaves_the_old_checkpoint() {
    let run = tempfile::tempdir().unwrap();
    let latest = run.path().join(LATEST);
    checkpoint(1).save(&latest).unwrap();
    // A file name that no file system takes stands in for a full disk.
    let files = [("x".repeat(5_000), vec![1])];
    let error = folder::replace(&latest, &files, &mut |_| Ok(())).unwrap_err();
    assert!(
        matches!(
            error,
            CheckpointError::Io {
                action: "write",
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(Checkpoint::load(run.path()).unwrap(), checkpoint(1));
    assert!(!run.path().join("latest.new").exists());
}
