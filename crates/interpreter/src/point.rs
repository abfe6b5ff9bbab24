//! The point read: `SELECT @v = c FROM t WHERE key = @k`, one look-up and one decoded column.

use crate::whole::Whole;
use binder::ir::{Expr, ExprKind, VarId};
use catalog::TableDef;
use executor::{Cx, SqlError};
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
    assign: Vec<(VarId, Assign)>,
    key_bytes: Vec<u8>,
    row: Vec<u8>,
    slots: Vec<Value>,
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
        let SelectTarget::Vars(assign) = &plan.target else { return None };
        if !plan.plan.subplans.is_empty() || plan.plan.param_count > 0 {
            return None;
        }
        let (scan, exprs) = scan_below(&plan.plan.root)?;
        let parts = scan.table.key_layout.parts();
        let range = scan.range.as_ref()?;
        let hints = &scan.hints;
        let hinted = *hints != binder::ir::TableHints::default();
        let special = scan.locator || scan.table.is_private() || scan.for_update || hinted;
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
        let mut targets = Vec::new();
        let mut needs_slots = scan.predicate.is_some();
        for (var, expr) in assign {
            let resolved = match (&expr.kind, exprs) {
                (ExprKind::Slot(i), Some(exprs)) => exprs.get(*i as usize)?,
                (_, None) => expr,
                // An expression over computed slots.
                _ => return None,
            };
            targets.push((
                *var,
                match resolved.kind {
                    ExprKind::Slot(i) => Assign::Column(*scan.columns.get(i as usize)?),
                    _ => {
                        needs_slots = true;
                        Assign::Expr(resolved.clone())
                    }
                },
            ));
        }
        Some(FastPoint {
            table: scan.table.clone(),
            tree: db.tree(scan.table.tree),
            key,
            predicate: scan.predicate.clone(),
            columns: if needs_slots { scan.columns.clone() } else { Vec::new() },
            assign: targets,
            key_bytes: Vec::new(),
            row: Vec::new(),
            slots: Vec::new(),
        })
    }

    /// Reads the row and assigns; the number of rows, 0 or 1. The statement has begun.
    pub fn run(&mut self, cx: &mut Cx<'_>) -> Result<u64, SqlError> {
        self.key_bytes.clear();
        for part in &self.key {
            match part {
                KeyPart::BigInt(whole) => match whole.eval(cx.vars)? {
                    Some(v) => self.key_bytes.extend_from_slice(&key::encode_i64(v)),
                    None => return Ok(0),
                },
                KeyPart::Int(whole) => match whole.eval(cx.vars)? {
                    Some(v) => self.key_bytes.extend_from_slice(&key::encode_i32(v as i32)),
                    None => return Ok(0),
                },
                KeyPart::Expr(expr, part) => {
                    let value = executor::eval(expr, &[], cx)?;
                    if value.is_null() {
                        return Ok(0);
                    }
                    key::encode_part(part, &value, &mut self.key_bytes);
                }
            }
        }
        let Some(txn) = cx.txn.as_deref_mut() else {
            stdx::fatal!("a read without a transaction");
        };
        let found = txn
            .get(&self.tree, &self.key_bytes, &mut self.row)
            .map_err(|e| executor::from_engine(e, Some(&self.table), &cx.env.database_name()))?;
        if !found {
            return Ok(0);
        }
        self.slots.clear();
        for &column in &self.columns {
            let value = executor::stored_column(&self.table, &self.row, column, cx)?;
            self.slots.push(value);
        }
        if let Some(predicate) = &self.predicate
            && !executor::holds(predicate, &self.slots, cx)?
        {
            return Ok(0);
        }
        for (var, assign) in &self.assign {
            let value = match assign {
                Assign::Column(column) => {
                    executor::stored_column(&self.table, &self.row, *column, cx)?
                }
                Assign::Expr(expr) => executor::eval(expr, &self.slots, cx)?,
            };
            cx.vars[var.0 as usize] = value;
        }
        Ok(1)
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
