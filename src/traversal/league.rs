//! The self-play league: past networks as opponents.

use super::{LeagueSettings, Opponent};
use crate::random::Randomness;

/// Chooses an opponent per walk.
#[derive(Clone, Debug)]
pub struct League<B> {
    settings: LeagueSettings,
    anchor: B,
}

impl<B: Clone> League<B> {
    pub(super) fn new(settings: &LeagueSettings, anchor: B) -> Self {
        Self {
            settings: settings.clone(),
            anchor,
        }
    }

    /// First the anchor with its own probability, then one weighted draw among current, recent, older and anchor; a group
    /// without members weighs nothing, and without any weight the current network plays.
    pub(super) fn choose<R: Randomness>(&self, snapshots: usize, rng: &mut R) -> Opponent<B> {
        let settings = &self.settings;
        let anchor_probability = settings.anchor_probability.clamp(0.0, 1.0);
        if anchor_probability > 0.0 && rng.uniform() < anchor_probability {
            return Opponent::Bot(self.anchor.clone());
        }
        let recent = snapshots.min(settings.recent_window.max(1));
        let older = snapshots - recent;
        let weight = |weight: f64, members: usize| if members == 0 { 0.0 } else { weight.max(0.0) };
        let current = settings.current_weight.max(0.0);
        let (recent_weight, older_weight) = (
            weight(settings.recent_weight, recent),
            weight(settings.older_weight, older),
        );
        let total = current + recent_weight + older_weight + settings.anchor_weight.max(0.0);
        if total <= 0.0 {
            return Opponent::Network;
        }
        let mut point = rng.uniform() * total;
        if point < current {
            return Opponent::Network;
        }
        point -= current;
        if point < recent_weight {
            return Opponent::Snapshot((older + rng.index(recent)) as u8);
        }
        point -= recent_weight;
        if point < older_weight {
            return Opponent::Snapshot(rng.index(older) as u8);
        }
        Opponent::Bot(self.anchor.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};

    fn counts(settings: LeagueSettings, snapshots: usize) -> [usize; 4] {
        let league = League::new(&settings, ());
        let mut rng = Stream::new(7, Purpose::Trial, 0, 0);
        let mut counts = [0; 4];
        for _ in 0..10_000 {
            counts[match league.choose(snapshots, &mut rng) {
                Opponent::Network => 0,
                Opponent::Snapshot(snapshot) if usize::from(snapshot) + 5 >= snapshots => 1,
                Opponent::Snapshot(_) => 2,
                _ => 3,
            }] += 1;
        }
        counts
    }

    #[test]
    fn groups_are_drawn_by_weight_and_empty_groups_never() {
        assert_eq!(counts(LeagueSettings::default(), 0), [10_000, 0, 0, 0]);
        let [current, recent, older, anchor] = counts(LeagueSettings::default(), 12);
        assert!(
            current.abs_diff(5_000) < 250
                && recent.abs_diff(3_000) < 250
                && older.abs_diff(2_000) < 250
        );
        assert_eq!(anchor, 0);
        let anchored = LeagueSettings {
            anchor_probability: 0.3,
            ..LeagueSettings::default()
        };
        assert!(counts(anchored, 0)[3].abs_diff(3_000) < 250);
        let none = LeagueSettings {
            current_weight: 0.0,
            recent_weight: -1.0,
            older_weight: 0.0,
            ..Default::default()
        };
        assert_eq!(counts(none, 4), [10_000, 0, 0, 0]);
    }
}
