//! Collations on the wire, and the bytes of varchar.
//!
//! A collation is five bytes (2.2.5.1.2): 20 bits of locale, flags (bit 26: UTF-8) and version, then a sort id for
//! the old SQL collations. This server's own is SQL_Latin1_General_CP1_CI_AS. varchar that clients send is read in
//! the code page of its collation; text that is ASCII is read whatever its collation; pages that are not here are
//! refused rather than guessed.

use crate::ProtocolError;
use crate::reader::Result;
use std::borrow::Cow;
use types::collation::{CodePage, from_cp1252, to_cp1252};

/// A collation as it travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collation(pub [u8; 5]);

impl Collation {
    /// SQL_Latin1_General_CP1_CI_AS: locale 0x0409, ignore case, kana and width, sort id 52.
    pub const LATIN1_GENERAL: Collation = Collation([0x09, 0x04, 0xD0, 0x00, 0x34]);

    /// The locale id.
    pub fn locale(self) -> u32 {
        u32::from_le_bytes([self.0[0], self.0[1], self.0[2], 0]) & 0x000F_FFFF
    }

    fn is_utf8(self) -> bool {
        self.0[3] & 0x04 != 0
    }

    /// Whether varchar of this collation is in code page 1252.
    fn is_cp1252(self) -> bool {
        match self.0[4] {
            // Windows collations go by their locale.
            0 => {}
            50..=54 | 71..=75 | 183..=186 | 210..=217 => return true,
            _ => return false,
        }
        let locale = self.locale() & 0xFFFF;
        match locale & 0x3FF {
            // Arabic, Bulgarian, Chinese, Czech, Greek, Hebrew, Hungarian, Japanese, Korean, Polish, Romanian, Russian.
            0x01 | 0x02 | 0x04 | 0x05 | 0x08 | 0x0D | 0x0E | 0x11 | 0x12 | 0x15 | 0x18 | 0x19 => {
                false
            }
            // Croatian and Serbian, Slovak, Albanian, Thai, Turkish, Urdu, Ukrainian, Belarusian, Slovenian, Estonian,
            // Latvian, Lithuanian, Persian, Vietnamese, Azeri, Macedonian.
            0x1A | 0x1B | 0x1C | 0x1E | 0x1F | 0x20 | 0x22..=0x27 | 0x29 | 0x2A | 0x2C | 0x2F => {
                false
            }
            // Kazakh, Kyrgyz, Uzbek, Tatar, Mongolian.
            0x3F | 0x40 | 0x43 | 0x44 | 0x50 => false,
            _ => true,
        }
    }

    /// The text of varchar bytes.
    pub(crate) fn text(self, bytes: &[u8]) -> Result<Cow<'_, str>> {
        if bytes.is_ascii() {
            return Ok(String::from_utf8_lossy(bytes));
        }
        if self.is_utf8() {
            return Ok(Cow::Owned(CodePage::Utf8.decode(bytes)));
        }
        if !self.is_cp1252() {
            return match types::Collation::page_of_wire(self.locale(), self.0[4]) {
                None | Some(CodePage::Absent) => {
                    Err(ProtocolError::CodePage { locale: self.locale() })
                }
                Some(page) => Ok(Cow::Owned(page.decode(bytes))),
            };
        }
        Ok(Cow::Owned(bytes.iter().map(|&b| from_cp1252(b)).collect()))
    }
}

/// Appends text in code page 1252; a character outside it becomes a question mark.
pub(crate) fn put_cp1252(out: &mut Vec<u8>, text: &str) {
    if text.is_ascii() {
        out.extend_from_slice(text.as_bytes());
    } else {
        out.extend(text.chars().map(|c| to_cp1252(c).unwrap_or(b'?')));
    }
}
