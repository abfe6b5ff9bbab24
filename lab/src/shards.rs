//! Several engines in this process, each on CPUs, with a log and a share of the sessions of its own: post 3's way of scaling
//! out.
//!
//! Rows add up, latencies and waits are the process's; all set off together and are framed by the same window. The
//! smallest share of a shard in the rows tells how even they were.

use crate::Progress;
use crate::document::{Figure, Histogram};
use crate::embedded::{EmbeddedLoad, nodes_of};
use crate::error::LabError;
use crate::target::{Done, Figures, Load, Sample};

/// See the file.
pub(crate) struct Shards {
    all: Vec<EmbeddedLoad>,
    /// Rows of each when the window was opened.
    before: Vec<u64>,
}

impl Shards {
    pub fn new(all: Vec<EmbeddedLoad>) -> Shards {
        let before = vec![0; all.len()];
        Shards { all, before }
    }

    fn rows(&self) -> Vec<u64> {
        self.all.iter().map(|shard| shard.done().rows).collect()
    }

    fn first(&mut self) -> &mut EmbeddedLoad {
        &mut self.all[0]
    }
}

impl Load for Shards {
    fn start(&mut self) {
        self.all.iter_mut().for_each(Load::start);
    }

    fn done(&self) -> Done {
        self.all.iter().map(Load::done).fold(Done::default(), |sum, one| Done {
            rows: sum.rows + one.rows,
            commits: sum.commits + one.commits,
        })
    }

    fn has_ended(&self) -> bool {
        self.all.iter().any(EmbeddedLoad::has_failed) || self.all.iter().all(Load::has_ended)
    }

    /// Statistics are the process's: the first shard's are those of all.
    fn open_window(&mut self) -> Result<(), LabError> {
        self.before = self.rows();
        self.first().open_window()
    }

    fn sample(&mut self) -> Option<Sample> {
        let queues: u64 = self.all.iter_mut().filter_map(|shard| shard.sample()?.run_queue).sum();
        self.first().sample().map(|sample| Sample { run_queue: Some(queues), ..sample })
    }

    fn latency(&mut self) -> Option<Histogram> {
        self.first().latency()
    }

    fn in_flight(&self) -> Option<u64> {
        self.all.iter().map(Load::in_flight).sum()
    }

    fn close_window(&mut self) -> Result<Figures, LabError> {
        let new: Vec<u64> =
            self.rows().iter().zip(&self.before).map(|(now, then)| now - then).collect();
        let schedulers = self.all.iter().map(EmbeddedLoad::schedulers).sum();
        let figures = self.first().close_window()?;
        let cpus: Vec<Vec<usize>> = self.all.iter().map(EmbeddedLoad::scheduler_cpus).collect();
        let mut scheduler_cpus = cpus.concat();
        scheduler_cpus.sort_unstable();
        let scheduler_nodes = nodes_of(&scheduler_cpus);
        let mut figures = Figures { schedulers, scheduler_cpus, scheduler_nodes, ..figures };
        let whole: u64 = new.iter().sum();
        if let Some(least) = new.iter().min().filter(|_| whole > 0) {
            let share = *least as f64 * new.len() as f64 / whole as f64 * 100.0;
            let what = "rows of the slowest shard, 100 being an even share".to_owned();
            let figure = Figure { value: share, unit: "%".to_owned(), what };
            figures.figures.insert("slowest shard".to_owned(), figure);
        }
        Ok(figures)
    }

    fn finish(self: Box<Self>, progress: &mut dyn Progress) -> Result<u64, LabError> {
        let finished = self.all.into_iter().map(|shard| Box::new(shard).finish(progress));
        // Each is stopped and looked at, also after one that failed.
        let all: Vec<Result<u64, LabError>> = finished.collect();
        all.into_iter().sum()
    }
}
