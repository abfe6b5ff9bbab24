//! Views that are asked for and have no rows here, as on a SQL Server where nobody has used the feature: query store,
//! extended events, the tables of SQL Server Agent, mail and policies in msdb.
//!
//! They are data, in `empty_views.txt`: a name at the beginning of a line (with a function's types of arguments), its columns
//! below it, each `name type` or
//! `name type not null`, divided by commas; `--` begins a comment. Columns and types: SQL Server's documentation of each
//! view. Invariant: the text holds no type that is not one (a test reads it).

use crate::context::Context;
use crate::declare::{ColumnFacts, Declared};
use executor::SqlError;
use std::sync::LazyLock;
use types::{Len, SqlType, Value};

/// A view without rows.
#[derive(Debug)]
pub struct Empty {
    name: &'static str,
    params: Option<&'static [SqlType]>,
    columns: Vec<ColumnFacts>,
}

impl Declared for Empty {
    fn name(&self) -> &'static str {
        self.name
    }

    fn params(&self) -> Option<&'static [SqlType]> {
        self.params
    }

    fn columns(&self) -> Vec<ColumnFacts> {
        self.columns.clone()
    }

    fn rows(&self, _: &Context<'_>, _: &[Value]) -> Result<Vec<Vec<Value>>, SqlError> {
        Ok(Vec::new())
    }
}

/// All of them.
pub fn all() -> &'static [Empty] {
    static ALL: LazyLock<Vec<Empty>> = LazyLock::new(|| read(include_str!("empty_views.txt")));
    &ALL
}

/// What the text says; columns that it misspells are left out.
fn read(text: &'static str) -> Vec<Empty> {
    let mut all: Vec<Empty> = Vec::new();
    for line in text.lines() {
        let line = line.split_once("--").map_or(line, |(before, _)| before);
        if line.trim().is_empty() {
            continue;
        }
        if !line.starts_with(' ') {
            let (name, params) = match line.trim().split_once('(') {
                None => (line.trim(), None),
                Some((name, types)) => (name, Some(params(types))),
            };
            all.push(Empty { name, params, columns: Vec::new() });
        } else if let Some(view) = all.last_mut() {
            view.columns.extend(columns(line).flatten());
        }
    }
    all
}

/// The types of a function's arguments, up to the closing parenthesis.
fn params(types: &'static str) -> &'static [SqlType] {
    let types = types.trim_end_matches(')').split(',').map(str::trim);
    let types: Vec<SqlType> = types.filter_map(sql_type).collect();
    // They live as long as the list of views, which is forever.
    Vec::leak(types)
}

fn columns(line: &'static str) -> impl Iterator<Item = Option<ColumnFacts>> {
    line.split(',').map(str::trim).filter(|column| !column.is_empty()).map(column)
}

fn column(text: &'static str) -> Option<ColumnFacts> {
    let (text, nullable) = match text.strip_suffix(" not null") {
        Some(text) => (text, false),
        None => (text, true),
    };
    let (name, ty) = text.rsplit_once(' ')?;
    Some(ColumnFacts { name, ty: sql_type(ty)?, nullable })
}

/// `nvarchar(60)`, `numeric(25;0)`.
fn sql_type(text: &str) -> Option<SqlType> {
    let (name, args) = text.split_once('(').unwrap_or((text, ""));
    let args = args.trim_end_matches(')').split(';').filter(|arg| !arg.is_empty());
    let args: Option<Vec<Len>> = args
        .map(|arg| if arg == "max" { Some(Len::Max) } else { arg.parse().ok().map(Len::N) })
        .collect();
    SqlType::from_name(name, &args?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_a_type() {
        let text = include_str!("empty_views.txt");
        for line in text.lines().filter(|line| line.starts_with(' ')) {
            let line = line.split_once("--").map_or(line, |(before, _)| before);
            for (found, written) in columns(line).zip(line.split(',')) {
                assert!(found.is_some(), "{written}");
            }
        }
        assert!(all().iter().all(|view| !view.columns.is_empty() && view.name.contains('.')));
    }
}
