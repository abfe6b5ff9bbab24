//! Outputs against Babelfish's expected files, batch by batch.
//!
//! Promise: [`compare`] counts as the lenient script does that Babelfish's outputs are judged by: a batch is informative
//! when something is expected of it, and agrees when its result sets (types and rows), row counts and the places of its
//! errors are the same; messages do not count. What `apart` finds to be Babelfish's own is counted in both ways.

use super::apart::{self, Apart};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What a batch answered.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    /// A line of types, then the rows.
    Set(Vec<String>),
    Count(String),
    /// The error's number.
    Error(String),
}

impl Part {
    fn agrees(&self, other: &Part) -> bool {
        matches!((self, other), (Part::Error(_), Part::Error(_))) || self == other
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Batch {
    pub sql: String,
    pub answer: Vec<Part>,
}

/// Prints both shares, and writes what is left to `rest.txt` beside the outputs.
///
/// `names` are all files that ran, of which those `listed` count; the others say what was made.
pub(super) fn compare(
    names: &[String],
    listed: &[String],
    out: &Path,
    expected: &Path,
) -> io::Result<()> {
    let files = crate::script::find(expected, &["out"], &[])?;
    // Other files of the same name are for servers of another collation.
    let direct: BTreeMap<String, PathBuf> = files
        .into_iter()
        .filter(|path| path.parent() == Some(expected))
        .filter_map(|path| Some((path.file_stem()?.to_str()?.to_owned(), path)))
        .collect();
    let read = |path: &Path| -> io::Result<Vec<Batch>> {
        Ok(parse(&String::from_utf8_lossy(&fs::read(path)?)))
    };
    let mut apart = Apart::default();
    let mut pairs = Vec::new();
    for name in names {
        let ours = out.join(format!("{name}.out"));
        if !ours.exists() {
            continue;
        }
        let ours = read(&ours)?;
        ours.iter().for_each(|batch| apart.learn(&batch.sql));
        match direct.get(name) {
            Some(path) if listed.contains(name) => pairs.push((name, true, read(path)?, ours)),
            _ if listed.contains(name) => {}
            _ => pairs.push((name, false, ours.clone(), ours)),
        }
    }
    pairs.sort_by_key(|(name, ..)| (super::base(name), super::phase(name)));
    let (mut raw, mut kept) = (Share::default(), Share::default());
    let mut reasons: BTreeMap<&str, Share> = BTreeMap::new();
    let mut rest = String::new();
    for (name, counts, theirs, ours) in &pairs {
        for (their, our) in theirs.iter().zip(ours) {
            let reason = apart.reason(&super::base(name), their, our);
            if their.answer.is_empty() || !counts {
                continue;
            }
            let agrees = agree(&their.answer, &our.answer);
            raw.add(agrees);
            match reason {
                Some(reason) => reasons.entry(reason).or_default().add(agrees),
                None => {
                    kept.add(agrees);
                    if !agrees {
                        let _ = writeln!(
                            rest,
                            "==== {name}\n{}\n-- expected: {:?}\n-- here: {:?}\n",
                            their.sql, their.answer, our.answer
                        );
                    }
                }
            }
        }
    }
    fs::write(out.join("rest.txt"), rest)?;
    println!("all informative batches: {raw}");
    println!("set apart, by rule (of them agree):");
    for (rule, text) in apart::RULES {
        let share = reasons.remove(rule).unwrap_or_default();
        println!("{:>6} ({:>4})  {rule}: {text}", share.of, share.agree);
    }
    println!("the others: {kept}");
    Ok(())
}

pub(super) fn agree(theirs: &[Part], ours: &[Part]) -> bool {
    theirs.len() == ours.len() && theirs.iter().zip(ours).all(|(a, b)| a.agrees(b))
}

#[derive(Default)]
struct Share {
    of: usize,
    agree: usize,
}

impl Share {
    fn add(&mut self, agrees: bool) {
        self.of += 1;
        self.agree += usize::from(agrees);
    }
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let percent = 100.0 * self.agree as f64 / self.of.max(1) as f64;
        write!(f, "{} of {} agree ({percent:.1}%)", self.agree, self.of)
    }
}

/// The batches of an output: text up to a line GO, then its answer.
pub(super) fn parse(text: &str) -> Vec<Batch> {
    let mut batches = Vec::new();
    let mut sql: Vec<&str> = Vec::new();
    let mut current: Option<Batch> = None;
    let mut set: Option<Vec<String>> = None;
    for line in text.lines() {
        let line = line.trim_end_matches('\r');
        if let Some(rows) = &mut set {
            // A set that fails has no end.
            if !line.starts_with("~~END~~") && !line.starts_with("~~ERROR") {
                rows.push(line.to_owned());
                continue;
            }
            let rows = set.take().unwrap_or_default();
            if let Some(batch) = &mut current {
                batch.answer.push(Part::Set(rows));
            }
            if line.starts_with("~~END~~") {
                continue;
            }
        }
        let between = |start: &str, end: &str| {
            line.strip_prefix(start).and_then(|rest| rest.strip_suffix(end)).map(str::to_owned)
        };
        if line.starts_with("~~START~~") {
            set = Some(Vec::new());
        } else if let Some(count) = between("~~ROW COUNT: ", "~~") {
            current.iter_mut().for_each(|batch| batch.answer.push(Part::Count(count.clone())));
        } else if let Some(number) = between("~~ERROR (Code: ", ")~~") {
            current.iter_mut().for_each(|batch| batch.answer.push(Part::Error(number.clone())));
        } else if line.starts_with("~~") || line.trim().is_empty() {
            if !sql.is_empty() && !line.starts_with("~~") {
                sql.push(line);
            }
        } else if line.trim().eq_ignore_ascii_case("go") {
            batches.extend(current.take());
            current = Some(Batch { sql: sql.join("\n").trim().to_owned(), answer: Vec::new() });
            sql.clear();
        } else {
            batches.extend(current.take());
            sql.push(line);
        }
    }
    batches.extend(current);
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_read_by_batch() {
        let text = "SELECT 1\nGO\n~~START~~\nint\n1\n~~END~~\n\nDROP TABLE t\n\nGO\n~~ERROR (Code: 3701)~~\n\n\
                    ~~ERROR (Message: no table)~~\n\nINSERT t VALUES (1)\ngo\n~~ROW COUNT: 1~~\n\nPRINT 1\nGO\n";
        let batches = parse(text);
        let answers: Vec<_> = batches.iter().map(|batch| batch.answer.clone()).collect();
        assert_eq!(batches[1].sql, "DROP TABLE t");
        let set = Part::Set(vec!["int".into(), "1".into()]);
        let expected =
            [vec![set], vec![Part::Error("3701".into())], vec![Part::Count("1".into())], vec![]];
        assert_eq!(answers, expected);
        assert!(agree(&answers[1], &[Part::Error("208".into())]));
        assert!(!agree(&answers[0], &answers[2]));
    }
}
