//! CREATE TABLE and the parts of a definition: types resolved, defaults checked, keys found, in the catalog's terms.
//! What ALTER TABLE makes of the parts is in `alter.rs`, indexes are in `index.rs`, keys,
//! checks and references in `constraints.rs`.

mod alter;
mod constraints;
mod filter;
mod index;
mod temporal;

use catalog::{
    CheckSpec, ColumnSpec, ForeignKeySpec, IndexSpec, KeySpec, Marks, PeriodEdge, TableDef,
    TableSpec,
};
use ir::*;
use syntax::ast;
use types::{SqlType, Value};

use crate::context::Binder;
use crate::routine::BoundFunctions;
use semantics::deterministic::is_deterministic;
use semantics::names::{AliasType, is_private, is_temporary};
use semantics::table_definition::{
    compress, is_long_type, is_rowversion, memory_options, system_alias, too_many_columns, unlike,
};
use semantics::tree::space;
use semantics::type_names::named_type;
use semantics::versioning::{Versioning, versioning};
use semantics::{BindError, Result};

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
    /// Of a memory-optimized table type, which may have HASH indexes.
    in_memory: bool,
    /// An alias type among the columns' that has a rule or default bound, and which of both.
    bound_type: Option<(String, &'static str)>,
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
        let memory = memory_options(&create.options)?;
        let mut parts = Parts { in_memory: memory.is_some(), ..Parts::default() };
        self.definition(&create.definition, text, &name.name, &mut parts)?;
        if parts.columns.is_empty() {
            return Err(BindError::new(
                173,
                15,
                create.name.span.line.max(1),
                "The definition for column must include a data type.",
            ));
        }
        if memory.is_some() && is_private(&name.name) {
            let text = "Temporary tables are not supported with memory optimized tables.";
            return Err(self.error(12322, text).with_state(78));
        }
        if parts.bound_type.is_some() && is_temporary(&name.name) {
            let what = "temporary table with a type that has a rule or default bound";
            return Err(BindError::unsupported(what, self.line));
        }
        self.settle(&name.name, None, &mut parts)?;
        self.period(&create.definition, None, &parts)?;
        self.check_hidden(&name.name, &parts)?;
        if parts.columns.iter().all(|c| c.marks.column_set || c.computed.is_some())
            && parts.columns.iter().any(|c| c.marks.column_set)
        {
            let text = format!(
                "Cannot create table '{}' with only a column set column and without any non-computed columns in the table.",
                name.name
            );
            return Err(self.error(1738, text));
        }
        let versioning = match versioning(&create.options, self.line)? {
            Some(Versioning::On(spec)) => Some(spec),
            _ => None,
        };
        if versioning.is_some() && is_temporary(&name.name) {
            let text = format!(
                "System-versioned temporal table '{}' cannot be created in a 'tempdb' database.",
                name.name
            );
            return Err(self.error(13568, text));
        }
        let filegroup = create.filegroup.as_ref().map(space);
        let mut spec = TableSpec {
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
            versioning,
            memory,
            compression: Default::default(),
            database_collation: Default::default(),
        };
        compress(&mut spec, &create.options);
        Ok(ddl::CreateTable { name, spec })
    }

    /// The definition of a table variable.
    pub fn table_spec(
        &mut self,
        definition: &ast::TableDefinition,
        text: &str,
        name: &str,
    ) -> Result<TableSpec> {
        self.variable_spec(definition, text, name, Parts::default())
    }

    fn variable_spec(
        &mut self,
        definition: &ast::TableDefinition,
        text: &str,
        name: &str,
        mut parts: Parts,
    ) -> Result<TableSpec> {
        if !definition.periods.is_empty() {
            let text = "Creating table variables containing PERIOD is not allowed.";
            return Err(self.error(13572, text));
        }
        self.definition(definition, text, name, &mut parts)?;
        if let Some((ty, bound)) = &parts.bound_type {
            return Err(self.error(
                1710,
                format!(
                    "Cannot use alias type with rule or default bound to it as a column type in table variable or return \
                     table definition in table valued function. Type '{ty}' has a {bound} bound to it."
                ),
            ));
        }
        self.settle(name, None, &mut parts)?;
        self.period(definition, None, &parts)?;
        Ok(TableSpec {
            schema: "dbo".into(),
            name: name.into(),
            columns: parts.columns,
            primary_key: parts.primary_key,
            unique: parts.unique,
            checks: parts.checks.into_iter().map(|(check, _)| check).collect(),
            database_collation: self.usual.collation,
            ..TableSpec::default()
        })
    }

    /// CREATE TYPE ... AS TABLE: what variables of the type are. The definition must be one that a table can have. A
    /// memory-optimized one must have an index (41327) and may have HASH indexes: its variables are in memory, as all are.
    pub fn table_type(
        &mut self,
        create: &ast::CreateType,
        definition: &ast::TableDefinition,
        text: &str,
    ) -> Result<TableSpec> {
        let line = create.name.span.line.max(1);
        for option in &create.options {
            if option.name != "MEMORY_OPTIMIZED" {
                let text = format!("'{}' is not a recognized CREATE TYPE option.", option.name);
                return Err(BindError::new(155, 15, option.span.line, text));
            }
        }
        let in_memory = semantics::type_names::asks_for_memory(create);
        // Named like a variable, for what it may contain is what a variable may.
        let parts = Parts { in_memory, ..Parts::default() };
        let spec = self.variable_spec(definition, text, "@type", parts)?;
        if in_memory {
            let columns = || definition.columns.iter();
            let inline = columns().any(|c| !c.indexes.is_empty()) || !definition.indexes.is_empty();
            if !inline && spec.primary_key.is_none() && spec.unique.is_empty() {
                let name = &create.name.name.value;
                let text = format!(
                    "The memory optimized table '{name}' must have at least one index or a primary key."
                );
                return Err(BindError::new(41327, 16, line, text).with_state(7));
            }
        }
        catalog::define_private(&spec, catalog::Place::Variable(0), -1, 1)
            .map_err(|e| BindError::of_catalog(e, line))?;
        Ok(spec)
    }

    /// The definition of a table type read as that of a table of the database: only such a one has all its indexes.
    pub fn type_indexes(
        &mut self,
        create: &ast::CreateType,
        definition: &ast::TableDefinition,
        text: &str,
    ) -> Result<TableSpec> {
        let in_memory = semantics::type_names::asks_for_memory(create);
        let mut parts = Parts { in_memory, ..Parts::default() };
        self.definition(definition, text, "type", &mut parts)?;
        self.settle("type", None, &mut parts)?;
        Ok(TableSpec {
            primary_key: parts.primary_key,
            unique: parts.unique,
            indexes: parts.indexes.into_iter().map(|(index, _)| index).collect(),
            ..TableSpec::default()
        })
    }

    /// 1711: a new computed column that may be NULL is no primary key.
    fn check_computed_key(&self, table: &str, parts: &Parts) -> Result<()> {
        let names = parts.primary_key.iter().flat_map(|key| &key.columns).map(|(name, _)| name);
        for name in names {
            let found = parts.columns.iter().find(|c| catalog::same_name(&c.name, name));
            if let Some(c) = found.filter(|c| c.computed.is_some() && c.nullable == Some(true)) {
                let text = format!(
                    "Cannot define PRIMARY KEY constraint on column '{}' in table '{table}'. The computed column has to be \
                     persisted and not nullable.",
                    c.name
                );
                return Err(self.error(1711, text).not_made());
            }
        }
        Ok(())
    }

    /// Key columns and defaults given apart from their columns, expressions over all of them: 1911, 8111. `known`: the
    /// table that the parts are added to.
    fn settle(&mut self, table: &str, known: Option<&TableDef>, parts: &mut Parts) -> Result<()> {
        self.computed(table, known, parts)?;
        let columns = row_columns(known, &parts.columns);
        let columns: Vec<_> = columns.iter().map(|(n, t, null)| (&**n, *t, *null)).collect();
        let mut row = vec![crate::rules::row_of(table, &columns)];
        for (check, condition) in &parts.checks {
            let bound = self.over(&mut row, |b| b.condition(condition))?;
            self.check_kept(table, known, parts, &bound)?;
            self.check_column(table, check, &columns, &bound)?;
        }
        for (index, filter) in &mut parts.indexes {
            if let Some(filter) = filter {
                let is_computed = |at: usize| match known {
                    Some(table) => table.columns.get(at).is_some_and(|c| c.computed.is_some()),
                    None => parts.columns.get(at).is_some_and(|c| c.computed.is_some()),
                };
                self.filter(&index.name, table, &columns, &is_computed, filter)?;
                index.filter = index.filter.take().map(|text| self.kept_filter(filter, &text));
            }
        }
        let another = parts.unique.iter().any(|k| k.clustered)
            || parts.indexes.iter().any(|(i, _)| i.clustered)
            || known.is_some_and(|t| t.has_clustered());
        if let Some(key) = &mut parts.primary_key
            && !parts.primary_said
        {
            key.clustered = !another;
        }
        self.check_computed_key(table, parts)?;
        if known.is_some() {
            return Ok(());
        }
        let keys = parts.primary_key.iter().chain(&parts.unique);
        if !is_private(table) && keys.filter(|key| key.clustered).count() > 1 {
            let text = format!(
                "Cannot add more than one clustered index for constraints on table '{table}'."
            );
            return Err(self.error(8112, text).with_state(0));
        }
        if let Some(key) = &mut parts.primary_key {
            for (column, _) in &key.columns {
                let found = parts.columns.iter_mut().find(|c| catalog::same_name(&c.name, column));
                match found {
                    None => {
                        let text = format!(
                            "Column name '{column}' does not exist in the target table or view."
                        );
                        return Err(self.error(1911, text).not_made());
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
        unlike(definition)?;
        for column in &definition.columns {
            let line = column.span.line.max(1);
            let rowversion = column.ty.as_ref().is_some_and(is_rowversion);
            if parts.columns.len() >= catalog::COLUMNS_MAX {
                return Err(too_many_columns(&column.name.value, table, line));
            }
            let (ty, alias) = match &column.ty {
                _ if column.computed.is_some() => (SqlType::Int, None),
                _ if rowversion => (SqlType::Binary(8), None),
                Some(ty) => self.column_type(ty, &column.name.value, parts.columns.len() + 1)?,
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
            if let (Some(bound), Some(ty)) = (alias.and_then(|a| a.bound), &column.ty) {
                parts.bound_type.get_or_insert_with(|| (ty.name.clone(), bound));
            }
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
                )
                .with_state(3));
            }
            let collation = self.column_collation(table, column.collation.as_ref(), ty, line)?;
            if column.second_default {
                let column = &column.name.value;
                let text = format!(
                    "More than one column DEFAULT constraint specified for column '{column}', table '{table}'."
                );
                return Err(BindError::new(8148, 16, line, text).with_state(0));
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
                        )
                        .with_state(0));
                    }
                    if column.ty.as_ref().is_some_and(is_rowversion) {
                        let text = format!(
                            "Defaults cannot be created on columns of data type timestamp. Table '{table}', column \
                             '{}'.",
                            column.name.value
                        );
                        return Err(BindError::new(1755, 16, line, text).with_state(0));
                    }
                    let source = default.expr.span.text(text);
                    self.check_default(&default.expr, ty)?;
                    let name = default.name.as_ref().map(|n| n.value.as_str().into());
                    Some((name, syntax::definition_text(&default.expr, source).into()))
                }
            };
            if column.identity.is_some() && column.nullable == Some(true) {
                let text = format!(
                    "Could not create IDENTITY attribute on nullable column '{}', table '{table}'.",
                    column.name.value
                );
                return Err(BindError::new(8147, 16, line, text));
            }
            let identity = match &column.identity {
                None => None,
                Some(identity) => Some(self.identity(identity, ty, &column.name.value, line)?),
            };
            let generated = column.generated.map(|edge| match edge {
                ast::RowEdge::Start => PeriodEdge::Start,
                ast::RowEdge::End => PeriodEdge::End,
            });
            let marks = Marks {
                hidden: column.hidden,
                rowguidcol: column.rowguidcol,
                sparse: column.sparse,
                column_set: column.column_set,
                not_for_replication: column.not_for_replication,
            };
            let of_user = alias.is_some() || column.ty.as_ref().is_some_and(is_long_type);
            let never_null = column.nullable == Some(false) || identity.is_some() || rowversion;
            if marks.sparse && (never_null || marks.rowguidcol || of_user) {
                let text = format!(
                    "Cannot create the sparse column '{}' in the table '{table}' because an option or data type specified \
                     is not valid. A sparse column must be nullable and cannot have the ROWGUIDCOL, IDENTITY, or \
                     FILESTREAM properties. A sparse column cannot be of the following data types: text, ntext, image, \
                     geometry, geography, or user-defined type.",
                    column.name.value
                );
                return Err(BindError::new(1731, 16, line, text));
            }
            if marks.column_set {
                if ty != SqlType::Xml || never_null || default.is_some() || marks.sparse {
                    let text = format!(
                        "Cannot create the sparse column set '{}' in the table '{table}' because a sparse column set must be \
                         a nullable xml column. Modify the column definition to allow null values.",
                        column.name.value
                    );
                    return Err(BindError::new(1733, 16, line, text));
                }
                if parts.columns.iter().any(|c| c.marks.column_set) {
                    return Err(self.second_set(&column.name.value, table, line));
                }
            }
            if marks.rowguidcol {
                if ty != SqlType::UniqueIdentifier {
                    let text = "The ROWGUIDCOL property can only be specified on the uniqueidentifier data type.";
                    return Err(BindError::new(2761, 16, line, text));
                }
                if parts.columns.iter().any(|c| c.marks.rowguidcol) {
                    let text = "Duplicate column specified as ROWGUIDCOL.";
                    return Err(BindError::new(8196, 16, line, text));
                }
            }
            let mask = match &column.mask {
                None => None,
                Some(text) => {
                    let mask = catalog::mask_of(text, &column.name.value, ty);
                    Some(mask.map_err(|e| BindError::of_catalog(e, line))?)
                }
            };
            // A rowversion may be nullable, and has a value all the same (learn.microsoft.com/sql/t-sql/data-types/rowversion).
            let made_not_null = identity.is_some()
                || (rowversion && column.nullable != Some(true))
                || (generated.is_some() && column.nullable != Some(true));
            // A sysname is NOT NULL unless it says otherwise (learn.microsoft.com/sql/t-sql/data-types/nchar-and-nvarchar).
            let sysname = column.ty.as_ref().is_some_and(|ty| ty.name == "sysname");
            let made_not_null = made_not_null || (sysname && column.nullable.is_none());
            let of_alias = alias.map(|a| a.nullable);
            let of_session =
                (!self.settings.null_columns && column.computed.is_none()).then_some(false);
            let nullable = match made_not_null {
                true => Some(false),
                false => column.nullable.or(of_alias).or(of_session),
            };
            if let Some(computed) = &column.computed {
                if column.nullable == Some(false) && !column.persisted {
                    let text = "Only UNIQUE or PRIMARY KEY constraints can be created on computed columns, while CHECK, \
                                FOREIGN KEY, and NOT NULL constraints require that computed columns be persisted.";
                    return Err(BindError::new(8183, 16, line, text));
                }
                parts.computed.push((parts.columns.len(), computed.clone()));
            }
            let of = column.computed.as_ref();
            parts.columns.push(ColumnSpec {
                nullable,
                default,
                identity,
                computed: of.map(|e| {
                    (syntax::definition_text(e, e.span.text(text)).into(), column.persisted)
                }),
                rowversion,
                alias: alias.map(|a| a.id).or_else(|| system_alias(column.ty.as_ref()?)),
                collation,
                generated,
                marks,
                mask,
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
            let others = std::mem::take(&mut self.collated);
            let old = known.iter().flat_map(|t| &t.columns).map(|c| (c.ty, c.collation));
            self.note_values(old.chain(parts.columns.iter().map(|c| (c.ty, c.collation))));
            let bound = self.over_row(table, &columns, |b| b.expr(&expr));
            let collation = bound.as_ref().map(|bound| self.collation_of(bound));
            self.collated = others;
            let collation = collation.unwrap_or_default();
            let bound = bound?;
            let mut read = Vec::new();
            bound.columns(&mut read);
            self.check_no_set(table, known, parts, &read)?;
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
                ).with_state(0));
            }
            if !is_deterministic(&bound, &BoundFunctions(self.names)) {
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
                parts.columns[at].volatile = true;
            }
            let column = &mut parts.columns[at];
            column.ty = bound.ty;
            column.collation = collation;
            if column.volatile {
                column.nullable = Some(true);
            } else if column.nullable.is_none() {
                column.nullable = Some(bound.nullable);
            }
        }
        Ok(())
    }

    /// The type of a variable or parameter; 2715.
    pub(crate) fn declared_type(&self, ty: &ast::TypeName) -> Result<SqlType> {
        let (found, alias) = named_type(self.names, ty)?;
        if alias.is_some() {
            self.touched.set(true);
        }
        Ok(found)
    }

    fn column_type(
        &self,
        ty: &ast::TypeName,
        column: &str,
        ordinal: usize,
    ) -> Result<(SqlType, Option<AliasType>)> {
        self.touched.set(true);
        named_type(self.names, ty).map_err(|mut e| {
            e.text = e.text.replace(
                "Column, parameter, or variable #1",
                &format!("Column, parameter, or variable #{ordinal}"),
            );
            match e.number {
                131 | 2717 => {
                    let of = format!("given to the column '{column}' exceeds");
                    for own in ["type", "parameter"] {
                        let own = format!("given to the {own} '{}' exceeds", ty.name);
                        e.text = e.text.replacen(&own, &of, 1);
                    }
                    e.with_state(2)
                }
                192 => {
                    let [.., ast::TypeArg::Number(precision), ast::TypeArg::Number(scale)] = &ty.args[..]
                    else {
                        return e;
                    };
                    e.number = 183;
                    e.text = format!(
                        "The scale ({scale}) for column '{column}' must be within the range 0 to {precision}."
                    );
                    e
                }
                2715 => e.with_state(6),
                _ => e,
            }
        })
    }

    /// A default binds without columns and converts to the column's type; 128 for a column name.
    fn check_default(&mut self, default: &ast::Expr, ty: SqlType) -> Result<()> {
        let line = default.span.line.max(1);
        let bound = self.having(|b| &mut b.in_default, true, |b| b.expr(default));
        let bound = bound.map_err(|e| match e.number {
            207 | 4104 => crate::bindable::not_permitted(&e, line),
            _ => e,
        })?;
        self.coerce(bound, ty, CastMode::Store { column: 0 })?;
        Ok(())
    }

    pub(crate) fn identity(
        &self,
        identity: &ast::Identity,
        ty: SqlType,
        column: &str,
        line: u32,
    ) -> Result<catalog::Identity> {
        let whole = matches!(ty, SqlType::Decimal { scale: 0, .. })
            || (ty.is_integer() && ty != SqlType::Bit);
        if !whole {
            return Err(BindError::new(
                2749,
                16,
                line,
                format!(
                    "Identity column '{column}' must be of data type int, bigint, smallint, tinyint, or decimal or \
                     numeric with a scale of 0, unencrypted, and constrained to be nonnullable."
                ),
            )
            .with_state(2));
        }
        let fits = |n: i64| types::convert::cast(&Value::BigInt(n), SqlType::BigInt, ty, 0).is_ok();
        let number = |text: &str| text.parse::<i64>().ok();
        let invalid = |number, what| {
            let text = format!("Identity column '{column}' contains invalid {what}.");
            BindError::new(number, 16, line, text)
        };
        let seed = number(&identity.seed).filter(|n| fits(*n));
        let seed = seed.ok_or_else(|| invalid(2752, "SEED"))?;
        // A column that counts down has a negative step, whatever the type's smallest number.
        let increment = number(&identity.increment).filter(|n| *n != 0 && fits(n.saturating_abs()));
        let increment = increment.ok_or_else(|| invalid(2753, "INCREMENT"))?;
        Ok(catalog::Identity { seed, increment })
    }
}

/// Names, types and nullability of a row: the table's columns, then those added.
fn row_columns(known: Option<&TableDef>, added: &[ColumnSpec]) -> Vec<(String, SqlType, bool)> {
    let known = known.iter().flat_map(|t| &t.columns);
    let known = known.map(|c| (c.name.to_string(), c.ty, c.nullable));
    let added = added.iter().map(|c| (c.name.to_string(), c.ty, c.nullable != Some(false)));
    known.chain(added).collect()
}
