//! A server on a folder of its own, and a client that says exactly what a test tells it to.
#![allow(dead_code, reason = "no test uses all of it")]

use device::{IoMode, RealFs};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use server::{Config, Limits, Origin, Server};
use session::{Instance, InstanceConfig};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tds::client::{RequestWriter, ServerMessage, Token, TokenReader};
use tds::login7::{Login7, Password};
use tds::prelogin::{Encryption, Prelogin};
use tds::{Done, DoneStatus, Frame, Framer, PacketType, Phase};
use types::Value;

pub const PASSWORD: &str = "Mill.race.1";

/// A server that ends, with its folder, when dropped.
pub struct Served {
    pub instance: Arc<Instance>,
    pub server: Server,
    folder: PathBuf,
}

pub fn serve(limits: Limits) -> Served {
    serve_on(Vec::new(), limits)
}

/// With a scheduler for each of `cpus`; none: for each that this process may use.
pub fn serve_on(cpus: Vec<usize>, limits: Limits) -> Served {
    serve_with(|config| config.cpus = cpus, limits)
}

pub fn serve_with(change: impl FnOnce(&mut InstanceConfig), limits: Limits) -> Served {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("millrace-server-{}-{n}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let fs = RealFs::new(IoMode::Auto).expect("I/O");
    let mut config = InstanceConfig::new(&folder, fs);
    config.buffer_pool_bytes = 16 << 20;
    change(&mut config);
    let instance = Instance::open(config).expect("an instance");
    let given = |name: &str| (name == "MILLRACE_SA_PASSWORD").then(|| PASSWORD.to_owned());
    instance.security().first_start(&given).expect("a password");
    let config = Config {
        listen: vec![SocketAddr::from(([127, 0, 0, 1], 0)).into()],
        certificate: Some(Origin::Folder(folder.clone())),
        limits,
        admin: Some(([127, 0, 0, 1], 0).into()),
    };
    let server = Server::start(&instance, config).expect("a server");
    Served { instance, server, folder }
}

impl Served {
    pub fn address(&self) -> SocketAddr {
        self.server.addresses()[0]
    }

    pub fn certificate(&self) -> PathBuf {
        self.folder.join("server-certificate.pem")
    }

    pub fn raw(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address()).expect("connected");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time-out");
        stream.set_nodelay(true).expect("no delay");
        stream
    }

    /// Logged in, in the clear.
    pub fn client(&self) -> Client<TcpStream> {
        let mut client = Client::new(self.raw());
        client.prelogin(Encryption::NotSupported);
        let answer = client.log_in(&login());
        assert!(answer.is_login(), "{answer:?}");
        client
    }

    /// At another address of the server, before its login.
    pub fn raw_client(&self, address: SocketAddr) -> Client<TcpStream> {
        let stream = TcpStream::connect(address).expect("connected");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time-out");
        let mut client = Client::new(stream);
        client.prelogin(Encryption::NotSupported);
        client
    }

    /// Logged in there.
    pub fn client_at(&self, address: SocketAddr) -> Client<TcpStream> {
        let mut client = self.raw_client(address);
        let answer = client.log_in(&login());
        assert!(answer.is_login(), "{answer:?}");
        client
    }

    pub fn tls(&self, strict: bool) -> ClientConnection {
        let mut roots = RootCertStore::empty();
        let own = CertificateDer::from_pem_file(self.certificate()).expect("the certificate");
        roots.add(own).expect("a root");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        if strict {
            config.alpn_protocols = vec![b"tds/8.0".to_vec()];
        }
        let name = ServerName::try_from("localhost").expect("a name");
        ClientConnection::new(Arc::new(config), name).expect("TLS")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        assert!(self.server.stop(20_000_000_000), "connections are left");
        self.instance.shutdown().expect("closed");
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

pub fn login() -> Login7 {
    Login7 {
        user: "sa".into(),
        password: Password::new(PASSWORD),
        application: "a test".into(),
        host: "here".into(),
        ..Login7::default()
    }
}

/// Everything of one answer.
#[derive(Debug, Default)]
pub struct Answer {
    pub rows: Vec<Vec<Value>>,
    pub messages: Vec<ServerMessage>,
    pub dones: Vec<Done>,
    pub tokens: Vec<Token>,
}

impl Answer {
    pub fn errors(&self) -> Vec<i32> {
        self.messages.iter().filter(|m| m.class > 10).map(|m| m.number).collect()
    }

    pub fn is_login(&self) -> bool {
        self.tokens.iter().any(|token| matches!(token, Token::LoginAck(_)))
    }

    pub fn ends_with_attention(&self) -> bool {
        self.dones.last().is_some_and(|done| done.status.has(DoneStatus::ATTENTION))
    }
}

pub struct Client<S> {
    pub stream: S,
    pub framer: Framer,
    pub writer: RequestWriter,
}

impl<S: Read + Write> Client<S> {
    pub fn new(stream: S) -> Client<S> {
        let mut framer = Framer::new();
        framer.set_phase(Phase::Client, usize::MAX);
        Client { stream, framer, writer: RequestWriter::new() }
    }

    /// Sends what has been written.
    pub fn send(&mut self) {
        let bytes = self.writer.take();
        self.stream.write_all(&bytes).expect("sent");
        self.stream.flush().expect("sent");
    }

    pub fn prelogin(&mut self, encryption: Encryption) {
        self.writer.prelogin(&prelogin(encryption));
        self.send();
        self.packet(|_, _| ()).expect("an answer to PRELOGIN");
    }

    pub fn log_in(&mut self, login: &Login7) -> Answer {
        self.writer.login(login);
        self.send();
        self.answer().expect("an answer to LOGIN7")
    }

    pub fn query(&mut self, text: &str) -> Answer {
        self.writer.batch(text);
        self.send();
        self.answer().expect("an answer")
    }

    /// One packet of a reply.
    pub fn packet<R>(&mut self, take: impl FnOnce(&[u8], bool) -> R) -> io::Result<R> {
        loop {
            match self.framer.next().map_err(io::Error::other)? {
                Some(Frame::Reply { data, last }) => return Ok(take(data, last)),
                Some(Frame::Message { kind: PacketType::Prelogin, data, .. }) => {
                    return Ok(take(data, true));
                }
                Some(other) => return Err(io::Error::other(format!("{other:?}"))),
                None => {}
            }
            let n = self.stream.read(self.framer.space())?;
            if n == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.framer.received(n);
        }
    }

    /// The whole answer to one request.
    pub fn answer(&mut self) -> io::Result<Answer> {
        let mut reader = TokenReader::new(1 << 30);
        let mut answer = Answer::default();
        loop {
            self.packet(|data, last| reader.push(data, last))?;
            while let Some(token) = reader.next().map_err(io::Error::other)? {
                match &token {
                    Token::Row => answer.rows.push(reader.row().to_vec()),
                    Token::Message(message) => answer.messages.push(message.clone()),
                    Token::Done(done) => answer.dones.push(*done),
                    _ => {}
                }
                answer.tokens.push(token);
            }
            if reader.is_at_end() {
                return Ok(answer);
            }
        }
    }

    /// Answers up to the one to an attention: that of what it stopped, if it stopped it, and its own.
    pub fn stopped(&mut self) -> Vec<Answer> {
        let mut answers = Vec::new();
        loop {
            answers.push(self.answer().expect("an answer"));
            if answers.last().is_some_and(Answer::ends_with_attention) {
                return answers;
            }
        }
    }

    /// The peer closes without a further word (or after a reset).
    pub fn is_closed(&mut self) -> bool {
        let mut rest = [0; 4096];
        loop {
            match self.stream.read(&mut rest) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(error) => {
                    return !matches!(
                        error.kind(),
                        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                    );
                }
            }
        }
    }
}

pub fn prelogin(encryption: Encryption) -> Prelogin {
    Prelogin {
        version: [8, 0, 0, 0, 0, 0],
        encryption,
        instance: String::new(),
        thread_id: None,
        mars: false,
        trace_id: None,
        fed_auth_required: None,
        nonce: None,
    }
}

/// The TLS handshake of TDS 7.x: in PRELOGIN packets.
pub fn shake_hands(client: &mut Client<TcpStream>, tls: &mut ClientConnection) {
    while tls.is_handshaking() {
        let mut out = Vec::new();
        while tls.wants_write() {
            tls.write_tls(&mut out).expect("written");
        }
        if !out.is_empty() {
            client.writer.tls_handshake(&out);
            client.send();
        }
        if tls.is_handshaking() {
            let data = client.packet(|data, _| data.to_vec()).expect("a handshake packet");
            let mut rest = &data[..];
            while !rest.is_empty() {
                tls.read_tls(&mut rest).expect("read");
                tls.process_new_packets().expect("TLS");
            }
        }
    }
}

/// The same client, through TLS from here on.
pub fn encrypted(
    client: Client<TcpStream>,
    tls: ClientConnection,
) -> Client<StreamOwned<ClientConnection, TcpStream>> {
    Client::new(StreamOwned::new(tls, client.stream))
}

/// How long `f` takes.
pub fn timed<R>(f: impl FnOnce() -> R) -> (R, Duration) {
    let began = Instant::now();
    let result = f();
    (result, began.elapsed())
}

/// Waits until something holds, a minute at most.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < until, "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
