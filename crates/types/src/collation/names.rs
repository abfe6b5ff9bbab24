//! Collations by name: what a name says, and what it is on the wire.
//!
//! There are the collations of Latin1_General (Windows, version 80 and 100) and SQL_Latin1_General_CP1. Each compares by
//! a [`Rule`]; kana, width and supplementary characters make no difference here, for one table of weights serves all.
//! Source of names and numbers: SQL documentation, "Windows collation names", "COLLATIONPROPERTY", "fn_helpcollations";
//! of the wire form: MS-TDS 2.2.5.1.2.

use super::Rule;

/// A collation. The default is SQL_Latin1_General_CP1_CI_AS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Collation(u16);

const FAMILY: u16 = 3;
const SQL_CP1: u16 = 0;
const LATIN1: u16 = 1;
const LATIN1_100: u16 = 2;
const CS: u16 = 1 << 2;
const AI: u16 = 1 << 3;
const KS: u16 = 1 << 4;
const WS: u16 = 1 << 5;
const SC: u16 = 1 << 6;
const UTF8: u16 = 1 << 7;
const BIN: u16 = 1 << 8;
const BIN2: u16 = 1 << 9;

const PREFIXES: [(&str, u16); 3] = [
    ("SQL_Latin1_General_CP1_", SQL_CP1),
    ("Latin1_General_100_", LATIN1_100),
    ("Latin1_General_", LATIN1),
];

impl Collation {
    /// By its name, any case; `None` for those that are not here.
    pub fn of_name(name: &str) -> Option<Collation> {
        let (rest, family) = PREFIXES.iter().find_map(|(prefix, family)| {
            let head = name.get(..prefix.len())?;
            head.eq_ignore_ascii_case(prefix).then(|| (&name[prefix.len()..], *family))
        })?;
        let found = rest.split('_').try_fold(family, |bits, part| {
            let bit = match part.to_ascii_uppercase().as_str() {
                "CI" | "AS" => 0,
                "CS" => CS,
                "AI" => AI,
                "KS" => KS,
                "WS" => WS,
                "SC" => SC,
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
    }

    fn has(self, bits: u16) -> bool {
        self.0 & bits != 0
    }

    fn is_known(self) -> bool {
        let binary = self.has(BIN | BIN2);
        let only = |bits: u16| self.0 & !(FAMILY | bits) == 0;
        match self.0 & FAMILY {
            // CI_AS, CS_AS, CI_AI.
            SQL_CP1 => only(CS) || only(AI),
            LATIN1 if binary => only(BIN) || only(BIN2),
            LATIN1 => only(CS | AI | KS | WS),
            LATIN1_100 if binary => only(BIN) || only(BIN2) || self.0 & !FAMILY == BIN2 | UTF8,
            _ => only(CS | AI | KS | WS | SC | UTF8) && (!self.has(UTF8) || self.has(SC)),
        }
    }

    /// All of them, by name.
    pub fn all() -> Vec<Collation> {
        let mut all: Vec<Collation> = (0..1 << 10)
            .map(Collation)
            .filter(|c| c.0 & FAMILY != FAMILY && c.is_known())
            .collect();
        all.sort_by_key(|c| c.name());
        all
    }

    /// As it is kept: a number that stays what it is.
    pub fn number(self) -> u16 {
        self.0
    }

    /// The collation of a number that [`Collation::number`] gave.
    pub fn of_number(number: u16) -> Option<Collation> {
        let found = Collation(number);
        (number < 1 << 10 && number & FAMILY != FAMILY && found.is_known()).then_some(found)
    }

    /// Its name as SQL Server writes it.
    pub fn name(self) -> String {
        let family = self.0 & FAMILY;
        let prefix = PREFIXES.iter().find(|(_, f)| *f == family).map_or("", |(prefix, _)| prefix);
        let mut name = prefix.to_owned();
        match (self.has(BIN), self.has(BIN2)) {
            (true, _) => name.push_str("BIN"),
            (_, true) => name.push_str("BIN2"),
            _ => {
                name.push_str(if self.has(CS) { "CS_" } else { "CI_" });
                name.push_str(if self.has(AI) { "AI" } else { "AS" });
            }
        }
        for (bit, part) in [(KS, "_KS"), (WS, "_WS"), (SC, "_SC"), (UTF8, "_UTF8")] {
            if self.has(bit) {
                name.push_str(part);
            }
        }
        name
    }

    /// What fn_helpcollations says of it.
    pub fn description(self) -> String {
        let mut text = match self.0 & FAMILY {
            LATIN1_100 => "Latin1-General-100",
            _ => "Latin1-General",
        }
        .to_owned();
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
        if self.has(SC) {
            text.push_str(", supplementary characters");
        }
        if self.has(UTF8) {
            text.push_str(", UTF8");
        }
        if self.0 & FAMILY == SQL_CP1 {
            text.push_str(&format!(
                " for Unicode Data, SQL Server Sort Order {} on Code Page 1252 for non-Unicode Data",
                self.sort_id()
            ));
        }
        text
    }

    /// How texts compare under it.
    pub fn rule(self) -> Rule {
        match (self.has(BIN | BIN2), self.has(CS), self.has(AI)) {
            (true, ..) => Rule::Bin,
            (_, false, false) => Rule::CiAs,
            (_, true, false) => Rule::CsAs,
            (_, false, true) => Rule::CiAi,
            (_, true, true) => Rule::CsAi,
        }
    }

    /// Does varchar hold UTF-8?
    pub fn is_utf8(self) -> bool {
        self.has(UTF8)
    }

    /// The code page of varchar.
    pub fn code_page(self) -> i32 {
        if self.is_utf8() { 65_001 } else { 1252 }
    }

    /// COLLATIONPROPERTY's LCID.
    pub fn locale(self) -> i32 {
        1033
    }

    /// COLLATIONPROPERTY's Version: 0 up to SQL Server 2000, 2 from 2008.
    pub fn version(self) -> u8 {
        if self.0 & FAMILY == LATIN1_100 { 2 } else { 0 }
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
        match self.0 & FAMILY {
            SQL_CP1 if self.has(CS) => 51,
            SQL_CP1 if self.has(AI) => 54,
            SQL_CP1 => 52,
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
        assert!(all.len() > 60 && all.len() < 120, "{}", all.len());
        for c in all {
            assert_eq!(Collation::of_name(&c.name().to_lowercase()), Some(c), "{}", c.name());
            assert_eq!(Collation::of_number(c.number()), Some(c));
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
}
