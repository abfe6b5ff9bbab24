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

/// What is still to be taken apart. An outer join comes when all of its left side has been, outer joins there too, on whose
/// columns its condition may rest.
enum Todo {
    Rel(Rel),
    Outer(Outer),
}

/// The same rows with outer joins behind inner ones, or made inner ones; as it is where there are none.
pub(crate) fn outer_last(rel: Rel, preds: &mut Vec<Expr>) -> Rel {
    let rel = inner_if_rejected(rel, preds);
    if !is_inner(&rel) || !has_outer_part(&rel) {
        return rel;
    }
    let (mut parts, mut outers) = (Vec::new(), Vec::new());
    let mut todo = vec![Todo::Rel(rel)];
    while let Some(next) = todo.pop() {
        let rel = match next {
            Todo::Rel(rel) => inner_if_rejected(rel, preds),
            Todo::Outer(outer) => {
                outers.push(outer);
                continue;
            }
        };
        match rel {
            rel if is_inner(&rel) => {
                let mut own = Vec::new();
                take(rel, &mut own, preds);
                todo.extend(own.into_iter().rev().map(Todo::Rel));
            }
            Rel::Join { kind: JoinKind::Left, left, right, on } => {
                todo.push(Todo::Outer(Outer { right: *right, on }));
                todo.push(Todo::Rel(*left));
            }
            Rel::Join { kind: JoinKind::Right, left, right, on } => {
                todo.push(Todo::Outer(Outer { right: *left, on }));
                todo.push(Todo::Rel(*right));
            }
            part => parts.push(part),
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
