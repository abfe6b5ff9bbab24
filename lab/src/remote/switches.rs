//! The switches of a server that is a Millrace: what they are, and setting them for a cell.
//!
//! Promise: what was set is told as it was before, so that the server is left as it was found.

use super::Desk;
use super::statistics::each;
use crate::error::LabError;
use std::collections::BTreeMap;
use types::Value;

/// Every switch with its value, as the lab writes them; nothing of a server that has no such view.
pub(super) fn in_force(desk: &mut Desk) -> Result<BTreeMap<String, String>, LabError> {
    let mut all = BTreeMap::new();
    each(desk, "SELECT name, value FROM sys.dm_millrace_switches;", |name, row| {
        let value = row.get(1).and_then(Value::as_str).unwrap_or_default();
        all.insert(name.to_lowercase(), value.to_lowercase());
    })?;
    Ok(all)
}

/// Sets those of `wanted`; their values before, of those that were others.
pub(super) fn set(
    desk: &mut Desk,
    wanted: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, LabError> {
    if wanted.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut before = in_force(desk)?;
    before
        .retain(|name, value| wanted.get(name).is_some_and(|new| !new.eq_ignore_ascii_case(value)));
    let all = |desk: &mut Desk, switches: &BTreeMap<String, String>| {
        switches
            .iter()
            .try_for_each(|(name, value)| desk.execute(&statement(name, value)).map(drop))
    };
    let set = all(desk, wanted);
    if set.is_err() {
        // What went wrong first is what is told.
        let _ = all(desk, &before);
    }
    set.map(|()| before)
}

fn statement(name: &str, value: &str) -> String {
    let (name, value) = (name.to_uppercase(), value.replace('\'', "''"));
    format!("ALTER SERVER CONFIGURATION SET MILLRACE ({name} = '{value}');")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_stays_one_value() {
        let one = "ALTER SERVER CONFIGURATION SET MILLRACE (LOG_WRITER_PLACE = 'cpu 1');";
        assert_eq!(statement("log_writer_place", "cpu 1"), one);
        assert!(statement("log_reserve", "x') --").ends_with("= 'x'') --');"));
    }
}
