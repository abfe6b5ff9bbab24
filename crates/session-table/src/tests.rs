//! Tables against their promises: order, uniqueness, undoing, scopes.

use super::*;
use catalog::{ColumnSpec, KeySpec, Place, TableDef, TableSpec, define_private};
use std::ops::Bound;
use std::sync::Arc;
use types::{SqlType, Value};

fn column(name: &str) -> ColumnSpec {
    ColumnSpec::new(name, SqlType::Int)
}

fn key(column: &str) -> KeySpec {
    KeySpec {
        name: None,
        columns: vec![(column.into(), false)],
        clustered: true,
        ignore_dup_key: false,
        fill_factor: 0,
        options: Default::default(),
        filegroup: None,
        buckets: None,
    }
}

/// `k` and `u`, perhaps a primary key on the first, perhaps UNIQUE on the second.
fn def(place: Place, primary: bool, unique: bool) -> Arc<TableDef> {
    let spec = TableSpec {
        schema: "dbo".into(),
        name: "#t".into(),
        columns: vec![column("k"), column("u")],
        primary_key: primary.then(|| key("k")),
        unique: if unique { vec![key("u")] } else { Vec::new() },
        ..TableSpec::default()
    };
    Arc::new(define_private(&spec, place, -7, 1).expect("a table"))
}

fn row(k: i32, u: impl Into<Value>) -> Row {
    vec![Value::Int(k), u.into()].into_boxed_slice()
}

fn keys(tables: &PrivateTables, place: Place) -> Vec<i64> {
    let table = tables.get(place).expect("the table");
    table.rows().map(|row| row[0].as_i64().expect("int")).collect()
}

fn temporary(tables: &mut PrivateTables, level: u32, primary: bool, unique: bool) -> Place {
    let place = Place::Temporary(tables.new_number());
    tables.create(def(place, primary, unique), level);
    place
}

#[test]
fn rows_lie_by_key_or_in_order_of_arrival() {
    let mut tables = PrivateTables::default();
    let keyed = temporary(&mut tables, 0, true, false);
    let heap = temporary(&mut tables, 0, false, false);
    for k in [3, -1, 2] {
        for place in [keyed, heap] {
            tables.insert(place, row(k, 0)).expect("insert");
        }
    }
    assert_eq!(keys(&tables, keyed), [-1, 2, 3]);
    assert_eq!(keys(&tables, heap), [3, -1, 2]);
    let duplicate = tables.insert(keyed, row(2, 9));
    assert_eq!(duplicate, Err(TableError::Duplicate { unique: None }));
    let table = tables.get(keyed).expect("there").clone();
    let lower = table.key_of(&row(0, 0)).expect("a key").expect("keyed");
    let found: Vec<i64> = table
        .range(Bound::Included(lower.as_bytes()), Bound::Unbounded)
        .filter_map(|(_, row)| row[0].as_i64())
        .collect();
    assert_eq!(found, [2, 3]);
    let crossed = table.range(Bound::Included(&[9]), Bound::Excluded(&[1])).count();
    assert_eq!(crossed, 0);
}

#[test]
fn unique_allows_one_null_and_survives_a_failed_update() {
    let mut tables = PrivateTables::default();
    let place = temporary(&mut tables, 0, true, true);
    tables.insert(place, row(1, 10)).expect("insert");
    tables.insert(place, row(2, Value::Null)).expect("insert");
    let again = Err(TableError::Duplicate { unique: Some(0) });
    assert_eq!(tables.insert(place, row(3, Value::Null)), again);
    assert_eq!(tables.insert(place, row(3, 10)), again);
    let key = tables.get(place).expect("there").key_of(&row(2, 0)).expect("key").expect("keyed");
    let update = tables.update(place, key.as_bytes(), row(2, 10));
    assert_eq!(update, Err(TableError::Duplicate { unique: Some(0) }));
    // The row kept its place among the unique ones.
    assert_eq!(tables.insert(place, row(3, Value::Null)), again);
    assert_eq!(tables.update(place, key.as_bytes(), row(2, 11)), Ok(true));
    tables.insert(place, row(3, Value::Null)).expect("NULL is free now");
}

#[test]
fn a_rollback_restores_temporary_tables_and_spares_variables() {
    let mut tables = PrivateTables::default();
    let place = temporary(&mut tables, 0, true, true);
    let variable = Place::Variable(0);
    tables.push_frame(&[def(variable, true, false)]);
    tables.insert(place, row(1, 1)).expect("insert");
    tables.commit();
    let bytes = tables.bytes();

    let mark = tables.mark();
    tables.insert(place, row(2, 2)).expect("insert");
    tables.insert(variable, row(5, 5)).expect("insert");
    tables.end_statement(mark);
    let savepoint = tables.mark();
    let mark = tables.mark();
    let key = tables.get(place).expect("there").key_of(&row(1, 0)).expect("key").expect("keyed");
    assert_eq!(tables.delete(place, key.as_bytes()), Ok(true));
    assert_eq!(tables.delete(place, key.as_bytes()), Ok(false));
    tables.insert(variable, row(6, 6)).expect("insert");
    tables.end_statement(mark);
    assert_eq!(keys(&tables, place), [2]);
    tables.rollback_to(savepoint);
    assert_eq!(keys(&tables, place), [1, 2]);
    tables.truncate(place).expect("truncate");
    assert!(tables.get(place).expect("there").is_empty());
    tables.rollback();
    assert_eq!(keys(&tables, place), [1]);
    assert_eq!(keys(&tables, variable), [5, 6]);
    tables.pop_frame();
    assert_eq!(tables.bytes(), bytes);
    // What was undone freed its unique keys too.
    tables.insert(place, row(2, 2)).expect("insert");
}

#[test]
fn a_failed_statement_undoes_both_kinds() {
    let mut tables = PrivateTables::default();
    let place = temporary(&mut tables, 0, true, false);
    tables.push_frame(&[def(Place::Variable(0), true, false)]);
    let mark = tables.mark();
    tables.insert(place, row(1, 1)).expect("insert");
    tables.insert(Place::Variable(0), row(1, 1)).expect("insert");
    tables.rollback_to(mark);
    assert!(keys(&tables, place).is_empty());
    assert!(keys(&tables, Place::Variable(0)).is_empty());
}

#[test]
fn definitions_come_and_go_with_transactions_and_scopes() {
    let mut tables = PrivateTables::default();
    let outer = temporary(&mut tables, 0, true, false);
    tables.insert(outer, row(1, 1)).expect("insert");
    tables.commit();
    let generation = tables.generation();
    assert!(tables.drop_table(outer));
    assert!(tables.find("#T").is_none());
    assert_ne!(tables.generation(), generation);
    tables.rollback();
    assert_eq!(keys(&tables, outer), [1]);

    let inner = temporary(&mut tables, 1, false, false);
    assert_eq!(tables.find("#t").expect("found").place, inner, "the innermost is meant");
    assert!(tables.is_taken("#T", 1) && !tables.is_taken("#t", 2));
    tables.insert(inner, row(2, 2)).expect("insert");
    tables.leave(0);
    assert_eq!(tables.find("#t").expect("found").place, outer);
    // What the scope took with it is not there to be undone.
    tables.rollback();
    assert_eq!(keys(&tables, outer), [1]);
}

#[test]
fn identities_move_on_past_explicit_values() {
    let mut tables = PrivateTables::default();
    let mut spec_column = column("k");
    spec_column.identity = Some(catalog::Identity { seed: 10, increment: 5 });
    let place = Place::Temporary(tables.new_number());
    let spec = TableSpec {
        schema: "dbo".into(),
        name: "#t".into(),
        columns: vec![spec_column],
        ..TableSpec::default()
    };
    tables.create(Arc::new(define_private(&spec, place, -7, 1).expect("a table")), 0);
    assert_eq!(tables.next_identity(place), Ok(10));
    tables.note_identity(place, 100);
    assert_eq!(tables.next_identity(place), Ok(105));
    tables.note_identity(place, 1);
    assert_eq!(tables.next_identity(place), Ok(110));
    tables.truncate(place).expect("truncate");
    assert_eq!(tables.next_identity(place), Ok(10));
}

#[test]
fn a_parameter_shares_rows_until_one_side_writes() {
    let mut tables = PrivateTables::default();
    tables.push_frame(&[def(Place::Variable(0), true, false)]);
    tables.insert(Place::Variable(0), row(1, 1)).expect("insert");
    let shared = tables.share(Place::Variable(0)).expect("there");
    tables.push_frame(&[def(Place::Variable(0), true, false)]);
    tables.fill(0, shared);
    assert_eq!(keys(&tables, Place::Variable(0)), [1]);
    tables.insert(Place::Variable(0), row(2, 2)).expect("insert");
    tables.pop_frame();
    assert_eq!(keys(&tables, Place::Variable(0)), [1]);
}
