//! `policy.jsonl.gz`: regret matching, softmax, sampling policies, draws, and the random stream.

use coorl_async::{
    game::ActionSet,
    random::Randomness,
    regret::{
        Fallback, Matched, draw, entropy, greedy, legal_softmax, mix_uniform, regret_matching,
    },
};
use serde_json::Value;

use crate::{
    lcg::Lcg,
    vectors::{actions, array, floats, integer, rows},
};

/// Absolute tolerance of a probability.
const TOLERANCE: f64 = 1e-6;

#[test]
fn policies_draws_and_streams_are_as_recorded() {
    for row in rows("policy.jsonl.gz") {
        let kind = row["kind"].as_str().expect("a kind");
        let at = format!("row {} ({kind} {})", row["id"], row["tag"]);
        match kind {
            "regret_matching" => check_regret_matching(&row, &at),
            "regret_matching_overflow" => check_overflow(&row, &at),
            "masked_softmax" => check_softmax(&row, &at),
            "sampling_policy" => check_sampling_policy(&row, &at),
            "sample" => check_draw(&row, &at),
            "lcg" => check_stream(&row, &at),
            _ => panic!("{at}: a kind of row that no test knows"),
        }
    }
}

// `policy_uniform_sequential` belongs to a walk that sums in another order; nothing here claims to follow it.
fn check_regret_matching(row: &Value, at: &str) {
    let expected = Matched {
        fallback: row["fallback"].as_bool().expect("a flag"),
        tie_size: integer(&row["tie_size"]) as u32,
        full_tie: row["full_tie"].as_bool().expect("a flag"),
    };
    for (fallback, field) in [
        (Fallback::Uniform, "policy_uniform"),
        (Fallback::ArgmaxTiebreak, "policy_argmax"),
    ] {
        let (policy, matched) = matched_policy(row, fallback);
        assert_close(&policy, &floats(&row[field]), &format!("{at}: {field}"));
        assert_eq!(matched, expected, "{at}: {field}");
    }
}

/// The reference leaves an all-zero policy here; ours is the right one, computed in float64.
fn check_overflow(row: &Value, at: &str) {
    let advantages = floats(&row["advantages"]);
    let legal = legal(row);
    let positive = |action: u8| f64::from(advantages[action as usize].max(0.0));
    let sum: f64 = legal.iter().map(positive).sum();
    assert!(
        sum > f64::from(f32::MAX),
        "{at}: this row does not overflow"
    );
    let mut wanted = vec![0.0; advantages.len()];
    for action in legal.iter() {
        wanted[action as usize] = (positive(action) / sum) as f32;
    }
    for fallback in [Fallback::Uniform, Fallback::ArgmaxTiebreak] {
        let (policy, matched) = matched_policy(row, fallback);
        assert_close(&policy, &wanted, at);
        assert_eq!(matched, Matched::default(), "{at}");
    }
}

fn check_softmax(row: &Value, at: &str) {
    let logits = floats(&row["logits"]);
    let legal = legal(row);
    let mut policy = vec![f32::NAN; logits.len()];
    legal_softmax(&logits, legal, &mut policy);
    assert_close(&policy, &floats(&row["policy"]), at);
    let wanted = row.get("eval_argmax").map(integer);
    assert_eq!(
        greedy(&logits, legal).map(i64::from),
        wanted,
        "{at}: of logits"
    );
    if let Some(wanted) = row.get("eval_entropy") {
        let (entropy, wanted) = (entropy(&policy), number(wanted));
        let tolerance = TOLERANCE * wanted.max(1.0);
        assert!(
            (entropy - wanted).abs() <= tolerance,
            "{at}: entropy {entropy} for {wanted}"
        );
    }
}

fn check_sampling_policy(row: &Value, at: &str) {
    let policy = floats(&row["policy"]);
    let mut sampling = vec![f32::NAN; policy.len()];
    mix_uniform(&policy, legal(row), number(&row["epsilon"]), &mut sampling);
    assert_close(&sampling, &floats(&row["sampling"]), at);
}

fn check_draw(row: &Value, at: &str) {
    let drawn = draw(&floats(&row["policy"]), legal(row), number(&row["r"]));
    assert_eq!(drawn.map_or(-1, i64::from), integer(&row["action"]), "{at}");
}

fn check_stream(row: &Value, at: &str) {
    let state = u32::try_from(integer(&row["state"])).expect("a 32-bit state");
    let (mut words, mut doubles) = (Lcg::new(state), Lcg::new(state));
    for wanted in array(&row["next_u32"]) {
        assert_eq!(i64::from(words.next_u32()), integer(wanted), "{at}");
    }
    for wanted in array(&row["next_double"]) {
        assert_eq!(doubles.uniform(), number(wanted), "{at}");
    }
    assert_eq!(doubles.policy_draws, doubles.u32_draws, "{at}");
}

fn matched_policy(row: &Value, fallback: Fallback) -> (Vec<f32>, Matched) {
    let advantages = floats(&row["advantages"]);
    // Filled with rubbish, so that an entry that is not written shows.
    let mut policy = vec![f32::NAN; advantages.len()];
    let epsilon = number(&row["epsilon"]);
    let matched = regret_matching(&advantages, legal(row), epsilon, fallback, &mut policy);
    (policy, matched)
}

fn legal(row: &Value) -> ActionSet {
    actions(&row["legal"]).into_iter().collect()
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("not a number: {value}"))
}

/// Entries agree to the tolerance, and zero exactly where zero is wanted for an illegal action.
fn assert_close(policy: &[f32], wanted: &[f32], at: &str) {
    assert_eq!(policy.len(), wanted.len(), "{at}");
    for (action, (value, wanted)) in policy.iter().zip(wanted).enumerate() {
        let difference = (f64::from(*value) - f64::from(*wanted)).abs();
        assert!(
            difference <= TOLERANCE,
            "{at}, action {action}: {value} for {wanted}"
        );
    }
}
