//! The line that sums up an iteration.

use super::metrics::{MetricValue, MetricsRow};
use std::fmt::Write;

/// Sums up an iteration in one line: `[i=N] Iteration complete traversal_nodes=… nodes_per_second=… advantage_loss=… strategy_loss=…
/// iteration_seconds=… iters_per_hour=…`, then, if a device computed, how busy it was, what it took and what was copied, and if it was evaluated, `eval_seconds=S(P%)` with P the share of the iteration, and every
/// win rate and mean score difference. A figure that is missing or not finite reads `n/a`.
pub fn iteration_line(row: &MetricsRow) -> String {
    let mut line = format!("[i={}] Iteration complete", shown(row, "iteration"));
    for (label, name) in [
        ("traversal_nodes", "traversal/nodes"),
        ("nodes_per_second", "time/nodes_per_second"),
        ("advantage_loss", "loss/advantage"),
        ("strategy_loss", "loss/strategy"),
        ("iteration_seconds", "time/iteration_seconds"),
    ] {
        // Writing to a String cannot fail.
        let _ = write!(line, " {label}={}", shown(row, name));
    }
    let seconds = row
        .get("time/iteration_seconds")
        .map_or(0.0, MetricValue::as_f64);
    let per_hour = if seconds > 0.0 {
        format!("{:.1}", 3600.0 / seconds)
    } else {
        "n/a".into()
    };
    let _ = write!(line, " iters_per_hour={per_hour}");
    for (label, name) in OF_DEVICES {
        if row.get(name).is_some() {
            let _ = write!(line, " {label}={}", shown(row, name));
        }
    }
    if let Some(evaluation) = row.get("time/evaluation_seconds").map(MetricValue::as_f64) {
        let share = if seconds > 0.0 {
            100.0 * evaluation / seconds
        } else {
            0.0
        };
        let _ = write!(line, " eval_seconds={}({share:.0}%)", general(evaluation));
        for (name, value) in row.iter().filter(|(name, _)| is_headline(name)) {
            let _ = write!(line, " {name}={}", text(value));
        }
    }
    line
}

/// Figures that only a run on a device has.
const OF_DEVICES: [(&str, &str); 11] = [
    ("device_utilisation", "device/utilisation"),
    ("device_process_bytes", "device/memory_process_bytes"),
    ("device_free_bytes", "device/memory_free_bytes"),
    ("idle_share", "inference/idle_share"),
    (
        "waiting_for_walks_share",
        "inference/waiting_for_walks_share",
    ),
    ("device_fit_seconds", "fit/device_seconds"),
    ("device_forward_seconds", "inference/device_forward_seconds"),
    ("to_device_bytes", "transfer/to_device_bytes"),
    ("to_device_seconds", "transfer/to_device_seconds"),
    ("to_host_bytes", "transfer/to_host_bytes"),
    ("to_host_seconds", "transfer/to_host_seconds"),
];

fn is_headline(name: &str) -> bool {
    name.starts_with("exploitability/")
        || (name.starts_with("eval/")
            && (name.ends_with("/win_rate0") || name.ends_with("/avg_score_diff0")))
}

fn shown(row: &MetricsRow, name: &str) -> String {
    row.get(name).map_or_else(|| "n/a".into(), text)
}

fn text(value: MetricValue) -> String {
    match value {
        MetricValue::Int(value) => value.to_string(),
        MetricValue::Float(value) if value.is_finite() => general(value),
        MetricValue::Float(_) => "n/a".into(),
    }
}

/// `value` with 6 significant digits in general format, C's `%g`: no trailing zeros, and an exponent of at least two digits below
/// 10^-4 and from 10^6 on.
pub fn general(value: f64) -> String {
    const DIGITS: i32 = 6;
    if !value.is_finite() {
        return if value.is_nan() {
            "nan".into()
        } else if value > 0.0 {
            "inf".into()
        } else {
            "-inf".into()
        };
    }
    // The exponent after rounding: 999999.5 is 1e+06.
    let scientific = format!("{value:.*e}", DIGITS as usize - 1);
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..DIGITS).contains(&exponent) {
        without_trailing_zeros(&format!("{value:.*}", (DIGITS - 1 - exponent) as usize)).to_owned()
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!(
            "{}e{sign}{:02}",
            without_trailing_zeros(mantissa),
            exponent.abs()
        )
    }
}

fn without_trailing_zeros(number: &str) -> &str {
    if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn general_format_is_that_of_c() {
        // Made with C's printf("%g").
        for (value, expected) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (0.1, "0.1"),
            (-2.5, "-2.5"),
            (100_000.0, "100000"),
            (999_999.4, "999999"),
            (999_999.5, "1e+06"),
            (1_234_567.0, "1.23457e+06"),
            (123.456_789, "123.457"),
            (0.000_1, "0.0001"),
            (0.000_099_999_95, "0.0001"),
            (0.000_012_345_67, "1.23457e-05"),
            (1e100, "1e+100"),
            (5e-324, "4.94066e-324"),
            (2.0 / 3.0, "0.666667"),
            (13_312.05, "13312"),
            (f64::NAN, "nan"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(general(value), expected, "{value:?}");
        }
    }

    fn row() -> MetricsRow {
        let mut row = MetricsRow::new(3);
        row.set("traversal/nodes", 12_345_678_u64);
        row.set("time/nodes_per_second", 8_123.456_7);
        row.set("loss/advantage", 0.012_345_678);
        row.set("loss/strategy", 1.5);
        row.set("time/iteration_seconds", 12.0);
        row
    }

    const START: &str = "[i=3] Iteration complete traversal_nodes=12345678 nodes_per_second=8123.46 advantage_loss=0.0123457 \
                         strategy_loss=1.5 iteration_seconds=12 iters_per_hour=300.0";

    #[test]
    fn without_an_evaluation() {
        let mut row = row();
        row.set("eval/random/win_rate0", 0.5);
        assert_eq!(
            iteration_line(&row),
            START,
            "figures of no evaluation are not shown"
        );
    }

    #[test]
    fn with_an_evaluation() {
        let mut row = row();
        row.set("time/evaluation_seconds", 3.0);
        row.set("eval/random/win_rate0", 0.93);
        row.set("eval/random/avg_score_diff0", 41.25);
        row.set("eval/random/win_rate1", 0.05);
        row.set("eval/passive_discard/win_rate0", 1.0);
        assert_eq!(
            iteration_line(&row),
            format!(
                "{START} eval_seconds=3(25%) eval/passive_discard/win_rate0=1 eval/random/avg_score_diff0=41.25 \
                 eval/random/win_rate0=0.93"
            )
        );
    }

    #[test]
    fn of_a_run_on_a_device() {
        let mut row = row();
        row.set("device/utilisation", 0.75);
        row.set("device/memory_free_bytes", 4_096_u64);
        row.set("inference/idle_share", 0.125);
        row.set("fit/device_seconds", 0.5);
        assert_eq!(
            iteration_line(&row),
            format!(
                "{START} device_utilisation=0.75 device_free_bytes=4096 idle_share=0.125 device_fit_seconds=0.5"
            ),
            "what a driver does not tell is left out"
        );
    }

    #[test]
    fn missing_figures_read_not_available() {
        let mut row = MetricsRow::new(1);
        row.set("loss/advantage", f64::NAN);
        assert_eq!(
            iteration_line(&row),
            "[i=1] Iteration complete traversal_nodes=n/a nodes_per_second=n/a advantage_loss=n/a strategy_loss=n/a \
             iteration_seconds=n/a iters_per_hour=n/a"
        );
    }
}
