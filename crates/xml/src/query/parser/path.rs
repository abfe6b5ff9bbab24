//! Paths, and what may begin one: values, variables, calls, parentheses.

use super::*;

impl Parser<'_> {
    pub(super) fn path(&mut self) -> Result<Expr> {
        self.nested(Self::path_inner)
    }

    fn path_inner(&mut self) -> Result<Expr> {
        self.blank()?;
        let mut steps = Vec::new();
        let start = if self.eat_here("//") {
            steps.push(any_below());
            steps.push(self.axis_step()?.ok_or_else(|| self.step_expected())?);
            Expr::Root
        } else if self.eat_here("/") {
            self.blank()?;
            match self.axis_step()? {
                Some(step) => steps.push(step),
                None => return Ok(Expr::Root),
            }
            Expr::Root
        } else {
            match self.primary()? {
                Some(primary) => {
                    let predicates = self.predicates()?;
                    match predicates.is_empty() {
                        true => primary,
                        false => Expr::Filter(Box::new(primary), predicates),
                    }
                }
                None => {
                    steps.push(self.axis_step()?.ok_or_else(|| self.wrong())?);
                    Expr::Context
                }
            }
        };
        loop {
            self.blank()?;
            if self.eat_here("//") {
                steps.push(any_below());
            } else if !self.eat_here("/") {
                break;
            }
            self.blank()?;
            if let Some(step) = self.axis_step()? {
                steps.push(step);
                continue;
            }
            // `path/data(.)`: a call for each node.
            let what = "functions and values as steps of a path";
            return Err(match self.primary() {
                Ok(Some(_)) => QueryError::Unsupported(format!("XQuery {what}")),
                _ => self.step_expected(),
            });
        }
        Ok(match steps.is_empty() {
            true => start,
            false => Expr::Path(Box::new(start), steps),
        })
    }

    fn step_expected(&self) -> QueryError {
        let text = format!("Syntax error near '{}', expected a step expression.", self.near());
        QueryError::new(9341, text)
    }

    fn predicates(&mut self) -> Result<Vec<Expr>> {
        let mut list = Vec::new();
        while self.eat("[")? {
            list.push(self.expr()?);
            self.expect("]")?;
        }
        Ok(list)
    }

    /// A step along an axis; `None` when none stands here.
    fn axis_step(&mut self) -> Result<Option<Step>> {
        self.blank()?;
        if self.rest().starts_with("..") {
            self.at += 2;
            let predicates = self.predicates()?;
            return Ok(Some(Step { axis: Axis::Parent, test: Test::Node, predicates }));
        }
        if self.rest().starts_with('.')
            && !self.rest()[1..].starts_with(|c: char| c.is_ascii_digit())
        {
            self.at += 1;
            let predicates = self.predicates()?;
            return Ok(Some(Step { axis: Axis::Own, test: Test::Node, predicates }));
        }
        let before = self.at;
        let mut axis = Axis::Child;
        if self.eat_here("@") {
            axis = Axis::Attribute;
        } else {
            let name = self.local_name();
            self.blank()?;
            if !name.is_empty() && self.eat_here("::") {
                axis = match name {
                    "child" => Axis::Child,
                    "descendant" => Axis::Descendant,
                    "descendant-or-self" => Axis::DescendantOrSelf,
                    "parent" => Axis::Parent,
                    "self" => Axis::Own,
                    "attribute" => Axis::Attribute,
                    "ancestor" | "ancestor-or-self" | "following" | "following-sibling"
                    | "preceding" | "preceding-sibling" | "namespace" => {
                        let text = format!("The XQuery syntax '{name}' is not supported.");
                        return Err(QueryError::new(9335, text));
                    }
                    _ => {
                        let text = format!("'{name}::' is not a valid axis");
                        return Err(QueryError::new(2392, text));
                    }
                };
            } else {
                self.at = before;
            }
        }
        let explicit = self.at > before;
        let Some(test) = self.node_test(axis)? else {
            if explicit {
                let text =
                    format!("Syntax error near '{}', expected a \"node test\".", self.near());
                return Err(QueryError::new(2256, text));
            }
            return Ok(None);
        };
        let predicates = self.predicates()?;
        Ok(Some(Step { axis, test, predicates }))
    }

    fn node_test(&mut self, axis: Axis) -> Result<Option<Test>> {
        self.blank()?;
        if self.eat_here("*:") {
            let local = self.local_name().to_owned();
            return Ok(Some(Test::Name { uri: None, local: Some(local) }));
        }
        if self.eat_here("*") {
            return Ok(Some(Test::Name { uri: None, local: None }));
        }
        let before = self.at;
        let first = self.local_name();
        if first.is_empty() {
            return Ok(None);
        }
        if self.rest().starts_with(':')
            && !self.rest().starts_with("::")
            && !self.rest().starts_with(":=")
        {
            self.at += 1;
            let uri = Some(self.uri(first)?);
            if self.eat_here("*") {
                return Ok(Some(Test::Name { uri, local: None }));
            }
            let local = self.local_name().to_owned();
            if local.is_empty() {
                return Err(self.wrong());
            }
            return Ok(Some(Test::Name { uri, local: Some(local) }));
        }
        let after = self.at;
        if self.eat("(")? {
            let test = match first {
                "node" => Test::Node,
                "text" => Test::Text,
                "comment" => Test::Comment,
                "processing-instruction" => {
                    self.blank()?;
                    let name = match self.peek() {
                        Some('"' | '\'') => Some(self.string()?),
                        _ => Some(self.local_name().to_owned()).filter(|n| !n.is_empty()),
                    };
                    Test::Instruction(name)
                }
                "element" | "attribute" | "document-node" => {
                    self.blank()?;
                    let any = self.eat_here("*") || self.rest().starts_with(')');
                    if !any || first == "document-node" {
                        let what = format!("XQuery node test {first}(...)");
                        return Err(QueryError::Unsupported(what));
                    }
                    Test::Name { uri: None, local: None }
                }
                _ => {
                    self.at = before;
                    return Ok(None);
                }
            };
            self.expect(")")?;
            return Ok(Some(test));
        }
        self.at = after;
        let uri = match axis {
            Axis::Attribute => String::new(),
            _ => self.uri("")?,
        };
        Ok(Some(Test::Name { uri: Some(uri), local: Some(first.to_owned()) }))
    }

    // ---- What stands by itself

    /// `None` when a step stands here.
    fn primary(&mut self) -> Result<Option<Expr>> {
        self.blank()?;
        let Some(c) = self.peek() else { return Err(self.wrong()) };
        let next = self.rest()[c.len_utf8()..].chars().next();
        match c {
            '"' | '\'' => Ok(Some(Expr::Atom(Atom::Text(self.string()?)))),
            '0'..='9' => self.number().map(Some),
            '.' if next.is_some_and(|c| c.is_ascii_digit()) => self.number().map(Some),
            '.' if next != Some('.') => {
                self.at += 1;
                Ok(Some(Expr::Context))
            }
            '$' => {
                let name = self.variable()?;
                match self.variables.iter().rev().find(|(n, _)| *n == name) {
                    Some((_, slot)) => Ok(Some(Expr::Var(*slot))),
                    None => {
                        let text = format!(
                            "The variable '{name}' was not found in the scope in which it was referenced."
                        );
                        Err(QueryError::new(2227, text))
                    }
                }
            }
            '(' => {
                self.at += 1;
                if self.eat(")")? {
                    return Ok(Some(Expr::Sequence(Vec::new())));
                }
                let inner = self.expr()?;
                self.expect(")")?;
                // A node in parentheses is not a step: `(a)[1]` is the first of all.
                Ok(Some(Expr::Sequence(vec![inner])))
            }
            '<' => self.constructor().map(Some),
            c if is_name_start(c) => self.named(),
            _ => Ok(None),
        }
    }

    fn number(&mut self) -> Result<Expr> {
        let rest = self.rest();
        let digits = |s: &str| s.bytes().take_while(u8::is_ascii_digit).count();
        let mut len = digits(rest);
        let mut whole = true;
        if rest[len..].starts_with('.') {
            whole = false;
            len += 1 + digits(&rest[len + 1..]);
        }
        let mut exponent = false;
        if rest[len..].starts_with(['e', 'E']) {
            let sign = usize::from(rest[len + 1..].starts_with(['+', '-']));
            let more = digits(&rest[len + 1 + sign..]);
            if more > 0 {
                exponent = true;
                len += 1 + sign + more;
            }
        }
        let wrong = || QueryError::new(2342, "Invalid numeric constant.");
        if rest[len..].starts_with(is_name_start) {
            return Err(wrong());
        }
        self.at += len;
        let text = &rest[..len];
        Ok(Expr::Atom(match (whole && !exponent, exponent) {
            (true, _) => Atom::Int(text.parse().map_err(|_| wrong())?),
            (_, true) => Atom::Double(text.parse().map_err(|_| wrong())?),
            _ => Atom::Decimal(text.parse().map_err(|_| wrong())?),
        }))
    }

    /// A call, or a computed constructor; `None` for a step.
    fn named(&mut self) -> Result<Option<Expr>> {
        let before = self.at;
        let first = self.local_name();
        if let Some(made) = self.computed(first)? {
            return Ok(Some(made));
        }
        let mut local = first;
        let mut prefix = "";
        if self.rest().starts_with(':') && !self.rest().starts_with("::") {
            self.at += 1;
            prefix = first;
            local = self.local_name();
        }
        const TESTS: &[&str] = &[
            "node",
            "text",
            "comment",
            "processing-instruction",
            "element",
            "attribute",
            "document-node",
        ];
        let called = !local.is_empty() && {
            self.blank()?;
            self.rest().starts_with('(')
        };
        if !called || prefix.is_empty() && TESTS.contains(&local) {
            self.at = before;
            return Ok(None);
        }
        self.at += 1;
        let uri = if prefix.is_empty() { FN.to_owned() } else { self.uri(prefix)? };
        if uri == SQL && matches!(local, "variable" | "column") {
            let name = self.string()?;
            self.expect(")")?;
            let external = External { column: local == "column", name };
            let known = self.externals.iter().position(|e| *e == external);
            return Ok(Some(Expr::External(known.unwrap_or_else(|| {
                self.externals.push(external);
                self.externals.len() - 1
            }))));
        }
        let mut args = Vec::new();
        if !self.eat(")")? {
            loop {
                args.push(self.single()?);
                if self.eat(")")? {
                    break;
                }
                if !self.eat(",")? {
                    return Err(QueryError::new(2217, "',' or ')' expected"));
                }
            }
        }
        if let Some(ty) = AtomType::of(local).filter(|_| uri == XS || uri == XDT) {
            let Some(arg) = args.pop().filter(|_| args.is_empty()) else {
                return Err(self.too_few(local));
            };
            return Ok(Some(Expr::Cast(Box::new(arg), ty)));
        }
        let Some((func, least, most)) = Func::of(local).filter(|_| uri == FN) else {
            return Err(self.no_function(&uri, local));
        };
        if args.len() < least {
            return Err(self.too_few(local));
        }
        if args.len() > most {
            let text = format!("Too many arguments in call to function '{local}'");
            return Err(QueryError::new(2238, text));
        }
        if args.is_empty() && most == 1 {
            args.push(Expr::Context);
        }
        Ok(Some(Expr::Call(func, args)))
    }

    fn too_few(&self, name: &str) -> QueryError {
        let text =
            format!("There are not enough actual arguments in the call to function \"{name}\".");
        QueryError::new(2236, text)
    }

    /// Functions that SQL Server has and this crate has not are refused, others are unknown (2395).
    fn no_function(&self, uri: &str, local: &str) -> QueryError {
        let theirs = matches!(
            local,
            "id" | "expanded-QName"
                | "local-name-from-QName"
                | "namespace-uri-from-QName"
                | "substring-after"
                | "substring-before"
        ) && uri == FN;
        match theirs && !local.starts_with("substring") {
            true => QueryError::Unsupported(format!("XQuery function {local}()")),
            false => {
                let text = format!("There is no function '{{{uri}}}:{local}()'");
                QueryError::new(2395, text)
            }
        }
    }
}

/// `//` is a step of its own.
fn any_below() -> Step {
    Step { axis: Axis::DescendantOrSelf, test: Test::Node, predicates: Vec::new() }
}
