//! SET options of a session: what each is at first, and which of them change what a text means.

use crate::shown::Telling;
use types::collation::Rule;
use types::{SqlType, TypeError, Value, convert};

/// Bits of @@OPTIONS.
pub const CURSOR_CLOSE_ON_COMMIT: u32 = 4;
pub const ANSI_WARNINGS: u32 = 8;
pub const ARITHABORT: u32 = 64;
pub const ARITHIGNORE: u32 = 128;
/// ANSI_NULL_DFLT_ON and ANSI_NULL_DFLT_OFF; each turns the other off.
pub const NULL_COLUMNS: u32 = 1024;
pub const NO_NULL_COLUMNS: u32 = 2048;
/// It is refused wherever it would be turned on.
pub const NUMERIC_ROUNDABORT: u32 = 8192;

/// @@OPTIONS of a fresh session: ANSI_WARNINGS, ANSI_PADDING, ANSI_NULLS, ARITHABORT, ANSI_NULL_DFLT_ON and
/// CONCAT_NULL_YIELDS_NULL (QUOTED_IDENTIFIER has a place of its own).
pub const SWITCHES: u32 = ANSI_WARNINGS | 16 | 32 | ARITHABORT | 1024 | 4096;

/// SET options of a session, with the defaults of SQL Server's drivers.
#[derive(Debug, Clone, PartialEq)]
pub struct SetOptions {
    /// SET NOCOUNT.
    pub nocount: bool,
    /// SET XACT_ABORT.
    pub xact_abort: bool,
    /// SET QUOTED_IDENTIFIER.
    pub quoted_identifier: bool,
    /// SET LOCK_TIMEOUT in ms; None waits forever.
    pub lock_timeout_ms: Option<u64>,
    /// SET ROWCOUNT; 0 is no limit.
    pub rowcount: u64,
    /// SET IMPLICIT_TRANSACTIONS.
    pub implicit_transactions: bool,
    /// SET DATEFIRST.
    pub datefirst: u8,
    /// SET DATEFORMAT.
    pub date_order: types::convert::DateOrder,
    /// 'two digit year cutoff', as it is in use when the request begins.
    pub year_cutoff: u16,
    /// SET LANGUAGE: @@LANGID.
    pub language: u8,
    /// SET TEXTSIZE; -1 is no limit.
    pub textsize: i32,
    /// Switches that are only remembered, as bits of @@OPTIONS.
    pub switches: u32,
    /// SET FMTONLY: queries tell their columns and do nothing.
    pub fmtonly: bool,
    /// SET NO_BROWSETABLE: queries tell of base tables and keys.
    pub browse: bool,
    /// SET NOEXEC: statements are compiled and not run.
    pub noexec: bool,
    /// SET PARSEONLY: batches are read and neither compiled nor run.
    pub parseonly: bool,
    /// SET SHOWPLAN_* and SET STATISTICS *.
    pub telling: Telling,
    /// SET DEADLOCK_PRIORITY, -10 to 10.
    pub deadlock_priority: i8,
    /// SET QUERY_GOVERNOR_COST_LIMIT; none: that of the server holds.
    pub own_cost_limit: Option<u32>,
    /// 'query governor cost limit', as it was when the request began.
    pub server_cost_limit: u32,
    /// SET TRANSACTION ISOLATION LEVEL.
    pub isolation: engine::Isolation,
}

impl Default for SetOptions {
    fn default() -> SetOptions {
        SetOptions {
            nocount: false,
            xact_abort: false,
            quoted_identifier: true,
            lock_timeout_ms: None,
            rowcount: 0,
            implicit_transactions: false,
            datefirst: 7,
            date_order: types::convert::DateOrder::Mdy,
            year_cutoff: convert::CUTOFF,
            language: 0,
            textsize: -1,
            switches: SWITCHES,
            fmtonly: false,
            browse: false,
            noexec: false,
            parseonly: false,
            telling: Telling::default(),
            deadlock_priority: 0,
            own_cost_limit: None,
            server_cost_limit: 0,
            isolation: engine::Isolation::ReadCommitted,
        }
    }
}

impl SetOptions {
    /// What a statement may be estimated to cost, in SQL Server's units (about seconds); 0: whatever it costs.
    #[inline]
    pub fn cost_limit(&self) -> u32 {
        self.own_cost_limit.unwrap_or(self.server_cost_limit)
    }

    /// Is one of the switches on?
    #[inline]
    pub fn has(&self, switches: u32) -> bool {
        self.switches & switches != 0
    }

    /// Those of a new session where 'user options' has these bits, which are those of @@OPTIONS: what the drivers turn on
    /// by themselves is on in any case. `driver`: it is one of ODBC's kind, which asks for the standard's way.
    pub fn of_user_options(bits: u32, driver: bool) -> SetOptions {
        const KEPT: u32 = 1 | CURSOR_CLOSE_ON_COMMIT | ARITHIGNORE | NO_NULL_COLUMNS;
        // The drivers turn these off when they log in.
        let bits =
            if driver { bits & !(CURSOR_CLOSE_ON_COMMIT | 2 | NO_NULL_COLUMNS) } else { bits };
        let mut switches = SWITCHES | bits & KEPT;
        if bits & NO_NULL_COLUMNS != 0 {
            switches &= !NULL_COLUMNS;
        }
        SetOptions {
            nocount: bits & 512 != 0,
            xact_abort: bits & 16384 != 0,
            implicit_transactions: bits & 2 != 0,
            switches,
            ..SetOptions::default()
        }
    }

    /// @@OPTIONS.
    pub fn bits(&self) -> u32 {
        self.switches
            | (self.implicit_transactions as u32) << 1
            | (self.quoted_identifier as u32) << 8
            | (self.nocount as u32) << 9
            | (self.xact_abort as u32) << 14
    }

    /// A value converted without a style, as an argument or a variable is: texts are read as dates in the session's order
    /// and language, and dates written with its names of months.
    #[inline]
    pub fn cast(&self, value: &Value, from: SqlType, to: SqlType) -> Result<Value, TypeError> {
        convert::cast(value, from, to, self.style_between(value, from, to))
    }

    /// The same into a variable of a module whose varchar is in the code page of `rule`.
    #[inline]
    pub fn cast_by(
        &self,
        rule: Rule,
        value: &Value,
        from: SqlType,
        to: SqlType,
    ) -> Result<Value, TypeError> {
        let style = self.style_between(value, from, to);
        match rule {
            Rule::CiAs => convert::cast(value, from, to, style),
            _ => convert::cast_by(rule, value, from, to, style),
        }
    }

    /// The same to a column, into which a text must fit.
    pub fn assign(&self, value: &Value, from: SqlType, to: SqlType) -> Result<Value, TypeError> {
        convert::assign_style(value, from, to, self.style_between(value, from, to))
    }

    /// The style by which a text is read as a date where none is named: SET DATEFORMAT and LANGUAGE, and the cutoff.
    #[inline]
    pub fn date_style(&self) -> i32 {
        let style = convert::in_language(self.date_order.style(), self.language);
        convert::with_cutoff(style, self.year_cutoff)
    }

    /// The style by which a value is converted that names none: how the session writes and reads dates.
    #[inline]
    pub fn style_between(&self, value: &Value, from: SqlType, to: SqlType) -> i32 {
        match value {
            Value::Str(_) if to.is_temporal() => self.date_style(),
            _ if from.is_temporal() && to.is_character() => convert::in_language(0, self.language),
            _ => 0,
        }
    }

    /// Those that change what a text means when it is compiled, as bits.
    #[inline]
    pub fn meaning(&self) -> u32 {
        let settings = self.settings();
        self.quoted_identifier as u32
            | u32::from(!settings.ansi_nulls) << 1
            | u32::from(!settings.concat_null) << 2
            | u32::from(!settings.null_columns) << 3
            | u32::from(settings.browse) << 4
            // Filtered indexes ask for these.
            | u32::from(!self.has(ANSI_WARNINGS)) << 5
            | u32::from(self.switches & 16 == 0) << 6
    }

    /// The same, as the binder asks for them.
    #[inline]
    pub fn settings(&self) -> ir::Settings {
        ir::Settings {
            ansi_nulls: self.switches & 32 != 0,
            concat_null: self.switches & 4096 != 0,
            null_columns: self.switches & 1024 != 0,
            browse: self.browse,
        }
    }
}
