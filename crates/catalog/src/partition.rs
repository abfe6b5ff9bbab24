//! Partition functions, and the schemes that say where their partitions are to lie.
//!
//! Partitions are logical: a table on a scheme has one tree as any other, and which partition a row belongs to follows
//! from its column whenever somebody asks. So nothing about rows changes when a function does, and the partitions of a
//! table are always those that its function has now.
//!
//! A function and a scheme are modules of the schema `dbo` whose text is this crate's own. Of a function a line of
//! numbers (type, length, precision, scale, collation, RIGHT), then a line for each boundary: its bytes as a row has
//! them, in hexadecimal, or `-` for NULL. Of a scheme a line of numbers: its function's id, the next filegroup to be
//! used (0: none), and the filegroup of each partition.
//!
//! Promises: boundaries ascend, and no two are equal; a scheme has a filegroup for each partition of its function; a
//! function that a scheme names is there, and a scheme that a table names.
//!
//! Sources: SQL Server's documentation of CREATE and ALTER PARTITION FUNCTION, CREATE and ALTER PARTITION SCHEME, and
//! its list of messages.

mod define;
mod place;

pub(crate) use place::{check_key, divide, no_scheme};

use crate::def::{ModuleKind, ObjectRef, ProcedureDef};
use crate::scope::DdlScope;
use crate::system::corrupt;
use crate::{Catalog, CatalogError};
use std::cmp::Ordering;
use std::fmt::Write;
use std::sync::Arc;
use types::{Collation, RowColumn, RowLayout, SqlType, Value, convert};

/// Partitions that a function may have (7719).
pub const PARTITIONS_MAX: usize = 15_000;

/// What a module of these kinds is.
#[derive(Clone, Debug, PartialEq)]
pub enum Partitioning {
    Function(PartitionFunctionDef),
    Scheme(PartitionSchemeDef),
}

/// A partition function.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionFunctionDef {
    pub ty: SqlType,
    /// Of a character type; the default for any other.
    pub collation: Collation,
    /// RANGE RIGHT: a boundary belongs to the partition after it.
    pub right: bool,
    /// Ascending.
    pub boundaries: Vec<Value>,
}

/// A partition scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionSchemeDef {
    /// Object id of its function.
    pub function: i32,
    /// Numbers of the filegroups, one for each partition.
    pub filegroups: Vec<u16>,
    /// Of the partition that comes next.
    pub next_used: Option<u16>,
}

/// How a table or an index is partitioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partitioned {
    /// Object id of the scheme.
    pub scheme: i32,
    /// Ordinal of the column.
    pub column: usize,
}

impl PartitionFunctionDef {
    /// A function with boundaries in any order: 7719, 7708.
    pub fn new(
        ty: SqlType,
        collation: Collation,
        right: bool,
        values: &[Value],
    ) -> Result<PartitionFunctionDef, CatalogError> {
        if values.len() >= PARTITIONS_MAX {
            return Err(too_many());
        }
        let mut sorted: Vec<(usize, Value)> =
            values.iter().map(|v| collation.mark(v.clone())).enumerate().collect();
        sorted.sort_by(|a, b| types::compare::sort_order(&a.1, &b.1).then(a.0.cmp(&b.0)));
        let equal = |pair: &&[(usize, Value)]| {
            types::compare::sort_order(&pair[0].1, &pair[1].1) == Ordering::Equal
        };
        if let Some(pair) = sorted.windows(2).find(equal) {
            return Err(CatalogError::refused(
                7708,
                format!(
                    "Duplicate range boundary values are not allowed in partition function boundary values list. \
                     Partition boundary values at ordinal {} and {} are equal.",
                    pair[0].0 + 1,
                    pair[1].0 + 1
                ),
            ));
        }
        let boundaries = sorted.into_iter().map(|(_, v)| v).collect();
        Ok(PartitionFunctionDef { ty, collation, right, boundaries })
    }

    /// How many partitions it has.
    pub fn fanout(&self) -> usize {
        self.boundaries.len() + 1
    }

    /// The partition that a value belongs to, from 1; NULL is less than any other.
    pub fn partition_of(&self, value: &Value) -> usize {
        let marked;
        let value = match value {
            Value::Str(_) => {
                marked = self.collation.mark(value.clone());
                &marked
            }
            _ => value,
        };
        let before = |boundary: &Value| match types::compare::sort_order(boundary, value) {
            Ordering::Less => true,
            Ordering::Equal => self.right,
            Ordering::Greater => false,
        };
        self.boundaries.partition_point(before) + 1
    }

    /// Where a boundary is, or would be.
    fn find(&self, value: &Value) -> Result<usize, usize> {
        let value = self.collation.mark(value.clone());
        self.boundaries.binary_search_by(|b| types::compare::sort_order(b, &value))
    }

    fn layout(&self) -> RowLayout {
        RowLayout::new(&[RowColumn { ty: self.ty, nullable: true, rule: self.collation.rule() }])
    }

    fn to_text(&self) -> Result<String, CatalogError> {
        let (id, length, precision, scale) = self.ty.to_parts();
        let (collation, right) = (self.collation.number(), u8::from(self.right));
        let mut text = format!("{id} {length} {precision} {scale} {collation} {right}");
        let layout = self.layout();
        for boundary in &self.boundaries {
            text.push('\n');
            if boundary.is_null() {
                text.push('-');
                continue;
            }
            let mut bytes = Vec::new();
            layout.encode(std::slice::from_ref(boundary), &mut bytes)?;
            text.push_str(&types::format::hex(&bytes, ""));
        }
        Ok(text)
    }

    fn of_text(text: &str) -> Option<PartitionFunctionDef> {
        let mut lines = text.split('\n');
        let numbers: Vec<i64> =
            lines.next()?.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?;
        let [id, length, precision, scale, collation, right] = numbers[..] else { return None };
        let ty = SqlType::from_parts(id as u8, length, precision as u8, scale as u8)?;
        let collation = Collation::of_number(u32::try_from(collation).ok()?)?;
        let mut function =
            PartitionFunctionDef { ty, collation, right: right == 1, boundaries: Vec::new() };
        let layout = function.layout();
        for line in lines {
            let value = match line {
                "-" => Value::Null,
                _ => layout.decode_column(&convert::from_hex(line)?, 0)?,
            };
            function.boundaries.push(collation.mark(value));
        }
        Some(function)
    }
}

impl PartitionSchemeDef {
    fn to_text(&self) -> String {
        let mut text = format!("{} {}", self.function, self.next_used.unwrap_or(0));
        for filegroup in &self.filegroups {
            let _ = write!(text, " {filegroup}");
        }
        text
    }

    fn of_text(text: &str) -> Option<PartitionSchemeDef> {
        let mut numbers = text.split(' ');
        let function = numbers.next()?.parse().ok()?;
        let next: u16 = numbers.next()?.parse().ok()?;
        let filegroups = numbers.map(str::parse).collect::<Result<_, _>>().ok()?;
        Some(PartitionSchemeDef { function, filegroups, next_used: (next != 0).then_some(next) })
    }
}

impl Partitioning {
    fn to_text(&self) -> Result<String, CatalogError> {
        match self {
            Partitioning::Function(function) => function.to_text(),
            Partitioning::Scheme(scheme) => Ok(scheme.to_text()),
        }
    }
}

impl ProcedureDef {
    /// The partition function that it is.
    pub fn partition_function(&self) -> Option<&PartitionFunctionDef> {
        match self.partitioning.as_deref()? {
            Partitioning::Function(function) => Some(function),
            Partitioning::Scheme(_) => None,
        }
    }

    /// The partition scheme that it is.
    pub fn partition_scheme(&self) -> Option<&PartitionSchemeDef> {
        match self.partitioning.as_deref()? {
            Partitioning::Scheme(scheme) => Some(scheme),
            Partitioning::Function(_) => None,
        }
    }
}

impl Catalog {
    /// All modules of a kind, as a transaction sees them, by id: also of those that are no objects of a schema.
    pub fn modules_of_kind(
        &self,
        scope: Option<&DdlScope>,
        kind: ModuleKind,
    ) -> Vec<Arc<ProcedureDef>> {
        let of_kind = |object| match object {
            ObjectRef::Procedure(module) if module.kind == kind => Some(module),
            _ => None,
        };
        self.objects_in(scope).into_iter().filter_map(of_kind).collect()
    }

    /// The function of a scheme, by the scheme's id.
    pub fn function_of_scheme(
        &self,
        scope: Option<&DdlScope>,
        scheme: i32,
    ) -> Option<Arc<ProcedureDef>> {
        let ObjectRef::Procedure(scheme) = self.object_in(scope, scheme)? else { return None };
        match self.object_in(scope, scheme.partition_scheme()?.function)? {
            ObjectRef::Procedure(function) if function.partition_function().is_some() => {
                Some(function)
            }
            _ => None,
        }
    }
}

/// Of a partition function or scheme its definition, which its text is.
pub(crate) fn of_text(
    kind: ModuleKind,
    text: &str,
) -> Result<Option<Arc<Partitioning>>, CatalogError> {
    let found = match kind {
        ModuleKind::PartitionFunction => {
            PartitionFunctionDef::of_text(text).map(Partitioning::Function)
        }
        ModuleKind::PartitionScheme => PartitionSchemeDef::of_text(text).map(Partitioning::Scheme),
        _ => return Ok(None),
    };
    let found = found.ok_or_else(|| corrupt("a partition function or scheme makes no sense"))?;
    Ok(Some(Arc::new(found)))
}

/// 7719.
fn too_many() -> CatalogError {
    CatalogError::refused(
        7719,
        format!(
            "CREATE/ALTER partition function failed as only a maximum of {PARTITIONS_MAX} partitions can be created."
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::Len;

    fn function(ty: SqlType, right: bool, values: &[Value]) -> PartitionFunctionDef {
        PartitionFunctionDef::new(ty, Collation::default(), right, values).expect("a function")
    }

    #[test]
    fn boundaries_belong_to_the_left_or_to_the_right() {
        let values = [10, 1, 100].map(Value::Int);
        let asked = [-5, 1, 2, 10, 100, 101];
        let of = |right| {
            let f = function(SqlType::Int, right, &values);
            asked.map(|n| f.partition_of(&Value::Int(n)))
        };
        assert_eq!(of(false), [1, 1, 2, 2, 3, 4]);
        assert_eq!(of(true), [1, 2, 2, 3, 4, 4]);
        let null = function(SqlType::Int, false, &[Value::Int(10), Value::Null]);
        assert_eq!(null.partition_of(&Value::Null), 1);
        assert_eq!(null.partition_of(&Value::Int(-1)), 2);
    }

    #[test]
    fn definitions_come_back_as_they_went() {
        let text = SqlType::NVarChar(Len::N(20));
        let functions = [
            function(SqlType::Int, true, &[Value::Int(7), Value::Null]),
            function(SqlType::BigInt, false, &[]),
            function(text, false, &[Value::str("é\n"), Value::str("")]),
        ];
        for f in functions {
            let back = PartitionFunctionDef::of_text(&f.to_text().expect("text"));
            assert_eq!(back, Some(f));
        }
        let schemes = [
            PartitionSchemeDef { function: 1_000_007, filegroups: vec![1, 3], next_used: Some(2) },
            PartitionSchemeDef { function: 1, filegroups: vec![1], next_used: None },
        ];
        for s in schemes {
            assert_eq!(PartitionSchemeDef::of_text(&s.to_text()), Some(s));
        }
        assert_eq!(PartitionFunctionDef::of_text("56 4 10 0 x 1"), None);
        assert_eq!(PartitionSchemeDef::of_text("77"), None);
    }
}
