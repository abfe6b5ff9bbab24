//! Collations by name: what a name says, and what it is on the wire.
//!
//! There are all Windows collations of SQL Server 2022, and of its own older ones those whose code page is here.
//! Latin1_General and SQL_Latin1_General_CP1 share one table of weights, in which kana, width and supplementary
//! characters make no difference; the others, `families`, have the order of their language.
//! Source of names and numbers: SQL documentation, "Windows collation names", "COLLATIONPROPERTY", "fn_helpcollations";
//! of the wire form: MS-TDS 2.2.5.1.2.

use super::families::{FAMILIES, Family, Kind, Title};
use super::language::{self, Language};
use super::{CodePage, Rule};
use crate::Value;

/// A collation. The default is SQL_Latin1_General_CP1_CI_AS.
///
/// From the lowest bit: two for the three collations of the one table of weights, or 3; the flags below; for 3 nine
/// bits with the place in [`FAMILIES`], VSS, and eight with the version of the order's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Collation(u32);

const FAMILY: u32 = 3;
const SQL_CP1: u32 = 0;
const LATIN1: u32 = 1;
const LATIN1_100: u32 = 2;
const OTHER: u32 = 3;
const CS: u32 = 1 << 2;
const AI: u32 = 1 << 3;
const KS: u32 = 1 << 4;
const WS: u32 = 1 << 5;
const SC: u32 = 1 << 6;
const UTF8: u32 = 1 << 7;
const BIN: u32 = 1 << 8;
const BIN2: u32 = 1 << 9;
const PLACE_AT: u32 = 10;
const PLACES: u32 = (1 << 9) - 1;
const VSS: u32 = 1 << 19;
const DATA_AT: u32 = 20;
const USED: u32 = (1 << 28) - 1;

const PREFIXES: [(&str, u32); 3] = [
    ("SQL_Latin1_General_CP1", SQL_CP1),
    ("Latin1_General_100", LATIN1_100),
    ("Latin1_General", LATIN1),
];

/// The bits of what begins with each of them.
fn beginnings() -> impl Iterator<Item = (&'static str, u32)> {
    let others = FAMILIES.iter().enumerate().map(|(place, family)| {
        let bits = OTHER | (place as u32) << PLACE_AT | language::DATA << DATA_AT;
        (family.name, bits)
    });
    PREFIXES.into_iter().chain(others)
}

impl Collation {
    /// Is it no name of a collation, but one for the database's own?
    pub fn is_databases(name: &str) -> bool {
        ["DATABASE_DEFAULT", "CATALOG_DEFAULT"].iter().any(|own| name.eq_ignore_ascii_case(own))
    }

    /// Is it the name of one of SQL Server's own that is not here: in code page 437 or 850, or of EBCDIC? All of Windows are.
    pub fn is_elsewhere(name: &str) -> bool {
        const ABSENT: [&str; 6] = [
            "_CP437_",
            "_CP850_",
            "SQL_EBCDIC",
            "SQL_ALTDICTION",
            "SQL_MIXDICTION",
            "SQL_1XCOMPAT",
        ];
        let upper = name.to_ascii_uppercase();
        upper.starts_with("SQL_") && ABSENT.iter().any(|part| upper.contains(part))
    }

    /// By its name, any case; `None` for those that are not here.
    pub fn of_name(name: &str) -> Option<Collation> {
        beginnings().find_map(|(prefix, bits)| {
            let head = name.get(..prefix.len())?;
            let rest = name[prefix.len()..].strip_prefix('_')?;
            if !head.eq_ignore_ascii_case(prefix) {
                return None;
            }
            let found = rest.split('_').try_fold(bits, |bits, part| {
                let bit = match part.to_ascii_uppercase().as_str() {
                    "CI" | "AS" => 0,
                    "CS" => CS,
                    "AI" => AI,
                    "KS" => KS,
                    "WS" => WS,
                    "SC" => SC,
                    "VSS" => VSS,
                    "UTF8" => UTF8,
                    "BIN" => BIN,
                    "BIN2" => BIN2,
                    _ => return None,
                };
                Some(bits | bit)
            })?;
            // The parts must stand in their order, once: the name made of them is the name.
            let found = Collation(found);
            (found.is_known() && found.name().eq_ignore_ascii_case(name)).then_some(found)
        })
    }

    fn has(self, bits: u32) -> bool {
        self.0 & bits != 0
    }

    /// `None` for those of the one table of weights.
    fn family(self) -> Option<&'static Family> {
        match self.0 & FAMILY {
            OTHER => FAMILIES.get(self.place() as usize),
            _ => None,
        }
    }

    fn place(self) -> u32 {
        self.0 >> PLACE_AT & PLACES
    }

    fn is_known(self) -> bool {
        let binary = self.has(BIN | BIN2);
        let flags = self.0 & (CS | AI | KS | WS | SC | UTF8 | BIN | BIN2 | VSS);
        let only = |bits: u32| flags & !bits == 0;
        let rest = self.0 & !(FAMILY | flags);
        if let Some(family) = self.family() {
            let data = self.0 >> DATA_AT;
            if data != language::DATA || self.0 & !USED != 0 {
                return false;
            }
            return match family.kind {
                Kind::Sql(cs, ci, ai) => match flags {
                    CS => cs != 0,
                    AI => ai != 0,
                    flags => flags == 0 && ci != 0,
                },
                _ if binary => only(BIN) || only(BIN2),
                Kind::V80 => only(CS | AI | KS | WS),
                Kind::V140 => only(CS | AI | KS | WS | VSS | UTF8),
                Kind::V90 | Kind::V100 => {
                    only(CS | AI | KS | WS | SC | UTF8) && (!self.has(UTF8) || self.has(SC))
                }
            };
        }
        if rest != 0 || self.has(VSS) {
            return false;
        }
        match self.0 & FAMILY {
            // CI_AS, CS_AS, CI_AI.
            SQL_CP1 => only(CS) || only(AI),
            LATIN1 if binary => only(BIN) || only(BIN2),
            LATIN1 => only(CS | AI | KS | WS),
            LATIN1_100 if binary => only(BIN) || only(BIN2) || flags == BIN2 | UTF8,
            LATIN1_100 => only(CS | AI | KS | WS | SC | UTF8) && (!self.has(UTF8) || self.has(SC)),
            _ => false,
        }
    }

    /// All of them, by name.
    pub fn all() -> Vec<Collation> {
        let flags = (0..1u32 << 8).flat_map(|flags| [flags << 2, flags << 2 | VSS]);
        let mut all: Vec<Collation> = beginnings()
            .flat_map(|(_, bits)| flags.clone().map(move |flags| Collation(bits | flags)))
            .filter(|c| c.is_known())
            .collect();
        all.sort_by_cached_key(|c| c.name());
        all
    }

    /// As it is kept: a number that stays what it is.
    pub fn number(self) -> u32 {
        self.0
    }

    /// The collation of a number that [`Collation::number`] gave. `None` also for one whose order has changed since.
    pub fn of_number(number: u32) -> Option<Collation> {
        let found = Collation(number);
        found.is_known().then_some(found)
    }

    /// Its name as SQL Server writes it.
    pub fn name(self) -> String {
        let bits = self.0 & FAMILY;
        let mut name = match self.family() {
            Some(family) => family.name,
            None => PREFIXES.iter().find(|(_, f)| *f == bits).map_or("", |(prefix, _)| prefix),
        }
        .to_owned();
        match (self.has(BIN), self.has(BIN2)) {
            (true, _) => name.push_str("_BIN"),
            (_, true) => name.push_str("_BIN2"),
            _ => {
                name.push_str(if self.has(CS) { "_CS_" } else { "_CI_" });
                name.push_str(if self.has(AI) { "AI" } else { "AS" });
            }
        }
        for (bit, part) in [(KS, "_KS"), (WS, "_WS"), (VSS, "_VSS"), (SC, "_SC"), (UTF8, "_UTF8")] {
            if self.has(bit) {
                name.push_str(part);
            }
        }
        name
    }

    /// What fn_helpcollations says of it.
    pub fn description(self) -> String {
        let family = self.family();
        let mut text = match (family, self.0 & FAMILY) {
            (Some(Family { title: Title::As(title), .. }), _) => (*title).to_owned(),
            (Some(family), _) => family.name.replace('_', "-"),
            (None, LATIN1_100) => "Latin1-General-100".to_owned(),
            _ => "Latin1-General".to_owned(),
        };
        if self.has(BIN) {
            return text + ", binary sort";
        }
        if self.has(BIN2) {
            text.push_str(", binary code point comparison sort");
            if self.has(UTF8) {
                text.push_str(", UTF8");
            }
            return text;
        }
        let word = |on: bool, name: &str| {
            format!(", {name}-{}", if on { "sensitive" } else { "insensitive" })
        };
        text.push_str(&word(self.has(CS), "case"));
        text.push_str(&word(!self.has(AI), "accent"));
        text.push_str(&word(self.has(KS), "kanatype"));
        text.push_str(&word(self.has(WS), "width"));
        let newest = family.is_some_and(|family| family.kind == Kind::V140);
        if self.has(SC) || newest {
            text.push_str(", supplementary characters");
        }
        if newest {
            let on = if self.has(VSS) { "sensitive" } else { "insensitive" };
            text.push_str(&format!(", variation selector {on}"));
        }
        if self.has(UTF8) {
            text.push_str(", UTF8");
        }
        if self.sort_id() != 0 {
            text.push_str(&format!(
                " for Unicode Data, SQL Server Sort Order {} on Code Page {} for non-Unicode Data",
                self.sort_id(),
                self.code_page()
            ));
        }
        text
    }

    /// How texts compare under it.
    pub fn rule(self) -> Rule {
        let binary = self.has(BIN | BIN2);
        if self.0 & FAMILY == OTHER || self.has(UTF8) {
            let place = self.family().map_or(language::LATIN1, |_| self.place() as u16);
            let flags = [CS, AI, KS, WS, BIN | BIN2, UTF8].map(|bit| self.has(bit));
            return Rule::Of(Language::new(place, flags));
        }
        match (binary, self.has(CS), self.has(AI)) {
            (true, ..) => Rule::Bin,
            (_, false, false) => Rule::CiAs,
            (_, true, false) => Rule::CsAs,
            (_, false, true) => Rule::CiAi,
            (_, true, true) => Rule::CsAi,
        }
    }

    /// A collation with that rule: of several that differ in what a rule does not know the plainest.
    pub fn of_rule(rule: Rule) -> Collation {
        let Rule::Of(language) = rule else {
            let plain = match rule {
                Rule::CsAs => LATIN1 | CS,
                Rule::CiAi => LATIN1 | AI,
                Rule::CsAi => LATIN1 | CS | AI,
                Rule::Bin => LATIN1 | BIN2,
                Rule::CiAs | Rule::Of(_) => SQL_CP1,
            };
            return Collation(plain);
        };
        let (place, flags) = language.parts();
        let mut bits = match place {
            language::LATIN1 => LATIN1_100,
            place => OTHER | u32::from(place) << PLACE_AT | language::DATA << DATA_AT,
        };
        for (on, bit) in flags.into_iter().zip([CS, AI, KS, WS, BIN2, UTF8]) {
            bits |= if on { bit } else { 0 };
        }
        let found = Collation(bits);
        let with_sc = Collation(bits | SC);
        if !found.is_known() && with_sc.is_known() { with_sc } else { found }
    }

    /// A value that goes by it from now on, if it is a text.
    pub fn mark(self, value: Value) -> Value {
        match value {
            Value::Str(text) if text.rule() != self.rule() => {
                Value::Str(text.with_rule(self.rule()))
            }
            other => other,
        }
    }

    /// Does varchar hold UTF-8?
    pub fn is_utf8(self) -> bool {
        self.has(UTF8)
    }

    /// How varchar is kept; [`CodePage::Absent`] where there can be none.
    pub fn page(self) -> CodePage {
        match self.family() {
            _ if self.is_utf8() => CodePage::Utf8,
            Some(family) => family.page,
            None => CodePage::Cp1252,
        }
    }

    /// Does it count characters, where others count UTF-16 units? _SC, those of 2017, and UTF-8.
    pub fn has_supplementary(self) -> bool {
        let always = self.family().is_some_and(|family| matches!(family.kind, Kind::V140));
        always || self.has(SC) || self.is_utf8()
    }

    /// The code page of varchar.
    pub fn code_page(self) -> i32 {
        self.page().number()
    }

    /// The page of a collation on the wire, by its locale or its sort id. `None` where neither is known.
    pub fn page_of_wire(locale: u32, sort_id: u8) -> Option<CodePage> {
        let of = |family: &&Family| match family.kind {
            Kind::Sql(cs, ci, ai) => sort_id != 0 && [cs, ci, ai].contains(&sort_id),
            _ => sort_id == 0 && family.locale == locale,
        };
        FAMILIES.iter().find(of).map(|family| family.page)
    }

    /// COLLATIONPROPERTY's LCID.
    pub fn locale(self) -> i32 {
        self.family().map_or(1033, |family| family.locale as i32)
    }

    /// COLLATIONPROPERTY's Version: 0 up to SQL Server 2000, 1 from 2005, 2 from 2008, 3 from 2017.
    pub fn version(self) -> u8 {
        match self.family().map(|family| family.kind) {
            Some(Kind::V80 | Kind::Sql(..)) => 0,
            Some(Kind::V90) => 1,
            Some(Kind::V100) => 2,
            Some(Kind::V140) => 3,
            None if self.0 & FAMILY == LATIN1_100 => 2,
            None => 0,
        }
    }

    /// COLLATIONPROPERTY's ComparisonStyle: what is ignored (1 case, 2 accents, 0x10000 kana, 0x20000 width).
    pub fn comparison_style(self) -> i32 {
        if self.has(BIN | BIN2) {
            return 0;
        }
        let ignored = [
            (self.has(CS), 1),
            (!self.has(AI), 2),
            (self.has(KS), 0x1_0000),
            (self.has(WS), 0x2_0000),
        ];
        ignored.iter().filter(|(counts, _)| !counts).map(|(_, bit)| bit).sum()
    }

    fn sort_id(self) -> u8 {
        match (self.family().map(|family| family.kind), self.0 & FAMILY) {
            (Some(Kind::Sql(cs, ci, ai)), _) => match (self.has(CS), self.has(AI)) {
                (true, _) => cs,
                (_, true) => ai,
                _ => ci,
            },
            (None, SQL_CP1) if self.has(CS) => 51,
            (None, SQL_CP1) if self.has(AI) => 54,
            (None, SQL_CP1) => 52,
            _ => 0,
        }
    }

    /// The five bytes of the wire: 20 bits of locale, flags, version; the sort id.
    pub fn to_wire(self) -> [u8; 5] {
        let mut bits = self.locale() as u32;
        let flags = [
            (!self.has(CS | BIN | BIN2), 20),
            (self.has(AI), 21),
            (!self.has(KS | BIN | BIN2), 22),
            (!self.has(WS | BIN | BIN2), 23),
            (self.has(BIN), 24),
            (self.has(BIN2), 25),
            (self.has(UTF8), 26),
        ];
        for (on, bit) in flags {
            bits |= u32::from(on) << bit;
        }
        bits |= u32::from(self.version()) << 28;
        let [a, b, c, d] = bits.to_le_bytes();
        [a, b, c, d, self.sort_id()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        let all = Collation::all();
        // SQL Server 2019 and 2022 have 5,508, 77 of them SQL Server's own.
        let (own, windows): (Vec<_>, Vec<_>) =
            all.iter().copied().partition(|c: &Collation| c.sort_id() != 0);
        assert_eq!((windows.len(), own.len()), (5508 - 77, 45));
        for c in all {
            assert_eq!(Collation::of_name(&c.name().to_lowercase()), Some(c), "{}", c.name());
            assert_eq!(Collation::of_number(c.number()), Some(c));
            assert_eq!(Collation::of_rule(c.rule()).rule(), c.rule(), "{}", c.name());
            assert!(Collation::of_rule(c.rule()).is_known(), "{}", c.name());
        }
        for none in ["French_SC_CI_AS", "French_CI_AS_SC", "Chinese_PRC_Stroke", "Mongolian_CI_AS"]
        {
            assert_eq!(Collation::of_name(none), None, "{none}");
        }
        for none in ["Latin1_General_AS_CI", "Latin1_General_CI", "SQL_Latin1_General_CP1_BIN", "x"]
        {
            assert_eq!(Collation::of_name(none), None, "{none}");
        }
    }

    #[test]
    fn the_wire_form_is_that_of_the_documentation() {
        let wire = |name: &str| Collation::of_name(name).map(Collation::to_wire);
        assert_eq!(wire("SQL_Latin1_General_CP1_CI_AS"), Some([0x09, 0x04, 0xD0, 0x00, 0x34]));
        assert_eq!(wire("Latin1_General_CI_AS"), Some([0x09, 0x04, 0xD0, 0x00, 0x00]));
        assert_eq!(wire("Latin1_General_BIN2"), Some([0x09, 0x04, 0x00, 0x02, 0x00]));
        assert_eq!(wire("Latin1_General_100_CI_AS_SC_UTF8"), Some([0x09, 0x04, 0xD0, 0x24, 0x00]));
    }
    #[test]
    fn numbers_that_are_kept_stay() {
        let number = |name: &str| Collation::of_name(name).map(Collation::number);
        assert_eq!(number("Latin1_General_100_CS_AS_SC_UTF8"), Some(198));
        assert_eq!(number("Albanian_CI_AS"), Some(0x10_0003));
        assert_eq!(number("SQL_Icelandic_Pref_CP1_CI_AS"), Some(0x10_0003 | 150 << 10));
        // Of an order that was once.
        assert_eq!(Collation::of_number(0x20_0003), None);
        assert_eq!(Collation::of_number(3), None);
    }

    #[test]
    fn languages_have_their_code_pages() {
        let shown = |name: &str| {
            Collation::of_name(name)
                .map(|c| (c.code_page(), c.locale(), c.version(), c.to_wire()[4]))
        };
        assert_eq!(shown("Japanese_XJIS_140_CI_AS_VSS"), Some((932, 1041, 3, 0)));
        assert_eq!(shown("Chinese_PRC_Stroke_CI_AS"), Some((936, 0x2_0804, 0, 0)));
        assert_eq!(shown("Indic_General_100_CI_AS_SC_UTF8"), Some((65_001, 1081, 2, 0)));
        assert_eq!(shown("Indic_General_100_CI_AS"), Some((0, 1081, 2, 0)));
        assert_eq!(shown("SQL_Ukrainian_CP1251_CI_AS"), Some((1251, 1058, 0, 108)));
        assert_eq!(Collation::page_of_wire(0x0419, 0), Some(CodePage::Cp1251));
        assert_eq!(Collation::page_of_wire(0x0409, 124), Some(CodePage::Cp1253));
    }
}
