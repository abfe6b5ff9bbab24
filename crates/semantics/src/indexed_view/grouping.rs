//! GROUP BY of a view whose rows are kept: counts and sums, which a change adds to and takes from. Errors: 1976, 8660 to
//! 8662, 8668, 10125, 10126, 10136, 10138.

use catalog::{ColumnSpec, IndexSpec, same_name};
use ir::*;

use super::expressions::is_float;
use super::refusing::Refusing;
use crate::error::Result;

/// Columns, and what they are.
type Columns<'q> = &'q [(ColId, Expr)];

/// The grouping of a view (what rows are grouped by, and aggregates), and what its list makes of it.
fn grouping(bound: &Query) -> Option<(Columns<'_>, &[Aggregate], Columns<'_>)> {
    let mut rel = &bound.rel;
    if let Rel::Sort { input, .. } = rel {
        rel = input;
    }
    let Rel::Project { input, exprs } = rel else { return None };
    match &**input {
        Rel::Aggregate { group, aggs, .. } => Some((group, aggs, exprs)),
        _ => None,
    }
}

/// What each output column of a view with GROUP BY is; nothing without one. None of them: an expression over these.
pub fn view_parts(bound: &Query) -> Vec<Option<ViewPart>> {
    let Some((group, aggs, exprs)) = grouping(bound) else { return Vec::new() };
    let part = |column: &OutputColumn| {
        let (_, e) = exprs.iter().find(|(id, _)| *id == column.id)?;
        let ExprKind::Col(id) = e.kind else { return None };
        if group.iter().any(|(of, _)| *of == id) {
            return Some(ViewPart::Group);
        }
        let agg = aggs.iter().find(|agg| agg.out == id)?;
        match (agg.func, &agg.arg) {
            (AggFunc::CountBig, None) => Some(ViewPart::Count),
            (AggFunc::Sum, Some(_)) => Some(ViewPart::Sum),
            _ => None,
        }
    };
    bound.output.iter().map(part).collect()
}

/// 10125, 10126, 10136, 10138.
pub fn check_aggregates(bound: &Query, of: &Refusing<'_>) -> Result<()> {
    let Some((_, aggs, _)) = grouping(bound) else { return Ok(()) };
    for agg in aggs {
        let name = agg.func;
        if agg.distinct {
            return Err(of.refuse(
                10126,
                format!(
                    "because it uses aggregate \"{name}\" with the DISTINCT keyword. Consider not indexing this view or \
                     eliminating DISTINCT. Consider use of a GROUP BY or COUNT_BIG(*) view to simulate DISTINCT on grouping \
                     columns."
                ),
            ));
        }
        match (agg.func, &agg.arg) {
            (AggFunc::CountBig, None) | (AggFunc::Sum, Some(_)) => {}
            (AggFunc::Count, _) => {
                let why = "because it uses the aggregate COUNT. Use COUNT_BIG instead.";
                return Err(of.refuse(10136, why));
            }
            _ => {
                return Err(of.refuse(
                    10125,
                    format!(
                        "because it uses aggregate \"{name}\". Consider eliminating the aggregate, not indexing the view, or \
                         using alternate aggregates. For example, for AVG substitute SUM and COUNT_BIG, or for COUNT, \
                         substitute COUNT_BIG."
                    ),
                ));
            }
        }
    }
    if !view_parts(bound).contains(&Some(ViewPart::Count)) {
        return Err(of.refuse_in(
            10138,
            "because its select list does not include a proper use of COUNT_BIG. Consider adding COUNT_BIG(*) to select \
             list.",
        ));
    }
    Ok(())
}

/// 8661, 1976.
pub fn check_key(
    spec: &IndexSpec,
    columns: &[ColumnSpec],
    parts: &[Option<ViewPart>],
    of: &Refusing<'_>,
) -> Result<()> {
    for (name, _) in &spec.columns {
        // One that is not there is told of by the catalog.
        let Some(at) = columns.iter().position(|c| same_name(&c.name, name)) else { continue };
        if parts.get(at).is_some_and(|part| *part != Some(ViewPart::Group)) {
            return Err(of.clustered(
                8661,
                &spec.name,
                "the index key includes columns that are not in the GROUP BY clause. Consider eliminating columns that are \
                 not in the GROUP BY clause from the index key.",
            ));
        }
        if is_float(columns[at].ty) {
            let text = format!(
                "Cannot create index or statistics '{}' on view '{}' because cannot verify key column '{name}' is precise \
                 and deterministic. Consider removing column from index or statistics key, marking column persisted in \
                 base table if it is computed, or using non-CLR-derived column in key.",
                spec.name, of.full
            );
            return Err(of.error(1976, text));
        }
    }
    Ok(())
}

/// Under the SET options of an indexed view an operator that fails is an error, and no NULL.
fn may_be_null(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Arith { left, right, .. } => may_be_null(left) || may_be_null(right),
        ExprKind::Neg(input) | ExprKind::BitNot(input) => may_be_null(input),
        ExprKind::Cast { input, mode, .. } if *mode != CastMode::Try => may_be_null(input),
        _ => e.nullable,
    }
}

/// 8660, 8662, 8668.
pub fn check_grouping(bound: &Query, index: &str, of: &Refusing<'_>) -> Result<()> {
    let Some((group, aggs, exprs)) = grouping(bound) else { return Ok(()) };
    if view_parts(bound).contains(&None) {
        let text = format!(
            "Cannot create the clustered index '{index}' on view '{}' because the select list of the view contains an \
             expression on result of aggregate function or grouping column. Consider removing expression on result of \
             aggregate function or grouping column from select list.",
            of.full
        );
        return Err(of.error(8668, text));
    }
    let shown = |id: &ColId| {
        let is = |(out, e): &(ColId, Expr)| {
            e.kind == ExprKind::Col(*id) && bound.output.iter().any(|column| column.id == *out)
        };
        exprs.iter().any(is)
    };
    if !group.iter().all(|(id, _)| shown(id)) {
        return Err(of.clustered(
            8660,
            index,
            "the select list of the view definition does not include all columns in the GROUP BY clause. Consider adding \
             these columns to the select list.",
        ));
    }
    if aggs.iter().any(|agg| agg.arg.as_ref().is_some_and(may_be_null)) {
        return Err(of.clustered(
            8662,
            index,
            "the view references an unknown value (SUM aggregate of nullable expression). Consider referencing only \
             non-nullable values in SUM. ISNULL() may be useful for this.",
        ));
    }
    Ok(())
}
