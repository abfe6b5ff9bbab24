//! sp_addmessage, sp_altermessage, sp_dropmessage.
//!
//! Promises: a message in another language has an English one, of the same severity (15279, 15304, 15280); all of a change
//! is durable when the procedure returns, whatever becomes of the session's transaction.
//!
//! Sources: documentation of the three procedures; numbers and texts of errors are those of sys.messages.

use crate::Commands;
use crate::procedures::Argument;
use crate::procedures::arguments;
use catalog::{Catalog, StoredMessage};
use executor::SqlError;
use messages::server_message;
use security::Permission;
use session_state::Host;
use session_state::languages;
use session_state::messages::{ENGLISH, error, info};
use std::sync::Arc;
use types::{SqlType, convert};

/// Characters of a message.
const TEXT_MAX: usize = 255;

impl Commands<'_> {
    /// sp_addmessage @msgnum, @severity, @msgtext [, @lang] [, @with_log] [, @replace].
    pub(crate) fn add_message(&mut self, args: &[Argument]) -> Result<(), SqlError> {
        self.check_server(Permission::AlterSettings)?;
        let number = whole(args, 0, "@msgnum")?;
        let severity = whole(args, 1, "@severity")?;
        let text = arguments::text(args, 2, "@msgtext");
        let (Some(number), Some(severity), Some(text)) = (number, severity, text) else {
            return Err(error(15071, &[]));
        };
        let replace = match arguments::text(args, 5, "@replace") {
            None => false,
            Some(word) if word.eq_ignore_ascii_case("replace") => true,
            Some(_) => return Err(error(15043, &[])),
        };
        if number <= 50_000 {
            return Err(error(15040, &[]));
        }
        if !(1..=25).contains(&severity) {
            return Err(error(15041, &[]));
        }
        let is_logged = match arguments::text(args, 4, "@with_log") {
            None => false,
            Some(word) => truth(word).ok_or_else(|| error(15271, &[]))?,
        };
        let (language, language_name) = self.message_language(args, 3)?;
        let mut message = StoredMessage {
            number,
            language,
            severity: severity as u8,
            is_logged,
            text: text.chars().take(TEXT_MAX).collect::<String>().into(),
        };
        let master = master(self.host)?;
        let known = master.configuration();
        let mut changed = Vec::new();
        if language == ENGLISH {
            let others = known.messages().filter(|m| m.number == number && m.language != ENGLISH);
            let (severity, is_logged) = (message.severity, message.is_logged);
            changed.extend(others.map(|m| StoredMessage { severity, is_logged, ..m }));
        } else {
            let Some(english) = known.message(number, ENGLISH) else {
                return Err(error(15279, &[&language_name]));
            };
            if english.severity != message.severity {
                return Err(error(15304, &[&language_name, &english.severity.to_string()]));
            }
            if is_logged {
                self.sink.message(&info(15042, &[]));
            }
            message.is_logged = english.is_logged;
        }
        if known.message(number, language).is_some() && !replace {
            return Err(error(15043, &[]));
        }
        changed.push(message);
        Ok(master.keep_messages(&changed)?)
    }

    /// sp_altermessage @message_id, @parameter, @parameter_value.
    pub(crate) fn alter_message(&mut self, args: &[Argument]) -> Result<(), SqlError> {
        const NAME: &str = "sp_altermessage";
        self.check_server(Permission::AlterSettings)?;
        let Some(number) = whole(args, 0, "@message_id")? else {
            return Err(arguments::missing(NAME, "@message_id"));
        };
        let parameter = arguments::text(args, 1, "@parameter").unwrap_or("WITH_LOG");
        if !parameter.eq_ignore_ascii_case("WITH_LOG") {
            return Err(error(15176, &[]));
        }
        let value = arguments::needed(NAME, args, 2, "@parameter_value")?;
        let is_logged = truth(value).ok_or_else(|| error(15277, &[]))?;
        let master = master(self.host)?;
        let mut changed: Vec<StoredMessage> = master
            .configuration()
            .messages()
            .filter(|message| message.number == number)
            .map(|message| StoredMessage { is_logged, ..message })
            .collect();
        if changed.is_empty() {
            let own = server_message(number).ok_or_else(|| none(number))?;
            changed.push(StoredMessage {
                number,
                language: ENGLISH,
                severity: own.severity,
                is_logged,
                text: own.text.into(),
            });
        }
        Ok(master.keep_messages(&changed)?)
    }

    /// sp_dropmessage @msgnum [, @lang].
    pub(crate) fn drop_message(&mut self, args: &[Argument]) -> Result<(), SqlError> {
        self.check_server(Permission::AlterSettings)?;
        let Some(number) = whole(args, 0, "@msgnum")? else { return Err(error(15177, &[])) };
        if number <= 50_000 {
            return Err(error(15178, &[]));
        }
        let all = arguments::text(args, 1, "@lang").is_some_and(|l| l.eq_ignore_ascii_case("all"));
        let wanted = if all { None } else { Some(self.message_language(args, 1)?.0) };
        let master = master(self.host)?;
        let known = master.configuration();
        let of_number = known.messages().filter(|message| message.number == number);
        let languages: Vec<i32> = of_number.map(|message| message.language).collect();
        let dropped: Vec<i32> = languages
            .iter()
            .copied()
            .filter(|l| wanted.is_none_or(|wanted| *l == wanted))
            .collect();
        if dropped.is_empty() {
            return Err(none(number));
        }
        if dropped.contains(&ENGLISH) && dropped.len() < languages.len() {
            return Err(error(15280, &[]));
        }
        Ok(master.forget_messages(number, &dropped)?)
    }

    /// The language that an argument names, as sys.messages numbers it, and its name; the session's where it is NULL.
    fn message_language(&self, args: &[Argument], i: usize) -> Result<(i32, String), SqlError> {
        let place = match arguments::text(args, i, "@lang") {
            None => self.state.options.language,
            Some(name) => languages::find(name).ok_or_else(|| error(15033, &[name]))?,
        };
        let name = languages::LANGUAGES.get(usize::from(place)).map_or("us_english", |l| l.name);
        Ok((languages::message_language(place), name.to_string()))
    }
}

/// The catalog that keeps them.
fn master(host: &mut dyn Host) -> Result<Arc<Catalog>, SqlError> {
    let master = host.database("master").map(|master| master.catalog.clone());
    master.ok_or_else(|| SqlError::unsupported("messages without a server"))
}

/// An argument that is a number, or text of one.
fn whole(args: &[Argument], i: usize, name: &str) -> Result<Option<i32>, SqlError> {
    let Some(value) = arguments::value(args, i, name) else { return Ok(None) };
    let value = convert::cast(value, value.natural_type(), SqlType::Int, 0)?;
    Ok(value.as_i64().map(|n| n as i32))
}

/// 15179.
fn none(number: i32) -> SqlError {
    let text = format!("The message number {number} or specified language version does not exist.");
    SqlError::new(15179, 16, text)
}

/// 'true' and 'false', in any case.
fn truth(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}
