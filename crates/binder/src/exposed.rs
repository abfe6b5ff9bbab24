//! Columns of views and inline functions, and who notes that a statement uses them: permissions can be granted on each.
//!
//! Promise: a column is noted of a module where a name, or `*`, finds it in what the module exposes, and not where the
//! module's own text uses the same value; what the module itself names of others is noted of them while its text is bound.

use std::sync::Arc;

use ir::{ColId, ColumnUse, Through};

use crate::context::{Binder, ScopeColumn, ScopeTable, Source};
use crate::notes::Exposed;

impl Binder<'_> {
    /// A module is named whose columns have these names of their own; `source` is what names can find of it.
    pub fn expose_module(
        &mut self,
        of: &Arc<Through>,
        own: impl Iterator<Item = Box<str>>,
        source: &Source,
    ) {
        of.expose(own);
        for (ordinal, column) in source.tables.iter().flat_map(|t| &t.columns).enumerate() {
            let name = column.name.as_deref().unwrap_or_default().into();
            let exposed = Exposed { of: of.clone(), ordinal, name };
            self.exposed.entry(column.id).or_default().push(exposed);
        }
    }

    /// A column that shows the value of another one.
    pub fn stands_for_exposed(&mut self, id: ColId, other: ColId) {
        if let Some(known) = self.exposed.get(&other).cloned() {
            self.exposed.entry(id).or_default().extend(known);
        }
    }

    /// A name has found that column.
    pub fn note_use(&self, column: &ScopeColumn, what: ColumnUse) {
        let Some(exposed) = self.exposed.get(&column.id) else { return };
        for one in exposed {
            // Two columns of a module may show one value: the name tells which is meant, where it is not another query's.
            let same = |other: &&Exposed| Arc::ptr_eq(&other.of, &one.of);
            let told = exposed.iter().filter(same).any(|other| column.is_named(&other.name));
            if !told || column.is_named(&one.name) {
                one.of.note(one.ordinal, what);
            }
        }
    }

    /// The columns of these names are set.
    pub fn note_written<'n>(&self, target: &ScopeTable, names: impl Iterator<Item = &'n str>) {
        if self.exposed.is_empty() {
            return;
        }
        for name in names {
            let found = target.columns.iter().filter(|column| column.is_named(name));
            found.for_each(|column| self.note_use(column, ColumnUse::Written));
        }
    }
}
