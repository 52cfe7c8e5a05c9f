//! The settings a sweep tries.

use std::fmt;

/// What is tried: a timeout, a batch size and a number of walks in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct Setting {
    /// `inference.collect_timeout_us`.
    pub collect_timeout_us: u64,
    /// `inference.max_batch`.
    pub max_batch: usize,
    /// `traversal.in_flight`.
    pub in_flight: usize,
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "timeout {} µs, max batch {}, {} in flight",
            self.collect_timeout_us, self.max_batch, self.in_flight
        )
    }
}

/// One of the three lists of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// Values of `inference.collect_timeout_us`.
    Timeouts,
    /// Values of `inference.max_batch`.
    Batches,
    /// Values of `traversal.in_flight`.
    InFlight,
}

impl List {
    /// The option that gives it.
    pub fn option(self) -> &'static str {
        match self {
            Self::Timeouts => "--timeouts",
            Self::Batches => "--max-batches",
            Self::InFlight => "--in-flight",
        }
    }

    /// The least and the greatest value that the configuration takes.
    fn range(self) -> (u64, u64) {
        match self {
            Self::Timeouts => (0, 60_000_000),
            Self::Batches | Self::InFlight => (1, 65_536),
        }
    }

    /// Reads numbers apart by commas.
    ///
    /// # Errors
    /// An empty list, something that is no whole number or out of range, or more than [`Grid::LONGEST`] values.
    pub fn parse(self, text: &str) -> Result<Vec<u64>, GridError> {
        let (low, high) = self.range();
        let refused = |value: &str| GridError::Value {
            list: self.option(),
            value: value.to_owned(),
            low,
            high,
        };
        if text.trim().is_empty() {
            return Err(GridError::Empty {
                list: self.option(),
            });
        }
        let values = text.split(',').map(|part| {
            let value = part.trim().parse::<u64>().ok();
            value
                .filter(|value| (low..=high).contains(value))
                .ok_or_else(|| refused(part.trim()))
        });
        let mut values = values.collect::<Result<Vec<u64>, _>>()?;
        values.sort_unstable();
        values.dedup();
        if values.len() > Grid::LONGEST {
            return Err(GridError::Long {
                list: self.option(),
                values: values.len(),
            });
        }
        Ok(values)
    }
}

/// Why a grid is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GridError {
    /// A list without values.
    #[error(
        "{list} is empty: give numbers apart by commas, such as {list} 64,256, or leave it out"
    )]
    Empty {
        /// The option.
        list: &'static str,
    },
    /// A value that cannot be set.
    #[error(
        "{list}: \"{value}\" is not allowed; allowed: whole numbers from {low} to {high}, apart by commas"
    )]
    Value {
        /// The option.
        list: &'static str,
        /// The value as it was written.
        value: String,
        /// The least allowed.
        low: u64,
        /// The greatest allowed.
        high: u64,
    },
    /// Too many values.
    #[error(
        "{list} has {values} values, and at most {} are tried: leave some out",
        Grid::LONGEST
    )]
    Long {
        /// The option.
        list: &'static str,
        /// How many it has.
        values: usize,
    },
    /// More walks in flight than there are.
    #[error(
        "--in-flight: {value} walks cannot be in flight, because an iteration has only {walks}; give at most that, or more walks \
         with --set traversal.traversals_per_player={}",
        value.div_ceil(2)
    )]
    Walks {
        /// The value.
        value: u64,
        /// Walks of an iteration.
        walks: usize,
    },
}

/// Three ascending lists; every combination is a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    timeouts: Vec<u64>,
    batches: Vec<usize>,
    in_flight: Vec<usize>,
}

impl Grid {
    /// The most values of a list.
    pub const LONGEST: usize = 32;

    /// The grid around `start`, which is always in it, for iterations of `walks` walks. Lists that are `None` get a default.
    ///
    /// # Errors
    /// A list that [`List::parse`] refuses, or more in flight than `walks`.
    pub fn new(lists: [Option<&str>; 3], start: Setting, walks: usize) -> Result<Self, GridError> {
        let [timeouts, batches, in_flight] = lists;
        let parse = |list: List, text: Option<&str>, default: Vec<u64>| match text {
            Some(text) => list.parse(text),
            None => Ok(default),
        };
        let (all, tried) = (walks as u64, start.in_flight as u64);
        let flights = vec![(all / 4).max(1), (all / 2).max(1), tried];
        let timeouts = parse(
            List::Timeouts,
            timeouts,
            vec![0, 1_000, 2_000, 5_000, 10_000],
        )?;
        let batches = parse(List::Batches, batches, vec![64, 128, 256, 1_024])?;
        let flights = parse(List::InFlight, in_flight, flights)?;
        if let Some(&value) = flights.iter().find(|value| **value > all) {
            return Err(GridError::Walks { value, walks });
        }
        let sizes = |values: Vec<u64>| values.into_iter().map(|value| value as usize);
        Ok(Self {
            timeouts: with(timeouts, start.collect_timeout_us),
            batches: with(sizes(batches).collect(), start.max_batch),
            in_flight: with(sizes(flights).collect(), start.in_flight),
        })
    }

    /// Every setting, ascending.
    pub fn settings(&self) -> Vec<Setting> {
        let mut settings = Vec::with_capacity(self.len());
        for &collect_timeout_us in &self.timeouts {
            for &max_batch in &self.batches {
                settings.extend(self.in_flight.iter().map(|&in_flight| Setting {
                    collect_timeout_us,
                    max_batch,
                    in_flight,
                }));
            }
        }
        settings
    }

    /// How many settings there are.
    pub fn len(&self) -> usize {
        self.timeouts.len() * self.batches.len() * self.in_flight.len()
    }

    /// Whether there are none; a grid always has its start.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The settings that differ from `through` in `list` alone, itself included.
    pub fn line(&self, list: List, through: Setting) -> Vec<Setting> {
        match list {
            List::Timeouts => self
                .timeouts
                .iter()
                .map(|&collect_timeout_us| Setting {
                    collect_timeout_us,
                    ..through
                })
                .collect(),
            List::Batches => self
                .batches
                .iter()
                .map(|&max_batch| Setting {
                    max_batch,
                    ..through
                })
                .collect(),
            List::InFlight => self
                .in_flight
                .iter()
                .map(|&in_flight| Setting {
                    in_flight,
                    ..through
                })
                .collect(),
        }
    }
}

/// `values` with `value` among them, ascending.
fn with<T: Ord>(mut values: Vec<T>, value: T) -> Vec<T> {
    values.push(value);
    values.sort_unstable();
    values.dedup();
    values
}
