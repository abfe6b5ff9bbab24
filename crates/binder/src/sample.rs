//! TABLESAMPLE: which tables rows of some pages are read of, and how much.
//!
//! Promise: only a reading of a base table, filtered by its policies at most, has a sample. Its numbers are read in
//! [`semantics::table_sample`].
//!
//! Source: SQL Server's documentation of FROM, "Limiting Result Sets by Using TABLESAMPLE", messages 478, 480, 494.

use ir::*;
use syntax::ast;

use crate::context::*;
use semantics::table_sample::sample;
use semantics::{BindError, Result};

impl Binder<'_> {
    /// A source with TABLESAMPLE behind it: 476 to 480, 482, 494, 497.
    #[inline(never)]
    pub(crate) fn sampled(
        &mut self,
        table: &ast::TableRef,
        clause: &ast::TableSample,
    ) -> Result<Source> {
        let line = clause.span.line.max(1);
        let refused = |number, text: &str| Err(BindError::new(number, 16, line, text));
        let not_local = "The TABLESAMPLE clause can only be used with local tables.";
        if self.in_module {
            let text = "The TABLESAMPLE clause cannot be used in a view definition or inline table function definition.";
            return refused(478, text);
        }
        let name = match table {
            ast::TableRef::Named { name, time: None, .. } => name,
            ast::TableRef::Named { .. } => {
                return Err(BindError::unsupported("TABLESAMPLE with FOR SYSTEM_TIME", line));
            }
            ast::TableRef::Function { name, .. } => {
                let text = format!(
                    "The TABLESAMPLE clause cannot be used with the table function \"{name}\"."
                );
                return refused(480, &text);
            }
            _ => return refused(494, not_local),
        };
        let sample = sample(clause, &name.name.value)?;
        let mut source = self.table_ref(table)?;
        let mut rel = &mut source.rel;
        while let Rel::Filter { input, .. } = rel {
            rel = input;
        }
        match rel {
            Rel::Get(get) => get.sample = Some(sample),
            _ => return refused(494, not_local),
        }
        Ok(source)
    }
}
