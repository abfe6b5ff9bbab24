//! The table in docs/suites.md: a row a suite, in the order of [`super::table::SUITES`].

use std::collections::BTreeMap;
use std::fs;

use super::Tally;
use super::table::{SUITES, Suite};
use crate::run::{Failure, workspace};

const PAGE: &str = "docs/suites.md";
const BEGIN: &str = "<!-- results -->";
const END: &str = "<!-- end of results -->";

/// Replaces the row of one suite, and leaves the others.
pub fn write(suite: &Suite, version: &str, tally: &Tally) -> Result<(), Failure> {
    let path = workspace().join(PAGE);
    let failure = |error: std::io::Error| Failure(format!("{PAGE}: {error}"));
    let text = fs::read_to_string(&path).map_err(failure)?;
    let row = format!(
        "| `{}` | {} | {version} | {} | {} | {} | {} | {} | {:.1}% |",
        suite.name,
        suite.platform,
        tally.passed,
        tally.failed,
        tally.skipped,
        tally.differs,
        tally.outside,
        tally.share()
    );
    let Some(text) = replaced(&text, suite.name, &row) else {
        return Err(Failure(format!("{PAGE} has no place between {BEGIN} and {END}")));
    };
    fs::write(&path, text).map_err(failure)
}

fn replaced(page: &str, name: &str, row: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (table, after) = rest.split_once(END)?;
    let mut rows: BTreeMap<usize, &str> = BTreeMap::new();
    let mut head = Vec::new();
    for line in table.trim().lines() {
        let named =
            SUITES.iter().position(|suite| line.starts_with(&format!("| `{}` |", suite.name)));
        match named {
            Some(place) => drop(rows.insert(place, line)),
            // A suite that is in the table no more leaves the page too.
            None if line.starts_with("| `") => {}
            None => head.push(line),
        }
    }
    rows.insert(SUITES.iter().position(|suite| suite.name == name)?, row);
    let lines: Vec<&str> = head.into_iter().chain(rows.into_values()).collect();
    Some(format!("{before}{BEGIN}\n{}\n{END}{after}", lines.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_replaced_and_the_others_stay() {
        let (first, second) = (SUITES[0].name, SUITES[1].name);
        let page =
            format!("a\n{BEGIN}\n| n |\n| - |\n| `{second}` | old |\n| `gone` | x |\n{END}\nb\n");
        let page = replaced(&page, first, &format!("| `{first}` | new |")).unwrap();
        let page = replaced(&page, second, &format!("| `{second}` | new |")).unwrap();
        let rows = format!("| n |\n| - |\n| `{first}` | new |\n| `{second}` | new |");
        assert_eq!(page, format!("a\n{BEGIN}\n{rows}\n{END}\nb\n"));
    }
}
