//! Listeners and streams: the kernel's TCP sockets, or simulated pipes with the same manners.

use super::reactor::{Reactor, Source, Token};
use super::simulated;
use crate::sim;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

/// Connections that the kernel keeps for us until they are accepted.
const BACKLOG: i32 = 1024;
/// A peer that is gone is noticed after 30 s of silence and 10 unanswered probes a second apart, as SQL Server does.
const KEEPALIVE: [(i32, i32); 3] =
    [(libc::TCP_KEEPIDLE, 30), (libc::TCP_KEEPINTVL, 1), (libc::TCP_KEEPCNT, 10)];

enum ListenerKind {
    Tcp(TcpListener),
    Simulated(simulated::SimListener),
}

/// Waits for connections at an address.
pub struct Listener(ListenerKind);

impl Listener {
    /// Listens at `address` (port 0: a free one), also just after another process did (`SO_REUSEADDR`).
    pub fn bind(address: SocketAddr) -> io::Result<Listener> {
        if sim::active() {
            return simulated::SimListener::bind(address)
                .map(|l| Listener(ListenerKind::Simulated(l)));
        }
        // The standard library sets SO_REUSEADDR.
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        // SAFETY: a plain system call on a descriptor that we own; listening again sets the backlog.
        if unsafe { libc::listen(listener.as_raw_fd(), BACKLOG) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Listener(ListenerKind::Tcp(listener)))
    }

    /// Where it listens, the port filled in.
    pub fn address(&self) -> io::Result<SocketAddr> {
        match &self.0 {
            ListenerKind::Tcp(listener) => listener.local_addr(),
            ListenerKind::Simulated(listener) => Ok(listener.address()),
        }
    }

    /// The next connection; `WouldBlock` when there is none.
    pub fn try_accept(&self) -> io::Result<Stream> {
        match &self.0 {
            ListenerKind::Tcp(listener) => Stream::from_tcp(listener.accept()?.0),
            ListenerKind::Simulated(l) => Ok(Stream(Kind::Simulated(l.try_accept()?))),
        }
    }

    /// From now on `source` hears of new connections.
    pub fn register(&self, reactor: &Reactor, source: Arc<dyn Source>) -> io::Result<Token> {
        match &self.0 {
            ListenerKind::Tcp(listener) => reactor.add_fd(listener.as_raw_fd(), source),
            ListenerKind::Simulated(l) => reactor.add_simulated(source, |watch| l.watch(watch)),
        }
    }

    /// Ends it.
    pub fn deregister(&self, reactor: &Reactor, token: Token) {
        match &self.0 {
            ListenerKind::Tcp(listener) => reactor.remove_fd(listener.as_raw_fd(), token),
            ListenerKind::Simulated(_) => reactor.forget(token),
        }
    }
}

enum Kind {
    Tcp { stream: TcpStream, peer: SocketAddr, local: SocketAddr },
    Simulated(simulated::SimStream),
}

/// One connection. All calls return at once; `WouldBlock` says that there was nothing, or no room.
pub struct Stream(Kind);

impl Stream {
    /// Connects. A real one blocks the calling thread until the other side answers.
    pub fn connect(address: SocketAddr) -> io::Result<Stream> {
        if sim::active() {
            return simulated::connect(address).map(|s| Stream(Kind::Simulated(s)));
        }
        Stream::from_tcp(TcpStream::connect(address)?)
    }

    fn from_tcp(stream: TcpStream) -> io::Result<Stream> {
        stream.set_nonblocking(true)?;
        // Answers are written whole; waiting for more only costs time.
        stream.set_nodelay(true)?;
        let fd = stream.as_raw_fd();
        set_option(fd, libc::SOL_SOCKET, libc::SO_KEEPALIVE, 1)?;
        for (option, value) in KEEPALIVE {
            set_option(fd, libc::IPPROTO_TCP, option, value)?;
        }
        let (peer, local) = (stream.peer_addr()?, stream.local_addr()?);
        Ok(Stream(Kind::Tcp { stream, peer, local }))
    }

    /// Reads what is there; 0 (for a buffer that is not empty): the other side has closed.
    pub fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match &self.0 {
            Kind::Tcp { stream, .. } => retry(|| (&*stream).read(buffer)),
            Kind::Simulated(stream) => stream.try_read(buffer),
        }
    }

    /// Writes what there is room for; how much.
    pub fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        match &self.0 {
            Kind::Tcp { stream, .. } => retry(|| (&*stream).write(bytes)),
            Kind::Simulated(stream) => stream.try_write(bytes),
        }
    }

    /// Tells the peer at once what has come so far. A peer that gathers small writes until the last one is acknowledged
    /// (Nagle's algorithm) holds back the rest of its message meanwhile, and the kernel of one who never answers in the
    /// middle of a message takes its time with that: 40 ms.
    pub fn acknowledge(&self) {
        if let Kind::Tcp { stream, .. } = &self.0 {
            // Without it the peer waits longer, no more. The kernel forgets it by itself.
            let _ = set_option(stream.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_QUICKACK, 1);
        }
    }

    /// Ends both directions; the owner hears of it as if the peer had closed. From any thread.
    pub fn shut_down(&self) {
        match &self.0 {
            // It may be broken already.
            Kind::Tcp { stream, .. } => drop(stream.shutdown(Shutdown::Both)),
            Kind::Simulated(stream) => stream.shut_down(),
        }
    }

    /// Ends it without a goodbye: the owner hears of it as if the peer had closed, and the peer of a reset connection when
    /// the owner drops it. From any thread.
    pub fn break_off(&self) {
        match &self.0 {
            Kind::Tcp { stream, .. } => {
                let at_once = libc::linger { l_onoff: 1, l_linger: 0 };
                // Without it the peer hears of an end in order.
                let _ = set_option(stream.as_raw_fd(), libc::SOL_SOCKET, libc::SO_LINGER, at_once);
                drop(stream.shutdown(Shutdown::Read));
            }
            Kind::Simulated(stream) => stream.shut_down(),
        }
    }

    /// The other side's address.
    pub fn peer(&self) -> SocketAddr {
        match &self.0 {
            Kind::Tcp { peer, .. } => *peer,
            Kind::Simulated(stream) => stream.peer(),
        }
    }

    /// This side's address.
    pub fn local(&self) -> SocketAddr {
        match &self.0 {
            Kind::Tcp { local, .. } => *local,
            Kind::Simulated(stream) => stream.local(),
        }
    }

    /// From now on `source` hears of this stream.
    pub fn register(&self, reactor: &Reactor, source: Arc<dyn Source>) -> io::Result<Token> {
        match &self.0 {
            Kind::Tcp { stream, .. } => reactor.add_fd(stream.as_raw_fd(), source),
            Kind::Simulated(stream) => reactor.add_simulated(source, |watch| stream.watch(watch)),
        }
    }

    /// Ends it.
    pub fn deregister(&self, reactor: &Reactor, token: Token) {
        match &self.0 {
            Kind::Tcp { stream, .. } => reactor.remove_fd(stream.as_raw_fd(), token),
            Kind::Simulated(stream) => {
                stream.unwatch();
                reactor.forget(token);
            }
        }
    }
}

fn retry(mut call: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// `T` is what the option's value is in C: an int, or a structure of ints.
fn set_option<T: Copy>(fd: RawFd, level: i32, option: i32, value: T) -> io::Result<()> {
    // SAFETY: the value lives through the call and is given with its size.
    let rc = unsafe {
        libc::setsockopt(
            fd,
            level,
            option,
            (&raw const value).cast(),
            std::mem::size_of::<T>() as libc::socklen_t,
        )
    };
    if rc == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
