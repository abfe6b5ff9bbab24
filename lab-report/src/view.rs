//! A run as it is drawn: which setting the plots' axis shows, a line (arm) for each combination of the others, the
//! points on it with their intervals, and the posts' figures beside the cells they belong to.
//!
//! A run may be looked at along each setting that varies and is a number. Invariant: in each view every cell stands in
//! exactly one point of one arm, and `places` says which.

use crate::compare::{self, Row};
use crate::interval::{self, Basis, FIGURES, Interval};
use lab::document::{Cell, Run};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What the page needs besides the document.
#[derive(Clone, Debug, Serialize)]
pub struct View {
    /// The setting along the axis: `sessions`, or a numeric setting when those do not vary.
    pub x_key: String,
    pub x_label: String,
    /// Its values, rising.
    pub x_values: Vec<f64>,
    /// In the order of measuring.
    pub arms: Vec<Arm>,
    /// Of each cell, in the order of cells.
    pub places: Vec<Place>,
    /// What the bars of the intervals are, for the reader.
    pub interval_note: String,
    pub published: Vec<PublishedRow>,
    /// Of arms that have a point in common; empty where there are too many arms to compare each with each.
    pub ratios: Vec<ArmRatio>,
}

/// One line of a plot.
#[derive(Clone, Debug, Serialize)]
pub struct Arm {
    pub label: String,
    /// Rising by `x`.
    pub points: Vec<Point>,
}

/// One arm over another at the same place, both by their places in `arms`.
#[derive(Clone, Debug, Serialize)]
pub struct ArmRatio {
    pub base: usize,
    pub arm: usize,
    pub x: f64,
    #[serde(flatten)]
    pub row: Row,
}

/// Cells of the same settings.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    pub x: f64,
    /// Places in the run's `cells`.
    pub cells: Vec<usize>,
    /// By the document's key; those that the cells have.
    pub figures: BTreeMap<&'static str, Interval>,
}

/// Where a cell stands, and the interval of its own throughput.
#[derive(Clone, Debug, Serialize)]
pub struct Place {
    pub arm: String,
    pub x: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// A post's figure, and the same here.
#[derive(Clone, Debug, Serialize)]
pub struct PublishedRow {
    pub post: u8,
    pub machine: String,
    pub arm: String,
    pub figure: String,
    pub published: String,
    pub value: Option<f64>,
    /// The cells it stands beside; empty when this run has none.
    pub here: String,
    pub measured: Option<f64>,
    /// Measured over published.
    pub ratio: Option<f64>,
}

impl View {
    /// Along every axis there is; first the one along which most cells stand on a line, `sessions` if several do.
    pub fn all(run: &Run) -> Vec<View> {
        let settings: Vec<Settings> = run.cells.iter().map(with_sessions).collect();
        let mut views: Vec<View> =
            axes(&settings).iter().map(|axis| View::new(run, &settings, axis)).collect();
        views.sort_by_key(|view| std::cmp::Reverse(view.cells_on_lines()));
        views
    }

    /// Along the setting of that name; cells without it stand at 0.
    pub fn along(run: &Run, axis: &str) -> View {
        let settings: Vec<Settings> = run.cells.iter().map(with_sessions).collect();
        View::new(run, &settings, axis)
    }

    fn new(run: &Run, settings: &[Settings], axis: &str) -> View {
        let x = |i: usize| -> f64 {
            settings[i].get(axis).and_then(|value| value.parse().ok()).unwrap_or(0.0)
        };
        let names = differing(settings, axis);
        let labels: Vec<String> =
            run.cells.iter().zip(settings).map(|(cell, all)| label(cell, all, &names)).collect();

        // By the bits of x: it is not below zero, so they rise with it.
        let mut grouped: Vec<(String, BTreeMap<u64, Vec<usize>>)> = Vec::new();
        for (i, label) in labels.iter().enumerate() {
            let found = grouped.iter().position(|(known, _)| known == label);
            let arm = found.unwrap_or_else(|| {
                grouped.push((label.clone(), BTreeMap::new()));
                grouped.len() - 1
            });
            grouped[arm].1.entry(x(i).to_bits()).or_default().push(i);
        }
        let arms: Vec<Arm> = grouped
            .into_iter()
            .map(|(label, points)| Arm {
                label,
                points: (points.into_iter())
                    .map(|(x, cells)| point(run, f64::from_bits(x), cells))
                    .collect(),
            })
            .collect();
        let places = (0..run.cells.len())
            .map(|i| {
                let own = interval::of_cells(&[&run.cells[i]], "rows_per_s");
                let (low, high) = own.map_or((None, None), |own| (own.low, own.high));
                Place { arm: labels[i].clone(), x: x(i), low, high }
            })
            .collect();
        let mut x_values: Vec<f64> = (0..run.cells.len()).map(x).collect();
        x_values.sort_by(f64::total_cmp);
        x_values.dedup();
        let interval_note = note(&arms);
        let ratios = ratios(run, &arms);
        let published = published(run, settings, &labels);
        View {
            x_key: axis.to_owned(),
            x_label: axis.replace('_', " "),
            x_values,
            arms,
            places,
            interval_note,
            published,
            ratios,
        }
    }

    fn cells_on_lines(&self) -> usize {
        let lines = self.arms.iter().filter(|arm| arm.points.len() > 1);
        lines.flat_map(|arm| &arm.points).map(|point| point.cells.len()).sum()
    }
}

type Settings = BTreeMap<String, String>;

/// Everything that tells cells apart, but sessions.
pub(crate) fn settings(cell: &Cell) -> Settings {
    let mut all = cell.settings.clone();
    all.entry("target".to_owned()).or_insert_with(|| cell.target.clone());
    all.entry("mode".to_owned()).or_insert_with(|| cell.mode.clone());
    all.remove("sessions");
    all
}

fn with_sessions(cell: &Cell) -> Settings {
    let mut all = settings(cell);
    all.insert("sessions".to_owned(), cell.sessions.to_string());
    all
}

/// Settings that take several values, all of them numbers; sessions first, and alone where there is no other.
fn axes(settings: &[Settings]) -> Vec<String> {
    let keys: BTreeSet<&String> = settings.iter().flat_map(BTreeMap::keys).collect();
    let varies = |key: &str| {
        let values: Option<BTreeSet<u64>> = settings
            .iter()
            .map(|all| all.get(key)?.parse::<f64>().ok().filter(|v| *v >= 0.0).map(f64::to_bits))
            .collect();
        values.is_some_and(|values| values.len() > 1)
    };
    let mut axes: Vec<String> = keys.into_iter().filter(|key| varies(key)).cloned().collect();
    axes.sort_by_key(|key| key != "sessions");
    if axes.is_empty() { vec!["sessions".to_owned()] } else { axes }
}

/// The settings in which these differ, the axis left out; the target first. A setting that another target does not have
/// is no difference: the target's name says as much.
pub(crate) fn differing(settings: &[Settings], axis: &str) -> Vec<String> {
    let keys: BTreeSet<&String> = settings.iter().flat_map(BTreeMap::keys).collect();
    let differs = |key: &str| {
        let known: BTreeSet<_> = settings.iter().filter_map(|all| all.get(key)).collect();
        let mut of_target: BTreeMap<Option<&String>, BTreeSet<Option<&String>>> = BTreeMap::new();
        for all in settings {
            of_target.entry(all.get("target")).or_default().insert(all.get(key));
        }
        known.len() > 1 || of_target.values().any(|values| values.len() > 1)
    };
    let mut names: Vec<String> =
        keys.into_iter().filter(|key| *key != axis && differs(key)).cloned().collect();
    names.sort_by_key(|name| name != "target");
    // Of settings that always have the same value one is enough.
    let column = |name: &str| settings.iter().map(|all| all.get(name)).collect::<Vec<_>>();
    let mut columns = BTreeSet::new();
    names.retain(|name| columns.insert(column(name)));
    names
}

/// The values of these settings in a few words; a bare number with its name.
pub(crate) fn label(cell: &Cell, all: &Settings, names: &[String]) -> String {
    let words: Vec<String> = names
        .iter()
        .filter_map(|name| {
            let value = all.get(name).filter(|value| !value.is_empty())?;
            let bare = value.starts_with(|c: char| c.is_ascii_digit())
                || ["yes", "no", "on", "off", "true", "false"].contains(&value.as_str());
            Some(if bare { format!("{} {value}", name.replace('_', " ")) } else { value.clone() })
        })
        .collect();
    if words.is_empty() { cell.target.clone() } else { words.join(", ") }
}

fn point(run: &Run, x: f64, cells: Vec<usize>) -> Point {
    let those: Vec<&Cell> = cells.iter().map(|&i| &run.cells[i]).collect();
    let figures = FIGURES
        .iter()
        .filter_map(|&key| interval::of_cells(&those, key).map(|found| (key, found)))
        .collect();
    Point { x, cells, figures }
}

fn note(arms: &[Arm]) -> String {
    let bases: Vec<Basis> = arms
        .iter()
        .flat_map(|arm| &arm.points)
        .filter_map(|point| point.figures.get("rows_per_s").map(|found| found.basis))
        .collect();
    let slices = bases.contains(&Basis::Slices);
    match (bases.contains(&Basis::Repeats), slices) {
        (true, true) => {
            "Bars: 95% intervals, from repeats where a cell was measured more than once, else from slices of its window."
        }
        (true, false) => "Bars: 95% intervals of the mean, from repeated cells.",
        (false, true) => {
            "Bars: 95% intervals of the mean, from slices of each window; another run may differ by more."
        }
        (false, false) => "One figure per cell: no intervals.",
    }
    .to_owned()
}

/// More arms than this are not compared each with each.
const ARMS_COMPARED_MOST: usize = 12;

/// Of many arms only those with several points are drawn, and compared.
const ARMS_DRAWN_MOST: usize = 8;

/// Every arm over every other, both ways, where they have a point in common.
fn ratios(run: &Run, arms: &[Arm]) -> Vec<ArmRatio> {
    let lines = arms.iter().any(|arm| arm.points.len() > 1) && arms.len() > ARMS_DRAWN_MOST;
    let shown: Vec<usize> =
        (0..arms.len()).filter(|&arm| !lines || arms[arm].points.len() > 1).collect();
    if shown.len() > ARMS_COMPARED_MOST {
        return Vec::new();
    }
    let cells = |point: &Point| point.cells.iter().map(|&i| &run.cells[i]).collect::<Vec<_>>();
    let mut ratios = Vec::new();
    for &base in &shown {
        for &arm in shown.iter().filter(|&&arm| arm != base) {
            for of_base in &arms[base].points {
                let Some(of_arm) = arms[arm].points.iter().find(|p| p.x == of_base.x) else {
                    continue;
                };
                for figure in ["rows_per_s", "p50_us"] {
                    let row = compare::row("", figure, &cells(of_base), &cells(of_arm));
                    // The cells' own table has their marks.
                    let row = row.map(|row| Row { marks: Vec::new(), ..row });
                    ratios.extend(row.map(|row| ArmRatio { base, arm, x: of_base.x, row }));
                }
            }
        }
    }
    ratios
}

/// A row for each post's figure and each arm that has its cell.
fn published(run: &Run, settings: &[Settings], labels: &[String]) -> Vec<PublishedRow> {
    let mut rows = Vec::new();
    for one in &run.published {
        let row = PublishedRow {
            post: one.post,
            machine: one.machine.clone(),
            arm: one.arm.clone(),
            figure: one.figure.clone(),
            published: one.published.clone(),
            value: one.value,
            here: String::new(),
            measured: None,
            ratio: None,
        };
        let agrees = |i: usize, (key, value)| settings[i].get(key) == Some(value);
        let beside = |i: usize| {
            !one.beside.is_empty() && one.beside.iter().all(|setting| agrees(i, setting))
        };
        let mut by_place: Vec<(String, Vec<f64>)> = Vec::new();
        for i in (0..run.cells.len()).filter(|&i| beside(i)) {
            let Some(value) = measured(&run.cells[i], &one.figure) else { continue };
            let sessions = run.cells[i].sessions;
            let place = format!(
                "{}, {sessions} session{}",
                labels[i],
                if sessions == 1 { "" } else { "s" }
            );
            match by_place.iter_mut().find(|(known, _)| *known == place) {
                Some((_, values)) => values.push(value),
                None => by_place.push((place, vec![value])),
            }
        }
        if by_place.is_empty() {
            rows.push(row);
            continue;
        }
        for (here, values) in by_place {
            let measured = values.iter().sum::<f64>() / values.len() as f64;
            rows.push(PublishedRow {
                here,
                measured: Some(measured),
                ratio: one.value.filter(|value| *value != 0.0).map(|value| measured / value),
                ..row.clone()
            });
        }
    }
    rows
}

/// The cell's figure by the name that a published row gives it.
fn measured(cell: &Cell, figure: &str) -> Option<f64> {
    let known = match figure {
        "rows/s" => Some(cell.rows_per_s),
        "commits/s" => Some(cell.commits_per_s),
        "log flushes/s" | "flushes/s" => Some(cell.log_flushes_per_s),
        "log MB/s" | "MB/s" => Some(cell.log_mb_per_s),
        _ => None,
    };
    if known.is_some() {
        return known.filter(|value| *value > 0.0);
    }
    if let Some(lock) = figure.strip_suffix(" spins") {
        return cell.spins.get(lock).map(|spin| spin.spins as f64);
    }
    if let Some(lock) = figure.strip_suffix(" spins per row") {
        return cell
            .spins
            .get(lock)
            .filter(|_| cell.rows > 0)
            .map(|s| s.spins as f64 / cell.rows as f64);
    }
    cell.figures.get(figure).map(|own| own.value)
}

#[cfg(test)]
mod tests;
