//! How a row is written.

use super::{
    Cards, Sight,
    color_cards::{ColorCards, write_marks},
};
use crate::game::{
    Action, ActionSet, Player,
    lost_cities::{LostCities, Phase, Rules, State},
};

/// Values per card type in a colour's block.
pub(super) const MARKS: usize = 9;
/// Values in a colour's block that are not by card type.
pub(super) const FIGURES: usize = 20;
/// Values after the colours.
pub(super) const COMMON: usize = 17;
/// Deck lengths with a value of their own.
const LAST_CARDS: usize = 8;

/// What the numbers of a row are divided by.
#[derive(Clone, Debug)]
pub(super) struct Scales {
    /// What 0, 1, ... handshakes are of all there are.
    shares: Box<[f32]>,
    figures: [f32; FIGURES],
    common: [f32; COMMON],
    /// Plies that count as the most.
    most_plies: u32,
}

impl Scales {
    pub fn new(rules: &Rules) -> Self {
        let number = |number: i32| number as f32;
        let [cards, ranks] = [rules.cards_per_color() as i32, rules.n_ranks];
        let handshakes = rules.n_handshakes.max(1);
        let faces = ranks * (2 * rules.min_rank + ranks - 1) / 2;
        let bonus = if cards >= rules.bonus_threshold {
            rules.bonus_amount.abs()
        } else {
            0
        };
        let points = 50.0 * number(faces + rules.expedition_penalty.abs() + bonus) / 94.0;
        let [cards, ranks, faces] = [cards, ranks, faces].map(number);
        let handshakes = number(handshakes);
        let all = rules.num_cards() as i32;
        let deck = number((all - 2 * rules.hand_size).max(1));
        let colors = number(rules.n_colors);
        let mut common = [1.0; COMMON];
        common[1] = deck;
        common[2 + LAST_CARDS..].copy_from_slice(&[
            10.0,
            2.0 * points,
            2.0 * points,
            2.0 * points,
            number(10 * all) / 3.0,
            colors,
            colors,
        ]);
        #[rustfmt::skip]
        let figures = [
            cards, handshakes, ranks, points, faces, 1.0, // own expedition
            cards, handshakes, ranks, points, 1.0, // the other's
            cards, 1.0, 1.0, // pile
            faces, ranks, // playable
            1.0, 1.0, // top
            points, faces,
        ];
        Self {
            shares: (0..=rules.n_handshakes)
                .map(|count| number(count) / handshakes)
                .collect(),
            figures,
            common,
            most_plies: 2 * all as u32,
        }
    }
}

/// A state as its observer sees it.
pub(super) struct View<'a> {
    pub cards: &'a Cards,
    pub game: &'a LostCities,
    pub state: &'a State,
    pub observer: Player,
    pub legal: ActionSet,
}

/// Cards of one colour that lie in nobody's sight but a player's.
struct Hidden {
    own: ColorCards,
    /// Known to be in the other player's hand.
    known: ColorCards,
}

impl View<'_> {
    /// Writes the whole row, whatever it holds.
    pub fn write(&self, row: &mut [f32]) {
        let Self {
            cards,
            state,
            observer,
            ..
        } = *self;
        let other = observer.opponent();
        let own = ColorCards::by_color(state.hand(observer).iter().copied());
        let known = ColorCards::by_color(state.known_hand(other));
        let open = match cards.sight {
            Sight::Known => None,
            Sight::Open => Some(ColorCards::by_color(state.hand(other).iter().copied())),
        };
        // Parts are written in ascending order, each over the zeros that the one before left beyond its end; behind the last part of a colour and
        // of the row there is room for them.
        let mut scores = [0; 2];
        for color in 0..cards.colors {
            let block = &mut row[color * cards.block_len()..];
            let hidden = Hidden {
                own: own[color],
                known: known[color],
            };
            let score = self.color(color, &hidden, block);
            scores = [scores[0] + score[0], scores[1] + score[1]];
            if let Some(open) = open {
                let hand = &mut block[MARKS * cards.types + FIGURES..];
                self.part(open[color], hand);
            }
        }
        self.common(scores, &mut row[cards.colors * cards.block_len()..]);
    }

    fn part(&self, part: ColorCards, row: &mut [f32]) {
        let share = self.cards.scales.shares[part.handshakes as usize];
        part.write(self.cards.types, share, row);
    }

    /// Writes all about one colour but the other player's hand, and gives the observer's and the other's score there.
    fn color(&self, color: usize, hidden: &Hidden, row: &mut [f32]) -> [i32; 2] {
        let (state, types) = (self.state, self.cards.types);
        let expeditions =
            [self.observer, self.observer.opponent()].map(|player| state.expedition(player, color));
        let [own, other] = expeditions.map(ColorCards::of_expedition);
        let mut pile = ColorCards::default();
        state.pile(color).iter().for_each(|&rank| pile.add(rank));
        let top = state.pile(color).last().map_or(0, |&rank| 1 << rank);
        let unseen = self.unseen([hidden.own, own, other, pile, hidden.known]);
        let [playable, playable_by_other] =
            expeditions.map(|expedition| hidden.own.playable_on(expedition));
        let before = [hidden.own, own, other, pile];
        let after = [hidden.known, unseen, playable, playable_by_other];
        for (at, part) in before.into_iter().enumerate() {
            self.part(part, &mut row[at * types..]);
        }
        write_marks(top, types, &mut row[4 * types..]);
        for (at, part) in after.into_iter().enumerate() {
            self.part(part, &mut row[(5 + at) * types..]);
        }
        self.figures(
            color,
            [playable, unseen],
            &mut row[MARKS * types..][..FIGURES],
        )
    }

    /// The cards of a colour that are in none of the `seen` places.
    fn unseen(&self, seen: [ColorCards; 5]) -> ColorCards {
        let rules = self.game.rules();
        let all = ColorCards {
            handshakes: rules.n_handshakes,
            numbers: (2 << rules.n_ranks as u32) - 2,
        };
        seen.into_iter().fold(all, |left, seen| ColorCards {
            handshakes: left.handshakes - seen.handshakes,
            numbers: left.numbers & !seen.numbers,
        })
    }

    /// The values of a colour that are not by card type.
    fn figures(
        &self,
        color: usize,
        [playable, unseen]: [ColorCards; 2],
        row: &mut [f32],
    ) -> [i32; 2] {
        let Self { game, state, .. } = *self;
        let [own, other] =
            [self.observer, self.observer.opponent()].map(|player| state.expedition(player, color));
        let scores = [own, other].map(|expedition| game.expedition_score(expedition));
        let faces = |cards: ColorCards| {
            let [count, sum] = cards.count_and_sum();
            [sum + count * (game.rules().min_rank - 1), count]
        };
        let [playable_faces, playable_numbers] = faces(playable);
        let [reachable_faces, _] = faces(unseen.playable_on(own));
        let pile = state.pile(color);
        let takes_top = [own, other]
            .map(|expedition| i32::from(pile.last().is_some_and(|&rank| expedition.takes(rank))));
        let drawable = self.legal.contains(self.cards.pile_action(color) as Action);
        let face_sum = game.face_sum(own);
        let hope = (face_sum + playable_faces + game.rules().expedition_penalty)
            * (i32::from(own.handshakes) + 1);
        let figures: [i32; FIGURES] = [
            i32::from(own.cards()),
            i32::from(own.handshakes),
            i32::from(own.last_rank),
            scores[0],
            face_sum,
            i32::from(own.cards() > 0),
            i32::from(other.cards()),
            i32::from(other.handshakes),
            i32::from(other.last_rank),
            scores[1],
            i32::from(other.cards() > 0),
            pile.len() as i32,
            i32::from(state.pending() == Some(color)),
            i32::from(drawable),
            playable_faces,
            playable_numbers,
            takes_top[0],
            takes_top[1],
            hope,
            reachable_faces,
        ];
        row.copy_from_slice(&quotients(figures, &self.cards.scales.figures));
        scores
    }

    /// The values after the colours, given the observer's and the other's score.
    fn common(&self, [own, other]: [i32; 2], row: &mut [f32]) {
        let (state, scales) = (self.state, &self.cards.scales);
        let draws = state.phase() == Phase::Draw;
        let deck = state.deck_len();
        let plies = 2 * state.turn_count() + u32::from(draws);
        let opened = [self.observer, self.observer.opponent()].map(|player| {
            let open = |&color: &usize| state.expedition(player, color).cards() > 0;
            (0..self.cards.colors).filter(open).count() as i32
        });
        let mut common = [0; COMMON];
        common[0] = i32::from(draws);
        common[1] = deck as i32;
        if (1..=LAST_CARDS).contains(&deck) {
            common[1 + deck] = 1;
        }
        common[2 + LAST_CARDS..].copy_from_slice(&[
            deck.min(10) as i32,
            own,
            other,
            own - other,
            plies.min(scales.most_plies) as i32,
            opened[0],
            opened[1],
        ]);
        row.copy_from_slice(&quotients(common, &scales.common));
    }
}

/// Each number over its scale.
fn quotients<const N: usize>(numbers: [i32; N], scales: &[f32; N]) -> [f32; N] {
    std::array::from_fn(|at| numbers[at] as f32 / scales[at])
}
