//! The network of a simulated world: pipes in memory, cut short and told in an order from the seed.
//!
//! What it does to connections is its [`Weather`]: bytes take a while, a connection is reset at some byte, or falls
//! silent and is reset when the keep-alive of a real one would have given up. Without weather bytes arrive at once.
//!
//! Invariants:
//! 1. whoever saw less than was asked for (a short read or write, or `WouldBlock`) while more is or becomes
//!    possible has an edge coming;
//! 2. the bytes of a connection arrive in the order in which they were written, and its end after them.

use super::reactor::{Ready, Token};
use crate::{sim, task};
use parking_lot::Mutex;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Weak};

/// Bytes on the way in one direction.
const PIPE_BYTES: usize = 32 << 10;
const FIRST_FREE_PORT: u16 = 49_152;
/// A connection that has fallen silent is given up after so long: 30 s and ten probes a second apart (`stream.rs`).
const SILENCE_NS: u64 = 40_000_000_000;

/// What a simulated network does to the connections that are made from now on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weather {
    /// Bytes take up to so many nanoseconds; half of the connections have none of it.
    pub delay_ns_max: u64,
    /// One connection in so many is reset; 0: none.
    pub reset_one_in: u64,
    /// One connection in so many falls silent: nothing arrives any more, and both ends hear of it late. 0: none.
    pub silent_one_in: u64,
    /// The connection is reset or silent after at most so many bytes in one direction.
    pub after_bytes_max: u64,
    /// Nobody is reached: connecting is refused.
    pub unreachable: bool,
}

/// Sets the weather of the calling thread's world.
pub fn set_weather(weather: Weather) {
    debug_assert!(sim::active());
    WEATHER.set(weather);
}

/// Resets every connection that there is now.
pub fn reset_all() {
    let links: Vec<_> = WORLD.with_borrow_mut(|world| world.links.drain(..).collect());
    for link in links.iter().filter_map(Weak::upgrade) {
        link.reset();
    }
}

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

/// What is on its way to the reader, and when it is there.
enum Parcel {
    Bytes(Vec<u8>),
    /// The writer has closed.
    End,
}

/// One direction.
#[derive(Default)]
struct Pipe {
    /// Arrived and not read.
    bytes: VecDeque<u8>,
    on_way: VecDeque<(u64, Parcel)>,
    on_way_bytes: usize,
    /// Written since the beginning.
    written: u64,
    /// The writer, or the reader, has closed its side: no more is written.
    done: bool,
    /// The reader has heard of it.
    ended: bool,
    reader: Option<Watch>,
    writer: Option<Watch>,
}

impl Pipe {
    fn room(&self) -> usize {
        PIPE_BYTES.saturating_sub(self.bytes.len() + self.on_way_bytes)
    }

    fn tell_reader(&self, ready: Ready) {
        if let Some(reader) = &self.reader {
            reader.tell(ready);
        }
    }

    fn tell_writer(&self, ready: Ready) {
        if let Some(writer) = &self.writer {
            writer.tell(ready);
        }
    }
}

/// What the weather has in store for a connection.
#[derive(Clone, Copy, Default)]
struct Fate {
    delay_ns: u64,
    /// Bytes of one direction after which it is struck, and whether silence comes before the reset.
    after: Option<u64>,
    silent: bool,
}

/// A connection: two pipes, 0 towards whom it was made to.
struct Link {
    pipes: [Mutex<Pipe>; 2],
    fate: Fate,
    state: Mutex<LinkState>,
}

#[derive(Default)]
struct LinkState {
    reset: bool,
    silent_until_ns: Option<u64>,
}

impl Link {
    fn is_reset(&self) -> bool {
        self.state.lock().reset
    }

    fn is_silent(&self) -> bool {
        self.state.lock().silent_until_ns.is_some()
    }

    /// Broken, for both ends; what had arrived is lost to who did not read it.
    fn reset(&self) {
        {
            let mut state = self.state.lock();
            state.reset = true;
            state.silent_until_ns = None;
        }
        for pipe in &self.pipes {
            let mut pipe = pipe.lock();
            pipe.bytes.clear();
            pipe.on_way.clear();
            pipe.on_way_bytes = 0;
            pipe.done = true;
            pipe.ended = true;
            pipe.tell_reader(CLOSED);
            pipe.tell_writer(CLOSED);
        }
    }

    /// The weather strikes.
    fn strike(self: &Arc<Self>) {
        if !self.fate.silent {
            return self.reset();
        }
        let until = sim::now_ns() + SILENCE_NS;
        self.state.lock().silent_until_ns.get_or_insert(until);
        schedule(until, self);
    }

    /// The clock has come to something of this connection.
    fn due(self: &Arc<Self>) {
        let now = sim::now_ns();
        if self.state.lock().silent_until_ns.is_some_and(|until| until <= now) {
            return self.reset();
        }
        for at in [0, 1] {
            self.arrive(at, now);
        }
    }

    fn arrive(self: &Arc<Self>, at: usize, now: u64) {
        let silent = self.is_silent();
        let mut ended = false;
        {
            let mut pipe = self.pipes[at].lock();
            let mut news = false;
            while let Some((due, _)) = pipe.on_way.front()
                && *due <= now
            {
                match pipe.on_way.pop_front() {
                    Some((_, Parcel::Bytes(bytes))) => {
                        pipe.on_way_bytes -= bytes.len();
                        if !silent {
                            pipe.bytes.extend(bytes);
                            news = true;
                        }
                    }
                    _ => ended |= !silent,
                }
            }
            if news {
                pipe.tell_reader(READABLE);
            }
        }
        if ended {
            self.end(at);
        }
    }

    /// The reader of pipe `at` hears that the other side has closed: it can read no more, nor write.
    fn end(&self, at: usize) {
        let mut pipe = self.pipes[at].lock();
        pipe.ended = true;
        pipe.tell_reader(CLOSED);
        drop(pipe);
        let mut back = self.pipes[1 - at].lock();
        back.done = true;
        back.tell_writer(CLOSED);
    }

    fn send(self: &Arc<Self>, pipe: &mut Pipe, parcel: Parcel) -> bool {
        let last = pipe.on_way.back().map_or(0, |(due, _)| *due);
        let delay = match self.fate.delay_ns {
            0 => 0,
            ns => ns / 2 + sim::next_u64() % (ns / 2 + 1),
        };
        let due = last.max(sim::now_ns() + delay);
        if due <= sim::now_ns() && pipe.on_way.is_empty() {
            match parcel {
                Parcel::Bytes(bytes) => {
                    pipe.bytes.extend(bytes);
                    pipe.tell_reader(READABLE);
                    return false;
                }
                Parcel::End => return true,
            }
        }
        if let Parcel::Bytes(bytes) = &parcel {
            pipe.on_way_bytes += bytes.len();
        }
        pipe.on_way.push_back((due, parcel));
        schedule(due, self);
        false
    }
}

/// One end of a simulated connection.
pub(super) struct SimStream {
    link: Arc<Link>,
    /// The pipe that this end writes.
    to: usize,
    local: SocketAddr,
    peer: SocketAddr,
}

/// A piece of `n`, by chance: all of it half the time.
fn piece(n: usize) -> usize {
    let chance = sim::next_u64();
    if n == 0 || chance & 1 == 0 { n } else { 1 + (chance >> 1) as usize % n }
}

impl SimStream {
    fn out(&self) -> &Mutex<Pipe> {
        &self.link.pipes[self.to]
    }

    fn incoming(&self) -> &Mutex<Pipe> {
        &self.link.pipes[1 - self.to]
    }

    pub fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.link.is_reset() {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        let mut pipe = self.incoming().lock();
        let n = pipe.bytes.len().min(buffer.len());
        if n == 0 {
            return if pipe.ended || buffer.is_empty() {
                Ok(0)
            } else {
                Err(io::ErrorKind::WouldBlock.into())
            };
        }
        let n = piece(n);
        for (to, from) in buffer.iter_mut().zip(pipe.bytes.drain(..n)) {
            *to = from;
        }
        sim::note_bytes("read", &buffer[..n]);
        // Rule 1 for a short read that left something.
        if n < buffer.len() && (!pipe.bytes.is_empty() || pipe.ended) {
            pipe.tell_reader(READABLE);
        }
        pipe.tell_writer(WRITABLE);
        Ok(n)
    }

    pub fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        if self.link.is_reset() {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        let mut pipe = self.out().lock();
        if pipe.done {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let room = pipe.room();
        if room == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let mut n = piece(bytes.len().min(room));
        // Struck at any byte: those before it are sent.
        let left = self.link.fate.after.map(|after| after.saturating_sub(pipe.written));
        let struck = n > 0 && left.is_some_and(|left| left <= n as u64);
        if let Some(left) = left.filter(|_| struck && !self.link.is_silent()) {
            n = n.min((left as usize).max(1));
        }
        pipe.written += n as u64;
        if n > 0 {
            self.link.send(&mut pipe, Parcel::Bytes(bytes[..n].to_vec()));
        }
        if n < bytes.len() && pipe.room() > 0 {
            pipe.tell_writer(WRITABLE);
        }
        drop(pipe);
        if struck {
            self.link.strike();
        }
        Ok(n)
    }

    pub fn shut_down(&self) {
        let mut out = self.out().lock();
        let first = !std::mem::replace(&mut out.done, true);
        out.tell_writer(CLOSED);
        let heard = first && !self.link.is_silent() && self.link.send(&mut out, Parcel::End);
        drop(out);
        let mut incoming = self.incoming().lock();
        incoming.ended = true;
        incoming.tell_reader(CLOSED);
        drop(incoming);
        if heard {
            self.link.end(self.to);
        }
    }

    pub fn watch(&self, watch: Watch) {
        {
            let mut incoming = self.incoming().lock();
            let readable = incoming.ended || !incoming.bytes.is_empty();
            watch.tell(Ready { readable, writable: false, closed: incoming.ended });
            incoming.reader = Some(watch.clone());
        }
        let mut out = self.out().lock();
        watch.tell(Ready { readable: false, writable: out.room() > 0, closed: out.done });
        out.writer = Some(watch);
    }

    pub fn unwatch(&self) {
        self.incoming().lock().reader = None;
        self.out().lock().writer = None;
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
    links: Vec<Weak<Link>>,
    /// By time and number: which connections have something then.
    agenda: BTreeMap<(u64, u64), Weak<Link>>,
    scheduled: u64,
    poller: Option<task::PollerId>,
}

thread_local! {
    static WORLD: RefCell<World> = RefCell::new(World::default());
    static WEATHER: Cell<Weather> = const {
        Cell::new(Weather {
            delay_ns_max: 0,
            reset_one_in: 0,
            silent_one_in: 0,
            after_bytes_max: 0,
            unreachable: false,
        })
    };
}

/// The world ends; its ports are free.
pub(crate) fn forget() {
    let world = WORLD.take();
    WEATHER.set(Weather::default());
    drop(world);
    // Streams that nobody had accepted have said goodbye to it.
    drop(WORLD.take());
}

/// Moves what is due.
struct Clockwork;

impl task::Poller for Clockwork {
    fn poll(&self) -> usize {
        let mut moved = 0;
        loop {
            let now = sim::now_ns();
            let next = WORLD.with_borrow_mut(|world| {
                let entry = world.agenda.first_entry()?;
                (entry.key().0 <= now).then(|| entry.remove())
            });
            let Some(link) = next else { return moved };
            moved += 1;
            if let Some(link) = link.upgrade() {
                link.due();
            }
        }
    }

    fn next_ns(&self) -> Option<u64> {
        WORLD.with_borrow(|world| world.agenda.first_key_value().map(|((due, _), _)| *due))
    }
}

/// `link` has something to do at `due` (nanoseconds of [`sim::now_ns`]).
fn schedule(due: u64, link: &Arc<Link>) {
    if !sim::active() {
        return;
    }
    let first = WORLD.with_borrow_mut(|world| {
        world.scheduled += 1;
        world.agenda.insert((due, world.scheduled), Arc::downgrade(link));
        world.poller.is_none()
    });
    if first {
        let id = task::register_poller(Arc::new(Clockwork));
        WORLD.with_borrow_mut(|world| world.poller = Some(id));
    }
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

fn fate() -> Fate {
    let weather = WEATHER.get();
    let one_in = |n: u64| n > 0 && sim::next_u64().is_multiple_of(n);
    let delay_ns = match weather.delay_ns_max {
        0 => 0,
        max => match sim::next_u64() % 4 {
            0 | 1 => 0,
            2 => sim::next_u64() % (max / 16 + 1),
            _ => sim::next_u64() % max,
        },
    };
    let silent = one_in(weather.silent_one_in);
    let struck = silent || one_in(weather.reset_one_in);
    // Every order of magnitude as likely as another: the login, the first request, much later.
    let after = struck.then(|| {
        let most = weather.after_bytes_max.max(2);
        let bits = 64 - u64::from(most.leading_zeros());
        1 + sim::next_u64() % (1 << (1 + sim::next_u64() % bits)).min(most)
    });
    Fate { delay_ns, after, silent }
}

pub(super) fn connect(address: SocketAddr) -> io::Result<SimStream> {
    if WEATHER.get().unreachable {
        return Err(io::ErrorKind::ConnectionRefused.into());
    }
    let (waiting, port) = WORLD
        .with_borrow_mut(|world| {
            let listener = world.listeners.get(&address.port()).cloned();
            listener.map(|waiting| (waiting, free_port(world)))
        })
        .ok_or(io::ErrorKind::ConnectionRefused)?;
    let local = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    let link = Arc::new(Link { pipes: Default::default(), fate: fate(), state: Mutex::default() });
    WORLD.with_borrow_mut(|world| {
        world.links.retain(|link| link.strong_count() > 0);
        world.links.push(Arc::downgrade(&link));
    });
    let ours = SimStream { link: link.clone(), to: 0, local, peer: address };
    let theirs = SimStream { link, to: 1, local: address, peer: local };
    let mut waiting = waiting.lock();
    waiting.streams.push_back(theirs);
    if let Some(watch) = &waiting.watch {
        watch.tell(READABLE);
    }
    drop(waiting);
    Ok(ours)
}
