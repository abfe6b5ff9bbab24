//! Two runs compared: cells of the same settings side by side, a ratio for each figure, with its interval and the least
//! effect that would have been seen.
//!
//! What was changed between the runs is found: a setting that has one value in all of A and another in all of B does not
//! keep cells apart. Ratios are worked out on logarithms (Welch's t), from repeats where both sides have them, else from
//! slices of the windows: those say how steady the two runs were, not what a third would bring, and the verdict says so.
//! Pairs measured in turns (`lab run --pairs`) are the stronger test: what changed between two runs besides the setting
//! (the hour, the neighbours, the device's age) is in the ratio here.

use crate::interval::{self, Basis, figure, mean_and_variance, slices};
use crate::view::{differing, label, settings};
use lab::document::{Cell, Mark, Run};
use lab::student;
use serde::Serialize;
use std::collections::BTreeMap;

/// What is compared, in this order.
const FIGURES: &[&str] =
    &["rows_per_s", "p50_us", "p99_us", "cpu_ns_per_row", "log_mb_per_s", "log_flushes_per_s"];

#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    pub a: Side,
    pub b: Side,
    /// What a reader must know before the ratios: what was changed, what stands alone, what else differs.
    pub notes: Vec<String>,
    /// How to read the table.
    pub explanation: &'static str,
    pub rows: Vec<Row>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Side {
    pub name: String,
    /// Those that were changed, with this side's value.
    pub settings: String,
}

/// One figure of one pair of cells.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub cells: String,
    /// By the document's key.
    pub figure: &'static str,
    pub a: f64,
    pub b: f64,
    /// b over a.
    pub ratio: f64,
    /// 95%; absent when neither repeats nor slices are there.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// The least ratio above 1 that figures of this noise show in 8 of 10 runs.
    pub least_detectable: Option<f64>,
    pub basis: Basis,
    pub verdict: &'static str,
    /// Of both sides.
    pub marks: Vec<Mark>,
}

const EXPLANATION: &str = "Each row is one figure of cells with the same settings: B over A, the 95% interval of that \
    ratio, and the least effect that so noisy figures would have shown in 8 of 10 runs. Intervals come from repeats where \
    both runs have them; else from slices of the two windows, which tell how steady the runs were and not what the next \
    one would bring. For a firm answer measure in turns: lab run --pairs.";

/// Compares two runs; the names are shown.
pub fn compare(a_name: &str, a: &Run, b_name: &str, b: &Run) -> Comparison {
    let sides = [all_settings(a), all_settings(b)];
    let changed = changed(&sides);
    let words = |side: usize| {
        let pairs: Vec<String> =
            changed.iter().map(|(key, values)| format!("{key} {}", shown(&values[side]))).collect();
        pairs.join(", ")
    };
    let mut notes = Vec::new();
    if !changed.is_empty() {
        let pairs: Vec<String> = changed
            .iter()
            .map(|(key, [a, b])| format!("{key} from {} to {}", shown(a), shown(b)))
            .collect();
        notes.push(format!("Changed from A to B: {}.", pairs.join("; ")));
    }
    differences(a, b, &mut notes);
    let rows = pair_up(a, b, &sides, &changed, &mut notes);
    Comparison {
        a: Side { name: a_name.to_owned(), settings: words(0) },
        b: Side { name: b_name.to_owned(), settings: words(1) },
        notes,
        explanation: EXPLANATION,
        rows,
    }
}

type Settings = BTreeMap<String, String>;

fn all_settings(run: &Run) -> Vec<Settings> {
    run.cells.iter().map(settings).collect()
}

/// Settings with one value in all of A and another in all of B.
fn changed(sides: &[Vec<Settings>; 2]) -> BTreeMap<String, [String; 2]> {
    let only = |side: &[Settings], key: &str| {
        let first = side.first()?.get(key);
        side.iter().all(|all| all.get(key) == first).then(|| first.cloned().unwrap_or_default())
    };
    let keys = sides.iter().flatten().flat_map(BTreeMap::keys);
    keys.filter_map(|key| {
        let (a, b) = (only(&sides[0], key)?, only(&sides[1], key)?);
        (a != b).then(|| (key.clone(), [a, b]))
    })
    .collect()
}

fn shown(value: &str) -> &str {
    if value.is_empty() { "none" } else { value }
}

/// What differs besides settings, and makes the ratio one of more than the settings.
fn differences(a: &Run, b: &Run, notes: &mut Vec<String>) {
    let mut differ = |what: &str, a: &str, b: &str| {
        if a != b {
            notes.push(format!("{what} differs: {} in A, {} in B.", shown(a), shown(b)));
        }
    };
    differ("The experiment", &a.experiment, &b.experiment);
    differ("The CPU", &a.machine.cpu_model, &b.machine.cpu_model);
    differ("The number of CPUs", &a.machine.cpus.to_string(), &b.machine.cpus.to_string());
    differ("The kernel", &a.machine.kernel, &b.machine.kernel);
    differ("The device", &a.machine.device.source, &b.machine.device.source);
    differ("The lab's version", &a.version, &b.version);
    for (letter, run) in [("A", a), ("B", b)] {
        // Its own marks say why, where it has them.
        if run.cut_short && run.marks.is_empty() {
            notes.push(format!("{letter} was cut short."));
        }
    }
}

/// Cells with the same settings, those changed left out, and as many sessions.
fn pair_up(
    a: &Run,
    b: &Run,
    sides: &[Vec<Settings>; 2],
    changed: &BTreeMap<String, [String; 2]>,
    notes: &mut Vec<String>,
) -> Vec<Row> {
    let keys = sides
        .clone()
        .map(|side| side.into_iter().map(|all| without(all, changed)).collect::<Vec<_>>());
    let names = differing(&keys.concat(), "sessions");
    let title = |cell: &Cell, all: &Settings| {
        let sessions =
            format!("{} session{}", cell.sessions, if cell.sessions == 1 { "" } else { "s" });
        if names.is_empty() {
            sessions
        } else {
            format!("{sessions}, {}", label(cell, all, &names))
        }
    };
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (side, run) in [a, b].into_iter().enumerate() {
        for (cell, all) in run.cells.iter().zip(&keys[side]) {
            let alike =
                |group: &Group<'_>| (group.sessions, group.settings) == (cell.sessions, all);
            let place = groups.iter().position(alike).unwrap_or_else(|| {
                let cells = [Vec::new(), Vec::new()];
                groups.push(Group { sessions: cell.sessions, settings: all, cells });
                groups.len() - 1
            });
            groups[place].cells[side].push(cell);
        }
    }
    let mut rows = Vec::new();
    let mut alone = [Vec::new(), Vec::new()];
    for Group { settings: all, cells: [of_a, of_b], .. } in &groups {
        match (of_a.first(), of_b.first()) {
            (Some(cell), None) => alone[0].push(title(cell, all)),
            (None, Some(cell)) => alone[1].push(title(cell, all)),
            (Some(cell), Some(_)) => {
                let title = title(cell, all);
                rows.extend(FIGURES.iter().filter_map(|&key| row(&title, key, of_a, of_b)));
            }
            (None, None) => unreachable!("a group is made by a cell"),
        }
    }
    for (letter, alone) in ["A", "B"].iter().zip(alone) {
        if !alone.is_empty() {
            notes.push(format!("Only {letter} has: {}.", alone.join("; ")));
        }
    }
    rows
}

/// Cells of both sides that belong together.
struct Group<'a> {
    sessions: usize,
    settings: &'a Settings,
    cells: [Vec<&'a Cell>; 2],
}

fn without(mut all: Settings, changed: &BTreeMap<String, [String; 2]>) -> Settings {
    all.retain(|key, _| !changed.contains_key(key));
    all
}

/// One figure of cells `b` over cells `a`; `None` when either side does not have it.
pub(crate) fn row(cells: &str, key: &'static str, a: &[&Cell], b: &[&Cell]) -> Option<Row> {
    let (samples, basis) = samples(a, b, key);
    let middle = |cells: &[&Cell]| interval::of_cells(cells, key).map(|found| found.mean);
    let (mean_a, mean_b) = (middle(a)?, middle(b)?);
    let welch = samples.and_then(|[a, b]| Welch::of(&a, &b));
    let ratio = match (&welch, basis) {
        (Some(welch), Basis::Repeats) => welch.difference.exp(),
        _ => mean_b / mean_a,
    };
    let factor = welch.as_ref().map(|welch| (welch.t975() * welch.error).exp());
    let (low, high) = (factor.map(|f| ratio / f), factor.map(|f| ratio * f));
    let verdict = match (low, high, basis) {
        (Some(low), Some(high), _) if low <= 1.0 && high >= 1.0 => "cannot tell",
        (Some(_), Some(_), Basis::Repeats) => "differs",
        (Some(_), Some(_), _) => "differs (one run each)",
        _ => "no interval",
    };
    let marks = a.iter().chain(b).flat_map(|cell| cell.marks.clone()).collect();
    let least_detectable = welch
        .map(|welch| ((welch.t975() + student::quantile(0.8, welch.freedom)) * welch.error).exp());
    Some(Row {
        cells: cells.to_owned(),
        figure: key,
        a: mean_a,
        b: mean_b,
        ratio,
        low,
        high,
        least_detectable,
        basis,
        verdict,
        marks,
    })
}

/// Logarithms of what both sides have: repeats, else slices.
fn samples(a: &[&Cell], b: &[&Cell], key: &str) -> (Option<[Vec<f64>; 2]>, Basis) {
    let sides = [a, b];
    let repeats =
        sides.map(|cells| cells.iter().filter_map(|cell| figure(cell, key)).collect::<Vec<f64>>());
    let logarithms =
        |side: Vec<f64>| side.into_iter().filter(|v| *v > 0.0).map(f64::ln).collect::<Vec<f64>>();
    if repeats.iter().all(|side| side.len() > 1) {
        return (Some(repeats.map(logarithms)), Basis::Repeats);
    }
    let parts =
        sides.map(|cells| cells.iter().flat_map(|cell| slices(cell, key)).collect::<Vec<f64>>());
    if parts.iter().all(|side| !side.is_empty()) {
        return (Some(parts.map(logarithms)), Basis::Slices);
    }
    (None, Basis::Single)
}

/// Welch's two-sample t.
struct Welch {
    difference: f64,
    /// Standard error of the difference.
    error: f64,
    freedom: usize,
}

impl Welch {
    /// `None` with fewer than two on a side.
    fn of(a: &[f64], b: &[f64]) -> Option<Welch> {
        if a.len() < 2 || b.len() < 2 {
            return None;
        }
        let ((mean_a, var_a), (mean_b, var_b)) = (mean_and_variance(a), mean_and_variance(b));
        let (of_a, of_b) = (var_a / a.len() as f64, var_b / b.len() as f64);
        let sum = of_a + of_b;
        let below = of_a.powi(2) / (a.len() - 1) as f64 + of_b.powi(2) / (b.len() - 1) as f64;
        // Satterthwaite's degrees, rounded down; without any variance all there are.
        let freedom =
            if below > 0.0 { (sum.powi(2) / below) as usize } else { a.len() + b.len() - 2 };
        Some(Welch { difference: mean_b - mean_a, error: sum.sqrt(), freedom: freedom.max(1) })
    }

    fn t975(&self) -> f64 {
        student::t975(self.freedom)
    }
}

#[cfg(test)]
mod tests;
