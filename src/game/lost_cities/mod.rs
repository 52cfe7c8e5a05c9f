//! Lost Cities: classic rules and their variants in colours, ranks, handshakes, hand size and scoring.
//!
//! A turn is two plies of one player: a card phase (play or discard a hand slot) and a draw phase (deck or the top of a
//! pile). Action ids are unified: `2i` play slot i, `2i + 1` discard slot i, `2S` draw the deck, `2S + 1 + c` draw pile c,
//! with hand size S and colours c. Hands keep arrival order.

mod enumerable;
mod profile;
mod rules;
mod state;

pub use profile::{ActionKind, FallbackProfile};
pub use rules::{Rules, RulesError};
pub use state::{Card, Expedition, Phase, State};

use super::{Action, ActionSet, Game, Player};

/// The game under one set of rules. A small value: copied freely.
#[derive(Clone, Debug)]
pub struct LostCities {
    rules: Rules,
}

/// An action that the rules do not allow in a state; the state is unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("action {action} is not legal here")]
pub struct IllegalAction {
    /// The refused id.
    pub action: Action,
}

impl LostCities {
    /// The game under `rules`, or what is wrong with them.
    pub fn new(rules: Rules) -> Result<Self, RulesError> {
        rules.validate()?;
        Ok(Self { rules })
    }

    /// The rules in force.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// All cards, colour ascending; in a colour the handshakes, then ranks ascending.
    pub fn cards(&self) -> Vec<Card> {
        let rules = &self.rules;
        (0..rules.n_colors as u8)
            .flat_map(|color| {
                let handshakes = std::iter::repeat_n(0, rules.n_handshakes as usize);
                handshakes
                    .chain(1..=rules.n_ranks as u8)
                    .map(move |rank| Card { color, rank })
            })
            .collect()
    }

    /// A new game dealt from `deck`, whose **last** card is the top; it must hold exactly the cards of the game.
    pub fn deal_deck(&self, deck: &[Card]) -> Result<State, RulesError> {
        let (mut given, mut wanted) = (deck.to_vec(), self.cards());
        given.sort_unstable();
        wanted.sort_unstable();
        if given != wanted {
            return Err(RulesError::Deck);
        }
        Ok(State::deal(&self.rules, deck))
    }

    /// Applies `action` as the deck lies if it is legal; an error changes nothing.
    pub fn try_apply(&self, state: &mut State, action: Action) -> Result<(), IllegalAction> {
        if !self.legal_actions(state).contains(action) {
            return Err(IllegalAction { action });
        }
        self.apply(state, action);
        Ok(())
    }

    /// The id of drawing the deck; lower ids are card actions, higher ones pile draws.
    pub fn deck_action(&self) -> Action {
        2 * self.rules.hand_size as Action
    }

    /// The id of drawing the top of pile `color`.
    pub fn pile_action(&self, color: usize) -> Action {
        self.deck_action() + 1 + color as Action
    }

    /// The face value of a rank: 0 for handshakes, else `min_rank + rank - 1`.
    pub fn face_value(&self, rank: u8) -> i32 {
        if rank == 0 {
            0
        } else {
            self.rules.min_rank + i32::from(rank) - 1
        }
    }

    /// Whether `player` may add `card` to their expedition of its colour, whatever the phase and whoever is to act.
    pub fn is_playable(&self, state: &State, player: Player, card: Card) -> bool {
        state
            .expedition(player, card.color as usize)
            .takes(card.rank)
    }

    /// `(face sum + penalty) (handshakes + 1)`, plus the bonus from `bonus_threshold` cards on; 0 when empty.
    pub fn expedition_score(&self, expedition: Expedition) -> i32 {
        if expedition.cards() == 0 {
            return 0;
        }
        let bonus = if i32::from(expedition.cards()) >= self.rules.bonus_threshold {
            self.rules.bonus_amount
        } else {
            0
        };
        (self.face_sum(expedition) + self.rules.expedition_penalty)
            * (i32::from(expedition.handshakes) + 1)
            + bonus
    }

    /// The sum of the face values in an expedition.
    pub fn face_sum(&self, expedition: Expedition) -> i32 {
        i32::from(expedition.rank_sum) + i32::from(expedition.numbers) * (self.rules.min_rank - 1)
    }

    /// A player's score as the position stands.
    pub fn score(&self, state: &State, player: Player) -> i32 {
        (0..self.rules.n_colors as usize)
            .map(|color| self.expedition_score(state.expedition(player, color)))
            .sum()
    }
}

impl Game for LostCities {
    type State = State;
    type Profile = FallbackProfile;

    fn num_actions(&self) -> usize {
        self.rules.num_actions()
    }

    fn deal<R: rand::Rng + ?Sized>(&self, rng: &mut R) -> State {
        let mut deck = self.cards();
        rand::seq::SliceRandom::shuffle(deck.as_mut_slice(), rng);
        State::deal(&self.rules, &deck)
    }

    fn mover(&self, state: &State) -> Option<Player> {
        (!state.is_terminal()).then(|| state.current_player())
    }

    fn legal_actions(&self, state: &State) -> ActionSet {
        let mut legal = 0u128;
        if state.is_terminal() {
            return ActionSet::EMPTY;
        }
        match state.phase() {
            Phase::Card => {
                let player = state.current_player();
                for (slot, &card) in state.hand(player).iter().enumerate() {
                    let plays = u128::from(self.is_playable(state, player, card));
                    legal |= (plays | 2) << (2 * slot);
                }
            }
            Phase::Draw => {
                legal |= u128::from(state.deck_len() > 0) << self.deck_action();
                for color in 0..self.rules.n_colors as usize {
                    let drawable = !state.pile(color).is_empty() && state.pending() != Some(color);
                    legal |= u128::from(drawable) << self.pile_action(color);
                }
            }
        }
        ActionSet::from_bits(legal)
    }

    fn chance_outcomes(&self, state: &State, action: Action) -> usize {
        let draws_deck = state.phase() == Phase::Draw && action == self.deck_action();
        if draws_deck {
            state.deck_len().max(1)
        } else {
            1
        }
    }

    /// Outcome `j` of a deck draw is the card at index `j` from the bottom: it changes places with the top card.
    fn apply_outcome(&self, state: &mut State, action: Action, outcome: usize) {
        if state.phase() == Phase::Draw && action == self.deck_action() {
            state.swap_with_top(outcome);
        }
        self.apply(state, action);
    }

    fn apply(&self, state: &mut State, action: Action) {
        debug_assert!(
            self.legal_actions(state).contains(action),
            "illegal action {action}"
        );
        match state.phase() {
            Phase::Card if action.is_multiple_of(2) => state.play(action as usize / 2),
            Phase::Card => state.discard(action as usize / 2),
            Phase::Draw if action == self.deck_action() => state.draw_deck(),
            Phase::Draw => state.draw_pile((action - self.deck_action()) as usize - 1),
        }
    }

    fn payoff(&self, state: &State, player: Player) -> f64 {
        f64::from(self.score(state, player) - self.score(state, player.opponent()))
    }

    fn opening_actions(&self, state: &State) -> ActionSet {
        if state.is_terminal() || state.phase() == Phase::Draw {
            return ActionSet::EMPTY;
        }
        let player = state.current_player();
        let opens = |card: Card| state.expedition(player, card.color as usize).cards() == 0;
        let slots = state
            .hand(player)
            .iter()
            .enumerate()
            .filter(|(_, card)| opens(**card));
        slots.map(|(slot, _)| 2 * slot as Action).collect()
    }

    /// `(face sum of the colour's numbers in hand + penalty) (1 + handshakes in hand) >= 0`, the card itself included.
    fn opening_recovers(&self, state: &State, action: Action) -> bool {
        let hand = state.hand(state.current_player());
        let color = hand[action as usize / 2].color;
        let sum: i32 = hand
            .iter()
            .filter(|card| card.color == color)
            .map(|card| self.face_value(card.rank))
            .sum();
        // The factor 1 + handshakes is positive: it scales the sum and never turns its sign.
        sum + self.rules.expedition_penalty >= 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(color: u8, rank: u8) -> Card {
        Card { color, rank }
    }

    /// One colour of numbers 1 to 4, one card in hand: dealt are 1 and 2, the deck holds 4 below 3.
    fn tiny() -> (LostCities, State) {
        let game = LostCities::new(Rules {
            n_colors: 1,
            n_ranks: 4,
            min_rank: 1,
            n_handshakes: 0,
            hand_size: 1,
            ..Rules::default()
        })
        .unwrap();
        let deck = [4, 3, 2, 1].map(|rank| card(0, rank));
        let state = game.deal_deck(&deck).unwrap();
        (game, state)
    }

    fn legal(game: &LostCities, state: &State) -> Vec<Action> {
        game.legal_actions(state).iter().collect()
    }

    #[test]
    fn cards_are_dealt_in_turn_from_the_end_of_the_deck() {
        let game = LostCities::new(Rules::default()).unwrap();
        let deck = game.cards();
        let state = game.deal_deck(&deck).unwrap();
        for (dealt, &card) in deck.iter().rev().take(16).enumerate() {
            assert_eq!(state.hand(Player::from_parity(dealt))[dealt / 2], card);
        }
        assert_eq!(state.deck(), &deck[..44]);
    }

    #[test]
    fn an_expedition_scores_its_sum_and_penalty_times_handshakes_and_the_bonus_once() {
        let game = LostCities::new(Rules::default()).unwrap();
        let expedition = |handshakes, ranks: &[u8]| Expedition {
            handshakes,
            numbers: ranks.len() as u8,
            last_rank: ranks.last().copied().unwrap_or(0),
            rank_sum: ranks.iter().map(|&rank| u16::from(rank)).sum(),
            rank_bits: ranks.iter().map(|rank| 1 << rank).sum(),
        };
        let score = |handshakes, ranks: &[u8]| game.expedition_score(expedition(handshakes, ranks));
        assert_eq!(score(0, &[]), 0);
        assert_eq!(score(0, &[1]), 2 - 20);
        assert_eq!(score(3, &[]), -80);
        assert_eq!(score(1, &[8, 9]), (9 + 10 - 20) * 2);
        assert_eq!(
            score(3, &[1, 2, 3, 4, 7]),
            4 * (2 + 3 + 4 + 5 + 8 - 20) + 20
        );
        assert_eq!(score(0, &[1, 2, 3, 4, 5, 6, 7]), 35 - 20);
    }

    #[test]
    fn the_last_deck_card_ends_the_game_and_a_discard_may_not_be_taken_back_at_once() {
        let (game, mut state) = tiny();
        assert_eq!(legal(&game, &state), [0, 1]);
        game.try_apply(&mut state, 1).unwrap();
        assert_eq!((state.pending(), legal(&game, &state)), (Some(0), vec![2]));
        game.try_apply(&mut state, 2).unwrap();
        game.try_apply(&mut state, 0).unwrap();
        // The pile is no longer pending for the other player.
        assert_eq!(legal(&game, &state), [2, 3]);
        game.try_apply(&mut state, 2).unwrap();
        assert!(state.is_terminal() && legal(&game, &state).is_empty());
        assert_eq!(
            (state.current_player(), state.phase()),
            (Player::P1, Phase::Draw)
        );
        assert_eq!(
            (state.turn_count(), state.hand(Player::P1)),
            (2, &[card(0, 4)][..])
        );
        assert_eq!(game.payoff(&state, Player::P0), 18.0);
    }

    #[test]
    fn a_chance_outcome_swaps_its_card_to_the_top() {
        let (game, mut state) = tiny();
        game.apply(&mut state, 0);
        assert_eq!(game.chance_outcomes(&state, game.deck_action()), 2);
        game.apply_outcome(&mut state, game.deck_action(), 0);
        assert_eq!(state.hand(Player::P0), [card(0, 4)]);
        assert_eq!(state.deck(), [card(0, 3)]);
    }

    #[test]
    fn with_all_cards_dealt_the_first_card_action_ends_the_game() {
        let game = LostCities::new(Rules {
            n_colors: 1,
            n_ranks: 2,
            n_handshakes: 0,
            hand_size: 1,
            ..Rules::default()
        })
        .unwrap();
        for action in [0, 1] {
            let mut state = game.deal_deck(&game.cards()).unwrap();
            assert!(!state.is_terminal());
            game.try_apply(&mut state, action).unwrap();
            assert!(state.is_terminal());
            assert_eq!(state.pending(), (action == 1).then_some(0));
            assert_eq!((state.turn_count(), state.hand(Player::P0).len()), (0, 0));
        }
    }

    #[test]
    fn an_opening_recovers_when_the_hand_of_its_colour_covers_the_penalty() {
        let rules = Rules {
            n_colors: 2,
            n_ranks: 4,
            min_rank: 5,
            n_handshakes: 1,
            hand_size: 4,
            expedition_penalty: -13,
            ..Rules::default()
        };
        let game = LostCities::new(rules).unwrap();
        // Player 0: 6, 7 and the handshake of colour 0 (13 points), and the 8 of colour 1.
        let dealt = [
            (0, 2),
            (0, 4),
            (0, 3),
            (0, 1),
            (0, 0),
            (1, 1),
            (1, 4),
            (1, 2),
        ];
        let rest = [(1, 3), (1, 0)];
        let deck: Vec<_> = rest.into_iter().chain(dealt.into_iter().rev()).collect();
        let deck: Vec<_> = deck
            .into_iter()
            .map(|(color, rank)| card(color, rank))
            .collect();
        let state = game.deal_deck(&deck).unwrap();
        let opening = game.opening_actions(&state);
        assert_eq!(opening.iter().collect::<Vec<_>>(), [0, 2, 4, 6]);
        let recovers: Vec<_> = opening
            .iter()
            .map(|action| game.opening_recovers(&state, action))
            .collect();
        assert_eq!(recovers, [true, true, true, false]);
    }
}
