//! A client of the world: TDS over a simulated connection, with the manners of real drivers and the bad ones of some.
//!
//! It connects when it has something to ask, and again after [`Lost`] for whoever asks it to. A request that takes
//! longer than a driver's time-out gets an attention, and the connection is given up if that is not answered either.

use runtime::clock;
use runtime::net::{Stream, Waiting};
use runtime::task::sleep_ns;
use std::io;
use std::net::SocketAddr;
use stdx::Prng;
use tds::client::{Change, RequestWriter, Token, TokenReader};
use tds::login7::{Login7, Password};
use tds::prelogin::{Encryption, Prelogin};
use tds::{DoneStatus, Frame, Framer, PacketType, Phase};
use telemetry::WaitType;
use workloads::{Answer, Lost, Sql};

/// Where the server of a world listens.
pub const ADDRESS: ([u8; 4], u16) = ([127, 0, 0, 1], 1433);
pub const PASSWORD: &str = "Mill.race.1";
pub const DATABASE: &str = "world";
/// The number under which a cancelled request is told.
pub const CANCELLED: i32 = -2;
/// The number under which a server is told that could not be reached, or that refused the login.
pub const UNREACHED: i32 = -1;

const QUERY_TIMEOUT_NS: u64 = 30_000_000_000;
const ATTENTION_TIMEOUT_NS: u64 = 10_000_000_000;
const LOGIN_TIMEOUT_NS: u64 = 15_000_000_000;
const TOKEN_LIMIT: usize = 1 << 24;

/// How a client behaves.
#[derive(Clone, Copy, Default, Debug)]
pub struct Manners {
    /// One request in so many is cancelled; 0: none.
    pub attention_one_in: u64,
    /// One read in so many comes late.
    pub dawdle_one_in: u64,
    /// SET LOCK_TIMEOUT, in milliseconds.
    pub lock_timeout_ms: Option<u64>,
    pub xact_abort: bool,
}

/// See the file's page.
pub struct Client {
    rng: Prng,
    manners: Manners,
    line: Option<Line>,
    /// What the server said to the last login that failed.
    pub refusal: Option<(i32, String)>,
    lost: bool,
}

struct Line {
    wire: Waiting,
    framer: Framer,
    writer: RequestWriter,
    tokens: TokenReader,
    dawdle_one_in: u64,
}

/// What came in answer to one request.
#[derive(Default)]
struct Reply {
    answer: Answer,
    is_login: bool,
    attention: bool,
}

impl Client {
    pub fn new(rng: Prng, manners: Manners) -> Client {
        Client { rng, manners, line: None, refusal: None, lost: false }
    }

    /// Gives the connection up, if there is one, so that the next call makes another.
    pub fn renew(&mut self) {
        self.line = None;
        self.lost = false;
    }

    fn connect(&mut self) -> io::Result<Line> {
        let stream = Stream::connect(SocketAddr::from(ADDRESS))?;
        let mut framer = Framer::new();
        framer.set_phase(Phase::Client, TOKEN_LIMIT);
        let mut line = Line {
            wire: Waiting::new(stream)?,
            framer,
            writer: RequestWriter::new(),
            tokens: TokenReader::new(TOKEN_LIMIT),
            dawdle_one_in: self.manners.dawdle_one_in,
        };
        line.wire.set_deadline(Some(clock::now_ns() + LOGIN_TIMEOUT_NS));
        line.writer.prelogin(&Prelogin {
            version: [8, 0, 0, 0, 0, 0],
            encryption: Encryption::NotSupported,
            instance: String::new(),
            thread_id: None,
            mars: false,
            trace_id: None,
            fed_auth_required: None,
            nonce: None,
        });
        line.send()?;
        line.prelogin_answer(&mut self.rng)?;
        line.writer.login(&Login7 {
            user: "sa".into(),
            password: Password::new(PASSWORD),
            application: "simulator".into(),
            host: "world".into(),
            database: DATABASE.into(),
            ..Login7::default()
        });
        line.send()?;
        let reply = line.reply(&mut self.rng)?;
        if !reply.is_login {
            self.refusal = reply.answer.errors.into_iter().next();
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let mut options = String::new();
        if self.manners.xact_abort {
            options.push_str("SET XACT_ABORT ON;");
        }
        if let Some(ms) = self.manners.lock_timeout_ms {
            options.push_str(&format!("SET LOCK_TIMEOUT {ms};"));
        }
        if !options.is_empty() {
            line.writer.batch(&options);
            line.send()?;
            line.reply(&mut self.rng)?;
        }
        Ok(line)
    }

    fn ask(&mut self, batch: &str) -> io::Result<Answer> {
        let mut line = match self.line.take() {
            Some(line) => line,
            None => self.connect()?,
        };
        let cancelled = self.manners.attention_one_in;
        let cancelled = cancelled > 0 && self.rng.one_in(cancelled);
        line.wire.set_deadline(Some(clock::now_ns() + QUERY_TIMEOUT_NS));
        line.writer.batch(batch);
        line.send()?;
        let reply = if cancelled {
            // Half of them come together with the request.
            if self.rng.one_in(2) {
                sleep_ns(self.rng.below(30_000_000), WaitType::SleepTask);
            }
            line.cancel(&mut self.rng)?
        } else {
            match line.reply(&mut self.rng) {
                Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                    line.cancel(&mut self.rng)?
                }
                reply => reply?,
            }
        };
        self.line = Some(line);
        Ok(reply.answer)
    }
}

impl Sql for Client {
    fn run(&mut self, batch: &str) -> Result<Answer, Lost> {
        if self.lost {
            return Err(Lost);
        }
        self.ask(batch).map_err(|_| {
            self.line = None;
            self.lost = true;
            Lost
        })
    }
}

fn broken<E: std::fmt::Debug>(error: E) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the server broke the protocol: {error:?}"))
}

impl Line {
    fn send(&mut self) -> io::Result<()> {
        let bytes = self.writer.take();
        self.wire.write_all(&bytes)
    }

    /// Sends an attention and reads up to its answer.
    fn cancel(&mut self, rng: &mut Prng) -> io::Result<Reply> {
        self.wire.set_deadline(Some(clock::now_ns() + ATTENTION_TIMEOUT_NS));
        self.writer.attention();
        self.send()?;
        let mut whole = Reply::default();
        loop {
            let reply = self.reply(rng)?;
            whole.answer.rows.extend(reply.answer.rows);
            whole.answer.errors.extend(reply.answer.errors);
            if reply.attention {
                // It may have ended before: nobody knows from here.
                whole.answer.errors.push((CANCELLED, "cancelled".to_owned()));
                return Ok(whole);
            }
        }
    }

    fn receive(&mut self, rng: &mut Prng) -> io::Result<()> {
        if self.dawdle_one_in > 0 && rng.one_in(self.dawdle_one_in) {
            sleep_ns(rng.below(2_000_000_000), WaitType::SleepTask);
        }
        let n = self.wire.read(self.framer.space())?;
        if n == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.framer.received(n);
        Ok(())
    }

    fn prelogin_answer(&mut self, rng: &mut Prng) -> io::Result<()> {
        loop {
            match self.framer.next().map_err(broken)? {
                Some(Frame::Reply { last: true, .. }) => return Ok(()),
                Some(Frame::Message { kind: PacketType::Prelogin, .. }) => return Ok(()),
                Some(Frame::Reply { .. }) => {}
                Some(other) => return Err(broken(other)),
                None => self.receive(rng)?,
            }
        }
    }

    /// One answer, to its end.
    fn reply(&mut self, rng: &mut Prng) -> io::Result<Reply> {
        let mut reply = Reply::default();
        loop {
            while let Some(token) = self.tokens.next().map_err(broken)? {
                match token {
                    Token::Row => reply.answer.rows.push(self.tokens.row().to_vec()),
                    Token::Message(m) if m.class > 10 => {
                        reply.answer.errors.push((m.number, m.text));
                    }
                    Token::Done(done) => reply.attention |= done.status.has(DoneStatus::ATTENTION),
                    Token::LoginAck(_) => reply.is_login = true,
                    Token::Change(Change::BeginTransaction(id)) => self.writer.set_transaction(id),
                    Token::Change(
                        Change::CommitTransaction(_) | Change::RollbackTransaction(_),
                    ) => self.writer.set_transaction(0),
                    _ => {}
                }
            }
            if self.tokens.is_at_end() {
                self.tokens.push(&[], false);
                return Ok(reply);
            }
            match self.framer.next().map_err(broken)? {
                Some(Frame::Reply { data, last }) => self.tokens.push(data, last),
                Some(other) => return Err(broken(other)),
                None => self.receive(rng)?,
            }
        }
    }
}
