//! Journals: a memory comes back as it was, whatever lies behind the mark, and damage is refused.

use super::model::{Row, memory, row, stream};
use coorl_async::random::Stream;
use coorl_async::replay::{Batch, Journal, JournalError, Memory, MemoryMark};
use proptest::prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

const INFO_LEN: usize = 5;
const ACTIONS: usize = 7;

fn empty(capacity: usize) -> Memory {
    memory(capacity, INFO_LEN, ACTIONS, 42)
}

fn add(memory: &mut Memory, samples: usize, content: &mut Stream) {
    for number in 0..samples {
        memory.add(&row(INFO_LEN, ACTIONS, number as u32, content).sample());
    }
}

fn rows(memory: &Memory) -> Vec<Row> {
    (0..memory.len())
        .map(|slot| Row::of(&memory.sample(slot)))
        .collect()
}

/// Everything by which two memories could differ, their next batches included.
fn assert_same(a: &Memory, b: &Memory) {
    assert_eq!(rows(a), rows(b));
    assert_eq!(
        (a.len(), a.seen(), a.stream_position()),
        (b.len(), b.seen(), b.stream_position())
    );
    assert_eq!(a.first_open_len(), b.first_open_len());
    let slots = |memory: &Memory| {
        let mut batch = Batch::new(6, INFO_LEN, ACTIONS).unwrap();
        memory.sample_stratified_into(0.5, &mut stream(77), &mut batch);
        batch.slots().to_vec()
    };
    assert_eq!(slots(a), slots(b));
}

/// A full memory with overwritten slots, its journal of three iterations and the last mark.
fn written(folder: &Path) -> (PathBuf, Memory, MemoryMark) {
    let path = folder.join("advantage_0.journal");
    let mut memory = empty(20);
    let mut journal = Journal::create(&path, &mut memory).unwrap();
    let mut content = stream(1);
    for samples in [13, 30, 25] {
        add(&mut memory, samples, &mut content);
        journal.append(&mut memory).unwrap();
    }
    let mark = journal.append(&mut memory).unwrap();
    (path, memory, mark)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_resumed_memory_goes_on_as_one_that_never_stopped(
        capacity in 0usize..50, iterations in proptest::collection::vec(0usize..60, 1..6), stop in 0usize..6,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("strategy.journal");
        let mut memory = empty(capacity);
        let mut journal = Journal::create(&path, &mut memory).unwrap();
        let (mut straight, mut content) = (empty(capacity), stream(2));
        for (iteration, &samples) in iterations.iter().enumerate() {
            add(&mut straight, samples, &mut content.clone());
            let records = fs::metadata(&path).unwrap().len();
            let before = rows(&memory);
            add(&mut memory, samples, &mut content);
            let mark = journal.append(&mut memory).unwrap();
            // Each changed slot once: never more rows than samples came, or than the memory has.
            let record = (28 + 4 * (INFO_LEN + ACTIONS)) as u64;
            let added = (fs::metadata(&path).unwrap().len() - records) / record;
            prop_assert!(added <= samples.min(capacity) as u64);
            let changed = rows(&memory).iter().enumerate().filter(|(slot, row)| before.get(*slot) != Some(row)).count();
            prop_assert_eq!(added, changed as u64);
            if iteration == stop {
                // Text and back, as in a manifest.
                let mark = serde_json::from_str(&serde_json::to_string(&mark).unwrap()).unwrap();
                memory = empty(capacity);
                journal = Journal::open(&path, &mark, &mut memory).unwrap();
            }
            assert_same(&memory, &straight);
        }
    }
}

#[test]
fn what_lies_behind_the_mark_is_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let (path, before, mark) = written(folder.path());
    assert_eq!(fs::metadata(&path).unwrap().len(), mark.bytes);
    for tail in [1, 27, 5_000] {
        let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(&vec![0xa5; tail]).unwrap();
        let mut read = empty(20);
        Journal::read(&path, &mark, &mut read).unwrap();
        assert_same(&read, &before);
        assert!(
            fs::metadata(&path).unwrap().len() > mark.bytes,
            "reading shortened the file"
        );
        let mut opened = empty(20);
        let mut journal = Journal::open(&path, &mark, &mut opened).unwrap();
        assert_same(&opened, &before);
        // Nothing changed, so the next mark is the same one.
        assert_eq!(journal.append(&mut opened).unwrap(), mark);
        assert_eq!(fs::metadata(&path).unwrap().len(), mark.bytes);
    }
}

#[test]
fn an_earlier_mark_brings_back_the_earlier_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("strategy.journal");
    let (mut memory, mut content) = (empty(10), stream(3));
    let mut journal = Journal::create(&path, &mut memory).unwrap();
    add(&mut memory, 25, &mut content);
    let early = journal.append(&mut memory).unwrap();
    let held = rows(&memory);
    add(&mut memory, 25, &mut content);
    journal.append(&mut memory).unwrap();
    let mut restored = empty(10);
    Journal::open(&path, &early, &mut restored).unwrap();
    assert_eq!(rows(&restored), held);
}

#[test]
fn a_journal_written_anew_holds_each_sample_once() {
    let folder = tempfile::tempdir().unwrap();
    let (path, before, mark) = written(folder.path());
    let mut memory = empty(20);
    let journal = Journal::open(&path, &mark, &mut memory).unwrap();
    assert!(
        journal.overwritten_share(&memory) > 0.4,
        "{}",
        journal.overwritten_share(&memory)
    );
    let anew = folder.path().join("anew.journal");
    let mut journal = Journal::create(&anew, &mut memory).unwrap();
    let mark = journal.append(&mut memory).unwrap();
    assert_eq!((mark.records, mark.file.as_str()), (20, "anew.journal"));
    assert_eq!(
        (journal.overwritten_share(&memory), journal.path()),
        (0.0, anew.as_path())
    );
    let mut restored = empty(20);
    Journal::read(&anew, &mark, &mut restored).unwrap();
    assert_same(&restored, &before);
}

#[test]
fn every_flipped_byte_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _, mark) = written(folder.path());
    let content = fs::read(&path).unwrap();
    for at in 0..content.len() {
        let mut flipped = content.clone();
        flipped[at] ^= 1 << (at % 8);
        fs::write(&path, &flipped).unwrap();
        let error = Journal::open(&path, &mark, &mut empty(20))
            .map(|_| ())
            .unwrap_err();
        assert!(
            error.to_string().contains("exact_resume"),
            "byte {at}: {error}"
        );
        match (at, &error) {
            (0..12, JournalError::Version { .. }) => {}
            (12..20 | 24..32, JournalError::Shape { .. }) => {}
            (20..24 | 32.., JournalError::Damaged { .. }) => {}
            _ => panic!("byte {at}: {error}"),
        }
        assert_eq!(
            fs::read(&path).unwrap(),
            flipped,
            "byte {at}: a refused file was changed"
        );
    }
}

#[test]
fn short_missing_and_foreign_files_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _, mark) = written(folder.path());
    let open = |capacity| Journal::open(&path, &mark, &mut empty(capacity)).map(|_| ());
    let error = open(21).unwrap_err();
    assert!(matches!(error, JournalError::Shape { .. }), "{error}");
    assert!(error.to_string().contains("20 samples") && error.to_string().contains("21 samples"));

    let mut other = mark.clone();
    other.size -= 1;
    let error = Journal::open(&path, &other, &mut empty(20))
        .map(|_| ())
        .unwrap_err();
    assert!(matches!(error, JournalError::Damaged { .. }), "{error}");

    let content = fs::read(&path).unwrap();
    for len in [0, 31, 32, content.len() - 1] {
        fs::write(&path, &content[..len]).unwrap();
        let error = open(20).unwrap_err();
        assert!(
            matches!(error, JournalError::Truncated { .. }),
            "{len} bytes: {error}"
        );
    }
    let mut version = content.clone();
    version[8] = 9;
    fs::write(&path, version).unwrap();
    assert!(open(20).unwrap_err().to_string().contains("version 9"));

    fs::remove_file(&path).unwrap();
    let error = open(20).unwrap_err();
    assert!(matches!(error, JournalError::Missing { .. }), "{error}");
    assert!(error.to_string().contains("advantage_0.journal"), "{error}");

    let nowhere = folder.path().join("no/such/folder/x.journal");
    let error = Journal::create(&nowhere, &mut empty(20))
        .map(|_| ())
        .unwrap_err();
    assert!(error.to_string().contains("no/such/folder"), "{error}");
}
