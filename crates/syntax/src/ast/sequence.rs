//! Sequences and synonyms.

use super::{ObjectName, TypeName};

/// CREATE SEQUENCE and ALTER SEQUENCE.
#[derive(Clone, Debug, PartialEq)]
pub struct DefineSequence {
    /// ALTER, otherwise CREATE.
    pub alter: bool,
    /// Its name.
    pub name: ObjectName,
    /// AS type; bigint when not said.
    pub ty: Option<TypeName>,
    /// START WITH, or RESTART WITH.
    pub start: Option<i128>,
    /// RESTART, with or without a number.
    pub restart: bool,
    /// INCREMENT BY.
    pub increment: Option<i128>,
    /// MINVALUE n; `Some(None)`: NO MINVALUE.
    pub minimum: Option<Option<i128>>,
    /// MAXVALUE n, likewise.
    pub maximum: Option<Option<i128>>,
    /// CYCLE, NO CYCLE.
    pub cycle: Option<bool>,
    /// CACHE [n] (none: the default), `Some(Some(0))`: NO CACHE.
    pub cache: Option<Option<u32>>,
    /// NO CACHE.
    pub no_cache: bool,
}

/// CREATE SYNONYM name FOR object.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateSynonym {
    /// Its name.
    pub name: ObjectName,
    /// What it stands for, of one to four parts.
    pub base: ObjectName,
}
