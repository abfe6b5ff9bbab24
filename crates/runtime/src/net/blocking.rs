//! A stream whose calls wait: for clients that run as tasks.

use super::reactor::{Reactor, Ready, Source, Token, current};
use super::stream::Stream;
use crate::clock;
use crate::task::{self, Waker};
use parking_lot::Mutex;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use telemetry::WaitType;

#[derive(Default)]
struct Bell(Mutex<(bool, Option<Waker>)>);

impl Source for Bell {
    fn ready(self: Arc<Self>, _: Ready) {
        let mut bell = self.0.lock();
        bell.0 = true;
        if let Some(waker) = bell.1.take() {
            drop(bell);
            waker.wake();
        }
    }
}

/// A stream of the calling task, registered with its scheduler's reactor. Waits are ASYNC_NETWORK_IO.
pub struct Waiting {
    stream: Stream,
    bell: Arc<Bell>,
    reactor: Arc<Reactor>,
    token: Token,
    /// On [`crate::clock::now_ns`]; `u64::MAX`: none.
    deadline_ns: AtomicU64,
}

impl Waiting {
    /// On a scheduler's task only.
    pub fn new(stream: Stream) -> io::Result<Waiting> {
        let reactor = current().ok_or_else(|| io::Error::other("this thread polls no reactor"))?;
        let bell = Arc::<Bell>::default();
        let token = stream.register(&reactor, bell.clone())?;
        Ok(Waiting { stream, bell, reactor, token, deadline_ns: AtomicU64::new(u64::MAX) })
    }

    /// From now on calls that would wait longer than until then (on [`crate::clock::now_ns`]) end with `TimedOut`.
    pub fn set_deadline(&self, deadline_ns: Option<u64>) {
        self.deadline_ns.store(deadline_ns.unwrap_or(u64::MAX), Relaxed);
    }

    /// The stream itself, for calls that do not wait.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Reads at least one byte; 0: the other side has closed.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.until_ready(|stream| stream.try_read(buffer))
    }

    /// Writes all of it.
    pub fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let n = self.until_ready(|stream| stream.try_write(bytes))?;
            bytes = &bytes[n..];
        }
        Ok(())
    }

    fn until_ready(
        &self,
        mut attempt: impl FnMut(&Stream) -> io::Result<usize>,
    ) -> io::Result<usize> {
        loop {
            self.bell.0.lock().0 = false;
            match attempt(&self.stream) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return done,
            }
            loop {
                let mut bell = self.bell.0.lock();
                if bell.0 {
                    break;
                }
                bell.1 = Some(task::current_waker());
                drop(bell);
                let deadline_ns = Some(self.deadline_ns.load(Relaxed)).filter(|ns| *ns != u64::MAX);
                if deadline_ns.is_some_and(|ns| ns <= clock::now_ns()) {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                task::park(WaitType::AsyncNetworkIo, deadline_ns);
            }
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.stream.deregister(&self.reactor, self.token);
    }
}
