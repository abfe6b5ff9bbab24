//! Bytes in, messages out.
//!
//! The framer owns the receive buffer of a connection: the caller reads from its socket into
//! [`Framer::space`], says how much came ([`Framer::received`]), and takes [`Framer::next`] until it asks for
//! more. A message of one packet is handed out where it lies; one of several is assembled in a second buffer.
//!
//! Invariants:
//! - at most one packet (32,767 bytes) plus what the socket gave beyond it is buffered, and at most `message_limit`
//!   bytes are assembled; nothing is allocated for bytes that have not come;
//! - all packets of a message have the same type; which types may come depends on the [`Phase`];
//! - bulk load is handed out packet by packet and never assembled.
//!
//! Packets longer than the negotiated size are read: clients cut LOGIN7 by the size they ask for.

use crate::ProtocolError;
use crate::packet::{HEADER_BYTES, Header, PACKET_BYTES_MAX, PacketType, Status};

/// Where the connection stands, which decides what may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// PRELOGIN, TLS inside it, LOGIN7, and what follows a LOGIN7 in the forms of login that are refused.
    Login,
    /// Batches, calls, transaction requests, bulk load, attention.
    LoggedIn,
    /// The other end of the line: replies, packet by packet ([`Frame::Reply`]), and TLS inside PRELOGIN.
    Client,
}

/// What has come.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// A whole message. `status` is that of its first packet.
    Message { kind: PacketType, status: Status, data: &'a [u8] },
    /// One packet of a bulk load; `first` and `last` say which.
    Bulk { status: Status, data: &'a [u8], first: bool, last: bool },
    /// One packet of an answer, for a client.
    Reply { data: &'a [u8], last: bool },
    /// Stop what is running and answer DONE_ATTN. A message half received is dropped.
    Attention,
    /// The client gave up a message before its end; it expects one DONE with the error bit (2.2.3.1.2).
    Ignored { kind: PacketType },
}

/// Turns received bytes into [`Frame`]s.
pub struct Framer {
    buffer: Vec<u8>,
    /// `buffer[start..end]` is received and not yet handed out.
    start: usize,
    end: usize,
    /// What has come of a message of several packets.
    message: Vec<u8>,
    open: Option<(PacketType, Status)>,
    phase: Phase,
    message_limit: usize,
}

/// Room for a packet and the beginning of the next.
const BUFFER_BYTES: usize = 16 << 10;

impl Framer {
    /// A framer in [`Phase::Login`]; messages up to 64 KiB.
    pub fn new() -> Framer {
        Framer {
            buffer: Vec::new(),
            start: 0,
            end: 0,
            message: Vec::new(),
            open: None,
            phase: Phase::Login,
            message_limit: 64 << 10,
        }
    }

    /// Changes what may come, and the longest message in bytes (bulk load is not counted).
    pub fn set_phase(&mut self, phase: Phase, message_limit: usize) {
        self.phase = phase;
        self.message_limit = message_limit;
    }

    /// Room to read into; never empty. Follow with [`Framer::received`].
    pub fn space(&mut self) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        if self.buffer.is_empty() {
            self.buffer.resize(BUFFER_BYTES, 0);
        }
        let want = self.wanted().max(1);
        if self.buffer.len() - self.end < want {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            if self.buffer.len() - self.end < want {
                self.buffer.resize(self.end + want, 0);
            }
        }
        &mut self.buffer[self.end..]
    }

    /// Says that `count` bytes of [`Framer::space`] are filled.
    pub fn received(&mut self, count: usize) {
        assert!(count <= self.buffer.len() - self.end, "more than there was room for");
        self.end += count;
    }

    /// Copies bytes in: for callers that already have them.
    pub fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let space = self.space();
            let count = bytes.len().min(space.len());
            space[..count].copy_from_slice(&bytes[..count]);
            self.received(count);
            bytes = &bytes[count..];
            if !bytes.is_empty() {
                // The packet is whole and the rest belongs to the next ones: make room for all of it.
                self.buffer.resize(self.end + bytes.len(), 0);
            }
        }
    }

    /// Whether what has come ends inside a message, so that the peer has more to send.
    pub fn is_midway(&self) -> bool {
        let mut rest = &self.buffer[self.start..self.end];
        let mut open = self.open.is_some();
        while let Some(header) = rest.first_chunk::<HEADER_BYTES>() {
            let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
            if length < HEADER_BYTES || length > rest.len() {
                break;
            }
            open = header[1] & Status::END_OF_MESSAGE == 0;
            rest = &rest[length..];
        }
        open || !rest.is_empty()
    }

    /// Bytes that the packet at hand still lacks; 0 when it is whole.
    fn wanted(&self) -> usize {
        let have = &self.buffer[self.start..self.end];
        if have.len() < HEADER_BYTES {
            return HEADER_BYTES - have.len();
        }
        let length = u16::from_be_bytes([have[2], have[3]]).min(PACKET_BYTES_MAX) as usize;
        length.saturating_sub(have.len())
    }

    /// The first byte received and not yet handed out: 0x16 at the start of a connection is a TLS client hello, so
    /// the client speaks TDS 8.0 (strict).
    pub fn first_byte(&self) -> Option<u8> {
        self.buffer[self.start..self.end].first().copied()
    }

    /// Everything received and not yet handed out, taken away: for the change to TLS.
    pub fn take_rest(&mut self) -> Vec<u8> {
        let rest = self.buffer[self.start..self.end].to_vec();
        (self.start, self.end) = (0, 0);
        rest
    }

    /// Bytes received and not yet handed out.
    pub fn buffered(&self) -> usize {
        self.end - self.start
    }

    /// Bytes taken up of a message that is not whole yet.
    pub fn assembled(&self) -> usize {
        if self.open.is_some() { self.message.len() } else { 0 }
    }

    /// Whether an attention is among the packets received and not yet handed out: while a request runs, its client
    /// sends nothing else. Nothing is taken.
    pub fn attention_ahead(&self) -> bool {
        let mut rest = &self.buffer[self.start..self.end];
        while let Some(header) = rest.first_chunk::<HEADER_BYTES>() {
            if header[0] == PacketType::Attention as u8 {
                return true;
            }
            let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
            match rest.get(length.max(HEADER_BYTES)..) {
                Some(next) => rest = next,
                None => return false,
            }
        }
        false
    }

    /// Zeroes what has been handed out: after LOGIN7, which has a password in it.
    pub fn wipe(&mut self) {
        self.message.fill(0);
        self.message.clear();
        let (start, end) = (self.start, self.end);
        self.buffer[..start].fill(0);
        self.buffer[end..].fill(0);
        std::hint::black_box(&mut self.buffer);
    }

    /// The data of the message that [`Framer::next`] has just handed out, where they were longer than a packet: for whoever
    /// reads them when the framer is somebody else's again.
    pub fn take_message(&mut self) -> Vec<u8> {
        debug_assert!(self.open.is_none(), "a message that is not whole yet");
        std::mem::take(&mut self.message)
    }

    /// Gives back memory that an idle connection does not need.
    pub fn shrink(&mut self) {
        if self.open.is_none() {
            self.message = Vec::new();
        }
        if self.start == self.end {
            self.buffer = Vec::new();
            (self.start, self.end) = (0, 0);
        }
    }

    /// The next frame, or `None` when more bytes must come first. After an error the connection is over.
    #[allow(clippy::should_implement_trait)] // It lends.
    pub fn next(&mut self) -> Result<Option<Frame<'_>>, ProtocolError> {
        if self.open.is_none() && !self.message.is_empty() {
            self.message.clear();
        }
        loop {
            let Some((header, data_start, data_end)) = self.packet()? else { return Ok(None) };
            let kind = self.admit(header)?;
            let status = header.status;
            if kind == PacketType::Attention {
                if !status.is_last() {
                    return Err(ProtocolError::PacketLength {
                        length: header.length as usize,
                        limit: HEADER_BYTES,
                    });
                }
                self.open = None;
                self.message.clear();
                return Ok(Some(Frame::Attention));
            }
            let first = self.open.is_none();
            let (_, first_status) = *self.open.get_or_insert((kind, status));
            if status.is_last() {
                self.open = None;
            }
            if status.is_ignored() && status.is_last() {
                self.message.clear();
                return Ok(Some(Frame::Ignored { kind }));
            }
            if kind == PacketType::BulkLoad {
                let data = &self.buffer[data_start..data_end];
                return Ok(Some(Frame::Bulk {
                    status: first_status,
                    data,
                    first,
                    last: status.is_last(),
                }));
            }
            if kind == PacketType::Reply {
                let data = &self.buffer[data_start..data_end];
                return Ok(Some(Frame::Reply { data, last: status.is_last() }));
            }
            let whole = self.message.len() + (data_end - data_start);
            if whole > self.message_limit {
                return Err(ProtocolError::PacketLength {
                    length: whole,
                    limit: self.message_limit,
                });
            }
            if first && status.is_last() {
                let data = &self.buffer[data_start..data_end];
                return Ok(Some(Frame::Message { kind, status, data }));
            }
            self.message.extend_from_slice(&self.buffer[data_start..data_end]);
            if status.is_last() {
                return Ok(Some(Frame::Message {
                    kind,
                    status: first_status,
                    data: &self.message,
                }));
            }
        }
    }

    /// Takes one whole packet off the buffer: its header, and where its data lie.
    fn packet(&mut self) -> Result<Option<(Header, usize, usize)>, ProtocolError> {
        let have = &self.buffer[self.start..self.end];
        // A wrong type is told from its first byte: eight bytes may never come.
        if let Some(&kind) = have.first() {
            self.check_type(kind)?;
        }
        let Some(header) = have.first_chunk::<HEADER_BYTES>() else { return Ok(None) };
        let header = Header::decode(header)?;
        let length = header.length as usize;
        if have.len() < length {
            return Ok(None);
        }
        let at = self.start;
        self.start += length;
        Ok(Some((header, at + HEADER_BYTES, at + length)))
    }

    fn check_type(&self, kind: u8) -> Result<PacketType, ProtocolError> {
        let refused =
            || ProtocolError::PacketType { found: kind, login: self.phase == Phase::Login };
        let kind = PacketType::from_byte(kind).ok_or_else(refused)?;
        use PacketType as P;
        let fits = match self.phase {
            Phase::Login => matches!(kind, P::Prelogin | P::Login7 | P::Sspi | P::FedAuthToken),
            Phase::LoggedIn => matches!(
                kind,
                P::Batch | P::Rpc | P::Attention | P::BulkLoad | P::TransactionManager
            ),
            Phase::Client => matches!(kind, P::Reply | P::Prelogin),
        };
        if fits { Ok(kind) } else { Err(refused()) }
    }

    fn admit(&self, header: Header) -> Result<PacketType, ProtocolError> {
        let kind = self.check_type(header.kind)?;
        match self.open {
            Some((open, _)) if open != kind && kind != PacketType::Attention => {
                Err(ProtocolError::PacketType {
                    found: header.kind,
                    login: self.phase == Phase::Login,
                })
            }
            _ => Ok(kind),
        }
    }
}

impl Default for Framer {
    fn default() -> Self {
        Framer::new()
    }
}
