//! Where the time of log writes and of WRITELOG goes: sys.dm_millrace_log_write_timing. SQL Server has no such view.
//!
//! A row per scope (WRITE: one log write; WRITELOG: one wait of a commit) and phase. Quantiles are at most 6.25% above
//! the true value. DBCC SQLPERF('sys.dm_millrace_log_write_timing', CLEAR) begins anew.

use crate::context::Context;
use crate::declare::{Declared, NULL, view};
use executor::SqlError;
use telemetry::{Histogram, LogPhase, LogScope, log_timing};
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&TIMING];

/// A phase of a scope.
pub struct Row {
    scope: LogScope,
    phase: LogPhase,
    times: Histogram,
}

impl Row {
    /// Microseconds that a share of them did not exceed.
    fn quantile(&self, share: f64) -> Value {
        self.times.quantile_ns(share).map_or(NULL, |ns| Value::Float(us(ns as f64)))
    }
}

fn us(ns: f64) -> f64 {
    ns / 1_000.0
}

fn rows(_: &Context<'_>, _: &[Value]) -> Result<Vec<Row>, SqlError> {
    let timing = log_timing::snapshot();
    let of = |scope: LogScope| LogPhase::ALL.iter().map(move |&phase| (scope, phase));
    let cells = LogScope::ALL.iter().flat_map(|&scope| of(scope));
    Ok(cells
        .map(|(scope, phase)| Row { scope, phase, times: timing.get(scope, phase).clone() })
        .collect())
}

view! {
    TIMING = "sys.dm_millrace_log_write_timing" of Row as r, rows rows;
    scope nvarchar(60) = r.scope.name();
    phase nvarchar(60) = r.phase.name();
    times_count bigint = r.times.count() as i64;
    total_us float = us(r.times.sum_ns() as f64);
    mean_us float null = r.times.mean_ns().map_or(NULL, |ns| Value::Float(us(ns)));
    p50_us float null = r.quantile(0.5);
    p90_us float null = r.quantile(0.9);
    p99_us float null = r.quantile(0.99);
    max_us float null = r.quantile(1.0);
}
