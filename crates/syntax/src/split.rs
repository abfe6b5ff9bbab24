//! GO: the word that tools, not the server, understand.

/// One batch of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchText<'a> {
    /// The text between two GO lines, without them.
    pub text: &'a str,
    /// Line of the script on which the batch begins, from 1.
    pub line: u32,
    /// How often to run it (`GO 5`), 1 by default.
    pub count: u32,
}

/// Cuts a script into batches at lines that hold only `GO [count]`, outside comments and texts.
/// Batches of blanks only are left out.
pub fn split_batches(script: &str) -> Vec<BatchText<'_>> {
    let mut batches = Vec::new();
    let mut state = Inside::Nothing;
    let (mut start, mut start_line) = (0, 1);
    let mut at = 0;
    let mut push = |start: usize, end: usize, line: u32, count: u32| {
        let text = &script[start..end];
        if !text.trim().is_empty() {
            batches.push(BatchText { text, line, count });
        }
    };
    for (line, text) in (1..).zip(script.split_inclusive('\n')) {
        if state == Inside::Nothing
            && let Some(count) = go_count(text)
        {
            push(start, at, start_line, count);
            start = at + text.len();
            start_line = line + 1;
        } else {
            state = state.after(text);
        }
        at += text.len();
    }
    push(start, script.len(), start_line, 1);
    batches
}

/// True when the text ends inside a comment or a quoted text: a shell asks for more lines.
pub fn is_unfinished(script: &str) -> bool {
    script.split_inclusive('\n').fold(Inside::Nothing, Inside::after) != Inside::Nothing
}

/// The count of a GO line; None when the line is something else.
pub fn go_count(line: &str) -> Option<u32> {
    let line = line.trim();
    let rest = match line.get(..2) {
        Some(go) if go.eq_ignore_ascii_case("go") => &line[2..],
        _ => return None,
    };
    // A comment may follow.
    let rest = rest.split("--").next().unwrap_or("");
    let (blank, rest) = (rest.starts_with([' ', '\t']) || rest.is_empty(), rest.trim());
    match (blank, rest) {
        (true, "") => Some(1),
        (true, digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().ok(),
        _ => None,
    }
}

/// What a line break falls into.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Nothing,
    /// Nested comments: how many are open.
    Comment(u32),
    /// The character that closes the text or name.
    Quote(u8),
}

impl Inside {
    fn after(self, line: &str) -> Inside {
        let bytes = line.as_bytes();
        let mut state = self;
        let mut at = 0;
        while at < bytes.len() {
            let pair = (bytes[at], bytes.get(at + 1).copied().unwrap_or(0));
            state = match (state, pair) {
                (Inside::Nothing, (b'-', b'-')) => return state,
                (Inside::Nothing, (b'/', b'*')) => {
                    at += 1;
                    Inside::Comment(1)
                }
                (Inside::Nothing, (quote @ (b'\'' | b'"'), _)) => Inside::Quote(quote),
                (Inside::Nothing, (b'[', _)) => Inside::Quote(b']'),
                (Inside::Comment(open), (b'/', b'*')) => {
                    at += 1;
                    Inside::Comment(open + 1)
                }
                (Inside::Comment(open), (b'*', b'/')) => {
                    at += 1;
                    if open == 1 { Inside::Nothing } else { Inside::Comment(open - 1) }
                }
                // A doubled quote closes and opens again: the same as staying inside.
                (Inside::Quote(close), (byte, _)) if byte == close => Inside::Nothing,
                (state, _) => state,
            };
            at += 1;
        }
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(script: &str, expected: &[(&str, u32, u32)]) {
        let found: Vec<_> =
            split_batches(script).iter().map(|b| (b.text.trim(), b.line, b.count)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn go_lines_cut() {
        check("select 1", &[("select 1", 1, 1)]);
        check("select 1\nGO\nselect 2\n", &[("select 1", 1, 1), ("select 2", 3, 1)]);
        check("a\n  go 3  -- thrice\nb", &[("a", 1, 3), ("b", 3, 1)]);
        check("GO\nGO\n\nGO 7\n", &[]);
        check("a\r\ngo\r\nb\r\n", &[("a", 1, 1), ("b", 3, 1)]);
    }

    #[test]
    fn what_only_looks_like_go() {
        check("goto x\ngo_on\ngo x", &[("goto x\ngo_on\ngo x", 1, 1)]);
        check("select '\ngo\n'", &[("select '\ngo\n'", 1, 1)]);
        check("select 'it''s\ngo\n'", &[("select 'it''s\ngo\n'", 1, 1)]);
        check("/* /* */\ngo\n*/ a\ngo\nb", &[("/* /* */\ngo\n*/ a", 1, 1), ("b", 5, 1)]);
        check("-- don't\ngo\nb", &[("-- don't", 1, 1), ("b", 3, 1)]);
        check("select [a\ngo\n]", &[("select [a\ngo\n]", 1, 1)]);
    }

    #[test]
    fn unfinished_texts() {
        assert!(is_unfinished("select 'a"));
        assert!(is_unfinished("/* a\n"));
        assert!(!is_unfinished("select 'a'\n-- don't"));
    }
}
