//! Checkpoints: what was saved comes back bit for bit, and what is damaged is refused with its name and a remedy.

use coorl_async::checkpoint::{
    Checkpoint, CheckpointError, NetworkState, PolicyMark, locate, numbered,
};
use coorl_async::network::LossScaleState;
use coorl_async::random::{Purpose, Randomness, Stream};
use coorl_async::replay::{Checksum, Journal, Memory, Sample};
use serde_json::json;
use std::fs;
use std::path::Path;

fn values(stream: &mut Stream, len: usize) -> Vec<f32> {
    (0..len).map(|_| stream.uniform() as f32 - 0.5).collect()
}

fn network(name: &str, stream: &mut Stream) -> NetworkState {
    let layout = [("net.0.weight", vec![4, 3]), ("net.0.bias", vec![4])];
    NetworkState {
        name: name.into(),
        layout: layout
            .map(|(name, shape)| (name.to_owned(), shape))
            .to_vec(),
        parameters: values(stream, 16),
        scale: 1.0 / 3.0,
        first_moment: values(stream, 16),
        second_moment: values(stream, 16),
        step: 77,
        loss_scale: Some(LossScaleState {
            scale: 512.0,
            good_steps: 7,
        }),
    }
}

fn checkpoint(iteration: u32) -> Checkpoint {
    let mut stream = Stream::new(5, Purpose::Trial, iteration.into(), 0);
    let mut metrics = serde_json::Map::new();
    metrics.insert("loss/strategy".into(), json!(0.25));
    let mut checkpoint = Checkpoint {
        iteration,
        seed: u64::MAX,
        config: json!({"run": {"seed": u64::MAX}, "optimization": {"learning_rate": 0.001}}),
        rules: json!({"hand_size": 8}),
        info_len: 3,
        actions: 4,
        networks: ["advantage_0", "advantage_1", "strategy"]
            .map(|name| network(name, &mut stream))
            .to_vec(),
        snapshots: vec![
            vec![values(&mut stream, 16), values(&mut stream, 16)],
            vec![values(&mut stream, 16), values(&mut stream, 16)],
        ],
        memories: None,
        policies: vec![PolicyMark {
            iteration,
            weight: 2.5,
            offset: 48,
            values: [7, 9],
            checksum: Checksum::of(b"policies"),
        }],
        metrics,
    };
    checkpoint.networks[0].parameters[0] = f32::NEG_INFINITY;
    checkpoint
}

fn refused(path: &Path) -> CheckpointError {
    Checkpoint::load(path).expect_err("a damaged checkpoint was loaded")
}

#[test]
fn what_was_saved_comes_back_from_every_kind_of_path() {
    let run = tempfile::tempdir().unwrap();
    let latest = run.path().join("deeper/latest");
    checkpoint(1).save(&latest).unwrap();
    checkpoint(12).save(&latest).unwrap();
    checkpoint(10)
        .save(&numbered(&run.path().join("deeper"), 10))
        .unwrap();
    checkpoint(9)
        .save(&numbered(&run.path().join("deeper"), 9))
        .unwrap();
    let load = |path: &str| Checkpoint::load(&run.path().join(path)).unwrap();
    assert_eq!(load("deeper"), checkpoint(12));
    assert_eq!(load("deeper/latest"), checkpoint(12));
    assert_eq!(load("deeper/iteration_00010/"), checkpoint(10));
    fs::remove_dir_all(&latest).unwrap();
    assert_eq!(load("deeper"), checkpoint(10));
    assert_eq!(
        locate(&run.path().join("deeper")).unwrap(),
        run.path().join("deeper/iteration_00010")
    );
}

#[test]
fn not_a_number_and_empty_parts_survive() {
    let run = tempfile::tempdir().unwrap();
    let mut saved = checkpoint(1);
    let payload = f32::from_bits(0x7fc0_1234);
    saved.networks[2].parameters[3] = payload;
    saved.networks[1].first_moment.clear();
    saved.networks[1].second_moment.clear();
    saved.snapshots.clear();
    saved.save(run.path().join("latest").as_path()).unwrap();
    let mut loaded = Checkpoint::load(run.path()).unwrap();
    let found = &mut loaded.networks[2].parameters[3];
    assert_eq!(found.to_bits(), payload.to_bits());
    (*found, saved.networks[2].parameters[3]) = (0.0, 0.0);
    assert_eq!(loaded, saved);
}

#[test]
fn tensors_are_plain_and_named_after_network_and_layer() {
    let run = tempfile::tempdir().unwrap();
    let saved = checkpoint(1);
    saved.save(&run.path().join("latest")).unwrap();
    let content = fs::read(run.path().join("latest/networks.safetensors")).unwrap();
    let file = safetensors::SafeTensors::deserialize(&content).unwrap();
    assert_eq!(file.len(), 6);
    let weight = file.tensor("advantage_1.net.0.weight").unwrap();
    assert_eq!(
        (weight.dtype(), weight.shape()),
        (safetensors::Dtype::F32, &[4, 3][..])
    );
    let expected: Vec<u8> = saved.networks[1].parameters[..12]
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    assert_eq!(weight.data(), expected);
}

#[test]
fn every_flipped_byte_and_every_cut_is_refused_by_name() {
    let run = tempfile::tempdir().unwrap();
    let latest = run.path().join("latest");
    checkpoint(1).save(&latest).unwrap();
    let files: Vec<_> = fs::read_dir(&latest)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    assert_eq!(files.len(), 5);
    for file in files {
        let content = fs::read(&file).unwrap();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        for at in (0..content.len()).step_by(content.len() / 40 + 1) {
            let mut flipped = content.clone();
            flipped[at] ^= 0x10;
            fs::write(&file, &flipped).unwrap();
            let error = refused(run.path());
            assert!(
                matches!(error, CheckpointError::Damaged { .. }),
                "{name} byte {at}: {error}"
            );
            assert!(
                error.to_string().contains(name.trim_end_matches(".xxh3")),
                "{error}"
            );
            fs::write(&file, &content[..at]).unwrap();
            let error = refused(run.path());
            assert!(
                matches!(error, CheckpointError::Damaged { .. }),
                "{name} cut at {at}: {error}"
            );
        }
        fs::remove_file(&file).unwrap();
        match refused(run.path()) {
            CheckpointError::Missing { path } => assert_eq!(path, file),
            error => panic!("{name} missing: {error}"),
        }
        fs::write(&file, &content).unwrap();
    }
    assert_eq!(Checkpoint::load(run.path()).unwrap(), checkpoint(1));
}

/// Changes the manifest and its checksum, as a tool would.
fn edit_manifest(folder: &Path, edit: impl FnOnce(&mut serde_json::Value)) {
    let path = folder.join("manifest.json");
    let mut manifest = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    edit(&mut manifest);
    let text = serde_json::to_vec(&manifest).unwrap();
    let checksum = format!("{}\n", coorl_async::replay::Checksum::of(&text));
    fs::write(&path, text).unwrap();
    fs::write(folder.join("manifest.xxh3"), checksum).unwrap();
}

#[test]
fn another_format_or_shape_is_refused() {
    let run = tempfile::tempdir().unwrap();
    let latest = run.path().join("latest");
    let save = || checkpoint(1).save(&latest).unwrap();
    save();
    edit_manifest(&latest, |manifest| manifest["format_version"] = json!(2));
    let error = refused(run.path());
    assert!(
        matches!(&error, CheckpointError::Version { found, .. } if found == "2"),
        "{error}"
    );

    save();
    edit_manifest(&latest, |manifest| {
        manifest["networks"][0]["tensors"][0]["shape"] = json!([3, 4]);
    });
    let error = refused(run.path()).to_string();
    assert!(
        error.contains("networks.safetensors") && error.contains("[3, 4]"),
        "{error}"
    );

    save();
    edit_manifest(&latest, |manifest| {
        manifest["files"][0]["name"] = json!("../../passwd")
    });
    assert!(refused(run.path()).to_string().contains("../../passwd"));

    save();
    edit_manifest(&latest, |manifest| manifest["networks"] = json!("none"));
    assert!(matches!(
        refused(run.path()),
        CheckpointError::Damaged { .. }
    ));

    assert!(matches!(
        refused(&run.path().join("elsewhere")),
        CheckpointError::NotFound { .. }
    ));
}

#[test]
fn a_state_that_contradicts_itself_is_not_written() {
    let run = tempfile::tempdir().unwrap();
    let latest = run.path().join("latest");
    checkpoint(1).save(&latest).unwrap();
    let breakages: [fn(&mut Checkpoint); 4] = [
        |c| c.networks[1].parameters.truncate(15),
        |c| c.networks[1].second_moment.clear(),
        |c| c.networks[1].name = "strategy".into(),
        |c| c.networks[1].layout[1].0 = "net.0.weight".into(),
    ];
    for (number, breakage) in breakages.into_iter().enumerate() {
        let mut broken = checkpoint(2);
        breakage(&mut broken);
        let error = broken.save(&latest).unwrap_err();
        assert!(
            matches!(error, CheckpointError::Inconsistent { .. }),
            "{number}: {error}"
        );
    }
    assert_eq!(Checkpoint::load(run.path()).unwrap(), checkpoint(1));
}

#[test]
fn journal_marks_travel_in_the_manifest() {
    let run = tempfile::tempdir().unwrap();
    let memory = || Memory::new(2, 1, 1, Stream::new(1, Purpose::Reservoir, 0, 0)).unwrap();
    let mut before = memory();
    let mut journal = Journal::create(&run.path().join("strategy.journal"), &mut before).unwrap();
    for iteration in 0..9 {
        before.add(&Sample {
            info: &[iteration as f32],
            target: &[1.0],
            legal: [0].into_iter().collect(),
            iteration,
            first_open: false,
        });
    }
    let mut saved = checkpoint(9);
    let mut mark = journal.append(&mut before).unwrap();
    // A position past what JSON numbers hold exactly.
    mark.stream_position += 1 << 66;
    saved.memories = Some(vec![mark.clone()]);
    saved.save(&run.path().join("latest")).unwrap();
    let loaded = Checkpoint::load(run.path()).unwrap();
    assert_eq!(loaded, saved);
    let mark = &loaded.memories.unwrap()[0];
    let mut after = memory();
    Journal::read(&run.path().join(&mark.file), mark, &mut after).unwrap();
    assert_eq!(after.stream_position(), mark.stream_position);
    assert_eq!(after.sample(1), before.sample(1));
}
