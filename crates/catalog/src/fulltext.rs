//! Full-text catalogs and indexes: what they were asked for.
//!
//! Both are modules whose text is this crate's own. Of a catalog a line: whether it is the default, whether accents count.
//! Of an index a line of numbers (table, catalog, index_id of its key, how changes are tracked, stoplist, whether it is
//! enabled), then a line for each column: its language, its name and that of its type column, both in hexadecimal. An
//! index is called as the id of its table; it goes with it.
//!
//! Promises: a table has one index at most; the catalog of an index is there, as is its key and each column.

use crate::def::{ModuleKind, ObjectRef, ProcedureDef, TableDef, same_name};
use crate::scope::DdlScope;
use crate::spec::{ModuleOptions, PutMode};
use crate::system::corrupt;
use crate::{Catalog, CatalogError, Txn};
use std::fmt::Write;
use std::sync::Arc;

/// Nothing here depends on these.
const OPTIONS: ModuleOptions = ModuleOptions { quoted_identifier: true, ansi_nulls: true };
const CATALOG: ModuleKind = ModuleKind::FulltextCatalog;
const INDEX: ModuleKind = ModuleKind::FulltextIndex;

/// LCIDs and names of sys.fulltext_languages, as far as the server has names of languages for them.
pub const FULLTEXT_LANGUAGES: &[(i32, &str)] = &[
    (1025, "Arabic"),
    (1026, "Bulgarian"),
    (1027, "Catalan"),
    (1028, "Traditional Chinese"),
    (1029, "Czech"),
    (1030, "Danish"),
    (1031, "German"),
    (1032, "Greek"),
    (1033, "English"),
    (1036, "French"),
    (1037, "Hebrew"),
    (1039, "Icelandic"),
    (1040, "Italian"),
    (1041, "Japanese"),
    (1042, "Korean"),
    (1043, "Dutch"),
    (1044, "Bokm\u{e5}l"),
    (1045, "Polish"),
    (1046, "Brazilian"),
    (1048, "Romanian"),
    (1049, "Russian"),
    (1050, "Croatian"),
    (1051, "Slovak"),
    (1053, "Swedish"),
    (1054, "Thai"),
    (1055, "Turkish"),
    (1057, "Indonesian"),
    (1058, "Ukrainian"),
    (1060, "Slovenian"),
    (1062, "Latvian"),
    (1063, "Lithuanian"),
    (1066, "Vietnamese"),
    (2052, "Simplified Chinese"),
    (2057, "British English"),
    (2070, "Portuguese"),
    (3082, "Spanish"),
];

/// Is there a language of that LCID? 0 is the neutral one.
pub fn is_fulltext_language(lcid: i32) -> bool {
    lcid == 0 || FULLTEXT_LANGUAGES.iter().any(|(known, _)| *known == lcid)
}

/// The LCID that a language's name or number means.
pub fn fulltext_language(term: &str) -> Option<i32> {
    let number = match term.strip_prefix("0x").or_else(|| term.strip_prefix("0X")) {
        Some(digits) => i32::from_str_radix(digits, 16).ok(),
        None => term.parse().ok(),
    };
    match number {
        Some(lcid) => is_fulltext_language(lcid).then_some(lcid),
        None if term.eq_ignore_ascii_case("neutral") => Some(0),
        None => {
            let found = FULLTEXT_LANGUAGES.iter().find(|(_, name)| name.eq_ignore_ascii_case(term));
            found.map(|(lcid, _)| *lcid)
        }
    }
}

/// What a module of these kinds is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fulltext {
    Catalog(FulltextCatalog),
    Index(FulltextIndex),
}

/// A full-text catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FulltextCatalog {
    /// Indexes that name none are in it.
    pub is_default: bool,
    /// ACCENT_SENSITIVITY.
    pub is_accent_sensitive: bool,
}

/// CHANGE_TRACKING.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracking {
    Auto,
    Manual,
    Off,
}

impl Tracking {
    const ALL: [Tracking; 3] = [Tracking::Auto, Tracking::Manual, Tracking::Off];

    /// In sys.fulltext_indexes.
    pub fn shown(self) -> (&'static str, &'static str) {
        match self {
            Tracking::Auto => ("A", "AUTO"),
            Tracking::Manual => ("M", "MANUAL"),
            Tracking::Off => ("O", "OFF"),
        }
    }
}

/// STOPLIST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stoplist {
    System,
    Off,
}

/// A full-text index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FulltextIndex {
    /// Object id of its table.
    pub table: i32,
    /// Object id of its catalog.
    pub catalog: i32,
    /// index_id of the unique index that is its key.
    pub key: i32,
    pub tracking: Tracking,
    pub stoplist: Stoplist,
    pub is_enabled: bool,
    pub columns: Vec<FulltextColumn>,
}

/// A column of a full-text index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FulltextColumn {
    pub name: Box<str>,
    /// The column that says what kind of document a row's is.
    pub type_column: Option<Box<str>>,
    /// LCID.
    pub language: i32,
}

fn hex(text: &str) -> String {
    types::format::hex(text.as_bytes(), "-")
}

fn of_hex(text: &str) -> Option<Box<str>> {
    let bytes = types::convert::from_hex(text.strip_prefix('-')?)?;
    String::from_utf8(bytes).ok().map(String::into_boxed_str)
}

impl Fulltext {
    fn to_text(&self) -> String {
        match self {
            Fulltext::Catalog(c) => {
                format!("{} {}", u8::from(c.is_default), u8::from(c.is_accent_sensitive))
            }
            Fulltext::Index(index) => {
                let mut out = format!(
                    "{} {} {} {} {} {}",
                    index.table,
                    index.catalog,
                    index.key,
                    index.tracking as u8,
                    index.stoplist as u8,
                    u8::from(index.is_enabled)
                );
                for column in &index.columns {
                    let ty = column.type_column.as_deref().map_or(".".to_owned(), hex);
                    let _ = write!(out, "\n{} {} {ty}", column.language, hex(&column.name));
                }
                out
            }
        }
    }

    fn of_text(kind: ModuleKind, text: &str) -> Option<Fulltext> {
        let mut lines = text.split('\n');
        let numbers: Vec<i32> =
            lines.next()?.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?;
        if kind == CATALOG {
            let [is_default, accents] = numbers[..] else { return None };
            let (is_default, is_accent_sensitive) = (is_default == 1, accents == 1);
            return Some(Fulltext::Catalog(FulltextCatalog { is_default, is_accent_sensitive }));
        }
        let [table, catalog, key, tracking, stoplist, enabled] = numbers[..] else { return None };
        let column = |line: &str| {
            let mut words = line.split(' ');
            let language = words.next()?.parse().ok()?;
            let name = of_hex(words.next()?)?;
            let type_column = match words.next()? {
                "." => None,
                text => Some(of_hex(text)?),
            };
            Some(FulltextColumn { name, type_column, language })
        };
        Some(Fulltext::Index(FulltextIndex {
            table,
            catalog,
            key,
            tracking: *Tracking::ALL.get(tracking as usize)?,
            stoplist: if stoplist == 0 { Stoplist::System } else { Stoplist::Off },
            is_enabled: enabled == 1,
            columns: lines.map(column).collect::<Option<_>>()?,
        }))
    }
}

/// Of a full-text catalog or index what its text says.
pub(crate) fn of_text(kind: ModuleKind, text: &str) -> Result<Option<Arc<Fulltext>>, CatalogError> {
    if kind != CATALOG && kind != INDEX {
        return Ok(None);
    }
    let found = Fulltext::of_text(kind, text);
    let found = found.ok_or_else(|| corrupt("a full-text catalog or index makes no sense"))?;
    Ok(Some(Arc::new(found)))
}

impl ProcedureDef {
    /// The full-text catalog that it is.
    pub fn fulltext_catalog(&self) -> Option<FulltextCatalog> {
        match self.fulltext.as_deref()? {
            Fulltext::Catalog(catalog) => Some(*catalog),
            Fulltext::Index(_) => None,
        }
    }

    /// The full-text index that it is.
    pub fn fulltext_index(&self) -> Option<&FulltextIndex> {
        match self.fulltext.as_deref()? {
            Fulltext::Index(index) => Some(index),
            Fulltext::Catalog(_) => None,
        }
    }
}

impl Catalog {
    /// The full-text index of a table.
    pub fn fulltext_index_of(
        &self,
        scope: Option<&DdlScope>,
        table: i32,
    ) -> Option<Arc<ProcedureDef>> {
        self.module(scope, Some("dbo"), &table.to_string(), INDEX)
    }

    /// The same as what it says, and whether accents count in its catalog.
    pub fn fulltext_of(
        &self,
        scope: Option<&DdlScope>,
        table: i32,
    ) -> Option<(FulltextIndex, bool)> {
        let module = self.fulltext_index_of(scope, table)?;
        let index = module.fulltext_index()?.clone();
        let all = self.modules_of_kind(scope, CATALOG).into_iter();
        let mut catalog = all.filter(|module| module.object_id == index.catalog);
        let accents = catalog.next()?.fulltext_catalog()?.is_accent_sensitive;
        Some((index, accents))
    }

    /// The default full-text catalog.
    pub fn default_fulltext_catalog(&self, scope: Option<&DdlScope>) -> Option<Arc<ProcedureDef>> {
        let mut all = self.modules_of_kind(scope, CATALOG).into_iter();
        all.find(|module| module.fulltext_catalog().is_some_and(|c| c.is_default))
    }

    /// CREATE and ALTER FULLTEXT CATALOG; of several only one is the default. 2714, 208. Suspends.
    pub fn put_fulltext_catalog(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        mode: PutMode,
        name: &str,
        catalog: FulltextCatalog,
    ) -> Result<(), CatalogError> {
        if catalog.is_default
            && let Some(other) = self.default_fulltext_catalog(Some(scope))
            && !same_name(&other.name, name)
            && let Some(former) = other.fulltext_catalog()
        {
            let text = Fulltext::Catalog(FulltextCatalog { is_default: false, ..former }).to_text();
            let name = &other.name;
            self.put_module(
                txn,
                scope,
                CATALOG,
                PutMode::Alter,
                Some("dbo"),
                name,
                &text,
                OPTIONS,
            )?;
        }
        let text = Fulltext::Catalog(catalog).to_text();
        self.put_module(txn, scope, CATALOG, mode, Some("dbo"), name, &text, OPTIONS)?;
        Ok(())
    }

    /// Whether an index is in a catalog.
    pub fn is_fulltext_catalog_used(&self, scope: Option<&DdlScope>, catalog: i32) -> bool {
        let all = self.modules_of_kind(scope, INDEX);
        all.iter().any(|m| m.fulltext_index().is_some_and(|index| index.catalog == catalog))
    }

    /// CREATE and ALTER FULLTEXT INDEX of a table that is locked. 2714. Suspends.
    pub fn put_fulltext_index(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        mode: PutMode,
        index: FulltextIndex,
    ) -> Result<(), CatalogError> {
        let name = index.table.to_string();
        let text = Fulltext::Index(index).to_text();
        self.put_module(txn, scope, INDEX, mode, Some("dbo"), &name, &text, OPTIONS)?;
        Ok(())
    }

    /// DROP FULLTEXT INDEX, and what goes with a table that is dropped. Suspends.
    pub fn drop_fulltext_index(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        table: i32,
    ) -> Result<(), CatalogError> {
        match self.fulltext_index_of(Some(scope), table) {
            Some(index) => self.drop_module(txn, scope, INDEX, Some("dbo"), &index.name),
            None => Ok(()),
        }
    }

    /// 7613, 7614: what a full-text index rests on is neither dropped nor altered.
    pub(crate) fn check_fulltext(
        &self,
        scope: &DdlScope,
        table: &TableDef,
        index: Option<(&str, i32)>,
        column: Option<&str>,
    ) -> Result<(), CatalogError> {
        let Some(module) = self.fulltext_index_of(Some(scope), table.object_id) else {
            return Ok(());
        };
        let Some(of) = module.fulltext_index() else { return Ok(()) };
        if let Some((name, id)) = index
            && of.key == id
        {
            let text = format!(
                "Cannot drop index '{name}' because it enforces the full-text key for table or indexed view '{}'.",
                table.name
            );
            return Err(CatalogError::refused(7613, text));
        }
        let holds = |name: &str| {
            of.columns.iter().any(|c| {
                same_name(&c.name, name)
                    || c.type_column.as_deref().is_some_and(|ty| same_name(ty, name))
            })
        };
        match column.filter(|name| holds(name)) {
            None => Ok(()),
            Some(name) => Err(CatalogError::refused(
                7614,
                format!(
                    "Cannot alter or drop column '{name}' because it is enabled for Full-Text Search."
                ),
            )),
        }
    }

    /// Tables and what they have been given for full-text search, by the tables' ids.
    pub fn fulltext_indexes(
        &self,
        scope: Option<&DdlScope>,
    ) -> Vec<(Arc<TableDef>, Arc<ProcedureDef>)> {
        let all = self.modules_of_kind(scope, INDEX).into_iter();
        let with_table = |module: Arc<ProcedureDef>| match self
            .object_in(scope, module.fulltext_index()?.table)?
        {
            ObjectRef::Table(table) => Some((table, module)),
            ObjectRef::Procedure(_) => None,
        };
        all.filter_map(with_table).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_come_back_as_they_went() {
        let column = |name: &str, ty: Option<&str>| FulltextColumn {
            name: name.into(),
            type_column: ty.map(Into::into),
            language: 1033,
        };
        let index = Fulltext::Index(FulltextIndex {
            table: 1_000_001,
            catalog: 1_000_002,
            key: 1,
            tracking: Tracking::Manual,
            stoplist: Stoplist::Off,
            is_enabled: true,
            columns: vec![column("a b\n", Some("ext")), column("", None)],
        });
        assert_eq!(Fulltext::of_text(INDEX, &index.to_text()), Some(index));
        let catalog = FulltextCatalog { is_default: true, is_accent_sensitive: false };
        let catalog = Fulltext::Catalog(catalog);
        assert_eq!(Fulltext::of_text(CATALOG, &catalog.to_text()), Some(catalog));
        assert_eq!(Fulltext::of_text(INDEX, "1 2 3"), None);
    }
}
