//! The SQL of the workload: the posts' table, and the procedures that fill and read it.

use rival_harness::Work;

pub(crate) const DROP: &str = "DROP TABLE IF EXISTS big_table";

/// The posts' table, in MariaDB's types; InnoDB clusters it by its key.
pub(crate) const TABLE: &str = "CREATE TABLE big_table (
    c1 bigint NOT NULL PRIMARY KEY,
    c2 datetime(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    c3 char(111) NOT NULL DEFAULT 'a',
    c4 int NOT NULL DEFAULT 1,
    c5 int NOT NULL DEFAULT 2,
    c6 bigint NOT NULL DEFAULT 42
) ENGINE = InnoDB CHARACTER SET latin1";

pub(crate) const COUNT: &str = "SELECT count(*) FROM big_table";
pub(crate) const INSERT: &str = "INSERT INTO big_table (c1) VALUES (?)";
pub(crate) const READ: &str = "SELECT c6 FROM big_table WHERE c1 = ?";

/// Rows 1 to `rows`, in doubling steps: a sequence engine need not be there.
pub(crate) fn fill(rows: u64) -> Vec<String> {
    let mut all = vec!["INSERT INTO big_table (c1) VALUES (1)".to_owned()];
    let mut there = 1;
    while there < rows {
        all.push(format!(
            "INSERT INTO big_table (c1) SELECT c1 + {there} FROM big_table WHERE c1 <= {}",
            there.min(rows - there)
        ));
        there += there.min(rows - there);
    }
    all
}

/// The procedure for the work: its old form to be dropped, and the new one. None for round trips.
pub(crate) fn procedure(work: &Work) -> Option<(&'static str, String)> {
    match *work {
        Work::Procedure { commit_every, rows_per_insert } => {
            let rows: Vec<String> = (0..rows_per_insert)
                .map(|i| if i == 0 { "(k)".to_owned() } else { format!("(k + {i})") })
                .collect();
            let insert = format!("INSERT INTO big_table (c1) VALUES {};", rows.join(", "));
            let step = format!("SET k = k + {rows_per_insert};");
            let body = if commit_every == rows_per_insert {
                format!("START TRANSACTION; {insert} COMMIT; {step}")
            } else {
                format!(
                    "START TRANSACTION;
                     SET stop_at = LEAST(k + {commit_every}, last);
                     WHILE k < stop_at DO {insert} {step} END WHILE;
                     COMMIT;"
                )
            };
            Some((
                "DROP PROCEDURE IF EXISTS insert_rows",
                format!(
                    "CREATE PROCEDURE insert_rows(base bigint, n bigint)
                     BEGIN
                         DECLARE k bigint DEFAULT base;
                         DECLARE last bigint DEFAULT base + n;
                         DECLARE stop_at bigint DEFAULT base;
                         WHILE k < last DO {body} END WHILE;
                     END"
                ),
            ))
        }
        Work::ProcedureRead { rows } => Some((
            "DROP PROCEDURE IF EXISTS read_rows",
            format!(
                "CREATE PROCEDURE read_rows(seed bigint, n bigint)
                 BEGIN
                     DECLARE k bigint DEFAULT seed;
                     DECLARE i bigint DEFAULT 0;
                     DECLARE found_c6 bigint;
                     WHILE i < n DO
                         SET k = (k * 1103515245 + 12345) % 2147483648;
                         SET i = i + 1;
                         SELECT c6 INTO found_c6 FROM big_table WHERE c1 = 1 + k % {rows};
                     END WHILE;
                 END"
            ),
        )),
        Work::RoundtripInsert | Work::RoundtripRead { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::fill;

    /// What the statements of `fill` come to, on a table of keys.
    #[test]
    fn filling_makes_each_key_once() {
        for rows in [1, 2, 3, 1000, 1024, 1025] {
            let mut there = 1_u64;
            for step in &fill(rows)[1..] {
                let words: Vec<&str> = step.split(' ').collect();
                let plus: u64 = words[7].parse().expect("the offset");
                let to: u64 = words.last().expect("a bound").parse().expect("a number");
                assert_eq!(plus, there, "{step}");
                assert!(to <= there, "{step}");
                there += to;
            }
            assert_eq!(there, rows);
        }
    }
}
