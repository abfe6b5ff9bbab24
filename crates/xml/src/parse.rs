//! Text to document: documents and fragments, with namespaces.
//!
//! Whitespace between tags is dropped unless it is kept by `xml:space="preserve"`, by the caller, or by being written as
//! a reference. Entities are the five of XML and characters by number; a DTD is an error (6359). Sources: Extensible
//! Markup Language (XML) 1.0, Namespaces in XML 1.0; SQL documentation, "Create instances of XML data", "CAST and
//! CONVERT" (xml styles).

use crate::DEPTH_MAX;
use crate::document::{Builder, Document};
use crate::error::XmlError;
use crate::scope::Scope;
use runtime::task::{Breath, Many};
use std::collections::HashSet;
use std::rc::Rc;

/// How the text came, for the encoding that its declaration may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// As UTF-16.
    Wide,
    /// In a code page.
    Narrow,
    /// Decoded by what it says itself.
    Known,
}

/// Style 1 of CONVERT keeps the whitespace; 2 lets a DTD stand.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whitespace between tags is kept.
    pub preserve: bool,
    /// How the text came.
    pub encoding: Encoding,
}

const XML_URI: &str = "http://www.w3.org/XML/1998/namespace";
const XMLNS_URI: &str = "http://www.w3.org/2000/xmlns/";

/// Parses a text.
pub fn parse(text: &str, options: Options) -> Result<Document, XmlError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut parser = Parser {
        text,
        at: 0,
        builder: Builder::new(),
        open: Vec::new(),
        scope: Scope::new(),
        breath: Breath::new(),
        preserve: options.preserve,
        buffer: String::new(),
    };
    parser.declaration(options.encoding)?;
    parser.content()?;
    Ok(parser.builder.finish())
}

/// An element whose end is awaited.
struct Open<'t> {
    name: &'t str,
    scope: usize,
    preserve: bool,
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    builder: Builder,
    open: Vec<Open<'t>>,
    scope: Scope<'t, Rc<str>>,
    breath: Breath,
    preserve: bool,
    /// Text that is read and not yet a node.
    buffer: String,
}

type Result_<T> = Result<T, XmlError>;

impl<'t> Parser<'t> {
    /// An error at a byte of the text.
    #[cold]
    fn fail_at(&self, at: usize, number: i32, what: &str) -> XmlError {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let before = &self.text[..at];
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |n| n + 1);
        let character = before[start..].chars().count() + 1;
        XmlError::new(number, format!("XML parsing: line {line}, character {character}, {what}"))
    }

    fn fail(&self, number: i32, what: &str) -> XmlError {
        match self.at >= self.text.len() {
            true => self.ended(),
            false => self.fail_at(self.at, number, what),
        }
    }

    /// 9400, at the last character.
    #[cold]
    fn ended(&self) -> XmlError {
        self.fail_at(self.text.len().saturating_sub(1), 9400, "unexpected end of input")
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn eat(&mut self, what: &str) -> bool {
        let found = self.rest().starts_with(what);
        if found {
            self.at += what.len();
        }
        found
    }

    fn blank(&mut self) -> bool {
        let before = self.at;
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
        self.at > before
    }

    /// `<?xml version="1.0" encoding="..." standalone="..."?>`
    fn declaration(&mut self, encoding: Encoding) -> Result_<()> {
        let declared = self.rest().strip_prefix("<?xml").and_then(|r| r.chars().next());
        if !declared.is_some_and(|c| c.is_ascii_whitespace()) {
            return Ok(());
        }
        self.at += "<?xml".len();
        let mut named = None;
        let mut seen = 0;
        loop {
            let blank = self.blank();
            if self.eat("?>") {
                break;
            }
            let start = self.at;
            let name = self.rest().bytes().take_while(u8::is_ascii_alphabetic).count();
            let name = &self.rest()[..name];
            self.at += name.len();
            self.blank();
            let place = match name {
                "version" => 1,
                "encoding" => 2,
                "standalone" => 3,
                _ => 0,
            };
            if !blank || place <= seen || (seen == 0 && place != 1) {
                self.at = start;
                return Err(self.fail(9441, "incorrect xml declaration syntax"));
            }
            seen = place;
            if !self.eat("=") {
                return Err(self.fail(9414, "equal expected"));
            }
            self.blank();
            let quote = match self.peek() {
                Some(q @ (b'"' | b'\'')) => q as char,
                _ => return Err(self.fail(9413, "A string literal was expected")),
            };
            self.at += 1;
            let Some(len) = self.rest().find(quote) else { return Err(self.ended()) };
            let value = &self.rest()[..len];
            if place == 1 && value != "1.0" || place == 3 && !matches!(value, "yes" | "no") {
                return Err(self.fail(9441, "incorrect xml declaration syntax"));
            }
            self.at += len + 1;
            if place == 2 {
                named = Some(value.to_ascii_lowercase());
            }
        }
        if seen == 0 {
            return Err(self.fail_at(self.at - 1, 9441, "incorrect xml declaration syntax"));
        }
        let Some(named) = named else { return Ok(()) };
        let wide = matches!(
            named.as_str(),
            "utf-16" | "utf-16le" | "utf-16be" | "ucs-2" | "iso-10646-ucs-2" | "unicode"
        );
        let known = wide
            || ["utf-8", "us-ascii", "ascii", "iso-8859-", "windows-", "latin"]
                .iter()
                .any(|k| named.starts_with(k));
        if !known {
            return Err(self.fail_at(self.at - 1, 9401, "unrecognized encoding"));
        }
        match (encoding, wide) {
            (Encoding::Wide, false) | (Encoding::Narrow, true) => {
                Err(self.fail_at(self.at - 1, 9402, "unable to switch the encoding"))
            }
            _ => Ok(()),
        }
    }

    fn content(&mut self) -> Result_<()> {
        loop {
            self.characters()?;
            self.breath.steps(8)?;
            if self.at >= self.text.len() {
                break;
            }
            if self.eat("</") {
                self.end_tag()?;
            } else if self.eat("<!--") {
                self.flush();
                self.comment()?;
            } else if self.rest().starts_with("<!DOCTYPE") {
                return Err(XmlError::new(
                    6359,
                    "Parsing XML with internal subset DTDs not allowed. Use CONVERT with style option 2 to enable \
                     limited internal subset DTD support.",
                ));
            } else if self.rest().starts_with("<!") {
                self.at += 2;
                return Err(self.fail(9422, "incorrect document syntax"));
            } else if self.eat("<?") {
                self.flush();
                self.instruction()?;
            } else {
                self.at += 1;
                self.flush();
                self.start_tag()?;
            }
        }
        if !self.open.is_empty() {
            return Err(self.ended());
        }
        self.flush();
        Ok(())
    }

    /// The text read so far becomes a node.
    fn flush(&mut self) {
        let text = std::mem::take(&mut self.buffer);
        self.builder.text(&text);
    }

    /// Text up to the next tag.
    fn characters(&mut self) -> Result_<()> {
        // Blank as written: neither a reference nor a CDATA section among it.
        let mut blank = self.buffer.is_empty();
        let start = self.buffer.len();
        while let Some(b) = self.peek() {
            match b {
                b'<' if self.rest().starts_with("<![CDATA[") => {
                    self.at += "<![CDATA[".len();
                    let Some(len) = self.rest().find("]]>") else { return Err(self.ended()) };
                    let text = &self.rest()[..len];
                    self.check_characters(text, self.at)?;
                    push_lines(text, &mut self.buffer);
                    self.at += len + 3;
                    blank = false;
                }
                b'<' => break,
                b'&' => {
                    let c = self.reference()?;
                    self.buffer.push(c);
                    blank = false;
                }
                _ => {
                    let rest = window(self.rest());
                    let len = rest.find(['<', '&']).unwrap_or(rest.len());
                    self.breath.steps(len / 4)?;
                    let text = &rest[..len];
                    // It may go on behind the window.
                    let seen = &self.text.as_bytes()[self.at..];
                    let seen = &seen[..seen.len().min(len + 2)];
                    if let Some(wrong) = seen.windows(3).position(|three| three == b"]]>") {
                        let at = self.at + wrong;
                        return Err(self.fail_at(at, 9454, "no ']]>' in element content"));
                    }
                    self.check_characters(text, self.at)?;
                    push_lines(text, &mut self.buffer);
                    self.at += len;
                }
            }
        }
        if blank && !self.preserve {
            let white = |b: u8| matches!(b, b' ' | b'\t' | b'\r' | b'\n');
            if self.buffer[start..].bytes().all(white) {
                self.buffer.truncate(start);
            }
        }
        Ok(())
    }

    /// 9420 for a character that XML does not know.
    fn check_characters(&self, text: &str, at: usize) -> Result_<()> {
        let wrong = |c: char| {
            (c < ' ' && !matches!(c, '\t' | '\r' | '\n')) || matches!(c, '\u{fffe}' | '\u{ffff}')
        };
        // Bytes first: nearly all texts are ASCII.
        let odd = |b: u8| b < b' ' && !matches!(b, b'\t' | b'\r' | b'\n') || b == 0xef;
        if !text.bytes().any(odd) {
            return Ok(());
        }
        match text.char_indices().find(|(_, c)| wrong(*c)) {
            Some((i, _)) => Err(self.fail_at(at + i, 9420, "illegal xml character")),
            None => Ok(()),
        }
    }

    /// `&amp;`, `&#10;`, `&#xA;`
    fn reference(&mut self) -> Result_<char> {
        self.at += 1;
        let start = self.at;
        if self.eat("#") {
            let hex = self.eat("x");
            let digits = self.at;
            let is_digit = |b: &u8| if hex { b.is_ascii_hexdigit() } else { b.is_ascii_digit() };
            self.at += self.rest().bytes().take_while(is_digit).count();
            if self.at == digits {
                return Err(match hex {
                    true => self.fail(9416, "hexadecimal digit expected"),
                    false => self.fail(9417, "decimal digit expected"),
                });
            }
            let number =
                u32::from_str_radix(&self.text[digits..self.at], if hex { 16 } else { 10 });
            if !self.eat(";") {
                return Err(self.fail(9411, "semicolon expected"));
            }
            let found = number.ok().and_then(char::from_u32);
            let legal = |c: &char| {
                (*c >= ' ' || matches!(c, '\t' | '\r' | '\n'))
                    && !matches!(c, '\u{fffe}' | '\u{ffff}')
            };
            return found
                .filter(legal)
                .ok_or_else(|| self.fail_at(self.at - 1, 9420, "illegal xml character"));
        }
        let name = self.name_len();
        if name == 0 {
            return Err(self.fail(9421, "illegal name character"));
        }
        self.at += name;
        if !self.eat(";") {
            return Err(self.fail(9411, "semicolon expected"));
        }
        Ok(match &self.text[start..self.at - 1] {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            _ => {
                let what = "well formed check: undeclared entity";
                return Err(self.fail_at(self.at - 1, 9448, what));
            }
        })
    }

    /// Bytes of the name that stands here; 0 for none.
    fn name_len(&self) -> usize {
        let mut chars = self.rest().char_indices();
        match chars.next() {
            Some((_, c)) if is_name_start(c) => {}
            _ => return 0,
        }
        chars.find(|(_, c)| !is_name_char(*c)).map_or(self.rest().len(), |(i, _)| i)
    }

    /// `a` or `p:a`
    fn qualified(&mut self) -> Result_<&'t str> {
        let start = self.at;
        let len = self.name_len();
        if len == 0 {
            return Err(self.fail(9455, "illegal qualified name character"));
        }
        self.at += len;
        if self.eat(":") {
            let len = self.name_len();
            if len == 0 {
                return Err(self.fail(9455, "illegal qualified name character"));
            }
            self.at += len;
            if self.peek() == Some(b':') {
                return Err(self.fail(9456, "multiple colons in qualified name"));
            }
        }
        Ok(&self.text[start..self.at])
    }

    fn start_tag(&mut self) -> Result_<()> {
        let name = self.qualified()?;
        if self.open.len() >= DEPTH_MAX {
            return Err(XmlError::too_deep());
        }
        let open = Open { name, scope: self.scope.len(), preserve: self.preserve };
        // Name, value, where.
        let mut attributes: Many<(&'t str, String, usize)> = Many::new();
        let mut names: HashSet<&'t str> = HashSet::new();
        let empty = loop {
            let blank = self.blank();
            match self.peek() {
                Some(b'>') => {
                    self.at += 1;
                    break false;
                }
                Some(b'/') => {
                    self.at += 1;
                    if !self.eat(">") {
                        return Err(self.fail(9412, "'>' expected"));
                    }
                    break true;
                }
                None => return Err(self.ended()),
                Some(_) if !blank => {
                    let what = "illegal qualified name character";
                    let next = self.rest().chars().next().unwrap_or(' ');
                    return Err(match is_name_char(next) || next == ':' || attributes.is_empty() {
                        true => self.fail(9455, what),
                        false => self.fail(9410, "whitespace expected"),
                    });
                }
                Some(_) => {}
            }
            self.breath.steps(16)?;
            let start = self.at;
            let name = self.qualified()?;
            self.blank();
            if !self.eat("=") {
                return Err(self.fail(9414, "equal expected"));
            }
            self.blank();
            let value = self.attribute_value()?;
            if !names.insert(name) {
                return Err(self.fail_at(self.at - 1, 9437, "duplicate attribute"));
            }
            attributes.push((name, value, start));
        };
        self.element(name, attributes)?;
        if empty {
            self.builder.end();
            self.scope.truncate(open.scope);
            self.preserve = open.preserve;
        } else {
            self.open.push(open);
        }
        Ok(())
    }

    /// The element and what its tag says, names resolved.
    fn element(
        &mut self,
        name: &'t str,
        attributes: Many<(&'t str, String, usize)>,
    ) -> Result_<()> {
        let end = self.at - 1;
        let declared = |name: &'t str| match name {
            "xmlns" => Some(""),
            _ => name.strip_prefix("xmlns:"),
        };
        for (name, uri, _) in attributes.iter() {
            self.breath.steps(16)?;
            let Some(prefix) = declared(name) else { continue };
            if let Some((number, what)) = reserved(prefix, uri) {
                return Err(self.fail_at(end, number, what));
            }
            if !prefix.is_empty() && uri.is_empty() {
                let what = "non default namespace with empty uri";
                return Err(self.fail_at(end, 9460, what));
            }
            self.scope.push(prefix, uri.as_str().into());
        }
        let (prefix, local) = split(name);
        let uri = self.uri(prefix, end)?;
        self.builder.start(prefix, local, &uri);
        for (name, uri, _) in attributes.iter().filter(|(n, _, _)| declared(n).is_some()) {
            self.breath.steps(16)?;
            self.builder.namespace(declared(name).unwrap_or(""), uri);
        }
        let mut prefixed: HashSet<(&'t str, Rc<str>)> = HashSet::new();
        for (name, value, _) in attributes.iter().filter(|(n, _, _)| declared(n).is_none()) {
            let (prefix, local) = split(name);
            self.breath.steps(16)?;
            let uri = if prefix.is_empty() { "".into() } else { self.uri(prefix, end)? };
            if !prefix.is_empty() && !prefixed.insert((local, uri.clone())) {
                return Err(self.fail_at(end, 9437, "duplicate attribute"));
            }
            if *uri == *XML_URI && local == "space" {
                self.preserve = value == "preserve" || self.preserve && value != "default";
            }
            self.builder.attribute(prefix, local, &uri, value);
        }
        Ok(())
    }

    /// What a prefix means here; 9459.
    fn uri(&self, prefix: &str, at: usize) -> Result_<Rc<str>> {
        if prefix == "xml" {
            return Ok(XML_URI.into());
        }
        match self.scope.find(prefix) {
            Some(uri) => Ok(uri.clone()),
            None if prefix.is_empty() => Ok("".into()),
            None => Err(self.fail_at(at, 9459, "undeclared prefix")),
        }
    }

    fn attribute_value(&mut self) -> Result_<String> {
        let quote = match self.peek() {
            Some(q @ (b'"' | b'\'')) => q,
            _ => return Err(self.fail(9413, "A string literal was expected")),
        };
        self.at += 1;
        let mut value = String::new();
        loop {
            match self.peek() {
                None => return Err(self.ended()),
                Some(b) if b == quote => {
                    self.at += 1;
                    return Ok(value);
                }
                Some(b'<') => {
                    let what = "well formed check: no '<' in attribute value";
                    return Err(self.fail(9415, what));
                }
                Some(b'&') => {
                    let c = self.reference()?;
                    value.push(c);
                }
                Some(b'\r') => {
                    self.at += if self.rest().starts_with("\r\n") { 2 } else { 1 };
                    value.push(' ');
                }
                Some(b'\t' | b'\n') => {
                    self.at += 1;
                    value.push(' ');
                }
                Some(_) => {
                    let rest = window(self.rest());
                    let stop =
                        |c: char| c == quote as char || matches!(c, '<' | '&' | '\r' | '\n' | '\t');
                    let len = rest.find(stop).unwrap_or(rest.len());
                    self.breath.steps(len / 4)?;
                    self.check_characters(&rest[..len], self.at)?;
                    value.push_str(&rest[..len]);
                    self.at += len;
                }
            }
        }
    }

    fn end_tag(&mut self) -> Result_<()> {
        let name = self.qualified()?;
        self.blank();
        if self.peek() != Some(b'>') {
            return Err(self.fail(9412, "'>' expected"));
        }
        let open = match self.open.pop() {
            Some(open) if open.name == name => open,
            Some(_) => return Err(self.fail(9436, "end tag does not match start tag")),
            None => return Err(self.fail(9422, "incorrect document syntax")),
        };
        self.at += 1;
        self.flush();
        self.builder.end();
        self.scope.truncate(open.scope);
        self.preserve = open.preserve;
        Ok(())
    }

    fn comment(&mut self) -> Result_<()> {
        let Some(len) = self.rest().find("--") else { return Err(self.ended()) };
        let text = &self.rest()[..len];
        self.check_characters(text, self.at)?;
        self.at += len + 2;
        if !self.eat(">") {
            return Err(self.fail(9424, "incorrect comment syntax"));
        }
        let mut lines = String::new();
        push_lines(text, &mut lines);
        self.builder.comment(&lines);
        Ok(())
    }

    fn instruction(&mut self) -> Result_<()> {
        let start = self.at;
        let len = self.name_len();
        if len == 0 {
            return Err(self.fail(9451, "incorrect processing instruction syntax"));
        }
        self.at += len;
        let target = &self.text[start..self.at];
        if target.eq_ignore_ascii_case("xml") {
            let what = "text/xmldecl not at the beginning of input";
            return Err(self.fail_at(self.at, 9438, what));
        }
        let Some(len) = self.rest().find("?>") else { return Err(self.ended()) };
        let text = &self.rest()[..len];
        let white = |c: char| c.is_ascii_whitespace();
        if !text.is_empty() && !text.starts_with(white) {
            return Err(self.fail(9451, "incorrect processing instruction syntax"));
        }
        self.check_characters(text, self.at)?;
        self.at += len + 2;
        let mut lines = String::new();
        push_lines(text.trim_start_matches(white), &mut lines);
        self.builder.instruction(target, &lines);
        Ok(())
    }
}

/// The names that XML keeps for itself.
fn reserved(prefix: &str, uri: &str) -> Option<(i32, &'static str)> {
    Some(match (prefix, uri) {
        ("xml", XML_URI) => return None,
        ("xml", _) => (
            9464,
            "XML namespace prefix 'xml' can only be associated with the URI \
             http://www.w3.org/XML/1998/namespace. This URI cannot be used with other prefixes.",
        ),
        ("xmlns", _) => (9465, "XML namespace prefix 'xmlns' is reserved for use by XML."),
        (_, XML_URI) => (
            9466,
            "XML namespace xml namespace URI (http://www.w3.org/XML/1998/namespace) must be assigned only to \
             prefix 'xml'.",
        ),
        (_, XMLNS_URI) => (
            9467,
            "xmlns namespace URI (http://www.w3.org/2000/xmlns/) is reserved and must not be used.",
        ),
        _ => return None,
    })
}

/// Text with the ends of its lines as XML has them.
fn push_lines(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find('\r') {
        out.push_str(&rest[..at]);
        out.push('\n');
        rest = rest[at + 1..].strip_prefix('\n').unwrap_or(&rest[at + 1..]);
    }
    out.push_str(rest);
}

/// The beginning of a long text.
fn window(text: &str) -> &str {
    &text[..stdx::floor_char_boundary(text, 64 << 10)]
}

fn split(name: &str) -> (&str, &str) {
    name.split_once(':').unwrap_or(("", name))
}

/// May a name (without colon) begin with it?
pub fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || (!c.is_ascii() && c.is_alphabetic())
}

/// May a name have it behind its first character?
pub fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || matches!(c, '_' | '-' | '.' | '\u{b7}')
        || (!c.is_ascii() && (c.is_alphanumeric() || ('\u{300}'..='\u{36f}').contains(&c)))
}
