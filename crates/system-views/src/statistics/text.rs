//! The texts of requests: sys.dm_exec_sql_text and sys.dm_exec_input_buffer.
//!
//! A handle is made of the text alone, so it names the text and not the request. Found are the texts of the last
//! request of each session: there is no cache of plans that all sessions share.

use crate::context::Context;
use crate::declare::{Declared, NULL, view};
use executor::SqlError;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&SQL_TEXT, &INPUT_BUFFER];

/// The handle of a text: 44 bytes, of which the first 20 tell texts apart.
pub fn sql_handle(text: &str) -> Vec<u8> {
    let mut handle = vec![0x02, 0, 0, 0];
    let mut hashes = [0x6d69_6c6c_7261_6365u64, 0x7365_6c65_6374_2a00];
    for chunk in text.as_bytes().chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        let word = u64::from_le_bytes(word);
        hashes[0] = stdx::mix64(hashes[0] ^ word);
        hashes[1] = stdx::mix64(hashes[1].rotate_left(23).wrapping_add(word));
    }
    hashes[0] = stdx::mix64(hashes[0] ^ text.len() as u64);
    hashes.iter().for_each(|hash| handle.extend_from_slice(&hash.to_be_bytes()));
    handle.resize(44, 0);
    handle
}

/// A text that a session has sent.
pub struct Text(String);

fn text(context: &Context<'_>, args: &[Value]) -> Result<Vec<Text>, SqlError> {
    let Some(Value::Binary(handle)) = args.first() else { return Ok(Vec::new()) };
    let Some(wanted) = handle.get(..20) else { return Ok(Vec::new()) };
    let sessions = context.server.sessions().into_iter();
    let found = sessions
        .map(|s| s.input.text)
        .find(|text| !text.is_empty() && sql_handle(text)[..20] == *wanted);
    Ok(found.into_iter().map(Text).collect())
}

view! {
    SQL_TEXT = "sys.dm_exec_sql_text" of Text as t, rows text, params (varbinary(64));
    dbid smallint null = NULL;
    objectid int null = NULL;
    number smallint null = NULL;
    encrypted bit = false;
    text nvarchar(max) null = &t.0;
}

fn input(context: &Context<'_>, args: &[Value]) -> Result<Vec<interpreter::Input>, SqlError> {
    let Some(wanted) = args.first().and_then(Value::as_i64) else { return Ok(Vec::new()) };
    // There is one request in a session, number 0.
    if args.get(1).and_then(Value::as_i64).is_some_and(|request| request != 0) {
        return Ok(Vec::new());
    }
    let sessions = context.server.sessions().into_iter();
    Ok(sessions
        .filter(|s| i64::from(s.id) == wanted && s.system.is_none())
        .map(|s| s.input)
        .collect())
}

view! {
    INPUT_BUFFER = "sys.dm_exec_input_buffer" of interpreter::Input as i, rows input, params (smallint, int);
    event_type nvarchar(256) null = i.kind.name();
    parameters smallint null = 0i16;
    event_info nvarchar(max) null = &i.text;
}

#[cfg(test)]
mod tests {
    use super::sql_handle;

    #[test]
    fn a_handle_names_its_text() {
        let texts = [
            "",
            "a",
            "SELECT 1",
            "SELECT 2",
            "SELECT 1 ",
            "\0",
            "\0\0",
            "SELECT 12345678",
            "12345678SELECT ",
        ];
        for (i, a) in texts.iter().enumerate() {
            assert_eq!(sql_handle(a).len(), 44);
            assert_eq!(sql_handle(a), sql_handle(&["", a].concat()), "the text alone tells");
            for b in &texts[..i] {
                assert_ne!(sql_handle(a)[..20], sql_handle(b)[..20], "{a:?} and {b:?}");
            }
        }
    }
}
