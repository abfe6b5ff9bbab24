//! The log of dm-log-writes (linux Documentation/admin-guide/device-mapper/log-writes.rst), read back.
//!
//! Invariants of the log that [`states`](super::states) relies on: a write with FUA, and a mark, has its place when it
//! completed; any other write that completed has its place before the end of the next flush, and what never met a flush
//! has none. So what comes before a flush was on the disk when the flush was answered, and of the writes without FUA
//! between two flushes any choice may have been, at a loss of power.

use crate::ledger::Progress;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

const MAGIC: u64 = 0x006a_7366_7773_6872;
const FLUSH: u64 = 1;
const FUA: u64 = 2;
const DISCARD: u64 = 4;
const MARK: u64 = 8;
pub const SECTOR: usize = 512;

/// One entry.
pub enum Entry {
    Write {
        sector: u64,
        /// Where its data is in the log, and how long, in bytes.
        at: u64,
        len: usize,
        /// On the disk when it was answered.
        fua: bool,
    },
    Flush,
    /// A session's progress when it was told.
    Mark(u32, Progress),
}

/// A log that is complete.
pub struct WriteLog {
    file: File,
    pub entries: Vec<Entry>,
}

impl WriteLog {
    pub fn read(path: &Path) -> io::Result<WriteLog> {
        let bad = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
        let file = File::open(path)?;
        let word = |bytes: &[u8], i: usize| {
            u64::from_le_bytes(bytes[i * 8..i * 8 + 8].try_into().expect("eight bytes"))
        };
        let mut sector = [0u8; SECTOR];
        file.read_exact_at(&mut sector, 0)?;
        if word(&sector, 0) != MAGIC
            || word(&sector, 1) != 1
            || sector[24..28] != 512u32.to_le_bytes()
        {
            return Err(bad("no log of writes of version 1 and sectors of 512 bytes"));
        }
        let count = word(&sector, 2);
        let mut entries = Vec::with_capacity(count as usize);
        let mut at = SECTOR as u64;
        for _ in 0..count {
            file.read_exact_at(&mut sector, at)?;
            at += SECTOR as u64;
            let [first, sectors, flags, len] = [0, 1, 2, 3].map(|i| word(&sector, i));
            if flags & MARK != 0 {
                let text =
                    sector[32..].get(..len as usize).ok_or_else(|| bad("a mark too long"))?;
                // The kernel sets one of its own at the end.
                entries.extend(mark(text));
                continue;
            }
            if flags & DISCARD != 0 {
                return Err(bad("a discard, though the file system was mounted without"));
            }
            let len = sectors as usize * SECTOR;
            if len > 0 {
                entries.push(Entry::Write { sector: first, at, len, fua: flags & FUA != 0 });
                at += len as u64;
            }
            if flags & FLUSH != 0 {
                entries.push(Entry::Flush);
            }
        }
        Ok(WriteLog { file, entries })
    }

    pub fn data(&self, at: u64, len: usize) -> io::Result<Vec<u8>> {
        let mut data = vec![0; len];
        self.file.read_exact_at(&mut data, at)?;
        Ok(data)
    }
}

/// SESSION:ANSWERED:SURE, as the marker writes it: one word, or the kernel refuses it.
fn mark(text: &[u8]) -> Option<Entry> {
    let text = std::str::from_utf8(text).ok()?.trim_end_matches('\0');
    let mut numbers = text.split(':');
    let mut number = || numbers.next();
    let session = number()?.parse().ok()?;
    let (answered, sure) = (number()?.parse().ok()?, number()?.parse().ok()?);
    Some(Entry::Mark(session, Progress { answered, sure }))
}

/// A log of these entries: the words of its head, the text of a mark, the data.
#[cfg(test)]
pub fn test_log(name: &str, entries: &[([u64; 4], Vec<u8>, Vec<u8>)]) -> WriteLog {
    let mut log = vec![0u8; SECTOR];
    log[..8].copy_from_slice(&MAGIC.to_le_bytes());
    log[8..16].copy_from_slice(&1u64.to_le_bytes());
    log[16..24].copy_from_slice(&(entries.len() as u64).to_le_bytes());
    log[24..28].copy_from_slice(&512u32.to_le_bytes());
    for (words, text, data) in entries {
        let mut sector = vec![0u8; SECTOR];
        for (i, word) in words.iter().enumerate() {
            sector[i * 8..i * 8 + 8].copy_from_slice(&word.to_le_bytes());
        }
        sector[32..32 + text.len()].copy_from_slice(text);
        log.extend_from_slice(&sector);
        log.extend_from_slice(data);
    }
    let path = std::env::temp_dir().join(format!("write-log-{name}-{}", std::process::id()));
    std::fs::write(&path, &log).unwrap();
    let read = WriteLog::read(&path).unwrap();
    // It stays open.
    std::fs::remove_file(&path).unwrap();
    read
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read_back() {
        let read = test_log(
            "read",
            &[
                ([8, 2, 0, 0], Vec::new(), vec![7; 2 * SECTOR]),
                ([0, 0, MARK, 6], b"3:17:9".to_vec(), Vec::new()),
                ([99, 1, FUA, 0], Vec::new(), vec![9; SECTOR]),
                ([0, 0, FLUSH, 0], Vec::new(), Vec::new()),
            ],
        );
        let [first, second, third, fourth] = &read.entries[..] else { panic!("four entries") };
        let Entry::Write { sector: 8, at, len: 1024, fua: false } = first else {
            panic!("a write")
        };
        assert_eq!(read.data(*at, 1024).unwrap(), [7; 1024]);
        assert!(matches!(second, Entry::Mark(3, Progress { answered: 17, sure: 9 })));
        assert!(matches!(third, Entry::Write { sector: 99, len: 512, fua: true, .. }));
        assert!(matches!(fourth, Entry::Flush));
    }
}
