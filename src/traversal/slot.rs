//! Where a walk's answers come from.

use crate::inference::{Head, Lease, Stopped};
use std::task::{Context, Poll};

/// Where a walk's answers come from: a leased slot of an engine, or a stand-in.
pub trait WalkSlot: Sized + Send {
    /// The info state row (`[info_len]`) to encode into.
    fn info_mut(&mut self) -> &mut [f32];
    /// The info state row (`[info_len]`).
    fn info(&self) -> &[f32];
    /// The answer to the last request (`[actions]`): advantages or logits, illegal entries included.
    fn answer(&self) -> &[f32];
    /// Asks `head` about the info state row; the task of `context` is woken when the answer is there.
    ///
    /// # Errors
    /// [`Stopped`] when nobody answers any more.
    fn ask(&mut self, head: Head, context: &Context<'_>) -> Result<(), Stopped>;
    /// Whether the answer to what was asked is there.
    fn poll_answer(&self, context: &Context<'_>) -> Poll<Result<(), Stopped>>;
    /// One more slot, if one is free.
    fn another(&self) -> Option<Self>;
}

impl WalkSlot for Lease {
    fn info_mut(&mut self) -> &mut [f32] {
        Lease::info_mut(self)
    }
    fn info(&self) -> &[f32] {
        Lease::info(self)
    }
    fn answer(&self) -> &[f32] {
        Lease::answer(self)
    }
    fn ask(&mut self, head: Head, context: &Context<'_>) -> Result<(), Stopped> {
        Lease::ask(self, head, context)
    }
    fn poll_answer(&self, context: &Context<'_>) -> Poll<Result<(), Stopped>> {
        Lease::poll_answer(self, context)
    }
    fn another(&self) -> Option<Self> {
        Lease::another(self)
    }
}
