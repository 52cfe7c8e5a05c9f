//! The table of keys against the settings, and texts that nobody meant.

use crate::{file, set, yaml};
use coorl_async::config::{Allowed, Config, Reason, Source, keys, load};
use coorl_async::game::lost_cities::Rules;
use proptest::prop_assert_eq;
use proptest::proptest;

#[test]
fn text_and_back_is_the_same_configuration() {
    let odd = [
        "run.experiment_name='null'",
        "run.seed=18446744073709551615",
        "run.max_minutes=0.1",
        "run.device=cuda:3",
        "optimization.learning_rate=1e-300",
        "traversal.regret_matching_epsilon=1e-8",
        "training.reinitialise=Every  7",
        "evaluation.opponents=[Noisy-Safe, ' random ']",
        "evaluation.extended_opponents=[]",
    ];
    let loaded = set(&odd).unwrap();
    for config in [Config::default(), loaded.config.clone()] {
        let again = yaml(&config.to_yaml()).unwrap();
        assert_eq!(again.config, config);
        assert!(again.notes.is_empty(), "{:?}", again.notes);
    }
    let annotated = loaded.to_annotated_yaml();
    assert_eq!(yaml(&annotated).unwrap().config, loaded.config);
    let line = |key: &str| {
        annotated
            .lines()
            .find(|line| line.trim_start().starts_with(key))
            .unwrap()
    };
    assert!(line("seed:").ends_with("# from --set run.seed=18446744073709551615"));
    assert!(line("hidden_size:").ends_with("# from default"));
}

#[test]
fn every_setting_stands_in_the_table_of_keys_and_the_table_in_the_settings() {
    let tree = serde_json::to_value(Config::default()).unwrap();
    let mut settings = Vec::new();
    for (section, value) in tree.as_object().unwrap() {
        match value.as_object() {
            Some(entries) => settings.extend(entries.keys().map(|key| format!("{section}.{key}"))),
            None => settings.push(section.clone()),
        }
    }
    settings.sort();
    let mut table: Vec<_> = keys().iter().map(|key| key.path.to_owned()).collect();
    table.sort();
    assert_eq!(settings, table);
}

#[test]
fn every_word_and_bound_of_the_table_is_one_the_settings_take() {
    for key in keys() {
        let values = match key.allowed {
            Allowed::Choice { names, .. } => names.iter().map(|name| name.to_string()).collect(),
            Allowed::Integer { low, high, .. } => vec![low.to_string(), high.to_string()],
            Allowed::Number {
                low,
                high,
                above_low,
                ..
            } if above_low => {
                vec![(low + 1e-12).to_string(), high.to_string()]
            }
            Allowed::Number { low, high, .. } => vec![low.to_string(), high.to_string()],
            _ => continue,
        };
        for value in values
            .into_iter()
            .chain(key.nullable.then(|| "null".to_owned()))
        {
            let result = set(&[&format!("{}={value}", key.path)]);
            // A bound may contradict other defaults; it may not be out of range.
            let contradictions = result.err().into_iter().flat_map(|error| error.problems);
            for problem in contradictions {
                assert!(
                    matches!(problem.reason, Reason::Contradiction { .. }),
                    "{problem}"
                );
            }
        }
    }
}

#[test]
fn every_word_of_the_settings_stands_in_the_table() {
    for key in keys() {
        let Allowed::Choice { names, aliases, .. } = key.allowed else {
            continue;
        };
        let value = match key.path.split_once('.') {
            Some((section, name)) => serde_json::json!({ section: { name: "no such word" } }),
            None => serde_json::json!({ key.path: "no such word" }),
        };
        let error = serde_json::from_value::<Config>(value)
            .unwrap_err()
            .to_string();
        let (_, expected) = error.split_once("expected").expect("a list of words");
        let words: Vec<_> = expected.split('`').skip(1).step_by(2).collect();
        assert!(!words.is_empty(), "{error}");
        for word in words {
            let known = names.contains(&word) || aliases.iter().any(|(alias, _)| *alias == word);
            assert!(known, "{}: {word}", key.path);
        }
    }
}

#[test]
fn the_ranges_of_the_rules_are_the_engines() {
    let too_much = |path: &str| {
        keys()
            .iter()
            .find(|key| key.path == path)
            .map(|key| key.allowed)
    };
    let edit = |path: &str, value: i32| {
        let mut rules = Rules::default();
        match path {
            "rules.n_colors" => rules.n_colors = value,
            "rules.n_ranks" => rules.n_ranks = value,
            "rules.min_rank" => rules.min_rank = value,
            "rules.n_handshakes" => rules.n_handshakes = value,
            "rules.hand_size" => rules.hand_size = value,
            "rules.expedition_penalty" => rules.expedition_penalty = value,
            "rules.bonus_threshold" => rules.bonus_threshold = value,
            "rules.bonus_amount" => rules.bonus_amount = value,
            other => panic!("no field for {other}"),
        }
        rules.validate().map_err(|error| error.to_string())
    };
    for key in keys().iter().filter(|key| key.path.starts_with("rules.")) {
        let Some(Allowed::Integer { low, high, .. }) = too_much(key.path) else {
            panic!("{} is no integer", key.path);
        };
        let refused = |value: i128| {
            let Ok(value) = i32::try_from(value) else {
                return true;
            };
            edit(key.path, value)
                .is_err_and(|error| error.starts_with(&format!("{} is {value};", key.path)))
        };
        assert!(refused(low - 1) && !refused(low), "{}", key.path);
        assert!(refused(high + 1) && !refused(high), "{}", key.path);
    }
}

#[test]
fn absurd_values_are_refused_or_taken_with_a_note() {
    for key in keys() {
        for absurd in [
            "-1", "1e308", "-1e308", "zzz", "[]", "{}", "[[]]", ".nan", ".inf", "~", "''", "[zzz]",
            "!tag 3",
        ] {
            let setting = format!("{}={absurd}", key.path);
            match set(&[&setting]) {
                Err(error) => {
                    let first = error.problems.first().expect("a reason");
                    assert_eq!(first.source, Source::Set(setting.clone()), "{error}");
                }
                Ok(loaded) => {
                    let as_allowed = match key.allowed {
                        // A name is any text; a list may be empty.
                        Allowed::Name => {
                            matches!(absurd, "zzz" | "-1" | "1e308" | "-1e308" | ".nan" | ".inf")
                        }
                        Allowed::Bots => absurd == "[]",
                        Allowed::Integer { low, .. } => low <= -1 && absurd == "-1",
                        Allowed::Number { low, .. } => low <= -1.0 && absurd == "-1",
                        _ => false,
                    };
                    let null = key.nullable && absurd == "~";
                    let noted = loaded
                        .notes
                        .iter()
                        .any(|note| note.text.contains("taken as"));
                    assert!(as_allowed || null || noted, "{setting} was taken");
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn any_text_is_an_answer_and_never_a_panic(text in "(?s).{0,200}", name in "[A-Z_]{0,20}", argument in "[a-z_.=\\[\\]{}:#&*!0-9 -]{0,60}") {
        for suffix in ["yaml", "json", "toml"] {
            let file = file(&format!("run.{suffix}"), &text);
            let variables = [(format!("COORL_{name}"), text.replace('\0', ""))];
            let _ = load(std::slice::from_ref(&file.1), variables, std::slice::from_ref(&argument));
        }
    }

    #[test]
    fn any_value_of_any_key_is_an_answer(index in 0usize..1_000, value in "[-+.0-9a-z_e\\[\\]{}:, ~\"']{0,20}") {
        let key = keys()[index % keys().len()];
        if let Ok(loaded) = set(&[&format!("{}={value}", key.path)]) {
            prop_assert_eq!(&yaml(&loaded.config.to_yaml()).unwrap().config, &loaded.config);
        }
    }
}
