//! MARS: several streams of requests on one connection (MS-SMP, `tds::SmpHeader`).
//!
//! The streams share one session, and so its transaction, its settings and its temporary tables. One request runs at a
//! time, to its end; the others wait their turn in the order in which they came. What makes readers interleave is that
//! an answer need not have been read for the next request to run: while nobody waits, a request is held up by the
//! client's window like any other; as soon as another stream wants something, the rest of the answer is kept here, at
//! most [`FRONT_BYTES`] and some blocks of each stream in memory and the rest in a file of the instance's spill folder,
//! and goes out as the client makes room.
//!
//! | field of a stream | what |
//! |---|---|
//! | `front` | bytes that go next |
//! | `extents` | bytes after those, in the file |
//! | `back` | bytes after those, not written yet |
//!
//! Nothing here waits or reads files: [`Streams`] lies under the connection's lock. The task that serves writes and
//! reads the file between [`Streams::next_write`] and [`Streams::written`], [`Streams::next_read`] and [`Streams::read`].

use executor::{SpillExtent, SpillFile};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use tds::{
    Frame, Framer, HEADER_BYTES, PacketType, Phase, ProtocolError, SMP_FIRST_WINDOW,
    SMP_HEADER_BYTES, SmpHeader, SmpKind, TokenWriter,
};

/// Streams of one connection at one time.
const STREAMS_MAX: usize = 1024;
/// Bytes of an answer that a stream keeps in memory before it writes.
const FRONT_BYTES: usize = 64 << 10;
/// Bytes written at a time.
const WRITE_BYTES: usize = 256 << 10;
/// Bytes of answers that one stream may have in its file; then its request waits for the client after all.
const KEPT_MAX: u64 = 16 << 30;
/// Bytes of requests that one stream may have waiting; more stay with the client.
const WAITING_BYTES: usize = 64 << 10;
/// Bytes wrapped at a time.
const WIRE_BYTES: usize = 32 << 10;

struct Stream {
    framer: Framer,
    front: Vec<u8>,
    /// How much of `front` is gone.
    at: usize,
    extents: VecDeque<SpillExtent>,
    file: Option<Arc<SpillFile>>,
    back: Vec<u8>,
    /// Bytes in `extents`.
    kept: u64,
    /// The next DATA's sequence, and below which it may be sent.
    sequence: u32,
    window: u32,
    /// The last DATA's sequence that came, and below which the client was told to send.
    received: u32,
    granted: u32,
    /// The client has ended it.
    ending: bool,
    /// It is in `turns`.
    queued: bool,
}

impl Stream {
    /// Bytes of a whole packet at the head of what goes next.
    fn next_packet(&mut self) -> Option<usize> {
        if self.front.len() == self.at && self.extents.is_empty() && !self.back.is_empty() {
            self.front = std::mem::take(&mut self.back);
            self.at = 0;
        }
        let rest = &self.front[self.at..];
        let header = rest.first_chunk::<HEADER_BYTES>()?;
        let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
        (rest.len() >= length).then_some(length)
    }

    fn may_send(&self) -> bool {
        // Numbers wrap.
        (self.window.wrapping_sub(self.sequence) as i32) > 0
    }

    fn push(&mut self, bytes: &[u8]) {
        let in_front = self.extents.is_empty() && self.back.is_empty();
        match in_front && self.front.len() - self.at < FRONT_BYTES {
            true => {
                if self.at == self.front.len() {
                    self.front.clear();
                    self.at = 0;
                }
                self.front.extend_from_slice(bytes);
            }
            false => self.back.extend_from_slice(bytes),
        }
    }

    fn is_empty(&self) -> bool {
        self.front.len() == self.at && self.extents.is_empty() && self.back.is_empty()
    }

    /// The header of the next packet, and the window that it tells.
    fn header(&mut self, stream: u16, kind: SmpKind, payload: usize) -> [u8; SMP_HEADER_BYTES] {
        self.granted = self.grants();
        let sequence = match kind {
            SmpKind::Data => self.sequence,
            _ => self.sequence.wrapping_sub(1),
        };
        let length = (SMP_HEADER_BYTES + payload) as u32;
        SmpHeader { kind, stream, length, sequence, window: self.granted }.encode()
    }

    /// Below which the client may send: what has come must be taken before more may come.
    fn grants(&self) -> u32 {
        match self.framer.buffered() < WAITING_BYTES {
            true => self.received.wrapping_add(SMP_FIRST_WINDOW),
            false => self.granted,
        }
    }
}

/// The streams of one connection.
pub(crate) struct Streams {
    /// What has come of a packet that is not whole.
    inbound: Vec<u8>,
    all: BTreeMap<u16, Stream>,
    /// Streams that have said something which was not looked at.
    turns: VecDeque<u16>,
    /// Whose request runs.
    current: Option<u16>,
    /// Packets without data that are to be sent.
    control: Vec<u8>,
    /// Where the next round of sending begins.
    next: u16,
    spid: u16,
    message_limit: usize,
}

/// What bytes of a client have come to.
#[derive(Default)]
pub(crate) struct Heard {
    /// The stream whose request runs has ended.
    pub ended: bool,
}

const BAD: fn(&'static str) -> ProtocolError = |what| ProtocolError::Malformed { what };

impl Streams {
    pub fn new(spid: u16, message_limit: usize) -> Streams {
        Streams {
            inbound: Vec::new(),
            all: BTreeMap::new(),
            turns: VecDeque::new(),
            current: None,
            control: Vec::new(),
            next: 0,
            spid,
            message_limit,
        }
    }

    /// Takes what came. After an error the connection is over.
    pub fn receive(&mut self, bytes: &[u8]) -> Result<Heard, ProtocolError> {
        self.inbound.extend_from_slice(bytes);
        let inbound = std::mem::take(&mut self.inbound);
        let mut rest = &inbound[..];
        let mut heard = Heard::default();
        while let Some(header) = rest.first_chunk::<SMP_HEADER_BYTES>() {
            let header = SmpHeader::decode(header)?;
            let Some(packet) = rest.get(..header.length as usize) else { break };
            self.packet(header, &packet[SMP_HEADER_BYTES..], &mut heard)?;
            rest = &rest[packet.len()..];
        }
        // A wrong first byte is told at once: fifteen more may never come.
        if rest.first().is_some_and(|&mark| mark != 0x53) {
            return Err(BAD("a packet outside the streams"));
        }
        self.inbound = rest.to_vec();
        self.acknowledge();
        Ok(heard)
    }

    fn packet(
        &mut self,
        header: SmpHeader,
        payload: &[u8],
        heard: &mut Heard,
    ) -> Result<(), ProtocolError> {
        let id = header.stream;
        if header.kind == SmpKind::Syn {
            if self.all.contains_key(&id) || self.all.len() >= STREAMS_MAX {
                return Err(BAD("a stream that is there already, or one too many"));
            }
            let mut framer = Framer::new();
            framer.set_phase(Phase::LoggedIn, self.message_limit);
            let stream = Stream {
                framer,
                front: Vec::new(),
                at: 0,
                extents: VecDeque::new(),
                file: None,
                back: Vec::new(),
                kept: 0,
                sequence: 1,
                window: header.window,
                received: 0,
                granted: SMP_FIRST_WINDOW,
                ending: false,
                queued: false,
            };
            self.all.insert(id, stream);
            return Ok(());
        }
        let running = self.current == Some(id);
        let Some(stream) = self.all.get_mut(&id) else {
            // A client may tell of a stream whose end it has not heard of yet; data it may not send.
            return match header.kind {
                SmpKind::Data => Err(BAD("data of a stream that is not there")),
                _ => Ok(()),
            };
        };
        if (header.window.wrapping_sub(stream.window) as i32) > 0 {
            stream.window = header.window;
        }
        match header.kind {
            SmpKind::Syn | SmpKind::Ack => {}
            SmpKind::Fin => {
                stream.ending = true;
                heard.ended |= running;
                if !running {
                    self.remove(id);
                }
            }
            SmpKind::Data => {
                let beyond = (header.sequence.wrapping_sub(stream.granted) as i32) > 0;
                let expected = stream.received.wrapping_add(1);
                if stream.ending || beyond || header.sequence != expected {
                    return Err(BAD("data out of their order or beyond their window"));
                }
                stream.received = header.sequence;
                stream.framer.push(payload);
                // An attention to an answer that is kept here already: the answer is whole.
                if !running && stream.framer.first_byte() == Some(PacketType::Attention as u8) {
                    if let Some(Frame::Attention) = stream.framer.next()? {
                        let mut writer = TokenWriter::new(self.spid);
                        writer.attention();
                        stream.push(writer.ready());
                    }
                } else if !stream.queued {
                    stream.queued = true;
                    self.turns.push_back(id);
                }
            }
        }
        Ok(())
    }

    fn remove(&mut self, id: u16) {
        if let Some(mut stream) = self.all.remove(&id) {
            let header = stream.header(id, SmpKind::Fin, 0);
            self.control.extend_from_slice(&header);
        }
    }

    /// Tells the client where there is room again.
    pub fn acknowledge(&mut self) {
        for (id, stream) in &mut self.all {
            if stream.grants().wrapping_sub(stream.granted) >= 2 {
                let header = stream.header(*id, SmpKind::Ack, 0);
                self.control.extend_from_slice(&header);
            }
        }
    }

    /// The next frame of whoever's turn it is, read by `read`; its stream is the current one until [`Streams::end`].
    pub fn next<R>(
        &mut self,
        read: impl Fn(Result<Frame<'_>, ProtocolError>) -> R,
    ) -> Option<(u16, R)> {
        while let Some(id) = self.turns.pop_front() {
            let Some(stream) = self.all.get_mut(&id) else { continue };
            stream.queued = false;
            let taken = match stream.framer.next() {
                Ok(None) => None,
                Ok(Some(frame)) => Some(read(Ok(frame))),
                Err(error) => Some(read(Err(error))),
            };
            let Some(taken) = taken else {
                self.acknowledge();
                let half: usize = self.all.values().map(|stream| stream.framer.assembled()).sum();
                if half > self.message_limit {
                    let limit = self.message_limit;
                    let error = ProtocolError::PacketLength { length: half, limit };
                    return Some((id, read(Err(error))));
                }
                continue;
            };
            if stream.framer.buffered() > 0 {
                stream.queued = true;
                self.turns.push_back(id);
            }
            self.current = Some(id);
            self.acknowledge();
            return Some((id, taken));
        }
        None
    }

    /// The framer of the stream whose request runs.
    pub fn framer(&mut self) -> Option<&mut Framer> {
        let current = self.current?;
        self.all.get_mut(&current).map(|stream| &mut stream.framer)
    }

    /// The request that ran has been answered.
    pub fn end(&mut self) {
        let Some(id) = self.current.take() else { return };
        if self.all.get(&id).is_some_and(|stream| stream.ending) {
            self.remove(id);
        } else if let Some(stream) = self.all.get_mut(&id)
            && stream.framer.buffered() > 0
            && !stream.queued
        {
            stream.queued = true;
            self.turns.push_back(id);
        }
        self.acknowledge();
    }

    /// Packets of the answer at hand.
    pub fn answer(&mut self, packets: &[u8]) {
        if let Some(stream) = self.current.and_then(|id| self.all.get_mut(&id))
            && !stream.ending
        {
            stream.push(packets);
        }
    }

    /// Whether the request that runs need not wait for its client to read on: its answer is gone, or another stream
    /// wants its turn.
    pub fn may_go_on(&self) -> bool {
        let Some(stream) = self.current.and_then(|id| self.all.get(&id)) else { return true };
        let others = self.turns.iter().any(|id| Some(*id) != self.current);
        stream.is_empty() || stream.ending || others && stream.kept < KEPT_MAX
    }

    /// What can be sent, in turn; at most about [`WIRE_BYTES`].
    pub fn wire(&mut self) -> Vec<u8> {
        let mut out = std::mem::take(&mut self.control);
        let mut sent = true;
        while sent && out.len() < WIRE_BYTES {
            sent = false;
            let from = self.next;
            let ids: Vec<u16> =
                self.all.range(from..).chain(self.all.range(..from)).map(|(id, _)| *id).collect();
            for id in ids {
                let Some(stream) = self.all.get_mut(&id) else { continue };
                if !stream.may_send() {
                    continue;
                }
                let Some(length) = stream.next_packet() else { continue };
                let header = stream.header(id, SmpKind::Data, length);
                out.extend_from_slice(&header);
                out.extend_from_slice(&stream.front[stream.at..stream.at + length]);
                stream.at += length;
                stream.sequence = stream.sequence.wrapping_add(1);
                if stream.is_empty() {
                    (stream.front, stream.at, stream.file) = (Vec::new(), 0, None);
                }
                sent = true;
                self.next = id.wrapping_add(1);
                if out.len() >= WIRE_BYTES {
                    break;
                }
            }
        }
        out
    }

    /// Bytes of the answer at hand that are to be written to a file, if it is time.
    pub fn next_write(&mut self) -> Option<(Option<Arc<SpillFile>>, Vec<u8>)> {
        let stream = self.current.and_then(|id| self.all.get_mut(&id))?;
        if stream.back.len() < WRITE_BYTES {
            return None;
        }
        Some((stream.file.clone(), std::mem::take(&mut stream.back)))
    }

    /// They are written.
    pub fn written(&mut self, file: Arc<SpillFile>, extent: SpillExtent, bytes: usize) {
        if let Some(stream) = self.current.and_then(|id| self.all.get_mut(&id)) {
            stream.file = Some(file);
            stream.extents.push_back(extent);
            stream.kept += bytes as u64;
        }
    }

    /// What is to be read back next, of whichever stream can send and has nothing left in memory.
    pub fn next_read(&mut self) -> Option<(u16, Arc<SpillFile>, SpillExtent)> {
        let needs = |stream: &mut Stream| {
            stream.may_send() && !stream.extents.is_empty() && stream.next_packet().is_none()
        };
        let (id, stream) = self.all.iter_mut().find_map(|(id, s)| needs(s).then_some((*id, s)))?;
        Some((id, stream.file.clone()?, *stream.extents.front()?))
    }

    /// It has been read.
    pub fn read(&mut self, id: u16, bytes: &[u8]) {
        if let Some(stream) = self.all.get_mut(&id)
            && stream.extents.pop_front().is_some()
        {
            stream.front.drain(..stream.at);
            stream.at = 0;
            stream.front.extend_from_slice(bytes);
            stream.kept = stream.kept.saturating_sub(bytes.len() as u64);
        }
    }

    /// Gives back memory that idle streams do not need.
    pub fn shrink(&mut self) {
        self.all.values_mut().for_each(|stream| stream.framer.shrink());
    }
}
