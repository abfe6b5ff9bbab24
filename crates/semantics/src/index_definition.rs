//! What the definition of an index says by itself: its columns in the catalog's terms, its WITH options, and which of
//! them exclude each other.
//!
//! Promises: every option that SQL Server has is known by name, kept where rows or a view show it and accepted otherwise;
//! any other is 155. What stands here asks nothing of the database: whether the columns are there is seen when the index is
//! made. Errors: 129, 155, 1916, 1979, 2727, 10601, 10789 to 10791, 11438, 12317, 35375, 41303.
//!
//! Source: SQL Server's documentation, "CREATE INDEX", "ALTER INDEX".

use catalog::{IndexSpec, KeySpec, TableDef};
use syntax::ast;

use crate::columnstore;
use crate::error::{BindError, Result};
use crate::tree::space;

pub fn index_spec(index: &ast::IndexDefinition, text: &str) -> Result<IndexSpec> {
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

pub fn unique_key(index: &ast::IndexDefinition) -> KeySpec {
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

/// WITH options of an index.
#[derive(Default)]
pub struct IndexOptions {
    /// What is only kept, and FILLFACTOR.
    pub kept: catalog::IndexOptionsChange,
    pub ignore_dup_key: bool,
    pub drop_existing: bool,
    /// BUCKET_COUNT of a HASH index.
    pub buckets: Option<u32>,
}

/// Reads the options of an index, BUCKET_COUNT of a HASH index among them; 155 for one that SQL Server does not have.
pub fn index_options(
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
pub fn compression(value: &ast::OptionValue) -> Option<catalog::Compression> {
    use catalog::Compression;
    let ast::OptionValue::Word(word) = value else { return None };
    match word.as_str() {
        "NONE" => Some(Compression::None),
        "ROW" => Some(Compression::Row),
        "PAGE" => Some(Compression::Page),
        _ => None,
    }
}

/// Options of REORGANIZE: LOB_COMPACTION. `row_groups`: the index may be one that SQL Server gives row groups. 155, 35375.
pub fn reorganize_options(
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

/// 10789: a HASH index, whose options are given, says how many buckets it has.
pub fn check_bucket_count(
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

/// 1916; 1979 for a key, of which it is said once.
pub fn check_alterable(table: &TableDef, name: &str, on: bool, line: u32) -> Result<()> {
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

/// 2727: the table has no index of that name.
pub fn named_index(table: &TableDef, name: &str, line: u32) -> Result<()> {
    let own = table.primary_key.as_ref().is_some_and(|k| catalog::same_name(&k.name, name));
    if own || table.index(name).is_some() {
        return Ok(());
    }
    let error = catalog::CatalogError::NoSuchIndex { name: name.into() };
    Err(BindError::of_catalog(error, line))
}

/// Is an index of that name a columnstore index?
pub fn is_columnstore(table: &TableDef, name: Option<&str>) -> bool {
    name.and_then(|name| table.index(name)).is_some_and(|index| index.columnstore.is_some())
}

/// 12317.
pub fn clustered_in_memory(line: u32) -> BindError {
    let text = "Clustered indexes, which are the default for primary keys, are not supported with memory optimized tables. \
                Specify a NONCLUSTERED index instead.";
    BindError::new(12317, 16, line, text).with_state(68)
}

/// 10791.
pub fn hash_on_disk(line: u32) -> BindError {
    let text = "Hash indexes are permitted only in memory optimized tables.";
    BindError::new(10791, 16, line, text)
}

/// 10790.
pub fn only_hash(option: &str, severity: u8, line: u32) -> BindError {
    let text = format!("The option '{option}' can be specified only for hash indexes.");
    BindError::new(10790, severity, line, text)
}
