//! The sessions of the databases' own tasks: LOG WRITER, CHECKPOINT, LAZY WRITER and, while a database is recovering, DB
//! STARTUP; with numbers below 51.
//!
//! Invariant: a number belongs to one task at a time. When all are given away, further tasks have none (and so no row
//! among the sessions), as SQL Server has tasks without a session.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use system_views::SessionFacts;

/// SQL Server's own sessions are not above.
const LAST: u32 = 50;

#[derive(Clone, Copy)]
struct Known {
    command: &'static str,
    database: i32,
    began_unix_ns: u64,
}

/// See the file's first lines.
#[derive(Default)]
pub(crate) struct SystemSessions(Mutex<BTreeMap<u32, Known>>);

impl SystemSessions {
    /// A task begins to work for a database; its number.
    pub fn enter(&self, command: &'static str, database: i32) -> Option<u32> {
        let mut all = self.0.lock();
        let free = (1..=LAST).find(|id| !all.contains_key(id))?;
        let began_unix_ns = runtime::clock::unix_ns();
        all.insert(free, Known { command, database, began_unix_ns });
        Some(free)
    }

    /// The number of a database's task.
    pub fn of(&self, command: &str, database: i32) -> Option<u32> {
        let all = self.0.lock();
        let mut all = all.iter();
        all.find(|(_, k)| k.command == command && k.database == database).map(|(id, _)| *id)
    }

    /// A database's tasks have ended.
    pub fn leave(&self, database: i32) {
        self.0.lock().retain(|_, known| known.database != database);
    }

    /// A task has ended; whether it was the last with its command.
    pub fn end(&self, session: u32, command: &str) -> bool {
        let mut all = self.0.lock();
        all.remove(&session);
        all.values().all(|known| known.command != command)
    }

    /// As sys.dm_exec_sessions shows them, by number.
    pub fn facts(&self) -> Vec<SessionFacts> {
        let all = self.0.lock();
        let facts = |(id, known): (&u32, &Known)| {
            let mut facts = SessionFacts {
                id: *id as i32,
                system: Some(known.command),
                login: "sa".to_owned(),
                login_unix_ns: known.began_unix_ns,
                ..SessionFacts::default()
            };
            let published = &mut facts.published;
            (published.database_id, published.isolation) = (known.database, 2);
            (published.language, published.date_format) = ("us_english", "mdy");
            (published.lock_timeout_ms, published.textsize, published.datefirst) = (-1, -1, 7);
            facts
        };
        all.iter().map(facts).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_below_those_of_users_and_given_back() {
        let all = SystemSessions::default();
        let ids: Vec<u32> = (0..60).filter_map(|n| all.enter("CHECKPOINT", n)).collect();
        assert_eq!(ids, (1..=50).collect::<Vec<_>>());
        all.leave(7);
        assert_eq!(all.facts().len(), 49);
        assert_eq!(all.enter("LOG WRITER", 99), Some(8));
        let facts = all.facts();
        let found = facts.iter().find(|s| s.system == Some("LOG WRITER"));
        assert_eq!(found.map(|s| (s.id, s.published.database_id)), Some((8, 99)));
    }
}
