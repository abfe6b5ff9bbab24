//! What stock clients send, recorded byte by byte, is read as they meant it.
//!
//! `fixtures/<client>.txt` has the messages, `fixtures/<client>.read` what this crate makes of them. With
//! UPDATE_EXPECT=1 the second is written anew: read the difference before you commit it.

use std::fmt::Write as _;
use std::path::PathBuf;
use tds::bulk::{BulkReader, BulkStep};
use tds::login7::Login7;
use tds::prelogin::Prelogin;
use tds::request::{Batch, TransactionRequest};
use tds::rpc::{RpcMessage, RpcValue};
use tds::{Frame, Framer, PacketType, Phase};

const CLIENTS: &[&str] = &["go", "jdbc", "mspy", "pymssql", "pytds", "tedious"];

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

/// The messages: hexadecimal, with `xx*N` for a run.
fn messages(client: &str) -> Vec<Vec<u8>> {
    let text = std::fs::read_to_string(fixture(&format!("{client}.txt"))).unwrap();
    let hex = |text: &str| -> Vec<u8> {
        let digits: Vec<u8> =
            text.chars().map(|c| c.to_digit(16).expect("hexadecimal") as u8).collect();
        digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
    };
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            line.split(' ')
                .flat_map(|token| match token.split_once('*') {
                    Some((run, count)) => hex(run).repeat(count.parse().unwrap()),
                    None => hex(token),
                })
                .collect()
        })
        .collect()
}

fn cut(text: String) -> String {
    match text.char_indices().nth(300) {
        Some((at, _)) => format!("{}… ({} bytes)", &text[..at], text.len()),
        None => text,
    }
}

/// Reads one message and says in a few lines what it says.
fn read(kind: PacketType, data: &[u8], out: &mut String) -> Result<(), tds::ProtocolError> {
    match kind {
        PacketType::Prelogin => writeln!(out, "{:?}", Prelogin::decode(data)?).unwrap(),
        PacketType::Login7 => {
            let login = Login7::decode(data)?;
            assert_eq!(login.password.reveal(), "Millrace-1");
            writeln!(out, "{login:?}").unwrap();
        }
        PacketType::Batch => {
            let batch = Batch::decode(data)?;
            writeln!(out, "batch {} {:?}", batch.headers.transaction, cut(batch.text)).unwrap();
        }
        PacketType::TransactionManager => {
            let (headers, request) = TransactionRequest::decode(data)?;
            writeln!(out, "{} {request:?}", headers.transaction).unwrap();
        }
        PacketType::Rpc => {
            let message = RpcMessage::decode(data)?;
            for call in message.calls {
                writeln!(out, "call {} {:?}", message.headers.transaction, call.procedure).unwrap();
                for p in call.parameters {
                    let name = p.name.as_deref().unwrap_or("-");
                    let marks = ["", " OUTPUT"][usize::from(p.output)];
                    let marks = format!("{marks}{}", ["", " DEFAULT"][usize::from(p.default)]);
                    match p.value {
                        RpcValue::Scalar(value) => {
                            let value = cut(format!("{value:?}"));
                            writeln!(out, "    {name} {}{marks} = {value}", p.ty).unwrap();
                        }
                        RpcValue::Table(table) => {
                            writeln!(out, "    {name} {}.{}", table.schema, table.type_name)
                                .unwrap();
                            for column in &table.columns {
                                writeln!(out, "        {column:?}").unwrap();
                            }
                            for row in &table.rows {
                                writeln!(out, "        {row:?}").unwrap();
                            }
                        }
                    }
                }
            }
        }
        other => panic!("{other:?}"),
    }
    Ok(())
}

fn replay(client: &str, step: usize) -> String {
    let mut framer = Framer::new();
    let mut out = String::new();
    let mut bulk = BulkReader::new(1 << 20);
    for message in messages(client) {
        for part in message.chunks(step) {
            framer.push(part);
            loop {
                let login = match framer.next().unwrap() {
                    None => break,
                    Some(Frame::Message { kind, status, data }) => {
                        if status.resets() {
                            out.push_str("reset, then ");
                        }
                        read(kind, data, &mut out).unwrap();
                        kind == PacketType::Login7
                    }
                    Some(Frame::Attention) => {
                        out.push_str("attention\n");
                        false
                    }
                    Some(Frame::Bulk { data, first, last, .. }) => {
                        if first {
                            bulk = BulkReader::new(1 << 20);
                        }
                        bulk.push(data, last);
                        let mut row = Vec::new();
                        while bulk.next_row(&mut row).unwrap() == BulkStep::Row {
                            writeln!(out, "bulk row {row:?}").unwrap();
                        }
                        if last {
                            writeln!(out, "bulk columns {:?}", bulk.columns().unwrap()).unwrap();
                        }
                        false
                    }
                    Some(other) => panic!("{other:?}"),
                };
                if login {
                    framer.wipe();
                    framer.set_phase(Phase::LoggedIn, 1 << 20);
                }
            }
        }
    }
    out
}

#[test]
fn stock_clients_are_understood() {
    for client in CLIENTS {
        let seen = replay(client, usize::MAX);
        assert_eq!(replay(client, 100), seen, "{client}, a hundred bytes at a time");
        let path = fixture(&format!("{client}.read"));
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&path, &seen).unwrap();
        }
        let expected = std::fs::read_to_string(&path).unwrap();
        assert!(seen == expected, "{client}: fixtures/{client}.read differs; now it reads\n{seen}");
    }
}

/// Each recorded message, cut at every byte and with every byte changed in turn: an answer or an error.
#[test]
fn damaged_requests_are_refused_or_read() {
    let mut refused = 0;
    for client in CLIENTS {
        for message in messages(client) {
            let Some(kind) = PacketType::from_byte(message[0]) else { panic!("{client}") };
            if kind == PacketType::Attention || message.len() > 2000 {
                continue;
            }
            let mut damaged: Vec<Vec<u8>> =
                (8..message.len()).map(|end| message[8..end].to_vec()).collect();
            for at in 8..message.len() {
                let mut bytes = message[8..].to_vec();
                bytes[at - 8] ^= 0x81;
                damaged.push(bytes);
            }
            for data in damaged {
                let failed = if kind == PacketType::BulkLoad {
                    let mut bulk = BulkReader::new(1 << 16);
                    bulk.push(&data, true);
                    let mut row = Vec::new();
                    loop {
                        match bulk.next_row(&mut row) {
                            Ok(BulkStep::Row) => {}
                            Ok(BulkStep::NeedMore) => panic!("there is no more"),
                            Ok(BulkStep::End) => break false,
                            Err(_) => break true,
                        }
                    }
                } else if kind == PacketType::Login7 {
                    Login7::decode(&data).is_err()
                } else {
                    read(kind, &data, &mut String::new()).is_err()
                };
                refused += usize::from(failed);
            }
        }
    }
    assert!(refused > 1000, "{refused}");
}
