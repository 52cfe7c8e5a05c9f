//! `bots.jsonl.gz` and `bots_meta.json`: single decisions, and the numbers behind them.

use coorl_async::{
    bots::{
        Bot, LostCitiesBot, ScriptedGame,
        lost_cities::{Parameters, Thresholds},
    },
    game::{Game, lost_cities::LostCities},
};
use serde_json::{Map, Value};
use std::{collections::BTreeMap, fs};

use crate::{
    lcg::Lcg,
    vectors::{actions, array, folder, game, integer, replay_row, rows, rules},
};

/// The bot that the rows call `key`: `balanced` and the like from the registry, `*_py` the twins.
fn bot_of_key(game: &LostCities, key: &str) -> LostCitiesBot {
    let (registry, is_twin) = key
        .strip_suffix("_py")
        .map_or((key, false), |key| (key, true));
    let name = match registry {
        "discard_only" => registry.to_owned(),
        _ => format!("heuristic-{registry}"),
    };
    let bot = game
        .bot(&name)
        .unwrap_or_else(|error| panic!("{key}: {error}"));
    if is_twin { bot.twin() } else { bot }
}

#[test]
fn decisions_are_as_recorded() {
    for row in rows("bots.jsonl.gz") {
        let at = format!("row {} ({})", row["id"], row["name"]);
        let game = game(&row);
        let state = replay_row(&row);
        assert_eq!(
            state.current_player().index() as i64,
            integer(&row["player"]),
            "{at}"
        );
        assert_eq!(state.phase() as i64, integer(&row["phase"]), "{at}");
        let legal: Vec<_> = game.legal_actions(&state).iter().collect();
        assert_eq!(legal, actions(&row["legal"]), "{at}: legal");
        let choices = object(&row["choice"]);
        assert!(!choices.is_empty(), "{at}: no choices");
        for (key, choice) in choices {
            let mut unused = Lcg::new(0);
            let action = bot_of_key(&game, key).act(&game, &state, &mut unused);
            let local = i64::from(action) - state.phase() as i64 * i64::from(game.deck_action());
            assert_eq!(
                [local, i64::from(action)],
                [integer(&choice[0]), integer(&choice[1])],
                "{at}: {key}"
            );
            assert_eq!(unused.u32_draws, 0, "{at}: {key} plays dice");
        }
    }
}

#[test]
fn names_parameters_and_thresholds_are_as_recorded() {
    let meta = meta();
    let classic = classic();
    let mut canonical: Vec<&str> = array(&meta["registry_names"])
        .iter()
        .map(|name| {
            let name = name.as_str().expect("a name");
            let bot = classic
                .bot(name)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            bot.name()
        })
        .collect();
    canonical.sort_unstable();
    let mut ours = LostCities::bot_names().to_vec();
    ours.sort_unstable();
    assert_eq!(canonical, ours);
    for (name, wanted) in object(&meta["heuristic_params"]) {
        let parameters = parameters(&classic, name);
        assert_eq!(as_numbers(&parameters), numbers(wanted), "{name}");
    }
    let noise = &meta["heuristic-noisy"]["epsilon"];
    assert_eq!(noise.as_f64(), Some(LostCitiesBot::NOISE));
    let base = meta["heuristic-noisy"]["base"].as_str().expect("a name");
    assert_eq!(
        parameters(&classic, "heuristic-noisy"),
        parameters(&classic, base)
    );
}

#[test]
fn thresholds_of_every_config_are_as_recorded() {
    let meta = meta();
    let configs = configs_by_name();
    let mut compared = 0;
    for (config, heuristics) in object(&meta["derived_thresholds"]) {
        // The rules of a config stand in the rows that play it.
        let Some(config_rules) = configs.get(config) else {
            continue;
        };
        for (name, wanted) in object(heuristics) {
            let parameters = parameters(&classic(), name);
            let thresholds = Thresholds::new(&parameters, &rules(config_rules));
            assert_eq!(as_numbers(&thresholds), numbers(wanted), "{config}: {name}");
            compared += 1;
        }
    }
    let played = names(&rows("bots.jsonl.gz")).len();
    assert!(
        compared >= 3 * played,
        "{compared} thresholds for {played} configs"
    );
}

fn classic() -> LostCities {
    LostCities::new(Default::default()).expect("the classic rules")
}

fn parameters(game: &LostCities, name: &str) -> Parameters {
    let bot = game
        .bot(name)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    *bot.heuristic().expect("a heuristic").parameters()
}

/// The rules that the rows of any file give under a name.
fn configs_by_name() -> BTreeMap<String, Value> {
    names(
        &["rules.jsonl.gz", "bots.jsonl.gz", "bot_games.jsonl.gz"]
            .map(rows)
            .concat(),
    )
}

/// The `config` of each `name`.
fn names(rows: &[Value]) -> BTreeMap<String, Value> {
    let name = |row: &Value| row["name"].as_str().expect("a name").to_owned();
    rows.iter()
        .map(|row| (name(row), row["config"].clone()))
        .collect()
}

fn meta() -> Value {
    let path = folder().join("bots_meta.json");
    let text =
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn object(value: &Value) -> &Map<String, Value> {
    value
        .as_object()
        .unwrap_or_else(|| panic!("not an object: {value}"))
}

/// A serializable struct of numbers and flags, by field.
fn as_numbers(fields: &impl serde::Serialize) -> BTreeMap<String, f64> {
    numbers(&serde_json::to_value(fields).expect("plain fields"))
}

/// An object of numbers and flags, by key, however the numbers are written.
fn numbers(value: &Value) -> BTreeMap<String, f64> {
    let number = |value: &Value| {
        let flag = value.as_bool().map(|flag| f64::from(u8::from(flag)));
        flag.or(value.as_f64())
            .unwrap_or_else(|| panic!("not a number: {value}"))
    };
    object(value)
        .iter()
        .map(|(key, value)| (key.clone(), number(value)))
        .collect()
}
