//! A grouping done by column: keys of a whole batch, then its groups, then one aggregate after the other.
//!
//! Promise: the groups, values and errors of [`Grouping`] row by row. It is for groupings by slots whose aggregates' arguments
//! are slots, or what `exact.rs` computes of exact numbers; a batch in which one of these does not fit goes row by
//! row, so that the row that overflows says so. Knows nothing of how groups are kept.

use super::accumulate::Accumulator;
use super::exact::Exact;
use super::grouping::{Grouping, exact_argument};
use super::hash::KeyEncoder;
use super::key_columns::KeyColumns;
use super::simple::Source;
use crate::columns::Columns;
use crate::cx::Cx;
use crate::message::SqlError;
use ir::{AggFunc, Expr};
use planner::Agg;
use types::Value;

/// See the file's first lines.
pub(super) struct ByColumn {
    keys: KeyColumns,
    args: Vec<Arg>,
    /// Some argument of the batch is the evaluator's.
    by_row: bool,
    row: Vec<Value>,
}

/// The argument of an aggregate.
enum Arg {
    /// COUNT(*).
    Rows,
    Exact(Exact),
    Slot(u32),
}

/// The group of a row that is not kept.
pub(super) const NO_GROUP: u32 = u32::MAX;

impl ByColumn {
    /// None where a grouping is of another kind.
    fn new(group: &[Expr], aggs: &[Agg]) -> Option<ByColumn> {
        let arg = |agg: &Agg| {
            let Some(arg) = &agg.arg else { return Some(Arg::Rows) };
            if agg.joining.is_some() {
                return None;
            }
            match exact_argument(agg) {
                Some(exact) => Some(Arg::Exact(exact)),
                None => arg.as_slot().map(Arg::Slot),
            }
        };
        Some(ByColumn {
            keys: KeyColumns::new(group)?,
            args: aggs.iter().map(arg).collect::<Option<_>>()?,
            by_row: false,
            row: Vec::new(),
        })
    }

    /// For a grouping of rows that its input has by column; none where that has not, or the grouping is of another kind.
    pub fn over(
        grouping: &Grouping<'_>,
        input: &mut Source<'_>,
        cx: &mut Cx<'_>,
    ) -> Result<Option<ByColumn>, SqlError> {
        if grouping.weight.is_some() {
            return Ok(None);
        }
        match ByColumn::new(grouping.group, grouping.aggs) {
            Some(by_column) => Ok(input.has_columns(cx)?.then_some(by_column)),
            None => Ok(None),
        }
    }

    /// Computes the keys and arguments of a batch.
    pub fn load(&mut self, encoder: &KeyEncoder, columns: &Columns) {
        self.by_row = false;
        for arg in &mut self.args {
            if let Arg::Exact(exact) = arg {
                self.by_row |= !exact.load(columns);
            }
        }
        self.keys.load(encoder, columns);
    }

    /// The key of a row.
    #[inline]
    pub fn key(&self, row: usize) -> &[u8] {
        self.keys.key(row)
    }

    /// The keys of all rows.
    pub fn keys(&self) -> impl Iterator<Item = Option<&[u8]>> + Clone {
        self.keys.keys()
    }

    /// Appends the values of a row's group to `out`.
    pub fn push_group(&self, columns: &Columns, row: usize, out: &mut Vec<Value>) {
        out.extend(self.keys.slots().iter().map(|slot| columns.column(*slot).value(row)));
    }

    /// The rows of the batch are taken by the aggregates of their groups, whose states lie one behind the other.
    pub fn add(
        &mut self,
        grouping: &Grouping<'_>,
        columns: &Columns,
        groups: &[u32],
        states: &mut [Accumulator],
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        let width = self.args.len();
        if self.by_row {
            for (row, group) in groups.iter().enumerate().filter(|(_, group)| **group != NO_GROUP) {
                self.row.clear();
                columns.push_row(row, &mut self.row);
                let states = &mut states[*group as usize * width..][..width];
                grouping.add(states, &self.row, cx)?;
            }
            return Ok(());
        }
        for (n, (arg, spec)) in self.args.iter().zip(&grouping.specs).enumerate() {
            let kept = groups.iter().enumerate().filter(|(_, group)| **group != NO_GROUP);
            let places = kept.map(|(row, group)| (row, *group as usize * width + n));
            match arg {
                Arg::Rows => places.for_each(|(_, state)| states[state].add_rows(1)),
                Arg::Exact(exact) => {
                    let mut nulls = false;
                    for (row, state) in places {
                        match exact.get(row) {
                            Some(units) => states[state].add_units(spec, units, 1)?,
                            None => nulls = true,
                        }
                    }
                    if nulls {
                        spec.passed_null.set(true);
                    }
                }
                Arg::Slot(slot) => {
                    let column = columns.column(*slot);
                    let counts = matches!(spec.func, AggFunc::Count | AggFunc::CountBig);
                    let mut nulls = false;
                    for (row, state) in places {
                        match counts && !spec.distinct {
                            true => {
                                let null = column.is_null(row);
                                nulls |= null;
                                states[state].add_rows(i64::from(!null));
                            }
                            false => states[state].add(spec, &column.value(row))?,
                        }
                    }
                    if nulls {
                        spec.passed_null.set(true);
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::tests::NoSession;
    use crate::columns::Kind;
    use crate::dice::Dice;
    use ir::{ArithOp, CompareOp, ExprKind};
    use runtime::task::Many;
    use std::collections::BTreeMap;
    use types::collation::Rule;
    use types::{Decimal, Len, RowColumn, SqlType};

    fn types() -> [SqlType; 8] {
        [
            SqlType::Int,
            SqlType::BigInt,
            SqlType::Date,
            SqlType::decimal(15, 2),
            SqlType::decimal(30, 2),
            SqlType::Char(3),
            SqlType::VarChar(Len::N(20)),
            SqlType::Float,
        ]
    }

    fn value(ty: SqlType, dice: &mut Dice) -> Value {
        const TEXTS: [&str; 6] = ["a", "A", "b  ", "\u{e9}", "", "a longer one"];
        let number = |p, s, dice: &mut Dice| {
            let huge = dice.roll(20) == 0;
            let units = if huge { 10i128.pow(p) - 1 } else { dice.roll(500) as i128 - 250 };
            Value::Decimal(Decimal::new(units, p as u8, s).unwrap())
        };
        match ty {
            _ if dice.roll(8) == 0 => Value::Null,
            SqlType::Int => Value::Int([0, 1, -7, i32::MAX][dice.roll(4) as usize]),
            SqlType::BigInt => Value::BigInt([3, -3, i64::MAX][dice.roll(3) as usize]),
            SqlType::Date => Value::Date(dice.roll(3) as i32),
            SqlType::Decimal { precision: 15, .. } => number(15, 2, dice),
            SqlType::Decimal { .. } => number(30, 2, dice),
            SqlType::Float => Value::Float(dice.roll(3) as f64 / 2.0),
            _ => Value::str(TEXTS[dice.roll(6) as usize]),
        }
    }

    fn slot(i: u64) -> Expr {
        Expr::new(ExprKind::Slot(i as u32), types()[i as usize], true)
    }

    fn agg(dice: &mut Dice) -> Agg {
        let agg = |func, arg: Option<Expr>, ty, distinct| Agg {
            func,
            distinct,
            arg,
            joining: None,
            warns: true,
            ty,
        };
        let any = |dice: &mut Dice| slot(dice.roll(8));
        match dice.roll(9) {
            6 | 7 => {
                let (func, ty) = match dice.roll(3) {
                    0 => (AggFunc::Sum, SqlType::BigInt),
                    1 => (AggFunc::Count, SqlType::Int),
                    _ => (AggFunc::Avg, SqlType::BigInt),
                };
                agg(func, Some(case(SqlType::BigInt, dice)), ty, false)
            }
            8 => {
                let arg = case(SqlType::decimal(15, 2), dice);
                agg(AggFunc::Sum, Some(arg), SqlType::decimal(38, 2), false)
            }
            0 => agg(AggFunc::Count, None, SqlType::Int, false),
            1 => agg(AggFunc::Count, Some(any(dice)), SqlType::Int, dice.roll(2) == 0),
            2 => {
                let arg = any(dice);
                let (func, ty) =
                    (if dice.roll(2) == 0 { AggFunc::Min } else { AggFunc::Max }, arg.ty);
                agg(func, Some(arg), ty, false)
            }
            3 => agg(AggFunc::Sum, Some(slot(dice.roll(2))), SqlType::BigInt, dice.roll(3) == 0),
            4 => agg(AggFunc::Avg, Some(slot(4)), SqlType::decimal(38, 6), false),
            _ => {
                let ty = SqlType::decimal(31, 4);
                let (left, right) = (Box::new(slot(3)), Box::new(slot(3)));
                let arg = Expr::new(ExprKind::Arith { op: ArithOp::Mul, left, right }, ty, true);
                agg(AggFunc::Sum, Some(arg), SqlType::decimal(38, 4), false)
            }
        }
    }

    fn boxed(e: Expr) -> Box<Expr> {
        Box::new(e)
    }

    fn case(ty: SqlType, dice: &mut Dice) -> Expr {
        let value = |dice: &mut Dice| match (dice.roll(4), ty) {
            (0, _) => Expr::constant(Value::Null, ty),
            (1, SqlType::BigInt) => Expr::constant(Value::BigInt(5), ty),
            (_, SqlType::BigInt) => slot(1),
            _ => slot(3),
        };
        let branches = (0..1 + dice.roll(2)).map(|_| (condition(2, dice), value(dice))).collect();
        let otherwise = (dice.roll(3) > 0).then(|| boxed(value(dice)));
        Expr::new(ExprKind::Case { branches, otherwise }, ty, true)
    }

    /// A condition over the slots, of so many levels at most.
    fn condition(levels: u32, dice: &mut Dice) -> Expr {
        let bit = |kind| Expr::new(kind, SqlType::Bit, true);
        let text = |text: &str| Expr::constant(Value::str(text), SqlType::VarChar(Len::N(12)));
        let number = |n, p, s| {
            let value = Value::Decimal(Decimal::new(n, p, s).unwrap());
            Expr::constant(value, SqlType::decimal(p, s))
        };
        if levels > 0 && dice.roll(3) > 0 {
            let (a, b) = (condition(levels - 1, dice), condition(levels - 1, dice));
            return match dice.roll(3) {
                0 => Expr::and(a, b),
                1 => Expr::or(a, b),
                _ => Expr::negate(a),
            };
        }
        let op =
            [CompareOp::Eq, CompareOp::Ne, CompareOp::Lt, CompareOp::Ge][dice.roll(4) as usize];
        let negated = dice.roll(2) == 0;
        match dice.roll(8) {
            0 => Expr::compare(op, slot(0), Expr::int([0, 1, i32::MAX][dice.roll(3) as usize])),
            1 => Expr::compare(op, slot(3), number(-1_234, 9, 3)),
            2 => Expr::compare(op, slot(3), slot(4)),
            3 => Expr::compare(op, slot(2), Expr::constant(Value::Date(1), SqlType::Date)),
            4 => Expr::compare(
                if negated { CompareOp::Eq } else { CompareOp::Ne },
                slot(5 + dice.roll(2)),
                text(["a", "b", "\u{e9}", ""][dice.roll(4) as usize]),
            ),
            5 => {
                let mut list: Many<Expr> = [text("A LONGER ONE"), text("b ")].into_iter().collect();
                if dice.roll(3) == 0 {
                    list.push(Expr::constant(Value::Null, SqlType::VarChar(Len::N(12))));
                }
                bit(ExprKind::In { input: boxed(slot(6)), list, negated })
            }
            6 => {
                let mut list: Many<Expr> = [Expr::int(1), Expr::int(-7)].into_iter().collect();
                if dice.roll(3) == 0 {
                    list.push(Expr::constant(Value::Null, SqlType::Int));
                }
                bit(ExprKind::In { input: boxed(slot(0)), list, negated })
            }
            _ => Expr::is_null(slot(dice.roll(8)), negated),
        }
    }

    type Answer = Result<BTreeMap<Vec<u8>, Vec<Result<Value, i32>>>, i32>;

    fn answer(grouping: &Grouping<'_>, groups: BTreeMap<Vec<u8>, Vec<Accumulator>>) -> Answer {
        let values = |(key, states): (Vec<u8>, Vec<Accumulator>)| {
            let all = states.iter().zip(&grouping.specs);
            (key, all.map(|(state, spec)| state.value(spec).map_err(|e| e.number)).collect())
        };
        Ok(groups.into_iter().map(values).collect())
    }

    /// Row by row, which is the oracle.
    fn by_row(grouping: &Grouping<'_>, rows: &[Vec<Value>], cx: &mut Cx<'_>) -> Answer {
        let mut groups: BTreeMap<Vec<u8>, Vec<Accumulator>> = BTreeMap::new();
        let mut key = Vec::new();
        for row in rows {
            grouping.key(row, &mut key, cx).map_err(|e| e.number)?;
            let states = groups.entry(key.clone()).or_insert_with(|| grouping.fresh().collect());
            grouping.add(states, row, cx).map_err(|e| e.number)?;
        }
        answer(grouping, groups)
    }

    fn by_column(grouping: &Grouping<'_>, rows: &[Vec<Value>], cx: &mut Cx<'_>) -> Option<Answer> {
        let mut by_column = ByColumn::new(grouping.group, grouping.aggs)?;
        let (mut columns, mut states, mut keys) = (Columns::default(), Vec::new(), Vec::new());
        let column = |i: usize| RowColumn { ty: types()[i], nullable: true, rule: Rule::CiAs };
        for rows in rows.chunks(7) {
            columns.start(types().len(), |i| Kind::Stored(column(i)));
            for row in rows {
                for (column, value) in columns.add_row().iter_mut().zip(row) {
                    column.push_value(value.clone());
                }
            }
            by_column.load(&grouping.encoder, &columns);
            let mut groups = Vec::new();
            for row in 0..rows.len() {
                let key = by_column.key(row).to_vec();
                let known = keys.iter().position(|k| *k == key);
                groups.push(known.unwrap_or_else(|| {
                    states.extend(grouping.fresh());
                    keys.push(key);
                    keys.len() - 1
                }) as u32);
            }
            if let Err(e) = by_column.add(grouping, &columns, &groups, &mut states, cx) {
                return Some(Err(e.number));
            }
        }
        let width = grouping.aggs.len();
        let own = |(i, key)| (key, states[i * width..][..width].to_vec());
        Some(answer(grouping, keys.into_iter().enumerate().map(own).collect()))
    }

    #[test]
    fn by_column_is_as_row_by_row() {
        let cancel = std::sync::atomic::AtomicBool::new(false);
        let mut session = NoSession::default();
        let mut cx = Cx::new(&mut [], &mut session, None, &cancel);
        let mut dice = Dice(7);
        let (mut compared, mut errors) = (0, 0);
        for _ in 0..3_000 {
            let group: Vec<Expr> = (0..dice.roll(3)).map(|_| slot(dice.roll(8))).collect();
            let aggs: Vec<Agg> = (0..1 + dice.roll(3)).map(|_| agg(&mut dice)).collect();
            let grouping = Grouping::new(&group, &aggs);
            let row = |dice: &mut Dice| types().into_iter().map(|ty| value(ty, dice)).collect();
            let rows: Vec<Vec<Value>> = (0..dice.roll(40)).map(|_| row(&mut dice)).collect();
            let expected = by_row(&grouping, &rows, &mut cx);
            let Some(found) = by_column(&grouping, &rows, &mut cx) else { continue };
            assert_eq!(found, expected, "{group:?} {aggs:?} of {rows:?}");
            compared += 1;
            let fails = |e: &BTreeMap<Vec<u8>, Vec<Result<Value, i32>>>| {
                e.values().flatten().any(Result::is_err)
            };
            errors += usize::from(expected.map_or(true, |e| fails(&e)));
        }
        assert!(compared > 2_000, "{compared} by column");
        assert!(errors > 10, "{errors} of them fail");
    }
}
