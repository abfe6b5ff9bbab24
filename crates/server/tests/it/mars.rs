//! Several streams of requests on one connection, and what may go wrong with them.

use crate::support::{Answer, Client, Served, login, prelogin, serve, timed};
use server::Limits;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use tds::client::{RequestWriter, Token, TokenReader};
use tds::prelogin::{Encryption, Prelogin};
use tds::{Frame, Framer, Phase, SMP_FIRST_WINDOW, SMP_HEADER_BYTES, SmpHeader, SmpKind};
use types::Value;

/// One stream, as the client sees it.
struct Half {
    framer: Framer,
    reader: TokenReader,
    sent: u32,
    may_send: u32,
    received: u32,
    ended: bool,
}

/// A client with streams.
struct Streams {
    stream: TcpStream,
    halves: BTreeMap<u16, Half>,
}

fn logged_in(served: &Served) -> TcpStream {
    let mut client = Client::new(served.raw());
    client.writer.prelogin(&Prelogin { mars: true, ..prelogin(Encryption::NotSupported) });
    client.send();
    client.packet(|data, _| assert!(data.ends_with(&[1]), "MARS is granted")).expect("a reply");
    assert!(client.log_in(&login()).is_login());
    client.stream
}

impl Streams {
    fn new(served: &Served) -> Streams {
        Streams { stream: logged_in(served), halves: BTreeMap::new() }
    }

    fn send(&mut self, id: u16, kind: SmpKind, sequence: u32, window: u32, payload: &[u8]) {
        let length = (SMP_HEADER_BYTES + payload.len()) as u32;
        let header = SmpHeader { kind, stream: id, length, sequence, window };
        self.stream.write_all(&[&header.encode(), payload].concat()).expect("sent");
    }

    fn open(&mut self, id: u16) {
        let mut framer = Framer::new();
        framer.set_phase(Phase::Client, usize::MAX);
        let reader = TokenReader::new(1 << 30);
        let half =
            Half { framer, reader, sent: 0, may_send: SMP_FIRST_WINDOW, received: 0, ended: false };
        self.halves.insert(id, half);
        self.send(id, SmpKind::Syn, 0, SMP_FIRST_WINDOW, &[]);
    }

    /// Sends a message, packet by packet, as the server makes room.
    fn say(&mut self, id: u16, write: impl FnOnce(&mut RequestWriter)) {
        let mut writer = RequestWriter::new();
        write(&mut writer);
        let bytes = writer.take();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let length = usize::from(u16::from_be_bytes([rest[2], rest[3]]));
            while self.halves[&id].sent + 1 > self.halves[&id].may_send {
                self.hear();
            }
            let half = self.halves.get_mut(&id).expect("open");
            half.sent += 1;
            let (sent, window) = (half.sent, half.received + SMP_FIRST_WINDOW);
            self.send(id, SmpKind::Data, sent, window, &rest[..length]);
            rest = &rest[length..];
        }
    }

    /// One packet of whichever stream.
    fn hear(&mut self) -> u16 {
        let mut header = [0; SMP_HEADER_BYTES];
        self.stream.read_exact(&mut header).expect("a packet");
        let header = SmpHeader::decode(&header).expect("a header");
        let mut payload = vec![0; header.length as usize - SMP_HEADER_BYTES];
        self.stream.read_exact(&mut payload).expect("a packet's data");
        let half = self.halves.get_mut(&header.stream).expect("a stream of ours");
        half.may_send = half.may_send.max(header.window);
        match header.kind {
            SmpKind::Data => {
                half.received += 1;
                assert_eq!(header.sequence, half.received, "in order");
                half.framer.push(&payload);
            }
            SmpKind::Fin => half.ended = true,
            SmpKind::Ack => {}
            SmpKind::Syn => panic!("the server opens no streams"),
        }
        header.stream
    }

    /// The answer of a stream, of whose packets at most `most` are read.
    fn read(&mut self, id: u16, most: usize) -> (Answer, bool) {
        let mut answer = Answer::default();
        for _ in 0..most {
            loop {
                let half = self.halves.get_mut(&id).expect("open");
                if let Some(Frame::Reply { data, last }) = half.framer.next().expect("a reply") {
                    half.reader.push(data, last);
                    break;
                }
                self.hear();
            }
            let half = self.halves.get_mut(&id).expect("open");
            while let Some(token) = half.reader.next().expect("tokens") {
                match &token {
                    Token::Row => answer.rows.push(half.reader.row().to_vec()),
                    Token::Message(message) => answer.messages.push(message.clone()),
                    Token::Done(done) => answer.dones.push(*done),
                    _ => {}
                }
                answer.tokens.push(token);
            }
            let (sent, window) = (half.sent, half.received + SMP_FIRST_WINDOW);
            let whole = half.reader.is_at_end();
            if whole {
                half.reader = TokenReader::new(1 << 30);
            }
            self.send(id, SmpKind::Ack, sent, window, &[]);
            if whole {
                return (answer, true);
            }
        }
        (answer, false)
    }

    fn answer(&mut self, id: u16) -> Answer {
        self.read(id, usize::MAX).0
    }

    fn query(&mut self, id: u16, text: &str) -> Answer {
        self.say(id, |writer| writer.batch(text));
        self.answer(id)
    }
}

const MANY: &str = "SELECT value, REPLICATE('x', 1000) AS x FROM GENERATE_SERIES(1, 20000)";

#[test]
fn answers_half_read_wait_while_others_are_given() {
    let served = serve(Limits::default());
    let mut client = Streams::new(&served);
    for id in 0..4 {
        client.open(id);
    }
    // 20 MB, of which a few packets are read; more than a stream keeps in memory.
    for id in 0..3 {
        client.say(id, |writer| writer.batch(MANY));
    }
    let mut rows: Vec<usize> = (0..3).map(|id| client.read(id, 3).0.rows.len()).collect();
    let spid = client.query(3, "SELECT @@SPID").rows;
    assert!(rows.iter().all(|&rows| (1..100).contains(&rows)), "{rows:?}");
    // All in turn, and the others' answers between.
    let mut left = vec![0u16, 1, 2];
    while !left.is_empty() {
        left.retain(|&id| {
            let (answer, whole) = client.read(id, 300);
            rows[usize::from(id)] += answer.rows.len();
            !whole
        });
        assert_eq!(client.query(3, "SELECT @@SPID").rows, spid);
    }
    assert_eq!(rows, [20_000; 3]);
    // One session: what one stream does, the others see.
    client.query(0, "BEGIN TRANSACTION; CREATE TABLE #t (a int); INSERT #t VALUES (5)");
    assert_eq!(
        client.query(1, "SELECT a, @@TRANCOUNT FROM #t").rows,
        [[Value::Int(5), Value::Int(1)]]
    );
    client.query(2, "ROLLBACK");
    assert_eq!(client.query(3, "SELECT @@TRANCOUNT").rows, [[Value::Int(0)]]);
    // A request of many packets.
    let long = format!("SELECT LEN('{}') AS n", "y".repeat(300_000));
    assert_eq!(client.query(2, &long).rows, [[Value::BigInt(300_000)]]);
}

#[test]
fn an_attention_and_an_end_stop_one_stream() {
    let served = serve(Limits::default());
    let mut client = Streams::new(&served);
    (0..4).for_each(|id| client.open(id));
    client.say(0, |writer| writer.batch(MANY));
    let first = client.read(0, 2).0.rows.len();
    // Of a request that runs, of one that waits for its turn, and of an answer that is kept.
    client.say(1, |writer| writer.batch("WAITFOR DELAY '00:01:00'"));
    client.say(2, |writer| writer.batch("WAITFOR DELAY '00:01:00'"));
    client.say(2, |writer| writer.attention());
    std::thread::sleep(Duration::from_millis(100));
    client.say(1, |writer| writer.attention());
    let ((), took) = timed(|| {
        for id in [1, 2] {
            assert!(!client.answer(id).ends_with_attention());
            assert!(client.answer(id).ends_with_attention());
        }
    });
    assert!(took < Duration::from_secs(20), "{took:?}");
    client.say(3, |writer| writer.batch(MANY));
    assert_eq!(client.query(1, "SELECT 1").rows, [[Value::Int(1)]]);
    client.say(3, |writer| writer.attention());
    client.answer(3);
    assert!(client.answer(3).ends_with_attention());
    assert_eq!(first + client.answer(0).rows.len(), 20_000);
    // The end of a stream ends what it asked for.
    client.say(2, |writer| writer.batch("WAITFOR DELAY '00:01:00'"));
    client.send(2, SmpKind::Fin, 0, 100, &[]);
    let ((), took) = timed(|| {
        assert_eq!(client.query(1, "SELECT 2").rows, [[Value::Int(2)]]);
    });
    assert!(took < Duration::from_secs(20), "{took:?}");
    assert!(client.halves[&2].ended);
    // Its number may be used again.
    client.open(2);
    assert_eq!(client.query(2, "SELECT 3").rows, [[Value::Int(3)]]);
}

#[test]
fn a_hundred_streams() {
    let served = serve(Limits::default());
    let mut client = Streams::new(&served);
    for id in 0..100 {
        client.open(id);
        client.say(id, |writer| writer.batch("SELECT value FROM GENERATE_SERIES(1, 3000)"));
    }
    let mut rows = [0; 100];
    let mut left: Vec<u16> = (0..100).collect();
    while !left.is_empty() {
        left.retain(|&id| {
            let (answer, whole) = client.read(id, 1);
            rows[usize::from(id)] += answer.rows.len();
            !whole
        });
    }
    assert_eq!(rows, [3000; 100]);
}

#[test]
fn damaged_headers_cost_their_connection_and_no_other() {
    let served = serve(Limits::default());
    let mut other = Streams::new(&served);
    other.open(7);
    let closed = |mut stream: TcpStream, what: &str| {
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time-out");
        let mut rest = Vec::new();
        if let Err(error) = stream.read_to_end(&mut rest) {
            let kind = error.kind();
            assert_eq!(kind, std::io::ErrorKind::ConnectionReset, "{what}: {error}");
        }
    };
    let packet = |kind: SmpKind, stream: u16, sequence: u32, payload: &[u8]| {
        let length = (SMP_HEADER_BYTES + payload.len()) as u32;
        let header = SmpHeader { kind, stream, length, sequence, window: 4 };
        [&header.encode()[..], payload].concat()
    };
    let batch = [1, 1, 0, 14, 0, 0, 0, 0, 4, 0, 0, 0, 0x20, 0];
    let syn = packet(SmpKind::Syn, 0, 0, &[]);
    let wrong = [
        ("no header", b"GET / HTTP/1.1\r\n".to_vec()),
        ("a packet of TDS", batch.to_vec()),
        ("data of no stream", packet(SmpKind::Data, 3, 1, &batch)),
        ("a stream twice", [&syn[..], &syn].concat()),
        ("a number left out", [&syn[..], &packet(SmpKind::Data, 0, 2, &batch)].concat()),
        ("an answer", [&syn[..], &packet(SmpKind::Data, 0, 1, &[4, 1, 0, 8, 0, 0, 0, 0])].concat()),
        ("too many", (0..=1024).flat_map(|id| packet(SmpKind::Syn, id, 0, &[])).collect()),
    ];
    for (what, bytes) in wrong {
        let mut stream = logged_in(&served);
        let _ = stream.write_all(&bytes);
        closed(stream, what);
        assert_eq!(other.query(7, "SELECT 1").rows, [[Value::Int(1)]], "after {what}");
    }
    // Bits and lengths of a good beginning, damaged.
    let good = [&syn[..], &packet(SmpKind::Data, 0, 1, &batch), &packet(SmpKind::Fin, 0, 1, &[])];
    let good = good.concat();
    let mut seed = 0x9E37_79B9_7F4A_7C15u64;
    for _ in 0..150 {
        let mut bytes = good.clone();
        for _ in 0..3 {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            let at = (seed >> 8) as usize % bytes.len();
            bytes[at] ^= 1 << (seed % 8);
        }
        bytes.truncate(bytes.len() - (seed >> 40) as usize % 20);
        let mut stream = logged_in(&served);
        let _ = stream.write_all(&bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        closed(stream, &format!("{bytes:x?}"));
    }
    assert_eq!(other.query(7, "SELECT 2").rows, [[Value::Int(2)]]);
    // Before the login there are no streams.
    let mut early = served.raw();
    early.write_all(&syn).expect("sent");
    closed(early, "before the login");
}
