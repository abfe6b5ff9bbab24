//! Full-text catalogs, indexes and languages.
//!
//! Columns and types: SQL documentation, "sys.fulltext_catalogs", "sys.fulltext_indexes", "sys.fulltext_index_columns",
//! "sys.fulltext_languages", "sys.fulltext_system_stopwords". An index is a definition alone, so a crawl is always complete.

use crate::context::{Context, moment};
use crate::declare::{Declared, NULL, view};
use catalog::{
    FULLTEXT_LANGUAGES, FulltextColumn, FulltextIndex, ModuleKind, ProcedureDef, Stoplist, TableDef,
};
use executor::SqlError;
use std::sync::Arc;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&CATALOGS, &INDEXES, &COLUMNS, &LANGUAGES, &STOPWORDS];

fn catalogs(context: &Context<'_>, _: &[Value]) -> Result<Vec<Arc<ProcedureDef>>, SqlError> {
    let kind = ModuleKind::FulltextCatalog;
    Ok(context.database.catalog.modules_of_kind(context.scope(), kind))
}

view! {
    CATALOGS = "sys.fulltext_catalogs" of Arc<ProcedureDef> as c, rows catalogs;
    fulltext_catalog_id int = c.object_id;
    name sysname = &c.name;
    path nvarchar(260) null = NULL;
    is_default bit = c.fulltext_catalog().is_some_and(|c| c.is_default);
    is_accent_sensitivity_on bit = c.fulltext_catalog().is_some_and(|c| c.is_accent_sensitive);
    data_space_id int null = NULL;
    file_id int null = NULL;
    principal_id int null = 1;
    is_importing bit = false;
}

/// A full-text index.
pub struct Index {
    table: Arc<TableDef>,
    created: u64,
    of: FulltextIndex,
}

fn indexes(context: &Context<'_>, _: &[Value]) -> Result<Vec<Index>, SqlError> {
    let all = context.database.catalog.fulltext_indexes(context.scope()).into_iter();
    let one = |(table, module): (Arc<TableDef>, Arc<ProcedureDef>)| {
        let of = module.fulltext_index()?.clone();
        Some(Index { table, created: module.created_unix_ns, of })
    };
    Ok(all.filter_map(one).collect())
}

view! {
    INDEXES = "sys.fulltext_indexes" of Index as i, rows indexes;
    object_id int = i.table.object_id;
    unique_index_id int = i.of.key;
    fulltext_catalog_id int null = i.of.catalog;
    is_enabled bit = i.of.is_enabled;
    change_tracking_state char(1) null = i.of.tracking.shown().0;
    change_tracking_state_desc nvarchar(60) null = i.of.tracking.shown().1;
    has_crawl_completed bit = true;
    crawl_type char(1) = "F";
    crawl_type_desc nvarchar(60) null = "FULL_CRAWL";
    crawl_start_date datetime null = moment(i.created);
    crawl_end_date datetime null = moment(i.created);
    incremental_timestamp binary(8) null = NULL;
    stoplist_id int null = (i.of.stoplist == Stoplist::System).then_some(0);
    property_list_id int null = NULL;
    data_space_id int = 1;
}

/// A column of a full-text index.
pub struct Column {
    table: Arc<TableDef>,
    of: FulltextColumn,
}

impl Column {
    fn id(&self, name: &str) -> i32 {
        self.table.column(name).map_or(0, |i| i as i32 + 1)
    }
}

fn columns(context: &Context<'_>, args: &[Value]) -> Result<Vec<Column>, SqlError> {
    let all = indexes(context, args)?.into_iter().flat_map(|index| {
        let table = index.table;
        index.of.columns.into_iter().map(move |of| Column { table: table.clone(), of })
    });
    Ok(all.collect())
}

view! {
    COLUMNS = "sys.fulltext_index_columns" of Column as c, rows columns;
    object_id int = c.table.object_id;
    column_id int = c.id(&c.of.name);
    type_column_id int null = c.of.type_column.as_deref().map(|name| c.id(name));
    language_id int = c.of.language;
    statistical_semantics int = 0;
}

fn languages(_: &Context<'_>, _: &[Value]) -> Result<Vec<(i32, &'static str)>, SqlError> {
    let neutral = std::iter::once((0, "Neutral"));
    Ok(neutral.chain(FULLTEXT_LANGUAGES.iter().copied()).collect())
}

view! {
    LANGUAGES = "sys.fulltext_languages" of (i32, &'static str) as l, rows languages;
    lcid int = l.0;
    name sysname = l.1;
}

fn stopwords(_: &Context<'_>, _: &[Value]) -> Result<Vec<(String, i32)>, SqlError> {
    let all = [0, 1033, 2057].into_iter().flat_map(|lcid| {
        let words = fulltext::system_stopwords().filter(move |(_, english)| lcid != 0 || !english);
        words.map(move |(word, _)| (word, lcid))
    });
    Ok(all.collect())
}

view! {
    STOPWORDS = "sys.fulltext_system_stopwords" of (String, i32) as s, rows stopwords;
    stopword nvarchar(64) null = &s.0;
    language_id int null = s.1;
}
