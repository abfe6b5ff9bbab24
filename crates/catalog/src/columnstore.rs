//! Columnstore indexes, whose rows are rows.
//!
//! A nonclustered one is a tree like any index's: it has no key columns, so its entries lie under the row's locator, and it
//! includes the columns that it is over. A clustered one is a name for the heap that the table's rows lie in.
//!
//! Numbers and texts: SQL Server's messages 35307 to 35382. In the system table an index of this kind has
//!
//! ```text
//! archive u8 | COMPRESSION_DELAY, minutes u16 | ordinals of ORDER u16 ...     (little-endian)
//! ```

use crate::CatalogError;
use crate::def::*;
use crate::keys::{is_max, pack_ordinals, shown, unpack_ordinals};
use crate::spec::{ColumnstoreSpec, IndexSpec};
use crate::system::corrupt;
use types::{SqlType, Value};

/// What an index that is to come to a table is asked for: 1911, 35307, 35309, 35331, 35339, 35343, 35372.
pub(crate) fn check(
    table: &TableDef,
    spec: &IndexSpec,
    asked: &ColumnstoreSpec,
) -> Result<Columnstore, CatalogError> {
    let in_memory = spec.clustered && table.is_memory();
    if spec.clustered && !in_memory && table.has_clustered() {
        let text = format!(
            "You cannot create more than one clustered index on table '{}'. Consider creating a new clustered index \
             using 'with (drop_existing = on)' option.",
            shown(table)
        );
        return Err(CatalogError::refused(35372, text));
    }
    if table.indexes.iter().any(|index| index.columnstore.is_some()) {
        let text = "Multiple columnstore indexes are not supported.";
        return Err(CatalogError::refused(35339, text));
    }
    let is_over =
        |c: &&ColumnDef| spec.clustered || spec.include.iter().any(|name| same_name(name, &c.name));
    for column in table.columns.iter().filter(is_over) {
        check_column(table, column, spec.clustered)?;
    }
    let mut order = Vec::with_capacity(asked.order.len());
    for name in &asked.order {
        let Some(ordinal) = table.column(name) else {
            return Err(CatalogError::NoKeyColumn { column: name.clone() });
        };
        if order.contains(&ordinal) {
            let text = format!(
                "Cannot use duplicate column names in the ORDER column list. Column name '{name}' appears more than once."
            );
            return Err(CatalogError::refused(35331, text));
        }
        order.push(ordinal);
    }
    let (archive, delay_minutes) = (asked.archive, asked.delay_minutes);
    Ok(Columnstore { archive, delay_minutes, order, in_memory })
}

/// Whether a column can be in it: 35307, 35309, 35343.
fn check_column(table: &TableDef, column: &ColumnDef, clustered: bool) -> Result<(), CatalogError> {
    let name = &column.name;
    if column.computed.is_some() && !clustered {
        let text = format!(
            "The statement failed because column '{name}' on table '{}' is a computed column. Columnstore index cannot \
             include a computed column implicitly or explicitly.",
            table.name
        );
        return Err(CatalogError::refused(35307, text));
    }
    if column.marks.sparse {
        let text = "The statement failed because a columnstore index cannot be created on a sparse column. Consider \
                    creating a nonclustered columnstore index on a subset of columns that does not include any sparse \
                    columns.";
        return Err(CatalogError::refused(35309, text));
    }
    // Large values only in a clustered one.
    if column.rowversion
        || column.ty.is_xml()
        || matches!(column.ty, SqlType::Variant | SqlType::Clr(_))
        || (!clustered && is_max(column.ty))
    {
        let text = format!(
            "The statement failed. Column '{name}' has a data type that cannot participate in a columnstore index. Omit \
             column '{name}'."
        );
        return Err(CatalogError::refused(35343, text));
    }
    Ok(())
}

/// As kept in the system table.
pub(crate) fn pack(columnstore: &Columnstore) -> Value {
    let mut bytes = vec![u8::from(columnstore.archive) | u8::from(columnstore.in_memory) << 1];
    bytes.extend_from_slice(&columnstore.delay_minutes.to_le_bytes());
    bytes.extend(pack_ordinals(&columnstore.order));
    Value::binary(&bytes)
}

pub(crate) fn unpack(bytes: &[u8]) -> Result<Columnstore, CatalogError> {
    let [marks, low, high, order @ ..] = bytes else {
        return Err(corrupt("a columnstore index that does not say what it is asked for"));
    };
    Ok(Columnstore {
        archive: *marks & 1 != 0,
        in_memory: *marks & 2 != 0,
        delay_minutes: u16::from_le_bytes([*low, *high]),
        order: unpack_ordinals(order),
    })
}
