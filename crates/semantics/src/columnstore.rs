//! What CREATE and ALTER INDEX say of columnstore indexes: the options that such an index has, and those that only it has.
//!
//! Numbers and texts: SQL Server's messages 10798, 10799, 16210 and 35308 to 35382.

use crate::error::{BindError, Result};
use crate::tree::space;
use catalog::{ColumnstoreSpec, IndexSpec};
use syntax::ast::{self, OptionValue};

/// The longest COMPRESSION_DELAY, in minutes.
const DELAY_MAX: i64 = 10_080;

/// Options of an index as they are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Statement {
    Create,
    Rebuild,
    Set,
}

/// What the options of a columnstore index say; what is not said is `None`.
#[derive(Default)]
pub struct Options {
    pub archive: Option<bool>,
    pub delay_minutes: Option<u16>,
    pub drop_existing: bool,
}

/// CREATE [CLUSTERED] COLUMNSTORE INDEX, and the same inside a table's definition.
pub fn spec(index: &ast::IndexDefinition, text: &str) -> Result<IndexSpec> {
    let line = index.span.line.max(1);
    let name = &index.name.value;
    let clustered = index.clustered == Some(true);
    if clustered && index.filter.is_some() {
        let text = "The statement failed because a columnstore index cannot be a filtered index. Consider creating a \
                    columnstore index without the predicate filter.";
        return Err(BindError::new(35308, 15, line, text));
    }
    let found = options(&index.options, name, line, Statement::Create)?;
    let order = index.order.iter().map(|c| c.value.as_str().into()).collect();
    let filter = index.filter.as_ref();
    Ok(IndexSpec {
        name: name.as_str().into(),
        include: index.columns.iter().map(|c| c.name.value.as_str().into()).collect(),
        columnstore: Some(ColumnstoreSpec {
            archive: found.archive.unwrap_or(false),
            delay_minutes: found.delay_minutes.unwrap_or(0),
            order,
        }),
        clustered,
        filter: filter.map(|f| syntax::filter_text(f, f.span.text(text)).into()),
        filegroup: index.filegroup.as_ref().map(space),
        drop_existing: found.drop_existing,
        ..IndexSpec::default()
    })
}

/// Reads the options of a columnstore index: 35317 and 35318 (35327 and 35328 of ALTER INDEX) for those that only other
/// indexes have, 155 for one that no index has.
pub fn options(
    options: &[ast::DatabaseOption],
    index: &str,
    line: u32,
    statement: Statement,
) -> Result<Options> {
    let mut out = Options::default();
    let creating = statement == Statement::Create;
    for option in options {
        let on = matches!(option.value, OptionValue::On | OptionValue::None);
        let name = option.name.as_str();
        match name {
            "DATA_COMPRESSION" => out.archive = Some(is_archive(&option.value, line, creating)?),
            "COMPRESSION_DELAY" => out.delay_minutes = Some(delay(&option.value, line)?),
            "DROP_EXISTING" if creating => out.drop_existing = on,
            "XML_COMPRESSION" => {
                let text =
                    format!("Invalid xml compression setting for columnstore index '{index}'.");
                return Err(BindError::new(16210, 15, line, text));
            }
            "ALLOW_PAGE_LOCKS" | "ALLOW_ROW_LOCKS" | "OPTIMIZE_FOR_SEQUENTIAL_KEY" => {
                return Err(lock_option(name, line, creating));
            }
            "RESUMABLE" if on && creating => {
                return Err({
                    let mut refused = lock_option(name, line, true);
                    refused.severity = 16;
                    refused.with_state(3)
                });
            }
            "FILLFACTOR"
            | "IGNORE_DUP_KEY"
            | "PAD_INDEX"
            | "SORT_IN_TEMPDB"
            | "STATISTICS_INCREMENTAL"
            | "STATISTICS_NORECOMPUTE" => return Err(row_option(name, line, creating)),
            "MAXDOP" | "MAX_DURATION" | "ONLINE" | "RESUMABLE" => {}
            name => {
                let text = format!("'{name}' is not a recognized CREATE INDEX option.");
                return Err(BindError::new(155, 15, line, text));
            }
        }
    }
    Ok(out)
}

/// 35317 and 35327.
fn row_option(name: &str, line: u32, creating: bool) -> BindError {
    match creating {
        true => BindError::new(
            35317,
            15,
            line,
            format!(
                "The statement failed because specifying {name} is not allowed when creating a columnstore index. \
                 Consider creating a columnstore index without specifying {name}."
            ),
        ),
        false => BindError::new(
            35327,
            16,
            line,
            format!(
                "ALTER INDEX REBUILD statement failed because specifying {name} is not allowed when rebuilding a \
                 columnstore index. Rebuild the columnstore index without specifying {name}."
            ),
        ),
    }
}

/// 35318 and 35328.
fn lock_option(name: &str, line: u32, creating: bool) -> BindError {
    match creating {
        true => BindError::new(
            35318,
            15,
            line,
            format!(
                "The statement failed because the {name} option is not allowed when creating a columnstore index. Create \
                 the columnstore index without specifying the {name} option."
            ),
        ),
        false => BindError::new(
            35328,
            16,
            line,
            format!(
                "ALTER INDEX REBUILD statement failed because the {name} option is not allowed when rebuilding a \
                 columnstore index. Rebuild the columnstore index without specifying the {name} option."
            ),
        ),
    }
}

/// DATA_COMPRESSION of a columnstore index; 10799.
fn is_archive(value: &OptionValue, line: u32, creating: bool) -> Result<bool> {
    match value {
        OptionValue::Word(word) if word == "COLUMNSTORE" => Ok(false),
        OptionValue::Word(word) if word == "COLUMNSTORE_ARCHIVE" => Ok(true),
        _ => {
            let text = "This is not a valid data compression setting for a columnstore index. Please choose COLUMNSTORE \
                        or COLUMNSTORE_ARCHIVE compression.";
            Err(BindError::new(10799, if creating { 15 } else { 16 }, line, text))
        }
    }
}

/// COMPRESSION_DELAY = n [MINUTES]; 35382.
fn delay(value: &OptionValue, line: u32) -> Result<u16> {
    let minutes = match value {
        OptionValue::Literal(ast::Literal::Int(n)) => i64::from(*n),
        _ => -1,
    };
    match u16::try_from(minutes) {
        Ok(n) if minutes <= DELAY_MAX => Ok(n),
        _ => {
            let text = format!(
                "The specified COMPRESSION_DELAY option value {minutes} is invalid. The valid range for disk-based table \
                 is between (0, {DELAY_MAX}) minutes and for memory-optimized table is 0 or between (60, {DELAY_MAX}) \
                 minutes."
            );
            Err(BindError::new(35382, 16, line, text).with_state(2))
        }
    }
}

/// Options of ALTER INDEX that no other index has: 10798, 35364.
pub fn only_columnstore(
    options: &[ast::DatabaseOption],
    line: u32,
    statement: Statement,
) -> Result<()> {
    for option in options {
        let columnstore =
            matches!(&option.value, OptionValue::Word(word) if word.starts_with("COLUMNSTORE"));
        if option.name == "DATA_COMPRESSION" && columnstore {
            let text = "This is not a valid data compression setting for this object. It can only be used with \
                        columnstore indexes. Please choose NONE, PAGE, or ROW compression.";
            return Err(BindError::new(10798, 16, line, text));
        }
        if option.name == "COMPRESSION_DELAY" && statement == Statement::Set {
            let text = "ALTER INDEX statement option COMPRESSION_DELAY can only be used with columnstore indexes.";
            return Err(BindError::new(35364, 16, line, text));
        }
    }
    Ok(())
}
