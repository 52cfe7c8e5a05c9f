//! The three fits of an iteration.

use super::{
    FitReport, IterationError, Learner, Phase, PhaseClock, Role, Watcher, fitting::RoleFit,
    threads::two_at_once,
};
use crate::{config::Config, game::Player, inference::StopFlag, replay::Memory};
use std::{panic::resume_unwind, thread, time::Duration};

/// All fits of one iteration.
pub(super) struct IterationFits<'a> {
    pub config: &'a Config,
    pub iteration: u32,
    /// Which networks are fitted; the advantage networks always are.
    pub roles: &'a [Role],
    pub stop: &'a StopFlag,
}

/// What they did, by [`Role::index`].
#[derive(Default)]
pub(super) struct Fitted {
    /// `None` where a memory was empty.
    pub fits: [Option<FitReport>; 3],
    /// Seconds spent drawing minibatch slots.
    pub sample_seconds: [f64; 3],
}

impl IterationFits<'_> {
    /// Fits the networks. Both advantage networks at once, where each does best with one thread: they share nothing, so
    /// the numbers are those of one after the other.
    ///
    /// # Errors
    /// [`IterationError::Interrupted`] soon after the stop flag is raised, else what failed.
    pub fn run(
        &self,
        learners: &mut [Learner; 3],
        memories: &mut [Memory; 3],
        clock: &mut PhaseClock,
        watcher: &mut dyn Watcher,
    ) -> Result<Fitted, IterationError> {
        let mut fitted = Fitted::default();
        let [p0, p1, strategy] = learners;
        let [memory0, memory1, strategy_memory] = memories;
        let [fit0, fit1, strategy_fit] = &mut fitted.fits;
        let [sampling0, sampling1, strategy_sampling] = &mut fitted.sample_seconds;
        let [role0, role1] = Player::BOTH.map(|player| self.of(Role::Advantage(player)));
        let rows = self.config.optimization.advantage_batch_size;
        let at_once = two_at_once(self.config, p0.architecture(), rows);
        if at_once {
            let (first, second) = thread::scope(|scope| {
                // Both take as many steps: watching one shows how far they are.
                let second =
                    scope.spawn(move || role1.run(p1, memory1, sampling1, self.stop, &mut ()));
                let first = role0.run(p0, memory0, sampling0, self.stop, watcher);
                (
                    first,
                    second.join().unwrap_or_else(|panic| resume_unwind(panic)),
                )
            });
            (*fit0, *fit1) = (first?, second?);
        } else {
            *fit0 = role0.run(p0, memory0, sampling0, self.stop, watcher)?;
            *fit1 = role1.run(p1, memory1, sampling1, self.stop, watcher)?;
        }
        if self.roles.contains(&Role::Strategy) {
            let role = self.of(Role::Strategy);
            *strategy_fit = role.run(
                strategy,
                strategy_memory,
                strategy_sampling,
                self.stop,
                watcher,
            )?;
        }
        let [fit0, fit1, strategy_fit] = &fitted.fits;
        let advantage = [fit0, fit1].into_iter().flatten();
        if at_once {
            let longer = |fit: &&FitReport| Duration::from_secs_f64(fit.seconds);
            add(clock, Phase::AdvantageFit, advantage.max_by_key(longer));
        } else {
            add(clock, Phase::AdvantageFit, advantage);
        }
        add(clock, Phase::StrategyFit, strategy_fit);
        Ok(fitted)
    }

    fn of(&self, role: Role) -> RoleFit<'_> {
        RoleFit {
            config: self.config,
            role,
            iteration: self.iteration,
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
