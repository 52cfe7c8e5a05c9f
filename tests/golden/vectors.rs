//! Reading the vectors: rows of gzipped JSON lines, and the objects that several files share.

use std::{fs::File, io::Read, path::PathBuf};

use coorl_async::game::{
    Action,
    lost_cities::{Card, LostCities, Rules, State},
};
use flate2::read::MultiGzDecoder;
use serde_json::Value;

/// The folder of vectors: `COORL_VECTORS`, by default `tests/vectors` of this package.
pub fn folder() -> PathBuf {
    std::env::var_os("COORL_VECTORS").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors"),
        PathBuf::from,
    )
}

/// All rows of a `*.jsonl.gz` file. An empty file is an error: a test over no rows would prove nothing.
pub fn rows(file: &str) -> Vec<Value> {
    let path = folder().join(file);
    let compressed =
        File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut text = String::new();
    MultiGzDecoder::new(compressed)
        .read_to_string(&mut text)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let rows: Vec<Value> = text
        .lines()
        .enumerate()
        .map(|(line, json)| {
            serde_json::from_str(json)
                .unwrap_or_else(|error| panic!("{} line {}: {error}", path.display(), line + 1))
        })
        .collect();
    assert!(!rows.is_empty(), "{}: no rows", path.display());
    rows
}

/// The rules in a `config` object; a key that is missing keeps its default, other keys are ignored.
pub fn rules(config: &Value) -> Rules {
    let classic = Rules::default();
    let number = |key: &str, default: i32| match config.get(key) {
        None => default,
        Some(value) => i32::try_from(integer(value)).expect("a rule fits 32 bits"),
    };
    Rules {
        n_colors: number("n_colors", classic.n_colors),
        n_ranks: number("n_ranks", classic.n_ranks),
        min_rank: number("min_rank", classic.min_rank),
        n_handshakes: number("n_handshakes", classic.n_handshakes),
        hand_size: number("hand_size", classic.hand_size),
        expedition_penalty: number("expedition_penalty", classic.expedition_penalty),
        bonus_threshold: number("bonus_threshold", classic.bonus_threshold),
        bonus_amount: number("bonus_amount", classic.bonus_amount),
    }
}

/// The game of a row with a `config`.
pub fn game(row: &Value) -> LostCities {
    let rules = rules(&row["config"]);
    LostCities::new(rules.clone()).unwrap_or_else(|error| panic!("{rules:?}: {error}"))
}

/// A list of `[color, rank]`; in a deck the last one is the top.
pub fn cards(list: &Value) -> Vec<Card> {
    let card = |card: &Value| Card {
        color: integer(&card[0]) as u8,
        rank: integer(&card[1]) as u8,
    };
    array(list).iter().map(card).collect()
}

/// A list of unified action ids.
pub fn actions(list: &Value) -> Vec<Action> {
    array(list).iter().map(|id| integer(id) as Action).collect()
}

/// The state after `actions` from the deal of `deck`, each of them checked for legality.
pub fn replay(game: &LostCities, deck: &[Card], actions: &[Action]) -> State {
    let mut state = game.deal_deck(deck).expect("the deck of the row");
    for (step, &action) in actions.iter().enumerate() {
        game.try_apply(&mut state, action)
            .unwrap_or_else(|error| panic!("step {step}: {error}"));
    }
    state
}

/// The state of a row with `config`, `deck` and `actions`.
pub fn replay_row(row: &Value) -> State {
    replay(&game(row), &cards(&row["deck"]), &actions(&row["actions"]))
}

/// A list of float32 values.
pub fn floats(list: &Value) -> Vec<f32> {
    let float = |value: &Value| {
        value
            .as_f64()
            .unwrap_or_else(|| panic!("not a number: {value}"))
    };
    array(list)
        .iter()
        .map(|value| float(value) as f32)
        .collect()
}

/// An integer, however it is written.
pub fn integer(value: &Value) -> i64 {
    value
        .as_i64()
        .unwrap_or_else(|| panic!("not an integer: {value}"))
}

/// The elements of a list.
pub fn array(value: &Value) -> &[Value] {
    value
        .as_array()
        .unwrap_or_else(|| panic!("not a list: {value}"))
}

/// 64-bit FNV-1a of some bytes, as 16 hexadecimal digits.
pub fn fnv1a(bytes: &[u8]) -> String {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

/// [`fnv1a`] over the little-endian bytes of float32 values.
pub fn fnv1a_floats(values: &[f32]) -> String {
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    fnv1a(&bytes)
}

#[test]
fn fnv1a_gives_the_published_values() {
    assert_eq!(fnv1a(b""), "cbf29ce484222325");
    assert_eq!(fnv1a(b"a"), "af63dc4c8601ec8c");
    assert_eq!(fnv1a(b"foobar"), "85944171f73967e8");
    assert_eq!(fnv1a_floats(&[1.0]), fnv1a(&[0, 0, 0x80, 0x3f]));
}
