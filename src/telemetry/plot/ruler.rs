//! Places on an axis.

use super::{Axis, PlotError, Scale};
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use std::ops::Range;

/// How far a zero stands below the least positive number of a logarithmic axis, in decades.
const ZERO_GAP: f64 = 0.4;

/// Places numbers along an axis, and marks some.
pub(super) struct Ruler {
    scale: Scale,
    /// Where a zero stands on a logarithmic axis.
    zero: f64,
    /// The places at both ends.
    pub(super) ends: (f64, f64),
    /// Numbers that are marked.
    pub(super) marks: Vec<f64>,
}

impl Ruler {
    /// The ruler on which all `values` have a place.
    pub(super) fn new(axis: &Axis, values: impl Iterator<Item = f64>) -> Result<Self, PlotError> {
        let values: Vec<f64> = values.collect();
        let unplaceable =
            |value: &&f64| !value.is_finite() || (axis.scale == Scale::Log && **value < 0.0);
        if let Some(value) = values.iter().find(unplaceable) {
            return Err(PlotError::Unplaceable {
                value: *value,
                axis: axis.label.clone(),
            });
        }
        Ok(match axis.scale {
            Scale::Linear => Self::linear(&values),
            Scale::Log => Self::log(&values),
        })
    }

    fn linear(values: &[f64]) -> Self {
        let low = values.iter().copied().fold(0.0, f64::min);
        let high = values.iter().copied().fold(0.0, f64::max);
        let span = if high > low { high - low } else { 1.0 };
        // About eight marks, a round number apart.
        let rough = span / 8.0;
        let decade = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .map(|factor| factor * decade)
            .into_iter()
            .find(|step| *step >= rough)
            .unwrap_or(rough);
        let (first, last) = ((low / step).floor(), ((low + span * 1.02) / step).ceil());
        let count = (last - first) as usize;
        Self {
            scale: Scale::Linear,
            zero: 0.0,
            ends: (first * step, last * step),
            marks: (0..=count)
                .map(|number| (first + number as f64) * step)
                .collect(),
        }
    }

    fn log(values: &[f64]) -> Self {
        let positive = || values.iter().copied().filter(|value| *value > 0.0);
        let least = positive().fold(f64::INFINITY, f64::min);
        let (least, most) = if least.is_finite() {
            (least.log10(), positive().fold(0.0, f64::max).log10())
        } else {
            (0.0, 1.0)
        };
        let zero = least - ZERO_GAP;
        let has_zero = values.contains(&0.0);
        let start = if has_zero { zero } else { least };
        let decades = least.floor() as i32..=most.ceil() as i32;
        let factors: &[f64] = if most - least > 4.0 {
            &[1.0]
        } else {
            &[1.0, 2.0, 5.0]
        };
        let marks = decades.flat_map(|decade| {
            factors
                .iter()
                .map(move |factor| factor * 10_f64.powi(decade))
        });
        let inside = |mark: &f64| (least - 1e-9..=most + 1e-9).contains(&mark.log10());
        Self {
            scale: Scale::Log,
            zero,
            ends: (start - 0.05, most + 0.05),
            marks: has_zero
                .then_some(0.0)
                .into_iter()
                .chain(marks.filter(inside))
                .collect(),
        }
    }

    /// Where a number stands.
    pub(super) fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => value,
            Scale::Log if value > 0.0 => value.log10(),
            Scale::Log => self.zero,
        }
    }
}

impl Ranged for Ruler {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        let share = (self.place(*value) - self.ends.0) / (self.ends.1 - self.ends.0);
        from + (f64::from(to - from) * share).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.marks.clone()
    }

    fn range(&self) -> Range<f64> {
        let marks = self.marks.first().zip(self.marks.last());
        marks.map_or(0.0..1.0, |(first, last)| *first..*last)
    }
}

impl ValueFormatter<f64> for Ruler {
    fn format(value: &f64) -> String {
        grouped(*value)
    }
}

/// A number as people write it: thousands apart, no more digits than a mark needs.
pub(super) fn grouped(value: f64) -> String {
    if value.fract().abs() > 1e-9 || value.abs() >= 1e15 {
        let digits = (3.0 - value.abs().log10().floor()).clamp(0.0, 12.0) as usize;
        let text = format!("{value:.digits$}");
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    let negative = value < 0.0 && digits != "0";
    if negative { format!("-{text}") } else { text }
}
