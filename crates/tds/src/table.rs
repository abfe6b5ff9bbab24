//! Table-valued parameters (MS-TDS 2.2.5.5.5).
//!
//! ```text
//! 0xF3  type name (3 * B_VARCHAR)  columns  [0x10 order and uniqueness]  [0x11 column order]  0x00
//!       *( 0x01 row )  0x00
//! ```
//!
//! A column the client leaves to its default has no values in the rows, neither on the wire nor here (a row of a
//! thousand defaults is one byte long, and must not become a thousand values). Columns may come in another
//! order than the type's; they are handed out in the type's.

use crate::ProtocolError;
use crate::decode;
use crate::encode::{self, EncodeError};
use crate::reader::{Reader, Result, put_b_varchar, steps};
use crate::type_info::{self, TypeInfo, token};
use runtime::task::Breath;
use types::{SqlType, Value};

/// SQL Server's limit on columns of a table type.
const COLUMNS_MAX: usize = 1024;
const NO_COLUMNS: u16 = 0xFFFF;
const ORDER_UNIQUE: u8 = 0x10;
const COLUMN_ORDER: u8 = 0x11;
const END: u8 = 0x00;
const ROW: u8 = 0x01;
const FLAG_NULLABLE: u16 = 0x01;
const FLAG_DEFAULT: u16 = 0x200;
/// Steps that a row counts for, besides those of its values.
const ROW_STEPS: usize = 32;

/// A table that came as a parameter.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Table {
    /// Schema of its type; may be empty.
    pub schema: String,
    /// Its type's name.
    pub type_name: String,
    /// Empty when the client sent a NULL table, which has no rows.
    pub columns: Vec<TableColumn>,
    /// A value for each of the columns that are not left to their default, in the order of `columns`.
    pub rows: Vec<Vec<Value>>,
}

/// One of its columns.
#[derive(Clone, Debug, PartialEq)]
pub struct TableColumn {
    /// Mostly empty: columns go by position.
    pub name: String,
    pub ty: SqlType,
    pub nullable: bool,
    /// The client sends no values; the type's default applies.
    pub default: bool,
}

const fn bad(what: &'static str) -> ProtocolError {
    ProtocolError::BadTable { what }
}

impl Table {
    pub(crate) fn decode(r: &mut Reader<'_>) -> Result<Table> {
        const WHAT: &str = "table-valued parameter";
        if r.u8(WHAT)? != token::TABLE {
            return Err(bad("its type token"));
        }
        if !r.b_varchar(WHAT)?.is_empty() {
            return Err(bad("its type may not name a database"));
        }
        let mut table =
            Table { schema: r.b_varchar(WHAT)?, type_name: r.b_varchar(WHAT)?, ..Table::default() };
        let count = r.u16(WHAT)?;
        let mut infos = Vec::new();
        let mut sent = Vec::new();
        if count != NO_COLUMNS {
            if count == 0 || count as usize > COLUMNS_MAX {
                return Err(bad("its number of columns"));
            }
            for _ in 0..count {
                r.u32(WHAT)?;
                let flags = r.u16(WHAT)?;
                let info = TypeInfo::decode(r)?;
                sent.push(TableColumn {
                    name: r.b_varchar(WHAT)?,
                    ty: info.ty,
                    nullable: flags & FLAG_NULLABLE != 0,
                    default: flags & FLAG_DEFAULT != 0,
                });
                infos.push(info);
            }
        }
        // Where among the type's columns each column sent belongs.
        let mut order: Vec<usize> = (0..infos.len()).collect();
        loop {
            match r.u8(WHAT)? {
                END => break,
                ORDER_UNIQUE => {
                    let count = r.u16(WHAT)? as usize;
                    r.bytes(count * 3, WHAT)?;
                }
                COLUMN_ORDER => order = column_order(r, infos.len())?,
                _ => return Err(bad("its optional metadata")),
            }
        }
        // What a row holds, as sent: the type of each value, and its place in the row.
        let mut columns: Vec<(usize, TableColumn)> = order.into_iter().zip(sent).collect();
        let mut values: Vec<(usize, TypeInfo)> = columns
            .iter()
            .zip(infos)
            .filter(|((_, column), _)| !column.default)
            .map(|((place, _), info)| (*place, info))
            .collect();
        let places: Vec<usize> = values.iter().map(|(place, _)| *place).collect();
        for (place, _) in &mut values {
            *place = places.iter().filter(|other| **other < *place).count();
        }
        columns.sort_by_key(|(place, _)| *place);
        table.columns = columns.into_iter().map(|(_, column)| column).collect();
        let mut breath = Breath::new();
        loop {
            match r.u8(WHAT)? {
                END => break,
                ROW if !table.columns.is_empty() => {
                    steps(&mut breath, ROW_STEPS + 16 * values.len())?;
                    let mut row = vec![Value::Null; values.len()];
                    for (place, info) in &values {
                        row[*place] = decode::column(r, info, false)?;
                    }
                    table.rows.push(row);
                }
                _ => return Err(bad("its rows")),
            }
        }
        Ok(table)
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) -> std::result::Result<(), EncodeError> {
        out.push(token::TABLE);
        put_b_varchar(out, "");
        put_b_varchar(out, &self.schema);
        put_b_varchar(out, &self.type_name);
        if self.columns.is_empty() {
            out.extend_from_slice(&NO_COLUMNS.to_le_bytes());
            out.extend_from_slice(&[END, END]);
            return Ok(());
        }
        out.extend_from_slice(&(self.columns.len() as u16).to_le_bytes());
        for column in &self.columns {
            out.extend_from_slice(&0u32.to_le_bytes());
            let nullable = if column.nullable { FLAG_NULLABLE } else { 0 };
            let default = if column.default { FLAG_DEFAULT } else { 0 };
            out.extend_from_slice(&(nullable | default).to_le_bytes());
            type_info::put(out, column.ty);
            put_b_varchar(out, &column.name);
        }
        out.push(END);
        for row in &self.rows {
            out.push(ROW);
            for (column, value) in self.columns.iter().filter(|column| !column.default).zip(row) {
                encode::value(out, column.ty, value)?;
            }
        }
        out.push(END);
        Ok(())
    }
}

/// The places, from 0, of the first, second and so on column sent; each place once.
fn column_order(r: &mut Reader<'_>, columns: usize) -> Result<Vec<usize>> {
    const WHAT: &str = "table-valued parameter";
    let wrong = bad("the order of its columns");
    if r.u16(WHAT)? as usize != columns {
        return Err(wrong);
    }
    let mut order = Vec::with_capacity(columns);
    let mut seen = vec![false; columns];
    for _ in 0..columns {
        let column = (r.u16(WHAT)? as usize).checked_sub(1).ok_or(wrong.clone())?;
        match seen.get_mut(column) {
            Some(seen @ false) => *seen = true,
            _ => return Err(wrong),
        }
        order.push(column);
    }
    Ok(order)
}
