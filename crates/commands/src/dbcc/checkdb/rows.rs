//! A table's rows and its large values.

use catalog::TableDef;
use engine::{Finding, Tree};
use std::collections::HashMap;
use types::Value;

/// Bytes of a key in a tree of large values: number, chunk.
const KEY_BYTES: usize = 12;

/// What is wrong with a row: its layout, or that its key is not its columns'. Notes the large values that it names.
pub(super) fn check_row(
    table: &TableDef,
    key: &[u8],
    row: &[u8],
    named: &mut LargeValues,
) -> Option<String> {
    if let Err(what) = table.layout.check(row) {
        return Some(format!("a row is not laid out as its table: {what}"));
    }
    for i in 0..table.columns.len() {
        if let Some(external) = table.layout.external(row, i) {
            named.of_rows.push((external.id, external.len));
        }
    }
    let clustered = table.clustered_key();
    if clustered.is_empty() {
        return (key.len() != 8).then(|| "a row of a heap has no row id".to_owned());
    }
    let columns = clustered.iter();
    let uniquifier = if table.has_uniquifier() { 8 } else { 0 };
    let values: Option<Vec<Value>> =
        columns.map(|(i, _)| table.layout.decode_column(row, *i)).collect();
    let encoded = values.map(|values| table.key_layout.encode(&values));
    match encoded {
        Some(Ok(own)) if key.starts_with(&own) && key.len() == own.len() + uniquifier => None,
        _ => Some("a row lies under a key that is not its own".to_owned()),
    }
}

/// The large values that rows name: number, bytes.
#[derive(Default)]
pub(super) struct LargeValues {
    of_rows: Vec<(u64, u64)>,
}

impl LargeValues {
    /// Every large value that a row names is there, whole, in order; and each that is there is named. `physical`: no
    /// row was asked what it names.
    pub fn check(
        mut self,
        tree: &Tree,
        tail: engine::Lsn,
        physical: bool,
        findings: &mut Vec<Finding>,
    ) {
        // By number: bytes so far, and the next chunk; a gap makes it short.
        let mut there: HashMap<u64, (u64, u32)> = HashMap::new();
        let mut chunk = |key: &[u8], part: &[u8]| {
            if key.len() != KEY_BYTES {
                return Some("a piece of a large value has no number".to_owned());
            }
            let number = u64::from_be_bytes(key[..8].try_into().unwrap_or_default());
            let n = u32::from_be_bytes(key[8..].try_into().unwrap_or_default());
            let (bytes, next) = there.entry(number).or_default();
            if n != *next {
                return Some(format!("a piece of large value {number} is missing"));
            }
            *bytes += part.len() as u64;
            *next += 1;
            None
        };
        tree.check(tail, &mut chunk, &mut |f| findings.push(f));
        if physical {
            return;
        }
        let find = |number, what| Finding { number, allocation: false, page: None, what };
        for (number, len) in &self.of_rows {
            let have = there.get(number).map_or(0, |(bytes, _)| *bytes);
            if have != *len {
                let what = format!(
                    "a row names large value {number} of {len} bytes, of which {have} are there"
                );
                findings.push(find(8929, what));
            }
        }
        self.of_rows.sort_unstable();
        let mut alone: Vec<&u64> = there.keys().collect();
        alone.retain(|number| self.of_rows.binary_search_by_key(*number, |(n, _)| *n).is_err());
        alone.sort_unstable();
        for number in alone {
            findings.push(find(8964, format!("large value {number} is named by no row")));
        }
    }
}
