//! What is known of a query before it runs: whether it yields one item at most, and whether nodes.
//!
//! SQL Server types queries statically: what takes one item refuses what may be several (2389). Source: SQL
//! documentation, "XQuery and Static Typing", "value() Method".

use super::tree::{Axis, Content, Expr, Func, Step, Test};
use crate::error::QueryError;

type Result<T> = std::result::Result<T, QueryError>;

/// At most one item, whatever the document is?
pub(super) fn is_single(e: &Expr) -> bool {
    match e {
        Expr::Sequence(list) => match list.as_slice() {
            [] => true,
            [one] => is_single(one),
            _ => false,
        },
        Expr::Path(start, steps) => is_single(start) && steps.iter().all(single_step),
        Expr::Filter(inner, predicates) => {
            is_single(inner) || predicates.iter().any(is_one_position)
        }
        Expr::If(parts) => is_single(&parts[1]) && is_single(&parts[2]),
        Expr::Call(Func::Data, args) => is_single(&args[0]),
        Expr::Call(Func::DistinctValues, args) => is_single(&args[0]),
        // A variable of `for` is one item; of `let` it may be more.
        Expr::Var(slot) => slot.is_multiple_of(2),
        Expr::Flwor(_) => false,
        _ => true,
    }
}

fn single_step(step: &Step) -> bool {
    match step.axis {
        Axis::Own | Axis::Parent => true,
        Axis::Attribute => {
            matches!(&step.test, Test::Name { uri: Some(_), local: Some(_) })
                || step.predicates.iter().any(is_one_position)
        }
        Axis::Child => step.predicates.iter().any(is_one_position),
        Axis::Descendant | Axis::DescendantOrSelf => false,
    }
}

/// `[1]`, `[last()]`
fn is_one_position(e: &Expr) -> bool {
    matches!(e, Expr::Atom(super::Atom::Int(_)) | Expr::Call(Func::Last, _))
}

/// The type in message 2389.
pub(super) fn atom_type(e: &Expr) -> &'static str {
    match is_nodes(e) {
        true => "xdt:untypedAtomic",
        false => "xdt:anyAtomicType",
    }
}

/// Nodes, and nothing else?
pub(super) fn is_nodes(e: &Expr) -> bool {
    match e {
        Expr::Root | Expr::Context | Expr::Element(_) | Expr::Path(..) => true,
        Expr::Filter(inner, _) => is_nodes(inner),
        Expr::Sequence(list) => list.iter().all(is_nodes),
        Expr::If(parts) => is_nodes(&parts[1]) && is_nodes(&parts[2]),
        Expr::Flwor(f) => is_nodes(&f.result) || matches!(f.result, Expr::Var(_)),
        Expr::Var(_) => true,
        _ => false,
    }
}

/// Attributes at its end?
pub(super) fn is_attributes(e: &Expr) -> bool {
    match e {
        Expr::Path(_, steps) => steps.last().is_some_and(|s| s.axis == Axis::Attribute),
        Expr::Filter(inner, _) => is_attributes(inner),
        Expr::Sequence(list) => list.iter().any(is_attributes),
        Expr::Attribute { .. } => true,
        _ => false,
    }
}

/// 2389 for what takes one item and gets more; 2371 for position() and last() outside of predicates.
pub(super) fn check(e: &Expr) -> Result<()> {
    walk(e, false)
}

fn single(who: &str, e: &Expr) -> Result<()> {
    match is_single(e) {
        true => Ok(()),
        false => Err(QueryError::singleton(who, atom_type(e))),
    }
}

fn steps(list: &[Step]) -> Result<()> {
    list.iter().flat_map(|s| &s.predicates).try_for_each(|p| walk(p, true))
}

fn walk(e: &Expr, predicate: bool) -> Result<()> {
    let inner = |e: &Expr| walk(e, predicate);
    match e {
        Expr::Atom(_)
        | Expr::Root
        | Expr::Context
        | Expr::Var(_)
        | Expr::External(_)
        | Expr::Comment(_) => Ok(()),
        Expr::Sequence(list) => list.iter().try_for_each(inner),
        Expr::Path(start, list) => {
            inner(start)?;
            steps(list)
        }
        Expr::Filter(of, predicates) => {
            inner(of)?;
            predicates.iter().try_for_each(|p| walk(p, true))
        }
        Expr::Call(func, args) => {
            if matches!(func, Func::Position | Func::Last) && !predicate {
                let name = func.name();
                let text =
                    format!("'{name}()' can only be used within a predicate or XPath selector");
                return Err(QueryError::new(2371, text));
            }
            args.iter().try_for_each(inner)?;
            if func.takes_singletons() {
                let name = format!("{}()", func.name());
                args.iter().try_for_each(|a| single(&name, a))?;
            }
            Ok(())
        }
        Expr::Or(a, b) | Expr::And(a, b) => {
            inner(a)?;
            inner(b)
        }
        Expr::Compare { op, general, left, right } => {
            inner(left)?;
            inner(right)?;
            if !general {
                let name = super::parser::value_operator(*op);
                single(name, left)?;
                single(name, right)?;
            }
            Ok(())
        }
        Expr::Order { left, right, .. } => {
            inner(left)?;
            inner(right)?;
            single("is", left)?;
            single("is", right)
        }
        Expr::Arith { op, left, right } => {
            inner(left)?;
            inner(right)?;
            let name = super::parser::arith_operator(*op);
            single(name, left)?;
            single(name, right)
        }
        Expr::Negate(a) => {
            inner(a)?;
            single("-", a)
        }
        Expr::If(parts) => parts.iter().try_for_each(inner),
        Expr::Flwor(f) => {
            for clause in &f.clauses {
                let (super::tree::Clause::For { input, .. }
                | super::tree::Clause::Let { input, .. }) = clause;
                inner(input)?;
            }
            f.filter.iter().try_for_each(inner)?;
            for (key, _) in &f.order {
                inner(key)?;
                single("order by", key)?;
            }
            inner(&f.result)
        }
        Expr::Quantified { binds, test, .. } => {
            binds.iter().try_for_each(|(_, e)| inner(e))?;
            inner(test)
        }
        Expr::Element(element) => {
            for (_, parts) in &element.attributes {
                parts.iter().try_for_each(inner)?;
            }
            element.content.iter().try_for_each(|c| match c {
                Content::Expr(e) => inner(e),
                Content::Text(_) => Ok(()),
            })
        }
        Expr::Attribute { value, .. } => inner(value),
        Expr::Text(value) => inner(value),
        Expr::Cast(of, _) => {
            inner(of)?;
            single("cast as", of)
        }
        Expr::InstanceOf(of, _) => inner(of),
    }
}
