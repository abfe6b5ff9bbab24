//! Joins whose probing side comes by column, held against the same joins row by row.

use super::*;
use crate::calls::tests::NoSession;
use crate::columns::Kind;
use crate::dice::Dice;
use ir::{CompareOp, ExprKind};
use planner::Op;
use types::collation::Rule;
use types::{Len, RowColumn, SqlType, Value};

fn types() -> [SqlType; 4] {
    [SqlType::Int, SqlType::VarChar(Len::N(9)), SqlType::decimal(15, 2), SqlType::Date]
}

fn row(dice: &mut Dice) -> Vec<Value> {
    let null = |value: Value, dice: &mut Dice| if dice.roll(6) == 0 { Value::Null } else { value };
    let text = ["a", "A ", "b", "\u{e9}", ""][dice.roll(5) as usize];
    let number = types::Decimal::new(dice.roll(4) as i128 - 2, 15, 2).unwrap();
    let (int, date) = (dice.roll(5) as i32, dice.roll(3) as i32);
    vec![
        null(Value::Int(int), dice),
        null(Value::str(text), dice),
        null(Value::Decimal(number), dice),
        null(Value::Date(date), dice),
    ]
}

/// Rows that are given as rows or as columns, a few at a time.
struct Given {
    rows: Vec<Vec<Value>>,
    at: usize,
    by_column: bool,
    /// It has said that it comes by column.
    told: bool,
}

impl Operator for Given {
    fn next(&mut self, _: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        assert!(!self.told, "it comes by column");
        out.start(4);
        let rows = &self.rows[self.at..];
        rows.iter().take(5).for_each(|row| out.push(row));
        self.at += out.len();
        Ok(!out.is_empty())
    }

    fn has_columns(&mut self, _: &mut Cx<'_>) -> Result<bool, SqlError> {
        assert_eq!(self.at, 0, "asked before the first row");
        self.told = self.by_column;
        Ok(self.by_column)
    }

    fn next_columns(&mut self, _: &mut Cx<'_>, out: &mut Columns) -> Result<bool, SqlError> {
        assert!(self.told, "nobody has asked");
        let column = |i: usize| RowColumn { ty: types()[i], nullable: true, rule: Rule::CiAs };
        out.start(4, |i| Kind::Stored(column(i)));
        for row in self.rows[self.at..].iter().take(5) {
            let columns = out.add_row().iter_mut();
            columns.zip(row).for_each(|(column, value)| column.push_value(value.clone()));
        }
        self.at += out.len();
        Ok(out.len() > 0)
    }

    fn rewind(&mut self, _: &mut Cx<'_>) -> Result<(), SqlError> {
        self.at = 0;
        Ok(())
    }
}

fn slot(i: u64, of: u64) -> Expr {
    Expr::new(ExprKind::Slot((i + of) as u32), types()[i as usize], true)
}

#[test]
fn by_column_is_as_row_by_row() {
    let cancel = std::sync::atomic::AtomicBool::new(false);
    let mut session = NoSession::default();
    let mut cx = Cx::new(&mut [], &mut session, None, &cancel);
    let mut dice = Dice(3);
    let mut pairs = 0;
    for turn in 0..4_000 {
        let kinds =
            [PhysicalJoin::Inner, PhysicalJoin::Left, PhysicalJoin::Semi, PhysicalJoin::Anti];
        let kind = kinds[turn % 4];
        let keys: Vec<u64> = (0..1 + dice.roll(2)).map(|_| dice.roll(4)).collect();
        let side = |of: u64| keys.iter().map(|key| slot(*key, of)).collect::<Vec<_>>();
        let (left_keys, right_keys) = (side(0), side(0));
        let residual = (dice.roll(2) == 0).then(|| {
            let i = dice.roll(4);
            let (left, right) = (Box::new(slot(i, 0)), Box::new(slot(i, 4)));
            let kind = ExprKind::Compare { op: CompareOp::Ne, left, right };
            Expr::new(kind, SqlType::Bit, true)
        });
        let rows = |dice: &mut Dice| (0..dice.roll(30)).map(|_| row(dice)).collect::<Vec<_>>();
        let (left, right) = (rows(&mut dice), rows(&mut dice));
        let node = |rows| Node { op: Op::Empty, types: types().to_vec(), rows };
        // Which side is built: the smaller one by estimate, unless a look ahead shows its end first.
        let nodes = (node(1.0), node([0.5, 100.0][dice.roll(2) as usize]));
        let needed: Vec<bool> = match kind {
            PhysicalJoin::Inner | PhysicalJoin::Left => (0..8).map(|_| dice.roll(4) > 0).collect(),
            _ => (0..4).map(|_| dice.roll(4) > 0).collect(),
        };
        let mut join = |by_column: bool, as_rows: bool| {
            let given = |rows: &Vec<Vec<Value>>| -> Source<'_> {
                Box::new(Given { rows: rows.clone(), at: 0, by_column, told: false })
            };
            let (nodes, needed) = ((&nodes.0, &nodes.1), Some(&needed[..]));
            let residual = residual.as_ref();
            let mut join = HashJoin::new(
                kind,
                given(&left),
                given(&right),
                nodes,
                &left_keys,
                &right_keys,
                residual,
                needed,
            );
            let mut found: Vec<Vec<Value>> = Vec::new();
            let (mut batch, mut columns) = (Batch::new(), Columns::default());
            if !as_rows && join.has_columns(&mut cx).unwrap() {
                while join.next_columns(&mut cx, &mut columns).unwrap() {
                    for row in 0..columns.len() {
                        let mut values = Vec::new();
                        columns.push_row(row, &mut values);
                        found.push(values);
                    }
                }
                return (found, true);
            }
            while join.next(&mut cx, &mut batch).unwrap() {
                found.extend(batch.rows().map(<[Value]>::to_vec));
            }
            (found, false)
        };
        let (mut expected, _) = join(false, true);
        // What only the residual reads may be there or not.
        let own = |rows: &mut Vec<Vec<Value>>| {
            for row in rows {
                let unread = row.iter_mut().zip(&needed).filter(|(_, needed)| !**needed);
                unread.for_each(|(value, _)| *value = Value::Null);
            }
        };
        own(&mut expected);
        for as_rows in [false, true] {
            let (mut found, by_column) = join(true, as_rows);
            own(&mut found);
            assert_eq!(found, expected, "{kind:?} by {keys:?}, {residual:?}: {left:?} {right:?}");
            pairs += usize::from(by_column) * found.len();
        }
    }
    assert!(pairs > 10_000, "{pairs} rows came by column");
}
