//! What a session is told: informational messages and errors, with SQL Server's numbers.
//!
//! Promise: everything that can go wrong while a statement runs becomes one [`SqlError`]; its number,
//! severity and text are SQL Server's where SQL Server has them. Severity 0 to 10 informs, 11 to 19 is an
//! error the batch may survive, 20 and up ends the session.

use std::fmt;

/// A message for the client: from PRINT, from a finished statement, or made of an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlMessage {
    /// SQL Server's message number; 0 for PRINT.
    pub number: i32,
    /// 0 to 25; 11 and up is an error.
    pub severity: u8,
    /// SQL Server's "state": which of several places raised the number.
    pub state: u8,
    /// Line in the batch or procedure, from 1.
    pub line: u32,
    /// The procedure that was running, if any.
    pub procedure: Option<String>,
    /// The text, in one line or several.
    pub text: String,
}

impl SqlMessage {
    /// An informational message (severity 0, state 1).
    pub fn info(number: i32, line: u32, text: impl Into<String>) -> SqlMessage {
        SqlMessage { number, severity: 0, state: 1, line, procedure: None, text: text.into() }
    }

    /// True for severity 11 and up.
    pub fn is_error(&self) -> bool {
        self.severity > 10
    }
}

impl fmt::Display for SqlMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.severity <= 10 && self.number == 0 {
            return f.write_str(&self.text);
        }
        write!(f, "Msg {}, Level {}, State {}", self.number, self.severity, self.state)?;
        if let Some(procedure) = &self.procedure {
            write!(f, ", Procedure {procedure}")?;
        }
        write!(f, ", Line {}\n{}", self.line, self.text)
    }
}

/// How far an error reaches beyond its statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// The statement ends and is undone; the batch goes on (unless XACT_ABORT is ON).
    Statement,
    /// The batch ends; an open transaction stays (a missing object, THROW, cancellation).
    Scope,
    /// The batch ends and an open transaction is rolled back (conversion errors).
    Batch,
    /// The transaction is rolled back and the batch ends (deadlock victim, full log).
    Transaction,
    /// The session ends: the database can no longer be trusted (poisoned log).
    Session,
}

/// What an error is about, as far as that is told in another way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// What the statement does.
    Statement,
    /// The arguments of a call: the procedure is named, and the line is 0.
    Call,
    /// It kept a constraint, or an index of a table's definition, from being made: 1750 follows it.
    Making,
}

/// An error while compiling or running a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlError {
    /// SQL Server's error number.
    pub number: i32,
    /// 11 to 25.
    pub severity: u8,
    /// SQL Server's "state".
    pub state: u8,
    /// Line of the statement, 0 while unknown.
    pub line: u32,
    /// The procedure it happened in, if any.
    pub procedure: Option<String>,
    /// The schema of that, for ERROR_PROCEDURE().
    pub schema: Option<std::sync::Arc<str>>,
    /// What it ends.
    pub reach: Reach,
    /// 3621 ("The statement has been terminated.") follows it when the statement was changing rows.
    pub terminated_notice: bool,
    /// The plan was made of a definition that is old by now: a new plan may well succeed. Nothing has been sent.
    pub stale: bool,
    /// RAISERROR made it: XACT_ABORT does not mind it.
    pub raised: bool,
    /// Told before it: what stands in the way (5074), or the other errors of one statement's names.
    pub ahead: Option<Box<[SqlMessage]>>,
    /// A statement of the batch or module itself could not be bound, now that it is reached: no TRY of the same level
    /// catches that.
    pub unbound: bool,
    /// What it is about.
    pub about: About,
    /// The text.
    pub text: String,
}

impl From<runtime::task::Stopped> for SqlError {
    #[cold]
    fn from(stopped: runtime::task::Stopped) -> Self {
        SqlError::new(stopped.number(), stopped.severity(), stopped.to_string())
    }
}

impl SqlError {
    /// An error with the reach that SQL Server gives its number.
    pub fn new(number: i32, severity: u8, text: impl Into<String>) -> SqlError {
        SqlError {
            number,
            severity,
            state: 1,
            line: 0,
            procedure: None,
            schema: None,
            reach: reach_of(number, severity),
            stale: false,
            raised: false,
            ahead: None,
            unbound: false,
            about: About::Statement,
            terminated_notice: matches!(
                number,
                220 | 232
                    | 242
                    | 512
                    | 513
                    | 515
                    | 547
                    | 550
                    | 1222
                    | 1505
                    | 2601
                    | 2627
                    | 2628
                    | 8115
                    | 8134
                    | 8152
                    | 8672
                    | 16929
                    | 16931
                    | 33504
            ),
            text: text.into(),
        }
    }

    /// The same with something that is told before it.
    pub fn with_ahead(mut self, ahead: Vec<SqlMessage>) -> SqlError {
        self.ahead = (!ahead.is_empty()).then(|| ahead.into_boxed_slice());
        self
    }

    /// The same with a state.
    pub fn with_state(mut self, state: u8) -> SqlError {
        self.state = state;
        self
    }

    /// The same with a name in its text as the statement has it, in the place of the catalog's own.
    pub fn naming(mut self, own: &str, shown: &str) -> SqlError {
        self.text = self.text.replacen(own, shown, 1);
        self
    }

    /// The same of a definition with constraints.
    pub fn of_constraints(mut self) -> SqlError {
        if matches!(self.number, 1505 | 1902 | 1904 | 1908 | 1909 | 1911 | 1919 | 1944) {
            self.about = About::Making;
        }
        self
    }

    /// The same with another reach.
    pub fn with_reach(mut self, reach: Reach) -> SqlError {
        self.reach = reach;
        self
    }

    /// The line, unless an inner frame has set it.
    pub fn at_line(mut self, line: u32) -> SqlError {
        if self.line == 0 && self.about != About::Call {
            self.line = line;
        }
        self
    }

    /// The same about the arguments of a call of the procedure.
    pub fn of_call(mut self, procedure: Option<&str>) -> SqlError {
        self.about = if procedure.is_some() { About::Call } else { About::Statement };
        self.procedure = procedure.map(str::to_owned);
        self
    }

    /// An identity column has no more numbers: 3606 follows it.
    pub fn ends_identity(&self) -> bool {
        self.number == 8115 && self.text.contains("converting IDENTITY to")
    }

    /// As the client sees it.
    pub fn to_message(&self) -> SqlMessage {
        SqlMessage {
            number: self.number,
            severity: self.severity,
            state: self.state,
            line: if self.about == About::Call { 0 } else { self.line.max(1) },
            procedure: self.procedure.clone(),
            text: self.text.clone(),
        }
    }

    /// Something T-SQL has and this engine does not yet: 40510.
    pub fn unsupported(what: impl fmt::Display) -> SqlError {
        SqlError::new(
            40510,
            16,
            format!("Statement '{what}' is not supported in this version of SQL Server."),
        )
    }
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_message().fmt(f)
    }
}

impl std::error::Error for SqlError {}

impl From<types::TypeError> for SqlError {
    fn from(error: types::TypeError) -> SqlError {
        SqlError::new(error.number(), error.severity(), error.to_string()).with_state(error.state())
    }
}

/// What SQL Server ends on an error of this number.
fn reach_of(number: i32, severity: u8) -> Reach {
    match number {
        1205 | 3960 | 3961 | 41302 | 41305 | 41325 | 9002 | 1105 | 1101 => Reach::Transaction,
        241 | 242 | 244 | 245 | 248 | 295 | 529 | 8114 | 8169 => Reach::Batch,
        // What a schema collection does not take.
        6901..=6965 => Reach::Batch,
        // Names that do not resolve when a statement is bound at last.
        207 | 208 | 209 | 926 | 927 | 942 | 4104 | 217 => Reach::Scope,
        // Stopped from outside; and where there is no memory, the next statement would not get on either.
        runtime::task::CANCELLED | 701 => Reach::Scope,
        _ if severity >= 20 => Reach::Session,
        _ => Reach::Statement,
    }
}

/// The number of [`cancelled`]. It is never told to a client.
pub const CANCELLED: i32 = runtime::task::CANCELLED;

/// The error of a batch stopped from outside.
pub fn cancelled() -> SqlError {
    SqlError::new(CANCELLED, 16, "The query was canceled by the user.").with_reach(Reach::Scope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_reads_like_sqlcmd() {
        let mut error = SqlError::new(8134, 16, "Divide by zero error encountered.").at_line(3);
        assert_eq!(
            error.to_string(),
            "Msg 8134, Level 16, State 1, Line 3\nDivide by zero error encountered."
        );
        error.procedure = Some("p".into());
        assert!(error.to_string().contains("Procedure p, Line 3"));
        assert_eq!(SqlMessage::info(0, 1, "hello").to_string(), "hello");
    }

    #[test]
    fn reach_follows_the_number() {
        assert_eq!(SqlError::new(1205, 13, "").reach, Reach::Transaction);
        assert_eq!(SqlError::new(245, 16, "").reach, Reach::Batch);
        assert_eq!(SqlError::new(2627, 14, "").reach, Reach::Statement);
        assert_eq!(SqlError::new(824, 24, "").reach, Reach::Session);
        assert!(SqlError::new(2627, 14, "").terminated_notice);
    }
}
