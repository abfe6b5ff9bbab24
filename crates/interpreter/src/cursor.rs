//! Cursors of a session: names, variables, and where each stands.
//!
//! ```text
//! DECLARE -> closed --OPEN--> open (before the first row) --FETCH--> on a row, or past either end
//!               ^--------------CLOSE-------------'          DEALLOCATE of the last reference: gone
//! ```
//!
//! Promises: which rows there are is decided by OPEN, whatever kind of cursor it is. Of a KEYSET or DYNAMIC one each row is
//! found again when it is fetched (`cursor/again.rs`). Variables in the query have the values of DECLARE; a local cursor
//! goes with its batch or procedure. A cursor's rows are the session's memory.

mod again;
mod served;

use crate::code::Code;
use crate::vm::Vm;
use commands::Argument;
use executor::{Command, SqlError, column_meta};
use ir::{CursorDef, CursorKind, CursorRef, CursorStmt, FetchDirection, VarId};
use planner::Plan;
use runtime::task::Many;
use session_state::Halted;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use types::Value;

pub(crate) use served::{PreparedCursor, is_of_cursors};

/// The cursors of one session.
#[derive(Default)]
pub(crate) struct Cursors {
    /// Batches and procedures running, one in another.
    depth: u32,
    last_id: u32,
    all: HashMap<u32, Cursor>,
    names: Vec<Name>,
    variables: Vec<Variable>,
    /// Those that clients have by a handle.
    served: Vec<served::Served>,
    /// @@FETCH_STATUS
    pub fetch_status: i32,
    /// The cursor that was opened last.
    last_opened: Option<u32>,
    /// The cursor whose row is being found again.
    fetched: Option<u32>,
    /// The cursor that WHERE CURRENT OF has named in the statement that runs, and whether its row had been changed.
    positioned: Cell<Option<(u32, bool)>>,
}

struct Name {
    name: String,
    /// Of a local cursor: the batch or procedure that declared it.
    depth: Option<u32>,
    id: u32,
}

struct Variable {
    depth: u32,
    slot: u16,
    id: u32,
}

struct Cursor {
    def: CursorDef,
    plan: Arc<Plan>,
    /// Finds the row again that it stands on.
    again: Option<Arc<Plan>>,
    /// The program's variables as they were at DECLARE.
    vars: Vec<Value>,
    /// None while closed.
    rows: Option<Many<Vec<Value>>>,
    /// 0 before the first row, from 1 on a row, one more than there are rows behind the last.
    at: usize,
    /// What `again` has found for the rows fetched last, by their numbers; those that are gone; and the log's end at OPEN.
    seen: BTreeMap<usize, Vec<Value>>,
    gone: BTreeSet<usize>,
    read_at: u64,
}

impl Cursor {
    /// The row it stands on, unless that is gone.
    fn row(&self) -> Option<&[Value]> {
        let rows = self.rows.as_ref()?;
        let row: &[Value] = rows.get(self.at.checked_sub(1)?)?;
        (!row.is_empty() && !self.gone.contains(&self.at)).then_some(row)
    }

    /// Moves; whether there is, or was, a row.
    fn fetch(&mut self, direction: Motion) -> bool {
        let count = self.rows.as_ref().map_or(0, |rows| rows.len()) as i64;
        let at = self.at as i64;
        let to = match direction {
            Motion::Next => at + 1,
            Motion::Prior => at - 1,
            Motion::First => 1,
            Motion::Last => count,
            Motion::Absolute(n) if n < 0 => count + 1 + n,
            Motion::Absolute(n) => n,
            Motion::Relative(n) => at.saturating_add(n),
        };
        self.at = to.clamp(0, count + 1) as usize;
        self.seen.clear();
        self.gone.clear();
        (1..=count).contains(&(self.at as i64))
    }

    /// @@CURSOR_ROWS while it is the last one opened.
    fn counted(&self) -> i32 {
        match (&self.rows, self.def.kind) {
            (None, _) => 0,
            (Some(rows), CursorKind::Static | CursorKind::Keyset) => rows.len() as i32,
            (Some(_), CursorKind::Dynamic | CursorKind::FastForward) => -1,
        }
    }
}

#[derive(Clone, Copy)]
enum Motion {
    Next,
    Prior,
    First,
    Last,
    Absolute(i64),
    Relative(i64),
}

impl Cursors {
    /// Whether none is there.
    pub fn are_none(&self) -> bool {
        self.all.is_empty() && self.served.is_empty()
    }

    /// A batch or procedure begins.
    pub fn enter(&mut self) {
        self.depth += 1;
    }

    /// It ends: its local cursors and its variables go.
    pub fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if self.names.is_empty() && self.variables.is_empty() && self.served.is_empty() {
            return;
        }
        let depth = self.depth;
        self.names.retain(|name| name.depth.is_none_or(|d| d <= depth));
        self.variables.retain(|variable| variable.depth <= depth);
        self.sweep();
    }

    /// All are gone: the session is reset.
    pub fn clear(&mut self) {
        *self = Cursors::default();
    }

    /// Those that have names are closed: a transaction ends under CURSOR_CLOSE_ON_COMMIT.
    pub fn close_all(&mut self) {
        for name in &self.names {
            if let Some(cursor) = self.all.get_mut(&name.id) {
                (cursor.rows, cursor.at) = (None, 0);
            }
        }
    }

    fn add(&mut self, cursor: Cursor) -> u32 {
        self.last_id += 1;
        self.all.insert(self.last_id, cursor);
        self.last_id
    }

    /// Cursors that nothing refers to any more.
    fn sweep(&mut self) {
        let (names, variables, served) = (&self.names, &self.variables, &self.served);
        self.all.retain(|id, _| {
            names.iter().any(|n| n.id == *id)
                || variables.iter().any(|v| v.id == *id)
                || served.iter().any(|s| s.id == *id)
        });
    }

    fn named(&self, name: &str, global: bool) -> Option<usize> {
        let local = |n: &Name| n.depth == Some(self.depth) && catalog::same_name(&n.name, name);
        let everyones = |n: &Name| n.depth.is_none() && catalog::same_name(&n.name, name);
        let found = if global { None } else { self.names.iter().position(local) };
        found.or_else(|| self.names.iter().position(everyones))
    }

    fn variable(&self, slot: u16) -> Option<usize> {
        self.variables.iter().position(|v| v.depth == self.depth && v.slot == slot)
    }

    /// 16916 for a name, 16950 for a variable.
    fn id(&self, cursor: &CursorRef, shown: impl FnOnce(u16) -> String) -> Result<u32, SqlError> {
        match cursor {
            CursorRef::Name { name, global } => match self.named(name, *global) {
                Some(at) => Ok(self.names[at].id),
                None => Err(missing(name)),
            },
            CursorRef::Fetched => self.fetched.ok_or_else(not_open),
            CursorRef::Variable(slot) => match self.variable(*slot) {
                Some(at) => Ok(self.variables[at].id),
                None => Err(SqlError::new(
                    16950,
                    16,
                    format!(
                        "The variable '{}' does not currently have a cursor allocated to it.",
                        shown(*slot)
                    ),
                )
                .with_state(2)),
            },
        }
    }

    fn assign(&mut self, slot: u16, id: u32) {
        let depth = self.depth;
        match self.variable(slot) {
            Some(at) => self.variables[at].id = id,
            None => self.variables.push(Variable { depth, slot, id }),
        }
        self.sweep();
    }

    /// Has a variable of the batch or procedure that runs a cursor?
    pub fn is_allocated(&self, slot: u16) -> bool {
        self.variable(slot).is_some()
    }

    /// A procedure ends: the cursor in its variable `from` goes to the caller's variable `to`, standing where it stands.
    /// One that is not open does not.
    pub fn hand_back(&mut self, from: u16, to: u16) {
        let Some(id) = self.variable(from).map(|at| self.variables[at].id) else { return };
        let is_open = self.all.get(&id).is_some_and(|cursor| cursor.rows.is_some());
        if let (true, Some(depth)) = (is_open, self.depth.checked_sub(1)) {
            // The same variable may have been given twice.
            self.variables.retain(|v| v.depth != depth || v.slot != to);
            self.variables.push(Variable { depth, slot: to, id });
        }
    }

    /// @@CURSOR_ROWS
    pub fn counted(&self) -> i32 {
        self.last_opened.and_then(|id| self.all.get(&id)).map_or(0, Cursor::counted)
    }

    /// CURSOR_STATUS; `slot` is that of the variable, if it is one.
    pub fn status(&self, kind: &str, name: &str, slot: Option<u16>) -> i16 {
        let id = match kind.to_ascii_lowercase().as_str() {
            "local" => {
                let mut names = self.names.iter();
                names
                    .find(|n| n.depth == Some(self.depth) && catalog::same_name(&n.name, name))
                    .map(|n| n.id)
            }
            "global" => self.named(name, true).map(|at| self.names[at].id),
            "variable" => match slot {
                None => None,
                Some(slot) => match self.variable(slot) {
                    None => return -2,
                    Some(at) => Some(self.variables[at].id),
                },
            },
            _ => None,
        };
        match id.and_then(|id| self.all.get(&id)) {
            None => -3,
            Some(Cursor { rows: None, .. }) => -1,
            Some(Cursor { rows: Some(rows), def, .. }) => {
                i16::from(!rows.is_empty() || def.kind == CursorKind::Dynamic)
            }
        }
    }

    /// UPDATE WHERE CURRENT OF: 16932 for a column that FOR UPDATE OF does not list.
    pub fn may_change(&self, cursor: &CursorRef, columns: &[Value]) -> Result<(), SqlError> {
        if *cursor == CursorRef::Fetched {
            return Ok(());
        }
        let listed = &self.all[&self.id(cursor, |_| String::new())?].def.update_of;
        let is_listed = |column: &Value| {
            column.as_str().is_some_and(|name| listed.iter().any(|l| catalog::same_name(l, name)))
        };
        if listed.is_empty() || columns.iter().all(is_listed) {
            return Ok(());
        }
        let text = "The cursor has a FOR UPDATE list and the requested column to be updated is not in this list.";
        Err(SqlError::new(16932, 16, text))
    }

    /// WHERE CURRENT OF: a part of the key of the row in `table`, or its locator for part -1; 16917, 16929, 16931, 16933.
    pub fn current(&self, cursor: &CursorRef, table: i32, part: i32) -> Result<Value, SqlError> {
        let id = self.id(cursor, |_| String::new())?;
        if *cursor == CursorRef::Fetched {
            return Ok(self.all[&id].fetched_part(table, part));
        }
        self.positioned.set(Some((id, false)));
        let cursor = &self.all[&id];
        if cursor.rows.is_none() {
            return Err(not_open());
        }
        if cursor.def.read_only {
            return Err(SqlError::new(16929, 16, "The cursor is READ ONLY."));
        }
        let target = cursor.def.targets.iter().find(|t| t.table == table);
        let Some(target) = target else {
            return Err(SqlError::new(
                16933,
                16,
                "The cursor does not include the table being modified or the table is not updatable through the cursor.",
            ));
        };
        let Some(row) = cursor.row() else {
            return Err(SqlError::new(16931, 16, "There are no rows in the current fetch buffer."));
        };
        let at = match usize::try_from(part) {
            Ok(part) => target.key.get(part).map(|(_, at)| *at),
            Err(_) => Some(target.locator),
        };
        Ok(at.and_then(|at| row.get(at)).cloned().unwrap_or_default())
    }
}

impl Vm<'_> {
    /// Of a call's cursor parameters the numbers of the callee's variables and of the caller's; 16951 for one that has a
    /// cursor.
    pub fn cursor_arguments(
        &self,
        code: &Code,
        args: &[Argument],
        bound: &[Option<usize>],
        caller: &Code,
    ) -> Result<Vec<(u16, u16)>, SqlError> {
        let mut all = Vec::new();
        for (param, arg) in code.params.iter().zip(bound) {
            let (Some(from), Some(arg)) = (param.cursor, arg) else { continue };
            let Some(to) = args[*arg].cursor else { continue };
            if self.programs.cursors.is_allocated(to) {
                let name = caller.program.cursors.get(to as usize).cloned().unwrap_or_default();
                let text = format!(
                    "The variable '{name}' cannot be used as a parameter because a CURSOR OUTPUT parameter must not have \
                     a cursor allocated to it before execution of the procedure."
                );
                return Err(SqlError::new(16951, 16, text));
            }
            all.push((from, to));
        }
        Ok(all)
    }

    /// A statement about a cursor.
    pub fn cursor(
        &mut self,
        statement: &CursorStmt,
        code: &Code,
        frame: &mut [Value],
    ) -> Result<(), Halted> {
        let shown =
            |slot: u16| code.program.cursors.get(slot as usize).cloned().unwrap_or_default();
        match statement {
            CursorStmt::Declare { name, local, definition } => {
                let cursors = &self.programs.cursors;
                let depth = local.then_some(cursors.depth);
                let taken = |n: &Name| n.depth == depth && catalog::same_name(&n.name, name);
                if cursors.names.iter().any(taken) {
                    let text = format!("A cursor with the name '{name}' already exists.");
                    return Err(SqlError::new(16915, 16, text).into());
                }
                self.commands().prepare_wishes(planner::query_wishes(&definition.query));
                let cursor = declared(definition, code, frame);
                let cursors = &mut self.programs.cursors;
                let id = cursors.add(cursor);
                cursors.names.push(Name { name: name.clone(), depth, id });
            }
            CursorStmt::Set { variable, definition } => {
                self.commands().prepare_wishes(planner::query_wishes(&definition.query));
                let cursor = declared(definition, code, frame);
                let cursors = &mut self.programs.cursors;
                let id = cursors.add(cursor);
                cursors.assign(*variable, id);
            }
            CursorStmt::Assign { variable, from } => {
                let id = self.programs.cursors.id(from, shown)?;
                self.programs.cursors.assign(*variable, id);
            }
            CursorStmt::Open(cursor) => self.open_cursor(cursor, shown)?,
            CursorStmt::Close(cursor) => {
                let id = self.programs.cursors.id(cursor, shown)?;
                match self.programs.cursors.all.get_mut(&id) {
                    Some(cursor) if cursor.rows.is_some() => {
                        cursor.rows = None;
                        cursor.at = 0;
                    }
                    _ => return Err(not_open().into()),
                }
            }
            CursorStmt::Deallocate(cursor) => {
                let cursors = &mut self.programs.cursors;
                cursors.id(cursor, shown)?;
                match cursor {
                    CursorRef::Name { name, global } => {
                        if let Some(at) = cursors.named(name, *global) {
                            cursors.names.remove(at);
                        }
                    }
                    CursorRef::Variable(slot) => {
                        if let Some(at) = cursors.variable(*slot) {
                            cursors.variables.remove(at);
                        }
                    }
                    CursorRef::Fetched => {}
                }
                cursors.sweep();
            }
            CursorStmt::Fetch { cursor, direction, into } => {
                let motion = match direction {
                    FetchDirection::Next => Motion::Next,
                    FetchDirection::Prior => Motion::Prior,
                    FetchDirection::First => Motion::First,
                    FetchDirection::Last => Motion::Last,
                    FetchDirection::Absolute(n) => {
                        let n = self.with_cx(frame, |cx| executor::eval(n, &[], cx))?;
                        Motion::Absolute(n.as_i64().unwrap_or(0))
                    }
                    FetchDirection::Relative(n) => {
                        let n = self.with_cx(frame, |cx| executor::eval(n, &[], cx))?;
                        Motion::Relative(n.as_i64().unwrap_or(0))
                    }
                };
                let id = self.programs.cursors.id(cursor, shown)?;
                self.fetch(id, motion, into, code, frame)?;
            }
        }
        Ok(())
    }

    /// OPEN: all rows, now; 16905.
    fn open_cursor(
        &mut self,
        cursor: &CursorRef,
        shown: impl FnOnce(u16) -> String,
    ) -> Result<(), SqlError> {
        let id = self.programs.cursors.id(cursor, shown)?;
        self.open_by_id(id)
    }

    fn open_by_id(&mut self, id: u32) -> Result<(), SqlError> {
        let Some(cursor) = self.programs.cursors.all.get(&id) else { return Ok(()) };
        if cursor.rows.is_some() {
            return Err(SqlError::new(16905, 16, "The cursor is already open."));
        }
        self.state.transaction.begin_unseen(&self.state.options);
        let read_at = self.state.database.engine.log().tail().0;
        let rows = self.collect_rows(id)?;
        let cursors = &mut self.programs.cursors;
        if let Some(cursor) = cursors.all.get_mut(&id) {
            cursor.rows = Some(rows);
            (cursor.at, cursor.read_at) = (0, read_at);
            cursor.seen.clear();
            cursor.gone.clear();
        }
        cursors.last_opened = Some(id);
        Ok(())
    }

    /// A cursor's rows as they are now; 16943.
    fn collect_rows(&mut self, id: u32) -> Result<Many<Vec<Value>>, SqlError> {
        let Some(cursor) = self.programs.cursors.all.get(&id) else { return Ok(Many::new()) };
        let (plan, mut vars) = (cursor.plan.clone(), cursor.vars.clone());
        self.in_statement(&mut vars, |cx, _| {
            executor::collect(&plan, &mut cx.reborrow()).map_err(schema_changed)
        })
    }

    /// FETCH, into variables or to the client; 16911, 16917, 16924.
    fn fetch(
        &mut self,
        id: u32,
        motion: Motion,
        into: &[VarId],
        code: &Code,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let Some(cursor) = self.programs.cursors.all.get_mut(&id) else { return Ok(()) };
        // A FETCH that fails is one that found nothing.
        self.programs.cursors.fetch_status = -1;
        if cursor.rows.is_none() {
            return Err(not_open().with_state(2));
        }
        let word = match motion {
            Motion::Next => None,
            Motion::Prior => Some("prior"),
            Motion::First => Some("first"),
            Motion::Last => Some("last"),
            Motion::Absolute(_) => Some("absolute"),
            Motion::Relative(_) => Some("relative"),
        };
        if matches!(motion, Motion::Absolute(_))
            && cursor.def.scroll
            && cursor.def.kind == CursorKind::Dynamic
        {
            let text = "The fetch type Absolute cannot be used with dynamic cursors.";
            return Err(SqlError::new(16925, 16, text));
        }
        if let Some(word) = word.filter(|_| !cursor.def.scroll) {
            return Err(SqlError::new(
                16911,
                16,
                format!("fetch: The fetch type {word} cannot be used with forward only cursors."),
            ));
        }
        let visible = cursor.def.visible;
        if !into.is_empty() && into.len() != visible {
            return Err(SqlError::new(
                16924,
                16,
                "Cursorfetch: The number of variables declared in the INTO list must match that of selected columns.",
            ));
        }
        if into.is_empty() {
            self.check_sends()?;
        }
        self.state.transaction.begin_unseen(&self.state.options);
        let status = self.move_to(id, motion)?;
        let is_there = status == 0;
        let Some(cursor) = self.programs.cursors.all.get(&id) else { return Ok(()) };
        let columns = &cursor.def.query.output[..visible];
        let row = cursor.row().filter(|_| is_there);
        let row: Option<Vec<Value>> = row.map(|row| row[..visible].to_vec());
        if into.is_empty() {
            let meta = column_meta(columns);
            self.sink.columns(&meta);
            if let Some(row) = &row {
                self.sink.row(row);
            }
        } else if let Some(row) = &row {
            for ((var, value), column) in into.iter().zip(row).zip(columns) {
                let ty = code.vars[var.0 as usize];
                frame[var.0 as usize] =
                    self.state.options.cast_by(code.program.rule, value, column.ty, ty)?;
            }
        }
        self.programs.cursors.fetch_status = status;
        self.state.rowcount = i64::from(is_there);
        self.state.error = 0;
        if into.is_empty() {
            let rows = (!self.state.options.nocount).then_some(u64::from(is_there));
            self.tell_done(Command::Select, rows);
        }
        Ok(())
    }
}

fn declared(definition: &CursorDef, code: &Code, frame: &[Value]) -> Cursor {
    let values = frame[..code.program.params.len().min(frame.len())].to_vec();
    let known = planner::Known { values, ..planner::Known::default() };
    Cursor {
        plan: Arc::new(planner::plan_query(&definition.query, &known)),
        again: definition.again.as_ref().map(|q| Arc::new(planner::plan_query(q, &known))),
        def: definition.clone(),
        vars: frame[..code.vars.len()].to_vec(),
        rows: None,
        at: 0,
        seen: BTreeMap::new(),
        gone: BTreeSet::new(),
        read_at: 0,
    }
}

/// 16943.
fn schema_changed(error: SqlError) -> SqlError {
    match error.stale {
        false => error,
        true => SqlError::new(
            16943,
            16,
            "Could not complete cursor operation because the table schema changed after the cursor was declared.",
        ),
    }
}

/// 16916.
fn missing(name: &str) -> SqlError {
    SqlError::new(16916, 16, format!("A cursor with the name '{name}' does not exist."))
}

/// 16917.
fn not_open() -> SqlError {
    SqlError::new(16917, 16, "Cursor is not open.")
}
