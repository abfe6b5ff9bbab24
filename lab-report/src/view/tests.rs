//! Runs of a few cells, and what is drawn of them.

use super::*;
use lab::document::{Published, Spin};

fn cell(target: &str, sessions: usize, rate: f64, settings: &[(&str, &str)]) -> Cell {
    Cell {
        target: target.to_owned(),
        mode: "procedure".to_owned(),
        sessions,
        rows: 1_000,
        rows_per_s: rate,
        settings: settings.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
        ..Cell::default()
    }
}

fn first(run: &Run) -> View {
    View::all(run).swap_remove(0)
}

fn labels(view: &View) -> Vec<&str> {
    view.arms.iter().map(|arm| arm.label.as_str()).collect()
}

#[test]
fn an_arm_for_each_combination() {
    let mut cells = Vec::new();
    for reserve in ["lanes", "spinlock"] {
        for durability in ["full", "delayed"] {
            for sessions in [10, 1] {
                let settings =
                    [("durability", durability), ("log_reserve", reserve), ("commit_every", "1")];
                cells.push(cell("embedded", sessions, sessions as f64 * 100.0, &settings));
            }
        }
    }
    let view = first(&Run { cells, ..Run::default() });
    assert_eq!(view.x_key, "sessions");
    assert_eq!(view.x_values, [1.0, 10.0]);
    assert_eq!(
        labels(&view),
        ["full, lanes", "delayed, lanes", "full, spinlock", "delayed, spinlock"]
    );
    let points = &view.arms[0].points;
    assert_eq!(
        points.iter().map(|p| (p.x, p.cells.clone())).collect::<Vec<_>>(),
        [(1.0, vec![1]), (10.0, vec![0])]
    );
    assert_eq!(points[0].figures["rows_per_s"].mean, 100.0);
    assert_eq!(view.places[7].arm, "delayed, spinlock");
}

#[test]
fn targets_are_arms_and_one_arm_has_the_targets_name() {
    let switches = [("log_reserve", "lanes"), ("durability", "full")];
    let cells = vec![
        cell("embedded", 1, 3.0, &switches),
        cell("postgres", 1, 1.0, &[("durability", "full")]),
    ];
    assert_eq!(labels(&first(&Run { cells, ..Run::default() })), ["embedded", "postgres"]);
    let cells = vec![cell("embedded", 1, 3.0, &[("depth", "8")])];
    assert_eq!(labels(&first(&Run { cells, ..Run::default() })), ["embedded"]);
}

#[test]
fn the_axis_is_the_number_that_varies() {
    let cells: Vec<Cell> = [("512", "1"), ("4096", "1"), ("65536", "2"), ("512", "2")]
        .iter()
        .map(|(size, depth)| {
            cell(
                "embedded",
                1,
                5.0,
                &[("write_bytes", size), ("depth", depth), ("in_flight", depth)],
            )
        })
        .collect();
    let view = first(&Run { cells, ..Run::default() });
    assert_eq!((view.x_key.as_str(), view.x_label.as_str()), ("write_bytes", "write bytes"));
    assert_eq!(view.x_values, [512.0, 4096.0, 65536.0]);
    assert_eq!(labels(&view), ["depth 1", "depth 2"]);
}

#[test]
fn the_axis_with_most_cells_on_lines_comes_first() {
    // A ladder: every size at one depth, and one size at another.
    let rungs = [("512", 1), ("4096", 1), ("65536", 1), ("4096", 8)];
    let cells: Vec<Cell> = rungs
        .iter()
        .map(|&(bytes, depth)| cell("device", depth, 5.0, &[("bytes", bytes), ("way", "dsync")]))
        .collect();
    let views = View::all(&Run { cells, ..Run::default() });
    let axes: Vec<&str> = views.iter().map(|view| view.x_key.as_str()).collect();
    assert_eq!(axes, ["bytes", "sessions"]);
    assert_eq!(labels(&views[0]), ["sessions 1", "sessions 8"]);
    assert_eq!(labels(&views[1]), ["bytes 512", "bytes 4096", "bytes 65536"]);
    assert!(views.iter().all(|view| view.places.len() == 4));
}

#[test]
fn arms_are_compared_where_they_meet() {
    let cells = vec![
        cell("embedded", 1, 300.0, &[]),
        cell("embedded", 10, 900.0, &[]),
        cell("postgres", 10, 90.0, &[]),
    ];
    let view = first(&Run { cells, ..Run::default() });
    let seen: Vec<_> = view.ratios.iter().map(|r| (r.base, r.arm, r.x, r.row.ratio)).collect();
    assert_eq!(seen, [(0, 1, 10.0, 0.1), (1, 0, 10.0, 10.0)]);
}

#[test]
fn repeats_are_one_point() {
    let cells = vec![cell("embedded", 4, 100.0, &[]), cell("embedded", 4, 200.0, &[])];
    let view = first(&Run { cells, ..Run::default() });
    assert_eq!(view.arms[0].points[0].cells, [0, 1]);
    assert_eq!(view.arms[0].points[0].figures["rows_per_s"].mean, 150.0);
    assert!(view.interval_note.contains("repeated"));
}

#[test]
fn published_figures_stand_beside_their_cells() {
    let beside = |pairs: &[(&str, &str)]| {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    };
    let rate = |beside| Published {
        post: 3,
        figure: "rows/s".to_owned(),
        published: "186,915/s".to_owned(),
        value: Some(186_915.0),
        beside,
        ..Published::default()
    };
    let mut spinning = cell("embedded", 40, 373_830.0, &[("log_reserve", "spinlock")]);
    spinning.spins.insert("LOGCACHE_ACCESS".to_owned(), Spin { spins: 5_000, ..Spin::default() });
    let run = Run {
        cells: vec![spinning, cell("embedded", 40, 10.0, &[("log_reserve", "lanes")])],
        published: vec![
            rate(beside(&[("sessions", "40"), ("log_reserve", "spinlock")])),
            rate(beside(&[("sessions", "40")])),
            rate(beside(&[("sessions", "38")])),
            rate(beside(&[])),
            Published {
                figure: "LOGCACHE_ACCESS spins per row".to_owned(),
                beside: beside(&[("log_reserve", "spinlock")]),
                ..Published::default()
            },
        ],
        ..Run::default()
    };
    let rows = first(&run).published;
    let seen: Vec<_> = rows.iter().map(|r| (r.here.as_str(), r.measured, r.ratio)).collect();
    assert_eq!(
        seen,
        [
            ("spinlock, 40 sessions", Some(373_830.0), Some(2.0)),
            ("spinlock, 40 sessions", Some(373_830.0), Some(2.0)),
            ("lanes, 40 sessions", Some(10.0), Some(10.0 / 186_915.0)),
            ("", None, None),
            ("", None, None),
            ("spinlock, 40 sessions", Some(5.0), None),
        ]
    );
}

#[test]
fn no_cells_are_no_arms() {
    let view = first(&Run::default());
    assert!(view.arms.is_empty() && view.places.is_empty() && view.x_values.is_empty());
}
