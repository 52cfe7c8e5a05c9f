//! Line charts with error bars as SVG.
//!
//! ```text
//! Chart { title, axes, series of (x, y, low, high) } --plotters--> SVG text or file
//! Chart, Chart, ... ----------------write_stacked----------------> one file, one below the other
//! ```

mod ruler;

use plotters::{
    chart::{ChartContext, SeriesLabelPosition},
    coord::{Shift, cartesian::Cartesian2d},
    prelude::{
        ChartBuilder, Color, DrawingArea, ErrorBar, IntoDrawingArea, LineSeries, PathElement,
        RGBColor, SVGBackend, WHITE,
    },
    style::BLACK,
};
use ruler::Ruler;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Pixels.
const SIZE: (u32, u32) = (960, 600);
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
        stacked(std::slice::from_ref(self))
    }

    /// Writes the chart as an SVG file.
    ///
    /// # Errors
    /// As [`Chart::to_svg`], or the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), PlotError> {
        write_stacked(std::slice::from_ref(self), path)
    }

    fn points(&self) -> impl Iterator<Item = &Point> {
        self.series.iter().flat_map(|series| &series.points)
    }

    fn rulers(&self) -> Result<[Ruler; 2], PlotError> {
        if self.points().next().is_none() {
            return Err(PlotError::Empty {
                title: self.title.clone(),
            });
        }
        let x = Ruler::new(&self.x, self.points().map(|point| point.x))?;
        let heights = self
            .points()
            .flat_map(|point| [point.y, point.low, point.high]);
        Ok([x, Ruler::new(&self.y, heights)?])
    }

    fn draw(&self, area: &Area<'_>, rulers: [Ruler; 2]) -> Result<(), Box<dyn std::error::Error>> {
        let legend = self.free_corner(&rulers);
        let [x, y] = rulers;
        let mut frame = ChartBuilder::on(area)
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
            .position(legend)
            .background_style(WHITE.mix(0.85))
            .border_style(BLACK.mix(0.4))
            .label_font(("sans-serif", 14))
            .draw()?;
        Ok(())
    }

    /// The corner on the right with fewer points, for the legend.
    fn free_corner(&self, [x, y]: &[Ruler; 2]) -> SeriesLabelPosition {
        let middle = |ruler: &Ruler| (ruler.ends.0 + ruler.ends.1) / 2.0;
        let right = self.points().filter(|point| x.place(point.x) > middle(x));
        let (upper, lower): (Vec<&Point>, _) =
            right.partition(|point| y.place(point.y) > middle(y));
        if upper.len() < lower.len() {
            SeriesLabelPosition::UpperRight
        } else {
            SeriesLabelPosition::LowerRight
        }
    }
}

/// Writes charts as one SVG file, one below the other.
///
/// # Errors
/// As [`Chart::to_svg`] of each, or the file cannot be written.
pub fn write_stacked(charts: &[Chart], path: &Path) -> Result<(), PlotError> {
    fs::write(path, stacked(charts)?).map_err(|source| PlotError::Write {
        path: path.to_owned(),
        source,
    })
}

fn stacked(charts: &[Chart]) -> Result<String, PlotError> {
    let rulers: Vec<[Ruler; 2]> = charts.iter().map(Chart::rulers).collect::<Result<_, _>>()?;
    let drawing = |title: &str, cause: &dyn std::fmt::Display| PlotError::Drawing {
        title: title.to_owned(),
        cause: cause.to_string(),
    };
    let (width, height) = SIZE;
    let mut svg = String::new();
    {
        let size = (width, height * charts.len().max(1) as u32);
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        area.fill(&WHITE).map_err(|cause| drawing("", &cause))?;
        let panels = area.split_evenly((charts.len().max(1), 1));
        for ((chart, rulers), panel) in charts.iter().zip(rulers).zip(&panels) {
            chart
                .draw(panel, rulers)
                .map_err(|cause| drawing(&chart.title, &cause))?;
        }
        area.present().map_err(|cause| drawing("", &cause))?;
    }
    Ok(svg)
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Frame<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Ruler, Ruler>>;

fn draw_series(
    frame: &mut Frame<'_, '_>,
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

#[cfg(test)]
mod tests;
