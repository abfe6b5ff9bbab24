//! Texts broken into words.
//!
//! A word is a run of letters, digits and marks; a hyphen or underscore parts two. An apostrophe between letters and a point
//! or comma between digits belong to it, as Unicode's rules for words have it (UAX 29); what else stands between words parts
//! them and counts for nothing.
//! Ideographs and hiragana are words of one character. Words are in small letters, and without accents where these do
//! not count.

/// The words of a text, from its first.
pub(crate) struct Words<'t> {
    text: &'t str,
    at: usize,
    accents: bool,
}

/// As the text of a word is kept; longer ones are cut there.
const WORD_CHARS_MAX: usize = 64;

impl<'t> Words<'t> {
    pub fn new(text: &'t str, accents: bool) -> Words<'t> {
        Words { text, at: 0, accents }
    }

    /// The next one, written into `word`; false at the end.
    pub fn next(&mut self, word: &mut String) -> bool {
        word.clear();
        let mut length = 0;
        let mut last: Option<char> = None;
        let mut rest = self.text[self.at..].char_indices().peekable();
        while let Some((i, c)) = rest.next() {
            let end = self.at + i + c.len_utf8();
            if is_alone(c) {
                match last {
                    Some(_) => self.at += i,
                    None => {
                        self.put(word, c);
                        self.at = end;
                    }
                }
                return true;
            }
            if is_part(c) {
                if length < WORD_CHARS_MAX {
                    self.put(word, c);
                }
                length += 1;
                last = Some(c);
                continue;
            }
            let Some(before) = last else { continue };
            let joins = rest.peek().is_some_and(|(_, after)| joins(before, c, *after));
            if !joins {
                self.at = end;
                return true;
            }
            if length < WORD_CHARS_MAX {
                word.push(if c == '\u{2019}' { '\'' } else { c });
            }
            length += 1;
        }
        self.at = self.text.len();
        last.is_some()
    }

    fn put(&self, word: &mut String, c: char) {
        match self.accents {
            true => word.extend(c.to_lowercase()),
            // A mark of its own is an accent, too.
            false if ('\u{300}'..'\u{370}').contains(&c) => {}
            false => word.extend(types::collation::without_accent(c).to_lowercase()),
        }
    }
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || ('\u{300}'..'\u{370}').contains(&c)
}

fn is_alone(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{309f}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Does a character between two others make one word of them?
fn joins(before: char, c: char, after: char) -> bool {
    match c {
        '\'' | '\u{2019}' => before.is_alphabetic() && after.is_alphabetic(),
        '.' | ',' => before.is_ascii_digit() && after.is_ascii_digit(),
        _ => false,
    }
}

/// All words of a short text.
pub(crate) fn all(text: &str, accents: bool) -> Vec<String> {
    let mut words = Words::new(text, accents);
    let (mut found, mut word) = (Vec::new(), String::new());
    while words.next(&mut word) {
        runtime::task::stepped();
        found.push(word.clone());
    }
    found
}
