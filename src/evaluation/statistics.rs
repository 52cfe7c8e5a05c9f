//! The few statistics evaluation reports.

/// The 97.5 % quantile of the standard normal distribution.
pub(super) const Z95: f64 = 1.959_963_984_540_054;

/// The arithmetic mean, 0 of nothing.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    values.iter().sum::<f64>() / values.len() as f64
}

/// The standard error of the mean: `sd / sqrt(n)` with the sample (n - 1) deviation; 0 of fewer than two values.
pub fn standard_error(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let (center, n) = (mean(values), values.len() as f64);
    let squares: f64 = values.iter().map(|value| (value - center).powi(2)).sum();
    (squares / (n - 1.0) / n).sqrt()
}

/// The percentile `q` in `[0, 100]` of ascending values, linear between the two nearest ranks; 0 of nothing.
pub fn percentile(ascending: &[f64], q: f64) -> f64 {
    let Some(last) = ascending.len().checked_sub(1) else {
        return 0.0;
    };
    let position = q / 100.0 * last as f64;
    let low = (position.floor() as usize).min(last);
    let high = (low + 1).min(last);
    ascending[low] + (ascending[high] - ascending[low]) * (position - low as f64)
}

/// The 95 % score interval of a proportion (Wilson, "Probable inference, the law of succession, and statistical inference", 1927):
/// it stays inside `[0, 1]` and keeps its width at 0 and 1. `(0, 1)` without trials.
pub fn wilson95(successes: u64, trials: u64) -> (f64, f64) {
    if trials == 0 {
        return (0.0, 1.0);
    }
    let n = trials as f64;
    let (rate, z2) = (successes as f64 / n, Z95 * Z95);
    let center = rate + z2 / (2.0 * n);
    let spread = Z95 * (rate * (1.0 - rate) / n + z2 / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z2 / n;
    let bound = |value: f64| (value / scale).clamp(0.0, 1.0);
    // At the ends the roots are exactly 0 and 1, which rounding would miss.
    let low = if successes == 0 {
        0.0
    } else {
        bound(center - spread)
    };
    let high = if successes == trials {
        1.0
    } else {
        bound(center + spread)
    };
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 5e-5
    }

    #[test]
    fn wilson_agrees_with_published_intervals() {
        // Newcombe, "Two-sided confidence intervals for the single proportion", 1998, table I: 81/263, 15/148, 0/20, 1/29.
        for (successes, trials, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0000, 0.1611),
            (1, 29, 0.0061, 0.1718),
            (45, 50, 0.7864, 0.9565),
        ] {
            let (a, b) = wilson95(successes, trials);
            assert!(
                close(a, low) && close(b, high),
                "{successes}/{trials}: {a} {b}"
            );
        }
        assert_eq!(wilson95(0, 0), (0.0, 1.0));
        assert!(close(wilson95(20, 20).0, 1.0 - 0.1611));
        for trials in 1..100 {
            assert_eq!(wilson95(0, trials).0, 0.0);
            assert_eq!(wilson95(trials, trials).1, 1.0);
        }
    }

    #[test]
    fn percentiles_interpolate_between_ranks() {
        let values = [-20.0, 0.0, 10.0, 50.0];
        for (q, wanted) in [
            (0.0, -20.0),
            (25.0, -5.0),
            (50.0, 5.0),
            (75.0, 20.0),
            (90.0, 38.0),
            (100.0, 50.0),
        ] {
            assert!((percentile(&values, q) - wanted).abs() < 1e-9, "{q}");
        }
        assert_eq!(
            (percentile(&[], 50.0), percentile(&[7.0], 90.0)),
            (0.0, 7.0)
        );
    }

    #[test]
    fn standard_error_of_small_samples() {
        // Deviations of 2, 4, 4, 4, 5, 5, 7, 9 from 5 square to 32: sqrt(32 / 7 / 8).
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert!((standard_error(&values) - (32.0f64 / 56.0).sqrt()).abs() < 1e-12);
        assert_eq!((standard_error(&[3.0]), standard_error(&[])), (0.0, 0.0));
        assert_eq!((mean(&values), mean(&[])), (5.0, 0.0));
    }
}
