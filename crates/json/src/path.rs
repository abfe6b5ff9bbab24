//! Paths: `[lax|strict] $.name."quoted name"[0]`, for JSON_MODIFY with `append` in front.
//!
//! Names without quotes are letters, digits and `_`; a name may begin with a letter or `_` (a digit is taken too, as
//! SQL Server does in arrays' members). Source: SQL documentation, "JSON path expressions".

use crate::JsonError;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A member of an object, compared by characters.
    Name(String),
    /// An element of an array, from 0.
    Index(usize),
}

/// A path, read.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Path {
    /// What it leads to must be there.
    pub strict: bool,
    /// JSON_MODIFY: the value is put behind the last element.
    pub append: bool,
    /// From the root.
    pub steps: Vec<Step>,
}

impl Path {
    /// Reads a path; `append` only where `modifying`. 13607.
    pub fn parse(text: &str, modifying: bool) -> Result<Path, JsonError> {
        let mut reader = Reader { chars: text.chars().collect(), at: 0 };
        let mut path = Path::default();
        reader.blanks();
        if modifying && reader.word("append") {
            path.append = true;
            reader.blanks();
        }
        if reader.word("strict") {
            path.strict = true;
        } else {
            reader.word("lax");
        }
        reader.blanks();
        reader.expect('$')?;
        loop {
            match reader.peek() {
                None => return Ok(path),
                Some('.') => {
                    reader.at += 1;
                    path.steps.push(Step::Name(reader.name()?));
                }
                Some('[') => {
                    reader.at += 1;
                    path.steps.push(Step::Index(reader.index()?));
                    reader.expect(']')?;
                }
                Some(' ') => {
                    reader.blanks();
                    if reader.peek().is_some() {
                        return Err(reader.wrong());
                    }
                }
                Some(_) => return Err(reader.wrong()),
            }
        }
    }

    /// The path `$.name` of a column of OPENJSON that names none.
    pub fn member(name: &str) -> Path {
        Path { steps: vec![Step::Name(name.to_owned())], ..Path::default() }
    }
}

struct Reader {
    chars: Vec<char>,
    at: usize,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn wrong(&self) -> JsonError {
        JsonError::Path { found: self.peek().unwrap_or(' '), position: self.at }
    }

    fn blanks(&mut self) {
        while self.peek() == Some(' ') {
            self.at += 1;
        }
    }

    /// A word that a blank follows.
    fn word(&mut self, word: &str) -> bool {
        let end = self.at + word.len();
        let here = self.chars.get(self.at..end).is_some_and(|c| c.iter().copied().eq(word.chars()));
        let ends = here && matches!(self.chars.get(end), Some(' ' | '$'));
        if ends {
            self.at = end;
        }
        ends
    }

    fn expect(&mut self, c: char) -> Result<(), JsonError> {
        if self.peek() == Some(c) {
            self.at += 1;
            return Ok(());
        }
        Err(self.wrong())
    }

    fn name(&mut self) -> Result<String, JsonError> {
        if self.peek() == Some('"') {
            self.at += 1;
            let start = self.at;
            // Escapes are those of a string of JSON, \u of surrogates among them.
            loop {
                match self.peek() {
                    None => return Err(self.wrong()),
                    Some('"') => {
                        let raw: String = self.chars[start..self.at].iter().collect();
                        self.at += 1;
                        return Ok(crate::text::unquote(&raw));
                    }
                    Some('\\') => {
                        self.at += 1;
                        self.peek().ok_or_else(|| self.wrong())?;
                        self.at += 1;
                    }
                    Some(_) => self.at += 1,
                }
            }
        }
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_alphanumeric() || c == '_') {
            self.at += 1;
        }
        if start == self.at {
            return Err(self.wrong());
        }
        Ok(self.chars[start..self.at].iter().collect())
    }

    fn index(&mut self) -> Result<usize, JsonError> {
        let start = self.at;
        let mut index = 0usize;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            index = index.saturating_mul(10).saturating_add(digit as usize);
            self.at += 1;
        }
        if start == self.at { Err(self.wrong()) } else { Ok(index) }
    }
}
