//! The fits of an iteration.

use super::{
    FitReport, IterationError, Learner, Phase, PhaseClock, Role, Watcher, fitting::RoleFit,
    threads::two_at_once,
};
use crate::{config::Config, game::Player, inference::StopFlag, replay::Memory};
use std::{panic::resume_unwind, thread, time::Duration};

/// The fits of one iteration.
pub(super) struct IterationFits<'a> {
    pub config: &'a Config,
    pub iteration: u32,
    pub stop: &'a StopFlag,
}

/// What they did, by [`Role::index`].
#[derive(Default)]
pub(super) struct Fitted {
    /// `None` where there was none, or a memory was empty.
    pub fits: [Option<FitReport>; 3],
    /// The critic's.
    pub critic: Option<FitReport>,
    /// Seconds spent drawing minibatch slots.
    pub sample_seconds: [f64; 3],
}

/// What is fitted to what, by [`Role::index`], and where it is told.
pub(super) struct Subjects<'a> {
    pub learners: &'a mut [Learner; 3],
    pub memories: &'a mut [Memory; 3],
    pub fitted: &'a mut Fitted,
}

impl IterationFits<'_> {
    /// Fits the networks of `roles`. Both advantage networks at once, where each does best with one thread: they share nothing, so
    /// the numbers are those of one after the other.
    ///
    /// # Errors
    /// [`IterationError::Interrupted`] soon after the stop flag is raised, else what failed.
    pub fn run(
        &self,
        roles: &[Role],
        subjects: Subjects<'_>,
        clock: &mut PhaseClock,
        watcher: &mut dyn Watcher,
    ) -> Result<(), IterationError> {
        let Subjects {
            learners,
            memories,
            fitted,
        } = subjects;
        let rows = self.config.optimization.advantage_batch_size;
        let at_once = two_at_once(self.config, learners[0].architecture(), rows);
        let both = Player::BOTH.map(Role::Advantage);
        let mut left = roles;
        if at_once && roles.starts_with(&both) {
            self.run_both(learners, memories, fitted, watcher)?;
            let seconds = |fit: &&FitReport| Duration::from_secs_f64(fit.seconds);
            let longer = fitted.fits[..2].iter().flatten().max_by_key(seconds);
            add(clock, Phase::AdvantageFit, longer);
            left = &roles[both.len()..];
        }
        for &role in left {
            let index = role.index();
            fitted.fits[index] = self.of(role).run(
                &mut learners[index],
                &mut memories[index],
                &mut fitted.sample_seconds[index],
                self.stop,
                watcher,
            )?;
            let phase = match role {
                Role::Advantage(_) => Phase::AdvantageFit,
                Role::Strategy => Phase::StrategyFit,
            };
            add(clock, phase, &fitted.fits[index]);
        }
        Ok(())
    }

    /// Fits both advantage networks side by side.
    fn run_both(
        &self,
        learners: &mut [Learner; 3],
        memories: &mut [Memory; 3],
        fitted: &mut Fitted,
        watcher: &mut dyn Watcher,
    ) -> Result<(), IterationError> {
        let [role0, role1] = Player::BOTH.map(|player| self.of(Role::Advantage(player)));
        let ([p0, p1, _], [memory0, memory1, _]) = (learners, memories);
        let [sampling0, sampling1, _] = &mut fitted.sample_seconds;
        let (first, second) = thread::scope(|scope| {
            // Both take as many steps: watching one shows how far they are.
            let second = scope.spawn(move || role1.run(p1, memory1, sampling1, self.stop, &mut ()));
            let first = role0.run(p0, memory0, sampling0, self.stop, watcher);
            let second = second.join().unwrap_or_else(|panic| resume_unwind(panic));
            (first, second)
        });
        (fitted.fits[0], fitted.fits[1]) = (first?, second?);
        Ok(())
    }

    /// The fit of one network.
    pub fn of(&self, role: Role) -> RoleFit<'_> {
        RoleFit {
            config: self.config,
            role,
            iteration: self.iteration,
            threads: None,
        }
    }
}

/// Adds the time of fits that followed each other.
fn add<'a>(clock: &mut PhaseClock, phase: Phase, fits: impl IntoIterator<Item = &'a FitReport>) {
    for fit in fits {
        clock.add(phase, Duration::from_secs_f64(fit.seconds));
        clock.add(
            Phase::BatchTensor,
            Duration::from_secs_f64(fit.batch_seconds),
        );
    }
}
