//! SQL Server Audit: audits, and specifications of what goes into them.

use super::*;

/// A statement of it.
#[derive(Clone, Debug, PartialEq)]
pub enum AuditStatement {
    /// CREATE SERVER AUDIT.
    Create {
        /// As written.
        name: Ident,
        /// TO.
        target: AuditTarget,
        /// WITH, in order.
        options: Vec<AuditOption>,
        /// WHERE.
        predicate: Option<AuditPredicate>,
    },
    /// ALTER SERVER AUDIT name [TO ...] [WITH ...] [WHERE ...].
    Alter {
        /// As written.
        name: Ident,
        /// TO.
        target: Option<AuditTarget>,
        /// WITH, in order.
        options: Vec<AuditOption>,
        /// WHERE; the inner None: REMOVE WHERE.
        predicate: Option<Option<AuditPredicate>>,
    },
    /// ALTER SERVER AUDIT name MODIFY NAME = new.
    Rename {
        /// As written.
        name: Ident,
        /// What it becomes.
        new: Ident,
    },
    /// DROP SERVER AUDIT.
    Drop(Ident),
    /// CREATE, ALTER or DROP of a specification.
    Specification(AuditSpecification),
}

/// SERVER or DATABASE AUDIT SPECIFICATION.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditSpecification {
    /// DATABASE.
    pub of_database: bool,
    /// As written.
    pub name: Ident,
    /// What is done.
    pub change: SpecificationChange,
}

/// See [`AuditSpecification`].
#[derive(Clone, Debug, PartialEq)]
pub enum SpecificationChange {
    /// FOR SERVER AUDIT audit ADD (...), ... WITH (STATE = ...).
    Create {
        /// Whose records they are.
        audit: Ident,
        /// ADD.
        groups: Vec<Ident>,
        /// WITH (STATE).
        state: Option<bool>,
    },
    /// [FOR SERVER AUDIT audit] ADD (...), DROP (...) WITH (STATE = ...).
    Alter {
        /// Whose records they are from now on.
        audit: Option<Ident>,
        /// ADD: true, DROP: false.
        groups: Vec<(bool, Ident)>,
        /// WITH (STATE).
        state: Option<bool>,
    },
    /// DROP.
    Drop,
}

/// Where an audit writes.
#[derive(Clone, Debug, PartialEq)]
pub enum AuditTarget {
    /// FILE (...).
    File(Vec<AuditFileOption>),
    /// APPLICATION_LOG, SECURITY_LOG, URL or EXTERNAL_MONITOR.
    Other(&'static str),
}

/// An option of FILE.
#[derive(Clone, Debug, PartialEq)]
pub enum AuditFileOption {
    /// FILEPATH.
    Path(String),
    /// MAXSIZE in bytes; none: UNLIMITED.
    MaxSize(Option<u64>),
    /// MAX_ROLLOVER_FILES; none: UNLIMITED.
    MaxRolloverFiles(Option<u32>),
    /// MAX_FILES.
    MaxFiles(u32),
    /// RESERVE_DISK_SPACE.
    ReserveDiskSpace(bool),
}

/// An option of WITH.
#[derive(Clone, Debug, PartialEq)]
pub enum AuditOption {
    /// QUEUE_DELAY, in ms.
    QueueDelay(u32),
    /// ON_FAILURE: CONTINUE 0, SHUTDOWN 1, FAIL_OPERATION 2.
    OnFailure(u8),
    /// AUDIT_GUID.
    Guid(String),
    /// STATE.
    State(bool),
}

/// Which events an audit takes.
#[derive(Clone, Debug, PartialEq)]
pub enum AuditPredicate {
    /// NOT.
    Not(Box<AuditPredicate>),
    /// AND of two or more.
    And(Vec<AuditPredicate>),
    /// OR of two or more.
    Or(Vec<AuditPredicate>),
    /// field = value.
    Compare {
        /// A column of sys.fn_get_audit_file.
        field: Ident,
        /// See the type.
        operator: AuditOperator,
        /// See the type.
        value: AuditValue,
    },
}

/// Of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "their names say it")]
pub enum AuditOperator {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

/// What a field is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuditValue {
    /// A whole number.
    Number(i64),
    /// A text.
    Text(String),
}

impl AuditOperator {
    /// As it is written.
    pub fn sign(self) -> &'static str {
        match self {
            AuditOperator::Equal => "=",
            AuditOperator::NotEqual => "<>",
            AuditOperator::Greater => ">",
            AuditOperator::GreaterOrEqual => ">=",
            AuditOperator::Less => "<",
            AuditOperator::LessOrEqual => "<=",
        }
    }
}

impl std::fmt::Display for AuditPredicate {
    /// As sys.server_audits shows it; it can be read again.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut joined = |all: &[AuditPredicate], word: &str| {
            for (i, p) in all.iter().enumerate() {
                if i > 0 {
                    f.write_str(word)?;
                }
                match p {
                    AuditPredicate::Or(_) | AuditPredicate::And(_) => write!(f, "({p})")?,
                    _ => write!(f, "{p}")?,
                }
            }
            Ok(())
        };
        match self {
            AuditPredicate::And(all) => joined(all, " AND "),
            AuditPredicate::Or(all) => joined(all, " OR "),
            AuditPredicate::Not(p) => write!(f, "NOT ({p})"),
            AuditPredicate::Compare { field, operator, value } => {
                write!(f, "[{}]{}", field.value.replace(']', "]]"), operator.sign())?;
                match value {
                    AuditValue::Number(number) => write!(f, "({number})"),
                    AuditValue::Text(text) => write!(f, "'{}'", text.replace('\'', "''")),
                }
            }
        }
    }
}
