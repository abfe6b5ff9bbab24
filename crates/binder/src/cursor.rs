//! DECLARE CURSOR and its kin, and WHERE CURRENT OF.

use syntax::ast;
use types::{Len, SqlType, Value};

use crate::context::*;
use crate::error::{BindError, Result};
use crate::ir::*;
use crate::updatable::{LOCATOR, carry, reach};

impl Binder<'_> {
    /// The cursor that a statement names; 137-like 16950 is the run's, a variable that is none 137.
    pub fn cursor_ref(&self, name: &ast::CursorName) -> Result<CursorRef> {
        Ok(match name {
            ast::CursorName::Name { name, global } => {
                CursorRef::Name { name: name.value.clone(), global: *global }
            }
            ast::CursorName::Variable(v) => CursorRef::Variable(self.cursor_variable(v)?),
        })
    }

    /// A cursor variable by name; 137, 16948 for one of another type.
    pub fn cursor_variable(&self, v: &ast::Variable) -> Result<u16> {
        if let Some(slot) = self.frame.cursor(&v.name) {
            return Ok(slot);
        }
        self.variable(v)?;
        Err(BindError::new(
            16948,
            16,
            v.span.line.max(1),
            format!(
                "The variable '{}' is not a cursor variable, but it is used in a place where a cursor variable is \
                 expected.",
                v.name
            ),
        ))
    }

    /// FETCH.
    pub fn fetch(&mut self, fetch: &ast::Fetch) -> Result<CursorStmt> {
        let cursor = self.cursor_ref(&fetch.cursor)?;
        let mut count = |e: &ast::Expr| {
            let n = self.expr(e)?;
            self.coerce(n, SqlType::BigInt, CastMode::Implicit)
        };
        let direction = match &fetch.direction {
            ast::FetchDirection::Next => FetchDirection::Next,
            ast::FetchDirection::Prior => FetchDirection::Prior,
            ast::FetchDirection::First => FetchDirection::First,
            ast::FetchDirection::Last => FetchDirection::Last,
            ast::FetchDirection::Absolute(n) => FetchDirection::Absolute(count(n)?),
            ast::FetchDirection::Relative(n) => FetchDirection::Relative(count(n)?),
        };
        let into = fetch.into.iter().map(|v| self.variable(v)).collect::<Result<Vec<VarId>>>()?;
        Ok(CursorStmt::Fetch { cursor, direction, into })
    }

    /// CURSOR_STATUS(kind, name): a variable's number goes along.
    pub fn cursor_status(&mut self, f: &ast::FunctionCall, line: u32) -> Result<Expr> {
        let [kind, name] = f.args.as_slice() else {
            return Err(BindError::new(
                174,
                15,
                line,
                "The cursor_status function requires 2 argument(s).",
            ));
        };
        let slot = match &name.kind {
            ast::ExprKind::Literal(ast::Literal::String { value, .. }) => self.frame.cursor(value),
            _ => None,
        };
        let text = SqlType::NVarChar(Len::N(128));
        let (kind, name) = (self.expr(kind)?, self.expr(name)?);
        let args = vec![
            self.coerce(kind, text, CastMode::Implicit)?,
            self.coerce(name, text, CastMode::Implicit)?,
            Expr::int(slot.map_or(-1, i32::from)),
        ];
        let kind = ExprKind::Func { func: FuncId::CursorStatus, args };
        Ok(Expr::new(kind, SqlType::SmallInt, true))
    }

    /// Options and query of a cursor: 1048, 16929-like 1047 for what contradicts itself.
    pub fn cursor_definition(&mut self, d: &ast::CursorDefinition) -> Result<CursorDef> {
        let has = |word: &str| d.options.iter().any(|o| o == word);
        let conflict = |a: &str, b: &str| {
            let text = format!("Conflicting cursor options {a} and {b}.");
            BindError::new(1048, 15, self.line, text)
        };
        let kinds = ["STATIC", "KEYSET", "DYNAMIC", "FAST_FORWARD", "INSENSITIVE"];
        let chosen: Vec<&str> = kinds.into_iter().filter(|k| has(k)).collect();
        if let [first, second, ..] = chosen[..] {
            return Err(conflict(first, second));
        }
        for (a, b) in [
            ("LOCAL", "GLOBAL"),
            ("FORWARD_ONLY", "SCROLL"),
            ("FAST_FORWARD", "SCROLL"),
            ("FAST_FORWARD", "SCROLL_LOCKS"),
            ("FAST_FORWARD", "OPTIMISTIC"),
            ("READ_ONLY", "SCROLL_LOCKS"),
            ("READ_ONLY", "OPTIMISTIC"),
            ("SCROLL_LOCKS", "OPTIMISTIC"),
        ] {
            if has(a) && has(b) {
                return Err(conflict(a, b));
            }
        }
        if d.update.is_some() && (has("FAST_FORWARD") || has("INSENSITIVE") || has("READ_ONLY")) {
            let kind = ["FAST_FORWARD", "INSENSITIVE", "READ_ONLY"].into_iter().find(|k| has(k));
            return Err(conflict(kind.unwrap_or("READ_ONLY"), "FOR UPDATE"));
        }
        let kind = match chosen.first() {
            Some(&"STATIC" | &"INSENSITIVE") => CursorKind::Static,
            Some(&"KEYSET") => CursorKind::Keyset,
            Some(&"FAST_FORWARD") => CursorKind::FastForward,
            _ => CursorKind::Dynamic,
        };
        // STATIC, KEYSET and DYNAMIC scroll unless FORWARD_ONLY is said; without a kind SCROLL must be.
        let typed = matches!(chosen.first(), Some(&"STATIC" | &"KEYSET" | &"DYNAMIC"));
        let scroll = has("SCROLL") || (typed && !has("FORWARD_ONLY"));
        let mut query = self.query(&d.query)?;
        let visible = query.output.len();
        let mut read_only = d.read_only
            || has("READ_ONLY")
            || matches!(kind, CursorKind::Static | CursorKind::FastForward);
        let mut targets = Vec::new();
        if !read_only {
            let found = self.targets_of(&mut query);
            read_only = found.is_empty();
            targets = found;
            if read_only && d.update.is_some() {
                return Err(
                    self.error(16957, "FOR UPDATE cannot be specified on a READ ONLY cursor.")
                );
            }
        }
        let update_of = d.update.iter().flatten().map(|c| c.value.clone()).collect();
        Ok(CursorDef { query, visible, targets, kind, scroll, read_only, update_of })
    }

    /// Makes the query yield, behind its columns, the locators and keys of the tables whose rows it shows as they are.
    fn targets_of(&mut self, query: &mut Query) -> Vec<CursorTarget> {
        let mut gets = Vec::new();
        reach(&query.rel, &mut gets);
        gets.retain(|(_, table)| !table.is_private());
        let mut targets = Vec::new();
        for (first, table) in gets {
            let locator = self.new_col();
            let mut carried = Vec::new();
            if !carry(&mut query.rel, first, locator, TableHints::default(), &mut carried) {
                continue;
            }
            let mut push = |id: ColId, ty: SqlType| {
                query.output.push(OutputColumn {
                    base: None,
                    collation: types::Collation::default(),
                    name: None,
                    id,
                    ty,
                    nullable: true,
                    identity: None,
                    updatable: false,
                });
                query.output.len() - 1
            };
            let at = push(locator, LOCATOR);
            let key = table.clustered_key().iter().map(|(ordinal, _)| {
                (*ordinal, push(carried[*ordinal], table.columns[*ordinal].ty))
            });
            let key = key.collect();
            targets.push(CursorTarget { table: table.object_id, locator: at, key });
        }
        targets
    }

    /// WHERE CURRENT OF: the row of the table that the cursor stands on.
    pub fn current_of(
        &mut self,
        cursor: &ast::CursorName,
        table: &catalog::TableDef,
        locator: ColId,
        old: &[ColId],
    ) -> Result<Expr> {
        let (name, global, slot) = match self.cursor_ref(cursor)? {
            CursorRef::Name { name, global } => (name, global, -1),
            CursorRef::Variable(slot) => (String::new(), false, i32::from(slot)),
        };
        let asked = |part: i32, ty: SqlType| {
            let args = vec![
                Expr::constant(Value::str(&name), SqlType::NVarChar(Len::N(128))),
                Expr::int(i32::from(global)),
                Expr::int(slot),
                Expr::int(table.object_id),
                Expr::int(part),
            ];
            let kind = ExprKind::Func { func: FuncId::CurrentOf, args };
            Expr::new(kind, ty, true)
        };
        // By the key where there is one, so that the row is sought; the locator says that it is the same.
        let mut all = Vec::new();
        for (part, (ordinal, _)) in table.clustered_key().iter().enumerate() {
            let column = &table.columns[*ordinal];
            let here = Expr::col(old[*ordinal], column.ty, column.nullable);
            all.push(Expr::compare(CompareOp::Eq, here, asked(part as i32, column.ty)));
        }
        let here = Expr::col(locator, LOCATOR, false);
        all.push(Expr::compare(CompareOp::Eq, here, asked(-1, LOCATOR)));
        Ok(Expr::all(all).unwrap_or_else(|| Expr::int(0)))
    }
}
