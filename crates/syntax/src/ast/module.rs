//! Modules other than procedures and views: functions, triggers, rules and defaults; the block of natively compiled ones.

use super::{
    CreateMode, Expr, Ident, IsolationLevel, ObjectName, Parameter, Query, Statement,
    TableDefinition, TypeName, Variable,
};

/// BEGIN ATOMIC WITH (options) ... END: the body of a natively compiled module.
#[derive(Clone, Debug, PartialEq)]
pub struct AtomicBlock {
    /// WITH (...).
    pub options: AtomicOptions,
    /// What it does; perhaps nothing.
    pub body: Vec<Statement>,
}

/// What an ATOMIC block fixes of its session; each None where it is not said.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct AtomicOptions {
    /// TRANSACTION ISOLATION LEVEL.
    pub isolation: Option<IsolationLevel>,
    /// LANGUAGE.
    pub language: Option<String>,
    /// DATEFIRST.
    pub datefirst: Option<u64>,
    /// DATEFORMAT.
    pub dateformat: Option<String>,
    /// DELAYED_DURABILITY.
    pub delayed_durability: Option<bool>,
}

/// CREATE, ALTER, CREATE OR ALTER FUNCTION. The text of the definition is the whole batch.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateFunction {
    /// How it begins.
    pub mode: CreateMode,
    /// Its name.
    pub name: ObjectName,
    /// Parameters.
    pub parameters: Vec<Parameter>,
    /// What it returns, and how.
    pub returns: FunctionReturns,
    /// WITH options, upper case: `SCHEMABINDING`, `RETURNS NULL ON NULL INPUT`, `EXECUTE AS OWNER`.
    pub options: Vec<String>,
}

/// What a function returns, with what makes it.
#[derive(Clone, Debug, PartialEq)]
pub enum FunctionReturns {
    /// RETURNS type AS BEGIN ... END.
    Scalar {
        /// Its type.
        ty: TypeName,
        /// Between BEGIN and END; of BEGIN ATOMIC the block.
        body: Vec<Statement>,
    },
    /// RETURNS TABLE AS RETURN query.
    Inline(Box<Query>),
    /// RETURNS @t TABLE (...) AS BEGIN ... END.
    Table {
        /// The table variable that becomes the result.
        variable: Variable,
        /// Its columns.
        definition: TableDefinition,
        /// Between BEGIN and END.
        body: Vec<Statement>,
    },
}

impl FunctionReturns {
    /// What its body does; nothing where a query stands alone.
    pub fn statements(&self) -> &[Statement] {
        match self {
            FunctionReturns::Scalar { body, .. } | FunctionReturns::Table { body, .. } => body,
            FunctionReturns::Inline(_) => &[],
        }
    }
}

/// CREATE, ALTER, CREATE OR ALTER TRIGGER on a table or view. The text of the definition is the whole batch.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTrigger {
    /// How it begins.
    pub mode: CreateMode,
    /// Its name.
    pub name: ObjectName,
    /// The table or view.
    pub table: ObjectName,
    /// Which statements fire it.
    pub events: TriggerEvents,
    /// INSTEAD OF, otherwise AFTER.
    pub instead_of: bool,
    /// NOT FOR REPLICATION.
    pub not_for_replication: bool,
    /// WITH options, upper case.
    pub options: Vec<String>,
    /// What stands after AS, to the end of the batch.
    pub body: Vec<Statement>,
}

/// What a DDL trigger belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriggerScope {
    /// ON DATABASE.
    Database,
    /// ON ALL SERVER.
    Server,
}

/// CREATE, ALTER, CREATE OR ALTER TRIGGER on the database or the server. The text of the definition is the whole batch.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateDdlTrigger {
    /// How it begins.
    pub mode: CreateMode,
    /// Its name, which has no schema.
    pub name: Ident,
    /// What it belongs to.
    pub scope: TriggerScope,
    /// Events and groups of them, as they are written.
    pub events: Vec<Ident>,
    /// WITH options, upper case.
    pub options: Vec<String>,
    /// What stands after AS, to the end of the batch.
    pub body: Vec<Statement>,
}

/// ENABLE / DISABLE TRIGGER on the database or the server.
#[derive(Clone, Debug, PartialEq)]
pub struct EnableDdlTrigger {
    /// ENABLE.
    pub enable: bool,
    /// Empty: ALL.
    pub triggers: Vec<Ident>,
    /// What they belong to.
    pub scope: TriggerScope,
}

/// CREATE RULE and CREATE DEFAULT. The text of the definition is the whole batch.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateBindable {
    /// A rule, otherwise a default.
    pub rule: bool,
    /// Its name.
    pub name: ObjectName,
    /// The condition of a rule, over one variable; the value of a default.
    pub value: Expr,
}

/// Statements that fire a trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct TriggerEvents {
    /// INSERT.
    pub insert: bool,
    /// UPDATE.
    pub update: bool,
    /// DELETE.
    pub delete: bool,
}

/// ENABLE / DISABLE TRIGGER, and ALTER TABLE ENABLE / DISABLE TRIGGER.
#[derive(Clone, Debug, PartialEq)]
pub struct EnableTrigger {
    /// ENABLE.
    pub enable: bool,
    /// Empty: ALL.
    pub triggers: Vec<ObjectName>,
    /// The table or view.
    pub table: ObjectName,
    /// It is a clause of ALTER TABLE.
    pub of_alter_table: bool,
}
