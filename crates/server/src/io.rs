//! Bytes between the socket and the protocol: in the clear, or through TLS.
//!
//! Three layers, in the order in which a connection may pass through them:
//!
//! | layer | bytes received go | bytes sent go |
//! |---|---|---|
//! | `Plain` | to the framer | to the socket |
//! | `Handshake` | to the framer; the payload of its PRELOGIN packets to TLS | in PRELOGIN packets to the socket |
//! | `Tls` | to TLS, what it decrypts to the framer | to TLS, what it encrypts to the socket |
//!
//! `Plain` follows `Tls` when only the login is encrypted. TDS 8.0 begins in `Tls`.
//!
//! Nothing here waits: what the socket has no room for is kept in `unsent`. An idle connection gives its buffers back.

use runtime::net::Stream;
use rustls::{ServerConfig, ServerConnection};
use session::Traffic;
use std::cell::RefCell;
use std::fmt;
use std::io::{self, Read, Write};
use std::sync::Arc;
use tds::{Framer, TokenWriter};

/// Bytes of TLS read at a time; a record has at most 16 KiB.
const SCRATCH_BYTES: usize = 16 << 10;

thread_local! {
    /// What is read for TLS: never kept beyond a call, so one for each thread is enough.
    static SCRATCH: RefCell<Vec<u8>> = RefCell::new(vec![0; SCRATCH_BYTES]);
}

enum Layer {
    Plain,
    Handshake(Box<ServerConnection>),
    Tls(Box<ServerConnection>),
}

/// How a read ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// The socket is empty; its next byte is a new edge.
    Drained,
    /// There may be more.
    More,
    /// There will be no more.
    Ended,
}

/// Why nothing goes on.
#[derive(Debug)]
pub(crate) enum Broken {
    Socket(io::Error),
    Tls(rustls::Error),
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::Socket(error) => write!(f, "{error}"),
            Broken::Tls(error) => write!(f, "TLS: {error}"),
        }
    }
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Broken {
        Broken::Socket(error)
    }
}

impl From<rustls::Error> for Broken {
    fn from(error: rustls::Error) -> Broken {
        Broken::Tls(error)
    }
}

/// One connection's bytes.
pub(crate) struct Io {
    pub framer: Framer,
    layer: Layer,
    unsent: Vec<u8>,
    /// How much of `unsent` is gone.
    sent: usize,
    /// The peer has closed, or the connection is broken.
    pub ended: bool,
    /// Counts what comes and goes.
    pub traffic: Arc<Traffic>,
}

impl Io {
    pub fn new() -> Io {
        Io {
            framer: Framer::new(),
            layer: Layer::Plain,
            unsent: Vec::new(),
            sent: 0,
            ended: false,
            traffic: Arc::default(),
        }
    }

    pub fn is_encrypted(&self) -> bool {
        matches!(self.layer, Layer::Tls(_))
    }

    /// Reads once. Who has sent a part of a message hears that it has come: see [`Stream::acknowledge`].
    pub fn receive(&mut self, stream: &Stream) -> Result<Received, Broken> {
        let received = self.receive_once(stream)?;
        if received == Received::Drained && self.framer.is_midway() {
            stream.acknowledge();
        }
        Ok(received)
    }

    fn receive_once(&mut self, stream: &Stream) -> Result<Received, Broken> {
        if let Layer::Tls(_) = self.layer {
            return SCRATCH.with_borrow_mut(|scratch| {
                let received = self.read(stream, scratch)?;
                let (n, received) = received;
                self.decrypt(&scratch[..n]).map(|()| received)
            });
        }
        let space = self.framer.space();
        let (n, received) = match read(stream, space) {
            Ok(read) => read,
            Err(error) => {
                self.ended = true;
                return Err(error.into());
            }
        };
        self.framer.received(n);
        if n > 0 {
            self.traffic.read();
        }
        self.ended |= received == Received::Ended;
        Ok(received)
    }

    fn read(&mut self, stream: &Stream, buffer: &mut [u8]) -> io::Result<(usize, Received)> {
        let result = read(stream, buffer);
        if matches!(result, Ok((n, _)) if n > 0) {
            self.traffic.read();
        }
        self.ended |= !matches!(result, Ok((_, Received::Drained | Received::More)));
        result
    }

    /// The framer's bytes were the beginning of TLS (TDS 8.0): starts it with them.
    pub fn begin_strict(&mut self, config: Arc<ServerConfig>) -> Result<(), Broken> {
        let rest = self.framer.take_rest();
        self.layer = Layer::Tls(connection(config)?);
        self.decrypt(&rest)
    }

    /// From now on PRELOGIN packets carry a TLS handshake.
    pub fn begin_handshake(&mut self, config: Arc<ServerConfig>) -> Result<(), Broken> {
        self.layer = Layer::Handshake(connection(config)?);
        Ok(())
    }

    /// Goes on with the handshake; true when TLS is up.
    pub fn shake_hands(&mut self, data: &[u8], answer: &mut TokenWriter) -> Result<bool, Broken> {
        let Layer::Handshake(tls) = &mut self.layer else { return Ok(false) };
        let mut rest = data;
        let mut result = Ok(());
        while !rest.is_empty() && result.is_ok() {
            tls.read_tls(&mut rest)?;
            result = tls.process_new_packets().map(drop);
        }
        // After an error there is an alert to send.
        let mut out = Vec::new();
        while tls.wants_write() {
            tls.write_tls(&mut out)?;
        }
        if !out.is_empty() {
            answer.tls_handshake(&out);
        }
        result?;
        Ok(!tls.is_handshaking())
    }

    /// The handshake's answer has been sent: what follows is TLS, beginning with what has been received already. Does
    /// nothing when there was none.
    pub fn end_handshake(&mut self) -> Result<(), Broken> {
        match std::mem::replace(&mut self.layer, Layer::Plain) {
            Layer::Handshake(tls) => self.layer = Layer::Tls(tls),
            other => {
                self.layer = other;
                return Ok(());
            }
        }
        let rest = self.framer.take_rest();
        self.decrypt(&rest)
    }

    /// Only the login was to be encrypted.
    pub fn end_tls(&mut self) {
        self.layer = Layer::Plain;
    }

    /// To the framer.
    fn decrypt(&mut self, bytes: &[u8]) -> Result<(), Broken> {
        let Layer::Tls(tls) = &mut self.layer else { return Ok(()) };
        let mut rest = bytes;
        let mut result = Ok(());
        while !rest.is_empty() && result.is_ok() {
            tls.read_tls(&mut rest)?;
            match tls.process_new_packets() {
                Ok(state) => {
                    let mut left = state.plaintext_bytes_to_read();
                    while left > 0 {
                        let n = tls.reader().read(self.framer.space())?;
                        self.framer.received(n);
                        left -= n;
                    }
                    self.ended |= state.peer_has_closed();
                }
                Err(error) => result = Err(error),
            }
        }
        // Handshake messages, or an alert.
        while tls.wants_write() {
            tls.write_tls(&mut self.unsent)?;
        }
        Ok(result?)
    }

    /// Sends what there is room for and keeps the rest.
    pub fn send(&mut self, stream: &Stream, bytes: &[u8]) -> Result<(), Broken> {
        if let Layer::Tls(tls) = &mut self.layer {
            tls.writer().write_all(bytes)?;
            while tls.wants_write() {
                tls.write_tls(&mut self.unsent)?;
            }
            self.flush(stream)?;
            return Ok(());
        }
        let mut rest = bytes;
        if self.unsent.is_empty() {
            let n = self.write(stream, rest)?;
            rest = &rest[n..];
        }
        self.unsent.extend_from_slice(rest);
        Ok(())
    }

    /// Sends what was kept; whether all of it is gone.
    pub fn flush(&mut self, stream: &Stream) -> Result<bool, Broken> {
        if self.unsent.is_empty() {
            return Ok(true);
        }
        let unsent = std::mem::take(&mut self.unsent);
        let result = self.write(stream, &unsent[self.sent..]);
        self.unsent = unsent;
        self.sent += result?;
        if self.sent == self.unsent.len() {
            self.sent = 0;
            self.unsent.clear();
        }
        Ok(self.unsent.is_empty())
    }

    /// Bytes that the socket had no room for.
    pub fn unsent(&self) -> usize {
        self.unsent.len() - self.sent
    }

    fn write(&mut self, stream: &Stream, bytes: &[u8]) -> io::Result<usize> {
        let mut done = 0;
        while done < bytes.len() {
            match stream.try_write(&bytes[done..]) {
                Ok(n) => {
                    done += n;
                    self.traffic.wrote();
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => {
                    self.ended = true;
                    return Err(error);
                }
            }
        }
        Ok(done)
    }

    /// Says goodbye in TLS's own words; the socket takes it or not.
    pub fn close(&mut self, stream: &Stream) {
        if let Layer::Tls(tls) = &mut self.layer {
            tls.send_close_notify();
            while tls.wants_write() && tls.write_tls(&mut self.unsent).is_ok() {}
        }
        let _ = self.flush(stream);
    }

    /// Gives back the memory that only traffic needs.
    pub fn shrink(&mut self) {
        self.framer.shrink();
        if self.unsent.is_empty() {
            self.unsent = Vec::new();
        }
    }
}

fn connection(config: Arc<ServerConfig>) -> Result<Box<ServerConnection>, rustls::Error> {
    let mut tls = ServerConnection::new(config)?;
    // What is written is bounded by the writer of the answers, packet by packet.
    tls.set_buffer_limit(None);
    Ok(Box::new(tls))
}

fn read(stream: &Stream, buffer: &mut [u8]) -> io::Result<(usize, Received)> {
    match stream.try_read(buffer) {
        Ok(0) => Ok((0, Received::Ended)),
        Ok(n) if n < buffer.len() => Ok((n, Received::Drained)),
        Ok(n) => Ok((n, Received::More)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok((0, Received::Drained)),
        Err(error) => Err(error),
    }
}
