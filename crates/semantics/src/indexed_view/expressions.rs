//! What the expressions of a view may be whose rows are kept: the same for the same rows, whoever asks and whenever, and
//! exact where rows are told apart by them. Errors: 1949 to 1952, 1956, 1962, 1963, 1985, 10127, 10139, 10143.

use ir::*;
use types::SqlType;

use super::refusing::Refusing;
use crate::error::{BindError, Result};

/// Where an expression stands.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    List,
    Where,
    Join,
    Group,
}

/// What is only seen when names and types are known.
pub fn check_bound(bound: &Query, of: &Refusing<'_>) -> Result<()> {
    let mut failed = Ok(());
    let mut each = |e: &Expr, place: Place| {
        if failed.is_ok() {
            failed = check_expr(e, place, of);
        }
    };
    let mut windows = false;
    each_rel(&bound.rel, &mut |rel| match rel {
        Rel::Window { .. } => windows = true,
        Rel::Join { on, .. } => on.iter().for_each(|on| each(on, Place::Join)),
        Rel::Filter { predicate, .. } => each(predicate, Place::Where),
        Rel::Aggregate { group, aggs, .. } => {
            group.iter().for_each(|(_, e)| each(e, Place::Group));
            aggs.iter().for_each(|agg| agg.for_each_arg(&mut |e| each(e, Place::List)));
        }
        Rel::Project { exprs, .. } => exprs.iter().for_each(|(_, e)| each(e, Place::List)),
        _ => {}
    });
    if windows {
        return Err(of.refuse(
            10143,
            "because it contains a ranking or aggregate window function. Remove the function from the view definition or, \
             alternatively, do not index the view.",
        ));
    }
    failed
}

fn each_rel<'r>(rel: &'r Rel, f: &mut dyn FnMut(&'r Rel)) {
    f(rel);
    rel.inputs().into_iter().for_each(|input| each_rel(input, f));
}

/// float and real: of these equal values need not be equal bytes.
pub fn is_float(ty: SqlType) -> bool {
    matches!(ty, SqlType::Float | SqlType::Real)
}

fn check_expr(e: &Expr, place: Place, of: &Refusing<'_>) -> Result<()> {
    let full = &of.full;
    let mut found = None;
    e.walk(&mut |e| {
        if found.is_some() {
            return;
        }
        found = match &e.kind {
            ExprKind::Subquery { .. } => Some(of.refuse(
                10127,
                "because it contains one or more subqueries. Consider changing the view to use only joins instead of \
                 subqueries. Alternatively, consider not indexing this view.",
            )),
            ExprKind::Xml { .. } => Some(of.error(
                1985,
                format!(
                    "Cannot create index on view '{full}'. It contains one or more XML data type methods."
                ),
            )),
            ExprKind::Func { func: FuncId::User(called), .. } => {
                let function = of.function(called.object_id);
                let name = function.map_or("?", |function| &function.name);
                (!function.is_some_and(|function| function.is_deterministic)).then(|| of.error(
                    1956,
                    format!(
                        "Cannot create index on the '{full}' view because it uses the nondeterministic user-defined \
                         function '{name}'. Remove the reference to the function, or make it deterministic."
                    ),
                ))
            }
            ExprKind::Func { func, .. } if !func.is_deterministic() => {
                Some(of.nondeterministic(&format!("{func:?}")))
            }
            ExprKind::Sys(var) => Some(of.nondeterministic(&format!("@@{var:?}"))),
            ExprKind::Cast { input, mode, style: None }
                if input.ty.is_character() && e.ty.is_temporal() && !input.is_null_constant() =>
            {
                Some(match mode {
                    CastMode::Implicit | CastMode::Store { .. } => of.refuse_in(
                        10139,
                        "because the view uses an implicit conversion from string to datetime or smalldatetime. Use an \
                         explicit CONVERT with a deterministic style value.",
                    ),
                    _ => of.imprecise_convert(),
                })
            }
            ExprKind::Cast { input, style: None, .. }
                if e.ty.is_character()
                    && matches!(input.ty, SqlType::DateTime | SqlType::SmallDateTime) =>
            {
                Some(of.imprecise_convert())
            }
            _ if !is_float(e.ty) => None,
            ExprKind::Col(_) if matches!(place, Place::Where | Place::Group) => Some(of.error(
                1962,
                format!(
                    "Cannot create index on view '{full}' because a column that is referenced by the view in the WHERE or \
                     GROUP BY clause is imprecise. Consider eliminating the column from the view, or altering the column \
                     to be precise."
                ),
            )),
            _ => imprecise(place, of),
        };
    });
    found.map_or(Ok(()), Err)
}

/// What is asked of a value that is not exact.
fn imprecise(place: Place, of: &Refusing<'_>) -> Option<BindError> {
    let (number, what) = match place {
        Place::List => return None,
        Place::Group => (1950, "a GROUP BY clause"),
        Place::Where => (1951, "the WHERE clause."),
        Place::Join => (1952, "a join."),
    };
    let text = format!(
        "Index on view '{}' cannot be created because the view contains an imprecise expression in {what}",
        of.full
    );
    Some(of.error(number, text))
}
