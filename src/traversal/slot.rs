//! Where a walk's answers come from.

use crate::inference::{Head, Lease, Stopped};
use std::future::Future;

/// Where a walk's answers come from: a leased slot of an engine, or a stand-in.
pub trait WalkSlot: Sized + Send {
    /// The info state row (`[info_len]`) to encode into.
    fn info_mut(&mut self) -> &mut [f32];
    /// The info state row (`[info_len]`).
    fn info(&self) -> &[f32];
    /// The answer to the last request (`[actions]`): advantages or logits, illegal entries included.
    fn answer(&self) -> &[f32];
    /// Asks `head` about the info state row.
    ///
    /// # Errors
    /// [`Stopped`] when nobody answers any more.
    fn request(&mut self, head: Head) -> impl Future<Output = Result<(), Stopped>> + Send;
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
    async fn request(&mut self, head: Head) -> Result<(), Stopped> {
        Lease::request(self, head).await
    }
}
