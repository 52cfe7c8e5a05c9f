//! The slots of one walk, and the questions that wait in them.

use super::WalkSlot;
use crate::inference::{Head, Stopped};
use std::{
    future::poll_fn,
    task::{Context, Poll},
};

/// A walk's own slot and what it has leased besides. An extra slot is held only while a question waits in it or is about to: the executor
/// waits for every slot that could still ask.
pub(super) struct Seats<'l, L, Q> {
    own: &'l mut L,
    extra: Vec<L>,
    /// By slot, the walk's own first: the question that waits there.
    waiting: Vec<Option<Q>>,
    most: usize,
}

impl<'l, L: WalkSlot, Q> Seats<'l, L, Q> {
    /// The seats of a walk that may hold `most` slots, its own among them.
    pub(super) fn new(own: &'l mut L, most: usize) -> Self {
        Self {
            own,
            extra: Vec::new(),
            waiting: vec![None],
            most,
        }
    }

    /// A seat without a question, leased if need be; `None` when the walk has as many as it may or no slot is free.
    pub(super) fn vacant(&mut self) -> Option<usize> {
        let vacant = self.waiting.iter().position(Option::is_none);
        if vacant.is_some() || self.waiting.len() >= self.most {
            return vacant;
        }
        self.extra.push(self.own.another()?);
        self.waiting.push(None);
        Some(self.extra.len())
    }

    /// The slot of a seat.
    pub(super) fn slot(&mut self, seat: usize) -> &mut L {
        match seat.checked_sub(1) {
            None => self.own,
            Some(extra) => &mut self.extra[extra],
        }
    }

    /// Asks `head` about the row of a seat's slot; `question` is kept until the answer is there.
    ///
    /// # Errors
    /// [`Stopped`] when nobody answers any more.
    pub(super) async fn ask(
        &mut self,
        seat: usize,
        head: Head,
        question: Q,
    ) -> Result<(), Stopped> {
        self.waiting[seat] = Some(question);
        poll_fn(|context| Poll::Ready(self.slot(seat).ask(head, context))).await
    }

    /// Gives back the slots in which nothing waits, as long as anything waits in another: the walk's own is then one of these.
    /// Returns whether anything waits.
    pub(super) fn give_back_vacant(&mut self) -> bool {
        for seat in (1..self.waiting.len()).rev() {
            if self.waiting[seat].is_none() {
                self.waiting.swap_remove(seat);
                self.extra.swap_remove(seat - 1);
            }
        }
        if self.waiting[0].is_none()
            && let Some(mut slot) = self.extra.pop()
        {
            // One slot is as good as another: the waiting one becomes the walk's own.
            std::mem::swap(self.own, &mut slot);
            self.waiting[0] = self.waiting.pop().flatten();
        }
        self.waiting[0].is_some()
    }

    /// Waits until at least one answer is there; then every seat with one is in `answered`. Waiting for all would leave answered slots
    /// idle, which the executor takes for walks that may still ask.
    ///
    /// # Errors
    /// [`Stopped`] when nobody answers any more.
    pub(super) async fn wait(&mut self, answered: &mut Vec<usize>) -> Result<(), Stopped> {
        poll_fn(|context| self.poll(context, answered)).await
    }

    fn poll(
        &mut self,
        context: &Context<'_>,
        answered: &mut Vec<usize>,
    ) -> Poll<Result<(), Stopped>> {
        answered.clear();
        for (seat, question) in self.waiting.iter().enumerate() {
            if question.is_none() {
                continue;
            }
            let slot = match seat.checked_sub(1) {
                None => &mut *self.own,
                Some(extra) => &mut self.extra[extra],
            };
            match slot.poll_answer(context) {
                Poll::Ready(Ok(())) => answered.push(seat),
                Poll::Ready(Err(Stopped)) => return Poll::Ready(Err(Stopped)),
                Poll::Pending => {}
            }
        }
        if answered.is_empty() {
            Poll::Pending
        } else {
            Poll::Ready(Ok(()))
        }
    }

    /// Takes the question out of an answered seat, with its slot.
    pub(super) fn take(&mut self, seat: usize) -> Option<(Q, &L)> {
        let question = self.waiting[seat].take()?;
        Some((question, &*self.slot(seat)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;
    use std::{
        sync::{Arc, Mutex},
        task::Waker,
    };

    /// A numbered slot of a few; answers come when they are given.
    struct Numbered {
        number: usize,
        free: Arc<Mutex<Vec<usize>>>,
        answered: Arc<Mutex<Vec<usize>>>,
    }

    impl WalkSlot for Numbered {
        fn info_mut(&mut self) -> &mut [f32] {
            &mut []
        }
        fn info(&self) -> &[f32] {
            &[]
        }
        fn answer(&self) -> &[f32] {
            &[]
        }
        fn ask(&mut self, _: Head, _: &Context<'_>) -> Result<(), Stopped> {
            Ok(())
        }
        fn poll_answer(&self, _: &Context<'_>) -> Poll<Result<(), Stopped>> {
            if self.answered.lock().unwrap().contains(&self.number) {
                Poll::Ready(Ok(()))
            } else {
                Poll::Pending
            }
        }
        fn another(&self) -> Option<Self> {
            Some(Self {
                number: self.free.lock().unwrap().pop()?,
                free: Arc::clone(&self.free),
                answered: Arc::clone(&self.answered),
            })
        }
    }

    impl Drop for Numbered {
        fn drop(&mut self) {
            self.free.lock().unwrap().push(self.number);
        }
    }

    #[test]
    fn slots_in_which_nothing_waits_are_given_back_and_the_last_one_stays() {
        let free = Arc::new(Mutex::new(vec![3, 2, 1]));
        let answered = Arc::new(Mutex::new(Vec::new()));
        let mut own = Numbered {
            number: 0,
            free: Arc::clone(&free),
            answered: Arc::clone(&answered),
        };
        let mut seats = Seats::new(&mut own, 3);
        for question in ["a", "b", "c"] {
            let seat = seats.vacant().unwrap();
            let asked = seats.ask(seat, Head(0), question);
            asked.now_or_never().unwrap().unwrap();
        }
        assert!(seats.vacant().is_none(), "no more than three");
        assert_eq!(*free.lock().unwrap(), [3]);
        let mut found = Vec::new();
        let context = Context::from_waker(Waker::noop());
        assert!(seats.poll(&context, &mut found).is_pending());

        // The walk's own slot and one more are answered: the third becomes the walk's own.
        *answered.lock().unwrap() = vec![0, 2];
        assert!(seats.poll(&context, &mut found).is_ready());
        assert_eq!(found, [0, 2]);
        assert_eq!(seats.take(0).unwrap().0, "a");
        assert_eq!(seats.take(2).unwrap().0, "c");
        assert!(seats.give_back_vacant());
        assert_eq!(free.lock().unwrap().len(), 3);
        assert_eq!(seats.slot(0).number, 1);

        answered.lock().unwrap().push(1);
        assert!(seats.poll(&context, &mut found).is_ready());
        assert_eq!(seats.take(found[0]).unwrap().0, "b");
        assert!(!seats.give_back_vacant());
        assert_eq!(free.lock().unwrap().len(), 3);
    }
}
