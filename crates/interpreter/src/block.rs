//! What an ATOMIC block fixes: isolation, language, dates, durability, and the SET options inside of it.
//!
//! Source: "Atomic Blocks in Native Procedures".

use session_state::languages::{self, LANGUAGES};
use session_state::{SWITCHES, SetOptions};
use types::convert::DateOrder;

/// What a block fixes.
pub(crate) struct Atomic {
    pub isolation: engine::Isolation,
    language: u8,
    date_order: DateOrder,
    datefirst: u8,
    pub delayed: Option<bool>,
}

impl Atomic {
    /// As the text says it; its language is known since the module was made.
    pub fn of(atomic: &ir::Atomic) -> Atomic {
        let language = languages::find(&atomic.language).unwrap_or(0);
        let defaults = &LANGUAGES[language as usize];
        Atomic {
            isolation: commands::engine_isolation(atomic.isolation),
            language,
            date_order: atomic.date_order.unwrap_or(defaults.order),
            datefirst: atomic.datefirst.unwrap_or(defaults.first),
            delayed: atomic.delayed,
        }
    }

    /// A session's options inside of the block.
    pub fn options(&self, outer: &SetOptions) -> SetOptions {
        SetOptions {
            nocount: true,
            xact_abort: false,
            quoted_identifier: true,
            rowcount: 0,
            implicit_transactions: false,
            datefirst: self.datefirst,
            date_order: self.date_order,
            language: self.language,
            switches: SWITCHES,
            ..outer.clone()
        }
    }
}
