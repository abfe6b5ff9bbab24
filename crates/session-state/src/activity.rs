//! What others may see of a session while it works: its input, the statement that runs, its settings.
//!
//! Promise: written by the session alone, with plain stores into memory of its own; whoever looks reads the parts one
//! by one, so they may be of two moments. The input has a lock, which only a reader of the views ever contends for.
//! A loop of singleton inserts writes nothing here.

use crate::tag::Tag;
use parking_lot::Mutex;
use std::sync::atomic::{
    AtomicBool, AtomicI32, AtomicI64, AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed,
};
use types::Bytes;
use types::convert::DateOrder;

/// Of a longer input so many bytes are kept.
pub const INPUT_BYTES_MAX: usize = 64 << 10;

/// How a request came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InputKind {
    /// There was none yet.
    #[default]
    NoEvent,
    /// A batch.
    Language,
    /// A call.
    Rpc,
}

impl InputKind {
    /// As DBCC INPUTBUFFER calls it.
    pub fn name(self) -> &'static str {
        match self {
            InputKind::NoEvent => "No Event",
            InputKind::Language => "Language Event",
            InputKind::Rpc => "RPC Event",
        }
    }
}

/// The last request's text.
#[derive(Clone, Debug, Default)]
pub struct Input {
    pub kind: InputKind,
    /// Of a call with a text the text, else the procedure's name; cut at [`INPUT_BYTES_MAX`].
    pub text: String,
}

/// A session's settings and state at some moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Published {
    /// The current database.
    pub database_id: i32,
    /// SQL Server's number of the isolation level: 1 read uncommitted ... 5 snapshot.
    pub isolation: i16,
    /// @@TRANCOUNT.
    pub trancount: i32,
    /// @@OPTIONS.
    pub switches: u32,
    /// SET LOCK_TIMEOUT; -1 waits for ever.
    pub lock_timeout_ms: i32,
    /// SET TEXTSIZE.
    pub textsize: i32,
    /// `mdy` and the like.
    pub date_format: &'static str,
    /// SET DATEFIRST.
    pub datefirst: u8,
    /// @@LANGUAGE.
    pub language: &'static str,
    /// SET DEADLOCK_PRIORITY.
    pub deadlock_priority: i32,
    /// @@ROWCOUNT and @@ERROR at the end of the last request.
    pub rows: i64,
    pub error: i32,
    /// @@NESTLEVEL of the last statement.
    pub nest_level: i32,
    /// What the last statement is.
    pub command: &'static str,
    /// The number of the last request's plan in the cache (see `plan_handle` of the interpreter); 0 for none.
    pub plan: u64,
}

/// See the file's first lines.
pub struct Activity {
    pub(crate) database: AtomicU32,
    pub(crate) trancount: AtomicU32,
    pub(crate) switches: AtomicU32,
    pub(crate) nesting: AtomicU32,
    pub(crate) lock_timeout_ms: AtomicI64,
    pub(crate) textsize: AtomicI32,
    pub(crate) error: AtomicI32,
    pub(crate) rows: AtomicI64,
    /// Small settings, a byte each: isolation, order of dates, first day, language, deadlock priority.
    pub(crate) small: AtomicU64,
    pub(crate) command: AtomicU8,
    /// The number of the plan that the last request ran; 0 for one that is not cached.
    pub(crate) plan: AtomicU64,
    pub(crate) input: Mutex<Input>,
    pub(crate) has_context: AtomicBool,
    pub(crate) context_info: Mutex<Option<Bytes>>,
}

impl Default for Activity {
    fn default() -> Activity {
        Activity {
            database: AtomicU32::new(1),
            trancount: AtomicU32::new(0),
            switches: AtomicU32::new(0),
            nesting: AtomicU32::new(0),
            lock_timeout_ms: AtomicI64::new(-1),
            textsize: AtomicI32::new(-1),
            error: AtomicI32::new(0),
            rows: AtomicI64::new(0),
            small: AtomicU64::new(0),
            command: AtomicU8::new(0),
            plan: AtomicU64::new(0),
            input: Mutex::default(),
            has_context: AtomicBool::new(false),
            context_info: Mutex::default(),
        }
    }
}

impl Activity {
    /// The id of the current database.
    pub fn database_id(&self) -> i32 {
        self.database.load(Relaxed) as i32
    }

    /// A request begins; `write` appends its text.
    pub fn begin_input(&self, kind: InputKind, write: impl FnOnce(&mut String)) {
        let mut input = self.input.lock();
        input.kind = kind;
        input.text.clear();
        write(&mut input.text);
        if input.text.len() > INPUT_BYTES_MAX {
            let end = (0..=INPUT_BYTES_MAX).rev().find(|at| input.text.is_char_boundary(*at));
            input.text.truncate(end.unwrap_or(0));
            input.text.shrink_to(INPUT_BYTES_MAX);
        }
    }

    /// The last request's text.
    pub fn input(&self) -> Input {
        self.input.lock().clone()
    }

    /// SET CONTEXT_INFO, as of the last end of a request.
    pub fn context_info(&self) -> Option<Bytes> {
        self.context_info.lock().clone()
    }

    /// A statement begins.
    #[inline]
    pub fn statement(&self, tag: Tag, nesting: u32, trancount: u32) {
        self.command.store(tag as u8, Relaxed);
        self.nesting.store(nesting, Relaxed);
        self.trancount.store(trancount, Relaxed);
    }

    /// A text comes whose statements are not known yet.
    pub fn forget_statement(&self) {
        self.command.store(Tag::None as u8, Relaxed);
        self.plan.store(0, Relaxed);
    }

    /// The plan of the text or procedure that runs.
    #[inline]
    pub fn plan(&self, number: u64) {
        self.plan.store(number, Relaxed);
    }

    /// The same for a while; the one before.
    pub fn swap_plan(&self, number: u64) -> u64 {
        let before = self.plan.load(Relaxed);
        self.plan.store(number, Relaxed);
        before
    }

    /// As of now.
    pub fn published(&self) -> Published {
        let [isolation, order, datefirst, language, priority, ..] =
            self.small.load(Relaxed).to_le_bytes();
        let language = crate::languages::LANGUAGES.get(usize::from(language));
        Published {
            database_id: self.database_id(),
            isolation: isolation.into(),
            trancount: self.trancount.load(Relaxed) as i32,
            switches: self.switches.load(Relaxed),
            lock_timeout_ms: self.lock_timeout_ms.load(Relaxed) as i32,
            textsize: self.textsize.load(Relaxed),
            date_format: date_format(order),
            datefirst,
            language: language.map_or("us_english", |l| l.name),
            deadlock_priority: (priority as i8).into(),
            rows: self.rows.load(Relaxed),
            error: self.error.load(Relaxed),
            nest_level: self.nesting.load(Relaxed) as i32,
            command: Tag::numbered(self.command.load(Relaxed)).request(),
            plan: self.plan.load(Relaxed),
        }
    }
}

/// SQL Server's number of an isolation level.
pub(crate) fn isolation_number(level: engine::Isolation) -> i16 {
    match level {
        engine::Isolation::ReadUncommitted => 1,
        engine::Isolation::ReadCommitted => 2,
        engine::Isolation::RepeatableRead => 3,
        engine::Isolation::Serializable => 4,
        engine::Isolation::Snapshot => 5,
    }
}

fn date_format(order: u8) -> &'static str {
    let orders = [
        (DateOrder::Mdy, "mdy"),
        (DateOrder::Dmy, "dmy"),
        (DateOrder::Ymd, "ymd"),
        (DateOrder::Ydm, "ydm"),
        (DateOrder::Myd, "myd"),
        (DateOrder::Dym, "dym"),
    ];
    orders.into_iter().find(|(o, _)| *o as u8 == order).map_or("mdy", |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_input_is_cut_between_characters() {
        let activity = Activity::default();
        activity.begin_input(InputKind::Language, |text| {
            text.push('a');
            text.extend(std::iter::repeat_n('é', INPUT_BYTES_MAX));
        });
        let input = activity.input();
        assert_eq!(input.kind.name(), "Language Event");
        assert_eq!(input.text.len(), INPUT_BYTES_MAX - 1);
        assert!(input.text.ends_with('é'));
    }
}
