//! One connection, from its first byte to its last.
//!
//! It belongs to a scheduler, on whose thread all of this runs. While it has nothing to read it is a registration with
//! that scheduler's reactor and holds no task; news start one, which reads, serves request after request until nothing
//! more is there, and ends. While a request runs, news are looked at at once: an attention, or the peer's end, stops
//! the request, wherever its task waits.
//!
//! ```text
//!            news                      nothing more
//!  idle ------------> served by a task --------------> idle
//!   |                        |
//!   +--- peer's end ---------+--- end, error, limit ---> gone
//! ```
//!
//! | field | who touches it |
//! |---|---|
//! | `state` | the task and [`Source::ready`], never at once, and never held over a wait; `abort` from any thread |
//! | `work` | the task that serves: it takes it and puts it back |
//! | `stopped` | set with `state` locked; read by the task |
//!
//! A connection whose task waited long for its turn, while another scheduler sleeps, moves there between two requests,
//! if no transaction is open: it is deregistered here and registered there, and its news are told there from then on.

mod sending;

use crate::io::{Broken, Io, Received};
use crate::login::{Login, Step};
use crate::mars::Streams;
use crate::recovery::Recovery;
use crate::request;
use crate::server::Shared;
use executor::{SpillFile, SqlError};
use parking_lot::Mutex;
use runtime::clock;
use runtime::net::{Ready, Source, Stream, Token};
use runtime::task::{self, Waker};
use session::{NodeMap, Session};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use tds::{Frame, Framer, ProtocolError, TokenWriter};
use telemetry::{Counter, WaitType, counters};
use tracing::{debug, info, warn};

/// A task that waited so long for its turn had better live elsewhere.
const LONG_WAIT_NS: u64 = 1_000_000;
/// Bytes read while a request runs, in search of an attention.
const READ_AHEAD_BYTES: usize = 64 << 10;
/// What the socket has not taken of a finished answer may wait without a task.
const LEFT_BEHIND_BYTES: usize = 128 << 10;
/// Of streams, what may wait for the socket; the rest waits in them.
const STREAMED_BYTES: usize = 64 << 10;
/// Only what a client provokes and does not read can make so much wait for the socket of streams.
const UNREAD_BYTES: usize = 4 << 20;

/// See the module's page.
pub(crate) struct Connection {
    pub id: u64,
    pub shared: Arc<Shared>,
    pub stream: Stream,
    /// Who serves those that came where it did.
    nodes: Arc<NodeMap>,
    state: Mutex<State>,
    work: Mutex<Option<Box<Work>>>,
    scheduler: AtomicUsize,
    /// The request that runs is to end: cancelled, or nobody is there to hear it.
    stopped: AtomicBool,
}

pub(crate) struct State {
    pub io: Io,
    /// The streams of requests that `io` carries, if there are several.
    pub streams: Option<Box<Streams>>,
    /// A task serves it.
    served: bool,
    /// The socket may have something that was not read yet.
    news: bool,
    /// An attention has come and was not answered yet.
    attention: bool,
    /// The server wants it closed.
    aborted: bool,
    /// Without a goodbye: that is how a client that looks at its idle connection sees that it was killed.
    killed: bool,
    /// The peer has closed its side; bytes that it sent before may be left.
    closing: bool,
    /// The task, while it waits for the peer, and whether it is bytes that it waits for.
    waiter: Option<Waker>,
    wants_bytes: bool,
    /// Bytes were read for the task since it last asked.
    came: bool,
    /// While a request runs: what stops its session, and its task, wherever that waits.
    running: Option<(Arc<AtomicBool>, Waker)>,
    /// When the task that serves was started.
    begun_ns: u64,
    token: Option<Token>,
}

/// What a serving task works with.
pub(crate) struct Work {
    pub writer: TokenWriter,
    pub stage: Stage,
    /// INSERT BULK, whose rows are to follow, of each stream.
    pub bulk: BTreeMap<u16, String>,
    /// What the client knows of the session, to open another in its place.
    pub recovery: Option<Recovery>,
}

/// What came while a bulk load waited for its next packet.
pub(crate) enum Packet {
    Bulk,
    /// The client gave the load up.
    Stopped,
    /// The connection cannot go on.
    Over,
}

/// How far it has come.
pub(crate) enum Stage {
    Login(Box<Login>),
    Session(Box<Session>),
}

/// What the task does after a step.
pub(crate) enum Flow {
    Continue,
    Close,
}

impl State {
    /// Of the request that runs, where there are streams.
    pub fn framer(&mut self) -> &mut Framer {
        match self.streams.as_mut().and_then(|streams| streams.framer()) {
            Some(framer) => framer,
            None => &mut self.io.framer,
        }
    }

    /// Whether a stream may send what lies in its file. Only a task reads files, and no news need come before it is sent.
    fn has_kept(&mut self) -> bool {
        self.streams.as_mut().is_some_and(|streams| streams.next_read().is_some())
    }

    /// The next frame of a request, as `read` reads it, and its stream.
    pub fn next_request<R>(
        &mut self,
        read: impl Fn(Result<Frame<'_>, ProtocolError>) -> R,
    ) -> Option<(u16, R)> {
        if let Some(streams) = &mut self.streams {
            return streams.next(read);
        }
        match self.io.framer.next() {
            Ok(None) => None,
            Ok(Some(frame)) => Some((0, read(Ok(frame)))),
            Err(error) => Some((0, read(Err(error)))),
        }
    }
}

impl Connection {
    /// Of who is served by `nodes`, to begin on `scheduler`.
    pub fn new(
        id: u64,
        shared: Arc<Shared>,
        stream: Stream,
        nodes: Arc<NodeMap>,
        scheduler: usize,
    ) -> Connection {
        let login = Login::new(id);
        Connection {
            id,
            shared,
            stream,
            nodes,
            state: Mutex::new(State {
                io: Io::new(),
                streams: None,
                served: false,
                news: false,
                attention: false,
                aborted: false,
                killed: false,
                closing: false,
                waiter: None,
                wants_bytes: false,
                came: false,
                running: None,
                begun_ns: 0,
                token: None,
            }),
            work: Mutex::new(Some(Box::new(Work {
                writer: TokenWriter::new(0),
                stage: Stage::Login(Box::new(login)),
                bulk: BTreeMap::new(),
                recovery: None,
            }))),
            scheduler: AtomicUsize::new(scheduler),
            stopped: AtomicBool::new(false),
        }
    }

    /// Where it lives.
    pub fn scheduler(&self) -> usize {
        self.scheduler.load(Relaxed)
    }

    pub fn peer(&self) -> SocketAddr {
        self.stream.peer()
    }

    pub fn server_name(&self) -> &str {
        &self.shared.server_name
    }

    pub fn with_state<R>(&self, f: impl FnOnce(&mut State) -> R) -> R {
        f(&mut self.state.lock())
    }

    /// Begins to hear news.
    pub fn register(self: &Arc<Self>) -> std::io::Result<()> {
        let mut state = self.state.lock();
        let reactor = self.shared.reactor(self.scheduler());
        state.token = Some(self.stream.register(reactor, self.clone())?);
        Ok(())
    }

    /// The server wants it gone. From any thread; its own scheduler does the rest.
    pub fn abort(&self) {
        let mut state = self.state.lock();
        state.aborted = true;
        self.stop(&mut state);
        self.stream.shut_down();
    }

    /// KILL: the request that runs ends with 596, wherever its task waits; an idle session is gone, and what its
    /// transaction held is free. From any thread.
    fn kill(&self) {
        let mut state = self.state.lock();
        match &state.running {
            Some((cancel, task)) => {
                cancel.store(true, Release);
                task.wake();
            }
            None => {
                state.aborted = true;
                state.killed = true;
                self.stop(&mut state);
                self.stream.break_off();
            }
        }
    }

    /// Makes the request that runs end soon, whatever its task waits for.
    fn stop(&self, state: &mut State) {
        self.stopped.store(true, Release);
        if let Some((cancel, task)) = &state.running {
            cancel.store(true, Release);
            task.wake();
        }
        if let Some(waiter) = state.waiter.take() {
            waiter.wake();
        }
    }

    // ---- for the task ----

    /// Whether the request at hand has been cancelled, or nobody hears its answer.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Relaxed)
    }

    /// Whether an attention stopped the request at hand: its answer ends it.
    pub fn take_attention(&self) -> bool {
        let mut state = self.state.lock();
        let attention = std::mem::take(&mut state.attention);
        if attention {
            counters::add(Counter::Attentions, 1);
            // What came before it was for the request that it stopped.
            while let Ok(Some(frame)) = state.framer().next() {
                if frame == Frame::Attention {
                    break;
                }
            }
            self.stopped.store(state.io.ended || state.aborted, Release);
        }
        attention
    }

    /// A request begins: from here on it can be cancelled.
    pub fn begin_request(&self, cancel: &Arc<AtomicBool>) {
        let mut state = self.state.lock();
        cancel.store(false, Release);
        state.running = Some((cancel.clone(), task::current_waker()));
        // The attention may have come together with the request.
        state.attention |= state.framer().attention_ahead();
        if state.attention || state.closing || state.io.ended || state.aborted {
            self.stop(&mut state);
        }
    }

    /// From here on it cannot.
    pub fn end_request(&self) {
        let mut state = self.state.lock();
        state.running = None;
        if let Some(streams) = &mut state.streams {
            streams.end();
            // The end of its stream stopped it, and no other request.
            self.stopped.store(state.io.ended || state.aborted, Release);
            self.pump(&mut state);
        }
    }

    /// Waits for the next packet of a bulk load and gives its data, and whether it is the last, to `take`.
    pub fn next_bulk(&self, take: impl FnOnce(&[u8], bool)) -> Packet {
        loop {
            let mut state = self.state.lock();
            match state.framer().next() {
                Ok(Some(Frame::Bulk { data, last, .. })) => {
                    take(data, last);
                    return Packet::Bulk;
                }
                Ok(Some(Frame::Attention)) => {
                    state.attention = true;
                    return Packet::Stopped;
                }
                Ok(Some(Frame::Ignored { .. })) => return Packet::Stopped,
                Ok(None) => {}
                Ok(Some(_)) | Err(_) => return Packet::Over,
            }
            drop(state);
            if !self.wait_for_bytes() {
                return Packet::Over;
            }
        }
    }

    fn broken(&self, state: &mut State, error: &Broken) {
        debug!(connection = self.id, %error, "connection broken");
        state.io.ended = true;
        self.stop(state);
    }

    fn receive(&self, state: &mut State) {
        state.news = false;
        let received = state.io.receive(&self.stream);
        if state.streams.is_some() {
            self.hear_streams(state);
        }
        match received {
            Ok(Received::More) => state.news = true,
            // Its end may have been told together with these bytes, and is not told again.
            Ok(Received::Drained) if !state.io.ended => state.news = state.closing,
            Ok(_) => self.stop(state),
            Err(error) => {
                // An alert may be worth its bytes.
                if let Broken::Tls(error) = &error {
                    warn!(connection = self.id, peer = %self.peer(), %error, "TLS failed");
                    let _ = state.io.flush(&self.stream);
                }
                self.broken(state, &error);
            }
        }
    }

    /// Reads before the task asks, and notes it.
    fn receive_for_task(&self, state: &mut State) {
        self.receive(state);
        state.came = true;
    }

    /// Streams have begun, and some of them may have come already.
    pub fn hear_rest(&self) {
        self.hear_streams(&mut self.state.lock());
    }

    /// Takes apart what has come of several streams.
    fn hear_streams(&self, state: &mut State) {
        let State { io, streams: Some(streams), .. } = state else { return };
        let heard = streams.receive(&io.framer.take_rest());
        let unread = io.unsent() > UNREAD_BYTES;
        match heard {
            Ok(heard) => {
                if heard.ended {
                    self.stop(state);
                }
                if unread {
                    warn!(connection = self.id, "closed: it does not read what it asks for");
                    state.io.ended = true;
                    self.stop(state);
                }
                self.pump(state);
            }
            Err(error) => {
                warn!(connection = self.id, peer = %self.peer(), %error, "closed: bad streams");
                state.io.ended = true;
                self.stop(state);
            }
        }
    }

    /// The task: serves until there is nothing more.
    fn serve(self: &Arc<Self>) {
        let Some(mut work) = self.work.lock().take() else { return };
        let waited_ns = clock::now_ns().saturating_sub(self.state.lock().begun_ns);
        loop {
            let step = catch_unwind(AssertUnwindSafe(|| self.step(&mut work)));
            match step {
                Ok(Some(Flow::Continue)) => {}
                Ok(None) => match self.rest(work, waited_ns) {
                    None => return,
                    Some(back) => work = back,
                },
                Ok(Some(Flow::Close)) => return self.leave(*work),
                Err(_) => {
                    // The hook has told what and where.
                    warn!(connection = self.id, "closed after a panic");
                    return self.leave(*work);
                }
            }
        }
    }

    /// Serves one message; `None`: none is whole.
    fn step(self: &Arc<Self>, work: &mut Work) -> Option<Flow> {
        if let Stage::Login(login) = &mut work.stage {
            return match login.step(self, &mut work.writer) {
                Step::Nothing => None,
                Step::Continue => Some(Flow::Continue),
                Step::Close => Some(Flow::Close),
                Step::LoggedIn(session, recovers) => {
                    let connection = Arc::downgrade(self);
                    session.on_kill(move || {
                        if let Some(connection) = connection.upgrade() {
                            connection.kill();
                        }
                    });
                    self.describe(&session);
                    work.recovery = recovers.then(|| Recovery::of(&session));
                    work.stage = Stage::Session(session);
                    Some(Flow::Continue)
                }
            };
        }
        self.keep();
        request::serve_next(self, work)
    }

    /// Tells the views where the client is, and what counts its traffic.
    fn describe(&self, session: &Session) {
        let traffic = self.state.lock().io.traffic.clone();
        traffic.heard_by(self.scheduler());
        session.tell(|facts| {
            if let Some(connection) = &mut facts.connection {
                connection.traffic = Some(traffic);
            }
        });
    }

    /// Nothing is whole: reads more, or goes idle (`None`).
    fn rest(self: &Arc<Self>, mut work: Box<Work>, waited_ns: u64) -> Option<Box<Work>> {
        self.make_room(&mut self.state.lock());
        self.wait_until_unsent(LEFT_BEHIND_BYTES);
        let mut state = self.state.lock();
        if state.news && !state.io.ended && !state.aborted {
            self.receive(&mut state);
            return Some(work);
        }
        if state.has_kept() && !state.io.ended && !state.aborted {
            return Some(work);
        }
        if state.io.ended || state.aborted {
            drop(state);
            self.leave(*work);
            return None;
        }
        work.writer.shrink();
        state.io.shrink();
        if let Some(streams) = &mut state.streams {
            streams.shrink();
        }
        state.waiter = None;
        let schedulers = self.shared.schedulers();
        let may = |index| self.shared.may_serve(&self.nodes, index);
        let to = match &work.stage {
            Stage::Session(session) if session.trancount() == 0 && !may(self.scheduler()) => {
                schedulers.least_loaded_of(may)
            }
            Stage::Session(session) if waited_ns >= LONG_WAIT_NS && session.trancount() == 0 => {
                schedulers.asleep_beside(self.scheduler(), may)
            }
            _ => None,
        };
        *self.work.lock() = Some(work);
        state.served = false;
        if let Some(to) = to {
            self.move_to(&mut state, to);
        }
        None
    }

    fn move_to(self: &Arc<Self>, state: &mut State, to: usize) {
        let from = self.scheduler();
        if let Some(token) = state.token.take() {
            self.stream.deregister(self.shared.reactor(from), token);
        }
        self.scheduler.store(to, Relaxed);
        state.io.traffic.heard_by(to);
        self.shared.registry.moved(from, to);
        match self.stream.register(self.shared.reactor(to), self.clone()) {
            Ok(token) => state.token = Some(token),
            // Out of memory in the kernel: without news it is no connection.
            Err(error) => {
                warn!(connection = self.id, %error, "cannot be moved to another scheduler");
                state.aborted = true;
                self.shared.registry.leave(self.id, to, true);
            }
        }
    }

    /// Gone for good. On its own scheduler, in a task: what the session held is rolled back.
    fn leave(self: &Arc<Self>, work: Work) {
        let mut state = self.state.lock();
        let killed = state.killed;
        if !killed {
            state.io.close(&self.stream);
        }
        if let Some(token) = state.token.take() {
            self.stream.deregister(self.shared.reactor(self.scheduler()), token);
        }
        state.running = None;
        drop(state);
        if !killed {
            self.stream.shut_down();
        }
        let logged_in = matches!(work.stage, Stage::Session(_));
        if let Stage::Session(session) = &work.stage {
            info!(connection = self.id, spid = session.spid(), peer = %self.peer(), "logged out");
        } else {
            debug!(connection = self.id, peer = %self.peer(), "closed before login");
        }
        drop(work);
        self.shared.registry.leave(self.id, self.scheduler(), logged_in);
    }
}

impl Source for Connection {
    fn ready(self: Arc<Self>, ready: Ready) {
        let mut state = self.state.lock();
        state.news |= ready.readable;
        state.closing |= ready.closed;
        if ready.writable
            && let Err(error) = state.io.flush(&self.stream)
        {
            self.broken(&mut state, &error);
        }
        if ready.writable {
            self.pump(&mut state);
        }
        if state.served {
            self.hear(&mut state);
            return;
        }
        let nothing = !ready.readable && !ready.closed && !state.io.ended && !state.aborted;
        if nothing && !state.has_kept() {
            return;
        }
        state.served = true;
        state.begun_ns = clock::now_ns();
        drop(state);
        scheduler::spawn_here("connection", move || self.serve());
    }
}

impl Connection {
    /// News while a task serves: it is woken if it waits for them, and stopped if they say so.
    fn hear(&self, state: &mut State) {
        if state.running.is_some() {
            let reads_itself = state.waiter.is_some() && state.wants_bytes;
            let room = state.io.framer.buffered() < READ_AHEAD_BYTES;
            if state.news && room && !reads_itself && !state.io.ended {
                self.receive_for_task(state);
            }
            // What moves the window, or another stream's request, is among the rest perhaps.
            while state.streams.is_some() && state.news && !reads_itself && !state.io.ended {
                self.receive_for_task(state);
            }
            if !state.attention && state.framer().attention_ahead() {
                state.attention = true;
                self.stop(state);
            }
            if state.closing {
                self.stop(state);
            }
        }
        if let Some(waiter) = state.waiter.take() {
            waiter.wake();
        }
    }
}
