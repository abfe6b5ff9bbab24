//! A row sent as it is stored is the row sent by its values, to the byte: every type that is stored in a row, collations of
//! several code pages, NULLs anywhere, clients of several versions.

use crate::{Column, TokenWriter, Version};
use types::collation::Rule;
use types::{Collation, Len, RowColumn, RowLayout, SqlType, StoredCell, StoredCells, Value};

struct Row<'r> {
    layout: &'r RowLayout,
    bytes: &'r [u8],
}

impl StoredCells for Row<'_> {
    fn width(&self) -> usize {
        self.layout.columns().len()
    }

    fn is_null(&self, column: usize) -> bool {
        self.layout.is_null(self.bytes, column)
    }

    fn cell(&self, column: usize) -> StoredCell<'_> {
        let of = self.layout.columns()[column];
        let is_bytes =
            of.ty.is_character() || matches!(of.ty, SqlType::Binary(_) | SqlType::VarBinary(_));
        match is_bytes && !self.is_null(column) {
            true => StoredCell::Bytes(self.layout.raw(self.bytes, column), of),
            false => StoredCell::Value(self.layout.decode_column(self.bytes, column).unwrap()),
        }
    }
}

/// Types, and values that they take.
fn samples() -> Vec<(SqlType, Vec<Value>)> {
    use SqlType as T;
    let texts = |texts: &[&str]| texts.iter().map(|text| Value::str(text)).collect::<Vec<_>>();
    vec![
        (T::Int, vec![Value::Int(-7), Value::Int(i32::MAX)]),
        (T::Bit, vec![Value::Bit(true)]),
        (T::BigInt, vec![Value::BigInt(i64::MIN)]),
        (T::Money, vec![Value::Money(-12_345)]),
        (T::Float, vec![Value::Float(-0.5)]),
        (T::Date, vec![Value::Date(738_000)]),
        (T::UniqueIdentifier, vec![Value::Guid([9; 16])]),
        (
            T::VarChar(Len::N(40)),
            texts(&["", "plain", "é€ÿ", "blank  ", "a text of more than 22 bytes"]),
        ),
        (T::Char(12), texts(&["twelve bytes", "é€          "])),
        (
            T::NVarChar(Len::N(40)),
            texts(&["", "日本", "🐎🐎", "blank  ", "a text of more than 22 bytes"]),
        ),
        (T::NChar(4), texts(&["🐎🐎", "ab  "])),
        (T::VarBinary(Len::N(40)), vec![Value::binary(&[]), Value::binary(&[0, 255, 7])]),
        (T::Binary(3), vec![Value::binary(&[1, 2, 3])]),
        (T::VarChar(Len::Max), texts(&["", "é"])),
        (T::NVarChar(Len::Max), texts(&["", "日本"])),
    ]
}

#[test]
fn stored_rows_are_the_rows_of_their_values() {
    let mut random = stdx::Prng::new(20_261_201);
    let collations: Vec<Collation> = [
        "SQL_Latin1_General_CP1_CI_AS",
        "Cyrillic_General_CI_AS",
        "Japanese_CI_AS",
        "Latin1_General_BIN2",
        "Latin1_General_100_CI_AS_SC_UTF8",
    ]
    .map(|name| Collation::of_name(name).unwrap())
    .into();
    let (mut rows, mut compact) = (0, 0);
    for _ in 0..3_000 {
        let of = samples();
        let columns: Vec<(SqlType, Collation, bool, &[Value])> = (0..1 + random.below(12))
            .map(|_| {
                let (ty, values) = &of[random.below(of.len() as u64) as usize];
                let collation = collations[random.below(collations.len() as u64) as usize];
                (*ty, collation, random.below(3) > 0, &values[..])
            })
            .collect();
        // Some columns that have the code page of another.
        let rule = |collation: Collation, ty: SqlType| match ty.is_character() {
            true => collation.rule(),
            false => Rule::CiAs,
        };
        let layout = RowLayout::new(
            &columns
                .iter()
                .map(|(ty, collation, nullable, _)| RowColumn {
                    ty: *ty,
                    nullable: *nullable,
                    rule: rule(*collation, *ty),
                })
                .collect::<Vec<_>>(),
        );
        let values: Vec<Value> = columns
            .iter()
            .map(|(_, _, nullable, values)| match *nullable && random.below(3) == 0 {
                true => Value::Null,
                false => values[random.below(values.len() as u64) as usize].clone(),
            })
            .collect();
        let mut bytes = Vec::new();
        layout.encode(&values, &mut bytes).unwrap();
        let row = Row { layout: &layout, bytes: &bytes };
        // What a code page has no letter for was lost when the row was written.
        let values: Vec<Value> = (0..row.width()).map(|i| row.cell(i).value()).collect();
        let version = [Version::V7_4, Version::V7_1][random.below(2) as usize];
        let utf8 = random.below(2) == 0;
        let written = |stored: bool| {
            let mut writer = TokenWriter::new(51).unguarded();
            writer.set_version(version);
            writer.set_utf8(utf8);
            writer.set_packet_size(32_767);
            writer.columns(columns.iter().map(|(ty, collation, nullable, _)| Column {
                collation: *collation,
                nullable: *nullable,
                ..Column::new("c", *ty)
            }));
            let head = writer.buffered();
            match stored {
                true => writer.stored(&row),
                false => writer.row(&values),
            }
            .unwrap();
            (head, writer.out().to_vec())
        };
        let (expected, found) = (written(false), written(true));
        assert!(expected == found, "{columns:?}\n{values:?}\n{expected:x?}\n{found:x?}");
        rows += 1;
        let token = found.1[found.0];
        compact += usize::from(token == 0xD2);
    }
    assert!(rows == 3_000 && compact > 100, "{rows} {compact}");
}
