//! What the golden answers tell is what sys.messages has: each number has its line there, and the text told is that line's
//! with its places filled in. A site that spells a message otherwise, or a number without a line, is found here.
//!
//! What stands behind a line's text is a site's own affair (15129 adds the range); the severity may be another one, as in
//! SQL Server (see the crate `messages`).

use std::path::Path;

/// Messages from here on are users'.
const USERS: i32 = 50_000;
/// 574 names no statement: what changes the server's principals does not know which it is.
const OTHERWISE: &[i32] = &[574];

/// The pieces of a line's text between its places.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        pieces.last_mut().expect("one at least").push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(behind) = rest.strip_prefix('%') {
            pieces.last_mut().expect("one at least").push('%');
            rest = behind;
            continue;
        }
        rest = rest.trim_start_matches(|c: char| "-+# 0123456789.*".contains(c));
        rest = match rest.strip_prefix("S_MSG") {
            Some(behind) => behind,
            None => {
                let size = ["I64", "ll", "l", "h"].iter().find_map(|s| rest.strip_prefix(s));
                size.unwrap_or(rest).get(1..).unwrap_or("")
            }
        };
        pieces.push(String::new());
    }
    pieces.last_mut().expect("one at least").push_str(rest);
    pieces
}

/// Whether `told` begins with a text of these pieces, with anything between them.
fn fits(pieces: &[String], told: &str) -> bool {
    let Some(mut rest) = told.strip_prefix(&*pieces[0]) else { return false };
    for piece in &pieces[1..] {
        let Some(at) = rest.find(&**piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    true
}

/// Number and text of each error in a file of cases.
fn told(cases: &str) -> Vec<(i32, String)> {
    let mut all = Vec::new();
    let mut lines = cases.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((number, _)) =
            line.strip_prefix("Msg ").and_then(|rest| rest.split_once(", Level "))
        else {
            continue;
        };
        let Ok(number) = number.parse() else { continue };
        let mut text = lines.next().unwrap_or_default().to_owned();
        while let Some(more) = lines.next_if(|l| !l.is_empty() && !l.starts_with("Msg ")) {
            text.push('\n');
            text.push_str(more);
        }
        all.push((number, text));
    }
    all
}

#[test]
fn each_message_that_is_told_is_one_of_the_list() {
    assert!(fits(
        &pieces("Column '%.*ls' has %d%% of %S_MSG."),
        "Column 'a' has 5% of x. And more"
    ));
    assert!(!fits(&pieces("Column '%.*ls' is."), "Row 'a' is."));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sql");
    let (mut wrong, mut count) = (Vec::new(), 0);
    for entry in std::fs::read_dir(folder).expect("the folder of cases") {
        let path = entry.expect("an entry").path();
        let cases = std::fs::read_to_string(&path).expect("a text");
        for (number, text) in told(&cases) {
            if number >= USERS || OTHERWISE.contains(&number) {
                continue;
            }
            count += 1;
            let line = messages::server_message(number);
            if !line.is_some_and(|line| fits(&pieces(line.text), &text)) {
                let line = line.map_or("no line", |line| line.text);
                wrong.push(format!("{}: {number} {text}\n    {line}", path.display()));
            }
        }
    }
    assert!(count > 2000, "only {count} errors in the golden answers");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
