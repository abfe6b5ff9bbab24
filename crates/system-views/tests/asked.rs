//! Every statistics view has its place in the table of what such views ask for (`session_state::view_asks`), and the table
//! names no view that there is not.

use session_state::{ViewAsks, view_asks, views_that_ask};
use std::collections::BTreeSet;
use system_views::registry;

/// Names without their schema.
fn statistics_views() -> BTreeSet<&'static str> {
    let names = registry::all().iter().filter_map(|view| view.name().strip_prefix("sys."));
    names.filter(|name| name.starts_with("dm_")).collect()
}

#[test]
fn every_statistics_view_says_what_it_asks_for() {
    let silent: Vec<&str> = statistics_views()
        .into_iter()
        .filter(|name| view_asks(&format!("sys.{name}")).is_none())
        .collect();
    assert!(silent.is_empty(), "no place in crates/session-state/src/view_asks.rs: {silent:?}");
}

#[test]
fn nothing_is_said_of_a_view_that_there_is_not_and_nothing_twice() {
    let known = statistics_views();
    let mut said = BTreeSet::new();
    for name in views_that_ask() {
        assert!(said.insert(name), "{name} twice");
        assert!(known.contains(name) || name == "fn_get_audit_file", "there is no {name}");
    }
}

/// What tells of other sessions has the column by which it is told whose a row is.
#[test]
fn rows_of_other_sessions_are_known_by_a_column() {
    for view in registry::all() {
        if let Some(ViewAsks::OtherSessions(_, column)) = view_asks(view.name()) {
            assert!(view.columns().iter().any(|c| c.name == column), "{}: {column}", view.name());
        }
    }
}
