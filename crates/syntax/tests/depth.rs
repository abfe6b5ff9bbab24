//! Bounds: nesting ends with 191 on the stack of a coroutine, chains are long, parses are linear.

use syntax::{LexOptions, MAX_DEPTH, parse_batch};

/// Less than a session's coroutine has.
const STACK_BYTES: usize = 512 << 10;

fn number_of(text: String) -> i32 {
    let parse = move || match parse_batch(&text, &LexOptions::default()) {
        // Walking and dropping the tree must fit as well.
        Ok(batch) => i32::from(batch.clone() != batch),
        Err(errors) => errors[0].number,
    };
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(parse);
    thread.expect("a thread").join().expect("no panic")
}

#[test]
fn deep_texts_are_refused() {
    for piece in [
        "(",
        "SELECT (",
        "-",
        "~",
        "NOT ",
        "CASE WHEN ",
        "CASE ",
        "f(",
        "CAST(",
        "CONVERT(int, ",
        "COALESCE(1, ",
        "IIF(1 = 1, ",
        "(SELECT ",
        "EXISTS (SELECT 1 WHERE ",
        "a IN (SELECT ",
        "1 + (",
        "SUM(a) OVER (PARTITION BY ",
    ] {
        for count in [MAX_DEPTH, 1000, 20_000] {
            let number = number_of(format!("SELECT 1 WHERE {}", piece.repeat(count)));
            assert!(matches!(number, 191 | 102 | 156), "{number} for {piece}");
            let number = number_of(format!("SELECT {}", piece.repeat(count)));
            assert!(matches!(number, 191 | 102 | 156), "{number} for {piece}");
        }
    }
    for piece in [
        "BEGIN ",
        "BEGIN ATOMIC WITH (LANGUAGE = a) ",
        "IF 1 = 1 ",
        "WHILE 1 = 1 ",
        "BEGIN TRY ",
        "SELECT * FROM (",
        "SELECT * FROM (SELECT * FROM ",
        "WITH x AS (",
        "((",
        "SELECT 1 UNION (",
        "ALTER DATABASE d SET a = ON (a = ON (",
    ] {
        for count in [MAX_DEPTH, 20_000] {
            let number = number_of(piece.repeat(count));
            assert!(matches!(number, 191 | 102 | 156), "{number} for {piece}");
        }
    }
    assert_eq!(number_of(format!("SELECT {}1{}", "(".repeat(1000), ")".repeat(1000))), 191);
    assert_eq!(number_of(format!("SELECT 1{}", " COLLATE x".repeat(MAX_DEPTH * 2))), 191);
    assert_eq!(number_of(format!("SELECT 1{}", " EXCEPT SELECT 1".repeat(MAX_DEPTH * 2))), 191);
    assert_eq!(number_of(format!("SELECT 1 FROM t{}", " CROSS JOIN t".repeat(MAX_DEPTH * 2))), 191);
}

#[test]
fn ordinary_depth_and_long_chains_are_read() {
    assert_eq!(number_of(format!("SELECT {}1{}", "(".repeat(40), ")".repeat(40))), 0);
    assert_eq!(number_of(format!("{}SELECT 1{}", "BEGIN ".repeat(40), " END".repeat(40))), 0);
    assert_eq!(number_of(format!("SELECT 1{}", " + 1".repeat(5000))), 0);
    assert_eq!(number_of(format!("SELECT 1{}", " * 1".repeat(5000))), 0);
    assert_eq!(number_of(format!("SELECT 1 WHERE 1 = 1{}", " AND 1 = 1".repeat(5000))), 0);
    assert_eq!(number_of(format!("SELECT 1 WHERE 1 = 1{}", " OR 1 = 1".repeat(5000))), 0);
    assert_eq!(number_of(format!("SELECT 1{}", " UNION ALL SELECT 1".repeat(5000))), 0);
    assert_eq!(number_of(format!("SELECT 1 WHERE 1 IN (1{})", ", 1".repeat(50_000))), 0);
    assert_eq!(number_of("SELECT 1 ".repeat(20_000)), 0);
    assert_eq!(number_of(format!("INSERT t VALUES (1){}", ", (1)".repeat(999))), 0);
    assert_eq!(number_of(format!("INSERT t VALUES (1){}", ", (1)".repeat(1000))), 10738);
}
