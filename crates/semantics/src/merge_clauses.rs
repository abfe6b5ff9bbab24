//! The WHEN clauses of a MERGE: which actions may stand where, and in what order. Errors: 5324, 10710, 10711, 10714.
//!
//! Promise: clauses that pass here may be bound one by one, in the order in which they are written.
//!
//! Source: SQL Server's documentation of MERGE.

use syntax::ast;

use crate::error::{BindError, Result};

/// Which actions may stand where, and in what order: 5324, 10710, 10711, 10714.
pub fn check_clauses(clauses: &[ast::MergeClause]) -> Result<()> {
    for (i, clause) in clauses.iter().enumerate() {
        let line = clause.span.line.max(1);
        let shown = match clause.when {
            ast::MergeWhen::Matched => "WHEN MATCHED",
            ast::MergeWhen::NotMatched => "WHEN NOT MATCHED",
            ast::MergeWhen::NotMatchedBySource => "WHEN NOT MATCHED BY SOURCE",
        };
        let verb = verb(&clause.action);
        let insert = verb == "INSERT";
        if insert != (clause.when == ast::MergeWhen::NotMatched) {
            let number = if insert { 10711 } else { 10710 };
            return Err(BindError::new(
                number,
                15,
                line,
                format!(
                    "An action of type '{verb}' is not allowed in the '{shown}' clause of a MERGE \
                     statement."
                ),
            ));
        }
        for before in clauses[..i].iter().filter(|c| c.when == clause.when) {
            if before.condition.is_none() {
                return Err(BindError::new(
                    5324,
                    15,
                    line,
                    format!(
                        "In a MERGE statement, a '{shown}' clause with a search condition cannot \
                         appear after a '{shown}' clause with no search condition."
                    ),
                ));
            }
            if self::verb(&before.action) == verb {
                return Err(BindError::new(
                    10714,
                    15,
                    line,
                    format!(
                        "An action of type '{verb}' cannot appear more than once in a '{shown}' \
                         clause of a MERGE statement."
                    ),
                ));
            }
        }
    }
    Ok(())
}

fn verb(action: &ast::MergeAction) -> &'static str {
    match action {
        ast::MergeAction::Update(_) => "UPDATE",
        ast::MergeAction::Delete => "DELETE",
        ast::MergeAction::Insert { .. } => "INSERT",
    }
}
