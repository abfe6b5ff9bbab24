//! SYSTEM_VERSIONING as the options of a table say it: the history's name, how long rows stay in it, whether it is checked.
//!
//! Promise: an option of its list that SQL Server does not have is 102, one said twice 13512; whether the history can be the
//! table's is seen when the table is made. Errors: 13512, 13539, 13743, 13744.

use catalog::{Retention, VersioningSpec};
use ir::ObjectName;
use syntax::ast;

use crate::error::{BindError, Result};

/// `SYSTEM_VERSIONING = ...`
pub enum Versioning {
    Off,
    On(VersioningSpec),
}

/// What the options of a table say of its versioning, if anything. 13539, 13743, 13744; LEDGER is refused by name.
pub fn versioning(options: &[ast::DatabaseOption], line: u32) -> Result<Option<Versioning>> {
    let mut found = None;
    for option in options {
        if option.name == "LEDGER" && option.value != ast::OptionValue::Off {
            return Err(BindError::unsupported("LEDGER tables", option.span.line));
        }
        if option.name != "SYSTEM_VERSIONING" {
            continue;
        }
        if found.is_some() {
            let text = "You cannot specify SYSTEM_VERSIONING clause more than once.";
            return Err(error(line, 13512, text));
        }
        found = Some(match &option.value {
            ast::OptionValue::Off => Versioning::Off,
            ast::OptionValue::On => Versioning::On(VersioningSpec::default()),
            ast::OptionValue::List(list) => Versioning::On(versioning_spec(list, line)?),
            _ => return Err(error(line, 102, "Incorrect syntax near 'SYSTEM_VERSIONING'.")),
        });
    }
    Ok(found)
}

fn versioning_spec(options: &[ast::DatabaseOption], line: u32) -> Result<VersioningSpec> {
    let mut spec = VersioningSpec::default();
    for option in options {
        match (&*option.name, &option.value) {
            ("HISTORY_TABLE", ast::OptionValue::Name(name)) => {
                let parts = ObjectName::from(name);
                let (Some(schema), None) = (&parts.schema, &parts.database) else {
                    return Err(error(
                        line,
                        13539,
                        format!(
                            "Setting SYSTEM_VERSIONING to ON failed because history table '{name}' is not \
                             specified in two-part name format."
                        ),
                    ));
                };
                spec.history = Some((schema.as_str().into(), parts.name.as_str().into()));
            }
            ("DATA_CONSISTENCY_CHECK", ast::OptionValue::On) => spec.unchecked = false,
            ("DATA_CONSISTENCY_CHECK", ast::OptionValue::Off) => spec.unchecked = true,
            ("HISTORY_RETENTION_PERIOD", ast::OptionValue::Word(word)) if word == "INFINITE" => {}
            ("HISTORY_RETENTION_PERIOD", ast::OptionValue::Word(word)) => {
                spec.retention = Some(retention(word, line)?);
            }
            (name, _) => {
                return Err(error(line, 102, format!("Incorrect syntax near '{name}'.")));
            }
        }
    }
    Ok(spec)
}

/// `6 MONTHS`.
fn retention(text: &str, line: u32) -> Result<Retention> {
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    let number = match number.parse::<i32>() {
        Ok(number) if number > 0 => number,
        _ => {
            return Err(error(
                line,
                13743,
                format!(
                    "{number} is not a valid value for system versioning history retention period."
                ),
            ));
        }
    };
    let unit = match unit.strip_suffix('S').unwrap_or(unit) {
        "DAY" => 3,
        "WEEK" => 4,
        "MONTH" => 5,
        "YEAR" => 6,
        _ => {
            return Err(error(
                line,
                13744,
                format!(
                    "'{unit}' is not a valid history retention period unit for system versioning."
                ),
            ));
        }
    };
    Ok(Retention { number, unit })
}

fn error(line: u32, number: i32, text: impl Into<String>) -> BindError {
    BindError::new(number, 16, line, text)
}
