//! The file: two copies of its header, then virtual log files (VLFs) of one size, each a header block and the
//! stream's blocks; and the map from block numbers to places.
//!
//! ```text
//! 0      file header, copy 0          8192 + i * vlf_bytes   header of VLF i
//! 4096   file header, copy 1          ... + 4096             its blocks, vlf_bytes / 4096 - 1 of them
//! ```
//!
//! Promises: the stream's blocks fill VLFs in the order of their sequence numbers, without gaps; a VLF's header is
//! durable before any block in it is written; a VLF that holds needed log is never given a new sequence.

use crate::block::{u32_at, u64_at};
use crate::lsn::{BLOCK_BYTES, Lsn};
use std::collections::VecDeque;

/// Bytes before the first VLF.
pub(crate) const VLFS_AT: u64 = 2 * BLOCK_BYTES as u64;
const FILE_MAGIC: u64 = u64::from_le_bytes(*b"MILLLOG\n");
const VLF_MAGIC: u64 = u64::from_le_bytes(*b"MILLVLF\n");
const VERSION: u32 = 1;

/// The header of the file; the copy with the higher generation counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FileHeader {
    pub(crate) generation: u64,
    pub(crate) uuid: [u8; 16],
    pub(crate) salt: u64,
    pub(crate) vlf_bytes: u64,
    /// Rises by one each time the log is opened for writing.
    pub(crate) incarnation: u32,
    /// The log was closed in order and ends at `end`.
    pub(crate) clean: bool,
    pub(crate) end: Lsn,
}

impl FileHeader {
    /// ```text
    ///  0 u64 magic      16 u64 generation   40 u64 salt         60 u32 clean
    ///  8 u32 crc32c     24 uuid             48 u64 vlf_bytes    64 u64 end
    /// 12 u32 version                        56 u32 incarnation  ... zero
    /// ```
    pub(crate) fn encode(&self, block: &mut [u8]) {
        block.fill(0);
        block[12..16].copy_from_slice(&VERSION.to_le_bytes());
        block[16..24].copy_from_slice(&self.generation.to_le_bytes());
        block[24..40].copy_from_slice(&self.uuid);
        block[40..48].copy_from_slice(&self.salt.to_le_bytes());
        block[48..56].copy_from_slice(&self.vlf_bytes.to_le_bytes());
        block[56..60].copy_from_slice(&self.incarnation.to_le_bytes());
        block[60..64].copy_from_slice(&u32::from(self.clean).to_le_bytes());
        block[64..72].copy_from_slice(&self.end.0.to_le_bytes());
        seal(block, FILE_MAGIC);
    }

    pub(crate) fn decode(block: &[u8]) -> Option<FileHeader> {
        let header = FileHeader {
            generation: u64_at(block, 16),
            uuid: block[24..40].try_into().expect("sixteen bytes"),
            salt: u64_at(block, 40),
            vlf_bytes: u64_at(block, 48),
            incarnation: u32_at(block, 56),
            clean: u32_at(block, 60) == 1,
            end: Lsn(u64_at(block, 64)),
        };
        (sealed(block, FILE_MAGIC) && u32_at(block, 12) == VERSION).then_some(header)
    }

    /// Where the copy of this generation goes.
    pub(crate) fn offset(&self) -> u64 {
        (self.generation % 2) * BLOCK_BYTES as u64
    }
}

/// The header of a VLF in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct VlfHeader {
    /// 1, 2, 3 ... in the order of the stream.
    pub(crate) sequence: u64,
    /// Number of its first block.
    pub(crate) first_block: u64,
    pub(crate) salt: u64,
    pub(crate) incarnation: u32,
    /// The log's position when it was given this sequence.
    pub(crate) create_lsn: Lsn,
}

impl VlfHeader {
    /// ```text
    ///  0 u64 magic      16 u64 sequence     32 u64 salt         48 u64 create_lsn
    ///  8 u32 crc32c     24 u64 first_block  40 u32 incarnation  ... zero
    /// 12 u32 version
    /// ```
    pub(crate) fn encode(&self, block: &mut [u8]) {
        block.fill(0);
        block[12..16].copy_from_slice(&VERSION.to_le_bytes());
        block[16..24].copy_from_slice(&self.sequence.to_le_bytes());
        block[24..32].copy_from_slice(&self.first_block.to_le_bytes());
        block[32..40].copy_from_slice(&self.salt.to_le_bytes());
        block[40..44].copy_from_slice(&self.incarnation.to_le_bytes());
        block[48..56].copy_from_slice(&self.create_lsn.0.to_le_bytes());
        seal(block, VLF_MAGIC);
    }

    pub(crate) fn decode(block: &[u8]) -> Option<VlfHeader> {
        let header = VlfHeader {
            sequence: u64_at(block, 16),
            first_block: u64_at(block, 24),
            salt: u64_at(block, 32),
            incarnation: u32_at(block, 40),
            create_lsn: Lsn(u64_at(block, 48)),
        };
        (sealed(block, VLF_MAGIC) && u32_at(block, 12) == VERSION).then_some(header)
    }
}

fn seal(block: &mut [u8], magic: u64) {
    block[0..8].copy_from_slice(&magic.to_le_bytes());
    let crc = crc32c::crc32c(&block[12..BLOCK_BYTES]);
    block[8..12].copy_from_slice(&crc.to_le_bytes());
}

fn sealed(block: &[u8], magic: u64) -> bool {
    u64_at(block, 0) == magic && u32_at(block, 8) == crc32c::crc32c(&block[12..BLOCK_BYTES])
}

/// Where a block lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    /// In the file, in bytes.
    pub(crate) offset: u64,
    /// Blocks from this one to the end of the VLF.
    pub(crate) left: u64,
    pub(crate) vlf_sequence: u64,
}

/// The VLFs of a file, by place and by sequence.
#[derive(Clone, Debug)]
pub(crate) struct Vlfs {
    pub(crate) vlf_bytes: u64,
    /// By place in the file: the header last written, if any.
    pub(crate) headers: Vec<Option<VlfHeader>>,
    /// Places of those that hold needed log or are next, in the order of the stream.
    active: VecDeque<usize>,
    /// Places of the others, the next to be used first.
    free: VecDeque<usize>,
    /// A free one whose header is being written.
    activating: Option<usize>,
    /// Free ones whose headers are being wiped.
    wiping: Vec<usize>,
    /// From [`Vlfs::cut`] to [`Vlfs::give_back`]: no VLF may come into use, or its sequence would be missing among those
    /// that are not wiped yet.
    cutting: bool,
    /// Nothing below is needed.
    pub(crate) keep_from: Lsn,
}

impl Vlfs {
    /// A map of `headers`; those from the highest sequence down without a gap are active.
    pub(crate) fn new(vlf_bytes: u64, headers: Vec<Option<VlfHeader>>) -> Vlfs {
        let mut by_sequence: Vec<(u64, usize)> =
            headers.iter().enumerate().filter_map(|(i, h)| h.map(|h| (h.sequence, i))).collect();
        by_sequence.sort_unstable();
        let mut active = VecDeque::new();
        while let Some((sequence, i)) = by_sequence.pop() {
            active.push_front(i);
            if by_sequence.last().is_none_or(|(before, _)| before + 1 != sequence) {
                break;
            }
        }
        let mut free: VecDeque<usize> = by_sequence.iter().map(|&(_, i)| i).collect();
        free.extend((0..headers.len()).filter(|&i| headers[i].is_none()));
        let keep_from = active
            .front()
            .and_then(|&i| headers[i])
            .map_or(Lsn::NONE, |h| Lsn::of_block(h.first_block));
        Vlfs {
            vlf_bytes,
            headers,
            active,
            free,
            activating: None,
            wiping: Vec::new(),
            cutting: false,
            keep_from,
        }
    }

    /// A VLF that once was in use and does not belong to the unbroken run of sequences, if there is one. VLFs are
    /// reused in the order of their sequences, so the run has no gaps unless a header was damaged.
    pub(crate) fn stray(&self) -> Option<VlfHeader> {
        self.free.iter().find_map(|&i| self.headers[i])
    }

    /// Blocks of the stream in one VLF.
    pub(crate) fn blocks_each(&self) -> u64 {
        self.vlf_bytes / BLOCK_BYTES as u64 - 1
    }

    /// Where the `i`th VLF begins in the file.
    pub(crate) fn offset_of(&self, i: usize) -> u64 {
        VLFS_AT + i as u64 * self.vlf_bytes
    }

    fn header(&self, place: usize) -> &VlfHeader {
        match &self.headers[place] {
            Some(header) => header,
            None => stdx::fatal!("VLF {place} is active and has no header"),
        }
    }

    /// Number of the first block that is kept.
    pub(crate) fn first_block(&self) -> u64 {
        self.active.front().map_or(0, |&i| self.header(i).first_block)
    }

    /// One past the last block that has a place.
    pub(crate) fn end_block(&self) -> u64 {
        self.active.back().map_or(0, |&i| self.header(i).first_block + self.blocks_each())
    }

    /// One past the last position that the file can hold as it is, free VLFs included.
    pub(crate) fn capacity_end(&self) -> Lsn {
        let spare = self.free.len() as u64 + u64::from(self.activating.is_some());
        Lsn::of_block(self.end_block() + spare * self.blocks_each())
    }

    /// The place of a block, if it has one.
    pub(crate) fn place(&self, block: u64) -> Option<Place> {
        let nth = block.checked_sub(self.first_block())? / self.blocks_each();
        let &i = self.active.get(nth as usize)?;
        let header = self.header(i);
        let within = block - header.first_block;
        Some(Place {
            offset: self.offset_of(i) + (1 + within) * BLOCK_BYTES as u64,
            left: self.blocks_each() - within,
            vlf_sequence: header.sequence,
        })
    }

    /// Takes a free VLF to be the next of the stream; the caller writes the header at the offset returned, durably,
    /// and then calls [`Vlfs::activated`]. One at a time.
    pub(crate) fn activate(
        &mut self,
        salt: u64,
        incarnation: u32,
        now: Lsn,
    ) -> Option<(u64, VlfHeader)> {
        self.activate_from(salt, incarnation, now, self.end_block())
    }

    /// As [`Vlfs::activate`], of a VLF that begins with block `first_block`: where the stream goes on, or begins.
    pub(crate) fn activate_from(
        &mut self,
        salt: u64,
        incarnation: u32,
        now: Lsn,
        first_block: u64,
    ) -> Option<(u64, VlfHeader)> {
        if self.activating.is_some() || self.cutting {
            return None;
        }
        let i = self.free.pop_front()?;
        let header = VlfHeader {
            sequence: self.active.back().map_or(0, |&i| self.header(i).sequence) + 1,
            first_block,
            salt,
            incarnation,
            create_lsn: now,
        };
        self.activating = Some(i);
        self.headers[i] = Some(header);
        Some((self.offset_of(i), header))
    }

    /// The header of the VLF being activated is durable.
    pub(crate) fn activated(&mut self) {
        match self.activating.take() {
            Some(i) => self.active.push_back(i),
            None => stdx::fatal!("no VLF was being activated"),
        }
    }

    /// Takes free VLFs off the end until the file has `target_bytes`, `least` VLFs, or only one more than what is in
    /// use. The length of the file then, and the headers to wipe before it is cut (sequence, place in the file); the
    /// free ones among those come back with [`Vlfs::give_back`]. None when nothing can go.
    pub(crate) fn cut(
        &mut self,
        target_bytes: u64,
        least: usize,
    ) -> Option<(u64, Vec<(u64, u64)>)> {
        let mut wipe = Vec::new();
        let before = self.headers.len();
        loop {
            let last = self.headers.len() - 1;
            let used = self.active.len() + usize::from(self.activating.is_some());
            let enough = self.offset_of(last) < target_bytes || last < least.max(used + 1);
            if enough || !self.free.contains(&last) {
                break;
            }
            self.free.retain(|&i| i != last);
            let offset = self.offset_of(last);
            if let Some(header) = self.headers.pop().flatten() {
                wipe.push((header.sequence, offset));
            }
        }
        if self.headers.len() == before {
            return None;
        }
        self.cutting = true;
        let highest = wipe.iter().map(|(sequence, _)| *sequence).max().unwrap_or(0);
        let lower: Vec<usize> = self
            .free
            .iter()
            .copied()
            .filter(|&i| self.headers[i].is_some_and(|h| h.sequence < highest))
            .collect();
        for i in lower {
            let sequence = self.headers[i].map_or(0, |h| h.sequence);
            wipe.push((sequence, self.offset_of(i)));
            self.free.retain(|&free| free != i);
            self.wiping.push(i);
        }
        Some((self.offset_of(self.headers.len()), wipe))
    }

    /// The headers that [`Vlfs::cut`] named are wiped.
    pub(crate) fn give_back(&mut self) {
        self.cutting = false;
        for i in std::mem::take(&mut self.wiping) {
            self.headers[i] = None;
            self.free.push_back(i);
        }
    }

    /// The header of the next VLF is on its way: what the file has there is not known.
    pub(crate) fn is_activating(&self) -> bool {
        self.activating.is_some()
    }

    /// VLFs that are in nobody's use.
    pub(crate) fn free_count(&self) -> usize {
        self.free.len()
    }

    /// The file has grown by one VLF.
    pub(crate) fn grown(&mut self) {
        self.headers.push(None);
        self.free.push_back(self.headers.len() - 1);
    }

    /// Nothing below `keep_from` is needed: VLFs wholly below become free, but never the one that holds
    /// `next_block` or later ones. Says how many.
    pub(crate) fn truncate(&mut self, keep_from: Lsn, next_block: u64) -> usize {
        self.keep_from = self.keep_from.max(keep_from);
        let keep_block = self.keep_from.block().min(next_block);
        let mut freed = 0;
        while let Some(&i) = self.active.front() {
            if self.active.len() == 1
                || self.header(i).first_block + self.blocks_each() > keep_block
            {
                break;
            }
            self.active.pop_front();
            self.free.push_back(i);
            freed += 1;
        }
        freed
    }

    /// Whether the VLF at this place holds needed log or is next.
    pub(crate) fn is_active(&self, place: usize) -> bool {
        self.active.contains(&place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(sequence: u64, first_block: u64) -> Option<VlfHeader> {
        Some(VlfHeader { sequence, first_block, salt: 1, incarnation: 1, create_lsn: Lsn(8) })
    }

    #[test]
    fn headers_survive_encoding_and_nothing_else_does() {
        let file = FileHeader {
            generation: 5,
            uuid: [9; 16],
            salt: 3,
            vlf_bytes: 1 << 20,
            incarnation: 4,
            clean: true,
            end: Lsn(4032),
        };
        let vlf = header(3, 77).unwrap();
        let mut block = vec![0; BLOCK_BYTES];
        file.encode(&mut block);
        assert_eq!(FileHeader::decode(&block), Some(file));
        assert_eq!(VlfHeader::decode(&block), None);
        block[4095] = 1;
        assert_eq!(FileHeader::decode(&block), None);
        vlf.encode(&mut block);
        assert_eq!(VlfHeader::decode(&block), Some(vlf));
        assert_eq!(FileHeader::decode(&block), None);
    }

    #[test]
    fn the_run_up_to_the_highest_sequence_is_active() {
        // Blocks per VLF: 15. Sequence 2 is a stray: 3 and 4 are missing.
        let map = Vlfs::new(1 << 16, vec![header(6, 76), header(2, 16), header(5, 61), None]);
        assert_eq!((map.first_block(), map.end_block()), (61, 91));
        assert_eq!(map.stray().map(|h| h.sequence), Some(2));
        assert_eq!(map.place(60), None);
        let at = map.offset_of(2);
        assert_eq!(map.place(61), Some(Place { offset: at + 4096, left: 15, vlf_sequence: 5 }));
        let at = map.offset_of(0);
        assert_eq!(map.place(90), Some(Place { offset: at + 15 * 4096, left: 1, vlf_sequence: 6 }));
        assert_eq!(map.place(91), None);
        assert_eq!(map.capacity_end(), Lsn::of_block(91 + 30));
    }

    #[test]
    fn vlfs_go_round() {
        let mut map = Vlfs::new(1 << 16, vec![header(1, 1), None]);
        let (offset, next) = map.activate(1, 1, Lsn(8)).unwrap();
        assert_eq!((offset, next.sequence, next.first_block), (map.offset_of(1), 2, 16));
        assert_eq!(map.place(16), None, "not before its header is durable");
        assert_eq!(map.activate(1, 1, Lsn(8)), None);
        map.activated();
        assert!(map.place(16).is_some());
        assert_eq!(map.truncate(Lsn::of_block(15), 20), 0, "block 15 is needed");
        assert_eq!(map.truncate(Lsn::of_block(16), 15), 0, "block 15 is not yet written");
        assert_eq!(map.truncate(Lsn::of_block(16), 16), 1);
        assert_eq!(map.place(15), None);
        let (offset, next) = map.activate(1, 1, Lsn(8)).unwrap();
        assert_eq!((offset, next.sequence, next.first_block), (map.offset_of(0), 3, 31));
    }
}
