//! Text to tree, by recursive descent over characters.
//!
//! There are no tokens: what `<` or `*` or `div` means depends on where it stands. Names are resolved as they are read.
//! Sources: XQuery 1.0 (W3C), "A.1 EBNF"; SQL documentation, "XQuery Language Reference".

use super::Namespaces;
use super::atom::{Atom, AtomType};
use super::check::is_single;
use super::tree::*;
use crate::DEPTH_MAX;
use crate::error::QueryError;
use crate::parse::{is_name_char, is_name_start};

mod characters;
mod constructor;
mod path;

pub(super) type Result<T> = std::result::Result<T, QueryError>;

const XS: &str = "http://www.w3.org/2001/XMLSchema";
const XDT: &str = "http://www.w3.org/2004/07/xpath-datatypes";
const FN: &str = "http://www.w3.org/2004/07/xpath-functions";
const SQL: &str = "urn:schemas-microsoft-com:xml-sql";
const SQLTYPES: &str = "http://schemas.microsoft.com/sqlserver/2004/sqltypes";

/// Operations between values that one query may have.
const OPERATIONS_MAX: usize = 500;

/// A parsed query.
pub(super) struct Parsed {
    pub expr: Expr,
    pub externals: Vec<External>,
    pub slots: usize,
    /// Prefixes and what they mean.
    pub namespaces: Vec<(String, String)>,
}

/// A statement of XML DML.
pub(super) struct ParsedDml {
    pub made: Dml,
    pub externals: Vec<External>,
    pub slots: usize,
    /// Prefixes and what they mean.
    pub namespaces: Vec<(String, String)>,
}

/// What a query of XML DML says, its expressions apart.
pub(super) enum Dml {
    Insert { what: Expr, place: Place, target: Expr },
    Delete(Expr),
    Replace { target: Expr, with: Expr },
}

/// Where `insert` puts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    First,
    Last,
    Before,
    After,
}

/// A query.
pub(super) fn query(source: &str, namespaces: &Namespaces) -> Result<Parsed> {
    let mut parser = Parser::new(source, namespaces);
    parser.prolog()?;
    let expr = parser.expr()?;
    parser.finished()?;
    let Parser { externals, slots, namespaces, .. } = parser;
    Ok(Parsed { expr, externals, slots, namespaces })
}

/// A statement of XML DML.
pub(super) fn dml(source: &str, namespaces: &Namespaces) -> Result<ParsedDml> {
    let mut parser = Parser::new(source, namespaces);
    parser.prolog()?;
    let made = parser.dml()?;
    parser.finished()?;
    let Parser { externals, slots, namespaces, .. } = parser;
    Ok(ParsedDml { made, externals, slots, namespaces })
}

/// `eq` and its like.
pub(super) fn value_operator(op: Op) -> &'static str {
    match op {
        Op::Eq => "eq",
        Op::Ne => "ne",
        Op::Lt => "lt",
        Op::Le => "le",
        Op::Gt => "gt",
        Op::Ge => "ge",
    }
}

pub(super) fn arith_operator(op: Arith) -> &'static str {
    match op {
        Arith::Add => "+",
        Arith::Sub => "-",
        Arith::Mul => "*",
        Arith::Div => "div",
        Arith::Mod => "mod",
    }
}

struct Parser<'s> {
    source: &'s str,
    at: usize,
    depth: usize,
    /// Operations between values so far.
    operations: usize,
    /// Prefixes and URIs, the innermost last.
    namespaces: Vec<(String, String)>,
    /// Variables and their slots, the innermost last.
    variables: Vec<(String, usize)>,
    slots: usize,
    externals: Vec<External>,
}

impl<'s> Parser<'s> {
    fn new(source: &'s str, namespaces: &Namespaces) -> Parser<'s> {
        let known = [
            ("xml", "http://www.w3.org/XML/1998/namespace"),
            ("xs", XS),
            ("xsi", "http://www.w3.org/2001/XMLSchema-instance"),
            ("xdt", XDT),
            ("fn", FN),
            ("sql", SQL),
            ("sqltypes", SQLTYPES),
        ];
        let known = known.iter().map(|(p, u)| (p.to_string(), u.to_string()));
        Parser {
            source,
            at: 0,
            depth: 0,
            operations: 0,
            namespaces: known.chain(namespaces.iter().cloned()).collect(),
            variables: Vec::new(),
            slots: 0,
            externals: Vec::new(),
        }
    }

    // ---- Names

    /// What a prefix means; 2229.
    fn uri(&self, prefix: &str) -> Result<String> {
        match self.namespaces.iter().rev().find(|(p, _)| p == prefix) {
            Some((_, uri)) => Ok(uri.clone()),
            None if prefix.is_empty() => Ok(String::new()),
            None => {
                let text = format!("The name \"{prefix}\" does not denote a namespace.");
                Err(QueryError::new(2229, text))
            }
        }
    }

    /// `declare namespace p = "..."; declare default element namespace "...";`
    fn prolog(&mut self) -> Result<()> {
        loop {
            let before = self.at;
            if self.eat_word("xquery")? && self.eat_word("version")? {
                if self.string()? != "1.0" {
                    let text = "This version of the server only supports XQuery version '1.0'.";
                    return Err(QueryError::new(9304, text));
                }
                self.end_of_prolog()?;
                continue;
            }
            self.at = before;
            if !self.eat_word("declare")? {
                return Ok(());
            }
            if self.eat_word("namespace")? {
                self.blank()?;
                let prefix = self.local_name();
                if prefix.is_empty() {
                    let text =
                        format!("Syntax error near '{}', expected an identifier.", self.near());
                    return Err(QueryError::new(2223, text));
                }
                self.expect("=")?;
                let uri = self.string()?;
                self.namespaces.push((prefix.to_owned(), uri));
            } else if self.eat_word("default")? {
                self.expect_word("element")?;
                self.expect_word("namespace")?;
                let uri = self.string()?;
                self.namespaces.push((String::new(), uri));
            } else {
                self.blank()?;
                self.at = match self.peek() {
                    Some('(' | '/' | ':') | None => before,
                    _ => return Err(self.expected("namespace")),
                };
                return Ok(());
            }
            self.end_of_prolog()?;
        }
    }

    fn end_of_prolog(&mut self) -> Result<()> {
        match self.eat(";")? {
            true => Ok(()),
            false => {
                let text =
                    format!("All prolog entries need to end with ';', found '{}'.", self.near());
                Err(QueryError::new(9327, text))
            }
        }
    }

    // ---- Expressions, the loosest first

    /// `a, b`
    fn expr(&mut self) -> Result<Expr> {
        let first = self.single()?;
        if !self.eat(",")? {
            return Ok(first);
        }
        let mut list = vec![first];
        loop {
            list.push(self.single()?);
            if !self.eat(",")? {
                return Ok(Expr::Sequence(list));
            }
        }
    }

    fn single(&mut self) -> Result<Expr> {
        self.nested(|p| {
            if p.eat_word_before("for", "$")? || p.eat_word_before("let", "$")? {
                return p.flwor();
            }
            if p.eat_word_before("some", "$")? {
                return p.quantified(false);
            }
            if p.eat_word_before("every", "$")? {
                return p.quantified(true);
            }
            if p.eat_word_before("if", "(")? {
                p.expect("(")?;
                let test = p.expr()?;
                p.expect(")")?;
                p.expect_word("then")?;
                let then = p.single()?;
                if !p.eat_word("else")? {
                    return Err(QueryError::new(2355, "'else' expected"));
                }
                let otherwise = p.single()?;
                return Ok(Expr::If(Box::new([test, then, otherwise])));
            }
            for what in ["typeswitch", "validate"] {
                if p.eat_word_before(what, "(")? {
                    let text = format!("The XQuery syntax '{what}' is not supported.");
                    return Err(QueryError::new(9335, text));
                }
            }
            p.or()
        })
    }

    /// A new variable; `single` when it is one item at most. Even slots are such, as `check` knows.
    fn bind(&mut self, name: String, single: bool) -> usize {
        let slot = self.slots + usize::from(self.slots.is_multiple_of(2) != single);
        self.slots = slot + 1;
        self.variables.push((name, slot));
        slot
    }

    /// `$name`
    fn variable(&mut self) -> Result<String> {
        self.blank()?;
        if !self.eat_here("$") {
            return Err(QueryError::new(2241, "Variable expected: '$name'"));
        }
        let name = self.local_name().to_owned();
        if name.is_empty() {
            return Err(QueryError::new(2241, "Variable expected: '$name'"));
        }
        if self.rest().starts_with(':') && !self.rest().starts_with(":=") {
            let text =
                "Using ':' in variable names is not supported in this version of the server.";
            return Err(QueryError::new(9323, text));
        }
        Ok(name)
    }

    /// At the first `$`; the word before it has been read.
    fn flwor(&mut self) -> Result<Expr> {
        let known = self.variables.len();
        let mut clauses = Vec::new();
        let word = self.source[..self.at].trim_end();
        let mut looping = word.ends_with("for");
        loop {
            let name = self.variable()?;
            if looping {
                if self.eat_word("at")? {
                    let text = "The XQuery syntax 'at' is not supported.";
                    return Err(QueryError::new(9335, text));
                }
                self.expect_word("in")?;
                let input = self.single()?;
                let slot = self.bind(name, true);
                clauses.push(Clause::For { slot, input });
            } else {
                self.expect(":=")?;
                let input = self.single()?;
                let slot = self.bind(name, is_single(&input));
                clauses.push(Clause::Let { slot, input });
            }
            if self.eat(",")? {
                continue;
            }
            if self.eat_word_before("for", "$")? {
                looping = true;
            } else if self.eat_word_before("let", "$")? {
                looping = false;
            } else {
                break;
            }
        }
        let filter = if self.eat_word("where")? { Some(self.single()?) } else { None };
        let mut order = Vec::new();
        self.eat_word("stable")?;
        if self.eat_word("order")? {
            self.expect_word("by")?;
            loop {
                let key = self.single()?;
                let descending = self.eat_word("descending")?;
                if !descending {
                    self.eat_word("ascending")?;
                }
                order.push((key, descending));
                if !self.eat(",")? {
                    break;
                }
            }
        }
        if !self.eat_word("return")? {
            let text = format!(
                "Syntax error near '{}', expected 'where', '(stable) order by' or 'return'.",
                self.near()
            );
            return Err(QueryError::new(9332, text));
        }
        let result = self.single()?;
        self.variables.truncate(known);
        Ok(Expr::Flwor(Box::new(Flwor { clauses, filter, order, result })))
    }

    fn quantified(&mut self, every: bool) -> Result<Expr> {
        let known = self.variables.len();
        let mut binds = Vec::new();
        loop {
            let name = self.variable()?;
            self.expect_word("in")?;
            let input = self.single()?;
            let slot = self.bind(name, true);
            binds.push((slot, input));
            if !self.eat(",")? {
                break;
            }
        }
        self.expect_word("satisfies")?;
        let test = Box::new(self.single()?);
        self.variables.truncate(known);
        Ok(Expr::Quantified { every, binds, test })
    }

    fn or(&mut self) -> Result<Expr> {
        let mut left = self.and()?;
        while self.eat_word("or")? {
            self.longer()?;
            left = Expr::Or(Box::new(left), Box::new(self.and()?));
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<Expr> {
        let mut left = self.comparison()?;
        while self.eat_word("and")? {
            self.longer()?;
            left = Expr::And(Box::new(left), Box::new(self.comparison()?));
        }
        Ok(left)
    }

    fn comparison(&mut self) -> Result<Expr> {
        let left = self.additive()?;
        self.blank()?;
        const SIGNS: &[(&str, Op)] = &[
            ("!=", Op::Ne),
            ("<=", Op::Le),
            (">=", Op::Ge),
            ("=", Op::Eq),
            ("<", Op::Lt),
            (">", Op::Gt),
        ];
        for (sign, op) in [("<<", Op::Lt), (">>", Op::Gt)] {
            if self.eat_here(sign) {
                let right = Box::new(self.additive()?);
                return Ok(Expr::Order { op, left: Box::new(left), right });
            }
        }
        for (sign, op) in SIGNS {
            if self.eat_here(sign) {
                let right = Box::new(self.additive()?);
                let (left, op) = (Box::new(left), *op);
                return Ok(Expr::Compare { op, general: true, left, right });
            }
        }
        for op in [Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge] {
            if self.eat_word(value_operator(op))? {
                let right = Box::new(self.additive()?);
                return Ok(Expr::Compare { op, general: false, left: Box::new(left), right });
            }
        }
        if self.eat_word("is")? {
            let right = Box::new(self.additive()?);
            return Ok(Expr::Order { op: Op::Eq, left: Box::new(left), right });
        }
        Ok(left)
    }

    fn additive(&mut self) -> Result<Expr> {
        let mut left = self.multiplicative()?;
        loop {
            self.blank()?;
            let op = match self.peek() {
                Some('+') => Arith::Add,
                Some('-') => Arith::Sub,
                _ => return Ok(left),
            };
            self.at += 1;
            self.longer()?;
            let right = Box::new(self.multiplicative()?);
            left = Expr::Arith { op, left: Box::new(left), right };
        }
    }

    fn multiplicative(&mut self) -> Result<Expr> {
        let mut left = self.cast()?;
        loop {
            let op = if self.eat("*")? {
                Arith::Mul
            } else if self.eat_word("div")? {
                Arith::Div
            } else if self.eat_word("mod")? {
                Arith::Mod
            } else {
                for what in ["idiv", "to", "union", "intersect", "except", "treat", "castable"] {
                    if self.at_word(what) {
                        let text = format!("The XQuery syntax '{what}' is not supported.");
                        return Err(QueryError::new(9335, text));
                    }
                }
                if self.rest().starts_with('|') {
                    let text = "The XQuery syntax 'union' is not supported.";
                    return Err(QueryError::new(9335, text));
                }
                return Ok(left);
            };
            self.longer()?;
            let right = Box::new(self.cast()?);
            left = Expr::Arith { op, left: Box::new(left), right };
        }
    }

    /// `e cast as xs:int ?`, `e instance of xs:int ?`
    fn cast(&mut self) -> Result<Expr> {
        let value = self.unary()?;
        if self.eat_word("cast")? {
            self.expect_word("as")?;
            let (name, ty) = self.type_name()?;
            if !self.eat("?")? {
                let text = format!(
                    "In this version of the server, 'cast as <type>{name}' is not available. Please use \
                     the 'cast as <type> ?' syntax."
                );
                return Err(QueryError::new(9301, text));
            }
            return Ok(Expr::Cast(Box::new(value), ty));
        }
        if self.eat_word("instance")? {
            self.expect_word("of")?;
            let before = self.at;
            if self.eat_word_before("empty", "(")? {
                self.expect("(")?;
                self.expect(")")?;
                return Ok(Expr::Call(Func::Empty, vec![value]));
            }
            let found = self.type_name();
            if found.is_err() {
                self.at = before;
                return Err(QueryError::Unsupported("XQuery 'instance of' a kind of nodes".into()));
            }
            let (_, ty) = found?;
            if !self.eat("?")? {
                let text =
                    "Only type names followed by '?' are supported in the target of 'instance of'.";
                return Err(QueryError::new(9305, text));
            }
            return Ok(Expr::InstanceOf(Box::new(value), ty));
        }
        Ok(value)
    }

    fn type_name(&mut self) -> Result<(String, AtomType)> {
        self.blank()?;
        let first = self.local_name().to_owned();
        if first.is_empty() {
            let text = format!("Type specification expected, found '{}'.", self.near());
            return Err(QueryError::new(9328, text));
        }
        if !self.eat_here(":") {
            let text = format!("The name \"{first}\" does not denote a defined type.");
            return Err(QueryError::new(2231, text));
        }
        let uri = self.uri(&first)?;
        let local = self.local_name();
        let ty = AtomType::of(local).filter(|_| uri == XS || uri == XDT);
        let unknown = || {
            let text = format!("The name \"{first}:{local}\" does not denote a defined type.");
            QueryError::new(2232, text)
        };
        Ok((format!("{first}:{local}"), ty.ok_or_else(unknown)?))
    }

    fn unary(&mut self) -> Result<Expr> {
        self.blank()?;
        let mut negative = false;
        loop {
            match self.peek() {
                Some('-') => negative = !negative,
                Some('+') => {}
                _ => break,
            }
            self.at += 1;
            self.blank()?;
        }
        let value = self.path()?;
        Ok(if negative { Expr::Negate(Box::new(value)) } else { value })
    }

    // ---- XML DML

    fn dml(&mut self) -> Result<Dml> {
        if self.eat_word("insert")? {
            let what = self.single()?;
            let place = if self.eat_word("as")? {
                let first = self.eat_word("first")?;
                if !first && !self.eat_word("last")? {
                    return Err(QueryError::new(2351, "Expected 'first' or 'last'"));
                }
                self.expect_word("into")?;
                if first { Place::First } else { Place::Last }
            } else if self.eat_word("into")? {
                Place::Last
            } else if self.eat_word("before")? {
                Place::Before
            } else if self.eat_word("after")? {
                Place::After
            } else {
                let text = format!(
                    "Syntax error near '{}', expected 'as', 'into', 'before' or 'after'.",
                    self.near()
                );
                return Err(QueryError::new(2248, text));
            };
            let target = self.single()?;
            return Ok(Dml::Insert { what, place, target });
        }
        if self.eat_word("delete")? {
            return Ok(Dml::Delete(self.expr()?));
        }
        if self.eat_word("replace")? {
            self.expect_word("value")?;
            self.expect_word("of")?;
            let target = self.single()?;
            self.expect_word("with")?;
            let with = self.single()?;
            return Ok(Dml::Replace { target, with });
        }
        Err(QueryError::new(2353, "'to' or 'insert' or 'delete' expected"))
    }
}
