//! Bytes of char fields as text.

use types::collation::from_cp1252;

/// A code page that char fields may be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodePage {
    /// 1252: the server's own, ACP and RAW.
    Latin1,
    /// 65001.
    Utf8,
    /// 437: OEM.
    Dos,
    /// 850.
    DosLatin1,
}

/// Characters 128 to 255.
const DOS: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";
const DOS_LATIN1: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}";

impl CodePage {
    /// By CODEPAGE = 'name'; None where it is not here (4868).
    pub fn of(name: &str) -> Option<CodePage> {
        Some(match name.trim().to_ascii_uppercase().as_str() {
            "ACP" | "RAW" | "1252" | "28591" | "20127" => CodePage::Latin1,
            "OEM" | "437" => CodePage::Dos,
            "850" => CodePage::DosLatin1,
            "65001" => CodePage::Utf8,
            _ => return None,
        })
    }

    /// Text; None where the bytes are none in this code page.
    pub fn text(self, bytes: &[u8]) -> Option<String> {
        if bytes.is_ascii() || self == CodePage::Utf8 {
            return std::str::from_utf8(bytes).ok().map(str::to_owned);
        }
        let high = |table: &str| -> String {
            let one = |b: &u8| match b.checked_sub(128) {
                None => char::from(*b),
                Some(i) => table.chars().nth(usize::from(i)).unwrap_or('?'),
            };
            bytes.iter().map(one).collect()
        };
        Some(match self {
            CodePage::Dos => high(DOS),
            CodePage::DosLatin1 => high(DOS_LATIN1),
            _ => bytes.iter().map(|b| from_cp1252(*b)).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_whole() {
        assert_eq!(DOS.chars().count(), 128);
        assert_eq!(DOS_LATIN1.chars().count(), 128);
        // From the Unicode consortium's CP437.TXT and CP850.TXT.
        assert_eq!(CodePage::Dos.text(b"\x81\x9b\xe1\xfe").as_deref(), Some("ü¢ß■"));
        assert_eq!(CodePage::DosLatin1.text(b"\x9b\xb5\xd5\xe4").as_deref(), Some("øÁıõ"));
        assert_eq!(CodePage::Latin1.text(b"\x80\xfc").as_deref(), Some("€ü"));
        assert_eq!(CodePage::Utf8.text(b"\xfc"), None);
    }
}
