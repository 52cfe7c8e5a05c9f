//! Which deal a game is played on.

use crate::{
    game::{Game, Player},
    random::{Purpose, Stream},
};

/// Which deals the games of an evaluation are played on. In game `g` the policy has seat `g % 2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deals {
    /// A deal for each game, and others in each iteration: what training looks at as it goes.
    Fresh {
        /// The iteration.
        iteration: u32,
    },
    /// Games `2 d` and `2 d + 1` have deal `d`, with seats exchanged: what luck gives in one it takes in the other. No training meets
    /// these deals.
    Mirrored,
}

impl Deals {
    /// Games played on one deal.
    pub fn games_per_deal(self) -> usize {
        match self {
            Deals::Fresh { .. } => 1,
            Deals::Mirrored => 2,
        }
    }

    /// The number of the deal of game `number`.
    pub fn deal_of(self, number: usize) -> usize {
        number / self.games_per_deal()
    }

    /// The first position of game `number`, and the stream that the players' chance comes from. A function of the arguments alone.
    pub(super) fn deal<G: Game>(self, game: &G, seed: u64, number: usize) -> (G::State, Stream) {
        match self {
            Deals::Fresh { iteration } => {
                let iteration = u64::from(iteration);
                let mut stream = Stream::new(seed, Purpose::Evaluation, iteration, number as u64);
                (game.deal(&mut stream), stream)
            }
            Deals::Mirrored => {
                let seat = Player::from_parity(number).index() as u64;
                let stream = |part| {
                    let deal = self.deal_of(number) as u64;
                    Stream::new(seed, Purpose::Judgement, deal, part)
                };
                (game.deal(&mut stream(0)), stream(1 + seat))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        game::lost_cities::{LostCities, Rules},
        random::Randomness,
    };

    #[test]
    fn mirrored_games_share_the_deal_and_nothing_else() {
        let game = LostCities::new(Rules::default()).unwrap();
        let hands = |deals: Deals, number| {
            let (state, mut stream) = deals.deal(&game, 3, number);
            let hands = Player::BOTH.map(|player| state.hand(player).to_vec());
            (hands, stream.uniform())
        };
        let first = hands(Deals::Mirrored, 6);
        let second = hands(Deals::Mirrored, 7);
        assert_eq!(first.0, second.0);
        assert_ne!(first.1, second.1);
        assert_ne!(first.0, hands(Deals::Mirrored, 8).0);
        assert_eq!(first, hands(Deals::Mirrored, 6));
        let fresh = Deals::Fresh { iteration: 0 };
        assert_ne!(hands(fresh, 6).0, hands(fresh, 7).0);
        assert_ne!(hands(fresh, 3).0, first.0);
    }
}
