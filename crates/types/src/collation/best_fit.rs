//! The nearest character of code page 1252 for some that it does not have: how nvarchar becomes varchar.
//!
//! Those of Windows' table of best fits that texts have: letters without their signs, forms of full width, spaces,
//! dashes and quotes. What is not here is a question mark. Source: Microsoft's bestfit1252.txt at unicode.org.

/// Letters from U+0100 on; `_` is one that the page has or that has no near one.
const LATIN: &str = "AaAaAaCcCcCcCcDd\
                     \u{D0}dEeEeEeEeEeGgGg\
                     GgGgHhHhIiIiIiIi\
                     Ii__JjKk_LlLlLl_\
                     _LlNnNnNn___OoOo\
                     Oo__RrRrRrSsSsSs\
                     __TtTtTtUuUuUuUu\
                     UuUuWwYy_ZzZz";

/// Others, in the order of their codes.
const OTHERS: &[(char, char)] = &[
    ('\u{0180}', 'b'),
    ('\u{0189}', '\u{D0}'),
    ('\u{0191}', '\u{192}'),
    ('\u{0197}', 'I'),
    ('\u{019A}', 'l'),
    ('\u{019F}', 'O'),
    ('\u{01A0}', 'O'),
    ('\u{01A1}', 'o'),
    ('\u{01AB}', 't'),
    ('\u{01AE}', 'T'),
    ('\u{01AF}', 'U'),
    ('\u{01B0}', 'u'),
    ('\u{01B6}', 'z'),
    ('\u{01CD}', 'A'),
    ('\u{01CE}', 'a'),
    ('\u{01CF}', 'I'),
    ('\u{01D0}', 'i'),
    ('\u{01D1}', 'O'),
    ('\u{01D2}', 'o'),
    ('\u{01D3}', 'U'),
    ('\u{01D4}', 'u'),
    ('\u{01D5}', 'U'),
    ('\u{01D6}', 'u'),
    ('\u{01D7}', 'U'),
    ('\u{01D8}', 'u'),
    ('\u{01D9}', 'U'),
    ('\u{01DA}', 'u'),
    ('\u{01DB}', 'U'),
    ('\u{01DC}', 'u'),
    ('\u{01DE}', 'A'),
    ('\u{01DF}', 'a'),
    ('\u{01E4}', 'G'),
    ('\u{01E5}', 'g'),
    ('\u{01E6}', 'G'),
    ('\u{01E7}', 'g'),
    ('\u{01E8}', 'K'),
    ('\u{01E9}', 'k'),
    ('\u{01EA}', 'O'),
    ('\u{01EB}', 'o'),
    ('\u{01EC}', 'O'),
    ('\u{01ED}', 'o'),
    ('\u{01F0}', 'j'),
    ('\u{02BC}', '\''),
    ('\u{02C8}', '\''),
    ('\u{0393}', 'G'),
    ('\u{0398}', 'T'),
    ('\u{03A3}', 'S'),
    ('\u{03A6}', 'F'),
    ('\u{03A9}', 'O'),
    ('\u{03B1}', 'a'),
    ('\u{03B4}', 'd'),
    ('\u{03B5}', 'e'),
    ('\u{03BC}', '\u{B5}'),
    ('\u{03C0}', 'p'),
    ('\u{03C3}', 's'),
    ('\u{03C4}', 't'),
    ('\u{03C6}', 'f'),
    ('\u{2010}', '-'),
    ('\u{2011}', '-'),
    ('\u{2032}', '\''),
    ('\u{2035}', '`'),
    ('\u{2044}', '/'),
    ('\u{2074}', '4'),
    ('\u{2075}', '5'),
    ('\u{2076}', '6'),
    ('\u{2077}', '7'),
    ('\u{2078}', '8'),
    ('\u{207F}', 'n'),
    ('\u{2212}', '-'),
    ('\u{2215}', '/'),
    ('\u{2216}', '\\'),
    ('\u{2217}', '*'),
    ('\u{221E}', '8'),
    ('\u{3000}', ' '),
];

/// A character of the page, if one is near.
pub(super) fn best_fit(c: char) -> Option<char> {
    let code = c as u32;
    match code {
        0x100..0x180 => LATIN.chars().nth(code as usize - 0x100).filter(|near| *near != '_'),
        0x2000..=0x2006 => Some(' '),
        0x2080..=0x2089 => char::from_digit(code - 0x2080, 10),
        0xFF01..=0xFF5E => char::from_u32(code - 0xFEE0),
        _ => {
            let at = OTHERS.binary_search_by_key(&c, |(from, _)| *from).ok()?;
            Some(OTHERS[at].1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collation::to_cp1252;

    #[test]
    fn letters_lose_their_signs() {
        let near =
            |text: &str| -> String { text.chars().map(|c| best_fit(c).unwrap_or('?')).collect() };
        assert_eq!(near("āĀŁłŃńőŘśŢťŭŵŶźŻ"), "aALlNnoRsTtuwYzZ");
        assert_eq!(near("ĐđĦıĴķĹ\u{2010}Ａ～ж"), "\u{D0}dHiJkL-A~?");
        assert!(OTHERS.is_sorted());
        let all = OTHERS.iter().map(|(_, to)| *to).chain(LATIN.chars());
        assert!(all.clone().all(|to| to_cp1252(to).is_some()));
        // Those that are there need no other: `_` stands in their places.
        for (i, to) in LATIN.chars().enumerate() {
            let from = char::from_u32(0x100 + i as u32).unwrap();
            assert!(to == '_' || to_cp1252(from).is_none(), "{from}");
        }
    }
}
