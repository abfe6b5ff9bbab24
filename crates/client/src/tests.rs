//! Against a server of a few lines: what is said is what is told.

use crate::{Address, ClientError, Connection, Encrypt};
use executor::Collected;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use tds::prelogin::{Encryption, PreloginReply};
use tds::request::Batch;
use tds::{
    Column, Done, DoneKind, DoneStatus, EnvChange, Frame, Framer, Message, PacketType, Phase,
    TokenWriter,
};
use types::{SqlType, Value};

#[test]
fn addresses() {
    let a = Address::parse("mssql://app:p%40ss%3a@db.example:1500/sales?encrypt=strict&trust=any")
        .unwrap();
    assert_eq!((a.host.as_str(), a.port, a.user.as_str()), ("db.example", 1500, "app"));
    assert_eq!(a.password.as_ref().map(|p| p.reveal()), Some("p@ss:"));
    assert_eq!(a.database.as_deref(), Some("sales"));
    assert_eq!((a.encrypt, a.trust_any), (Encrypt::Strict, true));
    assert!(!format!("{a:?} {a}").contains("p@ss"));
    let local = Address::parse("localhost").unwrap();
    assert_eq!((local.port, local.user.as_str(), local.encrypt), (1433, "sa", Encrypt::No));
    assert_eq!(Address::parse("[::1]:7").unwrap().port, 7);
    assert_eq!(Address::parse("sa@10.0.0.9,1444").unwrap().encrypt, Encrypt::Yes);
    for bad in [
        "",
        "mssql://",
        "http://x",
        "x:99999",
        "x?encrypt=perhaps",
        "x?colour=red",
        "a:%z@x",
        "[::1",
    ] {
        assert!(matches!(Address::parse(bad), Err(ClientError::Address(_))), "{bad}");
    }
}

/// One side of a conversation.
struct Peer {
    stream: TcpStream,
    framer: Framer,
    writer: TokenWriter,
}

impl Peer {
    fn accept(listener: &TcpListener) -> Peer {
        let (stream, _) = listener.accept().unwrap();
        Peer { stream, framer: Framer::new(), writer: TokenWriter::new(51) }
    }

    fn message(&mut self) -> (PacketType, Vec<u8>) {
        loop {
            match self.framer.next().unwrap() {
                Some(Frame::Message { kind, data, .. }) => return (kind, data.to_vec()),
                Some(other) => panic!("{other:?}"),
                None => {
                    let n = self.stream.read(self.framer.space()).unwrap();
                    assert!(n > 0, "the client is gone");
                    self.framer.received(n);
                }
            }
        }
    }

    fn send(&mut self) {
        self.writer.finish();
        self.send_packets();
    }

    fn send_packets(&mut self) {
        let bytes = self.writer.take_full_packets();
        self.stream.write_all(&bytes).unwrap();
    }

    fn prelogin(&mut self, encryption: Encryption) {
        assert_eq!(self.message().0, PacketType::Prelogin);
        self.writer.prelogin(&PreloginReply {
            mars: false,
            version: (16, 0, 1),
            encryption,
            fed_auth_required: None,
        });
        self.send_packets();
    }

    fn done(&mut self, status: DoneStatus, rows: u64) {
        self.writer.done(Done { kind: DoneKind::Done, status, command: 0xC1, rows });
    }
}

#[test]
fn a_batch_and_its_answer() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address =
        Address::parse(&format!("mssql://app:secret@{}/sales", listener.local_addr().unwrap()))
            .unwrap();
    let server = thread::spawn(move || {
        let mut peer = Peer::accept(&listener);
        peer.prelogin(Encryption::NotSupported);
        let (kind, data) = peer.message();
        assert_eq!(kind, PacketType::Login7);
        let login = tds::login7::Login7::decode(&data).unwrap();
        assert_eq!(
            (login.user.as_str(), login.password.reveal(), login.database.as_str()),
            ("app", "secret", "sales")
        );
        peer.framer.set_phase(Phase::LoggedIn, 1 << 20);
        peer.writer.env_change(&EnvChange::Database { new: "sales", old: "master" });
        peer.writer.login_ack("test", (16, 0, 1));
        peer.done(DoneStatus::FINAL, 0);
        peer.send();
        let (kind, data) = peer.message();
        assert_eq!(kind, PacketType::Batch);
        assert_eq!(Batch::decode(&data).unwrap().text, "SELECT 1");
        peer.writer.columns([Column::new("n", SqlType::Int)]);
        for n in 0..3 {
            peer.writer.row(&[Value::Int(n)]).unwrap();
        }
        peer.done(DoneStatus::COUNT, 3);
        peer.writer.message(&Message {
            number: 50000,
            state: 1,
            class: 16,
            text: "no",
            server: "s",
            procedure: "",
            line: 2,
        });
        peer.done(DoneStatus::ERROR, 0);
        peer.send();
    });
    let mut connection = Connection::open(&address, "test").unwrap();
    assert_eq!(connection.database(), "sales");
    let mut told = Collected::default();
    connection.execute("SELECT 1", &mut told).unwrap();
    assert_eq!(told.sets[0].rows, [[Value::Int(0)], [Value::Int(1)], [Value::Int(2)]]);
    assert_eq!(told.errors(), [50000]);
    server.join().unwrap();
    assert!(matches!(connection.execute("x", &mut told), Err(ClientError::Io(_))));
}

#[test]
fn a_refusal_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address::parse(&listener.local_addr().unwrap().to_string()).unwrap();
    let server = thread::spawn(move || {
        let mut peer = Peer::accept(&listener);
        peer.prelogin(Encryption::Off);
        peer.message();
        let text = "Login failed for user 'sa'.";
        peer.writer.message(&Message {
            number: 18456,
            state: 1,
            class: 14,
            text,
            server: "s",
            procedure: "",
            line: 1,
        });
        peer.done(DoneStatus::ERROR, 0);
        peer.send();
        let mut peer = Peer::accept(&listener);
        peer.prelogin(Encryption::Required);
    });
    match Connection::open(&address, "test") {
        Err(ClientError::Refused(text)) => {
            assert!(text.contains("18456") && text.contains("Login failed"))
        }
        other => panic!("{:?}", other.err()),
    }
    assert!(matches!(Connection::open(&address, "test"), Err(ClientError::Tls(_))));
    server.join().unwrap();
}
