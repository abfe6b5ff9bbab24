//! What is known of single tests: `tests/suites/expected/NAME.txt`.
//!
//! A line is `differs TEST # reason` (our answer is not the one the test wants) or `outside TEST # reason` (what it
//! wants is not the server's to give: Windows, the CLR, the internet, a second server, a fault of the test itself or
//! of the driver, which real servers meet too). `*` in TEST stands for any text. Only the first kind counts against us.

use std::path::Path;

use crate::run::Failure;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Differs,
    Outside,
}

pub struct Expectation {
    pub kind: Kind,
    pub pattern: String,
}

/// An absent file expects that every test passes.
pub fn read(path: &Path) -> Result<Vec<Expectation>, Failure> {
    match std::fs::read_to_string(path) {
        Ok(text) => parse(&text)
            .map_err(|line| Failure(format!("{}: what does this say: {line:?}", path.display()))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(Failure(format!("{}: {error}", path.display()))),
    }
}

fn parse(text: &str) -> Result<Vec<Expectation>, String> {
    let lines =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (kind, rest) = line.split_once(' ').ok_or(line)?;
            let kind = match kind {
                "differs" => Kind::Differs,
                "outside" => Kind::Outside,
                _ => return Err(line.to_owned()),
            };
            match rest.split_once(" # ") {
                Some((test, reason)) if !test.trim().is_empty() && !reason.trim().is_empty() => {
                    Ok(Expectation { kind, pattern: test.trim().to_owned() })
                }
                _ => Err(line.to_owned()),
            }
        })
        .collect()
}

/// Whether a text is of a pattern in which `*` stands for any text.
pub fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        for (pattern, text, wanted) in [
            ("a.b", "a.b", true),
            ("a.b", "a.bc", false),
            ("a*", "abc", true),
            ("*c", "abc", true),
            ("a*b*c", "a1b2c", true),
            ("a*b*c", "a1c2b", false),
            ("ab*ba", "aba", false),
            ("*", "", true),
        ] {
            assert_eq!(matches(pattern, text), wanted, "{pattern} {text}");
        }
    }

    #[test]
    fn a_line_without_a_reason_is_refused() {
        let good = parse("# note\n\ndiffers T.a[x y] # because\noutside T.* # Windows\n").unwrap();
        assert_eq!(good.len(), 2);
        assert_eq!((good[0].kind, good[0].pattern.as_str()), (Kind::Differs, "T.a[x y]"));
        assert_eq!(good[1].kind, Kind::Outside);
        assert!(parse("differs T.a").is_err());
        assert!(parse("differs T.a # ").is_err());
        assert!(parse("maybe T.a # x").is_err());
    }
}
