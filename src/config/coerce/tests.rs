use super::*;
use crate::config::schema::find;

fn get(path: &str, value: impl Into<Value>) -> Result<String, Reason> {
    let key = find(path).unwrap_or_else(|| panic!("no key {path}"));
    coerce(key, &value.into()).map(|coerced| show(&coerced.value))
}

#[test]
fn whole_numbers_come_in_several_spellings() {
    for value in [
        Value::from("1024"),
        " 1_024 ".into(),
        1024.0.into(),
        "1.024e3".into(),
        1024.into(),
    ] {
        assert_eq!(get("inference.max_batch", value).unwrap(), "1024");
    }
    for value in [
        Value::from(1.5),
        "1.5".into(),
        true.into(),
        "many".into(),
        "_1".into(),
        "1__0".into(),
        "".into(),
        Value::from(vec![1]),
    ] {
        let refused = get("inference.max_batch", value.clone());
        assert!(
            matches!(refused, Err(Reason::WrongType { .. })),
            "{value:?}: {refused:?}"
        );
    }
}

#[test]
fn integers_reach_both_ends_of_their_range() {
    assert_eq!(get("run.seed", u64::MAX).unwrap(), u64::MAX.to_string());
    assert_eq!(get("rules.expedition_penalty", "-20").unwrap(), "-20");
    let beyond = get("run.seed", "18446744073709551616");
    assert!(
        matches!(beyond, Err(Reason::OutOfRange { .. })),
        "{beyond:?}"
    );
    let beyond = get("inference.max_batch", 1e29);
    assert!(
        matches!(beyond, Err(Reason::OutOfRange { .. })),
        "{beyond:?}"
    );
}

#[test]
fn numbers_are_finite() {
    assert_eq!(get("optimization.learning_rate", "1e-4").unwrap(), "0.0001");
    for text in ["nan", "inf", "-inf", "0", "-0.0"] {
        let refused = get("optimization.learning_rate", text);
        assert!(
            matches!(refused, Err(Reason::OutOfRange { .. })),
            "{text}: {refused:?}"
        );
    }
}

#[test]
fn flags_take_the_usual_words() {
    for text in ["yes", "ON", " true ", "1"] {
        assert_eq!(get("run.use_amp", text).unwrap(), "true");
    }
    for text in ["no", "Off", "FALSE", "0"] {
        assert_eq!(get("run.use_amp", text).unwrap(), "false");
    }
    for value in [Value::from(2), "y".into(), 0.5.into()] {
        assert!(get("run.use_amp", value).is_err());
    }
}

#[test]
fn numbers_below_a_switch_count_as_off_and_say_so() {
    let key = find("checkpoint.save_every").unwrap();
    let coerced = coerce(key, &Value::from(-3)).unwrap();
    assert_eq!(show(&coerced.value), "0");
    assert_eq!(coerced.moved_to.as_deref(), Some("0"));
}

#[test]
fn words_are_normalised_and_unknown_ones_refused() {
    assert_eq!(get("network.kind", " MLP ").unwrap(), "\"mlp\"");
    assert_eq!(
        get("traversal.cutoff_rollout_policy", "heuristic_balanced").unwrap(),
        "\"safe_heuristic\""
    );
    let Err(Reason::OutOfRange { nearest, .. }) = get("network.activation", "rellu") else {
        panic!("rellu was taken");
    };
    assert_eq!(nearest.as_deref(), Some("relu"));
}

#[test]
fn devices_are_requests() {
    for device in ["auto", "cpu", "CUDA", "cuda:1"] {
        assert!(get("run.device", device).is_ok(), "{device}");
    }
    for device in ["cuda:", "cuda:-1", "cuda:+1", "cuda:300", "tpu", ""] {
        assert!(get("run.device", device).is_err(), "{device}");
    }
}

#[test]
fn shown_values_are_short() {
    assert_eq!(show(&Value::from("x".repeat(500))).chars().count(), 80);
}
