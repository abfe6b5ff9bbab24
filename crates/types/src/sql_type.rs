//! Declared types: names, lengths, precedence, and the type two types meet in.

use crate::{ClrType, TypeError, Value};
use std::fmt;

/// The declared length of a character or binary type: characters for (N)CHAR and (N)VARCHAR (one
/// byte each in the first, two in the second), bytes for binaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Len {
    N(u16),
    Max,
}

impl Len {
    /// Length as a number; `Max` is 2^31 - 1.
    pub fn limit(self) -> usize {
        match self {
            Len::N(n) => n as usize,
            Len::Max => i32::MAX as usize,
        }
    }
}

/// A declared T-SQL type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SqlType {
    Bit,
    TinyInt,
    SmallInt,
    Int,
    BigInt,
    /// DECIMAL and NUMERIC, which differ in their names alone.
    Decimal {
        precision: u8,
        scale: u8,
        /// It is called numeric.
        numeric: bool,
    },
    Money,
    SmallMoney,
    Float,
    Real,
    Char(u16),
    VarChar(Len),
    NChar(u16),
    NVarChar(Len),
    Binary(u16),
    VarBinary(Len),
    Date,
    /// Fractional digits, 0 to 7.
    Time(u8),
    DateTime,
    SmallDateTime,
    DateTime2(u8),
    DateTimeOffset(u8),
    UniqueIdentifier,
    /// sql_variant.
    Variant,
    /// xml, untyped: its values are texts as [`crate::convert`] makes them.
    Xml,
    /// xml of a schema collection.
    TypedXml {
        /// The number that stands for the collection, see [`xml_schema::Registered`].
        schema: u32,
        /// DOCUMENT: a value has one element at its top.
        document: bool,
    },
    /// A type of the CLR, as hierarchyid: its values are binaries that [`ClrType::check`] takes.
    Clr(ClrType),
}

impl SqlType {
    /// DECIMAL.
    pub const fn decimal(precision: u8, scale: u8) -> SqlType {
        SqlType::Decimal { precision, scale, numeric: false }
    }

    /// NUMERIC.
    pub const fn numeric(precision: u8, scale: u8) -> SqlType {
        SqlType::Decimal { precision, scale, numeric: true }
    }

    /// Whether the type is called numeric: what is computed of it is called so, too.
    pub fn is_named_numeric(self) -> bool {
        matches!(self, SqlType::Decimal { numeric: true, .. })
    }

    /// Whether values of the one are values of the other as they are: the same type, but for the names of DECIMAL and
    /// NUMERIC.
    pub fn has_values_of(self, other: SqlType) -> bool {
        match (self, other) {
            (
                SqlType::Decimal { precision: p1, scale: s1, .. },
                SqlType::Decimal { precision: p2, scale: s2, .. },
            ) => (p1, s1) == (p2, s2),
            _ => self == other,
        }
    }

    /// From a type name and its arguments, any case: `("varchar", [Max])`, `("decimal", [10, 2])`.
    /// Without arguments the defaults of a column or variable apply (varchar(1), decimal(18,0),
    /// datetime2(7)). `None`: no such type, or arguments it cannot have.
    pub fn from_name(name: &str, args: &[Len]) -> Option<SqlType> {
        let n = |i: usize| match args.get(i) {
            Some(Len::N(n)) => Some(*n),
            _ => None,
        };
        let name = name.to_ascii_lowercase();
        let name = match name.as_str() {
            "integer" => "int",
            "dec" => "decimal",
            "character" => "char",
            "char varying" | "character varying" => "varchar",
            "national char" | "national character" => "nchar",
            "national char varying" | "national character varying" => "nvarchar",
            "binary varying" => "varbinary",
            "double precision" => "float",
            // What a rowversion is, where it is not a column.
            "timestamp" | "rowversion" => return args.is_empty().then_some(SqlType::Binary(8)),
            "sysname" => return args.is_empty().then_some(SqlType::NVarChar(Len::N(128))),
            "text" => return args.is_empty().then_some(SqlType::VarChar(Len::Max)),
            "ntext" => return args.is_empty().then_some(SqlType::NVarChar(Len::Max)),
            "image" => return args.is_empty().then_some(SqlType::VarBinary(Len::Max)),
            other => other,
        };
        let fixed = |ty: SqlType| args.is_empty().then_some(ty);
        let length = |max: u16| match args {
            [] => Some(1),
            [Len::N(n)] if *n >= 1 && *n <= max => Some(*n),
            _ => None,
        };
        let var_length = |max: u16| match args {
            [Len::Max] => Some(Len::Max),
            _ => length(max).map(Len::N),
        };
        let digits = || match args {
            [] => Some(7),
            [Len::N(p)] if *p <= 7 => Some(*p as u8),
            _ => None,
        };
        match name {
            "bit" => fixed(SqlType::Bit),
            "tinyint" => fixed(SqlType::TinyInt),
            "smallint" => fixed(SqlType::SmallInt),
            "int" => fixed(SqlType::Int),
            "bigint" => fixed(SqlType::BigInt),
            "decimal" | "numeric" => {
                let precision = if args.is_empty() { 18 } else { n(0)? };
                let scale = if args.len() < 2 { 0 } else { n(1)? };
                let fits = args.len() <= 2 && (1..=38).contains(&precision) && scale <= precision;
                fits.then_some(SqlType::Decimal {
                    precision: precision as u8,
                    scale: scale as u8,
                    numeric: name == "numeric",
                })
            }
            "money" => fixed(SqlType::Money),
            "smallmoney" => fixed(SqlType::SmallMoney),
            "float" => match args {
                [] => Some(SqlType::Float),
                [Len::N(1..=24)] => Some(SqlType::Real),
                [Len::N(25..=53)] => Some(SqlType::Float),
                _ => None,
            },
            "real" => fixed(SqlType::Real),
            "char" => length(8000).map(SqlType::Char),
            "varchar" => var_length(8000).map(SqlType::VarChar),
            "nchar" => length(4000).map(SqlType::NChar),
            "nvarchar" => var_length(4000).map(SqlType::NVarChar),
            "binary" => length(8000).map(SqlType::Binary),
            "varbinary" => var_length(8000).map(SqlType::VarBinary),
            "date" => fixed(SqlType::Date),
            "time" => digits().map(SqlType::Time),
            "datetime" => fixed(SqlType::DateTime),
            "smalldatetime" => fixed(SqlType::SmallDateTime),
            "datetime2" => digits().map(SqlType::DateTime2),
            "datetimeoffset" => digits().map(SqlType::DateTimeOffset),
            "uniqueidentifier" => fixed(SqlType::UniqueIdentifier),
            "sql_variant" => fixed(SqlType::Variant),
            "xml" => fixed(SqlType::Xml),
            other => ClrType::from_name(other).map(SqlType::Clr).and_then(fixed),
        }
    }

    /// Like [`SqlType::from_name`], with CAST's default length of 30 for characters and binaries.
    pub fn from_name_in_cast(name: &str, args: &[Len]) -> Option<SqlType> {
        let ty = SqlType::from_name(name, args)?;
        if !args.is_empty() {
            return Some(ty);
        }
        Some(match ty {
            SqlType::Char(1) => SqlType::Char(30),
            SqlType::VarChar(Len::N(1)) => SqlType::VarChar(Len::N(30)),
            SqlType::NChar(1) => SqlType::NChar(30),
            SqlType::NVarChar(Len::N(1)) => SqlType::NVarChar(Len::N(30)),
            SqlType::Binary(1) => SqlType::Binary(30),
            SqlType::VarBinary(Len::N(1)) => SqlType::VarBinary(Len::N(30)),
            other => other,
        })
    }

    /// The bare type name as in `sys.types`.
    pub fn name(self) -> &'static str {
        match self {
            SqlType::Bit => "bit",
            SqlType::TinyInt => "tinyint",
            SqlType::SmallInt => "smallint",
            SqlType::Int => "int",
            SqlType::BigInt => "bigint",
            SqlType::Decimal { numeric: false, .. } => "decimal",
            SqlType::Decimal { numeric: true, .. } => "numeric",
            SqlType::Money => "money",
            SqlType::SmallMoney => "smallmoney",
            SqlType::Float => "float",
            SqlType::Real => "real",
            SqlType::Char(_) => "char",
            SqlType::VarChar(_) => "varchar",
            SqlType::NChar(_) => "nchar",
            SqlType::NVarChar(_) => "nvarchar",
            SqlType::Binary(_) => "binary",
            SqlType::VarBinary(_) => "varbinary",
            SqlType::Date => "date",
            SqlType::Time(_) => "time",
            SqlType::DateTime => "datetime",
            SqlType::SmallDateTime => "smalldatetime",
            SqlType::DateTime2(_) => "datetime2",
            SqlType::DateTimeOffset(_) => "datetimeoffset",
            SqlType::UniqueIdentifier => "uniqueidentifier",
            SqlType::Variant => "sql_variant",
            SqlType::Xml | SqlType::TypedXml { .. } => "xml",
            SqlType::Clr(ty) => ty.name(),
        }
    }

    /// The name inside messages of run-time errors: decimal is `numeric` there.
    pub fn message_name(self) -> &'static str {
        match self {
            SqlType::Decimal { .. } => "numeric",
            other => other.name(),
        }
    }

    /// `system_type_id` in sys.types (and of sys.columns).
    pub fn system_type_id(self) -> u8 {
        match self {
            SqlType::Bit => 104,
            SqlType::TinyInt => 48,
            SqlType::SmallInt => 52,
            SqlType::Int => 56,
            SqlType::BigInt => 127,
            SqlType::Decimal { numeric: false, .. } => 106,
            SqlType::Decimal { numeric: true, .. } => 108,
            SqlType::Money => 60,
            SqlType::SmallMoney => 122,
            SqlType::Float => 62,
            SqlType::Real => 59,
            SqlType::Char(_) => 175,
            SqlType::VarChar(_) => 167,
            SqlType::NChar(_) => 239,
            SqlType::NVarChar(_) => 231,
            SqlType::Binary(_) => 173,
            SqlType::VarBinary(_) => 165,
            SqlType::Date => 40,
            SqlType::Time(_) => 41,
            SqlType::DateTime => 61,
            SqlType::SmallDateTime => 58,
            SqlType::DateTime2(_) => 42,
            SqlType::DateTimeOffset(_) => 43,
            SqlType::UniqueIdentifier => 36,
            SqlType::Variant => 98,
            SqlType::Xml | SqlType::TypedXml { .. } => 241,
            SqlType::Clr(_) => 240,
        }
    }

    /// `user_type_id` in sys.types.
    pub fn user_type_id(self) -> u8 {
        match self {
            SqlType::Clr(ty) => ty.user_type(),
            other => other.system_type_id(),
        }
    }

    /// (type id, length or -1 for max, precision, scale), as stored. The precision of a type of the CLR is its
    /// user_type_id; the length of an xml is the number of its schema collection, the precision whether it is a document.
    pub fn to_parts(self) -> (u8, i32, u8, u8) {
        let id = self.system_type_id();
        let len = |len: Len| match len {
            Len::N(n) => n as i32,
            Len::Max => -1,
        };
        match self {
            SqlType::Decimal { precision, scale, .. } => (id, 0, precision, scale),
            SqlType::Char(n) | SqlType::NChar(n) | SqlType::Binary(n) => (id, n as i32, 0, 0),
            SqlType::VarChar(l) | SqlType::NVarChar(l) | SqlType::VarBinary(l) => {
                (id, len(l), 0, 0)
            }
            SqlType::Time(p) | SqlType::DateTime2(p) | SqlType::DateTimeOffset(p) => (id, 0, 0, p),
            SqlType::Clr(ty) => (id, 0, ty.user_type(), 0),
            SqlType::TypedXml { schema, document } => (id, schema as i32, u8::from(document), 0),
            _ => (id, 0, 0, 0),
        }
    }

    /// The type of what [`SqlType::to_parts`] gave; `None` for anything else.
    pub fn from_parts(id: u8, length: i64, precision: u8, scale: u8) -> Option<SqlType> {
        let n = u16::try_from(length).ok();
        let len = if length == -1 { Some(Len::Max) } else { n.map(Len::N) };
        Some(match id {
            104 => SqlType::Bit,
            48 => SqlType::TinyInt,
            52 => SqlType::SmallInt,
            56 => SqlType::Int,
            127 => SqlType::BigInt,
            106 => SqlType::decimal(precision, scale),
            108 => SqlType::numeric(precision, scale),
            60 => SqlType::Money,
            122 => SqlType::SmallMoney,
            62 => SqlType::Float,
            59 => SqlType::Real,
            175 => SqlType::Char(n?),
            167 => SqlType::VarChar(len?),
            239 => SqlType::NChar(n?),
            231 => SqlType::NVarChar(len?),
            173 => SqlType::Binary(n?),
            165 => SqlType::VarBinary(len?),
            40 => SqlType::Date,
            41 => SqlType::Time(scale),
            61 => SqlType::DateTime,
            58 => SqlType::SmallDateTime,
            42 => SqlType::DateTime2(scale),
            43 => SqlType::DateTimeOffset(scale),
            36 => SqlType::UniqueIdentifier,
            98 => SqlType::Variant,
            241 => match u32::try_from(length) {
                Ok(schema @ 1..) => SqlType::TypedXml { schema, document: precision == 1 },
                _ => SqlType::Xml,
            },
            240 => SqlType::Clr(ClrType::from_user_type(precision)?),
            _ => return None,
        })
    }

    /// SQL Server's precedence; higher wins when two types meet in an operator.
    pub fn precedence(self) -> u8 {
        match self {
            SqlType::Clr(_) => 32,
            SqlType::Xml | SqlType::TypedXml { .. } => 31,
            SqlType::Variant => 30,
            SqlType::DateTimeOffset(_) => 28,
            SqlType::DateTime2(_) => 27,
            SqlType::DateTime => 26,
            SqlType::SmallDateTime => 25,
            SqlType::Date => 24,
            SqlType::Time(_) => 23,
            SqlType::Float => 22,
            SqlType::Real => 21,
            SqlType::Decimal { .. } => 20,
            SqlType::Money => 19,
            SqlType::SmallMoney => 18,
            SqlType::BigInt => 17,
            SqlType::Int => 16,
            SqlType::SmallInt => 15,
            SqlType::TinyInt => 14,
            SqlType::Bit => 13,
            SqlType::UniqueIdentifier => 8,
            SqlType::NVarChar(_) => 7,
            SqlType::NChar(_) => 6,
            SqlType::VarChar(_) => 5,
            SqlType::Char(_) => 4,
            SqlType::VarBinary(_) => 3,
            SqlType::Binary(_) => 2,
        }
    }

    pub fn is_character(self) -> bool {
        matches!(
            self,
            SqlType::Char(_) | SqlType::VarChar(_) | SqlType::NChar(_) | SqlType::NVarChar(_)
        )
    }

    /// NCHAR or NVARCHAR.
    pub fn is_unicode(self) -> bool {
        matches!(self, SqlType::NChar(_) | SqlType::NVarChar(_))
    }

    /// varchar(max), nvarchar(max), varbinary(max), xml: values of up to 2 GB.
    pub fn is_max(self) -> bool {
        matches!(
            self,
            SqlType::VarChar(Len::Max)
                | SqlType::NVarChar(Len::Max)
                | SqlType::VarBinary(Len::Max)
                | SqlType::Xml
                | SqlType::TypedXml { .. }
        ) || matches!(self, SqlType::Clr(ty) if ty.bytes_max().is_none())
    }

    /// xml, of a schema collection or not.
    pub fn is_xml(self) -> bool {
        matches!(self, SqlType::Xml | SqlType::TypedXml { .. })
    }

    /// geometry, geography: values that neither compare nor sort.
    pub fn is_spatial(self) -> bool {
        matches!(self, SqlType::Clr(ty) if ty.is_spatial())
    }

    pub fn is_binary(self) -> bool {
        matches!(self, SqlType::Binary(_) | SqlType::VarBinary(_))
    }

    /// bit, tinyint, smallint, int, bigint.
    pub fn is_integer(self) -> bool {
        matches!(
            self,
            SqlType::Bit | SqlType::TinyInt | SqlType::SmallInt | SqlType::Int | SqlType::BigInt
        )
    }

    /// Any number: integers, decimal, money, float, real.
    pub fn is_numeric(self) -> bool {
        (13..=22).contains(&self.precedence())
    }

    /// Any date or time.
    pub fn is_temporal(self) -> bool {
        (23..=28).contains(&self.precedence())
    }

    /// The exact-number type an integer or money counts as in decimal arithmetic.
    pub fn as_decimal(self) -> Option<(u8, u8)> {
        match self {
            SqlType::Bit => Some((1, 0)),
            SqlType::TinyInt => Some((3, 0)),
            SqlType::SmallInt => Some((5, 0)),
            SqlType::Int => Some((10, 0)),
            SqlType::BigInt => Some((19, 0)),
            SqlType::Money => Some((19, 4)),
            SqlType::SmallMoney => Some((10, 4)),
            SqlType::Decimal { precision, scale, .. } => Some((precision, scale)),
            _ => None,
        }
    }

    /// The type both meet in for CASE, UNION, COALESCE and comparison: the one of higher
    /// precedence, widened so that both fit. 206 when there is no implicit way.
    pub fn common_type(a: SqlType, b: SqlType) -> Result<SqlType, TypeError> {
        crate::convert::common_type(a, b)
    }

    /// See [`Value::natural_type`].
    pub fn natural(value: &Value) -> SqlType {
        match value {
            Value::Null | Value::Int(_) => SqlType::Int,
            Value::Bit(_) => SqlType::Bit,
            Value::TinyInt(_) => SqlType::TinyInt,
            Value::SmallInt(_) => SqlType::SmallInt,
            Value::BigInt(_) => SqlType::BigInt,
            Value::Decimal(d) => SqlType::numeric(d.precision(), d.scale()),
            Value::Money(_) => SqlType::Money,
            Value::Float(_) => SqlType::Float,
            Value::Real(_) => SqlType::Real,
            Value::Str(s) => {
                let chars = s.chars().count();
                let len = if chars > 8000 { Len::Max } else { Len::N(chars.max(1) as u16) };
                SqlType::VarChar(len)
            }
            Value::Binary(b) => {
                let len = if b.len() > 8000 { Len::Max } else { Len::N(b.len().max(1) as u16) };
                SqlType::VarBinary(len)
            }
            Value::Date(_) => SqlType::Date,
            Value::Time(_) => SqlType::Time(7),
            Value::DateTime(_) => SqlType::DateTime,
            Value::DateTime2(_) => SqlType::DateTime2(7),
            Value::DateTimeOffset(_) => SqlType::DateTimeOffset(7),
            Value::Guid(_) => SqlType::UniqueIdentifier,
            Value::Variant(_) => SqlType::Variant,
            Value::Node(_) => SqlType::Xml,
        }
    }
}

/// The name with its length, precision or scale, as written in a CREATE TABLE.
impl fmt::Display for SqlType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name();
        match *self {
            SqlType::Decimal { precision, scale, .. } => write!(f, "{name}({precision},{scale})"),
            SqlType::Char(n) | SqlType::NChar(n) | SqlType::Binary(n) => write!(f, "{name}({n})"),
            SqlType::VarChar(len) | SqlType::NVarChar(len) | SqlType::VarBinary(len) => match len {
                Len::N(n) => write!(f, "{name}({n})"),
                Len::Max => write!(f, "{name}(max)"),
            },
            SqlType::Time(p) | SqlType::DateTime2(p) | SqlType::DateTimeOffset(p) => {
                write!(f, "{name}({p})")
            }
            _ => f.write_str(name),
        }
    }
}
