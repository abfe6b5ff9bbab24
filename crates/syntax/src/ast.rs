//! The tree: what a T-SQL batch says, before anybody asks what it means.
//!
//! Names are as written (case kept, brackets and quotes taken off), nothing is resolved, nothing is
//! typed. Every statement, expression and name carries a [`Span`], whose line is the one that an
//! error message quotes. Trees own their text, so they outlive the batch they were read from.
//!
//! Depth is bounded by the parser ([`crate::MAX_DEPTH`]), so recursive walks need no guard.

mod audit;
mod bulk;
mod cursor;
mod ddl;
mod expr;
mod fulltext;
mod governor;
mod module;
mod partition;
mod policy;
mod query;
mod rare;
mod security;
mod sequence;
mod statement;
mod statistics;
mod tracking;

pub use audit::*;
pub use bulk::*;
pub use cursor::*;
pub use ddl::*;
pub use expr::*;
pub use fulltext::*;
pub use governor::*;
pub use module::*;
pub use partition::*;
pub use policy::*;
pub use query::*;
pub use rare::*;
pub use security::*;
pub use sequence::*;
pub use statement::*;
pub use statistics::*;
pub use tracking::*;

use runtime::task::Many;
use std::fmt;

/// Where a piece of text stands in its batch: bytes `start..end`, first byte on `line` (from 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub struct Span {
    /// Offset of the first byte in the batch.
    pub start: u32,
    /// Offset past the last byte.
    pub end: u32,
    /// Line of the first byte, from 1.
    pub line: u32,
}

impl Span {
    /// From the start of `self` to the end of `other`.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start, end: other.end.max(self.start), line: self.line }
    }

    /// The text that the span covers in `batch`, empty when it does not fit.
    pub fn text(self, batch: &str) -> &str {
        batch.get(self.start as usize..self.end as usize).unwrap_or("")
    }
}

/// A whole batch: what stands between two GO lines.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Batch {
    /// In order of the text.
    pub statements: Many<Statement>,
}

impl Batch {
    /// What in it is read and not carried out, by name, in order of the text; within blocks and bodies too.
    pub fn unsupported(&self) -> Vec<&str> {
        let mut found = Vec::new();
        for statement in &self.statements {
            statement.unsupported(&mut found);
        }
        found
    }
}

/// An identifier: table, column, alias, label, type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ident {
    /// As written, without brackets or quotes (`]]` undone).
    pub value: String,
    /// Written in brackets or double quotes: never a keyword.
    pub quoted: bool,
    /// Where.
    pub span: Span,
}

impl Ident {
    /// A regular identifier made by the program, not by a text.
    pub fn new(value: impl Into<String>) -> Ident {
        Ident { value: value.into(), quoted: false, span: Span::default() }
    }

    /// Same name, letters' case aside.
    pub fn is(&self, name: &str) -> bool {
        self.value.eq_ignore_ascii_case(name)
    }
}

impl fmt::Display for Ident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.value)
    }
}

/// A local variable, written with its `@` (`@v`, also the old `@@v` form where it is declared).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Variable {
    /// With the `@`, case as written; names match without regard to case.
    pub name: String,
    /// Where.
    pub span: Span,
}

/// `[server.][database.][schema.]name`; the middle parts may be missing (`db..t`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ObjectName {
    /// First of four parts.
    pub server: Option<Ident>,
    /// First of three parts.
    pub database: Option<Ident>,
    /// First of two parts.
    pub schema: Option<Ident>,
    /// The last part.
    pub name: Ident,
    /// The whole name.
    pub span: Span,
}

/// A name in brackets, as it can stand in a text.
pub fn bracketed(name: &str) -> String {
    format!("[{}]", name.replace(']', "]]"))
}

/// The same of a name with its schema.
pub fn bracketed_in(schema: &str, name: &str) -> String {
    format!("{}.{}", bracketed(schema), bracketed(name))
}

impl ObjectName {
    /// The name in front of the last part, of what that is a part of: an index's or a column's table.
    pub fn whole(&self) -> Option<ObjectName> {
        let (schema, name) = (self.database.clone(), self.schema.clone()?);
        Some(ObjectName { database: None, schema, name, ..self.clone() })
    }

    /// Every part that is given in brackets, with the dots of those between them that are not.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for part in [&self.server, &self.database, &self.schema] {
            match part {
                Some(part) => text += &(bracketed(&part.value) + "."),
                None if !text.is_empty() => text.push('.'),
                None => {}
            }
        }
        text + &bracketed(&self.name.value)
    }

    /// A name of one part.
    pub fn bare(name: Ident) -> ObjectName {
        let span = name.span;
        ObjectName { server: None, database: None, schema: None, name, span }
    }

    /// One part only, equal to `name` without regard to case.
    pub fn is_bare(&self, name: &str) -> bool {
        self.schema.is_none()
            && self.database.is_none()
            && self.server.is_none()
            && self.name.is(name)
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [self.server.as_ref(), self.database.as_ref(), self.schema.as_ref()];
        let mut begun = false;
        for part in parts {
            match part {
                Some(ident) => {
                    begun = true;
                    write!(f, "{ident}.")?;
                }
                None if begun => f.write_str(".")?,
                None => {}
            }
        }
        write!(f, "{}", self.name)
    }
}

/// A type as written: `char(111)`, `[decimal](18, 2)`, `varchar(max)`, `double precision`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeName {
    /// The last part of the name, lower case, synonyms of several words joined by one blank
    /// (`double precision`, `character varying`, `national char`); synonyms are not resolved.
    pub name: String,
    /// Schema, where one was written (`dbo.MyType`, `sys.int`).
    pub schema: Option<Ident>,
    /// Length, or precision and scale.
    pub args: Vec<TypeArg>,
    /// The schema collection of an xml.
    pub xml: Option<Box<XmlOf>>,
    /// Where.
    pub span: Span,
}

/// `([CONTENT | DOCUMENT] collection)` behind xml.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XmlOf {
    /// DOCUMENT.
    pub document: bool,
    /// The schema collection.
    pub collection: ObjectName,
}

/// One argument of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeArg {
    /// `(n)`.
    Number(u32),
    /// `(max)`.
    Max,
}
