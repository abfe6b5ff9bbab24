//! `millrace lab compare`: two runs side by side, as a table and as a page.

use lab_report::compare::compare;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// The page's name in its folder.
const PAGE: &str = "compare.html";

#[derive(clap::Args)]
pub struct Args {
    /// The first run: its run.json, or the folder that holds it.
    a: PathBuf,
    /// The second run; every ratio is this one over the first.
    b: PathBuf,
    /// Where compare.html goes.
    #[arg(long, default_value = "report", value_name = "DIR")]
    out: PathBuf,
    /// Print the ratios as one JSON object on standard output, and nothing else.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> ExitCode {
    match compared(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn compared(args: &Args) -> Result<(), String> {
    let read = |path: &PathBuf| lab_report::read(path).map_err(|error| error.to_string());
    let (a, b) = (read(&args.a)?, read(&args.b)?);
    let name = |path: &PathBuf| path.display().to_string();
    let ratios = compare(&name(&args.a), &a, &name(&args.b), &b);
    let text = match args.json {
        true => serde_json::to_string(&ratios).map_err(|error| error.to_string())? + "\n",
        false => lab_report::comparison_text(&ratios),
    };
    // A reader that has gone away wants no more.
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
    let page = args.out.join(PAGE);
    let written = lab_report::write_comparison(&page, &a, &b, &ratios);
    let path = written.map_err(|error| {
        format!("{}: {error}; give a folder that can be written to (--out)", page.display())
    })?;
    eprintln!("report: {}", path.display());
    Ok(())
}
