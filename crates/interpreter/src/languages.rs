//! The languages of SET LANGUAGE: names, and the order of dates and first day of the week that come with them.
//!
//! As sys.syslanguages of SQL Server lists them. Messages and names of days stay English.

use types::convert::DateOrder::{self, Dmy, Mdy, Ymd};

/// A language.
pub(crate) struct Language {
    /// Its own name: @@LANGUAGE.
    pub name: &'static str,
    /// Its English name.
    pub alias: &'static str,
    pub order: DateOrder,
    /// DATEFIRST.
    pub first: u8,
}

const fn language(
    name: &'static str,
    alias: &'static str,
    order: DateOrder,
    first: u8,
) -> Language {
    Language { name, alias, order, first }
}

/// By @@LANGID.
pub(crate) const LANGUAGES: [Language; 33] = [
    language("us_english", "English", Mdy, 7),
    language("Deutsch", "German", Dmy, 1),
    language("Français", "French", Dmy, 1),
    language("日本語", "Japanese", Ymd, 7),
    language("Dansk", "Danish", Dmy, 1),
    language("Español", "Spanish", Dmy, 1),
    language("Italiano", "Italian", Dmy, 1),
    language("Nederlands", "Dutch", Dmy, 1),
    language("Norsk", "Norwegian", Dmy, 1),
    language("Português", "Portuguese", Dmy, 7),
    language("Suomi", "Finnish", Dmy, 1),
    language("Svenska", "Swedish", Ymd, 1),
    language("čeština", "Czech", Dmy, 1),
    language("magyar", "Hungarian", Ymd, 1),
    language("polski", "Polish", Dmy, 1),
    language("română", "Romanian", Dmy, 1),
    language("hrvatski", "Croatian", Ymd, 1),
    language("slovenčina", "Slovak", Dmy, 1),
    language("slovenski", "Slovenian", Dmy, 1),
    language("ελληνικά", "Greek", Dmy, 1),
    language("български", "Bulgarian", Dmy, 1),
    language("русский", "Russian", Dmy, 1),
    language("Türkçe", "Turkish", Dmy, 1),
    language("British", "British English", Dmy, 1),
    language("eesti", "Estonian", Dmy, 1),
    language("latviešu", "Latvian", Ymd, 1),
    language("lietuvių", "Lithuanian", Ymd, 1),
    language("Português (Brasil)", "Brazilian", Dmy, 7),
    language("繁體中文", "Traditional Chinese", Ymd, 7),
    language("한국어", "Korean", Ymd, 7),
    language("简体中文", "Simplified Chinese", Ymd, 7),
    language("Arabic", "Arabic", Dmy, 1),
    language("ไทย", "Thai", Dmy, 7),
];

/// The place of a language in [`LANGUAGES`], by either name, any case.
pub(crate) fn find(name: &str) -> Option<u8> {
    let folded = name.to_lowercase();
    let same = |l: &Language| l.name.to_lowercase() == folded || l.alias.to_lowercase() == folded;
    LANGUAGES.iter().position(same).map(|i| i as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_has_two_names() {
        assert_eq!(find("US_ENGLISH"), Some(0));
        assert_eq!(find("english"), Some(0));
        assert_eq!(find("français"), find("French"));
        assert_eq!(find("Klingon"), None);
        assert_eq!(LANGUAGES[23].alias, "British English");
    }
}
