//! Values as text: as CONVERT to varchar gives them, and as a shell shows them.

use crate::{SqlType, TypeError, Value};

/// The text of CONVERT(varchar(max), value, style). NULL is `None`.
pub fn to_text(value: &Value, ty: SqlType, style: i32) -> Result<Option<String>, TypeError> {
    unimplemented!("{value:?} {ty} {style}")
}

/// As sqlcmd prints it: datetime with milliseconds, binary as 0x.., NULL as `NULL`, float with up
/// to 17 digits, trailing blanks of CHAR kept.
pub fn shell(value: &Value, ty: SqlType) -> String {
    unimplemented!("{value:?} {ty}")
}

/// Width of the widest value of a type in a shell, in characters; `None` for (max) types.
pub fn shell_width(ty: SqlType) -> Option<usize> {
    unimplemented!("{ty}")
}

/// Numbers stand right, text left, as in sqlcmd.
pub fn shell_right_aligned(ty: SqlType) -> bool {
    ty.is_numeric() && ty != SqlType::Bit
}
