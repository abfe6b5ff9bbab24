//! Intervals: what a figure's mean could be, from the slices of a window or from repeats of a cell.
//!
//! A slice is a stretch of the measured window, long enough that neighbours say little about each other: a second, or
//! a fifth of a window shorter than five seconds, or a twentieth of one longer than twenty. Slices of one run tell how
//! steady *this* run was; only repeats tell what another would bring. [`Basis`] says which it was.

use lab::document::Cell;
use lab::student;
use serde::Serialize;

/// The figures that plots and comparisons are made of, by their keys in the document.
pub(crate) const FIGURES: &[&str] = &[
    "rows_per_s",
    "commits_per_s",
    "p50_us",
    "p99_us",
    "cpu_ns_per_row",
    "log_mb_per_s",
    "log_flushes_per_s",
];

/// Fewer slices than this say nothing.
const SLICES_LEAST: usize = 5;
const SLICES_MOST: f64 = 20.0;

/// What an interval was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Cells of the same settings.
    Repeats,
    /// Stretches of one window.
    Slices,
    /// One figure: no interval.
    Single,
}

/// A mean, and its 95% interval (Student's t) where there is one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    pub mean: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub basis: Basis,
}

/// The figure of that key, where the cell has it.
pub(crate) fn figure(cell: &Cell, key: &str) -> Option<f64> {
    let value = match key {
        "rows_per_s" => Some(cell.rows_per_s),
        "commits_per_s" => Some(cell.commits_per_s),
        "p50_us" => cell.p50_us,
        "p99_us" => cell.p99_us,
        "cpu_ns_per_row" => cell.cpu_ns_per_row,
        "log_mb_per_s" => Some(cell.log_mb_per_s),
        "log_flushes_per_s" => Some(cell.log_flushes_per_s),
        _ => None,
    };
    // A target that does not tell a figure leaves it at zero: nothing to draw.
    value.filter(|value| value.is_finite() && *value > 0.0)
}

/// The mean of a figure over cells of the same settings; `None` when none has it.
pub(crate) fn of_cells(cells: &[&Cell], key: &str) -> Option<Interval> {
    let values: Vec<f64> = cells.iter().filter_map(|cell| figure(cell, key)).collect();
    match values[..] {
        [] => None,
        [mean] => {
            let half = cells.iter().find_map(|cell| half_width(&slices(cell, key)));
            let basis = if half.is_some() { Basis::Slices } else { Basis::Single };
            let low = half.map(|half| (mean - half).max(0.0));
            Some(Interval { mean, low, high: half.map(|half| mean + half), basis })
        }
        _ => {
            let (mean, _) = mean_and_variance(&values);
            let half = half_width_of(&values, 2);
            let low = half.map(|half| (mean - half).max(0.0));
            Some(Interval { mean, low, high: half.map(|half| mean + half), basis: Basis::Repeats })
        }
    }
}

fn half_width(slices: &[f64]) -> Option<f64> {
    half_width_of(slices, SLICES_LEAST)
}

fn half_width_of(values: &[f64], least: usize) -> Option<f64> {
    if values.len() < least {
        return None;
    }
    let (_, variance) = mean_and_variance(values);
    let n = values.len();
    Some(student::t975(n - 1) * (variance / n as f64).sqrt())
}

/// Of a sample; the variance is 0 for one value.
pub(crate) fn mean_and_variance(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, if values.len() > 1 { squares / (n - 1.0) } else { 0.0 })
}

/// The figure in each slice of the cell's window; empty when the cell has too few of them, or no series.
pub(crate) fn slices(cell: &Cell, key: &str) -> Vec<f64> {
    let Some(series) = &cell.series else { return Vec::new() };
    let (from, to) = (series.window_from_s, series.window_to_s);
    let window = to - from;
    if window <= 0.0 {
        return Vec::new();
    }
    let found: Vec<f64> = if key == "p50_us" || key == "p99_us" {
        let q = if key == "p50_us" { 0.5 } else { 0.99 };
        series.latency.iter().filter_map(|moment| moment.histogram.quantile_us(q)).collect()
    } else {
        let length = (window / SLICES_MOST).max((window / SLICES_LEAST as f64).min(1.0));
        // Rounded to a whole number of slices, the last one whole as well.
        let count = (window / length + 1e-9).floor() as usize;
        let mut sums = vec![Slice::default(); count];
        for tick in &series.ticks {
            // In the slice that its middle lies in; outside of the window in none.
            let middle = tick.at_s - tick.seconds / 2.0;
            let place = (middle - from) / window * count as f64;
            if place >= 0.0 && place < count as f64 {
                sums[place as usize].add(tick, key);
            }
        }
        sums.iter().filter_map(Slice::value).collect()
    };
    if found.len() < SLICES_LEAST { Vec::new() } else { found }
}

/// A figure's amount, and what it is divided by.
#[derive(Clone, Copy, Default)]
struct Slice {
    amount: f64,
    by: f64,
}

impl Slice {
    fn add(&mut self, tick: &lab::document::Tick, key: &str) {
        let rate = match key {
            "rows_per_s" => Some(tick.rows_per_s),
            "commits_per_s" => Some(tick.commits_per_s),
            "log_mb_per_s" => tick.log_mb_per_s,
            "log_flushes_per_s" => tick.log_flushes_per_s,
            "cpu_ns_per_row" => {
                if let Some(cpus) = tick.cpus_used {
                    self.amount += cpus * tick.seconds * 1e9;
                    self.by += tick.rows_per_s * tick.seconds;
                }
                return;
            }
            _ => None,
        };
        if let Some(rate) = rate {
            self.amount += rate * tick.seconds;
            self.by += tick.seconds;
        }
    }

    fn value(&self) -> Option<f64> {
        (self.by > 0.0).then(|| self.amount / self.by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::document::{Series, Tick};

    fn cell(rates: &[f64]) -> Cell {
        let ticks = rates
            .iter()
            .enumerate()
            .map(|(i, rate)| Tick {
                at_s: 1.0 + (i + 1) as f64 * 0.1,
                seconds: 0.1,
                rows_per_s: *rate,
                cpus_used: Some(2.0),
                ..Tick::default()
            })
            .collect();
        let window_to_s = 1.0 + rates.len() as f64 * 0.1;
        Cell {
            rows_per_s: rates.iter().sum::<f64>() / rates.len().max(1) as f64,
            series: Some(Series { window_from_s: 1.0, window_to_s, ticks, latency: Vec::new() }),
            ..Cell::default()
        }
    }

    #[test]
    fn ten_seconds_are_ten_slices() {
        let rates: Vec<f64> = (0..100).map(|i| if i % 10 == 0 { 200.0 } else { 100.0 }).collect();
        let found = slices(&cell(&rates), "rows_per_s");
        assert_eq!(found.len(), 10);
        assert!(found.iter().all(|rate| (rate - 110.0).abs() < 1e-9), "{found:?}");
        let cpu = slices(&cell(&rates), "cpu_ns_per_row");
        assert!((cpu[0] - 2e9 / 110.0).abs() < 1.0, "{cpu:?}");
    }

    #[test]
    fn a_second_is_five_slices_and_a_minute_twenty() {
        assert_eq!(slices(&cell(&[1.0; 10]), "rows_per_s").len(), 5);
        assert_eq!(slices(&cell(&[1.0; 600]), "rows_per_s").len(), 20);
        assert!(slices(&cell(&[]), "rows_per_s").is_empty());
    }

    #[test]
    fn the_interval_of_known_values() {
        // 10, 12, 14, 16, 18: mean 14, deviation 3.1623; t of 4 degrees 2.776; half-width 3.926.
        let rates: Vec<f64> =
            [10.0, 12.0, 14.0, 16.0, 18.0].iter().flat_map(|v| [*v, *v]).collect();
        let one = of_cells(&[&cell(&rates)], "rows_per_s").unwrap();
        assert_eq!((one.mean, one.basis), (14.0, Basis::Slices));
        assert!(
            (one.low.unwrap() - 10.074).abs() < 1e-3 && (one.high.unwrap() - 17.926).abs() < 1e-3
        );
    }

    #[test]
    fn repeats_go_before_slices() {
        let (a, b) = (cell(&[100.0; 20]), cell(&[200.0; 20]));
        let both = of_cells(&[&a, &b], "rows_per_s").unwrap();
        assert_eq!((both.mean, both.basis), (150.0, Basis::Repeats));
        // One degree of freedom: 12.706 x 70.71 / 1.414.
        assert!((both.high.unwrap() - 150.0 - 635.3).abs() < 0.1, "{both:?}");
        assert_eq!(both.low, Some(0.0), "a rate is not below zero");
    }

    #[test]
    fn a_missing_figure_is_none() {
        assert_eq!(of_cells(&[&cell(&[1.0; 10])], "p50_us"), None);
        assert_eq!(of_cells(&[&cell(&[1.0; 10])], "log_mb_per_s"), None);
    }
}
