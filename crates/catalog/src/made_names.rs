//! Names that constraints are given whose definition has none, as SQL Server shapes them.
//!
//! Promise: a name is unlike that of every other constraint of the database, for it is made of an object id.

/// `DF__table__colum__0123ABCD`, as SQL Server shapes it; unlike for every column ever made.
pub(crate) fn default_name(table: &str, column: &str, object_id: i32, ordinal: usize) -> Box<str> {
    let unlike = object_id as u32 ^ ((ordinal as u32 + 1) << 20).rotate_left(7);
    let column: String = column.chars().take(5).collect();
    format!("DF__{}__{column}__{unlike:08X}", stem(table, object_id, 9)).into()
}

/// `CK__table__column__0123ABCD`, as SQL Server shapes it.
pub(crate) fn generated(kind: &str, table: &str, column: &str, object_id: i32) -> Box<str> {
    let column: String = column.chars().take(5).collect();
    let unlike = (object_id as u32).wrapping_mul(0x9E37_79B9);
    format!("{kind}__{}__{column}__{unlike:08X}", stem(table, object_id, 9)).into()
}

/// The first `n` characters of a table's name in tempdb or its database, for names that are made of it: a temporary
/// table's is filled up with underscores, a variable's made up.
pub(crate) fn stem(table: &str, object_id: i32, n: usize) -> String {
    match table.as_bytes().first() {
        Some(b'#') => table.chars().chain(std::iter::repeat('_')).take(n).collect(),
        Some(b'@') => {
            let made_up = format!("#{:08X}", (object_id as u32).wrapping_mul(0x9E37_79B9));
            made_up.chars().take(n).collect()
        }
        _ => table.chars().take(n).collect(),
    }
}
