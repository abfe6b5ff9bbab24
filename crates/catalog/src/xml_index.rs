//! XML indexes: what one was asked for.
//!
//! Such an index is a definition alone, as a spatial one is (`spatial_index.rs`): its tree stays empty, it counts as
//! disabled wherever entries are kept up or looked for, and its column is among those that it includes. In the system
//! table it has
//!
//! ```text
//! 100 u8 | off u8 | kind u8 (0 primary, 1 path, 2 value, 3 property) | primary index_id i32     (little-endian)
//! ```
//!
//! Promises: a column has one primary index at most; the primary index of a secondary one is there, on the same column.

use crate::def::{IndexDef, TableDef};
use types::Value;

/// The first byte of a row's cell, which no spatial index has.
const MARK: u8 = 100;

/// What an XML index is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XmlIndexKind {
    Primary,
    Path,
    Value,
    Property,
}

impl XmlIndexKind {
    const ALL: [XmlIndexKind; 4] =
        [XmlIndexKind::Primary, XmlIndexKind::Path, XmlIndexKind::Value, XmlIndexKind::Property];

    /// `secondary_type` and its name in sys.xml_indexes; none of a primary index.
    pub fn secondary(self) -> Option<(&'static str, &'static str)> {
        match self {
            XmlIndexKind::Primary => None,
            XmlIndexKind::Path => Some(("P", "PATH")),
            XmlIndexKind::Value => Some(("V", "VALUE")),
            XmlIndexKind::Property => Some(("R", "PROPERTY")),
        }
    }
}

/// An XML index, beside what every index has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct XmlIndex {
    pub kind: XmlIndexKind,
    /// The index_id of the primary index that a secondary one is over; 0 for a primary one.
    pub primary: i32,
    /// ALTER INDEX ... DISABLE.
    pub is_off: bool,
}

/// As kept in the system table.
pub(crate) fn pack(index: &XmlIndex) -> Value {
    let mut bytes = vec![MARK, u8::from(index.is_off), index.kind as u8];
    bytes.extend_from_slice(&index.primary.to_le_bytes());
    Value::binary(&bytes)
}

/// None for what belongs to another kind of index.
pub(crate) fn unpack(bytes: &[u8]) -> Option<XmlIndex> {
    let [MARK, off, kind, primary @ ..] = bytes else { return None };
    Some(XmlIndex {
        kind: *XmlIndexKind::ALL.get(usize::from(*kind))?,
        primary: i32::from_le_bytes(primary.try_into().ok()?),
        is_off: *off != 0,
    })
}

impl IndexDef {
    /// Has it a tree of entries that are kept up? A spatial or XML index is a definition alone, and a columnstore index
    /// of a memory-optimised table.
    pub fn has_entries(&self) -> bool {
        self.spatial.is_none() && self.xml.is_none() && !self.is_columnstore_in_memory()
    }

    /// A clustered columnstore index, of either kind of table.
    pub fn is_clustered_columnstore(&self) -> bool {
        self.columnstore.as_ref().is_some_and(|c| self.clustered || c.in_memory)
    }

    pub fn is_columnstore_in_memory(&self) -> bool {
        self.columnstore.as_ref().is_some_and(|c| c.in_memory)
    }

    /// Of an index that is a definition alone, whether it is disabled; false where it is none.
    pub(crate) fn set_off(&mut self, off: bool) -> bool {
        match (&mut self.spatial, &mut self.xml) {
            (Some(spatial), _) => spatial.is_off = off,
            (_, Some(xml)) => xml.is_off = off,
            _ => return false,
        }
        true
    }

    /// Is an index that is a definition alone disabled? None of one with entries.
    pub fn is_off(&self) -> Option<bool> {
        let columnstore = self.is_columnstore_in_memory().then_some(false);
        self.spatial.map(|s| s.is_off).or(self.xml.map(|x| x.is_off)).or(columnstore)
    }
}

impl TableDef {
    /// The primary XML index over a column.
    pub fn primary_xml_index(&self, column: usize) -> Option<&IndexDef> {
        self.indexes.iter().find(|index| {
            index.xml.is_some_and(|xml| xml.kind == XmlIndexKind::Primary)
                && index.include.contains(&column)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_come_back_as_they_went() {
        for kind in XmlIndexKind::ALL {
            let index = XmlIndex { kind, primary: 256_001, is_off: kind == XmlIndexKind::Path };
            let Value::Binary(bytes) = pack(&index) else { panic!("bytes") };
            assert_eq!(unpack(&bytes), Some(index));
        }
        assert_eq!(unpack(&[0, 0, 16, 0, 0, 0, 0, 0, 0]), None);
    }
}
