//! What must hold for any bytes at all. Shared by `fuzz_tds` (CI) and the targets of cargo-fuzz.
//!
//! No panic; pieces read as the whole does; what is read, written and read again is the same; what is made of a
//! message is no longer than the message.

use tds::bulk::{BulkReader, BulkStep};
use tds::client::{Token, TokenReader};
use tds::login7::Login7;
use tds::prelogin::Prelogin;
use tds::request::{Batch, TransactionRequest};
use tds::rpc::{Rpc, RpcMessage, RpcName, RpcValue};
use tds::{AllHeaders, Frame, Framer, Phase};
use types::{SqlType, Value};

/// True when the bytes were read without an error.
pub type Check = fn(&[u8]) -> bool;

/// The checks by name.
pub const CHECKS: &[(&str, Check)] = &[
    ("packets", packets),
    ("prelogin", prelogin),
    ("login7", login7),
    ("requests", requests),
    ("tokens", tokens),
    ("bulk", bulk),
];

/// Where to cut the bytes: from the bytes themselves, so that a finding repeats.
fn step(data: &[u8]) -> usize {
    1 + data.iter().fold(7usize, |n, &b| n.wrapping_mul(31).wrapping_add(b as usize)) % 700
}

/// Reassembly of packets, in every phase.
pub fn packets(data: &[u8]) -> bool {
    let mut fine = false;
    for phase in [Phase::Login, Phase::LoggedIn, Phase::Client] {
        let run = |step: usize| {
            let mut framer = Framer::new();
            framer.set_phase(phase, 10_000);
            let mut seen = Vec::new();
            for part in data.chunks(step) {
                framer.push(part);
                loop {
                    match framer.next() {
                        Ok(Some(frame)) => {
                            if let Frame::Message { data, .. } = &frame {
                                assert!(data.len() <= 10_000);
                            }
                            seen.push(format!("{frame:?}"));
                        }
                        Ok(None) => break,
                        Err(error) => {
                            seen.push(error.to_string());
                            return (seen, false);
                        }
                    }
                }
            }
            (seen, true)
        };
        let whole = run(usize::MAX);
        assert_eq!(whole, run(step(data)));
        fine |= whole.1;
    }
    fine
}

pub fn prelogin(data: &[u8]) -> bool {
    let Ok(first) = Prelogin::decode(data) else { return false };
    let again = |prelogin: &Prelogin| {
        let mut out = Vec::new();
        prelogin.encode(&mut out);
        Prelogin::decode(&out).expect("what was written can be read")
    };
    let second = again(&first);
    assert_eq!(again(&second), second);
    true
}

pub fn login7(data: &[u8]) -> bool {
    let Ok(login) = Login7::decode(data) else { return false };
    // Where things lie is told in two bytes.
    if login.sspi.len() < 1000 {
        let mut out = Vec::new();
        login.encode(&mut out);
        assert_eq!(Login7::decode(&out).expect("what was written can be read"), login);
    }
    true
}

/// Calls, batches and transaction requests: the same bytes as each.
pub fn requests(data: &[u8]) -> bool {
    let batch = Batch::decode(data).is_ok_and(|batch| {
        assert!(batch.text.len() <= data.len() * 2);
        true
    });
    let transaction = TransactionRequest::decode(data).is_ok_and(|(_, request)| {
        let (mut out, headers) = (Vec::new(), AllHeaders::of_transaction(1));
        request.encode(&mut out, &headers);
        assert_eq!(TransactionRequest::decode(&out), Ok((headers, request)));
        true
    });
    let calls = RpcMessage::decode(data).is_ok_and(|message| {
        calls(data, message.calls);
        true
    });
    batch | transaction | calls
}

fn calls(data: &[u8], mut calls: Vec<Rpc>) {
    let mut values = 0;
    let mut same = true;
    for call in &mut calls {
        call.no_execute = false;
        if let RpcName::Name(name) = &call.procedure {
            same &= name.len() < 1000;
        }
        for parameter in &call.parameters {
            match &parameter.value {
                RpcValue::Scalar(value) => {
                    values += 1;
                    same &= is_cp1252(parameter.ty, value);
                }
                RpcValue::Table(table) => {
                    values += table.columns.len();
                    for row in &table.rows {
                        values += row.len() + 1;
                        let columns = table.columns.iter().filter(|column| !column.default);
                        same &= columns.zip(row).all(|(column, value)| is_cp1252(column.ty, value));
                    }
                }
            }
        }
    }
    assert!(values <= data.len(), "{values} values of {} bytes", data.len());
    if same {
        let mut out = vec![4, 0, 0, 0];
        for (i, call) in calls.iter().enumerate() {
            if i > 0 {
                Rpc::separate(&mut out);
            }
            call.encode(&mut out).expect("what was read can be written");
        }
        let again = RpcMessage::decode(&out).expect("what was written can be read").calls;
        assert_eq!(again, calls);
    }
}

/// varchar that came as UTF-8 may not go back into code page 1252.
fn is_cp1252(ty: SqlType, value: &Value) -> bool {
    match value {
        Value::Str(text) if !ty.is_unicode() => {
            text.chars().all(|c| types::collation::to_cp1252(c).is_some())
        }
        _ => true,
    }
}

pub fn tokens(data: &[u8]) -> bool {
    let run = |step: usize| {
        let mut reader = TokenReader::new(1 << 20);
        let (mut seen, mut values) = (Vec::new(), 0);
        let parts = data.len().div_ceil(step);
        for (i, part) in data.chunks(step).enumerate() {
            reader.push(part, i + 1 == parts);
            loop {
                match reader.next() {
                    Ok(Some(Token::Row)) => {
                        values += reader.row().len();
                        seen.push(format!("{:?}", reader.row()));
                    }
                    Ok(Some(token)) => seen.push(format!("{token:?}")),
                    Ok(None) => break,
                    Err(error) => {
                        seen.push(error.to_string());
                        return (seen, false);
                    }
                }
            }
        }
        // A bitmap tells eight NULLs a byte.
        assert!(values <= data.len() * 8);
        (seen, true)
    };
    let whole = run(usize::MAX);
    let pieces = run(step(data));
    assert_eq!(whole, pieces);
    whole.1
}

pub fn bulk(data: &[u8]) -> bool {
    let run = |step: usize| {
        let mut bulk = BulkReader::new(1 << 20);
        let (mut seen, mut row) = (Vec::new(), Vec::new());
        let parts = data.len().div_ceil(step);
        for (i, part) in data.chunks(step).enumerate() {
            bulk.push(part, i + 1 == parts);
            loop {
                match bulk.next_row(&mut row) {
                    Ok(BulkStep::Row) => seen.push(format!("{row:?}")),
                    Ok(BulkStep::NeedMore) => break,
                    Ok(BulkStep::End) => return (seen, true),
                    Err(error) => {
                        seen.push(error.to_string());
                        return (seen, false);
                    }
                }
            }
        }
        (seen, true)
    };
    let whole = run(usize::MAX);
    assert_eq!(whole, run(step(data)));
    whole.1
}
