//! Properties that functions give by name (SERVERPROPERTY and its like): the base type that each has.
//!
//! Promise: every name has a type, also one that no property has: its value is NULL.
//!
//! Source: the tables of properties in SQL Server's documentation of these functions.

use ir::{Expr, ExprKind, FuncId};
use types::{Len, SqlType};

/// The base type of a property, named in lower case.
pub fn base_type(func: FuncId, property: &str) -> SqlType {
    let number = match func {
        FuncId::ServerProperty => {
            if property == "editionid" {
                return SqlType::BigInt;
            }
            if property == "resourcelastupdatedatetime" {
                return SqlType::DateTime;
            }
            if matches!(property, "sqlcharset" | "sqlsortorder") {
                return SqlType::TinyInt;
            }
            property.starts_with("is")
                || matches!(
                    property,
                    "collationid"
                        | "comparisonstyle"
                        | "engineedition"
                        | "filestreamconfiguredlevel"
                        | "filestreameffectivelevel"
                        | "hadrmanagerstatus"
                        | "lcid"
                        | "numlicenses"
                        | "processid"
                        | "suspendeddatabasecount"
                )
        }
        FuncId::DatabasePropertyEx => {
            if property == "sqlsortorder" {
                return SqlType::TinyInt;
            }
            property.starts_with("is") || matches!(property, "comparisonstyle" | "lcid" | "version")
        }
        FuncId::CollationProperty => {
            if property == "version" {
                return SqlType::TinyInt;
            }
            matches!(property, "codepage" | "comparisonstyle" | "lcid")
        }
        _ if property == "basetype" => return SqlType::Char(2),
        _ => true,
    };
    if number { SqlType::Int } else { SqlType::NVarChar(Len::N(128)) }
}

/// A constant text, seen through conversions.
pub fn constant_text(e: &Expr) -> Option<&str> {
    match &e.kind {
        ExprKind::Const(value) => value.as_str(),
        ExprKind::Cast { input, .. } => constant_text(input),
        _ => None,
    }
}
