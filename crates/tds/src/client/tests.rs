//! What a server writes, a client reads.

use super::*;
use crate::login7::{Login7, Password};
use crate::prelogin::{Encryption, Prelogin, PreloginReply};
use crate::rpc::{Rpc, RpcMessage, RpcName, RpcParameter, RpcValue};
use crate::tests::samples;
use crate::*;
use types::{Len, SqlType, Value};

const LATIN1: Collation = Collation::LATIN1_GENERAL;

/// All tokens of an answer, rows in place, read `step` bytes at a time.
fn tokens(wire: &[u8], step: usize) -> Vec<(Token, Vec<Value>)> {
    let mut framer = Framer::new();
    framer.set_phase(Phase::Client, 0);
    let mut reader = TokenReader::new(1 << 20);
    let mut found = Vec::new();
    for part in wire.chunks(step) {
        framer.push(part);
        while let Some(frame) = framer.next().unwrap() {
            let Frame::Reply { data, last } = frame else { panic!("{frame:?}") };
            reader.push(data, last);
            while let Some(token) = reader.next().unwrap() {
                let row = if token == Token::Row { reader.row().to_vec() } else { vec![] };
                found.push((token, row));
            }
            assert_eq!(reader.is_at_end(), last);
        }
    }
    found
}

fn message(class: u8, text: &str) -> Message<'_> {
    Message { number: 50_000, state: 1, class, text, server: "s", procedure: "p", line: 70_000 }
}

fn done(kind: DoneKind, status: DoneStatus, command: u16, rows: u64) -> Done {
    Done { kind, status, command, rows }
}

#[test]
fn every_token_is_read_back() {
    let mut writer = TokenWriter::new(51);
    writer.env_change(&EnvChange::Database { new: "db", old: "master" });
    writer.env_change(&EnvChange::Language { new: "us_english", old: "" });
    writer.env_change(&EnvChange::CharacterSet { new: "iso_1", old: "" });
    writer.env_change(&EnvChange::PacketSize { new: 8000, old: 4096 });
    writer.env_change(&EnvChange::Collation { new: LATIN1, old: None });
    writer.env_change(&EnvChange::BeginTransaction(0x33_0000_0001));
    writer.env_change(&EnvChange::CommitTransaction(0x33_0000_0001));
    writer.env_change(&EnvChange::RollbackTransaction(u64::MAX));
    writer.env_change(&EnvChange::ResetConnection);
    writer.message(&message(0, "hello 🐎"));
    writer.message(&message(16, ""));
    writer.login_ack("Millrace", (16, 0, 1000));
    writer.feature_ext_ack(&[(0x0A, &[1])]);
    writer.return_status(-6);
    writer.order(&[1, 3]);
    let value = Value::str("out");
    let (ordinal, name, ty) = (2, "@out", SqlType::VarChar(Len::N(10)));
    let function_result = false;
    writer
        .return_value(&ReturnValue { ordinal, name, function_result, ty, value: &value })
        .unwrap();
    writer.done(done(DoneKind::InProc, DoneStatus::COUNT, 0xC1, 5));
    writer.done(done(DoneKind::Proc, DoneStatus::ERROR, 0xE0, 0));
    writer.finish();
    let wire = writer.take_full_packets();
    let text = |class, text: &str| {
        let (server, procedure) = ("s".into(), "p".into());
        let (number, state, line) = (50_000, 1, 70_000);
        let text = text.into();
        Token::Message(ServerMessage { number, state, class, text, server, procedure, line })
    };
    let expected = [
        Token::Change(Change::Database("db".into())),
        Token::Change(Change::Language("us_english".into())),
        Token::Change(Change::CharacterSet("iso_1".into())),
        Token::Change(Change::PacketSize(8000)),
        Token::Change(Change::Collation(LATIN1)),
        Token::Change(Change::BeginTransaction(0x33_0000_0001)),
        Token::Change(Change::CommitTransaction(0x33_0000_0001)),
        Token::Change(Change::RollbackTransaction(u64::MAX)),
        Token::Change(Change::ResetConnection),
        text(0, "hello 🐎"),
        text(16, ""),
        Token::LoginAck(LoginAck {
            tds_version: 0x7400_0004,
            program: "Millrace".into(),
            version: (16, 0, 1000),
        }),
        Token::FeatureExtAck(vec![(0x0A, vec![1])]),
        Token::ReturnStatus(-6),
        Token::Order(vec![1, 3]),
        Token::ReturnValue(ReturnedValue {
            ordinal,
            name: name.into(),
            function_result,
            ty,
            value,
        }),
        Token::Done(done(DoneKind::InProc, DoneStatus::COUNT | DoneStatus::MORE, 0xC1, 5)),
        Token::Done(done(DoneKind::Proc, DoneStatus::ERROR, 0xE0, 0)),
    ];
    for step in [1, 5, 100_000] {
        let found: Vec<Token> = tokens(&wire, step).into_iter().map(|(token, _)| token).collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn every_type_in_rows() {
    let samples = samples();
    let names: Vec<String> = samples.iter().map(|(ty, _)| ty.to_string()).collect();
    for version in [Version::V7_3A, Version::V7_4] {
        for size in [512, 4096, 32_767] {
            let mut writer = TokenWriter::new(51);
            writer.set_version(version);
            writer.set_packet_size(size);
            writer
                .columns(samples.iter().zip(&names).map(|((ty, _), name)| Column::new(name, *ty)));
            let nulls = vec![Value::Null; samples.len()];
            let mut rows = vec![nulls.clone()];
            for (i, (_, values)) in samples.iter().enumerate() {
                // Alone among NULLs, which goes as NBCROW; and all together.
                for value in values {
                    let mut row = nulls.clone();
                    row[i] = value.clone();
                    rows.push(row);
                }
            }
            rows.push(samples.iter().map(|(_, values)| values[0].clone()).collect());
            for row in &rows {
                writer.row(row).unwrap();
            }
            let count = done(DoneKind::Done, DoneStatus::COUNT, 0xC1, rows.len() as u64);
            writer.done(count);
            writer.finish();
            let wire = writer.take_full_packets();
            let found = tokens(&wire, 1000);
            let Token::Columns(columns) = &found[0].0 else { panic!("{:?}", found[0]) };
            for ((column, (ty, _)), name) in columns.iter().zip(&samples).zip(&names) {
                assert_eq!((column.ty, &column.name), (*ty, name));
                assert!(column.nullable && !column.identity);
            }
            for ((token, values), row) in found[1..].iter().zip(&rows) {
                assert_eq!((token, values), (&Token::Row, row));
            }
            assert_eq!(found.len(), rows.len() + 2);
            assert_eq!(found.last().unwrap().0, Token::Done(count));
        }
    }
}

/// NOT NULL columns: the fixed-length form where the type has one (INT4, not INTN), without a byte of length in rows.
/// text, ntext and image: with the name of their table, behind a text pointer, NULL without one.
#[test]
fn old_long_types_go_behind_a_text_pointer() {
    let table = ["dbo".to_owned(), "t".to_owned()];
    let types = [
        (SqlType::VarChar(Len::Max), Value::str("née"), 0x23, "n\u{e9}e".chars().count()),
        (SqlType::NVarChar(Len::Max), Value::str("漢🐎"), 0x63, 6),
        (SqlType::VarBinary(Len::Max), Value::binary(&[0, 255, 7]), 0x22, 3),
    ];
    for (ty, value, token, length) in types {
        for named in [&table[..], &[]] {
            let mut writer = TokenWriter::new(51);
            writer.columns([
                Column::new("id", SqlType::Int),
                Column { long: Some(named), ..Column::new("v", ty) },
            ]);
            let rows = [
                vec![Value::Int(1), value.clone()],
                vec![Value::Int(2), Value::Null],
                vec![Value::Null, Value::Null],
                vec![
                    Value::Int(3),
                    if token == 0x22 { Value::binary(&[]) } else { Value::str("") },
                ],
            ];
            rows.iter().for_each(|row| writer.row(row).unwrap());
            // A value of another kind leaves nothing behind.
            assert!(writer.row(&[Value::Int(4), Value::Int(4)]).is_err());
            writer.done(done(DoneKind::Done, DoneStatus::COUNT, 0xC1, rows.len() as u64));
            writer.finish();
            let wire = writer.take_full_packets();
            let has = |part: &[u8]| wire.windows(part.len()).any(|window| window == part);
            let max: u32 = if token == 0x63 { 0x7FFF_FFFE } else { 0x7FFF_FFFF };
            let mut info = vec![token];
            info.extend_from_slice(&max.to_le_bytes());
            if token != 0x22 {
                info.extend_from_slice(&LATIN1.0);
            }
            match named {
                [] => info.extend_from_slice(&[1, 0, 0]),
                _ => info.extend_from_slice(&[2, 3, 0, b'd', 0, b'b', 0, b'o', 0, 1, 0, b't', 0]),
            }
            assert!(has(&info), "{ty}: {wire:x?}");
            let mut sent = vec![0x10];
            sent.extend_from_slice(b"dummy textptr\0\0\0dummyTS\0");
            sent.extend_from_slice(&(length as u32).to_le_bytes());
            assert!(has(&sent), "{ty}: {wire:x?}");
            let found = tokens(&wire, 7);
            let Token::Columns(columns) = &found[0].0 else { panic!("{:?}", found[0]) };
            assert_eq!((columns[1].ty, &*columns[1].name), (ty, "v"));
            let read: Vec<_> = found[1..=rows.len()].iter().map(|(_, row)| row.clone()).collect();
            assert_eq!(read, rows);
        }
    }
}

#[test]
fn not_null_columns_go_in_their_fixed_form() {
    let samples = samples();
    let mut writer = TokenWriter::new(51).unguarded();
    let not_null = |ty| Column { nullable: false, ..Column::new("", ty) };
    writer.columns(samples.iter().map(|(ty, _)| not_null(*ty)));
    let most = samples.iter().map(|(_, values)| values.len()).max().unwrap();
    let row = |i: usize| -> Vec<Value> {
        samples.iter().map(|(_, values)| values[i % values.len()].clone()).collect()
    };
    let mut rows: Vec<Vec<Value>> = (0..most).map(row).collect();
    // A NULL that should not be there still reaches the client, in the bitmap.
    rows[0][3] = Value::Null;
    rows.iter().for_each(|row| writer.row(row).unwrap());
    writer.finish();
    let found = tokens(&writer.take_full_packets(), 700);
    let Token::Columns(columns) = &found[0].0 else { panic!("{:?}", found[0]) };
    for (column, (ty, _)) in columns.iter().zip(&samples) {
        assert!(column.ty == *ty && !column.nullable);
    }
    let read: Vec<&Vec<Value>> =
        found.iter().filter(|(t, _)| *t == Token::Row).map(|(_, row)| row).collect();
    assert_eq!(read, rows.iter().collect::<Vec<_>>());

    // Byte for byte: int NOT NULL, int NULL, bit NOT NULL, and a smallint that becomes a real.
    let mut writer = TokenWriter::new(51).unguarded();
    let (int, bit, real) = (SqlType::Int, SqlType::Bit, SqlType::Real);
    writer.columns([not_null(int), Column::new("", int), not_null(bit), not_null(real)]);
    writer.row(&[Value::Int(7), Value::Int(8), Value::Bit(true), Value::SmallInt(1)]).unwrap();
    writer.finish();
    let wire = writer.take_full_packets();
    let types = [&wire[17..18], &wire[25..27], &wire[34..35], &wire[42..43]];
    assert_eq!(types, [&[0x38][..], &[0x26, 4], &[0x32], &[0x3B]]);
    assert_eq!(wire[44..59], [0xD1, 7, 0, 0, 0, 4, 8, 0, 0, 0, 1, 0, 0, 0x80, 0x3F]);
    // Before TDS 7.3B there is no bitmap: an error, and no trace.
    let mut writer = TokenWriter::new(51).unguarded();
    writer.set_version(Version::V7_2);
    writer.columns([not_null(int)]);
    assert!(writer.row(&[Value::Null]).is_err());
    writer.row(&[Value::Int(1)]).unwrap();
    writer.finish();
    assert_eq!(tokens(&writer.take_full_packets(), 700)[1].1, [Value::Int(1)]);
}

/// Random rows, written in random packets and read in random pieces.
#[test]
fn random_rows_survive_random_packets() {
    let mut random = stdx::Prng::new(5);
    let samples = samples();
    for _ in 0..300 {
        let picks: Vec<&(SqlType, Vec<Value>)> = (0..=random.below(20))
            .map(|_| &samples[random.below(samples.len() as u64) as usize])
            .collect();
        let mut writer = TokenWriter::new(51);
        writer.set_packet_size(512 + random.below(3000) as u16);
        writer.columns(picks.iter().map(|(ty, _)| Column::new("", *ty)));
        let mut wire = Vec::new();
        let mut rows = Vec::new();
        for _ in 0..random.below(20) {
            let row: Vec<Value> = picks
                .iter()
                .map(|(_, values)| match random.below(values.len() as u64 + 2) as usize {
                    i if i < values.len() => values[i].clone(),
                    _ => Value::Null,
                })
                .collect();
            writer.row(&row).unwrap();
            rows.push(row);
            let part = random.below(writer.ready().len() as u64 + 1) as usize;
            wire.extend_from_slice(&writer.ready()[..part]);
            writer.consume(part);
            if random.one_in(4) {
                writer.flush();
            }
        }
        writer.finish();
        wire.extend(writer.take_full_packets());
        let found = tokens(&wire, 1 + random.below(5000) as usize);
        let read: Vec<&Vec<Value>> =
            found.iter().filter(|(t, _)| *t == Token::Row).map(|(_, row)| row).collect();
        assert_eq!(read, rows.iter().collect::<Vec<_>>());
    }
}

#[test]
fn an_old_client_gets_dates_as_text() {
    let mut writer = TokenWriter::new(51);
    writer.set_version(Version::V7_2);
    let types =
        [SqlType::Date, SqlType::Time(3), SqlType::DateTime2(0), SqlType::DateTimeOffset(7)];
    let utc = types::DateTime2 { days: 739_940, ticks: 476_556_780_000 };
    let offset = types::DateTimeOffset { utc, offset_minutes: 60 };
    writer.columns(types.iter().map(|ty| Column::new("", *ty)));
    let row = [
        Value::Date(739_940),
        Value::Time(476_556_780_000),
        Value::DateTime2(types::DateTime2 { ticks: 476_550_000_000, ..utc }),
        Value::DateTimeOffset(offset),
    ];
    writer.row(&row).unwrap();
    writer.row(&[Value::Null, Value::Null, Value::Null, Value::Null]).unwrap();
    writer.finish();
    let wire = writer.take_full_packets();
    let found = tokens(&wire, 1 << 20);
    let texts: Vec<&str> = found[1].1.iter().map(|v| v.as_str().unwrap()).collect();
    assert_eq!(
        texts,
        ["2026-11-21", "13:14:15.678", "2026-11-21 13:14:15", "2026-11-21 14:14:15.6780000 +01:00"]
    );
    assert_eq!(found[2].1, vec![Value::Null; 4]);
}

/// A client that logs in and calls, and a server that answers, with nothing between them but bytes.
#[test]
fn a_conversation() {
    let (mut requests, mut server) = (RequestWriter::new(), Framer::new());
    let mut writer = TokenWriter::new(51);
    let prelogin = Prelogin {
        version: [0; 6],
        encryption: Encryption::NotSupported,
        instance: String::new(),
        thread_id: None,
        mars: false,
        trace_id: None,
        fed_auth_required: None,
        nonce: None,
    };
    requests.prelogin(&prelogin);
    server.push(&requests.take());
    let Some(Frame::Message { kind: PacketType::Prelogin, data, .. }) = server.next().unwrap()
    else {
        panic!("no prelogin")
    };
    assert_eq!(Prelogin::decode(data).unwrap().encryption, Encryption::NotSupported);
    writer.prelogin(&PreloginReply {
        mars: false,
        version: (16, 0, 1000),
        encryption: Encryption::NotSupported,
        fed_auth_required: None,
    });
    let reply = writer.take_full_packets();
    assert_eq!(reply[..2], [0x04, 0x01], "the answer to PRELOGIN is a reply, and whole");

    let login =
        Login7 { user: "sa".into(), password: Password::new("secret"), ..Login7::default() };
    requests.login(&login);
    server.push(&requests.take());
    let Some(Frame::Message { kind: PacketType::Login7, data, .. }) = server.next().unwrap() else {
        panic!("no login")
    };
    assert_eq!(Login7::decode(data).unwrap(), login);
    server.wipe();
    server.set_phase(Phase::LoggedIn, 1 << 20);

    requests.set_transaction(9);
    requests.reset_connection(true);
    requests.set_packet_size(512);
    let call = Rpc {
        procedure: RpcName::Id(RpcName::SP_EXECUTESQL),
        parameters: vec![RpcParameter {
            name: None,
            output: true,
            default: false,
            ty: SqlType::NVarChar(Len::Max),
            value: RpcValue::Scalar(Value::str(&"select ".repeat(1000))),
        }],
        recompile: false,
        no_metadata: false,
        no_execute: false,
    };
    requests.calls(std::slice::from_ref(&call)).unwrap();
    requests.attention();
    server.push(&requests.take());
    let Some(Frame::Message { kind: PacketType::Rpc, status, data }) = server.next().unwrap()
    else {
        panic!("no call")
    };
    assert!(status.resets() && status.keeps_transaction());
    let message = RpcMessage::decode(data).unwrap();
    assert_eq!((message.headers.transaction, message.calls), (9, vec![call]));
    assert_eq!(server.next().unwrap(), Some(Frame::Attention));
    writer.attention();
    let reply = tokens(&writer.take_full_packets(), 3);
    let expected = done(DoneKind::Done, DoneStatus::ATTENTION, 0, 0);
    assert_eq!(reply, [(Token::Done(expected), vec![])]);
}

/// An answer cut or damaged anywhere: tokens, "more", or an error.
#[test]
fn damaged_answers_are_refused_or_read() {
    let mut writer = TokenWriter::new(51);
    let samples = samples();
    writer.columns(samples.iter().map(|(ty, _)| Column::new("c", *ty)));
    let short = |v: &Value| !matches!(v, Value::Str(t) if t.len() > 100);
    let row: Vec<Value> = samples
        .iter()
        .map(|(_, values)| values.iter().find(|v| short(v)).cloned().unwrap_or_default())
        .collect();
    writer.row(&row).unwrap();
    writer.message(&message(16, "text"));
    writer.env_change(&EnvChange::BeginTransaction(1));
    writer.login_ack("Millrace", (16, 0, 1000));
    writer.feature_ext_ack(&[(0x0A, &[1])]);
    writer.finish();
    let wire = writer.take_full_packets();
    let body = crate::tests::joined(&wire, 4096);
    let mut random = stdx::Prng::new(3);
    let (mut errors, mut fine) = (0, 0);
    let mut read = |data: &[u8]| {
        let mut reader = TokenReader::new(1 << 16);
        reader.push(data, true);
        loop {
            match reader.next() {
                Ok(Some(_)) => {}
                Ok(None) => break fine += 1,
                Err(_) => break errors += 1,
            }
        }
    };
    (0..=body.len()).for_each(|end| read(&body[..end]));
    for _ in 0..20_000 {
        let mut damaged = body.clone();
        let at = random.below(body.len() as u64) as usize;
        damaged[at] = random.next_u64() as u8;
        read(&damaged);
    }
    assert!(errors > 1000 && fine > 1000, "{errors} {fine}");
}

/// A client of TDS 7.0 is refused in words that it can read: short lines, short row counts.
#[test]
fn a_client_too_old_reads_why() {
    let mut writer = TokenWriter::new(51);
    assert_eq!(Version::from_login(0x7000_0000), Some(Version::V7_0));
    assert!(!Version::V7_0.is_spoken() && Version::V7_1.is_spoken());
    writer.set_version(Version::V7_0);
    writer.message(&message(16, "no"));
    writer.finish();
    let wire = writer.take_full_packets();
    let body = &wire[HEADER_BYTES..];
    let length = u16::from_le_bytes([body[1], body[2]]) as usize;
    assert_eq!(length, 4 + 2 + (2 + 4) + (1 + 2) + (1 + 2) + 2);
    assert_eq!(body[3 + length..], [0xFD, 0, 0, 0, 0, 0, 0, 0, 0]);
}

/// A client of TDS 7.1 reads short user types, lines and counts, (max) types and xml as the old long ones with their table's
/// name in one piece, and nothing of transactions; its requests have no headers.
#[test]
fn a_client_of_sql_server_2000() {
    let mut writer = TokenWriter::new(51);
    assert_eq!(Version::from_login(0x7100_0001), Some(Version::V7_1));
    writer.set_version(Version::V7_1);
    writer.env_change(&EnvChange::BeginTransaction(7));
    let table = ["dbo".to_owned(), "t".to_owned()];
    writer.columns([
        Column::new("a", SqlType::VarChar(Len::Max)),
        Column { long: Some(&table), ..Column::new("b", SqlType::NVarChar(Len::Max)) },
        Column::new("c", SqlType::Xml),
    ]);
    writer.row(&[Value::str("x"), Value::str("y"), Value::str("<z/>")]).unwrap();
    writer.done(done(DoneKind::Done, DoneStatus::COUNT, 0xC1, 1));
    writer.finish();
    let wire = writer.take_full_packets();
    let body = &wire[HEADER_BYTES..];
    let column = |token: u8, max: u32, table: &str, name: &str| {
        let mut out = vec![0, 0];
        out.extend_from_slice(&Column::new("", SqlType::Xml).flags().to_le_bytes());
        out.push(token);
        out.extend_from_slice(&max.to_le_bytes());
        out.extend_from_slice(&LATIN1.0);
        out.extend_from_slice(&(table.len() as u16).to_le_bytes());
        out.extend(table.encode_utf16().flat_map(u16::to_le_bytes));
        out.push(name.len() as u8);
        out.extend(name.encode_utf16().flat_map(u16::to_le_bytes));
        out
    };
    let mut expected = vec![0x81, 3, 0];
    expected.extend(column(0x23, 0x7FFF_FFFF, "", "a"));
    expected.extend(column(0x63, 0x7FFF_FFFE, "dbo.t", "b"));
    expected.extend(column(0x63, 0x7FFF_FFFE, "", "c"));
    expected.push(0xD1);
    for bytes in [&b"x"[..], b"y\0", b"<\0z\0/\0>\0"] {
        expected.extend_from_slice(b"\x10dummy textptr\0\0\0dummyTS\0");
        expected.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        expected.extend_from_slice(bytes);
    }
    expected.extend_from_slice(&[0xFD, 0x10, 0, 0xC1, 0, 1, 0, 0, 0]);
    assert_eq!(body, expected);
    let text: Vec<u8> = "SELECT 1".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(crate::request::Batch::decode_of(&text, Version::V7_1).unwrap().text, "SELECT 1");
}
