//! For the terminal: posts' figures beside those measured; a comparison, with what was changed and a row for each figure.

use crate::compare::{Comparison, Row};
use crate::interval::Basis;
use crate::view::View;
use lab::Run;
use lab::table::{columns, grouped, us};
use std::fmt::Write;

/// With so many pairs of cells, every figure is shown.
const ALL_FIGURES_UP_TO: usize = 4;
const SHORT: &[&str] = &["rows_per_s", "p99_us"];

/// The posts' figures beside those of this run, and what this machine cannot show.
pub(crate) fn published(run: &Run) -> String {
    let mut out = String::new();
    let rows: Vec<Vec<String>> = View::along(run, "sessions")
        .published
        .iter()
        .map(|row| {
            let beside = if row.here.is_empty() { "no such cell" } else { &row.here };
            vec![
                row.post.to_string(),
                row.arm.clone(),
                row.figure.clone(),
                row.published.clone(),
                row.measured.map_or("-".to_owned(), figure),
                row.ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}")),
                beside.to_owned(),
            ]
        })
        .collect();
    if !rows.is_empty() {
        let heads = ["post", "arm", "figure", "published", "here", "here/post", "cell"];
        let _ = writeln!(out, "\nPublished, and measured here:");
        out.push_str(&columns(&heads, &rows));
    }
    for what in &run.conclusions {
        let _ = writeln!(out, "{what}");
    }
    for what in &run.cannot_show {
        let _ = writeln!(out, "Not shown here: {what}");
    }
    out
}

pub(crate) fn comparison(compared: &Comparison) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "A: {}\nB: {}", compared.a.name, compared.b.name);
    for note in &compared.notes {
        let _ = writeln!(out, "{note}");
    }
    if compared.rows.is_empty() {
        let _ = writeln!(out, "No cell of A has its like in B: nothing to compare.");
        return out;
    }
    let heads =
        ["cells", "figure", "A", "B", "B/A", "95% interval", "least effect", "from", "verdict"];
    // Of many cells only the figures that say most; the page has all of them.
    let pairs = compared.rows.iter().filter(|row| row.figure == "rows_per_s").count();
    let few = pairs <= ALL_FIGURES_UP_TO;
    let rows: Vec<[String; 9]> =
        (compared.rows.iter()).filter(|row| few || SHORT.contains(&row.figure)).map(row).collect();
    let widths: Vec<usize> = (0..heads.len())
        .map(|i| {
            rows.iter().map(|row| row[i].chars().count()).chain([heads[i].len()]).max().unwrap_or(0)
        })
        .collect();
    let _ = writeln!(out);
    line(&mut out, &heads.map(str::to_owned), &widths);
    for row in &rows {
        line(&mut out, row, &widths);
    }
    out
}

fn row(row: &Row) -> [String; 9] {
    let value =
        |value: f64| if row.figure.ends_with("_us") { us(Some(value)) } else { figure(value) };
    let interval = match (row.low, row.high) {
        (Some(low), Some(high)) => format!("{low:.3} to {high:.3}"),
        _ => "-".to_owned(),
    };
    let least = row
        .least_detectable
        .map_or("-".to_owned(), |least| format!("{:.1}%", (least - 1.0) * 100.0));
    let basis = match row.basis {
        Basis::Repeats => "repeats",
        Basis::Slices => "slices",
        Basis::Single => "-",
    };
    let marked = if row.marks.is_empty() { "" } else { ", marked" };
    [
        row.cells.clone(),
        row.figure.to_owned(),
        value(row.a),
        value(row.b),
        format!("{:.3}", row.ratio),
        interval,
        least,
        basis.to_owned(),
        format!("{}{marked}", row.verdict),
    ]
}

/// Whole numbers from 100 on.
fn figure(value: f64) -> String {
    if value < 100.0 { format!("{value:.2}") } else { grouped(value) }
}

/// Words to the left, numbers to the right.
fn line(out: &mut String, cells: &[String; 9], widths: &[usize]) {
    let parts: Vec<String> = cells
        .iter()
        .zip(widths)
        .enumerate()
        .map(|(i, (text, &width))| match i {
            0 | 1 | 7 | 8 => format!("{text:<width$}"),
            _ => format!("{text:>width$}"),
        })
        .collect();
    let _ = writeln!(out, "{}", parts.join("  ").trim_end());
}

#[cfg(test)]
mod tests {
    use crate::compare::compare;
    use lab::document::{Cell, Run};

    fn run(sessions: &[usize], rate: f64) -> Run {
        let cell = |n: &usize| Cell {
            sessions: *n,
            rows_per_s: rate * *n as f64,
            p50_us: Some(20.0),
            p99_us: Some(90.0),
            ..Cell::default()
        };
        Run { cells: sessions.iter().map(cell).collect(), ..Run::default() }
    }

    #[test]
    fn the_table_reads_like_this() {
        let text = super::comparison(&compare("old", &run(&[1], 1e6), "new", &run(&[1], 1.5e6)));
        let want = "\
A: old
B: new

cells      figure              A          B    B/A  95% interval  least effect  from  verdict
1 session  rows_per_s  1,000,000  1,500,000  1.500             -             -  -     no interval
1 session  p50_us           20.0       20.0  1.000             -             -  -     no interval
1 session  p99_us           90.0       90.0  1.000             -             -  -     no interval
";
        assert_eq!(text, want);
    }

    #[test]
    fn a_post_stands_beside_its_cell() {
        let told = |sessions: &str| lab::document::Published {
            post: 3,
            arm: format!("{sessions} sessions"),
            figure: "rows/s".to_owned(),
            published: "500/s".to_owned(),
            value: Some(500.0),
            beside: [("sessions".to_owned(), sessions.to_owned())].into(),
            ..Default::default()
        };
        let run = Run {
            published: vec![told("2"), told("40")],
            cannot_show: vec!["Two sockets.".to_owned()],
            ..run(&[2], 500.0)
        };
        let text = super::published(&run);
        let lines: Vec<Vec<&str>> = text.lines().map(|l| l.split_whitespace().collect()).collect();
        assert!(
            lines
                .iter()
                .any(|l| l.contains(&"500/s") && l.contains(&"1,000") && l.contains(&"2.00"))
        );
        assert!(text.lines().any(|l| l.contains("40 sessions") && l.contains("no such cell")));
        assert!(text.ends_with("Not shown here: Two sockets.\n"), "{text}");
        assert_eq!(super::published(&Run::default()), "");
    }

    #[test]
    fn of_many_cells_few_figures() {
        let (a, b) = (run(&[1, 2, 3, 4, 5], 1.0), run(&[1, 2, 3, 4, 5], 2.0));
        let text = super::comparison(&compare("a", &a, "b", &b));
        assert!(!text.contains("p50_us") && text.matches("p99_us").count() == 5, "{text}");
    }

    #[test]
    fn nothing_in_common_is_said() {
        let text = super::comparison(&compare("a", &run(&[1], 1.0), "b", &run(&[2], 1.0)));
        assert!(
            text.contains("Only A has: 1 session.") && text.contains("nothing to compare"),
            "{text}"
        );
    }
}
