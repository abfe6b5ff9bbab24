//! Tables of cases. Expectations are from SQL Server's documentation or its known behaviour.

use super::{VARCHAR, ty};
use crate::datetime::{self, DatePart};
use crate::{ArithOp, Decimal, Len, Pattern, SqlType, TypeError, Value};
use crate::{arith, compare, convert, format};
use std::cmp::Ordering;

/// A value from its text: `'abc'` is varchar, `NULL`, else `text::type`.
fn val(text: &str) -> (Value, SqlType) {
    if text == "NULL" {
        return (Value::Null, SqlType::Int);
    }
    if let Some(inner) = text.strip_prefix('\'').and_then(|t| t.strip_suffix('\'')) {
        return (Value::str(inner), SqlType::VarChar(Len::N(inner.len().max(1) as u16)));
    }
    if let Some((body, name)) = text.rsplit_once("::") {
        let to = ty(name);
        let style = if to.is_binary() { 1 } else { 0 };
        let value = convert::cast(&Value::str(body), VARCHAR, to, style)
            .unwrap_or_else(|e| panic!("{text}: {e}"));
        return (value, to);
    }
    if text.contains('.') {
        let d = Decimal::parse(text).expect("decimal").expect("fits");
        return (Value::Decimal(d), Value::Decimal(d).natural_type());
    }
    let n: i64 = text.parse().expect("integer");
    match i32::try_from(n) {
        Ok(n) => (Value::Int(n), SqlType::Int),
        Err(_) => (Value::BigInt(n), SqlType::BigInt),
    }
}

fn shown(result: Result<Value, TypeError>, ty: SqlType) -> String {
    match result {
        Ok(value) => format::shell(&value, ty),
        Err(e) => format!("error {}: {e}", e.number()),
    }
}

#[track_caller]
fn check_arith(op: &str, a: &str, b: &str, expected: &str) {
    let op = match op {
        "+" => ArithOp::Add,
        "-" => ArithOp::Sub,
        "*" => ArithOp::Mul,
        "/" => ArithOp::Div,
        "%" => ArithOp::Mod,
        "&" => ArithOp::BitAnd,
        "|" => ArithOp::BitOr,
        _ => ArithOp::BitXor,
    };
    let ((x, at), (y, bt)) = (val(a), val(b));
    let result = arith::binary(op, &x, at, &y, bt);
    let got = match (arith::result_type(op, at, bt), result) {
        (Err(e), _) | (_, Err(e)) => format!("error {}: {e}", e.number()),
        (Ok(ty), Ok(v)) => {
            if !v.is_null() {
                assert_eq!(v.natural_type().precedence(), ty.precedence(), "{v:?} is not {ty}");
            }
            format!("{} {ty}", format::shell(&v, ty))
        }
    };
    assert_eq!(got, expected, "{a} {op:?} {b}");
}

#[test]
fn arithmetic() {
    let cases = [
        ("+", "1", "2", "3 int"),
        (
            "+",
            "2147483647",
            "1",
            "error 8115: Arithmetic overflow error converting expression to data type int.",
        ),
        ("*", "3000000000", "2", "6000000000 bigint"),
        ("/", "7", "2", "3 int"),
        ("/", "-7", "2", "-3 int"),
        ("%", "-7", "2", "-1 int"),
        ("/", "1", "0", "error 8134: Divide by zero error encountered."),
        ("+", "1", "NULL", "NULL int"),
        (
            "+",
            "200::tinyint",
            "100::tinyint",
            "error 8115: Arithmetic overflow error converting expression to data type tinyint.",
        ),
        ("+", "200::tinyint", "100", "300 int"),
        (
            "+",
            "1::bit",
            "1::bit",
            "error 402: The data types bit and bit are incompatible in the add operator.",
        ),
        (
            "*",
            "1::bit",
            "1::bit",
            "error 8117: Operand data type bit is invalid for multiply operator.",
        ),
        // Decimal precision and scale: the rules of the documentation.
        ("+", "1.5", "2.25", "3.75 numeric(4,2)"),
        ("*", "1.5", "2.25", "3.375 numeric(6,3)"),
        ("/", "2.0", "3::decimal(1,0)", "0.666666 numeric(7,6)"),
        ("/", "1::decimal(10,2)", "3::decimal(10,2)", "0.3333333333333 decimal(23,13)"),
        ("%", "7.5", "2::decimal(2,0)", "1.5 numeric(2,1)"),
        ("/", "1.0", "0.0", "error 8134: Divide by zero error encountered."),
        (
            "*",
            "99999999999999999999999999999999999999::decimal(38,0)",
            "10::decimal(38,0)",
            "error 8115: Arithmetic overflow error converting expression to data type numeric.",
        ),
        // The documentation's own: decimal(30,20) times decimal(30,20) is decimal(38,17).
        (
            "*",
            "0.0000009000::decimal(30,20)",
            "1.0000000000::decimal(30,20)",
            "0.00000090000000000 decimal(38,17)",
        ),
        // The key base of the insert procedure: decimal(11,0) times smallint.
        ("*", "51::smallint", "10000000000::decimal(11,0)", "510000000000 decimal(17,0)"),
        ("+", "1.5::money", "2", "3.5000 money"),
        ("*", "1.5::money", "2.5::money", "3.7500 money"),
        ("/", "1::money", "3", "0.3333 money"),
        ("*", "1.5::float", "2", "3 float"),
        ("/", "1::float", "0", "error 8134: Divide by zero error encountered."),
        ("+", "1.5::real", "1", "2.5 real"),
        (
            "%",
            "1::float",
            "2",
            "error 402: The data types float and int are incompatible in the modulo operator.",
        ),
        ("+", "'ab'", "'cd'", "abcd varchar(4)"),
        ("+", "'5'", "6", "11 int"),
        (
            "+",
            "'x'",
            "6",
            "error 245: Conversion failed when converting the varchar value 'x' to data type int.",
        ),
        (
            "-",
            "'a'",
            "'b'",
            "error 8117: Operand data type varchar is invalid for subtract operator.",
        ),
        ("+", "2024-02-28::datetime", "2", "2024-03-01 00:00:00.000 datetime"),
        ("+", "2024-02-28::datetime", "0.5", "2024-02-28 12:00:00.000 datetime"),
        ("-", "2024-03-01::datetime", "2024-02-28::datetime", "1900-01-03 00:00:00.000 datetime"),
        (
            "+",
            "2024-02-28::date",
            "2",
            "error 206: Operand type clash: date is incompatible with int",
        ),
        ("&", "12", "10", "8 int"),
        ("|", "12", "3", "15 int"),
        ("^", "12", "10", "6 int"),
        (
            "&",
            "1.5::float",
            "1",
            "error 402: The data types float and int are incompatible in the '&' operator.",
        ),
        ("+", "0x01::varbinary(8)", "0x02::varbinary(8)", "0x0102 varbinary(16)"),
    ];
    for (op, a, b, expected) in cases {
        check_arith(op, a, b, expected);
    }
}

#[test]
fn decimal_literals() {
    let cases = [
        ("0", "numeric(1,0)"),
        ("0.5", "numeric(1,1)"),
        ("00.50", "numeric(2,2)"),
        ("1.50", "numeric(3,2)"),
        ("10000000000", "numeric(11,0)"),
        ("-2.", "numeric(1,0)"),
        ("99999999999999999999999999999999999999", "numeric(38,0)"),
        ("0.99999999999999999999999999999999999999", "numeric(38,38)"),
    ];
    for (text, expected) in cases {
        let d = Decimal::parse(text).and_then(Result::ok).expect(text);
        assert_eq!(Value::Decimal(d).natural_type().to_string(), expected, "{text}");
    }
    let long = "9".repeat(38);
    for (text, overflows) in
        [(format!("{long}9"), true), (format!("{long}.5"), true), (format!("{long}.4"), false)]
    {
        assert_eq!(Decimal::parse(&text).map(|d| d.is_err()), Some(overflows), "{text}");
    }
    for text in ["", "-", ".", "1e5", "1.2.3", "0x1", "--1"] {
        assert!(Decimal::parse(text).is_none(), "{text}");
    }
}

#[test]
fn decimal_result_types() {
    // (op, (p1,s1), (p2,s2), (p,s)), from the table "Precision, scale, and length".
    let cases = [
        (ArithOp::Add, (10, 2), (5, 4), (13, 4)),
        (ArithOp::Add, (38, 10), (38, 10), (38, 10)),
        (ArithOp::Add, (38, 0), (38, 20), (38, 0)),
        (ArithOp::Mul, (38, 20), (38, 20), (38, 6)),
        (ArithOp::Mul, (30, 20), (30, 20), (38, 17)),
        (ArithOp::Mul, (20, 10), (20, 10), (38, 17)),
        (ArithOp::Div, (10, 0), (10, 0), (21, 11)),
        (ArithOp::Div, (38, 20), (38, 20), (38, 6)),
        (ArithOp::Mod, (10, 2), (5, 4), (5, 4)),
    ];
    for (op, a, b, expected) in cases {
        assert_eq!(Decimal::result(op, a, b), expected, "{op:?} {a:?} {b:?}");
    }
}

#[test]
fn conversions() {
    // (value, target, style, expected)
    let cases = [
        ("'123'", "int", 0, "123"),
        ("' -5 '", "int", 0, "-5"),
        ("''", "int", 0, "0"),
        (
            "'1.5'",
            "int",
            0,
            "error 245: Conversion failed when converting the varchar value '1.5' to data type int.",
        ),
        (
            "'abc'",
            "int",
            0,
            "error 245: Conversion failed when converting the varchar value 'abc' to data type int.",
        ),
        (
            "'3000000000'",
            "int",
            0,
            "error 248: The conversion of the varchar value '3000000000' overflowed an int column.",
        ),
        (
            "'300'",
            "tinyint",
            0,
            "error 244: The conversion of the varchar value '300' overflowed an INT1 column. Use a larger integer column.",
        ),
        ("'abc'", "bigint", 0, "error 8114: Error converting data type varchar to bigint."),
        (
            "300",
            "tinyint",
            0,
            "error 220: Arithmetic overflow error for data type tinyint, value = 300.",
        ),
        (
            "3000000000",
            "int",
            0,
            "error 8115: Arithmetic overflow error converting expression to data type int.",
        ),
        ("510000000000::decimal(17,0)", "bigint", 0, "510000000000"),
        ("1.9", "int", 0, "1"),
        ("-1.9", "int", 0, "-1"),
        ("1.5::money", "int", 0, "2"),
        ("1.9::float", "int", 0, "1"),
        (
            "3e9::float",
            "int",
            0,
            "error 232: Arithmetic overflow error for type int, value = 3000000000.000000.",
        ),
        ("1.005", "decimal(5,2)", 0, "1.01"),
        ("-1.005", "decimal(5,2)", 0, "-1.01"),
        (
            "123456",
            "decimal(5,2)",
            0,
            "error 8115: Arithmetic overflow error converting int to data type numeric.",
        ),
        ("'x'", "decimal(5,2)", 0, "error 8114: Error converting data type varchar to numeric."),
        ("0.1::float", "decimal(20,18)", 0, "0.100000000000000006"),
        ("'$1,234.56'", "money", 0, "1234.5600"),
        ("'-$5'", "money", 0, "-5.0000"),
        (
            "'abc'",
            "money",
            0,
            "error 235: Cannot convert a char value to money. The char value has incorrect syntax.",
        ),
        ("'true'", "bit", 0, "1"),
        ("5", "bit", 0, "1"),
        ("'x'", "float", 0, "error 8114: Error converting data type varchar to float."),
        ("'1e3'", "float", 0, "1000"),
        ("12345", "varchar(3)", 0, "*"),
        (
            "12345",
            "nvarchar(3)",
            0,
            "error 8115: Arithmetic overflow error converting expression to data type nvarchar.",
        ),
        (
            "1.25",
            "varchar(3)",
            0,
            "error 8115: Arithmetic overflow error converting numeric to data type varchar.",
        ),
        ("'abcdef'", "varchar(3)", 0, "abc"),
        ("'ab'", "char(4)", 0, "ab  "),
        ("1234567.0::float", "varchar(30)", 0, "1.23457e+006"),
        ("0.1::float", "varchar(30)", 0, "0.1"),
        ("1::float", "varchar(30)", 2, "1.000000000000000e+000"),
        ("1234.5678::money", "varchar(30)", 0, "1234.57"),
        ("1234.5678::money", "varchar(30)", 1, "1,234.57"),
        ("1234.5678::money", "varchar(30)", 2, "1234.5678"),
        ("1", "varbinary(8)", 0, "0x00000001"),
        ("1", "binary(8)", 0, "0x0000000000000001"),
        ("258", "varbinary(1)", 0, "0x02"),
        ("0x0000000000000102::binary(8)", "bigint", 0, "258"),
        ("0xFFFFFFFFFFFFFFFF::binary(8)", "bigint", 0, "-1"),
        ("0x0102030405::varbinary(8)", "smallint", 0, "1029"),
        ("0x414243::varbinary(8)", "varchar(8)", 0, "ABC"),
        ("0x414243::varbinary(8)", "varchar(8)", 1, "0x414243"),
        ("0x414243::varbinary(8)", "varchar(8)", 2, "414243"),
        ("'abc'", "binary(5)", 0, "0x6162630000"),
        ("1.5::decimal(10,1)", "varbinary(20)", 0, "0x0A0100010F000000"),
        (
            "'6F9619FF-8B86-D011-B42D-00C04FC964FF'",
            "uniqueidentifier",
            0,
            "6F9619FF-8B86-D011-B42D-00C04FC964FF",
        ),
        ("'6F9619FF-8B86-D011-B42D-00C04FC964FF'", "binary(3)", 0, "0x364639"),
        (
            "6F9619FF-8B86-D011-B42D-00C04FC964FF::uniqueidentifier",
            "varchar(35)",
            0,
            "error 8170: Insufficient result space to convert uniqueidentifier value to char.",
        ),
        (
            "6F9619FF-8B86-D011-B42D-00C04FC964FF::uniqueidentifier",
            "binary(16)",
            0,
            "0xFF19966F868B11D0B42D00C04FC964FF",
        ),
        (
            "'nope'",
            "uniqueidentifier",
            0,
            "error 8169: Conversion failed when converting from a character string to uniqueidentifier.",
        ),
        // Dates.
        ("'2024-02-29'", "date", 0, "2024-02-29"),
        (
            "'2023-02-29'",
            "date",
            0,
            "error 241: Conversion failed when converting date and/or time from character string.",
        ),
        (
            "'2023-02-29'",
            "datetime",
            0,
            "error 242: The conversion of a varchar data type to a datetime data type resulted in an out-of-range value.",
        ),
        (
            "'1752-12-31'",
            "datetime",
            0,
            "error 242: The conversion of a varchar data type to a datetime data type resulted in an out-of-range value.",
        ),
        (
            "'rubbish'",
            "datetime",
            0,
            "error 241: Conversion failed when converting date and/or time from character string.",
        ),
        ("'20240131 13:45:10.123'", "datetime", 0, "2024-01-31 13:45:10.123"),
        ("'2024-01-31T13:45:10'", "datetime", 0, "2024-01-31 13:45:10.000"),
        ("'1/31/2024 1:45 PM'", "datetime", 0, "2024-01-31 13:45:00.000"),
        ("'31/01/2024'", "datetime", 103, "2024-01-31 00:00:00.000"),
        ("'Jan 31 2024 12:05AM'", "datetime", 0, "2024-01-31 00:05:00.000"),
        ("'31 January 2024'", "datetime", 0, "2024-01-31 00:00:00.000"),
        ("'January 31, 2024 8:00:00'", "datetime", 0, "2024-01-31 08:00:00.000"),
        ("'13:45'", "datetime", 0, "1900-01-01 13:45:00.000"),
        ("'2024-01-31 23:59:59.999'", "datetime", 0, "2024-02-01 00:00:00.000"),
        ("'2024-01-01 00:00:00.004'", "datetime", 0, "2024-01-01 00:00:00.003"),
        ("'2024-01-01 00:00:00.005'", "datetime", 0, "2024-01-01 00:00:00.007"),
        (
            "'2007-05-08 12:35:29.1234567 +12:15'",
            "datetimeoffset",
            0,
            "2007-05-08 12:35:29.1234567 +12:15",
        ),
        ("'2007-05-08 12:35:29.1234567 +12:15'", "datetime2", 0, "2007-05-08 12:35:29.1234567"),
        ("'2007-05-08 12:35:29.123'", "smalldatetime", 0, "2007-05-08 12:35:00"),
        ("'2007-05-08 12:35:30'", "smalldatetime", 0, "2007-05-08 12:36:00"),
        ("'12:34:56.7891'", "time(2)", 0, "12:34:56.79"),
        ("0", "datetime", 0, "1900-01-01 00:00:00.000"),
        ("45000.75", "datetime", 0, "2023-03-17 18:00:00.000"),
        ("2024-01-31 12:00:00::datetime", "int", 0, "45321"),
        ("2024-01-31 11:00:00::datetime", "int", 0, "45320"),
        ("2024-01-31 12:00::datetime", "float", 0, "45320.5"),
        // Styles, datetime to text.
        ("2024-01-02 03:04:05.678::datetime", "varchar(30)", 0, "Jan  2 2024  3:04AM"),
        ("2024-01-02 13:04:05.678::datetime", "varchar(30)", 1, "01/02/24"),
        ("2024-01-02 13:04:05.678::datetime", "varchar(30)", 101, "01/02/2024"),
        ("2024-01-02 13:04:05.678::datetime", "varchar(30)", 104, "02.01.2024"),
        ("2024-01-02 13:04:05.678::datetime", "varchar(30)", 106, "02 Jan 2024"),
        ("2024-01-02 13:04:05.678::datetime", "varchar(30)", 107, "Jan 02, 2024"),
        ("2024-01-02 13:04:05.678::datetime", "varchar(30)", 108, "13:04:05"),
        ("2024-01-02 13:04:05.678::datetime", "varchar(30)", 109, "Jan  2 2024  1:04:05:677PM"),
        ("2024-01-02 13:04:05.678::datetime", "varchar(30)", 112, "20240102"),
        ("2024-01-02 13:04:05.678::datetime", "varchar(30)", 113, "02 Jan 2024 13:04:05:677"),
        ("2024-01-02 13:04:05.678::datetime", "varchar(30)", 114, "13:04:05:677"),
        ("2024-01-02 13:04:05.678::datetime", "varchar(30)", 120, "2024-01-02 13:04:05"),
        ("2024-01-02 13:04:05.678::datetime", "varchar(30)", 121, "2024-01-02 13:04:05.677"),
        ("2024-01-02 13:04:05.678::datetime", "varchar(30)", 126, "2024-01-02T13:04:05.677"),
        ("2024-01-02 13:04:05.678::datetime", "varchar(30)", 127, "2024-01-02T13:04:05.677"),
        (
            "2019-08-23 13:39:17.090::datetime",
            "nvarchar(40)",
            130,
            "22 ذو الحجة 1440  1:39:17:090PM",
        ),
        ("2019-08-23 13:39:17.090::datetime", "varchar(40)", 131, "22/12/1440  1:39:17:090PM"),
        ("2010-06-27::date", "varchar(40)", 131, "16/07/1431"),
        ("2024-01-02::date", "varchar(30)", 0, "2024-01-02"),
        ("2024-01-02::date", "varchar(30)", 100, "Jan  2 2024"),
        (
            "2024-01-02::date",
            "varchar(30)",
            99,
            "error 281: 99 is not a valid style number when converting from date to a character string.",
        ),
        ("2024-01-02 13:04:05.678::datetime", "varchar(10)", 120, "2024-01-02"),
    ];
    for (value, target, style, expected) in cases {
        let (v, from) = val(value);
        let to = ty(target);
        assert_eq!(
            shown(convert::cast(&v, from, to, style), to),
            expected,
            "{value} -> {target}, {style}"
        );
    }
}

#[test]
fn assignment_refuses_what_cast_cuts() {
    let long = Value::str("abcdef");
    let six = SqlType::VarChar(Len::N(6));
    for (to, fits) in
        [("varchar(3)", false), ("char(6)", true), ("nvarchar(5)", false), ("char(5)", false)]
    {
        let got = convert::assign(&long, six, ty(to));
        assert_eq!(got.is_ok(), fits, "{to}");
        if !fits {
            assert_eq!(got.expect_err("cut").number(), 2628);
        }
    }
    // Trailing blanks may go; zeros of a binary too.
    let blanks = Value::str("abc   ");
    assert_eq!(convert::assign(&blanks, six, ty("varchar(3)")), Ok(Value::str("abc")));
    let padded = Value::binary(&[1, 0, 0]);
    assert_eq!(
        convert::assign(&padded, ty("binary(3)"), ty("varbinary(1)")),
        Ok(Value::binary(&[1]))
    );
    assert!(convert::assign(&Value::binary(&[1, 2]), ty("binary(2)"), ty("varbinary(1)")).is_err());
    // A character outside the code page becomes the nearest one or a question mark, in varchar only.
    let greek = Value::str("αβ€");
    assert_eq!(convert::assign(&greek, ty("nvarchar(9)"), ty("varchar(9)")), Ok(Value::str("a?€")));
    assert_eq!(convert::assign(&greek, ty("nvarchar(9)"), ty("nvarchar(9)")), Ok(greek));
}

#[test]
fn implicit_conversion_matrix() {
    let cases = [
        ("int", "varchar(5)", 0),
        ("varchar(5)", "int", 0),
        ("datetime", "int", 257),
        ("int", "datetime", 0),
        ("int", "date", 206),
        ("varchar(5)", "varbinary(5)", 257),
        ("varbinary(5)", "varchar(5)", 0),
        ("uniqueidentifier", "int", 206),
        ("date", "time", 206),
        ("date", "datetime", 0),
        ("varbinary(8)", "float", 206),
        ("datetime", "varchar(30)", 0),
    ];
    for (from, to, expected) in cases {
        let got = convert::check_implicit(ty(from), ty(to)).map_or_else(|e| e.number(), |()| 0);
        assert_eq!(got, expected, "{from} -> {to}");
    }
    let refused = convert::check_explicit(ty("int"), ty("date")).expect_err("refused");
    assert_eq!(
        refused.to_string(),
        "Explicit conversion from data type int to date is not allowed."
    );
}

#[test]
fn common_types() {
    let cases = [
        ("int", "bigint", "bigint"),
        ("varchar(5)", "char(9)", "varchar(9)"),
        ("char(5)", "char(9)", "char(9)"),
        ("varchar(5)", "nvarchar(3)", "nvarchar(5)"),
        ("varchar(5)", "varchar(max)", "varchar(max)"),
        ("decimal(10,2)", "decimal(8,4)", "decimal(12,4)"),
        ("int", "decimal(5,2)", "decimal(12,2)"),
        ("decimal(5,2)", "float", "float"),
        ("int", "varchar(5)", "int"),
        ("datetime", "varchar(5)", "datetime"),
        ("datetime", "date", "datetime"),
        ("datetime2(0)", "datetime", "datetime2(3)"),
        ("money", "int", "money"),
    ];
    for (a, b, expected) in cases {
        for (a, b) in [(a, b), (b, a)] {
            let got = SqlType::common_type(ty(a), ty(b)).map(|t| t.to_string());
            assert_eq!(got.as_deref(), Ok(expected), "{a}, {b}");
        }
    }
    assert_eq!(
        SqlType::common_type(ty("uniqueidentifier"), ty("int")).map_err(|e| e.number()),
        Err(206)
    );
}

#[test]
fn comparison() {
    // In rising order; neighbours joined by = are equal.
    let chains = [
        "'' < ' '=' ' < '-' < '0' < '9' < 'a'='A'='a  ' < 'ab' < 'AC' < 'b'",
        "'cafe'='CAFE' < 'café'='CAFÉ' < 'caff'",
        "'a' < 'à'='À' < 'æ' < 'b' < 'o' < 'ö'='Ö' < 'œ' < 'p' < 'ż'='Ż'",
        "-1 < 0=0.00 < 1=1.0=1::float=1::money < 1.5=1.5::real < 3000000000",
        "0x::varbinary(9)=0x00::varbinary(9) < 0x01::varbinary(9)=0x0100::varbinary(9) < 0x0101::varbinary(9) < 0x02::varbinary(9)",
        "2024-01-01::date=2024-01-01::datetime < 2024-01-01 00:00:01::datetime2 < 2024-01-02::date",
        "2024-01-01 10:00 +02:00::datetimeoffset=2024-01-01 08:00 +00:00::datetimeoffset < 2024-01-01 09:00 +00:00::datetimeoffset",
        // The last group of a uniqueidentifier weighs most.
        "FFFFFFFF-FFFF-FFFF-FFFF-000000000000::uniqueidentifier < 00000000-0000-0000-0000-000000000001::uniqueidentifier",
    ];
    for chain in chains {
        let mut all: Vec<(usize, Value)> = Vec::new();
        for (rank, group) in chain.split(" < ").enumerate() {
            all.extend(group.split('=').filter(|t| *t != "''").map(|t| (rank, val(t).0)));
        }
        for (i, a) in &all {
            for (j, b) in &all {
                assert_eq!(compare::compare(a, b), Some(i.cmp(j)), "{a:?} {b:?}");
            }
        }
    }
    assert_eq!(compare::compare(&Value::Null, &Value::Null), None);
    assert_eq!(compare::sort_order(&Value::Null, &Value::Int(-5)), Ordering::Less);
}

#[test]
fn like() {
    let cases = [
        ("abc", "abc", true),
        ("ABC", "a%", true),
        ("abc", "%c", true),
        ("abc", "a_c", true),
        ("abc", "a_", false),
        ("abc  ", "abc", true),
        ("abc", "abc ", false),
        ("", "%", true),
        ("", "_", false),
        ("Carsen", "%arsen", true),
        ("Karsen", "[CK]ars[eo]n", true),
        ("Marson", "[CK]ars[eo]n", false),
        ("Parsen", "[^c-f]%", true),
        ("Darsen", "[^c-f]%", false),
        ("5%", "5[%]", true),
        ("50", "5[%]", false),
        ("a_b", "a[_]b", true),
        ("x]y", "x]y", true),
        ("[z]", "[[]z]", true),
        ("a-b", "a[-x]b", true),
        ("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "%a%a%a%a%a%a%c", false),
        ("É", "é", true),
        ("E", "é", false),
    ];
    for (text, pattern, expected) in cases {
        let got = Pattern::new(pattern, None).map(|p| p.matches(text));
        assert_eq!(got, Ok(expected), "'{text}' LIKE '{pattern}'");
    }
    let escaped = Pattern::new("10!%", Some("!")).expect("pattern");
    assert!(escaped.matches("10%") && !escaped.matches("100"));
    assert_eq!(Pattern::new("a", Some("ab")).map(|_| ()).map_err(|e| e.number()), Err(506));
    assert_eq!(Pattern::new("%ter%", None).map(|p| p.find("interesting")), Ok(3));
    assert_eq!(Pattern::new("ter%", None).map(|p| p.find("interesting")), Ok(0));
}

#[test]
fn dates() {
    let add = |part: &str, n: i64, value: &str| {
        let (v, from) = val(value);
        let part = DatePart::parse(part).expect("part");
        let to = if from.is_temporal() { from } else { SqlType::DateTime };
        shown(datetime::dateadd(part, n, &v, from), to)
    };
    let cases = [
        ("month", 1, "2024-01-31::datetime", "2024-02-29 00:00:00.000"),
        ("yy", 1, "2024-02-29::date", "2025-02-28"),
        ("day", -1, "2024-03-01::date", "2024-02-29"),
        ("hour", 25, "2024-03-01::datetime", "2024-03-02 01:00:00.000"),
        ("ms", 1, "2024-03-01::datetime", "2024-03-01 00:00:00.000"),
        ("ms", 2, "2024-03-01::datetime", "2024-03-01 00:00:00.003"),
        ("ms", 1, "2024-03-01::datetime2", "2024-03-01 00:00:00.0010000"),
        ("ns", 150, "2024-03-01::datetime2", "2024-03-01 00:00:00.0000002"),
        ("week", 2, "'2024-03-01'", "2024-03-15 00:00:00.000"),
        ("quarter", -1, "2024-03-31::datetime", "2023-12-31 00:00:00.000"),
        ("minute", 61, "23:30::time(0)", "00:31:00"),
        (
            "hour",
            1,
            "2024-03-01::date",
            "error 9810: The datepart hour is not supported by date function dateadd for data type date.",
        ),
        (
            "year",
            8000,
            "2024-03-01::datetime",
            "error 517: Adding a value to a 'datetime' column caused an overflow.",
        ),
    ];
    for (part, n, value, expected) in cases {
        assert_eq!(add(part, n, value), expected, "DATEADD({part}, {n}, {value})");
    }
    let cases = [
        // The documentation's: one tick apart, one boundary of every part.
        ("year", "2005-12-31 23:59:59.9999999", "2006-01-01 00:00:00.0000000", 1),
        ("quarter", "2005-12-31 23:59:59.9999999", "2006-01-01 00:00:00.0000000", 1),
        ("month", "2005-12-31 23:59:59.9999999", "2006-01-01 00:00:00.0000000", 1),
        ("dayofyear", "2005-12-31 23:59:59.9999999", "2006-01-01 00:00:00.0000000", 1),
        ("week", "2005-12-31 23:59:59.9999999", "2006-01-01 00:00:00.0000000", 1),
        ("hour", "2005-12-31 23:59:59.9999999", "2006-01-01 00:00:00.0000000", 1),
        ("minute", "2005-12-31 23:59:59.9999999", "2006-01-01 00:00:00.0000000", 1),
        ("second", "2005-12-31 23:59:59.9999999", "2006-01-01 00:00:00.0000000", 1),
        ("millisecond", "2005-12-31 23:59:59.9999999", "2006-01-01 00:00:00.0000000", 1),
        ("microsecond", "2005-12-31 23:59:59.9999999", "2006-01-01 00:00:00.0000000", 1),
        ("day", "2024-03-01", "2024-02-28", -2),
        ("second", "2024-02-28", "2024-02-29", 86400),
    ];
    for (part, a, b, expected) in cases {
        let part = DatePart::parse(part).expect("part");
        let got = datetime::datediff(part, &Value::str(a), &Value::str(b));
        assert_eq!(got, Ok(Value::Int(expected)), "{part:?} {a} {b}");
    }
    let far = datetime::datediff(
        DatePart::Millisecond,
        &Value::str("1900-01-01"),
        &Value::str("2024-01-01"),
    );
    assert_eq!(far.map_err(|e| e.number()), Err(535));
    let cases = [
        // The documentation's instant: 2007-10-30 12:15:32.1234567 +05:10.
        ("year", 2007),
        ("quarter", 4),
        ("month", 10),
        ("dayofyear", 303),
        ("day", 30),
        ("week", 44),
        ("weekday", 3),
        ("hour", 12),
        ("minute", 15),
        ("second", 32),
        ("millisecond", 123),
        ("microsecond", 123456),
        ("nanosecond", 123456700),
        ("tzoffset", 310),
        ("iso_week", 44),
    ];
    let (instant, _) = val("2007-10-30 12:15:32.1234567 +05:10::datetimeoffset");
    for (part, expected) in cases {
        let part = DatePart::parse(part).expect("part");
        assert_eq!(datetime::datepart(part, &instant), Ok(Value::Int(expected)), "{part:?}");
    }
    assert_eq!(datetime::datename(DatePart::Weekday, &instant, 0), Ok(Value::str("Tuesday")));
    assert_eq!(datetime::datename(DatePart::Month, &instant, 0), Ok(Value::str("October")));
    assert_eq!(datetime::datename(DatePart::Month, &instant, 1), Ok(Value::str("Oktober")));
    assert_eq!(datetime::datename(DatePart::TzOffset, &instant, 0), Ok(Value::str("+05:10")));
}

#[test]
fn every_day_of_the_calendar() {
    let mut expected = (1, 1, 1);
    for days in 0..=datetime::DAYS_MAX {
        let (y, m, d) = datetime::civil_from_days(days);
        assert_eq!((y, m, d), expected);
        assert_eq!(datetime::days_from_civil(y, m, d), days);
        expected = if d < datetime::days_in_month(y, m) {
            (y, m, d + 1)
        } else if m < 12 {
            (y, m + 1, 1)
        } else {
            (y + 1, 1, 1)
        };
    }
    assert_eq!(expected, (10_000, 1, 1));
    assert_eq!(datetime::days_from_civil(1900, 1, 1), datetime::DAYS_TO_1900);
}

#[test]
fn wall_clock() {
    // 2024-01-31T13:45:10.123456789Z
    let ns = 1_706_708_710_123_456_789;
    let shell = |v: Value, t: &str| format::shell(&v, ty(t));
    assert_eq!(
        shell(Value::DateTime(datetime::datetime_from_unix_ns(ns)), "datetime"),
        "2024-01-31 13:45:10.123"
    );
    assert_eq!(
        shell(Value::DateTime2(datetime::datetime2_from_unix_ns(ns)), "datetime2"),
        "2024-01-31 13:45:10.1234567"
    );
    // The last instants of a day round into the next.
    let last = datetime::datetime_from_unix_ns(86_400_000_000_000 - 1);
    assert_eq!(shell(Value::DateTime(last), "datetime"), "1970-01-02 00:00:00.000");
}
