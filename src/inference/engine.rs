//! The engine: worker threads, and on them the walks and the executor that answers them.

use super::{
    BatchStatistics, Network, RowShape, Settings,
    executor::{self, Lanes, panic_message},
    lane::{Errand, Lane, Work},
    shared::Shared,
    slots::{Lease, Stopped},
};
use futures::FutureExt;
use std::{
    collections::BTreeMap,
    future::Future,
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

/// How often a waiting caller looks at its stop flag.
const STOP_POLL: Duration = Duration::from_millis(50);
/// How long a network call in hand may take to finish at the end.
const SHUTDOWN: Duration = Duration::from_secs(10);
/// How long slots of an earlier run may take to come back.
const SLOTS_RETURN: Duration = Duration::from_secs(10);

/// Why a set of jobs did not finish.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// The stop flag was raised.
    #[error("stopped on request")]
    Interrupted,
    /// A network call failed or panicked.
    #[error("a network call failed: {0}")]
    Network(String),
    /// A job panicked.
    #[error("job {index} panicked: {message}")]
    Panic {
        /// The job's index.
        index: usize,
        /// The panic's message.
        message: String,
    },
    /// Threads could not be started, or the executor ended early.
    #[error("the inference engine could not run: {0}")]
    Threads(String),
    /// More jobs in flight than there are slots.
    #[error("{wanted} jobs in flight, but the engine has only {slots} free slots")]
    Slots {
        /// Jobs in flight asked for.
        wanted: usize,
        /// Slots that were free.
        slots: usize,
    },
}

/// Raised once (Ctrl-C, or a failing neighbour); everything that waits looks at it.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// Asks everything that holds this flag to stop.
    pub fn raise(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether it has been raised.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Work that is repeated many times in flight: one walk, one evaluation game.
pub trait Job: Send + Sync + 'static {
    /// What one repetition gives.
    type Output: Send + 'static;

    /// Runs repetition `index` with a slot of its own.
    fn run(
        &self,
        index: usize,
        lease: &mut Lease,
    ) -> impl Future<Output = Result<Self::Output, Stopped>> + Send;
}

/// Worker threads with the tasks on them: walks, executor, lanes.
pub struct Engine {
    runtime: Option<tokio::runtime::Runtime>,
    shared: Arc<Shared>,
    capacity: usize,
}

/// The threads of an engine.
#[derive(Clone, Copy, Debug)]
pub struct EngineThreads {
    /// Threads that advance walks and run network calls.
    pub workers: usize,
    /// Network calls that run side by side, each with a network of its own.
    pub lanes: usize,
    /// Runs on each worker before anything else.
    pub prepare: fn(),
}

impl EngineThreads {
    /// So many workers and lanes, without preparation.
    pub fn new(workers: usize, lanes: usize) -> Self {
        Self {
            workers,
            lanes,
            prepare: || {},
        }
    }
}

/// Reaches the lanes' networks. Dropping it ends executor and lanes.
pub struct NetworkControl<N> {
    lanes: Vec<flume::Sender<Work<N>>>,
    /// Nothing is ever sent: the executor ends when this is gone.
    engagement: Option<flume::Sender<()>>,
    shared: Arc<Shared>,
}

impl Engine {
    /// Starts the threads of `threads`, `capacity` slots, and a network made by `build` for each lane.
    ///
    /// # Errors
    /// What `build` failed with, or that threads could not be started.
    pub fn start<N: Network>(
        settings: &Settings,
        shape: RowShape,
        capacity: usize,
        threads: EngineThreads,
        build: impl Fn() -> Result<N, String>,
    ) -> Result<(Self, NetworkControl<N>), EngineError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(threads.workers.max(1))
            .thread_name("walks")
            .on_thread_start(threads.prepare)
            .enable_time()
            .build()
            .map_err(|error| EngineError::Threads(error.to_string()))?;
        let (shared, tickets) = Shared::new(capacity, shape, settings);
        let shared = Arc::new(shared);
        let (report, reports) = flume::unbounded();
        let mut inboxes = Vec::new();
        for number in 0..threads.lanes.max(1) {
            let (inbox, work) = flume::unbounded();
            let network = build().map_err(EngineError::Network)?;
            let lane = Lane::new(Arc::clone(&shared), number, network);
            runtime.spawn(lane.serve(work, report.clone()));
            inboxes.push(inbox);
        }
        drop(report);
        let (engagement, engaged) = flume::bounded(0);
        let control = NetworkControl {
            lanes: inboxes.clone(),
            engagement: Some(engagement),
            shared: Arc::clone(&shared),
        };
        let lanes = Lanes { inboxes, reports };
        runtime.spawn(executor::run(
            Arc::clone(&shared),
            lanes,
            tickets,
            engaged,
            settings.clone(),
        ));
        Ok((
            Self {
                runtime: Some(runtime),
                shared,
                capacity,
            },
            control,
        ))
    }

    /// Slots, and so the most jobs in flight.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// The counts since the last call.
    pub fn take_statistics(&self) -> BatchStatistics {
        std::mem::take(&mut *self.shared.statistics())
    }

    /// Runs repetitions `0..count` of `job`, `in_flight` at a time (a finished one is replaced at once), and hands each output
    /// to `each` **in index order** on the calling thread while later ones still run.
    ///
    /// # Errors
    /// The first failure, or [`EngineError::Interrupted`] once `stop` is raised; outputs already handed over stay handed over.
    pub fn run<J: Job>(
        &self,
        job: Arc<J>,
        count: usize,
        in_flight: usize,
        stop: &StopFlag,
        mut each: impl FnMut(usize, J::Output),
    ) -> Result<(), EngineError> {
        let Some(runtime) = self.runtime.as_ref() else {
            return Err(EngineError::Threads("it has been shut down".into()));
        };
        let tasks = in_flight.clamp(1, self.capacity.max(1)).min(count);
        // All slots are leased before the first job runs: the executor knows from the start how many may ask.
        let leases = self.lease(tasks)?;
        let (outcomes, finished) = flume::unbounded();
        let jobs = Arc::new(Jobs {
            job,
            count,
            next: AtomicUsize::new(0),
            outcomes,
        });
        let tasks: Vec<_> = leases
            .into_iter()
            .map(|lease| {
                runtime
                    .spawn(run_jobs(Arc::clone(&jobs), lease))
                    .abort_handle()
            })
            .collect();
        drop(jobs);
        let result = in_order(&finished, count, stop, &mut each);
        if result.is_err() {
            tasks.iter().for_each(|task| task.abort());
        }
        // Every task holds a sender: disconnection says that all slots are free again.
        while finished.recv().is_ok() {}
        match result {
            Err(Failure::Stopped) => Err(self.stopped()),
            Err(Failure::Error(error)) => Err(error),
            Ok(()) => Ok(()),
        }
    }

    /// Leases `wanted` slots. Those of jobs that ended with a request in flight come back once it is answered, which is soon.
    fn lease(&self, wanted: usize) -> Result<Vec<Lease>, EngineError> {
        let started = Instant::now();
        let mut leases = Vec::with_capacity(wanted);
        while leases.len() < wanted {
            match Lease::new(&self.shared) {
                Some(lease) => leases.push(lease),
                None if started.elapsed() < SLOTS_RETURN && self.shared.failure().is_none() => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                None => return Err(self.no_slots(wanted, leases.len())),
            }
        }
        Ok(leases)
    }

    fn no_slots(&self, wanted: usize, slots: usize) -> EngineError {
        match self.shared.failure() {
            Some(message) => EngineError::Network(message),
            None => EngineError::Slots { wanted, slots },
        }
    }

    fn stopped(&self) -> EngineError {
        match self.shared.failure() {
            Some(message) => EngineError::Network(message),
            None => EngineError::Threads("the executor was shut down".into()),
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // A network call in hand is let finish: libtorch must not be torn down under it when the process ends next.
            runtime.shutdown_timeout(SHUTDOWN);
        }
    }
}

/// What the tasks of one [`Engine::run`] share.
struct Jobs<J: Job> {
    job: Arc<J>,
    count: usize,
    next: AtomicUsize,
    outcomes: flume::Sender<(usize, Result<J::Output, Failure>)>,
}

enum Failure {
    Stopped,
    Error(EngineError),
}

/// Runs jobs one after the other with one slot until none is left.
async fn run_jobs<J: Job>(jobs: Arc<Jobs<J>>, mut lease: Lease) {
    loop {
        let index = jobs.next.fetch_add(1, Ordering::Relaxed);
        if index >= jobs.count {
            return;
        }
        let outcome = AssertUnwindSafe(jobs.job.run(index, &mut lease))
            .catch_unwind()
            .await;
        let outcome = match outcome {
            Ok(Ok(output)) => Ok(output),
            Ok(Err(Stopped)) => Err(Failure::Stopped),
            Err(panic) => {
                let message = panic_message(&*panic);
                Err(Failure::Error(EngineError::Panic { index, message }))
            }
        };
        let failed = outcome.is_err();
        if jobs.outcomes.send((index, outcome)).is_err() || failed {
            return;
        }
    }
}

/// Hands over outputs by index as they become due.
fn in_order<T>(
    finished: &flume::Receiver<(usize, Result<T, Failure>)>,
    count: usize,
    stop: &StopFlag,
    each: &mut impl FnMut(usize, T),
) -> Result<(), Failure> {
    let mut early = BTreeMap::new();
    let mut due = 0;
    while due < count {
        if stop.is_raised() {
            return Err(Failure::Error(EngineError::Interrupted));
        }
        match finished.recv_timeout(STOP_POLL) {
            Ok((index, outcome)) => drop(early.insert(index, outcome?)),
            Err(flume::RecvTimeoutError::Timeout) => {}
            Err(flume::RecvTimeoutError::Disconnected) => return Err(Failure::Stopped),
        }
        while let Some(output) = early.remove(&due) {
            each(due, output);
            due += 1;
        }
    }
    Ok(())
}

impl<N: Network> NetworkControl<N> {
    /// Runs `errand` with the network of the first lane between batches and returns what it gives.
    ///
    /// # Errors
    /// [`EngineError::Network`] when the executor has stopped, or the errand panicked.
    pub fn with<R: Send + 'static>(
        &self,
        errand: impl FnOnce(&mut N) -> R + Send + 'static,
    ) -> Result<R, EngineError> {
        self.run_on(&self.lanes[0], errand)
    }

    /// Runs `errand` with every lane's network, one lane after the other, and returns what each gives.
    ///
    /// # Errors
    /// As [`NetworkControl::with`].
    pub fn with_all<R: Send + 'static>(
        &self,
        errand: impl Fn(&mut N) -> R + Clone + Send + 'static,
    ) -> Result<Vec<R>, EngineError> {
        self.lanes
            .iter()
            .map(|lane| self.run_on(lane, errand.clone()))
            .collect()
    }

    fn run_on<R: Send + 'static>(
        &self,
        lane: &flume::Sender<Work<N>>,
        errand: impl FnOnce(&mut N) -> R + Send + 'static,
    ) -> Result<R, EngineError> {
        if let Some(message) = self.shared.failure() {
            return Err(EngineError::Network(message));
        }
        let (reply, answer) = flume::bounded(1);
        let errand: Errand<N> = Box::new(move |network| drop(reply.send(errand(network))));
        let sent = lane.send(Work::Errand(errand)).is_ok();
        let answer = if sent { answer.recv().ok() } else { None };
        answer.ok_or_else(|| {
            EngineError::Network("an inference lane is gone, or the errand panicked".into())
        })
    }
}

impl<N> Drop for NetworkControl<N> {
    fn drop(&mut self) {
        self.lanes.clear();
        self.engagement = None;
        self.shared.wake_executor();
    }
}
