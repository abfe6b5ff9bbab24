//! Predicates that others imply, so that tables are read by them: what all branches of an OR have in common, what an OR
//! over several tables says of each of them, what equal columns say of each other, and the ranges of subtrees.
//!
//! Promise: the predicates together let the same rows through as before. Factoring keeps even UNKNOWN (three-valued
//! logic is distributive); what is derived is true wherever the predicate that it comes from is.
//!
//! ```text
//! (a = b and x = 1) or (a = b and x = 2)    -->  a = b and (x = 1 or x = 2)
//! (t.x = 1 and u.y = 2) or (t.x = 3 and u.y = 4)  -->  ... and (t.x = 1 or t.x = 3) and (u.y = 2 or u.y = 4)
//! a = b and a < 5                           -->  ... and b < 5
//! a > @a or (a = @a and b > @b)             -->  ... and a >= @a
//! t left join u on a = b where a < 5        -->  t left join (u where b < 5) on a = b where a < 5
//! ```

use ir::*;

use crate::columns::{Needed, is_movable};
use crate::fold::{all_of, conjuncts};
use crate::parts::Parts;
use crate::subtree;

/// An OR of more branches is left as it is, and so is one whose branches ask for more than this together, and more
/// predicates than this: what is derived is looked for among all, and no more than this is.
const BRANCHES_MAX: usize = 64;
const PREDICATES_MAX: usize = 256;

/// Appends a predicate to `out`, split at its ANDs and with what all branches of an OR have in common taken out of it.
pub(crate) fn factored(pred: Expr, out: &mut Vec<Expr>) {
    let mut all = Vec::new();
    conjuncts(pred, &mut all);
    for pred in all {
        out.extend(subtree::range(&pred).into_iter().flatten());
        let (common, rest) = match common(&pred) {
            Some((common, rest)) => (common, rest),
            None => (Vec::new(), Some(pred)),
        };
        out.extend(common);
        for bound in rest.iter().flat_map(common_bounds) {
            if !out.contains(&bound) {
                out.push(bound);
            }
        }
        out.extend(rest);
    }
}

/// The branches of an OR, each as its conjuncts.
fn branches(pred: &Expr) -> Option<Vec<Vec<Expr>>> {
    if !matches!(pred.kind, ExprKind::Or(..)) {
        return None;
    }
    let mut open = vec![pred];
    let mut all = Vec::new();
    let mut asked = 0;
    while let Some(e) = open.pop() {
        match &e.kind {
            ExprKind::Or(left, right) => open.extend([&**right, &**left]),
            _ => all.push(e),
        }
        if all.len() + open.len() > BRANCHES_MAX {
            return None;
        }
    }
    for branch in &all {
        asked += conjuncts_up_to(branch, PREDICATES_MAX - asked)?;
    }
    let branch = |e: &&Expr| {
        let mut branch = Vec::new();
        conjuncts((*e).clone(), &mut branch);
        branch
    };
    Some(all.iter().map(branch).collect())
}

/// How many an AND has; None where it has more than so many.
fn conjuncts_up_to(pred: &Expr, most: usize) -> Option<usize> {
    let mut open = vec![pred];
    let mut count = 0;
    while let Some(e) = open.pop() {
        match &e.kind {
            ExprKind::And(left, right) => open.extend([&**right, &**left]),
            _ => count += 1,
        }
        if count + open.len() > most {
            return None;
        }
    }
    Some(count)
}

fn any_of(branches: Vec<Vec<Expr>>) -> Option<Expr> {
    Expr::any_of(branches.into_iter().filter_map(all_of).collect())
}

/// What every branch of an OR asks for, and the OR of what is left; no OR where a branch asks for nothing else.
fn common(pred: &Expr) -> Option<(Vec<Expr>, Option<Expr>)> {
    let mut branches = branches(pred)?;
    let (first, others) = branches.split_first()?;
    let mut common: Vec<Expr> = Vec::new();
    for e in first {
        let everywhere = is_movable(e) && others.iter().all(|branch| branch.contains(e));
        if everywhere && !common.contains(e) {
            common.push(e.clone());
        }
    }
    if common.is_empty() {
        return None;
    }
    for branch in &mut branches {
        branch.retain(|e| !common.contains(e));
    }
    let rest = match branches.iter().any(Vec::is_empty) {
        true => None,
        false => any_of(branches),
    };
    Some((common, rest))
}

/// The bounds that every branch of an OR has of a column, each from the same value on: of `a > @a OR a = @a AND b > @b`, as pages
/// are asked for by the last row of the one before, `a >= @a`.
fn common_bounds(pred: &Expr) -> Vec<Expr> {
    use CompareOp::*;
    let Some(branches) = branches(pred) else { return Vec::new() };
    // The column on the left, and a value that no row decides.
    let bound = |e: &Expr| {
        let ExprKind::Compare { op, left, right } = &e.kind else { return None };
        let is_value = |e: &Expr| {
            let mut ids = Vec::new();
            e.columns(&mut ids);
            ids.is_empty()
        };
        if !is_movable(e) {
            return None;
        }
        match (&left.kind, &right.kind) {
            (ExprKind::Col(_), _) if is_value(right) => {
                Some((*op, (**left).clone(), (**right).clone()))
            }
            (_, ExprKind::Col(_)) if is_value(left) => {
                Some((op.flip(), (**right).clone(), (**left).clone()))
            }
            _ => None,
        }
    };
    let Some((first, others)) = branches.split_first() else { return Vec::new() };
    let mut bounds = Vec::new();
    for (_, column, value) in first.iter().filter_map(bound) {
        for (side, inclusive) in [([Gt, Ge, Eq], Ge), ([Lt, Le, Eq], Le)] {
            let has = |branch: &Vec<Expr>| {
                let mut all = branch.iter().filter_map(bound);
                all.any(|(op, c, v)| side.contains(&op) && c == column && v == value)
            };
            let here = has(first) && others.iter().all(has);
            let new = Expr::compare(inclusive, column.clone(), value.clone());
            if here && !others.is_empty() && !bounds.contains(&new) {
                bounds.push(new);
            }
        }
    }
    bounds
}

/// Adds to `preds` what they and the conditions of the joins imply of single parts of an inner join. `given`: all that
/// holds of the joined rows besides.
pub(crate) fn derived(parts: &Parts, given: &[Expr], preds: &mut Vec<Expr>) {
    if parts.count() < 2 || preds.len() + given.len() > PREDICATES_MAX {
        return;
    }
    let mut new: Vec<Expr> = Vec::new();
    let mut add = |e: Expr| {
        let room = new.len() < PREDICATES_MAX;
        if room && !preds.contains(&e) && !given.contains(&e) && !new.contains(&e) {
            new.push(e);
        }
    };
    for pred in preds.iter().chain(given) {
        of_each_part(pred, parts, &mut add);
    }
    of_equal_columns(parts, preds, given, &mut add);
    preds.append(&mut new);
}

/// What an OR over several parts says of each that all of its branches speak of.
fn of_each_part(pred: &Expr, parts: &Parts, add: &mut impl FnMut(Expr)) {
    let Some(branches) = branches(pred) else { return };
    let of = parts.read(pred);
    if of.len() < 2 || !is_movable(pred) {
        return;
    }
    for part in of {
        let own = |branch: &Vec<Expr>| -> Vec<Expr> {
            branch.iter().filter(|e| parts.read(e) == [part]).cloned().collect()
        };
        let own: Vec<Vec<Expr>> = branches.iter().map(own).collect();
        if own.iter().all(|branch| !branch.is_empty())
            && let Some(e) = any_of(own)
        {
            add(e);
        }
    }
}

/// What a column is compared with, its equals are too.
fn of_equal_columns(parts: &Parts, preds: &[Expr], given: &[Expr], add: &mut impl FnMut(Expr)) {
    let mut classes: Vec<Vec<(ColId, &Expr)>> = Vec::new();
    for pred in preds.iter().chain(given) {
        let ExprKind::Compare { op: CompareOp::Eq, left, right } = &pred.kind else { continue };
        let (ExprKind::Col(a), ExprKind::Col(b)) = (&left.kind, &right.kind) else { continue };
        // Texts may be equal and yet differ, and so be told apart by what they are compared with.
        if left.ty != right.ty || left.ty.is_character() || a == b {
            continue;
        }
        let of = |classes: &[Vec<(ColId, &Expr)>], id| {
            classes.iter().position(|class| class.iter().any(|(known, _)| *known == id))
        };
        match (of(&classes, *a), of(&classes, *b)) {
            (Some(x), Some(y)) if x != y => {
                let more = classes.remove(x.max(y));
                classes[x.min(y)].extend(more);
            }
            (Some(_), Some(_)) => {}
            (Some(x), None) => classes[x].push((*b, &**right)),
            (None, Some(y)) => classes[y].push((*a, &**left)),
            (None, None) => classes.push(vec![(*a, &**left), (*b, &**right)]),
        }
    }
    for pred in preds.iter().chain(given) {
        let Some(id) = bounded(pred) else { continue };
        let Some(class) = classes.iter().find(|class| class.iter().any(|(known, _)| *known == id))
        else {
            continue;
        };
        for (other, column) in class {
            let (part, own) = (parts.of(*other), parts.of(id));
            if *other == id || part == own || part.is_none() {
                continue;
            }
            let mut pred = pred.clone();
            pred.replace_columns(&mut |_| Some((*column).clone()));
            pred.nullable |= column.nullable;
            add(pred);
        }
    }
}

/// What the conditions of a left join and predicates on its left side say of its right one: a row that does not keep to it
/// meets nobody who is left.
pub(crate) fn of_optional(conditions: &[Expr], to_left: &[Expr], right: &Needed) -> Vec<Expr> {
    let mut new = Vec::new();
    for condition in conditions {
        let ExprKind::Compare { op: CompareOp::Eq, left: a, right: b } = &condition.kind else {
            continue;
        };
        let (ExprKind::Col(x), ExprKind::Col(y)) = (&a.kind, &b.kind) else { continue };
        let (outer, column) = match (right.contains(x), right.contains(y)) {
            (false, true) => (*x, &**b),
            (true, false) => (*y, &**a),
            _ => continue,
        };
        // See `of_equal_columns`.
        if a.ty != b.ty || a.ty.is_character() {
            continue;
        }
        for pred in to_left.iter().filter(|pred| bounded(pred) == Some(outer)) {
            let mut pred = pred.clone();
            pred.replace_columns(&mut |_| Some(column.clone()));
            pred.nullable |= column.nullable;
            if new.len() < PREDICATES_MAX && !new.contains(&pred) {
                new.push(pred);
            }
        }
    }
    new
}

/// The column that is compared with what no row says.
fn bounded(pred: &Expr) -> Option<ColId> {
    let free = |e: &Expr| crate::columns::is_free_of_rows(e) && is_movable(e);
    let column = |e: &Expr| match e.kind {
        ExprKind::Col(id) => Some(id),
        _ => None,
    };
    match &pred.kind {
        ExprKind::Compare { op, left, right } if *op != CompareOp::Ne => match free(right) {
            true => column(left),
            false if free(left) => column(right),
            false => None,
        },
        ExprKind::In { input, list, negated: false } if list.iter().all(free) => column(input),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::SqlType;

    fn col(id: u32) -> Expr {
        Expr::col(ColId(id), SqlType::Int, true)
    }

    fn is(id: u32, n: i32) -> Expr {
        Expr::compare(CompareOp::Eq, col(id), Expr::int(n))
    }

    fn equal(a: u32, b: u32) -> Expr {
        Expr::compare(CompareOp::Eq, col(a), col(b))
    }

    #[test]
    fn what_all_branches_ask_for_stands_before_the_or() {
        let pred = Expr::or(
            Expr::and(equal(1, 2), is(1, 1)),
            Expr::or(Expr::and(is(1, 2), equal(1, 2)), Expr::and(equal(1, 2), is(2, 3))),
        );
        let mut out = Vec::new();
        factored(pred, &mut out);
        let rest = Expr::any_of(vec![is(1, 1), is(1, 2), is(2, 3)]).unwrap();
        assert_eq!(out, [equal(1, 2), rest]);
        // A branch that asks for nothing else makes the others superfluous.
        let mut out = Vec::new();
        factored(Expr::or(is(1, 1), Expr::and(is(1, 1), is(2, 2))), &mut out);
        assert_eq!(out, [is(1, 1)]);
        let alone = Expr::or(is(1, 1), is(2, 2));
        let mut out = Vec::new();
        factored(alone.clone(), &mut out);
        assert_eq!(out, [alone]);
    }

    #[test]
    fn an_or_over_two_tables_says_something_of_each() {
        let parts = Parts::new(&[Needed::from([ColId(1)]), Needed::from([ColId(2)])]);
        let both = Expr::or(Expr::and(is(1, 1), is(2, 2)), Expr::and(is(1, 3), is(2, 4)));
        let mut preds = vec![both.clone()];
        derived(&parts, &[], &mut preds);
        let (of_first, of_second) = (Expr::or(is(1, 1), is(1, 3)), Expr::or(is(2, 2), is(2, 4)));
        assert_eq!(preds, [both, of_first, of_second]);
        let known = preds.clone();
        derived(&parts, &[], &mut preds);
        assert_eq!(preds, known, "once is enough");
        // A branch that says nothing of the first table allows all of its rows.
        let mut preds = vec![Expr::or(Expr::and(is(1, 1), is(2, 2)), is(2, 4))];
        derived(&parts, &[], &mut preds);
        assert_eq!(preds[1..], [Expr::or(is(2, 2), is(2, 4))]);
    }

    #[test]
    fn equals_of_a_column_have_its_bounds() {
        let parts = Parts::new(&[1, 2, 3].map(|id| Needed::from([ColId(id)])));
        let mut preds = vec![equal(1, 2), is(2, 7)];
        derived(&parts, &[equal(2, 3)], &mut preds);
        assert_eq!(preds[2..], [is(1, 7), is(3, 7)]);
    }

    #[test]
    fn what_is_derived_is_bounded() {
        // So many equal columns with so many bounds would imply their product.
        let columns = 1..=100;
        let parts =
            Parts::new(&columns.clone().map(|id| Needed::from([ColId(id)])).collect::<Vec<_>>());
        let given: Vec<Expr> = columns.clone().skip(1).map(|id| equal(1, id)).collect();
        let mut preds: Vec<Expr> = (0..100).map(|n| is(1, n)).collect();
        derived(&parts, &given, &mut preds);
        assert_eq!(preds.len(), 100 + PREDICATES_MAX);
        // Branches that ask for many things are not compared with each other.
        let many = |from: i32| Expr::all((from..from + 1_000).map(|n| is(1, n)).collect()).unwrap();
        let pred = Expr::or(many(0), many(500));
        let mut out = Vec::new();
        factored(pred.clone(), &mut out);
        assert_eq!(out, [pred]);
    }
}
