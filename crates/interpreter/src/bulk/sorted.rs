//! The ORDER hint of a bulk load: its rows come in the order of the clustered key.
//!
//! Promises: a hint that is not about the clustered key, column by column and each in its direction, is ignored, as one
//! is for a heap or a view, and one over a column that comes in another type than the table has it; else a row that does not come behind the one before it ends the load (4819), also one of the
//! same key where the key is unique. Keys are compared as they are stored.

use catalog::TableDef;
use executor::SqlError;
use syntax::ast::IndexColumn;
use types::{KeyLayout, SqlType, Value};

/// What the rows of one batch must follow.
pub(super) struct Sorted {
    layout: KeyLayout,
    /// Where a row has the columns of the key.
    places: Vec<usize>,
    types: Vec<SqlType>,
    /// Two rows may have the same key.
    repeats: bool,
    last: Vec<u8>,
    last_values: Vec<Value>,
    key: Vec<u8>,
    values: Vec<Value>,
}

impl Sorted {
    /// `names`: of the columns that a row has a value for, empty where it comes in another type. None: nothing is asked of the rows.
    pub fn by_hint(table: &TableDef, hint: &[IndexColumn], names: &[&str]) -> Option<Sorted> {
        let key = table.clustered_key();
        let is_meant = |(wanted, (at, descending)): (&IndexColumn, &(usize, bool))| {
            catalog::same_name(&wanted.name.value, &table.columns[*at].name)
                && wanted.descending == *descending
        };
        if hint.is_empty() || hint.len() != key.len() || !hint.iter().zip(key).all(is_meant) {
            return None;
        }
        let place = |at: &(usize, bool)| {
            names.iter().position(|name| catalog::same_name(name, &table.columns[at.0].name))
        };
        let places: Option<Vec<usize>> = key.iter().map(place).collect();
        let parts = table.key_layout.parts().get(..key.len())?;
        Some(Sorted {
            layout: KeyLayout::new(parts.to_vec()),
            places: places?,
            types: key.iter().map(|(at, _)| table.columns[*at].ty).collect(),
            repeats: table.has_uniquifier() || table.ignores_dup_key(),
            last: Vec::new(),
            last_values: Vec::new(),
            key: Vec::new(),
            values: Vec::new(),
        })
    }

    /// 4819.
    pub fn check(&mut self, row: &[Value]) -> Result<(), SqlError> {
        self.key.clear();
        self.values.clear();
        self.values.extend(self.places.iter().map(|place| row[*place].clone()));
        // A value that is no key is the table's matter, which refuses it.
        if self.layout.encode_into(&self.values, &mut self.key).is_err() {
            return Ok(());
        }
        let fits = match self.key.cmp(&self.last) {
            std::cmp::Ordering::Greater => true,
            std::cmp::Ordering::Equal => self.repeats,
            std::cmp::Ordering::Less => false,
        };
        if !fits && !self.last_values.is_empty() {
            let told = |values: &[Value]| {
                let shown = values.iter().zip(&self.types).map(|(value, ty)| {
                    let text = types::format::to_text(value, *ty, 0).ok().flatten();
                    text.map_or_else(|| "<NULL>".to_owned(), |text| text.trim_end().to_owned())
                });
                shown.collect::<Vec<_>>().join(", ")
            };
            let text = format!(
                "Cannot bulk load. The bulk data stream was incorrectly specified as sorted or the data violates a \
                 uniqueness constraint imposed by the target table. Sort order incorrect for the following two rows: \
                 primary key of first row: ({}), primary key of second row: ({}).",
                told(&self.last_values),
                told(&self.values)
            );
            return Err(SqlError::new(4819, 16, text));
        }
        std::mem::swap(&mut self.key, &mut self.last);
        std::mem::swap(&mut self.values, &mut self.last_values);
        Ok(())
    }
}
