//! Elements of event documents, and texts without the blanks around them.

/// Appends `<name>text</name>`, or `<name/>`.
pub fn element(name: &str, text: &str, out: &mut String) {
    out.push('<');
    out.push_str(name);
    if text.is_empty() {
        out.push_str("/>");
        return;
    }
    out.push('>');
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\r' => out.push_str("&#x0D;"),
            '\t' | '\n' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'.. => out.push(c),
            _ => out.push('?'),
        }
    }
    out.push_str("</");
    out.push_str(name);
    out.push('>');
}

/// A text from its first word on: behind blanks and comments.
pub fn without_blanks(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        rest = if rest.starts_with("--") {
            rest.find('\n').map_or("", |at| &rest[at + 1..])
        } else if rest.starts_with("/*") {
            comment_end(rest).map_or("", |at| &rest[at..])
        } else {
            return rest;
        }
        .trim_start();
    }
}

/// Where a comment that begins here ends; they nest.
fn comment_end(text: &str) -> Option<usize> {
    let (mut depth, mut at) = (0, 0);
    let bytes = text.as_bytes();
    while at < bytes.len() {
        match bytes.get(at..at + 2) {
            Some(b"/*") => (depth, at) = (depth + 1, at + 2),
            Some(b"*/") => {
                (depth, at) = (depth - 1, at + 2);
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => at += 1,
        }
    }
    None
}
