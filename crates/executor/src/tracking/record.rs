//! What one transaction has done to one row, to the byte.
//!
//! ```text
//! flags u8 | numbering i32 | context: length u8, bytes | columns: count u16, numbers u16 ... | key columns as a row
//! ```
//! Little-endian. `numbering` is the table's when the columns were noted: under another one their numbers mean nothing.

use crate::message::SqlError;

/// What has been done to a row, by one transaction or by several one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The row was there before.
    pub before: bool,
    /// The row is there afterwards.
    pub after: bool,
    /// It was inserted, at least once.
    pub inserted: bool,
    /// All columns may have changed, or it is not known which.
    pub all: bool,
    pub numbering: i32,
    /// WITH CHANGE_TRACKING_CONTEXT of the last statement.
    pub context: Option<Vec<u8>>,
    /// Numbers of the columns that were set, ascending.
    pub columns: Vec<u16>,
}

const BEFORE: u8 = 1;
const AFTER: u8 = 2;
const INSERTED: u8 = 4;
const ALL: u8 = 8;
const CONTEXT: u8 = 16;

impl Change {
    /// What comes later is added.
    pub fn then(&mut self, later: Change) {
        // Deleted and inserted again: an update of everything.
        self.all |= later.all || (!self.after && later.inserted);
        if !self.columns.is_empty() && !later.columns.is_empty() {
            self.all |= self.numbering != later.numbering;
        }
        if !later.columns.is_empty() {
            self.numbering = later.numbering;
        }
        self.columns.extend(later.columns);
        self.columns.sort_unstable();
        self.columns.dedup();
        self.after = later.after;
        self.inserted |= later.inserted;
        self.context = later.context;
    }

    /// SYS_CHANGE_OPERATION. A row that came and went is told as gone.
    pub fn operation(&self) -> &'static str {
        match (self.before, self.after) {
            (_, false) => "D",
            (false, true) => "I",
            (true, true) => "U",
        }
    }

    /// SYS_CHANGE_COLUMNS: 4 bytes of 0 and the columns' numbers in 4 bytes each. NULL where it is not only some columns
    /// of a row that have changed.
    pub fn mask(&self, numbering: i32) -> Option<Vec<u8>> {
        if self.operation() != "U" || self.all || self.numbering != numbering {
            return None;
        }
        let mut mask = vec![0; 4];
        for column in &self.columns {
            mask.extend_from_slice(&u32::from(*column).to_le_bytes());
        }
        (mask.len() > 4).then_some(mask)
    }

    pub fn encode(&self, key: &[u8], out: &mut Vec<u8>) {
        let bit = |on: bool, bit: u8| if on { bit } else { 0 };
        out.clear();
        out.push(
            bit(self.before, BEFORE)
                | bit(self.after, AFTER)
                | bit(self.inserted, INSERTED)
                | bit(self.all, ALL)
                | bit(self.context.is_some(), CONTEXT),
        );
        out.extend_from_slice(&self.numbering.to_le_bytes());
        let context = self.context.as_deref().unwrap_or_default();
        out.push(context.len() as u8);
        out.extend_from_slice(context);
        out.extend_from_slice(&(self.columns.len() as u16).to_le_bytes());
        for column in &self.columns {
            out.extend_from_slice(&column.to_le_bytes());
        }
        out.extend_from_slice(key);
    }

    /// The record, and the key columns behind it.
    pub fn decode(bytes: &[u8]) -> Result<(Change, &[u8]), SqlError> {
        let mut rest = bytes;
        let mut take = |n: usize| -> Result<&[u8], SqlError> {
            let (taken, left) = rest.split_at_checked(n).ok_or_else(corrupt)?;
            rest = left;
            Ok(taken)
        };
        let flags = take(1)?[0];
        let numbering = i32::from_le_bytes(take(4)?.try_into().map_err(|_| corrupt())?);
        let len = usize::from(take(1)?[0]);
        let context = take(len)?.to_vec();
        let pair = |bytes: &[u8]| u16::from_le_bytes([bytes[0], bytes[1]]);
        let count = usize::from(pair(take(2)?));
        let columns = take(2 * count)?.chunks_exact(2).map(pair).collect();
        let change = Change {
            before: flags & BEFORE != 0,
            after: flags & AFTER != 0,
            inserted: flags & INSERTED != 0,
            all: flags & ALL != 0,
            numbering,
            context: (flags & CONTEXT != 0).then_some(context),
            columns,
        };
        Ok((change, rest))
    }
}

#[cold]
pub fn corrupt() -> SqlError {
    SqlError::new(824, 24, "A record of a tracked change is not as it was written.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inserted() -> Change {
        Change { after: true, inserted: true, ..Change::default() }
    }

    fn deleted() -> Change {
        Change { before: true, ..Change::default() }
    }

    fn updated(columns: &[u16]) -> Change {
        Change { before: true, after: true, columns: columns.to_vec(), ..Change::default() }
    }

    fn both(mut first: Change, then: Change) -> Change {
        first.then(then);
        first
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let change = Change {
            numbering: 7,
            context: Some(vec![1, 2, 255]),
            columns: vec![2, 300],
            ..updated(&[])
        };
        for change in [change, inserted(), deleted(), Change { context: Some(vec![]), ..deleted() }]
        {
            let mut bytes = Vec::new();
            change.encode(b"the key", &mut bytes);
            let (read, key) = Change::decode(&bytes).expect("a record");
            assert_eq!((read, key), (change, &b"the key"[..]));
            for end in 0..bytes.len() - 7 {
                assert!(Change::decode(&bytes[..end]).is_err(), "cut at {end}");
            }
        }
    }

    #[test]
    fn several_changes_are_told_as_one() {
        let cases = [
            (both(inserted(), updated(&[2])), "I", None),
            (both(inserted(), deleted()), "D", None),
            (both(both(inserted(), deleted()), inserted()), "I", None),
            (both(updated(&[2]), deleted()), "D", None),
            (both(deleted(), inserted()), "U", None),
            (both(both(deleted(), inserted()), updated(&[2])), "U", None),
            (
                both(updated(&[3]), updated(&[2, 3])),
                "U",
                Some(vec![0, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]),
            ),
            (both(updated(&[3]), Change { all: true, ..updated(&[]) }), "U", None),
        ];
        for (change, operation, mask) in cases {
            assert_eq!((change.operation(), change.mask(0)), (operation, mask), "{change:?}");
        }
    }

    #[test]
    fn numbers_of_columns_mean_nothing_under_another_numbering() {
        let change = Change { numbering: 1, ..updated(&[2]) };
        assert_eq!(change.mask(2), None);
        assert!(change.mask(1).is_some());
        assert_eq!(both(change, Change { numbering: 2, ..updated(&[2]) }).mask(2), None);
    }
}
