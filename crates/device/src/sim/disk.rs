//! The simulated medium: live, durable and volatile bytes of each file, and the names.

use super::sparse::Sparse;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use stdx::Prng;

const SECTOR: u64 = 512;

/// A write that a crash may keep, drop or tear.
#[derive(Clone)]
struct Volatile {
    seq: u64,
    offset: u64,
    bytes: Vec<u8>,
    /// When it completed; `u64::MAX` while in flight.
    completed: u64,
    /// A failed sync covered it: no later sync makes it durable.
    orphaned: bool,
    /// Ranges (of the file) settled by later durable writes.
    settled: Vec<(u64, u64)>,
}

#[derive(Clone, Default)]
struct Inode {
    live: Sparse,
    durable: Sparse,
    volatile: Vec<Volatile>,
}

#[derive(Clone)]
enum NameOp {
    Create(PathBuf, usize),
    Remove(PathBuf),
    Rename(PathBuf, PathBuf),
}

#[derive(Clone, Default)]
pub(super) struct Disk {
    inodes: Vec<Inode>,
    names: BTreeMap<PathBuf, usize>,
    durable_names: BTreeMap<PathBuf, usize>,
    /// Changes of names since they were made durable, in order.
    pending: Vec<NameOp>,
    dirs: BTreeSet<PathBuf>,
    seq: u64,
}

fn missing() -> io::Error {
    io::Error::from_raw_os_error(libc::ENOENT)
}

fn apply(names: &mut BTreeMap<PathBuf, usize>, op: &NameOp) {
    match op {
        NameOp::Create(path, inode) => {
            names.insert(path.clone(), *inode);
        }
        NameOp::Remove(path) => {
            names.remove(path);
        }
        NameOp::Rename(from, to) => {
            if let Some(inode) = names.remove(from) {
                names.insert(to.clone(), inode);
            }
        }
    }
}

impl Disk {
    /// The current moment in the order of submissions and completions.
    pub fn now(&mut self) -> u64 {
        self.seq += 1;
        self.seq
    }

    pub fn find(&self, path: &Path) -> io::Result<usize> {
        self.names.get(path).copied().ok_or_else(missing)
    }

    pub fn has_dir(&self, path: &Path) -> bool {
        self.dirs.contains(path)
    }

    pub fn create(&mut self, path: &Path) -> io::Result<usize> {
        let parent = path.parent().unwrap_or(Path::new(""));
        if !parent.as_os_str().is_empty() && parent != Path::new("/") && !self.dirs.contains(parent)
        {
            return Err(missing());
        }
        self.inodes.push(Inode::default());
        let inode = self.inodes.len() - 1;
        self.change(NameOp::Create(path.to_owned(), inode));
        Ok(inode)
    }

    fn change(&mut self, op: NameOp) {
        apply(&mut self.names, &op);
        self.pending.push(op);
    }

    pub fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.find(path)?;
        self.change(NameOp::Remove(path.to_owned()));
        Ok(())
    }

    pub fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.find(from)?;
        self.change(NameOp::Rename(from.to_owned(), to.to_owned()));
        Ok(())
    }

    pub fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        let all: Vec<_> = (self.names.keys().chain(&self.dirs))
            .filter(|p| p.parent() == Some(dir))
            .cloned()
            .collect();
        if all.is_empty() && !self.dirs.contains(dir) {
            return Err(missing());
        }
        Ok(BTreeSet::from_iter(all).into_iter().collect())
    }

    pub fn create_dir_all(&mut self, dir: &Path) {
        for dir in dir.ancestors().filter(|d| !d.as_os_str().is_empty()) {
            self.dirs.insert(dir.to_owned());
        }
    }

    /// As a journal does: everything up to the last change in `dir` becomes durable.
    pub fn sync_dir(&mut self, dir: &Path) {
        let inside = |p: &Path| p.parent() == Some(dir);
        let last = self.pending.iter().rposition(|op| match op {
            NameOp::Create(p, _) | NameOp::Remove(p) => inside(p),
            NameOp::Rename(a, b) => inside(a) || inside(b),
        });
        if let Some(last) = last {
            for op in self.pending.drain(..=last) {
                apply(&mut self.durable_names, &op);
            }
        }
    }

    pub fn len(&self, inode: usize) -> u64 {
        self.inodes[inode].live.len
    }

    pub fn total_bytes(&self) -> u64 {
        self.names.values().map(|&i| self.inodes[i].live.len).sum()
    }

    pub fn read(&self, inode: usize, offset: u64, out: &mut [u8]) -> usize {
        self.inodes[inode].live.read(offset, out)
    }

    pub fn set_len(&mut self, inode: usize, len: u64) {
        self.inodes[inode].live.set_len(len);
    }

    pub fn allocate(&mut self, inode: usize, from: u64, len: u64) {
        let file = &mut self.inodes[inode];
        let zeros = vec![0; 1 << 16];
        let mut at = from;
        while at < from + len {
            let n = (from + len - at).min(zeros.len() as u64);
            file.live.write(at, &zeros[..n as usize]);
            file.durable.write(at, &zeros[..n as usize]);
            at += n;
        }
        for v in &mut file.volatile {
            v.settled.push((from, from + len));
        }
    }

    /// From now on a crash may keep it. Reads see it when it completes.
    pub fn write_submitted(&mut self, inode: usize, offset: u64, bytes: &[u8]) -> u64 {
        let seq = self.now();
        self.inodes[inode].volatile.push(Volatile {
            seq,
            offset,
            bytes: bytes.to_vec(),
            completed: u64::MAX,
            orphaned: false,
            settled: Vec::new(),
        });
        seq
    }

    pub fn write_completed(&mut self, inode: usize, seq: u64, durable: bool) {
        let now = self.now();
        let file = &mut self.inodes[inode];
        let Some(at) = file.volatile.iter().position(|v| v.seq == seq) else {
            stdx::fatal!("a simulated write completed twice");
        };
        file.live.write(file.volatile[at].offset, &file.volatile[at].bytes);
        if durable {
            let v = file.volatile.remove(at);
            file.durable.write(v.offset, &v.bytes);
            let range = (v.offset, v.offset + v.bytes.len() as u64);
            for earlier in file.volatile.iter_mut().filter(|e| e.completed != u64::MAX) {
                earlier.settled.push(range);
            }
        } else {
            // Writes take effect in the order of their completions.
            let mut v = file.volatile.remove(at);
            v.completed = now;
            file.volatile.push(v);
        }
    }

    /// A write failed: of its bytes nothing or anything may reach the medium, but not over what is written there later.
    pub fn write_failed(&mut self, inode: usize, seq: u64) {
        let now = self.now();
        let file = &mut self.inodes[inode];
        if let Some(at) = file.volatile.iter().position(|v| v.seq == seq) {
            let mut v = file.volatile.remove(at);
            v.completed = now;
            v.orphaned = true;
            file.volatile.push(v);
        }
    }

    /// A sync submitted at `seq` completed.
    pub fn synced(&mut self, inode: usize, seq: u64) {
        let file = &mut self.inodes[inode];
        let Inode { durable, volatile, live } = file;
        let mut left: Vec<Volatile> = Vec::new();
        for v in volatile.drain(..) {
            if v.completed < seq && !v.orphaned {
                write_unsettled(durable, &v, |_| true);
                // What an earlier failed sync has left behind does not come back over it.
                let range = (v.offset, v.offset + v.bytes.len() as u64);
                let earlier = left.iter_mut().filter(|e| e.completed != u64::MAX);
                earlier.for_each(|e| e.settled.push(range));
            } else {
                left.push(v);
            }
        }
        *volatile = left;
        // Lengths have no order of their own here: what is live at completion is durable.
        durable.set_len(live.len);
    }

    pub fn sync_failed(&mut self, inode: usize, seq: u64) {
        for v in self.inodes[inode].volatile.iter_mut().filter(|v| v.completed < seq) {
            v.orphaned = true;
        }
    }

    pub fn invert(&mut self, inode: usize, offset: u64, bits: u8) {
        let file = &mut self.inodes[inode];
        for bytes in [&mut file.live, &mut file.durable] {
            let mut byte = [0];
            if bytes.read(offset, &mut byte) == 1 {
                bytes.write(offset, &[byte[0] ^ bits]);
            }
        }
    }

    /// The disk after a loss of power now.
    pub fn crash(&self, prng: &mut Prng) -> Disk {
        let mut names = self.durable_names.clone();
        let keep = prng.below(self.pending.len() as u64 + 1) as usize;
        self.pending[..keep].iter().for_each(|op| apply(&mut names, op));

        let mut after = Disk { dirs: self.dirs.clone(), seq: 1, ..Disk::default() };
        for (path, inode) in names {
            let bytes = self.inodes[inode].crash(prng);
            after.names.insert(path, after.inodes.len());
            after.inodes.push(Inode { live: bytes.clone(), durable: bytes, volatile: Vec::new() });
        }
        after.durable_names = after.names.clone();
        after
    }

    pub fn hash(&self) -> u64 {
        self.names.iter().fold(0, |h, (path, &inode)| {
            let h = path
                .as_os_str()
                .as_encoded_bytes()
                .iter()
                .fold(h, |h, &b| stdx::mix64(h ^ u64::from(b)));
            self.inodes[inode].live.hash(h)
        })
    }
}

impl Inode {
    fn crash(&self, prng: &mut Prng) -> Sparse {
        let mut bytes = self.durable.clone();
        if self.live.len != bytes.len && prng.one_in(2) {
            bytes.set_len(self.live.len);
        }
        for v in &self.volatile {
            match prng.below(3) {
                0 => {}
                1 => write_unsettled(&mut bytes, v, |_| true),
                _ => write_unsettled(&mut bytes, v, |_| prng.one_in(2)),
            }
        }
        bytes
    }
}

/// Writes those sectors of `v` that no later durable write has settled and that `keep` likes.
fn write_unsettled(bytes: &mut Sparse, v: &Volatile, mut keep: impl FnMut(u64) -> bool) {
    let end = v.offset + v.bytes.len() as u64;
    let mut at = v.offset;
    while at < end {
        let next = (stdx::round_down(at, SECTOR) + SECTOR).min(end);
        let settled = v.settled.iter().any(|&(from, to)| from <= at && next <= to);
        if keep(at) && !settled {
            bytes.write(at, &v.bytes[(at - v.offset) as usize..(next - v.offset) as usize]);
        }
        at = next;
    }
}
