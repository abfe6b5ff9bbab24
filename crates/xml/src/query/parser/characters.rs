//! The parser's characters: what lies ahead, signs and words, names and texts, blanks and comments, and how an error is told.

use super::*;

impl<'s> Parser<'s> {
    pub(super) fn rest(&self) -> &'s str {
        &self.source[self.at..]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// The word, number or sign that stands here, for messages.
    pub(super) fn near(&self) -> String {
        let rest = self.rest();
        let word = rest.find(|c: char| !is_name_char(c)).unwrap_or(rest.len());
        match (word, rest.chars().next()) {
            (_, None) => "<eof>".into(),
            (0, Some(c)) => c.into(),
            _ => rest[..word].into(),
        }
    }

    #[cold]
    pub(super) fn wrong(&self) -> QueryError {
        QueryError::new(2209, format!("Syntax error near '{}'", self.near()))
    }

    #[cold]
    pub(super) fn expected(&self, what: &str) -> QueryError {
        let text = format!("Syntax error near '{}', expected '{what}'.", self.near());
        QueryError::new(9303, text)
    }

    /// Blanks and `(: comments :)`.
    pub(super) fn blank(&mut self) -> Result<()> {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
            if !self.rest().starts_with("(:") {
                return Ok(());
            }
            let start = self.at;
            let mut open = 0;
            loop {
                if self.rest().starts_with("(:") {
                    open += 1;
                    self.at += 2;
                } else if self.rest().starts_with(":)") {
                    open -= 1;
                    self.at += 2;
                    if open == 0 {
                        break;
                    }
                } else if let Some(c) = self.peek() {
                    self.at += c.len_utf8();
                } else {
                    let line = self.source[..start].matches('\n').count() + 1;
                    let text = format!("Comment started on line {line} has no end");
                    return Err(QueryError::new(2340, text));
                }
            }
        }
    }

    /// Blanks, then a sign.
    pub(super) fn eat(&mut self, sign: &str) -> Result<bool> {
        self.blank()?;
        Ok(self.eat_here(sign))
    }

    pub(super) fn eat_here(&mut self, sign: &str) -> bool {
        let found = self.rest().starts_with(sign);
        if found {
            self.at += sign.len();
        }
        found
    }

    pub(super) fn expect(&mut self, sign: &str) -> Result<()> {
        match self.eat(sign)? {
            true => Ok(()),
            false => Err(self.expected(sign)),
        }
    }

    /// Does a word stand here, not as the beginning of a longer one?
    pub(super) fn at_word(&self, word: &str) -> bool {
        let Some(rest) = self.rest().strip_prefix(word) else { return false };
        !rest.starts_with(|c| is_name_char(c) || c == ':' && !rest.starts_with("::"))
    }

    pub(super) fn eat_word(&mut self, word: &str) -> Result<bool> {
        self.blank()?;
        let found = self.at_word(word);
        if found {
            self.at += word.len();
        }
        Ok(found)
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Result<()> {
        match self.eat_word(word)? {
            true => Ok(()),
            false => Err(self.expected(word)),
        }
    }

    /// A word, and behind it a sign: `for $`, `if (`.
    pub(super) fn eat_word_before(&mut self, word: &str, sign: &str) -> Result<bool> {
        let before = self.at;
        if self.eat_word(word)? {
            self.blank()?;
            if self.rest().starts_with(sign) {
                return Ok(true);
            }
        }
        self.at = before;
        Ok(false)
    }

    pub(super) fn finished(&mut self) -> Result<()> {
        self.blank()?;
        match self.at == self.source.len() {
            true => Ok(()),
            false => {
                let text = format!(
                    "No more tokens expected at the end of the XQuery expression. Found '{}'.",
                    self.near()
                );
                Err(QueryError::new(2370, text))
            }
        }
    }

    /// A name without colon; empty for none.
    pub(super) fn local_name(&mut self) -> &'s str {
        let rest = self.rest();
        if !rest.starts_with(is_name_start) {
            return "";
        }
        let len = rest.find(|c| !is_name_char(c)).unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }

    pub(super) fn string(&mut self) -> Result<String> {
        self.blank()?;
        let Some(quote @ ('"' | '\'')) = self.peek() else {
            return Err(QueryError::new(2225, "A string literal was expected"));
        };
        let start = self.at;
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = self.rest();
            let Some(stop) = rest.find([quote, '&']) else {
                let line = self.source[..start].matches('\n').count() + 1;
                let text = format!("Unterminated string constant (started on line {line})");
                return Err(QueryError::new(2274, text));
            };
            out.push_str(&rest[..stop]);
            self.at += stop;
            if self.eat_here("&") {
                out.push(self.entity()?);
                continue;
            }
            self.at += 1;
            // A quote written twice is one.
            if self.peek() != Some(quote) {
                return Ok(out);
            }
            self.at += 1;
            out.push(quote);
        }
    }

    /// Behind `&`.
    pub(super) fn entity(&mut self) -> Result<char> {
        let wrong = || QueryError::new(2282, "Invalid entity reference");
        let len = self.rest().find(';').filter(|n| *n < 12).ok_or_else(wrong)?;
        let name = &self.rest()[..len];
        self.at += len + 1;
        Ok(match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            _ => {
                let code = match name.strip_prefix("#x") {
                    Some(hex) => u32::from_str_radix(hex, 16).ok(),
                    None => name.strip_prefix('#').and_then(|d| d.parse().ok()),
                };
                let found =
                    code.and_then(char::from_u32).filter(|c| *c >= ' ' || "\t\r\n".contains(*c));
                found.ok_or_else(|| match name.starts_with('#') {
                    true => QueryError::new(2285, "Invalid numeric entity reference"),
                    false => wrong(),
                })?
            }
        })
    }

    pub(super) fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(QueryError::new(2363, "XQuery too complex"));
        }
        let found = f(self);
        self.depth -= 1;
        found
    }

    /// One more operation in a row: the tree grows to the left by it.
    pub(super) fn longer(&mut self) -> Result<()> {
        self.operations += 1;
        match self.operations > OPERATIONS_MAX {
            true => Err(QueryError::new(2363, "XQuery too complex")),
            false => Ok(()),
        }
    }
}
