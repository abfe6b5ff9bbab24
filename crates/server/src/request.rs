//! One message of a session: what it asks for, done, and answered in one message.

use crate::bulk;
use crate::connection::{Connection, Flow, Stage, Work};
use crate::recovery::Recovery;
use crate::sink::Answer;
use executor::ColumnMeta;
use runtime::task::NoSuspend;
use session::{BeginNext, RpcParam, RpcValue, Session, TableValue};
use std::sync::Arc;
use tds::request::{Batch, NextTransaction, TransactionRequest};
use tds::rpc::{self, RpcMessage};
use tds::{Frame, PACKET_BYTES_MAX, PacketType, ProtocolError, Status, Version};
use tracing::warn;

/// A message; nothing of it is left in the receive buffer.
enum Request {
    /// One that is longer than a packet, not read yet: that takes as long as its sender likes, and the connection's state
    /// is not held meanwhile.
    Long {
        kind: PacketType,
        data: Vec<u8>,
    },
    Batch(String),
    Calls(Vec<rpc::Rpc>),
    Transaction(TransactionRequest),
    /// A packet of a bulk load: the first, or one that nobody waits for any more.
    Bulk {
        data: Vec<u8>,
        last: bool,
    },
    /// Given up by the client before its end.
    Ignored,
    Attention,
    Refused(ProtocolError),
}

/// Serves the next message, if one is whole. Suspends.
pub(crate) fn serve_next(connection: &Arc<Connection>, work: &mut Work) -> Option<Flow> {
    let Work { writer, stage, bulk, recovery } = work;
    let version = writer.version();
    let Stage::Session(session) = stage else { return Some(Flow::Close) };
    let (stream, (request, status)) = connection.with_state(|state| {
        let mut next = state.next_request(|frame| match frame {
            Ok(frame) => read(frame, version),
            Err(error) => (Request::Refused(error), Status(0)),
        })?;
        if let (_, (Request::Long { data, .. }, _)) = &mut next {
            *data = state.framer().take_message();
        }
        Some(next)
    })?;
    if let Request::Attention = request {
        // What it was to stop had ended already.
        writer.attention();
        connection.transmit(writer);
        connection.end_request();
        return Some(Flow::Continue);
    }
    if let (Request::Bulk { last: false, .. }, None) = (&request, bulk.get(&stream)) {
        // Of a load that failed: it was answered, or will be with its last packet.
        connection.end_request();
        return Some(Flow::Continue);
    }
    let cancel = session.cancel_flag();
    connection.begin_request(&cancel);
    let request = match request {
        Request::Long { kind, data } => {
            let _request = runtime::task::under(cancel.clone(), 0);
            message(kind, &data, version)
        }
        request => request,
    };
    let mut answer = Answer::new(connection, writer);
    if status.resets() {
        session.reset(status.keeps_transaction(), &mut answer);
        recovery.iter_mut().for_each(Recovery::reset);
    }
    let announced = bulk.remove(&stream);
    let fatal = match request {
        Request::Bulk { data, last } if announced.is_some() => {
            let insert = announced.unwrap_or_default();
            bulk::load(session, &insert, &data, last, &mut answer, connection)
        }
        Request::Batch(text) if session::is_insert_bulk(&text) => {
            if let Some(insert) = bulk::announce(session, text, &mut answer) {
                bulk.insert(stream, insert);
            }
            false
        }
        request => run(session, request, &mut answer, connection),
    };
    if let Some(recovery) = recovery {
        answer.tell_state(recovery.news(session));
    }
    answer.finish();
    connection.end_request();
    Some(if fatal || session.has_ended() { Flow::Close } else { Flow::Continue })
}

fn read(frame: Frame<'_>, version: Version) -> (Request, Status) {
    match frame {
        Frame::Message { kind, status, data } => {
            if data.len() > PACKET_BYTES_MAX as usize {
                return (Request::Long { kind, data: Vec::new() }, status);
            }
            // The connection's state is held.
            let _held = NoSuspend::new();
            (message(kind, data, version), status)
        }
        Frame::Bulk { status, last, data, .. } => {
            (Request::Bulk { data: data.to_vec(), last }, status)
        }
        Frame::Ignored { .. } => (Request::Ignored, Status(0)),
        Frame::Attention => (Request::Attention, Status(0)),
        Frame::Reply { .. } => {
            let found = PacketType::Reply as u8;
            (Request::Refused(ProtocolError::PacketType { found, login: false }), Status(0))
        }
    }
}

/// What the data of a whole message ask for.
fn message(kind: PacketType, data: &[u8], version: Version) -> Request {
    let request = match kind {
        PacketType::Batch => Batch::decode_of(data, version).map(|b| Request::Batch(b.text)),
        PacketType::Rpc => RpcMessage::decode_of(data, version).map(|m| Request::Calls(m.calls)),
        PacketType::TransactionManager => {
            TransactionRequest::decode_of(data, version).map(|(_, t)| Request::Transaction(t))
        }
        _ => Err(ProtocolError::PacketType { found: kind as u8, login: false }),
    };
    request.unwrap_or_else(Request::Refused)
}

/// Does what was asked; whether the connection cannot go on.
fn run(
    session: &mut Session,
    request: Request,
    answer: &mut Answer<'_>,
    connection: &Connection,
) -> bool {
    match request {
        Request::Batch(text) => {
            // Whether it failed is in the answer.
            let _ = session.execute(&text, answer);
        }
        Request::Calls(calls) => {
            for call in calls {
                if !call.no_execute {
                    let _ = session.call(&to_session(call), answer);
                }
                if session.has_ended() || connection.is_stopped() {
                    break;
                }
            }
        }
        Request::Transaction(request) => {
            let _ = session.transaction(&transaction(request), answer);
        }
        Request::Bulk { .. } => {
            answer.say(40510, 1, 16, "Bulk load without INSERT BULK before it is not supported.");
            answer.fail();
        }
        Request::Ignored => answer.fail(),
        Request::Attention => {}
        Request::Long { .. } => stdx::fatal!("a message that was not read"),
        Request::Refused(error) => {
            warn!(connection = connection.id, peer = %connection.peer(), %error, "bad request");
            answer.say(error.number(), 1, error.severity(), &error.to_string());
            answer.fail();
            return error.is_fatal();
        }
    }
    false
}

fn to_session(call: rpc::Rpc) -> session::Rpc {
    let params = call.parameters.into_iter().map(|parameter| RpcParam {
        name: parameter.name,
        output: parameter.output,
        default: parameter.default,
        ty: parameter.ty,
        value: match parameter.value {
            rpc::RpcValue::Scalar(value) => RpcValue::Scalar(value),
            rpc::RpcValue::Table(table) => RpcValue::Table(to_table(table)),
        },
    });
    session::Rpc {
        procedure: match call.procedure {
            rpc::RpcName::Name(name) => session::RpcName::Name(name),
            rpc::RpcName::Id(id) => session::RpcName::Id(id),
        },
        params: params.collect(),
        recompile: call.recompile,
    }
}

fn to_table(table: tds::Table) -> TableValue {
    let defaults = table.columns.iter().enumerate().filter(|(_, column)| column.default);
    let defaults = defaults.map(|(at, _)| at).collect();
    let columns = table
        .columns
        .into_iter()
        .map(|column| ColumnMeta::new(column.name, column.ty, column.nullable));
    TableValue {
        schema: table.schema,
        name: table.type_name,
        columns: columns.collect(),
        defaults,
        rows: table.rows,
    }
}

fn transaction(request: TransactionRequest) -> session::TransactionRequest {
    // 0: as the session has it.
    let level = |isolation: u8| (isolation != 0).then_some(isolation);
    let next = |next: Option<NextTransaction>| {
        next.map(|next| BeginNext { isolation: level(next.isolation), name: next.name })
    };
    match request {
        TransactionRequest::Begin { isolation, name } => {
            session::TransactionRequest::Begin { isolation: level(isolation), name }
        }
        TransactionRequest::Commit { name, then_begin } => {
            session::TransactionRequest::Commit { name, then_begin: next(then_begin) }
        }
        TransactionRequest::Rollback { name, then_begin } => {
            session::TransactionRequest::Rollback { name, then_begin: next(then_begin) }
        }
        TransactionRequest::Save { name } => session::TransactionRequest::Save { name },
    }
}
