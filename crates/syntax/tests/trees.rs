//! Texts and their trees: every file of `tests/trees` holds cases of a batch and what it is read as.
//!
//! A case is the text, a line `----`, and the expected dump (or messages), up to a blank line followed
//! by the next case's `====`. `UPDATE_EXPECT=1 cargo test -p syntax` rewrites the expectations; read
//! the difference before you keep it.

mod dump;

use std::fmt::Write;
use std::path::Path;
use syntax::{LexOptions, parse_batch};

fn read(text: &str) -> String {
    let options = LexOptions { quoted_identifier: !text.starts_with("-- quoted_identifier off") };
    let mut out = String::new();
    match parse_batch(text, &options) {
        Ok(batch) => {
            for statement in &batch.statements {
                assert!(!statement.span.text(text).is_empty(), "a statement without text: {text}");
                let _ = writeln!(out, "{}", dump::statement(statement));
            }
        }
        Err(errors) => {
            for error in errors {
                let _ =
                    writeln!(out, "Msg {}, Line {}: {}", error.number, error.line, error.message);
            }
        }
    }
    out
}

fn check_file(path: &Path) {
    let file = std::fs::read_to_string(path).expect("a readable file");
    let mut rewritten = String::new();
    let mut wrong = Vec::new();
    for case in file.split("====\n").filter(|case| !case.trim().is_empty()) {
        let (text, expected) = case.split_once("----\n").unwrap_or((case, ""));
        let text = text.trim_end();
        let found = read(text);
        if found.trim_end() != expected.trim_end() {
            wrong.push(format!("{text}\n-- expected\n{}\n-- found\n{found}", expected.trim_end()));
        }
        let _ = write!(rewritten, "====\n{text}\n----\n{}\n\n", found.trim_end());
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path, rewritten).expect("a writable file");
    } else if !wrong.is_empty() {
        panic!("{} cases of {} differ:\n\n{}", wrong.len(), path.display(), wrong.join("\n\n"));
    }
}

#[test]
fn texts_and_their_trees() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trees");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder of cases")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    assert!(files.len() >= 5, "the cases are missing");
    for file in files {
        check_file(&file);
    }
}
