//! How a view is declared: a name, and a line per column that says its type and where its value comes from.
//!
//! ```text
//! view! {
//!     /// One row per schema.
//!     SCHEMAS = "sys.schemas" of Schema as s, rows schemas;
//!     name sysname = &s.name;
//!     schema_id int = s.id;
//!     principal_id int null = s.owner;
//! }
//! ```
//!
//! Promise: what is declared is what is given; a row has exactly the declared columns, in the declared order. A
//! column's type is SQL Server's, so its expression must yield that type's value (checked by a test over all views).

use crate::context::Context;
use executor::SqlError;
use runtime::task::Breath;
use types::{SqlType, Value};

/// Steps that a value counts for.
const CELL_STEPS: usize = 4;

/// A column of a view whose rows are made of `T`.
pub struct Column<T: 'static> {
    /// As SQL Server spells it.
    pub name: &'static str,
    /// Its type.
    pub ty: SqlType,
    /// May it be NULL?
    pub nullable: bool,
    /// Its value in the row of an item.
    pub get: fn(&T) -> Value,
}

/// A view, or a table-valued function when it has parameters.
pub struct View<T: 'static> {
    /// With its schema, as SQL Server spells it: `sys.tables`, `INFORMATION_SCHEMA.TABLES`.
    pub name: &'static str,
    /// Types of a function's arguments; `None` for a view.
    pub params: Option<&'static [SqlType]>,
    /// In order.
    pub columns: &'static [Column<T>],
    /// The items that the rows are made of.
    pub rows: fn(&Context<'_>, &[Value]) -> Result<Vec<T>, SqlError>,
}

/// A column as seen from outside.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnFacts {
    /// As SQL Server spells it.
    pub name: &'static str,
    /// Its type.
    pub ty: SqlType,
    /// May it be NULL?
    pub nullable: bool,
}

/// A view of any item type.
pub trait Declared: Sync {
    /// With its schema: `sys.tables`.
    fn name(&self) -> &'static str;
    /// Types of a function's arguments; `None` for a view.
    fn params(&self) -> Option<&'static [SqlType]>;
    /// In order.
    fn columns(&self) -> Vec<ColumnFacts>;
    /// All rows, each with all columns in order.
    fn rows(&self, context: &Context<'_>, args: &[Value]) -> Result<Vec<Vec<Value>>, SqlError>;
}

impl<T: 'static> Declared for View<T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn params(&self) -> Option<&'static [SqlType]> {
        self.params
    }

    fn columns(&self) -> Vec<ColumnFacts> {
        self.columns
            .iter()
            .map(|c| ColumnFacts { name: c.name, ty: c.ty, nullable: c.nullable })
            .collect()
    }

    fn rows(&self, context: &Context<'_>, args: &[Value]) -> Result<Vec<Vec<Value>>, SqlError> {
        let items = (self.rows)(context, args)?;
        let mut rows = Vec::with_capacity(items.len());
        let mut breath = Breath::new();
        for item in items {
            breath.steps(CELL_STEPS * self.columns.len())?;
            rows.push(self.columns.iter().map(|c| (c.get)(&item)).collect());
        }
        Ok(rows)
    }
}

/// The value as one of that type in a sql_variant; NULL where there is no such.
pub fn variant(value: impl Cell, ty: types::SqlType) -> Value {
    let value = value.cell();
    let made = types::convert::cast(&value, value.natural_type(), ty, 0);
    made.and_then(|value| types::Variant::wrap(value, ty)).unwrap_or(NULL)
}

/// What a column's expression may yield.
pub trait Cell {
    /// The same as a value.
    fn cell(self) -> Value;
}

impl Cell for Value {
    fn cell(self) -> Value {
        self
    }
}

impl Cell for &Value {
    fn cell(self) -> Value {
        self.clone()
    }
}

impl Cell for &str {
    fn cell(self) -> Value {
        Value::str(self)
    }
}

impl Cell for String {
    fn cell(self) -> Value {
        Value::str(&self)
    }
}

impl Cell for &String {
    fn cell(self) -> Value {
        Value::str(self)
    }
}

impl Cell for &Box<str> {
    fn cell(self) -> Value {
        Value::str(self)
    }
}

macro_rules! cells {
    ($($from:ty => $kind:ident;)*) => {
        $(impl Cell for $from {
            fn cell(self) -> Value {
                Value::$kind(self)
            }
        })*
    };
}

cells! {
    bool => Bit;
    u8 => TinyInt;
    i16 => SmallInt;
    i32 => Int;
    i64 => BigInt;
    f32 => Real;
    f64 => Float;
    types::datetime::DateTime => DateTime;
    [u8; 16] => Guid;
}

impl<T: Cell> Cell for Option<T> {
    fn cell(self) -> Value {
        self.map_or(Value::Null, Cell::cell)
    }
}

/// A column's name without what makes a keyword an identifier (`r#type`).
pub const fn plain(name: &'static str) -> &'static str {
    match name.as_bytes() {
        [b'r', b'#', ..] => name.split_at(2).1,
        _ => name,
    }
}

/// The value NULL, of any type.
pub const NULL: Value = Value::Null;

/// See the file's first lines.
macro_rules! view {
    (
        $(#[$doc:meta])*
        $view:ident = $full:literal of $item:ty as $row:ident, rows $rows:expr
        $(, params ($($param:ident $(($($param_arg:tt),+))?),*))?;
        $($column:ident $ty:ident $(($($arg:tt),+))? $($null:ident)? = $get:expr;)*
    ) => {
        $(#[$doc])*
        pub static $view: $crate::declare::View<$item> = $crate::declare::View {
            name: $full,
            params: $crate::declare::params!($(($($crate::declare::sql_type!($param $(($($param_arg),+))?)),*))?),
            columns: &[$({
                #[allow(unused_variables, reason = "a column may be the same in every row")]
                let column = $crate::declare::Column {
                    name: $crate::declare::plain(stringify!($column)),
                    ty: $crate::declare::sql_type!($ty $(($($arg),+))?),
                    nullable: $crate::declare::nullable!($($null)?),
                    get: |$row: &$item| $crate::declare::Cell::cell($get),
                };
                column
            }),*],
            rows: $rows,
        };
    };
}

macro_rules! params {
    () => { None };
    (($($ty:expr),*)) => { Some(&[$($ty),*]) };
}

macro_rules! nullable {
    () => {
        false
    };
    (null) => {
        true
    };
}

macro_rules! sql_type {
    (sysname) => {
        types::SqlType::NVarChar(types::Len::N(128))
    };
    (nvarchar(max)) => {
        types::SqlType::NVarChar(types::Len::Max)
    };
    (nvarchar($n:literal)) => {
        types::SqlType::NVarChar(types::Len::N($n))
    };
    (varchar(max)) => {
        types::SqlType::VarChar(types::Len::Max)
    };
    (varchar($n:literal)) => {
        types::SqlType::VarChar(types::Len::N($n))
    };
    (nchar($n:literal)) => {
        types::SqlType::NChar($n)
    };
    (char($n:literal)) => {
        types::SqlType::Char($n)
    };
    (varbinary(max)) => {
        types::SqlType::VarBinary(types::Len::Max)
    };
    (varbinary($n:literal)) => {
        types::SqlType::VarBinary(types::Len::N($n))
    };
    (binary($n:literal)) => {
        types::SqlType::Binary($n)
    };
    (numeric($p:literal, $s:literal)) => {
        types::SqlType::numeric($p, $s)
    };
    (bit) => {
        types::SqlType::Bit
    };
    (tinyint) => {
        types::SqlType::TinyInt
    };
    (smallint) => {
        types::SqlType::SmallInt
    };
    (int) => {
        types::SqlType::Int
    };
    (bigint) => {
        types::SqlType::BigInt
    };
    (real) => {
        types::SqlType::Real
    };
    (float) => {
        types::SqlType::Float
    };
    (datetime) => {
        types::SqlType::DateTime
    };
    (datetime2) => {
        types::SqlType::DateTime2(7)
    };
    (datetimeoffset) => {
        types::SqlType::DateTimeOffset(7)
    };
    (uniqueidentifier) => {
        types::SqlType::UniqueIdentifier
    };
    // Its values are of `variant`.
    (sql_variant) => {
        types::SqlType::Variant
    };
    // Its values are texts of well-formed XML.
    (xml) => {
        types::SqlType::Xml
    };
}

pub(crate) use {nullable, params, sql_type, view};
