//! Line charts with error bars as SVG.
//!
//! ```text
//! Chart { title, axes, series of (x, y, low, high) } --plotters--> SVG text or file
//! ```

use plotters::{
    chart::{ChartContext, SeriesLabelPosition},
    coord::{
        cartesian::Cartesian2d,
        ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter},
    },
    prelude::{
        ChartBuilder, Color, ErrorBar, IntoDrawingArea, LineSeries, PathElement, RGBColor,
        SVGBackend, WHITE,
    },
    style::BLACK,
};
use std::{
    fs, io,
    ops::Range,
    path::{Path, PathBuf},
};

/// Pixels.
const SIZE: (u32, u32) = (960, 600);
/// How far a zero stands below the least positive number of a logarithmic axis, in decades.
const ZERO_GAP: f64 = 0.4;
/// The colours of Okabe and Ito, which most colour-blind readers tell apart; they repeat.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(90, 90, 90),
];

/// Lines in one frame, with a legend.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Stands above the frame.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines, in the legend's order.
    pub series: Vec<Series>,
}

/// An axis of a [`Chart`]; it spans what is drawn, a linear one also 0.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What it shows, with its unit.
    pub label: String,
    /// How its numbers are spaced.
    pub scale: Scale,
}

/// How an axis spaces its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By their logarithm. A zero has its own place before the least positive number.
    Log,
}

/// One line of a [`Chart`].
#[derive(Clone, Debug)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points in the order in which the line joins them.
    pub points: Vec<Point>,
}

/// One point of a [`Series`], with an error bar from `low` to `high`; equal to `y` they draw none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Along the horizontal axis.
    pub x: f64,
    /// Along the vertical axis.
    pub y: f64,
    /// The error bar's lower end.
    pub low: f64,
    /// The error bar's upper end.
    pub high: f64,
}

/// Why there is no chart.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// No series has a point.
    #[error("the chart \"{title}\" has no points: measure something first")]
    Empty {
        /// The chart's title.
        title: String,
    },
    /// A number that has no place on its axis.
    #[error(
        "{value} has no place on the axis \"{axis}\": it must be finite, and on a logarithmic axis not negative"
    )]
    Unplaceable {
        /// The number.
        value: f64,
        /// The axis's label.
        axis: String,
    },
    /// It could not be drawn.
    #[error("the chart \"{title}\" could not be drawn: {cause}")]
    Drawing {
        /// The chart's title.
        title: String,
        /// What plotters said.
        cause: String,
    },
    /// It could not be written.
    #[error("cannot write the chart {path}: {source}; is the disk full, or the folder read-only?")]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Chart {
    /// The chart as the text of an SVG file.
    ///
    /// # Errors
    /// No points, a number that has no place on its axis, or a failure to draw.
    pub fn to_svg(&self) -> Result<String, PlotError> {
        let points = || self.series.iter().flat_map(|series| &series.points);
        if points().next().is_none() {
            return Err(PlotError::Empty {
                title: self.title.clone(),
            });
        }
        let x = Ruler::new(&self.x, points().map(|point| point.x))?;
        let heights = points().flat_map(|point| [point.y, point.low, point.high]);
        let y = Ruler::new(&self.y, heights)?;
        let mut svg = String::new();
        self.draw(x, y, &mut svg)
            .map_err(|cause| PlotError::Drawing {
                title: self.title.clone(),
                cause: cause.to_string(),
            })?;
        Ok(svg)
    }

    /// Writes the chart as an SVG file.
    ///
    /// # Errors
    /// As [`Chart::to_svg`], or the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), PlotError> {
        fs::write(path, self.to_svg()?).map_err(|source| PlotError::Write {
            path: path.to_owned(),
            source,
        })
    }

    fn draw(&self, x: Ruler, y: Ruler, svg: &mut String) -> Result<(), Box<dyn std::error::Error>> {
        let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let mut frame = ChartBuilder::on(&area)
            .caption(&self.title, ("sans-serif", 20))
            .margin(16)
            .x_label_area_size(48)
            .y_label_area_size(88)
            .build_cartesian_2d(x, y)?;
        frame
            .configure_mesh()
            .light_line_style(WHITE.mix(0.0))
            .x_desc(&self.x.label)
            .y_desc(&self.y.label)
            .label_style(("sans-serif", 14))
            .axis_desc_style(("sans-serif", 16))
            .draw()?;
        for (series, colour) in self.series.iter().zip(COLOURS.iter().cycle()) {
            draw_series(&mut frame, series, *colour)?;
        }
        frame
            .configure_series_labels()
            .position(SeriesLabelPosition::LowerRight)
            .background_style(WHITE.mix(0.85))
            .border_style(BLACK.mix(0.4))
            .label_font(("sans-serif", 14))
            .draw()?;
        area.present()?;
        Ok(())
    }
}

type Frame<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<Ruler, Ruler>>;

fn draw_series(
    frame: &mut Frame<'_>,
    series: &Series,
    colour: RGBColor,
) -> Result<(), Box<dyn std::error::Error>> {
    let style = colour.stroke_width(2);
    let line = series.points.iter().map(|point| (point.x, point.y));
    frame
        .draw_series(LineSeries::new(line, style))?
        .label(&series.name)
        .legend(move |(left, middle)| {
            PathElement::new([(left, middle), (left + 18, middle)], style)
        });
    frame.draw_series(series.points.iter().map(|point| {
        ErrorBar::new_vertical(point.x, point.low, point.y, point.high, colour.filled(), 8)
    }))?;
    Ok(())
}

/// Places numbers along an axis, and marks some.
struct Ruler {
    scale: Scale,
    /// Where a zero stands on a logarithmic axis.
    zero: f64,
    /// The places at both ends.
    ends: (f64, f64),
    /// Numbers that are marked.
    marks: Vec<f64>,
}

impl Ruler {
    fn new(axis: &Axis, values: impl Iterator<Item = f64>) -> Result<Self, PlotError> {
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

    fn place(&self, value: f64) -> f64 {
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
fn grouped(value: f64) -> String {
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

#[cfg(test)]
mod tests;
