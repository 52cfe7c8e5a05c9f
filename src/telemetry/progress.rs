//! Live progress: one line per phase on a terminal, nothing in a pipe.

use super::terminal;
use indicatif::{ProgressBar, ProgressStyle};
use std::{
    sync::Mutex,
    time::{Duration, Instant},
};

/// How often a live line changes, at most.
const REDRAW: Duration = Duration::from_millis(100);

/// Where live lines go.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    watched: bool,
}

impl Default for Progress {
    fn default() -> Self {
        Self::new()
    }
}

impl Progress {
    /// Live lines on standard error if that is a terminal.
    pub fn new() -> Self {
        Self {
            watched: terminal::is_watched(),
        }
    }

    /// No live lines.
    pub fn hidden() -> Self {
        Self { watched: false }
    }

    /// Begins a phase of `total` steps: its line shows until the answer is dropped.
    pub fn phase(&self, name: &'static str, total: u64) -> Phase {
        let bar = if self.watched {
            let bar = terminal::live_lines().add(ProgressBar::new(total));
            bar.set_style(style());
            bar.set_prefix(name);
            bar.enable_steady_tick(2 * REDRAW);
            bar
        } else {
            ProgressBar::with_draw_target(Some(total), indicatif::ProgressDrawTarget::hidden())
        };
        Phase {
            bar,
            watched: self.watched,
            message_due: Mutex::new(Instant::now()),
        }
    }
}

/// Lines of text on a terminal that are drawn anew in place; nothing in a pipe. They go when this is dropped.
#[derive(Debug)]
pub struct LiveText(Option<ProgressBar>);

impl LiveText {
    /// No line yet.
    pub fn new(progress: &Progress) -> Self {
        Self(progress.watched.then(|| {
            let bar = terminal::live_lines().add(ProgressBar::new_spinner());
            bar.set_style(
                ProgressStyle::with_template("{msg}")
                    .unwrap_or_else(|_| ProgressStyle::default_spinner()),
            );
            bar
        }))
    }

    /// Whether anybody sees it.
    pub fn is_watched(&self) -> bool {
        self.0.is_some()
    }

    /// Shows `text` in place of what was there.
    pub fn show(&self, text: String) {
        if let Some(bar) = &self.0 {
            bar.set_message(text);
            bar.tick();
        }
    }
}

impl Drop for LiveText {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

const TEMPLATE: &str = "{prefix:<13} {bar:28} {human_pos}/{human_len} {elapsed} {wide_msg}";

fn style() -> ProgressStyle {
    ProgressStyle::with_template(TEMPLATE).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// A phase in progress; its line goes when this is dropped. Any thread may report steps.
#[derive(Debug)]
pub struct Phase {
    bar: ProgressBar,
    watched: bool,
    message_due: Mutex<Instant>,
}

impl Phase {
    /// Reports `steps` more.
    pub fn inc(&self, steps: u64) {
        self.bar.inc(steps);
    }

    /// Steps reported so far.
    pub fn position(&self) -> u64 {
        self.bar.position()
    }

    /// Time since the phase began.
    pub fn elapsed(&self) -> Duration {
        self.bar.elapsed()
    }

    /// Shows a few words behind the counts. The text is made only when it will be seen: never in a pipe, at most ten times a second
    /// on a terminal, so that a caller may offer it at every step.
    pub fn message(&self, text: impl FnOnce() -> String) {
        if !self.watched {
            return;
        }
        // A thread that finds another at it leaves the line to that one.
        if let Ok(mut due) = self.message_due.try_lock() {
            let now = Instant::now();
            if now >= *due {
                *due = now + REDRAW;
                self.bar.set_message(text());
            }
        }
    }
}

impl Drop for Phase {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        if self.watched {
            terminal::live_lines().remove(&self.bar);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hidden_phase_counts_and_never_makes_its_message() {
        let phase = Progress::hidden().phase("traversal", 10);
        phase.inc(3);
        phase.inc(4);
        phase.message(|| unreachable!("nobody watches"));
        assert_eq!(phase.position(), 7);
    }

    #[test]
    fn messages_are_made_at_most_ten_times_a_second() {
        let phase = Progress { watched: true }.phase("fit", 1_000);
        let mut made = 0;
        let began = Instant::now();
        for _ in 0..1_000 {
            phase.inc(1);
            phase.message(|| {
                made += 1;
                String::new()
            });
        }
        let most = 1 + began.elapsed().as_millis() / REDRAW.as_millis();
        assert!(made >= 1 && made <= most, "{made} of at most {most}");
    }

    #[test]
    fn the_template_is_valid() {
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }
}
