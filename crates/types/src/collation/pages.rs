//! Code pages: the bytes of varchar under collations of other languages.
//!
//! Promise: what a page [holds](CodePage::holds) comes back as it was; anything else is the [nearest](CodePage::nearest)
//! character, a question mark for want of one, of one byte.
//! ASCII is its own bytes in each of them, so callers keep ASCII to themselves and come here for the rest. Windows'
//! pages are those of the Encoding Standard, which adds a few characters to some of them.

use super::{from_cp1252, to_cp1252, units};
use encoding_rs::{self as standard, Encoding};
use runtime::task;

/// How varchar keeps its characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodePage {
    /// None: the collation is for nchar and nvarchar only.
    Absent,
    Cp1252,
    Utf8,
    Cp874,
    Cp932,
    Cp936,
    Cp949,
    Cp950,
    Cp1250,
    Cp1251,
    Cp1253,
    Cp1254,
    Cp1255,
    Cp1256,
    Cp1257,
    Cp1258,
}

impl CodePage {
    /// COLLATIONPROPERTY's number.
    pub fn number(self) -> i32 {
        match self {
            CodePage::Absent => 0,
            CodePage::Cp1252 => 1252,
            CodePage::Utf8 => 65_001,
            CodePage::Cp874 => 874,
            CodePage::Cp932 => 932,
            CodePage::Cp936 => 936,
            CodePage::Cp949 => 949,
            CodePage::Cp950 => 950,
            CodePage::Cp1250 => 1250,
            CodePage::Cp1251 => 1251,
            CodePage::Cp1253 => 1253,
            CodePage::Cp1254 => 1254,
            CodePage::Cp1255 => 1255,
            CodePage::Cp1256 => 1256,
            CodePage::Cp1257 => 1257,
            CodePage::Cp1258 => 1258,
        }
    }

    /// Appends the text's bytes.
    pub fn encode_into(self, text: &str, out: &mut Vec<u8>) {
        if text.is_ascii() {
            return out.extend_from_slice(text.as_bytes());
        }
        match self.encoding() {
            None if self == CodePage::Utf8 => units::put_utf8(text, out),
            None => out.extend(text.chars().map(|c| to_cp1252(self.nearest(c)).unwrap_or(b'?'))),
            Some(encoding) => {
                let mut buffer = [0; 4];
                for c in text.chars() {
                    match encoded(encoding, c, &mut buffer) {
                        Some(bytes) => out.extend_from_slice(bytes),
                        None => out.push(b'?'),
                    }
                }
            }
        }
    }

    /// The text of bytes; what is none is U+FFFD. Others go first between pieces of a long one, and of a request that is to
    /// stop the text ends early.
    pub fn decode(self, bytes: &[u8]) -> String {
        match self.encoding() {
            None if self == CodePage::Utf8 => units::from_utf8(bytes),
            None => bytes.iter().map(|b| from_cp1252(*b)).collect(),
            Some(encoding) if bytes.len() > units::PIECE_BYTES => in_pieces(encoding, bytes),
            Some(encoding) => encoding.decode_without_bom_handling(bytes).0.into_owned(),
        }
    }

    /// Has it characters of more than one byte?
    pub fn has_long_characters(self) -> bool {
        use CodePage::{Cp932, Cp936, Cp949, Cp950, Utf8};
        matches!(self, Utf8 | Cp932 | Cp936 | Cp949 | Cp950)
    }

    /// Is the character in it?
    pub fn holds(self, c: char) -> bool {
        match self.encoding() {
            None => self == CodePage::Utf8 || to_cp1252(c).is_some(),
            Some(encoding) => c.is_ascii() || encoded(encoding, c, &mut [0; 4]).is_some(),
        }
    }

    /// The character itself where the page holds it, else the one nearest to it, or a question mark.
    pub fn nearest(self, c: char) -> char {
        match self {
            _ if self.holds(c) => c,
            CodePage::Cp1252 => super::best_fit::best_fit(c).unwrap_or('?'),
            _ => '?',
        }
    }

    /// Bytes that the character takes; one where there is but its question mark.
    pub fn bytes_of(self, c: char) -> usize {
        match self {
            _ if c.is_ascii() => 1,
            // Two halves are a character of four bytes.
            CodePage::Utf8 if units::is_half(c) => 2,
            CodePage::Utf8 => c.len_utf8(),
            CodePage::Cp932 | CodePage::Cp936 | CodePage::Cp949 | CodePage::Cp950 => {
                let mut buffer = [0; 4];
                let bytes = self.encoding().and_then(|page| encoded(page, c, &mut buffer));
                bytes.map_or(1, <[u8]>::len)
            }
            _ => 1,
        }
    }

    /// `None` for UTF-8 and 1252. A collation without a page has texts of varchar only beside others: in 1252.
    fn encoding(self) -> Option<&'static Encoding> {
        Some(match self {
            CodePage::Utf8 | CodePage::Absent | CodePage::Cp1252 => return None,
            CodePage::Cp874 => standard::WINDOWS_874,
            CodePage::Cp932 => standard::SHIFT_JIS,
            CodePage::Cp936 => standard::GBK,
            CodePage::Cp949 => standard::EUC_KR,
            CodePage::Cp950 => standard::BIG5,
            CodePage::Cp1250 => standard::WINDOWS_1250,
            CodePage::Cp1251 => standard::WINDOWS_1251,
            CodePage::Cp1253 => standard::WINDOWS_1253,
            CodePage::Cp1254 => standard::WINDOWS_1254,
            CodePage::Cp1255 => standard::WINDOWS_1255,
            CodePage::Cp1256 => standard::WINDOWS_1256,
            CodePage::Cp1257 => standard::WINDOWS_1257,
            CodePage::Cp1258 => standard::WINDOWS_1258,
        })
    }
}

/// The decoder keeps what a piece has of a character whose end is in the next one.
fn in_pieces(encoding: &'static Encoding, bytes: &[u8]) -> String {
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let mut out = String::new();
    let mut rest = bytes;
    loop {
        let piece = &rest[..rest.len().min(units::PIECE_BYTES)];
        let is_last = piece.len() == rest.len();
        out.reserve(decoder.max_utf8_buffer_length(piece.len()).unwrap_or(piece.len()));
        let (result, read, _) = decoder.decode_to_string(piece, &mut out, is_last);
        rest = &rest[read..];
        if is_last && result == standard::CoderResult::InputEmpty || task::is_stopped() {
            return out;
        }
        task::let_others();
    }
}

/// A character's bytes, where the page has it and gives the same character back.
fn encoded<'b>(encoding: &'static Encoding, c: char, buffer: &'b mut [u8; 4]) -> Option<&'b [u8]> {
    let mut utf8 = [0; 4];
    let text = c.encode_utf8(&mut utf8);
    let mut encoder = encoding.new_encoder();
    let (result, _, n) = encoder.encode_from_utf8_without_replacement(text, buffer, true);
    let bytes = &buffer[..n];
    let whole = matches!(result, standard::EncoderResult::InputEmpty);
    // A few of the far east's characters are written as another of the same look.
    let back = || encoding.decode_without_bom_handling_and_without_replacement(bytes);
    (whole && back().is_some_and(|back| back == *text)).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_page_holds_comes_back() {
        let samples = [
            (CodePage::Cp1250, "Příliš žluťoučký"),
            (CodePage::Cp1251, "Съешь ещё"),
            (CodePage::Cp1253, "Ελληνικά"),
            (CodePage::Cp1254, "ışğ"),
            (CodePage::Cp1255, "שלום"),
            (CodePage::Cp1256, "الله مع المتقين"),
            (CodePage::Cp1257, "ąčęė"),
            (CodePage::Cp874, "ภาษาไทย"),
            (CodePage::Cp932, "昨夜のｺﾝｻｰﾄ"),
            (CodePage::Cp936, "比尔·拉莫斯"),
            (CodePage::Cp949, "울란바따르"),
            (CodePage::Cp950, "章草"),
            (CodePage::Utf8, "abc🙂"),
            (CodePage::Utf8, &units::from_units([0xDBFE, 0xDCE2].into_iter())),
        ];
        for (page, text) in samples {
            let mut bytes = Vec::new();
            page.encode_into(text, &mut bytes);
            assert_eq!(page.decode(&bytes), text, "{page:?}");
            assert_eq!(bytes.len(), text.chars().map(|c| page.bytes_of(c)).sum::<usize>());
            assert!(text.chars().all(|c| page.holds(c)), "{page:?}");
        }
    }

    #[test]
    fn what_it_does_not_hold_is_a_question_mark() {
        let mut bytes = Vec::new();
        CodePage::Cp1251.encode_into("Ж比", &mut bytes);
        assert_eq!(bytes, [0xC6, b'?']);
        assert!(!CodePage::Cp1251.holds('比') && CodePage::Cp1251.bytes_of('比') == 1);
    }
}
