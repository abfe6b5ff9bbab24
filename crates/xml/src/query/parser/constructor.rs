//! Constructors: `<a b="{e}">text {e}</a>`, `<!-- -->`, `element a {e}`, `attribute a {e}`, `text {e}`.

use super::*;

impl Parser<'_> {
    /// At `<`.
    pub(super) fn constructor(&mut self) -> Result<Expr> {
        if self.eat_here("<!--") {
            let Some(len) = self.rest().find("--") else { return Err(self.wrong()) };
            let text = self.rest()[..len].to_owned();
            self.at += len + 2;
            if !self.eat_here(">") {
                let text = "Two consecutive '-' can only appear in a comment constructor if they are used to \
                            close the comment ('-->').";
                return Err(QueryError::new(9322, text));
            }
            return Ok(Expr::Comment(text));
        }
        if self.rest().starts_with("<?") {
            let what = "XQuery constructors of processing instructions";
            return Err(QueryError::Unsupported(what.into()));
        }
        self.nested(Self::element)
    }

    /// `p:a` as written.
    fn written_name(&mut self) -> Result<(String, String)> {
        let first = self.local_name().to_owned();
        if first.is_empty() {
            return match self.peek() {
                Some(c) => {
                    let text = format!("A tag name may not start with the character '{c}'");
                    Err(QueryError::new(2278, text))
                }
                None => Err(self.wrong()),
            };
        }
        if !self.eat_here(":") {
            return Ok((String::new(), first));
        }
        let local = self.local_name().to_owned();
        if local.is_empty() { Err(self.wrong()) } else { Ok((first, local)) }
    }

    fn element(&mut self) -> Result<Expr> {
        self.at += 1;
        let (prefix, local) = self.written_name()?;
        let known = self.namespaces.len();
        let mut written = Vec::new();
        let empty = loop {
            self.skip_white();
            if self.eat_here("/>") {
                break true;
            }
            if self.eat_here(">") {
                break false;
            }
            let (p, l) = self.written_name()?;
            self.skip_white();
            if !self.eat_here("=") {
                return Err(self.expected("="));
            }
            self.skip_white();
            let parts = self.attribute_parts()?;
            let declared = match (p.as_str(), l.as_str()) {
                ("", "xmlns") => Some(""),
                ("xmlns", prefix) => Some(prefix),
                _ => None,
            };
            let Some(declared) = declared else {
                written.push((p, l, parts));
                continue;
            };
            let uri = match parts.as_slice() {
                [] => String::new(),
                [Expr::Atom(Atom::Text(uri))] => uri.clone(),
                _ => {
                    let text = "The value of a namespace declaration attribute must be a string literal. It \
                                cannot contain expressions.";
                    return Err(QueryError::new(9338, text));
                }
            };
            self.namespaces.push((declared.to_owned(), uri));
        };
        let uri = self.uri(&prefix)?;
        let mut attributes: Vec<(QName, Vec<Expr>)> = Vec::new();
        for (prefix, local, parts) in written {
            let uri = if prefix.is_empty() { String::new() } else { self.uri(&prefix)? };
            if attributes.iter().any(|(n, _)| n.local == local && n.uri == uri) {
                return Err(QueryError::new(2271, format!("Duplicate attribute '{local}'")));
            }
            attributes.push((QName { prefix, local, uri }, parts));
        }
        let namespaces = self.namespaces[known..].to_vec();
        let content = if empty { Vec::new() } else { self.element_content(&prefix, &local)? };
        self.namespaces.truncate(known);
        let name = QName { prefix, local, uri };
        Ok(Expr::Element(Box::new(Element { name, namespaces, attributes, content })))
    }

    fn skip_white(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
    }

    /// The parts of a value in quotes: texts and `{expressions}`.
    fn attribute_parts(&mut self) -> Result<Vec<Expr>> {
        let Some(quote @ ('"' | '\'')) = self.peek() else {
            return Err(QueryError::new(2225, "A string literal was expected"));
        };
        self.at += 1;
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut is_computed = false;
        loop {
            let Some(c) = self.peek() else { return Err(self.wrong()) };
            self.at += c.len_utf8();
            match c {
                c if c == quote => {
                    if self.peek() != Some(quote) {
                        break;
                    }
                    self.at += 1;
                    text.push(quote);
                }
                '{' if self.eat_here("{") => text.push('{'),
                '}' if self.eat_here("}") => text.push('}'),
                '{' => {
                    if !text.is_empty() {
                        parts.push(Expr::Atom(Atom::Text(std::mem::take(&mut text))));
                    }
                    parts.push(self.expr()?);
                    is_computed = true;
                    self.expect("}")?;
                }
                '}' => return Err(unmatched()),
                '&' => text.push(self.entity()?),
                '<' => return Err(QueryError::new(2350, "Invalid XML element content")),
                '\t' | '\n' | '\r' => text.push(' '),
                c => text.push(c),
            }
        }
        if !text.is_empty() {
            parts.push(Expr::Atom(Atom::Text(text)));
        }
        if is_computed && parts.len() > 1 {
            let text = "This version of the server does not support multiple expressions or expressions mixed with strings in \
                        an attribute constructor.";
            return Err(QueryError::new(9313, text));
        }
        Ok(parts)
    }

    /// Up to and with the end tag.
    fn element_content(&mut self, prefix: &str, local: &str) -> Result<Vec<Content>> {
        let mut content = Vec::new();
        let mut text = String::new();
        // Whitespace as written between tags and braces is not content.
        let mut blank = true;
        loop {
            let Some(c) = self.peek() else {
                let text = match prefix.is_empty() {
                    true => QueryError::new(2267, format!("Expected end tag '{local}'")),
                    false => QueryError::new(2266, format!("Expected end tag '{prefix}:{local}'")),
                };
                return Err(text);
            };
            let ends = c == '<' && !self.rest().starts_with("<![CDATA[")
                || c == '{' && !self.rest().starts_with("{{");
            if ends {
                if !(text.is_empty() || blank) {
                    content.push(Content::Text(std::mem::take(&mut text)));
                }
                text.clear();
                blank = true;
            }
            if c == '<' && self.eat_here("<![CDATA[") {
                let Some(len) = self.rest().find("]]>") else {
                    return Err(QueryError::new(2273, "Unterminated CDATA section"));
                };
                text.push_str(&self.rest()[..len]);
                self.at += len + 3;
                blank = false;
            } else if c == '<' && self.eat_here("</") {
                let (p, l) = self.written_name()?;
                if p != prefix || l != local {
                    let line = self.source[..self.at].matches('\n').count() + 1;
                    let text = format!(
                        "The end tag '{l}' doesn't match opening tag '{local}' from line {line}"
                    );
                    return Err(QueryError::new(2323, text));
                }
                self.skip_white();
                if !self.eat_here(">") {
                    return Err(self.expected(">"));
                }
                return Ok(content);
            } else if c == '<' {
                content.push(Content::Expr(self.constructor()?));
            } else {
                self.at += c.len_utf8();
                match c {
                    '{' if self.eat_here("{") => {
                        text.push('{');
                        blank = false;
                    }
                    '}' if self.eat_here("}") => {
                        text.push('}');
                        blank = false;
                    }
                    '{' => {
                        content.push(Content::Expr(self.expr()?));
                        self.expect("}")?;
                    }
                    '}' => return Err(unmatched()),
                    '&' => {
                        text.push(self.entity()?);
                        blank = false;
                    }
                    c => {
                        blank &= matches!(c, ' ' | '\t' | '\r' | '\n');
                        text.push(c);
                    }
                }
            }
        }
    }

    /// Behind a name: `element a { }`, `attribute a { }`, `text { }`.
    pub(super) fn computed(&mut self, word: &str) -> Result<Option<Expr>> {
        if !matches!(word, "element" | "attribute" | "text" | "comment" | "document") {
            return Ok(None);
        }
        let before = self.at;
        self.blank()?;
        let mut name = None;
        if matches!(word, "element" | "attribute") {
            let first = self.local_name().to_owned();
            if first.is_empty() {
                if self.rest().starts_with('{') {
                    let text = "Only constant expressions are supported for the name expression of computed \
                                element and attribute constructors.";
                    return Err(QueryError::new(9315, text));
                }
                self.at = before;
                return Ok(None);
            }
            name = Some(match self.eat_here(":") {
                true => (first, self.local_name().to_owned()),
                false => (String::new(), first),
            });
            self.blank()?;
        }
        if !self.rest().starts_with('{') {
            self.at = before;
            return Ok(None);
        }
        match word {
            "comment" => {
                let text = "Computed comment constructors are not supported.";
                return Err(QueryError::new(9326, text));
            }
            "document" => {
                return Err(QueryError::new(
                    9335,
                    "The XQuery syntax 'document' is not supported.",
                ));
            }
            _ => {}
        }
        self.at += 1;
        let value = match self.eat("}")? {
            true => Expr::Sequence(Vec::new()),
            false => {
                let value = self.expr()?;
                self.expect("}")?;
                value
            }
        };
        let Some((prefix, local)) = name else { return Ok(Some(Expr::Text(Box::new(value)))) };
        if word == "element" {
            let uri = self.uri(&prefix)?;
            let name = QName { prefix, local, uri };
            let content = vec![Content::Expr(value)];
            let (namespaces, attributes) = (Vec::new(), Vec::new());
            let made = Element { name, namespaces, attributes, content };
            return Ok(Some(Expr::Element(Box::new(made))));
        }
        let uri = if prefix.is_empty() { String::new() } else { self.uri(&prefix)? };
        let name = QName { prefix, local, uri };
        Ok(Some(Expr::Attribute { name, value: Box::new(value) }))
    }
}

fn unmatched() -> QueryError {
    let text = "Found '}' without matching '{'. If you want to use the characters '{' or '}', you need to escape \
                them as '{{' or '}}' respectively.";
    QueryError::new(9324, text)
}
