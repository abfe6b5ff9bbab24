//! MIN and MAX of a column that an order of its table's rows begins with: an end of that order.
//!
//! ```text
//! min(id) of t                  -->   min(id) of the first row of t by id
//! min(id), max(id) of t         -->   each by itself, where it reads no more than its row
//! ```
//!
//! Promise: the same values and warnings. A column that may be NULL is read whole: that NULLs were passed over is to be told
//! (8153).

use ir::*;
use types::{SqlType, Value};

use crate::columns::{below_filters, has_subquery};
use crate::key_range::comes_in_order_of;

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
    let mut preds = Vec::new();
    let Rel::Get(get) = below_filters(input, &mut preds) else { return None };
    let asked = get.sample.is_some() || preds.iter().any(has_subquery);
    if asked || !comes_in_order_of(get, &preds, id, at_once) {
        return None;
    }
    let ordinal = get.columns.iter().position(|column| *column == id)?;
    let expr = Expr::col(id, get.table.columns[ordinal].ty, false);
    let keys = vec![SortKey { expr, desc: agg.func == AggFunc::Max }];
    Some(Rel::Top {
        input: Box::new(Rel::Sort { input: Box::new(input.clone()), keys }),
        count: Expr::constant(Value::BigInt(1), SqlType::BigInt),
        percent: false,
        ties: None,
    })
}
