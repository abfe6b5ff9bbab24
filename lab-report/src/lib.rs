//! A run of the lab, to be looked at: one HTML file that carries its plots, its tables and its data, and opens without
//! a network; and two runs compared, with intervals, on the terminal and as such a file.
//!
//! What is drawn is worked out here ([`view`]: arms, intervals, published figures beside measured ones; [`compare`]),
//! so that the terminal and the page say the same; the page (`assets/`, with Apache ECharts in `vendor/`) only draws.
//!
//! Knows the document ([`lab::document`]) and nothing else: not who measured, how, or on what.
#![forbid(unsafe_code)]

pub mod compare;
mod interval;
mod page;
mod read;
mod terminal;
pub mod view;

pub use read::{ReadError, read};

use compare::Comparison;
use lab::document::Run;
use serde::Serialize;
use std::io;
use std::path::{Path, PathBuf};
use view::View;

/// The report's name in a run's folder.
pub const REPORT: &str = "report.html";

/// Writes `run.json` and `report.html` into `folder`, which is made; returns the path of the latter.
pub fn write(folder: &Path, run: &Run) -> io::Result<PathBuf> {
    write_whole(&folder.join(read::DOCUMENT), &serde_json::to_string(run)?)?;
    write_whole(&folder.join(REPORT), &page(run)?)
}

/// The report of a run.
pub fn page(run: &Run) -> io::Result<String> {
    #[derive(Serialize)]
    struct Data<'a> {
        run: &'a Run,
        views: Vec<View>,
    }
    let data = Data { run, views: View::all(run) };
    Ok(page::render(&run.experiment, &serde_json::to_string(&data)?))
}

/// Writes the page of a comparison to `path`, whose folder is made; returns the path.
pub fn write_comparison(
    path: &Path,
    a: &Run,
    b: &Run,
    compared: &Comparison,
) -> io::Result<PathBuf> {
    write_whole(path, &comparison_page(a, b, compared)?)
}

/// The page of a comparison: the ratios, and both runs on one scale.
pub fn comparison_page(a: &Run, b: &Run, compared: &Comparison) -> io::Result<String> {
    #[derive(Serialize)]
    struct Side<'a> {
        run: &'a Run,
        view: View,
    }
    #[derive(Serialize)]
    struct Data<'a> {
        comparison: &'a Comparison,
        a: Side<'a>,
        b: Side<'a>,
        version: &'static str,
    }
    // Both along the axis of the first.
    let of_a = View::all(a).swap_remove(0);
    let of_b = View::along(b, &of_a.x_key);
    let data = Data {
        comparison: compared,
        a: Side { run: a, view: of_a },
        b: Side { run: b, view: of_b },
        version: env!("CARGO_PKG_VERSION"),
    };
    Ok(page::render("Comparison", &serde_json::to_string(&data)?))
}

/// The posts' figures beside those of a run, as a table for the terminal.
pub fn published(run: &Run) -> String {
    terminal::published(run)
}

/// A comparison as a table for the terminal.
pub fn comparison_text(compared: &Comparison) -> String {
    terminal::comparison(compared)
}

/// Written beside and moved into place: a reader never sees half of it, and an earlier file is not lost to a full disk.
fn write_whole(path: &Path, text: &str) -> io::Result<PathBuf> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let new = path.with_extension("new");
    let written = std::fs::write(&new, text).and_then(|()| std::fs::rename(&new, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    written.map(|()| path.to_owned())
}
