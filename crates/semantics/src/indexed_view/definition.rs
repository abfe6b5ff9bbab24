//! The text of a view whose rows are to be kept, and of the index that keeps them: what neither may say.
//!
//! Promise: a text is looked at as it is written, so that what it says in vain (a hint, DISTINCT) is told by its name.
//! Errors: 1939 to 1941, 1990, 10100 to 10121, 10142, 10610, 35305.

use catalog::{IndexSpec, ProcedureDef, TableDef};
use syntax::ast;

use super::refusing::Refusing;
use crate::error::{BindError, Result};

/// 1939.
pub fn check_bound_view(view: &ProcedureDef, of: &Refusing<'_>) -> Result<()> {
    if crate::native::has_option(view, "SCHEMABINDING") {
        return Ok(());
    }
    let why = "because the view is not schema bound.";
    Err(of.error(1939, format!("Cannot create index on view '{}' {why}", of.view)))
}

/// Another index of a view that has its clustered one.
pub fn check_further(
    spec: &IndexSpec,
    index: &ast::IndexDefinition,
    rows: &TableDef,
) -> Result<()> {
    let line = index.span.line.max(1);
    let full = format!("{}.{}", rows.schema, rows.name);
    let of = Refusing { line, view: &rows.name, full, functions: Vec::new() };
    check_options(spec, index, &of)?;
    if spec.clustered && spec.drop_existing {
        let what = "CREATE INDEX WITH DROP_EXISTING of a view's clustered index";
        return Err(BindError::unsupported(what, line));
    }
    Ok(())
}

/// 1940, 1941; and of any index of a view.
pub fn check_kind(spec: &IndexSpec, index: &ast::IndexDefinition, of: &Refusing<'_>) -> Result<()> {
    let view = of.view;
    if !spec.clustered && !index.columnstore && spec.filter.is_none() {
        let why = "It does not have a unique clustered index.";
        return Err(of.error(1940, format!("Cannot create index on view '{view}'. {why}")));
    }
    check_options(spec, index, of)?;
    if !spec.unique {
        let text = format!(
            "Cannot create nonunique clustered index on view '{view}' because only unique clustered indexes are allowed. \
             Consider creating unique clustered index instead."
        );
        return Err(of.error(1941, text));
    }
    Ok(())
}

/// 1990, 10610, 35305.
fn check_options(spec: &IndexSpec, index: &ast::IndexDefinition, of: &Refusing<'_>) -> Result<()> {
    let view = of.view;
    if index.columnstore || index.spatial.is_some() || index.xml.is_some() {
        let text = "The statement failed because a columnstore index cannot be created on a view. Consider creating a \
                    columnstore index on the base table or creating an index without the COLUMNSTORE keyword on the view.";
        return Err(match index.columnstore {
            true => of.error(35305, text),
            false => BindError::unsupported("a spatial index on a view", of.line),
        });
    }
    if spec.filegroup.as_ref().is_some_and(|space| !space.columns.is_empty()) {
        let what = "an index of a view on a partition scheme";
        return Err(BindError::unsupported(what, of.line));
    }
    if spec.filter.is_some() {
        let text = format!(
            "Filtered index '{}' cannot be created on object '{view}' because it is not a user table. Filtered indexes are \
             only supported on tables. If you are trying to create a filtered index on a view, consider creating an \
             indexed view with the filter expression incorporated in the view definition.",
            spec.name
        );
        return Err(of.error(10610, text));
    }
    if spec.ignore_dup_key {
        let text = "Cannot define an index on a view with ignore_dup_key index option. Remove ignore_dup_key option and \
                    verify that view definition does not allow duplicates, or do not index view.";
        return Err(of.error(1990, text));
    }
    Ok(())
}

/// 10100, 10101, 10117 to 10119, 10121.
pub fn check_select(select: &ast::Select, query: &ast::Query, of: &Refusing<'_>) -> Result<()> {
    if select.distinct {
        return Err(of.refuse(
            10100,
            "because it contains the DISTINCT keyword. Consider removing DISTINCT from the view or not indexing the view. \
             Alternatively, consider replacing DISTINCT with GROUP BY or COUNT_BIG(*) to simulate DISTINCT on grouping \
             columns.",
        ));
    }
    if select.top.is_some() || query.offset.is_some() {
        return Err(of.refuse(
            10101,
            "because it contains the TOP or OFFSET keyword. Consider removing the TOP or OFFSET or not indexing the view.",
        ));
    }
    if query.for_clause.is_some() {
        return Err(BindError::unsupported("an index on a view with FOR XML or FOR JSON", of.line));
    }
    if select.items.iter().any(|item| matches!(item, ast::SelectItem::Wildcard { .. })) {
        return Err(of.refuse(
            10117,
            "because the view uses the \"*\" operator to select columns. Consider referencing columns by name instead.",
        ));
    }
    if select.group_all {
        return Err(of.refuse(
            10118,
            "because it contains a GROUP BY ALL. Consider using a GROUP BY instead.",
        ));
    }
    if select.group_by.iter().any(|item| !matches!(item, ast::GroupItem::Expr(_))) {
        return Err(of.refuse(
            10119,
            "because it contains a CUBE, ROLLUP, or GROUPING SETS operator. Consider not indexing this view.",
        ));
    }
    if select.having.is_some() {
        return Err(of.refuse(
            10121,
            "because it contains a HAVING clause. Consider removing the HAVING clause.",
        ));
    }
    Ok(())
}

/// 10110, 10112, 10113, 10142.
pub fn check_join(kind: ast::JoinKind, hint: bool, of: &Refusing<'_>) -> Result<()> {
    use ast::JoinKind as J;
    Err(match kind {
        J::Left | J::Right | J::Full => of.refuse(
            10113,
            "because it uses a LEFT, RIGHT, or FULL OUTER join, and no OUTER joins are allowed in indexed views. Consider \
             using an INNER join instead.",
        ),
        J::OuterApply => of.refuse(
            10110,
            "because it contains an OUTER APPLY. Consider not indexing the view, or removing OUTER APPLY.",
        ),
        J::CrossApply => of.refuse(
            10142,
            "because it contains an APPLY. Consider not indexing the view, or removing APPLY.",
        ),
        J::Inner | J::Cross if hint => of.refuse_in(
            10112,
            "because it contains an INNER join that specifies a join hint. Consider removing the join hint.",
        ),
        J::Inner | J::Cross => return Ok(()),
    })
}
