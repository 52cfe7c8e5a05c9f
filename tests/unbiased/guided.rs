//! Value-guided walks with an exact critic.

use crate::{
    Part, ROUNDING, advantage,
    enumeration::Outcomes,
    exact::{Exact, InfoSet},
    kuhn, lost_cities,
    network::Slot,
    part,
    recall::{Recall, Words, info_set_of},
};
use coorl_async::{
    game::{Enumerable, Player, leduc::Leduc},
    inference::{Head, Stopped},
    regret::{Fallback, Matching},
    traversal::{self, GuidedSettings, GuidedWalker, WalkSlot},
};
use futures::FutureExt;
use std::{
    collections::HashMap,
    sync::Arc,
    task::{Context, Poll},
};

pub type InfoSets = HashMap<u64, InfoSet>;

/// A slot whose policy answers are the fixed networks', and whose critic knows the values of the actions.
struct Judge {
    slot: Slot,
    known: Arc<InfoSets>,
    values: Option<[f32; 16]>,
}

impl Judge {
    fn new(known: &Arc<InfoSets>, spare: usize) -> Self {
        Self {
            slot: Slot::new(spare),
            known: Arc::clone(known),
            values: None,
        }
    }
}

impl WalkSlot for Judge {
    fn info_mut(&mut self) -> &mut [f32] {
        self.slot.info_mut()
    }
    fn info(&self) -> &[f32] {
        self.slot.info()
    }
    fn answer(&self) -> &[f32] {
        self.values
            .as_ref()
            .map_or(self.slot.answer(), |values| values)
    }
    fn ask(&mut self, head: Head, context: &Context<'_>) -> Result<(), Stopped> {
        self.values = (head == Head::CRITIC).then(|| {
            let info_set = &self.known[&info_set_of(self.slot.info())];
            info_set
                .action_values
                .map(|value| (value / info_set.weight) as f32)
        });
        self.slot.ask(head, context)
    }
    fn poll_answer(&self, context: &Context<'_>) -> Poll<Result<(), Stopped>> {
        self.slot.poll_answer(context)
    }
    fn another(&self) -> Option<Self> {
        let spare = self.slot.spare;
        (spare > 0).then(|| Self::new(&self.known, spare - 1))
    }
}

/// What both players' info sets are worth, exactly.
pub fn known<G: Enumerable>(part: &Part<G>) -> (Arc<InfoSets>, f64) {
    let (mut known, mut greatest) = (InfoSets::new(), 1f64);
    for player in Player::BOTH {
        let mut exact = Exact::new(&part.game, player, part.max_depth);
        for (position, probability) in &part.deals {
            let root = part.game.root(position.clone());
            exact.value(&root, 0, *probability);
        }
        greatest = greatest.max(exact.greatest);
        known.extend(exact.info_sets);
    }
    (Arc::new(known), greatest)
}

/// By info set: how often it is met, the sums of its targets, and per action how often it was taken and the sum of its returns.
#[derive(Default)]
struct Sums {
    visits: f64,
    targets: [f64; 16],
    taken: [f64; 16],
    returns: [f64; 16],
}

fn sums<G: Enumerable>(part: &Part<G>, known: &Arc<InfoSets>, slots: usize) -> HashMap<u64, Sums> {
    let settings = GuidedSettings {
        lambda: 1.0,
        ..GuidedSettings::default()
    };
    let traversal = traversal::Settings {
        max_depth: Some(part.max_depth),
        ..traversal::Settings::default()
    };
    let walker = GuidedWalker::new(part.game.clone(), Words, &settings, &traversal, false);
    let update = Matching {
        epsilon: 0.0,
        fallback: Fallback::Uniform,
    };
    let mut sums = HashMap::<u64, Sums>::new();
    for (position, probability) in &part.deals {
        let root = part.game.root(position.clone());
        Outcomes::default().for_each(
            |rng| {
                let mut slot = Judge::new(known, slots - 1);
                let walk = walker.walk(root.clone(), &update, 0.0, &mut slot, rng);
                let walk = walk.now_or_never().expect("answers are there at once");
                walk.expect("nobody stops")
            },
            |chance, walk| {
                let chance = probability * chance;
                for sample in walk.samples.advantage() {
                    let sums = sums.entry(info_set_of(sample.info)).or_default();
                    sums.visits += chance;
                    for (sum, &target) in sums.targets.iter_mut().zip(sample.target) {
                        *sum += chance * f64::from(target);
                    }
                }
                assert_eq!(
                    walk.critic.advantage().len(),
                    walk.samples.advantage().len()
                );
                for sample in walk.critic.advantage() {
                    let sums = sums.entry(info_set_of(sample.info)).or_default();
                    let action = sample.legal.first().expect("the action taken") as usize;
                    sums.taken[action] += chance;
                    sums.returns[action] += chance * f64::from(sample.target[action]);
                }
            },
        );
    }
    sums
}

/// With an exact critic every target is exact, and what the critic learns from leads to the same advantages: the standing that returns are
/// counted from is the same for all actions of a history.
fn assert_exact<G: Enumerable>(part: &Part<G>) {
    let (known, greatest) = known(part);
    for slots in [1, 2] {
        let sums = sums(part, &known, slots);
        assert!(!sums.is_empty());
        for (name, sums) in &sums {
            let info_set = &known[name];
            let exact = |action| advantage(info_set, action) / info_set.weight;
            let mean = |action: usize| match sums.taken[action] {
                0.0 => 0.0,
                taken => sums.returns[action] / taken,
            };
            let value: f64 = (0..16).map(|b| info_set.policy[b] * mean(b)).sum();
            for action in 0..16 {
                let found = sums.targets[action] / sums.visits;
                let error = (found - exact(action)).abs() / greatest;
                assert!(error < ROUNDING, "{action}: {found} {}", exact(action));
                if sums.taken[action] > 0.0 {
                    let found = mean(action) - value;
                    let error = (found - exact(action)).abs() / greatest;
                    assert!(error < ROUNDING, "{action}: {found} {}", exact(action));
                }
            }
        }
    }
}

#[test]
fn targets_and_returns_are_exact_where_the_critic_is() {
    assert_exact(&kuhn());
    assert_exact(&part(Leduc, 1, 20));
    assert_exact(&lost_cities(12, 6));
}

/// A walk meets what the policies lead to, and records both players' decisions.
#[test]
fn walks_meet_info_sets_as_often_as_the_policies_lead_there() {
    let part = kuhn();
    let (known, _) = known(&part);
    let sums = sums(&part, &known, 2);
    let first: f64 = part
        .deals
        .iter()
        .map(|(position, probability)| {
            let root = part.game.root(*position);
            let name = Recall::info_set(&part.game, &root, Player::P0);
            assert!(sums.contains_key(&name));
            probability
        })
        .sum();
    assert!((first - 1.0).abs() < 1e-12);
    let decisions: f64 = sums.values().map(|sums| sums.visits).sum();
    assert!(decisions > 2.0 - 1e-6 && decisions <= 3.0, "{decisions}");
}
