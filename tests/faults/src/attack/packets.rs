//! Packets that are none: before the login and after it, in TLS, in multiplexed streams, at the administrator's port.
//!
//! Each kind knows enough of the protocol to come past the first look: lengths that are right, types that there are.

use super::Field;
use super::wire::Leaving;
use client::{Encrypt, Wire};
use std::io;
use std::time::Duration;
use stdx::Prng;
use tds::client::RequestWriter;
use tds::login7::{Login7, Password};
use tds::prelogin::{Encryption, Prelogin};
use tds::rpc::{Rpc, RpcName, RpcParameter, RpcValue};
use tds::{SMP_HEADER_BYTES, SmpHeader, SmpKind};
use types::{Len, SqlType, Value};

/// So long an answer is waited for.
const PATIENCE: Duration = Duration::from_millis(300);
/// And one to much at once.
const LONGER: Duration = Duration::from_millis(1_500);

/// The types of messages that a client sends.
const TYPES: [u8; 8] = [0x01, 0x03, 0x06, 0x07, 0x08, 0x0E, 0x10, 0x12];

/// A way to be rude: its name, and what it does.
type Kind = (&'static str, fn(&Field, &mut Prng) -> Result<(), String>);

const KINDS: &[Kind] = &[
    ("noise", |field, random| {
        let bytes = noise(random, 70_000);
        before_login(field, random, &bytes)
    }),
    ("half a message", |field, random| {
        let mut bytes = vec![18, random.next_u64() as u8, random.next_u64() as u8, 0, 0, 0, 1, 0];
        bytes.extend(noise(random, 300));
        before_login(field, random, &bytes)
    }),
    ("noise in a handshake", |field, random| {
        let mut writer = RequestWriter::new();
        let mut record = vec![0x16, 3, 1];
        let body = noise(random, 16_000);
        record.extend((body.len() as u16).to_be_bytes());
        record.extend(body);
        for _ in 0..=random.below(20) {
            writer.tls_handshake(&record);
        }
        before_login(field, random, &writer.take())
    }),
    ("a strict handshake of noise", |field, random| {
        let mut bytes = vec![0x16, 3, 1, 2, 0];
        bytes.extend(noise(random, 5_000));
        before_login(field, random, &bytes)
    }),
    ("a login with holes", |field, random| {
        let body = noise(random, 400);
        let mut message = (body.len() as u32 + 4).to_le_bytes().to_vec();
        message.extend(body);
        before_login(field, random, &packet(16, 1, &message))
    }),
    ("silence", |field, random| before_login(field, random, &[])),
    ("packets of a session", |field, random| {
        let mut connection = field.open_at(field.port, "visitor", PATIENCE, Encrypt::No)?;
        let bytes = packets(random);
        connection.throw(&bytes).map_err(|error| error.to_string())?;
        let _ = connection.execute("SELECT 1", &mut super::Nothing::default());
        Ok(())
    }),
    ("packets of a session, in TLS", |field, random| {
        let mut connection = field.open_at(field.port, "visitor", PATIENCE, Encrypt::Yes)?;
        let bytes = packets(random);
        connection.throw(&bytes).map_err(|error| error.to_string())?;
        let _ = connection.execute("SELECT 1", &mut super::Nothing::default());
        Ok(())
    }),
    ("multiplexed streams", streams),
    ("attentions", |field, random| {
        let mut connection = field.open_at(field.port, "visitor", PATIENCE, Encrypt::No)?;
        let mut writer = RequestWriter::new();
        for _ in 0..=random.below(30) {
            writer.batch(ENDLESS[random.below(ENDLESS.len() as u64) as usize]);
            (0..=random.below(40)).for_each(|_| writer.attention());
        }
        connection.throw(&writer.take()).map_err(|error| error.to_string())?;
        let _ = connection.execute("SELECT 1", &mut super::Nothing::default());
        Ok(())
    }),
    ("half logins", |field, random| {
        let login = login();
        let mut wires = Vec::new();
        for _ in 0..=random.below(60) {
            let port = if random.one_in(8) { field.admin_port } else { field.port };
            let mut wire = Leaving::connect(port, PATIENCE).map_err(text)?;
            let sent = random.below(login.len() as u64 + 1) as usize;
            let _ = wire.write_all(&login[..sent]);
            wires.push(wire);
        }
        wires.iter_mut().rev().take(3).for_each(|wire| answered(wire, &[]));
        Ok(())
    }),
    ("calls", |field, random| {
        let mut connection = field.open_at(field.port, "visitor", LONGER, Encrypt::No)?;
        let mut writer = RequestWriter::new();
        let calls: Vec<Rpc> = (0..=wild(random, 20, 3_000)).map(|_| call(random)).collect();
        if writer.calls(&calls).is_ok() {
            connection.throw(&writer.take()).map_err(|error| error.to_string())?;
        }
        let _ = connection.execute("SELECT 1", &mut super::Nothing::default());
        Ok(())
    }),
    ("bulk rows", |field, random| {
        let mut connection = field.open_at(field.port, "visitor", LONGER, Encrypt::No)?;
        let mut sink = super::Nothing::default();
        let table = "CREATE TABLE #t (a int, b varchar(max), c decimal(38,5), d xml)";
        connection.execute(table, &mut sink).map_err(|error| error.to_string())?;
        let mut writer = RequestWriter::new();
        writer.batch("INSERT BULK #t (a int, b varchar(max), c decimal(38,5), d xml)");
        let mut rows = vec![0x81, 4, 0];
        rows.extend(noise(random, 3_000_000));
        writer.bulk(&rows);
        connection.throw(&writer.take()).map_err(|error| error.to_string())?;
        let _ = connection.execute("SELECT 1", &mut sink);
        Ok(())
    }),
    ("the administrator's port", |field, random| {
        if random.one_in(2) {
            // It is not for everybody.
            return match field.open_at(field.admin_port, "visitor", PATIENCE, Encrypt::No) {
                Ok(_) => {
                    field.find("a visitor came in by the administrator's port".to_owned());
                    Ok(())
                }
                Err(error) => Err(error),
            };
        }
        let mut wire = Leaving::connect(field.admin_port, PATIENCE).map_err(text)?;
        let bytes = if random.one_in(2) { packets(random) } else { noise(random, 9_000) };
        answered(&mut wire, &bytes);
        Ok(())
    }),
];

/// Batches that go on until somebody stops them.
const ENDLESS: [&str; 4] = [
    "WHILE 1=1 SET NOCOUNT ON",
    "SELECT * FROM sys.all_columns a, sys.all_columns b",
    "WAITFOR DELAY '00:00:20'",
    "WHILE 1=1 BEGIN TRY SELECT 1/0 END TRY BEGIN CATCH END CATCH",
];

/// Throws one; its name.
pub fn throw(field: &Field, random: &mut Prng) -> &'static str {
    let (name, kind) = KINDS[random.below(KINDS.len() as u64) as usize];
    // That it is refused is as it should be.
    let _ = kind(field, random);
    name
}

/// A small number, or now and then any.
fn wild(random: &mut Prng, usual: u64, most: u64) -> u64 {
    let below = if random.one_in(4) { most } else { usual };
    random.below(below)
}

fn text(error: io::Error) -> String {
    error.to_string()
}

fn noise(random: &mut Prng, most: u64) -> Vec<u8> {
    let n = random.below(most.max(1));
    (0..n).map(|_| random.next_u64() as u8).collect()
}

/// A packet of a type, with a length that is right.
fn packet(kind: u8, status: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![kind, status];
    bytes.extend((body.len() as u16 + 8).to_be_bytes());
    bytes.extend([0, 0, 1, 0]);
    bytes.extend(body);
    bytes
}

/// A call of a procedure that a driver would make, with parameters of any number and length.
fn call(random: &mut Prng) -> Rpc {
    const CURSOR_OPEN: u16 = 2;
    let ids = [RpcName::SP_EXECUTESQL, RpcName::SP_PREPARE, RpcName::SP_PREPEXEC, CURSOR_OPEN];
    let of_text = |text: &str| RpcParameter {
        name: None,
        output: false,
        default: false,
        ty: SqlType::NVarChar(Len::Max),
        value: RpcValue::Scalar(Value::str(text)),
    };
    let text = "SELECT 1 ".repeat(1 + wild(random, 3, 400) as usize);
    let mut parameters = vec![of_text(&text)];
    parameters.extend((0..wild(random, 4, 400)).map(|i| of_text(&format!("@p{i} int"))));
    let procedure = RpcName::Id(ids[random.below(ids.len() as u64) as usize]);
    Rpc { procedure, parameters, recompile: false, no_metadata: false, no_execute: false }
}

/// What a login sends, up to its answer.
fn login() -> Vec<u8> {
    let mut writer = RequestWriter::new();
    writer.prelogin(&prelogin(false));
    writer.login(&login7());
    writer.take()
}

fn prelogin(mars: bool) -> Prelogin {
    Prelogin {
        version: [0; 6],
        encryption: Encryption::NotSupported,
        instance: String::new(),
        thread_id: None,
        mars,
        trace_id: None,
        fed_auth_required: None,
        nonce: None,
    }
}

fn login7() -> Login7 {
    Login7 {
        tds_version: tds::Version::V7_4.number(),
        user: "visitor".to_owned(),
        password: Password::new(crate::server::PASSWORD),
        ..Login7::default()
    }
}

/// Some packets of any types, whole messages and parts, with bodies of noise behind headers that are often right.
fn packets(random: &mut Prng) -> Vec<u8> {
    let mut all = Vec::new();
    for _ in 0..=random.below(6) {
        let kind = TYPES[random.below(TYPES.len() as u64) as usize];
        let status = [0, 1, 1, 1, 9, 0xFF][random.below(6) as usize];
        let mut body = Vec::new();
        if random.one_in(2) {
            // ALL_HEADERS with the transaction's: what a batch and a call begin with.
            body.extend(22u32.to_le_bytes());
            body.extend(18u32.to_le_bytes());
            body.extend(2u16.to_le_bytes());
            body.extend([0; 8]);
            body.extend(1u32.to_le_bytes());
        }
        if kind == 3 && random.one_in(2) {
            // A procedure by its number, and parameters of noise.
            body.extend(0xFFFFu16.to_le_bytes());
            body.extend((random.below(20) as u16).to_le_bytes());
            body.extend([0, 0]);
        }
        body.extend(noise(random, 4_000));
        all.extend(packet(kind, status, &body));
    }
    all
}

/// Sends what comes before a login, to either port, and waits a little for an answer.
fn before_login(field: &Field, random: &mut Prng, bytes: &[u8]) -> Result<(), String> {
    let port = if random.one_in(4) { field.admin_port } else { field.port };
    let mut wire = Leaving::connect(port, PATIENCE).map_err(text)?;
    answered(&mut wire, bytes);
    Ok(())
}

fn answered(wire: &mut Leaving, bytes: &[u8]) {
    if wire.write_all(bytes).is_ok() {
        let _ = wire.read(&mut [0; 4096]);
    }
}

/// Signs in with MARS, and then streams that begin, end, send and acknowledge in any order.
fn streams(field: &Field, random: &mut Prng) -> Result<(), String> {
    let mut wire = Leaving::connect(field.port, PATIENCE).map_err(text)?;
    let mut writer = RequestWriter::new();
    writer.prelogin(&prelogin(true));
    answered(&mut wire, &writer.take());
    writer.login(&login7());
    answered(&mut wire, &writer.take());
    let mut bytes = Vec::new();
    for _ in 0..=random.below(40) {
        let kind =
            [SmpKind::Syn, SmpKind::Ack, SmpKind::Fin, SmpKind::Data][random.below(4) as usize];
        let mut body = Vec::new();
        if kind == SmpKind::Data {
            let mut text = RequestWriter::new();
            text.batch("SELECT * FROM sys.all_columns");
            body = if random.one_in(2) { text.take() } else { packets(random) };
        }
        let wrong = if random.one_in(10) { random.below(70_000) as u32 } else { 0 };
        let header = SmpHeader {
            kind,
            stream: wild(random, 4, 65_536) as u16,
            length: (SMP_HEADER_BYTES + body.len()) as u32 + wrong,
            sequence: wild(random, 6, u64::from(u32::MAX)) as u32,
            window: wild(random, 8, u64::from(u32::MAX)) as u32,
        };
        bytes.extend(header.encode());
        bytes.extend(body);
    }
    answered(&mut wire, &bytes);
    Ok(())
}
