//! The log: standard error for whoever watches, `train.log` for afterwards.

use super::terminal::{self, LogLines};
use anyhow::Context;
use jiff::Zoned;
use std::{
    fmt,
    fs::{File, OpenOptions},
    io::Write,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};
use tracing::{
    Event, Subscriber,
    field::{Field, Visit},
    level_filters::LevelFilter,
};
use tracing_subscriber::{
    EnvFilter, Layer, Registry,
    fmt::{format::Writer, time::FormatTime},
    layer::{Context as LayerContext, SubscriberExt},
    util::SubscriberInitExt,
};

/// How log lines on standard error look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// For people.
    #[default]
    Human,
    /// One JSON object per line.
    Json,
}

/// The log of this process.
#[derive(Clone, Debug)]
pub struct Logging {
    file: LogFile,
}

impl Logging {
    /// Starts logging to standard error. `RUST_LOG` says what is shown (default `info`).
    ///
    /// # Errors
    /// `RUST_LOG` cannot be parsed, or the process logs already.
    pub fn init(format: LogFormat) -> anyhow::Result<Self> {
        Self::init_with(format, Vec::new())
    }

    /// As [`Logging::init`], with `further` layers that see what their own filters let through.
    ///
    /// # Errors
    /// As [`Logging::init`].
    pub fn init_with(
        format: LogFormat,
        further: Vec<Box<dyn Layer<Registry> + Send + Sync>>,
    ) -> anyhow::Result<Self> {
        let logging = Self {
            file: LogFile::default(),
        };
        let watcher: Box<dyn Layer<_> + Send + Sync> = match format {
            LogFormat::Human => tracing_subscriber::fmt::layer()
                .with_writer(LogLines::default)
                .with_ansi(terminal::is_watched())
                .with_target(false)
                .with_timer(Clock::TimeOfDay)
                .boxed(),
            LogFormat::Json => tracing_subscriber::fmt::layer()
                .json()
                .flatten_event(true)
                .with_writer(LogLines::default)
                .with_timer(Clock::Full)
                .boxed(),
        };
        let file = logging.file.clone().with_filter(LevelFilter::INFO);
        let mut layers = vec![watcher.with_filter(env_filter()?).boxed(), file.boxed()];
        layers.extend(further);
        tracing_subscriber::registry()
            .with(layers)
            .try_init()
            .context("logging was started twice")?;
        Ok(logging)
    }

    /// Writes every line from level info on to the file too, behind what it holds, as `<ISO 8601 local time with offset> <message>`;
    /// a file that was attached before is let go.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn attach_file(&self, path: &Path) -> anyhow::Result<()> {
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .with_context(|| format!("cannot open the log {}", path.display()))?;
        self.file.set(file);
        Ok(())
    }
}

fn env_filter() -> anyhow::Result<EnvFilter> {
    match std::env::var("RUST_LOG") {
        Ok(directives) if !directives.trim().is_empty() => EnvFilter::try_new(&directives)
            .with_context(|| {
                format!("RUST_LOG={directives} is no filter; try `debug` or `coorl_async=debug`")
            }),
        // The sampler tells of its every start and stop.
        _ => Ok(EnvFilter::new("info,pprof=warn")),
    }
}

/// The clock in front of a line.
enum Clock {
    /// `14:05:59`.
    TimeOfDay,
    /// `2026-01-31T14:05:59+01:00`.
    Full,
}

impl FormatTime for Clock {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        let now = Zoned::now();
        match self {
            Self::TimeOfDay => write!(writer, "{}", now.strftime("%H:%M:%S")),
            Self::Full => write!(writer, "{}", now.strftime(FULL_TIME)),
        }
    }
}

const FULL_TIME: &str = "%Y-%m-%dT%H:%M:%S%:z";

/// The layer behind `train.log`: silent until a file is attached.
#[derive(Clone, Debug, Default)]
struct LogFile(Arc<Mutex<Option<File>>>);

impl LogFile {
    fn set(&self, file: File) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(file);
    }
}

impl<S: Subscriber> Layer<S> for LogFile {
    fn on_event(&self, event: &Event<'_>, _: LayerContext<'_, S>) {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = file.as_mut() {
            let mut words = Words::default();
            event.record(&mut words);
            let line = words.line(&Zoned::now(), *event.metadata().level());
            // A full disk must not end a run through its log; metrics and checkpoints report it.
            let _ = file.write_all(line.as_bytes());
        }
    }
}

/// An event's message and its other fields as text.
#[derive(Default)]
struct Words {
    message: String,
    fields: String,
}

impl Words {
    /// One line: warnings and errors are marked, and line ends inside the message are kept from breaking it.
    fn line(&self, now: &Zoned, level: tracing::Level) -> String {
        let mark = match level {
            tracing::Level::ERROR => "error: ",
            tracing::Level::WARN => "warning: ",
            _ => "",
        };
        let text = format!("{mark}{}{}", self.message, self.fields);
        let text = text.trim_end().replace('\n', " | ");
        format!("{} {text}\n", now.strftime(FULL_TIME))
    }
}

impl Visit for Words {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        use fmt::Write;
        // Writing to a String cannot fail.
        let _ = if field.name() == "message" {
            write!(self.message, "{value:?}")
        } else {
            write!(self.fields, " {}={value:?}", field.name())
        };
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_line_is_time_and_message() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("train.log");
        let logging = Logging {
            file: LogFile::default(),
        };
        let layers = tracing_subscriber::registry()
            .with(logging.file.clone().with_filter(LevelFilter::INFO));
        tracing::subscriber::with_default(layers, || {
            tracing::info!("before any file");
            logging.attach_file(&path).unwrap();
            tracing::info!(seed = 7, name = "x", "run starts");
            tracing::debug!("too detailed");
            tracing::warn!("two\nlines\n");
        });
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<(&str, &str)> = text
            .lines()
            .filter_map(|line| line.split_once(' '))
            .collect();
        let messages: Vec<&str> = lines.iter().map(|line| line.1).collect();
        assert_eq!(
            messages,
            ["run starts seed=7 name=x", "warning: two | lines"]
        );
        for (time, _) in lines {
            let shape: String = time
                .chars()
                .map(|c| if c.is_ascii_digit() { '9' } else { c })
                .collect();
            assert!(
                ["9999-99-99T99:99:99+99:99", "9999-99-99T99:99:99-99:99"]
                    .contains(&shape.as_str()),
                "{time}"
            );
        }
    }

    #[test]
    fn a_file_is_continued_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("train.log");
        std::fs::write(&path, "earlier\n").unwrap();
        let logging = Logging {
            file: LogFile::default(),
        };
        tracing::subscriber::with_default(
            tracing_subscriber::registry().with(logging.file.clone()),
            || {
                logging.attach_file(&path).unwrap();
                tracing::info!("later");
            },
        );
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(
            text.starts_with("earlier\n") && text.ends_with(" later\n"),
            "{text}"
        );
    }
}
