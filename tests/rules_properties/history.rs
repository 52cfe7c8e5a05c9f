//! A game as somebody remembers it who watches every card: slow and plain, to compare states and encodings with.

use coorl_async::game::{
    Action, Player,
    lost_cities::{Card, LostCities},
};

/// What has become of each card.
#[derive(Clone)]
pub struct History {
    hand_size: usize,
    colors: usize,
    /// Undealt cards, the top last.
    pub deck: Vec<Card>,
    pub hands: [Vec<Card>; 2],
    /// Cards of a hand that the other player saw going there and not leaving it. Equal cards cannot be told apart.
    pub known: [Vec<Card>; 2],
    /// Cards in the order in which they were played, of all colours.
    pub played: [Vec<Card>; 2],
    /// By colour, the top last.
    pub piles: Vec<Vec<Card>>,
    pub plies: usize,
    /// The colour discarded in this turn.
    pub pending: Option<usize>,
}

impl History {
    /// The game dealt from `deck`, with `actions` played.
    pub fn new(game: &LostCities, deck: &[Card], actions: &[Action]) -> Self {
        let rules = game.rules();
        let colors = rules.n_colors as usize;
        let mut history = Self {
            hand_size: rules.hand_size as usize,
            colors,
            deck: deck.to_vec(),
            hands: [vec![], vec![]],
            known: [vec![], vec![]],
            played: [vec![], vec![]],
            piles: vec![vec![]; colors],
            plies: 0,
            pending: None,
        };
        for dealt in 0..2 * history.hand_size {
            let card = history.deck.pop();
            history.hands[dealt % 2].extend(card);
        }
        actions
            .iter()
            .for_each(|&action| history.act(action as usize));
        history
    }

    /// Whoever is to act, or would be.
    pub fn mover(&self) -> Player {
        Player::from_parity(self.plies / 2)
    }

    pub fn is_draw_phase(&self) -> bool {
        self.plies % 2 == 1
    }

    /// The ranks of a player's expedition in the order in which they were played.
    pub fn expedition(&self, player: Player, color: usize) -> Vec<u8> {
        let played = self.played[player.index()].iter();
        played
            .filter(|card| card.color as usize == color)
            .map(|card| card.rank)
            .collect()
    }

    /// Whether a player may add a card of `rank` to their expedition.
    pub fn plays(&self, player: Player, color: usize, rank: u8) -> bool {
        let last = self.expedition(player, color).last().copied().unwrap_or(0);
        if rank == 0 { last == 0 } else { rank > last }
    }

    /// Whether the mover may draw from a pile now.
    pub fn draws(&self, color: usize) -> bool {
        self.is_draw_phase() && !self.piles[color].is_empty() && self.pending != Some(color)
    }

    fn act(&mut self, action: usize) {
        let mover = self.mover().index();
        if !self.is_draw_phase() {
            let card = self.hands[mover].remove(action / 2);
            let known = self.known[mover].iter().position(|&known| known == card);
            known.map(|at| self.known[mover].remove(at));
            if action.is_multiple_of(2) {
                self.played[mover].push(card);
            } else {
                self.piles[card.color as usize].push(card);
                self.pending = Some(card.color as usize);
            }
        } else if action == 2 * self.hand_size {
            let card = self.deck.pop();
            self.hands[mover].extend(card);
            self.pending = None;
        } else {
            let color = action - 2 * self.hand_size - 1;
            assert!(color < self.colors);
            let card = self.piles[color].pop();
            self.hands[mover].extend(card);
            self.known[mover].extend(card);
            self.pending = None;
        }
        self.plies += 1;
    }
}
