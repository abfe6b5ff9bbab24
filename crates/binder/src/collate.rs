//! COLLATE in expressions: which rule a comparison goes by.
//!
//! A column, variable or constant has the database's collation, the only one that is kept. COLLATE makes an expression
//! explicit; that holds for what is computed from it. Where an explicit text meets another, both go by its rule; two
//! explicit ones that differ are 468. Source: SQL documentation, "Collation precedence".

use std::collections::HashMap;

use types::Value;
use types::collation::Rule;

use crate::context::Binder;
use crate::error::{BindError, Result};
use crate::functions::call;
use crate::ir::*;

/// Columns of select lists that COLLATE gave a rule.
pub(crate) type Collated = HashMap<ColId, (Rule, String)>;

impl Binder<'_> {
    /// Keeps in mind that a column of the select list has a collation of its own.
    #[inline(never)]
    pub(crate) fn note_collation(&mut self, id: ColId, e: &Expr) {
        if let Some(found) = explicit(e, &self.collated) {
            self.collated.insert(id, found);
        }
    }

    /// `expr COLLATE name`: 447, 448.
    #[inline(never)]
    pub(crate) fn collate(&self, input: Expr, name: &str, line: u32) -> Result<Expr> {
        if !input.ty.is_character() && !input.is_null_constant() {
            return Err(BindError::new(
                447,
                16,
                line,
                format!(
                    "Expression type {} is invalid for COLLATE clause.",
                    input.ty.message_name()
                ),
            ));
        }
        let Some(rule) = Rule::of_name(name) else {
            return Err(match looks_like_collation(name) {
                true => BindError::unsupported(format!("COLLATE {name}"), line),
                false => BindError::new(448, 16, line, format!("Invalid collation '{name}'.")),
            });
        };
        // What is usual anyway changes nothing, so that an index may still be used.
        let usual = rule == Rule::CiAs && explicit(&input, &self.collated).is_none();
        let shown = name.eq_ignore_ascii_case("DATABASE_DEFAULT");
        if input.is_null_constant() || usual && (shown || is_usual(name)) {
            return Ok(input);
        }
        Ok(wrap(input, rule, name))
    }

    /// COLLATE of a column: any collation that compares as the database's does; others are refused by name, since keys
    /// and indexes know the one order only. 448.
    pub(crate) fn column_collation(
        &self,
        name: Option<&syntax::ast::Ident>,
        line: u32,
    ) -> Result<()> {
        let Some(name) = name else { return Ok(()) };
        match Rule::of_name(&name.value) {
            Some(Rule::CiAs) => Ok(()),
            None if !looks_like_collation(&name.value) => {
                let text = format!("Invalid collation '{}'.", name.value);
                Err(BindError::new(448, 16, line, text))
            }
            _ => Err(BindError::unsupported(format!("COLLATE {} of a column", name.value), line)),
        }
    }

    /// Two texts that meet in `operation` ("equal to"), under one rule; 468.
    #[inline(never)]
    pub(crate) fn one_rule(
        &self,
        left: Expr,
        right: Expr,
        operation: &str,
    ) -> Result<(Expr, Expr)> {
        if !(left.ty.is_character() && right.ty.is_character()) {
            return Ok((left, right));
        }
        let chosen = match (explicit(&left, &self.collated), explicit(&right, &self.collated)) {
            (None, None) => return Ok((left, right)),
            (Some((_, a)), Some((_, b))) if !a.eq_ignore_ascii_case(&b) => {
                return Err(self.error(
                    468,
                    format!(
                        "Cannot resolve the collation conflict between \"{b}\" and \"{a}\" in the \
                         {operation} operation."
                    ),
                ));
            }
            (Some(found), _) | (None, Some(found)) => found,
        };
        let (rule, name) = chosen;
        Ok((wrap(left, rule, &name), wrap(right, rule, &name)))
    }
}

/// The rule and name that COLLATE gave an expression, seen through what is computed from it; `columns` are those of
/// derived tables that have one.
fn explicit(e: &Expr, columns: &Collated) -> Option<(Rule, String)> {
    match &e.kind {
        ExprKind::Col(id) if !columns.is_empty() => columns.get(id).cloned(),
        ExprKind::Func { func: FuncId::Collate(rule), args } => {
            let name = match &args[1].kind {
                ExprKind::Const(Value::Str(name)) => name.to_string(),
                _ => String::new(),
            };
            Some((*rule, name))
        }
        _ if !e.ty.is_character() => None,
        ExprKind::Func { args, .. } => args.iter().find_map(|e| explicit(e, columns)),
        ExprKind::Concat { left, right } => {
            explicit(left, columns).or_else(|| explicit(right, columns))
        }
        ExprKind::Cast { input, .. } => explicit(input, columns),
        ExprKind::Case { branches, otherwise } => {
            let results = branches.iter().map(|(_, result)| result);
            results.chain(otherwise.as_deref()).find_map(|e| explicit(e, columns))
        }
        _ => None,
    }
}

/// The expression under the rule, once.
fn wrap(e: Expr, rule: Rule, name: &str) -> Expr {
    if matches!(&e.kind, ExprKind::Func { func: FuncId::Collate(r), .. } if *r == rule) {
        return e;
    }
    let (ty, nullable) = (e.ty, e.nullable);
    let name_type = types::SqlType::NVarChar(types::Len::N(128));
    let name = Expr::constant(Value::str(name), name_type);
    Expr { nullable, ..call(FuncId::Collate(rule), vec![e, name], ty) }
}

fn is_usual(name: &str) -> bool {
    name.eq_ignore_ascii_case("SQL_Latin1_General_CP1_CI_AS")
        || name.eq_ignore_ascii_case("CATALOG_DEFAULT")
}

/// A collation of another language: known to SQL Server, not here.
fn looks_like_collation(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    ["_BIN", "_BIN2", "_CI_AS", "_CS_AS", "_CI_AI", "_CS_AI"].iter().any(|end| {
        let found = upper.find(end);
        found.is_some_and(|at| {
            let rest = &upper[at + end.len()..];
            at > 0 && (rest.is_empty() || rest.starts_with('_') || rest == "2")
        })
    })
}
