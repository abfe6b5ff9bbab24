//! A query of TPC-DS, written in T-SQL, in the words of another engine.
//!
//! Only what the 99 queries say is known: TOP in the last SELECT, DATEADD of days, STDEV, `+` beside a literal text. NULL
//! sorts before all else in T-SQL, so each item of an ORDER BY says where it goes. Literals of these queries hold none of
//! the words that are looked for.

use crate::beside::Dialect;

/// A query in an engine's words.
pub fn spoken(query: &str, dialect: Dialect, maxdop: u32) -> String {
    if dialect == Dialect::Tsql {
        return format!("{query} option (maxdop {maxdop})");
    }
    let mut text = query.replace("stdev(", "stddev_samp(");
    text = text.replace("' + ", "' || ").replace(" + '", " || '");
    while let Some(at) = text.find("dateadd(") {
        let inner = at + "dateadd(".len();
        let end = inner + item_length(&text[inner..], &[]);
        let mut parts = text[inner..end].splitn(3, ", ");
        let mut part = || parts.next().unwrap_or_default().to_owned();
        let (unit, n, date) = (part(), part(), part());
        text.replace_range(at..=end, &format!("cast({date} + interval '{n} {unit}' as date)"));
    }
    let text = nulls_sorted(&text);
    match limit(&text) {
        Some((rest, n)) => format!("{rest} limit {n}"),
        None => text,
    }
}

/// The query without its TOP, and the rows that TOP let pass.
pub fn limit(query: &str) -> Option<(String, usize)> {
    let (before, behind) = query.split_once(" top ")?;
    let (n, rest) = behind.split_once(' ')?;
    Some((format!("{before} {rest}"), n.parse().ok()?))
}

/// Bytes up to the parenthesis that closes the one around the text, up to one of the words outside of parentheses, or all.
fn item_length(text: &str, words: &[&str]) -> usize {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return at,
            ')' => depth -= 1,
            _ if depth == 0 && words.iter().any(|word| text[at..].starts_with(word)) => return at,
            _ => {}
        }
    }
    text.len()
}

/// NULL is less than any value, in every ORDER BY.
fn nulls_sorted(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("order by ") {
        let (before, list) = rest.split_at(at + "order by ".len());
        out.push_str(before);
        let mut list = list;
        loop {
            let length = item_length(list, &[",", " rows between"]);
            let (item, behind) = list.split_at(length);
            out.push_str(item);
            out.push_str(if item.ends_with(" desc") { " nulls last" } else { " nulls first" });
            list = behind;
            match behind.strip_prefix(',') {
                Some(next) => {
                    out.push(',');
                    list = next;
                }
                None => break,
            }
        }
        rest = list;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &str, expected: &str) {
        assert_eq!(spoken(query, Dialect::Postgres, 1), expected);
    }

    #[test]
    fn words_of_other_dialects() {
        check("select top 3 a from t order by a", "select a from t order by a nulls first limit 3");
        check(
            "with c as (select a from t) select distinct top 5 a, 'x' + b from c order by f(a, b) desc, b",
            "with c as (select a from t) select distinct a, 'x' || b from c order by f(a, b) desc nulls last, b nulls \
             first limit 5",
        );
        check(
            "select a from t where d > dateadd(day, 5, t.e)",
            "select a from t where d > cast(t.e + interval '5 day' as date)",
        );
        check(
            "select sum(a) over (order by b rows between unbounded preceding and current row) from t",
            "select sum(a) over (order by b nulls first rows between unbounded preceding and current row) from t",
        );
    }
}
