//! Columns, rows and output parameters: values, in the types in which the client is to have them.

use super::{Sent, TokenWriter};
use crate::encode::{self, EncodeError, null_bytes};
use crate::reader::put_b_varchar;
use crate::token::{Column, ReturnValue, byte};
use crate::type_info;
use types::collation::{self, CodePage, Rule};
use types::convert::cast;
use types::{Len, RowColumn, SqlType, StoredCell, StoredCells, Value, Variant};

/// The style that keeps every digit of a date or time as text.
const ODBC_STYLE: i32 = 121;
/// The UserType of a rowversion.
const USER_TYPE_TIMESTAMP: u32 = 80;

impl Sent {
    /// Whether the bytes of a stored text or binary are those of its value on the wire.
    #[inline]
    fn is_stored_as(&self, of: RowColumn) -> bool {
        use SqlType::*;
        self.ty == self.declared
            && !self.long
            && match (self.ty, of.ty) {
                (VarChar(Len::N(_)), VarChar(_)) | (Char(_), Char(_)) => {
                    of.rule.code_page() == self.page
                }
                (NVarChar(Len::N(_)), NVarChar(_)) | (NChar(_), NChar(_)) => true,
                (VarBinary(Len::N(_)), VarBinary(_)) | (Binary(_), Binary(_)) => true,
                _ => false,
            }
    }
}

impl TokenWriter {
    /// COLMETADATA (2.2.7.4): a result set begins.
    pub fn columns<'a>(&mut self, columns: impl IntoIterator<Item = Column<'a>>) {
        self.begin_token();
        let at = self.out.len();
        self.out.extend_from_slice(&[byte::COL_METADATA, 0xFF, 0xFF]);
        self.columns.clear();
        self.has_substitutes = false;
        let wide = self.version.is_of_2005();
        for column in columns {
            let page = column.collation.page();
            self.has_substitutes |= column.ty == SqlType::Variant && !self.utf8;
            let sent = self.readable(self.sent_type(column.ty), page);
            // Clients from before (max) know such values as text, ntext and image alone.
            let old: Option<&[String]> = if wide { None } else { Some(&[]) };
            let long = column.long.or(old).filter(|_| type_info::long(sent).is_some());
            self.has_substitutes |= sent != column.ty || page != CodePage::Cp1252 || long.is_some();
            let fixed = if column.nullable { None } else { type_info::fixed(sent) };
            let fixed_form = fixed.is_some();
            self.columns.push(Sent {
                declared: column.ty,
                ty: sent,
                fixed: fixed_form,
                long: long.is_some(),
                stored: None,
                #[cfg(debug_assertions)]
                nullable: column.nullable,
                page,
            });
            let user_type = if column.rowversion { USER_TYPE_TIMESTAMP } else { 0 };
            let user_type = user_type.to_le_bytes();
            self.out.extend_from_slice(if wide { &user_type } else { &user_type[..2] });
            self.out.extend_from_slice(&column.flags().to_le_bytes());
            match (fixed, long) {
                (Some(token), _) => self.out.push(token),
                (None, Some(table)) => {
                    type_info::put_long(&mut self.out, sent, column.collation, table, wide);
                }
                (None, None) => type_info::put_with(&mut self.out, sent, column.collation),
            }
            put_b_varchar(&mut self.out, column.name);
        }
        assert!(self.columns.len() < 0xFFFF, "too many columns");
        let count = self.columns.len() as u16;
        self.out[at + 1..at + 3].copy_from_slice(&count.to_le_bytes());
        self.end_token();
    }

    /// ROW or, when it is shorter, NBCROW (2.2.7.19, 2.2.7.15). Panics when the row has not as many values as there
    /// are columns.
    #[inline]
    pub fn row(&mut self, row: &[Value]) -> Result<(), EncodeError> {
        assert_eq!(row.len(), self.columns.len(), "values and columns");
        self.token(|writer| writer.put_row(row))
    }

    /// The same of a row that lies where its table has it. The bytes of a text go as they are where the column is told in their
    /// form.
    #[inline]
    pub fn stored(&mut self, row: &dyn StoredCells) -> Result<(), EncodeError> {
        assert_eq!(row.width(), self.columns.len(), "values and columns");
        self.token(|writer| writer.put_stored(row))
    }

    /// A token, or nothing of it.
    #[inline]
    fn token(
        &mut self,
        put: impl FnOnce(&mut Self) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        self.begin_token();
        let at = self.out.len();
        let result = put(self);
        match result {
            Ok(()) => self.end_token(),
            Err(_) => self.out.truncate(at),
        }
        result
    }

    /// In debug builds: no value leaves that its column does not hold.
    #[cfg(debug_assertions)]
    fn guard(&self, row: &[Value]) -> Result<(), EncodeError> {
        for (value, column) in row.iter().zip(&self.columns).filter(|_| self.guards) {
            let fault = crate::guard::fault(column.declared, column.page, column.nullable, value);
            if fault.is_some() {
                let (ty, value) = (column.declared, value.natural_type());
                return Err(EncodeError { ty, value, fault });
            }
        }
        Ok(())
    }

    fn put_row(&mut self, row: &[Value]) -> Result<(), EncodeError> {
        #[cfg(debug_assertions)]
        self.guard(row)?;
        let compact = self.begin_row(row.len(), |i| row[i].is_null());
        for (i, value) in row.iter().enumerate() {
            if !(compact && value.is_null()) {
                self.put_value(i, value)?;
            }
        }
        Ok(())
    }

    fn put_stored(&mut self, row: &dyn StoredCells) -> Result<(), EncodeError> {
        let width = row.width();
        #[cfg(debug_assertions)]
        self.guard(&(0..width).map(|i| row.cell(i).value()).collect::<Vec<_>>())?;
        let compact = self.begin_row(width, |i| row.is_null(i));
        for i in 0..width {
            if compact && row.is_null(i) {
                continue;
            }
            match row.cell(i) {
                StoredCell::Bytes(bytes, of) if self.is_stored_as(i, of) => {
                    encode::bytes(&mut self.out, self.columns[i].ty, bytes)?;
                }
                cell => self.put_value(i, &cell.value())?,
            }
        }
        Ok(())
    }

    /// See [`Sent::is_stored_as`], which the rows of a result set have alike.
    #[inline]
    fn is_stored_as(&mut self, column: usize, of: RowColumn) -> bool {
        let sent = &mut self.columns[column];
        match sent.stored {
            Some((known, is)) if known == of => is,
            _ => {
                let is = sent.is_stored_as(of);
                sent.stored = Some((of, is));
                is
            }
        }
    }

    /// ROW, or NBCROW where it is shorter: says which.
    #[inline]
    fn begin_row(&mut self, width: usize, is_null: impl Fn(usize) -> bool) -> bool {
        let bitmap_bytes = width.div_ceil(8);
        let nulls: usize = self
            .columns
            .iter()
            .enumerate()
            .map(|(i, column)| match (is_null(i), column.fixed) {
                (false, _) => 0,
                // The length of no text pointer.
                (true, false) if column.long => 1,
                (true, false) => null_bytes(column.ty),
                // There is no NULL in this form: only the bitmap can say it.
                (true, true) => bitmap_bytes + 1,
            })
            .sum();
        let compact = nulls > bitmap_bytes && self.version.has_null_bitmap_rows();
        if !compact {
            self.out.push(byte::ROW);
            return false;
        }
        self.out.push(byte::NBC_ROW);
        let bitmap = self.out.len();
        self.out.resize(bitmap + bitmap_bytes, 0);
        for i in (0..width).filter(|i| is_null(*i)) {
            self.out[bitmap + i / 8] |= 1 << (i % 8);
        }
        true
    }

    /// A value of a column.
    #[inline]
    fn put_value(&mut self, column: usize, value: &Value) -> Result<(), EncodeError> {
        let Sent { declared, ty: sent, fixed, long, page, .. } = self.columns[column];
        if fixed {
            encode::fixed(&mut self.out, sent, value)
        } else if self.has_substitutes && long {
            encode::long(&mut self.out, sent, page, value)
        } else if self.has_substitutes && declared != sent {
            encode::value(&mut self.out, sent, &as_text(value, declared, sent)?)
        } else if self.has_substitutes
            && let Some(readable) = self.readable_variant(value)
        {
            encode::value(&mut self.out, sent, &readable)
        } else if self.has_substitutes && page != CodePage::Cp1252 {
            encode::paged(&mut self.out, sent, page, value)
        } else {
            encode::value(&mut self.out, sent, value)
        }
    }

    /// RETURNVALUE (2.2.7.19).
    pub fn return_value(&mut self, value: &ReturnValue<'_>) -> Result<(), EncodeError> {
        self.begin_token();
        let at = self.out.len();
        let page = self.collation.page();
        let sent = self.readable(self.sent_output(value.ty), page);
        self.out.push(byte::RETURN_VALUE);
        self.out.extend_from_slice(&value.ordinal.to_le_bytes());
        put_b_varchar(&mut self.out, value.name);
        self.out.push(if value.function_result { 2 } else { 1 });
        let type_and_flags = if self.version.is_of_2005() { 6 } else { 4 };
        self.out.extend_from_slice(&[0; 6][..type_and_flags]);
        type_info::put_with(&mut self.out, sent, self.collation);
        let result = if let Some(readable) = self.readable_variant(value.value) {
            encode::value(&mut self.out, sent, &readable)
        } else if sent == value.ty && page != CodePage::Cp1252 {
            encode::paged(&mut self.out, sent, page, value.value)
        } else if sent == value.ty {
            encode::value(&mut self.out, sent, value.value)
        } else {
            as_text(value.value, value.ty, sent)
                .and_then(|text| encode::value(&mut self.out, sent, &text))
        };
        match result {
            Ok(()) => self.end_token(),
            Err(_) => self.out.truncate(at),
        }
        result
    }

    /// A type of texts in UTF-8 as one that the client reads.
    fn readable(&self, ty: SqlType, page: CodePage) -> SqlType {
        match page == CodePage::Utf8 && !self.utf8 {
            true => in_utf16(ty),
            false => ty,
        }
    }

    /// A sql_variant of a text in UTF-8 as one that the client reads: of nvarchar, or of code page 1252 where it is of ASCII
    /// and too long for that. What is longer than both is cut.
    fn readable_variant(&self, value: &Value) -> Option<Value> {
        let Value::Variant(held) = value else { return None };
        let Value::Str(text) = held.value() else { return None };
        if self.utf8 || held.ty().is_unicode() || text.rule().code_page() != CodePage::Utf8 {
            return None;
        }
        let units = collation::utf16_len(text);
        if units > 4000 && text.is_ascii() {
            return Variant::wrap(Value::Str(text.clone().with_rule(Rule::CiAs)), held.ty()).ok();
        }
        let mut text = text.as_str().to_owned();
        collation::truncate_units(&mut text, 4000);
        let ty = SqlType::NVarChar(Len::N(units.clamp(1, 4000) as u16));
        Variant::wrap(Value::str(&text), ty).ok()
    }

    /// The type a column is sent as: the date types that TDS 7.2 lacks go as text, and xml and types of the CLR, which
    /// 7.1 lacks, as their text and their bytes.
    fn sent_type(&self, ty: SqlType) -> SqlType {
        if self.version.has_date_types() {
            return ty;
        }
        match ty {
            SqlType::Date => SqlType::NVarChar(Len::N(10)),
            SqlType::Time(_) => SqlType::NVarChar(Len::N(16)),
            SqlType::DateTime2(_) => SqlType::NVarChar(Len::N(27)),
            SqlType::DateTimeOffset(_) => SqlType::NVarChar(Len::N(34)),
            SqlType::Xml | SqlType::TypedXml { .. } if !self.version.is_of_2005() => {
                SqlType::NVarChar(Len::Max)
            }
            SqlType::Clr(_) if !self.version.is_of_2005() => SqlType::VarBinary(Len::Max),
            _ => ty,
        }
    }

    /// The type an output parameter is sent as: before (max) there was none for what is longer than a row.
    fn sent_output(&self, ty: SqlType) -> SqlType {
        match self.sent_type(ty) {
            sent if self.version.is_of_2005() => sent,
            SqlType::VarChar(Len::Max) => SqlType::VarChar(Len::N(8000)),
            SqlType::NVarChar(Len::Max) => SqlType::NVarChar(Len::N(4000)),
            SqlType::VarBinary(Len::Max) => SqlType::VarBinary(Len::N(8000)),
            sent => sent,
        }
    }
}

/// A type of texts in UTF-8 as one of UTF-16: with room for as many characters as it has bytes.
fn in_utf16(ty: SqlType) -> SqlType {
    match ty {
        SqlType::Char(n) => in_utf16(SqlType::VarChar(Len::N(n))),
        SqlType::VarChar(Len::N(n)) if n <= 4000 => SqlType::NVarChar(Len::N(n)),
        SqlType::VarChar(_) => SqlType::NVarChar(Len::Max),
        ty => ty,
    }
}

/// A value as the text that a client gets which does not know its type.
fn as_text(value: &Value, declared: SqlType, sent: SqlType) -> Result<Value, EncodeError> {
    if value.is_null() {
        return Ok(Value::Null);
    }
    cast(value, declared, sent, ODBC_STYLE).map_err(|_| EncodeError {
        ty: sent,
        value: declared,
        fault: None,
    })
}
