//! The options of ALTER DATABASE SET and CREATE DATABASE WITH: which there are, what they take, which are carried out.
//!
//! Promise: an option is either carried out, or kept and shown where having it changes nothing that a statement answers,
//! or refused by name. What is kept stands in [`DatabaseDef::options`], under its name in lower case. Names and values:
//! "ALTER DATABASE SET options (Transact-SQL)" of SQL Server 2022's documentation.

use crate::errors::{catalog_error, engine_error};
use catalog::{DatabaseDef, StatisticsSwitch};
use engine::{DelayedDurability, RecoveryModel};
use executor::SqlError;
use session_state::OpenDatabase;
use syntax::ast::{DatabaseOption, Literal, OptionValue};
use types::Collation;
use types::collation::CodePage;

/// Levels of compatibility that SQL Server 2022 takes.
const LEVELS: [i32; 7] = [100, 110, 120, 130, 140, 150, 160];
const SWITCH: &[&str] = &["ON", "OFF"];

/// Kept and shown; docs/compatibility.md says of each that it changes nothing.
const KEPT: &[(&str, &[&str])] = &[
    ("accelerated_database_recovery", SWITCH),
    // A session's own settings come before those of the database, and every client has its own.
    ("ansi_null_default", SWITCH),
    ("ansi_nulls", SWITCH),
    ("ansi_padding", SWITCH),
    ("ansi_warnings", SWITCH),
    ("arithabort", SWITCH),
    ("auto_close", SWITCH),
    ("auto_shrink", SWITCH),
    ("concat_null_yields_null", SWITCH),
    ("date_correlation_optimization", SWITCH),
    ("db_chaining", SWITCH),
    ("memory_optimized_elevate_to_snapshot", SWITCH),
    ("mixed_page_allocation", SWITCH),
    // Every page has a checksum.
    ("page_verify", &["CHECKSUM", "TORN_PAGE_DETECTION", "NONE"]),
    ("parameterization", &["SIMPLE", "FORCED"]),
    ("quoted_identifier", SWITCH),
    ("temporal_history_retention", SWITCH),
    ("trustworthy", SWITCH),
];

/// Carried out: what they are set to stands in the definition too.
const FOLLOWED: &[(&str, &[&str])] = &[
    ("allow_snapshot_isolation", SWITCH),
    ("delayed_durability", &["DISABLED", "ALLOWED", "FORCED"]),
    ("read_committed_snapshot", SWITCH),
    ("recovery", &["SIMPLE", "FULL", "BULK_LOGGED"]),
];

/// Taken in the one value that is how things are here; any other is refused by name.
const AS_IT_IS: &[(&str, &[&str])] = &[
    ("catalog_collation", &["DATABASE_DEFAULT", "SQL_LATIN1_GENERAL_CP1_CI_AS"]),
    ("containment", &["NONE"]),
    ("cursor_close_on_commit", &["OFF"]),
    ("cursor_default", &["GLOBAL"]),
    ("disable_broker", &[""]),
    ("encryption", &["OFF"]),
    ("honor_broker_priority", &["OFF"]),
    ("ledger", &["OFF"]),
    ("numeric_roundabort", &["OFF"]),
    ("recursive_triggers", &["OFF"]),
    ("remote_data_archive", &["OFF"]),
    ("supplemental_logging", &["OFF"]),
    ("vardecimal_storage_format", &["ON"]),
];

/// Who may be in a database, and what may be done there: options without a value, of which the last one said holds.
const STATES: &[(&str, &str)] = &[
    ("read_only", "updateability"),
    ("read_write", "updateability"),
    ("single_user", "user_access"),
    ("restricted_user", "user_access"),
    ("multi_user", "user_access"),
];

/// Notes an option in the definition; 15048, or 40510 for what is not there.
pub(crate) fn set_option(def: &mut DatabaseDef, option: &DatabaseOption) -> Result<(), SqlError> {
    let value = match &option.value {
        OptionValue::None => "",
        OptionValue::On => "ON",
        OptionValue::Off => "OFF",
        OptionValue::Word(word) => word.as_str(),
        OptionValue::Literal(_) | OptionValue::List(_) | OptionValue::Name(_) => "(...)",
    };
    let name = option.name.to_lowercase();
    let is = |known: &&(&str, &[&str])| known.0 == name;
    // Kept in the database itself. INCREMENTAL is of partitions, whose statistics are those of the table.
    if StatisticsSwitch::of_name(&option.name).is_some()
        && (SWITCH.contains(&value) || is_not_incremental(option))
    {
        return Ok(());
    }
    match (&*name, &option.value) {
        ("target_recovery_time", OptionValue::Literal(Literal::Int(seconds))) => {
            note_option(def, &name, &seconds.to_string());
            return Ok(());
        }
        ("compatibility_level", OptionValue::Literal(Literal::Int(level))) => {
            if !LEVELS.contains(level) {
                return Err(SqlError::new(
                    15048,
                    16,
                    "Valid values of the database compatibility level are 100, 110, 120, 130, 140, 150, or 160.",
                ));
            }
            note_option(def, &name, &level.to_string());
            return Ok(());
        }
        // There is no store of queries; sys.databases says so.
        ("query_store", _) => return Ok(()),
        ("filestream", OptionValue::List(list))
            if list.iter().all(|o| {
                o.name.eq_ignore_ascii_case("NON_TRANSACTED_ACCESS") && o.value == OptionValue::Off
            }) =>
        {
            return Ok(());
        }
        _ => {}
    }
    if let Some((state, group)) =
        STATES.iter().find(|(state, _)| *state == name && value.is_empty())
    {
        note_option(def, group, &state.to_uppercase());
        return Ok(());
    }
    if let Some((_, values)) = AS_IT_IS.iter().find(is)
        && values.iter().any(|v| v.eq_ignore_ascii_case(value))
    {
        return Ok(());
    }
    let Some((_, values)) = KEPT.iter().chain(FOLLOWED).find(is) else {
        let what = if AS_IT_IS.iter().any(|known| is(&known)) {
            format!("SET {} {value}", option.name)
        } else {
            format!("ALTER DATABASE SET {}", option.name)
        };
        return Err(SqlError::unsupported(what));
    };
    let value = if value.is_empty() { "ON" } else { value };
    if !values.contains(&value) {
        return Err(SqlError::unsupported(format!("SET {} {value}", option.name)));
    }
    note_option(def, &name, value);
    Ok(())
}

/// Notes an option whose name and value are known to be good.
pub(crate) fn note_option(def: &mut DatabaseDef, name: &str, value: &str) {
    def.options.retain(|(key, _)| **key != *name);
    def.options.push((name.into(), value.into()));
}

/// What an option was set to last.
pub(crate) fn noted<'a>(def: &'a DatabaseDef, name: &str) -> Option<&'a str> {
    def.options.iter().find(|(key, _)| **key == *name).map(|(_, value)| &**value)
}

/// Under which name the list of databases and the headers of backups have it too.
pub(crate) const COLLATION: &str = "collation";

/// The collation of that name: 448, 453. One of SQL Server's own that is not here is refused by name.
pub(crate) fn collation_named(name: &str) -> Result<Collation, SqlError> {
    match Collation::of_name(name) {
        Some(found) if found.page() == CodePage::Absent => {
            let name = found.name();
            let text = format!(
                "Collation '{name}' is supported on Unicode data types only and cannot be set at the database or server \
                 level."
            );
            Err(SqlError::new(453, 16, text).with_state(2))
        }
        Some(found) => Ok(found),
        None if Collation::is_databases(name) => Ok(Collation::default()),
        None if !Collation::is_elsewhere(name) => {
            Err(SqlError::new(448, 16, format!("Invalid collation '{name}'.")))
        }
        _ => Err(SqlError::unsupported(format!("COLLATE {name} of a database"))),
    }
}

/// AUTO_CREATE_STATISTICS ON (INCREMENTAL = OFF): ON.
fn is_not_incremental(option: &DatabaseOption) -> bool {
    let OptionValue::List(list) = &option.value else { return false };
    let is_off = |o: &DatabaseOption| {
        o.name.eq_ignore_ascii_case("INCREMENTAL") && o.value == OptionValue::Off
    };
    option.name.eq_ignore_ascii_case("AUTO_CREATE_STATISTICS") && list.iter().all(is_off)
}

/// Carries out what the engine or the database's catalog has to know. Suspends.
pub(crate) fn carry_out(open: &OpenDatabase, option: &DatabaseOption) -> Result<(), SqlError> {
    let word = match &option.value {
        OptionValue::Word(word) => word.as_str(),
        _ => "",
    };
    let on = matches!(option.value, OptionValue::None | OptionValue::On);
    let on = on || is_not_incremental(option);
    if let Some(switch) = StatisticsSwitch::of_name(&option.name) {
        let value = if on { "1" } else { "0" };
        let set = open.catalog.configure(switch.name(), false, Some(value));
        return set.map_err(catalog_error);
    }
    let engine = &open.engine;
    let set = match (&*option.name, &option.value) {
        ("DELAYED_DURABILITY", _) => engine.set_delayed_durability(match word {
            "ALLOWED" => DelayedDurability::Allowed,
            "FORCED" => DelayedDurability::Forced,
            _ => DelayedDurability::Disabled,
        }),
        ("MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT", _) => {
            engine.set_elevates_to_snapshot(on);
            Ok(())
        }
        ("READ_COMMITTED_SNAPSHOT", _) => engine.set_read_committed_snapshot(on),
        ("ALLOW_SNAPSHOT_ISOLATION", _) => engine.set_allow_snapshot_isolation(on),
        ("TARGET_RECOVERY_TIME", OptionValue::Literal(Literal::Int(seconds))) => {
            engine.set_target_recovery_time(u64::try_from(*seconds).unwrap_or(0))
        }
        ("RECOVERY", _) => engine.set_recovery_model(match word {
            "SIMPLE" => RecoveryModel::Simple,
            "BULK_LOGGED" => RecoveryModel::BulkLogged,
            _ => RecoveryModel::Full,
        }),
        ("READ_ONLY" | "READ_WRITE", _) => {
            engine.set_read_only(option.name == "READ_ONLY");
            Ok(())
        }
        _ => Ok(()),
    };
    set.map_err(engine_error)
}
