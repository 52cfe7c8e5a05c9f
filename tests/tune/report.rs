//! The files of a sweep.

use crate::fake::{grid, plan, setting, swept};
use coorl_async::{
    config,
    tuning::{Ending, FILES, Report, Setting, Sweep, table},
};
use serde_json::Value;
use std::fs;

fn sweep() -> Sweep {
    let start = setting(2_000, 256, 16);
    let speed = |setting: Setting, round: u32| {
        let noise = 1.0 + 0.001 * f64::from((round + setting.in_flight as u32) % 3);
        (40_000.0 - setting.collect_timeout_us as f64 + 10.0 * setting.in_flight as f64) * noise
    };
    let grid = grid("0,2000", "256", "16,32", start);
    swept(plan(grid, start, Some(3), None), speed)
}

fn about() -> Vec<(&'static str, String)> {
    vec![("seed", "7".into()), ("weights", "random".into())]
}

#[test]
fn all_files_are_written_and_parse() {
    let folder = tempfile::tempdir().unwrap();
    let (sweep, about) = (sweep(), about());
    let report = Report {
        sweep: &sweep,
        ending: Some(Ending::Complete),
        about: &about,
    };
    report.write(folder.path()).unwrap();
    let [markdown, points, svg, yaml] =
        FILES.map(|name| fs::read_to_string(folder.path().join(name)).unwrap());
    let points: Value = serde_json::from_str(&points).unwrap();
    assert_eq!(points["method"], "whole_grid");
    assert_eq!(points["points"].as_array().map(Vec::len), Some(4));
    let best = &points["points"][0];
    assert_eq!(best["setting"], points["best"]);
    assert_eq!(best["rounds"].as_array().map(Vec::len), Some(3));
    assert_eq!(best["fill_rate"], 0.5);
    assert_eq!(best["forward_share"], 0.5);
    assert_eq!(best["flushes"]["quiescent"], 15);
    let interval = &best["nodes_per_second_interval"];
    assert!(interval["low"].as_f64() < best["nodes_per_second"].as_f64());
    assert!(markdown.contains("- seed: 7") && markdown.contains("- recommended: timeout 0 µs"));
    assert!(markdown.contains("| mean batch |") && markdown.contains("64.0"));
    crate::program::check_svg(&svg);
    for words in [
        "nodes/s",
        "collect_timeout_us",
        "max_batch 256, in_flight 32",
    ] {
        assert!(svg.contains(words), "no {words:?} in {svg}");
    }
    assert!(yaml.contains("in_flight: "));
    let loaded = config::load(&[folder.path().join(FILES[3])], [], &[]).unwrap();
    let wanted = &points["recommended"];
    let config = loaded.config;
    assert_eq!(
        Value::from(config.inference.collect_timeout_us),
        wanted["collect_timeout_us"]
    );
    assert_eq!(Value::from(config.inference.max_batch), wanted["max_batch"]);
    assert_eq!(Value::from(config.traversal.in_flight), wanted["in_flight"]);
}

#[test]
fn the_greatest_settings_of_a_grid_are_ones_that_the_configuration_takes() {
    let folder = tempfile::tempdir().unwrap();
    let start = setting(60_000_000, 65_536, 4_096);
    let grid = grid("60000000", "65536", "4096", start);
    let sweep = swept(plan(grid, start, Some(1), None), |_, _| 5.0);
    let report = Report {
        sweep: &sweep,
        ending: Some(Ending::Complete),
        about: &[],
    };
    report.write(folder.path()).unwrap();
    let loaded = config::load(&[folder.path().join(FILES[3])], [], &[]).unwrap();
    assert_eq!(loaded.config.inference.max_batch, 65_536);
}

#[test]
fn the_table_is_sorted_and_marked_and_says_what_it_leaves_out() {
    let sweep = sweep();
    let text = table(sweep.results(), sweep.plan().start, usize::MAX);
    let rows: Vec<&str> = text.lines().skip(2).collect();
    assert_eq!(rows.len(), 4);
    let rate = |row: &&str| -> f64 { row.split('|').nth(4).unwrap().trim().parse().unwrap() };
    assert!(rows.iter().map(rate).is_sorted_by(|a, b| a >= b), "{text}");
    assert!(rows[0].contains("best"));
    assert_eq!(text.matches("recommended").count(), 1);
    assert_eq!(text.matches("configured").count(), 1);
    assert!(text.contains("12 / 25 / 62"), "{text}");
    // Every line is as wide as the others: it can be read as it is.
    let width = |line: &str| line.chars().count();
    assert!(
        text.lines().all(|line| width(line) == width(rows[0])),
        "{text}"
    );
    let short = table(sweep.results(), sweep.plan().start, 1);
    assert!(short.contains("(3 slower ones are not shown)"));
}

#[test]
fn nothing_measured_is_nothing_to_write() {
    let start = setting(0, 64, 8);
    let sweep = Sweep::new(plan(grid("0", "64", "8", start), start, None, None));
    let report = Report {
        sweep: &sweep,
        ending: Some(Ending::Interrupted),
        about: &[],
    };
    let folder = tempfile::tempdir().unwrap();
    let told = report.write(folder.path()).unwrap_err().to_string();
    assert!(told.contains("nothing was measured"));
    let missing = folder.path().join("none");
    let sweep = self::sweep();
    let report = Report {
        sweep: &sweep,
        ..report
    };
    let told = report.write(&missing).unwrap_err().to_string();
    assert!(
        told.contains("none/table.md") && told.contains("--out"),
        "{told}"
    );
}
