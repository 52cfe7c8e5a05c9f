//! What the network costs by batch size, for every way of running it.

use anyhow::Context;
use serde::Serialize;
use std::time::Duration;

/// A way of running a network: given rows and calls, it runs so many calls on so many rows and tells how long they took together.
pub struct Way<'a> {
    /// Its name, a heading of the table.
    pub name: String,
    /// Runs `(rows, calls)`.
    pub run: Box<dyn FnMut(usize, usize) -> anyhow::Result<Duration> + 'a>,
}

/// How thoroughly to measure.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Rounds; each measures every way at every batch size once, so that a slow moment of the machine hits all alike.
    pub rounds: usize,
    /// Least time of one measurement: small batches are called again and again.
    pub least: Duration,
}

impl Default for Effort {
    fn default() -> Self {
        Self {
            rounds: 9,
            least: Duration::from_millis(4),
        }
    }
}

/// One batch size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Rows per call.
    pub batch: usize,
    /// Microseconds per call, the median of the rounds.
    pub us_per_call: f64,
    /// Microseconds per row.
    pub us_per_state: f64,
    /// How many times cheaper a row is than in a call of its own (of the smallest batch measured, to be exact).
    pub speed_up: f64,
    /// Half the distance between the quartiles of the rounds, as a part of the median.
    pub noise: f64,
}

/// One way at all batch sizes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// The way.
    pub way: String,
    /// Ascending batch sizes.
    pub points: Vec<Point>,
    /// See [`flat_from`].
    pub flat_from: Option<usize>,
}

/// Differences below this part are noise, however still the machine was.
const LEAST_NOISE: f64 = 0.03;
/// Differences above this part are none, however restless it was.
const MOST_NOISE: f64 = 0.10;

/// The batch size after which a row gets no cheaper: the smallest one that no larger one beats by more than noise, where noise is the larger
/// of the two sizes' own, but 3 % at least and 10 % at most. `None` without points.
pub fn flat_from(points: &[Point]) -> Option<usize> {
    let beaten = |index: usize| {
        let point = &points[index];
        points[index + 1..].iter().any(|larger| {
            let noise = point.noise.max(larger.noise).clamp(LEAST_NOISE, MOST_NOISE);
            larger.us_per_state < point.us_per_state * (1.0 - noise)
        })
    };
    (0..points.len())
        .find(|&index| !beaten(index))
        .map(|index| points[index].batch)
}

/// Measures all ways at all batch sizes (ascending, none 0).
///
/// # Errors
/// A way that fails, with its name.
pub fn sweep(ways: &mut [Way], batches: &[usize], effort: Effort) -> anyhow::Result<Vec<Curve>> {
    let mut calls = vec![vec![1; batches.len()]; ways.len()];
    let mut times = vec![vec![Vec::new(); batches.len()]; ways.len()];
    for (way, calls) in ways.iter_mut().zip(&mut calls) {
        for (&rows, calls) in batches.iter().zip(calls) {
            *calls = calibrate(way, rows, effort.least)?;
        }
    }
    for _ in 0..effort.rounds.max(1) {
        for ((way, calls), times) in ways.iter_mut().zip(&calls).zip(&mut times) {
            for ((&rows, &calls), times) in batches.iter().zip(calls).zip(times) {
                times.push(seconds(way, rows, calls)? / calls as f64);
            }
        }
    }
    let curve = |(way, times): (&mut Way, Vec<Vec<f64>>)| {
        let points = points(batches, times);
        Curve {
            way: way.name.clone(),
            flat_from: flat_from(&points),
            points,
        }
    };
    Ok(ways.iter_mut().zip(times).map(curve).collect())
}

/// Warms up, and finds how many calls fill `least`.
fn calibrate(way: &mut Way, rows: usize, least: Duration) -> anyhow::Result<usize> {
    let mut calls = 1;
    // The first call of a size allocates; 4,096 calls are enough of anything.
    seconds(way, rows, 1)?;
    while calls < 4_096 && seconds(way, rows, calls)? < least.as_secs_f64() {
        calls *= 2;
    }
    Ok(calls)
}

fn seconds(way: &mut Way, rows: usize, calls: usize) -> anyhow::Result<f64> {
    let time = (way.run)(rows, calls)
        .with_context(|| format!("{}: a call with {rows} rows failed", way.name))?;
    Ok(time.as_secs_f64())
}

fn points(batches: &[usize], times: Vec<Vec<f64>>) -> Vec<Point> {
    let mut first = None;
    let point = |(&batch, mut times): (&usize, Vec<f64>)| {
        times.sort_by(f64::total_cmp);
        let at = |part: f64| times[((times.len() - 1) as f64 * part).round() as usize];
        let median = at(0.5);
        let us_per_state = 1e6 * median / batch as f64;
        Point {
            batch,
            us_per_call: 1e6 * median,
            us_per_state,
            speed_up: *first.get_or_insert(us_per_state) / us_per_state,
            noise: (at(0.75) - at(0.25)) / 2.0 / median,
        }
    };
    batches.iter().zip(times).map(point).collect()
}

/// A table: a line per batch size, three columns per way; below it, what the sizes say.
pub fn table(curves: &[Curve]) -> String {
    let mut lines = vec![String::from("       "), String::from("  batch")];
    for curve in curves {
        lines[0] += &format!(" | {:^33}", curve.way);
        lines[1] += &format!(" | {:>11} {:>11} {:>9}", "µs/call", "µs/state", "speed-up");
    }
    let sizes = curves.first().map_or(&[][..], |curve| &curve.points);
    for (index, size) in sizes.iter().enumerate() {
        let mut line = format!("{:>7}", size.batch);
        for point in curves.iter().filter_map(|curve| curve.points.get(index)) {
            line += &format!(
                " | {:>11.1} {:>11.2} {:>8.1}x",
                point.us_per_call, point.us_per_state, point.speed_up
            );
        }
        lines.push(line);
    }
    for curve in curves {
        let last = curve.points.last().map(|point| point.batch);
        lines.push(match curve.flat_from {
            Some(batch) if Some(batch) == last => {
                format!(
                    "{}: a state still gets cheaper at the largest batch measured, {batch}",
                    curve.way
                )
            }
            Some(batch) => format!("{}: a state gets no cheaper after batch {batch}", curve.way),
            None => continue,
        });
    }
    lines
        .iter()
        .map(|line| line.trim_end().to_owned() + "\n")
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(costs: &[(usize, f64, f64)]) -> Vec<Point> {
        let point = |&(batch, us_per_state, noise): &(usize, f64, f64)| Point {
            batch,
            us_per_call: us_per_state * batch as f64,
            us_per_state,
            speed_up: costs[0].1 / us_per_state,
            noise,
        };
        costs.iter().map(point).collect()
    }

    #[test]
    fn the_curve_is_flat_where_nothing_larger_is_cheaper_by_more_than_noise() {
        let still = curve(&[
            (1, 80.0, 0.0),
            (64, 15.0, 0.0),
            (256, 12.2, 0.0),
            (512, 12.0, 0.0),
            (1024, 12.1, 0.0),
        ]);
        assert_eq!(flat_from(&still), Some(256), "2 % are nothing");
        let noisy = curve(&[
            (1, 80.0, 0.0),
            (64, 13.1, 0.3),
            (256, 12.2, 0.0),
            (512, 12.0, 0.0),
        ]);
        assert_eq!(
            flat_from(&noisy),
            Some(64),
            "what noise hides does not count"
        );
        let restless = curve(&[(1, 80.0, 0.9), (64, 15.0, 0.9), (256, 12.2, 0.9)]);
        assert_eq!(
            flat_from(&restless),
            Some(256),
            "a fifth is more than any noise"
        );
        let falling = curve(&[(1, 80.0, 0.0), (2, 40.0, 0.0)]);
        assert_eq!(flat_from(&falling), Some(2));
        // A size that is slow for itself does not end the search.
        let bump = curve(&[
            (1, 80.0, 0.0),
            (8, 20.0, 0.0),
            (16, 30.0, 0.0),
            (32, 10.0, 0.0),
        ]);
        assert_eq!(flat_from(&bump), Some(32));
        assert_eq!(flat_from(&[]), None);
    }

    #[test]
    fn a_sweep_gives_the_median_of_its_rounds() {
        let mut slow = [1.0, 9.0, 1.0].into_iter().cycle();
        let mut ways = [
            // 10 µs per call and 2 µs per row.
            Way {
                name: "affine".into(),
                run: Box::new(|rows, calls| {
                    Ok(Duration::from_micros((calls * (10 + 2 * rows)) as u64))
                }),
            },
            Way {
                name: "uneven".into(),
                run: Box::new(move |rows, calls| {
                    Ok(Duration::from_millis((rows * calls) as u64).mul_f64(slow.next().unwrap()))
                }),
            },
        ];
        let effort = Effort {
            rounds: 3,
            least: Duration::from_micros(1),
        };
        let curves = sweep(&mut ways, &[1, 10], effort).unwrap();
        let [one, ten] = &curves[0].points[..] else {
            panic!("two batch sizes")
        };
        let close = |found: f64, expected: f64| (found - expected).abs() < 1e-6 * expected;
        assert!(
            close(one.us_per_call, 12.0) && close(ten.us_per_call, 30.0),
            "{curves:?}"
        );
        assert!(close(ten.us_per_state, 3.0) && close(ten.speed_up, 4.0) && ten.noise < 1e-9);
        assert_eq!(curves[0].flat_from, Some(10));
        assert!(close(curves[1].points[0].us_per_call, 1000.0), "{curves:?}");
        let text = table(&curves);
        let found: Vec<&str> = text.lines().nth(3).unwrap().split_whitespace().collect();
        assert_eq!(found[..5], ["10", "|", "30.0", "3.00", "4.0x"], "{text}");
    }

    #[test]
    fn a_way_that_fails_is_named() {
        let mut ways = [Way {
            name: "broken".into(),
            run: Box::new(|_, _| anyhow::bail!("out of memory")),
        }];
        let error = sweep(&mut ways, &[4], Effort::default()).unwrap_err();
        assert_eq!(
            format!("{error:#}"),
            "broken: a call with 4 rows failed: out of memory"
        );
    }
}
