//! Table-valued parameters as a client sends them: `Session::call` with rows.

use device::SimFs;
use executor::{Collected, ColumnMeta};
use session::{Instance, InstanceConfig, Rpc, RpcName, RpcParam, RpcValue, Session, TableValue};
use std::sync::Arc;
use types::{Len, SqlType, Value};

const TEXT: SqlType = SqlType::NVarChar(Len::N(4000));

fn with_session(test: impl FnOnce(&mut Session) + Send + 'static) {
    let fs = SimFs::new(1);
    let config = InstanceConfig::small("/data", fs.clone());
    let instance = Instance::open(config).expect("opens");
    let ran = instance.spawn_session("test", move |session| {
        run(session, "CREATE DATABASE d");
        run(session, "USE d");
        let ty = "CREATE TYPE dbo.rows AS TABLE (id int IDENTITY(10, 5), k int NOT NULL PRIMARY KEY, \
                  v nvarchar(5) NOT NULL DEFAULT N'none')";
        run(session, ty);
        run(session, "CREATE PROC p @factor int, @rows dbo.rows READONLY AS SELECT id, k * @factor, v FROM @rows");
        test(session);
    });
    if let Err(panic) = ran.join() {
        std::panic::resume_unwind(panic);
    }
    let instance: Arc<Instance> = instance;
    instance.shutdown().expect("closes");
}

fn run(session: &mut Session, batch: &str) -> Collected {
    let mut said = Collected::default();
    let _ = session.execute(batch, &mut said);
    assert_eq!(said.errors(), [] as [i32; 0], "{batch}: {:?}", said.messages);
    said
}

fn call(session: &mut Session, name: &str, params: Vec<RpcParam>) -> Collected {
    let mut said = Collected::default();
    let procedure = RpcName::Name(name.into());
    let _ = session.call(&Rpc { procedure, params, recompile: false }, &mut said);
    said
}

fn table(rows: Vec<Vec<Value>>, defaults: Vec<usize>) -> RpcParam {
    let columns = vec![
        ColumnMeta::new("", SqlType::Int, true),
        ColumnMeta::new("", SqlType::BigInt, true),
        ColumnMeta::new("", TEXT, true),
    ];
    let value = TableValue { schema: "dbo".into(), name: "rows".into(), columns, defaults, rows };
    RpcParam { value: RpcValue::Table(value), ..RpcParam::input(SqlType::Int, Value::Null) }
}

fn int(value: i32) -> RpcParam {
    RpcParam::input(SqlType::Int, Value::Int(value))
}

/// The client declares the parameter, so it is the client who needs EXECUTE on the type.
#[test]
fn a_limited_user_needs_the_type() {
    with_session(|s| {
        run(s, "CREATE USER lim WITHOUT LOGIN GRANT EXECUTE ON p TO lim");
        let rows = || table(vec![vec![Value::BigInt(1), Value::str("a")]], vec![0]);
        run(s, "EXECUTE AS USER = 'lim'");
        let said = call(s, "p", vec![int(2), rows()]);
        assert_eq!(said.errors(), [229], "{:?}", said.messages);
        assert!(
            said.messages[0].text.contains("EXECUTE permission was denied on the object 'rows'")
        );
        run(s, "REVERT GRANT EXECUTE ON TYPE::dbo.rows TO lim EXECUTE AS USER = 'lim'");
        let said = call(s, "p", vec![int(2), rows()]);
        assert_eq!(said.errors(), [] as [i32; 0], "{:?}", said.messages);
        run(s, "REVERT");
    });
}

#[test]
fn a_procedure_reads_rows() {
    with_session(|session| {
        let row = |k: i64, v: &str| vec![Value::BigInt(k), Value::str(v)];
        let rows = table(vec![row(2, "two"), row(1, "one")], vec![0]);
        let said = call(session, "p", vec![int(10), rows]);
        assert_eq!(said.errors(), [] as [i32; 0], "{:?}", said.messages);
        let expected = [
            vec![Value::Int(15), Value::Int(10), Value::str("one")],
            vec![Value::Int(10), Value::Int(20), Value::str("two")],
        ];
        assert_eq!(said.sets[0].rows, expected);
        // Columns left out have their defaults; a table left out has no rows.
        let said =
            call(session, "p", vec![int(1), table(vec![vec![Value::BigInt(7)]], vec![0, 2])]);
        assert_eq!(said.sets[0].rows, [vec![Value::Int(10), Value::Int(7), Value::str("none")]]);
        let said = call(session, "p", vec![int(1)]);
        assert_eq!(said.sets[0].rows, [] as [Vec<Value>; 0]);
        assert_eq!(said.errors(), [] as [i32; 0]);
    });
}

#[test]
fn a_text_reads_rows_beside_other_parameters() {
    with_session(|session| {
        let text = |text: &str| RpcParam::input(TEXT, Value::str(text));
        let rows = || table(vec![vec![Value::BigInt(3), Value::str("c")]], vec![0]).named("@t");
        for _ in 0..2 {
            let params = vec![
                text("SELECT v FROM @t WHERE k = @k"),
                text("@k int, @t dbo.rows READONLY"),
                int(3).named("@k"),
                rows(),
            ];
            let said = call(session, "sp_executesql", params);
            assert_eq!(said.errors(), [] as [i32; 0], "{:?}", said.messages);
            assert_eq!(said.sets[0].rows, [vec![Value::str("c")]]);
        }
    });
}

#[test]
fn rows_that_break_the_type_are_refused_and_nothing_runs() {
    with_session(|session| {
        let row = |k: Value, v: Value| vec![k, v];
        let one = || Value::BigInt(1);
        let cases = [
            (vec![row(one(), Value::str("a")), row(one(), Value::str("b"))], 2627),
            (vec![row(one(), Value::Null)], 515),
            (vec![row(Value::BigInt(1 << 40), Value::str("a"))], 8115),
            (vec![row(one(), Value::str("far too long"))], 2628),
        ];
        for (rows, number) in cases {
            let said = call(session, "p", vec![int(1), table(rows, vec![0])]);
            assert_eq!(said.errors(), [number], "{:?}", said.messages);
            assert!(said.sets.is_empty());
        }
        let mut narrow = table(Vec::new(), Vec::new());
        if let RpcValue::Table(value) = &mut narrow.value {
            value.columns.pop();
            value.rows.push(row(one(), Value::str("a")));
        }
        assert_eq!(call(session, "p", vec![int(1), narrow]).errors(), [500]);
        assert_eq!(call(session, "p", vec![int(1), int(2)]).errors(), [206]);
        assert_eq!(call(session, "p", vec![table(Vec::new(), Vec::new())]).errors(), [206]);
    });
}

/// A text goes into the code page of its column, not of the database.
#[test]
fn texts_come_in_their_columns_collation() {
    with_session(|session| {
        let columns = "g varchar(9) COLLATE Greek_CI_AS, u varchar(9) COLLATE Latin1_General_100_CI_AS_SC_UTF8, \
                       k nvarchar(9) COLLATE Latin1_General_BIN2 UNIQUE";
        run(session, &format!("CREATE TYPE dbo.paged AS TABLE ({columns})"));
        run(
            session,
            "CREATE PROC q @rows dbo.paged READONLY AS SELECT g, u, k FROM @rows ORDER BY k",
        );
        let columns = vec![ColumnMeta::new("", TEXT, true); 3];
        let row = |k: &str| vec![Value::str("Ωβ"), Value::str("漢🙂"), Value::str(k)];
        let (schema, name) = ("dbo".into(), "paged".into());
        let rows = vec![row("b"), row("B")];
        let value = TableValue { schema, name, columns, defaults: Vec::new(), rows };
        let rows = RpcParam {
            value: RpcValue::Table(value),
            ..RpcParam::input(SqlType::Int, Value::Null)
        };
        let said = call(session, "q", vec![rows]);
        assert_eq!(said.errors(), [] as [i32; 0], "{:?}", said.messages);
        let shown = |row: &Vec<Value>| -> Vec<String> {
            row.iter().map(|value| value.as_str().unwrap_or("").to_owned()).collect()
        };
        let rows: Vec<Vec<String>> = said.sets[0].rows.iter().map(shown).collect();
        assert_eq!(rows, [["Ωβ", "漢🙂", "B"], ["Ωβ", "漢🙂", "b"]]);
    });
}
