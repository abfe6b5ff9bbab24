//! The condition of a filtered index: columns of the table compared with constants, all of which must hold.
//!
//! Source: SQL documentation, "CREATE INDEX", WHERE <filter_predicate>.

use crate::context::Binder;
use semantics::{BindError, Result};
use syntax::ast;
use types::SqlType;

impl Binder<'_> {
    /// The text of a filter that is to be kept: its literals without N have what the database's page has.
    pub(super) fn kept_filter(&self, filter: &ast::Expr, text: &str) -> Box<str> {
        let mut kept = filter.clone();
        match self.bring_to_page(&mut kept) {
            true => syntax::filter_text(&kept, text).into(),
            false => text.into(),
        }
    }

    /// Whether that changed a literal.
    fn bring_to_page(&self, e: &mut ast::Expr) -> bool {
        use ast::ExprKind as K;
        match &mut e.kind {
            K::Literal(ast::Literal::String { value, national: false }) => {
                let kept = self.in_usual_page(value);
                let changed = kept != *value;
                *value = kept;
                changed
            }
            K::Binary { left, right, .. } => self.bring_to_page(left) | self.bring_to_page(right),
            K::InList { list, .. } => {
                list.iter_mut().fold(false, |changed, e| self.bring_to_page(e) | changed)
            }
            K::Unary { expr, .. } => self.bring_to_page(expr),
            K::Cast(cast) => self.bring_to_page(&mut cast.expr),
            _ => false,
        }
    }

    /// 10735 for a condition that is none of a filter, 10609 for one over a computed column.
    pub(super) fn filter(
        &mut self,
        index: &str,
        table: &str,
        columns: &[(&str, SqlType, bool)],
        is_computed: &dyn Fn(usize) -> bool,
        filter: &ast::Expr,
    ) -> Result<()> {
        let bound = self.over_row(table, columns, |b| b.condition(filter))?;
        let mut read = Vec::new();
        bound.columns(&mut read);
        if let Some(id) = read.iter().find(|id| is_computed(id.0 as usize)) {
            let text = format!(
                "Filtered index '{index}' cannot be created on table '{table}' because the column '{}' in the filter \
                 expression is a computed column. Rewrite the filter expression so that it does not include this column.",
                columns[id.0 as usize].0
            );
            return Err(BindError::new(10609, 16, self.line, text));
        }
        if compares_with_constants(filter) {
            return Ok(());
        }
        let text =
            format!("Incorrect WHERE clause for filtered index '{index}' on table '{table}'.");
        Err(BindError::new(10735, 15, self.line, text))
    }
}

/// The grammar of a filtered index's condition: no column but on the left, no function, no OR.
fn compares_with_constants(e: &ast::Expr) -> bool {
    use ast::ExprKind as K;
    let is_column = |e: &ast::Expr| matches!(e.kind, K::Column(_));
    match &e.kind {
        K::Binary { op: ast::BinaryOp::And, left, right } => {
            compares_with_constants(left) && compares_with_constants(right)
        }
        K::Binary { op, left, right } => {
            op.is_comparison() && is_column(left) && is_constant(right)
        }
        K::InList { negated: false, expr, list } => is_column(expr) && list.iter().all(is_constant),
        K::IsNull { expr, .. } => is_column(expr),
        _ => false,
    }
}

/// A literal, with a sign or converted.
fn is_constant(e: &ast::Expr) -> bool {
    match &e.kind {
        ast::ExprKind::Literal(_) => true,
        ast::ExprKind::Unary { op: ast::UnaryOp::Minus | ast::UnaryOp::Plus, expr } => {
            is_constant(expr)
        }
        ast::ExprKind::Cast(cast) => !cast.try_ && !cast.parse && is_constant(&cast.expr),
        _ => false,
    }
}
