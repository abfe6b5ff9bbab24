//! CREATE INDEX, ALTER INDEX and indexes inside a table's definition.

use ir::*;

use super::{Parts, row_columns};
use crate::context::Binder;
use catalog::{AlterTable as Change, IndexSpec, KeySpec, TableDef};
use semantics::columnstore::{self, Statement};
use semantics::names::is_private;
use semantics::tree::space;
use semantics::{BindError, Result, spatial, xml_index};
use syntax::ast;

impl Binder<'_> {
    /// CREATE INDEX on a temporary table: a unique one is a constraint, any other has no effect, for rows in memory are
    /// found by the primary key or by looking at all of them. 1088.
    pub fn private_index(&mut self, create: &ast::CreateIndex, text: &str) -> Result<StmtKind> {
        let name = ObjectName::from(&create.table);
        self.indexed_table(&create.table)?;
        let index = &create.index;
        if index.columnstore {
            columnstore::spec(index, text)?;
        }
        if let Some(asked) = &index.spatial {
            let table = self.indexed_table(&create.table)?;
            spatial::spec(index, asked, &table, IndexSpec::default())?;
        }
        if let Some(asked) = &index.xml {
            let table = self.indexed_table(&create.table)?;
            xml_index::spec(index, asked, &table, IndexSpec::default())?;
        }
        if !index.unique {
            return Ok(StmtKind::Nothing);
        }
        if index.filter.is_some() {
            return Err(BindError::unsupported("UNIQUE INDEX with a filter", index.span.line));
        }
        let key = unique_key(index);
        Ok(StmtKind::Ddl(Box::new(ddl::Ddl::PrivateUnique { table: name, key })))
    }

    /// The table of an index, or the rows of an indexed view; 1088.
    fn indexed_table(&self, name: &ast::ObjectName) -> Result<std::sync::Arc<TableDef>> {
        let wanted = ObjectName::from(name);
        let line = name.span.line.max(1);
        let found = self.own_table(name).or_else(|| self.indexed_rows(&wanted));
        found.ok_or_else(|| {
            let is_view = self.names.view(&wanted).is_some() && !self.names.is_synonym(&wanted);
            if !is_view && self.names.has_object(&wanted) {
                let text = format!(
                    "Index cannot be created on object '{name}' because the object is not a user table or view."
                );
                return BindError::new(1914, 16, line, text);
            }
            BindError::cannot_find(1088, name, line).with_state(12)
        })
    }

    /// CREATE UNIQUE CLUSTERED INDEX on a view that has no rows so far, if it is one.
    pub fn first_index(
        &mut self,
        create: &ast::CreateIndex,
        text: &str,
    ) -> Result<Option<ddl::IndexView>> {
        let wanted = ObjectName::from(&create.table);
        let view = match self.table(&wanted) {
            None => self.names.view(&wanted).filter(|view| view.rows.is_none()),
            Some(_) => None,
        };
        let Some(view) = view else { return Ok(None) };
        let spec = index_spec(&create.index, text)?;
        Ok(Some(self.index_view(&view, create, spec)?))
    }

    /// The same for ALTER INDEX, whose 1088 has a state of its own.
    fn altered_table(&self, name: &ast::ObjectName) -> Result<std::sync::Arc<TableDef>> {
        self.indexed_table(name).map_err(|e| match e.number {
            1088 => e.with_state(9),
            _ => e,
        })
    }

    /// CREATE INDEX: 1088, 155.
    pub fn create_index(
        &mut self,
        create: &ast::CreateIndex,
        text: &str,
    ) -> Result<ddl::AlterTable> {
        let table = self.indexed_table(&create.table)?;
        let mut spec = index_spec(&create.index, text)?;
        if table.view.is_some() {
            crate::indexed_view::check_further(&spec, &create.index, &table)?;
        }
        if let Some(asked) = &create.index.spatial {
            spec = spatial::spec(&create.index, asked, &table, spec)?;
        }
        if let Some(asked) = &create.index.xml {
            spec = xml_index::spec(&create.index, asked, &table, spec)?;
        }
        if let Some(filter) = &create.index.filter {
            let columns = row_columns(Some(&table), &[]);
            let columns: Vec<_> = columns.iter().map(|(n, t, null)| (&**n, *t, *null)).collect();
            let is_computed =
                |at: usize| table.columns.get(at).is_some_and(|c| c.computed.is_some());
            let name = &create.index.name.value;
            self.filter(name, &table.name, &columns, &is_computed, filter)?;
            spec.filter = spec.filter.map(|text| self.kept_filter(filter, &text));
        }
        let changes = vec![Change::AddIndex(spec)];
        Ok(ddl::AlterTable {
            name: ObjectName::from(&create.table),
            changes,
            absent: Vec::new(),
            on_disk: Some("CREATE INDEX"),
        })
    }

    /// ALTER INDEX: 1088, 155; 10638 and 10680, for a rebuild that may be resumed is done at once.
    pub fn alter_index(&mut self, alter: &ast::AlterIndex) -> Result<ddl::AlterTable> {
        let table = self.altered_table(&alter.table)?;
        let line = alter.table.span.line.max(1);
        let name: Option<Box<str>> = alter.index.as_ref().map(|n| n.value.as_str().into());
        let mut changes = Vec::new();
        let of_columns = is_columnstore(&table, name.as_deref());
        let mut options = |options: &[ast::DatabaseOption], statement| -> Result<()> {
            if let (true, Some(name)) = (of_columns, &name) {
                let found = columnstore::options(options, name, line, statement)?;
                if found.archive.is_some() || found.delay_minutes.is_some() {
                    let (archive, delay_minutes) = (found.archive, found.delay_minutes);
                    let name = name.clone();
                    changes.push(Change::SetColumnstore { name, archive, delay_minutes });
                }
                return Ok(());
            }
            columnstore::only_columnstore(options, line, statement)?;
            let found = index_options(options, false, line)?;
            if found.kept != Default::default() {
                let (name, change) = (name.clone(), found.kept);
                changes.push(Change::SetIndexOptions { name, change, rows: false });
            }
            let said = options.iter().any(|o| o.name == "IGNORE_DUP_KEY");
            if let (true, Some(name)) = (said, &name) {
                let on = found.ignore_dup_key;
                check_alterable(&table, name, on, line)?;
                // A clustered key stays as it is.
                if !table.is_clustered_key(name) {
                    changes.push(Change::SetIgnoreDupKey { name: name.clone(), on });
                }
            }
            Ok(())
        };
        match &alter.action {
            ast::AlterIndexAction::Rebuild(with) => {
                options(with, Statement::Rebuild)?;
                changes.push(Change::RebuildIndex { name });
            }
            ast::AlterIndexAction::Set(with) => options(with, Statement::Set)?,
            ast::AlterIndexAction::Disable => changes.push(Change::DisableIndex { name }),
            ast::AlterIndexAction::Resumable(what) => {
                let of = &table.name;
                return Err(match &name {
                    None => {
                        let text = format!(
                            "ALTER INDEX ALL '{what}' failed. There is no pending resumable index operation on '{of}'."
                        );
                        BindError::new(10680, 11, line, text)
                    }
                    Some(name) => {
                        named_index(&table, name, line)?;
                        let text = format!(
                            "ALTER INDEX '{what}' failed. There is no pending resumable index operation for the index \
                             '{name}' on '{of}'."
                        );
                        let state = if *what == "RESUME" { 1 } else { 2 };
                        BindError::new(10638, 16, line, text).with_state(state)
                    }
                });
            }
            // No change of a definition: see `reorganize`.
            ast::AlterIndexAction::Reorganize(_) => {}
        }
        Ok(ddl::AlterTable {
            name: ObjectName::from(&alter.table),
            changes,
            absent: Vec::new(),
            on_disk: Some("ALTER INDEX"),
        })
    }

    /// ALTER INDEX REORGANIZE, or REBUILD of a partition, if it is one: 1088, 155.
    pub fn reorganize(&mut self, alter: &ast::AlterIndex) -> Result<Option<ddl::Reorganize>> {
        let partition = self.partition(alter.partition.as_ref())?;
        let (with, rebuild) = match &alter.action {
            ast::AlterIndexAction::Reorganize(with) => (with, false),
            // The rows of a partition lie among the others: all are brought together, and nobody is kept out.
            ast::AlterIndexAction::Rebuild(with) if partition.is_some() => (with, true),
            _ => return Ok(None),
        };
        let table = self.altered_table(&alter.table)?;
        if table.is_memory() {
            return Err(self.not_in_memory("operation", "ALTER INDEX"));
        }
        let line = alter.table.span.line.max(1);
        let name = alter.index.as_ref().map(|n| n.value.as_str());
        let large_values = match rebuild {
            true => index_options(with, false, line).map(|_| true)?,
            false => {
                reorganize_options(with, name.is_none_or(|_| is_columnstore(&table, name)), line)?
            }
        };
        let (table, index) = (ObjectName::from(&alter.table), name.map(Into::into));
        Ok(Some(ddl::Reorganize { table, index, large_values, partition, rebuild }))
    }

    /// An index in a table's definition: the unique ones of private tables are constraints, their others have no effect.
    pub(super) fn inline_index(
        &mut self,
        index: &ast::IndexDefinition,
        text: &str,
        table: &str,
        parts: &mut Parts,
    ) -> Result<()> {
        if index.columnstore && table.starts_with('@') {
            let text = "The statement failed because columnstore indexes are not allowed on table types and table \
                        variables. Remove the column store index specification from the table type or table variable \
                        declaration.";
            return Err(BindError::new(35310, 15, index.span.line.max(1), text));
        }
        if parts.in_memory && index.clustered == Some(true) && !index.columnstore {
            return Err(clustered_in_memory(index.span.line.max(1)));
        }
        if index.hash && !parts.in_memory {
            return Err(hash_on_disk(index.span.line.max(1)));
        }
        let hash = index.hash.then_some(&index.options);
        check_bucket_count(hash, Some(&index.name.value), table, index.span.line.max(1))?;
        if !is_private(table) {
            parts.indexes.push((index_spec(index, text)?, index.filter.clone()));
        } else if index.columnstore {
            columnstore::spec(index, text)?;
        } else if index.unique && index.filter.is_none() {
            parts.unique.push(unique_key(index));
        }
        Ok(())
    }
}

/// Options of REORGANIZE: LOB_COMPACTION. `row_groups`: the index may be one that SQL Server gives row groups. 155, 35375.
fn reorganize_options(
    options: &[ast::DatabaseOption],
    row_groups: bool,
    line: u32,
) -> Result<bool> {
    let mut large_values = true;
    for option in options {
        let on = matches!(option.value, ast::OptionValue::On | ast::OptionValue::None);
        match option.name.as_str() {
            "LOB_COMPACTION" => large_values = on,
            // There are no row groups: rows are rows at once.
            "COMPRESS_ALL_ROW_GROUPS" if row_groups => {}
            "COMPRESS_ALL_ROW_GROUPS" => {
                let text = "ALTER INDEX REORGANIZE statement option COMPRESS_ALL_ROW_GROUPS can only be used with \
                            clustered columnstore indexes.";
                return Err(BindError::new(35375, 16, line, text));
            }
            name => {
                let text = format!("'{name}' is not a recognized ALTER INDEX REORGANIZE option.");
                return Err(BindError::new(155, 15, line, text));
            }
        }
    }
    Ok(large_values)
}

/// 12317.
pub(super) fn clustered_in_memory(line: u32) -> BindError {
    let text = "Clustered indexes, which are the default for primary keys, are not supported with memory optimized tables. \
                Specify a NONCLUSTERED index instead.";
    BindError::new(12317, 16, line, text).with_state(68)
}

/// 10791.
pub(super) fn hash_on_disk(line: u32) -> BindError {
    let text = "Hash indexes are permitted only in memory optimized tables.";
    BindError::new(10791, 16, line, text)
}

/// 10790.
pub(super) fn only_hash(option: &str, severity: u8, line: u32) -> BindError {
    let text = format!("The option '{option}' can be specified only for hash indexes.");
    BindError::new(10790, severity, line, text)
}

/// 10789: a HASH index, whose options are given, says how many buckets it has.
pub(super) fn check_bucket_count(
    hash: Option<&Vec<ast::DatabaseOption>>,
    index: Option<&str>,
    table: &str,
    line: u32,
) -> Result<()> {
    if hash.is_none_or(|options| options.iter().any(|option| option.name == "BUCKET_COUNT")) {
        return Ok(());
    }
    let text = format!(
        "The option 'bucket_count' must be specified for index '{}' on table '{table}'. It is required for hash indexes.",
        index.unwrap_or_default()
    );
    Err(BindError::new(10789, 15, line, text))
}

/// 2727: the table has no index of that name.
fn named_index(table: &TableDef, name: &str, line: u32) -> Result<()> {
    let own = table.primary_key.as_ref().is_some_and(|k| catalog::same_name(&k.name, name));
    if own || table.index(name).is_some() {
        return Ok(());
    }
    let error = catalog::CatalogError::NoSuchIndex { name: name.into() };
    Err(BindError::of_catalog(error, line))
}

/// Is an index of that name a columnstore index?
fn is_columnstore(table: &TableDef, name: Option<&str>) -> bool {
    name.and_then(|name| table.index(name)).is_some_and(|index| index.columnstore.is_some())
}

/// 1916; 1979 for a key, of which it is said once.
fn check_alterable(table: &TableDef, name: &str, on: bool, line: u32) -> Result<()> {
    let clustered = table.primary_key.as_ref().filter(|_| table.is_clustered_key(name));
    let index = table.index(name);
    let of_key = index.filter(|index| index.kind != catalog::IndexKind::Index);
    let as_it_is =
        clustered.map(|key| key.ignore_dup_key).or(of_key.map(|index| index.ignore_dup_key));
    if as_it_is.is_some_and(|is| is != on) {
        let text = format!(
            "Cannot use index option ignore_dup_key to alter index '{name}' as it enforces a primary or unique \
             constraint."
        );
        return Err(BindError::new(1979, 16, line, text));
    }
    if on && index.is_some_and(|index| !index.unique) {
        let text = "CREATE INDEX options nonunique and ignore_dup_key are mutually exclusive.";
        return Err(BindError::new(1916, 16, line, text));
    }
    Ok(())
}

/// WITH options of an index.
#[derive(Default)]
pub(super) struct IndexOptions {
    /// What is only kept, and FILLFACTOR.
    pub kept: catalog::IndexOptionsChange,
    pub ignore_dup_key: bool,
    pub drop_existing: bool,
    /// BUCKET_COUNT of a HASH index.
    pub buckets: Option<u32>,
}

/// Reads the options of an index, BUCKET_COUNT of a HASH index among them; 155 for one that SQL Server does not have.
pub(super) fn index_options(
    options: &[ast::DatabaseOption],
    hash: bool,
    line: u32,
) -> Result<IndexOptions> {
    const ACCEPTED: &[&str] = &[
        "COMPRESSION_DELAY",
        "LOB_COMPACTION",
        "MAXDOP",
        "MAX_DURATION",
        "ONLINE",
        "RESUMABLE",
        "SORT_IN_TEMPDB",
        "STATISTICS_INCREMENTAL",
        "XML_COMPRESSION",
    ];
    let is_on = |name: &str| {
        options.iter().any(|o| o.name == name && !matches!(o.value, ast::OptionValue::Off))
    };
    if is_on("RESUMABLE") && !is_on("ONLINE") {
        let text =
            "The RESUMABLE option cannot be set to 'ON' when the ONLINE option is set to 'OFF'.";
        return Err(BindError::new(11438, 15, line, text));
    }
    let mut out = IndexOptions::default();
    for option in options {
        // ON or nothing, as in WITH PAD_INDEX, FILLFACTOR = 80.
        let on = matches!(option.value, ast::OptionValue::On | ast::OptionValue::None);
        match option.name.as_str() {
            "FILLFACTOR" => {
                let ast::OptionValue::Literal(ast::Literal::Int(n)) = &option.value else {
                    continue;
                };
                let fits = u8::try_from(*n).ok().filter(|n| *n <= 100);
                out.kept.fill_factor = Some(fits.ok_or_else(|| {
                    BindError::new(
                        129,
                        15,
                        line,
                        format!("Fillfactor {n} is not a valid percentage; fillfactor must be between 1 and 100."),
                    )
                })?);
            }
            "PAD_INDEX" => out.kept.padded = Some(on),
            "STATISTICS_NORECOMPUTE" => out.kept.no_recompute = Some(on),
            "ALLOW_ROW_LOCKS" => out.kept.no_row_locks = Some(!on),
            "ALLOW_PAGE_LOCKS" => out.kept.no_page_locks = Some(!on),
            "OPTIMIZE_FOR_SEQUENTIAL_KEY" => out.kept.sequential = Some(on),
            "DATA_COMPRESSION" => out.kept.compression = compression(&option.value),
            "IGNORE_DUP_KEY" => out.ignore_dup_key = on,
            "DROP_EXISTING" => out.drop_existing = on,
            "BUCKET_COUNT" if hash => {
                let ast::OptionValue::Literal(ast::Literal::Int(n)) = &option.value else {
                    continue;
                };
                out.buckets = u32::try_from(*n).ok().filter(|n| (1..=1 << 30).contains(n));
                if out.buckets.is_none() {
                    let text = "The bucket count for a hash index must be a positive integer not exceeding 1073741824.";
                    return Err(BindError::new(41303, 15, line, text));
                }
            }
            "BUCKET_COUNT" => return Err(only_hash("BUCKET_COUNT", 15, line)),
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

/// DATA_COMPRESSION; none where it is said of single partitions.
pub(super) fn compression(value: &ast::OptionValue) -> Option<catalog::Compression> {
    use catalog::Compression;
    let ast::OptionValue::Word(word) = value else { return None };
    match word.as_str() {
        "NONE" => Some(Compression::None),
        "ROW" => Some(Compression::Row),
        "PAGE" => Some(Compression::Page),
        _ => None,
    }
}

fn index_spec(index: &ast::IndexDefinition, text: &str) -> Result<IndexSpec> {
    let line = index.span.line.max(1);
    if index.columnstore {
        return columnstore::spec(index, text);
    }
    let options = index_options(&index.options, index.hash, line)?;
    if options.ignore_dup_key && !index.unique {
        return Err(BindError::new(
            1916,
            16,
            line,
            "CREATE INDEX options nonunique and ignore_dup_key are mutually exclusive.",
        ));
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
        filter: filter.map(|f| syntax::filter_text(f, f.span.text(text)).into()),
        filegroup: index.filegroup.as_ref().map(space),
        fill_factor: options.kept.fill_factor.unwrap_or(0),
        options: options.kept.options(),
        ignore_dup_key: options.ignore_dup_key,
        buckets: options.buckets,
        drop_existing: options.drop_existing,
        columnstore: None,
        spatial: None,
        xml: None,
    })
}

fn unique_key(index: &ast::IndexDefinition) -> KeySpec {
    let columns = index.columns.iter();
    KeySpec {
        name: Some(index.name.value.as_str().into()),
        columns: columns.map(|c| (c.name.value.as_str().into(), c.descending)).collect(),
        clustered: true,
        ignore_dup_key: index.options.iter().any(|option| {
            let on = matches!(option.value, ast::OptionValue::On | ast::OptionValue::None);
            option.name == "IGNORE_DUP_KEY" && on
        }),
        fill_factor: 0,
        options: Default::default(),
        filegroup: None,
        buckets: None,
    }
}
