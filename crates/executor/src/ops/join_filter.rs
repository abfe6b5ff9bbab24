//! What a hash join knows of its keys, for whoever reads the rows that it will be probed with: rows that cannot meet
//! anybody need not be decoded, nor pass an exchange.
//!
//! Promise: a row with a key that is in the table passes; most others do not. It is asked with the table's own encoding of
//! keys. A Bloom filter of one word for each key: two bits of the word that the hash chooses.

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
/// Where more than half of the rows pass, nobody is asked any more: looked at first after so many rows.
const ROWS_MIN: u64 = 1024;

/// See the file's first lines.
#[derive(Clone)]
pub(crate) struct JoinFilter {
    /// The slots of the probing rows that are their key.
    slots: Vec<u32>,
    encoder: KeyEncoder,
    words: Arc<[u64]>,
}

impl JoinFilter {
    /// Of a table with these keys, for rows whose key is in `slots`; none where that does not pay.
    pub fn new(keys: &KeyIndex, slots: Vec<u32>, encoder: &KeyEncoder) -> Option<JoinFilter> {
        if keys.len() > KEYS_MAX {
            return None;
        }
        let count = keys.len().min(KEYS_OF_A_WORD).max(keys.len() * BITS_PER_KEY / 64);
        let mut words = vec![0u64; count.next_power_of_two()];
        let mask = words.len() - 1;
        for number in 0..keys.len() as u32 {
            let hash = keys.hash(number);
            words[place(hash) & mask] |= bits(hash);
        }
        Some(JoinFilter { slots, encoder: encoder.clone(), words: words.into() })
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
        let hash = hash_of(key);
        let wanted = bits(hash);
        self.words[place(hash) & (self.words.len() - 1)] & wanted == wanted
    }
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
            let offset = layout.layout().fixed_offset(column).filter(|_| !stored.nullable);
            let form = match (offset, filter.encoder.ty(i)) {
                (Some(at), SqlType::Int | SqlType::Date) if filter.encoder.ty(i) == stored.ty => {
                    Form::Four(at)
                }
                (Some(at), SqlType::BigInt) if stored.ty == SqlType::BigInt => Form::Eight(at),
                _ => Form::Value,
            };
            Part { column, form }
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
            [Part { form: Form::Four(at), .. }] if whole => keep(rows, |row| {
                let cell = &bytes[row.at as usize + at..][..4];
                self.filter.knows(&of_four(reader::four(cell)))
            }),
            [Part { form: Form::Eight(at), .. }] if whole => keep(rows, |row| {
                let cell = &bytes[row.at as usize + at..][..8];
                self.filter.knows(&of_eight(reader::eight(cell)))
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
            match part.form {
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
        let encoder = KeyEncoder::new([SqlType::Int]);
        let mut keys = KeyIndex::default();
        let mut key = Vec::new();
        for n in 0..2_000 {
            key.clear();
            encoder.push(0, &Value::Int(n * 3), &mut key);
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
            assert!((0..2_000).all(|n| passes(Value::Int(n * 3))));
            let others = (0..6_000).filter(|n| n % 3 != 0 && passes(Value::Int(*n))).count();
            assert!(others < 400, "{others} of 4,000 pass");
            assert!(!nullable || !passes(Value::Null));
            // Many at a time.
            let layout = RawLayout::of_rows(&layout);
            let values = (0..6_000).map(Value::Int).chain(nullable.then_some(Value::Null));
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
