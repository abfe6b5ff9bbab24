//! One aggregate's running value.
//!
//! Promise: NULLs are skipped (but COUNT(*) counts rows); integer sums are exact and overflow the result's type
//! with 8115 as SQL Server's do.

use super::hash::KeyEncoder;
use crate::key_hasher::KeyHasher;
use crate::key_index::{KeyIndex, hash_of};
use crate::message::SqlError;
use ir::AggFunc;
use runtime::task::{self, Many};
use std::cell::Cell;
use std::collections::HashSet;
use std::hash::BuildHasherDefault;
use types::{Decimal, Len, SqlType, TypeError, Value, compare, convert};

/// What an aggregate computes.
#[derive(Debug, Clone)]
pub(super) struct Spec {
    pub func: AggFunc,
    pub distinct: bool,
    /// The argument's type; None for COUNT(*).
    pub arg: Option<SqlType>,
    pub ty: SqlType,
    /// A NULL has been passed over.
    pub passed_null: Cell<bool>,
}

/// The state of one aggregate over one group.
#[derive(Debug, Clone)]
pub(super) struct Accumulator {
    state: State,
    seen: Option<Box<Seen>>,
}

// One line of memory: a grouping's states are met in any order.
const _: () = assert!(size_of::<Accumulator>() <= 64);

/// The values that a DISTINCT has met: numbers and dates as they are, others by their keys. Many of them go where growing
/// lets others go first.
#[derive(Debug, Clone)]
enum Seen {
    Numbers(HashSet<i64, BuildHasherDefault<KeyHasher>>),
    Keys(HashSet<Box<[u8]>, BuildHasherDefault<KeyHasher>>),
    ManyNumbers(KeyIndex),
    ManyKeys(KeyIndex),
}

/// Values that a small set takes.
const SEEN_MAX: usize = 4096;

impl Seen {
    fn new(ty: Option<SqlType>) -> Seen {
        match ty {
            Some(SqlType::Date | SqlType::Money | SqlType::SmallMoney) => {
                Seen::Numbers(HashSet::default())
            }
            Some(ty) if ty.is_integer() => Seen::Numbers(HashSet::default()),
            _ => Seen::Keys(HashSet::default()),
        }
    }

    /// Whether a value of the type is met for the first time.
    fn is_new(&mut self, ty: SqlType, value: &Value) -> bool {
        let number = || match value {
            Value::Date(days) => i64::from(*days),
            Value::Money(units) => *units,
            value => value.as_i64().unwrap_or_default(),
        };
        let key = || {
            let mut key = Vec::new();
            KeyEncoder::new([ty]).push(0, value, &mut key);
            key
        };
        match self {
            Seen::Numbers(known) if known.len() >= SEEN_MAX => {
                let keys = std::mem::take(known).into_iter().map(i64::to_le_bytes);
                *self = Seen::ManyNumbers(indexed(keys));
                self.is_new(ty, value)
            }
            Seen::Keys(known) if known.len() >= SEEN_MAX => {
                *self = Seen::ManyKeys(indexed(std::mem::take(known).into_iter()));
                self.is_new(ty, value)
            }
            Seen::Numbers(known) => known.insert(number()),
            Seen::Keys(known) => known.insert(key().into_boxed_slice()),
            Seen::ManyNumbers(known) => is_new_key(known, &number().to_le_bytes()),
            Seen::ManyKeys(known) => is_new_key(known, &key()),
        }
    }
}

/// Keys, each of which is met once.
fn indexed(keys: impl Iterator<Item = impl AsRef<[u8]>>) -> KeyIndex {
    let mut index = KeyIndex::default();
    for key in keys {
        index.add(key.as_ref(), hash_of(key.as_ref()));
    }
    index
}

fn is_new_key(known: &mut KeyIndex, key: &[u8]) -> bool {
    let hash = hash_of(key);
    if known.find(key, hash).is_some() {
        return false;
    }
    known.add(key, hash);
    true
}

#[derive(Debug, Clone)]
enum State {
    Count(i64),
    /// Sum in units of the argument's scale, and how many.
    Exact {
        sum: i128,
        count: i64,
    },
    Approximate {
        sum: f64,
        count: i64,
    },
    Extreme(Value),
    /// The XOR of the values; None before the first.
    Checksum(Option<i32>),
    Joined(Box<Joined>),
    /// Welford's running mean and squared distance.
    Moments {
        count: i64,
        mean: f64,
        squares: f64,
    },
}

/// STRING_AGG: the pieces with their places in the order, and what goes between. A percentile: the values likewise, and
/// the share. An aggregate of a type of the CLR: the values.
#[derive(Debug, Clone, Default)]
struct Joined {
    pieces: Many<(Box<[u8]>, Value)>,
    separator: Value,
}

impl Accumulator {
    pub fn new(spec: &Spec) -> Accumulator {
        let approximate = matches!(spec.arg, Some(SqlType::Float | SqlType::Real));
        let state = match spec.func {
            AggFunc::Count | AggFunc::CountBig => State::Count(0),
            AggFunc::Sum | AggFunc::Avg if approximate => State::Approximate { sum: 0.0, count: 0 },
            AggFunc::Sum | AggFunc::Avg => State::Exact { sum: 0, count: 0 },
            AggFunc::Min | AggFunc::Max => State::Extreme(Value::Null),
            AggFunc::ChecksumAgg => State::Checksum(None),
            AggFunc::StDev | AggFunc::StDevP | AggFunc::Var | AggFunc::VarP => {
                State::Moments { count: 0, mean: 0.0, squares: 0.0 }
            }
            AggFunc::StringAgg
            | AggFunc::PercentileCont
            | AggFunc::PercentileDisc
            | AggFunc::Clr(..) => State::Joined(Box::default()),
        };
        Accumulator { state, seen: spec.distinct.then(|| Box::new(Seen::new(spec.arg))) }
    }

    /// COUNT(*) takes rows.
    #[inline]
    pub fn add_rows(&mut self, rows: i64) {
        if let State::Count(n) = &mut self.state {
            *n += rows;
        }
    }

    /// Takes a value so many times.
    #[inline]
    pub fn add_times(&mut self, spec: &Spec, value: &Value, times: i64) -> Result<(), SqlError> {
        if times == 1 || value.is_null() {
            return self.add(spec, value);
        }
        match &mut self.state {
            // Once is as often as need be.
            _ if self.seen.is_some() => return self.add(spec, value),
            State::Extreme(_) => return self.add(spec, value),
            State::Count(n) => *n += times,
            State::Exact { sum, count } => {
                let more = units(value).checked_mul(times as i128);
                let all = more.and_then(|more| sum.checked_add(more));
                *sum = all.ok_or_else(|| overflow(spec.ty))?;
                *count += times;
            }
            // The others' results depend on how often rounding happens, or cancel out by pairs.
            _ => {
                for _ in 0..times {
                    self.add(spec, value)?;
                }
            }
        }
        Ok(())
    }

    /// SUM, AVG and COUNT take an exact number, in units of its scale, so many times.
    #[inline]
    pub fn add_units(&mut self, spec: &Spec, units: i64, times: i64) -> Result<(), SqlError> {
        match &mut self.state {
            State::Exact { sum, count } => {
                let more = i128::from(units) * i128::from(times);
                *sum = sum.checked_add(more).ok_or_else(|| overflow(spec.ty))?;
                *count += times;
            }
            State::Count(n) => *n += times,
            _ => {}
        }
        Ok(())
    }

    /// STRING_AGG takes a piece; `separator` is asked for once.
    pub fn join(
        &mut self,
        value: &Value,
        key: &[u8],
        between: impl FnOnce() -> Result<Value, SqlError>,
    ) -> Result<(), SqlError> {
        if let (State::Joined(joined), false) = (&mut self.state, value.is_null()) {
            let Joined { pieces, separator } = &mut **joined;
            if pieces.is_empty() {
                *separator = between()?;
            }
            pieces.push((key.into(), value.clone()));
        }
        Ok(())
    }

    /// Takes all that another one has taken. Not for DISTINCT.
    pub fn absorb(&mut self, spec: &Spec, other: &Accumulator) -> Result<(), SqlError> {
        match (&mut self.state, &other.state) {
            (State::Count(n), State::Count(more)) => *n += more,
            (State::Exact { sum, count }, State::Exact { sum: s, count: c }) => {
                *sum = sum.checked_add(*s).ok_or_else(|| overflow(spec.ty))?;
                *count += c;
            }
            (State::Approximate { sum, count }, State::Approximate { sum: s, count: c }) => {
                *sum += s;
                *count += c;
            }
            // Of no rows it is NULL, which is no NULL of a row.
            (State::Extreme(_), State::Extreme(best)) if best.is_null() => {}
            (State::Extreme(_), State::Extreme(best)) => self.add(spec, best)?,
            (State::Checksum(sum), State::Checksum(Some(more))) => {
                *sum = Some(sum.unwrap_or(0) ^ more);
            }
            (
                State::Moments { count, mean, squares },
                State::Moments { count: c, mean: m, squares: s },
            ) if *c > 0 => {
                let (n, k) = (*count as f64, *c as f64);
                let delta = m - *mean;
                *mean += delta * k / (n + k);
                *squares += s + delta * delta * n * k / (n + k);
                *count += c;
            }
            (State::Joined(joined), State::Joined(more)) => {
                if joined.pieces.is_empty() {
                    joined.separator = more.separator.clone();
                }
                joined.pieces.extend_from_slice(&more.pieces);
            }
            _ => {}
        }
        Ok(())
    }

    /// What it has taken, as a value to be written; see [`Accumulator::restored`]. Not for DISTINCT and joined ones.
    pub fn stored(&self) -> Value {
        let mut bytes = Vec::with_capacity(24);
        match &self.state {
            State::Extreme(best) => return best.clone(),
            State::Count(n) => bytes.extend(n.to_le_bytes()),
            State::Exact { sum, count } => {
                bytes.extend(sum.to_le_bytes());
                bytes.extend(count.to_le_bytes());
            }
            State::Approximate { sum, count } => {
                bytes.extend(sum.to_le_bytes());
                bytes.extend(count.to_le_bytes());
            }
            State::Checksum(sum) => bytes.extend(sum.iter().flat_map(|sum| sum.to_le_bytes())),
            State::Moments { count, mean, squares } => {
                bytes.extend(count.to_le_bytes());
                bytes.extend(mean.to_le_bytes());
                bytes.extend(squares.to_le_bytes());
            }
            State::Joined(_) => stdx::fatal!("joined values are not grouped in parts"),
        }
        Value::binary(&bytes)
    }

    /// The one whose value was written.
    pub fn restored(spec: &Spec, stored: &Value) -> Accumulator {
        let mut made = Accumulator::new(spec);
        if let State::Extreme(best) = &mut made.state {
            *best = stored.clone();
            return made;
        }
        let Value::Binary(bytes) = stored else { stdx::fatal!("a state was written otherwise") };
        let mut rest: &[u8] = bytes;
        match &mut made.state {
            State::Count(n) => *n = i64::from_le_bytes(next(&mut rest)),
            State::Exact { sum, count } => {
                *sum = i128::from_le_bytes(next(&mut rest));
                *count = i64::from_le_bytes(next(&mut rest));
            }
            State::Approximate { sum, count } => {
                *sum = f64::from_le_bytes(next(&mut rest));
                *count = i64::from_le_bytes(next(&mut rest));
            }
            State::Checksum(sum) => {
                *sum = (!rest.is_empty()).then(|| i32::from_le_bytes(next(&mut rest)));
            }
            State::Moments { count, mean, squares } => {
                *count = i64::from_le_bytes(next(&mut rest));
                *mean = f64::from_le_bytes(next(&mut rest));
                *squares = f64::from_le_bytes(next(&mut rest));
            }
            State::Extreme(_) | State::Joined(_) => {}
        }
        made
    }

    /// Takes a value.
    pub fn add(&mut self, spec: &Spec, value: &Value) -> Result<(), SqlError> {
        if value.is_null() {
            spec.passed_null.set(true);
            return Ok(());
        }
        if let (Some(seen), Some(ty)) = (&mut self.seen, spec.arg)
            && !seen.is_new(ty, value)
        {
            return Ok(());
        }
        match &mut self.state {
            State::Count(n) => *n += 1,
            State::Checksum(sum) => {
                let value = value.as_i64().unwrap_or(0) as i32;
                *sum = Some(sum.unwrap_or(0) ^ value);
            }
            State::Exact { sum, count } => {
                *sum = sum.checked_add(units(value)).ok_or_else(|| overflow(spec.ty))?;
                *count += 1;
            }
            State::Approximate { sum, count } => {
                *sum += functions::real(value);
                *count += 1;
            }
            State::Extreme(best) => {
                let better = best.is_null()
                    || match spec.func {
                        AggFunc::Min => compare::sort_order(value, best).is_lt(),
                        _ => compare::sort_order(value, best).is_gt(),
                    };
                if better {
                    *best = value.clone();
                }
            }
            State::Joined(joined) => joined.pieces.push((Box::default(), value.clone())),
            State::Moments { count, mean, squares } => {
                let x = functions::real(value);
                *count += 1;
                let delta = x - *mean;
                *mean += delta / *count as f64;
                *squares += delta * (x - *mean);
            }
        }
        Ok(())
    }

    /// The aggregate's value so far.
    pub fn value(&self, spec: &Spec) -> Result<Value, SqlError> {
        match &self.state {
            State::Count(n) => match spec.ty {
                SqlType::BigInt => Ok(Value::BigInt(*n)),
                _ => i32::try_from(*n).map(Value::Int).map_err(|_| overflow(SqlType::Int)),
            },
            State::Extreme(value) => Ok(value.clone()),
            State::Checksum(sum) => Ok(Value::from(*sum)),
            State::Joined(all) => match spec.func {
                AggFunc::StringAgg => joined(spec, &all.pieces, &all.separator),
                AggFunc::Clr(ty, aggregate) => {
                    let group: Vec<&[u8]> = all.pieces.iter().map(|(_, v)| bytes(v)).collect();
                    let made = aggregate.of(ty, &group).map_err(TypeError::from)?;
                    Ok(made.map_or(Value::Null, |bytes| Value::Binary(bytes.into())))
                }
                _ => percentile(spec, &all.pieces, &all.separator),
            },
            State::Exact { count: 0, .. } | State::Approximate { count: 0, .. } => Ok(Value::Null),
            State::Exact { sum, count } => exact(spec, *sum, *count),
            State::Approximate { sum, count } => {
                let x = if spec.func == AggFunc::Avg { sum / *count as f64 } else { *sum };
                Ok(convert::cast(&Value::Float(x), SqlType::Float, spec.ty, 0)?)
            }
            State::Moments { count, squares, .. } => {
                let sample = matches!(spec.func, AggFunc::StDev | AggFunc::Var);
                let n = if sample { count - 1 } else { *count };
                if n < 1 {
                    return Ok(Value::Null);
                }
                let variance = squares / n as f64;
                let root = matches!(spec.func, AggFunc::StDev | AggFunc::StDevP);
                Ok(Value::Float(if root { variance.sqrt() } else { variance }))
            }
        }
    }
}

/// The next bytes of a state.
fn next<const N: usize>(rest: &mut &[u8]) -> [u8; N] {
    let Some((bytes, more)) = rest.split_first_chunk() else {
        stdx::fatal!("a state was written otherwise")
    };
    *rest = more;
    *bytes
}

fn bytes(value: &Value) -> &[u8] {
    if let Value::Binary(bytes) = value { bytes } else { &[] }
}

/// A number in units of its scale.
#[inline]
fn units(value: &Value) -> i128 {
    match value {
        Value::Decimal(d) => d.units(),
        Value::Money(m) => *m as i128,
        other => other.as_i64().unwrap_or(0) as i128,
    }
}

/// The value below which that share of all lies, between two of them where it falls between: 10755.
fn percentile(
    spec: &Spec,
    pieces: &[(Box<[u8]>, Value)],
    share: &Value,
) -> Result<Value, SqlError> {
    let Some(most) = pieces.len().checked_sub(1) else { return Ok(Value::Null) };
    let share = functions::real(share);
    if !(0.0..=1.0).contains(&share) {
        return Err(percentile_out_of_range());
    }
    let mut order: Vec<&(Box<[u8]>, Value)> = pieces.iter().collect();
    task::sort_by(&mut order, |a, b| a.0.cmp(&b.0))?;
    if spec.func == AggFunc::PercentileDisc {
        let index = (share * pieces.len() as f64).ceil() as usize;
        return Ok(order[index.saturating_sub(1).min(most)].1.clone());
    }
    let place = share * most as f64;
    let at = |place: f64| functions::real(&order[place as usize].1);
    let (low, high) = (at(place.floor()), at(place.ceil()));
    Ok(Value::Float(low + (high - low) * (place - place.floor())))
}

/// 8727.
pub(super) fn percentile_out_of_range() -> SqlError {
    SqlError::new(8727, 16, "Input parameter of percentile function is outside of range [0, 1].")
}

/// The pieces in their order, with the separator between: 9829.
fn joined(
    spec: &Spec,
    pieces: &[(Box<[u8]>, Value)],
    separator: &Value,
) -> Result<Value, SqlError> {
    if pieces.is_empty() {
        return Ok(Value::Null);
    }
    let mut order: Vec<&(Box<[u8]>, Value)> = pieces.iter().collect();
    task::sort_by(&mut order, |a, b| a.0.cmp(&b.0))?;
    let between = separator.as_str().unwrap_or_default();
    let mut text = String::new();
    for (i, (_, piece)) in order.into_iter().enumerate() {
        if i > 0 {
            text.push_str(between);
        }
        text.push_str(piece.as_str().unwrap_or_default());
    }
    let long = match spec.ty {
        SqlType::NVarChar(Len::N(n)) => text.encode_utf16().count() > n as usize,
        SqlType::VarChar(Len::N(n)) => text.chars().count() > n as usize,
        _ => false,
    };
    if long {
        return Err(SqlError::new(
            9829,
            16,
            "STRING_AGG aggregation result exceeded the limit of 8000 bytes. Use LOB types to avoid \
             result truncation.",
        ));
    }
    Ok(Value::str(&text))
}

fn exact(spec: &Spec, sum: i128, count: i64) -> Result<Value, SqlError> {
    let average = spec.func == AggFunc::Avg;
    match (spec.ty, spec.arg) {
        (SqlType::Decimal { precision, scale, .. }, arg) => {
            let from = match arg {
                Some(SqlType::Decimal { scale, .. }) => scale,
                Some(SqlType::Money | SqlType::SmallMoney) => 4,
                _ => 0,
            };
            let widened = sum
                .checked_mul(10i128.pow(scale.saturating_sub(from) as u32))
                .ok_or_else(|| overflow(spec.ty))?;
            let units = if average { widened / count as i128 } else { widened };
            Ok(Value::Decimal(Decimal::new(units, precision, scale)?))
        }
        (SqlType::Money | SqlType::SmallMoney, _) => {
            let units = if average { sum / count as i128 } else { sum };
            i64::try_from(units).map(Value::Money).map_err(|_| overflow(spec.ty))
        }
        _ => {
            let whole = if average { sum / count as i128 } else { sum };
            let whole = i64::try_from(whole).map_err(|_| overflow(spec.ty))?;
            match spec.ty {
                SqlType::BigInt => Ok(Value::BigInt(whole)),
                _ => i32::try_from(whole).map(Value::Int).map_err(|_| overflow(spec.ty)),
            }
        }
    }
}

fn overflow(ty: SqlType) -> SqlError {
    TypeError::Overflow { from: "expression", to: ty.message_name() }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(func: AggFunc, ty: SqlType, arg: SqlType, values: &[Value]) -> Result<Value, SqlError> {
        let spec = Spec { func, distinct: false, arg: Some(arg), ty, passed_null: Cell::default() };
        let mut acc = Accumulator::new(&spec);
        for value in values {
            acc.add(&spec, value)?;
        }
        acc.value(&spec)
    }

    #[test]
    fn sums_and_averages_of_integers() {
        let values = [Value::Int(1), Value::Null, Value::Int(4)];
        let int = SqlType::Int;
        assert_eq!(run(AggFunc::Sum, int, int, &values).unwrap(), Value::Int(5));
        assert_eq!(run(AggFunc::Avg, int, int, &values).unwrap(), Value::Int(2));
        assert_eq!(run(AggFunc::Count, int, int, &values).unwrap(), Value::Int(2));
        assert_eq!(run(AggFunc::Sum, int, int, &[Value::Null]).unwrap(), Value::Null);
        let big = [Value::Int(i32::MAX), Value::Int(1)];
        assert_eq!(run(AggFunc::Sum, int, int, &big).unwrap_err().number, 8115);
        let bigint = SqlType::BigInt;
        assert_eq!(run(AggFunc::Sum, bigint, bigint, &big).unwrap(), Value::BigInt(1 << 31));
    }

    #[test]
    fn distinct_counts_once() {
        let spec = Spec {
            func: AggFunc::Count,
            distinct: true,
            arg: Some(SqlType::Int),
            ty: SqlType::Int,
            passed_null: Cell::default(),
        };
        let mut acc = Accumulator::new(&spec);
        for n in [1, 2, 1, 2, 3] {
            acc.add(&spec, &Value::Int(n)).unwrap();
        }
        assert_eq!(acc.value(&spec).unwrap(), Value::Int(3));
    }

    #[test]
    fn deviation_of_a_sample() {
        let values = [Value::Float(2.0), Value::Float(4.0)];
        let got = run(AggFunc::Var, SqlType::Float, SqlType::Float, &values).unwrap();
        assert_eq!(got, Value::Float(2.0));
        let one = run(AggFunc::Var, SqlType::Float, SqlType::Float, &values[..1]).unwrap();
        assert_eq!(one, Value::Null);
    }
}
