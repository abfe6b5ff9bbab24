//! Messages that users have added: sp_addmessage, sp_altermessage, sp_dropmessage.
//!
//! Kept in system table 18 of `master` (an entry for each number and language), so they are there after a restart:
//! `MESSAGE <number> <language> | text | <severity> <logged>`.
//!
//! Promise: a change of several entries is durable as a whole when it returns; it is no part of the session's transaction.

use crate::system::text_or_null;
use crate::{Catalog, CatalogError, Configuration};
use std::ops::Bound;
use types::Value;

/// What its entries' names begin with.
const PREFIX: &str = "MESSAGE ";

/// A message in one language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMessage {
    pub number: i32,
    /// `language_id` of sys.messages: 1033 is English.
    pub language: i32,
    pub severity: u8,
    /// WITH_LOG.
    pub is_logged: bool,
    pub text: Box<str>,
}

/// Numbers are not negative, and of ten digits: entries of one message lie together, messages in their order.
fn name_of(number: i32, language: i32) -> String {
    format!("{PREFIX}{number:010} {language}")
}

impl StoredMessage {
    fn of_entry(name: &str, text: Option<&str>, marks: Option<&str>) -> Option<StoredMessage> {
        let (number, language) = name.strip_prefix(PREFIX)?.split_once(' ')?;
        let (severity, logged) = marks?.split_once(' ')?;
        Some(StoredMessage {
            number: number.parse().ok()?,
            language: language.parse().ok()?,
            severity: severity.parse().ok()?,
            is_logged: logged == "1",
            text: text?.into(),
        })
    }

    fn marks(&self) -> String {
        format!("{} {}", self.severity, i32::from(self.is_logged))
    }
}

impl Configuration {
    /// Every message, by number.
    pub fn messages(&self) -> impl Iterator<Item = StoredMessage> + '_ {
        let from = self.set.range::<str, _>((Bound::Included(PREFIX), Bound::Unbounded));
        from.map_while(|(name, (text, marks))| {
            name.starts_with(PREFIX)
                .then(|| StoredMessage::of_entry(name, text.as_deref(), marks.as_deref()))
        })
        .flatten()
    }

    /// One message.
    pub fn message(&self, number: i32, language: i32) -> Option<StoredMessage> {
        let name = name_of(number, language);
        let (text, marks) = self.set.get(name.as_str())?;
        StoredMessage::of_entry(&name, text.as_deref(), marks.as_deref())
    }
}

impl Catalog {
    /// Keeps these messages, in the place of what has their numbers and languages. Suspends.
    pub fn keep_messages(&self, messages: &[StoredMessage]) -> Result<(), CatalogError> {
        self.in_transaction(|catalog, txn| {
            for message in messages {
                let name = name_of(message.number, message.language);
                let marks = message.marks();
                let row = [
                    Value::str(&name),
                    text_or_null(Some(&message.text)),
                    text_or_null(Some(&marks)),
                ];
                catalog.tables.configuration.put(txn, &row)?;
            }
            Ok(())
        })?;
        self.publish_messages(|set| {
            for message in messages {
                let values = (Some(message.text.clone()), Some(message.marks().into()));
                set.insert(name_of(message.number, message.language).into(), values);
            }
        });
        Ok(())
    }

    /// Forgets a message in these languages. Suspends.
    pub fn forget_messages(&self, number: i32, languages: &[i32]) -> Result<(), CatalogError> {
        self.in_transaction(|catalog, txn| {
            for language in languages {
                let key = [Value::str(&name_of(number, *language))];
                catalog.tables.configuration.delete(txn, &key)?;
            }
            Ok(())
        })?;
        self.publish_messages(|set| {
            for language in languages {
                set.remove(name_of(number, *language).as_str());
            }
        });
        Ok(())
    }

    fn publish_messages(&self, change: impl FnOnce(&mut crate::configuration::Entries)) {
        let mut defs = self.defs.write();
        let mut configuration = (*defs.configuration).clone();
        change(&mut configuration.set);
        defs.configuration = std::sync::Arc::new(configuration);
    }
}
