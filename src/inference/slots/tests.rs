//! The contract between lease and ticket, step by step and under races. No tensor, at most two threads: Miri runs these.

use super::*;
use crate::inference::Settings;
use flume::Receiver;
use futures::executor::block_on;
use std::{
    future::Future,
    pin::{Pin, pin},
    sync::atomic::AtomicUsize,
    task::{Wake, Waker},
    thread,
};

const SHAPE: RowShape = RowShape {
    info_len: 3,
    actions: 2,
};

/// Rounds of a test with races; each takes Miri a good part of a second.
const ROUNDS: usize = if cfg!(miri) { 12 } else { 2_000 };

fn shared(capacity: usize) -> (Arc<Shared>, Receiver<Ticket>) {
    let (shared, tickets) = Shared::new(capacity, SHAPE, &Settings::default());
    (Arc::new(shared), tickets)
}

/// Counts how often it is woken.
#[derive(Default)]
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Bell {
    fn rings(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

fn poll<T>(future: Pin<&mut impl Future<Output = T>>, bell: &Arc<Bell>) -> Poll<T> {
    let waker = Waker::from(Arc::clone(bell));
    future.poll(&mut Context::from_waker(&waker))
}

/// Sends a request off and forgets about it; the lease stays.
fn ask(lease: &mut Lease, head: Head) {
    let request = pin!(lease.request(head));
    assert!(poll(request, &Arc::default()).is_pending());
}

/// `[2 head + first, -last]` of the info state that waits.
fn answer(ticket: &mut Ticket, slots: &Slots) {
    let mut info = [0.0; 3];
    ticket.copy_info(slots, &mut info);
    ticket.write_answer(slots, &expected(ticket.head, info));
}

fn expected(head: Head, info: [f32; 3]) -> [f32; 2] {
    [2.0 * f32::from(head.0) + info[0], -info[2]]
}

#[test]
fn a_request_travels_and_its_answer_wakes_the_walk_once() {
    let (shared, tickets) = shared(2);
    let mut lease = Lease::new(&shared).unwrap();
    let bell = Arc::default();
    for step in 0..3 {
        let info = [step as f32, 1.0, 5.0];
        lease.info_mut().copy_from_slice(&info);
        assert!(tickets.is_empty(), "asked before it was asked to");
        {
            let mut request = pin!(lease.request(Head(step)));
            assert_eq!(poll(request.as_mut(), &bell), Poll::Pending);
            let mut ticket = tickets.try_recv().unwrap();
            assert_eq!(ticket.head, Head(step));
            answer(&mut ticket, &shared.slots);
            assert_eq!(bell.rings(), usize::from(step), "woken before its time");
            assert_eq!(poll(request.as_mut(), &bell), Poll::Pending);
            ticket.wake(&shared.slots);
            assert_eq!(bell.rings(), usize::from(step) + 1);
            assert_eq!(poll(request.as_mut(), &bell), Poll::Ready(Ok(())));
        }
        assert_eq!(lease.answer(), expected(Head(step), info));
        assert_eq!(lease.info(), info, "the row is as it was written");
        assert!(tickets.is_empty(), "asked twice");
    }
}

#[test]
fn rows_of_other_slots_stay_as_they_are() {
    let (shared, tickets) = shared(3);
    let mut leases: Vec<_> = (0..3).map(|_| Lease::new(&shared).unwrap()).collect();
    for (index, lease) in leases.iter_mut().enumerate() {
        lease.info_mut().fill(index as f32 + 1.0);
    }
    // Answered in another order than asked, while the first lease's rows are being read.
    ask(&mut leases[2], Head(9));
    ask(&mut leases[1], Head(4));
    let mut waiting: Vec<Ticket> = tickets.drain().collect();
    let mine = leases[0].info();
    for ticket in waiting.iter_mut().rev() {
        answer(ticket, &shared.slots);
    }
    assert_eq!(mine, [1.0; 3]);
    waiting
        .into_iter()
        .for_each(|ticket| ticket.wake(&shared.slots));
    assert_eq!(leases[1].answer(), expected(Head(4), [2.0; 3]));
    assert_eq!(leases[2].answer(), expected(Head(9), [3.0; 3]));
    assert_eq!(leases[0].answer(), [0.0; 2]);
}

#[test]
fn a_slot_is_leased_once_at_a_time() {
    let (shared, _tickets) = shared(2);
    let first = Lease::new(&shared).unwrap();
    let second = Lease::new(&shared).unwrap();
    assert_ne!(first.slot, second.slot);
    assert!(Lease::new(&shared).is_none(), "a third of two");
    let slot = first.slot;
    drop(first);
    let mut again = Lease::new(&shared).unwrap();
    assert_eq!(again.slot, slot);
    again.info_mut().fill(7.0);
    assert!(Lease::new(&shared).is_none());
}

#[test]
fn the_slot_of_an_abandoned_request_is_free_once_its_ticket_ends() {
    let ends: [fn(Ticket, &Slots); 2] = [Ticket::wake, Ticket::fail];
    for end in ends {
        let (shared, tickets) = shared(1);
        let mut lease = Lease::new(&shared).unwrap();
        let bell = Arc::default();
        lease.info_mut().fill(3.0);
        {
            let request = pin!(lease.request(Head(1)));
            assert!(poll(request, &bell).is_pending());
        }
        drop(lease);
        assert!(Lease::new(&shared).is_none(), "its ticket is still out");
        let mut ticket = tickets.try_recv().unwrap();
        answer(&mut ticket, &shared.slots);
        end(ticket, &shared.slots);
        assert_eq!(bell.rings(), 0, "nobody waits any more");
        let mut next = Lease::new(&shared).unwrap();
        next.info_mut().fill(4.0);
        ask(&mut next, Head(2));
        let mut ticket = tickets.try_recv().unwrap();
        answer(&mut ticket, &shared.slots);
        ticket.wake(&shared.slots);
        assert_eq!(next.answer(), expected(Head(2), [4.0; 3]));
    }
}

#[test]
fn a_failed_ticket_stops_the_walk_and_the_slot_lives_on() {
    let (shared, tickets) = shared(1);
    let mut lease = Lease::new(&shared).unwrap();
    lease.info_mut().fill(1.0);
    let bell = Arc::default();
    {
        let mut request = pin!(lease.request(Head(0)));
        assert!(poll(request.as_mut(), &bell).is_pending());
        tickets.try_recv().unwrap().fail(&shared.slots);
        assert_eq!(bell.rings(), 1);
        assert_eq!(poll(request, &bell), Poll::Ready(Err(Stopped)));
    }
    assert_eq!(lease.info(), [1.0; 3], "the rows are the lease's again");
    drop(lease);
    assert!(Lease::new(&shared).is_some());
}

#[test]
fn without_an_executor_a_request_stops_at_once() {
    let (shared, tickets) = shared(1);
    drop(tickets);
    let mut lease = Lease::new(&shared).unwrap();
    lease.info_mut().fill(1.0);
    assert_eq!(block_on(lease.request(Head(0))), Err(Stopped));
    assert_eq!(lease.info(), [1.0; 3]);
    drop(lease);
    assert!(Lease::new(&shared).is_some());
}

#[test]
fn the_waker_of_the_last_poll_is_woken() {
    let (shared, tickets) = shared(1);
    let mut lease = Lease::new(&shared).unwrap();
    let (first, second) = (Arc::default(), Arc::default());
    let mut request = pin!(lease.request(Head(0)));
    assert!(poll(request.as_mut(), &first).is_pending());
    assert!(poll(request.as_mut(), &second).is_pending());
    tickets.try_recv().unwrap().wake(&shared.slots);
    assert_eq!((first.rings(), second.rings()), (0, 1));
}

/// A lease whose request is in flight.
fn in_flight() -> (Lease, Receiver<Ticket>) {
    let (shared, tickets) = shared(1);
    let mut lease = Lease::new(&shared).unwrap();
    ask(&mut lease, Head(0));
    (lease, tickets)
}

#[test]
#[should_panic(expected = "while its request was in flight")]
fn an_info_state_in_flight_cannot_be_written() {
    let (mut lease, _tickets) = in_flight();
    lease.info_mut()[0] = 1.0;
}

#[test]
#[should_panic(expected = "while its request was in flight")]
fn an_info_state_in_flight_cannot_be_read() {
    let (lease, _tickets) = in_flight();
    lease.info();
}

#[test]
#[should_panic(expected = "while its request was in flight")]
fn an_answer_in_flight_cannot_be_read() {
    let (lease, _tickets) = in_flight();
    lease.answer();
}

#[test]
#[should_panic(expected = "while its request was in flight")]
fn a_second_request_cannot_be_made_while_one_is_in_flight() {
    let (mut lease, _tickets) = in_flight();
    ask(&mut lease, Head(1));
}

#[test]
#[should_panic(expected = "the length of an answer")]
fn an_answer_longer_than_the_row_is_not_written() {
    let (lease, tickets) = in_flight();
    let mut ticket = tickets.try_recv().unwrap();
    ticket.write_answer(&lease.shared.slots, &[1.0; 3]);
}

/// Answers `count` tickets on another thread.
fn answering(
    shared: &Arc<Shared>,
    tickets: Receiver<Ticket>,
    count: usize,
) -> thread::JoinHandle<()> {
    let shared = Arc::clone(shared);
    thread::spawn(move || {
        for mut ticket in tickets.into_iter().take(count) {
            answer(&mut ticket, &shared.slots);
            ticket.wake(&shared.slots);
        }
    })
}

#[test]
fn answers_from_another_thread_arrive_whole() {
    let (shared, tickets) = shared(2);
    let executor = answering(&shared, tickets, 2 * ROUNDS);
    let walk = async |start: f32| {
        let mut lease = Lease::new(&shared).unwrap();
        for round in 0..ROUNDS {
            let info = [start + round as f32, 0.0, round as f32];
            lease.info_mut().copy_from_slice(&info);
            let head = Head(round as u8);
            lease.request(head).await.unwrap();
            assert_eq!(lease.answer(), expected(head, info));
        }
    };
    block_on(futures::future::join(walk(0.0), walk(0.5)));
    executor.join().unwrap();
}

#[test]
fn a_lease_dropped_while_its_answer_arrives_frees_its_slot_once() {
    let (shared, tickets) = shared(1);
    let executor = answering(&shared, tickets, ROUNDS);
    for round in 0..ROUNDS {
        // Whichever of the two was last has freed it.
        let mut lease = loop {
            match Lease::new(&shared) {
                Some(lease) => break lease,
                None => thread::yield_now(),
            }
        };
        assert!(Lease::new(&shared).is_none(), "freed twice");
        lease.info_mut().fill(round as f32);
        ask(&mut lease, Head(0));
        drop(lease);
    }
    executor.join().unwrap();
    assert_eq!(shared.slots.free_list().len(), 1);
}

#[test]
fn one_task_waits_in_several_slots_and_slots_change_places() {
    let (shared, tickets) = shared(2);
    let mut own = Lease::new(&shared).unwrap();
    let mut other = own.another().unwrap();
    assert!(own.another().is_none(), "all slots are taken");
    let bell = Arc::new(Bell::default());
    let waker = Waker::from(Arc::clone(&bell));
    let context = Context::from_waker(&waker);
    for (number, lease) in [&mut own, &mut other].into_iter().enumerate() {
        lease.info_mut().fill(number as f32);
        lease.ask(Head(number as u8), &context).unwrap();
        assert!(lease.poll_answer(&context).is_pending());
    }
    let [_, mut second] = [tickets.try_recv().unwrap(), tickets.try_recv().unwrap()];
    answer(&mut second, &shared.slots);
    second.wake(&shared.slots);
    assert_eq!(bell.rings(), 1);
    assert!(own.poll_answer(&context).is_pending());
    std::mem::swap(&mut own, &mut other);
    assert!(own.poll_answer(&context).is_ready());
    assert_eq!(own.answer(), expected(Head(1), [1.0; 3]));
    // The one that waits is abandoned with its request.
    drop(other);
    assert!(own.another().is_none());
}
