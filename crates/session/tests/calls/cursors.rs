//! Server cursors: sp_cursoropen and its like. Source: the documentation of these procedures.

use super::*;

const KEYSET: i32 = 1;
const STATIC: i32 = 8;
const FAST_FORWARD: i32 = 0x10;
const PARAMETERIZED: i32 = 0x1000;
const AUTO_FETCH: i32 = 0x2000;
const AUTO_CLOSE: i32 = 0x4000;
const READ_ONLY: i32 = 1;
const OPTIMISTIC: i32 = 4;
const ALLOW_DIRECT: i32 = 0x2000;

const NEXT: i32 = 2;

fn fill(s: &mut Session) {
    batch(s, "INSERT k VALUES (1, 'one'), (2, 'two'), (3, 'three'), (4, 'four'), (5, 'five')");
}

fn out(value: i32) -> RpcParam {
    int(value).output()
}

/// sp_cursoropen; the handle is SQL Server's first.
fn open(s: &mut Session, text_: &str, scroll: i32, concurrency: i32) -> String {
    let params = vec![null_int().output(), text(text_), out(scroll), out(concurrency), out(0)];
    call(s, id(2), params)
}

fn fetch(s: &mut Session, kind: i32, number: i32, rows: i32) -> String {
    call(s, id(7), vec![int(180_150_003), int(kind), int(number), int(rows)])
}

#[test]
fn blocks_of_a_static_cursor() {
    with_session(|s, _| {
        fill(s);
        check(
            &open(s, "SELECT id, v FROM k ORDER BY id", STATIC, OPTIMISTIC),
            "| id | v | ROWSTAT
            done Select 0 in procedure
            status 0
            output 0  int 180150003
            output 2  int 8
            output 3  int 1
            output 4  int 5
            procedure done",
        );
        check(
            &fetch(s, NEXT, 0, 2),
            "| id | v | ROWSTAT
            1 | one | 1
            2 | two | 1
            done Select 2 in procedure
            status 0
            procedure done",
        );
        assert!(fetch(s, NEXT, 0, 2).contains("3 | three | 1"));
        let back = fetch(s, 4, 0, 3);
        assert!(
            back.contains("1 | one") && back.contains("3 | three") && back.contains("status 2"),
            "{back}"
        );
        assert!(fetch(s, 0x10, -1, 1).contains("5 | five"));
        assert!(fetch(s, NEXT, 0, 2).contains("done Select 0"));
        let info = vec![int(180_150_003), int(0x100), out(0), out(0)];
        let said = call(s, id(7), info);
        assert!(said.contains("output 2  int -1") && said.contains("output 3  int 5"), "{said}");
        // What others change since is not seen.
        batch(s, "UPDATE k SET v = 'new' WHERE id = 4");
        assert!(fetch(s, 0x10, 4, 1).contains("4 | four"));
        check(
            &call(s, id(9), vec![int(180_150_003)]),
            "status 0
            procedure done",
        );
        let said = fetch(s, NEXT, 0, 1);
        assert!(said.starts_with("Msg 16909, Level 16, State 1"), "{said}");
        assert!(
            said.contains(
                "sp_cursorfetch: The cursor identifier value provided (abcdef3) is not valid."
            ),
            "{said}"
        );
    });
}

#[test]
fn parameters_blocks_at_once_and_the_end() {
    with_session(|s, _| {
        fill(s);
        let scroll = FAST_FORWARD | PARAMETERIZED | AUTO_FETCH | AUTO_CLOSE;
        let mut params =
            vec![null_int().output(), text("SELECT id FROM k WHERE id > @least"), int(scroll)];
        params.extend([int(READ_ONLY), out(2), text("@least int"), int(2)]);
        let said = call(s, id(2), params);
        check(
            &said,
            "| id | ROWSTAT
            3 | 1
            4 | 1
            done Select 2 in procedure
            status 0
            output 0  int 180150003
            output 4  int 2
            procedure done",
        );
        let said = fetch(s, 4, 0, 2);
        assert!(said.contains("Msg 16911"), "it goes forward alone: {said}");
        let said = fetch(s, NEXT, 0, 2);
        assert!(said.contains("5 | 1") && said.contains("status 16"), "{said}");
        assert!(fetch(s, NEXT, 0, 2).contains("Msg 16909"));
    });
}

#[test]
fn rows_of_the_buffer_are_changed() {
    with_session(|s, _| {
        fill(s);
        open(s, "SELECT id, v FROM k ORDER BY id", KEYSET, OPTIMISTIC);
        fetch(s, NEXT, 0, 3);
        let change = |operation: i32, row: i32, values: Vec<RpcParam>| {
            let mut params = vec![int(180_150_003), int(operation), int(row), text("")];
            params.extend(values);
            params
        };
        // A value named after its column, a text of the statement, a row gone, a new row.
        call(s, id(1), change(1, 2, vec![text("TWO").named("@v")]));
        call(s, id(1), change(1, 3, vec![text("v = UPPER(v)")]));
        call(s, id(1), change(2, 1, Vec::new()));
        call(s, id(1), change(4, 0, vec![int(9).named("@id"), text("nine").named("@v")]));
        let said = batch(s, "SELECT id, v FROM k ORDER BY id");
        let rows = ["2 | TWO", "3 | THREE", "4 | four", "5 | five", "9 | nine"];
        assert!(rows.iter().all(|row| said.contains(row)) && !said.contains("| one"), "{said}");
        let said = fetch(s, 0x80, 0, 0);
        check(
            &said,
            "| id | v | ROWSTAT
            1 | one | 2
            2 | TWO | 1
            3 | THREE | 1
            done Select 3 in procedure
            status 0
            procedure done",
        );
        let said = call(s, id(1), change(1, 4, vec![text("x").named("@v")]));
        assert!(said.contains("Msg 16930"), "{said}");
        // By name, as ODBC does it: the cursor stands where sp_cursor has set it.
        call(s, id(8), vec![int(180_150_003), int(2), text("walk")]);
        call(s, id(1), change(0x20, 2, Vec::new()));
        let said = batch(s, "DELETE k WHERE CURRENT OF walk; SELECT COUNT(*) AS n FROM k");
        assert!(said.contains("  4\n"), "{said}");
    });
}

#[test]
fn texts_kept_and_texts_that_are_no_cursor() {
    with_session(|s, _| {
        fill(s);
        // sp_cursorprepexec
        let mut params = vec![null_int().output(), null_int().output(), text("@id int")];
        params.extend([
            text("SELECT v FROM k WHERE id = @id"),
            out(STATIC),
            out(READ_ONLY),
            out(0),
            int(2),
        ]);
        let said = call(s, id(5), params);
        assert!(
            said.contains("output 0  int 1\n") && said.contains("output 1  int 180150003"),
            "{said}"
        );
        assert!(said.contains("output 4  int 8") && said.contains("output 6  int 1\n"), "{said}");
        assert!(fetch(s, NEXT, 0, 9).contains("two | 1"));
        // sp_cursorexecute
        let params = vec![int(1), null_int().output(), int(STATIC), int(READ_ONLY), out(0), int(3)];
        let said = call(s, id(4), params);
        assert!(said.contains("output 1  int 180150005"), "{said}");
        let said = call(s, id(7), vec![int(180_150_005), int(NEXT), int(0), int(9)]);
        assert!(said.contains("three | 1"), "{said}");
        assert!(call(s, id(6), vec![int(1)]).contains("status 0"));
        assert!(call(s, id(4), vec![int(1), null_int().output()]).contains("Msg 8179"));
        // Statements run at once where that is allowed.
        let direct = "UPDATE k SET v = 'x' WHERE id = 1; SELECT v FROM k WHERE id = 1";
        let said = open(s, direct, STATIC, READ_ONLY | ALLOW_DIRECT);
        assert!(said.contains("| v\n  x\n") && said.contains("output 0  int 0\n"), "{said}");
        assert!(open(s, direct, STATIC, READ_ONLY).contains("Msg 16938"));
        assert!(open(s, "SELECT nothing FROM k", STATIC, READ_ONLY).contains("Msg 207"));
        assert!(open(s, "SELECT FROM", STATIC, READ_ONLY).contains("Msg 156"));
        // A reset closes what is open.
        s.reset(false, &mut Said::default());
        assert!(fetch(s, NEXT, 0, 1).contains("Msg 16909"));
    });
}

/// JDBC takes a column for writable whose table and name a cursor tells; one that is read only tells none, nor does FETCH.
#[test]
fn a_cursor_tells_the_tables_behind_its_columns() {
    with_session(|s, _| {
        fill(s);
        let mut told = |concurrency: i32| {
            let mut said = Said::default();
            let params = vec![
                null_int().output(),
                text("SELECT v AS w, id, id + 1 AS n FROM k"),
                out(KEYSET),
                out(concurrency),
                out(0),
            ];
            let rpc = Rpc { procedure: id(2), params, recompile: false };
            assert!(s.call(&rpc, &mut said).is_ok(), "{}", said.text);
            said.bases
        };
        assert_eq!(told(OPTIMISTIC), ["dbo.k v", "dbo.k id key", " "]);
        assert_eq!(told(READ_ONLY), [""; 0]);
        let mut said = Said::default();
        let fetch = "DECLARE c CURSOR FOR SELECT v FROM k OPEN c FETCH c";
        assert!(s.execute(fetch, &mut said).is_ok(), "{}", said.text);
        assert_eq!(said.bases, [""; 0]);
    });
}
