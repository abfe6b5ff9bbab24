//! The point read: `SELECT @v = c FROM t WHERE key = @k`, one look-up and one decoded column; also to a client.

use crate::whole::Whole;
use catalog::TableDef;
use engine::{EngineError, Txn};
use executor::{ColumnMeta, Cx, ResultSink, SqlError};
use ir::{Expr, ExprKind, VarId};
use planner::{Node, Op, Scan, SelectPlan, SelectTarget};
use std::sync::Arc;
use types::{SqlType, Value, key};

/// A planned point read into variables.
pub(crate) struct FastPoint {
    table: Arc<TableDef>,
    tree: engine::Tree,
    key: Vec<KeyPart>,
    predicate: Option<Expr>,
    /// Columns decoded into slots for the predicate and the general assignments; empty when neither needs them.
    columns: Vec<usize>,
    target: Target,
    /// Some expression calls a function of the user's, whose statements need the bracket of this one.
    calls: bool,
    key_bytes: Vec<u8>,
    row: Vec<u8>,
    slots: Vec<Value>,
}

/// Where the row's values go.
enum Target {
    Vars(Vec<(VarId, Assign)>),
    /// To the client, with what it is told of the columns.
    Client {
        values: Vec<Assign>,
        columns: Vec<ColumnMeta>,
        row: Vec<Value>,
    },
}

enum KeyPart {
    BigInt(Whole),
    Int(Whole),
    Expr(Expr, types::KeyPart),
}

enum Assign {
    /// A column as it is.
    Column(usize),
    /// An expression over the slots.
    Expr(Expr),
}

impl FastPoint {
    /// The plan as a point read, where it is of that kind.
    pub fn new(plan: &SelectPlan, db: &Arc<engine::Database>) -> Option<FastPoint> {
        let assign: &[(VarId, Expr)] = match &plan.target {
            SelectTarget::Vars(assign) => assign,
            SelectTarget::Client => &[],
            SelectTarget::Into { .. } => return None,
        };
        if !plan.plan.subplans.is_empty() || plan.plan.param_count > 0 {
            return None;
        }
        let (scan, exprs) = scan_below(&plan.plan.root)?;
        let parts = scan.table.key_layout.parts();
        let range = scan.range.as_ref()?;
        let hints = &scan.hints;
        let hinted = *hints != ir::TableHints::default();
        let special = scan.index.is_some()
            || scan.table.has_uniquifier()
            || scan.locator
            || scan.table.is_private()
            || scan.for_update
            || scan.database.is_some()
            || hinted;
        if parts.is_empty() || !range.is_point(parts.len()) || special {
            return None;
        }
        let mut key = Vec::new();
        for (expr, part) in range.prefix.iter().zip(parts) {
            key.push(match (part.ty, part.desc, part.nullable, Whole::of(expr)) {
                (SqlType::BigInt, false, false, Some(whole)) => KeyPart::BigInt(whole),
                (SqlType::Int, false, false, Some(whole)) => KeyPart::Int(whole),
                _ => KeyPart::Expr(expr.clone(), *part),
            });
        }
        let mut needs_slots = scan.predicate.is_some();
        // What a slot of the root is in the table's terms.
        let mut assigned = |expr: &Expr| -> Option<Assign> {
            let resolved = match (&expr.kind, exprs) {
                (ExprKind::Slot(i), Some(exprs)) => exprs.get(*i as usize)?,
                (_, None) => expr,
                // An expression over computed slots.
                _ => return None,
            };
            Some(match resolved.kind {
                ExprKind::Slot(i) => Assign::Column(*scan.columns.get(i as usize)?),
                _ => {
                    needs_slots = true;
                    Assign::Expr(resolved.clone())
                }
            })
        };
        let target = if let SelectTarget::Client = plan.target {
            let mut values = Vec::new();
            for (i, column) in plan.plan.output.iter().enumerate() {
                let slot = ExprKind::Slot(i as u32);
                values.push(assigned(&Expr::new(slot, column.ty, column.nullable))?);
            }
            let columns = executor::column_meta(&plan.plan.output);
            Target::Client { values, columns, row: Vec::new() }
        } else {
            let mut vars = Vec::new();
            for (var, expr) in assign {
                vars.push((*var, assigned(expr)?));
            }
            Target::Vars(vars)
        };
        let calls = range.prefix.iter().chain(&scan.predicate).any(|e| e.calls_users())
            || exprs.into_iter().flatten().any(|e| e.calls_users())
            || assign.iter().any(|(_, e)| e.calls_users());
        Some(FastPoint {
            calls,
            table: scan.table.clone(),
            tree: db.tree_of(scan.table.tree, scan.table.shape),
            key,
            predicate: scan.predicate.clone(),
            columns: if needs_slots { scan.columns.clone() } else { Vec::new() },
            target,
            key_bytes: Vec::new(),
            row: Vec::new(),
            slots: Vec::new(),
        })
    }

    /// Whether the row goes to the client.
    pub fn sends(&self) -> bool {
        matches!(self.target, Target::Client { .. })
    }

    /// Whether it does nothing but read the row into variables.
    #[inline]
    pub fn is_alone(&self) -> bool {
        !self.sends() && !self.calls
    }

    /// Whether the row is in memory.
    #[inline]
    pub fn is_in_memory(&self) -> bool {
        self.table.is_memory()
    }

    /// Whether it may have more to read than the row itself.
    #[inline]
    pub fn reads_outside(&self) -> bool {
        self.table.lob.is_some()
    }

    /// Reads the row and assigns or sends it; the number of rows, 0 or 1. The statement has begun.
    pub fn run(&mut self, cx: &mut Cx<'_>, sink: &mut dyn ResultSink) -> Result<u64, SqlError> {
        self.run_by(false, cx, sink)
    }

    /// The same within a transaction, of a statement that has not begun in the engine.
    pub fn run_alone(
        &mut self,
        cx: &mut Cx<'_>,
        sink: &mut dyn ResultSink,
    ) -> Result<u64, SqlError> {
        self.run_by(true, cx, sink)
    }

    fn run_by(
        &mut self,
        alone: bool,
        cx: &mut Cx<'_>,
        sink: &mut dyn ResultSink,
    ) -> Result<u64, SqlError> {
        if self.table.is_memory()
            && let Err(error) = check_level(cx)
        {
            // As any error of a running query it comes behind the columns.
            if let Target::Client { columns, .. } = &self.target {
                sink.columns(columns);
            }
            return Err(error);
        }
        let found = self.find(alone, cx)?;
        match &mut self.target {
            Target::Vars(vars) => {
                if !found {
                    return Ok(0);
                }
                for (var, assign) in vars {
                    let value = assign.value(&self.table, &self.row, &self.slots, cx)?;
                    cx.vars[var.0 as usize] = value;
                }
            }
            Target::Client { values, columns, row } => {
                row.clear();
                let mut failed = None;
                if found {
                    for assign in values.iter() {
                        match assign.value(&self.table, &self.row, &self.slots, cx) {
                            Ok(value) => row.push(value),
                            Err(error) => failed = failed.or(Some(error)),
                        }
                    }
                }
                // Before an error there is a result set too.
                if !failed.as_ref().is_some_and(|error| error.stale) {
                    sink.columns(columns);
                }
                if let Some(error) = failed {
                    return Err(error);
                }
                if found {
                    sink.row(row);
                }
            }
        }
        Ok(found as u64)
    }

    /// Whether the row is there; it is then in `row`, and in `slots` as far as anything asks for them.
    fn find(&mut self, alone: bool, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        self.key_bytes.clear();
        for part in &self.key {
            match part {
                KeyPart::BigInt(whole) => match whole.eval(cx.vars)? {
                    Some(v) => self.key_bytes.extend_from_slice(&key::encode_i64(v)),
                    None => return Ok(false),
                },
                KeyPart::Int(whole) => match whole.eval(cx.vars)? {
                    Some(v) => self.key_bytes.extend_from_slice(&key::encode_i32(v as i32)),
                    None => return Ok(false),
                },
                KeyPart::Expr(expr, part) => {
                    let value = executor::eval(expr, &[], cx)?;
                    if value.is_null() {
                        return Ok(false);
                    }
                    key::encode_part(part, &value, &mut self.key_bytes);
                }
            }
        }
        let Some(txn) = cx.txn.as_deref_mut() else {
            stdx::fatal!("a read without a transaction");
        };
        self.tree.prefetch(&self.key_bytes);
        self.tree.note_use(engine::Use::Seek);
        let found = match alone {
            true => get_alone(txn, &self.tree, &self.key_bytes, &mut self.row),
            false => txn.get(&self.tree, &self.key_bytes, &mut self.row),
        };
        let found = found
            .map_err(|e| executor::from_engine(e, Some(&self.table), &cx.env.database_name()))?;
        if !found {
            return Ok(false);
        }
        self.slots.clear();
        for &column in &self.columns {
            let value = executor::lob::column(&self.table, &self.row, column, cx)?;
            self.slots.push(value);
        }
        if let Some(predicate) = &self.predicate
            && !executor::holds(predicate, &self.slots, cx)?
        {
            return Ok(false);
        }
        Ok(true)
    }
}

/// The row under a key, for a statement that reads no more than that and has not begun.
fn get_alone(
    txn: &mut Txn,
    tree: &engine::Tree,
    key: &[u8],
    row: &mut Vec<u8>,
) -> Result<bool, EngineError> {
    if tree.is_memory() {
        return txn.get(tree, key, row);
    }
    if let Some(found) = txn.visit(tree, key, row)? {
        return Ok(found);
    }
    txn.begin_statement();
    let found = txn.get(tree, key, row);
    txn.end_statement();
    found
}

/// Whether a memory-optimised table may be read at the transaction's level.
fn check_level(cx: &Cx<'_>) -> Result<(), SqlError> {
    let Some(txn) = cx.txn.as_deref() else { return Ok(()) };
    executor::check_memory_read(txn.options().isolation, cx.env.memory_access())
}

impl Assign {
    #[inline]
    fn value(
        &self,
        table: &TableDef,
        row: &[u8],
        slots: &[Value],
        cx: &mut Cx<'_>,
    ) -> Result<Value, SqlError> {
        match self {
            Assign::Column(column) => executor::lob::column(table, row, *column, cx),
            Assign::Expr(expr) => executor::eval(expr, slots, cx),
        }
    }
}

/// The scan at the root, perhaps below a projection.
fn scan_below(node: &Node) -> Option<(&Scan, Option<&[Expr]>)> {
    match &node.op {
        Op::Scan(scan) => Some((scan, None)),
        Op::Project { input, exprs } => match &input.op {
            Op::Scan(scan) => Some((scan, Some(exprs))),
            _ => None,
        },
        _ => None,
    }
}
