//! Lost Cities by hand slot: a card has the number of the slot it lies in.
//!
//! ```text
//! | phase, seats, deck | hand | expeditions | piles | seen cards | totals, turn | pending | legal |   base
//! | per colour: own expedition, playable and dead cards, pile top, unseen | common |                derived
//! | per slot: what playing its card would be |                                                       slot
//! ```
//!
//! Every value is an integer over a positive integer that depends on its position alone. So a row is filled with the
//! integers first, and one pass then makes each of them a float32 and divides it once: the only rounding there is.

use crate::game::{
    Action, ActionSet, Game, Player,
    lost_cities::{Card, LostCities, Phase, State},
};

use super::{ColorLayout, Encoding, Settings};

/// Values per colour in the derived block.
const DERIVED: usize = 15;
/// Values per hand slot in the slot block.
const SLOT: usize = 6;

/// The encoding of Lost Cities by hand slot. Actions are the game's own ids.
///
/// With S slots, C colours and R ranks a row holds `11 + 5 S + C (R + 15)` values, `15 C + 3` more with
/// [`Settings::derived_playability`] and then `6 S` more with [`Settings::slot_aware_playability`]: 297 in the classic game.
#[derive(Clone, Debug)]
pub struct Slots {
    layout: Layout,
    /// What each value of a row is divided by, `[info_len]`.
    denominators: Box<[f32]>,
}

/// Where the parts of a row begin.
#[derive(Clone, Debug)]
struct Layout {
    colors: usize,
    cards_per_color: i32,
    hand: usize,
    expeditions: usize,
    piles: usize,
    seen: usize,
    totals: usize,
    turn: usize,
    pending: usize,
    legal: usize,
    num_actions: usize,
    derived: Option<usize>,
    slots: Option<usize>,
    len: usize,
}

impl Slots {
    /// The encoding for the rules of `game` with the blocks that `settings` asks for.
    pub fn new(game: &LostCities, settings: &Settings) -> Self {
        let layout = Layout::new(game, settings);
        Self {
            denominators: layout.denominators(game).into(),
            layout,
        }
    }
}

impl Encoding<LostCities> for Slots {
    fn info_len(&self) -> usize {
        self.layout.len
    }

    fn num_actions(&self) -> usize {
        self.layout.num_actions
    }

    fn legal_actions(&self, game: &LostCities, state: &State) -> ActionSet {
        game.legal_actions(state)
    }

    fn to_game(&self, _game: &LostCities, _state: &State, action: Action) -> Action {
        action
    }

    fn encode(
        &self,
        game: &LostCities,
        state: &State,
        observer: Player,
        legal: ActionSet,
        row: &mut [f32],
    ) {
        assert_eq!(
            row.len(),
            self.layout.len,
            "the length of an info state row"
        );
        let counts: &mut [i32] = bytemuck::cast_slice_mut(row);
        counts.fill(0);
        let view = View {
            game,
            state,
            observer,
            layout: &self.layout,
        };
        view.base(legal, counts);
        if let Some(start) = self.layout.derived {
            view.derived(&mut counts[start..]);
        }
        if let Some(start) = self.layout.slots {
            view.slots(&mut counts[start..]);
        }
        // The row's bits are integers still.
        for (value, denominator) in row.iter_mut().zip(&self.denominators) {
            *value = value.to_bits() as i32 as f32 / denominator;
        }
    }

    /// Per colour: both seats' expeditions (seat 0 first, whoever acts), the pile, the seen cards, whether a discard on it is pending, whether its
    /// pile may be drawn, and the derived values if there are any. Actions are by hand slot, not by colour.
    fn color_layout(&self) -> Option<ColorLayout> {
        let colors = (0..self.layout.colors).map(|color| self.layout.color(color));
        let actions = Vec::new();
        let layout = ColorLayout::new(
            colors.collect(),
            self.layout.len,
            actions,
            self.layout.num_actions,
        );
        Some(layout)
    }
}

impl Layout {
    fn new(game: &LostCities, settings: &Settings) -> Self {
        let rules = game.rules();
        let [colors, ranks, slots] =
            [rules.n_colors, rules.n_ranks, rules.hand_size].map(|number| number as usize);
        let mut len = 0;
        let mut part = |values: usize| {
            len += values;
            len - values
        };
        part(5);
        Self {
            colors,
            cards_per_color: rules.n_ranks + rules.n_handshakes,
            hand: part(3 * slots),
            expeditions: part(8 * colors),
            piles: part(4 * colors),
            seen: part(colors * (ranks + 1)),
            totals: part(3),
            turn: part(1),
            pending: part(colors + 1),
            legal: part(rules.num_actions()),
            num_actions: rules.num_actions(),
            derived: settings
                .derived_playability
                .then(|| part(DERIVED * colors + 3)),
            slots: settings.slot_aware_playability.then(|| part(SLOT * slots)),
            len,
        }
    }

    /// The indices of the values about one colour.
    fn color(&self, color: usize) -> Vec<usize> {
        let seen_cards = (self.totals - self.seen) / self.colors;
        let pile_actions = self.legal + self.num_actions - self.colors;
        let parts = [
            (self.expeditions, 4),
            (self.expeditions + 4 * self.colors, 4),
            (self.piles, 4),
            (self.seen, seen_cards),
            (self.pending, 1),
            (pile_actions, 1),
        ];
        let derived = self.derived.map(|start| (start, DERIVED));
        let parts = parts.into_iter().chain(derived);
        parts
            .flat_map(|(start, values)| start + values * color..start + values * (color + 1))
            .collect()
    }

    /// What each value is divided by.
    fn denominators(&self, game: &LostCities) -> Vec<f32> {
        let rules = game.rules();
        let [deck, per_color] = [rules.num_cards() as i32, self.cards_per_color];
        let (colors, ranks) = (rules.n_colors, rules.n_ranks);
        let handshakes = rules.n_handshakes.max(1);
        let score = (rules.bonus_amount + ranks * (ranks + 1) * (rules.n_handshakes + 1)).max(1);
        let faces = ranks * (2 * rules.min_rank + ranks - 1) / 2;
        let mut all = vec![1; self.len];
        let mut repeat = |range: std::ops::Range<usize>, pattern: &[i32]| {
            for (value, &denominator) in all[range].iter_mut().zip(pattern.iter().cycle()) {
                *value = denominator;
            }
        };
        repeat(4..5, &[deck]);
        repeat(self.hand..self.expeditions, &[1, colors, ranks]);
        repeat(
            self.expeditions..self.piles,
            &[per_color, ranks, handshakes, score],
        );
        repeat(self.piles..self.seen, &[per_color, 1, colors, ranks]);
        repeat(self.totals..self.turn, &[score]);
        repeat(self.turn..self.pending, &[2 * deck]);
        if let Some(start) = self.derived {
            let common = start + DERIVED * self.colors;
            let (k, m, w) = (per_color, faces, handshakes);
            repeat(
                start..common,
                &[1, 1, m, w, k, m, k, w, m, k, k, m, 1, m, k],
            );
            repeat(common..common + 3, &[deck, 2 * deck, 2 * deck]);
        }
        all.into_iter()
            .map(|denominator| denominator as f32)
            .collect()
    }
}

/// A state as its observer sees it, written as integers into a row of zeros.
struct View<'a> {
    game: &'a LostCities,
    state: &'a State,
    observer: Player,
    layout: &'a Layout,
}

impl View<'_> {
    fn base(&self, legal: ActionSet, row: &mut [i32]) {
        let Self {
            state,
            observer,
            layout,
            ..
        } = *self;
        row[0] = i32::from(state.phase() == Phase::Card);
        row[1] = i32::from(state.phase() == Phase::Draw);
        row[2] = state.current_player().index() as i32;
        row[3] = observer.index() as i32;
        row[4] = state.deck_len() as i32;
        let hand = row[layout.hand..layout.expeditions].chunks_exact_mut(3);
        for (values, card) in hand.zip(state.hand(observer)) {
            values.copy_from_slice(&[1, i32::from(card.color) + 1, i32::from(card.rank)]);
        }
        let totals = self.expeditions(&mut row[layout.expeditions..layout.piles]);
        self.piles(&mut row[layout.piles..layout.seen]);
        let seen = &mut row[layout.seen..layout.totals];
        for (value, &count) in seen.iter_mut().zip(state.face_up()) {
            *value = i32::from(count);
        }
        let own = totals[observer.index()];
        let other = totals[observer.opponent().index()];
        row[layout.totals..layout.turn].copy_from_slice(&[own, other, own - other]);
        row[layout.turn] = state.turn_count() as i32;
        row[layout.pending + state.pending().unwrap_or(layout.colors)] = 1;
        for action in legal.iter() {
            row[layout.legal + action as usize] = 1;
        }
    }

    /// Four values per seat and colour: `[2, C, 4]`. Gives the scores of the seats.
    fn expeditions(&self, row: &mut [i32]) -> [i32; 2] {
        let mut values = row.chunks_exact_mut(4);
        Player::BOTH.map(|player| {
            let mut total = 0;
            for (color, values) in (0..self.layout.colors).zip(&mut values) {
                let expedition = self.state.expedition(player, color);
                let score = self.game.expedition_score(expedition);
                let [cards, last_rank, handshakes] = [
                    expedition.cards(),
                    expedition.last_rank,
                    expedition.handshakes,
                ]
                .map(i32::from);
                values.copy_from_slice(&[cards, last_rank, handshakes, score]);
                total += score;
            }
            total
        })
    }

    /// Four values per pile: `[C, 4]`.
    fn piles(&self, row: &mut [i32]) {
        for (color, values) in row.chunks_exact_mut(4).enumerate() {
            let pile = self.state.pile(color);
            let Some(&top) = pile.last() else { continue };
            values.copy_from_slice(&[pile.len() as i32, 1, color as i32 + 1, i32::from(top)]);
        }
    }

    /// The observer's prospects in each colour: `[15 C + 3]`.
    fn derived(&self, row: &mut [i32]) {
        let Self {
            game,
            state,
            observer,
            layout,
            ..
        } = *self;
        for card in state.hand(observer) {
            let values = &mut row[DERIVED * card.color as usize..][..DERIVED];
            let last = state.expedition(observer, card.color as usize).last_rank;
            self.count_hand_card(*card, last, values);
        }
        for (color, values) in row[..DERIVED * layout.colors]
            .chunks_exact_mut(DERIVED)
            .enumerate()
        {
            let own = state.expedition(observer, color);
            let other = state.expedition(observer.opponent(), color);
            let pile = state.pile(color);
            let cards = i32::from(own.cards());
            values[0] = i32::from(cards == 0);
            values[1] = i32::from(cards > 0 && own.numbers == 0);
            values[2] = game.face_sum(own);
            values[3] = i32::from(own.handshakes);
            values[4] = cards;
            values[5] = i32::from(own.last_rank);
            let top = pile.last().copied().unwrap_or(0);
            let wanted = i32::from(top > own.last_rank);
            values[12] = wanted;
            values[13] = wanted * game.face_value(top);
            let known = values[6] + cards + i32::from(other.cards()) + pile.len() as i32;
            values[14] = (layout.cards_per_color - known).max(0);
        }
        let deck = state.deck_len() as i32;
        let common = [deck, state.turn_count() as i32, deck];
        row[DERIVED * layout.colors..][..3].copy_from_slice(&common);
    }

    /// Adds a hand card to the values of its colour, whose expedition ends with rank `last`.
    fn count_hand_card(&self, card: Card, last: u8, values: &mut [i32]) {
        // Sums of flags instead of branches: whether a card is playable is a coin toss to a branch predictor.
        let face = self.game.face_value(card.rank);
        let playable = i32::from(card.rank > last);
        let dead = i32::from(card.rank > 0) - playable;
        values[6] += 1;
        values[7] += 1 - playable - dead;
        values[8] += face * playable;
        values[9] += playable;
        values[10] += dead;
        values[11] += face * dead;
    }

    /// What playing the card of each slot would be: `[6 S]`.
    fn slots(&self, row: &mut [i32]) {
        let hand = self.state.hand(self.observer);
        for (values, card) in row.chunks_exact_mut(SLOT).zip(hand) {
            let expedition = self.state.expedition(self.observer, card.color as usize);
            let playable = expedition.takes(card.rank);
            let number = card.rank > 0;
            let fresh = expedition.last_rank == 0;
            let flags = [
                playable & fresh,
                playable & fresh & number,
                playable & fresh & !number & (expedition.cards() == 0),
                playable & !fresh,
                number & !playable,
                !number & playable,
            ];
            values.copy_from_slice(&flags.map(i32::from));
        }
    }
}
