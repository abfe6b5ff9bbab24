//! The packets of an answer: what is ready to go, and how an open one that has grown too long is cut.

use super::TokenWriter;
use crate::packet::{HEADER_BYTES, Header, PacketType, Status};

impl TokenWriter {
    /// Whole packets that can go to the socket.
    pub fn ready(&self) -> &[u8] {
        &self.out[self.sent..self.open.unwrap_or(self.out.len())]
    }

    /// All bytes held, ready or not: the measure for back-pressure.
    pub fn buffered(&self) -> usize {
        self.out.len() - self.sent
    }

    /// Says that the first `count` bytes of [`TokenWriter::ready`] are gone.
    pub fn consume(&mut self, count: usize) {
        assert!(count <= self.ready().len(), "more than was ready");
        self.sent += count;
        let end = self.open.unwrap_or(self.out.len());
        if self.sent == end {
            self.out.copy_within(end.., 0);
            self.out.truncate(self.out.len() - end);
            self.sent = 0;
            self.open = self.open.map(|_| 0);
        }
    }

    /// Takes all whole packets away.
    pub fn take_full_packets(&mut self) -> Vec<u8> {
        let ready = self.ready().to_vec();
        self.consume(ready.len());
        ready
    }

    /// Whether a message has been begun and not finished.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Gives back the buffer of an idle connection; it must be empty.
    pub fn shrink(&mut self) {
        if self.out.is_empty() {
            self.out = Vec::new();
        }
    }

    #[inline]
    pub(super) fn begin(&mut self) {
        if self.open.is_none() {
            self.packet_bytes = self.next_packet_bytes;
            self.packet_id = 0;
            self.open_packet();
        }
    }

    #[inline]
    pub(super) fn end_token(&mut self) {
        if let Some(open) = self.open
            && self.out.len() - open > self.packet_bytes
        {
            self.cut(open);
        }
    }

    pub(super) fn open_packet(&mut self) {
        self.open = Some(self.out.len());
        self.out.extend_from_slice(&[0; HEADER_BYTES]);
    }

    /// Makes full packets of an open one that has grown past its size.
    fn cut(&mut self, open: usize) {
        let room = self.packet_bytes - HEADER_BYTES;
        let body = self.out.len() - open - HEADER_BYTES;
        let packets = body.div_ceil(room);
        self.out.resize(open + body + packets * HEADER_BYTES, 0);
        for i in (1..packets).rev() {
            let from = open + HEADER_BYTES + i * room;
            let length = room.min(body - i * room);
            self.out.copy_within(from..from + length, open + i * self.packet_bytes + HEADER_BYTES);
        }
        for i in 0..packets - 1 {
            self.put_header(open + i * self.packet_bytes, self.packet_bytes, 0);
        }
        self.open = Some(open + (packets - 1) * self.packet_bytes);
    }

    pub(super) fn close_packet(&mut self, status: u8) {
        if let Some(open) = self.open {
            let length = self.out.len() - open;
            debug_assert!(length <= self.packet_bytes);
            self.put_header(open, length, status);
        }
    }

    fn put_header(&mut self, at: usize, length: usize, status: u8) {
        self.packet_id = self.packet_id.wrapping_add(1);
        let header = Header {
            kind: PacketType::Reply as u8,
            status: Status(status),
            length: length as u16,
            spid: self.spid,
            packet_id: self.packet_id,
        };
        self.out[at..at + HEADER_BYTES].copy_from_slice(&header.encode());
    }
}
