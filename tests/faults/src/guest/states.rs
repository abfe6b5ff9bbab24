//! The states in which a loss of power may have left the disk, made from the log of its writes.
//!
//! A state is one of two kinds. *Replayed*: all entries up to the end of a flush or of a write with FUA. *Chosen*: all
//! up to a flush, every write with FUA from there to the next, and of the others any choice, each whole or in any
//! choice of its sectors. What the driver knew at that moment is in the marks before it.
//!
//! A *planted* state is one that no loss of power leaves: a write that was durable before an answer is left out. It
//! tries whoever looks at the states: see [`planted`].

use super::host;
use super::write_log::{Entry, SECTOR, WriteLog};
use crate::ledger::{Known, NAMES, Progress};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use stdx::{Prng, mix64};

/// See [`planted`].
const PERHAPS_MORE: usize = 5;

/// What a disk is told in.
pub const CHUNK: usize = 64 << 10;

/// The sectors of ext4's superblock. Its checksum is asked for before the journal is replayed, so that ext4 does not mount
/// when half of it was written (EBADMSG): a disk that tears it takes every file, whoever wrote them.
const SUPERBLOCK: Range<u64> = 2..4;

/// A disk in memory, in whole chunks.
pub struct Image {
    bytes: Vec<u8>,
    /// Chunks that are not all zeros, or once were not.
    used: Vec<bool>,
    /// Of all sectors' places and contents together: two images with one hash are one state.
    hash: u64,
}

impl Image {
    pub fn read(path: &Path) -> io::Result<Image> {
        let file = File::open(path)?;
        let len = file.metadata()?.len() as usize;
        let mut used = host::filled(&file, len)?;
        // Zeros that are not touched take no memory.
        let mut bytes = vec![0; len.next_multiple_of(CHUNK)];
        for (i, used) in used.iter_mut().enumerate().filter(|(_, used)| **used) {
            let at = i * CHUNK;
            let chunk = &mut bytes[at..len.min(at + CHUNK)];
            file.read_exact_at(chunk, at as u64)?;
            *used = *chunk != [0; CHUNK][..chunk.len()];
        }
        // The hash tells images of one run apart, so it may begin anywhere.
        Ok(Image { bytes, used, hash: 0 })
    }

    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// All chunks in order; `None` is one of zeros.
    pub fn chunks(&self) -> impl Iterator<Item = Option<&[u8]>> {
        self.bytes.chunks(CHUNK).zip(&self.used).map(|(chunk, used)| used.then_some(chunk))
    }

    /// Writes whole sectors; returns what was there.
    fn write(&mut self, sector: u64, data: &[u8]) -> io::Result<Vec<u8>> {
        let from = sector as usize * SECTOR;
        let place = from..from + data.len();
        let outside = || io::Error::other("a write past the end of the disk");
        let there = self.bytes.get_mut(place).ok_or_else(outside)?;
        let old = there.to_vec();
        there.copy_from_slice(data);
        for (i, (old, new)) in old.chunks(SECTOR).zip(data.chunks(SECTOR)).enumerate() {
            self.hash ^= hash_of(sector + i as u64, old) ^ hash_of(sector + i as u64, new);
        }
        self.used[from / CHUNK..=(from + data.len() - 1) / CHUNK].fill(true);
        Ok(old)
    }

    /// As a sparse file.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let file = File::create(path)?;
        file.set_len(self.bytes.len() as u64)?;
        for (i, chunk) in self.chunks().enumerate() {
            if let Some(chunk) = chunk {
                file.write_all_at(chunk, (i * CHUNK) as u64)?;
            }
        }
        Ok(())
    }
}

fn hash_of(sector: u64, data: &[u8]) -> u64 {
    let words = data.chunks_exact(8).map(|w| u64::from_le_bytes(w.try_into().expect("eight")));
    words.fold(mix64(sector + 1), |hash, word| {
        (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    })
}

/// One state to be tried.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Everything before this entry is there: the first after a flush.
    epoch: usize,
    kind: Kind,
    planted: Option<Planted>,
}

/// A fault of which the state is made.
#[derive(Clone, Copy, Debug)]
struct Planted {
    /// This durable write is left out.
    entry: usize,
    /// It was the only one that an answer can have waited for.
    certain: bool,
}

impl Plan {
    fn of(epoch: usize, kind: Kind) -> Plan {
        Plan { epoch, kind, planted: None }
    }

    /// Of a planted state: whether its loss is certain to show.
    pub fn planted(&self) -> Option<bool> {
        self.planted.map(|planted| planted.certain)
    }
}

#[derive(Clone, Debug)]
enum Kind {
    /// Up to this entry.
    Replayed(usize),
    /// Up to the flush at this entry, or the end, with a choice by this seed.
    Chosen(usize, u64),
}

/// So many states of a log, in the order in which they are made.
pub fn plan(log: &WriteLog, count: usize, seed: u64) -> Vec<Plan> {
    let mut random = Prng::new(mix64(seed));
    let mut replayed = Vec::new();
    let mut epochs = Vec::new();
    let (mut epoch, mut loose) = (0, false);
    for (i, entry) in log.entries.iter().enumerate() {
        match entry {
            Entry::Flush => {
                replayed.push(Plan::of(epoch, Kind::Replayed(i + 1)));
                if loose {
                    epochs.push((epoch, i));
                }
                (epoch, loose) = (i + 1, false);
            }
            Entry::Write { fua: true, .. } => {
                replayed.push(Plan::of(epoch, Kind::Replayed(i + 1)));
            }
            Entry::Write { .. } => loose = true,
            Entry::Mark(..) => {}
        }
    }
    // Half of each, as far as there are so many marks.
    shuffle(&mut replayed, &mut random);
    shuffle(&mut epochs, &mut random);
    let few = if epochs.is_empty() { count } else { count / 2 };
    replayed.truncate(few);
    let mut plans = replayed;
    let rest = if epochs.is_empty() { 0 } else { count - plans.len() };
    for i in 0..rest {
        let (epoch, end) = epochs[i % epochs.len()];
        plans.push(Plan::of(epoch, Kind::Chosen(end, random.next_u64())));
    }
    shuffle(&mut plans, &mut random);
    plans
}

fn shuffle<T>(items: &mut [T], random: &mut Prng) {
    for i in (1..items.len()).rev() {
        items.swap(i, random.below(i as u64 + 1) as usize);
    }
}

/// So many planted states of a log, at most: all up to a mark by which a session was told that one more of its
/// transactions is sure, but for one durable write since its mark before. It sent that transaction in between, and log
/// blocks are written once: with one write in between the transaction is lost for certain, with several perhaps, the
/// fewer the sooner. On a busy machine there may be none that is certain: [`PERHAPS_MORE`] times as many then.
pub fn planted(log: &WriteLog, count: usize, seed: u64) -> Vec<Plan> {
    /// What came since a session's last mark.
    #[derive(Default)]
    struct Since {
        sure: usize,
        /// Durable writes, each with the epoch that it is of.
        durable: Vec<(usize, usize)>,
        others: bool,
    }
    let mut sessions: BTreeMap<u32, Since> = BTreeMap::new();
    let (mut certain, mut perhaps) = (Vec::new(), Vec::new());
    let mut epoch = 0;
    for (i, entry) in log.entries.iter().enumerate() {
        match entry {
            Entry::Write { fua: true, .. } => {
                sessions.values_mut().for_each(|since| since.durable.push((i, epoch)));
            }
            Entry::Write { .. } => sessions.values_mut().for_each(|since| since.others = true),
            Entry::Flush => {
                sessions.values_mut().for_each(|since| since.others = true);
                epoch = i + 1;
            }
            Entry::Mark(session, progress) if *session != NAMES => {
                let next = Since { sure: progress.sure, ..Since::default() };
                let Some(since) = sessions.insert(*session, next) else { continue };
                let Some(&(entry, epoch)) = since.durable.last() else { continue };
                if progress.sure != since.sure + 1 {
                    continue;
                }
                let only = since.durable.len() == 1 && !since.others;
                let planted = Some(Planted { entry, certain: only });
                let plan = Plan { planted, ..Plan::of(epoch, Kind::Replayed(i + 1)) };
                if only { certain.push(plan) } else { perhaps.push((since.durable.len(), plan)) }
            }
            Entry::Mark(..) => {}
        }
    }
    let mut random = Prng::new(mix64(seed ^ 0xb06));
    shuffle(&mut certain, &mut random);
    shuffle(&mut perhaps, &mut random);
    perhaps.sort_by_key(|(durable, _)| *durable);
    let count = if certain.is_empty() { count * PERHAPS_MORE } else { count };
    certain.into_iter().chain(perhaps.into_iter().map(|(_, plan)| plan)).take(count).collect()
}

/// Makes states, each shown before the next is begun.
pub struct Maker<'a> {
    log: &'a WriteLog,
    image: Image,
    /// The image has all entries before this.
    applied: usize,
    /// And the driver knew this of the sessions.
    known: BTreeMap<u32, Progress>,
}

/// A state on its way to be looked at.
pub struct Made {
    pub hash: u64,
    pub known: BTreeMap<u32, Known>,
    /// Since the last flush.
    pub writes: usize,
    pub torn: usize,
}

impl<'a> Maker<'a> {
    pub fn new(log: &'a WriteLog, image: Image) -> Maker<'a> {
        Maker { log, image, applied: 0, known: BTreeMap::new() }
    }

    /// The plans in the order in which they can be made.
    pub fn order(plans: &mut [Plan]) {
        plans.sort_by_key(|plan| plan.epoch);
    }

    pub fn disk_bytes(&self) -> usize {
        self.image.len()
    }

    /// Makes a state, and shows it. Plans come in [`Maker::order`].
    pub fn make(
        &mut self,
        plan: &Plan,
        show: impl FnOnce(&Image) -> io::Result<()>,
    ) -> io::Result<Made> {
        assert!(plan.epoch >= self.applied, "plans come in order");
        while self.applied < plan.epoch {
            match &self.log.entries[self.applied] {
                Entry::Write { sector, at, len, .. } => {
                    self.image.write(*sector, &self.log.data(*at, *len)?)?;
                }
                Entry::Mark(session, progress) => {
                    self.known.insert(*session, *progress);
                }
                Entry::Flush => {}
            }
            self.applied += 1;
        }
        let (range, mut choice): (Range<usize>, Option<Prng>) = match plan.kind {
            Kind::Replayed(end) => (plan.epoch..end, None),
            Kind::Chosen(end, seed) => (plan.epoch..end, Some(Prng::new(seed))),
        };
        let mut known = self.known.clone();
        let mut undo = Vec::new();
        let mut torn = 0;
        let left_out = plan.planted.map(|planted| planted.entry);
        for (i, entry) in range.clone().zip(&self.log.entries[range]) {
            match entry {
                _ if left_out == Some(i) => {}
                Entry::Mark(session, progress) => {
                    known.insert(*session, *progress);
                }
                Entry::Write { sector, at, len, fua } => {
                    let data = self.log.data(*at, *len)?;
                    match &mut choice {
                        Some(random) if !fua => match random.below(8) {
                            0..=2 => {}
                            // Some of its sectors.
                            3 => {
                                torn += 1;
                                let mut survives = false;
                                for (sector, piece) in (*sector..).zip(data.chunks(SECTOR)) {
                                    // The file system's own head is whole: see SUPERBLOCK.
                                    if sector != SUPERBLOCK.end - 1 {
                                        survives = random.one_in(2);
                                    }
                                    if survives {
                                        undo.push((sector, self.image.write(sector, piece)?));
                                    }
                                }
                            }
                            _ => undo.push((*sector, self.image.write(*sector, &data)?)),
                        },
                        _ => undo.push((*sector, self.image.write(*sector, &data)?)),
                    }
                }
                Entry::Flush => {}
            }
        }
        let hash = self.image.hash;
        show(&self.image)?;
        let writes = undo.len();
        for (sector, old) in undo.into_iter().rev() {
            self.image.write(sector, &old)?;
        }
        // A session goes on when its mark is set: one more may have been on its way.
        let known = known.into_iter().map(|(session, progress)| {
            (session, Known { progress, sent_max: progress.answered + 1 })
        });
        Ok(Made { hash, known: known.collect(), writes, torn })
    }
}

#[cfg(test)]
mod tests;
