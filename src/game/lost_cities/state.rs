//! A position: flat arrays, no heap, a few hundred bytes.

use super::{Player, Rules};
use bytemuck::{Pod, Zeroable};

/// A card: colour `0..C`, rank 0 for a handshake or `1..=R` for a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
#[repr(C)]
pub struct Card {
    /// The colour.
    pub color: u8,
    /// The rank.
    pub rank: u8,
}

/// Which half of a turn is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Play or discard a card.
    Card,
    /// Draw from the deck or a pile.
    Draw,
}

/// One player's expedition of one colour: handshakes first, then rising ranks, so counts say it all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expedition {
    /// Handshakes in it.
    pub handshakes: u8,
    /// Number cards in it.
    pub numbers: u8,
    /// Rank of the last number, 0 when there is none.
    pub last_rank: u8,
    /// Sum of the ranks.
    pub rank_sum: u16,
    /// Bit `r` says whether rank `r` lies in it.
    pub rank_bits: u32,
}

impl Expedition {
    /// Cards in it, handshakes included.
    pub fn cards(self) -> u8 {
        self.handshakes + self.numbers
    }

    /// Whether a card of `rank` may follow: a handshake before any number, a number above the last one.
    pub fn takes(self, rank: u8) -> bool {
        rank > self.last_rank || (rank | self.last_rank) == 0
    }

    /// The ranks from bottom to top.
    pub fn ranks(self) -> impl Iterator<Item = u8> {
        let numbers = (1..32).filter(move |rank| self.rank_bits >> rank & 1 == 1);
        std::iter::repeat_n(0, self.handshakes as usize).chain(numbers)
    }
}

/// A position with everything hidden in it. Made by [`super::LostCities`], which also changes it.
#[derive(Clone, Debug)]
pub struct State {
    deck: [Card; Rules::MAX_CARDS],
    /// Pile of colour c at `c * cards_per_color..`, ranks bottom to top.
    piles: [u8; Rules::MAX_CARDS],
    /// Copies of each card type that lie face up, at `color * card_types + rank`.
    face_up: [u8; MAX_CARD_TYPES],
    hands: [[Card; Rules::MAX_HAND]; 2],
    /// Per hand: bit `i` says whether the other player knows that the card of slot i is there.
    known: [u32; 2],
    expeditions: [[Expedition; Rules::MAX_COLORS]; 2],
    pile_lens: [u8; Rules::MAX_COLORS],
    hand_lens: [u8; 2],
    deck_len: u8,
    num_colors: u8,
    cards_per_color: u8,
    /// Card types of a colour: the handshake and the numbers.
    card_types: u8,
    /// Colour discarded this turn, `NONE` when there is none.
    pending: u8,
    player: Player,
    phase: Phase,
    terminal: bool,
    turn_count: u32,
}

const NONE: u8 = u8::MAX;
/// Without handshakes there is still a (vacant) type for them in each colour.
const MAX_CARD_TYPES: usize = Rules::MAX_CARDS + Rules::MAX_COLORS;

impl State {
    /// Deals alternately, player 0 first, from the end of `deck`, which holds the cards of `rules`.
    pub(super) fn deal(rules: &Rules, deck: &[Card]) -> Self {
        let mut state = Self {
            deck: [Card::default(); Rules::MAX_CARDS],
            piles: [0; Rules::MAX_CARDS],
            face_up: [0; MAX_CARD_TYPES],
            hands: [[Card::default(); Rules::MAX_HAND]; 2],
            known: [0; 2],
            expeditions: [[Expedition::default(); Rules::MAX_COLORS]; 2],
            pile_lens: [0; Rules::MAX_COLORS],
            hand_lens: [0; 2],
            deck_len: deck.len() as u8,
            num_colors: rules.n_colors as u8,
            cards_per_color: rules.cards_per_color() as u8,
            card_types: rules.n_ranks as u8 + 1,
            pending: NONE,
            player: Player::P0,
            phase: Phase::Card,
            terminal: false,
            turn_count: 0,
        };
        state.deck[..deck.len()].copy_from_slice(deck);
        for _ in 0..rules.hand_size {
            for player in Player::BOTH {
                let card = state.pop_deck();
                state.push_hand(player, card);
            }
        }
        state
    }

    /// The half of the turn that is due; the draw phase in terminal states.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The player to act; the last mover in terminal states.
    pub fn current_player(&self) -> Player {
        self.player
    }

    /// Whether the game is over.
    pub fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// The draw deck from bottom to top.
    pub fn deck(&self) -> &[Card] {
        &self.deck[..self.deck_len as usize]
    }

    /// Cards in the draw deck.
    pub fn deck_len(&self) -> usize {
        self.deck_len as usize
    }

    /// A hand in arrival order.
    pub fn hand(&self, player: Player) -> &[Card] {
        &self.hands[player.index()][..self.hand_lens[player.index()] as usize]
    }

    /// The cards of a hand that the other player knows to be there: drawn from a pile and still held. Equal handshakes cannot be told apart, so
    /// the first to leave the hand counts as a known one.
    pub fn known_hand(&self, player: Player) -> impl Iterator<Item = Card> {
        let hand = &self.hands[player.index()];
        let mut rest = self.known[player.index()];
        std::iter::from_fn(move || {
            let slot = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(hand[slot])
        })
    }

    /// A player's expedition of a colour.
    pub fn expedition(&self, player: Player, color: usize) -> Expedition {
        self.expeditions[player.index()][color]
    }

    /// The ranks of a discard pile from bottom to top.
    pub fn pile(&self, color: usize) -> &[u8] {
        let start = color * self.cards_per_color as usize;
        &self.piles[start..start + self.pile_lens[color] as usize]
    }

    /// How many copies of each card lie in expeditions and piles, at `color * (n_ranks + 1) + rank`.
    pub fn face_up(&self) -> &[u8] {
        &self.face_up[..self.num_colors as usize * self.card_types as usize]
    }

    /// The colour discarded in this turn, which may not be drawn at once.
    pub fn pending(&self) -> Option<usize> {
        (self.pending != NONE).then_some(self.pending as usize)
    }

    /// Completed draws.
    pub fn turn_count(&self) -> u32 {
        self.turn_count
    }

    /// Exchanges the card at `index` from the bottom with the top card.
    pub(super) fn swap_with_top(&mut self, index: usize) {
        self.deck.swap(index, self.deck_len as usize - 1);
    }

    pub(super) fn play(&mut self, slot: usize) {
        let card = self.take_hand(slot);
        let expedition = &mut self.expeditions[self.player.index()][card.color as usize];
        if card.rank == 0 {
            expedition.handshakes += 1;
        } else {
            expedition.numbers += 1;
            expedition.last_rank = card.rank;
            expedition.rank_sum += u16::from(card.rank);
            expedition.rank_bits |= 1 << card.rank;
        }
        *self.face_up_mut(card) += 1;
        self.enter_draw_phase();
    }

    pub(super) fn discard(&mut self, slot: usize) {
        let card = self.take_hand(slot);
        let color = card.color as usize;
        let top = color * self.cards_per_color as usize + self.pile_lens[color] as usize;
        self.piles[top] = card.rank;
        self.pile_lens[color] += 1;
        *self.face_up_mut(card) += 1;
        self.pending = card.color;
        self.enter_draw_phase();
    }

    pub(super) fn draw_deck(&mut self) {
        let card = self.pop_deck();
        self.finish_turn(card);
    }

    pub(super) fn draw_pile(&mut self, color: usize) {
        self.pile_lens[color] -= 1;
        let top = color * self.cards_per_color as usize + self.pile_lens[color] as usize;
        let card = Card {
            color: color as u8,
            rank: self.piles[top],
        };
        *self.face_up_mut(card) -= 1;
        let player = self.player.index();
        self.known[player] |= 1 << self.hand_lens[player];
        self.finish_turn(card);
    }

    /// A turn without any legal draw ends the game.
    fn enter_draw_phase(&mut self) {
        self.phase = Phase::Draw;
        let drawable = |color: usize| self.pile_lens[color] > 0 && self.pending as usize != color;
        self.terminal = self.deck_len == 0 && !(0..self.num_colors as usize).any(drawable);
    }

    /// An empty deck after any draw ends the game; the drawer stays the current player.
    fn finish_turn(&mut self, card: Card) {
        self.push_hand(self.player, card);
        self.pending = NONE;
        self.turn_count += 1;
        if self.deck_len == 0 {
            self.terminal = true;
        } else {
            self.player = self.player.opponent();
            self.phase = Phase::Card;
        }
    }

    fn face_up_mut(&mut self, card: Card) -> &mut u8 {
        &mut self.face_up[card.color as usize * self.card_types as usize + card.rank as usize]
    }

    fn pop_deck(&mut self) -> Card {
        self.deck_len -= 1;
        self.deck[self.deck_len as usize]
    }

    fn push_hand(&mut self, player: Player, card: Card) {
        let len = &mut self.hand_lens[player.index()];
        self.hands[player.index()][*len as usize] = card;
        *len += 1;
    }

    fn take_hand(&mut self, slot: usize) -> Card {
        let len = &mut self.hand_lens[self.player.index()];
        let hand = &mut self.hands[self.player.index()][..*len as usize];
        let known = &mut self.known[self.player.index()];
        let card = hand[slot];
        if card.rank == 0 && *known != 0 {
            forget_handshake(hand, slot, known);
        }
        let below = (1 << slot) - 1;
        *known = *known & below | *known >> 1 & !below;
        hand.copy_within(slot + 1.., slot);
        *len -= 1;
        card
    }
}

/// Before the handshake of `slot` leaves `hand`: where another player knows of an equal one, that knowledge leaves with it.
fn forget_handshake(hand: &[Card], slot: usize, known: &mut u32) {
    let is_known = |slot: usize| *known >> slot & 1 == 1;
    if !is_known(slot)
        && let Some(equal) =
            (0..hand.len()).find(|&other| is_known(other) && hand[other] == hand[slot])
    {
        *known &= !(1 << equal);
    }
}
