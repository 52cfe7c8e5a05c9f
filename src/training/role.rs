//! The networks and memories of a run, by number.

use super::LossKind;
use crate::{game::Player, inference::Head};

/// The three networks and memories of a run, in the order of everything that is numbered by network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Advantages of a seat.
    Advantage(Player),
    /// The average strategy of both.
    Strategy,
}

impl Role {
    /// All of them.
    pub const ALL: [Role; 3] = [
        Role::Advantage(Player::P0),
        Role::Advantage(Player::P1),
        Role::Strategy,
    ];

    /// Its number: 0 and 1 by seat, 2 for the strategy.
    pub fn index(self) -> usize {
        match self {
            Role::Advantage(player) => player.index(),
            Role::Strategy => 2,
        }
    }

    /// Its name in files and metrics.
    pub fn name(self) -> &'static str {
        ["advantage_0", "advantage_1", "strategy"][self.index()]
    }

    /// The executor's head for it.
    pub(super) fn head(self) -> Head {
        match self {
            Role::Advantage(player) => Head::advantage(player),
            Role::Strategy => Head::STRATEGY,
        }
    }

    /// The loss it is fitted with.
    pub(super) fn loss(self) -> LossKind {
        match self {
            Role::Advantage(_) => LossKind::Advantage,
            Role::Strategy => LossKind::Strategy,
        }
    }
}
