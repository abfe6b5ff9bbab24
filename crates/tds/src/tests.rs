//! What goes out comes in again: every type with NULL, least and greatest; every message cut at every byte.

use crate::bulk::{BulkReader, BulkStep};
use crate::login7::{Login7, Password, feature};
use crate::prelogin::{Encryption, Negotiated, Prelogin, PreloginReply};
use crate::request::{Batch, NextTransaction, TransactionRequest};
use crate::rpc::{Rpc, RpcMessage, RpcName, RpcParameter, RpcValue};
use crate::*;
use types::{DateTime, DateTime2, DateTimeOffset, Decimal, Len, SqlType, Value};

fn decimal(units: i128, precision: u8, scale: u8) -> Value {
    Value::Decimal(Decimal::new(units, precision, scale).unwrap())
}

/// Every type, with values from its least to its greatest.
pub(crate) fn samples() -> Vec<(SqlType, Vec<Value>)> {
    use SqlType as T;
    let long = "x".repeat(20_000);
    let max38 = 10i128.pow(38) - 1;
    let day = types::datetime::TICKS_PER_DAY;
    let last = types::datetime::DAYS_MAX;
    let at = |days, ticks| DateTime2 { days, ticks };
    let offset = |days, ticks, offset_minutes| {
        Value::DateTimeOffset(DateTimeOffset { utc: at(days, ticks), offset_minutes })
    };
    let all: Vec<u8> = (0..=255).collect();
    vec![
        (T::Bit, vec![Value::Bit(false), Value::Bit(true)]),
        (T::TinyInt, vec![Value::TinyInt(0), Value::TinyInt(255)]),
        (T::SmallInt, vec![Value::SmallInt(i16::MIN), Value::SmallInt(i16::MAX)]),
        (T::Int, vec![Value::Int(i32::MIN), Value::Int(0), Value::Int(i32::MAX)]),
        (T::BigInt, vec![Value::BigInt(i64::MIN), Value::BigInt(i64::MAX)]),
        (T::decimal(9, 2), vec![decimal(-999_999_999, 9, 2), decimal(0, 9, 2)]),
        (T::decimal(19, 19), vec![decimal(10i128.pow(19) - 1, 19, 19)]),
        (T::decimal(28, 4), vec![decimal(1 - 10i128.pow(28), 28, 4)]),
        (T::decimal(38, 0), vec![decimal(max38, 38, 0), decimal(-max38, 38, 0)]),
        (T::Money, vec![Value::Money(i64::MIN), Value::Money(-1), Value::Money(i64::MAX)]),
        (T::SmallMoney, vec![Value::Money(i32::MIN.into()), Value::Money(i32::MAX.into())]),
        (T::Float, vec![Value::Float(f64::MIN), Value::Float(-0.0), Value::Float(f64::MAX)]),
        (T::Real, vec![Value::Real(f32::MIN), Value::Real(1.5e-45), Value::Real(f32::MAX)]),
        (T::Char(3), vec![Value::str("abc"), Value::str("é€ ")]),
        (T::VarChar(Len::N(8000)), vec![Value::str(""), Value::str(&long[..8000])]),
        (T::VarChar(Len::Max), vec![Value::str(""), Value::str("ÿ"), Value::str(&long)]),
        (T::NChar(2), vec![Value::str("日本"), Value::str("🐎")]),
        (T::NVarChar(Len::N(4000)), vec![Value::str(""), Value::str(&long[..4000])]),
        (T::NVarChar(Len::Max), vec![Value::str(""), Value::str("🐎"), Value::str(&long)]),
        (T::Binary(2), vec![Value::binary(&[0, 255])]),
        (T::VarBinary(Len::N(8000)), vec![Value::binary(&[]), Value::binary(&all)]),
        (T::VarBinary(Len::Max), vec![Value::binary(&[]), Value::binary(&all.repeat(100))]),
        (T::Date, vec![Value::Date(0), Value::Date(last)]),
        (T::Time(0), vec![Value::Time(0), Value::Time(day - 10_000_000)]),
        (T::Time(3), vec![Value::Time(10_000), Value::Time(day - 10_000)]),
        (T::Time(7), vec![Value::Time(1), Value::Time(day - 1)]),
        (
            T::DateTime,
            vec![
                Value::DateTime(DateTime { days: -53_690, ticks: 0 }),
                Value::DateTime(DateTime { days: 2_958_463, ticks: 25_919_999 }),
            ],
        ),
        (
            T::SmallDateTime,
            vec![
                Value::DateTime(DateTime { days: 0, ticks: 0 }),
                Value::DateTime(DateTime { days: 65_535, ticks: 1439 * 18_000 }),
            ],
        ),
        (T::DateTime2(0), vec![Value::DateTime2(at(0, 0))]),
        (T::DateTime2(7), vec![Value::DateTime2(at(0, 0)), Value::DateTime2(at(last, day - 1))]),
        (T::DateTimeOffset(7), vec![offset(1, 0, -840), offset(last - 1, day - 1, 840)]),
        (T::UniqueIdentifier, vec![Value::Guid([0; 16]), Value::Guid([255; 16])]),
    ]
}

fn parameter(ty: SqlType, value: Value) -> RpcParameter {
    let name = Some("@p".into());
    RpcParameter { name, output: false, default: false, ty, value: RpcValue::Scalar(value) }
}

fn call(parameters: Vec<RpcParameter>) -> Rpc {
    let procedure = RpcName::Name("dbo.p".into());
    Rpc { procedure, parameters, recompile: false, no_metadata: false, no_execute: false }
}

pub(crate) fn rpc_message(calls: &[Rpc]) -> Vec<u8> {
    let mut out = Vec::new();
    AllHeaders::of_transaction(7).encode(&mut out);
    for (i, call) in calls.iter().enumerate() {
        if i > 0 {
            Rpc::separate(&mut out);
        }
        call.encode(&mut out).unwrap();
    }
    out
}

fn table() -> Table {
    let column = |ty, default| TableColumn { name: String::new(), ty, nullable: true, default };
    Table {
        schema: "dbo".into(),
        type_name: "pairs".into(),
        columns: vec![
            column(SqlType::Int, false),
            column(SqlType::BigInt, true),
            column(SqlType::NVarChar(Len::N(20)), false),
            column(SqlType::VarBinary(Len::Max), false),
        ],
        rows: vec![
            vec![Value::Int(1), Value::str("one"), Value::Null],
            vec![Value::Null, Value::Null, Value::binary(b"abc")],
        ],
    }
}

/// A message of every kind of parameter.
pub(crate) fn everything() -> Vec<Rpc> {
    let mut parameters = Vec::new();
    for (ty, values) in samples() {
        parameters.push(parameter(ty, Value::Null));
        // Long ones make cutting at every byte slow.
        parameters.extend(values.into_iter().filter(short).map(|value| parameter(ty, value)));
    }
    let mut output = parameter(SqlType::Int, Value::Int(3));
    (output.output, output.default, output.name) = (true, true, None);
    let tables = [table(), Table { type_name: "t".into(), ..Table::default() }];
    let tables = tables.map(|table| RpcParameter {
        value: RpcValue::Table(table),
        ..parameter(SqlType::Int, Value::Null)
    });
    let mut by_id = call(vec![output]);
    (by_id.procedure, by_id.recompile, by_id.no_metadata) = (RpcName::Id(10), true, true);
    vec![call(parameters), by_id, call(tables.to_vec()), call(vec![])]
}

fn short(value: &Value) -> bool {
    match value {
        Value::Str(text) => text.len() < 100,
        Value::Binary(bytes) => bytes.len() < 300,
        _ => true,
    }
}

#[test]
fn every_type_goes_out_and_comes_in() {
    for (ty, values) in samples() {
        for value in values.into_iter().chain([Value::Null]) {
            let calls = [call(vec![parameter(ty, value)])];
            let back = RpcMessage::decode(&rpc_message(&calls)).unwrap();
            assert_eq!(back.calls, calls, "{ty}");
            assert_eq!(back.headers.transaction, 7);
        }
    }
}

/// mssql-jdbc announces a NULL uniqueidentifier with a length of 0.
#[test]
fn a_null_uniqueidentifier_may_have_no_length() {
    let calls = [call(vec![parameter(SqlType::UniqueIdentifier, Value::Null)])];
    let mut wire = rpc_message(&calls);
    let at = wire.windows(3).rposition(|bytes| bytes == [0x24, 16, 0]).expect("type and value");
    wire[at + 1] = 0;
    assert_eq!(RpcMessage::decode(&wire).unwrap().calls, calls);
}

#[test]
fn several_calls_in_one_message() {
    let calls = everything();
    assert_eq!(RpcMessage::decode(&rpc_message(&calls)).unwrap().calls, calls);
}

/// A message that is cut at any byte is an error or, where a call ends, a shorter message; never a panic.
#[test]
fn cut_calls_are_refused() {
    let whole = rpc_message(&everything());
    let mut accepted = 0;
    for end in 0..whole.len() {
        match RpcMessage::decode(&whole[..end]) {
            Ok(message) => {
                accepted += 1;
                assert!(message.calls.len() <= 4);
            }
            Err(error) => assert!(error.number() > 0 && !error.to_string().is_empty()),
        }
    }
    // After each parameter a call may end; nowhere else.
    assert!(accepted < 200, "{accepted}");
}

#[test]
fn random_damage_never_panics() {
    let whole = rpc_message(&everything());
    let mut random = stdx::Prng::new(11);
    let mut refused = 0;
    for _ in 0..20_000 {
        let mut bytes = whole.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len() as u64) as usize;
            bytes[at] = random.next_u64() as u8;
        }
        refused += usize::from(RpcMessage::decode(&bytes).is_err());
    }
    assert!(refused > 1_000);
}

#[test]
fn login_goes_out_and_comes_in() {
    let login = Login7 {
        host: "laptop".into(),
        user: "sa".into(),
        password: Password::new("pass wörd🐎"),
        application: "app".into(),
        server: "localhost".into(),
        library: "lib".into(),
        language: "us_english".into(),
        database: "db".into(),
        client_id: [1, 2, 3, 4, 5, 6],
        packet_size: 8000,
        client_process_id: 42,
        time_zone_minutes: -60,
        new_password: Some(Password::new("next")),
        features: vec![(feature::UTF8_SUPPORT, vec![]), (feature::USER_AGENT, vec![1, 2, 3])],
        ..Login7::default()
    };
    let mut out = Vec::new();
    login.encode(&mut out);
    assert_eq!(Login7::decode(&out).unwrap(), login);
    assert!(!format!("{login:?}").contains("wörd"), "a password is never printed");
    for end in 0..out.len() {
        assert_eq!(Login7::decode(&out[..end]).unwrap_err().number(), 17832);
    }
}

#[test]
fn prelogin_goes_out_and_comes_in() {
    let client = Prelogin {
        version: [17, 0, 1, 2, 0, 0],
        encryption: Encryption::On,
        instance: "MSSQLServer".into(),
        thread_id: Some(7),
        mars: true,
        trace_id: Some([9; 36]),
        fed_auth_required: Some(true),
        nonce: Some([8; 32]),
    };
    let mut out = Vec::new();
    client.encode(&mut out);
    assert_eq!(Prelogin::decode(&out).unwrap(), client);
    for end in 0..out.len() {
        assert_eq!(Prelogin::decode(&out[..end]).unwrap_err().number(), 17832);
    }
    let mut reply = Vec::new();
    let fed_auth_required = Some(false);
    PreloginReply {
        mars: false,
        version: (16, 0, 1000),
        encryption: Encryption::On,
        fed_auth_required,
    }
    .encode(&mut reply);
    let read = Prelogin::decode(&reply).unwrap();
    assert_eq!((read.version, read.mars), ([16, 0, 3, 232, 0, 0], false));
}

#[test]
fn encryption_is_settled_as_documented() {
    use Encryption::*;
    let cases = [
        (Off, Off, Off, Negotiated::LoginOnly),
        (Off, Required, Required, Negotiated::Everything),
        (Off, NotSupported, NotSupported, Negotiated::Plain),
        (On, Off, On, Negotiated::Everything),
        (On, NotSupported, NotSupported, Negotiated::Refused),
        (Required, Off, On, Negotiated::Everything),
        (NotSupported, Off, NotSupported, Negotiated::Plain),
        (NotSupported, Required, Required, Negotiated::Refused),
    ];
    for (client, server, answer, then) in cases {
        assert_eq!(Encryption::negotiate(client, server), (answer, then), "{client:?} {server:?}");
    }
}

#[test]
fn batches_and_transaction_requests() {
    let headers = AllHeaders::of_transaction(0x33);
    let mut out = Vec::new();
    Batch::encode(&mut out, &headers, "select 'é🐎'");
    let batch = Batch::decode(&out).unwrap();
    assert_eq!((batch.headers, batch.text.as_str()), (headers, "select 'é🐎'"));
    assert_eq!(Batch::decode(&out[..out.len() - 1]).unwrap_err().number(), 4002);

    let next = || Some(NextTransaction { isolation: 2, name: "n".into() });
    for request in [
        TransactionRequest::Begin { isolation: 5, name: String::new() },
        TransactionRequest::Commit { name: "t".into(), then_begin: None },
        TransactionRequest::Commit { name: String::new(), then_begin: next() },
        TransactionRequest::Rollback { name: "t".into(), then_begin: next() },
        TransactionRequest::Save { name: "s".into() },
    ] {
        let mut out = Vec::new();
        request.encode(&mut out, &headers);
        assert_eq!(TransactionRequest::decode(&out).unwrap(), (headers, request));
        for end in 0..out.len() {
            let _ = TransactionRequest::decode(&out[..end]);
        }
    }
    let mut out = Vec::new();
    headers.encode(&mut out);
    out.extend_from_slice(&[6, 0]);
    assert_eq!(TransactionRequest::decode(&out).unwrap_err().number(), 40510);
}

#[test]
fn a_framer_knows_that_more_is_to_come() {
    let mut wire = Vec::new();
    packet::put_message(&mut wire, PacketType::Batch, 0, 512, &[7; 900]);
    let mut framer = Framer::new();
    framer.set_phase(Phase::LoggedIn, 1 << 20);
    assert!(!framer.is_midway());
    for (at, byte) in wire.iter().enumerate() {
        framer.push(&[*byte]);
        let is_whole = at + 1 == wire.len();
        assert_eq!(framer.is_midway(), !is_whole, "after {} bytes", at + 1);
        // Before and after it has been looked at.
        assert_eq!(framer.next().unwrap().is_some(), is_whole);
        assert_eq!(framer.is_midway(), !is_whole, "after {} bytes", at + 1);
    }
}

#[test]
fn framer_puts_messages_together() {
    let body: Vec<u8> = (0..10_000u32).map(|i| i as u8).collect();
    let mut wire = Vec::new();
    packet::put_message(&mut wire, PacketType::Batch, Status::RESET_CONNECTION, 512, &body);
    packet::put_message(&mut wire, PacketType::Attention, 0, 512, &[]);
    packet::put_message(&mut wire, PacketType::Rpc, 0, 512, b"short");
    for step in [1, 7, 511, 512, 513, 100_000] {
        let mut framer = Framer::new();
        framer.set_phase(Phase::LoggedIn, 1 << 20);
        let mut seen = Vec::new();
        for part in wire.chunks(step) {
            framer.push(part);
            while let Some(frame) = framer.next().unwrap() {
                seen.push(match frame {
                    Frame::Message { kind, status, data } => {
                        assert_eq!(status.resets(), kind == PacketType::Batch);
                        (kind, data.to_vec())
                    }
                    Frame::Attention => (PacketType::Attention, vec![]),
                    other => panic!("{other:?}"),
                });
            }
        }
        let expected = [
            (PacketType::Batch, body.clone()),
            (PacketType::Attention, vec![]),
            (PacketType::Rpc, b"short".to_vec()),
        ];
        assert!(seen == expected, "in steps of {step}");
    }
}

#[test]
fn framer_refuses_what_cannot_be() {
    let mut framer = Framer::new();
    framer.push(&[0x16]);
    assert_eq!(framer.first_byte(), Some(0x16));
    assert_eq!(framer.next().unwrap_err().number(), 17832);

    let header = |kind, status, length: u16| {
        let (status, spid, packet_id) = (Status(status), 0, 0);
        Header { kind, status, length, spid, packet_id }.encode()
    };
    for (bytes, number) in [
        (header(0x01, 1, 7), 17836),
        (header(0x01, 1, 32_768), 17836),
        (header(0x10, 1, 8), 4002),
        (header(0x99, 1, 8), 4002),
    ] {
        let mut framer = Framer::new();
        framer.set_phase(Phase::LoggedIn, 1000);
        framer.push(&bytes);
        assert_eq!(framer.next().unwrap_err().number(), number);
    }
    // A second type inside a message; a message too long; a message given up.
    let mut framer = Framer::new();
    framer.set_phase(Phase::LoggedIn, 1000);
    framer.push(&header(0x01, 0, 8));
    framer.push(&header(0x03, 1, 8));
    assert_eq!(framer.next().unwrap_err().number(), 4002);

    let mut framer = Framer::new();
    framer.set_phase(Phase::LoggedIn, 1000);
    let mut wire = Vec::new();
    packet::put_message(&mut wire, PacketType::Batch, 0, 512, &[0; 1001]);
    framer.push(&wire);
    assert_eq!(framer.next().unwrap_err().number(), 17836);

    let mut framer = Framer::new();
    framer.set_phase(Phase::LoggedIn, 1000);
    framer.push(&header(0x03, 0, 8));
    framer.push(&header(0x03, 3, 8));
    assert_eq!(framer.next().unwrap(), Some(Frame::Ignored { kind: PacketType::Rpc }));
    assert_eq!(framer.next().unwrap(), None);
}

/// The packets of an answer, checked, put together.
pub(crate) fn joined(wire: &[u8], size: usize) -> Vec<u8> {
    let (mut body, mut at, mut id) = (Vec::new(), 0, 0u8);
    while at < wire.len() {
        let header = Header::decode(wire[at..].first_chunk().unwrap()).unwrap();
        let length = header.length as usize;
        id = id.wrapping_add(1);
        assert_eq!((header.kind, header.packet_id, header.spid), (4, id, 51));
        let last = at + length == wire.len();
        assert_eq!(header.status.is_last(), last);
        assert!(length == size || last, "a packet in the middle is full");
        body.extend_from_slice(&wire[at + HEADER_BYTES..at + length]);
        at += length;
    }
    body
}

#[test]
fn writer_cuts_packets_and_marks_the_last_done() {
    let text = "y".repeat(3000);
    let write = |size: u16, step: usize| {
        let mut writer = TokenWriter::new(51);
        writer.set_packet_size(size);
        let mut wire = Vec::new();
        writer.columns([
            Column::new("id", SqlType::Int),
            Column::new("text", SqlType::NVarChar(Len::Max)),
        ]);
        for i in 0..50 {
            writer.row(&[Value::Int(i), Value::str(&text[..(i as usize * 60)])]).unwrap();
            if (i as usize).is_multiple_of(step) {
                let ready = writer.ready().len();
                let part = ready / 2;
                wire.extend_from_slice(&writer.ready()[..part]);
                writer.consume(part);
                wire.extend(writer.take_full_packets());
            }
        }
        let done =
            |rows| Done { kind: DoneKind::Done, status: DoneStatus::COUNT, command: 0xC1, rows };
        writer.done(done(50));
        writer.done(done(1 << 40));
        writer.finish();
        wire.extend(writer.take_full_packets());
        assert_eq!(writer.buffered(), 0);
        joined(&wire, size as usize)
    };
    let whole = write(32_767, 1000);
    for size in [512, 513, 4096, 8000] {
        for step in [1, 3, 1000] {
            assert!(write(size, step) == whole, "packets of {size}");
        }
    }
    let end = &whole[whole.len() - 26..];
    assert_eq!(&end[..5], [0xFD, 0x11, 0, 0xC1, 0]);
    assert_eq!(&end[13..], [0xFD, 0x10, 0, 0xC1, 0, 0, 0, 0, 0, 0, 1, 0, 0]);
}

#[test]
fn a_bad_row_leaves_no_trace() {
    let mut writer = TokenWriter::new(51).unguarded();
    writer.columns([Column::new("a", SqlType::Int), Column::new("d", SqlType::Date)]);
    let before = writer.buffered();
    let error = writer.row(&[Value::Int(1), Value::str("no date")]).unwrap_err();
    assert_eq!(error.ty, SqlType::Date);
    assert_eq!(writer.buffered(), before);
    // A neighbouring type is converted.
    writer.row(&[Value::SmallInt(1), Value::Null]).unwrap();
    assert_eq!(&writer.out()[before..], [0xD1, 4, 1, 0, 0, 0, 0]);
}

/// A client that does not say that it reads UTF-8 gets such texts as nvarchar, under their own collation.
#[test]
fn texts_in_utf8_go_as_the_client_reads_them() {
    let collation = types::Collation::of_name("Latin1_General_100_CI_AS_SC_UTF8").unwrap();
    let of = |utf8: bool, ty: SqlType| {
        let mut writer = TokenWriter::new(51);
        writer.set_utf8(utf8);
        writer.columns([Column { collation, ..Column::new("a", ty) }]);
        let head = writer.buffered();
        writer.row(&[Value::str("ж🙂")]).unwrap();
        (writer.out()[..head].to_vec(), writer.out()[head + 1..].to_vec())
    };
    let wire = collation.to_wire();
    let told = |head: &[u8], token: u8, bytes: [u8; 2]| {
        let mut ty = vec![token];
        ty.extend_from_slice(&bytes);
        ty.extend_from_slice(&wire);
        head.windows(ty.len()).any(|part| part == ty)
    };
    let utf16 = [6, 0, 0x36, 0x04, 0x3D, 0xD8, 0x42, 0xDE];
    let (head, row) = of(true, SqlType::VarChar(Len::N(20)));
    assert!(told(&head, 0xA7, [20, 0]), "{head:x?}");
    assert_eq!(row, [6, 0, 0xD0, 0xB6, 0xF0, 0x9F, 0x99, 0x82]);
    let (head, row) = of(false, SqlType::VarChar(Len::N(20)));
    assert!(told(&head, 0xE7, [40, 0]), "{head:x?}");
    assert_eq!(row, utf16);
    let (head, row) = of(false, SqlType::Char(6));
    assert!(told(&head, 0xE7, [12, 0]), "{head:x?}");
    assert_eq!(row, utf16);
    for long in [SqlType::VarChar(Len::N(8000)), SqlType::VarChar(Len::Max)] {
        assert!(told(&of(false, long).0, 0xE7, [0xFF, 0xFF]));
    }
    let (head, _) = of(false, SqlType::NVarChar(Len::N(20)));
    assert!(told(&head, 0xE7, [40, 0]));
}

/// So does what a sql_variant holds, but for long ASCII, which every client reads.
#[test]
fn a_variant_in_utf8_goes_as_the_client_reads_it() {
    let rule = types::Collation::of_name("Latin1_General_100_CI_AS_SC_UTF8").unwrap().rule();
    let of = |utf8: bool, text: &str| {
        let mut writer = TokenWriter::new(51);
        writer.set_utf8(utf8);
        writer.columns([Column::new("a", SqlType::Variant)]);
        let head = writer.buffered();
        let text = Value::Str(types::Text::new(text).with_rule(rule));
        let held = types::Variant::wrap(text, SqlType::VarChar(Len::N(8000))).unwrap();
        writer.row(&[held]).unwrap();
        writer.out()[head + 1..].to_vec()
    };
    let row = of(true, "ж");
    assert_eq!((row[4], &row[row.len() - 2..]), (0xA7, &[0xD0, 0xB6][..]));
    let row = of(false, "ж");
    assert_eq!((row[4], &row[row.len() - 4..]), (0xE7, &[2, 0, 0x36, 0x04][..]));
    let row = of(false, &"a".repeat(5000));
    // The second packet's head is among them.
    assert_eq!((row[4], row.len()), (0xA7, 4 + 2 + 7 + 5000 + 8));
}

#[test]
fn bulk_rows_come_packet_by_packet() {
    let mut body = vec![0x81, 2, 0];
    for (ty, name) in [(SqlType::Int, "a"), (SqlType::NVarChar(Len::Max), "b")] {
        body.extend_from_slice(&[0, 0, 0, 0, 9, 0]);
        type_info::put(&mut body, ty);
        reader::put_b_varchar(&mut body, name);
    }
    let rows: Vec<Vec<Value>> = (0..200)
        .map(|i| vec![Value::Int(i), if i % 3 == 0 { Value::Null } else { Value::str("text") }])
        .collect();
    for row in &rows {
        body.push(0xD1);
        encode::value(&mut body, SqlType::Int, &row[0]).unwrap();
        encode::value(&mut body, SqlType::NVarChar(Len::Max), &row[1]).unwrap();
    }
    let end = body.len();
    body.extend_from_slice(&[0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let read = |body: &[u8], step: usize| {
        let mut bulk = BulkReader::new(1 << 20);
        let (mut found, mut row) = (Vec::new(), Vec::new());
        let parts: Vec<&[u8]> = body.chunks(step).collect();
        for (i, part) in parts.iter().enumerate() {
            bulk.push(part, i + 1 == parts.len());
            loop {
                match bulk.next_row(&mut row)? {
                    BulkStep::Row => found.push(row.clone()),
                    BulkStep::NeedMore => break,
                    BulkStep::End => return Ok(found),
                }
            }
        }
        Ok::<_, ProtocolError>(found)
    };
    for step in [1, 13, 500, 100_000] {
        assert_eq!(read(&body, step).unwrap(), rows, "in packets of {step}");
    }
    assert_eq!(read(&body[..end], 100).unwrap(), rows, "without DONE");
    for cut in 1..end {
        match read(&body[..cut], 100) {
            Ok(found) => assert!(rows.starts_with(&found)),
            Err(error) => assert_eq!(error.number(), 4804, "cut at {cut}"),
        }
    }
}

/// MS-TDS 2.2.5.5.2: lengths and names, and bytes in chunks; read back by a client.
#[test]
fn a_clr_type_goes_out_with_its_names() {
    let ty = SqlType::Clr(types::ClrType::HierarchyId);
    let mut out = Vec::new();
    crate::type_info::put(&mut out, ty);
    assert_eq!(out[..3], [0xF0, 0x7C, 0x03]);
    crate::encode::value(&mut out, ty, &Value::binary(&[0x58])).unwrap();
    assert!(out.ends_with(&[1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x58, 0, 0, 0, 0]));
    let mut r = crate::reader::Reader::new(&out);
    let info = crate::type_info::TypeInfo::decode_column(&mut r).unwrap();
    assert_eq!(info.ty, SqlType::VarBinary(Len::Max));
    let read = crate::decode::column(&mut r, &info, false).unwrap();
    assert!(read == Value::binary(&[0x58]) && r.is_empty());
}

/// MS-TDS 2.2.5.5.3: no schema; UTF-16 in chunks.
#[test]
fn xml_goes_out_as_its_own_type() {
    let mut out = Vec::new();
    crate::type_info::put(&mut out, SqlType::Xml);
    assert_eq!(out, [0xF1, 0]);
    out.clear();
    crate::encode::value(&mut out, SqlType::Xml, &Value::str("<a/>")).unwrap();
    let mut expected = vec![8, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0];
    expected.extend("<a/>".encode_utf16().flat_map(u16::to_le_bytes));
    expected.extend([0; 4]);
    assert_eq!(out, expected);
    out.clear();
    crate::encode::value(&mut out, SqlType::Xml, &Value::Null).unwrap();
    assert_eq!(out, [0xFF; 8]);
}
