//! Order by language: texts compared as CLDR has it, through ICU4X.
//!
//! A key is the primary and, where accents count, the secondary weights with the level of case where case counts; then
//! a byte for each character where kana or width count. It is as long as ICU makes it, and ends with 0.
//!
//! Invariants: comparison, keys and hashes agree, for the comparison has the levels of the key. Keys are kept in
//! indexes: what changes a byte of them, an update of the crate or of its data, must raise [`DATA`], which stands in
//! the number of each such collation; a test holds the bytes.

use super::{Rule, trim_blanks};
use crate::collation::families::{FAMILIES, Family};
use crate::collation::pages::CodePage;
use icu_collator::options::{CaseLevel, CollatorOptions, Strength};
use icu_collator::{Collator, CollatorBorrowed};
use std::cmp::Ordering;
use std::sync::OnceLock;

/// The version of the order's data, and of how keys are made: CLDR 49 of icu_collator 2.4.
pub(crate) const DATA: u32 = 1;

/// The rule of a collation with a language or a code page of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Language(u16);

pub(crate) const CS: u16 = 1;
pub(crate) const AI: u16 = 2;
const KS: u16 = 4;
const WS: u16 = 8;
const BIN: u16 = 16;
const UTF8: u16 = 32;
const FAMILY_AT: u32 = 6;
/// Latin1_General_100 in UTF-8: the order is that of the one table of weights.
pub(crate) const LATIN1: u16 = (1 << 9) - 1;

impl Language {
    /// `flags`: case counts, accents do not, kana counts, width counts, by code points, varchar is UTF-8.
    pub(crate) fn new(family: u16, flags: [bool; 6]) -> Language {
        let bits = flags.iter().zip([CS, AI, KS, WS, BIN, UTF8]);
        let flags = bits.filter(|(on, _)| **on).map(|(_, bit)| bit).sum::<u16>();
        Language(family << FAMILY_AT | flags)
    }

    /// What [`Language::new`] was given.
    pub(crate) fn parts(self) -> (u16, [bool; 6]) {
        (self.0 >> FAMILY_AT, [CS, AI, KS, WS, BIN, UTF8].map(|bit| self.has(bit)))
    }

    /// A number below 2^15, and back.
    pub(crate) fn bits(self) -> u16 {
        self.0
    }

    pub(crate) fn of_bits(bits: u16) -> Language {
        Language(bits & 0x7FFF)
    }

    fn has(self, bit: u16) -> bool {
        self.0 & bit != 0
    }

    fn family(self) -> Option<&'static Family> {
        FAMILIES.get((self.0 >> FAMILY_AT) as usize)
    }

    /// How varchar is kept.
    pub fn code_page(self) -> CodePage {
        match self.family() {
            _ if self.has(UTF8) => CodePage::Utf8,
            Some(family) => family.page,
            None => CodePage::Cp1252,
        }
    }

    /// The rule of the one table of weights, or of code points, where that orders its texts.
    pub fn table(self) -> Option<Rule> {
        match (self.family(), self.has(CS), self.has(AI)) {
            _ if self.has(BIN) => Some(Rule::Bin),
            (Some(_), ..) => None,
            (None, false, false) => Some(Rule::CiAs),
            (None, true, false) => Some(Rule::CsAs),
            (None, false, true) => Some(Rule::CiAi),
            (None, true, true) => Some(Rule::CsAi),
        }
    }

    /// Are i and ı letters each with a capital of its own?
    pub(crate) fn has_dotless_i(self) -> bool {
        self.family().is_some_and(|family| matches!(family.order, "tr" | "az")) && !self.has(BIN)
    }

    fn collator(self) -> &'static CollatorBorrowed<'static> {
        /// By family, case and accents.
        static COLLATORS: [OnceLock<CollatorBorrowed<'static>>; 4 * FAMILIES_MOST] =
            [const { OnceLock::new() }; 4 * FAMILIES_MOST];
        const FAMILIES_MOST: usize = 192;
        const { assert!(FAMILIES.len() <= FAMILIES_MOST) };
        let at = (self.0 >> FAMILY_AT) as usize * 4 + (self.0 & (CS | AI)) as usize;
        COLLATORS[at].get_or_init(|| {
            let mut options = CollatorOptions::default();
            options.strength =
                Some(if self.has(AI) { Strength::Primary } else { Strength::Secondary });
            options.case_level = Some(if self.has(CS) { CaseLevel::On } else { CaseLevel::Off });
            let locale = self.family().map_or("und", |family| family.order);
            let made = icu_locale_core::Locale::try_from_str(locale)
                .ok()
                .and_then(|locale| Collator::try_new((&locale).into(), options).ok());
            // The names are constants and the data is in the binary: a test makes each of them.
            made.unwrap_or_else(|| panic!("no order of texts for {locale}"))
        })
    }

    /// Comparison without trailing blanks. Only where there is no [`Language::table`].
    pub(crate) fn compare(self, a: &str, b: &str) -> Ordering {
        let (a, b) = (trim_blanks(a), trim_blanks(b));
        let mut order = self.collator().compare(a, b);
        for (bit, level) in LEVELS {
            if self.has(bit) {
                order = order.then_with(|| a.chars().map(level).cmp(b.chars().map(level)));
            }
        }
        order
    }

    /// Appends the sort key. Only where there is no [`Language::table`].
    pub(crate) fn sort_key_into(self, text: &str, out: &mut Vec<u8>) {
        let text = trim_blanks(text);
        // A vector takes all that it is given.
        let Ok(()) = self.collator().write_sort_key_to(text, out);
        out.push(0);
        for (bit, level) in LEVELS {
            if self.has(bit) {
                out.extend(text.chars().map(level));
                out.push(0);
            }
        }
    }
}

type Level = fn(char) -> u8;

const LEVELS: [(u16, Level); 2] = [(KS, kana), (WS, width)];

/// 2 for katakana, 1 for all else.
fn kana(c: char) -> u8 {
    match c {
        '\u{30A1}'..='\u{30FA}' | '\u{30FD}'..='\u{30FE}' | '\u{FF66}'..='\u{FF9D}' => 2,
        _ => 1,
    }
}

/// 1 for what has but one width, 2 for wide forms of narrow characters, 3 for narrow ones of wide characters.
fn width(c: char) -> u8 {
    match c {
        '\u{FF01}'..='\u{FF60}' | '\u{FFE0}'..='\u{FFE6}' => 2,
        '\u{FF61}'..='\u{FFDC}' => 3,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Collation;

    fn rule(name: &str) -> Rule {
        Collation::of_name(name).unwrap_or_else(|| panic!("{name}")).rule()
    }

    fn sorted(name: &str, words: &str) -> String {
        let rule = rule(name);
        let mut words: Vec<&str> = words.split(' ').collect();
        words.sort_by(|a, b| crate::collation::compare_by(rule, a, b));
        words.join(" ")
    }

    #[test]
    fn every_language_has_its_order() {
        for collation in Collation::all() {
            let mut key = Vec::new();
            collation.rule().sort_key_into("a", &mut key);
            assert!(key.len() > 1, "{}", collation.name());
        }
    }

    #[test]
    fn languages_order_as_their_dictionaries() {
        // CLDR's charts of collation, by locale.
        assert_eq!(sorted("Finnish_Swedish_CI_AS", "ö z å a ä"), "a z å ä ö");
        assert_eq!(sorted("Latin1_General_CI_AS", "ö z å a ä"), "a ä å ö z");
        assert_eq!(sorted("Danish_Norwegian_CI_AS", "å ø æ z a"), "a z æ ø å");
        assert_eq!(sorted("Czech_CI_AS", "hora chata cesta ida"), "cesta hora chata ida");
        assert_eq!(sorted("Traditional_Spanish_CI_AS", "cz chico d"), "cz chico d");
        assert_eq!(sorted("Modern_Spanish_CI_AS", "cz chico d"), "chico cz d");
        assert_eq!(sorted("Estonian_CI_AS", "t z s ž"), "s z ž t");
        assert_eq!(sorted("Polish_CI_AS", "m ł l z ó o"), "l ł m o ó z");
        assert_eq!(sorted("Turkish_CI_AS", "i ı h j"), "h ı i j");
        assert_eq!(sorted("Chinese_PRC_CI_AS", "中 啊 国"), "啊 国 中");
        assert_eq!(sorted("Chinese_PRC_Stroke_CI_AS", "国 一 中"), "一 中 国");
    }

    #[test]
    fn flags_say_what_counts() {
        let equal = |name: &str, a: &str, b: &str| {
            let rule = rule(name);
            let mut keys = (Vec::new(), Vec::new());
            rule.sort_key_into(a, &mut keys.0);
            rule.sort_key_into(b, &mut keys.1);
            let order = crate::collation::compare_by(rule, a, b);
            assert_eq!(keys.0.cmp(&keys.1), order, "{name} {a} {b}");
            order.is_eq()
        };
        assert!(equal("French_CI_AS", "Été", "éTÉ  ") && !equal("French_CI_AS", "ete", "été"));
        assert!(equal("French_CI_AI", "Ete", "été") && !equal("French_CS_AI", "Ete", "été"));
        assert!(equal("French_CS_AI", "ete", "été") && !equal("French_CS_AS", "ete", "été"));
        assert!(equal("Japanese_CI_AS", "あ", "ア") && equal("Japanese_CI_AS", "ア", "ｱ"));
        assert!(!equal("Japanese_CI_AS_KS", "あ", "ア") && equal("Japanese_CI_AS_KS", "ア", "ｱ"));
        assert!(equal("Japanese_CI_AS_WS", "あ", "ア") && !equal("Japanese_CI_AS_WS", "a", "ａ"));
        assert!(equal("Turkish_CI_AS", "I", "ı") && !equal("Turkish_CI_AS", "I", "i"));
        assert!(!equal("Greek_BIN2", "α", "Α") && equal("Greek_CI_AI", "ά", "Α"));
    }

    #[test]
    fn the_bytes_of_keys_stay() {
        // Kept in indexes: see DATA.
        let key = |name: &str, text: &str| {
            let mut key = Vec::new();
            rule(name).sort_key_into(text, &mut key);
            key.iter().map(|b| format!("{b:02X}")).collect::<String>()
        };
        let keys = [
            key("Polish_CI_AS", "Łódź"),
            key("Japanese_CS_AS_KS_WS", "かカａ"),
            key("Arabic_CI_AI", "الله"),
        ];
        let kept =
            ["42024802315E02010800", "5F1212032B010701FF10000102010001010200", "671AC6C6D800"];
        assert_eq!(keys, kept);
    }
}
