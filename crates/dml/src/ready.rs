//! An entry of an index made ready: what happens to it as its row comes, changes or goes, with what it was and will be.
//!
//! Promise: nothing is written; an entry that goes was looked up, so that it may be changed where it was found.

use crate::index::{IndexWriter, Row};
use crate::recipe::Entry;
use catalog::TableDef;
use engine::{Found, Looked, Part, PartChange, RowImage, TOGETHER_FEW};
use executor::{Cx, SqlError, engine_error};
use smallvec::SmallVec;

/// The changes of one record.
pub(crate) type Parts<'p> = SmallVec<[Part<'p>; TOGETHER_FEW]>;

/// What happens to a row's entry in an index.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Fate {
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
    fate: Fate,
    old: Entry,
    found: Found,
    new: Entry,
}

impl ReadyEntry {
    /// Of a row that was and is. False: the entry of the row that was is not there, or somebody is at it.
    pub fn make(
        &mut self,
        (table, writer): (&TableDef, &IndexWriter),
        (was, is): (Option<Row<'_>>, Option<Row<'_>>),
        locator: &[u8],
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
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
        if matches!(self.fate, Fate::Nothing | Fate::Comes) {
            return Ok(true);
        }
        let Some(txn) = cx.txn.as_deref_mut() else {
            stdx::fatal!("an index entry is looked for without a transaction");
        };
        let looked = txn.look(writer.tree(), &self.old.key, &mut self.found);
        Ok(looked.map_err(|e| engine_error(e, Some(table), cx))? == Looked::Row)
    }

    pub fn parts<'p>(&'p self, writer: &'p mut IndexWriter, parts: &mut Parts<'p>) {
        let ReadyEntry { fate, old, found, new } = self;
        let (tree, hint) = writer.tree_and_hint();
        let row = RowImage::new(&new.row);
        if matches!(fate, Fate::Goes | Fate::Moves) {
            parts.push(Part { tree, key: &old.key, change: PartChange::Delete { found } });
        }
        let change = match fate {
            Fate::Nothing | Fate::Goes => return,
            Fate::Changes => PartChange::Update { found, row },
            Fate::Comes | Fate::Moves => PartChange::Insert { row, hint },
        };
        parts.push(Part { tree, key: &new.key, change });
    }
}
