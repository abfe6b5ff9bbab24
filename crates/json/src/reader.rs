//! Reading: one pass over the bytes, nothing built.

use crate::text::unquote;
use crate::{JsonError, Path, Step};
use runtime::task::Breath;

/// Most levels of nesting.
const DEPTH_MAX: usize = 128;

/// What a value is; the numbers are OPENJSON's `type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null = 0,
    /// `"..."`
    String = 1,
    /// A number.
    Number = 2,
    /// `true` or `false`
    Bool = 3,
    /// `[...]`
    Array = 4,
    /// `{...}`
    Object = 5,
}

/// A value inside a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node<'t> {
    /// The whole text it lies in.
    text: &'t str,
    /// Its first byte there.
    pub start: usize,
    /// The byte behind it.
    pub end: usize,
    /// What it is.
    pub kind: Kind,
}

impl<'t> Node<'t> {
    /// The value as written.
    pub fn raw(&self) -> &'t str {
        &self.text[self.start..self.end]
    }

    /// Object or array.
    pub fn is_container(&self) -> bool {
        matches!(self.kind, Kind::Array | Kind::Object)
    }

    /// What a scalar says: a string without quotes and escapes, `true`, `1.50`; NULL is `None`.
    pub fn scalar(&self) -> Option<String> {
        match self.kind {
            Kind::Null => None,
            Kind::String => Some(unquote(self.raw())),
            _ => Some(self.raw().to_owned()),
        }
    }

    /// The members of an object (with their names) or the elements of an array, in order. Nothing for a scalar.
    pub fn members(&self) -> Result<Vec<(Option<String>, Node<'t>)>, JsonError> {
        let mut out = Vec::new();
        if self.is_container() {
            let mut reader = Reader { text: self.text, at: self.start, breath: Breath::new() };
            reader.container(0, &mut |name, node| {
                out.push((name.map(|n: &str| unquote(n)), node));
                true
            })?;
        }
        Ok(out)
    }
}

/// Checks the whole text; what it is.
pub fn check(text: &str) -> Result<Kind, JsonError> {
    let mut reader = Reader { text, at: 0, breath: Breath::new() };
    let node = reader.value(0)?;
    reader.blanks();
    if reader.at < text.len() { Err(reader.wrong()) } else { Ok(node.kind) }
}

/// What the path leads to. Lax: nothing there is `None`; strict: 13608. A text that is neither object nor array is 13609,
/// as in SQL Server.
pub fn find<'t>(text: &'t str, path: &Path) -> Result<Option<Node<'t>>, JsonError> {
    let mut reader = Reader { text, at: 0, breath: Breath::new() };
    reader.blanks();
    if !matches!(reader.peek(), Some(b'{' | b'[')) {
        return Err(reader.wrong());
    }
    let mut depth = 0;
    for step in &path.steps {
        reader.blanks();
        let mut found = None;
        match (step, reader.peek()) {
            (Step::Name(wanted), Some(b'{')) => {
                reader.container_at(depth, &mut |name, at| {
                    let same = name.is_some_and(|raw| same_name(raw, wanted));
                    if same {
                        found = Some(at);
                    }
                    !same
                })?;
            }
            (Step::Index(wanted), Some(b'[')) => {
                let mut index = 0;
                reader.container_at(depth, &mut |_, at| {
                    let here = index == *wanted;
                    if here {
                        found = Some(at);
                    }
                    index += 1;
                    !here
                })?;
            }
            _ => {}
        }
        let Some(at) = found else {
            return if path.strict { Err(JsonError::NotFound) } else { Ok(None) };
        };
        reader.at = at;
        depth += 1;
    }
    Ok(Some(reader.value(depth)?))
}

fn same_name(raw: &str, wanted: &str) -> bool {
    if raw.contains('\\') { unquote(raw) == wanted } else { &raw[1..raw.len() - 1] == wanted }
}

/// Takes a member at its value: its name in an object; whether to go on.
type Each<'t, 'f> = dyn FnMut(&mut Reader<'t>, Option<&'t str>) -> Result<bool, JsonError> + 'f;

/// A place in a text. Steps over bytes; every place where it stops is a boundary of characters.
struct Reader<'t> {
    text: &'t str,
    at: usize,
    breath: Breath,
}

impl<'t> Reader<'t> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn wrong(&self) -> JsonError {
        let mut at = self.at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let found = self.text[at..].chars().next().unwrap_or('.');
        JsonError::Text { found, position: self.text[..at].chars().count() }
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Steps over a value.
    fn value(&mut self, depth: usize) -> Result<Node<'t>, JsonError> {
        self.blanks();
        self.breath.steps(4)?;
        let start = self.at;
        let kind = match self.peek() {
            Some(b'"') => {
                self.string()?;
                Kind::String
            }
            Some(b'{' | b'[') => self.container(depth, &mut |_, _| true)?,
            Some(b't') => self.word("true", Kind::Bool)?,
            Some(b'f') => self.word("false", Kind::Bool)?,
            Some(b'n') => self.word("null", Kind::Null)?,
            Some(b'-' | b'0'..=b'9') => {
                self.number()?;
                Kind::Number
            }
            _ => return Err(self.wrong()),
        };
        Ok(Node { text: self.text, start, end: self.at, kind })
    }

    fn word(&mut self, word: &str, kind: Kind) -> Result<Kind, JsonError> {
        for expected in word.bytes() {
            if self.peek() != Some(expected) {
                return Err(self.wrong());
            }
            self.at += 1;
        }
        Ok(kind)
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        if !self.peek().is_some_and(|b| b.is_ascii_digit()) {
            return Err(self.wrong());
        }
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), JsonError> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    /// Steps over a string; its text with quotes.
    fn string(&mut self) -> Result<&'t str, JsonError> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek() {
                None | Some(0..=0x1f) => return Err(self.wrong()),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(&self.text[start..self.at]);
                }
                Some(b'\\') => {
                    self.at += 1;
                    match self.peek() {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                            self.at += 1
                        }
                        Some(b'u') => {
                            self.at += 1;
                            for _ in 0..4 {
                                if !self.peek().is_some_and(|b| b.is_ascii_hexdigit()) {
                                    return Err(self.wrong());
                                }
                                self.at += 1;
                            }
                        }
                        _ => return Err(self.wrong()),
                    }
                }
                Some(_) => {
                    self.at += 1;
                    self.breath.step()?;
                }
            }
        }
    }

    /// Steps over an object or array. `each` is told every member and says whether to go on.
    fn container(
        &mut self,
        depth: usize,
        each: &mut dyn FnMut(Option<&'t str>, Node<'t>) -> bool,
    ) -> Result<Kind, JsonError> {
        self.walk(depth, &mut |reader, name| {
            let node = reader.value(depth + 1)?;
            Ok(each(name, node))
        })
    }

    /// The same with the place where a member's value begins, which is stepped over only to go on.
    fn container_at(
        &mut self,
        depth: usize,
        each: &mut dyn FnMut(Option<&'t str>, usize) -> bool,
    ) -> Result<Kind, JsonError> {
        self.walk(depth, &mut |reader, name| {
            reader.blanks();
            let on = each(name, reader.at);
            if on {
                reader.value(depth + 1)?;
            }
            Ok(on)
        })
    }

    fn walk(&mut self, depth: usize, each: &mut Each<'t, '_>) -> Result<Kind, JsonError> {
        if depth >= DEPTH_MAX {
            return Err(JsonError::TooDeep);
        }
        let object = self.peek() == Some(b'{');
        let (close, kind) = if object { (b'}', Kind::Object) } else { (b']', Kind::Array) };
        self.at += 1;
        self.blanks();
        if self.peek() == Some(close) {
            self.at += 1;
            return Ok(kind);
        }
        loop {
            self.blanks();
            let mut name = None;
            if object {
                if self.peek() != Some(b'"') {
                    return Err(self.wrong());
                }
                name = Some(self.string()?);
                self.blanks();
                if self.peek() != Some(b':') {
                    return Err(self.wrong());
                }
                self.at += 1;
            }
            if !each(self, name)? {
                return Ok(kind);
            }
            self.blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b) if b == close => {
                    self.at += 1;
                    return Ok(kind);
                }
                _ => return Err(self.wrong()),
            }
        }
    }
}
