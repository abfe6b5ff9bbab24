//! The singleton insert: a row template, patched and handed to the engine.
//!
//! A statement `INSERT t (..) VALUES (..), (..)` becomes, per row, the row's bytes with every constant in place (the
//! padding of char columns too, named as a run that the log leaves out), a list of patches, and the recipe of the
//! key. Running it evaluates the patches, writes them over the template and calls the engine.
//!
//! A table with indexes has their entries made out of the row's bytes; row and entries then stand or fall together, so they
//! are a transaction of several records, or a statement of one that is open.
//!
//! Invariants: a template is a well-formed row of its table; a patch that wrote NULL is undone before the next
//! value is written by the short way; a run never covers a patched column.

use crate::whole::Whole;
use catalog::TableDef;
use dml::{NewEntries, RUN_BYTES_MIN};
use engine::{
    Durability, EngineError, InsertHint, Part, PartChange, RowImage, Savepoint, TOGETHER_FEW, Txn,
    Use,
};
use executor::{Cx, Reach, SqlError};
use ir::{CastMode, Expr, ExprKind, FuncId};
use planner::{InsertPlan, InsertSource};
use smallvec::SmallVec;
use std::sync::Arc;
use types::collation::Rule;
use types::{KeyPart, SqlType, Value, datetime, key};

/// A planned insert of constants and patches.
pub(crate) struct FastInsert {
    table: Arc<TableDef>,
    tree: engine::Tree,
    rows: Vec<RowTemplate>,
    key: Key,
    /// Making a row never suspends: a clock that was read for it still tells the time when it is done.
    prompt: bool,
    hint: InsertHint,
    /// None: the table has no indexes.
    entries: Option<Box<NewEntries>>,
    /// The key of the row in hand.
    key_bytes: Vec<u8>,
}

struct RowTemplate {
    /// Where a column that is no constant has no fixed place: the row is put together anew, from these.
    general: Option<General>,
    bytes: Vec<u8>,
    run: Option<(u16, u16, u8)>,
    patches: Vec<Patch>,
}

/// A row from its columns' expressions.
struct General {
    exprs: Vec<Expr>,
    values: Vec<Value>,
}

struct Patch {
    column: usize,
    source: Source,
    nullable: bool,
    /// The template has NULL here at the moment.
    is_null: bool,
}

enum Source {
    /// A bigint column from integers.
    I64(Whole),
    /// An int column from integers no wider than int.
    I32(Whole),
    /// GETDATE() into a datetime column.
    Now,
    /// A variable of the column's type.
    Var(usize),
    /// Anything else of fixed length.
    Expr(Expr),
}

/// How a row's key comes out of its bytes.
enum Key {
    /// One ascending NOT NULL bigint, which lies here in the row.
    BigInt(usize),
    /// Its columns.
    Parts(Vec<(usize, KeyPart)>),
    /// A heap's row id.
    RowId,
}

impl Key {
    fn of(table: &TableDef) -> Key {
        let columns = dml::key_columns(table).into_iter();
        let parts: Vec<_> = columns.zip(table.key_layout.parts().iter().copied()).collect();
        match parts[..] {
            [] => Key::RowId,
            [(column, part)] if part.ty == SqlType::BigInt && !part.desc && !part.nullable => {
                match table.layout.fixed_offset(column) {
                    Some(at) => Key::BigInt(at),
                    None => Key::Parts(parts),
                }
            }
            _ => Key::Parts(parts),
        }
    }
}

/// Does it call a user-defined function?
fn is_users(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Func { func: FuncId::User(_), .. })
}

impl FastInsert {
    /// The plan as a template, where it is of that kind.
    pub fn new(plan: &InsertPlan, db: &Arc<engine::Database>) -> Option<FastInsert> {
        let table = &plan.table;
        let InsertSource::Values { rows, subplans, .. } = &plan.source else { return None };
        let hinted = plan.hints.tablock || plan.hints.tablockx || plan.explicit_identity;
        // What a row entails besides itself and its entries is the general path's; so is a key that needs a tail.
        let special =
            hinted || table.is_private() || !table.is_plain_to_insert() || table.has_uniquifier();
        if plan.fires.is_some()
            || plan.block.is_some()
            || plan.check.is_some()
            || !subplans.is_empty()
            || plan.output.is_some()
            || special
            || rows.is_empty()
        {
            return None;
        }
        // A function of the user's reads in a transaction that the fast path has in its own hands.
        if rows.iter().flatten().any(|e| e.any(&mut is_users)) {
            return None;
        }
        let entries = Some(NewEntries::of(table, db)?).filter(|entries| !entries.is_empty());
        // Rows in memory have the whole bracket of a statement.
        if entries.is_some() && table.is_memory() {
            return None;
        }
        let mut templates = Vec::with_capacity(rows.len());
        for row in rows {
            templates.push(RowTemplate::new(row, table)?);
        }
        let key = Key::of(table);
        let prompt = !matches!(key, Key::RowId) && templates.iter().all(RowTemplate::is_prompt);
        Some(FastInsert {
            prompt,
            table: table.clone(),
            tree: db.tree_of(table.tree, table.shape),
            rows: templates,
            key,
            hint: InsertHint::default(),
            entries: entries.map(Box::new),
            key_bytes: Vec::new(),
        })
    }

    /// The table it inserts into.
    pub fn table(&self) -> &TableDef {
        &self.table
    }

    /// How many rows it inserts.
    pub fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// Inserts the rows into a transaction that has begun its statement.
    pub fn insert(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.tree.note_use(Use::Update);
        for i in 0..self.rows.len() {
            self.prepare(i, cx)?;
            let Some(txn) = cx.txn.take() else {
                stdx::fatal!("an insert without a transaction");
            };
            let written = self.write(i, txn, cx);
            cx.txn = Some(txn);
            written?;
        }
        Ok(())
    }

    /// Writes the row in hand, and its entries.
    #[inline]
    fn write(&mut self, i: usize, txn: &mut Txn, cx: &Cx<'_>) -> Result<(), SqlError> {
        let row = &self.rows[i];
        if let Err(e) = txn.insert(&self.tree, &self.key_bytes, &row.image(), &mut self.hint) {
            return Err(self.explain(e, i, cx));
        }
        match &mut self.entries {
            None => Ok(()),
            Some(entries) => entries.add(&self.table, &row.bytes, &self.key_bytes, txn, cx),
        }
    }

    /// Inserts the only row, as a statement of its own, into a transaction that is active.
    #[inline]
    pub fn insert_alone(&mut self, txn: &mut Txn, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.prepare(0, cx)?;
        self.tree.note_use_at(Use::Update, cx.read_unix_ns());
        if self.entries.is_none() {
            // Of a row that is refused nothing is there.
            let template = &self.rows[0];
            return txn
                .insert_alone(&self.tree, &self.key_bytes, &template.image(), &mut self.hint)
                .map_err(|e| self.explain(e, 0, cx));
        }
        let before = txn.savepoint();
        let written = self.write(0, txn, cx);
        match written {
            Ok(()) => {
                txn.end_alone();
                Ok(())
            }
            Err(error) => Err(take_back(txn, before, error, cx)),
        }
    }

    /// Inserts the only row and commits, in one log record where the row is all there is to write. The transaction has not
    /// written yet.
    #[inline]
    pub fn insert_commit(
        &mut self,
        txn: &mut Txn,
        durability: Durability,
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        self.prepare(0, cx)?;
        let unix_ns = cx.read_unix_ns().filter(|_| self.prompt);
        self.tree.note_use_at(Use::Update, unix_ns);
        if self.entries.is_some() {
            return self.insert_then_commit(txn, durability, unix_ns, cx);
        }
        let template = &self.rows[0];
        match txn.insert_commit(
            &self.tree,
            &self.key_bytes,
            &template.image(),
            &mut self.hint,
            durability,
            unix_ns,
        ) {
            Ok(_) => Ok(()),
            Err(e) => Err(self.explain(e, 0, cx)),
        }
    }

    /// Row, entries and commit, in one record, or each in its own.
    fn insert_then_commit(
        &mut self,
        txn: &mut Txn,
        durability: Durability,
        unix_ns: Option<u64>,
        cx: &Cx<'_>,
    ) -> Result<(), SqlError> {
        if self.insert_together(txn, durability, unix_ns, cx)? {
            return Ok(());
        }
        let own = !txn.is_active();
        if own {
            txn.begin();
        }
        let before = txn.savepoint();
        let done = match self.write(0, txn, cx) {
            Ok(()) => txn.commit(durability).map(drop),
            // What has been read and locked before stays so.
            Err(error) if !own => return Err(take_back(txn, before, error, cx)),
            Err(error) => match txn.rollback() {
                Ok(()) => return Err(error),
                Err(undo) => Err(undo),
            },
        };
        done.map_err(|e| executor::from_engine(e, None, &cx.env.database_name()))
    }

    /// Row, entries and commit in one record. False: not as things are, and nothing has happened.
    #[inline]
    fn insert_together(
        &mut self,
        txn: &mut Txn,
        durability: Durability,
        unix_ns: Option<u64>,
        cx: &Cx<'_>,
    ) -> Result<bool, SqlError> {
        let Some(entries) = &mut self.entries else { return Ok(false) };
        let row = &self.rows[0];
        entries.make(&self.table, &row.bytes, &self.key_bytes)?;
        let mut rows: SmallVec<[Part<'_>; TOGETHER_FEW]> = SmallVec::new();
        let change = PartChange::Insert { row: row.image(), hint: &mut self.hint };
        rows.push(Part { tree: &self.tree, key: &self.key_bytes, change });
        rows.extend(entries.parts());
        txn.insert_together(&mut rows, durability, unix_ns)
            .map_err(|e| executor::from_engine(e, None, &cx.env.database_name()))
    }

    /// Fills template and key of row `i`.
    #[inline]
    fn prepare(&mut self, i: usize, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        let template = &mut self.rows[i];
        if template.general.is_some() {
            template.build(&self.table, cx)?;
        }
        let RowTemplate { bytes, patches, .. } = template;
        for patch in patches {
            patch.apply(&self.table, bytes, cx)?;
        }
        self.key_bytes.clear();
        match (&self.key, &template.general) {
            (Key::BigInt(at), _) => {
                let mut cell = [0; 8];
                cell.copy_from_slice(&template.bytes[*at..*at + 8]);
                let value = i64::from_le_bytes(cell);
                self.key_bytes.extend_from_slice(&key::encode_i64(value));
            }
            // A text need not be read from the row again.
            (Key::Parts(parts), Some(General { values, .. })) => {
                for (column, part) in parts {
                    key::encode_part(part, &values[*column], &mut self.key_bytes);
                }
            }
            (Key::Parts(parts), None) => {
                let layout = &self.table.layout;
                for (column, part) in parts {
                    layout.key_part(&template.bytes, *column, part, &mut self.key_bytes);
                }
            }
            (Key::RowId, _) => {
                let id = self.tree.next_row_id().map_err(|e| {
                    executor::from_engine(e, Some(&self.table), &cx.env.database_name())
                })?;
                self.key_bytes.extend_from_slice(&id.to_be_bytes());
            }
        }
        if self.key_bytes.len() > key::KEY_BYTES_MAX {
            self.check_key(i)?;
        }
        self.tree.prefetch(&self.key_bytes);
        Ok(())
    }

    /// 1946 for a key of which many bytes are stored, if it is too long.
    #[cold]
    fn check_key(&self, i: usize) -> Result<(), SqlError> {
        let column =
            |c| self.table.layout.decode_column(&self.rows[i].bytes, c).unwrap_or_default();
        let values: Vec<Value> = dml::key_columns(&self.table).into_iter().map(column).collect();
        let encoded = self.table.key_layout.encode_into(&values, &mut Vec::new());
        encoded.map_err(|error| dml::key_error(&self.table, error))
    }

    #[cold]
    fn explain(&self, error: EngineError, i: usize, cx: &Cx<'_>) -> SqlError {
        let duplicate = matches!(error, EngineError::Duplicate);
        let mut error = executor::from_engine(error, Some(&self.table), &cx.env.database_name());
        if duplicate {
            let columns = dml::key_columns(&self.table);
            let values: Vec<Value> = columns
                .iter()
                .map(|c| self.table.layout.decode_column(&self.rows[i].bytes, *c))
                .map(Option::unwrap_or_default)
                .collect();
            let values: Vec<&Value> = values.iter().collect();
            error.text.push_str(&dml::duplicate_key_text(&self.table, &values));
        }
        error
    }
}

/// A statement that has failed in a transaction that is open is undone; the transaction is not, unless that fails too.
#[cold]
fn take_back(txn: &mut Txn, to: Savepoint, mut error: SqlError, cx: &Cx<'_>) -> SqlError {
    // A doomed transaction is rolled back whole, soon.
    if !txn.is_doomed()
        && let Err(undo) = txn.rollback_to(to)
    {
        let undo = executor::from_engine(undo, None, &cx.env.database_name());
        error.reach = error.reach.max(Reach::Transaction).max(undo.reach);
    }
    txn.end_alone();
    error
}

impl RowTemplate {
    fn new(row: &[Expr], table: &TableDef) -> Option<RowTemplate> {
        let mut values = Vec::with_capacity(row.len());
        let mut patches = Vec::new();
        for (column, expr) in row.iter().enumerate() {
            let def = &table.columns[column];
            let source = match constant(expr) {
                Some(value) => {
                    // A NULL where none may be is the general path's error to tell.
                    if value.is_null() && !def.nullable {
                        return None;
                    }
                    values.push(value);
                    continue;
                }
                None => Source::new(expr, def.ty, def.collation.rule()),
            };
            if table.layout.fixed_offset(column).is_none() {
                return RowTemplate::general(row, table);
            }
            values.push(placeholder(def.ty)?);
            patches.push(Patch { column, source, nullable: def.nullable, is_null: false });
        }
        let mut bytes = Vec::new();
        table.layout.encode(&values, &mut bytes).ok()?;
        let run = constant_run(table, &bytes, &patches);
        Some(RowTemplate { general: None, bytes, run, patches })
    }

    /// A row with columns of variable length.
    fn general(row: &[Expr], table: &TableDef) -> Option<RowTemplate> {
        // What may lie outside its row is the general path's.
        if table.lob.is_some() {
            return None;
        }
        let general = General { exprs: row.to_vec(), values: Vec::new() };
        Some(RowTemplate {
            general: Some(general),
            bytes: Vec::new(),
            run: None,
            patches: Vec::new(),
        })
    }

    /// Puts the row together from its expressions.
    fn build(&mut self, table: &TableDef, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        let Some(General { exprs, values }) = &mut self.general else { return Ok(()) };
        values.clear();
        let mut cx = cx.reborrow();
        cx.table = Some(table);
        for expr in exprs.iter() {
            values.push(executor::eval(expr, &[], &mut cx)?);
        }
        for (column, value) in table.columns.iter().zip(values.iter()) {
            if value.is_null() && !column.nullable {
                let name = format!("{}.{}.{}", cx.env.database_name(), table.schema, table.name);
                return Err(dml::null_error(&column.name, &name, "INSERT"));
            }
        }
        self.bytes.clear();
        table.layout.encode(values, &mut self.bytes)?;
        self.run = table.layout.longest_run(&self.bytes, RUN_BYTES_MIN);
        Ok(())
    }

    /// Its values are constants, variables' and the time.
    fn is_prompt(&self) -> bool {
        let plain = |p: &Patch| !matches!(p.source, Source::Expr(_));
        self.general.is_none() && self.patches.iter().all(plain)
    }

    #[inline]
    fn image(&self) -> RowImage<'_> {
        match self.run {
            Some((offset, len, byte)) => dml::run_image(&self.bytes, offset, len, byte),
            None => RowImage::new(&self.bytes),
        }
    }
}

impl Source {
    fn new(expr: &Expr, ty: SqlType, rule: Rule) -> Source {
        let bare = strip_store(expr);
        match ty {
            SqlType::BigInt => {
                if let Some(whole) = Whole::of(expr) {
                    return Source::I64(whole);
                }
            }
            SqlType::Int => {
                if let Some(whole) = Whole::of(expr) {
                    return Source::I32(whole);
                }
            }
            SqlType::DateTime => {
                if let ExprKind::Func { func: FuncId::GetDate | FuncId::GetUtcDate, .. } = bare.kind
                {
                    return Source::Now;
                }
            }
            _ => {}
        }
        // A text of as many characters may take more bytes in another code page.
        let fits = !matches!(ty, SqlType::Char(_)) || rule == Rule::CiAs;
        if let ExprKind::Var(var) = bare.kind
            && bare.ty == ty
            && fits
        {
            return Source::Var(var.0 as usize);
        }
        Source::Expr(expr.clone())
    }
}

impl Patch {
    #[inline]
    fn apply(&mut self, table: &TableDef, row: &mut [u8], cx: &mut Cx<'_>) -> Result<(), SqlError> {
        let value = match &self.source {
            Source::I64(whole) => match whole.eval(cx.vars)? {
                Some(v) if !self.is_null => {
                    table.layout.patch_i64(row, self.column, v);
                    return Ok(());
                }
                v => Value::from(v),
            },
            Source::I32(whole) => match whole.eval(cx.vars)?.map(|v| v as i32) {
                Some(v) if !self.is_null => {
                    table.layout.patch_i32(row, self.column, v);
                    return Ok(());
                }
                v => Value::from(v),
            },
            Source::Now => {
                let now = datetime::datetime_from_unix_ns(cx.now_unix_ns());
                if !self.is_null {
                    table.layout.patch_datetime(row, self.column, now);
                    return Ok(());
                }
                Value::DateTime(now)
            }
            Source::Var(var) => return self.patch_value(&cx.vars[*var], table, row, cx),
            Source::Expr(expr) => {
                let mut cx = cx.reborrow();
                cx.table = Some(table);
                executor::eval(expr, &[], &mut cx)?
            }
        };
        self.patch_value(&value, table, row, cx)
    }

    fn patch_value(
        &mut self,
        value: &Value,
        table: &TableDef,
        row: &mut [u8],
        cx: &Cx<'_>,
    ) -> Result<(), SqlError> {
        if value.is_null() && !self.nullable {
            let name = format!("{}.{}.{}", cx.env.database_name(), table.schema, table.name);
            return Err(dml::null_error(&table.columns[self.column].name, &name, "INSERT"));
        }
        self.is_null = value.is_null();
        if !table.layout.patch(row, self.column, value) {
            stdx::fatal!("column {} of {} is not of fixed length", self.column, table.name);
        }
        Ok(())
    }
}

/// The value of an expression that is a constant, also one to be stored as it is.
fn constant(expr: &Expr) -> Option<Value> {
    match &expr.kind {
        ExprKind::Const(value) => Some(value.clone()),
        ExprKind::Cast { input, mode: CastMode::Store { .. }, .. } => match &input.kind {
            // What a date means may depend on the session's DATEFORMAT.
            ExprKind::Const(Value::Str(text))
                if expr.ty.is_temporal() && !types::convert::is_plain_date(text) =>
            {
                None
            }
            ExprKind::Const(value) => types::convert::assign(value, input.ty, expr.ty).ok(),
            _ => None,
        },
        _ => None,
    }
}

/// Without conversions to the same type.
fn strip_store(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Cast { input, .. } if input.ty == expr.ty => strip_store(input),
        _ => expr,
    }
}

/// Some value of a fixed type that is not NULL.
fn placeholder(ty: SqlType) -> Option<Value> {
    types::convert::cast(&Value::Int(0), SqlType::Int, ty, 0)
        .or_else(|_| types::convert::cast(&Value::str("2000-01-01"), text(10), ty, 0))
        .or_else(|_| {
            let guid = "00000000-0000-0000-0000-000000000000";
            types::convert::cast(&Value::str(guid), text(36), ty, 0)
        })
        .ok()
}

fn text(len: u16) -> SqlType {
    SqlType::VarChar(types::Len::N(len))
}

/// The longest run of padding that no patch can touch.
fn constant_run(table: &TableDef, bytes: &[u8], patches: &[Patch]) -> Option<(u16, u16, u8)> {
    let (offset, len, byte) = table.layout.longest_run(bytes, RUN_BYTES_MIN)?;
    let (start, end) = (offset as usize, offset as usize + len as usize);
    let touched = patches.iter().any(|patch| {
        let from = table.layout.fixed_offset(patch.column).unwrap_or(0);
        let len = table.layout.fixed_len(patch.column).unwrap_or(bytes.len());
        from < end && start < from + len
    });
    (!touched).then_some((offset, len, byte))
}
