//! hierarchyid: a path from the root of a tree, as bits that compare in depth-first order.
//!
//! The root has no bytes; every other value is its numbers' bits ([`ordinal`]) and zeros up to a whole byte. No path has
//! two forms, so equal paths are equal bytes. Sources: [MS-SSCLRT] 2.1.1; SQL documentation, "hierarchyid data type
//! method reference" and the pages below it.

mod ordinal;
mod path;

pub(crate) use path::BYTES_MAX;

use crate::method::{Arg, Body, Kind, Made, Method, Tells};
use crate::{ClrError, ClrType};
use ordinal::{LEAST, MOST};
use path::{Writer, bit_len, is_descendant, last_label, level, level_end, ordinals};
use std::borrow::Cow;
use std::fmt::Write;

const THIS: Kind = Kind::Own;

const fn method(
    name: &'static str,
    takes: &'static [Kind],
    gives: Kind,
    body: fn(&[Arg<'_>]) -> Result<Made, ClrError>,
) -> Method {
    Method::new(ClrType::HierarchyId, name, takes, gives, Body::Own(body))
}

/// Its methods. Read and Write, which work on streams, are not called from T-SQL.
pub(crate) const METHODS: [Method; 9] = [
    Method { is_static: true, ..method("GetRoot", &[], THIS, |_| Ok(Made::Bytes(Vec::new()))) },
    Method { is_static: true, ..method("Parse", &[Kind::Text], THIS, parse_method) },
    Method { tells: Tells::WithinResult, ..method("GetAncestor", &[Kind::Int], THIS, ancestor) },
    Method { takes_null: true, ..method("GetDescendant", &[THIS, THIS], THIS, descendant) },
    method("GetLevel", &[], Kind::Small, |args| Ok(Made::Small(level(args[0].bytes()) as i16))),
    Method {
        tells: Tells::WithinArgument,
        ..method("IsDescendantOf", &[THIS], Kind::Bit, |args| {
            Ok(Made::Bit(is_descendant(args[0].bytes(), args[1].bytes())))
        })
    },
    method("GetReparentedValue", &[THIS, THIS], THIS, reparented),
    // A bound of a plan's ranges, shown by this name as SQL Server shows it.
    Method {
        is_hidden: true,
        ..method("DescendantLimit", &[], THIS, |args| {
            Ok(Made::Bytes(descendant_limit(args[0].bytes())))
        })
    },
    method("ToString", &[], Kind::Text, |args| Ok(Made::Text(text(args[0].bytes())?.into_owned()))),
];

fn failed(text: String, place: &'static str) -> ClrError {
    ClrError::new(
        ClrType::HierarchyId,
        "Microsoft.SqlServer.Types.HierarchyIdException",
        text,
        place,
    )
}

/// 24000.
fn invalid() -> ClrError {
    let text = "24000: SqlHierarchyId operation failed because HierarchyId object was constructed from an invalid \
                binary string. ";
    failed(text.to_owned(), "Read(BinaryReader r)")
}

/// 24006: a number or a path that is too great.
fn too_big() -> ClrError {
    let text = "24006: SqlHierarchyId.WriteOrd failed because its result is too big.";
    failed(text.to_owned(), "WriteOrd(Int64 ord)")
}

/// See [`ClrType::check`].
pub(crate) fn check(bytes: &[u8]) -> Result<(), ClrError> {
    let mut all = ordinals(bytes);
    let ends = all.by_ref().last().is_none_or(|(ordinal, _)| ordinal.ends_level);
    let whole = bytes.len() == bit_len(bytes).div_ceil(8) && bytes.len() <= BYTES_MAX;
    if ends && whole && all.is_done() { Ok(()) } else { Err(invalid()) }
}

/// `/1/2.5/`. Numbers have no zeros before them; blanks are none of it.
pub(crate) fn parse(text: &str) -> Result<Vec<u8>, ClrError> {
    parsed(text).ok_or_else(|| {
        failed(
            format!(
                "24001: SqlHierarchyId.Parse failed because the input string '{text}' is not a valid string \
                 representation of a SqlHierarchyId node."
            ),
            "Parse(SqlString input)",
        )
    })
}

fn parsed(text: &str) -> Option<Vec<u8>> {
    if text == "/" {
        return Some(Vec::new());
    }
    let levels = text.strip_prefix('/')?.strip_suffix('/')?;
    let mut out = Writer::of(&[], 0);
    let mut label = Vec::new();
    for level in levels.split('/') {
        label.clear();
        for number in level.split('.') {
            let digits = number.strip_prefix('-').unwrap_or(number);
            let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            if !plain || (digits.starts_with('0') && number != "0") {
                return None;
            }
            let number: i64 = number.parse().ok()?;
            label.push(Some(number).filter(|n| (LEAST..=MOST).contains(n))?);
        }
        out.put_label(&label)?;
    }
    out.finish()
}

/// See [`ClrType::text`].
pub(crate) fn text(bytes: &[u8]) -> Result<Cow<'static, str>, ClrError> {
    let mut out = String::from("/");
    let mut all = ordinals(bytes);
    for (ordinal, _) in all.by_ref() {
        let after = if ordinal.ends_level { '/' } else { '.' };
        // Writing into a text does not fail.
        let _ = write!(out, "{}{after}", ordinal.number);
    }
    if all.is_done() { Ok(Cow::Owned(out)) } else { Err(invalid()) }
}

/// A text for an error.
fn shown(bytes: &[u8]) -> Cow<'static, str> {
    text(bytes).unwrap_or(Cow::Borrowed(""))
}

/// What no value below `bytes` lies above: it is a bound, and no value itself. A number has a 0 among its first 22 bits.
pub(crate) fn descendant_limit(bytes: &[u8]) -> Vec<u8> {
    let bits = bit_len(bytes);
    let mut limit = Writer::of(bytes, bits);
    limit.put(u64::MAX, 24 + (8 - bits as u32 % 8) % 8);
    limit.into_bytes()
}

fn parse_method(args: &[Arg<'_>]) -> Result<Made, ClrError> {
    match args[0] {
        Arg::Text(text) => parse(text).map(Made::Bytes),
        _ => Ok(Made::Null),
    }
}

/// NULL above the root.
fn ancestor(args: &[Arg<'_>]) -> Result<Made, ClrError> {
    let this = args[0].bytes();
    let Arg::Int(n) = args[1] else { return Ok(Made::Null) };
    let Ok(n) = usize::try_from(n) else {
        let text = "24011: SqlHierarchyId.GetAncestor failed because 'n' was negative.";
        return Err(failed(text.to_owned(), "GetAncestor(Int32 n)"));
    };
    let end = level(this).checked_sub(n).and_then(|depth| level_end(this, depth));
    let Some(end) = end else { return Ok(Made::Null) };
    Writer::of(this, end).finish().map(Made::Bytes).ok_or_else(too_big)
}

/// A child above `child1` and below `child2`, either of which may be NULL.
fn descendant(args: &[Arg<'_>]) -> Result<Made, ClrError> {
    const PLACE: &str = "GetDescendant(SqlHierarchyId child1, SqlHierarchyId child2)";
    let this = args[0].bytes();
    let depth = level(this);
    let child = |at: usize| -> Result<Option<Vec<i64>>, ClrError> {
        let Arg::Bytes(child) = args[at] else { return Ok(None) };
        if level(child) != depth + 1 || !is_descendant(child, this) {
            let (child, this) = (shown(child), shown(this));
            let text = format!(
                "24008: SqlHierarchyId.GetDescendant failed because 'child{at}' must be a child of 'this'.  \
                 'child{at}' was '{child}' and 'this' was '{this}'."
            );
            return Err(failed(text, PLACE));
        }
        Ok(Some(last_label(child)))
    };
    let beside = |mut label: Vec<i64>, by: i64| {
        if let Some(last) = label.last_mut() {
            *last += by;
        }
        label
    };
    let label = match (child(1)?, child(2)?) {
        (None, None) => vec![1],
        (Some(below), None) => beside(below, 1),
        (None, Some(above)) => beside(above, -1),
        (Some(below), Some(above)) if below < above => between(&below, &above),
        (Some(_), Some(_)) => {
            let text = format!(
                "24005: SqlHierarchyId.GetDescendant failed because 'child1' must be less than 'child2'.  'child1' was \
                 '{}' and 'child2' was '{}'.",
                shown(args[1].bytes()),
                shown(args[2].bytes())
            );
            return Err(failed(text, PLACE));
        }
    };
    let mut out = Writer::of(this, bit_len(this));
    out.put_label(&label).ok_or_else(too_big)?;
    out.finish().map(Made::Bytes).ok_or_else(too_big)
}

/// A short label between two: the next number where one is free, else one behind a dot.
fn between(below: &[i64], above: &[i64]) -> Vec<i64> {
    let same = below.iter().zip(above).take_while(|(a, b)| a == b).count();
    let (Some(a), b) = (below.get(same), above[same]) else {
        // `1` and `1.1`: `1.0`.
        let mut label = below.to_vec();
        label.push(above[same] - 1);
        return label;
    };
    let mut label = below[..same].to_vec();
    if a + 1 < b {
        label.push(a + 1);
        return label;
    }
    match below.get(same + 1) {
        // `1.1` and `2`: `1.2`.
        Some(next) => label.extend([*a, next + 1]),
        // `1` and `2.5`: `2`.
        None if above.len() > same + 1 => label.push(b),
        // `1` and `2`: `1.1`.
        None => label.extend([*a, 1]),
    }
    label
}

/// What lies below `oldRoot`, below `newRoot`.
fn reparented(args: &[Arg<'_>]) -> Result<Made, ClrError> {
    let [this, old, new] = [0, 1, 2].map(|at| args[at].bytes());
    if !is_descendant(this, old) {
        let (old, this) = (shown(old), shown(this));
        let text = format!(
            "24009: SqlHierarchyId.GetReparentedValue failed because 'oldRoot' was not an ancestor node of 'this'.  \
             'oldRoot' was '{old}', and 'this' was '{this}'."
        );
        let place = "GetReparentedValue(SqlHierarchyId oldRoot, SqlHierarchyId newRoot)";
        return Err(failed(text, place));
    }
    let mut out = Writer::of(new, bit_len(new));
    out.put_from(this, bit_len(old));
    out.finish().map(Made::Bytes).ok_or_else(too_big)
}
