//! Value-guided walks that look at the states after each action, with an exact critic.

use crate::{
    Part, ROUNDING, advantage,
    enumeration::Outcomes,
    guided::known,
    kuhn, lost_cities,
    network::{self, Slot},
    part,
    recall::{Recall, Remembered, Words, info_set_of, write_words},
};
use coorl_async::{
    encoding::Encoding,
    game::{Action, ActionSet, Enumerable, Game, Player, leduc::Leduc},
    inference::{Head, Stopped},
    random::{Purpose, Stream},
    regret::{Fallback, Matching},
    traversal::{
        self, GuidedSettings, GuidedTargets, GuidedWalk, GuidedWalker, WalkRandomness, WalkSlot,
    },
};
use futures::FutureExt;
use std::{
    collections::HashMap,
    sync::Arc,
    task::{Context, Poll},
};

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

/// Walks of a part of a game whose critic is exact.
struct Walks<'a, G: Enumerable> {
    part: &'a Part<G>,
    walker: GuidedWalker<Recall<G>, Histories>,
    values: Arc<Values>,
}

impl<'a, G: Enumerable> Walks<'a, G> {
    fn new(part: &'a Part<G>, settings: &GuidedSettings) -> Self {
        let mut values = Values::new();
        for (position, _) in &part.deals {
            note(part, &part.game.root(position.clone()), 0, &mut values);
        }
        let traversal = traversal::Settings {
            max_depth: Some(part.max_depth),
            ..traversal::Settings::default()
        };
        let (game, encoding) = (part.game.clone(), Histories { open: false });
        Self {
            part,
            walker: GuidedWalker::new(game, encoding, settings, &traversal, false),
            values: Arc::new(values),
        }
    }

    fn walk<R: WalkRandomness>(
        &self,
        position: &G::State,
        slots: usize,
        rng: R,
    ) -> GuidedWalk<Recall<G>> {
        let mut slot = Seer {
            slot: Slot::new(slots - 1),
            values: Arc::clone(&self.values),
            known: None,
        };
        let update = Matching {
            epsilon: 0.0,
            fallback: Fallback::Uniform,
        };
        let root = self.part.game.root(position.clone());
        let walk = self.walker.walk(root, &update, 0.0, &mut slot, rng);
        let walk = walk.now_or_never().expect("answers are there at once");
        walk.expect("nobody stops")
    }
}

/// All children of all decisions, returns without bootstrapping.
fn everything() -> GuidedSettings {
    GuidedSettings {
        targets: GuidedTargets::Children,
        children_share: 1.0,
        lambda: 1.0,
        ..GuidedSettings::default()
    }
}

/// By row: how often it is met, and the sums of its targets.
type Sums<const N: usize> = HashMap<u64, (f64, [f64; N])>;

fn add<const N: usize>(sums: &mut Sums<N>, row: &[f32], chance: f64, target: &[f32]) {
    let (visits, sums) = sums.entry(info_set_of(row)).or_insert((0.0, [0.0; N]));
    *visits += chance;
    for (sum, &target) in sums.iter_mut().zip(target) {
        *sum += chance * f64::from(target);
    }
}

/// With exact values of states, targets are exact, and so are the returns of both players.
fn assert_exact<G: Enumerable>(part: &Part<G>) {
    let (info_sets, greatest) = known(part);
    let walks = Walks::new(part, &everything());
    let near = |found: f64, exact: f64| {
        let error = (found - exact).abs() / greatest;
        assert!(error < ROUNDING, "{found} {exact}");
    };
    for slots in [1, 4] {
        let (mut targets, mut returns) = (Sums::<16>::new(), Sums::<2>::new());
        for (position, probability) in &part.deals {
            Outcomes::default().for_each(
                |rng| walks.walk(position, slots, rng),
                |chance, walk| {
                    let chance = probability * chance;
                    for sample in walk.samples.advantage() {
                        add(&mut targets, sample.info, chance, sample.target);
                    }
                    for sample in walk.critic.advantage() {
                        add(&mut returns, sample.info, chance, sample.target);
                    }
                },
            );
        }
        assert!(!targets.is_empty() && !returns.is_empty());
        for (name, (visits, sums)) in &targets {
            let info_set = &info_sets[name];
            for (action, sum) in sums.iter().enumerate() {
                near(sum / visits, advantage(info_set, action) / info_set.weight);
            }
        }
        for (name, (visits, sums)) in &returns {
            for (sum, exact) in sums.iter().zip(walks.values[name]) {
                near(sum / visits, exact);
            }
        }
    }
}

#[test]
fn targets_are_exact_where_the_critic_is() {
    assert_exact(&kuhn());
    assert_exact(&part(Leduc, 1, 20));
    assert_exact(&lost_cities(12, 4));
}

/// Scattered plies and decisions at which nobody looked leave what is recorded in step: a decision's action is legal in its own sample, and only
/// those looked at give one, while the critic learns from all that were recorded.
#[test]
fn what_was_done_goes_with_what_was_recorded() {
    let part = lost_cities(12, 6);
    let settings = GuidedSettings {
        children_share: 0.5,
        scattered_starts: 0.5,
        scattered_plies: 50,
        ..everything()
    };
    let walks = Walks::new(&part, &settings);
    let (mut judged, mut learned, mut nodes) = (0, 0, 0);
    for (number, (position, _)) in (0u64..).zip(&part.deals) {
        for walk in 0..20 {
            let rng = Stream::new(number, Purpose::Walk, 1, walk);
            let walk = walks.walk(position, 4, rng);
            assert_eq!(walk.taken.len(), walk.samples.advantage().len());
            for (sample, taken) in walk.samples.advantage().zip(&walk.taken) {
                assert!(sample.legal.contains(taken.action));
                assert!(taken.probability > 0.0 && taken.walked > 0.0);
                // The critic is exact: what an action brought differs from its value by chance alone.
                assert!(taken.advantage.is_finite());
            }
            judged += walk.taken.len();
            learned += walk.critic.advantage().len();
            nodes += walk.statistics.counts.nodes as usize;
        }
    }
    assert!(
        judged > learned / 3 && judged < 2 * learned / 3,
        "{judged} of {learned}"
    );
    assert!(learned < nodes, "scattered plies are not recorded");
}
