//! An entry of an index made ready: what happens to it as its row comes, changes or goes, with what it was and will be.
//!
//! Promise: nothing is written. [`ReadyEntry::decide`] is what whoever writes entries one by one goes by, too.

use crate::index::{IndexWriter, Row};
use crate::recipe::Entry;
use catalog::TableDef;
use engine::{Change, Found, Looked, Part, PartChange, RowImage, TOGETHER_FEW};
use executor::{Cx, SqlError, engine_error};
use smallvec::SmallVec;

/// The changes of one record.
pub(crate) type Parts<'p> = SmallVec<[Part<'p>; TOGETHER_FEW]>;

/// What happens to a row's entry in an index.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Fate {
    #[default]
    Nothing,
    Comes,
    Goes,
    /// Under the same key.
    Changes,
    /// It goes, and another one comes.
    Moves,
}

/// The same, made ready.
#[derive(Default)]
pub(crate) struct ReadyEntry {
    /// Of what goes the key.
    pub old: Entry,
    pub new: Entry,
    fate: Fate,
    found: Found,
}

impl ReadyEntry {
    /// Of a row that was, and is, as far as these have entries.
    pub fn decide(
        &mut self,
        (table, writer): (&TableDef, &IndexWriter),
        (was, is): (Option<Row<'_>>, Option<Row<'_>>),
        locator: &[u8],
    ) -> Result<Fate, SqlError> {
        if let Some(row) = was {
            writer.key_of(table, row, locator, &mut self.old)?;
        }
        if let Some(row) = is {
            writer.make(table, row, locator, &mut self.new)?;
        }
        self.fate = match (was, is) {
            (None, None) => Fate::Nothing,
            (None, Some(_)) => Fate::Comes,
            (Some(_), None) => Fate::Goes,
            (Some(_), Some(_)) if self.old.key != self.new.key => Fate::Moves,
            (Some(row), Some(_)) => {
                writer.row_of(table, row, locator, &mut self.old)?;
                if self.old.row == self.new.row { Fate::Nothing } else { Fate::Changes }
            }
        };
        Ok(self.fate)
    }

    /// Looks the entry up that changes or goes, if one does. False: it is not there, or somebody is at it.
    pub fn look(
        &mut self,
        table: &TableDef,
        writer: &IndexWriter,
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        if matches!(self.fate, Fate::Nothing | Fate::Comes) {
            return Ok(true);
        }
        let Some(txn) = cx.txn.as_deref_mut() else {
            stdx::fatal!("an index entry is looked for without a transaction");
        };
        let looked = txn.look(writer.tree(), &self.old.key, &mut self.found);
        Ok(looked.map_err(|e| engine_error(e, Some(table), cx))? == Looked::Row)
    }

    /// As changes of one record.
    pub fn parts<'p>(&'p self, writer: &'p mut IndexWriter, parts: &mut Parts<'p>) {
        let ReadyEntry { fate, old, found, new } = self;
        let (tree, hint) = writer.tree_and_hint();
        let row = RowImage::new(&new.row);
        if matches!(fate, Fate::Goes | Fate::Moves) {
            let change = PartChange::Found { found, change: Change::Gone };
            parts.push(Part { tree, key: &old.key, change });
        }
        let change = match fate {
            Fate::Nothing | Fate::Goes => return,
            Fate::Changes => PartChange::Found { found, change: Change::To(row) },
            Fate::Comes | Fate::Moves => PartChange::Insert { row, hint },
        };
        parts.push(Part { tree, key: &new.key, change });
    }
}
