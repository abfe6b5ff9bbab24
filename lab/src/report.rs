//! `report.html`: one file, no network, no script; and the document beside it, as `run.json`.

use crate::document::{Cell, Moment, Run};
use crate::measure::is_idle;
use crate::table::{grouped, us};
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};

/// Writes both files into `folder`, which is made; returns the path of the report.
pub fn write(folder: &Path, run: &Run) -> io::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    let json = serde_json::to_vec(run).map_err(io::Error::other)?;
    std::fs::write(folder.join("run.json"), json)?;
    let path = folder.join("report.html");
    std::fs::write(&path, render(&run.cells, &run.command))?;
    Ok(path)
}

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#222}\
table{border-collapse:collapse;margin:.5rem 0 1.5rem}th,td{padding:.2rem .7rem;text-align:right;border-bottom:1px solid #ddd}\
th:first-child,td:first-child{text-align:left}th{font-weight:600;color:#555}h2{margin-top:2rem}code{background:#f3f3f3;padding:.1rem .3rem}\
svg{display:block;margin:.5rem 0}.small{color:#666;font-size:.9em}";

fn render(cells: &[Cell], command: &str) -> String {
    let mut out = String::new();
    let title = cells.first().map_or("lab", |c| c.experiment.as_str());
    let _ = write!(
        out,
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <title>{0}</title><style>{STYLE}</style></head><body><h1>{0}</h1>\
         <p>Run by <code>{1}</code>, millrace {2}.</p>",
        escape(title),
        escape(command),
        cells.first().map_or("", |c| c.version.as_str()),
    );
    summary(&mut out, cells);
    out.push_str("<h2>Rows per second</h2>");
    bars(&mut out, cells);
    for cell in cells {
        one(&mut out, cell);
    }
    out.push_str("</body></html>\n");
    out
}

fn summary(out: &mut String, cells: &[Cell]) {
    if let Some(c) = cells.first() {
        let _ = write!(
            out,
            "<p>Target {}, mode {}, durability {}; a commit every {} row(s), {} row(s) per insert; \
             log reserve {}, log writer {}; {} scheduler(s).</p>",
            c.target,
            c.mode,
            c.durability,
            c.commit_every,
            c.rows_per_insert,
            c.log_reserve,
            c.log_writer,
            c.schedulers
        );
    }
    let rows: Vec<Vec<String>> = cells
        .iter()
        .map(|c| {
            vec![
                c.sessions.to_string(),
                grouped(c.rows_per_s),
                grouped(c.commits_per_s),
                us(c.p50_us),
                us(c.p99_us),
                c.cpu_s.map_or_else(
                    || "-".to_owned(),
                    |cpu_s| format!("{cpu_s:.1} of {:.1}", c.seconds * c.schedulers as f64),
                ),
                grouped(c.log_flushes_per_s),
                grouped(c.log_bytes_per_flush),
                grouped(c.log_mb_per_s),
                grouped(c.rows_verified as f64),
            ]
        })
        .collect();
    let heads = [
        "sessions",
        "rows/s",
        "commits/s",
        "p50, us",
        "p99, us",
        "CPU, s",
        "log flushes/s",
        "bytes per flush",
        "log, MB/s",
        "rows checked",
    ];
    table(out, &heads, &rows);
}

fn one(out: &mut String, c: &Cell) {
    let _ = write!(out, "<h2>{} session(s)</h2>", c.sessions);
    if let Some(d) = &c.device_flush {
        let _ = write!(
            out,
            "<p>The device's own flush of 4 KiB takes {} us at the lowest decile, {} us at the median; \
             a commit {} us and {} us.</p>",
            us(Some(d.p10_us)),
            us(Some(d.p50_us)),
            us(c.p10_us),
            us(c.p50_us)
        );
    }
    course(out, &c.course, c.seconds);
    let mut waits: Vec<_> = c.waits.iter().filter(|(n, _)| !is_idle(n)).collect();
    waits.sort_by(|a, b| b.1.wait_time_ms.total_cmp(&a.1.wait_time_ms));
    let rows: Vec<Vec<String>> = waits
        .into_iter()
        .map(|(name, w)| {
            vec![
                (*name).to_owned(),
                grouped(w.waiting_tasks_count as f64),
                format!("{:.1}", w.wait_time_ms),
                format!("{:.1}", w.signal_wait_time_ms),
                format!("{:.2}", w.max_wait_time_ms),
            ]
        })
        .collect();
    table(out, &["wait", "waiting tasks", "wait, ms", "signal, ms", "longest, ms"], &rows);
    let rows: Vec<Vec<String>> = c
        .spins
        .iter()
        .filter(|(name, s)| s.collisions > 0 || *name == "LOGCACHE_ACCESS")
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
    let heads = ["spinlock", "collisions", "spins", "per collision", "back-offs", "sleep, ms"];
    table(out, &heads, &rows);
}

fn table(out: &mut String, heads: &[&str], rows: &[Vec<String>]) {
    out.push_str("<table><tr>");
    for head in heads {
        let _ = write!(out, "<th>{}</th>", escape(head));
    }
    out.push_str("</tr>");
    for row in rows {
        out.push_str("<tr>");
        for value in row {
            let _ = write!(out, "<td>{}</td>", escape(value));
        }
        out.push_str("</tr>");
    }
    out.push_str("</table>");
}

/// A bar for each cell.
fn bars(out: &mut String, cells: &[Cell]) {
    let most = cells.iter().map(|c| c.rows_per_s).fold(1.0, f64::max);
    let _ = write!(out, "<svg width=\"760\" height=\"{}\" role=\"img\">", cells.len() * 28 + 4);
    for (i, c) in cells.iter().enumerate() {
        let y = i * 28 + 4;
        let width = c.rows_per_s / most * 480.0;
        let _ = write!(
            out,
            "<text x=\"90\" y=\"{0}\" text-anchor=\"end\">{1} sessions</text>\
             <rect x=\"100\" y=\"{y}\" width=\"{width:.0}\" height=\"20\" fill=\"#2b6cb0\"/>\
             <text x=\"{2:.0}\" y=\"{0}\">{3}</text>",
            y + 15,
            c.sessions,
            width + 106.0,
            grouped(c.rows_per_s)
        );
    }
    out.push_str("</svg>");
}

/// The rate over the run, the measured window shaded.
fn course(out: &mut String, course: &[Moment], seconds: f64) {
    let Some(last) = course.last() else { return };
    let most = course.iter().map(|m| m.rows_per_s).fold(1.0, f64::max);
    let (width, height) = (720.0, 120.0);
    let x = |at_s: f64| at_s / last.at_s * width;
    let points: Vec<String> = course
        .iter()
        .map(|m| format!("{:.1},{:.1}", x(m.at_s), height - m.rows_per_s / most * (height - 10.0)))
        .collect();
    let from = x((last.at_s - seconds).max(0.0));
    let _ = write!(
        out,
        "<svg width=\"{width}\" height=\"{height}\" role=\"img\">\
         <rect x=\"{from:.1}\" y=\"0\" width=\"{:.1}\" height=\"{height}\" fill=\"#edf2f7\"/>\
         <polyline fill=\"none\" stroke=\"#2b6cb0\" stroke-width=\"2\" points=\"{}\"/></svg>\
         <p class=\"small\">Rows per second over {:.1} s, up to {}; the measured window is shaded.</p>",
        width - from,
        points.join(" "),
        last.at_s,
        grouped(most)
    );
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
