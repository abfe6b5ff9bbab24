//! The SQL of the workload: the posts' table, and the procedures that fill and read it.

use rival_harness::Work;

pub(crate) const DROP: &str = "DROP TABLE IF EXISTS big_table CASCADE";

/// The posts' table, in PostgreSQL's types. The key is a B-tree beside the heap: PostgreSQL has no clustered tables.
pub(crate) const TABLE: &str = "CREATE TABLE big_table (
    c1 bigint PRIMARY KEY,
    c2 timestamp NOT NULL DEFAULT clock_timestamp(),
    c3 char(111) NOT NULL DEFAULT 'a',
    c4 int NOT NULL DEFAULT 1,
    c5 int NOT NULL DEFAULT 2,
    c6 bigint NOT NULL DEFAULT 42)";

pub(crate) const COUNT: &str = "SELECT count(*) FROM big_table";
pub(crate) const INSERT: &str = "INSERT INTO big_table (c1) VALUES ($1)";
pub(crate) const READ: &str = "SELECT c6 FROM big_table WHERE c1 = $1";

/// Rows 1 to `rows`.
pub(crate) fn fill(rows: u64) -> String {
    format!("INSERT INTO big_table (c1) SELECT g FROM generate_series(1, {rows}) g")
}

/// Log files made in advance, so that the window does not pay for their growth: so many are begun and, at the
/// checkpoint, kept for use again.
pub(crate) fn make_log_files(files: u64) -> String {
    format!(
        "DO $$ BEGIN FOR i IN 1..{files} LOOP
             PERFORM pg_logical_emit_message(false, 'millrace lab', 'a log file');
             PERFORM pg_switch_wal();
         END LOOP; END $$"
    )
}

/// The procedure for the work; none for round trips. A FOR loop of PL/pgSQL counts in 32 bits, hence the base apart.
pub(crate) fn procedure(work: &Work) -> Option<String> {
    match *work {
        Work::Procedure { commit_every, rows_per_insert } => {
            let rows: Vec<String> = (0..rows_per_insert)
                .map(|i| if i == 0 { "(base + i)".to_owned() } else { format!("(base + i + {i})") })
                .collect();
            let insert = format!("INSERT INTO big_table (c1) VALUES {};", rows.join(", "));
            let body = if commit_every == rows_per_insert {
                format!(
                    "FOR i IN 0 .. n - 1 BY {rows_per_insert} LOOP
                         {insert}
                         COMMIT;
                     END LOOP;"
                )
            } else {
                format!(
                    "WHILE done < n LOOP
                         FOR i IN done .. least(done + {commit_every}, n) - 1 BY {rows_per_insert} LOOP
                             {insert}
                         END LOOP;
                         COMMIT;
                         done := done + {commit_every};
                     END LOOP;"
                )
            };
            Some(format!(
                "CREATE OR REPLACE PROCEDURE insert_rows(base bigint, n int) LANGUAGE plpgsql AS $$
                 DECLARE done int := 0;
                 BEGIN
                     {body}
                 END $$"
            ))
        }
        Work::ProcedureRead { rows } => Some(format!(
            "CREATE OR REPLACE PROCEDURE read_rows(seed bigint, n int) LANGUAGE plpgsql AS $$
             DECLARE found_c6 bigint; k bigint := seed;
             BEGIN
                 FOR i IN 1 .. n LOOP
                     k := (k * 1103515245 + 12345) % 2147483648;
                     SELECT c6 INTO STRICT found_c6 FROM big_table WHERE c1 = 1 + k % {rows};
                 END LOOP;
             END $$"
        )),
        Work::RoundtripInsert | Work::RoundtripRead { .. } => None,
    }
}
