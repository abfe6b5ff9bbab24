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
    /// The locale.
    pub lcid: i32,
}

const fn language(
    name: &'static str,
    alias: &'static str,
    order: DateOrder,
    first: u8,
    lcid: i32,
) -> Language {
    Language { name, alias, order, first, lcid }
}

/// By @@LANGID.
pub(crate) const LANGUAGES: [Language; 33] = [
    language("us_english", "English", Mdy, 7, 1033),
    language("Deutsch", "German", Dmy, 1, 1031),
    language("Français", "French", Dmy, 1, 1036),
    language("日本語", "Japanese", Ymd, 7, 1041),
    language("Dansk", "Danish", Dmy, 1, 1030),
    language("Español", "Spanish", Dmy, 1, 3082),
    language("Italiano", "Italian", Dmy, 1, 1040),
    language("Nederlands", "Dutch", Dmy, 1, 1043),
    language("Norsk", "Norwegian", Dmy, 1, 2068),
    language("Português", "Portuguese", Dmy, 7, 2070),
    language("Suomi", "Finnish", Dmy, 1, 1035),
    language("Svenska", "Swedish", Ymd, 1, 1053),
    language("čeština", "Czech", Dmy, 1, 1029),
    language("magyar", "Hungarian", Ymd, 1, 1038),
    language("polski", "Polish", Dmy, 1, 1045),
    language("română", "Romanian", Dmy, 1, 1048),
    language("hrvatski", "Croatian", Ymd, 1, 1050),
    language("slovenčina", "Slovak", Dmy, 1, 1051),
    language("slovenski", "Slovenian", Dmy, 1, 1060),
    language("ελληνικά", "Greek", Dmy, 1, 1032),
    language("български", "Bulgarian", Dmy, 1, 1026),
    language("русский", "Russian", Dmy, 1, 1049),
    language("Türkçe", "Turkish", Dmy, 1, 1055),
    language("British", "British English", Dmy, 1, 2057),
    language("eesti", "Estonian", Dmy, 1, 1061),
    language("latviešu", "Latvian", Ymd, 1, 1062),
    language("lietuvių", "Lithuanian", Ymd, 1, 1063),
    language("Português (Brasil)", "Brazilian", Dmy, 7, 1046),
    language("繁體中文", "Traditional Chinese", Ymd, 7, 1028),
    language("한국어", "Korean", Ymd, 7, 1042),
    language("简体中文", "Simplified Chinese", Ymd, 7, 2052),
    language("Arabic", "Arabic", Dmy, 1, 1025),
    language("ไทย", "Thai", Dmy, 7, 1054),
];

/// The place of a language in [`LANGUAGES`], by either name, any case.
pub(crate) fn find(name: &str) -> Option<u8> {
    let folded = name.to_lowercase();
    let same = |l: &Language| l.name.to_lowercase() == folded || l.alias.to_lowercase() == folded;
    LANGUAGES.iter().position(same).map(|i| i as u8)
}

/// `language_id` of the messages that are told in a language: British English has the American ones.
pub(crate) fn message_language(place: u8) -> i32 {
    const BRITISH: i32 = 2057;
    match LANGUAGES.get(usize::from(place)).map(|language| language.lcid) {
        None | Some(BRITISH) => 1033,
        Some(lcid) => lcid,
    }
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
