//! What a module's text names: for the views of dependencies.
//!
//! Promises: names come in the order of the text, those of common table expressions and of correlations (`UPDATE t ...
//! FROM x AS t`) left out; what cannot be parsed names nothing. A parse for any other purpose notes nothing.

use crate::ast::{Ident, ObjectName};
use crate::{LexOptions, parser};

/// As what something is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MentionKind {
    /// Rows are read from it: a table, a view, a synonym.
    Source,
    /// Rows of it are changed.
    Target,
    /// A function in FROM.
    TableFunction,
    /// A function with a schema in an expression (or a method of a column).
    Function,
    /// EXECUTE.
    Procedure,
    /// NEXT VALUE FOR.
    Sequence,
    /// A type of a variable, parameter or column, or in CAST and CONVERT.
    Type,
    /// A name without a qualifier in an expression: a column, mostly.
    Column,
}

/// A name, and as what.
#[derive(Clone, Debug, PartialEq)]
pub struct Mention {
    /// As what.
    pub kind: MentionKind,
    /// As it was written.
    pub name: ObjectName,
}

/// What a module names; nothing where its text does not parse.
pub fn mentions(text: &str, options: &LexOptions) -> Vec<Mention> {
    parser::mentions(text, options, false).unwrap_or_default()
}

/// What an expression or condition names, columns too.
pub fn expression_mentions(text: &str, options: &LexOptions) -> Vec<Mention> {
    parser::mentions(text, options, true).unwrap_or_default()
}

/// What a parser notes while it reads.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) found: Vec<Mention>,
    /// Names of common table expressions and correlations of the present statement.
    local: Vec<Local>,
}

#[derive(Debug)]
struct Local {
    name: Ident,
    /// A common table expression; else a correlation, which only the target of a change may name.
    is_query: bool,
}

/// Where a statement's notes begin.
pub(crate) type Mark = (usize, usize);

impl Notes {
    pub(crate) fn note(&mut self, kind: MentionKind, name: &ObjectName) {
        self.found.push(Mention { kind, name: name.clone() });
    }

    pub(crate) fn local(&mut self, name: &Ident, is_query: bool) {
        self.local.push(Local { name: name.clone(), is_query });
    }

    pub(crate) fn mark(&self) -> Mark {
        (self.found.len(), self.local.len())
    }

    /// A statement has ended: what it names by a name of its own is forgotten.
    pub(crate) fn settle(&mut self, mark: Mark) {
        let own = self.local.split_off(mark.1.min(self.local.len()));
        let of_statement = self.found.split_off(mark.0.min(self.found.len()));
        let kept = of_statement.into_iter().filter(|mention| {
            let bare = mention.name.schema.is_none() && mention.name.database.is_none();
            let named = |is_query: bool| {
                own.iter().any(|local| {
                    local.is_query == is_query
                        && local.name.value.eq_ignore_ascii_case(&mention.name.name.value)
                })
            };
            let is_local = match mention.kind {
                MentionKind::Source => named(true),
                MentionKind::Target => named(true) || named(false),
                _ => false,
            };
            !(bare && is_local)
        });
        self.found.extend(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let one = |m: Mention| {
            let parts = [m.name.database, m.name.schema, Some(m.name.name)];
            let parts: Vec<String> = parts.into_iter().flatten().map(|part| part.value).collect();
            format!("{:?} {}", m.kind, parts.join("."))
        };
        mentions(text, &LexOptions::default())
            .into_iter()
            .filter(|m| m.kind != MentionKind::Column)
            .map(one)
            .collect()
    }

    #[test]
    fn names_of_the_text_itself_are_left_out() {
        let text = "CREATE PROCEDURE p @a dbo.t1 AS
            WITH c AS (SELECT * FROM a JOIN db..b ON 1 = 1) SELECT dbo.f(x) FROM c, s.g(1) AS r;
            UPDATE x SET n = NEXT VALUE FOR s.q FROM t AS x;
            DELETE FROM u WHERE EXISTS (SELECT 1 FROM c);
            IF 1 = 1 BEGIN EXEC other.p2; INSERT i SELECT 1 FROM x END";
        assert_eq!(
            shown(text),
            [
                "Type dbo.t1",
                "Source a",
                "Source db.b",
                "Function dbo.f",
                "TableFunction s.g",
                "Sequence s.q",
                "Source t",
                "Target u",
                "Source c",
                "Procedure other.p2",
                "Target i",
                "Source x",
            ]
        );
        assert!(mentions("CREATE VIEW v AS SELEC", &LexOptions::default()).is_empty());
    }
}
