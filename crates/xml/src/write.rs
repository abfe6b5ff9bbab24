//! Documents as text, the way SQL Server writes them: no declaration, attributes in double quotes, namespaces first,
//! elements with nothing inside as `<a/>`.
//!
//! A prefix that what is written uses and does not declare is declared where it is used first: a part of a document is
//! well-formed by itself.

use crate::document::{Document, Kind};
use crate::scope::Scope;
use runtime::task::Breath;

/// What a node is written with.
struct Writing<'d> {
    scope: Scope<'d, &'d str>,
    breath: Breath,
}

impl Document {
    /// The text of a node with its tags, and all inside it. That of a request which is to stop ends early.
    pub fn write(&self, id: u32) -> String {
        let mut out = String::new();
        self.write_into(id, &mut out);
        out
    }

    /// The same, at the end of `out`.
    pub fn write_into(&self, id: u32, out: &mut String) {
        self.node(id, &mut Writing { scope: Scope::new(), breath: Breath::new() }, out);
    }

    fn node<'d>(&'d self, id: u32, with: &mut Writing<'d>, out: &mut String) {
        if !with.breath.goes_on_by(8 + self.content(id).len() / 8) {
            return;
        }
        match self.kind(id) {
            Kind::Root => {
                for child in self.children(id) {
                    self.node(child, with, out);
                }
            }
            Kind::Element => self.element(id, with, out),
            Kind::Text => escape_text(self.content(id), out),
            Kind::Comment => {
                out.push_str("<!--");
                out.push_str(self.content(id));
                out.push_str("-->");
            }
            Kind::Instruction => {
                out.push_str("<?");
                out.push_str(&self.name(id).local);
                if !self.content(id).is_empty() {
                    out.push(' ');
                    out.push_str(self.content(id));
                }
                out.push_str("?>");
            }
            Kind::Attribute | Kind::Namespace => {}
        }
    }

    fn element<'d>(&'d self, id: u32, with: &mut Writing<'d>, out: &mut String) {
        let before = with.scope.len();
        let name = self.name(id);
        out.push('<');
        qualified(&name.prefix, &name.local, out);
        for declared in self.namespaces(id) {
            if !with.breath.goes_on_by(8 + self.content(declared).len() / 8) {
                return;
            }
            let (prefix, uri) = (&*self.name(declared).local, self.content(declared));
            with.scope.push(prefix, uri);
            declare(prefix, uri, out);
        }
        need(&name.prefix, &name.uri, &mut with.scope, out);
        for attribute in self.attributes(id) {
            let name = self.name(attribute);
            if !with.breath.goes_on() {
                return;
            }
            if !name.prefix.is_empty() {
                need(&name.prefix, &name.uri, &mut with.scope, out);
            }
        }
        for attribute in self.attributes(id) {
            if !with.breath.goes_on_by(8 + self.content(attribute).len() / 8) {
                return;
            }
            let name = self.name(attribute);
            out.push(' ');
            qualified(&name.prefix, &name.local, out);
            out.push_str("=\"");
            escape_attribute(self.content(attribute), out);
            out.push('"');
        }
        let mut children = self.children(id).peekable();
        if children.peek().is_none() {
            out.push_str("/>");
        } else {
            out.push('>');
            for child in children {
                self.node(child, with, out);
            }
            out.push_str("</");
            qualified(&name.prefix, &name.local, out);
            out.push('>');
        }
        with.scope.truncate(before);
    }
}

fn qualified(prefix: &str, local: &str, out: &mut String) {
    if !prefix.is_empty() {
        out.push_str(prefix);
        out.push(':');
    }
    out.push_str(local);
}

fn declare(prefix: &str, uri: &str, out: &mut String) {
    out.push_str(" xmlns");
    if !prefix.is_empty() {
        out.push(':');
        out.push_str(prefix);
    }
    out.push_str("=\"");
    escape_attribute(uri, out);
    out.push('"');
}

/// Declares a prefix unless it means that already.
fn need<'d>(prefix: &'d str, uri: &'d str, scope: &mut Scope<'d, &'d str>, out: &mut String) {
    let known = scope.find(prefix).copied().unwrap_or("");
    if prefix == "xml" || known == uri {
        return;
    }
    scope.push(prefix, uri);
    declare(prefix, uri, out);
}

fn escape_text(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find(['&', '<', '>', '\r']) {
        out.push_str(&rest[..at]);
        out.push_str(match rest.as_bytes()[at] {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            _ => "&#x0D;",
        });
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
}

fn escape_attribute(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find(['&', '<', '>', '"', '\r', '\n', '\t']) {
        out.push_str(&rest[..at]);
        out.push_str(match rest.as_bytes()[at] {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            b'\r' => "&#x0D;",
            b'\n' => "&#x0A;",
            _ => "&#x09;",
        });
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
}
