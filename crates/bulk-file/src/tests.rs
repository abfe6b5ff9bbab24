//! Rows out of files in memory, whole and cut at any place.

use crate::*;
use device::{FileSystem, OpenOptions, SimFs};
use std::path::Path;
use telemetry::WaitType;
use types::{SqlType, Value};

fn window(bytes: &[u8]) -> Window {
    let fs = SimFs::new(1);
    let file = fs.open(Path::new("/f"), OpenOptions::create()).expect("a file");
    if !bytes.is_empty() {
        file.write_all_at(0, bytes, false, WaitType::IoCompletion).expect("written");
    }
    Window::new(file).expect("a window")
}

fn text(terminator: &str) -> Field {
    let is_line = terminator.ends_with('\n');
    let terminator = terminator.as_bytes().to_vec();
    Field { storage: Storage::Char, prefix: 0, length: 0, terminator, is_line, max: 8000 }
}

fn fields(n: usize) -> Vec<Field> {
    (1..=n).map(|i| text(if i == n { "\n" } else { "," })).collect()
}

/// The rows as text, and what ended them.
fn read(bytes: &[u8], fields: Vec<Field>, csv: Option<Csv>) -> (Vec<String>, String) {
    let mut rows = Rows::new(window(bytes), fields, csv);
    let (mut row, mut out) = (Row::default(), Vec::new());
    let end = loop {
        match rows.next(&mut row) {
            Ok(Step::Row) => {
                let field = |i| row.field(i).map(String::from_utf8_lossy);
                let cells = (0..rows.fields().len()).map(|i| field(i).unwrap_or("NULL".into()));
                out.push(cells.collect::<Vec<_>>().join("|"));
            }
            Ok(Step::End) => break String::new(),
            Err(error) => break format!("{error:?}"),
        }
    };
    (out, end)
}

fn csv() -> Option<Csv> {
    Some(Csv { quote: b"\"".to_vec(), escape: None, unit: 1 })
}

#[test]
fn a_terminator_that_ends_a_line_may_have_a_return_in_it() {
    let two = || vec![text("+|"), text("&|\n")];
    let (rows, end) = read(b"1+|a&|\r\n2+|b\r&|\n3+|c&|\rd&|\n", two(), None);
    assert_eq!((rows, end.as_str()), (vec!["1|a".into(), "2|b\r".into(), "3|c&|\rd".into()], ""));
}

#[test]
fn fields_end_at_their_terminators() {
    let (rows, end) = read(b"1,a\n2,b,c\r\n3,d", fields(2), None);
    assert_eq!((rows, end.as_str()), (vec!["1|a".into(), "2|b,c".into(), "3|d".into()], ""));
    // A last field that is empty is no row; a row that has no last field ends too soon.
    assert_eq!(read(b"1,a\n2,", fields(2), None), (vec!["1|a".into()], String::new()));
    let (rows, end) = read(b"1,a\n2", fields(2), None);
    assert_eq!((rows.len(), end.as_str()), (1, "UnexpectedEnd"));
}

#[test]
fn terminators_may_be_long_and_rows_longer_than_a_chunk() {
    let long = "x".repeat(300_000);
    let mut wide = fields(2);
    wide.iter_mut().for_each(|f| f.max = 1 << 20);
    wide[0].terminator = b"<|>".to_vec();
    let file = format!("1<<|>{long}\n{long}<|>2\n");
    let (rows, end) = read(file.as_bytes(), wide, None);
    assert_eq!((rows, end), (vec![format!("1<|{long}"), format!("{long}|2")], String::new()));
    let (rows, end) = read(file.as_bytes(), fields(2), None);
    assert_eq!((rows.len(), end.as_str()), (0, "TooLong { field: 1 }"));
}

#[test]
fn utf16_is_searched_by_characters() {
    let of = |s: &str| -> Vec<u8> { s.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    // U+0A00 and U+2C0A have the bytes of a line feed and a comma where characters do not begin.
    let bytes = of("\u{2c0a}\u{0a00},b\r\nc,d\n");
    let wide = |mark: &str| Field { storage: Storage::Wide, terminator: of(mark), ..text(mark) };
    let mut rows = Rows::new(window(&bytes), vec![wide(","), wide("\n")], None);
    let mut row = Row::default();
    assert_eq!(rows.next(&mut row).expect("a row"), Step::Row);
    let value = |i| Storage::Wide.value(row.field(i).expect("a field"), CodePage::Latin1);
    assert_eq!((value(0), value(1)), (Ok(Value::str("\u{2c0a}\u{0a00}")), Ok(Value::str("b"))));
}

#[test]
fn csv_has_quotes() {
    let (rows, end) = read(b"1,\"a,\"\"b\"\"\nc\"\r\n2,\n3,\"\"\n4,x", fields(2), csv());
    let expected = ["1|a,\"b\"\nc", "2|", "3|", "4|x"].map(String::from).to_vec();
    assert_eq!((rows, end.as_str()), (expected, ""));
    for (file, end) in [
        (&b"1,a,b\n"[..], "BadCsv { field: 2 }"),
        (b"1\n", "BadCsv { field: 1 }"),
        (b"1,a\"b\n", "BadCsv { field: 2 }"),
        (b"1,\"a\"b\n", "BadCsv { field: 2 }"),
        (b"1,\"a", "BadCsv { field: 2 }"),
        (b"1", "UnexpectedEnd"),
    ] {
        assert_eq!(read(file, fields(2), csv()), (Vec::new(), end.to_owned()));
    }
    let escape = Some(Csv { escape: Some(b"\\".to_vec()), ..csv().expect("one") });
    assert_eq!(read(b"\\,\\\\,b\\\n\n", fields(2), escape).0, vec![",\\|b\n"]);
}

#[test]
fn native_fields_have_prefixes() {
    let native = |ty, nullable| {
        let (prefix, length) = native_prefix(ty, nullable);
        let storage = Storage::of(ty, false).expect("a native type");
        Field { storage, prefix, length, ..text("") }
    };
    let types = [
        (SqlType::Int, false),
        (SqlType::Int, true),
        (SqlType::VarChar(types::Len::N(10)), true),
        (SqlType::decimal(5, 2), true),
        (SqlType::Money, false),
    ];
    let mut bytes = vec![7, 0, 0, 0, 0xff, 2, 0, b'a', b'b', 19, 5, 2, 0, 0x96, 0];
    bytes.extend([0; 14]);
    bytes.extend([0xff; 4]);
    bytes.extend([0xf0, 0xd8, 0xff, 0xff]);
    let fields = types.map(|(ty, nullable)| native(ty, nullable)).to_vec();
    let mut rows = Rows::new(window(&bytes), fields, None);
    let mut row = Row::default();
    assert_eq!(rows.next(&mut row).expect("a row"), Step::Row);
    let value = |i: usize| match row.field(i) {
        None => Value::Null,
        Some(bytes) => {
            let storage = Storage::of(types[i].0, false).expect("a native type");
            storage.prefixed(bytes, CodePage::Latin1).expect("a value")
        }
    };
    assert_eq!(value(0), Value::Int(7));
    assert_eq!(value(1), Value::Null);
    assert_eq!(value(2), Value::str("ab"));
    assert_eq!(value(3), Value::Decimal(types::Decimal::new(-150, 5, 2).expect("a decimal")));
    assert_eq!(value(4), Value::Money(-10_000));
    assert_eq!(rows.next(&mut row).expect("the end"), Step::End);
    // Any cut is an end that was not expected, and never a panic.
    for cut in 1..bytes.len() {
        let fields = types.map(|(ty, nullable)| native(ty, nullable)).to_vec();
        let (rows, end) = read(&bytes[..cut], fields, None);
        assert_eq!((rows.len(), end.as_str()), (0, "UnexpectedEnd"), "cut at {cut}");
    }
}

#[test]
fn format_files_describe_fields() {
    let text = "14.0\n2\n1 SQLCHAR 0 7 \",\" 2 Name SQL_Latin1_General_CP1_CI_AS\n2  SQLINT 1 4 \"\\r\\n\"  0 \"Last one\" \"\"\n";
    let fields = read_format(text, 100).expect("a format");
    assert_eq!((fields[0].1, fields[1].1), (2, 0));
    assert_eq!((fields[0].0.storage, &fields[0].0.terminator[..]), (Storage::Char, &b","[..]));
    assert_eq!((fields[1].0.prefix, &fields[1].0.terminator[..]), (1, &b"\r\n"[..]));
    let line = |line: &str| read_format(&format!("9.0\n1\n{line}\n"), 100).map(drop);
    for (format, error) in [
        ("2 SQLCHAR 0 7 \",\" 1 a \"\"", FormatError::Number),
        ("1 SQLWHAT 0 7 \",\" 1 a \"\"", FormatError::Type(1)),
        ("1 SQLCHAR 3 7 \",\" 1 a \"\"", FormatError::Prefix(1)),
        ("1 SQLCHAR 0 x \",\" 1 a \"\"", FormatError::Length(1)),
        ("1 SQLCHAR 0 7 , 1 a \"\"", FormatError::Terminator(1)),
        ("1 SQLCHAR 0 7 \",\" x a \"\"", FormatError::Column(1)),
        ("1 SQLCHAR 0 7 \",\" 1", FormatError::Name(1)),
        ("1 SQLCHAR 0 0 \"\" 1 a \"\"", FormatError::Endless(1)),
    ] {
        assert_eq!(line(format), Err(error), "{format}");
    }
    assert_eq!(read_format("x\n", 1), Err(FormatError::Version));
    assert_eq!(read_format("9.0\nmany\n", 1), Err(FormatError::NoCount));
    assert_eq!(read_format("9.0\n2\n1 SQLCHAR 0 7 \",\" 1 a \"\"\n", 1), Err(FormatError::Count));
}

#[test]
fn terminators_have_escapes() {
    assert_eq!(terminator("\\t|\\n", false), Some(b"\t|\n".to_vec()));
    assert_eq!(terminator("0x0D0A", false), Some(b"\r\n".to_vec()));
    assert_eq!(terminator("0x0a", true), Some(b"\n\0".to_vec()));
    assert_eq!(terminator(",", true), Some(b",\0".to_vec()));
    assert_eq!(terminator("0xzz", false), None);
}
