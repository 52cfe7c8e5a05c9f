//! How a device is used while a run goes on.

use super::MetricsRow;
use crate::platform::{DeviceReader, NvmlDevice, device_memory, device_name};
use std::{
    collections::BTreeSet,
    fmt::Display,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{RecvTimeoutError, Sender, channel},
    },
    thread::{self, JoinHandle},
    time::Duration,
};
use tch::Device;
use tracing::{info, warn};

/// How often utilisation is read: each reading covers the driver's last sampling period, so that slower ones would leave gaps.
const INTERVAL: Duration = Duration::from_millis(200);

/// How a device was used in an iteration. What its driver does not tell is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DeviceUse {
    /// Share of the time in which it computed anything, 0 to 1: the mean of the driver's readings, five a second. Of a short iteration
    /// that no reading fell into, nothing is told.
    pub utilisation: Option<f64>,
    /// Bytes that this process had there in the end, what libtorch keeps for later use included.
    pub process_bytes: Option<u64>,
    /// Bytes that all processes had there in the end.
    pub used_bytes: Option<u64>,
    /// Bytes that nobody had taken in the end.
    pub free_bytes: Option<u64>,
}

impl DeviceUse {
    /// Writes what is known under `device/`.
    pub fn tell(&self, row: &mut MetricsRow) {
        if let Some(share) = self.utilisation {
            row.set("device/utilisation", share);
        }
        for (name, bytes) in [
            ("process", self.process_bytes),
            ("used", self.used_bytes),
            ("free", self.free_bytes),
        ] {
            if let Some(bytes) = bytes {
                row.set(format!("device/memory_{name}_bytes"), bytes);
            }
        }
    }
}

/// Watches a device until it is dropped: a thread reads its utilisation now and then.
pub struct DeviceWatch {
    device: Device,
    driver: Option<Watched>,
}

/// A device whose driver answers.
struct Watched {
    shared: Arc<Shared>,
    /// Dropped, it ends the thread.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    reader: Box<dyn DeviceReader>,
    readings: Mutex<Readings>,
    /// The questions that were not answered, and of which that is told.
    unanswered: Mutex<BTreeSet<&'static str>>,
}

/// Utilisation since it was last asked for.
#[derive(Clone, Copy, Default)]
struct Readings {
    sum: f64,
    count: u32,
}

impl Readings {
    fn mean(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / f64::from(self.count))
    }
}

impl DeviceWatch {
    /// Watches `device`, and says in the log which it is; `None` for a CPU, at no cost. Where the driver tells nothing, memory is told still.
    pub fn of(device: Device) -> Option<Self> {
        let opened = NvmlDevice::open(device)?;
        let name = device_name(device);
        let reader = opened.and_then(|reader| Ok((reader.about()?, reader)));
        let driver = match reader {
            Ok((about, reader)) => {
                info!("{name}: {about}");
                Watched::start(Box::new(reader), INTERVAL)
            }
            Err(why) => {
                info!("{name}: its utilisation is not told, because {why}");
                None
            }
        };
        Some(Self { device, driver })
    }

    /// How the device was used since the last call.
    pub fn take(&self) -> DeviceUse {
        let memory = device_memory(self.device);
        DeviceUse {
            utilisation: self.driver.as_ref().and_then(Watched::take_utilisation),
            process_bytes: self.driver.as_ref().and_then(Watched::process_bytes),
            used_bytes: memory.map(|memory| memory.total_bytes.saturating_sub(memory.free_bytes)),
            free_bytes: memory.map(|memory| memory.free_bytes),
        }
    }
}

impl Watched {
    /// Reads utilisation every `interval`; `None` where no thread can be had.
    fn start(reader: Box<dyn DeviceReader>, interval: Duration) -> Option<Self> {
        let shared = Arc::new(Shared {
            reader,
            readings: Mutex::default(),
            unanswered: Mutex::default(),
        });
        let (end, ended) = channel::<()>();
        let theirs = Arc::clone(&shared);
        let reading = move || {
            while ended.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                theirs.read();
            }
        };
        let thread = thread::Builder::new().name("device-watch".into());
        let thread = thread.spawn(reading).ok()?;
        Some(Self {
            shared,
            end: Some(end),
            thread: Some(thread),
        })
    }

    fn take_utilisation(&self) -> Option<f64> {
        let readings = self.shared.readings.lock();
        std::mem::take(&mut *readings.unwrap_or_else(PoisonError::into_inner)).mean()
    }

    fn process_bytes(&self) -> Option<u64> {
        let answer = self.shared.reader.process_bytes();
        self.shared.answered("the memory of this process", answer)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // A reader that panicked has said so; nothing is left to do about it.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn read(&self) {
        if let Some(share) = self.answered("utilisation", self.reader.busy()) {
            let readings = self.readings.lock();
            let mut readings = readings.unwrap_or_else(PoisonError::into_inner);
            readings.sum += share;
            readings.count += 1;
        }
    }

    /// The answer; that there is none is told the first time.
    fn answered<T>(&self, what: &'static str, answer: Result<T, impl Display>) -> Option<T> {
        let error = match answer {
            Ok(value) => return Some(value),
            Err(error) => error,
        };
        let unanswered = self.unanswered.lock();
        if unanswered
            .unwrap_or_else(PoisonError::into_inner)
            .insert(what)
        {
            warn!(
                "the GPU's driver does not tell {what}: {error}; its figure is left out where it is missing"
            );
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        sync::atomic::{AtomicU64, Ordering},
        time::Instant,
    };

    /// Busy for 0.25 and 0.75 in turn; the third question about memory fails.
    #[derive(Default)]
    struct Scripted {
        asked: Arc<AtomicU64>,
        memory: AtomicU64,
    }

    impl DeviceReader for Scripted {
        fn about(&self) -> Result<String, String> {
            Ok("a device, driver 1".into())
        }

        fn busy(&self) -> Result<f64, String> {
            let turn = self.asked.fetch_add(1, Ordering::SeqCst);
            Ok(if turn.is_multiple_of(2) { 0.25 } else { 0.75 })
        }

        fn process_bytes(&self) -> Result<u64, String> {
            match self.memory.fetch_add(1, Ordering::SeqCst) {
                2 => Err("lost".into()),
                turn => Ok(100 + turn),
            }
        }
    }

    /// As good as never: the test reads itself.
    const NEVER: Duration = Duration::from_secs(3_600);

    fn watched() -> Watched {
        Watched::start(Box::new(Scripted::default()), NEVER).unwrap()
    }

    #[test]
    fn utilisation_is_the_mean_since_the_last_call() {
        let watched = watched();
        assert_eq!(watched.take_utilisation(), None, "no reading yet");
        watched.shared.read();
        watched.shared.read();
        assert_eq!(watched.take_utilisation(), Some(0.5));
        watched.shared.read();
        assert_eq!(watched.take_utilisation(), Some(0.25));
        assert_eq!(watched.take_utilisation(), None);
    }

    #[test]
    fn a_call_that_fails_leaves_its_figure_out_and_is_remembered_once() {
        let watched = watched();
        let told = || watched.shared.unanswered.lock().unwrap().len();
        assert_eq!(watched.process_bytes(), Some(100));
        assert_eq!((watched.process_bytes(), told()), (Some(101), 0));
        assert_eq!((watched.process_bytes(), told()), (None, 1));
        assert_eq!((watched.process_bytes(), told()), (Some(103), 1));
    }

    #[test]
    fn the_thread_reads_until_the_watch_is_dropped_and_then_ends() {
        let reader = Scripted::default();
        let asked = Arc::clone(&reader.asked);
        let watched = Watched::start(Box::new(reader), Duration::from_millis(1)).unwrap();
        let started = Instant::now();
        while asked.load(Ordering::SeqCst) < 3 {
            assert!(started.elapsed() < Duration::from_secs(60));
            thread::sleep(Duration::from_millis(1));
        }
        drop(watched);
        let last = asked.load(Ordering::SeqCst);
        thread::sleep(Duration::from_millis(20));
        assert_eq!(asked.load(Ordering::SeqCst), last);
        let waiting = self::watched();
        let dropping = Instant::now();
        drop(waiting);
        assert!(dropping.elapsed() < Duration::from_secs(60), "no hour");
    }

    #[test]
    fn a_cpu_is_not_watched_and_what_is_not_known_has_no_key() {
        assert!(DeviceWatch::of(Device::Cpu).is_none());
        let mut row = MetricsRow::new(1);
        DeviceUse::default().tell(&mut row);
        assert_eq!(row, MetricsRow::new(1));
        let used = DeviceUse {
            utilisation: Some(0.5),
            process_bytes: Some(7),
            ..DeviceUse::default()
        };
        used.tell(&mut row);
        let names: Vec<&str> = row.iter().map(|(name, _)| name).collect();
        assert_eq!(
            names,
            [
                "device/memory_process_bytes",
                "device/utilisation",
                "iteration"
            ]
        );
    }
}
