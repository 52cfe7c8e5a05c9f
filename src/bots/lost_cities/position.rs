//! What the heuristic sees, and the estimates that both phases share.
//!
//! Only public information and the mover's own hand. Sums are doubles evaluated left to right as written: ties and
//! thresholds depend on the rounding.

use super::{Heuristic, Variant};
use crate::game::lost_cities::{Card, Expedition, LostCities, Rules, State};
use crate::game::{ActionSet, Player};

/// The mover's hand in one colour: handshakes, and bit `r` for the number of rank `r`.
#[derive(Clone, Copy, Default)]
struct InHand {
    handshakes: i32,
    numbers: u32,
}

/// Some number cards: how many, and the sum of their face values.
#[derive(Clone, Copy)]
pub(super) struct Tally {
    pub count: i32,
    pub sum: i32,
}

/// What opening a colour with a given card rests on and promises.
pub(super) struct Plan {
    /// Numbers in hand from the card's rank up.
    pub numbers: Tally,
    /// Handshakes of the colour in hand.
    pub handshakes: i32,
    /// The promise; may be negative.
    pub value: f64,
}

/// A decision as its mover sees it; the hand is summed up once per colour.
pub(super) struct Position<'a> {
    pub bot: &'a Heuristic,
    pub game: &'a LostCities,
    pub rules: &'a Rules,
    pub state: &'a State,
    pub legal: ActionSet,
    pub hand: &'a [Card],
    /// Cards in the deck.
    pub deck_len: i32,
    /// Colours the mover has started.
    pub started: i32,
    me: Player,
    in_hand: [InHand; Heuristic::MAX_COLORS],
}

impl<'a> Position<'a> {
    pub fn new(
        bot: &'a Heuristic,
        game: &'a LostCities,
        state: &'a State,
        legal: ActionSet,
    ) -> Self {
        let me = state.current_player();
        let hand = state.hand(me);
        let mut in_hand = [InHand::default(); Heuristic::MAX_COLORS];
        for card in hand {
            let of_color = &mut in_hand[card.color as usize];
            if card.rank == 0 {
                of_color.handshakes += 1;
            } else {
                of_color.numbers |= 1 << card.rank;
            }
        }
        let rules = game.rules();
        let is_started = |color: &usize| state.expedition(me, *color).cards() > 0;
        let started = (0..rules.n_colors as usize).filter(is_started).count() as i32;
        Self {
            bot,
            game,
            rules,
            state,
            legal,
            hand,
            deck_len: state.deck_len() as i32,
            started,
            me,
            in_hand,
        }
    }

    /// The mover's expedition.
    pub fn mine(&self, color: usize) -> Expedition {
        self.state.expedition(self.me, color)
    }

    /// The opponent's expedition.
    pub fn theirs(&self, color: usize) -> Expedition {
        self.state.expedition(self.me.opponent(), color)
    }

    /// Whether the mover has not started the colour.
    pub fn is_new(&self, color: usize) -> bool {
        self.mine(color).cards() == 0
    }

    /// The face value as the formulas take it.
    pub fn face(&self, card: Card) -> f64 {
        f64::from(self.game.face_value(card.rank))
    }

    /// The mover's total less the opponent's.
    pub fn score_difference(&self) -> i32 {
        self.game.score(self.state, self.me) - self.game.score(self.state, self.me.opponent())
    }

    /// Numbers of a colour in hand with `rank` or more.
    pub fn numbers_from(&self, color: usize, rank: u8) -> Tally {
        self.tally(self.in_hand[color].numbers & (!0 << rank))
    }

    /// Handshakes of a colour in hand.
    pub fn handshakes(&self, color: usize) -> i32 {
        self.in_hand[color].handshakes
    }

    /// The top of a pile.
    pub fn top(&self, color: usize) -> Option<Card> {
        let rank = *self.state.pile(color).last()?;
        Some(Card {
            color: color as u8,
            rank,
        })
    }

    /// Against openings, by how far the deck is down.
    pub fn late_penalty(&self) -> f64 {
        if self.deck_len <= self.bot.thresholds.late_deck_threshold {
            15.0
        } else if self.deck_len <= self.bot.thresholds.mid_deck_threshold {
            8.0
        } else {
            0.0
        }
    }

    /// The bonus of the mover's expedition once `committed` more cards lie in it: sure, within the hand's reach
    /// (`extra` cards counted on top), or out of it. `candidate` is the rank of the card about to be played.
    pub fn bonus(&self, color: usize, extra: i32, committed: i32, candidate: Option<u8>) -> f64 {
        if !self.bot.thresholds.bonus_possible {
            return 0.0;
        }
        let expedition = self.mine(color);
        let amount = f64::from(self.rules.bonus_amount);
        let need = self.rules.bonus_threshold - (i32::from(expedition.cards()) + committed);
        if need <= 0 {
            return amount;
        }
        let mut numbers = self.playable_numbers(color);
        let mut handshakes = self.playable_handshakes(color);
        match (self.bot.variant, candidate) {
            (Variant::Twin, _) | (_, None) => {}
            (Variant::Registry, Some(0)) => handshakes = 0,
            (Variant::Registry, Some(rank)) => numbers &= !(1 << rank),
        }
        let within_reach = numbers.count_ones() as i32 + handshakes + extra >= need;
        if within_reach { 0.4 * amount } else { 0.0 }
    }

    /// How much the mover has staked on a colour, in play and in hand.
    pub fn commitment(&self, color: usize) -> f64 {
        let expedition = self.mine(color);
        let numbers = self.tally(self.playable_numbers(color));
        let mut value = self.stake(expedition);
        value += 1.2 * f64::from(numbers.count);
        value += 1.5 * f64::from(self.playable_handshakes(color));
        value += 0.15 * f64::from(numbers.sum);
        value + 0.05 * self.bonus(color, 0, 0, None)
    }

    /// What a card is worth to the mover.
    pub fn value_to_me(&self, card: Card) -> f64 {
        let color = card.color as usize;
        let (expedition, parameters) = (self.mine(color), self.bot.parameters);
        if !expedition.takes(card.rank) {
            return 0.0;
        }
        let commitment = self.commitment(color);
        if card.rank == 0 {
            return 7.0 + 1.2 * commitment;
        }
        let mut value = 0.8 * self.face(card) + parameters.commitment_weight * commitment;
        if expedition.cards() > 0 {
            value += parameters.started_expedition_play_bonus;
            value += parameters.started_expedition_followup_bonus;
        }
        if commitment >= 6.0 && self.is_low(card) {
            value += parameters.low_card_sequence_bonus;
        }
        value
    }

    /// What a card is worth to the opponent, from what lies open.
    pub fn value_to_them(&self, card: Card) -> f64 {
        let color = card.color as usize;
        if !self.theirs(color).takes(card.rank) {
            return 0.0;
        }
        let interest = self.interest(color);
        if card.rank == 0 {
            8.0 + 1.5 * interest
        } else {
            self.face(card) * (0.4 + 0.25 * interest)
        }
    }

    /// Whether the card's rank is at most the middle one.
    pub fn is_low(&self, card: Card) -> bool {
        i32::from(card.rank) <= self.bot.thresholds.middle_rank
    }

    /// What the hand promises for an expedition that starts with `card` and goes up; the first tier that applies decides.
    pub fn plan(&self, card: Card) -> Plan {
        let color = card.color as usize;
        let limits = &self.bot.thresholds;
        let numbers = self.numbers_from(color, card.rank);
        let high_from = card.rank.max(limits.middle_rank as u8);
        let high = self.numbers_from(color, high_from).count;
        let handshakes = self.handshakes(color);
        let (started, target) = (self.started, limits.open_target_sum);
        let (k, s) = (f64::from(numbers.count), f64::from(numbers.sum));
        let (g, w) = (f64::from(high), f64::from(handshakes));
        let enough_cards = numbers.count >= limits.min_open_cards;
        let spread = match started {
            ..=1 => 0.0,
            2 => 6.0,
            3 => 14.0,
            _ => 28.0,
        };
        let strong = high > 0 || s >= 0.85 * f64::from(limits.max_color_sum);
        let value = if started <= 3 && enough_cards && s >= target && strong {
            6.0 + 0.25 * s + 0.8 * k + 0.5 * w - spread
        } else if started <= 2 && numbers.count >= 2 && s >= 0.65 * target && high > 0 {
            3.0 + 0.18 * s + 0.7 * k + 0.4 * w - spread
        } else if started == 3 {
            0.0
        } else if numbers.count > limits.min_open_cards
            && s >= f64::from(limits.break_even_sum).max(1.4 * target)
            && high >= 2
            && self.deck_len > limits.mid_deck_threshold
        {
            10.0 + 0.3 * s + 1.0 * k + 0.7 * g - spread
        } else if started <= 2
            && self.deck_len <= limits.mid_deck_threshold
            && numbers.count >= 1
            && self.face(card) >= 8.0
        {
            1.5 + 0.2 * self.face(card) - spread
        } else {
            0.0
        };
        Plan {
            numbers,
            handshakes,
            value,
        }
    }

    /// How much the opponent wants a colour, from what lies open.
    fn interest(&self, color: usize) -> f64 {
        let expedition = self.theirs(color);
        let mut value = self.stake(expedition);
        if expedition.last_rank > 0 {
            value += 0.4 * f64::from(self.game.face_value(expedition.last_rank));
        }
        if let Some(top) = self.top(color).filter(|top| expedition.takes(top.rank)) {
            value += if top.rank == 0 {
                1.5
            } else {
                1.0 + 0.1 * self.face(top)
            };
        }
        let near_bonus = i32::from(expedition.cards()) + 1 >= self.rules.bonus_threshold;
        if self.bot.thresholds.bonus_possible && near_bonus {
            value += 0.2 * f64::from(self.rules.bonus_amount);
        }
        value
    }

    /// What lies in an expedition, weighed.
    fn stake(&self, expedition: Expedition) -> f64 {
        let mut value = if expedition.cards() > 0 { 5.0 } else { 0.0 };
        value += 2.0 * f64::from(expedition.handshakes);
        value + 0.25 * f64::from(self.game.face_sum(expedition))
    }

    fn playable_numbers(&self, color: usize) -> u32 {
        self.in_hand[color].numbers & (!1 << self.mine(color).last_rank)
    }

    fn playable_handshakes(&self, color: usize) -> i32 {
        if self.mine(color).last_rank == 0 {
            self.in_hand[color].handshakes
        } else {
            0
        }
    }

    fn tally(&self, numbers: u32) -> Tally {
        let count = numbers.count_ones() as i32;
        let (mut ranks, mut rest) = (0, numbers);
        while rest != 0 {
            ranks += rest.trailing_zeros() as i32;
            rest &= rest - 1;
        }
        Tally {
            count,
            sum: ranks + count * (self.rules.min_rank - 1),
        }
    }
}
