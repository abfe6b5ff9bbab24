//! FROM: tables, derived tables, functions, joins, and table hints.

use super::*;

/// Table hints. Most may stand in the old style, `FROM t (NOLOCK)`; those of a changed table without parentheses after WITH.
const TABLE_HINTS: &[&str] = &[
    "NOLOCK",
    "READUNCOMMITTED",
    "READCOMMITTED",
    "READCOMMITTEDLOCK",
    "REPEATABLEREAD",
    "SERIALIZABLE",
    "HOLDLOCK",
    "SNAPSHOT",
    "ROWLOCK",
    "PAGLOCK",
    "TABLOCK",
    "TABLOCKX",
    "UPDLOCK",
    "XLOCK",
    "READPAST",
    "NOWAIT",
    "NOEXPAND",
    "FORCESEEK",
    "FORCESCAN",
    "INDEX",
    "KEEPIDENTITY",
    "KEEPDEFAULTS",
    "IGNORE_CONSTRAINTS",
    "IGNORE_TRIGGERS",
    "SPATIAL_WINDOW_MAX_CELLS",
    "FASTFIRSTROW",
];

/// Joins in one FROM item: each adds a level to the tree.
const JOINS_MAX: usize = 300;

impl Parser<'_> {
    /// `FROM a, b JOIN c ON ...`, or nothing.
    pub(super) fn sources(&mut self) -> ParseResult<Vec<TableRef>> {
        if !self.eat_kw(Kw::From) {
            return Ok(Vec::new());
        }
        self.comma_list(|parser| parser.nested(2, Self::table_source))
    }

    /// A table and the joins after it.
    pub(super) fn table_source(&mut self) -> ParseResult<TableRef> {
        let mut left = self.table_primary()?;
        let mut joins = 0;
        while let Some((kind, hint)) = self.join_operator()? {
            joins += 1;
            if joins + self.depth > JOINS_MAX {
                return Err(self.too_deep());
            }
            left = self.join(left, kind, hint)?;
            // Behind the condition of a join stands what turns all of it.
            left = self.turned(left, &mut joins)?;
        }
        Ok(left)
    }

    /// The right side and ON, the operator having been read. `a JOIN b JOIN c ON .. ON ..` nests.
    fn join(
        &mut self,
        left: TableRef,
        kind: JoinKind,
        hint: Option<Ident>,
    ) -> ParseResult<TableRef> {
        let mut right = self.table_primary()?;
        let on = match kind {
            JoinKind::Cross | JoinKind::CrossApply | JoinKind::OuterApply => None,
            _ => {
                while !self.at_kw(Kw::On) {
                    let Some((inner, hint)) = self.join_operator()? else {
                        return Err(self.unexpected());
                    };
                    right = self.nested(2, |parser| parser.join(right, inner, hint))?;
                }
                self.at += 1;
                Some(self.condition()?)
            }
        };
        Ok(TableRef::Join { kind, hint, left: Box::new(left), right: Box::new(right), on })
    }

    fn join_operator(&mut self) -> ParseResult<Option<(JoinKind, Option<Ident>)>> {
        let TokenKind::Key(kw) = self.kind() else { return Ok(None) };
        let kind = match kw {
            Kw::Join => JoinKind::Inner,
            Kw::Inner => JoinKind::Inner,
            Kw::Left => JoinKind::Left,
            Kw::Right => JoinKind::Right,
            Kw::Full => JoinKind::Full,
            Kw::Cross | Kw::Outer => {
                self.at += 1;
                if self.eat_word("APPLY") {
                    let cross = kw == Kw::Cross;
                    let kind = if cross { JoinKind::CrossApply } else { JoinKind::OuterApply };
                    return Ok(Some((kind, None)));
                }
                if kw == Kw::Outer {
                    return Err(self.unexpected());
                }
                self.expect_kw(Kw::Join)?;
                return Ok(Some((JoinKind::Cross, None)));
            }
            _ => return Ok(None),
        };
        let mut hint = None;
        if kw != Kw::Join {
            self.at += 1;
            if kw != Kw::Inner {
                self.eat_kw(Kw::Outer);
            }
            if matches!(self.kind(), TokenKind::Word | TokenKind::Key(Kw::Merge)) {
                hint = Some(self.take_ident());
            }
        }
        self.expect_kw(Kw::Join)?;
        Ok(Some((kind, hint)))
    }

    fn table_primary(&mut self) -> ParseResult<TableRef> {
        let table = self.table_item()?;
        self.turned(table, &mut 0)
    }

    /// A table source with the PIVOT and UNPIVOT behind it; `levels` of the tree count with them.
    fn turned(&mut self, mut table: TableRef, levels: &mut usize) -> ParseResult<TableRef> {
        while self.at_kw(Kw::Pivot) || self.at_kw(Kw::Unpivot) {
            *levels += 1;
            if *levels + self.depth > JOINS_MAX {
                return Err(self.too_deep());
            }
            table = if self.at_kw(Kw::Pivot) { self.pivot(table)? } else { self.unpivot(table)? };
        }
        Ok(table)
    }

    fn table_item(&mut self) -> ParseResult<TableRef> {
        if self.at_sym(Sym::LeftParen) {
            return self.parenthesised_table();
        }
        if self.kind() == TokenKind::Variable {
            let start = self.at;
            let name = self.variable()?;
            if self.at_xml_method() {
                let kind = ExprKind::Variable(name.clone());
                let value = Expr::new(kind, name.span);
                if let Some(rows) = self.xml_rows(value, start)? {
                    return Ok(rows);
                }
            }
            let called = self.at_sym(Sym::Dot);
            self.properties()?;
            let alias = self.alias()?;
            if called {
                self.alias_columns(alias.is_some())?;
            }
            if self.at_old_style_hint() {
                return Err(self.hint_alone(self.at + 1));
            }
            return Ok(TableRef::Variable { name, alias });
        }
        if self.at_change_table() {
            return self.change_table();
        }
        if self.at_kw(Kw::OpenXml) {
            return self.open_xml();
        }
        if self.at_fulltext_rows() {
            return self.fulltext_rows();
        }
        if self.at_foreign_rows() {
            return self.foreign_rows();
        }
        if self.at_escape() {
            return self.outer_join_escape();
        }
        // `::fn_helpcollations()`, as it was written once.
        if self.at_static_member() {
            self.at += 2;
        }
        let name = self.object_name()?;
        if self.at_sym(Sym::LeftParen) && !self.at_old_style_hint() {
            self.note(MentionKind::TableFunction, &name);
            self.at += 1;
            let mut args = if self.at_sym(Sym::RightParen) {
                Vec::new()
            } else {
                self.comma_list(Self::argument)?
            };
            self.expect_sym(Sym::RightParen)?;
            if name.schema.is_some() && xml::is_method(&name.name.value) {
                self.declare_namespaces(args.first_mut());
            }
            if self.at_xml_method() {
                let kind =
                    ExprKind::Function(Box::new(FunctionCall::new(name.clone(), args.clone())));
                let value = Expr::new(kind, name.span);
                let start = self.at;
                if let Some(rows) = self.xml_rows(value, start)? {
                    return Ok(rows);
                }
            }
            let schema =
                if name.is_bare("OPENJSON") { self.openjson_schema()? } else { Vec::new() };
            let alias = self.alias()?;
            let columns = self.alias_columns(alias.is_some())?;
            return self.sampled(TableRef::Function { name, args, schema, alias, columns });
        }
        self.note(MentionKind::Source, &name);
        let mut hints = self.old_style_hints()?;
        let time = self.system_time()?;
        let alias = self.alias()?;
        if let Some(alias) = &alias {
            self.note_local(alias, false);
        }
        let sample = self.table_sample()?;
        hints.extend(self.old_style_hints()?);
        let is_word = |parser: &Self| parser.kind_ahead(1) == TokenKind::Word;
        if alias.is_some() && self.at_sym(Sym::LeftParen) && is_word(self) && !self.is_table_hint(1)
        {
            // No list of columns stands behind a table's alias: a hint that is none.
            self.hint_list()?;
        }
        let bare = self.at_kw(Kw::With) && self.kind_ahead(1) != TokenKind::Symbol(Sym::LeftParen);
        let start = self.at;
        hints.extend(self.table_hints()?);
        if bare && self.at > start {
            return Err(self.hint_alone(start + 1));
        }
        let table = TableRef::Named { name, alias, hints, time };
        Ok(match sample {
            Some(sample) => TableRef::Sampled { table: Box::new(table), sample },
            None => table,
        })
    }

    /// What no sample can be taken of, as the binder says.
    fn sampled(&mut self, table: TableRef) -> ParseResult<TableRef> {
        Ok(match self.table_sample()? {
            Some(sample) => TableRef::Sampled { table: Box::new(table), sample },
            None => table,
        })
    }

    /// `TABLESAMPLE [SYSTEM] (n [PERCENT | ROWS]) [REPEATABLE (seed)]`, or nothing.
    fn table_sample(&mut self) -> ParseResult<Option<Box<TableSample>>> {
        let start = self.at;
        if !self.eat_kw(Kw::TableSample) {
            return Ok(None);
        }
        self.eat_word("SYSTEM");
        self.expect_sym(Sym::LeftParen)?;
        let size = self.value()?;
        let rows = !self.eat_kw(Kw::Percent) && self.eat_word("ROWS");
        self.expect_sym(Sym::RightParen)?;
        let mut seed = None;
        if self.eat_word("REPEATABLE") {
            self.expect_sym(Sym::LeftParen)?;
            seed = Some(self.value()?);
            self.expect_sym(Sym::RightParen)?;
        }
        let span = self.span_from(start);
        Ok(Some(Box::new(TableSample { size, rows, seed, span })))
    }

    /// `(query) AS t`, `(VALUES ...) AS t (a)`, or joins in parentheses.
    fn parenthesised_table(&mut self) -> ParseResult<TableRef> {
        let start = self.at;
        let values = self.kind_ahead(1) == TokenKind::Key(Kw::Values);
        if values || self.query_in_parens() {
            let query = self.subquery()?;
            self.graph_path();
            self.eat_kw(Kw::As);
            let alias = self.ident()?;
            let columns = self.alias_columns(true)?;
            return self.sampled(TableRef::Derived { query, alias, columns });
        }
        if let TokenKind::Key(Kw::Insert | Kw::Update | Kw::Delete | Kw::Merge) = self.kind_ahead(1)
        {
            return self.changed_rows();
        }
        self.at = start + 1;
        let table = self.nested(2, Self::table_source)?;
        self.expect_sym(Sym::RightParen)?;
        Ok(table)
    }

    /// `[AS] alias`, or nothing.
    pub(super) fn alias(&mut self) -> ParseResult<Option<Ident>> {
        if self.eat_kw(Kw::As) {
            let name = self.ident()?;
            if name.value.is_empty() {
                return Err(SyntaxError::new(1038, name.span.line, "", crate::error::EMPTY_NAME));
            }
            return Ok(Some(name));
        }
        if self.at_name() && !self.at_label() && !self.at_window_clause() {
            return Ok(Some(self.take_ident()));
        }
        Ok(None)
    }

    pub(super) fn alias_columns(&mut self, named: bool) -> ParseResult<Vec<Ident>> {
        if named && self.at_sym(Sym::LeftParen) && !self.at_old_style_hint() {
            self.ident_list()
        } else {
            Ok(Vec::new())
        }
    }

    fn is_table_hint(&self, ahead: usize) -> bool {
        match self.tokens.get(self.at + ahead) {
            Some(token) if matches!(token.kind, TokenKind::Word | TokenKind::Key(_)) => {
                let text = self.token_text(*token);
                TABLE_HINTS.iter().any(|hint| hint.eq_ignore_ascii_case(text))
            }
            _ => false,
        }
    }

    /// `(NOLOCK)`, `(INDEX = 1)`, `(NOLOCK, INDEX(2))` after a table's name or alias.
    fn at_old_style_hint(&self) -> bool {
        self.at_sym(Sym::LeftParen)
            && self.is_table_hint(1)
            && matches!(
                self.kind_ahead(2),
                TokenKind::Symbol(Sym::RightParen | Sym::Comma | Sym::Eq | Sym::LeftParen)
            )
    }

    fn old_style_hints(&mut self) -> ParseResult<Vec<TableHint>> {
        // Alone among the hints it may stand without parentheses ("Deprecated Database Engine features").
        let mut hints = match self.at_kw(Kw::Holdlock) {
            true => vec![self.table_hint()?],
            false => Vec::new(),
        };
        if self.at_old_style_hint() {
            let start = self.at;
            hints.extend(self.hint_list()?);
            let is_index = |at: &usize| self.tokens[*at].kind == TokenKind::Key(Kw::Index);
            if let Some(index) = (start..self.at).find(is_index) {
                return Err(self.hint_alone(index));
            }
        }
        Ok(hints)
    }

    /// 1018: a hint without WITH or its parentheses, where SQL Server asks for them.
    #[cold]
    fn hint_alone(&self, at: usize) -> Box<SyntaxError> {
        let token = self.tokens[at];
        let text = self.token_text(token);
        let message = format!(
            "Incorrect syntax near '{text}'. If this is intended as a part of a table hint, A WITH keyword and parenthesis \
             are now required. See SQL Server Books Online for proper syntax."
        );
        SyntaxError::new(1018, token.span.line, text, message)
    }

    /// `WITH (hint [,] hint)` or `WITH hint`, or nothing: WITH may also begin the next statement.
    pub(super) fn table_hints(&mut self) -> ParseResult<Vec<TableHint>> {
        if !self.at_kw(Kw::With) {
            return Ok(Vec::new());
        }
        if self.kind_ahead(1) == TokenKind::Symbol(Sym::LeftParen) {
            self.at += 1;
            return self.hint_list();
        }
        let cte = matches!(
            self.kind_ahead(2),
            TokenKind::Key(Kw::As) | TokenKind::Symbol(Sym::LeftParen)
        );
        // `WITH TABLOCKX (c1) SELECT` has no AS after its parenthesis.
        if self.is_table_hint(1) && !(cte && self.cte_follows()) {
            self.at += 1;
            return Ok(vec![self.table_hint()?]);
        }
        Ok(Vec::new())
    }

    /// `WITH name (columns) AS (`, seen from WITH.
    fn cte_follows(&self) -> bool {
        let mut ahead = 2;
        if self.kind_ahead(ahead) == TokenKind::Symbol(Sym::LeftParen) {
            while !matches!(
                self.kind_ahead(ahead),
                TokenKind::Symbol(Sym::RightParen) | TokenKind::End
            ) {
                ahead += 1;
            }
            ahead += 1;
        }
        self.kind_ahead(ahead) == TokenKind::Key(Kw::As)
    }

    fn hint_list(&mut self) -> ParseResult<Vec<TableHint>> {
        self.expect_sym(Sym::LeftParen)?;
        let mut hints = vec![self.table_hint()?];
        // The comma between hints may be left out.
        while !self.at_sym(Sym::RightParen) {
            self.eat_sym(Sym::Comma);
            hints.push(self.table_hint()?);
        }
        self.at += 1;
        Ok(hints)
    }

    fn table_hint(&mut self) -> ParseResult<TableHint> {
        let start = self.at;
        if !self.is_table_hint(0) {
            if self.kind() == TokenKind::Word {
                let token = self.token();
                let text = self.token_text(token).to_string();
                return Err(self.mistake(
                    321,
                    format!(
                        "\"{text}\" is not a recognized table hints option. If it is intended as a parameter to a \
                         table-valued function or to the CHANGETABLE function, ensure that your database \
                         compatibility mode is set to 90."
                    ),
                ));
            }
            return Err(self.unexpected());
        }
        let name = self.any_word()?;
        let (mut args, mut columns) = (Vec::new(), Vec::new());
        let takes_args = matches!(name.as_str(), "INDEX" | "FORCESEEK");
        if self.eat_sym(Sym::Eq) {
            let parens = self.eat_sym(Sym::LeftParen);
            args = if parens { self.comma_list(Self::hint_arg)? } else { vec![self.hint_arg()?] };
            if parens {
                self.expect_sym(Sym::RightParen)?;
            }
        } else if takes_args && self.at_sym(Sym::LeftParen) {
            self.at += 1;
            if name == "FORCESEEK" {
                args.push(self.hint_arg()?);
                self.expect_sym(Sym::LeftParen)?;
                columns = self.comma_list(|parser| Ok(parser.ident()?.value))?;
                self.expect_sym(Sym::RightParen)?;
            } else {
                args = self.comma_list(Self::hint_arg)?;
            }
            self.expect_sym(Sym::RightParen)?;
        }
        Ok(TableHint { name, args, columns, span: self.span_from(start) })
    }

    fn hint_arg(&mut self) -> ParseResult<String> {
        if self.kind() == TokenKind::Integer {
            let token = self.advance();
            return Ok(self.token_text(token).to_string());
        }
        Ok(self.ident()?.value)
    }
}
