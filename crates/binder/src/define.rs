//! CREATE and ALTER TABLE: types resolved, defaults checked, keys found, in the catalog's terms.

use catalog::{AlterTable as Change, ColumnSpec, KeySpec, TableSpec};
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
    defaults: Vec<DefaultFor>,
    ignored: Vec<String>,
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
        self.settle(&name.name, &mut parts)?;
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
            filegroup,
        };
        if is_private(&name.name) {
            parts.ignored.clear();
        }
        Ok(ddl::CreateTable { name, spec, ignored: parts.ignored })
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
        self.settle(name, &mut parts)?;
        Ok(TableSpec {
            schema: "dbo".into(),
            name: name.into(),
            columns: parts.columns,
            primary_key: parts.primary_key,
            unique: parts.unique,
            filegroup: None,
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

    /// Key columns and defaults given apart from their columns: 1911, 8111.
    fn settle(&mut self, table: &str, parts: &mut Parts) -> Result<()> {
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
            if column.computed.is_some() {
                return Err(BindError::unsupported("computed column", line));
            }
            let ty = match &column.ty {
                Some(ty) => self.column_type(ty, &column.name.value)?,
                None if column.name.is("timestamp") => SqlType::Binary(8),
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
            let nullable = if identity.is_some() { Some(false) } else { column.nullable };
            parts.columns.push(ColumnSpec {
                name: column.name.value.as_str().into(),
                ty,
                nullable,
                default,
                identity,
                absent: None,
            });
            for constraint in &column.constraints {
                self.constraint(constraint, text, table, parts)?;
            }
            for index in &column.indexes {
                inline_index(index, table, parts);
            }
        }
        for constraint in &definition.constraints {
            self.constraint(constraint, text, table, parts)?;
        }
        for index in &definition.indexes {
            inline_index(index, table, parts);
        }
        Ok(())
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
        text: &str,
        table: &str,
        parts: &mut Parts,
    ) -> Result<()> {
        let name: Option<Box<str>> = constraint.name.as_ref().map(|n| n.value.as_str().into());
        let line = constraint.span.line.max(1);
        match &constraint.kind {
            ast::ConstraintKind::Key {
                primary: true, clustered, hash, columns, filegroup, ..
            } => {
                if parts.primary_key.is_some() {
                    return Err(BindError::new(
                        8110,
                        16,
                        line,
                        format!("Cannot add multiple PRIMARY KEY constraints to table '{table}'."),
                    ));
                }
                if *hash {
                    return Err(BindError::unsupported("HASH index", line));
                }
                parts.primary_key = Some(KeySpec {
                    name,
                    columns: columns
                        .iter()
                        .map(|c| (c.name.value.as_str().into(), c.descending))
                        .collect(),
                    clustered: clustered.unwrap_or(true),
                    filegroup: filegroup.as_ref().map(|f| f.value.as_str().into()),
                });
            }
            ast::ConstraintKind::Key { columns, .. } if is_private(table) => {
                parts.unique.push(KeySpec {
                    name,
                    columns: columns
                        .iter()
                        .map(|c| (c.name.value.as_str().into(), c.descending))
                        .collect(),
                    clustered: true,
                    filegroup: None,
                });
            }
            ast::ConstraintKind::Key { .. } => {
                return Err(BindError::unsupported("UNIQUE constraint", line));
            }
            ast::ConstraintKind::Check { .. } => {
                return Err(BindError::unsupported("CHECK constraint", line));
            }
            // Foreign keys are not enforced on temporary tables.
            ast::ConstraintKind::ForeignKey { .. } if is_private(table) => {}
            ast::ConstraintKind::ForeignKey { .. } => {
                return Err(BindError::unsupported("FOREIGN KEY constraint", line));
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
            ast::AlterTableAction::Add { definition, .. } => {
                let mut parts = Parts::default();
                self.definition(definition, text, &table.name, &mut parts)?;
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
            }
            ast::AlterTableAction::Drop(items) => {
                for item in items {
                    if item.column {
                        return Err(BindError::unsupported(
                            "ALTER TABLE DROP COLUMN",
                            item.name.span.line,
                        ));
                    }
                    changes.push(Change::DropConstraint {
                        name: item.name.value.as_str().into(),
                        if_exists: item.if_exists,
                    });
                }
            }
            ast::AlterTableAction::AlterColumn { name, .. } => {
                return Err(BindError::unsupported("ALTER TABLE ALTER COLUMN", name.span.line));
            }
            ast::AlterTableAction::Set(_)
            | ast::AlterTableAction::CheckConstraint { .. }
            | ast::AlterTableAction::Rebuild => {}
        }
        Ok(ddl::AlterTable { name, changes, absent })
    }
}

/// An index in a table's definition: the unique ones of private tables are constraints.
fn inline_index(index: &ast::IndexDefinition, table: &str, parts: &mut Parts) {
    if is_private(table) && index.unique && index.filter.is_none() {
        parts.unique.push(unique_key(index));
    } else {
        parts.ignored.push(format!("index {}", index.name.value));
    }
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
