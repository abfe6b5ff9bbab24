//! Student's t distribution: the quantiles that intervals are made of.

/// The 97.5% quantile of t with `freedom` degrees (the half-width of a 95% interval in standard errors).
///
/// 12.706 for one degree, 1.960 for many. No degree: infinite, for nothing is known.
pub fn t975(freedom: usize) -> f64 {
    quantile(0.975, freedom)
}

/// The quantile `p` (0.5 to 1) of t with `freedom` degrees.
pub fn quantile(p: f64, freedom: usize) -> f64 {
    if freedom == 0 {
        return f64::INFINITY;
    }
    // The distribution function rises: bisect it.
    let (mut low, mut high) = (0.0, 1e6);
    for _ in 0..200 {
        let mid = (low + high) / 2.0;
        if cdf(mid, freedom) < p {
            low = mid;
        } else {
            high = mid;
        }
    }
    (low + high) / 2.0
}

/// The distribution function for `t` from 0, with whole degrees of freedom.
///
/// By the finite sums of Abramowitz and Stegun, 26.7.3 and 26.7.4.
fn cdf(t: f64, freedom: usize) -> f64 {
    let n = freedom as f64;
    let theta = (t / n.sqrt()).atan();
    let (sin, cos) = theta.sin_cos();
    let inside = if freedom % 2 == 1 {
        let mut sum = 0.0;
        let mut term = cos;
        let mut k = 1;
        while k + 2 <= freedom {
            sum += term;
            term *= cos * cos * (k + 1) as f64 / (k + 2) as f64;
            k += 2;
        }
        2.0 / std::f64::consts::PI * (theta + sin * sum)
    } else {
        let mut sum = 0.0;
        let mut term = 1.0;
        let mut k = 0;
        while k + 2 <= freedom {
            sum += term;
            term *= cos * cos * (k + 1) as f64 / (k + 2) as f64;
            k += 2;
        }
        sin * sum
    };
    0.5 + inside / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The printed tables.
    #[test]
    fn quantiles_of_the_tables() {
        let table = [
            (1, 12.706),
            (2, 4.303),
            (3, 3.182),
            (4, 2.776),
            (9, 2.262),
            (19, 2.093),
            (120, 1.980),
        ];
        for (freedom, t) in table {
            assert!((t975(freedom) - t).abs() < 6e-4, "{freedom}: {}", t975(freedom));
        }
        assert!((quantile(0.8, 19) - 0.861).abs() < 6e-4);
        assert!((quantile(0.95, 5) - 2.015).abs() < 6e-4);
        assert!(t975(0).is_infinite());
    }
}
