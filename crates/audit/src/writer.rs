//! The writer of a trail: a task of its own, which makes the files, fills them, and lets the oldest go.
//!
//! Promises: one write at a time, each durable before the next begins; a file never grows beyond its bound, but for one
//! record that is larger; a file that has vanished is not written on, though its handle is still good; a write that failed
//! is written again in the same place, so what was torn is overwritten, not followed.

use crate::format::{HEADER_BYTES, Header};
use crate::names;
use crate::trail::{Entry, OnFailure, RETRY_NS, Trail};
use device::{File, OpenOptions};
use runtime::clock;
use runtime::task;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use telemetry::WaitType;

/// With less room in a file a trail that has failed tries a new one: no record of usual size would find room.
const ROOM_BYTES_MIN: u64 = 64 << 10;
/// Zeros that a trail that has failed writes to see whether it can.
const PROBE_BYTES: usize = 4096;

/// The file that is written.
pub(crate) struct Current {
    file: Arc<dyn File>,
    path: PathBuf,
    bytes: u64,
}

impl Trail {
    /// The writer's task, until [`Trail::stop`].
    pub fn run(&self) {
        self.state.lock().writer = Some(task::current_waker());
        let mut current = self.take_up();
        let (mut due, mut retry_at): (Option<u64>, u64) = (None, 0);
        loop {
            let now = clock::now_ns();
            let mut state = self.state.lock();
            let failed = state.status.failure.is_some();
            let stopping = state.stopping;
            let idle = state.queue.is_empty();
            if stopping && (idle || (failed && now < retry_at)) {
                break;
            }
            let until = match (failed, idle) {
                (true, true) if !self.is_strict() => None,
                (true, _) => Some(retry_at),
                (false, true) => None,
                (false, false) if state.urgent => Some(now),
                (false, false) => {
                    let delay_ns = u64::from(self.options.delay_ms) * 1_000_000;
                    Some(*due.get_or_insert(now.saturating_add(delay_ns)))
                }
            };
            if !stopping && until.is_none_or(|until| now < until) {
                drop(state);
                task::park(WaitType::SleepTask, until);
                continue;
            }
            due = None;
            state.urgent = false;
            let batch: Vec<Entry> = state.queue.drain(..).collect();
            state.queue_bytes = 0;
            drop(state);
            let (done, written) = match batch.is_empty() {
                true => (0, self.probe(&mut current)),
                false => self.write(&mut current, &batch),
            };
            retry_at = clock::now_ns() + RETRY_NS;
            self.settle(batch, done, written, &current);
        }
        self.end();
    }

    /// Makes the file that the writer begins with.
    pub(crate) fn first_file(&self) -> Result<(), String> {
        let mut current = None;
        let made = self.roll(&mut current);
        let outcome = made.as_ref().map_err(ToString::to_string).copied();
        self.settle(Vec::new(), 0, made, &current);
        outcome
    }

    /// The file that [`Trail::first_file`] has made.
    fn take_up(&self) -> Option<Current> {
        let path = self.state.lock().status.file.clone()?;
        let file = self.fs.open(&path, OpenOptions::existing()).ok()?;
        Some(Current { file, path, bytes: HEADER_BYTES as u64 })
    }

    /// Whoever waits hears how it went: so many of the batch, the first ones, are durable; the rest is if there is no error.
    fn settle(
        &self,
        batch: Vec<Entry>,
        done: usize,
        written: io::Result<()>,
        current: &Option<Current>,
    ) {
        let mut state = self.state.lock();
        let last = batch.last().map(|entry| entry.number);
        let mut news = None;
        match written {
            Ok(()) => {
                if state.status.failure.take().is_some() {
                    state.status.since_unix_ns = clock::unix_ns();
                }
                state.status.is_without_file = false;
            }
            Err(error) => {
                let keeps = self.options.on_failure != OnFailure::Continue;
                for entry in batch.into_iter().skip(done).rev() {
                    if entry.is_waited_for {
                        state.refused.push(entry.number);
                        state.status.lost += 1;
                    } else if keeps {
                        state.queue_bytes += entry.frame.len();
                        state.queue.push_front(entry);
                    } else {
                        state.status.lost += 1;
                    }
                }
                state.status.is_without_file = current.is_none();
                if state.status.failure.is_none() {
                    state.status.since_unix_ns = clock::unix_ns();
                    news = Some(error.to_string());
                }
                state.status.failure = Some(error.to_string());
            }
        }
        if let Some(last) = last {
            state.settled = last + 1;
        }
        if let Some(current) = current {
            state.status.file = Some(current.path.clone());
            state.status.file_bytes = current.bytes;
        }
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.iter().for_each(task::Waker::wake);
        if let Some(news) = news {
            (self.on_failure)(&news);
        }
    }

    fn end(&self) {
        let mut state = self.state.lock();
        state.ended = true;
        state.status.lost += state.queue.len() as u64;
        state.queue.clear();
        state.settled = u64::MAX;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.iter().for_each(task::Waker::wake);
    }

    /// Writes all of a batch, in as few writes as its files allow; how many are durable, also where the rest fails.
    fn write(&self, current: &mut Option<Current>, batch: &[Entry]) -> (usize, io::Result<()>) {
        let mut done = 0;
        while done < batch.len() {
            match self.write_some(current, &batch[done..]) {
                Ok(more) => done += more,
                Err(error) => return (done, Err(error)),
            }
        }
        (done, Ok(()))
    }

    /// Writes as many as go into the file, in one write; how many: 0 where it was full, and a new one is there then.
    fn write_some(&self, current: &mut Option<Current>, batch: &[Entry]) -> io::Result<usize> {
        self.have_file(current)?;
        let Some(file) = current.as_mut() else { return Err(io::ErrorKind::NotFound.into()) };
        let room = self.options.bytes_max.map_or(u64::MAX, |max| max.saturating_sub(file.bytes));
        let mut bytes = Vec::new();
        let mut some = 0;
        while some < batch.len() && (bytes.len() + batch[some].frame.len()) as u64 <= room {
            bytes.extend_from_slice(&batch[some].frame);
            some += 1;
        }
        if some == 0 {
            if file.bytes > HEADER_BYTES as u64 {
                self.roll(current)?;
                return Ok(0);
            }
            // Larger than a file may be: alone in one.
            bytes.extend_from_slice(&batch[0].frame);
            some = 1;
        }
        file.file.write_all_at(file.bytes, &bytes, true, WaitType::IoCompletion)?;
        file.bytes += bytes.len() as u64;
        Ok(some)
    }

    /// Whether a write would do again: zeros behind the last record are overwritten by the next.
    fn probe(&self, current: &mut Option<Current>) -> io::Result<()> {
        self.have_file(current)?;
        let room = |file: &Current| {
            self.options.bytes_max.map_or(u64::MAX, |m| m.saturating_sub(file.bytes))
        };
        if current.as_ref().is_some_and(|file| room(file) < ROOM_BYTES_MIN) {
            self.roll(current)?;
        }
        if let Some(file) = current.as_ref() {
            let zeros = [0; PROBE_BYTES];
            file.file.write_all_at(file.bytes, &zeros, true, WaitType::IoCompletion)?;
        }
        Ok(())
    }

    fn have_file(&self, current: &mut Option<Current>) -> io::Result<()> {
        if let Some(file) = current.as_ref()
            && !self.fs.exists(&file.path)?
        {
            *current = None;
        }
        match current {
            Some(_) => Ok(()),
            None => self.roll(current),
        }
    }

    /// Goes on in a new file; the oldest one goes where there would be too many.
    fn roll(&self, current: &mut Option<Current>) -> io::Result<()> {
        let options = &self.options;
        let mut own = self.own_files()?;
        if options.files_max > 0 && own.len() >= options.files_max as usize {
            let text = format!("the audit has made its {} files (MAX_FILES)", options.files_max);
            return Err(io::Error::other(text));
        }
        let last = own.iter().filter_map(|(_, path)| number_of(path)).max();
        // What an operator has called a file may be any number.
        let number = last.map_or(0, |n| n.saturating_add(1));
        let mut now = clock::unix_ns();
        if let Some((last, _)) = own.last() {
            // The clock may have been set back; names are in the order of their making all the same.
            now = now.max(names::unix_ns_of(*last).saturating_add(100));
        }
        let base = names::base(&options.name, &options.guid);
        let path = options.folder.join(names::file_name(&base, number, now));
        let file = self.fs.open(&path, OpenOptions::create_new())?;
        let header = Header { audit: options.guid, created_unix_ns: now, number };
        let made = self.begin_file(&file, &header);
        if let Err(error) = made {
            // An empty file would count among the files that there may be.
            let _ = self.fs.remove(&path);
            return Err(error);
        }
        *current = Some(Current { file, path, bytes: HEADER_BYTES as u64 });
        // One goes for one that comes: what an operator has left lying there is his.
        if own.len() > options.rollover_max as usize {
            let (_, oldest) = own.remove(0);
            self.fs.remove(&oldest)?;
        }
        Ok(())
    }

    fn begin_file(&self, file: &Arc<dyn File>, header: &Header) -> io::Result<()> {
        if let (true, Some(bytes)) = (self.options.reserve, self.options.bytes_max) {
            file.reserve(0, bytes)?;
        }
        file.write_all_at(0, &header.encode(), true, WaitType::IoCompletion)?;
        self.fs.sync_dir(&self.options.folder)
    }

    /// The audit's files in the folder, the oldest first.
    fn own_files(&self) -> io::Result<Vec<(u64, PathBuf)>> {
        let mut own = Vec::new();
        for path in self.fs.list(&self.options.folder)? {
            let name = path.file_name().and_then(|name| name.to_str());
            if let Some(time) = name.and_then(|name| names::belongs_to(name, &self.options.guid)) {
                own.push((time, path));
            }
        }
        own.sort();
        Ok(own)
    }
}

/// The number in a file's name.
fn number_of(path: &std::path::Path) -> Option<u32> {
    let stem = path.file_name()?.to_str()?.strip_suffix(names::FILE_ENDING)?;
    let (rest, _) = stem.rsplit_once('_')?;
    rest.rsplit_once('_')?.1.parse().ok()
}
