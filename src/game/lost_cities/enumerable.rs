//! Small variants looked at whole.

use super::{Card, LostCities, Phase, State};
use crate::game::{Enumerable, Player};

impl Enumerable for LostCities {
    /// Hands in arrival order; the rest of the deck stays in order, for every deck draw is drawn anew.
    fn deals(&self, most: usize) -> Option<Vec<(State, f64)>> {
        let mut dealings = Dealings {
            game: self,
            dealt: 2 * self.rules.hand_size as usize,
            most,
            deals: Vec::new(),
        };
        dealings.extend(&mut Vec::new(), &mut self.cards(), 1.0)?;
        Some(dealings.deals)
    }

    /// Own hand in its order; expeditions, piles, phase, deck length and the pending discard.
    fn observe(&self, state: &State, player: Player, view: &mut Vec<u8>) {
        let hand = state.hand(player);
        view.push(hand.len() as u8);
        view.extend(hand.iter().flat_map(|card| [card.color, card.rank]));
        for color in 0..self.rules.n_colors as usize {
            for seat in Player::BOTH {
                let expedition = state.expedition(seat, color);
                view.push(expedition.handshakes);
                view.extend(expedition.rank_bits.to_le_bytes());
            }
            view.push(state.pile(color).len() as u8);
            view.extend_from_slice(state.pile(color));
        }
        let pending = state.pending().map_or(u8::MAX, |color| color as u8);
        let phase = match state.phase() {
            Phase::Card => 0,
            Phase::Draw => 1,
        };
        view.extend([
            pending,
            phase,
            state.deck_len() as u8,
            state.current_player() as u8,
        ]);
    }
}

/// Lists the orders of the dealt cards; equal cards are not told apart.
struct Dealings<'a> {
    game: &'a LostCities,
    dealt: usize,
    most: usize,
    deals: Vec<(State, f64)>,
}

impl Dealings<'_> {
    /// Extends the dealt cards `hands` by each kind of card among the `left` ones (sorted); `None` past the limit.
    fn extend(
        &mut self,
        hands: &mut Vec<Card>,
        left: &mut Vec<Card>,
        probability: f64,
    ) -> Option<()> {
        if hands.len() == self.dealt {
            if self.deals.len() == self.most {
                return None;
            }
            let deck: Vec<Card> = left.iter().chain(hands.iter().rev()).copied().collect();
            self.deals
                .push((State::deal(&self.game.rules, &deck), probability));
            return Some(());
        }
        let mut at = 0;
        while at < left.len() {
            let card = left[at];
            let equal = left[at..]
                .iter()
                .take_while(|&&other| other == card)
                .count();
            let share = equal as f64 / left.len() as f64;
            left.remove(at);
            hands.push(card);
            self.extend(hands, left, probability * share)?;
            hands.pop();
            left.insert(at, card);
            at += equal;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::lost_cities::Rules;

    #[test]
    fn deals_have_their_probabilities_and_equal_cards_are_one() {
        let game = LostCities::new(Rules {
            n_colors: 2,
            n_ranks: 2,
            n_handshakes: 2,
            hand_size: 1,
            ..Rules::default()
        })
        .unwrap();
        let deals = game.deals(1_000).unwrap();
        // Six kinds of cards in ordered pairs, but no number card twice.
        assert_eq!(deals.len(), 36 - 4);
        let sum: f64 = deals.iter().map(|(_, probability)| probability).sum();
        assert!((sum - 1.0).abs() < 1e-12);
        let handshakes = Card { color: 0, rank: 0 };
        let both = deals
            .iter()
            .find(|(state, _)| Player::BOTH.map(|player| state.hand(player)[0]) == [handshakes; 2]);
        assert!((both.unwrap().1 - 2.0 / 8.0 / 7.0).abs() < 1e-12);
        assert!(game.deals(31).is_none());
        assert!(
            LostCities::new(Rules::default())
                .unwrap()
                .deals(1_000)
                .is_none()
        );
    }

    #[test]
    fn a_player_sees_their_own_hand_and_what_lies_open() {
        let game = LostCities::new(Rules {
            n_colors: 2,
            n_ranks: 3,
            n_handshakes: 0,
            hand_size: 2,
            ..Rules::default()
        })
        .unwrap();
        let deals = game.deals(1_000).unwrap();
        let views = |player| {
            let mut views: Vec<Vec<u8>> = deals
                .iter()
                .map(|(state, _)| {
                    let mut view = Vec::new();
                    game.observe(state, player, &mut view);
                    view
                })
                .collect();
            views.sort_unstable();
            views.dedup();
            views.len()
        };
        assert_eq!(deals.len(), 360);
        assert_eq!(Player::BOTH.map(views), [30, 30]);
    }
}
