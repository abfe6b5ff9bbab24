//! CREATE and ALTER TABLE: types resolved, defaults checked, keys found, in the catalog's terms.

use catalog::{
    AlterTable as Change, CheckSpec, ColumnSpec, ForeignKeySpec, IndexSpec, KeySpec, RefAction,
    TableDef, TableSpec,
};
use syntax::ast;
use types::SqlType;

use crate::context::Binder;
use crate::ddl;
use crate::error::{BindError, Result};
use crate::expr::resolve_type;
use crate::ir::*;
use crate::names::ObjectName;

/// What a table definition comes to.
#[derive(Default)]
struct Parts {
    columns: Vec<ColumnSpec>,
    primary_key: Option<KeySpec>,
    unique: Vec<KeySpec>,
    indexes: Vec<(IndexSpec, Option<ast::Expr>)>,
    checks: Vec<(CheckSpec, ast::Expr)>,
    foreign_keys: Vec<ForeignKeySpec>,
    /// (position among `columns`, expression)
    computed: Vec<(usize, ast::Expr)>,
    /// The primary key said CLUSTERED or NONCLUSTERED.
    primary_said: bool,
    defaults: Vec<DefaultFor>,
}

/// `DEFAULT text FOR column`.
struct DefaultFor {
    name: Option<Box<str>>,
    column: Box<str>,
    text: Box<str>,
}

impl Binder<'_> {
    pub fn create_table(
        &mut self,
        create: &ast::CreateTable,
        text: &str,
    ) -> Result<ddl::CreateTable> {
        let name = ObjectName::from(&create.name);
        let mut parts = Parts::default();
        self.definition(&create.definition, text, &name.name, &mut parts)?;
        if parts.columns.is_empty() {
            return Err(BindError::new(
                173,
                15,
                create.name.span.line.max(1),
                "The definition for column must include a data type.",
            ));
        }
        for option in &create.options {
            if option.name == "MEMORY_OPTIMIZED" && option.value == ast::OptionValue::On {
                return Err(BindError::unsupported("MEMORY_OPTIMIZED", option.span.line));
            }
        }
        self.settle(&name.name, None, &mut parts)?;
        let filegroup = create
            .filegroup
            .as_ref()
            .map(|f| f.value.as_str())
            .or(parts.primary_key.as_ref().and_then(|k| k.filegroup.as_deref()))
            .map(Into::into);
        let spec = TableSpec {
            // Empty: the user's default schema.
            schema: name.schema.as_deref().unwrap_or("").into(),
            name: name.name.as_str().into(),
            columns: parts.columns,
            primary_key: parts.primary_key,
            unique: parts.unique,
            indexes: parts.indexes.into_iter().map(|(index, _)| index).collect(),
            checks: parts.checks.into_iter().map(|(check, _)| check).collect(),
            foreign_keys: parts.foreign_keys,
            filegroup,
        };
        Ok(ddl::CreateTable { name, spec })
    }

    /// The definition of a table variable or a table type.
    pub fn table_spec(
        &mut self,
        definition: &ast::TableDefinition,
        text: &str,
        name: &str,
    ) -> Result<TableSpec> {
        let mut parts = Parts::default();
        self.definition(definition, text, name, &mut parts)?;
        self.settle(name, None, &mut parts)?;
        Ok(TableSpec {
            schema: "dbo".into(),
            name: name.into(),
            columns: parts.columns,
            primary_key: parts.primary_key,
            unique: parts.unique,
            checks: parts.checks.into_iter().map(|(check, _)| check).collect(),
            ..TableSpec::default()
        })
    }

    /// CREATE TYPE ... AS TABLE: what variables of the type are. The definition must be one that a table can have.
    pub fn table_type(&mut self, create: &ast::CreateType, text: &str) -> Result<TableSpec> {
        // Named like a variable, for what it may contain is what a variable may.
        let spec = self.table_spec(&create.definition, text, "@type")?;
        let line = create.name.span.line.max(1);
        catalog::define_private(&spec, catalog::Place::Variable(0), -1, 1)
            .map_err(|e| BindError::of_catalog(e, line))?;
        Ok(spec)
    }

    /// Key columns and defaults given apart from their columns, expressions over all of them: 1911, 8111. `known`: the
    /// table that the parts are added to.
    fn settle(&mut self, table: &str, known: Option<&TableDef>, parts: &mut Parts) -> Result<()> {
        self.computed(table, known, parts)?;
        let columns = row_columns(known, &parts.columns);
        let columns: Vec<_> = columns.iter().map(|(n, t, null)| (&**n, *t, *null)).collect();
        for (_, condition) in &parts.checks {
            self.over_row(table, &columns, |b| b.condition(condition))?;
        }
        for (_, filter) in &parts.indexes {
            if let Some(filter) = filter {
                self.filter(table, &columns, filter)?;
            }
        }
        let another = parts.unique.iter().any(|k| k.clustered)
            || parts.indexes.iter().any(|(i, _)| i.clustered)
            || known.is_some_and(|t| !t.clustered_key().is_empty());
        if let Some(key) = &mut parts.primary_key
            && !parts.primary_said
        {
            key.clustered = !another;
        }
        if known.is_some() {
            return Ok(());
        }
        if let Some(key) = &mut parts.primary_key {
            for (column, _) in &key.columns {
                let found = parts.columns.iter_mut().find(|c| catalog::same_name(&c.name, column));
                match found {
                    None => {
                        return Err(self.error(
                            1911,
                            format!(
                                "Column name '{column}' does not exist in the target table or view."
                            ),
                        ));
                    }
                    Some(c) => match c.nullable {
                        Some(true) => {
                            return Err(self.error(
                                8111,
                                format!(
                                    "Cannot define PRIMARY KEY constraint on nullable column in \
                                     table '{}'.",
                                    table
                                ),
                            ));
                        }
                        _ => c.nullable = Some(false),
                    },
                }
            }
        }
        for DefaultFor { name: constraint, column, text } in std::mem::take(&mut parts.defaults) {
            let found = parts.columns.iter_mut().find(|c| catalog::same_name(&c.name, &column));
            if let Some(found) = found {
                found.default = Some((constraint, text));
            }
        }
        Ok(())
    }

    fn definition(
        &mut self,
        definition: &ast::TableDefinition,
        text: &str,
        table: &str,
        parts: &mut Parts,
    ) -> Result<()> {
        for column in &definition.columns {
            let line = column.span.line.max(1);
            let rowversion = column.ty.as_ref().is_some_and(|ty| {
                ["timestamp", "rowversion"].iter().any(|n| ty.name.eq_ignore_ascii_case(n))
            });
            let ty = match &column.ty {
                _ if column.computed.is_some() => SqlType::Int,
                _ if rowversion => SqlType::Binary(8),
                Some(ty) => self.column_type(ty, &column.name.value)?,
                None => {
                    return Err(BindError::new(
                        173,
                        15,
                        line,
                        format!(
                            "The definition for column '{}' must include a data type.",
                            column.name.value
                        ),
                    ));
                }
            };
            let twice =
                parts.columns.iter().any(|c| catalog::same_name(&c.name, &column.name.value));
            if twice {
                return Err(BindError::new(
                    2705,
                    16,
                    line,
                    format!(
                        "Column names in each table must be unique. Column name '{}' in table \
                         '{table}' is specified more than once.",
                        column.name.value
                    ),
                ));
            }
            let default = match &column.default {
                None => None,
                Some(default) => {
                    if column.identity.is_some() {
                        return Err(BindError::new(
                            1754,
                            16,
                            line,
                            format!(
                                "Defaults cannot be created on columns with an IDENTITY attribute. \
                                 Table '{table}', column '{}'.",
                                column.name.value
                            ),
                        ));
                    }
                    let source = default.expr.span.text(text);
                    self.check_default(&default.expr, ty)?;
                    let name = default.name.as_ref().map(|n| n.value.as_str().into());
                    Some((name, in_parentheses(source).into()))
                }
            };
            let identity = match &column.identity {
                None => None,
                Some(identity) => Some(self.identity(identity, ty, &column.name.value, line)?),
            };
            let made_not_null = identity.is_some() || rowversion;
            let nullable = if made_not_null { Some(false) } else { column.nullable };
            if let Some(computed) = &column.computed {
                parts.computed.push((parts.columns.len(), computed.clone()));
            }
            let of = column.computed.as_ref();
            parts.columns.push(ColumnSpec {
                nullable,
                default,
                identity,
                computed: of.map(|e| (in_parentheses(e.span.text(text)).into(), column.persisted)),
                rowversion,
                ..ColumnSpec::new(&column.name.value, ty)
            });
            for constraint in &column.constraints {
                self.constraint(constraint, Some(&column.name.value), text, table, parts)?;
            }
            for index in &column.indexes {
                self.inline_index(index, text, table, parts)?;
            }
        }
        for constraint in &definition.constraints {
            self.constraint(constraint, None, text, table, parts)?;
        }
        for index in &definition.indexes {
            self.inline_index(index, text, table, parts)?;
        }
        Ok(())
    }

    /// Types of computed columns, from what they compute: 1759, 4936.
    fn computed(&mut self, table: &str, known: Option<&TableDef>, parts: &mut Parts) -> Result<()> {
        let before = known.map_or(0, |t| t.columns.len());
        for (at, expr) in std::mem::take(&mut parts.computed) {
            let columns = row_columns(known, &parts.columns);
            let columns: Vec<_> = columns.iter().map(|(n, t, null)| (&**n, *t, *null)).collect();
            let bound = self.over_row(table, &columns, |b| b.expr(&expr))?;
            let mut read = Vec::new();
            bound.columns(&mut read);
            let is_computed = |id: usize| match id.checked_sub(before) {
                Some(i) => parts.columns[i].computed.is_some(),
                None => known.is_some_and(|t| t.columns[id].computed.is_some()),
            };
            if let Some(other) = read.iter().find(|id| is_computed(id.0 as usize)) {
                return Err(self.error(
                    1759,
                    format!(
                        "Computed column '{}' in table '{table}' is not allowed to be used in another \
                         computed-column definition.",
                        columns[other.0 as usize].0
                    ),
                ));
            }
            let line = expr.span.line.max(1);
            if !crate::rules::is_deterministic(&bound) {
                if parts.columns[at].computed.as_ref().is_some_and(|(_, persisted)| *persisted) {
                    return Err(self.error(
                        4936,
                        format!(
                            "Computed column '{}' in table '{table}' cannot be persisted because the \
                             column is non-deterministic.",
                            parts.columns[at].name
                        ),
                    ));
                }
                return Err(BindError::unsupported(
                    "computed column that is not deterministic",
                    line,
                ));
            }
            let column = &mut parts.columns[at];
            column.ty = bound.ty;
            if column.nullable.is_none() {
                column.nullable = Some(bound.nullable);
            }
        }
        Ok(())
    }

    /// The condition of a filtered index.
    fn filter(
        &mut self,
        table: &str,
        columns: &[(&str, SqlType, bool)],
        filter: &ast::Expr,
    ) -> Result<()> {
        let bound = self.over_row(table, columns, |b| b.condition(filter))?;
        if crate::rules::is_deterministic(&bound) {
            return Ok(());
        }
        Err(self.error(
            10735,
            format!(
                "Incorrect WHERE clause for filtered index on table '{table}': it is not \
                 deterministic."
            ),
        ))
    }

    fn column_type(&self, ty: &ast::TypeName, column: &str) -> Result<SqlType> {
        resolve_type(ty, false).map_err(|mut e| {
            e.text = e.text.replace(
                "Column, parameter, or variable #1",
                &format!("Column, parameter, or variable '{column}'"),
            );
            e
        })
    }

    /// A default binds without columns and converts to the column's type; 128 for a column name.
    fn check_default(&mut self, default: &ast::Expr, ty: SqlType) -> Result<()> {
        let line = default.span.line.max(1);
        let bound = self.expr(default).map_err(|e| match e.number {
            207 | 4104 => BindError::new(
                128,
                15,
                line,
                "The name is not permitted in this context. Valid expressions are constants, \
                 constant expressions, and (in some contexts) variables. Column names are not \
                 permitted.",
            ),
            _ => e,
        })?;
        self.coerce(bound, ty, CastMode::Store { column: 0 })?;
        Ok(())
    }

    fn identity(
        &self,
        identity: &ast::Identity,
        ty: SqlType,
        column: &str,
        line: u32,
    ) -> Result<catalog::Identity> {
        let whole = matches!(ty, SqlType::Decimal { scale: 0, .. })
            || (ty.is_integer() && ty != SqlType::Bit);
        let seed = identity.seed.parse::<i64>();
        let increment = identity.increment.parse::<i64>();
        match (whole, seed, increment) {
            (true, Ok(seed), Ok(increment)) if increment != 0 => {
                Ok(catalog::Identity { seed, increment })
            }
            (true, ..) => Err(BindError::new(
                2756,
                16,
                line,
                format!("Invalid value specified for IDENTITY of column '{column}'."),
            )),
            _ => Err(BindError::new(
                2749,
                16,
                line,
                format!(
                    "Identity column '{column}' must be of data type int, bigint, smallint, \
                     tinyint, or decimal or numeric with a scale of 0, unencrypted, and \
                     constrained to be nonnullable."
                ),
            )),
        }
    }

    fn constraint(
        &mut self,
        constraint: &ast::TableConstraint,
        of: Option<&str>,
        text: &str,
        table: &str,
        parts: &mut Parts,
    ) -> Result<()> {
        let name: Option<Box<str>> = constraint.name.as_ref().map(|n| n.value.as_str().into());
        let line = constraint.span.line.max(1);
        match &constraint.kind {
            ast::ConstraintKind::Key { hash: true, .. } => {
                return Err(BindError::unsupported("HASH index", line));
            }
            ast::ConstraintKind::Key {
                primary, clustered, columns, filegroup, options, ..
            } => {
                let options = index_options(options, line)?;
                if options.ignore_dup_key && !is_private(table) {
                    let what = "PRIMARY KEY or UNIQUE constraint WITH (IGNORE_DUP_KEY = ON)";
                    return Err(BindError::unsupported(what, line));
                }
                let key = KeySpec {
                    name,
                    columns: columns
                        .iter()
                        .map(|c| (c.name.value.as_str().into(), c.descending))
                        .collect(),
                    clustered: clustered.unwrap_or(*primary) || is_private(table),
                    filegroup: filegroup.as_ref().map(|f| f.value.as_str().into()),
                };
                if !primary {
                    parts.unique.push(key);
                    return Ok(());
                }
                if parts.primary_key.is_some() {
                    return Err(BindError::new(
                        8110,
                        16,
                        line,
                        format!("Cannot add multiple PRIMARY KEY constraints to table '{table}'."),
                    ));
                }
                parts.primary_said = clustered.is_some() || is_private(table);
                parts.primary_key = Some(key);
            }
            ast::ConstraintKind::Check { condition } => {
                let text = in_parentheses_always(condition.span.text(text)).into();
                let column = of.map(Into::into);
                let check = CheckSpec { name, text, column, nocheck: false };
                parts.checks.push((check, condition.clone()));
            }
            // Foreign keys are not enforced on temporary tables.
            ast::ConstraintKind::ForeignKey { .. } if is_private(table) => {}
            ast::ConstraintKind::ForeignKey {
                columns,
                table,
                referenced,
                on_delete,
                on_update,
            } => {
                if table.database.is_some() {
                    return Err(self.error(
                        1763,
                        format!(
                            "Cross-database foreign key references are not supported. Foreign key \
                             '{table}'."
                        ),
                    ));
                }
                let names = |list: &[ast::Ident]| -> Vec<Box<str>> {
                    list.iter().map(|c| c.value.as_str().into()).collect()
                };
                parts.foreign_keys.push(ForeignKeySpec {
                    name,
                    columns: names(columns),
                    schema: table.schema.as_ref().map(|s| s.value.as_str().into()),
                    table: table.name.value.as_str().into(),
                    referenced: names(referenced),
                    on_delete: ref_action(on_delete.as_deref(), line)?,
                    on_update: ref_action(on_update.as_deref(), line)?,
                    nocheck: false,
                });
            }
            ast::ConstraintKind::DefaultFor { expr, column } => {
                let source = in_parentheses(expr.span.text(text));
                parts.defaults.push(DefaultFor {
                    name,
                    column: column.value.as_str().into(),
                    text: source.into(),
                });
            }
        }
        Ok(())
    }

    /// CREATE INDEX on a temporary table: a unique one is a constraint, any other has no effect, for rows in memory are
    /// found by the primary key or by looking at all of them. 1088.
    pub fn private_index(&mut self, create: &ast::CreateIndex) -> Result<StmtKind> {
        let name = ObjectName::from(&create.table);
        if self.table(&name).is_none() {
            return Err(BindError::new(
                1088,
                16,
                create.table.span.line.max(1),
                format!(
                    "Cannot find the object \"{}\" because it does not exist or you do not have \
                     permissions.",
                    create.table
                ),
            ));
        }
        let index = &create.index;
        if !index.unique {
            return Ok(StmtKind::Nothing);
        }
        if index.filter.is_some() {
            return Err(BindError::unsupported("UNIQUE INDEX with a filter", index.span.line));
        }
        let key = unique_key(index);
        Ok(StmtKind::Ddl(Box::new(ddl::Ddl::PrivateUnique { table: name, key })))
    }

    pub fn alter_table(&mut self, alter: &ast::AlterTable, text: &str) -> Result<ddl::AlterTable> {
        let name = ObjectName::from(&alter.name);
        let table = self.table(&name).ok_or_else(|| {
            BindError::new(
                4902,
                16,
                alter.name.span.line.max(1),
                format!(
                    "Cannot find the object \"{}\" because it does not exist or you do not have \
                     permissions.",
                    alter.name
                ),
            )
        })?;
        let mut changes = Vec::new();
        let mut absent = Vec::new();
        match &alter.action {
            ast::AlterTableAction::Add { definition, nocheck } => {
                let mut parts = Parts::default();
                self.definition(definition, text, &table.name, &mut parts)?;
                self.settle(&table.name, Some(&table), &mut parts)?;
                for column in &parts.columns {
                    if table.column(&column.name).is_some() {
                        return Err(self.error(
                            2705,
                            format!(
                                "Column names in each table must be unique. Column name '{}' in \
                                 table '{}' is specified more than once.",
                                column.name, alter.name
                            ),
                        ));
                    }
                    // Rows already there get the default when the column may not be NULL.
                    let value = match &column.default {
                        Some((_, text)) if column.nullable == Some(false) => {
                            let value = self.default_text(text)?;
                            Some(self.coerce(value, column.ty, CastMode::Store { column: 0 })?)
                        }
                        _ => None,
                    };
                    absent.push(value);
                }
                if !parts.columns.is_empty() {
                    changes.push(Change::AddColumns(parts.columns));
                }
                for DefaultFor { name, column, text } in parts.defaults {
                    let Some(ordinal) = table.column(&column) else {
                        return Err(self.error(
                            1752,
                            format!(
                                "Column '{column}' in table '{}' is invalid for creating a default \
                                 constraint.",
                                table.name
                            ),
                        ));
                    };
                    let value = self.default_text(&text)?;
                    self.coerce(value, table.columns[ordinal].ty, CastMode::Store { column: 0 })?;
                    changes.push(Change::AddDefault { name, column, text });
                }
                if let Some(key) = parts.primary_key {
                    changes.push(Change::AddPrimaryKey(key));
                }
                changes.extend(parts.unique.into_iter().map(Change::AddUnique));
                changes.extend(parts.indexes.into_iter().map(|(i, _)| Change::AddIndex(i)));
                for (check, _) in parts.checks {
                    changes.push(Change::AddCheck(CheckSpec { nocheck: *nocheck, ..check }));
                }
                for key in parts.foreign_keys {
                    changes
                        .push(Change::AddForeignKey(ForeignKeySpec { nocheck: *nocheck, ..key }));
                }
            }
            ast::AlterTableAction::Drop(items) => {
                for item in items {
                    let name = item.name.value.as_str().into();
                    let if_exists = item.if_exists;
                    changes.push(match item.column {
                        true => Change::DropColumn { name, if_exists },
                        false => Change::DropConstraint { name, if_exists },
                    });
                }
            }
            ast::AlterTableAction::AlterColumn { name, ty, nullable, .. } => {
                let ty = self.column_type(ty, &name.value)?;
                let name = name.value.as_str().into();
                changes.push(Change::AlterColumn { name, ty, nullable: *nullable });
            }
            ast::AlterTableAction::CheckConstraint { enable, verify, names } => {
                changes.push(Change::EnableConstraints {
                    names: names.iter().map(|n| n.value.as_str().into()).collect(),
                    enable: *enable,
                    verify: *verify && *enable,
                });
            }
            ast::AlterTableAction::Rebuild => changes.push(Change::RebuildIndex { name: None }),
            ast::AlterTableAction::Set(_) => {}
        }
        Ok(ddl::AlterTable { name, changes, absent })
    }

    /// The table of an index; 1088.
    fn indexed_table(&self, name: &ast::ObjectName) -> Result<std::sync::Arc<TableDef>> {
        let wanted = ObjectName::from(name);
        let line = name.span.line.max(1);
        self.table(&wanted).ok_or_else(|| match self.names.view(&wanted) {
            Some(_) => BindError::unsupported("CREATE INDEX on a view", line),
            None => BindError::new(
                1088,
                16,
                line,
                format!(
                    "Cannot find the object \"{name}\" because it does not exist or you do not have \
                     permissions."
                ),
            ),
        })
    }

    /// CREATE INDEX: 1088, 155.
    pub fn create_index(
        &mut self,
        create: &ast::CreateIndex,
        text: &str,
    ) -> Result<ddl::AlterTable> {
        let table = self.indexed_table(&create.table)?;
        let spec = index_spec(&create.index, text)?;
        if let Some(filter) = &create.index.filter {
            let columns = row_columns(Some(&table), &[]);
            let columns: Vec<_> = columns.iter().map(|(n, t, null)| (&**n, *t, *null)).collect();
            self.filter(&table.name, &columns, filter)?;
        }
        let changes = vec![Change::AddIndex(spec)];
        Ok(ddl::AlterTable { name: ObjectName::from(&create.table), changes, absent: Vec::new() })
    }

    /// ALTER INDEX: 1088, 155.
    pub fn alter_index(&mut self, alter: &ast::AlterIndex) -> Result<ddl::AlterTable> {
        self.indexed_table(&alter.table)?;
        let line = alter.table.span.line.max(1);
        let name: Option<Box<str>> = alter.index.as_ref().map(|n| n.value.as_str().into());
        let mut changes = Vec::new();
        let mut options = |options: &[ast::DatabaseOption]| -> Result<()> {
            let found = index_options(options, line)?;
            let said = options.iter().any(|o| o.name == "IGNORE_DUP_KEY");
            if let (true, Some(name)) = (said, &name) {
                let on = found.ignore_dup_key;
                changes.push(Change::SetIgnoreDupKey { name: name.clone(), on });
            }
            Ok(())
        };
        match &alter.action {
            ast::AlterIndexAction::Rebuild(with) => {
                options(with)?;
                changes.push(Change::RebuildIndex { name });
            }
            ast::AlterIndexAction::Set(with) => options(with)?,
            ast::AlterIndexAction::Disable => changes.push(Change::DisableIndex { name }),
            // Trees keep themselves in order.
            ast::AlterIndexAction::Reorganize => {}
        }
        Ok(ddl::AlterTable { name: ObjectName::from(&alter.table), changes, absent: Vec::new() })
    }

    /// An index in a table's definition: the unique ones of private tables are constraints, their others have no effect.
    fn inline_index(
        &mut self,
        index: &ast::IndexDefinition,
        text: &str,
        table: &str,
        parts: &mut Parts,
    ) -> Result<()> {
        if index.hash {
            return Err(BindError::unsupported("HASH index", index.span.line.max(1)));
        }
        if !is_private(table) {
            parts.indexes.push((index_spec(index, text)?, index.filter.clone()));
        } else if index.unique && index.filter.is_none() {
            parts.unique.push(unique_key(index));
        }
        Ok(())
    }
}

/// Names, types and nullability of a row: the table's columns, then those added.
fn row_columns(known: Option<&TableDef>, added: &[ColumnSpec]) -> Vec<(String, SqlType, bool)> {
    let known = known.iter().flat_map(|t| &t.columns);
    let known = known.map(|c| (c.name.to_string(), c.ty, c.nullable));
    let added = added.iter().map(|c| (c.name.to_string(), c.ty, c.nullable != Some(false)));
    known.chain(added).collect()
}

/// WITH options of an index that mean something here.
#[derive(Default)]
struct IndexOptions {
    fill_factor: u8,
    ignore_dup_key: bool,
    drop_existing: bool,
}

/// Reads the options of an index; 155 for one that SQL Server does not have.
fn index_options(options: &[ast::DatabaseOption], line: u32) -> Result<IndexOptions> {
    const ACCEPTED: &[&str] = &[
        "ALLOW_PAGE_LOCKS",
        "ALLOW_ROW_LOCKS",
        "COMPRESSION_DELAY",
        "DATA_COMPRESSION",
        "LOB_COMPACTION",
        "MAXDOP",
        "MAX_DURATION",
        "ONLINE",
        "OPTIMIZE_FOR_SEQUENTIAL_KEY",
        "PAD_INDEX",
        "RESUMABLE",
        "SORT_IN_TEMPDB",
        "STATISTICS_INCREMENTAL",
        "STATISTICS_NORECOMPUTE",
        "XML_COMPRESSION",
    ];
    let mut out = IndexOptions::default();
    for option in options {
        // ON or nothing, as in WITH PAD_INDEX, FILLFACTOR = 80.
        let on = matches!(option.value, ast::OptionValue::On | ast::OptionValue::None);
        match option.name.as_str() {
            "FILLFACTOR" => {
                let ast::OptionValue::Literal(ast::Literal::Int(n)) = &option.value else {
                    continue;
                };
                out.fill_factor = u8::try_from(*n).ok().filter(|n| *n <= 100).ok_or_else(|| {
                    BindError::new(
                        129,
                        15,
                        line,
                        format!("Fillfactor {n} is not a valid percentage; fillfactor must be between 1 and 100."),
                    )
                })?;
            }
            "IGNORE_DUP_KEY" => out.ignore_dup_key = on,
            "DROP_EXISTING" => out.drop_existing = on,
            name if ACCEPTED.contains(&name) => {}
            name => {
                return Err(BindError::new(
                    155,
                    15,
                    line,
                    format!("'{name}' is not a recognized CREATE INDEX option."),
                ));
            }
        }
    }
    Ok(out)
}

fn index_spec(index: &ast::IndexDefinition, text: &str) -> Result<IndexSpec> {
    let line = index.span.line.max(1);
    let options = index_options(&index.options, line)?;
    if options.ignore_dup_key && !index.unique {
        return Err(BindError::new(
            1916,
            16,
            line,
            "CREATE INDEX options nonunique and ignore_dup_key are mutually exclusive.",
        ));
    }
    if index.clustered == Some(true) && options.ignore_dup_key {
        return Err(BindError::unsupported("CLUSTERED INDEX WITH (IGNORE_DUP_KEY = ON)", line));
    }
    if index.clustered == Some(true) && (index.filter.is_some() || !index.include.is_empty()) {
        return Err(BindError::new(
            10601,
            16,
            line,
            format!(
                "Cannot specify included columns or a filter for a clustered index '{}'.",
                index.name.value
            ),
        ));
    }
    let columns = index.columns.iter();
    let filter = index.filter.as_ref();
    Ok(IndexSpec {
        name: index.name.value.as_str().into(),
        columns: columns.map(|c| (c.name.value.as_str().into(), c.descending)).collect(),
        include: index.include.iter().map(|c| c.value.as_str().into()).collect(),
        unique: index.unique,
        clustered: index.clustered == Some(true),
        filter: filter.map(|f| in_parentheses_always(f.span.text(text)).into()),
        filegroup: index.filegroup.as_ref().map(|f| f.value.as_str().into()),
        fill_factor: options.fill_factor,
        ignore_dup_key: options.ignore_dup_key,
        drop_existing: options.drop_existing,
    })
}

fn ref_action(words: Option<&str>, line: u32) -> Result<RefAction> {
    Ok(match words {
        None | Some("NO ACTION") => RefAction::NoAction,
        Some("CASCADE") => RefAction::Cascade,
        Some("SET NULL") => RefAction::SetNull,
        Some("SET DEFAULT") => RefAction::SetDefault,
        Some(other) => {
            return Err(BindError::new(102, 15, line, format!("Incorrect syntax near '{other}'.")));
        }
    })
}

fn in_parentheses_always(text: &str) -> String {
    format!("({})", text.trim())
}

fn unique_key(index: &ast::IndexDefinition) -> KeySpec {
    let columns = index.columns.iter();
    KeySpec {
        name: Some(index.name.value.as_str().into()),
        columns: columns.map(|c| (c.name.value.as_str().into(), c.descending)).collect(),
        clustered: true,
        filegroup: None,
    }
}

/// Temporary tables and table variables, by name.
pub(crate) fn is_private(name: &str) -> bool {
    name.starts_with(['#', '@'])
}

/// Defaults are kept in parentheses, as SQL Server does.
fn in_parentheses(text: &str) -> String {
    let text = text.trim();
    if text.starts_with('(') && text.ends_with(')') {
        text.to_string()
    } else {
        format!("({text})")
    }
}
