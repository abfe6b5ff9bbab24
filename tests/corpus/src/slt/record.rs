//! The records of a file.

/// The name that `onlyif` and `skipif` know this engine by.
const ENGINE: &str = "mssql";

/// One record, with the line it begins on (from 1).
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// `statement ok | error`.
    Statement {
        /// It must succeed, otherwise fail.
        ok: bool,
        /// What.
        sql: String,
        /// Where.
        line: usize,
    },
    /// `query TYPES [sort] [label]`.
    Query {
        /// `T`, `I` or `R` for each column.
        types: Vec<u8>,
        /// How values are ordered before they are compared.
        sort: Sort,
        /// What.
        sql: String,
        /// The answer.
        expected: Expected,
        /// Where.
        line: usize,
    },
    /// Not for this engine.
    Skipped,
    /// `halt`.
    Halt,
}

/// How values are ordered before they are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// As they came.
    No,
    /// By rows.
    Rows,
    /// All values by themselves.
    Values,
}

/// What a query must answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Expected {
    /// The file does not say.
    Anything,
    /// These values.
    Values(Vec<String>),
    /// So many values with this MD5.
    Hash {
        /// How many.
        count: usize,
        /// In lower-case hexadecimal.
        md5: String,
    },
}

/// Reads a file.
pub fn records(text: &str) -> Vec<Record> {
    let mut found = Vec::new();
    let mut lines = text.lines().map(str::trim_end).enumerate().peekable();
    loop {
        while lines.next_if(|(_, line)| line.is_empty()).is_some() {}
        let mut record: Vec<(usize, &str)> = Vec::new();
        while let Some((at, line)) = lines.next_if(|(_, line)| !line.is_empty()) {
            if !line.starts_with('#') {
                record.push((at + 1, line));
            }
        }
        if record.is_empty() {
            if lines.peek().is_none() {
                return found;
            }
            continue;
        }
        if let Some(record) = read(&record) {
            found.push(record);
        }
    }
}

/// None: a record that says nothing to this runner (`hash-threshold`).
fn read(lines: &[(usize, &str)]) -> Option<Record> {
    let mut lines = lines;
    let mut runs = true;
    while let [(_, line), rest @ ..] = lines {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("onlyif") => runs &= words.next() == Some(ENGINE),
            Some("skipif") => runs &= words.next() != Some(ENGINE),
            _ => break,
        }
        lines = rest;
    }
    let [(line, head), body @ ..] = lines else { return None };
    let mut words = head.split_whitespace();
    let kind = words.next()?;
    if !matches!(kind, "statement" | "query" | "halt") {
        return None;
    }
    if !runs {
        // `onlyif mysql / halt` is no test that was left out.
        return (kind != "halt").then_some(Record::Skipped);
    }
    let text = |lines: &[(usize, &str)]| {
        lines.iter().map(|(_, line)| *line).collect::<Vec<_>>().join("\n")
    };
    Some(match kind {
        "halt" => Record::Halt,
        "statement" => {
            Record::Statement { ok: words.next() != Some("error"), sql: text(body), line: *line }
        }
        _ => {
            let types = words.next().unwrap_or("").bytes().collect();
            let sort = match words.next() {
                Some("rowsort") => Sort::Rows,
                Some("valuesort") => Sort::Values,
                _ => Sort::No,
            };
            let end = body.iter().position(|(_, line)| *line == "----");
            let (sql, expected) = match end {
                None => (text(body), Expected::Anything),
                Some(end) => (text(&body[..end]), expected(&body[end + 1..])),
            };
            Record::Query { types, sort, sql, expected, line: *line }
        }
    })
}

fn expected(lines: &[(usize, &str)]) -> Expected {
    if let [(_, line)] = lines
        && let Some((count, md5)) = line.split_once(" values hashing to ")
        && let Ok(count) = count.parse()
    {
        return Expected::Hash { count, md5: md5.trim().to_owned() };
    }
    Expected::Values(lines.iter().map(|(_, line)| (*line).to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_every_kind() {
        let text = "hash-threshold 8\n\n\n# a comment\nstatement ok\nCREATE TABLE t(a\n# inside\nINTEGER)\n\n\
                    skipif mssql # no\nstatement error\nX\n\nonlyif mysql\nhalt\n\nonlyif mssql\n\
                    query IT rowsort l-1\nSELECT 1, 'a'\n----\n1\na\n\nquery I\nSELECT 2\n----\n\
                    9 values hashing to abc\n\nhalt\n";
        let query = |sort, sql: &str, types: &str, expected, line| Record::Query {
            types: types.bytes().collect(),
            sort,
            sql: sql.into(),
            expected,
            line,
        };
        assert_eq!(
            records(text),
            [
                Record::Statement { ok: true, sql: "CREATE TABLE t(a\nINTEGER)".into(), line: 5 },
                Record::Skipped,
                query(
                    Sort::Rows,
                    "SELECT 1, 'a'",
                    "IT",
                    Expected::Values(vec!["1".into(), "a".into()]),
                    18
                ),
                query(
                    Sort::No,
                    "SELECT 2",
                    "I",
                    Expected::Hash { count: 9, md5: "abc".into() },
                    24
                ),
                Record::Halt,
            ]
        );
    }
}
