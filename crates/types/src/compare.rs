//! Comparison with SQL's three values, and LIKE.
//!
//! NULL against anything is `None` (unknown). Operands must already be of one kind; the plan
//! converts both to [`crate::SqlType::common_type`]. Numbers of different kinds are compared by
//! value all the same.

use crate::{TypeError, Value};
use std::cmp::Ordering;

/// Three-valued comparison; `None` is unknown.
#[inline]
pub fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    if a.is_null() || b.is_null() { None } else { Some(compare_non_null(a, b)) }
}

/// Total order for ORDER BY, MIN, MAX, merge joins and sorting: NULL first, equal to itself.
pub fn sort_order(a: &Value, b: &Value) -> Ordering {
    match (a.is_null(), b.is_null()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => compare_non_null(a, b),
    }
}

fn compare_non_null(a: &Value, b: &Value) -> Ordering {
    unimplemented!("{a:?} {b:?}")
}

/// Collation-aware comparison of two texts: case-insensitive, trailing blanks ignored.
pub fn compare_text(a: &str, b: &str) -> Ordering {
    unimplemented!("{a} {b}")
}

/// Feeds a hash so that values equal under [`sort_order`] (after conversion to one type) hash
/// equal: for hash joins, grouping and DISTINCT.
pub fn hash_value<H: std::hash::Hasher>(value: &Value, state: &mut H) {
    let _ = state;
    unimplemented!("{value:?}")
}

/// A compiled LIKE pattern: `%`, `_`, `[a-z]`, `[^a-z]`, with an optional escape.
#[derive(Clone, Debug)]
pub struct Pattern {
    _private: (),
}

impl Pattern {
    /// 506 when the escape is not a single character.
    pub fn new(pattern: &str, escape: Option<&str>) -> Result<Pattern, TypeError> {
        unimplemented!("{pattern} {escape:?}")
    }
    pub fn matches(&self, text: &str) -> bool {
        unimplemented!("{text}")
    }
    /// Like [`Pattern::matches`] at any position: 1-based character position, 0 for none
    /// (PATINDEX).
    pub fn find(&self, text: &str) -> usize {
        unimplemented!("{text}")
    }
}

/// One-off LIKE; `None` when an operand is NULL.
pub fn like(
    text: &Value,
    pattern: &Value,
    escape: Option<&str>,
) -> Result<Option<bool>, TypeError> {
    unimplemented!("{text:?} {pattern:?} {escape:?}")
}
