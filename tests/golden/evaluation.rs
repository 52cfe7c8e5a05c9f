//! The evaluated policy's choice and entropy, in the rows of `policy.jsonl.gz` that have them.

use crate::vectors::{actions, floats, integer, rows};
use coorl_async::evaluation::{PolicyMode, Reading};
use coorl_async::random::{Purpose, Stream};

#[test]
fn greedy_choice_and_entropy() {
    let rows = rows("policy.jsonl.gz");
    let judged = rows.iter().filter(|row| !row["eval_argmax"].is_null());
    let mut count = 0;
    for row in judged.filter(|row| !row["legal"].as_array().is_none_or(Vec::is_empty)) {
        let mut unused = Stream::new(0, Purpose::Trial, 0, 0);
        let legal = actions(&row["legal"]).into_iter().collect();
        let decision = PolicyMode::Greedy
            .decide(Reading::Logits, &floats(&row["logits"]), legal, &mut unused)
            .unwrap_or_else(|| panic!("row {}: no decision", row["id"]));
        let entropy = row["eval_entropy"].as_f64().expect("an entropy");
        assert_eq!(
            i64::from(decision.action),
            integer(&row["eval_argmax"]),
            "row {}: action",
            row["id"]
        );
        assert!(
            (decision.entropy - entropy).abs() <= 1e-5 * entropy.max(1.0),
            "row {}: entropy {} for {entropy}",
            row["id"],
            decision.entropy
        );
        count += 1;
    }
    assert!(
        count > 0,
        "policy.jsonl.gz has no row with an evaluated choice"
    );
}
