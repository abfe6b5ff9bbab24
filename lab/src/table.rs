//! Figures for the terminal.

use crate::document::{Cell, Comparison, Verdict};
use crate::measure::is_idle;
use std::fmt::Write;

/// A number with separators: 1,234,567.
pub fn grouped(n: f64) -> String {
    let digits = format!("{:.0}", n.abs());
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if n <= -0.5 { format!("-{out}") } else { out }
}

/// Microseconds, finer when few; a dash when there is no figure.
pub fn us(value: Option<f64>) -> String {
    match value {
        None => "-".to_owned(),
        Some(us) if us < 10.0 => format!("{us:.2}"),
        Some(us) if us < 100.0 => format!("{us:.1}"),
        Some(us) => grouped(us),
    }
}

/// The whole run: a row per cell, then what each waited and spun for.
pub fn render(cells: &[Cell]) -> String {
    let mut out = String::new();
    let Some(first) = cells.first() else { return out };
    let one_target = cells.iter().all(|c| c.target == first.target);
    let target = if one_target { format!("target {}, ", first.target) } else { String::new() };
    let _ = writeln!(out, "{}: {target}{}", first.experiment, common(cells).join(", "));
    let is_varied = cells.iter().any(|c| !c.label.is_empty());
    let mut heads = vec![
        "sessions",
        "rows/s",
        "commits/s",
        "p50 us",
        "p99 us",
        "CPU s",
        "of s",
        "flushes/s",
        "bytes/flush",
        "log MB/s",
        "rows checked",
    ];
    let mut rows: Vec<Vec<String>> = cells
        .iter()
        .map(|c| {
            vec![
                c.sessions.to_string(),
                grouped(c.rows_per_s),
                grouped(c.commits_per_s),
                us(c.p50_us),
                us(c.p99_us),
                c.cpu_s.map_or_else(|| "-".to_owned(), |cpu_s| format!("{cpu_s:.1}")),
                format!("{:.1}", c.seconds),
                grouped(c.log_flushes_per_s),
                grouped(c.log_bytes_per_flush),
                grouped(c.log_mb_per_s),
                grouped(c.rows_verified as f64),
            ]
        })
        .collect();
    let mut put = |head, value: &dyn Fn(&Cell) -> String| {
        heads.push(head);
        rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(value(cell)));
    };
    if !one_target {
        put("target", &|c| c.target.clone());
    }
    if is_varied {
        put("settings", &|c| c.label.clone());
    }
    if cells.iter().any(|c| !c.marks.is_empty()) {
        put("marked", &marks);
    }
    out.push_str(&columns(&heads, &rows));
    for cell in cells {
        waits_and_spins(&mut out, cell);
    }
    out
}

/// Ratios of interleaved pairs, a line each.
pub fn comparisons(all: &[Comparison]) -> String {
    let mut out = String::new();
    for c in all {
        let _ = writeln!(
            out,
            "{}: {} over {}: x{:.3} (95% {:.3} to {:.3}, {} pairs); equal arms x{:.3} ({:.3} to {:.3}); \
             least effect that {} pairs show: x{:.3}; {}",
            c.figure,
            c.b,
            c.a,
            c.ratio,
            c.low,
            c.high,
            c.pairs,
            c.floor,
            c.floor_low,
            c.floor_high,
            c.pairs,
            c.least_detectable,
            match c.verdict {
                Verdict::Differs => "they differ",
                Verdict::CannotTell => "cannot tell them apart",
            }
        );
    }
    out
}

/// The settings in which all cells agree, as "durability full".
fn common(cells: &[Cell]) -> Vec<String> {
    let Some(first) = cells.first() else { return Vec::new() };
    let agreed = first
        .settings
        .iter()
        .filter(|(name, value)| cells.iter().all(|cell| cell.settings.get(*name) == Some(value)));
    agreed.map(|(name, value)| format!("{} {value}", name.replace('_', " "))).collect()
}

/// The kinds of a cell's marks, as their names in the document.
fn marks(cell: &Cell) -> String {
    let words: Vec<String> = cell
        .marks
        .iter()
        .filter_map(|mark| serde_json::to_value(mark.kind).ok()?.as_str().map(str::to_owned))
        .collect();
    words.join(" ")
}

/// Right-aligned columns under their heads.
pub fn columns(heads: &[&str], rows: &[Vec<String>]) -> String {
    let widths: Vec<usize> = (0..heads.len())
        .map(|i| rows.iter().map(|r| r[i].len()).chain([heads[i].len()]).max().unwrap_or(0))
        .collect();
    let mut out = String::new();
    let mut line = |cells: &mut dyn Iterator<Item = &str>| {
        let parts: Vec<String> =
            cells.zip(&widths).map(|(text, &width)| format!("{text:>width$}")).collect();
        let _ = writeln!(out, "{}", parts.join("  "));
    };
    line(&mut heads.iter().copied());
    for row in rows {
        line(&mut row.iter().map(String::as_str));
    }
    out
}

fn waits_and_spins(out: &mut String, cell: &Cell) {
    let mut title = format!("{} {} session(s)", cell.target, cell.sessions);
    if !cell.label.is_empty() {
        title = format!("{title}, {}", cell.label);
    }
    let _ = writeln!(out, "\n{title}:");
    for mark in &cell.marks {
        let _ = writeln!(out, "  marked: {}", mark.text);
    }
    if let Some(d) = &cell.device_flush {
        let _ = writeln!(
            out,
            "  the device's own flush of 4 KiB: p10 {} p50 {} p99 {} us; commits: p10 {} us",
            us(Some(d.p10_us)),
            us(Some(d.p50_us)),
            us(Some(d.p99_us)),
            us(cell.p10_us),
        );
    }
    if let Some(a) = &cell.audit {
        let _ = writeln!(
            out,
            "  commits in flight: {:.1} by throughput and latency, {:.1} counted, {:.1} by waits: {} ({:.1}% apart)",
            a.by_throughput,
            a.by_count,
            a.by_waits,
            if a.agrees { "they agree" } else { "they do NOT agree" },
            a.spread * 100.0
        );
    }
    for phase in &cell.log_writes {
        let _ = writeln!(
            out,
            "  {}: {} of mean {} us, p50 {}, p99 {}, longest {}",
            phase.phase,
            grouped(phase.count as f64),
            us(Some(phase.mean_us)),
            us(Some(phase.p50_us)),
            us(Some(phase.p99_us)),
            us(Some(phase.max_us))
        );
    }
    for (name, cpu) in cell.spin_cpu.iter().filter(|(_, cpu)| cpu.share_by_clock >= 0.0005) {
        let _ = write!(
            out,
            "  {name}: {:.2} spins per row of {:.1} ns, {:.2}% of CPU by the clock",
            cpu.spins_per_row,
            cpu.ns_per_spin,
            cpu.share_by_clock * 100.0
        );
        let _ = match cpu.share_by_profile {
            Some(share) => writeln!(out, ", {:.2}% by the profile", share * 100.0),
            None => writeln!(out),
        };
    }
    if let Some(p) = &cell.profile {
        let _ = writeln!(out, "  {} samples ({}):", p.samples, p.method);
        for f in p.functions.iter().take(8) {
            let _ = writeln!(out, "    {:5.1}%  {}", f.itself * 100.0, f.name);
        }
    }
    let mut waits: Vec<_> = cell
        .waits
        .iter()
        .filter(|(name, w)| w.waiting_tasks_count > 0 && !is_idle(name))
        .map(|(name, w)| {
            let n = w.waiting_tasks_count as f64;
            (
                w.wait_time_ms,
                vec![
                    (*name).to_owned(),
                    grouped(n),
                    grouped(w.wait_time_ms),
                    grouped(w.signal_wait_time_ms),
                    us(Some(w.wait_time_ms * 1e3 / n)),
                    us(w.max_wait_time_ms.map(|ms| ms * 1e3)),
                ],
            )
        })
        .collect();
    waits.sort_by(|a, b| b.0.total_cmp(&a.0));
    let waits: Vec<_> = waits.into_iter().map(|(_, row)| row).collect();
    if waits.is_empty() {
        let _ = writeln!(out, "  no waits");
    } else {
        let heads = ["wait", "tasks", "wait ms", "signal ms", "average us", "longest us"];
        out.push_str(&indent(&columns(&heads, &waits)));
    }
    let spins: Vec<_> = cell
        .spins
        .iter()
        .filter(|(_, s)| s.collisions > 0)
        .map(|(name, s)| {
            vec![
                (*name).to_owned(),
                grouped(s.collisions as f64),
                grouped(s.spins as f64),
                grouped(s.spins_per_collision),
                grouped(s.backoffs as f64),
                format!("{:.1}", s.sleep_time_ms),
            ]
        })
        .collect();
    if spins.is_empty() {
        let _ = writeln!(out, "  no spinlock collisions");
    } else {
        let heads = ["spinlock", "collisions", "spins", "per collision", "back-offs", "sleep ms"];
        out.push_str(&indent(&columns(&heads, &spins)));
    }
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}
