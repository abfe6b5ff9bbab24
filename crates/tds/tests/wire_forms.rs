//! Every form in which a client may send a parameter, written out in bytes (MS-TDS 2.2.5.4 to 2.2.5.6).

use tds::ProtocolError;
use tds::rpc::{RpcMessage, RpcParameter, RpcValue};
use types::{DateTime, Decimal, Len, SqlType, Value};

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16).expect("hexadecimal") as u8)
        .collect();
    assert!(digits.len().is_multiple_of(2), "{text}");
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// A call of `p` with one unnamed parameter whose type and value are given.
fn read(parameter: &str) -> Result<RpcParameter, ProtocolError> {
    let message = hex(&format!("04000000 0100 7000 0000 00 00 {parameter}"));
    let mut message = RpcMessage::decode(&message)?;
    assert_eq!((message.calls.len(), message.calls[0].parameters.len()), (1, 1), "{parameter}");
    Ok(message.calls.remove(0).parameters.remove(0))
}

fn check(parameter: &str, ty: SqlType, value: Value) {
    let read = read(parameter).unwrap_or_else(|error| panic!("{parameter}: {error}"));
    assert_eq!((read.ty, read.value), (ty, RpcValue::Scalar(value)), "{parameter}");
}

fn refused(parameter: &str, number: i32) {
    let error = read(parameter).expect_err(parameter);
    assert_eq!(error.number(), number, "{parameter}: {error}");
}

const LATIN1: &str = "0904D00034";

#[test]
fn fixed_lengths() {
    check("1F", SqlType::Int, Value::Null);
    check("30 FF", SqlType::TinyInt, Value::TinyInt(255));
    check("32 01", SqlType::Bit, Value::Bit(true));
    check("34 FFFF", SqlType::SmallInt, Value::SmallInt(-1));
    check("38 01000000", SqlType::Int, Value::Int(1));
    check("7F FEFFFFFFFFFFFFFF", SqlType::BigInt, Value::BigInt(-2));
    check("3B 0000C03F", SqlType::Real, Value::Real(1.5));
    check("3E 000000000000F83F", SqlType::Float, Value::Float(1.5));
    check("3C FFFFFFFF C7CFFFFF", SqlType::Money, Value::Money(-12_345));
    check("7A C7CFFFFF", SqlType::SmallMoney, Value::Money(-12_345));
    let at = |days, ticks| Value::DateTime(DateTime { days, ticks });
    check("3D 01000000 2C010000", SqlType::DateTime, at(1, 300));
    check("3A 0100 0200", SqlType::SmallDateTime, at(1, 2 * 18_000));
}

#[test]
fn nullable_forms() {
    check("26 01 00", SqlType::TinyInt, Value::Null);
    check("26 04 04 FFFFFFFF", SqlType::Int, Value::Int(-1));
    // A value may be shorter than announced, if it is one.
    check("26 08 04 FFFFFFFF", SqlType::BigInt, Value::BigInt(-1));
    check("26 02 01 FF", SqlType::SmallInt, Value::SmallInt(255));
    check("6F 08 04 0100 0200", SqlType::DateTime, {
        Value::DateTime(DateTime { days: 1, ticks: 2 * 18_000 })
    });
    check("6D 08 04 0000C03F", SqlType::Float, Value::Float(1.5));
    check("6E 08 04 C7CFFFFF", SqlType::Money, Value::Money(-12_345));
    let decimal = |units| Value::Decimal(Decimal::new(units, 5, 2).unwrap());
    // mssql-python's bulk copy repeats the type's byte where the length goes.
    check("6A 6A 05 02 05 01 39300000", SqlType::decimal(5, 2), decimal(12_345));
    let ty = SqlType::decimal(5, 2);
    check("6A 05 05 02 05 01 7B000000", ty, decimal(123));
    check("6C 11 05 02 05 00 7B000000", SqlType::numeric(5, 2), decimal(-123));
    check("6A 11 05 02 11 00 7B000000000000000000000000000000", ty, decimal(-123));
    check("37 05 05 02 00", ty, Value::Null);
    check("28 03 000000", SqlType::Date, Value::Date(0));
    check("29 00 03 010000", SqlType::Time(0), Value::Time(10_000_000));
    check("29 07 00", SqlType::Time(7), Value::Null);
}

#[test]
fn texts_and_binaries() {
    let chars = |n| SqlType::VarChar(Len::N(n));
    check(&format!("A7 0A00 {LATIN1} 0200 E980"), chars(10), Value::str("é€"));
    check(&format!("A7 0A00 {LATIN1} FFFF"), chars(10), Value::Null);
    check(&format!("A7 0000 {LATIN1} 0000"), chars(1), Value::str(""));
    check(&format!("AF 0200 {LATIN1} 0200 4120"), SqlType::Char(2), Value::str("A "));
    check(&format!("E7 0400 {LATIN1} 0400 3DD80EDC"), SqlType::NVarChar(Len::N(2)), {
        Value::str("\u{1F40E}")
    });
    // Half a pair is kept.
    check(&format!("E7 0400 {LATIN1} 0200 3DD8"), SqlType::NVarChar(Len::N(2)), {
        Value::str(&types::collation::units::half(0xD83D).expect("a half").to_string())
    });
    check("A5 0400 0200 00FF", SqlType::VarBinary(Len::N(4)), Value::binary(&[0, 255]));
    check("AD 0400 0400 00FF0000", SqlType::Binary(4), Value::binary(&[0, 255, 0, 0]));
    // The forms of TDS 4.2, with a byte of length.
    check("27 0A 02 4142", chars(10), Value::str("AB"));
    check("2F 0A 00", SqlType::Char(10), Value::Null);
    check("25 0A 02 0102", SqlType::VarBinary(Len::N(10)), Value::binary(&[1, 2]));
    // text, ntext, image.
    let max = (SqlType::VarChar(Len::Max), SqlType::NVarChar(Len::Max));
    check(&format!("23 FFFFFF7F {LATIN1} 02000000 4142"), max.0, Value::str("AB"));
    check(&format!("63 FEFFFF7F {LATIN1} 02000000 4100"), max.1, Value::str("A"));
    check(&format!("63 00000000 {LATIN1} FFFFFFFF"), max.1, Value::Null);
    check("22 FFFFFF7F 01000000 07", SqlType::VarBinary(Len::Max), Value::binary(&[7]));
}

#[test]
fn chunks() {
    let ty = SqlType::VarChar(Len::Max);
    let text = |total: &str, chunks: &str| format!("A7 FFFF {LATIN1} {total} {chunks}");
    let (unknown, null) = ("FEFFFFFFFFFFFFFF", "FFFFFFFFFFFFFFFF");
    check(&text(null, ""), ty, Value::Null);
    check(&text("0000000000000000", "00000000"), ty, Value::str(""));
    check(&text("0300000000000000", "02000000 4142 01000000 43 00000000"), ty, Value::str("ABC"));
    check(&text(unknown, "02000000 4142 01000000 43 00000000"), ty, Value::str("ABC"));
    check(&text(unknown, "00000000"), ty, Value::str(""));
    // A total that is not the chunks', chunks without end.
    refused(&text("0400000000000000", "03000000 414243 00000000"), 4002);
    refused(&text(unknown, "03000000 414243"), 4002);
    refused(&text(unknown, "FFFFFFFF 414243"), 4002);
    // xml, without and with a schema.
    let xml = SqlType::NVarChar(Len::Max);
    check(&format!("F1 00 {unknown} 02000000 4100 00000000"), xml, Value::str("A"));
    check(&format!("F1 01 00 00 0000 {null}"), xml, Value::Null);
    // A CLR type by its names (database, schema, type): its bytes.
    let (udt, bytes) = ("F0 00 03 7300 7900 7300 01 6800", SqlType::VarBinary(Len::Max));
    check(&format!("{udt} {unknown} 01000000 58 00000000"), bytes, Value::binary(&[0x58]));
    check(&format!("{udt} 0000000000000000 00000000"), bytes, Value::binary(&[]));
    check(&format!("{udt} {null}"), bytes, Value::Null);
}

#[test]
fn collations() {
    // German, UTF-8: Latin1_General_100_CI_AS_SC_UTF8 is 0904 D0 24 00.
    check("A7 0A00 0904D02400 0200 C3A9", SqlType::VarChar(Len::N(10)), Value::str("é"));
    // Cyrillic_General_CI_AS, SQL_Latin1_General_CP1253_CI_AS.
    check("A7 0A00 1904D00000 0100 41", SqlType::VarChar(Len::N(10)), Value::str("A"));
    check("A7 0A00 1904D00000 0100 E9", SqlType::VarChar(Len::N(10)), Value::str("й"));
    check("A7 0A00 0904D00072 0100 E9", SqlType::VarChar(Len::N(10)), Value::str("ι"));
    // SQL_Latin1_General_CP437 has another code page, by its sort id: what is not ASCII is not guessed.
    refused("A7 0A00 0904D0001E 0100 E9", 40510);
    // French_CI_AS is in 1252.
    check("A7 0A00 0C04D00000 0100 E9", SqlType::VarChar(Len::N(10)), Value::str("é"));
}

#[test]
fn variants() {
    check("62 49080000 00000000", SqlType::Int, Value::Null);
    check("62 49080000 06000000 38 00 01000000", SqlType::Int, Value::Int(1));
    check("62 49080000 07000000 29 01 00 01000000", SqlType::Time(0), Value::Time(10_000_000));
    check(
        &format!("62 49080000 0B000000 E7 07 {LATIN1} 4000 4100"),
        SqlType::NVarChar(Len::N(32)),
        Value::str("A"),
    );
    let ty = SqlType::numeric(5, 2);
    let value = Value::Decimal(Decimal::new(-123, 5, 2).unwrap());
    check("62 49080000 09000000 6C 02 05 02 00 7B000000", ty, value.clone());
    // SqlClient sends every decimal in the greatest length.
    check(&format!("62 49080000 15000000 6C 02 05 02 00 7B{}", "00".repeat(15)), ty, value);
    refused("62 49080000 02000000 62 00", 8009);
}

#[test]
fn what_cannot_be() {
    refused("99", 8009);
    refused("26 03 00", 8016);
    refused("26 04 05 0000000000", 8016);
    refused("26 04 03 000000", 8023);
    refused("29 08 00", 8016);
    refused("6A 05 27 00 00", 8016);
    refused("6A 05 05 06 00", 8016);
    // 100,000 as decimal(5,0); a date after 9999; a time of 24:00; NaN; an offset of 15 hours.
    refused("6A 05 05 00 05 01 A0860100", 8023);
    refused("28 03 DBB937", 8023);
    refused("29 00 03 805101", 8023);
    refused("3E 000000000000F87F", 8023);
    refused("2B 07 0A 0000000000 010000 8403", 8023);
    // An nvarchar of half a character; longer than announced; announced too long.
    refused(&format!("E7 0400 {LATIN1} 0300 410042"), 8023);
    refused(&format!("A7 0200 {LATIN1} 0300 414243"), 8016);
    refused(&format!("A7 411F {LATIN1} 0000"), 8016);
    refused("F4", 40510);
}

/// Columns in another order than the type's, one of them left to its default.
#[test]
fn a_table_in_another_order() {
    let columns = "0300 00000000 0000 26 04 00  00000000 0002 26 08 00  00000000 0100 26 01 00";
    let order = "11 0300 0300 0100 0200";
    let rows = "01 04 07000000 01 05  01 00 00";
    let table = read(&format!("F3 00 00 01 7400 {columns} 10 0100 0100 01 {order} 00 {rows} 00"));
    let RpcValue::Table(table) = table.unwrap().value else { panic!("a table") };
    let columns: Vec<(SqlType, bool)> = table.columns.iter().map(|c| (c.ty, c.default)).collect();
    // Sent first and belongs third; sent second, first; sent third, second.
    let expected = [(SqlType::BigInt, true), (SqlType::TinyInt, false), (SqlType::Int, false)];
    assert_eq!((table.type_name.as_str(), &columns[..]), ("t", &expected[..]));
    assert_eq!(
        table.rows,
        [vec![Value::TinyInt(5), Value::Int(7)], vec![Value::Null, Value::Null]]
    );
    // An order that names a column twice, or none.
    for order in ["11 0300 0100 0100 0200", "11 0300 0000 0100 0200", "11 0200 0100 0200"] {
        let columns = "0300 00000000 0000 26 04 00  00000000 0000 26 08 00  00000000 0100 26 01 00";
        refused(&format!("F3 00 00 01 7400 {columns} {order} 00 00"), 8057);
    }
    // A NULL table; one with a database; rows without columns.
    assert!(read("F3 00 00 01 7400 FFFF 00 00").is_ok());
    refused("F3 01 6400 00 01 7400 FFFF 00 00", 8057);
    refused("F3 00 00 01 7400 FFFF 00 01 00", 8057);
}

#[test]
fn calls_and_their_limits() {
    // By number, with both separators and the one that says "do not run".
    let message =
        hex("04000000 FFFF 0A00 0000 80 FFFF 0C00 0100 FE FFFF 0D00 0200 FF 0100 7000 0000");
    let message = RpcMessage::decode(&message).unwrap();
    let seen: Vec<(bool, bool, bool)> =
        message.calls.iter().map(|c| (c.recompile, c.no_metadata, c.no_execute)).collect();
    let f = false;
    assert_eq!(seen, [(f, f, f), (true, f, true), (f, true, f), (f, f, f)]);

    let many = |count: usize| {
        let message = format!("04000000 0100 7000 0000 {}", "00 00 30 01".repeat(count));
        RpcMessage::decode(&hex(&message))
    };
    assert_eq!(many(2100).unwrap().calls[0].parameters.len(), 2100);
    assert_eq!(many(2101).unwrap_err(), ProtocolError::TooManyParameters);

    let encrypted = hex("04000000 0100 7000 0000 00 08 30 01");
    assert_eq!(RpcMessage::decode(&encrypted).unwrap_err().number(), 40510);
}
