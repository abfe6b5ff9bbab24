//! LIKE over ASCII, and a text within another: the pieces between wildcards, each looked for by the byte of it that texts have
//! least often.
//!
//! Promise: the same answer as the general matcher's, for texts of ASCII alone and patterns of nothing but ASCII
//! characters and `%`. A piece in the middle is taken where it first stands: a later place leaves the rest less room.

use crate::collation::Rule;

/// See the file's first lines.
#[derive(Clone, Debug)]
pub(crate) struct Searcher {
    /// Before the first `%`, between two of them, after the last; in small letters where case does not count.
    pieces: Vec<Piece>,
    any_case: bool,
}

#[derive(Clone, Debug)]
struct Piece {
    bytes: Vec<u8>,
    /// Where its rarest byte is.
    rare: usize,
}

/// Letters, the commonest of English first.
const LETTERS: &[u8] = b"etaoinshrdlcumwfgypbvkxjqz";

/// How seldom texts have a byte, about.
fn rarity(byte: u8) -> usize {
    match byte.to_ascii_lowercase() {
        b' ' => 0,
        letter @ b'a'..=b'z' => 1 + LETTERS.iter().position(|l| *l == letter).unwrap_or_default(),
        b'0'..=b'9' => 10,
        _ => LETTERS.len(),
    }
}

impl Piece {
    fn new(bytes: Vec<u8>) -> Piece {
        let rare = (0..bytes.len()).max_by_key(|at| rarity(bytes[*at])).unwrap_or_default();
        Piece { bytes, rare }
    }

    fn len(&self) -> usize {
        self.bytes.len()
    }
}

impl Searcher {
    pub fn new(pieces: Vec<Vec<u8>>, any_case: bool) -> Searcher {
        let pieces = pieces.into_iter().map(|piece| match any_case {
            true => piece.to_ascii_lowercase(),
            false => piece,
        });
        Searcher { pieces: pieces.map(Piece::new).collect(), any_case }
    }

    /// Whether a text matches whose blanks from `end` on may be left over.
    pub fn matches(&self, text: &[u8], end: usize) -> bool {
        let Some((first, rest)) = self.pieces.split_first() else { return end == 0 };
        if text.len() < first.len() || !self.equal(&text[..first.len()], first) {
            return false;
        }
        let mut at = first.len();
        let Some((last, middle)) = rest.split_last() else { return at >= end };
        for piece in middle {
            match self.find(&text[at..], piece) {
                Some(place) => at += place + piece.len(),
                None => return false,
            }
        }
        if last.len() == 0 {
            return true;
        }
        let Some(latest) = text.len().checked_sub(last.len()) else { return false };
        let earliest = at.max(end.saturating_sub(last.len()));
        (earliest..=latest).any(|at| self.equal(&text[at..at + last.len()], last))
    }

    #[inline]
    fn equal(&self, text: &[u8], piece: &Piece) -> bool {
        match self.any_case {
            true => text.eq_ignore_ascii_case(&piece.bytes),
            false => text == piece.bytes,
        }
    }

    /// Where a piece first stands.
    fn find(&self, text: &[u8], piece: &Piece) -> Option<usize> {
        let Some(rare) = piece.bytes.get(piece.rare) else { return Some(0) };
        let places = text.len().checked_sub(piece.len())? + 1;
        let there = &text[piece.rare..piece.rare + places];
        let mut starts = memchr::memchr2_iter(*rare, self.other_case(*rare), there);
        starts.find(|at| self.equal(&text[*at..at + piece.len()], piece))
    }

    fn other_case(&self, byte: u8) -> u8 {
        if self.any_case { byte.to_ascii_uppercase() } else { byte }
    }
}

/// A short text of ASCII to be looked for in others of ASCII, under a rule by which characters differ, or differ but by case.
pub struct AsciiNeedle<'t> {
    what: &'t [u8],
    rare: usize,
    any_case: bool,
}

/// Of what is longer a search might take the time of both lengths multiplied.
const NEEDLE_BYTES_MAX: usize = 32;
const HAYSTACK_BYTES_MAX: usize = 64 << 10;

impl<'t> AsciiNeedle<'t> {
    /// None where `what` cannot be looked for so in `text`, or in parts of it.
    pub fn new(rule: Rule, what: &'t str, text: &str) -> Option<AsciiNeedle<'t>> {
        let any_case = match rule {
            Rule::CiAs | Rule::CiAi => true,
            Rule::CsAs | Rule::CsAi | Rule::Bin => false,
            Rule::Of(_) => return None,
        };
        let short = what.len() <= NEEDLE_BYTES_MAX && text.len() <= HAYSTACK_BYTES_MAX;
        if !short || what.is_empty() || !what.is_ascii() || !text.is_ascii() {
            return None;
        }
        let what = what.as_bytes();
        let rare = (0..what.len()).max_by_key(|at| rarity(what[*at])).unwrap_or_default();
        Some(AsciiNeedle { what, rare, any_case })
    }

    /// Where it first stands in that text, or a part of it.
    pub fn find(&self, text: &str) -> Option<usize> {
        let text = text.as_bytes();
        let places = (text.len() + 1).checked_sub(self.what.len()).filter(|places| *places > 0)?;
        let rare = self.what[self.rare];
        let (small, large) = match self.any_case {
            true => (rare.to_ascii_lowercase(), rare.to_ascii_uppercase()),
            false => (rare, rare),
        };
        let there = &text[self.rare..self.rare + places];
        memchr::memchr2_iter(small, large, there).find(|at| {
            let found = &text[*at..at + self.what.len()];
            if self.any_case { found.eq_ignore_ascii_case(self.what) } else { found == self.what }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::AsciiNeedle;
    use crate::Pattern;
    use crate::collation::Rule;

    /// All texts of few characters under all patterns of few: the searcher says what the general matcher does.
    #[test]
    fn it_agrees_with_the_general_matcher() {
        let words = |letters: &[char], most: usize| -> Vec<String> {
            let mut all = vec![String::new()];
            let mut from = 0;
            for _ in 0..most {
                let to = all.len();
                for i in from..to {
                    for c in letters {
                        let word = format!("{}{c}", all[i]);
                        all.push(word);
                    }
                }
                from = to;
            }
            all
        };
        let texts = words(&['a', 'A', 'b', ' '], 5);
        for pattern in words(&['a', 'B', '%', ' '], 4) {
            for rule in [Rule::CiAs, Rule::CsAs, Rule::CiAi, Rule::Bin] {
                for exact in [false, true] {
                    let fast = Pattern::under(rule, &pattern, None).unwrap().exactly(exact);
                    for text in &texts {
                        let general = fast.matches_in_general(text);
                        assert_eq!(fast.matches(text), general, "{text:?} like {pattern:?}");
                    }
                }
            }
        }
    }

    /// A text is found where the characters are first the same.
    #[test]
    fn a_needle_is_found_where_it_first_stands() {
        let (mut dice, mut found) = (stdx::Prng::new(11), 0);
        let mut word = |most: u64| -> String {
            let letters = dice.below(most + 1);
            (0..letters).map(|_| ['a', 'A', 'b', 'e', ' ', '1'][dice.below(6) as usize]).collect()
        };
        for _ in 0..20_000 {
            let (what, text) = (word(3), word(12));
            for rule in [Rule::CiAs, Rule::CsAs, Rule::CiAi, Rule::CsAi, Rule::Bin] {
                let Some(needle) = AsciiNeedle::new(rule, &what, &text) else { continue };
                let same = |at: &usize| {
                    text[*at..].chars().zip(what.chars()).all(|(a, b)| rule.same(a, b))
                };
                let most = (text.len() + 1).saturating_sub(what.len());
                let expected = (0..most).find(same);
                assert_eq!(needle.find(&text), expected, "{what:?} in {text:?}");
                found += usize::from(expected.is_some());
            }
        }
        assert!(found > 10_000, "{found}");
    }

    /// Which the searcher rests on: ASCII characters are the same exactly when their bytes are, or differ by case.
    #[test]
    fn ascii_characters_weigh_what_their_bytes_say() {
        for rule in [Rule::CiAs, Rule::CiAi, Rule::CsAs, Rule::CsAi, Rule::Bin] {
            let any_case = matches!(rule, Rule::CiAs | Rule::CiAi);
            for a in 0..128u8 {
                for b in 0..128u8 {
                    let equal = a == b || any_case && a.eq_ignore_ascii_case(&b);
                    let same = rule.weight(char::from(a)) == rule.weight(char::from(b));
                    assert_eq!(same, equal, "{rule:?}: {a} and {b}");
                }
            }
        }
    }
}
