//! What a number says: the server's own messages, and those that users have added.
//!
//! Promises: a number is found in the session's language, else in English; what users have added is in `master`
//! (`catalog::StoredMessage`), and comes before a message of the server's under the same number, which is how
//! sp_altermessage marks one of those.
//!
//! The server's are the crate `messages`.

use crate::format::format_message;
use crate::host::Host;
use crate::languages;
use catalog::{Configuration, StoredMessage};
use executor::{SqlError, SqlMessage};
use messages::server_message;
use std::sync::Arc;
use types::{Len, SqlType, Value};

/// `language_id` of English.
pub const ENGLISH: i32 = 1033;

/// A message as a session is told it.
pub struct Found {
    pub severity: u8,
    /// With places: of `english`'s kinds where it is in another language.
    text: String,
    /// The English text, where `text` is in another language: its places have numbers (`%1!`).
    english: Option<String>,
}

impl Found {
    /// The text with its places filled.
    pub fn filled(&self, args: &[(Value, SqlType)]) -> String {
        match &self.english {
            None => format_message(&self.text, args),
            Some(english) => crate::format::format_numbered(&self.text, english, args),
        }
    }
}

/// What users have added; nothing where there is no `master`.
pub fn users_messages(host: &mut dyn Host) -> Option<Arc<Configuration>> {
    host.database("master").map(|master| master.catalog.configuration())
}

/// The message of a number, for a session of that language (as @@LANGID counts).
pub fn find(host: &mut dyn Host, number: i32, language: u8) -> Option<Found> {
    let users = users_messages(host);
    let stored = |language| users.as_ref().and_then(|all| all.message(number, language));
    let english: Option<StoredMessage> = stored(ENGLISH);
    let wanted = languages::message_language(language);
    if wanted != ENGLISH
        && let (Some(own), Some(english)) = (stored(wanted), &english)
    {
        let (severity, text) = (own.severity, own.text.into());
        return Some(Found { severity, text, english: Some(english.text.to_string()) });
    }
    if let Some(StoredMessage { severity, text, .. }) = english {
        return Some(Found { severity, text: text.into(), english: None });
    }
    let own = server_message(number)?;
    Some(Found { severity: own.severity, text: own.text.to_string(), english: None })
}

/// A message as an error, its places filled in order.
pub fn error(number: i32, args: &[&str]) -> SqlError {
    let (severity, text) = server_message(number).map_or((16, ""), |m| (m.severity, m.text));
    SqlError::new(number, severity, filled(text, args))
}

/// A message that only informs.
pub fn info(number: i32, args: &[&str]) -> SqlMessage {
    let text = server_message(number).map_or("", |message| message.text);
    SqlMessage::info(number, 1, filled(text, args))
}

fn filled(text: &str, args: &[&str]) -> String {
    let args: Vec<(Value, SqlType)> =
        args.iter().map(|arg| (Value::str(arg), SqlType::NVarChar(Len::Max))).collect();
    format_message(text, &args)
}
