//! The ladder on a terminal: medians and tails, one table for each axis.

use super::{Axis, Beside, Rung};
use crate::table::{columns, grouped, us};
use std::collections::BTreeSet;
use std::fmt::Write;

/// All rungs of a run as text.
pub fn render(rungs: &[Rung]) -> String {
    let mut out = String::new();
    let mut places: Vec<_> = rungs.iter().map(|r| place(&r.axis)).collect();
    places.sort_unstable();
    places.dedup();
    for place_of in places {
        let here: Vec<&Rung> = rungs.iter().filter(|r| place(&r.axis) == place_of).collect();
        let (beside, carrier) = (here[0].axis.beside, here[0].axis.carrier);
        let beside = match beside {
            Beside::Alone => "alone",
            Beside::Checkpoint => "beside the writes of a checkpoint",
        };
        let _ = writeln!(out, "{}, {beside}", carrier.name());
        let rows: Vec<Vec<String>> = here.iter().map(|r| row(r)).collect();
        let heads = [
            "way",
            "in flight",
            "bytes",
            "writes/s",
            "MB/s",
            "p10 us",
            "p50 us",
            "p99 us",
            "max us",
            "checkpoint MB/s",
        ];
        out.push_str(&columns(&heads, &rows));
        out.push('\n');
    }
    let refused: BTreeSet<_> = rungs
        .iter()
        .filter_map(|r| {
            let why = r.refused.as_ref().or(r.note.as_ref())?;
            Some(format!("{}, {}: {why}", r.axis.way.name(), r.axis.carrier.name()))
        })
        .collect();
    for line in refused {
        let _ = writeln!(out, "{line}");
    }
    out
}

/// What a table has in common.
fn place(a: &Axis) -> (Beside, super::Carrier) {
    (a.beside, a.carrier)
}

fn row(r: &Rung) -> Vec<String> {
    let mut row =
        vec![r.axis.way.name().to_owned(), r.axis.depth.to_string(), grouped(r.axis.bytes as f64)];
    match (&r.latency, &r.refused) {
        (Some(l), None) => {
            row.extend([grouped(r.writes_per_s), format!("{:.1}", r.mb_per_s)]);
            row.extend([l.p10_us, l.p50_us, l.p99_us, l.max_us].map(|v| us(Some(v))));
            row.push(r.checkpoint_mb_per_s.map_or_else(|| "-".to_owned(), grouped));
        }
        _ => {
            row.extend(std::iter::once("refused".to_owned()).chain((0..6).map(|_| "-".to_owned())))
        }
    }
    row
}
