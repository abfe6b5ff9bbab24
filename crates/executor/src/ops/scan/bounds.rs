//! The range of keys that a scan reads, as bytes.

use crate::cx::Cx;
use crate::eval::eval;
use crate::message::SqlError;
use planner::{KeyRange, Scan};
use std::ops::Bound;
use types::collation::Rule;
use types::{Value, compare, key};

/// The key that a scan goes by.
fn layout(plan: &Scan) -> &types::KeyLayout {
    match plan.index {
        Some(at) => &plan.table.indexes[at].key_layout,
        None => &plan.table.key_layout,
    }
}

/// The range of keys that a scan reads; `None` when no row can match.
pub(in crate::ops) fn range_of(
    plan: &Scan,
    cx: &mut Cx<'_>,
) -> Result<Option<KeyBounds>, SqlError> {
    match &plan.range {
        None => Ok(Some((Bound::Unbounded, Bound::Unbounded))),
        Some(KeyRange { row: Some(row), .. }) => Ok(match eval(row, &[], cx)? {
            Value::Binary(key) => {
                let key = key.to_vec();
                Some((Bound::Included(key.clone()), Bound::Included(key)))
            }
            _ => None,
        }),
        Some(range) => bounds(range, layout(plan), cx),
    }
}

type KeyBounds = (Bound<Vec<u8>>, Bound<Vec<u8>>);

/// The bounds of a range as key bytes; None when a bound is NULL, so that no row can match.
fn bounds(
    range: &KeyRange,
    layout: &types::KeyLayout,
    cx: &mut Cx<'_>,
) -> Result<Option<KeyBounds>, SqlError> {
    let parts = layout.parts();
    let mut prefix = Vec::new();
    for (expr, part) in range.prefix.iter().zip(parts) {
        let value = eval(expr, &[], cx)?;
        if value.is_null() {
            return Ok(None);
        }
        key::encode_part(part, &value, &mut prefix);
    }
    let next = parts.get(range.prefix.len());
    if let (true, Some(part)) = (range.null, next) {
        if !part.nullable {
            return Ok(None);
        }
        // Its byte is 0, turned where the column descends.
        prefix.push(if part.desc { !0 } else { 0 });
        return Ok(Some((Bound::Included(prefix.clone()), past(prefix))));
    }
    if let (Some((pattern, escape)), Some(part)) = (&range.starts, next) {
        return starts(pattern, escape.as_ref(), part, prefix, cx);
    }
    let (Edge::Of(mut lower), Edge::Of(mut upper)) =
        (edge(&range.lower, next, &prefix, cx)?, edge(&range.upper, next, &prefix, cx)?)
    else {
        return Ok(None);
    };
    let desc = next.is_some_and(|part| part.desc);
    if desc {
        std::mem::swap(&mut lower, &mut upper);
    }
    // A comparison is never true of NULL, whose byte is 0: below all values, or above where they descend.
    if next.is_some_and(|part| part.nullable) && (lower.is_some() || upper.is_some()) {
        let (open, first) = if desc { (&mut upper, !1u8) } else { (&mut lower, 1) };
        if open.is_none() {
            let mut key = prefix.clone();
            key.push(first);
            *open = Some((key, true));
        }
    }
    let lower = match lower {
        None if prefix.is_empty() => Bound::Unbounded,
        None => Bound::Included(prefix.clone()),
        Some((key, true)) => Bound::Included(key),
        Some((mut key, false)) => {
            if !key::prefix_successor(&mut key) {
                return Ok(None);
            }
            Bound::Included(key)
        }
    };
    let upper = match upper {
        None if prefix.is_empty() => Bound::Unbounded,
        None => past(prefix),
        Some((key, true)) => past(key),
        Some((key, false)) => Bound::Excluded(key),
    };
    Ok(Some((lower, upper)))
}

/// The bounds of what begins as the texts do that are LIKE a pattern, after `prefix`; None where the pattern is NULL.
fn starts(
    pattern: &ir::Expr,
    escape: Option<&ir::Expr>,
    part: &types::KeyPart,
    prefix: Vec<u8>,
    cx: &mut Cx<'_>,
) -> Result<Option<KeyBounds>, SqlError> {
    let pattern = eval(pattern, &[], cx)?;
    let escape = match escape {
        Some(escape) => Some(eval(escape, &[], cx)?),
        None => None,
    };
    let escape = match &escape {
        None => None,
        Some(Value::Str(escape)) => Some(&**escape),
        Some(_) => return Ok(None),
    };
    let Value::Str(text) = &pattern else { return Ok(None) };
    let mut key = prefix;
    // By another rule than the key's, what is LIKE the pattern may begin with other characters.
    let start = match text.rule() == Rule::CiAs || text.rule() == part.rule {
        true => compare::like_start(text, escape),
        false => String::new(),
    };
    key::encode_start(part, &start, &mut key);
    Ok(Some((Bound::Included(key.clone()), past(key))))
}

/// One end of a range.
enum Edge {
    /// Compared with NULL: no row.
    Null,
    /// The key, inclusive or not; none where the range is open.
    Of(Option<(Vec<u8>, bool)>),
}

fn edge(
    bound: &Option<(ir::Expr, bool)>,
    part: Option<&types::KeyPart>,
    prefix: &[u8],
    cx: &mut Cx<'_>,
) -> Result<Edge, SqlError> {
    let (Some((expr, inclusive)), Some(part)) = (bound, part) else { return Ok(Edge::Of(None)) };
    let value = eval(expr, &[], cx)?;
    if value.is_null() {
        return Ok(Edge::Null);
    }
    let mut key = prefix.to_vec();
    key::encode_part(part, &value, &mut key);
    Ok(Edge::Of(Some((key, *inclusive))))
}

/// The bound above every key that starts with `key`.
pub fn past(mut key: Vec<u8>) -> Bound<Vec<u8>> {
    if key::prefix_successor(&mut key) { Bound::Excluded(key) } else { Bound::Unbounded }
}

pub fn as_slice(bound: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    match bound {
        Bound::Included(key) => Bound::Included(key),
        Bound::Excluded(key) => Bound::Excluded(key),
        Bound::Unbounded => Bound::Unbounded,
    }
}
