//! sp_rename: tables, columns, indexes, constraints, statistics, modules, types and databases get other names.
//!
//! Promise: texts stay as they are written, so what names a thing by its old name does not find it any more; a column that
//! the text of a constraint, computed column or filter names keeps its name (15336), and so does what a schema-bound
//! module names.
//!
//! Source: documentation of sp_rename; numbers and texts of sys.messages.

use crate::Commands;
use crate::define::dependents::Bound;
use crate::procedures::Argument;
use crate::procedures::arguments;
use catalog::{AlterTable, Catalog, DdlScope, ModuleKind, ObjectRef, TableDef, same_name};
use executor::SqlError;
use session_state::Halted;
use session_state::messages;
use std::sync::Arc;
use syntax::ast::bracketed;
use types::Value;

/// @objtype.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Object,
    Column,
    Index,
    Statistics,
    Type,
    Database,
}

impl Kind {
    fn of(text: Option<&str>) -> Option<Kind> {
        let Some(text) = text else { return Some(Kind::Object) };
        Some(match text.trim().to_uppercase().as_str() {
            "OBJECT" => Kind::Object,
            "COLUMN" => Kind::Column,
            "INDEX" => Kind::Index,
            "STATISTICS" => Kind::Statistics,
            "USERDATATYPE" => Kind::Type,
            "DATABASE" => Kind::Database,
            _ => return None,
        })
    }

    /// In messages.
    fn word(self) -> &'static str {
        match self {
            Kind::Object => "OBJECT",
            Kind::Column => "COLUMN",
            Kind::Index => "INDEX",
            Kind::Statistics => "STATISTICS",
            Kind::Type => "USERDATATYPE",
            Kind::Database => "DATABASE",
        }
    }
}

impl Commands<'_> {
    /// sp_rename @objname, @newname [, @objtype]: 201, 15223, 15225, 15248, 15249, 15250, 15335, 15336.
    pub(crate) fn rename(
        &mut self,
        args: &[Argument],
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<(), Halted> {
        for (i, name) in [(0, "@objname"), (1, "@newname")] {
            if arguments::given(args, i, name).is_none() {
                return Err(arguments::missing("sp_rename", name).into());
            }
        }
        let given = arguments::text(args, 2, "@objtype");
        let Some(kind) = Kind::of(given) else {
            return Err(messages::error(15249, &[given.unwrap_or("")]).into());
        };
        let text = |i: usize, name: &str| arguments::text(args, i, name).filter(|t| !t.is_empty());
        let Some(new) = text(1, "@newname") else {
            return Err(messages::error(15223, &["NewName"]).into());
        };
        if new.chars().count() > 128 {
            return Err(SqlError::new(
                103,
                15,
                format!(
                    "The identifier that starts with '{}' is too long. Maximum length is 128.",
                    new.chars().take(128).collect::<String>()
                ),
            )
            .with_state(4)
            .into());
        }
        let name = text(0, "@objname").unwrap_or("");
        let shown = given.unwrap_or("(null)");
        let mut parts = session_state::name_parts(name);
        if kind == Kind::Database {
            return self.rename_database(&parts, name, new, guarded);
        }
        let kind = if given.is_none() { self.kind_meant(&parts) } else { kind };
        let part = match kind {
            Kind::Column | Kind::Index | Kind::Statistics => parts.pop(),
            _ => None,
        };
        let bare = parts.pop().unwrap_or_default();
        let schema = parts.pop().filter(|s| !s.is_empty());
        if let Some(database) = parts.pop().filter(|d| !d.is_empty())
            && !same_name(&database, &self.state.database.name)
        {
            return Err(messages::error(15250, &[]).into());
        }
        let owner = (schema.as_deref(), &*bare);
        match (kind, part) {
            (Kind::Type, _) => self.rename_type(owner, name, new, shown, frame)?,
            (_, Some(part)) => self.rename_part(kind, owner, &part, name, new, shown, frame)?,
            (_, None) => self.rename_object(owner, name, new, shown, frame)?,
        }
        self.sink.message(&messages::info(15477, &[]));
        Ok(())
    }

    /// What a name without a type means: an object, else a column of a table, else an index of it.
    fn kind_meant(&self, parts: &[String]) -> Kind {
        let object = |parts: &[String]| {
            let (name, rest) = parts.split_last()?;
            let (schema, rest) = rest.split_last().unzip();
            let here = match rest.unwrap_or_default() {
                [] => true,
                [database] => same_name(database, &self.state.database.name),
                _ => false,
            };
            let schema = schema.map(String::as_str).filter(|schema| !schema.is_empty());
            let catalog = &self.state.database.catalog;
            catalog.object(self.state.definitions(), schema, name).filter(|_| here)
        };
        let Some((last, table)) = parts.split_last() else { return Kind::Object };
        match (object(parts), object(table)) {
            (None, Some(ObjectRef::Table(table))) => {
                let mut keys = table.primary_key.iter().chain(&table.unique).map(|key| &key.name);
                let mut indexes = table.indexes.iter().map(|index| &index.name);
                if table.column(last).is_some() {
                    Kind::Column
                } else if keys.any(|name| same_name(name, last))
                    || indexes.any(|name| same_name(name, last))
                {
                    Kind::Index
                } else {
                    Kind::Object
                }
            }
            _ => Kind::Object,
        }
    }

    /// 15225.
    fn no_item(&self, name: &str, shown: &str) -> SqlError {
        messages::error(15225, &[name, &self.state.database.name, shown])
    }

    /// The database's own errors tell what stands against it.
    fn rename_database(
        &mut self,
        parts: &[String],
        name: &str,
        new: &str,
        guarded: bool,
    ) -> Result<(), Halted> {
        let [bare] = parts else {
            return Err(messages::error(15248, &["DATABASE"]).into());
        };
        if self.host.database(bare).is_none() && self.host.why_closed(bare).is_none() {
            return Err(self.no_item(name, "DATABASE").into());
        }
        let text =
            format!("ALTER DATABASE {} MODIFY NAME = {}", bracketed(bare), bracketed(new.trim()));
        self.run_text(&text, guarded)
    }

    fn rename_object(
        &mut self,
        (schema, bare): (Option<&str>, &str),
        name: &str,
        new: &str,
        shown: &str,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let scope = self.state.definitions();
        let catalog = &self.state.database.catalog;
        // The user's default schema first, where no schema is named.
        let default = self.state.default_schema().filter(|_| schema.is_none());
        let found = default
            .and_then(|schema| catalog.object(scope, Some(schema), bare))
            .or_else(|| catalog.object(scope, schema, bare));
        let constraint = || constraint_table(catalog, scope, schema, bare);
        let (object, is_constraint) = match found {
            Some(object) => (object, false),
            None => match constraint() {
                Some(table) => (ObjectRef::Table(table), true),
                None => return Err(self.no_item(name, shown)),
            },
        };
        if !self.may_change(&object, false) {
            return Err(self.no_item(name, shown));
        }
        if is_constraint && let ObjectRef::Table(table) = &object {
            let other = catalog.object(scope, Some(&table.schema), new);
            let other = other.map(|_| table.clone());
            let other =
                other.or_else(|| constraint_table(catalog, scope, Some(&table.schema), new));
            if other.is_some() && !same_name(bare, new) {
                return Err(messages::error(15335, &[new, "object"]));
            }
            let (from, to) = (bare.into(), new.into());
            let change = AlterTable::RenameConstraint { from, to };
            return self.apply_changes(Some(&table.schema), &table.name, &[change], frame);
        }
        let (schema, id) = match &object {
            ObjectRef::Table(table) => (table.schema.clone(), table.object_id),
            ObjectRef::Procedure(module) => (module.schema.clone(), module.object_id),
        };
        let other = catalog.object(scope, Some(&schema), new);
        let taken = other.is_some_and(|o| o.object_id() != id)
            || constraint_table(catalog, scope, Some(&schema), new).is_some();
        if taken {
            return Err(messages::error(15335, &[new, "object"]));
        }
        let bound = match &object {
            ObjectRef::Table(table) => Bound::of_table(table),
            ObjectRef::Procedure(module) => Bound::of(module),
        };
        if self.dependent(&bound).is_some() {
            return Err(messages::error(15336, &[name]));
        }
        match object {
            ObjectRef::Table(table) => {
                let change = AlterTable::Rename { to: new.into() };
                self.apply_changes(Some(&table.schema), &table.name, &[change], frame)
            }
            ObjectRef::Procedure(module) => self.in_catalog(frame, |catalog, txn, scope| {
                Ok(catalog.rename_module(txn, scope, &module, new)?)
            }),
        }
    }

    /// An alias or table type; CONTROL of it is needed.
    fn rename_type(
        &mut self,
        (schema, bare): (Option<&str>, &str),
        name: &str,
        new: &str,
        shown: &str,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        const KINDS: [ModuleKind; 2] = [ModuleKind::AliasType, ModuleKind::TableType];
        let scope = self.state.definitions();
        let catalog = &self.state.database.catalog;
        let schema = schema.or_else(|| self.state.default_schema());
        let find = |schema: Option<&str>, name: &str| {
            KINDS.iter().find_map(|kind| catalog.module(scope, schema, name, *kind))
        };
        let found = find(schema, bare).or_else(|| find(None, bare));
        let found = found
            .filter(|module| self.may_change(&ObjectRef::Procedure(module.clone()), true))
            .ok_or_else(|| self.no_item(name, shown))?;
        let other = find(Some(&found.schema), new);
        if other.is_some_and(|module| module.object_id != found.object_id) {
            return Err(messages::error(15335, &[new, "USERDATATYPE"]));
        }
        self.in_catalog(frame, |catalog, txn, scope| {
            Ok(catalog.rename_module(txn, scope, &found, new)?)
        })
    }

    /// A column, an index or a statistic of a table.
    #[allow(clippy::too_many_arguments, reason = "what the caller has taken apart")]
    fn rename_part(
        &mut self,
        kind: Kind,
        (schema, bare): (Option<&str>, &str),
        part: &str,
        name: &str,
        new: &str,
        shown: &str,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let scope = self.state.definitions();
        let catalog = self.state.database.catalog.clone();
        let default = self.state.default_schema().filter(|_| schema.is_none());
        let found = default.and_then(|schema| catalog.table(scope, Some(schema), bare));
        let Some(table) = found.or_else(|| catalog.table(scope, schema, bare)) else {
            return Err(self.no_item(name, shown));
        };
        if !self.may_change(&ObjectRef::Table(table.clone()), false) {
            return Err(self.no_item(name, shown));
        }
        let ambiguous = || messages::error(15248, &[shown]);
        let taken = || messages::error(15335, &[new, kind.word()]);
        let change = if kind == Kind::Column {
            let ordinal = table.column(part).ok_or_else(ambiguous)?;
            if table.column(new).is_some_and(|other| other != ordinal) {
                return Err(taken());
            }
            if self.column_dependent(&table, part).is_some() {
                return Err(messages::error(15336, &[name]));
            }
            AlterTable::RenameColumn { from: part.into(), to: new.into() }
        } else {
            // An index and its statistics have one name.
            let statistics = table.statistics.all();
            let indexes = table.statistic_indexes();
            let of_index = |name: &str| {
                table.index(name).is_some() || indexes.iter().any(|(_, n)| same_name(n, name))
            };
            let statistic = |name: &str| {
                let own = statistics.iter().find(|s| same_name(&s.name, name));
                own.filter(|s| !indexes.iter().any(|(id, _)| *id == s.id)).map(|s| s.id)
            };
            let alone = statistic(part).filter(|_| kind == Kind::Statistics && !of_index(part));
            if !of_index(part) && alone.is_none() {
                return Err(ambiguous());
            }
            if (of_index(new) || statistic(new).is_some()) && !same_name(part, new) {
                return Err(taken());
            }
            if let Some(id) = alone {
                return Ok(catalog.rename_statistic(&table, id, new)?);
            }
            match table.is_clustered_key(part) {
                true => AlterTable::RenameConstraint { from: part.into(), to: new.into() },
                false => AlterTable::RenameIndex { from: part.into(), to: new.into() },
            }
        };
        let done = self.apply_changes(Some(&table.schema), &table.name, &[change], frame);
        // Texts that name the column would lose it.
        done.map_err(|e| if e.number == 4922 { messages::error(15336, &[name]) } else { e })
    }
}

/// The table that has a constraint of that name.
pub(crate) fn constraint_table(
    catalog: &Catalog,
    scope: Option<&DdlScope>,
    schema: Option<&str>,
    name: &str,
) -> Option<Arc<TableDef>> {
    let has = |t: &TableDef| {
        let keys = t.primary_key.iter().map(|k| &k.name);
        let indexes = t.indexes.iter().filter(|i| i.constraint_id != 0).map(|i| &i.name);
        let defaults = t.columns.iter().filter_map(|c| c.default.as_ref()).map(|d| &d.name);
        let checks = t.checks.iter().map(|c| &c.name);
        let foreign = t.foreign_keys.iter().map(|k| &k.name);
        let mut all = keys.chain(indexes).chain(defaults).chain(checks).chain(foreign);
        schema.is_none_or(|s| same_name(s, &t.schema)) && all.any(|n| same_name(n, name))
    };
    catalog.objects_in(scope).into_iter().find_map(|object| match object {
        ObjectRef::Table(table) if has(&table) => Some(table),
        _ => None,
    })
}
