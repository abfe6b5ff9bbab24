//! Tests of the crate: `cases` are tables of expectations, `properties` hold for any value.

mod cases;
mod properties;

use crate::{Len, SqlType};

const VARCHAR: SqlType = SqlType::VarChar(Len::Max);

/// `decimal(10,2)`, `varchar(max)`, `datetime2`.
fn ty(text: &str) -> SqlType {
    let (name, args) = text.split_once('(').unwrap_or((text, ""));
    let args: Vec<Len> = args
        .trim_end_matches(')')
        .split(',')
        .filter(|a| !a.is_empty())
        .map(|a| if a == "max" { Len::Max } else { Len::N(a.parse().expect("length")) })
        .collect();
    SqlType::from_name(name, &args).unwrap_or_else(|| panic!("no type {text}"))
}
