//! The bench on which an experiment is run: targets, settings, progress, and the document that grows cell by cell.
//!
//! Promise: a cell that was measured is in the document whatever comes after it, an error or Ctrl-C.

use crate::document::{Cell, FORMAT, Mark, MarkKind, Round, Run};
use crate::error::LabError;
use crate::experiment::Experiment;
use crate::target::Target;
use crate::workload::{Kind, Settings, Workload};
use crate::{Progress, drive, machine, pairs};
use runtime::clock;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// What an experiment works at.
pub struct Bench<'a> {
    settings: &'a Settings,
    targets: &'a mut [Box<dyn Target>],
    interrupted: &'a AtomicBool,
    progress: &'a mut dyn Progress,
    experiment: &'a dyn Experiment,
    run: Run,
}

/// A run, and why it ended early if it did.
pub struct Ended {
    /// With at least one cell, or with none and an error.
    pub run: Run,
    pub error: Option<LabError>,
}

/// Runs an experiment to its end, to its first error, or until `interrupted` is set.
///
/// `command` is what was typed, without passwords.
pub fn run(
    experiment: &dyn Experiment,
    settings: &Settings,
    targets: &mut [Box<dyn Target>],
    command: &str,
    interrupted: &AtomicBool,
    progress: &mut dyn Progress,
) -> Ended {
    let began_ns = clock::now_ns();
    let document = Run {
        format: FORMAT,
        experiment: experiment.name().to_owned(),
        what: experiment.what().to_owned(),
        posts: experiment.posts().to_vec(),
        command: command.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        began_unix_s: clock::unix_ns() as f64 / 1e9,
        published: experiment.published(),
        machine: machine::describe(&settings.data),
        ..Run::default()
    };
    let mut bench = Bench { settings, targets, interrupted, progress, experiment, run: document };
    let checked = settings.check().and_then(|()| bench.check_places());
    let result = checked.and_then(|()| experiment.run(&mut bench));
    let Bench { targets, mut run, .. } = bench;
    run.targets = targets.iter_mut().map(|target| target.describe()).collect();
    let error = match result {
        Err(LabError::Interrupted) => None,
        other => other.err(),
    };
    let stopped = interrupted.load(Relaxed);
    if stopped || error.is_some() {
        run.cut_short = true;
        let why = match &error {
            None => "the run was ended by Ctrl-C; what had been measured stands here".to_owned(),
            Some(error) => format!("the run ended with an error: {error}"),
        };
        run.marks.push(Mark { kind: MarkKind::CutShort, text: why });
    }
    label(&mut run.cells);
    run.seconds = (clock::now_ns() - began_ns) as f64 / 1e9;
    Ended { run, error }
}

impl Bench<'_> {
    /// Refuses CPUs that are not there, and switches that no target has; says which target has not those of others.
    fn check_places(&mut self) -> Result<(), LabError> {
        let mine = runtime::threads::process_affinity();
        if let Some(cpu) = self.settings.cpus.iter().find(|cpu| !mine.contains(cpu)) {
            let why = format!(
                "there is no CPU {cpu} for this process; there is {}",
                topology::format_cpulist(mine)
            );
            return Err(LabError::Options(why));
        }
        if self.targets.is_empty() {
            return Ok(());
        }
        for name in self.settings.switches.keys() {
            // An experiment's own defaults are for the targets that have them.
            if self.experiment.defaults().switches.contains_key(name) {
                continue;
            }
            let flag = name.replace('_', "-");
            let (with, without): (Vec<_>, Vec<_>) =
                self.targets.iter().partition(|target| target.switches().contains(name));
            if with.is_empty() {
                let names: Vec<_> = without.iter().map(|target| target.name()).collect();
                let why = format!("--{flag} is a switch that {} has not", names.join(", "));
                return Err(LabError::Options(why));
            }
            let notes: Vec<String> = without
                .iter()
                .map(|target| format!("--{flag} means nothing to {}.", target.name()))
                .collect();
            notes.into_iter().for_each(|note| self.cannot_show(note));
        }
        Ok(())
    }

    pub fn settings(&self) -> &Settings {
        self.settings
    }

    pub fn progress(&mut self) -> &mut dyn Progress {
        self.progress
    }

    /// Ctrl-C was pressed: end with [`LabError::Interrupted`] soon, having pushed what is measured.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Relaxed)
    }

    /// The flag behind [`Self::is_interrupted`], for loops that do not hold the bench.
    pub fn interruption(&self) -> &AtomicBool {
        self.interrupted
    }

    /// A sentence on what this machine cannot show of the experiment.
    pub fn cannot_show(&mut self, what: impl Into<String>) {
        self.run.cannot_show.push(what.into());
    }

    /// What the cells together say.
    pub fn conclude(&mut self, what: impl Into<String>) {
        self.run.conclusions.push(what.into());
    }

    /// A doubt about the run as a whole.
    pub fn mark(&mut self, kind: MarkKind, text: impl Into<String>) {
        self.run.marks.push(Mark { kind, text: text.into() });
    }

    /// The machine, as the document tells it.
    pub fn machine(&self) -> &crate::document::Machine {
        &self.run.machine
    }

    /// The cells so far.
    pub fn cells(&self) -> &[Cell] {
        &self.run.cells
    }

    /// Lets figures be added to the cells from the `first` on, each with its place among them.
    pub fn change_cells(&mut self, first: usize, mut change: impl FnMut(&mut Cell, usize)) {
        self.run.cells[first..].iter_mut().enumerate().for_each(|(at, cell)| change(cell, at));
    }

    /// Takes a cell into the document and shows it.
    pub fn push(&mut self, cell: Cell) {
        self.progress.end(&cell);
        self.run.cells.push(cell);
    }

    /// The usual plan: on each target, the product of the settings.
    pub fn measure(&mut self, kind: Kind) -> Result<(), LabError> {
        let mut plan = Vec::new();
        for (index, target) in self.targets.iter().enumerate() {
            let workloads = self.settings.workloads(kind, &target.switches());
            plan.extend(workloads.into_iter().map(|workload| (index, workload)));
        }
        self.measure_plan(&plan)
    }

    /// A plan of the experiment's own: workloads with the targets' places in [`Self::targets`]. With `--pairs` its cells
    /// are measured in turns and compared: those of several targets each with the first target's cell of the same load,
    /// those of one target each with the first.
    pub fn measure_plan(&mut self, plan: &[(usize, Workload)]) -> Result<(), LabError> {
        if self.settings.pairs > 0 {
            return self.measure_pairs(plan);
        }
        for (turn, (target, workload)) in plan.iter().enumerate() {
            self.one(turn, plan.len(), *target, workload)?;
        }
        Ok(())
    }

    fn measure_pairs(&mut self, plan: &[(usize, Workload)]) -> Result<(), LabError> {
        let pairs = self.settings.pairs;
        if pairs < pairs::LEAST {
            let least = pairs::LEAST;
            let why = format!("{pairs} pairs have no interval: --pairs takes {least} or more");
            return Err(LabError::Options(why));
        }
        let bases = bases(plan);
        if bases.iter().all(Option::is_none) {
            return Err(LabError::Options(
                "--pairs compares cells, and the flags make nothing to compare: give one flag (--sessions or --target, \
                 too) two values"
                    .to_owned(),
            ));
        }
        let first = self.run.cells.len();
        let schedule = pairs::rounds(pairs, plan.len());
        let mut result = Ok(());
        for (turn, &(pair, place)) in schedule.iter().enumerate() {
            let (target, workload) = &plan[place];
            result = self.one(turn, schedule.len(), *target, workload);
            if let Some(cell) = self.run.cells.get_mut(first + turn) {
                cell.round = Some(Round { pair, turn, b: bases[place].is_some() });
            }
            if result.is_err() {
                break;
            }
        }
        label(&mut self.run.cells);
        for (place, base) in bases.iter().enumerate() {
            if let Some(base) = *base {
                self.compare(first, &schedule, base, place);
            }
        }
        result
    }

    /// Compares what has been measured of two places in the plan, whole pairs only.
    fn compare(&mut self, first: usize, schedule: &[(usize, usize)], a: usize, b: usize) {
        let measured = self.run.cells[first..].iter().zip(schedule.iter().map(|(_, place)| *place));
        let both: Vec<(&Cell, usize)> =
            measured.filter(|(_, place)| *place == a || *place == b).collect();
        let both = &both[..both.len() / 2 * 2];
        let name = |of: usize| {
            let found = both.iter().find(|(_, place)| *place == of);
            found.map_or(String::new(), |(cell, _)| match cell.label.is_empty() {
                true => format!("{} {} sessions", cell.target, cell.sessions),
                false => format!("{} {} sessions, {}", cell.target, cell.sessions, cell.label),
            })
        };
        type Figure = fn(&Cell) -> Option<f64>;
        let figures: [(&str, Figure); 3] = [
            ("rows_per_s", |cell| Some(cell.rows_per_s)),
            ("cpu_ns_per_row", |cell| cell.cpu_ns_per_row),
            ("p50_us", |cell| cell.p50_us),
        ];
        let compared = figures.iter().filter_map(|(figure, of)| {
            let values: Option<Vec<f64>> = both.iter().map(|(cell, _)| of(cell)).collect();
            pairs::compare(figure, &name(a), &name(b), &values?)
        });
        let compared: Vec<_> = compared.collect();
        self.run.comparisons.extend(compared);
    }

    /// The targets' names and switches, in their order.
    pub fn targets(&self) -> impl Iterator<Item = (&str, Vec<String>)> {
        self.targets.iter().map(|target| (target.name(), target.switches()))
    }

    fn one(
        &mut self,
        turn: usize,
        turns: usize,
        target: usize,
        workload: &Workload,
    ) -> Result<(), LabError> {
        if self.is_interrupted() {
            return Err(LabError::Interrupted);
        }
        let several = self.targets.len() > 1;
        let target = &mut *self.targets[target];
        let title = title(several.then(|| target.name()), self.settings, workload);
        self.progress.begin(turn, turns, &title);
        let mut cell =
            drive::cell(target, workload, self.settings, self.interrupted, self.progress)?;
        cell.experiment.clone_from(&self.run.experiment);
        self.experiment.add_figures(&mut cell);
        self.push(cell);
        match self.is_interrupted() {
            true => Err(LabError::Interrupted),
            false => Ok(()),
        }
    }
}

/// For each place of the plan the earlier one that it is compared with.
fn bases(plan: &[(usize, Workload)]) -> Vec<Option<usize>> {
    let several = plan.iter().any(|(target, _)| *target != plan[0].0);
    // What a load is, whatever serves it: switches are a target's own.
    let load = |w: &Workload| {
        (w.mode, w.sessions, w.durability, w.commit_every, w.rows_per_insert, w.last_alone)
    };
    let base = |place: usize| match several {
        true => plan.iter().position(|(_, w)| load(w) == load(&plan[place].1)).unwrap_or(place),
        false => 0,
    };
    (0..plan.len()).map(|place| Some(base(place)).filter(|base| *base != place)).collect()
}

/// "10 sessions, full, spinlock": what varies in the run, and the sessions.
fn title(target: Option<&str>, settings: &Settings, workload: &Workload) -> String {
    let n = workload.sessions;
    let mut words: Vec<String> = target.map(str::to_owned).into_iter().collect();
    words.push(format!("{n} session{}", if n == 1 { "" } else { "s" }));
    if settings.durability.len() > 1 {
        words.push(workload.durability.name().to_owned());
    }
    if settings.commit_every.len() > 1 {
        words.push(format!("commit every {}", workload.commit_every));
    }
    if settings.rows_per_insert.len() > 1 {
        words.push(format!("{} rows per insert", workload.rows_per_insert));
    }
    let varied = |name: &str| settings.switches.get(name).is_some_and(|values| values.len() > 1);
    words.extend(workload.switches.iter().filter(|(n, _)| varied(n)).map(|(_, v)| v.clone()));
    words.join(", ")
}

/// Tells the cells apart by the settings in which they differ.
fn label(cells: &mut [Cell]) {
    let mut values: std::collections::BTreeMap<String, BTreeSet<String>> = Default::default();
    for cell in cells.iter() {
        for (name, value) in &cell.settings {
            values.entry(name.clone()).or_default().insert(value.clone());
        }
    }
    for cell in cells.iter_mut() {
        let varied = cell.settings.iter().filter(|(name, _)| values[*name].len() > 1);
        let words: Vec<String> = varied
            .map(|(name, value)| match value.parse::<f64>() {
                // A bare number says nothing.
                Ok(_) => format!("{} {value}", name.replace('_', " ")),
                Err(_) => value.clone(),
            })
            .collect();
        cell.label = words.join(", ");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_name_what_differs_and_nothing_else() {
        let cell = |durability: &str, depth: &str| Cell {
            settings: [("durability", durability), ("depth", depth), ("mode", "procedure")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            ..Cell::default()
        };
        let mut cells = [cell("full", "8"), cell("delayed", "32")];
        label(&mut cells);
        assert_eq!(cells[0].label, "depth 8, full");
        let mut one = [cell("full", "8")];
        label(&mut one);
        assert_eq!(one[0].label, "");
    }
}
