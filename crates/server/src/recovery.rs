//! What a client was told of its session, to open another in its place when the connection breaks (connection
//! resiliency).
//!
//! Promise: after each answer the client knows how the session would be recovered, or that it cannot be. It is told when
//! that has changed, and then all of it, for a client holds each state for recoverable or not as the token said that
//! told it last.

use session::{Recoverable, Session};

/// See the module.
pub(crate) struct Recovery {
    /// After the login, and again after a reset.
    initial: Recoverable,
    told: Recoverable,
    sequence: u32,
}

/// A token to be sent.
pub(crate) struct News {
    pub sequence: u32,
    pub recoverable: bool,
    pub states: Vec<(u8, Vec<u8>)>,
}

impl Recovery {
    /// Of a session whose client was told its states with the login.
    pub fn of(session: &Session) -> Recovery {
        let initial = session.recoverable();
        Recovery { told: initial.clone(), initial, sequence: 0 }
    }

    /// The client has forgotten what came after the login.
    pub fn reset(&mut self) {
        self.told = self.initial.clone();
    }

    /// What the client does not know yet.
    pub fn news(&mut self, session: &Session) -> Option<News> {
        let now = session.recoverable();
        if now == self.told {
            return None;
        }
        let sequence = self.sequence;
        self.sequence = sequence.wrapping_add(1);
        let news = News { sequence, recoverable: now.whole, states: now.states() };
        self.told = now;
        Some(news)
    }
}
