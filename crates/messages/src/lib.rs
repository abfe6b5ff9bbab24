//! The server's own messages, as sys.messages lists them.
//!
//! The crate promises a row for each number that a site of this server gives as a literal to one of the usual makers of errors
//! (`cargo xtask tidy` names them, and holds the list against the sources), in the order of their numbers, found by halving.
//! It knows nothing of sessions, languages, or of what users add.
//!
//! A row is a line of `english.txt`: number, severity, 1 if it goes to the log always, text with RAISERROR's places
//! (`%.*ls`, `%d`, `%S_MSG` ...). The severity is the message's own, which sys.messages has; where SQL Server raises it with
//! another one (108 and 104 of the binder with 16, 262 with 14, 701 with 17 ...), the site says which.
//!
//! Source of numbers, severities and of most texts: SQL Server's documentation, "Database Engine events and errors". Numbers that
//! it has not (37525, most of 41300) have the severity and the text that their site raises.
#![forbid(unsafe_code)]

use std::sync::OnceLock;

/// One of the server's own messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerMessage {
    /// `message_id`: 1 to 49999.
    pub number: i32,
    /// 1 to 25.
    pub severity: u8,
    /// It goes to the log always.
    pub is_logged: bool,
    /// With places as RAISERROR's.
    pub text: &'static str,
}

/// All of them, by number.
pub fn server_messages() -> &'static [ServerMessage] {
    static ALL: OnceLock<Vec<ServerMessage>> = OnceLock::new();
    ALL.get_or_init(|| include_str!("english.txt").lines().filter_map(parse).collect())
}

/// The message of a number.
pub fn server_message(number: i32) -> Option<ServerMessage> {
    let all = server_messages();
    all.binary_search_by_key(&number, |message| message.number).ok().map(|i| all[i])
}

fn parse(line: &'static str) -> Option<ServerMessage> {
    let mut parts = line.splitn(4, ' ');
    Some(ServerMessage {
        number: parts.next()?.parse().ok()?,
        severity: parts.next()?.parse().ok()?,
        is_logged: parts.next()? == "1",
        text: parts.next()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_message_in_the_order_of_numbers() {
        let all = server_messages();
        assert_eq!(all.len(), include_str!("english.txt").lines().count());
        assert!(all.windows(2).all(|pair| pair[0].number < pair[1].number));
        assert!(all.iter().all(|m| (1..50_000).contains(&m.number)));
        assert!(all.iter().all(|m| (1..=25).contains(&m.severity) && !m.text.is_empty()));
    }

    #[test]
    fn a_number_is_found_or_not() {
        assert_eq!(server_message(208).map(|m| m.text), Some("Invalid object name '%.*ls'."));
        assert_eq!(server_message(50_000), None);
    }
}
