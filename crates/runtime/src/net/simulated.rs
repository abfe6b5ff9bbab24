//! The network of a simulated world: pipes in memory, cut short and told in an order from the seed.
//!
//! Invariant: whoever saw less than was asked for (a short read or write, or `WouldBlock`) while more is or becomes
//! possible has an edge coming.

use super::reactor::{Ready, Token};
use crate::sim;
use parking_lot::Mutex;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

/// Bytes on the way in one direction.
const PIPE_BYTES: usize = 32 << 10;
const FIRST_FREE_PORT: u16 = 49_152;

/// Edges that a simulated reactor has not told yet.
#[derive(Default)]
pub(super) struct Edges(Mutex<Vec<(Token, Ready)>>);

impl Edges {
    fn push(&self, token: Token, ready: Ready) {
        let mut edges = self.0.lock();
        match edges.iter_mut().find(|(theirs, _)| *theirs == token) {
            Some((_, told)) => {
                told.readable |= ready.readable;
                told.writable |= ready.writable;
                told.closed |= ready.closed;
            }
            None => edges.push((token, ready)),
        }
    }

    /// One of them, by chance.
    pub fn take_one(&self) -> Option<(Token, Ready)> {
        let mut edges = self.0.lock();
        if edges.is_empty() {
            return None;
        }
        let at = (sim::next_u64() % edges.len() as u64) as usize;
        Some(edges.swap_remove(at))
    }
}

/// Where to tell of an edge.
#[derive(Clone)]
pub(super) struct Watch {
    pub edges: Arc<Edges>,
    pub token: Token,
}

impl Watch {
    fn tell(&self, ready: Ready) {
        self.edges.push(self.token, ready);
    }
}

const READABLE: Ready = Ready { readable: true, writable: false, closed: false };
const WRITABLE: Ready = Ready { readable: false, writable: true, closed: false };
const CLOSED: Ready = Ready { readable: true, writable: true, closed: true };

/// One direction.
#[derive(Default)]
struct Pipe {
    bytes: VecDeque<u8>,
    /// No more will be written, or nobody reads any more.
    closed: bool,
    reader: Option<Watch>,
    writer: Option<Watch>,
}

/// One end of a simulated connection.
pub(super) struct SimStream {
    from: Arc<Mutex<Pipe>>,
    to: Arc<Mutex<Pipe>>,
    local: SocketAddr,
    peer: SocketAddr,
}

/// A piece of `n`, by chance: all of it half the time.
fn piece(n: usize) -> usize {
    let chance = sim::next_u64();
    if n == 0 || chance & 1 == 0 { n } else { 1 + (chance >> 1) as usize % n }
}

impl SimStream {
    pub fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut pipe = self.from.lock();
        let n = pipe.bytes.len().min(buffer.len());
        if n == 0 {
            return if pipe.closed || buffer.is_empty() {
                Ok(0)
            } else {
                Err(io::ErrorKind::WouldBlock.into())
            };
        }
        let n = piece(n);
        for (to, from) in buffer.iter_mut().zip(pipe.bytes.drain(..n)) {
            *to = from;
        }
        // Rule 1 for a short read that left something.
        if n < buffer.len()
            && (!pipe.bytes.is_empty() || pipe.closed)
            && let Some(reader) = &pipe.reader
        {
            reader.tell(READABLE);
        }
        if let Some(writer) = &pipe.writer {
            writer.tell(WRITABLE);
        }
        Ok(n)
    }

    pub fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut pipe = self.to.lock();
        if pipe.closed {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let room = PIPE_BYTES - pipe.bytes.len();
        if room == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let n = piece(bytes.len().min(room));
        pipe.bytes.extend(&bytes[..n]);
        if n < bytes.len()
            && pipe.bytes.len() < PIPE_BYTES
            && let Some(writer) = &pipe.writer
        {
            writer.tell(WRITABLE);
        }
        if let Some(reader) = pipe.reader.as_ref().filter(|_| n > 0) {
            reader.tell(READABLE);
        }
        Ok(n)
    }

    pub fn shut_down(&self) {
        for pipe in [&self.from, &self.to] {
            let mut pipe = pipe.lock();
            pipe.closed = true;
            for watch in [&pipe.reader, &pipe.writer].into_iter().flatten() {
                watch.tell(CLOSED);
            }
        }
    }

    pub fn watch(&self, watch: Watch) {
        let (mut from, mut to) = (self.from.lock(), self.to.lock());
        let closed = from.closed || to.closed;
        let readable = closed || !from.bytes.is_empty();
        watch.tell(Ready { readable, writable: to.bytes.len() < PIPE_BYTES, closed });
        from.reader = Some(watch.clone());
        to.writer = Some(watch);
    }

    pub fn unwatch(&self) {
        self.from.lock().reader = None;
        self.to.lock().writer = None;
    }

    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    pub fn local(&self) -> SocketAddr {
        self.local
    }
}

impl Drop for SimStream {
    fn drop(&mut self) {
        self.unwatch();
        self.shut_down();
    }
}

#[derive(Default)]
struct Waiting {
    streams: VecDeque<SimStream>,
    watch: Option<Watch>,
}

/// A simulated listener; dropping it frees its port.
pub(super) struct SimListener {
    address: SocketAddr,
    waiting: Arc<Mutex<Waiting>>,
}

#[derive(Default)]
struct World {
    listeners: BTreeMap<u16, Arc<Mutex<Waiting>>>,
    next_port: u16,
}

thread_local! {
    static WORLD: RefCell<World> = RefCell::new(World::default());
}

/// The world ends; its ports are free.
pub(crate) fn forget() {
    let world = WORLD.take();
    drop(world);
}

fn free_port(world: &mut World) -> u16 {
    loop {
        world.next_port = world.next_port.checked_add(1).unwrap_or(0).max(FIRST_FREE_PORT);
        if !world.listeners.contains_key(&world.next_port) {
            return world.next_port;
        }
    }
}

impl SimListener {
    pub fn bind(mut address: SocketAddr) -> io::Result<SimListener> {
        WORLD.with_borrow_mut(|world| {
            if address.port() == 0 {
                address.set_port(free_port(world));
            }
            if world.listeners.contains_key(&address.port()) {
                return Err(io::ErrorKind::AddrInUse.into());
            }
            let waiting = Arc::<Mutex<Waiting>>::default();
            world.listeners.insert(address.port(), waiting.clone());
            Ok(SimListener { address, waiting })
        })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn try_accept(&self) -> io::Result<SimStream> {
        self.waiting.lock().streams.pop_front().ok_or_else(|| io::ErrorKind::WouldBlock.into())
    }

    pub fn watch(&self, watch: Watch) {
        let mut waiting = self.waiting.lock();
        watch.tell(READABLE);
        waiting.watch = Some(watch);
    }
}

impl Drop for SimListener {
    fn drop(&mut self) {
        // The world may be gone before it.
        let _ = WORLD.try_with(|world| {
            let mut world = world.borrow_mut();
            let port = self.address.port();
            if world.listeners.get(&port).is_some_and(|w| Arc::ptr_eq(w, &self.waiting)) {
                world.listeners.remove(&port);
            }
        });
    }
}

pub(super) fn connect(address: SocketAddr) -> io::Result<SimStream> {
    let (waiting, port) = WORLD
        .with_borrow_mut(|world| {
            let listener = world.listeners.get(&address.port()).cloned();
            listener.map(|waiting| (waiting, free_port(world)))
        })
        .ok_or(io::ErrorKind::ConnectionRefused)?;
    let local = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    let (up, down) = (Arc::<Mutex<Pipe>>::default(), Arc::<Mutex<Pipe>>::default());
    let ours = SimStream { from: down.clone(), to: up.clone(), local, peer: address };
    let theirs = SimStream { from: up, to: down, local: address, peer: local };
    let mut waiting = waiting.lock();
    waiting.streams.push_back(theirs);
    if let Some(watch) = &waiting.watch {
        watch.tell(READABLE);
    }
    drop(waiting);
    Ok(ours)
}
