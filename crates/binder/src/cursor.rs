//! DECLARE CURSOR and its kin, and WHERE CURRENT OF.

use ir::*;
use syntax::ast;
use types::{Len, SqlType, Value};

use crate::context::*;
use crate::notes::Browsing;
use semantics::lineage::{LOCATOR, carry, reach};
use semantics::{BindError, Result};

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
            Some(&"DYNAMIC") => CursorKind::Dynamic,
            // SCROLL alone has all of FETCH, which a dynamic one has not.
            _ if has("SCROLL") => CursorKind::Keyset,
            _ => CursorKind::Dynamic,
        };
        // STATIC, KEYSET and DYNAMIC scroll unless FORWARD_ONLY is said; without a kind SCROLL must be.
        let typed = matches!(chosen.first(), Some(&"STATIC" | &"KEYSET" | &"DYNAMIC"));
        let scroll = has("SCROLL") || (typed && !has("FORWARD_ONLY"));
        self.check_no_into(&d.query)?;
        if let ast::QueryBody::Select(_) = &d.query.body {
            self.browsing = Browsing::Names;
        }
        let mut query = self.query(&d.query)?;
        let visible = query.output.len();
        let mut read_only = d.read_only
            || has("READ_ONLY")
            || matches!(kind, CursorKind::Static | CursorKind::FastForward);
        let mut targets = Vec::new();
        let moves = matches!(kind, CursorKind::Keyset | CursorKind::Dynamic);
        let locks = has("SCROLL_LOCKS");
        let mut again = None;
        if !read_only || moves {
            let hints = TableHints { unlocked: true, ..TableHints::default() };
            targets = self.targets_of(&mut query, hints);
            if moves {
                let hints = TableHints { unlocked: true, updlock: locks, ..hints };
                again = self.found_again(d, kind, hints, &mut targets)?;
            }
            read_only |= targets.is_empty();
            if read_only && d.update.is_some() {
                return Err(
                    self.error(16957, "FOR UPDATE cannot be specified on a READ ONLY cursor.")
                );
            }
        }
        let optimistic = !read_only && !locks;
        let update_of = d.update.iter().flatten().map(|c| c.value.clone()).collect();
        Ok(CursorDef {
            query,
            again,
            visible,
            targets,
            optimistic,
            kind,
            scroll,
            read_only,
            update_of,
        })
    }

    /// Makes the query yield, behind its columns, the locators and keys of the tables whose rows it shows as they are.
    fn targets_of(&mut self, query: &mut Query, hints: TableHints) -> Vec<CursorTarget> {
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
            if let Some(get) = get_mut(&mut query.rel, first) {
                get.hints.unlocked |= hints.unlocked;
                get.hints.updlock |= hints.updlock;
            }
            let mut push = |id: ColId, ty: SqlType| {
                query.output.push(hidden(id, ty));
                query.output.len() - 1
            };
            let at = push(locator, LOCATOR);
            let key = table.clustered_key().iter().map(|(ordinal, _)| {
                (*ordinal, push(carried[*ordinal], table.columns[*ordinal].ty))
            });
            let key = key.collect();
            let watched = Vec::new();
            targets.push(CursorTarget { table: table.object_id, locator: at, key, watched });
        }
        targets
    }

    /// The query that finds the row again on which the cursor stands: by the keys of its tables, and for a DYNAMIC one by
    /// what the query asks of it, too. None where rows are not those of its tables one by one.
    fn found_again(
        &mut self,
        d: &ast::CursorDefinition,
        kind: CursorKind,
        hints: TableHints,
        targets: &mut [CursorTarget],
    ) -> Result<Option<Query>> {
        let mut text = d.query.clone();
        if let (CursorKind::Keyset, ast::QueryBody::Select(select)) = (kind, &mut text.body) {
            select.filter = None;
        }
        let mut query = self.query(&text)?;
        let mut gets = Vec::new();
        reach(&query.rel, &mut gets);
        let keyed = |table: &catalog::TableDef| {
            kind == CursorKind::Dynamic
                || !table.is_heap()
                || table.indexes.iter().any(|i| i.unique)
        };
        if !is_plain(&query.rel)
            || gets.len() != targets.len()
            || !gets.iter().all(|(_, table)| keyed(table) && !table.is_memory())
        {
            return Ok(None);
        }
        let found = self.targets_of(&mut query, hints);
        if found.len() != targets.len() {
            return Ok(None);
        }
        for (place, ((first, table), target)) in gets.iter().zip(targets).enumerate() {
            // A rowversion says it all.
            let version = table.columns.iter().position(|c| c.rowversion);
            let get = get_mut(&mut query.rel, *first).map(|get| (get.locator, get.columns.clone()));
            let Some((Some(locator), ids)) = get else { return Ok(None) };
            for (ordinal, column) in table.columns.iter().enumerate() {
                if version.is_some_and(|version| version != ordinal) || column.ty.is_max() {
                    continue;
                }
                target.watched.push(query.output.len());
                query.output.push(hidden(ids[ordinal], column.ty));
            }
            let asked = |part: i32, ty: SqlType| current("", 2, -1, place as i32, part, ty);
            let same = self.same_row(table, locator, &ids, &asked);
            put_filter(&mut query.rel, *first, same);
        }
        Ok(Some(query))
    }

    /// Of a table's row that it is the one of these parts of the key, and of this locator.
    fn same_row(
        &self,
        table: &catalog::TableDef,
        locator: ColId,
        ids: &[ColId],
        asked: &dyn Fn(i32, SqlType) -> Expr,
    ) -> Expr {
        // By the key where there is one, so that the row is sought; the locator says that it is the same.
        let mut all = Vec::new();
        for (part, (ordinal, _)) in table.clustered_key().iter().enumerate() {
            let column = &table.columns[*ordinal];
            let here = Expr::col(ids[*ordinal], column.ty, column.nullable);
            all.push(Expr::compare(CompareOp::Eq, here, asked(part as i32, column.ty)));
        }
        let here = Expr::col(locator, LOCATOR, false);
        all.push(Expr::compare(CompareOp::Eq, here, asked(-1, LOCATOR)));
        Expr::all(all).unwrap_or_else(|| Expr::int(0))
    }

    /// WHERE CURRENT OF: the row of the table that the cursor stands on.
    pub fn current_of(
        &mut self,
        cursor: &ast::CursorName,
        table: &catalog::TableDef,
        locator: ColId,
        old: &[ColId],
        set: &[String],
    ) -> Result<Expr> {
        let (name, global, slot) = match self.cursor_ref(cursor)? {
            CursorRef::Name { name, global } => (name, global, -1),
            CursorRef::Variable(slot) => (String::new(), false, i32::from(slot)),
            // No text names that one.
            CursorRef::Fetched => (String::new(), false, -1),
        };
        let id = table.object_id;
        let asked = |part: i32, ty: SqlType| current(&name, i32::from(global), slot, id, part, ty);
        let here = self.same_row(table, locator, old, &asked);
        // And that nobody has changed it since, where that matters.
        let mut same = asked(-2, SqlType::Int);
        if let ExprKind::Func { args, .. } = &mut same.kind {
            let version = table.columns.iter().position(|c| c.rowversion);
            for (ordinal, column) in table.columns.iter().enumerate() {
                if version.is_none_or(|version| version == ordinal) && !column.ty.is_max() {
                    args.push(Expr::col(old[ordinal], column.ty, column.nullable));
                }
            }
        }
        let mut row = Expr::and(here, Expr::compare(CompareOp::Eq, same, Expr::int(1)));
        if !set.is_empty() {
            let mut allowed = asked(-3, SqlType::Int);
            if let ExprKind::Func { args, .. } = &mut allowed.kind {
                let name = |column: &String| {
                    Expr::constant(Value::str(column), SqlType::NVarChar(Len::N(128)))
                };
                args.extend(set.iter().map(name));
            }
            row = Expr::and(row, Expr::compare(CompareOp::Eq, allowed, Expr::int(1)));
        }
        Ok(row)
    }
}

/// What the session says of a cursor's row: a part of the key of its row in a table, -1 its locator, -2 whether it is
/// still as it was fetched, -3 that these columns may be changed.
fn current(name: &str, global: i32, slot: i32, table: i32, part: i32, ty: SqlType) -> Expr {
    let args = vec![
        Expr::constant(Value::str(name), SqlType::NVarChar(Len::N(128))),
        Expr::int(global),
        Expr::int(slot),
        Expr::int(table),
        Expr::int(part),
    ];
    Expr::new(ExprKind::Func { func: FuncId::CurrentOf, args }, ty, true)
}

/// A column that is not shown.
fn hidden(id: ColId, ty: SqlType) -> OutputColumn {
    OutputColumn {
        base: None,
        collation: types::Collation::default(),
        name: None,
        id,
        ty,
        nullable: true,
        identity: None,
        updatable: false,
    }
}

/// The reading whose first column is `first`.
fn get_mut(rel: &mut Rel, first: ColId) -> Option<&mut Get> {
    if !matches!(rel, Rel::Get(_)) {
        return rel.inputs_mut().into_iter().find_map(|input| get_mut(input, first));
    }
    match rel {
        Rel::Get(get) if get.columns.first() == Some(&first) => Some(get),
        _ => None,
    }
}

/// Puts a filter above the reading whose first column is `first`.
fn put_filter(rel: &mut Rel, first: ColId, predicate: Expr) {
    match rel {
        Rel::Get(get) if get.columns.first() == Some(&first) => {
            let input = Box::new(std::mem::replace(rel, Rel::OneRow));
            *rel = Rel::Filter { input, predicate };
        }
        _ => {
            let mut inputs = rel.inputs_mut();
            let found = inputs.iter().position(|input| {
                let mut gets = Vec::new();
                reach(input, &mut gets);
                gets.iter().any(|(found, _)| *found == first)
            });
            if let Some(at) = found {
                put_filter(inputs.swap_remove(at), first, predicate);
            }
        }
    }
}

/// Is each row made of one row of each table?
fn is_plain(rel: &Rel) -> bool {
    match rel {
        Rel::Get(_) => true,
        Rel::Filter { input, .. }
        | Rel::Sort { input, .. }
        | Rel::Top { input, .. }
        | Rel::Project { input, .. } => is_plain(input),
        Rel::Join { kind, left, right, .. } => {
            *kind != JoinKind::Full && is_plain(left) && is_plain(right)
        }
        _ => false,
    }
}
