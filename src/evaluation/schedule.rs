//! Which opponents an iteration meets.

use super::Settings;

/// The evaluation schedule of a run.
#[derive(Clone, Copy, Debug)]
pub struct Schedule<'a> {
    settings: &'a Settings,
}

impl<'a> Schedule<'a> {
    /// The schedule these settings describe.
    pub fn new(settings: &'a Settings) -> Self {
        Self { settings }
    }

    /// The opponents of `iteration` as the configuration spells them; none off schedule.
    ///
    /// Names that differ only in case, surrounding blanks or `-` for `_` are one opponent: the first spelling stays.
    pub fn opponents_at(&self, iteration: u32) -> Vec<&'a str> {
        // No positive number is a multiple of 0, which stands for never.
        let due = |every: usize| iteration > 0 && (iteration as usize).is_multiple_of(every);
        if due(self.settings.eval_every) {
            self.opponents(due(self.settings.extended_eval_every))
        } else {
            Vec::new()
        }
    }

    /// Everyone whom some iteration meets; nobody when evaluation is off. For the end of a run.
    pub fn all_opponents(&self) -> Vec<&'a str> {
        if self.settings.eval_every == 0 {
            return Vec::new();
        }
        self.opponents(self.settings.extended_eval_every > 0)
    }

    fn opponents(&self, with_extended: bool) -> Vec<&'a str> {
        let extended: &[String] = if with_extended {
            &self.settings.extended_opponents
        } else {
            &[]
        };
        let mut opponents: Vec<&'a str> = Vec::new();
        for name in self.settings.opponents.iter().chain(extended) {
            let known = |known: &&str| normalised(known) == normalised(name);
            if !opponents.iter().any(known) {
                opponents.push(name);
            }
        }
        opponents
    }

    /// The first iteration after `iteration` that has opponents; `None` when there never is one.
    pub fn next_after(&self, iteration: u32) -> Option<u32> {
        let settings = self.settings;
        let step = u32::try_from(settings.eval_every)
            .ok()
            .filter(|&step| step > 0)?;
        let next = (iteration / step).checked_add(1)?.checked_mul(step)?;
        if !settings.opponents.is_empty() {
            return Some(next);
        }
        if settings.extended_eval_every == 0 || settings.extended_opponents.is_empty() {
            return None;
        }
        // Only extended opponents: the next common multiple of both intervals.
        let extended = u32::try_from(settings.extended_eval_every).ok()?;
        let common = step.checked_mul(extended / greatest_common_divisor(step, extended))?;
        (iteration / common).checked_add(1)?.checked_mul(common)
    }
}

fn normalised(name: &str) -> String {
    name.trim().to_lowercase().replace('-', "_")
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(every: usize, extended_every: usize, names: [&[&str]; 2]) -> Settings {
        let owned = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
        Settings {
            eval_every: every,
            extended_eval_every: extended_every,
            opponents: owned(names[0]),
            extended_opponents: owned(names[1]),
            ..Settings::default()
        }
    }

    #[test]
    fn extended_opponents_join_on_evaluation_iterations_only() {
        let names: [&[&str]; 2] = [
            &["random", "Passive-Discard"],
            &["passive_discard ", "noisy_safe"],
        ];
        let settings = settings(4, 6, names);
        let schedule = Schedule::new(&settings);
        let base = ["random", "Passive-Discard"];
        let none: [&str; 0] = [];
        assert_eq!(schedule.opponents_at(0), none);
        assert_eq!(schedule.opponents_at(4), base);
        assert_eq!(schedule.opponents_at(6), none);
        assert_eq!(schedule.opponents_at(8), base);
        assert_eq!(
            schedule.opponents_at(12),
            ["random", "Passive-Discard", "noisy_safe"]
        );
        let next: Vec<_> = [0, 3, 4, 5, 11, 12].map(|i| schedule.next_after(i)).into();
        assert_eq!(
            next,
            [Some(4), Some(4), Some(8), Some(8), Some(12), Some(16)]
        );
    }

    #[test]
    fn next_after_is_the_next_iteration_with_opponents() {
        for (every, extended_every) in [(0, 0), (1, 0), (5, 0), (4, 6), (6, 4), (3, 3), (0, 2)] {
            for names in [
                [&["a"][..], &["b"][..]],
                [&[], &["b"]],
                [&["a"], &[]],
                [&[], &[]],
            ] {
                let settings = settings(every, extended_every, names);
                let schedule = Schedule::new(&settings);
                for i in 0..30 {
                    let scan = (i + 1..200).find(|&j| !schedule.opponents_at(j).is_empty());
                    assert_eq!(
                        schedule.next_after(i),
                        scan,
                        "{every} {extended_every} {names:?} {i}"
                    );
                }
            }
        }
        let rare = settings(usize::MAX, 0, [&["a"], &[]]);
        assert_eq!(Schedule::new(&rare).next_after(1), None);
        let daily = settings(1, 0, [&["a"], &[]]);
        assert_eq!(Schedule::new(&daily).next_after(u32::MAX), None);
    }
}
