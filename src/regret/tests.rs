use super::*;
use crate::game::{Action, ActionSet};
use proptest::prelude::*;

fn set(actions: &[Action]) -> ActionSet {
    actions.iter().copied().collect()
}

fn matched(advantages: &[f32], legal: ActionSet, fallback: Fallback) -> (Vec<f32>, Matched) {
    // Filled with rubbish, so that an entry that is not written shows.
    let mut policy = vec![f32::NAN; advantages.len()];
    let matched = regret_matching(advantages, legal, 1e-8, fallback, &mut policy);
    (policy, matched)
}

#[test]
fn positive_advantages_share_in_proportion() {
    let (policy, matched) = matched(&[1.0, -2.0, 3.0, 9.0], set(&[0, 1, 2]), Fallback::Uniform);
    assert_eq!(policy, [0.25, 0.0, 0.75, 0.0]);
    assert_eq!(matched, Matched::default());
}

#[test]
fn a_sum_equal_to_epsilon_falls_back() {
    let mut policy = [0.0; 2];
    let mut falls_back = |epsilon| {
        regret_matching(
            &[0.25, -1.0],
            set(&[0, 1]),
            epsilon,
            Fallback::Uniform,
            &mut policy,
        )
        .fallback
    };
    assert!(falls_back(0.25) && !falls_back(0.2499));
    // Without a threshold an all-zero sum still falls back.
    let mut policy = [0.0; 2];
    for epsilon in [0.0, -1.0, f64::NAN] {
        assert!(
            regret_matching(
                &[0.0, -1.0],
                set(&[0, 1]),
                epsilon,
                Fallback::Uniform,
                &mut policy
            )
            .fallback
        );
        assert_eq!(policy, [0.5, 0.5]);
    }
}

#[test]
fn near_best_plays_what_is_within_its_width_of_the_best() {
    let legal = set(&[0, 1, 2, 3]);
    let near = |advantages: &[f32; 4], epsilon| {
        let mut policy = vec![9.0; 4];
        let fallback = Fallback::NearBest;
        let matched = regret_matching(advantages, legal, epsilon, fallback, &mut policy);
        (policy, matched.fallback)
    };
    // The best is -0.25: shares of 0.5, 0.25, 0 and 0.25 above -0.75.
    let (policy, fallback) = near(&[-0.25, -0.5, -0.75, -0.5], 0.5);
    assert_eq!((policy, fallback), (vec![0.5, 0.25, 0.0, 0.25], true));
    // A positive sum within the width is no evidence either; beyond it, regret matching decides.
    let (policy, fallback) = near(&[0.25, -0.25, -1.0, -1.0], 0.5);
    assert_eq!((policy, fallback), (vec![1.0, 0.0, 0.0, 0.0], true));
    let (policy, fallback) = near(&[0.75, 0.25, 0.0, -1.0], 0.5);
    assert_eq!((policy, fallback), (vec![0.75, 0.25, 0.0, 0.0], false));
    // Without a width the best alone, and no number is worse than any.
    assert_eq!(near(&[-0.5, -1.0, -2.0, -0.5], 0.0).0, [1.0, 0.0, 0.0, 0.0]);
    let nan = f32::NAN;
    assert_eq!(near(&[nan, -1.0, nan, nan], 0.5).0, [0.0, 1.0, 0.0, 0.0]);
}

#[test]
fn the_fallback_counts_ties_and_takes_the_lowest() {
    let advantages = [-1.0, -0.5, -0.5, 0.0, -0.5];
    let legal = set(&[0, 1, 2, 4]);
    let tie = Matched {
        fallback: true,
        tie_size: 3,
        full_tie: false,
    };
    assert_eq!(
        matched(&advantages, legal, Fallback::ArgmaxTiebreak),
        (vec![0.0, 1.0, 0.0, 0.0, 0.0], tie)
    );
    assert_eq!(
        matched(&advantages, legal, Fallback::Uniform),
        (vec![0.25, 0.25, 0.25, 0.0, 0.25], tie)
    );
    let (_, full) = matched(&advantages, set(&[1, 2]), Fallback::Uniform);
    assert!(full.full_tie && full.tie_size == 2);
    let (_, alone) = matched(&advantages, set(&[2]), Fallback::Uniform);
    assert!(!alone.full_tie && alone.tie_size == 1);
}

#[test]
fn without_legal_actions_nothing_has_mass() {
    for fallback in Fallback::ALL {
        let (policy, matched) = matched(&[1.0, 2.0], ActionSet::EMPTY, fallback);
        assert_eq!(policy, [0.0, 0.0]);
        assert_eq!(
            matched,
            Matched {
                fallback: true,
                tie_size: 0,
                full_tie: false
            }
        );
    }
    let mut policy = [f32::NAN; 2];
    legal_softmax(&[1.0, 2.0], ActionSet::EMPTY, &mut policy);
    assert_eq!(policy, [0.0, 0.0]);
    mix_uniform(&[0.0, 0.0], ActionSet::EMPTY, 0.5, &mut policy);
    assert_eq!(policy, [0.0, 0.0]);
    assert_eq!(greedy(&[1.0, 2.0], ActionSet::EMPTY), None);
    assert_eq!(draw(&[0.5, 0.5], ActionSet::EMPTY, 0.0), None);
}

#[test]
fn what_is_not_finite_gets_nothing_and_spoils_nothing() {
    let all = set(&[0, 1, 2, 3]);
    let broken = [f32::NAN, f32::INFINITY, 2.0, f32::NEG_INFINITY];
    let (policy, _) = matched(&broken, all, Fallback::Uniform);
    assert_eq!(policy, [0.0, 0.0, 1.0, 0.0]);
    let negative = [f32::NAN, f32::INFINITY, -2.0, f32::NEG_INFINITY];
    let (policy, counts) = matched(&negative, all, Fallback::ArgmaxTiebreak);
    assert_eq!(policy, [0.0, 0.0, 1.0, 0.0]);
    assert_eq!(
        counts,
        Matched {
            fallback: true,
            tie_size: 1,
            full_tie: false
        }
    );
    let (policy, counts) = matched(&[f32::NAN; 4], all, Fallback::ArgmaxTiebreak);
    assert_eq!(policy, [1.0, 0.0, 0.0, 0.0]);
    assert!(counts.full_tie);

    let mut policy = [f32::NAN; 4];
    legal_softmax(&broken, all, &mut policy);
    assert_eq!(policy, [0.0, 0.0, 1.0, 0.0]);
    legal_softmax(&[f32::NAN; 4], all, &mut policy);
    assert_eq!(policy, [0.25; 4]);
    assert_eq!(greedy(&broken, all), Some(2));
    assert_eq!(greedy(&[f32::NAN; 4], all), Some(0));
}

#[test]
fn a_sum_beyond_float32_is_scaled() {
    let (policy, matched) = matched(
        &[3e38, 3e38, 1.5e38, -3e38],
        set(&[0, 1, 2, 3]),
        Fallback::Uniform,
    );
    assert_eq!(policy, [0.4, 0.4, 0.2, 0.0]);
    assert!(!matched.fallback);
}

#[test]
fn draws_invert_the_cumulative_sum() {
    let policy = [0.25, 0.0, 0.5, 0.125];
    let legal = set(&[0, 1, 2, 3]);
    for (r, action) in [(0.0, 0), (0.2499, 0), (0.25, 2), (0.7499, 2), (0.75, 3)] {
        assert_eq!(draw(&policy, legal, r), Some(action), "{r}");
    }
    // Beyond the sum the last positive one; out of range is clamped.
    assert_eq!(draw(&policy, legal, 0.99), Some(3));
    assert_eq!(draw(&[0.0, 1.0, 0.0], set(&[0, 1, 2]), 1.0), Some(1));
    assert_eq!(draw(&policy, legal, -1.0), Some(0));
    assert_eq!(draw(&policy, set(&[1]), 0.5), None);
}

#[test]
fn entropy_is_in_nats() {
    assert_eq!(entropy(&[0.0, 1.0]).to_bits(), 0.0f64.to_bits());
    assert!((entropy(&[0.5, 0.5, 0.0]) - 2f64.ln()).abs() < 1e-12);
}

/// Values of many sizes for up to 128 actions, and which of them are legal (at least one).
fn actions() -> impl Strategy<Value = (Vec<f32>, ActionSet)> {
    let value = prop_oneof![-10.0..10.0f32, -1e-6..1e-6f32, -3e38..3e38f32, Just(0.0f32)];
    (
        prop::collection::vec(value, 1..=ActionSet::CAPACITY),
        any::<u128>(),
        any::<u8>(),
    )
        .prop_map(|(values, bits, one)| {
            let mut legal: ActionSet = (0..values.len() as u8)
                .filter(|action| bits >> action & 1 == 1)
                .collect();
            legal.insert(one % values.len() as u8);
            (values, legal)
        })
}

fn is_policy(policy: &[f32], legal: ActionSet) -> Result<(), TestCaseError> {
    let sum: f64 = policy
        .iter()
        .map(|&probability| f64::from(probability))
        .sum();
    prop_assert!((sum - 1.0).abs() < 1e-5, "sums to {sum}");
    for (action, &probability) in (0..).zip(policy) {
        prop_assert!(probability >= 0.0);
        prop_assert!(
            legal.contains(action) || probability == 0.0,
            "illegal {action}"
        );
    }
    Ok(())
}

proptest! {
    #[test]
    fn policies_are_distributions_that_follow_their_values((values, legal) in actions(), epsilon in 0.0..1.0f64) {
        let mut policies = Vec::new();
        for fallback in Fallback::ALL {
            let (policy, matched) = matched(&values, legal, fallback);
            prop_assert_eq!(matched.fallback, matched.tie_size > 0);
            policies.push(policy);
        }
        let mut softmax = vec![f32::NAN; values.len()];
        legal_softmax(&values, legal, &mut softmax);
        policies.push(softmax);
        for policy in policies {
            is_policy(&policy, legal)?;
            for low in legal.iter() {
                for high in legal.iter() {
                    if values[low as usize] < values[high as usize] {
                        prop_assert!(policy[low as usize] <= policy[high as usize]);
                    }
                }
            }
            let best = greedy(&policy, legal).expect("a legal action");
            prop_assert!(legal.iter().all(|action| policy[action as usize] <= policy[best as usize]));
            let nats = entropy(&policy);
            prop_assert!((0.0..=(legal.len() as f64).ln() + 1e-5).contains(&nats));
            let mut mixed = vec![f32::NAN; values.len()];
            mix_uniform(&policy, legal, epsilon, &mut mixed);
            is_policy(&mixed, legal)?;
        }
    }

    #[test]
    fn draws_fall_on_positive_legal_actions((values, legal) in actions(), r in 0.0..1.0f64) {
        let (policy, _) = matched(&values, legal, Fallback::Uniform);
        let action = draw(&policy, legal, r).expect("mass is left");
        prop_assert!(legal.contains(action) && policy[action as usize] > 0.0);
        let below: f64 = policy[..action as usize].iter().map(|&p| f64::from(p)).sum();
        prop_assert!(below <= r || (below - r).abs() < 1e-9);
    }
}
