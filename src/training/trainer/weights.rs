//! Weights on their way from the learners to the executor and into the league.

use super::Trainer;
use crate::{
    encoding::Encoding,
    game::Player,
    inference::Head,
    training::{IterationError, Role, TrainedGame, guided::playing},
};

impl<G: TrainedGame, E: Encoding<G>> Trainer<G, E> {
    /// Sends the current weights to the executor.
    ///
    /// # Errors
    /// The executor has stopped.
    pub fn upload(&self) -> Result<(), IterationError> {
        Role::ALL
            .into_iter()
            .try_for_each(|role| self.upload_role(role))?;
        if let Some(guided) = &self.guided {
            self.upload_weights(Head::CRITIC, guided.critic_snapshot()?)?;
        }
        if self.config.traversal.opponent_policy.contains("league") {
            for (number, snapshot) in self.league.iter().enumerate() {
                for player in Player::BOTH {
                    let head = Head::snapshot(number as u8, player);
                    self.upload_weights(head, snapshot[player.index()].clone())?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn upload_role(&self, role: Role) -> Result<(), IterationError> {
        self.upload_weights(role.head(), self.snapshot(role)?)
    }

    /// The flat parameters of a network as the executor gets them.
    pub(super) fn snapshot(&self, role: Role) -> anyhow::Result<Vec<f32>> {
        let role = playing(&self.config, role);
        Ok(self.learners[role.index()].snapshot()?)
    }

    /// The current advantage networks by seat.
    pub(super) fn advantage_networks(&self) -> anyhow::Result<[Vec<f32>; 2]> {
        let [p0, p1] = Player::BOTH.map(|player| self.snapshot(Role::Advantage(player)));
        Ok([p0?, p1?])
    }

    pub(super) fn upload_weights(
        &self,
        head: Head,
        weights: Vec<f32>,
    ) -> Result<(), IterationError> {
        Ok(self.walking.load(&self.architectures, head, weights)?)
    }

    pub(super) fn take_league_snapshot(&mut self, iteration: u32) -> Result<(), IterationError> {
        let settings = &self.config.self_play;
        let due = self.config.traversal.opponent_policy.contains("league")
            && settings.max_snapshots > 0
            && (iteration as usize).is_multiple_of(settings.snapshot_every.max(1));
        if due {
            let networks = self.advantage_networks()?;
            self.league.push_back(networks);
            while self.league.len() > settings.max_snapshots {
                self.league.pop_front();
            }
        }
        Ok(())
    }
}
