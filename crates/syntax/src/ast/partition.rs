//! Partition functions and partition schemes.

use super::{Expr, Ident, ObjectName, TypeName};

/// CREATE, ALTER and DROP of partition functions and schemes.
#[derive(Clone, Debug, PartialEq)]
pub enum PartitionStatement {
    /// CREATE PARTITION FUNCTION.
    CreateFunction {
        /// Its name.
        name: Ident,
        /// Types of its parameters: one is right.
        types: Vec<TypeName>,
        /// COLLATE.
        collation: Option<Ident>,
        /// RANGE RIGHT, otherwise LEFT: a boundary belongs to the partition after it.
        right: bool,
        /// FOR VALUES.
        values: Vec<Expr>,
    },
    /// ALTER PARTITION FUNCTION f() SPLIT RANGE (value), or MERGE RANGE.
    AlterFunction {
        /// Its name.
        name: Ident,
        /// MERGE, otherwise SPLIT.
        merge: bool,
        /// The boundary, where it says one.
        value: Option<Expr>,
    },
    /// CREATE PARTITION SCHEME.
    CreateScheme {
        /// Its name.
        name: Ident,
        /// AS PARTITION.
        function: Ident,
        /// ALL TO: every partition in one filegroup.
        all: bool,
        /// TO.
        filegroups: Vec<Ident>,
    },
    /// ALTER PARTITION SCHEME s NEXT USED g.
    NextUsed {
        /// The scheme.
        scheme: Ident,
        /// None: no filegroup is any longer.
        filegroup: Option<Ident>,
    },
    /// DROP PARTITION FUNCTION.
    DropFunction(Ident),
    /// DROP PARTITION SCHEME.
    DropScheme(Ident),
}

/// Where a table or an index is to lie: a filegroup, or a partition scheme and its column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataSpace {
    /// Of the filegroup or scheme.
    pub name: Ident,
    /// One for a scheme; none for a filegroup.
    pub columns: Vec<Ident>,
}

/// TRUNCATE TABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct Truncate {
    /// The table.
    pub table: ObjectName,
    /// WITH (PARTITIONS (1, 3 TO 5)); empty: all of it.
    pub partitions: Vec<(Expr, Option<Expr>)>,
}

/// ALTER TABLE ... SWITCH.
#[derive(Clone, Debug, PartialEq)]
pub struct Switch {
    /// The table that the rows leave.
    pub source: ObjectName,
    /// PARTITION number.
    pub partition: Option<Expr>,
    /// TO table.
    pub target: ObjectName,
    /// Its PARTITION number.
    pub target_partition: Option<Expr>,
}
