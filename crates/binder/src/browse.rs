//! Which table's column a column of a result is, and what brings a row back to its table (browse mode).
//!
//! Under SET NO_BROWSETABLE ON the columns of a statement's own SELECT tell the names of their base tables and columns,
//! and which are the key; key columns that the query does not ask for are added to the result, hidden. ADO.NET asks so
//! (`CommandBehavior.KeyInfo`), to write changes back. Rows that are grouped, made distinct or united have no key.
//!
//! Whether a column is computed, a rowversion, or of an old long type (text, ntext, image) is told in every mode.

use ir::{BaseColumn, ColId, Expr, ExprKind};

use crate::context::Binder;
use crate::notes::{Base, Browsing};
use crate::select_list::Item;
use catalog::TableDef;
use semantics::uses::Source;
use std::sync::Arc;

impl Binder<'_> {
    /// A table is read; `columns` are its columns' ids.
    pub(crate) fn note_base(&mut self, table: &Arc<TableDef>, columns: &[ColId]) {
        if let Some(sources) = &mut self.sources {
            let names = table.columns.iter().map(|column| column.name.to_string());
            sources.list.push(Source {
                object_id: table.object_id,
                columns: names.zip(columns.iter().copied()).collect(),
                is_all: false,
            });
        }
        if let Some(first) = columns.first() {
            self.bases.push(Base { table: table.clone(), first: first.0, database: None });
        }
    }

    /// The last one is in that database.
    pub(crate) fn note_database(&mut self, database: Option<&str>) {
        if let (Some(name), Some(base)) = (database, self.bases.last_mut()) {
            base.database = Some(name.into());
        }
    }

    /// The column of a table that is seen as it is under an id.
    pub(crate) fn column_behind(&self, id: ColId) -> Option<&catalog::ColumnDef> {
        self.bases.iter().find_map(|base| Some(&base.table.columns[base.place_of(id)?]))
    }

    /// Key columns of the tables in FROM that the list does not show.
    pub(crate) fn missing_keys(&self, items: &[Item]) -> Vec<Item> {
        let shown =
            |id: ColId| items.iter().any(|i| matches!(i.expr.kind, ExprKind::Col(c) if c == id));
        let mut missing = Vec::new();
        for table in self.scopes.last().iter().flat_map(|scope| &scope.tables) {
            let Some(first) = table.columns.first() else { continue };
            let Some(base) = self.bases.iter().find(|base| base.first == first.id.0) else {
                continue;
            };
            for at in base.key() {
                let Some(column) = table.columns.get(at).filter(|column| !shown(column.id)) else {
                    continue;
                };
                missing.push(Item {
                    name: column.name.clone(),
                    expr: Expr::col(column.id, column.ty, column.nullable),
                    identity: column.identity,
                    updatable: column.updatable,
                    hidden: true,
                });
            }
        }
        missing
    }

    /// What is told of an item; `keyed`: rows are rows of their tables.
    pub(crate) fn base_of(
        &self,
        item: &Item,
        browsing: Browsing,
        keyed: bool,
    ) -> Option<Arc<BaseColumn>> {
        let browse = browsing == Browsing::Keys;
        let found = match item.expr.kind {
            ExprKind::Col(id) => {
                self.bases.iter().find_map(|base| Some((base, base.place_of(id)?)))
            }
            _ => None,
        };
        let Some((base, at)) = found else {
            let long = self.long_name(&item.expr).is_some();
            let told = browse || long;
            return told.then(|| Arc::new(BaseColumn { browse, long, ..BaseColumn::default() }));
        };
        let column = &base.table.columns[at];
        let (computed, rowversion) = (column.computed.is_some(), column.rowversion);
        let long = column.is_long();
        if browsing == Browsing::No {
            let told = computed || rowversion || long;
            let table = if long { base.parts() } else { Vec::new() };
            return told.then(|| {
                Arc::new(BaseColumn { table, computed, rowversion, long, ..BaseColumn::default() })
            });
        }
        Some(Arc::new(BaseColumn {
            table: base.parts(),
            column: column.name.to_string(),
            key: keyed && base.key().contains(&at),
            hidden: item.hidden,
            computed,
            rowversion,
            long,
            browse,
        }))
    }
}
