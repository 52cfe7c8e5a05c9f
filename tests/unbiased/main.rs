//! Unbiasedness, by enumeration: the walks that `train` runs, with every way that their draws can come out, on games small enough.
//!
//! For each info set of the traverser the average target over all that can happen, weighted by its probability, is compared with the
//! quantity that the walk's documentation claims, computed by plain recursion over the game.

mod children;
mod enumeration;
mod exact;
mod guided;
mod network;
mod recall;
mod variance;

use coorl_async::{
    game::{
        Enumerable, Player,
        kuhn::Kuhn,
        leduc::Leduc,
        lost_cities::{LostCities, Rules},
    },
    regret,
    traversal::{
        Explorers, Opponent, OpponentPolicy, SamplingMode, Settings, UnsampledRegret, Walk,
        WalkRandomness, WalkTask, Walker,
    },
};
use enumeration::Outcomes;
use exact::{Exact, InfoSet};
use futures::FutureExt;
use network::Slot;
use recall::{Recall, Remembered, Words, info_set_of};
use std::collections::HashMap;

/// Part of a game: some of its deals, and where it is cut off.
struct Part<G: Enumerable> {
    game: Recall<G>,
    deals: Vec<(G::State, f64)>,
    max_depth: usize,
}

fn part<G: Enumerable>(game: G, every: usize, max_depth: usize) -> Part<G> {
    let deals = game.deals(10_000).expect("a small game");
    Part {
        game: Recall(game),
        deals: deals.into_iter().step_by(every).collect(),
        max_depth,
    }
}

fn kuhn() -> Part<Kuhn> {
    part(Kuhn, 1, 10)
}

/// Two colours of three ranks, hands of two: 360 deals, of which each `every`th.
fn lost_cities(every: usize, max_depth: usize) -> Part<LostCities> {
    let rules = Rules {
        n_colors: 2,
        n_ranks: 3,
        n_handshakes: 0,
        hand_size: 2,
        ..Rules::default()
    };
    part(LostCities::new(rules).unwrap(), every, max_depth)
}

type TheWalker<G> = Walker<Recall<G>, Words>;

fn walker<G: Enumerable>(part: &Part<G>, settings: &Settings) -> TheWalker<G> {
    let settings = Settings {
        max_depth: Some(part.max_depth),
        ..settings.clone()
    };
    let regret = regret::Settings::default();
    let opponents = OpponentPolicy::Always(Opponent::Network);
    Walker::with_opponents(part.game.clone(), Words, &settings, &regret, opponents).unwrap()
}

/// Walks once, with as many slots at hand as the settings let it use.
fn walk<G: Enumerable, R: WalkRandomness>(
    walker: &TheWalker<G>,
    state: &Remembered<G::State>,
    traverser: Player,
    slots: usize,
    rng: R,
) -> Walk<Recall<G>> {
    let task = WalkTask {
        state: state.clone(),
        traverser,
        snapshots: 0,
    };
    let mut slot = Slot::new(slots - 1);
    let walk = walker.walk(task, &mut slot, rng).now_or_never();
    walk.expect("answers are there at once")
        .expect("nobody stops")
}

/// Averages over all that can happen in the walks for one player.
#[derive(Default)]
struct Averages {
    value: f64,
    /// By info set: the expected number of samples, and the expected sum of their targets, `[16]`.
    info_sets: HashMap<u64, (f64, [f64; 16])>,
    walks: usize,
}

fn averages<G: Enumerable>(part: &Part<G>, traverser: Player, settings: &Settings) -> Averages {
    let walker = walker(part, settings);
    let mut averages = Averages::default();
    for (position, probability) in &part.deals {
        let root = part.game.root(position.clone());
        let outcomes = Outcomes::default();
        averages.walks += outcomes.for_each(
            |rng| walk(&walker, &root, traverser, settings.branches_in_flight, rng),
            |chance, walk| {
                let chance = probability * chance;
                averages.value += chance * walk.value;
                for sample in walk.samples.advantage() {
                    let entry = averages.info_sets.entry(info_set_of(sample.info));
                    let (visits, targets) = entry.or_default();
                    *visits += chance;
                    for (sum, &target) in targets.iter_mut().zip(sample.target) {
                        *sum += chance * f64::from(target);
                    }
                }
            },
        );
    }
    averages
}

/// How far the averages are from what they should be, relative to the greatest payoff.
#[derive(Clone, Copy, Debug, Default)]
struct Errors {
    value: f64,
    target: f64,
    /// Info sets that are visited though the opponent's policy never leads there.
    strangers: usize,
}

/// Compares the average targets of both players' walks with `claimed`, given an info set's sums and an action.
fn errors<G: Enumerable>(
    part: &Part<G>,
    settings: &Settings,
    claimed: impl Fn(&InfoSet, usize) -> f64,
) -> Errors {
    let mut errors = Errors::default();
    for traverser in Player::BOTH {
        let mut exact = Exact::new(&part.game, traverser, part.max_depth);
        let mut value = 0.0;
        for (position, probability) in &part.deals {
            let root = part.game.root(position.clone());
            value += probability * exact.value(&root, 0, *probability);
        }
        let averages = averages(part, traverser, settings);
        let scale = exact.greatest.max(1.0);
        let worse = |error: &mut f64, found: f64| *error = (*error).max(found / scale);
        worse(&mut errors.value, (averages.value - value).abs());
        let reached: HashMap<_, _> = exact
            .info_sets
            .iter()
            .filter(|(_, info_set)| info_set.weight > 0.0)
            .collect();
        for (name, info_set) in &reached {
            let (visits, targets) = averages.info_sets[*name];
            for (action, sum) in targets.into_iter().enumerate() {
                let expected = claimed(info_set, action) / info_set.weight;
                worse(&mut errors.target, (sum / visits - expected).abs());
            }
        }
        let strange = |name: &&u64| !reached.contains_key(name);
        errors.strangers += averages.info_sets.keys().filter(strange).count();
        println!(
            "{:?} for {traverser:?}: {} walks, {} info sets",
            settings.sampling_mode,
            averages.walks,
            reached.len()
        );
    }
    println!("  {errors:?}");
    errors
}

/// `Q - V` for actions that exist. The exact sums hold 0 for others, and so do targets.
fn advantage(info_set: &InfoSet, action: usize) -> f64 {
    let exists = info_set.legal.contains(action as u8);
    if exists {
        info_set.action_values[action] - info_set.value
    } else {
        0.0
    }
}

/// Float32 policies and targets against double precision.
const ROUNDING: f64 = 1e-5;
/// Far more than rounding.
const PLAIN_TO_SEE: f64 = 1e-3;

fn assert_unbiased<G: Enumerable>(part: &Part<G>, settings: &Settings) {
    let errors = errors(part, settings, advantage);
    assert!(errors.value < ROUNDING, "{errors:?}, {settings:?}");
    assert!(errors.target < ROUNDING, "{errors:?}, {settings:?}");
    assert_eq!(errors.strangers, 0, "{settings:?}");
}

fn outcome() -> Settings {
    Settings {
        outcome_sampling_epsilon: 0.4,
        branches_in_flight: 1,
        ..Settings::default()
    }
}

fn mode(sampling_mode: SamplingMode) -> Settings {
    Settings {
        sampling_mode,
        ..outcome()
    }
}

fn robust(robust_actions: usize) -> Settings {
    Settings {
        robust_actions,
        ..mode(SamplingMode::Robust)
    }
}

#[test]
fn outcome_sampling() {
    assert_unbiased(&kuhn(), &outcome());
    assert_unbiased(&part(Leduc, 1, 20), &outcome());
    assert_unbiased(&lost_cities(12, 6), &outcome());
}

#[test]
fn external_sampling() {
    let external = mode(SamplingMode::External);
    assert_unbiased(&kuhn(), &external);
    assert_unbiased(&part(Leduc, 1, 4), &external);
    assert_unbiased(&lost_cities(40, 4), &external);
    // However many branches wait at once.
    let several = Settings {
        branches_in_flight: 3,
        ..external
    };
    assert_unbiased(&kuhn(), &several);
}

#[test]
fn robust_sampling() {
    for actions in [1, 2] {
        assert_unbiased(&kuhn(), &robust(actions));
        assert_unbiased(&part(Leduc, 1, 4), &robust(actions));
        assert_unbiased(&lost_cities(40, 4), &robust(actions));
    }
}

#[test]
fn all_actions() {
    let all_actions = mode(SamplingMode::AllActions);
    assert_unbiased(&kuhn(), &all_actions);
    assert_unbiased(&part(Leduc, 3, 3), &all_actions);
    assert_unbiased(&lost_cities(60, 3), &all_actions);
}

/// The bias is there to be seen, and what is documented is what it is.
#[test]
fn zero_for_unsampled_actions_estimates_what_it_says() {
    let zero = Settings {
        outcome_unsampled_regret: UnsampledRegret::Zero,
        ..outcome()
    };
    let documented = |info_set: &InfoSet, action: usize| {
        (1.0 - info_set.policy[action]) * info_set.action_values[action]
    };
    assert!(errors(&kuhn(), &zero, advantage).target > PLAIN_TO_SEE);
    assert!(errors(&kuhn(), &zero, documented).target < ROUNDING);
    assert!(errors(&lost_cities(36, 5), &zero, documented).target < ROUNDING);
}

#[test]
fn a_clip_that_binds_is_biased_and_one_that_does_not_is_not() {
    let clipped = |clip| Settings {
        outcome_sampling_value_clip: Some(clip),
        ..outcome()
    };
    let errors = errors(&kuhn(), &clipped(1.0), advantage);
    assert!(errors.target > PLAIN_TO_SEE && errors.value > PLAIN_TO_SEE);
    assert_unbiased(&kuhn(), &clipped(1_000.0));
}

#[test]
fn exploring_opponents_are_biased_though_values_are_not() {
    let both = Settings {
        outcome_sampling_explorers: Explorers::Both,
        ..outcome()
    };
    let errors = errors(&kuhn(), &both, advantage);
    assert!(errors.target > PLAIN_TO_SEE);
    assert!(errors.value < ROUNDING);
}

#[test]
fn a_traverser_who_never_explores_is_biased() {
    let never = Settings {
        outcome_sampling_epsilon: 0.0,
        ..outcome()
    };
    // Every info set of Kuhn poker is met all the same; what their policies never play is worth -V there.
    assert!(errors(&kuhn(), &never, advantage).target > PLAIN_TO_SEE);
}

#[test]
fn the_first_open_prior_is_biased() {
    let prior = Settings {
        outcome_unsampled_first_open_prior_alpha: 5.0,
        ..outcome()
    };
    assert!(errors(&lost_cities(36, 4), &prior, advantage).target > PLAIN_TO_SEE);
}
