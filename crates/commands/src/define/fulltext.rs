//! Full-text catalogs and indexes: CREATE, ALTER, DROP.
//!
//! They are kept as definitions. CONTAINS and its like read the rows themselves, so populations have nothing to do. Sources: SQL
//! documentation of the six statements; numbers and texts are those of sys.messages.

use crate::Commands;
use catalog::{
    CatalogError, FulltextCatalog, FulltextColumn, FulltextIndex, FulltextTracking, ModuleKind,
    ProcedureDef, PutMode, Stoplist, TableDef, same_name,
};
use executor::SqlError;
use ir::ObjectName;
use security::Permission;
use std::sync::Arc;
use syntax::ast::{self, FulltextCatalogChange, FulltextIndexChange, FulltextStatement};
use types::{Len, SqlType, Value};

const CATALOG: ModuleKind = ModuleKind::FulltextCatalog;

/// Bytes of a key at most.
const KEY_BYTES_MAX: usize = 900;

impl Commands<'_> {
    pub(crate) fn define_fulltext(
        &mut self,
        statement: &FulltextStatement,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        match statement {
            FulltextStatement::CreateCatalog { name, accents, is_default, owner } => {
                self.check_database(Permission::CreateFulltextCatalog)?;
                if let Some(owner) = owner.as_ref().filter(|owner| !owner.is("dbo")) {
                    let what = format!("CREATE FULLTEXT CATALOG AUTHORIZATION {}", owner.value);
                    return Err(SqlError::unsupported(what));
                }
                let catalog = FulltextCatalog {
                    is_default: *is_default,
                    is_accent_sensitive: accents.unwrap_or(true),
                };
                let name = &name.value;
                self.in_catalog(frame, |all, txn, scope| {
                    let made = all.put_fulltext_catalog(txn, scope, PutMode::Create, name, catalog);
                    made.map_err(|e| match e {
                        CatalogError::AlreadyExists { .. } => SqlError::new(
                            7642,
                            16,
                            format!(
                                "A full-text catalog named '{name}' already exists in this database. Use a different name."
                            ),
                        ),
                        e => e.into(),
                    })
                })
            }
            FulltextStatement::AlterCatalog { name, change } => {
                let found = self.fulltext_catalog(&name.value)?;
                let mut catalog = found
                    .fulltext_catalog()
                    .unwrap_or(FulltextCatalog { is_default: false, is_accent_sensitive: true });
                match change {
                    FulltextCatalogChange::Reorganize => return Ok(()),
                    FulltextCatalogChange::Rebuild(accents) => {
                        catalog.is_accent_sensitive =
                            accents.unwrap_or(catalog.is_accent_sensitive);
                    }
                    FulltextCatalogChange::Default => catalog.is_default = true,
                }
                self.in_catalog(frame, |all, txn, scope| {
                    Ok(all.put_fulltext_catalog(
                        txn,
                        scope,
                        PutMode::Alter,
                        &found.name,
                        catalog,
                    )?)
                })
            }
            FulltextStatement::DropCatalog { name } => {
                let found = self.fulltext_catalog(&name.value)?;
                self.in_catalog(frame, |all, txn, scope| {
                    if all.is_fulltext_catalog_used(Some(scope), found.object_id) {
                        let text = format!(
                            "Cannot drop full-text catalog '{}' because it contains a full-text index.",
                            found.name
                        );
                        return Err(SqlError::new(7668, 16, text));
                    }
                    Ok(all.drop_module(txn, scope, CATALOG, Some("dbo"), &found.name)?)
                })
            }
            FulltextStatement::CreateIndex(index) => self.create_fulltext_index(index, frame),
            FulltextStatement::AlterIndex { table, change } => {
                self.alter_fulltext_index(table, change, frame)
            }
            FulltextStatement::DropIndex { table } => {
                let table = self.fulltext_table(table)?;
                self.index_of(&table)?;
                self.in_catalog(frame, |all, txn, scope| {
                    Ok(all.drop_fulltext_index(txn, scope, table.object_id)?)
                })
            }
        }
    }

    /// 7641.
    fn fulltext_catalog(&self, name: &str) -> Result<Arc<ProcedureDef>, SqlError> {
        let scope = self.state.definitions();
        let found = self.state.database.catalog.module(scope, Some("dbo"), name, CATALOG);
        let found =
            found.filter(|_| self.check_database(Permission::AlterAnyFulltextCatalog).is_ok());
        found.ok_or_else(|| {
            let database = &self.state.database.name;
            let text = format!(
                "Full-Text catalog '{name}' does not exist in database '{database}' or user does not have permission to perform \
                 this action."
            );
            SqlError::new(7641, 16, text)
        })
    }

    /// The table of an index, which the user may alter; 208.
    fn fulltext_table(&self, name: &ast::ObjectName) -> Result<Arc<TableDef>, SqlError> {
        let wanted = ObjectName::from(name);
        self.local(&wanted)?;
        let missing = || SqlError::new(208, 16, format!("Invalid object name '{wanted}'."));
        match self.state.find_object(wanted.schema.as_deref(), &wanted.name) {
            Some(found @ catalog::ObjectRef::Table(_)) if self.may_change(&found, false) => {
                match found {
                    catalog::ObjectRef::Table(table) if !catalog::is_global_name(&table.name) => {
                        Ok(table)
                    }
                    _ => Err(missing()),
                }
            }
            _ => Err(missing()),
        }
    }

    /// 7658 without one.
    fn index_of(&self, table: &TableDef) -> Result<FulltextIndex, SqlError> {
        let scope = self.state.definitions();
        let found = self.state.database.catalog.fulltext_index_of(scope, table.object_id);
        found.and_then(|module| module.fulltext_index().cloned()).ok_or_else(|| {
            SqlError::new(
                7658,
                16,
                format!(
                    "Table or indexed view '{}' does not have a full-text index or user does not have permission to perform this \
                     action.",
                    table.name
                ),
            )
        })
    }

    /// 7652, 7653, 9967, and what is wrong with a column.
    fn create_fulltext_index(
        &mut self,
        index: &ast::FulltextIndex,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let table = self.fulltext_table(&index.table)?;
        let scope = self.state.definitions();
        let all = self.state.database.catalog.clone();
        if all.fulltext_index_of(scope, table.object_id).is_some() {
            let text = format!(
                "A full-text index for table or indexed view '{}' has already been created.",
                table.name
            );
            return Err(SqlError::new(7652, 16, text));
        }
        let catalog = match &index.catalog {
            Some(name) => self.fulltext_catalog(&name.value)?,
            None => all.default_fulltext_catalog(scope).ok_or_else(|| {
                let database = &self.state.database.name;
                let text = format!(
                    "A default full-text catalog does not exist in database '{database}' or user does not have permission to \
                     perform this action."
                );
                SqlError::new(9967, 16, text)
            })?,
        };
        let key = key_of(&table, &index.key.value).ok_or_else(|| {
            SqlError::new(
                7653,
                16,
                format!(
                    "'{}' is not a valid index to enforce a full-text search key. A full-text search key must be a unique, \
                     non-nullable, single-column index which is not offline, is not defined on a non-deterministic or imprecise \
                     nonpersisted computed column, does not have a filter, and has maximum size of {KEY_BYTES_MAX} bytes. Choose \
                     another index for the full-text key.",
                    index.key.value
                ),
            )
        })?;
        let mut columns = Vec::new();
        for column in &index.columns {
            add_column(&mut columns, column, &table)?;
        }
        let mut made = FulltextIndex {
            table: table.object_id,
            catalog: catalog.object_id,
            key,
            tracking: FulltextTracking::Auto,
            stoplist: Stoplist::System,
            is_enabled: !columns.is_empty(),
            columns,
        };
        set(&mut made, &index.settings);
        self.put_fulltext(&table, PutMode::Create, made, frame)
    }

    fn put_fulltext(
        &mut self,
        table: &TableDef,
        mode: PutMode,
        index: FulltextIndex,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        self.in_catalog(frame, |all, txn, scope| {
            // As it is once it is locked.
            let (schema, name) = (Some(&*table.schema), &*table.name);
            let locked = all.lock_table(txn, scope, schema, name)?;
            let is_same = |now: &TableDef| {
                now.object_id == table.object_id
                    && index.columns.iter().all(|c| now.column(&c.name).is_some())
            };
            match locked {
                Some((now, _)) if is_same(&now) => {
                    Ok(all.put_fulltext_index(txn, scope, mode, index)?)
                }
                _ => Err(SqlError::new(208, 16, format!("Invalid object name '{}'.", table.name))),
            }
        })
    }

    fn alter_fulltext_index(
        &mut self,
        name: &ast::ObjectName,
        change: &FulltextIndexChange,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let table = self.fulltext_table(name)?;
        let mut index = self.index_of(&table)?;
        match change {
            FulltextIndexChange::Populate => return Ok(()),
            FulltextIndexChange::Enable(on) => index.is_enabled = *on,
            FulltextIndexChange::Set(settings) => set(&mut index, settings),
            FulltextIndexChange::Add(columns) => {
                for column in columns {
                    add_column(&mut index.columns, column, &table)?;
                }
            }
            FulltextIndexChange::Drop(columns) => {
                for column in columns {
                    let name = &column.value;
                    let at = index.columns.iter().position(|c| same_name(&c.name, name));
                    let Some(at) = at else {
                        let text = format!("Column \"{name}\" is not full-text indexed.");
                        return Err(SqlError::new(7677, 16, text));
                    };
                    index.columns.remove(at);
                }
            }
        }
        self.put_fulltext(&table, PutMode::Alter, index, frame)
    }
}

fn set(index: &mut FulltextIndex, settings: &ast::FulltextSettings) {
    match settings.tracking.as_deref() {
        Some("AUTO") => index.tracking = FulltextTracking::Auto,
        Some("MANUAL") => index.tracking = FulltextTracking::Manual,
        Some("OFF") => index.tracking = FulltextTracking::Off,
        _ => {}
    }
    match settings.stoplist.as_deref() {
        Some("OFF") => index.stoplist = Stoplist::Off,
        Some("SYSTEM") => index.stoplist = Stoplist::System,
        _ => {}
    }
}

/// The index_id of an index that may be a key of full-text search.
fn key_of(table: &TableDef, name: &str) -> Option<i32> {
    let id = table.index_id_of(name)?;
    let (columns, fits) = match table.index(name) {
        Some(index) => (&index.columns, index.unique && !index.disabled && index.filter.is_none()),
        None => (&table.primary_key.as_ref()?.columns, true),
    };
    let [(ordinal, _)] = columns[..] else { return None };
    let column = &table.columns[ordinal];
    let (bytes, _) = types::key::column_bytes(column.ty);
    let computed = column.computed.as_ref().is_none_or(|c| c.persisted);
    (fits && !column.nullable && computed && bytes <= KEY_BYTES_MAX).then_some(id)
}

/// 1911, 7655, 7670, 7671, 7672, 7696, 7699.
fn add_column(
    all: &mut Vec<FulltextColumn>,
    column: &ast::FulltextColumn,
    table: &TableDef,
) -> Result<(), SqlError> {
    let name = &column.name.value;
    let found = |name: &str| {
        let at = table.column(name).ok_or_else(|| {
            let text = format!("Column name '{name}' does not exist in the target table or view.");
            SqlError::new(1911, 16, text)
        })?;
        Ok::<_, SqlError>(&table.columns[at])
    };
    let definition = found(name)?;
    let is_binary = matches!(definition.ty, SqlType::VarBinary(Len::Max));
    if !(definition.ty.is_character() || definition.ty.is_xml() || is_binary) {
        let text = format!(
            "Column '{name}' cannot be used for full-text search because it is not a character-based, XML, image or \
             varbinary(max) type column."
        );
        return Err(SqlError::new(7670, 16, text));
    }
    if all.iter().any(|known| same_name(&known.name, name)) {
        let text = format!(
            "A full-text index cannot be created on the table or indexed view because duplicate column '{name}' is specified."
        );
        return Err(SqlError::new(7672, 16, text));
    }
    let type_column = match &column.type_column {
        Some(_) if !is_binary => {
            let text = "TYPE COLUMN option is not allowed for column types other than image or varbinary(max).";
            return Err(SqlError::new(7699, 16, text));
        }
        Some(ty) => {
            let of = found(&ty.value)?;
            let fits = of.ty.is_character() && !of.ty.is_max();
            if !fits {
                let text = format!(
                    "Column '{}' cannot be used as full-text type column for image column. It must be a character-based column \
                     with a size less or equal than 260 characters.",
                    ty.value
                );
                return Err(SqlError::new(7671, 16, text));
            }
            Some(of.name.clone())
        }
        None if is_binary => {
            let text =
                "TYPE COLUMN option must be specified with column of image or varbinary(max) type.";
            return Err(SqlError::new(7655, 16, text));
        }
        None => None,
    };
    let language = match &column.language {
        None => 1033,
        Some(term) => catalog::fulltext_language(term).ok_or_else(|| {
            let text = "Invalid locale ID was specified. Please verify that the locale ID is correct and corresponding language \
                        resource has been installed.";
            SqlError::new(7696, 16, text)
        })?,
    };
    all.push(FulltextColumn { name: definition.name.clone(), type_column, language });
    Ok(())
}
