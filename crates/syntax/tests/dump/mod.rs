//! Trees in short: the Debug output without spans and steps, empty fields and wrappers, so that a reader can
//! check it by eye and no new node is left out of the tests.

use syntax::ast::Statement;

/// `3| Print('x')`: the line and the tree.
pub fn statement(statement: &Statement) -> String {
    let debug = format!("{:?}", statement.kind);
    let mut reader = Reader { text: debug.as_bytes(), at: 0 };
    let node = reader.value();
    assert_eq!(reader.at, debug.len(), "the whole of {debug}");
    format!("{}| {}", statement.span.line, show(&node))
}

/// What Debug prints.
#[derive(Debug)]
enum Node {
    Atom(String),
    Text(String),
    List(Vec<Node>),
    /// `Name(..)` or `(..)`.
    Tuple(String, Vec<Node>),
    /// `Name { .. }`.
    Struct(String, Vec<(String, Node)>),
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    fn eat(&mut self, byte: u8) -> bool {
        while self.peek() == b' ' {
            self.at += 1;
        }
        let found = self.peek() == byte;
        self.at += usize::from(found);
        found
    }

    fn list(&mut self, close: u8) -> Vec<Node> {
        let mut items = Vec::new();
        while !self.eat(close) {
            items.push(self.value());
            self.eat(b',');
        }
        items
    }

    fn word(&mut self) -> String {
        while self.peek() == b' ' {
            self.at += 1;
        }
        let start = self.at;
        while !matches!(
            self.peek(),
            0 | b' ' | b',' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b':'
        ) {
            self.at += 1;
        }
        String::from_utf8_lossy(&self.text[start..self.at]).into_owned()
    }

    fn value(&mut self) -> Node {
        if self.eat(b'"') {
            let start = self.at;
            while self.peek() != b'"' {
                self.at += 1 + usize::from(self.peek() == b'\\');
            }
            let text = String::from_utf8_lossy(&self.text[start..self.at]).into_owned();
            self.at += 1;
            return Node::Text(text.replace("\\\"", "\"").replace("\\'", "'"));
        }
        if self.eat(b'[') {
            return Node::List(self.list(b']'));
        }
        let name = self.word();
        if self.peek() == b'(' {
            self.at += 1;
            return Node::Tuple(name, self.list(b')'));
        }
        if self.peek() == b' ' && self.text.get(self.at + 1) == Some(&b'{') {
            self.at += 2;
            let mut fields = Vec::new();
            while !self.eat(b'}') {
                let field = self.word();
                self.eat(b':');
                let value = self.value();
                self.eat(b',');
                if field != "span" && field != "step" {
                    fields.push((field, value));
                }
            }
            return Node::Struct(name, fields);
        }
        Node::Atom(name)
    }
}

fn is_empty(node: &Node) -> bool {
    match node {
        Node::Atom(word) => word == "None" || word == "false",
        Node::List(items) => items.is_empty(),
        _ => false,
    }
}

fn joined(nodes: &[Node]) -> String {
    nodes.iter().map(show).collect::<Vec<_>>().join(", ")
}

fn show(node: &Node) -> String {
    match node {
        Node::Atom(word) => word.clone(),
        Node::Text(text) => text.clone(),
        Node::List(items) => format!("[{}]", joined(items)),
        Node::Tuple(name, items) => show_tuple(name, items),
        Node::Struct(name, fields) => show_struct(name, fields),
    }
}

fn show_tuple(name: &str, items: &[Node]) -> String {
    match name {
        "Some" | "Column" | "Literal" | "Function" | "Expr" | "Name" | "Variable" | "Int"
        | "Subquery" | "Number" | "Cast" | "SystemVariable"
            if items.len() == 1 =>
        {
            show(&items[0])
        }
        "Decimal" => format!("{}d", joined(items)),
        "Float" => format!("{}f", joined(items)),
        "Money" => format!("${}", joined(items)),
        "Default" => "DEFAULT".into(),
        _ => format!("{name}({})", joined(items)),
    }
}

fn show_struct(name: &str, fields: &[(String, Node)]) -> String {
    let field =
        |wanted: &str| fields.iter().find(|(field, _)| field == wanted).map(|(_, node)| node);
    let text = |wanted: &str| field(wanted).map_or_else(String::new, show);
    match name {
        "Ident" if text("quoted") == "true" => format!("[{}]", text("value")),
        "Ident" => text("value"),
        "Variable" => text("name"),
        "Expr" if field("kind").is_some() => text("kind"),
        "Statement" => text("kind"),
        "String" if text("national") == "true" => format!("N'{}'", text("value")),
        "String" => format!("'{}'", text("value")),
        "Binary" => format!("({} {} {})", text("left"), text("op"), text("right")),
        "Unary" => format!("({} {})", text("op"), text("expr")),
        "ObjectName" => {
            let mut parts = String::new();
            for part in ["server", "database", "schema"] {
                if !field(part).is_none_or(is_empty) {
                    parts += &text(part);
                    parts.push('.');
                } else if !parts.is_empty() {
                    parts.push('.');
                }
            }
            parts + &text("name")
        }
        "ColumnRef" => match field("qualifier") {
            Some(Node::List(parts)) if !parts.is_empty() => {
                format!("{}.{}", parts.iter().map(show).collect::<Vec<_>>().join("."), text("name"))
            }
            _ => text("name"),
        },
        "TypeName" => match field("args") {
            Some(Node::List(args)) if !args.is_empty() => {
                format!("{}({})", text("name"), joined(args))
            }
            _ => text("name"),
        },
        _ => {
            let shown: Vec<String> = fields
                .iter()
                .filter(|(_, node)| !is_empty(node))
                .map(|(field, node)| format!("{field}: {}", show(node)))
                .collect();
            format!("{name} {{{}}}", shown.join(", "))
        }
    }
}
