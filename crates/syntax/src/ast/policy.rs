//! Security policies.

use super::{ObjectName, Span};

/// CREATE or ALTER SECURITY POLICY.
#[derive(Clone, Debug, PartialEq)]
pub struct SecurityPolicy {
    /// ALTER, otherwise CREATE.
    pub alter: bool,
    /// Its name.
    pub name: ObjectName,
    /// In order.
    pub changes: Vec<PredicateChange>,
    /// WITH (STATE = ...).
    pub state: Option<bool>,
    /// WITH (SCHEMABINDING = ...).
    pub schemabinding: Option<bool>,
    /// NOT FOR REPLICATION; of ALTER: ADD or DROP of it.
    pub not_for_replication: Option<bool>,
}

/// ADD, ALTER or DROP of a predicate.
#[derive(Clone, Debug, PartialEq)]
pub struct PredicateChange {
    /// Which.
    pub verb: PredicateVerb,
    /// BLOCK, otherwise FILTER.
    pub block: bool,
    /// The function, and where the whole call stands; none for DROP.
    pub call: Option<(ObjectName, Span)>,
    /// ON.
    pub table: ObjectName,
    /// Of BLOCK: AFTER INSERT and its like; none: all of them.
    pub operation: Option<BlockOperation>,
}

/// What is done to a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is its own name")]
pub enum PredicateVerb {
    Add,
    Alter,
    Drop,
}

/// When a BLOCK predicate is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is its own name")]
pub enum BlockOperation {
    AfterInsert,
    AfterUpdate,
    BeforeUpdate,
    BeforeDelete,
}
