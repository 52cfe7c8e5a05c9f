//! The timeline: phases and batches as a Chrome trace (`chrome://tracing`, Perfetto).

use crate::training::{Phase, Watcher};
use std::{
    fs::File,
    io::{self, Write},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};
use tracing::{level_filters::LevelFilter, span::EnteredSpan, trace_span};
use tracing_chrome::{ChromeLayerBuilder, FlushGuard};
use tracing_subscriber::{Layer, Registry, filter::Targets};

/// The target of spans and events that belong on the timeline, all of level trace.
pub const TARGET: &str = "coorl_async::timeline";

/// A trace being written.
pub struct Timeline {
    guard: FlushGuard,
    failure: Failure,
}

/// The first error of writing, if any.
type Failure = Arc<Mutex<Option<io::Error>>>;

impl Timeline {
    /// Starts a trace file, and the layer that feeds it.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(path: &Path) -> io::Result<(Self, Box<dyn Layer<Registry> + Send + Sync>)> {
        let failure = Failure::default();
        let writer = Forgiving {
            file: File::create(path)?,
            failure: Arc::clone(&failure),
        };
        let (layer, guard) = ChromeLayerBuilder::new()
            .writer(writer)
            .include_args(true)
            .include_locations(false)
            .build();
        let only = Targets::new().with_target(TARGET, LevelFilter::TRACE);
        Ok((Self { guard, failure }, layer.with_filter(only).boxed()))
    }

    /// Ends the file.
    ///
    /// # Errors
    /// The trace is incomplete: something could not be written.
    pub fn finish(self) -> io::Result<()> {
        drop(self.guard);
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.take().map_or(Ok(()), Err)
    }
}

/// A file that takes everything: what cannot be written is left out and remembered, so that a full disk costs the trace and not the run.
struct Forgiving {
    file: File,
    failure: Failure,
}

impl Write for Forgiving {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        if failure.is_none() {
            *failure = self.file.write_all(bytes).err();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Puts the phases it is told of on the timeline and passes everything on.
pub struct PhaseSpans<W> {
    inner: W,
    span: Option<EnteredSpan>,
    total: usize,
}

impl<W> PhaseSpans<W> {
    /// Passes on to `inner`.
    pub fn new(inner: W) -> Self {
        Self {
            inner,
            span: None,
            total: 0,
        }
    }
}

impl<W: Watcher> Watcher for PhaseSpans<W> {
    fn begin(&mut self, phase: Phase, total: usize) {
        // The phase before ends first.
        self.span = None;
        let span = match phase {
            Phase::Traversal => trace_span!(target: TARGET, "traversal", total),
            Phase::MemoryAdd => trace_span!(target: TARGET, "memory add", total),
            Phase::BatchTensor => trace_span!(target: TARGET, "minibatches", total),
            Phase::AdvantageFit => trace_span!(target: TARGET, "advantage fit", total),
            Phase::StrategyFit => trace_span!(target: TARGET, "strategy fit", total),
            Phase::CriticFit => trace_span!(target: TARGET, "critic fit", total),
            Phase::Evaluation => trace_span!(target: TARGET, "evaluation", total),
            Phase::Checkpoint => trace_span!(target: TARGET, "checkpoint", total),
        };
        self.span = Some(span.entered());
        self.total = total;
        self.inner.begin(phase, total);
    }

    fn advance(&mut self, done: usize, nodes: u64) {
        if done >= self.total {
            self.span = None;
        }
        self.inner.advance(done, nodes);
    }
}
