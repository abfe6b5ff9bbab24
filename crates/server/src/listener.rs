//! Takes connections: one source for each address, on one of the schedulers that may serve who comes there. When that one
//! may not any more (PROCESS AFFINITY, LISTENER), the source moves after the next connection that it takes.

use crate::connection::Connection;
use crate::server::Shared;
use parking_lot::Mutex;
use runtime::net::{Listener, Ready, Source, Stream, Token};
use runtime::task;
use session::NodeMap;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use telemetry::WaitType;
use tracing::{debug, warn};

/// After a refusal by the kernel (no descriptors, no memory) so long passes before the next attempt.
const RETRY_NS: u64 = 100_000_000;

/// One address.
pub(crate) struct Accepting {
    shared: Arc<Shared>,
    listener: Listener,
    address: SocketAddr,
    /// Who serves those that come.
    nodes: Arc<NodeMap>,
    /// Whose reactor the token is of. Changes under the token's lock.
    scheduler: AtomicUsize,
    /// `None`: it has stopped.
    token: Mutex<Option<Token>>,
    /// A task takes connections.
    served: AtomicBool,
    news: AtomicBool,
}

impl Accepting {
    /// Listens from now on.
    pub fn start(
        shared: &Arc<Shared>,
        listener: Listener,
        nodes: Arc<NodeMap>,
        scheduler: usize,
    ) -> std::io::Result<Arc<Accepting>> {
        let address = listener.address()?;
        let accepting = Arc::new(Accepting {
            shared: shared.clone(),
            listener,
            address,
            nodes,
            scheduler: AtomicUsize::new(scheduler),
            token: Mutex::new(None),
            served: AtomicBool::new(false),
            news: AtomicBool::new(false),
        });
        let mut token = accepting.token.lock();
        let reactor = shared.reactor(scheduler);
        *token = Some(accepting.listener.register(reactor, accepting.clone())?);
        drop(token);
        Ok(accepting)
    }

    pub fn nodes(&self) -> &Arc<NodeMap> {
        &self.nodes
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes no more connections.
    pub fn stop(&self) {
        let mut token = self.token.lock();
        if let Some(token) = token.take() {
            self.listener.deregister(self.shared.reactor(self.scheduler()), token);
        }
    }

    pub fn scheduler(&self) -> usize {
        self.scheduler.load(Acquire)
    }

    /// Goes to a scheduler that may serve, if its own may not and there is one. Of the task that takes connections, before it
    /// ends: news of the new place are seen by it, or begin another.
    fn follow_mask(self: &Arc<Self>) {
        let may = |index| self.shared.may_serve(&self.nodes, index);
        let from = self.scheduler();
        if may(from) {
            return;
        }
        let Some(to) = self.shared.schedulers().least_loaded_of(may) else { return };
        let mut token = self.token.lock();
        let Some(old) = token.take() else { return };
        match self.listener.register(self.shared.reactor(to), self.clone()) {
            Ok(new) => {
                self.listener.deregister(self.shared.reactor(from), old);
                self.scheduler.store(to, Release);
                *token = Some(new);
            }
            // Out of memory in the kernel: it stays.
            Err(error) => {
                warn!(address = %self.address, %error, "a listener cannot be moved");
                *token = Some(old);
            }
        }
    }

    fn serve(self: &Arc<Self>) {
        loop {
            while self.news.swap(false, AcqRel) {
                self.accept_all();
            }
            self.follow_mask();
            self.served.store(false, Release);
            // News between the last look and the store were told to nobody.
            if !self.news.load(Acquire) || self.served.swap(true, AcqRel) {
                return;
            }
        }
    }

    fn accept_all(&self) {
        while !self.shared.is_stopping() {
            match self.listener.try_accept() {
                Ok(stream) => self.welcome(stream),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => return,
                    // It went away before we came to it.
                    ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset => {}
                    ErrorKind::NotConnected | ErrorKind::InvalidInput => {}
                    ErrorKind::Interrupted => {}
                    _ => {
                        warn!(address = %self.address, %error, "a connection cannot be taken; trying on");
                        task::sleep_ns(RETRY_NS, WaitType::SleepTask);
                    }
                },
            }
            task::maybe_yield();
        }
    }

    fn welcome(&self, stream: Stream) {
        let may = |index| self.shared.may_serve(&self.nodes, index);
        let on = self.shared.registry.least_used(may);
        let peer = stream.peer();
        let (connection, oldest) = self.shared.registry.enter(on, |id| {
            let shared = self.shared.clone();
            Arc::new(Connection::new(id, shared, stream, self.nodes.clone(), on))
        });
        debug!(connection = connection.id, %peer, "connected");
        if let Some(oldest) = oldest {
            warn!(
                connection = oldest.id, peer = %oldest.peer(),
                "closed: too many connections that have not logged in"
            );
            oldest.abort();
        }
        if let Err(error) = connection.register() {
            warn!(%peer, %error, "a connection cannot be polled");
            self.shared.registry.leave(connection.id, on, false);
        }
    }
}

impl Source for Accepting {
    fn ready(self: Arc<Self>, _: Ready) {
        self.news.store(true, Release);
        if !self.served.swap(true, AcqRel) {
            scheduler::spawn_here("listener", move || self.serve());
        }
    }
}
