//! What is configured for a database.
//!
//! Columns and types: SQL Server 2022's documentation of sys.database_scoped_configurations.

use crate::context::Context;
use crate::declare::{Declared, variant, view};
use catalog::{SCOPED_OPTIONS, ScopedKind, ScopedOption};
use executor::SqlError;
use types::{Len, SqlType, Value};

/// The base type of an option's values, which tools look at.
fn base_type(option: &ScopedOption) -> SqlType {
    match option.kind {
        ScopedKind::Switch => SqlType::Bit,
        ScopedKind::Number(..) => SqlType::Int,
        ScopedKind::Elevation => SqlType::NVarChar(Len::N(256)),
    }
}

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&DATABASE_SCOPED_CONFIGURATIONS];

/// An option with its values.
pub struct Scoped {
    option: &'static ScopedOption,
    value: String,
    secondary: Option<String>,
}

fn scoped(context: &Context<'_>, _: &[Value]) -> Result<Vec<Scoped>, SqlError> {
    let configuration = context.database.catalog.configuration();
    let scoped = |option: &'static ScopedOption| Scoped {
        option,
        value: configuration.value(option).to_owned(),
        secondary: configuration.secondary(option).map(str::to_owned),
    };
    Ok(SCOPED_OPTIONS.iter().map(scoped).collect())
}

view! {
    DATABASE_SCOPED_CONFIGURATIONS = "sys.database_scoped_configurations" of Scoped as s, rows scoped;
    configuration_id int = s.option.id;
    name nvarchar(60) = s.option.name;
    value sql_variant null = variant(&s.value, base_type(s.option));
    value_for_secondary sql_variant null = s.secondary.as_ref().map(|value| variant(value, base_type(s.option)));
    is_value_default bit = s.value == s.option.default;
}
