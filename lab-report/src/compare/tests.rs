//! Runs made by hand, and what their comparison says.

use super::*;
use lab::document::{MarkKind, Series, Tick};

fn cell(sessions: usize, reserve: &str, rates: &[f64]) -> Cell {
    let ticks: Vec<Tick> = rates
        .iter()
        .enumerate()
        .map(|(i, rate)| Tick {
            at_s: (i + 1) as f64,
            seconds: 1.0,
            rows_per_s: *rate,
            ..Tick::default()
        })
        .collect();
    Cell {
        target: "embedded".to_owned(),
        sessions,
        rows_per_s: rates.iter().sum::<f64>() / rates.len() as f64,
        settings: BTreeMap::from([("log_reserve".to_owned(), reserve.to_owned())]),
        series: (rates.len() > 1).then(|| Series {
            window_from_s: 0.0,
            window_to_s: rates.len() as f64,
            ticks,
            latency: Vec::new(),
        }),
        ..Cell::default()
    }
}

fn run(cells: Vec<Cell>) -> Run {
    Run { format: 1, cells, ..Run::default() }
}

const NOISE: [f64; 10] = [98.0, 102.0, 99.0, 101.0, 100.0, 100.0, 103.0, 97.0, 101.0, 99.0];

fn scaled(by: f64) -> Vec<f64> {
    NOISE.iter().map(|rate| rate * by).collect()
}

#[test]
fn a_changed_setting_does_not_keep_cells_apart() {
    let a = run(vec![cell(1, "lanes", &NOISE), cell(10, "lanes", &NOISE)]);
    let b = run(vec![cell(10, "spinlock", &scaled(0.5)), cell(1, "spinlock", &NOISE)]);
    let compared = compare("a", &a, "b", &b);
    assert_eq!(compared.notes, ["Changed from A to B: log_reserve from lanes to spinlock."]);
    let rows: Vec<_> =
        compared.rows.iter().map(|r| (r.cells.as_str(), r.ratio, r.verdict)).collect();
    assert_eq!(
        rows,
        [("1 session", 1.0, "cannot tell"), ("10 sessions", 0.5, "differs (one run each)")]
    );
}

#[test]
fn settings_that_vary_within_a_run_pair_cells() {
    let both = run(vec![cell(1, "lanes", &NOISE), cell(1, "spinlock", &scaled(2.0))]);
    let compared = compare("a", &both, "b", &both);
    let rows: Vec<_> = compared.rows.iter().map(|r| (r.cells.as_str(), r.ratio)).collect();
    assert_eq!(rows, [("1 session, lanes", 1.0), ("1 session, spinlock", 1.0)]);
    assert!(compared.notes.is_empty(), "{:?}", compared.notes);
}

#[test]
fn what_stands_alone_and_what_else_differs_is_said() {
    let a = run(vec![cell(1, "lanes", &NOISE), cell(4, "lanes", &NOISE)]);
    let mut b = run(vec![cell(1, "lanes", &NOISE)]);
    b.machine.cpus = 8;
    b.cut_short = true;
    let notes = compare("a", &a, "b", &b).notes;
    assert_eq!(
        notes,
        [
            "The number of CPUs differs: 0 in A, 8 in B.",
            "B was cut short.",
            "Only A has: 4 sessions."
        ]
    );
}

#[test]
fn the_interval_holds_what_is_so_and_the_least_effect_is_wider() {
    let a = run(vec![cell(1, "lanes", &NOISE)]);
    let b = run(vec![cell(1, "lanes", &scaled(1.1))]);
    let row = &compare("a", &a, "b", &b).rows[0];
    // Deviation of the logarithms 0.01826, ten on each side: error 0.008166; t of 18 degrees 2.101 and 0.862.
    assert!((row.ratio - 1.1).abs() < 1e-9);
    assert!((row.low.unwrap() - 1.1 * (-0.01716f64).exp()).abs() < 2e-4, "{row:?}");
    assert!((row.high.unwrap() - 1.1 * 0.01716f64.exp()).abs() < 2e-4, "{row:?}");
    assert!((row.least_detectable.unwrap() - 0.0242f64.exp()).abs() < 2e-4, "{row:?}");
}

#[test]
fn repeats_are_the_firmer_ground() {
    let a = run(vec![
        cell(1, "lanes", &[100.0]),
        cell(1, "lanes", &[104.0]),
        cell(1, "lanes", &[96.0]),
    ]);
    let b = run(vec![
        cell(1, "lanes", &[200.0]),
        cell(1, "lanes", &[208.0]),
        cell(1, "lanes", &[192.0]),
    ]);
    let row = &compare("a", &a, "b", &b).rows[0];
    assert_eq!((row.basis, row.verdict), (Basis::Repeats, "differs"));
    assert!((row.ratio - 2.0).abs() < 1e-9);
}

#[test]
fn one_figure_each_has_no_interval() {
    let a = run(vec![cell(1, "lanes", &[100.0])]);
    let row = &compare("a", &a, "b", &a).rows[0];
    assert_eq!((row.low, row.least_detectable, row.verdict), (None, None, "no interval"));
}

#[test]
fn marks_of_both_sides_are_kept() {
    let mut marked = cell(1, "lanes", &NOISE);
    marked.marks.push(Mark { kind: MarkKind::Drifted, text: "It fell.".to_owned() });
    let row = &compare("a", &run(vec![marked]), "b", &run(vec![cell(1, "lanes", &NOISE)])).rows[0];
    assert_eq!(row.marks[0].kind, MarkKind::Drifted);
}
