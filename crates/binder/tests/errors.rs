//! What binding refuses: T-SQL to "number, line: text".

mod fixture;

use fixture::{Fixture, check_cases};

#[test]
fn errors_have_sql_servers_numbers() {
    let names = Fixture::new(
        "CREATE TABLE t (a int NOT NULL PRIMARY KEY, b varchar(10), c decimal(10,2), d datetime)
         CREATE TABLE u (a int, x nvarchar(20), i int IDENTITY)",
    );
    check_cases("tests/errors.txt", |sql| {
        let batch = match syntax::parse_batch(sql, &Default::default()) {
            Ok(batch) => batch,
            Err(errors) => return format!("does not parse: {}", errors[0]),
        };
        match binder::bind_batch(&batch, sql, &names) {
            Ok(program) => {
                // What is left for later fails when it is reached.
                let late = program.body.iter().find_map(|s| match s.kind {
                    ir::StmtKind::Deferred => s.source.as_ref(),
                    _ => None,
                });
                match late.map(|source| binder::bind_statement(&program, source, &names)) {
                    Some(Err(e)) => format!("late: {}, {}: {}", e.number, e.line, e.text),
                    Some(Ok(_)) => "late: binds".into(),
                    None => "binds".into(),
                }
            }
            Err(e) => format!("{}, {}: {}", e.number, e.line, e.text),
        }
    });
}
