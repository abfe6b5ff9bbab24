//! Outer joins among inner ones: those that WHERE makes inner ones are, the others come last.
//!
//! ```text
//! (a left join b on p), c where q(a, c) and r(b)    -->   (a, c where q) left join b on p where r(b)
//! a left join b on p where b.x = 1                  -->   a join b on p where b.x = 1
//! ```
//!
//! A left join keeps each row of its left side, so that it is the same whether its left side has met other tables before or
//! meets them afterwards; what is left of them is fewer rows as a rule, and their order is then one of cost alone.
//!
//! Promise: the same rows. Conditions of the inner join are among `preds` afterwards, which are asked above all of it: the
//! planner brings each as far down as it may be asked.

use ir::*;

use crate::columns::Needed;
use crate::join_conditions::rejects_nulls;
use crate::order::{is_inner, take};

/// An outer join taken off the part that was its left side.
struct Outer {
    right: Rel,
    on: Option<Expr>,
}

/// The same rows with outer joins behind inner ones, or made inner ones; as it is where there are none.
pub(crate) fn outer_last(rel: Rel, preds: &mut Vec<Expr>) -> Rel {
    let rel = inner_if_rejected(rel, preds);
    if !is_inner(&rel) || !has_outer_part(&rel) {
        return rel;
    }
    let (mut parts, mut outers) = (Vec::new(), Vec::new());
    let mut rels = vec![rel];
    let mut taken = Vec::new();
    while let Some(rel) = rels.pop() {
        match inner_if_rejected(rel, preds) {
            rel if is_inner(&rel) => {
                let mut own = Vec::new();
                take(rel, &mut own, preds);
                rels.extend(own.into_iter().rev());
            }
            Rel::Join { kind: JoinKind::Left, left, right, on } => {
                taken.push(Outer { right: *right, on });
                rels.push(*left);
            }
            Rel::Join { kind: JoinKind::Right, left, right, on } => {
                taken.push(Outer { right: *left, on });
                rels.push(*right);
            }
            part => {
                parts.push(part);
                // What was taken off it: the innermost one first.
                outers.extend(taken.drain(..).rev());
            }
        }
    }
    let join = |kind, left: Rel, right: Rel, on| Rel::Join {
        kind,
        left: Box::new(left),
        right: Box::new(right),
        on,
    };
    let mut parts = parts.into_iter();
    let first = parts.next().unwrap_or(Rel::OneRow);
    let inner = parts.fold(first, |left, right| join(JoinKind::Inner, left, right, None));
    outers.into_iter().fold(inner, |left, outer| join(JoinKind::Left, left, outer.right, outer.on))
}

/// A predicate that no row of NULLs passes makes an outer join an inner one.
fn inner_if_rejected(rel: Rel, preds: &[Expr]) -> Rel {
    match rel {
        Rel::Join { kind: JoinKind::Left, left, right, on } => {
            let theirs: Needed = right.columns().into_iter().collect();
            let rejected = preds.iter().any(|p| rejects_nulls(p, &theirs));
            let kind = if rejected { JoinKind::Inner } else { JoinKind::Left };
            Rel::Join { kind, left, right, on }
        }
        Rel::Join { kind: JoinKind::Right, left, right, on } => {
            let theirs: Needed = left.columns().into_iter().collect();
            let rejected = preds.iter().any(|p| rejects_nulls(p, &theirs));
            let kind = if rejected { JoinKind::Inner } else { JoinKind::Right };
            Rel::Join { kind, left, right, on }
        }
        rel => rel,
    }
}

/// Is a part of an inner join an outer one?
fn has_outer_part(rel: &Rel) -> bool {
    let mut rel = rel;
    loop {
        match rel {
            Rel::Join { kind: JoinKind::Inner | JoinKind::Cross, left, right, .. } => {
                if has_outer_part(right) {
                    return true;
                }
                rel = &**left;
            }
            Rel::Join { kind: JoinKind::Left | JoinKind::Right, .. } => return true,
            _ => return false,
        }
    }
}
