//! Value-guided walks with an exact critic.

use crate::{
    Part, ROUNDING, advantage,
    enumeration::Outcomes,
    exact::{Exact, InfoSet},
    kuhn, lost_cities,
    network::{self, Slot},
    part,
    recall::{Recall, Remembered, Words, info_set_of, write_words},
};
use coorl_async::{
    encoding::Encoding,
    game::{Action, ActionSet, Enumerable, Game, Player, leduc::Leduc},
    inference::{Head, Stopped},
    regret::{Fallback, Matching},
    traversal::{self, GuidedSettings, GuidedTargets, GuidedWalker, WalkSlot},
};
use futures::FutureExt;
use std::{
    collections::HashMap,
    sync::Arc,
    task::{Context, Poll},
};

type InfoSets = HashMap<u64, InfoSet>;

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
fn known<G: Enumerable>(part: &Part<G>) -> (Arc<InfoSets>, f64) {
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

/// Rows as [`Words`] for the policy; the critic's name the history.
#[derive(Clone)]
struct Histories {
    open: bool,
}

/// What names a history: both players have seen all of it between them.
fn history_of<G: Enumerable>(game: &Recall<G>, state: &Remembered<G::State>) -> u64 {
    let [one, other] = Player::BOTH.map(|player| game.info_set(state, player));
    one ^ other.rotate_left(17)
}

impl<G: Enumerable> Encoding<Recall<G>> for Histories {
    fn info_len(&self) -> usize {
        Encoding::<Recall<G>>::info_len(&Words)
    }
    fn num_actions(&self) -> usize {
        Encoding::<Recall<G>>::num_actions(&Words)
    }
    fn legal_actions(&self, game: &Recall<G>, state: &Remembered<G::State>) -> ActionSet {
        Words.legal_actions(game, state)
    }
    fn to_game(&self, game: &Recall<G>, state: &Remembered<G::State>, action: Action) -> Action {
        Words.to_game(game, state, action)
    }
    fn encode(
        &self,
        game: &Recall<G>,
        state: &Remembered<G::State>,
        observer: Player,
        legal: ActionSet,
        row: &mut [f32],
    ) {
        if self.open {
            write_words(history_of(game, state), row);
        } else {
            Words.encode(game, state, observer, legal, row);
        }
    }
    fn critic_view(&self) -> Option<Self> {
        Some(Self { open: true })
    }
}

/// By history at which somebody decides: what is to come for them and for the other, counted from what the game would be scored at.
type Values = HashMap<u64, [f64; 2]>;

/// Notes the values of all histories from `state` on; what it is worth to player 0.
fn note<G: Enumerable>(
    part: &Part<G>,
    state: &Remembered<G::State>,
    depth: usize,
    values: &mut Values,
) -> f64 {
    let game = &part.game;
    let scored = game.payoff(state, Player::P0);
    let Some(mover) = game.mover(state).filter(|_| depth < part.max_depth) else {
        return scored;
    };
    let legal = game.legal_actions(state);
    let info_set = game.info_set(state, mover);
    let policy = network::policy(Head::advantage(mover), info_set, legal);
    let mut value = 0.0;
    for action in legal.iter() {
        let outcomes = game.chance_outcomes(state, action).max(1);
        for outcome in 0..outcomes {
            let mut next = state.clone();
            match outcomes {
                1 => game.apply(&mut next, action),
                _ => game.apply_outcome(&mut next, action, outcome),
            }
            let share = policy[action as usize] / outcomes as f64;
            value += share * note(part, &next, depth + 1, values);
        }
    }
    let to_come = [value - scored, scored - value];
    let own = mover.index();
    let history = history_of(game, state);
    values.insert(history, [to_come[own], to_come[1 - own]]);
    value
}

/// A slot whose critic knows the values of histories.
struct Seer {
    slot: Slot,
    values: Arc<Values>,
    known: Option<[f32; 2]>,
}

impl WalkSlot for Seer {
    fn info_mut(&mut self) -> &mut [f32] {
        self.slot.info_mut()
    }
    fn info(&self) -> &[f32] {
        self.slot.info()
    }
    fn answer(&self) -> &[f32] {
        self.known
            .as_ref()
            .map_or(self.slot.answer(), |known| known)
    }
    fn ask(&mut self, head: Head, context: &Context<'_>) -> Result<(), Stopped> {
        let history = info_set_of(self.slot.info());
        let known = || self.values[&history].map(|value| value as f32);
        self.known = (head == Head::CRITIC).then(known);
        self.slot.ask(head, context)
    }
    fn poll_answer(&self, context: &Context<'_>) -> Poll<Result<(), Stopped>> {
        self.slot.poll_answer(context)
    }
    fn another(&self) -> Option<Self> {
        let spare = self.slot.spare;
        (spare > 0).then(|| Self {
            slot: Slot::new(spare - 1),
            values: Arc::clone(&self.values),
            known: None,
        })
    }
}

/// With exact values of states, targets are exact, and so are the returns of both players.
fn assert_exact_by_children<G: Enumerable>(part: &Part<G>) {
    let (info_sets, greatest) = known(part);
    let mut values = Values::new();
    for (position, _) in &part.deals {
        note(part, &part.game.root(position.clone()), 0, &mut values);
    }
    let values = Arc::new(values);
    let settings = GuidedSettings {
        targets: GuidedTargets::Children,
        children_share: 1.0,
        lambda: 1.0,
        ..GuidedSettings::default()
    };
    let traversal = traversal::Settings {
        max_depth: Some(part.max_depth),
        ..traversal::Settings::default()
    };
    let encoding = Histories { open: false };
    let walker = GuidedWalker::new(part.game.clone(), encoding, &settings, &traversal, false);
    let update = Matching {
        epsilon: 0.0,
        fallback: Fallback::Uniform,
    };
    for slots in [1, 4] {
        let mut targets = HashMap::<u64, (f64, [f64; 16])>::new();
        let mut returns = HashMap::<u64, (f64, [f64; 2])>::new();
        for (position, probability) in &part.deals {
            let root = part.game.root(position.clone());
            let walk = |rng| {
                let mut slot = Seer {
                    slot: Slot::new(slots - 1),
                    values: Arc::clone(&values),
                    known: None,
                };
                let walk = walker.walk(root.clone(), &update, 0.0, &mut slot, rng);
                let walk = walk.now_or_never().expect("answers are there at once");
                walk.expect("nobody stops")
            };
            Outcomes::default().for_each(walk, |chance, walk| {
                let chance = probability * chance;
                for sample in walk.samples.advantage() {
                    let entry = targets.entry(info_set_of(sample.info)).or_default();
                    add(entry, chance, sample.target);
                }
                for sample in walk.critic.advantage() {
                    let entry = returns.entry(info_set_of(sample.info)).or_default();
                    add(entry, chance, sample.target);
                }
            });
        }
        assert!(!targets.is_empty() && !returns.is_empty());
        let near = |found: f64, exact: f64| {
            let error = (found - exact).abs() / greatest;
            assert!(error < ROUNDING, "{found} {exact}");
        };
        for (name, (visits, sums)) in &targets {
            let info_set = &info_sets[name];
            for (action, sum) in sums.iter().enumerate() {
                near(sum / visits, advantage(info_set, action) / info_set.weight);
            }
        }
        for (name, (visits, sums)) in &returns {
            for (sum, exact) in sums.iter().zip(values[name]) {
                near(sum / visits, exact);
            }
        }
    }
}

fn add<const N: usize>((visits, sums): &mut (f64, [f64; N]), chance: f64, target: &[f32]) {
    *visits += chance;
    for (sum, &target) in sums.iter_mut().zip(target) {
        *sum += chance * f64::from(target);
    }
}

#[test]
fn targets_of_children_are_exact_where_the_critic_is() {
    assert_exact_by_children(&kuhn());
    assert_exact_by_children(&part(Leduc, 1, 20));
    assert_exact_by_children(&lost_cities(12, 4));
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
