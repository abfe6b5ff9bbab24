//! Every system view, read whole: what it declares is what it gives.

use device::SimFs;
use session::{Collected, Instance, InstanceConfig};
use std::collections::BTreeSet;
use system_views::declare::Declared;
use system_views::modules;
use system_views::object::system_objects;
use system_views::registry;
use types::{SqlType, Value};

/// Runs batches on a fresh instance with a database `t`; the answers, and errors as text.
fn run(batches: &[&str]) -> Vec<Collected> {
    let fs = SimFs::new(1);
    let config = InstanceConfig::small("/data", fs);
    let instance = Instance::open(config).expect("an instance");
    let batches: Vec<String> = batches.iter().map(|b| b.to_string()).collect();
    let answers = instance.spawn_session("views", move |session| {
        let mut answers = Vec::new();
        for batch in ["CREATE DATABASE t", "USE t"].into_iter().chain(batches.iter().map(|b| &**b))
        {
            let mut answer = Collected::default();
            let done = session.execute(batch, &mut answer);
            assert!(done.is_ok(), "{batch}: {:?}", answer.messages);
            answers.push(answer);
        }
        answers.split_off(2)
    });
    let answers = answers.join().map_err(|_| "a session panicked").expect("answers");
    instance.shutdown().expect("a clean end");
    answers
}

const OBJECTS: &[&str] = &[
    "CREATE TABLE a (i int IDENTITY(5, 2) NOT NULL PRIMARY KEY, v varchar(20) NULL DEFAULT 'x', \
     n nvarchar(max), d decimal(10, 2), t datetime2(3))",
    "CREATE TABLE heap (b binary(3), g uniqueidentifier)",
    "CREATE PROCEDURE p @x int, @y varchar(10) = 'a' OUTPUT AS SELECT @x, @y",
    "INSERT a (v) VALUES ('one'), ('two')",
];

/// Is it a value that a column of this type may hold?
fn fits(value: &Value, ty: SqlType) -> bool {
    match (value, ty) {
        (Value::Null, _) => true,
        (Value::Str(text), ty) if ty.is_character() => {
            let chars = text.encode_utf16().count();
            match ty {
                SqlType::Char(n) | SqlType::NChar(n) => chars == n as usize,
                SqlType::VarChar(len) | SqlType::NVarChar(len) => chars <= len.limit(),
                _ => false,
            }
        }
        (Value::Binary(bytes), SqlType::Binary(n)) => bytes.len() == n as usize,
        (Value::Binary(bytes), SqlType::VarBinary(len)) => bytes.len() <= len.limit(),
        (Value::Str(_) | Value::Binary(_), _) => false,
        (Value::Decimal(_), SqlType::Decimal { .. }) => true,
        (value, ty) => value.natural_type() == ty,
    }
}

#[test]
fn every_view_gives_what_it_declares() {
    let views: Vec<_> = registry::all().iter().filter(|v| v.params().is_none()).collect();
    // The tables of msdb and master are in their schema dbo.
    let name =
        |v: &dyn Declared| v.name().replace("msdb.", "msdb.dbo.").replace("master.", "master.dbo.");
    let queries: Vec<String> =
        views.iter().map(|v| format!("SELECT * FROM {}", name(**v))).collect();
    let batches: Vec<&str> = OBJECTS.iter().copied().chain(queries.iter().map(|q| &**q)).collect();
    let answers = run(&batches);
    for (view, answer) in views.iter().zip(&answers[OBJECTS.len()..]) {
        let set = &answer.sets[0];
        let declared = view.columns();
        assert_eq!(set.columns.len(), declared.len(), "{}", view.name());
        for (column, declared) in set.columns.iter().zip(&declared) {
            assert_eq!(column.name, declared.name, "{}", view.name());
            assert_eq!(column.ty, declared.ty, "{}.{}", view.name(), declared.name);
        }
        for row in &set.rows {
            for (value, column) in row.iter().zip(&declared) {
                let place = format!("{}.{}: {value:?}", view.name(), column.name);
                assert!(fits(value, column.ty), "{place} is no {}", column.ty);
                assert!(column.nullable || !value.is_null(), "{place} may not be NULL");
            }
        }
    }
}

#[test]
fn names_and_ids_of_built_in_objects_are_unique() {
    let all = system_objects();
    let names: BTreeSet<_> =
        all.iter().map(|o| (o.schema.to_lowercase(), o.name.to_lowercase())).collect();
    let ids: BTreeSet<_> = all.iter().map(|o| o.id).collect();
    assert_eq!(names.len(), all.len());
    assert_eq!(ids.len(), all.len());
    assert!(ids.iter().all(|id| *id < 0));
    for view in registry::all() {
        let columns = view.columns();
        let names: BTreeSet<_> = columns.iter().map(|c| c.name.to_lowercase()).collect();
        assert_eq!(names.len(), columns.len(), "{}", view.name());
    }
}

#[test]
fn a_session_sees_its_own_uncommitted_definitions() {
    let answers = run(&[
        "BEGIN TRAN CREATE TABLE own (i int)",
        "SELECT name FROM sys.tables",
        "ROLLBACK",
        "SELECT name FROM sys.tables",
    ]);
    assert_eq!(answers[1].sets[0].rows, [[Value::str("own")]]);
    assert!(answers[3].sets[0].rows.is_empty());
}

#[test]
fn every_built_in_procedure_compiles() {
    let fs = SimFs::new(1);
    let instance = Instance::open(InstanceConfig::new("/data", fs)).expect("an instance");
    let errors = instance.spawn_session("procedures", |session| {
        let mut errors = Vec::new();
        for module in modules::all() {
            let mut answer = Collected::default();
            let _ = session.execute(&format!("EXEC sys.{}", module.name), &mut answer);
            // 201: an argument is missing; 15252: one of two.
            let wrong = answer.errors().into_iter().filter(|n| !matches!(n, 201 | 15252));
            errors.extend(wrong.map(|n| format!("{}: {n} {:?}", module.name, answer.messages)));
        }
        errors
    });
    let errors = errors.join().map_err(|_| "a session panicked").expect("answers");
    instance.shutdown().expect("a clean end");
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}
