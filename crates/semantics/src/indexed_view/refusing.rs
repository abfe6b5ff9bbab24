//! What is said of a view that cannot be indexed.
//!
//! Knows the words of the messages, and not when they are true.

use syntax::ast;

use crate::error::BindError;

/// A function of a user's.
pub struct UserFunction {
    pub id: i32,
    pub name: Box<str>,
    /// It gives the same for the same arguments.
    pub is_deterministic: bool,
}

/// How what cannot be indexed is said.
pub struct Refusing<'a> {
    pub line: u32,
    pub view: &'a str,
    /// With its schema and database.
    pub full: String,
    /// The functions of users that the text calls.
    pub functions: Vec<UserFunction>,
}

impl Refusing<'_> {
    /// Of severity 16, at the line of CREATE INDEX.
    pub fn error(&self, number: i32, text: impl Into<String>) -> BindError {
        BindError::new(number, 16, self.line, text)
    }

    /// `Cannot create index on view`, and why; the name in double quotes.
    pub fn refuse(&self, number: i32, why: impl std::fmt::Display) -> BindError {
        self.error(number, format!("Cannot create index on view \"{}\" {why}", self.full))
    }

    /// Some messages put the name into other quotes.
    pub fn refuse_in(&self, number: i32, why: impl std::fmt::Display) -> BindError {
        self.error(number, format!("Cannot create index on view '{}' {why}", self.full))
    }

    /// The same of the view's clustered index.
    pub fn clustered(&self, number: i32, index: &str, why: &str) -> BindError {
        let of = &self.full;
        let text =
            format!("Cannot create the clustered index \"{index}\" on view \"{of}\" because {why}");
        self.error(number, text)
    }

    /// A source of rows that is no table.
    pub fn source(&self, source: &ast::TableRef) -> BindError {
        use ast::TableRef as T;
        match source {
            T::Variable { name, .. } => self.refuse(
                10107,
                format!(
                    "because it uses table variable \"{}\". Consider not indexing this view or removing the reference to \
                     the table variable.",
                    name.name
                ),
            ),
            T::Derived { alias, .. } | T::Changed { alias, .. } => self.refuse(
                10109,
                format!(
                    "because it references derived table \"{}\" (defined by SELECT statement in FROM clause). Consider \
                     removing the reference to the derived table or not indexing the view.",
                    alias.value
                ),
            ),
            T::Pivot { .. } => self.refuse(
                10114,
                "because it uses the PIVOT operator. Consider not indexing this view.",
            ),
            T::Unpivot { .. } => self.refuse(
                10115,
                "because it uses the UNPIVOT operator. Consider not indexing this view.",
            ),
            T::Sampled { .. } => self.refuse(
                10102,
                "because it contains the TABLESAMPLE clause. Consider removing TABLESAMPLE or not indexing the view.",
            ),
            T::Changes(_) => self.refuse_in(10144, "because it uses the CHANGETABLE function."),
            T::Function { name, .. } if name.is_bare(ir::OPENROWSET) => self.refuse(
                10103,
                "because it uses OPENROWSET, OPENQUERY, or OPENDATASOURCE. Consider not indexing the view, or \
                 eliminating OPENQUERY, OPENROWSET, and OPENDATASOURCE.",
            ),
            T::Fulltext(_) => self.refuse(
                10104,
                "because it uses table-valued function CONTAINSTABLE or FREETEXTTABLE. Consider removing CONTAINSTABLE or \
                 FREETEXTTABLE or not indexing the view.",
            ),
            T::Function { name, .. } if name.is_bare(ir::OPENXML) => self.refuse(
                10105,
                "because it uses the OPENXML rowset provider. Consider removing OPENXML or not indexing the view.",
            ),
            T::Function { name, .. } => self.refuse(
                10129,
                format!(
                    "because it references the inline or multistatement table-valued function \"{name}\". Consider \
                     expanding the function definition by hand in the view definition, or not indexing the view."
                ),
            ),
            T::Named { .. } | T::Join { .. } => BindError::unsupported("this source", self.line),
        }
    }
}

impl Refusing<'_> {
    /// Of a function that the text calls, by its id.
    pub fn function(&self, id: i32) -> Option<&UserFunction> {
        self.functions.iter().find(|function| function.id == id)
    }

    /// 1949.
    pub fn nondeterministic(&self, function: &str) -> BindError {
        let name = function.split('(').next().unwrap_or(function).to_lowercase();
        let text = format!(
            "Cannot create index on view '{}'. The function '{name}' yields nondeterministic results. Use a deterministic \
             system function, or modify the user-defined function to return deterministic results.",
            self.full
        );
        self.error(1949, text)
    }

    /// 1963.
    pub fn imprecise_convert(&self) -> BindError {
        let text = format!(
            "Cannot create index on view \"{}\". The view contains a convert that is imprecise or non-deterministic.",
            self.full
        );
        self.error(1963, text)
    }
}
