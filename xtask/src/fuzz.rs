//! The fuzz targets that need neither nightly nor a fuzzing library: built once, then run two at a time, since each is
//! one thread and the time is what they are given.

use crate::build::Build;
use crate::run::{Failure, Step};

/// The package, and the target where its program has several.
const TARGETS: &[(&str, Option<&str>)] = &[
    ("syntax", None),
    ("tds", Some("packets")),
    ("tds", Some("prelogin")),
    ("tds", Some("login7")),
    ("tds", Some("requests")),
    ("tds", Some("tokens")),
    ("tds", Some("bulk")),
    ("outside", Some("xml")),
    ("outside", Some("xquery")),
    ("outside", Some("json")),
    ("outside", Some("bulk")),
    ("outside", Some("format")),
    ("outside", Some("backup")),
    ("outside", Some("log")),
    ("outside", Some("certificate")),
];
const AT_A_TIME: usize = 2;

/// Runs each for so many seconds.
pub fn run(build: Build, seconds: u64) -> Result<(), Failure> {
    let parser = build.example("syntax", "fuzz_parse")?;
    let wire = build.example("tds", "fuzz_tds")?;
    let outside = build.binary("outside", "outside")?;
    for pair in TARGETS.chunks(AT_A_TIME) {
        std::thread::scope(|scope| {
            let started: Vec<_> = pair
                .iter()
                .map(|&(package, target)| {
                    let program = match package {
                        "syntax" => &parser,
                        "tds" => &wire,
                        _ => &outside,
                    };
                    scope.spawn(move || {
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
