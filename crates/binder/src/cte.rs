//! Common table expressions: WITH put in sight, and what a name of one stands for.
//!
//! Promise: an expression is bound anew wherever it is named, in the sight that it had where it was written: it sees those
//! before it, and neither the columns nor the sources around its name. One that names itself is bound in
//! [`crate::recursive`]. Errors: 8623.

use ir::Query;
use syntax::ast;

use crate::context::*;
use semantics::tree::names_in;
use semantics::{BindError, Result};

impl Binder<'_> {
    pub fn push_ctes(&mut self, with: &[ast::Cte]) {
        for cte in with {
            let def = CteDef {
                cte: cte.clone().into(),
                visible: self.ctes.len(),
                scopes: self.scopes.len(),
            };
            self.ctes.push(def);
        }
    }

    pub fn find_cte(&self, name: &str) -> Option<usize> {
        self.ctes.iter().rposition(|c| catalog::same_name(&c.cte.name.value, name))
    }

    /// A reference to a common table expression: its query bound anew, in the sight it had where it
    /// was written.
    #[inline(never)]
    pub fn cte(&mut self, index: usize, alias: &ast::Ident) -> Result<Source> {
        let bound = self.deeper(1, |b| b.cte_query(index))?;
        let cte = self.ctes[index].cte.clone();
        self.expose_cte(bound, &cte, alias)
    }

    #[inline(never)]
    fn cte_query(&mut self, index: usize) -> Result<Query> {
        let def = self.ctes[index].clone();
        self.unfolded += 1;
        if self.unfolded > UNFOLDED_MAX {
            return Err(self.too_complex());
        }
        let recursive = names_in(&def.cte.query.body, &def.cte.name.value);
        let scopes = self.scopes.split_off(def.scopes.min(self.scopes.len()));
        let hidden = self.ctes.split_off(def.visible);
        let selects = std::mem::take(&mut self.selects);
        let around = self.recursion.take();
        let bound = match recursive {
            true => self.placed_below(|b| b.recursive_cte(&def.cte)),
            false => self.derived(&def.cte.query, def.cte.name.span.line),
        };
        self.recursion = around;
        self.selects = selects;
        self.ctes.extend(hidden);
        self.scopes.extend(scopes);
        bound
    }

    #[cold]
    fn too_complex(&self) -> BindError {
        BindError::new(
            8623,
            16,
            self.line,
            "The query processor ran out of internal resources and could not produce a query plan. \
             This is a rare event and only expected for extremely complex queries or queries that \
             reference a very large number of tables or partitions. Please simplify the query.",
        )
    }

    /// The query of a common table expression as a table: 8155.
    #[inline(never)]
    fn expose_cte(&mut self, bound: Query, cte: &ast::Cte, alias: &ast::Ident) -> Result<Source> {
        self.expose_as(bound, &alias.value, &cte.name.value, &cte.columns)
    }
}
