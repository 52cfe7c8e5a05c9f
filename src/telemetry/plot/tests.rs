use super::{ruler::grouped, *};
use plotters::coord::ranged1d::Ranged;

fn axis(label: &str, scale: Scale) -> Axis {
    Axis {
        label: label.into(),
        scale,
    }
}

fn series(name: &str, points: &[(f64, f64)]) -> Series {
    let point = |&(x, y): &(f64, f64)| Point {
        x,
        y,
        low: 0.9 * y,
        high: 1.1 * y,
    };
    Series {
        name: name.into(),
        points: points.iter().map(point).collect(),
    }
}

fn chart(scale: Scale, series: Vec<Series>) -> Chart {
    Chart {
        title: "nodes/s <by> & timeout".into(),
        x: axis("timeout, µs", scale),
        y: axis("nodes/s", Scale::Linear),
        series,
    }
}

#[test]
fn a_chart_holds_its_words_and_a_line_per_series() {
    let svg = chart(
        Scale::Log,
        vec![
            series(
                "first line",
                &[(0.0, 100.0), (200.0, 300.0), (5_000.0, 250.0)],
            ),
            series("second line", &[(200.0, 310.0)]),
        ],
    )
    .to_svg()
    .unwrap();
    for words in [
        "first line",
        "second line",
        "timeout, µs",
        "nodes/s",
        "&lt;by&gt; &amp;",
        "5,000",
    ] {
        assert!(svg.contains(words), "no {words:?} in {svg}");
    }
    assert!(svg.trim_end().ends_with("</svg>"));
    let bars = svg.matches("<circle").count();
    assert_eq!(bars, 4, "a mark for each point: {svg}");
}

#[test]
fn a_linear_axis_marks_round_numbers_from_zero() {
    let ruler = Ruler::new(&axis("y", Scale::Linear), [13.0, 7_300.0].into_iter()).unwrap();
    assert_eq!(ruler.marks[..3], [0.0, 1_000.0, 2_000.0]);
    assert!(ruler.ends.0 == 0.0 && ruler.ends.1 == 8_000.0);
    assert_eq!(ruler.map(&4_000.0, (100, 200)), 150);
    let flat = Ruler::new(&axis("y", Scale::Linear), [0.0].into_iter()).unwrap();
    assert!(flat.ends.0 < flat.ends.1);
}

#[test]
fn zero_has_a_place_on_a_logarithmic_axis() {
    let ruler = Ruler::new(&axis("x", Scale::Log), [0.0, 100.0, 4_000.0].into_iter()).unwrap();
    assert!(ruler.place(0.0) < ruler.place(100.0) && ruler.ends.0 < ruler.place(0.0));
    assert_eq!(ruler.marks, [0.0, 100.0, 200.0, 500.0, 1_000.0, 2_000.0]);
    // One number alone is an axis too.
    let one = Ruler::new(&axis("x", Scale::Log), [64.0].into_iter()).unwrap();
    assert!(one.ends.0 < one.ends.1);
}

#[test]
fn stacked_charts_share_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.svg");
    let one = chart(Scale::Log, vec![series("first line", &[(1.0, 2.0)])]);
    let mut other = one.clone();
    other.title = "another title".into();
    write_stacked(&[one.clone(), other], &path).unwrap();
    let svg = std::fs::read_to_string(&path).unwrap();
    assert!(svg.contains("another title") && svg.contains("height=\"1200\""));
    assert_eq!(svg.matches("first line").count(), 2);
    let mut empty = one.clone();
    empty.series.clear();
    assert!(write_stacked(&[one, empty], &path).is_err());
}

#[test]
fn the_legend_keeps_out_of_the_way() {
    let corner = |points: &[(f64, f64)]| {
        let chart = chart(Scale::Linear, vec![series("a", points)]);
        let corner = chart.free_corner(&chart.rulers().unwrap());
        matches!(corner, SeriesLabelPosition::UpperRight)
    };
    assert!(corner(&[(1.0, 9.0), (9.0, 1.0)]));
    assert!(!corner(&[(1.0, 1.0), (9.0, 9.0)]));
}

#[test]
fn what_cannot_be_drawn_is_named() {
    let told = |chart: Chart| chart.to_svg().unwrap_err().to_string();
    assert!(told(chart(Scale::Log, vec![series("none", &[])])).contains("no points"));
    let negative = told(chart(Scale::Log, vec![series("a", &[(-1.0, 2.0)])]));
    assert!(negative.contains("-1") && negative.contains("timeout, µs"));
    let endless = told(chart(Scale::Linear, vec![series("a", &[(1.0, f64::NAN)])]));
    assert!(endless.contains("NaN") && endless.contains("\"nodes/s\""));
}

#[test]
fn a_chart_that_cannot_be_written_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let one = chart(Scale::Linear, vec![series("a", &[(1.0, 2.0)])]);
    one.write(&folder.path().join("a.svg")).unwrap();
    let told = one.write(&folder.path().join("none/a.svg")).unwrap_err();
    assert!(told.to_string().contains("none/a.svg"));
}

#[test]
fn numbers_are_written_as_people_do() {
    for (value, text) in [
        (0.0, "0"),
        (999.0, "999"),
        (1_234_567.0, "1,234,567"),
        (-20_000.0, "-20,000"),
        (0.25, "0.25"),
        (1.5, "1.5"),
    ] {
        assert_eq!(grouped(value), text);
    }
}
