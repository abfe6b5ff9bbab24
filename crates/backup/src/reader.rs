//! Reading a set, block after block, everything verified.

use crate::block::{HEAD_BYTES, Head, Kind, LOG_ENTRY_BYTES, PAGE_BYTES, total_of, u32_at};
use crate::{BackupError, Media, SetEnd, SetHeader, SetInfo};
use stdx::AlignedBuf;

/// A piece of a set.
#[derive(Debug)]
pub enum Part<'a> {
    /// Neighbouring pages from `first` (a page id) on.
    Pages { first: u64, bytes: &'a [u8] },
    /// Log blocks with numbers from `first` on.
    Log { first: u64, entries: LogEntries<'a> },
    /// The set ends.
    End(Box<SetEnd>),
}

/// One log block.
#[derive(Clone, Copy, Debug)]
pub struct LogEntry<'a> {
    pub marks: u32,
    pub payload: &'a [u8],
}

/// The log blocks of one piece.
#[derive(Clone, Copy, Debug)]
pub struct LogEntries<'a>(&'a [u8]);

impl<'a> LogEntries<'a> {
    /// In order.
    pub fn iter(&self) -> impl Iterator<Item = LogEntry<'a>> + use<'a> {
        let of = |e: &'a [u8]| LogEntry { marks: u32_at(e, 0), payload: &e[8..] };
        self.0.chunks_exact(LOG_ENTRY_BYTES).map(of)
    }
}

/// Reads one set from its header to its end.
pub struct SetReader<'a> {
    media: &'a Media,
    info: Option<SetInfo>,
    at: u64,
    tag: u64,
    number: u64,
    block: AlignedBuf,
    body: Vec<u8>,
}

impl<'a> SetReader<'a> {
    pub(crate) fn new(media: &'a Media, info: SetInfo) -> SetReader<'a> {
        let mut reader = SetReader::at(media, info.offset, 0);
        reader.info = Some(info);
        reader
    }

    pub(crate) fn at(media: &'a Media, offset: u64, tag: u64) -> SetReader<'a> {
        let (block, body) = (AlignedBuf::zeroed(0), Vec::new());
        SetReader { media, info: None, at: offset, tag, number: 0, block, body }
    }

    /// What [`Media::sets`] said of it.
    pub fn info(&self) -> &SetInfo {
        self.info.as_ref().expect("readers that are handed out know their set")
    }

    /// How much of the set has been read, in bytes, and how much there is.
    pub fn progress(&self) -> (u64, u64) {
        self.info.as_ref().map_or((0, 0), |i| (self.at - i.offset, i.bytes))
    }

    /// The header: before anything else. Suspends.
    pub(crate) fn header(&mut self) -> Result<SetHeader, BackupError> {
        let at = self.at;
        self.load()?;
        serde_json::from_slice(&self.body)
            .map_err(|_| self.media.damaged(at, "the header of a backup set cannot be read"))
    }

    pub(crate) fn end_at(&mut self, at: u64, number: u64) -> Result<SetEnd, BackupError> {
        (self.at, self.number) = (at, number);
        self.load()?;
        self.end(at)
    }

    fn end(&self, at: u64) -> Result<SetEnd, BackupError> {
        serde_json::from_slice(&self.body)
            .map_err(|_| self.media.damaged(at, "the end of a backup set cannot be read"))
    }

    /// The next piece; the end comes last, and then none. Suspends.
    pub fn next_part(&mut self) -> Result<Option<Part<'_>>, BackupError> {
        loop {
            let info = self.info();
            if self.at >= info.offset + info.bytes {
                return Ok(None);
            }
            let at = self.at;
            let head = self.load()?;
            let entry = match head.kind {
                Kind::Header => {
                    self.tag = head.tag;
                    continue;
                }
                Kind::End => {
                    let end = self.end(at)?;
                    if end.blocks != head.number {
                        return Err(self.media.damaged(at, "blocks of the set are missing"));
                    }
                    return Ok(Some(Part::End(Box::new(end))));
                }
                Kind::Pages => PAGE_BYTES,
                Kind::Log => LOG_ENTRY_BYTES,
            };
            if self.body.len() != head.count as usize * entry {
                return Err(self.media.damaged(at, "a block has a wrong length"));
            }
            return Ok(Some(match head.kind {
                Kind::Pages => Part::Pages { first: head.first, bytes: &self.body },
                _ => Part::Log { first: head.first, entries: LogEntries(&self.body) },
            }));
        }
    }

    /// Reads and verifies the block at `at`; its body is then in `body`.
    fn load(&mut self) -> Result<Head, BackupError> {
        let (media, at) = (self.media, self.at);
        let head = media.head(at)?.filter(|h| h.number == self.number);
        let head = head.filter(|h| self.number == 0 || h.tag == self.tag);
        let Some(head) = head else {
            return Err(media.damaged(at, "a block's header is damaged"));
        };
        let total = total_of(head.stored as usize);
        if at + total as u64 > media.len {
            return Err(media.damaged(at, "the file ends inside a block"));
        }
        if self.block.len() < total {
            self.block = AlignedBuf::zeroed(total.next_power_of_two());
        }
        media.read(at, &mut self.block[..total])?;
        let rest = &self.block[HEAD_BYTES..total];
        if Head::decode(&self.block[..HEAD_BYTES]) != Some(head)
            || crc32c::crc32c(rest) != head.body_crc
        {
            return Err(media.damaged(at, "a block's checksum does not fit"));
        }
        let stored = &rest[..head.stored as usize];
        self.body.clear();
        if head.compressed {
            self.body.resize(head.raw as usize, 0);
            let n = lz4_flex::block::decompress_into(stored, &mut self.body);
            if n.ok() != Some(head.raw as usize) {
                return Err(media.damaged(at, "a block cannot be decompressed"));
            }
        } else if head.raw == head.stored {
            self.body.extend_from_slice(stored);
        } else {
            return Err(media.damaged(at, "a block has a wrong length"));
        }
        self.at += total as u64;
        self.number += 1;
        Ok(head)
    }
}
