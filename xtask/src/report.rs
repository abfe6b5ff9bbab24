//! The lab's report in a real browser: `cargo xtask report`.
//!
//! Makes reports under `target/report/` (made-up runs, by an example of `lab-report`; a short real run and its comparison
//! with itself, by the binary), and lets `tests/report/check.js` open each in Chromium, at two widths and in two colour
//! schemes. Node and Chromium are what `.ci/run` installs; elsewhere their absence is told and the check left out. With
//! `CI` set it is a failure.

use std::fs;
use std::path::{Path, PathBuf};

use crate::build::Build;
use crate::run::{Failure, Step, target_directory};

/// Names that Chromium goes by, in the order of trying; `CHROMIUM` in the environment comes before them.
const BROWSERS: &[&str] =
    &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

pub fn run(build: Build, shots: Option<&Path>) -> Result<(), Failure> {
    let browser = std::env::var("CHROMIUM")
        .ok()
        .or_else(|| BROWSERS.iter().find(|name| on_path(name)).map(|name| (*name).to_owned()));
    let browser = match browser {
        Some(browser) if on_path("node") => browser,
        _ => return missing(),
    };
    let folder = target_directory().join("report");
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .map_err(|error| Failure(format!("{}: {error}", folder.display())))?;
    }
    let text = |path: PathBuf| path.display().to_string();
    let synthetic = Build::Dev.example("lab-report", "synthetic")?;
    Step::new("reports of made-up runs", &text(synthetic)).arg(text(folder.clone())).run()?;
    let binary = text(build.millrace()?);
    let real = text(folder.join("real"));
    Step::new("the report of a short real run", &binary)
        .args(["lab", "run", "singleton-insert", "--sessions", "1,2", "--seconds", "1"])
        .args(["--buffer-pool-mb", "256", "--data"])
        .arg(text(folder.join("data")))
        .args(["--out", &real])
        .run()?;
    Step::new("a run compared with itself", &binary)
        .args(["lab", "compare", &real, &real, "--out"])
        .arg(text(folder.join("itself")))
        .run()?;
    let mut check = Step::new("the lab's report in a browser", "node")
        .args(["tests/report/check.js", &browser])
        .arg(text(folder));
    if let Some(shots) = shots {
        check = check.arg("--shots").arg(text(shots.to_owned()));
    }
    check.run()
}

fn missing() -> Result<(), Failure> {
    let what = "the lab's report needs node and chromium (Debian: apt-get install nodejs chromium; or CHROMIUM=/path)";
    if std::env::var_os("CI").is_some() {
        return Err(Failure(format!("{what}, and CI leaves no check out")));
    }
    println!("xtask: LEFT OUT, the report in a browser: {what}");
    Ok(())
}

fn on_path(program: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    })
}
