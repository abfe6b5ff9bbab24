//! The functions of SQL Server's XQuery. Source: SQL documentation, "XQuery Functions against the xml Data Type".

use super::Item;
use super::atom::Atom;
use super::eval::{Focus, Result, Run};
use super::tree::{Expr, Func};
use crate::document::Kind;
use std::cmp::Ordering;

pub(super) fn call(
    run: &mut Run<'_>,
    func: Func,
    args: &[Expr],
    focus: &Focus,
) -> Result<Vec<Item>> {
    let found = match func {
        Func::True => Some(Atom::Bool(true)),
        Func::False => Some(Atom::Bool(false)),
        Func::Position => Some(Atom::Int(focus.position as i64)),
        Func::Last => Some(Atom::Int(focus.size as i64)),
        Func::Not => Some(Atom::Bool(!run.truth(&args[0], focus)?)),
        Func::Count => Some(Atom::Int(run.eval(&args[0], focus)?.len() as i64)),
        Func::Empty => Some(Atom::Bool(run.eval(&args[0], focus)?.is_empty())),
        Func::Data => {
            let atoms = run.atoms(&args[0], focus)?;
            return Ok(atoms.into_iter().map(Item::Atom).collect());
        }
        Func::DistinctValues => {
            let mut seen = std::collections::HashSet::new();
            let atoms = run.atoms(&args[0], focus)?;
            let new = atoms.into_iter().filter(|a| {
                // Numbers are equal by value, texts by text.
                seen.insert(match a.is_number() {
                    true => (true, a.number().unwrap_or(0.0).to_string()),
                    false => (false, a.to_text()),
                })
            });
            return Ok(new.map(Item::Atom).collect());
        }
        Func::Sum | Func::Avg => sum(func, &run.atoms(&args[0], focus)?),
        Func::Min | Func::Max => extreme(func, run.atoms(&args[0], focus)?),
        Func::LocalName | Func::NamespaceUri => {
            let items = run.eval(&args[0], focus)?;
            let name = match items.first() {
                Some(Item::Node(node)) => {
                    let name = node.doc.name(node.id);
                    let named = matches!(
                        node.doc.kind(node.id),
                        Kind::Element | Kind::Attribute | Kind::Instruction
                    );
                    let text = if func == Func::LocalName { &name.local } else { &name.uri };
                    if named { text.to_string() } else { String::new() }
                }
                _ => String::new(),
            };
            Some(Atom::Text(name))
        }
        _ => text_or_number(run, func, args, focus)?,
    };
    Ok(found.map(Item::Atom).into_iter().collect())
}

fn text_or_number(
    run: &mut Run<'_>,
    func: Func,
    args: &[Expr],
    focus: &Focus,
) -> Result<Option<Atom>> {
    let mut values = Vec::with_capacity(args.len());
    for arg in args {
        values.push(run.atoms(arg, focus)?.into_iter().next());
    }
    let text =
        |i: usize| values.get(i).and_then(|v| v.as_ref()).map_or_else(String::new, Atom::to_text);
    let number = |i: usize| values.get(i).and_then(|v| v.as_ref()).and_then(Atom::number);
    Ok(match func {
        Func::Text => Some(Atom::Text(text(0))),
        Func::Number => Some(Atom::Double(number(0).unwrap_or(f64::NAN))),
        Func::Contains => Some(Atom::Bool(text(0).contains(&text(1)))),
        Func::StringLength => Some(Atom::Int(text(0).chars().count() as i64)),
        Func::Concat => Some(Atom::Text((0..values.len()).map(text).collect())),
        Func::UpperCase => Some(Atom::Text(text(0).to_uppercase())),
        Func::LowerCase => Some(Atom::Text(text(0).to_lowercase())),
        Func::Substring => Some(Atom::Text(substring(
            &text(0),
            number(1).unwrap_or(f64::NAN),
            if values.len() == 3 { number(2).unwrap_or(f64::NAN) } else { f64::INFINITY },
        ))),
        Func::Round | Func::Floor | Func::Ceiling => values[0].as_ref().and_then(|v| {
            let n = v.number()?;
            let n = match func {
                Func::Floor => n.floor(),
                Func::Ceiling => n.ceil(),
                _ => (n + 0.5).floor(),
            };
            Some(match v {
                Atom::Int(n) => Atom::Int(*n),
                Atom::Decimal(_) => Atom::Decimal(n),
                _ => Atom::Double(n),
            })
        }),
        _ => None,
    })
}

/// Characters from a place (the first is 1), rounded; NaN takes none.
fn substring(text: &str, start: f64, length: f64) -> String {
    let start = (start + 0.5).floor();
    let end = start + (length + 0.5).floor();
    let inside = |i: usize| {
        let place = (i + 1) as f64;
        place >= start && place < end
    };
    text.chars().enumerate().filter(|(i, _)| inside(*i)).map(|(_, c)| c).collect()
}

fn sum(func: Func, atoms: &[Atom]) -> Option<Atom> {
    if atoms.is_empty() {
        return (func == Func::Sum).then_some(Atom::Int(0));
    }
    let n = atoms.len() as f64;
    if let Some(whole) = atoms
        .iter()
        .map(|a| if let Atom::Int(n) = a { Some(*n) } else { None })
        .collect::<Option<Vec<i64>>>()
    {
        let total = whole.iter().try_fold(0i64, |t, n| t.checked_add(*n))?;
        return Some(match func {
            Func::Sum => Atom::Int(total),
            _ => Atom::Decimal(total as f64 / n),
        });
    }
    let total = atoms.iter().map(Atom::number).try_fold(0.0, |t, n| Some(t + n?))?;
    let value = if func == Func::Sum { total } else { total / n };
    let exact = atoms.iter().all(|a| matches!(a, Atom::Int(_) | Atom::Decimal(_)));
    Some(if exact { Atom::Decimal(value) } else { Atom::Double(value) })
}

/// The least or greatest; untyped values count as numbers.
fn extreme(func: Func, atoms: Vec<Atom>) -> Option<Atom> {
    let mut best: Option<Atom> = None;
    for atom in atoms {
        let atom = match atom {
            Atom::Untyped(s) => Atom::Double(Atom::Untyped(s).number()?),
            other => other,
        };
        let better = match &best {
            None => true,
            Some(best) => {
                let order = atom.compare(best)?;
                order == if func == Func::Max { Ordering::Greater } else { Ordering::Less }
            }
        };
        if better {
            best = Some(atom);
        }
    }
    best
}
