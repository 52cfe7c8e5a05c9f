//! What is counted about fallback decisions.

use super::{Action, ActionSet, LostCities, Phase, Rules, State};
use crate::game::{DecisionProfile, Game};

/// Classes of actions. The discriminants number them in [`ActionKind::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionKind {
    /// A play on an expedition that the mover has begun.
    PlayExisting,
    /// A play that begins an expedition.
    OpenNew,
    /// A discard.
    Discard,
    /// A draw from the deck.
    DrawDeck,
    /// A draw from a pile.
    DrawPile,
}

impl ActionKind {
    /// All classes.
    pub const ALL: [Self; 5] = [
        Self::PlayExisting,
        Self::OpenNew,
        Self::Discard,
        Self::DrawDeck,
        Self::DrawPile,
    ];

    /// The name in metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::PlayExisting => "play_existing",
            Self::OpenNew => "open_new",
            Self::Discard => "discard",
            Self::DrawDeck => "draw_deck",
            Self::DrawPile => "draw_pile",
        }
    }
}

/// Counts about decisions taken by the fallback policy, before their action is applied.
///
/// The depths of these decisions and the ties among their advantages are not the game's business and counted elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FallbackProfile {
    opened_colors_sum: u64,
    legal_actions_sum: u64,
    legal: [u64; ActionKind::ALL.len()],
    chosen: [u64; ActionKind::ALL.len()],
    opened_colors: [u64; Rules::MAX_COLORS + 1],
    open_new_available: [u64; Rules::MAX_COLORS],
    open_new_selected: [u64; Rules::MAX_COLORS],
}

impl FallbackProfile {
    /// Colours the mover had opened, summed over decisions.
    pub fn opened_colors_sum(&self) -> u64 {
        self.opened_colors_sum
    }

    /// Legal actions, summed over decisions.
    pub fn legal_actions_sum(&self) -> u64 {
        self.legal_actions_sum
    }

    /// Legal actions of a class, summed over decisions.
    pub fn legal_sum(&self, kind: ActionKind) -> u64 {
        self.legal[kind as usize]
    }

    /// Decisions for an action of a class.
    pub fn chosen(&self, kind: ActionKind) -> u64 {
        self.chosen[kind as usize]
    }

    /// Decisions by the number of colours that the mover had opened, `0..=MAX_COLORS`.
    pub fn opened_colors(&self) -> &[u64] {
        &self.opened_colors
    }

    /// Legal plays that would have begun an expedition, by colour, summed over decisions.
    pub fn open_new_available(&self) -> &[u64] {
        &self.open_new_available
    }

    /// Decisions that began an expedition, by colour.
    pub fn open_new_selected(&self) -> &[u64] {
        &self.open_new_selected
    }
}

impl DecisionProfile<LostCities> for FallbackProfile {
    fn record(&mut self, game: &LostCities, state: &State, legal: ActionSet, action: Action) {
        let opening = game.opening_actions(state);
        let kind = |action| match state.phase() {
            Phase::Draw if action == game.deck_action() => ActionKind::DrawDeck,
            Phase::Draw => ActionKind::DrawPile,
            Phase::Card if action % 2 == 1 => ActionKind::Discard,
            Phase::Card if opening.contains(action) => ActionKind::OpenNew,
            Phase::Card => ActionKind::PlayExisting,
        };
        let player = state.current_player();
        let color = |action: Action| state.hand(player)[action as usize / 2].color as usize;
        let opened = (0..game.rules().n_colors as usize)
            .filter(|&color| state.expedition(player, color).cards() > 0)
            .count();
        self.opened_colors_sum += opened as u64;
        self.opened_colors[opened] += 1;
        self.legal_actions_sum += legal.len() as u64;
        for action in legal.iter() {
            self.legal[kind(action) as usize] += 1;
            if kind(action) == ActionKind::OpenNew {
                self.open_new_available[color(action)] += 1;
            }
        }
        self.chosen[kind(action) as usize] += 1;
        if kind(action) == ActionKind::OpenNew {
            self.open_new_selected[color(action)] += 1;
        }
    }

    fn merge(&mut self, other: &Self) {
        let add = |into: &mut [u64], from: &[u64]| {
            into.iter_mut().zip(from).for_each(|(sum, n)| *sum += n);
        };
        self.opened_colors_sum += other.opened_colors_sum;
        self.legal_actions_sum += other.legal_actions_sum;
        add(&mut self.legal, &other.legal);
        add(&mut self.chosen, &other.chosen);
        add(&mut self.opened_colors, &other.opened_colors);
        add(&mut self.open_new_available, &other.open_new_available);
        add(&mut self.open_new_selected, &other.open_new_selected);
    }

    /// Means and rates are per fallback; of the counts by colour and by number of colours only those above zero are emitted.
    fn emit(&self, fallbacks: u64, out: &mut dyn FnMut(&str, f64)) {
        let ratio = |count: u64, of: u64| count as f64 / of.max(1) as f64;
        let mean = |count: u64| ratio(count, fallbacks);
        out(
            "avg_opened_colors_before_action",
            mean(self.opened_colors_sum),
        );
        out("legal_actions_mean", mean(self.legal_actions_sum));
        for kind in ActionKind::ALL {
            out(
                &format!("legal_{}_mean", kind.name()),
                mean(self.legal_sum(kind)),
            );
            out(&format!("action_{}", kind.name()), self.chosen(kind) as f64);
        }
        let selected = self.chosen(ActionKind::OpenNew);
        let available_rate = ratio(self.legal_sum(ActionKind::OpenNew), self.legal_actions_sum);
        let over_availability = if available_rate > 0.0 {
            mean(selected) / available_rate
        } else {
            0.0
        };
        out("open_new_available_rate", available_rate);
        out("open_new_selected", selected as f64);
        out("open_new_selected_rate", mean(selected));
        out("open_new_selection_over_availability", over_availability);
        for (name, counts) in [
            ("opened_colors_count", &self.opened_colors[..]),
            ("open_new_available_color", &self.open_new_available),
            ("open_new_selected_color", &self.open_new_selected),
        ] {
            for (number, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                out(&format!("{name}_{number}"), count as f64);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Card;
    use super::*;
    use std::collections::BTreeMap;

    /// Two colours of four numbers, hands of two: player 0 is dealt two cards of colour 0, player 1 two of colour 1.
    fn game_and_state() -> (LostCities, State) {
        let game = LostCities::new(Rules {
            n_colors: 2,
            n_ranks: 4,
            min_rank: 1,
            n_handshakes: 0,
            hand_size: 2,
            ..Rules::default()
        })
        .unwrap();
        // The last card is the top.
        let ranks_down = (1..=4).rev();
        let deck: Vec<_> = ranks_down
            .flat_map(|rank| [1, 0].map(|color| Card { color, rank }))
            .collect();
        let state = game.deal_deck(&deck).unwrap();
        (game, state)
    }

    fn metrics(profile: &FallbackProfile, fallbacks: u64) -> BTreeMap<String, f64> {
        let mut all = BTreeMap::new();
        profile.emit(fallbacks, &mut |name, value| {
            assert_eq!(all.insert(name.to_owned(), value), None, "{name} twice");
        });
        all
    }

    #[test]
    fn counts_classes_of_actions_before_the_action() {
        let (game, mut state) = game_and_state();
        let mut profile = FallbackProfile::default();
        // Play rank 1 of colour 0 (opens), draw the deck, discard; then the deck; then play on what is begun.
        for action in [0, 4, 1, 4, 0] {
            profile.record(&game, &state, game.legal_actions(&state), action);
            game.apply(&mut state, action);
        }
        let chosen = ActionKind::ALL.map(|kind| profile.chosen(kind));
        let legal = ActionKind::ALL.map(|kind| profile.legal_sum(kind));
        assert_eq!(chosen, [1, 1, 1, 2, 0]);
        assert_eq!(legal, [2, 4, 6, 2, 0]);
        assert_eq!(profile.legal_actions_sum(), 14);
        assert_eq!(profile.opened_colors_sum(), 2);
        assert_eq!(profile.opened_colors()[..3], [3, 2, 0]);
        assert_eq!(profile.open_new_available()[..2], [2, 2]);
        assert_eq!(profile.open_new_selected()[..2], [1, 0]);

        let mut twice = profile.clone();
        twice.merge(&profile);
        assert_eq!(twice.legal_sum(ActionKind::Discard), 12);
        assert_eq!(metrics(&twice, 10)["legal_discard_mean"], 1.2);
    }

    #[test]
    fn emits_the_documented_names_and_rates() {
        let (game, state) = game_and_state();
        let mut profile = FallbackProfile::default();
        profile.record(&game, &state, game.legal_actions(&state), 0);
        profile.record(&game, &state, game.legal_actions(&state), 1);
        let all = metrics(&profile, 2);
        let expected = [
            ("action_discard", 1.0),
            ("action_draw_deck", 0.0),
            ("action_draw_pile", 0.0),
            ("action_open_new", 1.0),
            ("action_play_existing", 0.0),
            ("avg_opened_colors_before_action", 0.0),
            ("legal_actions_mean", 4.0),
            ("legal_discard_mean", 2.0),
            ("legal_draw_deck_mean", 0.0),
            ("legal_draw_pile_mean", 0.0),
            ("legal_open_new_mean", 2.0),
            ("legal_play_existing_mean", 0.0),
            ("open_new_available_color_0", 4.0),
            ("open_new_available_rate", 0.5),
            ("open_new_selected", 1.0),
            ("open_new_selected_color_0", 1.0),
            ("open_new_selected_rate", 0.5),
            ("open_new_selection_over_availability", 1.0),
            ("opened_colors_count_0", 2.0),
        ];
        assert_eq!(
            all,
            expected
                .map(|(name, value)| (name.to_owned(), value))
                .into()
        );
    }

    #[test]
    fn nothing_recorded_gives_zeros_and_no_buckets() {
        let all = metrics(&FallbackProfile::default(), 0);
        assert_eq!(all.len(), 16);
        assert!(all.values().all(|&value| value == 0.0));
    }
}
