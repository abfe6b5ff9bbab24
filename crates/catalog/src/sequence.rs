//! Sequences: definitions, and numbers that are never given twice.
//!
//! A sequence counts how many numbers it has given; the number itself follows from the count, so that a cycle is no
//! special case. The count is reserved in blocks of the cache's size, in a row of `identities`, as for an IDENTITY column
//! (see `identity.rs`): a crash or a rollback leaves gaps and repeats nothing. RESTART begins a new count under another
//! generation of the definition, so a rollback finds the old one.

use crate::CatalogError;
use crate::catalog::Catalog;
use crate::def::{ProcedureDef, SequenceDef};
use crate::system::corrupt;
use crate::system::tree_id;
use types::{SqlType, TypeError};

impl SequenceDef {
    /// How many numbers it gives before it comes to its end, the first time; and in each cycle after that.
    fn lengths(&self) -> (i128, i128) {
        let last = if self.increment > 0 { self.maximum } else { self.minimum };
        let again = if self.increment > 0 { self.minimum } else { self.maximum };
        let count = |from: i128| (last - from) / self.increment + 1;
        (count(self.start), count(again))
    }

    /// The number given after `count` others; `None` past the end.
    pub fn number(&self, count: i128) -> Option<i128> {
        let (first, cycle) = self.lengths();
        if count < first {
            return Some(self.start + count * self.increment);
        }
        if !self.cycle {
            return None;
        }
        let again = if self.increment > 0 { self.minimum } else { self.maximum };
        Some(again + (count - first) % cycle * self.increment)
    }

    /// As text, which is what is kept.
    pub fn to_text(&self) -> String {
        let [ty, length, precision, scale] = self.ty;
        format!(
            "{ty} {length} {precision} {scale} {} {} {} {} {} {} {} {}",
            self.original,
            self.start,
            self.increment,
            self.minimum,
            self.maximum,
            i32::from(self.cycle),
            self.cache.map_or(-1, i64::from),
            self.generation
        )
    }

    /// The type's numbers, as they are kept.
    pub fn type_numbers(ty: SqlType) -> [i32; 4] {
        let (id, length, precision, scale) = ty.to_parts();
        [id.into(), length, precision.into(), scale.into()]
    }

    /// The type of its numbers.
    pub fn sql_type(&self) -> Option<SqlType> {
        let [id, length, precision, scale] = self.ty;
        types::SqlType::from_parts(id as u8, length.into(), precision as u8, scale as u8)
    }

    pub(crate) fn of_text(text: &str) -> Option<SequenceDef> {
        let numbers: Vec<i128> = text.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?;
        let [ty, length, precision, scale, original, start, increment, rest @ ..] = &numbers[..]
        else {
            return None;
        };
        let [minimum, maximum, cycle, cache, generation] = *rest else { return None };
        let (ty, length, precision, scale) = (*ty, *length, *precision, *scale);
        let (original, start, increment) = (*original, *start, *increment);
        Some(SequenceDef {
            ty: [ty as i32, length as i32, precision as i32, scale as i32],
            original,
            start,
            increment,
            minimum,
            maximum,
            cycle: cycle != 0,
            cache: u32::try_from(cache).ok(),
            generation: generation as u32,
        })
    }
}

impl Catalog {
    /// Takes `count` numbers of a sequence: the first and the last. 11728 past the end; 11732 for a range over it.
    /// Suspends once in a cache's worth of numbers.
    pub fn next_in_sequence(
        &self,
        module: &ProcedureDef,
        count: u64,
    ) -> Result<(i128, i128), CatalogError> {
        let Some(sequence) = &module.sequence else { return Err(corrupt("no sequence")) };
        let block = match sequence.cache {
            Some(0) => 1,
            Some(size) => i64::from(size),
            None => 50,
        };
        let key = (module.object_id, tree_id(i64::from(sequence.generation)));
        let at = self.take_numbers(key, i128::from(count), i128::from(block), |last| {
            sequence.number(last).is_some()
        })?;
        let Some(at) = at else {
            return Err(CatalogError::SequenceEnds { name: module.name.clone() });
        };
        let end = at + i128::from(count) - 1;
        match (sequence.number(at), sequence.number(end)) {
            (Some(first), Some(last)) => Ok((first, last)),
            _ => Err(TypeError::Overflow { from: "SEQUENCE", to: "bigint" }.into()),
        }
    }

    /// How many numbers a sequence has given.
    pub fn given_in_sequence(&self, module: &ProcedureDef) -> i128 {
        let generation = module.sequence.as_ref().map_or(0, |s| s.generation);
        self.numbers_taken((module.object_id, tree_id(i64::from(generation))))
    }
}
