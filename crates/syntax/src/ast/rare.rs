//! Statements that programs seldom have, in one box, so that they cost the others nothing.

use super::*;

/// One of them.
#[derive(Clone, Debug, PartialEq)]
pub enum RareStatement {
    /// INSERT BULK within a batch.
    InsertBulk(InsertBulk),
    /// BEGIN DISTRIBUTED TRANSACTION [name].
    BeginDistributed,
    /// LINENO number: what follows has other lines, which the parser has given it.
    LineNumber(u32),
    /// SETUSER ['name' [WITH NORESET]].
    SetUser {
        /// Text or variable; none: back to who it was.
        name: Option<Expr>,
        /// WITH NORESET: SETUSER without a name does not bring back who it was.
        no_reset: bool,
    },
    /// Resource Governor.
    Governor(GovernorStatement),
    /// SERVER AUDIT, SERVER and DATABASE AUDIT SPECIFICATION.
    Audit(AuditStatement),
    /// XML SCHEMA COLLECTION.
    XmlSchema(XmlSchemaStatement),
    /// FULLTEXT CATALOG and FULLTEXT INDEX.
    Fulltext(FulltextStatement),
    /// ADD and DROP SENSITIVITY CLASSIFICATION.
    Sensitivity(SensitivityStatement),
    /// SHUTDOWN [WITH NOWAIT].
    Shutdown {
        /// WITH NOWAIT.
        no_wait: bool,
    },
}

/// ADD and DROP SENSITIVITY CLASSIFICATION.
#[derive(Clone, Debug, PartialEq)]
pub struct SensitivityStatement {
    /// Tables, each with a column.
    pub columns: Vec<(ObjectName, Ident)>,
    /// ADD: fields and what they are to hold, each once. None: DROP.
    pub said: Option<Vec<(SensitivityField, String)>>,
}

/// A field of a classification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SensitivityField {
    /// LABEL.
    Label,
    /// LABEL_ID.
    LabelId,
    /// INFORMATION_TYPE.
    InformationType,
    /// INFORMATION_TYPE_ID.
    InformationTypeId,
    /// RANK: NONE, LOW, MEDIUM, HIGH or CRITICAL.
    Rank,
}

/// CREATE, ALTER ... ADD and DROP XML SCHEMA COLLECTION.
#[derive(Clone, Debug, PartialEq)]
pub enum XmlSchemaStatement {
    /// CREATE.
    Create {
        /// The collection.
        name: ObjectName,
        /// A text, or a variable.
        text: Expr,
    },
    /// ALTER ... ADD.
    Add {
        /// The collection.
        name: ObjectName,
        /// Likewise.
        text: Expr,
    },
    /// DROP.
    Drop {
        /// The collection.
        name: ObjectName,
    },
}

impl XmlSchemaStatement {
    /// The collection.
    pub fn name(&self) -> &ObjectName {
        match self {
            XmlSchemaStatement::Create { name, .. }
            | XmlSchemaStatement::Add { name, .. }
            | XmlSchemaStatement::Drop { name } => name,
        }
    }
}

/// Statements about full-text catalogs and indexes.
#[derive(Clone, Debug, PartialEq)]
pub enum FulltextStatement {
    /// CREATE FULLTEXT CATALOG.
    CreateCatalog {
        /// Its name.
        name: Ident,
        /// ACCENT_SENSITIVITY.
        accents: Option<bool>,
        /// AS DEFAULT.
        is_default: bool,
        /// AUTHORIZATION.
        owner: Option<Ident>,
    },
    /// ALTER FULLTEXT CATALOG.
    AlterCatalog {
        /// Its name.
        name: Ident,
        /// What is done.
        change: FulltextCatalogChange,
    },
    /// DROP FULLTEXT CATALOG.
    DropCatalog {
        /// Its name.
        name: Ident,
    },
    /// CREATE FULLTEXT INDEX.
    CreateIndex(FulltextIndex),
    /// ALTER FULLTEXT INDEX.
    AlterIndex {
        /// The table that it is of.
        table: ObjectName,
        /// What is done.
        change: FulltextIndexChange,
    },
    /// DROP FULLTEXT INDEX.
    DropIndex {
        /// The table that it is of.
        table: ObjectName,
    },
}

/// What ALTER FULLTEXT CATALOG does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FulltextCatalogChange {
    /// REBUILD [WITH ACCENT_SENSITIVITY].
    Rebuild(Option<bool>),
    /// REORGANIZE.
    Reorganize,
    /// AS DEFAULT.
    Default,
}

/// CREATE FULLTEXT INDEX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FulltextIndex {
    /// The table.
    pub table: ObjectName,
    /// In the order in which they are written.
    pub columns: Vec<FulltextColumn>,
    /// KEY INDEX.
    pub key: Ident,
    /// ON.
    pub catalog: Option<Ident>,
    /// WITH.
    pub settings: FulltextSettings,
}

/// A column of a full-text index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FulltextColumn {
    /// Its name.
    pub name: Ident,
    /// TYPE COLUMN.
    pub type_column: Option<Ident>,
    /// LANGUAGE: a name, or an LCID in digits or hexadecimal.
    pub language: Option<String>,
}

/// Settings of a full-text index, as far as they are told, in upper case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FulltextSettings {
    /// CHANGE_TRACKING: AUTO, MANUAL, OFF.
    pub tracking: Option<String>,
    /// STOPLIST: SYSTEM, OFF.
    pub stoplist: Option<String>,
}

/// What ALTER FULLTEXT INDEX does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FulltextIndexChange {
    /// ENABLE, DISABLE.
    Enable(bool),
    /// SET.
    Set(FulltextSettings),
    /// ADD.
    Add(Vec<FulltextColumn>),
    /// DROP.
    Drop(Vec<Ident>),
    /// START, STOP, PAUSE, RESUME POPULATION.
    Populate,
}

/// What EXECUTE AS says of its end.
#[derive(Clone, Debug, PartialEq)]
pub enum ExecuteAsEnd {
    /// Nothing: REVERT ends it.
    Revert,
    /// WITH NO REVERT: nothing but the session's end does.
    NoRevert,
    /// WITH COOKIE INTO @v: REVERT WITH COOKIE, of what the variable then holds.
    Cookie(Variable),
}

/// What KILL does to a session or a distributed transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KillWith {
    /// Ends it.
    Nothing,
    /// STATUSONLY: tells how far an earlier KILL has come.
    StatusOnly,
    /// COMMIT or ROLLBACK, of a distributed transaction that is in doubt.
    Outcome,
}
