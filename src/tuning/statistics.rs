//! The statistics of few rounds.

/// A closed interval.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// The 97.5 % quantiles of Student's t for 1 to 30 degrees of freedom.
const T975: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];

/// The 97.5 % quantile of Student's t with `freedom` degrees of freedom; infinite without any.
///
/// Beyond 30 the first terms of its expansion about the normal quantile (Abramowitz and Stegun, 26.7.5) are good to three places.
pub fn t_quantile(freedom: usize) -> f64 {
    const Z: f64 = 1.959_963_984_540_054;
    match freedom {
        0 => f64::INFINITY,
        1..=30 => T975[freedom - 1],
        _ => {
            let n = freedom as f64;
            let first = (Z.powi(3) + Z) / (4.0 * n);
            let second = (5.0 * Z.powi(5) + 16.0 * Z.powi(3) + 3.0 * Z) / (96.0 * n * n);
            Z + first + second
        }
    }
}

/// The middle of the values, between the two middle ones of an even number; `None` of nothing.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    Some(if sorted.len() % 2 == 1 {
        upper
    } else {
        (sorted[middle - 1] + upper) / 2.0
    })
}

/// The 95 % Student t interval of the mean; `None` of fewer than two values, which tell nothing about their spread.
pub fn mean_interval(values: &[f64]) -> Option<Interval> {
    if values.len() < 2 {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let half = t_quantile(values.len() - 1) * (squares / (n - 1.0) / n).sqrt();
    Some(Interval {
        low: mean - half,
        high: mean + half,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_agree_with_published_tables() {
        for (freedom, wanted) in [
            (1, 12.706),
            (4, 2.776),
            (30, 2.042),
            (40, 2.021),
            (60, 2.000),
            (120, 1.980),
        ] {
            let quantile = t_quantile(freedom);
            assert!((quantile - wanted).abs() < 1.5e-3, "{freedom}: {quantile}");
        }
        assert!((1..200).all(|freedom| t_quantile(freedom) >= t_quantile(freedom + 1)));
    }

    #[test]
    fn the_interval_of_a_known_sample() {
        // Mean 5, deviation sqrt(32 / 7), eight values: 5 +- 2.365 x 0.7559.
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        let interval = mean_interval(&values).unwrap();
        assert!((interval.low - 3.2123).abs() < 1e-3 && (interval.high - 6.7877).abs() < 1e-3);
        assert_eq!(mean_interval(&[3.0]), None);
        let constant = mean_interval(&[3.0, 3.0]).unwrap();
        assert_eq!((constant.low, constant.high), (3.0, 3.0));
    }

    #[test]
    fn medians() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[]), None);
    }
}
