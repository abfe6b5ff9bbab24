//! What a hash join knows of its keys, for whoever reads the rows that it will be probed with: rows that cannot meet
//! anybody need not be decoded, nor pass an exchange.
//!
//! Promise: a row with a key that is in the table passes; most others do not. It is asked with the table's own encoding of
//! keys. Whole numbers that lie close together have a bit each; other keys a Bloom filter of one word for each: two bits of
//! the word that the hash chooses.

use super::hash::{KeyEncoder, of_eight, of_four};
use super::keep::keep;
use super::raw_layout::RawLayout;
use super::reader;
use crate::key_index::{KeyIndex, hash_of};
use engine::Spot;
use ir::Expr;
use std::sync::Arc;
use types::{RowLayout, SqlType};

/// Tables of more keys get none: it would stay in no cache.
const KEYS_MAX: usize = 2 << 20;
/// Up to so many keys have a word each, more have [`BITS_PER_KEY`].
const KEYS_OF_A_WORD: usize = 32 << 10;
const BITS_PER_KEY: usize = 16;
/// Bits that numbers may have at least, however few they are: they stay in the second cache.
const NUMBERS_BITS: u64 = 1 << 20;
/// Where more than half of the rows pass, nobody is asked any more: looked at first after so many rows.
const ROWS_MIN: u64 = 1024;

/// See the file's first lines.
#[derive(Clone)]
pub(crate) struct JoinFilter {
    /// The slots of the probing rows that are their key.
    slots: Vec<u32>,
    encoder: KeyEncoder,
    known: Known,
}

/// What is known of the keys.
#[derive(Clone)]
enum Known {
    /// Whole numbers: a bit for each from the least on.
    Numbers { least: i64, bits: Arc<[u64]> },
    /// A power of two of words, by the keys' hashes.
    Hashed(Arc<[u64]>),
}

impl Known {
    fn of(keys: &KeyIndex, encoder: &KeyEncoder) -> Known {
        Known::of_numbers(keys, encoder).unwrap_or_else(|| {
            let count = keys.len().min(KEYS_OF_A_WORD).max(keys.len() * BITS_PER_KEY / 64);
            let mut words = vec![0u64; count.next_power_of_two()];
            let mask = words.len() - 1;
            for number in 0..keys.len() as u32 {
                let hash = keys.hash(number);
                words[place(hash) & mask] |= bits(hash);
            }
            Known::Hashed(words.into())
        })
    }

    /// Where the keys are whole numbers that lie close together.
    fn of_numbers(keys: &KeyIndex, encoder: &KeyEncoder) -> Option<Known> {
        if encoder.len() != 1
            || !matches!(encoder.ty(0), SqlType::Int | SqlType::Date | SqlType::BigInt)
        {
            return None;
        }
        // NULL is equal to nothing.
        let numbers =
            || (0..keys.len() as u32).filter_map(|n| number_of(keys.key(n, &mut [0; 16])));
        let (least, most) = (numbers().min()?, numbers().max()?);
        let range = most.abs_diff(least).checked_add(1)?;
        if range > NUMBERS_BITS.max((keys.len() * BITS_PER_KEY) as u64) {
            return None;
        }
        let mut bits = vec![0u64; range.div_ceil(64) as usize];
        for number in numbers() {
            let at = number.abs_diff(least);
            bits[(at / 64) as usize] |= 1 << (at % 64);
        }
        Some(Known::Numbers { least, bits: bits.into() })
    }
}

/// The number of a key that is one.
fn number_of(key: &[u8]) -> Option<i64> {
    match *key {
        [1, a, b, c, d] => Some(i64::from(u32::from_be_bytes([a, b, c, d]) as i32 ^ i32::MIN)),
        [1, a, b, c, d, e, f, g, h] => {
            Some(u64::from_be_bytes([a, b, c, d, e, f, g, h]) as i64 ^ i64::MIN)
        }
        _ => None,
    }
}

impl JoinFilter {
    /// Of a table with these keys, for rows whose key is in `slots`; none where that does not pay.
    pub fn new(keys: &KeyIndex, slots: Vec<u32>, encoder: &KeyEncoder) -> Option<JoinFilter> {
        if keys.len() > KEYS_MAX {
            return None;
        }
        Some(JoinFilter { slots, encoder: encoder.clone(), known: Known::of(keys, encoder) })
    }

    /// The slots of the rows that are asked about.
    pub fn slots(&self) -> &[u32] {
        &self.slots
    }

    /// The same for rows of which an operator makes those that are asked about: by what it computes of each. None where a
    /// part of the key is computed.
    pub fn below(&self, exprs: &[Expr]) -> Option<JoinFilter> {
        let below = |slot: &u32| exprs.get(*slot as usize)?.as_slot();
        Some(self.over(self.slots.iter().map(below).collect::<Option<_>>()?))
    }

    /// The same for rows that have the key in other slots.
    pub fn over(&self, slots: Vec<u32>) -> JoinFilter {
        JoinFilter { slots, ..self.clone() }
    }

    /// Whether a row with this key may meet anybody.
    #[inline]
    fn knows(&self, key: &[u8]) -> bool {
        match &self.known {
            Known::Numbers { least, bits } => {
                number_of(key).is_some_and(|number| has_bit(*least, bits, number))
            }
            Known::Hashed(words) => {
                let hash = hash_of(key);
                let wanted = bits(hash);
                words[place(hash) & (words.len() - 1)] & wanted == wanted
            }
        }
    }

    #[inline]
    fn knows_four(&self, number: i32) -> bool {
        match &self.known {
            Known::Numbers { least, bits } => has_bit(*least, bits, i64::from(number)),
            Known::Hashed(_) => self.knows(&of_four(number)),
        }
    }

    #[inline]
    fn knows_eight(&self, number: i64) -> bool {
        match &self.known {
            Known::Numbers { least, bits } => has_bit(*least, bits, number),
            Known::Hashed(_) => self.knows(&of_eight(number)),
        }
    }
}

#[inline]
fn has_bit(least: i64, bits: &[u64], number: i64) -> bool {
    let at = number.wrapping_sub(least) as u64;
    bits.get((at / 64) as usize).is_some_and(|word| word >> (at % 64) & 1 != 0)
}

fn place(hash: u64) -> usize {
    (hash >> 12) as usize
}

fn bits(hash: u64) -> u64 {
    1 << (hash & 63) | 1 << (hash >> 6 & 63)
}

/// A filter at work over stored rows, and whether it pays.
pub(super) struct Narrowing {
    filter: JoinFilter,
    parts: Vec<Part>,
    met: u64,
    passed: u64,
    /// Rows after which it is judged.
    judged_at: u64,
    off: bool,
    key: Vec<u8>,
}

/// A part of the key in a stored row.
struct Part {
    column: usize,
    nullable: bool,
    form: Form,
}

/// How it is had: from four or eight bytes as they lie there, or as a value.
#[derive(Clone, Copy)]
enum Form {
    Four(usize),
    Eight(usize),
    Value,
}

impl Narrowing {
    /// Over rows that have the filter's slots in these columns.
    pub fn new(filter: &JoinFilter, columns: Vec<usize>, layout: &RawLayout<'_>) -> Narrowing {
        let part = |(i, column): (usize, usize)| {
            let stored = &layout.layout().columns()[column];
            let offset = layout.layout().fixed_offset(column);
            let form = match (offset, filter.encoder.ty(i)) {
                (Some(at), SqlType::Int | SqlType::Date) if filter.encoder.ty(i) == stored.ty => {
                    Form::Four(at)
                }
                (Some(at), SqlType::BigInt) if stored.ty == SqlType::BigInt => Form::Eight(at),
                _ => Form::Value,
            };
            Part { column, nullable: stored.nullable, form }
        };
        let parts = columns.into_iter().enumerate().map(part).collect();
        let filter = filter.clone();
        Narrowing {
            filter,
            parts,
            met: 0,
            passed: 0,
            judged_at: ROWS_MIN,
            off: false,
            key: Vec::new(),
        }
    }

    /// Whether a stored row passes.
    #[inline]
    pub fn passes(&mut self, layout: &RawLayout<'_>, row: &[u8]) -> bool {
        if self.off {
            return true;
        }
        let passes = self.has_key(layout, row) && self.filter.knows(&self.key);
        self.judge(1, usize::from(passes));
        passes
    }

    /// Leaves those of the rows in `bytes` that pass; `whole`: they have all columns.
    pub fn retain(
        &mut self,
        layout: &RawLayout<'_>,
        bytes: &[u8],
        rows: &mut Vec<Spot>,
        whole: bool,
    ) {
        if self.off {
            return;
        }
        let met = rows.len();
        match self.parts[..] {
            [Part { form: Form::Four(at), column, nullable }] if whole => keep(rows, |row| {
                let row = &bytes[row.at as usize..];
                self.filter.knows_four(reader::four(&row[at..]))
                    && !(nullable && layout.layout().is_null(row, column))
            }),
            [Part { form: Form::Eight(at), column, nullable }] if whole => keep(rows, |row| {
                let row = &bytes[row.at as usize..];
                self.filter.knows_eight(reader::eight(&row[at..]))
                    && !(nullable && layout.layout().is_null(row, column))
            }),
            _ => keep(rows, |row| {
                self.has_key(layout, row.of(bytes)) && self.filter.knows(&self.key)
            }),
        }
        self.judge(met, rows.len());
    }

    fn judge(&mut self, met: usize, passed: usize) {
        self.met += met as u64;
        self.passed += passed as u64;
        if self.met >= self.judged_at {
            self.judged_at = 2 * self.met;
            self.off = 2 * self.passed > self.met;
        }
    }

    /// Puts the row's key into the buffer; false when a part is NULL.
    #[inline]
    fn has_key(&mut self, layout: &RawLayout<'_>, row: &[u8]) -> bool {
        self.key.clear();
        let columns = RowLayout::row_columns(row);
        for (i, part) in self.parts.iter().enumerate() {
            let is_null = || part.nullable && layout.layout().is_null(row, part.column);
            match part.form {
                Form::Four(_) | Form::Eight(_) if part.column < columns && is_null() => {
                    return false;
                }
                Form::Four(at) if part.column < columns => {
                    self.key.extend_from_slice(&of_four(reader::four(&row[at..])));
                }
                Form::Eight(at) if part.column < columns => {
                    self.key.extend_from_slice(&of_eight(reader::eight(&row[at..])));
                }
                _ => {
                    let value = layout.value(row, part.column);
                    if value.is_null() {
                        return false;
                    }
                    self.filter.encoder.push(i, &value, &mut self.key);
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::collation::Rule;
    use types::{RowColumn, Value};

    fn layout(nullable: bool) -> RowLayout {
        RowLayout::new(&[RowColumn { ty: SqlType::Int, nullable, rule: Rule::CiAs }])
    }

    fn row(layout: &RawLayout<'_>, value: Value) -> Vec<u8> {
        let mut row = Vec::new();
        layout.layout().encode(&[value], &mut row).unwrap();
        row
    }

    #[test]
    fn who_is_in_the_table_passes_and_few_others_do() {
        // Numbers that have a bit each, and such as lie too far apart.
        for step in [3, 1_000_003] {
            who_passes(step);
        }
    }

    #[test]
    fn numbers_at_both_ends_have_their_bits() {
        let encoder = KeyEncoder::new([SqlType::BigInt]);
        for numbers in [[i64::MIN, i64::MIN + 70], [i64::MAX - 9, i64::MAX], [-3, 4]] {
            let mut keys = KeyIndex::default();
            for number in numbers {
                let key = of_eight(number);
                keys.add(&key, hash_of(&key));
            }
            keys.add(&[0], hash_of(&[0]));
            let filter = JoinFilter::new(&keys, vec![0], &encoder).unwrap();
            assert!(matches!(filter.known, Known::Numbers { .. }));
            for number in [i64::MIN, -4, -3, -1, 0, 4, 5, i64::MAX - 1, i64::MAX] {
                let known = numbers.contains(&number);
                assert_eq!(filter.knows_eight(number), known, "{number} of {numbers:?}");
                assert_eq!(filter.knows(&of_eight(number)), known, "{number} of {numbers:?}");
            }
            assert!(!filter.knows(&[0]), "NULL");
        }
    }

    fn who_passes(step: i32) {
        let encoder = KeyEncoder::new([SqlType::Int]);
        let mut keys = KeyIndex::default();
        let mut key = Vec::new();
        for n in 0..2_000 {
            key.clear();
            encoder.push(0, &Value::Int(n * step), &mut key);
            keys.add(&key, hash_of(&key));
        }
        let filter = JoinFilter::new(&keys, vec![0], &encoder).unwrap();
        for nullable in [true, false] {
            let layout = layout(nullable);
            let passes = |value: Value| {
                // A look of its own, which is not given up.
                let layout = RawLayout::of_rows(&layout);
                Narrowing::new(&filter, vec![0], &layout).passes(&layout, &row(&layout, value))
            };
            assert!((0..2_000).all(|n| passes(Value::Int(n * step))));
            let others = (-2_000..2_000).filter(|n| passes(Value::Int(n * step + 1))).count();
            assert!(others < 400, "{others} of 4,000 pass");
            assert!(!nullable || !passes(Value::Null));
            // Many at a time.
            let layout = RawLayout::of_rows(&layout);
            let values = (-3_000..6_000).map(|n| Value::Int(n * (step / 9).max(1)));
            let values = values.chain(nullable.then_some(Value::Null));
            let (mut bytes, mut rows) = (Vec::new(), Vec::new());
            for value in values {
                let at = bytes.len() as u32;
                bytes.extend(row(&layout, value));
                rows.push(Spot { at, len: bytes.len() as u32 - at });
            }
            let expected = rows.clone().into_iter();
            let mut one = Narrowing::new(&filter, vec![0], &layout);
            let expected: Vec<Spot> =
                expected.filter(|spot| one.passes(&layout, spot.of(&bytes))).collect();
            for whole in [true, false] {
                let mut kept = rows.clone();
                let mut many = Narrowing::new(&filter, vec![0], &layout);
                many.retain(&layout, &bytes, &mut kept, whole);
                assert_eq!(kept, expected);
            }
        }
    }

    #[test]
    fn one_that_lets_most_rows_pass_is_given_up() {
        let encoder = KeyEncoder::new([SqlType::Int]);
        let mut keys = KeyIndex::default();
        let mut key = Vec::new();
        encoder.push(0, &Value::Int(1), &mut key);
        keys.add(&key, hash_of(&key));
        let filter = JoinFilter::new(&keys, vec![0], &encoder).unwrap();
        let layout = layout(true);
        let layout = RawLayout::of_rows(&layout);
        let mut narrowing = Narrowing::new(&filter, vec![0], &layout);
        let (null, one) = (row(&layout, Value::Null), row(&layout, Value::Int(1)));
        assert!(!narrowing.passes(&layout, &null));
        for _ in 1..ROWS_MIN {
            assert!(narrowing.passes(&layout, &one));
        }
        assert!(narrowing.passes(&layout, &null), "nobody is asked any more");
    }
}
