//! EVENTDATA(): the document of an event, as text.
//!
//! ```text
//! EVENT_INSTANCE
//!   EventType PostTime SPID ServerName LoginName [UserName] [DatabaseName]
//!   [SchemaName] [ObjectName ObjectType] [TargetObjectName TargetObjectType] what the event alone has
//!   TSQLCommand: SetOptions, CommandText
//! ```
//!
//! Promise: no password stands in it, and no character that XML has not.

use super::event::Occurrence;
use super::text::{element, without_blanks};
use session_state::SessionState;
use std::fmt::Write;
use syntax::ast::{AlterDatabaseAction, DropKind, SecurityStatement, Span, StatementKind as S};
use types::{SqlType, Value, datetime};

/// The document of what has happened, by the statement of that text.
pub fn document(
    state: &SessionState,
    server: &str,
    occurrence: &Occurrence,
    command: &str,
) -> String {
    let mut out = header(state, server, occurrence.event.name);
    element("LoginName", &state.login_name(), &mut out);
    let of_database = occurrence.event.is_of_database();
    if of_database {
        element("UserName", &state.user_name(), &mut out);
    }
    match &occurrence.database {
        Some(name) => element("DatabaseName", name, &mut out),
        None if of_database => element("DatabaseName", &state.database.name, &mut out),
        None => {}
    }
    if let Some(schema) = &occurrence.schema {
        element("SchemaName", schema, &mut out);
    }
    if let Some((name, ty)) = &occurrence.object {
        element("ObjectName", name, &mut out);
        element("ObjectType", ty, &mut out);
    }
    if let Some((name, ty)) = &occurrence.target {
        element("TargetObjectName", name, &mut out);
        element("TargetObjectType", ty, &mut out);
    }
    out.push_str(&occurrence.own);
    let switches = state.options.bits();
    let on = |bit: u32| if switches & bit != 0 { "ON" } else { "OFF" };
    let _ = write!(
        out,
        "<TSQLCommand><SetOptions ANSI_NULLS=\"{}\" ANSI_NULL_DEFAULT=\"{}\" ANSI_PADDING=\"{}\" \
         QUOTED_IDENTIFIER=\"{}\" ENCRYPTED=\"{}\"/>",
        on(32),
        on(1024),
        on(16),
        on(256),
        if command == ENCRYPTED { "TRUE" } else { "FALSE" }
    );
    element("CommandText", command, &mut out);
    out.push_str("</TSQLCommand></EVENT_INSTANCE>");
    out
}

/// The document of a login.
pub fn logon_document(state: &SessionState, server: &str, sid: &[u8]) -> String {
    let mut out = header(state, server, catalog::LOGON.name);
    element("LoginName", &state.client.login, &mut out);
    element("LoginType", "SQL Login", &mut out);
    element("SID", &xml::binary::to_base64(sid), &mut out);
    element("ClientHost", &state.client.address, &mut out);
    element("IsPooled", "0", &mut out);
    out.push_str("</EVENT_INSTANCE>");
    out
}

fn header(state: &SessionState, server: &str, event: &str) -> String {
    let now = Value::DateTime(datetime::datetime_from_unix_ns(runtime::clock::unix_ns()));
    let now = types::format::to_text(&now, SqlType::DateTime, 126).ok().flatten();
    let mut out = String::from("<EVENT_INSTANCE>");
    element("EventType", event, &mut out);
    element("PostTime", &now.unwrap_or_default(), &mut out);
    element("SPID", &state.spid.to_string(), &mut out);
    element("ServerName", server, &mut out);
    out
}

/// CommandText of a module WITH ENCRYPTION.
pub const ENCRYPTED: &str = "--ENCRYPTED--";

fn is_encrypted(statement: &S) -> bool {
    let options = match statement {
        S::CreateProcedure(create) => &create.options,
        S::CreateFunction(create) => &create.options,
        S::CreateTrigger(create) => &create.options,
        S::CreateDdlTrigger(create) => &create.options,
        _ => return false,
    };
    options.iter().any(|option| option == "ENCRYPTION")
}

/// CommandText: how much of the batch it is depends on the statement. What must be alone in its batch is the batch; some
/// go on to the next statement's first word; most end with their own last one.
pub fn command_text(batch: &str, span: Span, statement: &S) -> String {
    if is_encrypted(statement) {
        return ENCRYPTED.to_owned();
    }
    let text = match statement {
        S::CreateView(_)
        | S::CreateProcedure(_)
        | S::CreateFunction(_)
        | S::CreateTrigger(_)
        | S::CreateDdlTrigger(_)
        | S::CreateBindable(_) => batch,
        S::Security(security) => match &**security {
            SecurityStatement::CreateSchema { .. } => batch,
            SecurityStatement::DropUser { .. } => own_words(batch, span),
            _ => on_to_next(batch, span),
        },
        S::CreateSynonym(_) | S::DefineSequence(_) | S::CreateType(_) | S::Partition(_) => {
            on_to_next(batch, span)
        }
        S::Drop(drop) if drop.kind == DropKind::Type => on_to_next(batch, span),
        S::AlterDatabase(alter) if matches!(alter.action, AlterDatabaseAction::Scoped { .. }) => {
            on_to_next(batch, span)
        }
        _ => own_words(batch, span),
    };
    match statement {
        S::Security(_) => without_passwords(text),
        _ => text.to_owned(),
    }
}

/// The statement without the semicolon and the blanks behind it.
fn own_words(batch: &str, span: Span) -> &str {
    span.text(batch).trim_end_matches(|c: char| c == ';' || c.is_whitespace())
}

fn on_to_next(batch: &str, span: Span) -> &str {
    let start = span.start as usize;
    let rest = batch.get(span.end as usize..).unwrap_or("");
    let mut left = without_blanks(rest);
    while let Some(more) = left.strip_prefix(';') {
        left = without_blanks(more);
    }
    batch.get(start..batch.len() - left.len()).unwrap_or("")
}

/// A text with stars for what stands behind PASSWORD = and OLD_PASSWORD =.
pub fn without_passwords(text: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '@' | '#' | '$');
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(first) = rest.chars().next() {
        let length = if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else if matches!(first, '\'' | '"' | '[') {
            quoted_length(rest, if first == '[' { ']' } else { first })
        } else if rest.starts_with("--") || rest.starts_with("/*") {
            rest.len() - without_blanks(rest).len()
        } else {
            first.len_utf8()
        };
        let (word, after) = rest.split_at(length);
        out.push_str(word);
        rest = after;
        if !["PASSWORD", "OLD_PASSWORD"].iter().any(|known| word.eq_ignore_ascii_case(known)) {
            continue;
        }
        let Some(value) = without_blanks(after).strip_prefix('=').map(without_blanks) else {
            continue;
        };
        let text_at =
            value.strip_prefix(['N', 'n']).filter(|v| v.starts_with('\'')).unwrap_or(value);
        let behind = match text_at.chars().next() {
            Some('\'') => &text_at[quoted_length(text_at, '\'')..],
            Some('0') => &text_at[text_at.find(|c| !is_word(c)).unwrap_or(text_at.len())..],
            _ => continue,
        };
        out.push_str(&after[..after.len() - value.len()]);
        out.push_str("'******'");
        rest = behind;
    }
    out
}

/// How long a quoted text is that begins here, with its quotes; a closing one inside is written twice.
fn quoted_length(text: &str, end: char) -> usize {
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c == end && chars.next_if(|(_, next)| *next == end).is_none() {
            return at + 1;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_starred() {
        let check = |text: &str, expected: &str| assert_eq!(without_passwords(text), expected);
        check(
            "CREATE LOGIN [PASSWORD = 'x'] WITH PASSWORD = N'se''cret' MUST_CHANGE, CHECK_POLICY = ON",
            "CREATE LOGIN [PASSWORD = 'x'] WITH PASSWORD = '******' MUST_CHANGE, CHECK_POLICY = ON",
        );
        check("WITH password/* = */=0x01AB HASHED", "WITH password/* = */='******' HASHED");
        check(
            "ALTER LOGIN l WITH PASSWORD='a' OLD_PASSWORD = 'b'",
            "ALTER LOGIN l WITH PASSWORD='******' OLD_PASSWORD = '******'",
        );
        check("WITH PASSWORD = 'never ends", "WITH PASSWORD = '******'");
        check("WITH PASSWORD =", "WITH PASSWORD =");
    }

    #[test]
    fn commands_end_where_they_should() {
        let batch = "/* a /* b */ c */ x ; -- d\n ; y";
        let at = batch.find('x').unwrap() as u32;
        let span = Span { start: at, end: at + 1, line: 1 };
        assert_eq!(own_words(batch, span), "x");
        assert_eq!(on_to_next(batch, span), "x ; -- d\n ; ");
        assert_eq!(without_blanks(batch), "x ; -- d\n ; y");
    }

    #[test]
    fn elements_have_no_markup() {
        let mut out = String::new();
        element("A", "a < b & c > \u{1}\r\n", &mut out);
        assert_eq!(out, "<A>a &lt; b &amp; c &gt; ?&#x0D;\n</A>");
    }
}
