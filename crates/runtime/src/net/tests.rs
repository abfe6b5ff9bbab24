//! Edges of real sockets and of simulated ones: the same promises for both.

use super::{Listener, Reactor, Ready, Source, Stream};
use crate::sim;
use parking_lot::Mutex;
use std::io::ErrorKind::WouldBlock;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

#[derive(Default)]
struct Told(Mutex<Vec<Ready>>);

impl Source for Told {
    fn ready(self: Arc<Self>, ready: Ready) {
        self.0.lock().push(ready);
    }
}

impl Told {
    /// Polls until something matches; what was told is taken.
    fn wait_for(&self, reactor: &Reactor, what: impl Fn(&Ready) -> bool) {
        for _ in 0..10_000 {
            if self.0.lock().drain(..).any(|ready| what(&ready)) {
                return;
            }
            if sim::active() {
                reactor.poll();
            } else {
                reactor.wait(Some(1_000_000));
            }
        }
        panic!("no such edge came");
    }
}

fn anywhere() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

/// Both worlds.
fn in_each(f: impl Fn()) {
    f();
    for seed in 0..50 {
        let _world = sim::enter(seed);
        f();
    }
}

fn accept(listener: &Listener, reactor: &Reactor, told: &Told) -> Stream {
    loop {
        match listener.try_accept() {
            Err(error) if error.kind() == WouldBlock => told.wait_for(reactor, |r| r.readable),
            stream => return stream.expect("a connection"),
        }
    }
}

#[test]
fn bytes_arrive_once_and_in_order_under_back_pressure() {
    in_each(|| {
        let reactor = Reactor::new().expect("a reactor");
        let listener = Listener::bind(anywhere()).expect("a port");
        let news = Arc::<Told>::default();
        let listening = listener.register(&reactor, news.clone()).expect("registered");
        let ours = Stream::connect(listener.address().expect("an address")).expect("connected");
        let theirs = accept(&listener, &reactor, &news);
        assert_eq!(theirs.peer(), ours.local());

        let (a, b) = (Arc::<Told>::default(), Arc::<Told>::default());
        let from = ours.register(&reactor, a.clone()).expect("registered");
        let to = theirs.register(&reactor, b.clone()).expect("registered");
        assert_eq!(reactor.len(), 3);
        // More than any socket buffer here.
        let sent: Vec<u8> = (0..16_000_000u32).map(|i| (i ^ (i >> 8)) as u8).collect();
        let size = if sim::active() { 300_000 } else { sent.len() };
        let (mut at, mut stalled, mut got) = (0, 0, Vec::new());
        let mut buffer = vec![0; 8192];
        while got.len() < size {
            while at < size {
                match ours.try_write(&sent[at..size]) {
                    Ok(n) => at += n,
                    Err(error) => {
                        assert_eq!(error.kind(), WouldBlock);
                        stalled += 1;
                        break;
                    }
                }
            }
            b.wait_for(&reactor, |r| r.readable);
            loop {
                let n = match theirs.try_read(&mut buffer) {
                    Ok(n) => n,
                    Err(error) => {
                        assert_eq!(error.kind(), WouldBlock);
                        break;
                    }
                };
                got.extend_from_slice(&buffer[..n]);
                // The short-read rule: what comes later is a new edge.
                if n < buffer.len() {
                    break;
                }
            }
        }
        assert!(stalled > 0, "the sender never had to wait");
        assert!(got == sent[..size]);
        if at < size {
            a.wait_for(&reactor, |r| r.writable);
        }

        ours.shut_down();
        b.wait_for(&reactor, |r| r.closed && r.readable);
        assert_eq!(theirs.try_read(&mut buffer).expect("the end"), 0);
        ours.deregister(&reactor, from);
        theirs.deregister(&reactor, to);
        listener.deregister(&reactor, listening);
        assert!(reactor.is_empty());
    });
}

#[test]
fn a_registration_tells_what_is_there_and_a_deregistered_source_hears_nothing() {
    in_each(|| {
        let (first, second) =
            (Reactor::new().expect("a reactor"), Reactor::new().expect("a reactor"));
        let listener = Listener::bind(anywhere()).expect("a port");
        let address = listener.address().expect("an address");
        let ours = Stream::connect(address).expect("connected");
        let told = Arc::<Told>::default();
        let listening = listener.register(&first, told.clone()).expect("registered");
        let theirs = accept(&listener, &first, &told);
        listener.deregister(&first, listening);

        let token = theirs.register(&first, told.clone()).expect("registered");
        assert_eq!(ours.try_write(b"x").expect("room"), 1);
        told.wait_for(&first, |r| r.readable);
        // Moves with the byte unread: the new reactor tells of it.
        theirs.deregister(&first, token);
        let token = theirs.register(&second, told.clone()).expect("registered");
        told.wait_for(&second, |r| r.readable);
        theirs.deregister(&second, token);
        ours.shut_down();
        assert_eq!(first.poll() + second.poll(), 0);
        assert!(told.0.lock().is_empty());
    });
}

/// Of real sockets: a simulated one knows no reset.
#[test]
fn who_is_broken_off_hears_of_a_reset() {
    let reactor = Reactor::new().expect("a reactor");
    let listener = Listener::bind(anywhere()).expect("a port");
    let ours = Stream::connect(listener.address().expect("an address")).expect("connected");
    let told = Arc::<Told>::default();
    listener.register(&reactor, told.clone()).expect("registered");
    let theirs = accept(&listener, &reactor, &told);
    let token = theirs.register(&reactor, told.clone()).expect("registered");
    theirs.break_off();
    // The owner hears of an end ...
    told.wait_for(&reactor, |r| r.readable || r.closed);
    assert_eq!(theirs.try_read(&mut [0; 8]).expect("an end"), 0);
    theirs.deregister(&reactor, token);
    let token = ours.register(&reactor, told.clone()).expect("registered");
    drop(theirs);
    // ... and the peer of no end in order.
    told.wait_for(&reactor, |r| r.closed);
    let error = ours.try_read(&mut [0; 8]).expect_err("a reset");
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    ours.deregister(&reactor, token);
}

#[test]
fn a_taken_port_is_refused() {
    in_each(|| {
        let listener = Listener::bind(anywhere()).expect("a port");
        let address = listener.address().expect("an address");
        let error = Listener::bind(address).err().expect("taken");
        assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse);
        drop(listener);
        assert_eq!(
            Stream::connect(address).err().expect("nobody").kind(),
            std::io::ErrorKind::ConnectionRefused
        );
    });
}
