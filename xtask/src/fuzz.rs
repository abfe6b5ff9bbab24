//! The fuzz targets that need neither nightly nor a fuzzing library: built once, then run two at a time, since each is
//! one thread and the time is what they are given.

use crate::run::{self, Failure, Step, cargo};

/// Package, example (or binary, of `outside`), and the target where it has several.
const TARGETS: &[(&str, &str, Option<&str>)] = &[
    ("syntax", "fuzz_parse", None),
    ("tds", "fuzz_tds", Some("packets")),
    ("tds", "fuzz_tds", Some("prelogin")),
    ("tds", "fuzz_tds", Some("login7")),
    ("tds", "fuzz_tds", Some("requests")),
    ("tds", "fuzz_tds", Some("tokens")),
    ("tds", "fuzz_tds", Some("bulk")),
    ("outside", "outside", Some("xml")),
    ("outside", "outside", Some("xquery")),
    ("outside", "outside", Some("json")),
    ("outside", "outside", Some("bulk")),
    ("outside", "outside", Some("format")),
    ("outside", "outside", Some("backup")),
    ("outside", "outside", Some("log")),
    ("outside", "outside", Some("certificate")),
];
const AT_A_TIME: usize = 2;

/// Runs each for so many seconds.
pub fn run(seconds: u64) -> Result<(), Failure> {
    for package in ["syntax", "tds"] {
        let example = if package == "syntax" { "fuzz_parse" } else { "fuzz_tds" };
        let build = ["build", "--release", "--quiet", "--package", package, "--example", example];
        cargo("the fuzz targets are built", &build).run()?;
    }
    let build = ["build", "--release", "--quiet", "--package", "outside"];
    cargo("the fuzz targets of files and documents are built", &build).run()?;
    for pair in TARGETS.chunks(AT_A_TIME) {
        std::thread::scope(|scope| {
            let started: Vec<_> = pair
                .iter()
                .map(|&(package, example, target)| {
                    scope.spawn(move || {
                        let folder = run::target_directory().join("release");
                        let program = match package {
                            "outside" => folder.join(example),
                            _ => folder.join("examples").join(example),
                        };
                        let what = target
                            .map_or("the parser against mutated text".to_owned(), |t| {
                                format!("{t} of {package} against mutated bytes")
                            });
                        Step::new(&what, &program.display().to_string())
                            .args(target)
                            .args(["--seconds"])
                            .arg(seconds.to_string())
                            .run()
                    })
                })
                .collect();
            let ended = started.into_iter().map(|step| {
                step.join().unwrap_or_else(|_| Err(Failure("a fuzz run panicked".to_owned())))
            });
            // All are waited for, also after a failure.
            ended.fold(Ok(()), Result::and)
        })?;
    }
    Ok(())
}
