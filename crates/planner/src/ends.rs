//! MIN and MAX of a column that an order of its table's rows begins with: an end of that order.
//!
//! ```text
//! min(id) of t                  -->   min(id) of the first row of t by id
//! min(id), max(id) of t         -->   each by itself, where it reads no more than its row
//! min(id) of (t union all u)    -->   min(id) of the first row of t and the first row of u
//! ```
//!
//! Promise: the same values and warnings. A column that may be NULL is read whole: that NULLs were passed over is to be told
//! (8153).

use ir::*;
use types::{SqlType, Value};

use crate::columns::{below_filters, has_subquery, is_movable};
use crate::fold::all_of;
use crate::key_range::comes_in_order_of;
use crate::top_below::{filtered, first_by, is_union};

/// Aggregates that are taken apart at most.
const ENDS_MAX: usize = 4;

/// Several ends, each by itself.
pub(crate) fn ends_alone(input: &Rel, aggs: &[Aggregate]) -> Option<Rel> {
    if aggs.len() > ENDS_MAX {
        return None;
    }
    let mut each = aggs.iter().map(|agg| {
        let input = Box::new(first_alone(input, agg, true)?);
        let (group, aggs) = (Vec::new(), vec![agg.clone()]);
        Some(Rel::Aggregate { input, group, aggs, scalar: true, sets: None })
    });
    let first = each.next()??;
    each.try_fold(first, |left, right| {
        let (left, right) = (Box::new(left), Box::new(right?));
        Some(Rel::Join { kind: JoinKind::Cross, left, right, on: None })
    })
}

/// The row that has the value of an aggregate, alone; `at_once`: where no other is read for it.
pub(crate) fn first_alone(input: &Rel, agg: &Aggregate, at_once: bool) -> Option<Rel> {
    let id = match &agg.arg {
        Some(Expr { kind: ExprKind::Col(id), nullable: false, .. }) => *id,
        _ => return None,
    };
    if !matches!(agg.func, AggFunc::Min | AggFunc::Max) {
        return None;
    }
    end_of(input, id, agg.func == AggFunc::Max, at_once)
}

/// The row at an end of an order by a column, or of UNION ALL one of each input.
fn end_of(rel: &Rel, id: ColId, desc: bool, at_once: bool) -> Option<Rel> {
    let mut preds = Vec::new();
    match below_filters(rel, &mut preds) {
        Rel::Get(get) => {
            let asked = get.sample.is_some() || preds.iter().any(has_subquery);
            if asked || !comes_in_order_of(get, &preds, id, at_once) {
                return None;
            }
            let ordinal = get.columns.iter().position(|column| *column == id)?;
            let expr = Expr::col(id, get.table.columns[ordinal].ty, false);
            let one = Expr::constant(Value::BigInt(1), SqlType::BigInt);
            Some(first_by(rel.clone(), vec![SortKey { expr, desc }], one))
        }
        below if !preds.is_empty() && is_union(below) && preds.iter().all(is_movable) => {
            end_of(&filtered(below.clone(), all_of(preds)?), id, desc, at_once)
        }
        Rel::Project { input, exprs } if preds.is_empty() => {
            let (_, e) = exprs.iter().find(|(own, _)| *own == id)?;
            let ExprKind::Col(of) = e.kind else { return None };
            let input = Box::new(end_of(input, of, desc, at_once)?);
            Some(Rel::Project { input, exprs: exprs.clone() })
        }
        Rel::SetOp {
            op: op @ SetOp::UnionAll,
            left,
            left_columns,
            right,
            right_columns,
            columns,
            step,
        } if preds.is_empty() => {
            let at = columns.iter().position(|column| *column == id)?;
            let left = Box::new(end_of(left, left_columns[at], desc, at_once)?);
            let right = Box::new(end_of(right, right_columns[at], desc, at_once)?);
            let (op, step) = (*op, step.clone());
            let (left_columns, right_columns) = (left_columns.clone(), right_columns.clone());
            let columns = columns.clone();
            Some(Rel::SetOp { op, left, left_columns, right, right_columns, columns, step })
        }
        _ => None,
    }
}
