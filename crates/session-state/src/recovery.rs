//! What of a session comes back by connection resiliency: its client keeps some bytes for it, and gives them back when
//! the connection broke while it was idle and another was opened in its place.
//!
//! | state | bytes |
//! |---|---|
//! | 0 | @@OPTIONS, 4; FMTONLY, NO_BROWSETABLE, NOEXEC, PARSEONLY as bits, 1 |
//! | 1 | language, DATEFIRST, DATEFORMAT: 1 each |
//! | 2 | LOCK_TIMEOUT in ms, 8: -1 waits for ever |
//! | 3 | TEXTSIZE, 4; ROWCOUNT, 8 |
//! | 4 | isolation level, deadlock priority: 1 each |
//! | 5 | CONTEXT_INFO, up to 128 |
//!
//! Numbers are little-endian. The states are ours alone: a client tells them apart by their numbers and looks no further.
//! What it gives back is read as anything from outside is; each value that could not have been SET is refused.
//!
//! A session with anything else of its own (a transaction, temporary tables, cursors, locks of its own, another identity
//! ...) is not recoverable, which its client is told as well.

use crate::host::Host;
use crate::languages::LANGUAGES;
use crate::options::SetOptions;
use crate::state::SessionState;
use engine::Isolation;
use types::Bytes;
use types::convert::DateOrder;

const LEVELS: [Isolation; 5] = [
    Isolation::ReadUncommitted,
    Isolation::ReadCommitted,
    Isolation::RepeatableRead,
    Isolation::Snapshot,
    Isolation::Serializable,
];
const CONTEXT_INFO_BYTES: usize = 128;
const IMPLICIT_TRANSACTIONS: u32 = 1 << 1;
const QUOTED_IDENTIFIER: u32 = 1 << 8;
const NOCOUNT: u32 = 1 << 9;
const XACT_ABORT: u32 = 1 << 14;

/// What a session would be recovered to.
#[derive(Debug, Clone, PartialEq)]
pub struct Recoverable {
    options: SetOptions,
    context_info: Option<Bytes>,
    /// There is nothing else that a new session would lack.
    pub whole: bool,
}

impl Recoverable {
    /// Its states, each with its number.
    pub fn states(&self) -> Vec<(u8, Vec<u8>)> {
        let o = &self.options;
        let mut switches = o.bits().to_le_bytes().to_vec();
        let first = u8::from(o.fmtonly) | u8::from(o.browse) << 1 | u8::from(o.noexec) << 2;
        switches.push(first | u8::from(o.parseonly) << 3);
        let order = DateOrder::ALL.iter().position(|order| *order == o.date_order).unwrap_or(0);
        let timeout = o.lock_timeout_ms.map_or(-1, |ms| ms as i64);
        let mut limits = o.textsize.to_le_bytes().to_vec();
        limits.extend_from_slice(&o.rowcount.to_le_bytes());
        let level = LEVELS.iter().position(|level| *level == o.isolation).unwrap_or(1);
        vec![
            (0, switches),
            (1, vec![o.language, o.datefirst, order as u8]),
            (2, timeout.to_le_bytes().to_vec()),
            (3, limits),
            (4, vec![level as u8, o.deadlock_priority as u8]),
            (5, self.context_info.as_deref().unwrap_or_default().to_vec()),
        ]
    }
}

impl SessionState {
    /// What it would be recovered to if its connection broke now; of what it has compiled, cursors among it, its machine
    /// knows.
    pub fn recoverable(&self) -> Recoverable {
        Recoverable {
            options: self.options.clone(),
            context_info: self.context_info.clone(),
            whole: self.trancount() == 0
                && !self.transaction.holds_locks()
                && !self.transaction.private.has_temporaries()
                && self.own_procedures.is_empty()
                && self.global_tables.is_empty()
                && self.prepared_xml.is_empty()
                && self.session_context.is_empty()
                && self.trace_flags.is_empty()
                && self.identity_insert.is_none()
                && self.identity.is_own()
                && self.options.own_cost_limit.is_none()
                && self.options.telling == Default::default(),
        }
    }

    /// Takes the states of a session that was. False when one of them is not such a state; what came before it is
    /// taken then.
    pub fn recover<'a>(&mut self, states: impl IntoIterator<Item = (u8, &'a [u8])>) -> bool {
        states.into_iter().all(|(id, bytes)| self.recover_state(id, bytes).is_some())
    }

    /// Goes into a database as it begins, by the rules of USE; `None` where it may not, or there is no such database.
    pub fn enter(&mut self, host: &mut dyn Host, database: &str) -> Option<()> {
        let found = host.enter_database(database)?;
        self.check_entry(host, &found).ok()?;
        self.use_database(found);
        self.follow_identity(host);
        Some(())
    }

    fn recover_state(&mut self, id: u8, bytes: &[u8]) -> Option<()> {
        let o = &mut self.options;
        match (id, bytes) {
            (0, [a, b, c, d, flags @ 0..16]) => {
                let bits = u32::from_le_bytes([*a, *b, *c, *d]);
                let own = IMPLICIT_TRANSACTIONS | QUOTED_IDENTIFIER | NOCOUNT | XACT_ABORT;
                if bits >= 1 << 15 {
                    return None;
                }
                o.switches = bits & !own;
                o.implicit_transactions = bits & IMPLICIT_TRANSACTIONS != 0;
                o.quoted_identifier = bits & QUOTED_IDENTIFIER != 0;
                o.nocount = bits & NOCOUNT != 0;
                o.xact_abort = bits & XACT_ABORT != 0;
                o.fmtonly = flags & 1 != 0;
                o.browse = flags & 2 != 0;
                o.noexec = flags & 4 != 0;
                o.parseonly = flags & 8 != 0;
            }
            (1, [language, first @ 1..=7, order]) => {
                LANGUAGES.get(usize::from(*language))?;
                o.date_order = *DateOrder::ALL.get(usize::from(*order))?;
                o.language = *language;
                o.datefirst = *first;
            }
            (2, bytes) => {
                let ms = i64::from_le_bytes(bytes.try_into().ok()?);
                o.lock_timeout_ms = match ms {
                    -1 => None,
                    0..=0x7fff_ffff => Some(ms as u64),
                    _ => return None,
                };
            }
            (3, bytes) => {
                let (textsize, rowcount) = bytes.split_first_chunk::<4>()?;
                let textsize = i32::from_le_bytes(*textsize);
                let rowcount = u64::from_le_bytes(rowcount.try_into().ok()?);
                if textsize < -1 || i64::try_from(rowcount).is_err() {
                    return None;
                }
                (o.textsize, o.rowcount) = (textsize, rowcount);
            }
            (4, [level, priority]) => {
                let priority = *priority as i8;
                if !(-10..=10).contains(&priority) {
                    return None;
                }
                o.isolation = *LEVELS.get(usize::from(*level))?;
                o.deadlock_priority = priority;
            }
            (5, []) => self.context_info = None,
            (5, bytes) if bytes.len() <= CONTEXT_INFO_BYTES => {
                self.context_info = Some(bytes.into());
            }
            _ => return None,
        }
        Some(())
    }
}
