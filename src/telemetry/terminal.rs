//! Standard error, shared by log lines and live progress lines.

use indicatif::{MultiProgress, ProgressDrawTarget};
use std::{
    io::{self, IsTerminal, Write},
    sync::LazyLock,
};

static LIVE_LINES: LazyLock<MultiProgress> =
    LazyLock::new(|| MultiProgress::with_draw_target(ProgressDrawTarget::stderr()));

/// The live lines of this process.
pub(super) fn live_lines() -> &'static MultiProgress {
    &LIVE_LINES
}

/// Whether standard error is watched by a person.
pub(super) fn is_watched() -> bool {
    io::stderr().is_terminal()
}

/// Writes whole lines to standard error, with the live lines out of the way meanwhile.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LogLines;

impl Write for LogLines {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        self.write_all(lines)?;
        Ok(lines.len())
    }

    fn write_all(&mut self, lines: &[u8]) -> io::Result<()> {
        live_lines().suspend(|| io::stderr().lock().write_all(lines))
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
