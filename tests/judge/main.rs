//! `coorl-async evaluate` from outside: what it prints, that it prints the same again, what it refuses.

#[path = "../outside/mod.rs"]
mod outside;
#[path = "../train/program.rs"]
mod program;

mod refusals;

use program::Place;
use serde_json::Value;

/// Kuhn poker with past policies as its average.
const KUHN: [&str; 6] = [
    "game=kuhn",
    "run.max_iterations=3",
    "traversal.sampling_mode=external",
    "traversal.max_nodes_per_traversal=null",
    "averaging.scheme=single_network",
    "evaluation.eval_every=0",
];

/// Lost Cities of three colours and four ranks.
const SMALL: [&str; 5] = [
    "rules.n_colors=3",
    "rules.n_ranks=4",
    "rules.hand_size=4",
    "evaluation.eval_every=0",
    "evaluation.max_steps=120",
];

fn with<'a>(sets: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [sets, more].concat()
}

/// `evaluate ARGUMENTS --json`, which must succeed.
#[track_caller]
fn judged(place: &Place, arguments: &[&str]) -> Value {
    let ended = place.run(&[&["evaluate"], arguments, &["--json"]].concat());
    let ended = ended.succeeded();
    serde_json::from_str(&ended.stdout).expect("one JSON document and nothing else")
}

fn number(row: &Value, name: &str) -> f64 {
    let value = row[name].as_f64();
    value.unwrap_or_else(|| panic!("no {name} in {row}"))
}

fn results(document: &Value) -> &[Value] {
    document["results"].as_array().expect("results")
}

#[test]
fn all_opponents_are_met_in_both_modes_and_the_numbers_do_not_depend_on_threads() {
    let place = Place::new();
    place.smoke("run", &SMALL).succeeded();
    let arguments = ["run", "--games", "12", "--threads"];
    let one = judged(&place, &with(&arguments, &["1"]));
    let three = judged(&place, &with(&arguments, &["3"]));
    assert_eq!(one, three);
    let other = judged(&place, &with(&arguments, &["3", "--seed", "2"]));
    assert_ne!(results(&one), results(&other), "other deals");
    assert_eq!(
        (&one["deals"], &one["games_per_row"]),
        (&6.into(), &12.into())
    );
    assert_eq!(one["max_plies"], 120);
    assert_eq!(one["checkpoint"]["iteration"], 2);
    assert_eq!(results(&one).len(), 12, "six bots, two modes");
    for row in results(&one) {
        let count = |name| number(row, name);
        let all = count("wins") + count("draws") + count("losses") + count("timeouts");
        assert_eq!((all, count("games")), (12.0, 12.0), "{row}");
        assert_eq!(count("win_rate"), count("wins") / 12.0);
        assert!(count("win_rate_low") <= count("win_rate"));
        let low = count("mean_difference_low_points");
        assert!(low <= count("mean_difference_points"), "{row}");
    }
    let modes: Vec<_> = results(&one)
        .iter()
        .map(|row| row["policy"].clone())
        .collect();
    assert_eq!(modes[..2], ["sampled", "greedy"]);

    let table = place.run(&["evaluate", "run", "--games", "12"]).succeeded();
    let rows: Vec<_> = table
        .stdout
        .lines()
        .skip_while(|line| !line.is_empty())
        .collect();
    assert_eq!(rows.len(), 2 + 12, "{}", table.stdout);
    assert!(table.stdout.lines().all(|line| line.chars().count() <= 100));
    assert!(
        table.stdout.contains("safe_heuristic_strict  sampled"),
        "{}",
        table.stdout
    );
}

#[test]
fn a_policy_against_itself_is_even_to_the_last_point() {
    let place = Place::new();
    place.smoke("small", &SMALL).succeeded();
    place.smoke("kuhn", &KUHN).succeeded();
    for (run, strategy) in [
        ("small", "average"),
        ("small", "current"),
        ("kuhn", "average"),
        ("kuhn", "current"),
    ] {
        let arguments = [
            run,
            "--against",
            run,
            "--games",
            "40",
            "--strategy",
            strategy,
        ];
        let document = judged(&place, &arguments);
        let [sampled, greedy] = results(&document) else {
            panic!("{document}");
        };
        assert_eq!(greedy["policy"], "greedy");
        assert_eq!(
            number(greedy, "mean_difference_points"),
            0.0,
            "{run} {strategy}"
        );
        assert_eq!(
            greedy["mean_difference_low_points"], 0.0,
            "every deal is even"
        );
        assert_eq!(greedy["wins"], greedy["losses"]);
        assert_eq!(number(sampled, "games"), 40.0);
    }
    let default = judged(&place, &["kuhn", "--against", "kuhn", "--policy", "greedy"]);
    assert_eq!(results(&default)[0]["games"], 1000);
}

#[test]
fn policies_of_different_encodings_and_networks_meet_and_the_sides_are_alike() {
    let place = Place::new();
    place.smoke("slots", &SMALL).succeeded();
    let cards = [
        "encoding.kind=cards",
        "network.hidden_size=24",
        "run.seed=5",
    ];
    place.smoke("cards", &with(&SMALL, &cards)).succeeded();
    let meet = |first, second| {
        let arguments = [
            first,
            "--against",
            second,
            "--games",
            "60",
            "--policy",
            "greedy",
        ];
        judged(&place, &arguments)
    };
    let (one, other) = (meet("slots", "cards"), meet("cards", "slots"));
    let (one, other) = (&results(&one)[0], &results(&other)[0]);
    for (name, mirrored) in [
        ("wins", "losses"),
        ("losses", "wins"),
        ("draws", "draws"),
        ("timeouts", "timeouts"),
        ("mean_length_plies", "mean_length_plies"),
    ] {
        assert_eq!(one[name], other[mirrored], "{name}");
    }
    let difference = number(one, "mean_difference_points");
    assert!((difference + number(other, "mean_difference_points")).abs() < 1e-9);
    // Not a game in which nothing happens.
    assert!(number(one, "wins") + number(one, "losses") > 0.0, "{one}");
}

#[test]
fn a_checkpoint_on_its_own_is_enough_and_whole_deals_are_played() {
    let place = Place::new();
    place.smoke("run", &SMALL).succeeded();
    let there = judged(&place, &["run", "--games", "4", "--opponents", "random"]);
    std::fs::rename(place.path("run/latest"), place.path("moved")).unwrap();
    let arguments = [
        "evaluate",
        "moved",
        "--games",
        "3",
        "--opponents",
        "Random,random",
        "--json",
    ];
    let ended = place.run(&arguments).succeeded().said(&["4 are played"]);
    let document: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(results(&document), results(&there));
}
