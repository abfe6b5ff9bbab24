//! What the SET of an UPDATE makes of a row.
//!
//! Where nothing else of the row follows from the columns that are set, the new row is made of the old one's bytes: patched
//! in the places of columns that have fixed ones, spliced for those of variable length. The other columns are neither decoded
//! nor encoded.

use crate::nulls::null_error;
use crate::spot::Spot;
use crate::statement::assign;
use crate::write::{Known, TableWriter};
use catalog::TableDef;
use executor::{Cx, SqlError, eval, qualified};
use ir::UpdateSet;
use types::{RowLayout, Value};

/// The items of SET, made ready for a table.
pub(crate) struct Setter {
    set: Vec<UpdateSet>,
    /// The columns set, in order.
    pub columns: Vec<usize>,
    /// All of them have fixed places.
    fixed: bool,
    /// It assigns variables too, which a second look at the row would do twice.
    pub assigns: bool,
}

impl Setter {
    pub fn new(table: &TableDef, set: &[UpdateSet]) -> Setter {
        let mut columns = Vec::new();
        for item in set {
            if let UpdateSet::Column { ordinal, .. } | UpdateSet::Both { ordinal, .. } = item {
                columns.push(*ordinal);
            }
        }
        columns.sort_unstable();
        Setter {
            fixed: columns.iter().all(|i| table.layout.fixed_offset(*i).is_some()),
            assigns: set.iter().any(|item| !matches!(item, UpdateSet::Column { .. })),
            set: set.to_vec(),
            columns,
        }
    }

    /// Whether it can make the new row out of the old one's bytes. (One that is older than the last columns has no place for
    /// them; what a column of variable length has outside of the row is its writer's to see to.)
    pub fn patches(&self, table: &TableDef, row: &[u8]) -> bool {
        (self.fixed || table.lob.is_none())
            && RowLayout::row_columns(row) == table.layout.columns().len()
    }

    /// Appends what becomes of `row` to `made`. `slots`: the plan's row; of `values`, the table's columns, those that are set
    /// follow. 511, 515.
    pub fn patch(
        &self,
        table: &TableDef,
        slots: &[Value],
        values: &mut [Value],
        row: &[u8],
        (set, made): (&mut Vec<(usize, Value)>, &mut Vec<u8>),
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        let mut cx = cx.reborrow();
        cx.table = Some(table);
        set.clear();
        if self.fixed {
            made.extend_from_slice(row);
        }
        // Told when all values are known, of the first column that has it.
        let mut refused: Option<usize> = None;
        for item in &self.set {
            let value = eval(item.value(), slots, &mut cx)?;
            let ordinal = match item {
                UpdateSet::Column { ordinal, .. } => *ordinal,
                UpdateSet::Var { var, .. } => {
                    cx.vars[var.0 as usize] = value;
                    continue;
                }
                UpdateSet::Both { var, ordinal, .. } => {
                    cx.vars[var.0 as usize] = value.clone();
                    *ordinal
                }
            };
            if value.is_null() && !table.columns[ordinal].nullable {
                refused = Some(refused.map_or(ordinal, |first| first.min(ordinal)));
            } else if self.fixed {
                table.layout.patch(made, ordinal, &value);
            } else {
                set.push((ordinal, value.clone()));
            }
            if let Some(place) = values.get_mut(ordinal) {
                *place = value;
            }
        }
        if let Some(ordinal) = refused {
            let column = &table.columns[ordinal];
            return Err(null_error(&column.name, &qualified(table, &cx), "UPDATE"));
        }
        if !self.fixed {
            let other = |ordinal: usize| set.iter().find(|(i, _)| *i == ordinal).map(|(_, v)| v);
            table.layout.splice(row, other, made)?;
        }
        Ok(())
    }

    /// The same in values alone.
    pub fn assign(
        &self,
        table: &TableDef,
        slots: &[Value],
        values: &mut [Value],
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        let mut cx = cx.reborrow();
        cx.table = Some(table);
        assign(&self.set, slots, values, &mut cx)
    }
}

/// Memory for a row on its way from what it was to what it is to be.
#[derive(Default)]
pub(crate) struct Bench {
    was: Vec<Value>,
    values: Vec<Value>,
    /// What the columns get that are set, where the row is spliced.
    set: Vec<(usize, Value)>,
    row: Vec<u8>,
}

impl Bench {
    /// Updates the row that was found. `old`: slots of the table's columns. False as [`TableWriter::update_found`] has it.
    pub fn update(
        &mut self,
        spot: &mut Spot,
        old: &[u32],
        setter: &Setter,
        writer: &mut TableWriter,
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        let patches = writer.patches_rows() && setter.patches(&spot.table, &spot.found.row);
        if !patches {
            spot.decode_rest(cx)?;
        }
        let Spot { table, key_bytes, found, slots, .. } = &*spot;
        self.remember(old, slots, !patches || !writer.is_plain());
        self.values.clear();
        self.values.extend_from_slice(&self.was);
        let made = if patches {
            self.row.clear();
            let into = (&mut self.set, &mut self.row);
            setter.patch(table, slots, &mut self.values, &found.row, into, cx)?;
            Some(&self.row[..])
        } else {
            setter.assign(table, slots, &mut self.values, cx)?;
            None
        };
        let known = Known { found, old: &self.was, made };
        writer.update_found(key_bytes, known, &self.values, cx)
    }

    /// Deletes it, likewise.
    pub fn delete(
        &mut self,
        spot: &Spot,
        old: &[u32],
        writer: &mut TableWriter,
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        self.remember(old, &spot.slots, !writer.is_plain());
        let known = Known { found: &spot.found, old: &self.was, made: None };
        writer.delete_found(&spot.key_bytes, known, cx)
    }

    fn remember(&mut self, old: &[u32], slots: &[Value], wanted: bool) {
        self.was.clear();
        if wanted {
            self.was.extend(old.iter().map(|slot| slots[*slot as usize].clone()));
        }
    }
}
