//! Messages: the server's own, and those that users have added (sp_addmessage).
//!
//! Columns and types: SQL Server 2022's documentation of sys.messages and sys.sysmessages. The server's own are those that
//! `messages::server_messages` lists, in English.

use crate::context::Context;
use crate::declare::{Declared, view};
use catalog::StoredMessage;
use executor::SqlError;
use messages::server_messages;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&MESSAGES, &SYSMESSAGES];

const ENGLISH: i32 = 1033;

/// By number and language. A message of the server's that sp_altermessage has marked is shown as it was marked.
fn messages(context: &Context<'_>, _: &[Value]) -> Result<Vec<StoredMessage>, SqlError> {
    let master = context.server.databases().into_iter().find(|d| d.id == 1).and_then(|d| d.open);
    let configuration = master.map(|master| master.catalog.configuration());
    let mut all: Vec<StoredMessage> =
        configuration.iter().flat_map(|configuration| configuration.messages()).collect();
    let marked = |number| {
        configuration.as_ref().is_some_and(|users| users.message(number, ENGLISH).is_some())
    };
    let own = server_messages().iter().filter(|message| !marked(message.number));
    all.extend(own.map(|message| StoredMessage {
        number: message.number,
        language: ENGLISH,
        severity: message.severity,
        is_logged: message.is_logged,
        text: message.text.into(),
    }));
    all.sort_by_key(|message| (message.number, message.language));
    Ok(all)
}

view! {
    MESSAGES = "sys.messages" of StoredMessage as m, rows messages;
    message_id int = m.number;
    language_id smallint = m.language as i16;
    severity tinyint null = m.severity;
    is_event_logged bit = m.is_logged;
    text nvarchar(2048) = &m.text;
}

view! {
    SYSMESSAGES = "sys.sysmessages" of StoredMessage as m, rows messages;
    error int = m.number;
    severity tinyint null = m.severity;
    // 0x80: it goes to the log.
    dlevel smallint = if m.is_logged { 128i16 } else { 0 };
    description nvarchar(255) null = m.text.chars().take(255).collect::<String>();
    msglangid smallint = m.language as i16;
}
