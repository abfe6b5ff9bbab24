//! A scan's predicate asked of rows as they are stored, so that what does not qualify is never decoded.
//!
//! ```text
//! predicate = test AND test AND ... AND rest
//!             over stored bytes      over values, by the evaluator
//! ```
//!
//! Promise: a row passes exactly when every test is true of it, as [`crate::eval::test`] would say (UNKNOWN does not
//! pass); tests cannot fail. What is compared with is evaluated once, when the scan begins; where that fails, or where
//! there is no test for it, a conjunct is among the rest.
//!
//! Numbers, dates and times are compared as integers in units of the column's own scale; texts byte by byte as long as
//! they are ASCII, decoded where they are not.
//!
//! Rows of a leaf are asked test by test (`retain.rs`): what one lets pass is asked the next. Which comes first is learned
//! while they are asked: the one that leaves out the most for what it costs.

mod retain;

use super::raw_layout::RawLayout;
use super::texts::Texts;
use crate::cx::Cx;
use crate::eval::{eval, order, satisfies};
use engine::Spot;
use ir::{CastMode, CompareOp, Expr, ExprKind, FuncId};
use types::collation::Rule;
use types::{DateTime, Pattern, RowLayout, SqlType, Value};

/// Lists of more values are left to the evaluator.
const LIST_MAX: usize = 1024;

/// See the file's first lines.
pub(super) struct RawFilter<'p> {
    layout: RawLayout<'p>,
    tests: Vec<Asked>,
    /// Leaves whose rows were asked, and after how many the tests are ordered again.
    leaves: u64,
    ordered_at: u64,
    rest: Vec<&'p Expr>,
}

/// A test, how many rows it was asked of, and how many of them passed.
struct Asked {
    test: Test,
    met: u64,
    passed: u64,
}

/// Leaves after which tests are ordered for the first time by what they were seen to do.
const LEAVES_MIN: u64 = 4;

enum Test {
    /// Nothing passes, or everything that is not NULL.
    Known(Column, bool),
    /// Among these, or among the others.
    Number {
        column: Number,
        within: Within,
        negated: bool,
    },
    /// Sorted.
    NumberIn {
        column: Number,
        list: Vec<i64>,
        negated: bool,
    },
    Numbers {
        left: Number,
        op: CompareOp,
        right: Number,
    },
    IsNull(Column, bool),
    /// Equal to one of these, or to none.
    Text {
        column: Column,
        part: Part,
        texts: Texts,
        negated: bool,
    },
    Like {
        column: Column,
        pattern: Pattern,
        negated: bool,
    },
    /// All tests of one of the branches.
    Any(Vec<Vec<Test>>),
}

/// Integers from one to another, both included; at least one.
#[derive(Clone, Copy)]
struct Within {
    least: i64,
    most: i64,
}

/// A column of a stored row.
#[derive(Clone, Copy, PartialEq)]
struct Column {
    place: usize,
    nullable: bool,
}

/// The characters of a text that are looked at.
#[derive(Clone, Copy)]
struct Part {
    skip: usize,
    count: usize,
}

/// One whose values are ordered as integers.
#[derive(Clone, Copy)]
struct Number {
    column: Column,
    offset: usize,
    form: Form,
    unit: Unit,
    /// Of rows that were written before the column was added.
    absent: Option<i64>,
}

/// How it is stored.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    U8,
    I16,
    I32,
    I64,
    Time,
    DateTime,
    SmallDateTime,
    DateTime2,
}

/// What its integers count.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    /// Parts of 10 to this power.
    Exact(u8),
    Day,
    Time,
    DateTime,
    DateTime2,
}

impl<'p> RawFilter<'p> {
    /// Of a predicate over slots that lie in these columns of a stored row.
    pub fn new(
        predicate: &'p Expr,
        layout: RawLayout<'p>,
        places: &[usize],
        cx: &mut Cx<'_>,
    ) -> RawFilter<'p> {
        let (mut tests, mut rest) = (Vec::new(), Vec::new());
        let mut maker = Maker { layout, places, cx };
        for e in conjuncts(predicate) {
            match maker.test(e) {
                Some(test) => tests.push(test),
                None => rest.push(e),
            }
        }
        meet(&mut tests);
        // All of them must hold and none fails: the cheap ones say first what does not qualify.
        tests.sort_by_key(Test::cost);
        let tests = tests.into_iter().map(|test| Asked { test, met: 0, passed: 0 }).collect();
        RawFilter { layout, tests, leaves: 0, ordered_at: LEAVES_MIN, rest }
    }

    /// What must be asked of the values besides.
    pub fn rest(&self) -> &[&'p Expr] {
        &self.rest
    }

    /// Leaves those of the rows that lie in `bytes` for which the tests hold; `whole`: they have all columns.
    pub fn retain(&mut self, bytes: &[u8], rows: &mut Vec<Spot>, whole: bool) {
        self.leaves += 1;
        if self.leaves == self.ordered_at {
            self.ordered_at *= 2;
            self.tests.sort_by(|a, b| a.rank().total_cmp(&b.rank()));
        }
        for Asked { test, met, passed } in &mut self.tests {
            *met += rows.len() as u64;
            test.retain(&self.layout, bytes, rows, whole);
            *passed += rows.len() as u64;
            if rows.is_empty() {
                return;
            }
        }
    }

    /// Whether the tests hold for a stored row.
    #[inline]
    pub fn passes(&self, row: &[u8]) -> bool {
        let columns = RowLayout::row_columns(row);
        self.tests.iter().all(|asked| asked.test.holds(&self.layout, row, columns))
    }
}

impl Asked {
    /// What leaving a row out by it costs; of one that was hardly asked, as if half of the rows passed.
    fn rank(&self) -> f64 {
        self.test.cost() as f64 * (self.met + 2) as f64 / (self.met - self.passed + 1) as f64
    }
}

/// A predicate split at its ANDs.
fn conjuncts(predicate: &Expr) -> Vec<&Expr> {
    let (mut open, mut all) = (vec![predicate], Vec::new());
    while let Some(e) = open.pop() {
        match &e.kind {
            ExprKind::And(left, right) => open.extend([&**right, &**left]),
            _ => all.push(e),
        }
    }
    all
}

/// A predicate split at its ORs.
fn branches(predicate: &Expr) -> Vec<&Expr> {
    let (mut open, mut all) = (vec![predicate], Vec::new());
    while let Some(e) = open.pop() {
        match &e.kind {
            ExprKind::Or(left, right) => open.extend([&**right, &**left]),
            _ => all.push(e),
        }
    }
    all
}

struct Maker<'m, 'p, 'c> {
    layout: RawLayout<'p>,
    places: &'m [usize],
    cx: &'m mut Cx<'c>,
}

impl Maker<'_, '_, '_> {
    fn test(&mut self, e: &Expr) -> Option<Test> {
        match &e.kind {
            ExprKind::Compare { op, left, right } => self
                .compared(*op, left, right)
                .or_else(|| self.compared(op.flip(), right, left))
                .or_else(|| self.numbers(*op, left, right)),
            ExprKind::In { input, list, negated } if list.len() <= LIST_MAX => {
                self.listed(input, list, *negated)
            }
            ExprKind::IsNull { input, negated } => {
                let ExprKind::Slot(slot) = input.kind else { return None };
                let (column, _) = self.column(slot);
                // A column that a row lacks has the value of its default.
                let whole = self.layout.absent(column.place).is_null();
                (column.nullable && whole).then_some(Test::IsNull(column, *negated))
            }
            ExprKind::Like { input, pattern, escape, negated } => {
                let ExprKind::Slot(slot) = input.kind else { return None };
                let (column, rule) = self.text(slot)?;
                let exact = pattern.ty.is_unicode();
                let escape = match escape {
                    Some(e) => Some(self.value(e)?),
                    None => None,
                };
                let pattern = self.value(pattern)?;
                if escape.as_ref().is_some_and(Value::is_null) {
                    return None;
                }
                let rule = rule.meet(pattern.rule());
                let escape = escape.as_ref().and_then(Value::as_str);
                let pattern = Pattern::under(rule, pattern.as_str()?, escape).ok()?.exactly(exact);
                Some(Test::Like { column, pattern, negated: *negated })
            }
            ExprKind::Or(..) => {
                let mut all = Vec::new();
                for branch in branches(e) {
                    let mut tests = Vec::new();
                    for e in conjuncts(branch) {
                        tests.push(self.test(e)?);
                    }
                    meet(&mut tests);
                    tests.sort_by_key(Test::cost);
                    all.push(tests);
                }
                Some(Test::Any(all))
            }
            _ => None,
        }
    }

    /// The value of an expression that no row has a part in; None also where it fails.
    fn value(&mut self, e: &Expr) -> Option<Value> {
        let of_row = e.any(&mut |e| match &e.kind {
            ExprKind::Slot(_)
            | ExprKind::SubPlan { .. }
            | ExprKind::Total
            | ExprKind::Steps(_)
            | ExprKind::NextIdentity => true,
            ExprKind::Func { func, .. } => func.is_per_row() || !func.is_parallel_safe(),
            _ => false,
        });
        if of_row { None } else { eval(e, &[], self.cx).ok() }
    }

    fn column(&self, slot: u32) -> (Column, SqlType) {
        let place = self.places[slot as usize];
        let column = &self.layout.layout().columns()[place];
        (Column { place, nullable: column.nullable }, column.ty)
    }

    /// A column of text in one byte a character.
    fn text(&self, slot: u32) -> Option<(Column, Rule)> {
        let (column, ty) = self.column(slot);
        let rule = self.layout.layout().columns()[column.place].rule;
        matches!(ty, SqlType::Char(_) | SqlType::VarChar(_)).then_some((column, rule))
    }

    fn number(&self, e: &Expr) -> Option<Number> {
        let slot = match &e.kind {
            ExprKind::Slot(slot) => *slot,
            // In a type that has room for all of its values.
            ExprKind::Cast { input, mode: CastMode::Implicit, style: None } => {
                let ExprKind::Slot(slot) = input.kind else { return None };
                let ((p, s), (wide, scale)) = (digits(input.ty)?, digits(e.ty)?);
                if scale < s || wide - scale < p - s {
                    return None;
                }
                slot
            }
            _ => return None,
        };
        let (column, ty) = self.column(slot);
        let (form, unit) = form(ty)?;
        let offset = self.layout.layout().fixed_offset(column.place)?;
        let absent = self.layout.absent(column.place);
        let absent = match absent.is_null() {
            true => None,
            false => Some(exactly(&absent, unit)?),
        };
        Some(Number { column, offset, form, unit, absent })
    }

    fn compared(&mut self, op: CompareOp, this: &Expr, other: &Expr) -> Option<Test> {
        if let Some(column) = self.number(this) {
            let value = self.value(other)?;
            return Some(match value.is_null() {
                true => Test::Known(column.column, false),
                false => of_bound(column, op, &value)?,
            });
        }
        if !matches!(op, CompareOp::Eq | CompareOp::Ne) {
            return None;
        }
        let (column, ..) = self.part_of_text(this)?;
        let value = self.value(other)?;
        match value.is_null() {
            true => Some(Test::Known(column, false)),
            false => self.texts(this, vec![value], op == CompareOp::Ne),
        }
    }

    fn numbers(&mut self, op: CompareOp, left: &Expr, right: &Expr) -> Option<Test> {
        let (left, right) = (self.number(left)?, self.number(right)?);
        (left.unit == right.unit).then_some(Test::Numbers { left, op, right })
    }

    fn listed(&mut self, input: &Expr, list: &[Expr], negated: bool) -> Option<Test> {
        let mut values = Vec::with_capacity(list.len());
        for e in list {
            let value = self.value(e)?;
            // UNKNOWN instead of "in none of them".
            if value.is_null() {
                return None;
            }
            values.push(value);
        }
        if let Some(column) = self.number(input) {
            let mut list = Vec::with_capacity(values.len());
            for value in &values {
                if let (n, true) = place(value, column.unit)? {
                    list.push(n);
                }
            }
            list.sort_unstable();
            return Some(Test::NumberIn { column, list, negated });
        }
        self.texts(input, values, negated)
    }

    /// A column of text, or SUBSTRING or LEFT of one with lengths that no row has a part in.
    fn part_of_text(&mut self, e: &Expr) -> Option<(Column, Rule, Part)> {
        let (func, args) = match &e.kind {
            ExprKind::Slot(slot) => {
                let (column, rule) = self.text(*slot)?;
                return Some((column, rule, Part { skip: 0, count: usize::MAX }));
            }
            ExprKind::Func { func, args } => (func, args),
            _ => return None,
        };
        let ExprKind::Slot(slot) = args.first()?.kind else { return None };
        let (column, _) = self.text(slot)?;
        let mut length = |at: usize| self.value(args.get(at)?)?.as_i64();
        // Lengths that the functions refuse are left to them.
        let (from, count) = match func {
            FuncId::Left => (1, length(1)?),
            FuncId::Substring => (length(1)?, length(2)?),
            _ => return None,
        };
        let part =
            Part { skip: usize::try_from(from - 1).ok()?, count: usize::try_from(count).ok()? };
        // What they make goes by the usual rule, until COLLATE says otherwise.
        Some((column, Rule::CiAs, part))
    }

    fn texts(&mut self, this: &Expr, values: Vec<Value>, negated: bool) -> Option<Test> {
        let (column, rule, part) = self.part_of_text(this)?;
        let mut texts: Option<(bool, Texts)> = None;
        for value in &values {
            let case = match rule.meet(value.rule()) {
                Rule::CiAs => true,
                Rule::Bin | Rule::CsAs => false,
                _ => return None,
            };
            let text = value.as_str()?;
            let (any_case, texts) = texts.get_or_insert_with(|| (case, Texts::new(case)));
            if !text.is_ascii() || *any_case != case {
                return None;
            }
            texts.push(text, value);
        }
        let (_, texts) = texts?;
        Some(Test::Text { column, part, texts, negated })
    }
}

/// Digits of an exact number, and those behind the point.
fn digits(ty: SqlType) -> Option<(u8, u8)> {
    match ty {
        SqlType::Decimal { .. } => ty.as_decimal(),
        _ if ty.is_integer() && ty != SqlType::Bit => ty.as_decimal(),
        _ => None,
    }
}

fn form(ty: SqlType) -> Option<(Form, Unit)> {
    Some(match ty {
        SqlType::Bit | SqlType::TinyInt => (Form::U8, Unit::Exact(0)),
        SqlType::SmallInt => (Form::I16, Unit::Exact(0)),
        SqlType::Int => (Form::I32, Unit::Exact(0)),
        SqlType::BigInt => (Form::I64, Unit::Exact(0)),
        SqlType::SmallMoney => (Form::I32, Unit::Exact(4)),
        SqlType::Money => (Form::I64, Unit::Exact(4)),
        SqlType::Decimal { precision: 0..=9, scale, .. } => (Form::I32, Unit::Exact(scale)),
        SqlType::Decimal { precision: 10..=18, scale, .. } => (Form::I64, Unit::Exact(scale)),
        SqlType::Date => (Form::I32, Unit::Day),
        SqlType::Time(_) => (Form::Time, Unit::Time),
        SqlType::DateTime => (Form::DateTime, Unit::DateTime),
        SqlType::SmallDateTime => (Form::SmallDateTime, Unit::DateTime),
        SqlType::DateTime2(_) => (Form::DateTime2, Unit::DateTime2),
        _ => return None,
    })
}

/// A value in a column's unit: the greatest integer that is not above it, and whether it is that.
fn place(value: &Value, unit: Unit) -> Option<(i64, bool)> {
    match (unit, value) {
        (Unit::Exact(scale), _) => {
            let (units, of) = match value {
                Value::Decimal(d) => (d.units(), d.scale()),
                Value::Money(m) => (i128::from(*m), 4),
                _ => (i128::from(value.as_i64()?), 0),
            };
            let (n, exact) = match of <= scale {
                true => (units.checked_mul(10i128.pow(u32::from(scale - of)))?, true),
                false => {
                    let by = 10i128.pow(u32::from(of - scale));
                    (units.div_euclid(by), units.rem_euclid(by) == 0)
                }
            };
            Some((i64::try_from(n).ok()?, exact))
        }
        (Unit::Day, Value::Date(days)) => Some((i64::from(*days), true)),
        (Unit::Time, Value::Time(ticks)) => Some((*ticks as i64, true)),
        (Unit::DateTime, Value::DateTime(at)) => Some((of_datetime(*at), true)),
        (Unit::DateTime2, Value::DateTime2(at)) => {
            Some((i64::from(at.days) << 40 | at.ticks as i64, true))
        }
        _ => None,
    }
}

fn exactly(value: &Value, unit: Unit) -> Option<i64> {
    place(value, unit).filter(|(_, exact)| *exact).map(|(n, _)| n)
}

fn of_datetime(at: DateTime) -> i64 {
    i64::from(at.days) << 32 | i64::from(at.ticks)
}

/// Makes one test of those that say between which two numbers a column lies.
fn meet(tests: &mut Vec<Test>) {
    let mut all: Vec<Test> = Vec::with_capacity(tests.len());
    for test in tests.drain(..) {
        if let Test::Number { column, within, negated: false } = test {
            let same = all.iter_mut().find(|other| {
                matches!(other, Test::Number { column: c, negated: false, .. } if c.column == column.column)
            });
            if let Some(other) = same {
                if let Test::Number { within: known, .. } = other {
                    *other = match known.meet(within) {
                        Some(within) => Test::Number { column, within, negated: false },
                        None => Test::Known(column.column, false),
                    };
                }
                continue;
            }
        }
        all.push(test);
    }
    *tests = all;
}

impl Within {
    /// Those that a comparison with `bound` is true of; none where it is of no number.
    fn of(op: CompareOp, bound: i64) -> Option<Within> {
        Some(match op {
            CompareOp::Eq | CompareOp::Ne => Within { least: bound, most: bound },
            CompareOp::Lt => Within { least: i64::MIN, most: bound.checked_sub(1)? },
            CompareOp::Le => Within { least: i64::MIN, most: bound },
            CompareOp::Gt => Within { least: bound.checked_add(1)?, most: i64::MAX },
            CompareOp::Ge => Within { least: bound, most: i64::MAX },
        })
    }

    fn meet(self, other: Within) -> Option<Within> {
        let (least, most) = (self.least.max(other.least), self.most.min(other.most));
        (least <= most).then_some(Within { least, most })
    }

    /// Without a branch: the distance from the least one, as a number without sign.
    #[inline]
    fn has(self, n: i64) -> bool {
        n.wrapping_sub(self.least) as u64 <= self.most.wrapping_sub(self.least) as u64
    }
}

/// A comparison with a value that may lie between two of the column's.
fn of_bound(column: Number, op: CompareOp, value: &Value) -> Option<Test> {
    let (bound, exact) = place(value, column.unit)?;
    let op = match (exact, op) {
        (true, op) => op,
        (false, CompareOp::Eq) => return Some(Test::Known(column.column, false)),
        (false, CompareOp::Ne) => return Some(Test::Known(column.column, true)),
        (false, CompareOp::Lt | CompareOp::Le) => CompareOp::Le,
        (false, CompareOp::Gt | CompareOp::Ge) => CompareOp::Gt,
    };
    Some(match Within::of(op, bound) {
        Some(within) => Test::Number { column, within, negated: op == CompareOp::Ne },
        None => Test::Known(column.column, false),
    })
}

impl Part {
    /// Of a text of one byte a character.
    #[inline]
    fn of_cell(self, cell: &[u8]) -> &[u8] {
        let rest = &cell[self.skip.min(cell.len())..];
        &rest[..self.count.min(rest.len())]
    }

    fn of_value(self, value: Value) -> Value {
        if self.count == usize::MAX {
            return value;
        }
        match value.as_str() {
            Some(text) => {
                let part: String = text.chars().skip(self.skip).take(self.count).collect();
                Value::str(&part)
            }
            None => value,
        }
    }
}

impl Column {
    /// The row has the column, and no value in it.
    #[inline]
    fn is_null(self, layout: &RawLayout<'_>, row: &[u8]) -> bool {
        self.nullable && layout.layout().is_null(row, self.place)
    }
}

impl Number {
    #[inline]
    fn read(&self, layout: &RawLayout<'_>, row: &[u8], columns: usize) -> Option<i64> {
        if self.column.place >= columns {
            return self.absent;
        }
        if self.column.is_null(layout, row) {
            return None;
        }
        Some(self.of_cell(&row[self.offset..]))
    }

    /// The number at the front of some bytes.
    #[inline]
    fn of_cell(&self, cell: &[u8]) -> i64 {
        match self.form {
            Form::U8 => i64::from(cell[0]),
            Form::I16 => i64::from(i16::from_le_bytes([cell[0], cell[1]])),
            Form::I32 => i64::from(word(cell) as i32),
            Form::I64 => uint(&cell[..8]) as i64,
            Form::Time => uint(&cell[..5]) as i64,
            Form::DateTime => i64::from(word(cell) as i32) << 32 | i64::from(word(&cell[4..])),
            Form::SmallDateTime => {
                let half = |at: usize| u16::from_le_bytes([cell[at], cell[at + 1]]);
                of_datetime(DateTime {
                    days: i32::from(half(0)),
                    ticks: u32::from(half(2)) * DateTime::TICKS_PER_MINUTE,
                })
            }
            Form::DateTime2 => (uint(&cell[5..8]) << 40 | uint(&cell[..5])) as i64,
        }
    }
}

#[inline]
fn word(cell: &[u8]) -> u32 {
    u32::from_le_bytes([cell[0], cell[1], cell[2], cell[3]])
}

#[inline]
fn uint(cell: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..cell.len()].copy_from_slice(cell);
    u64::from_le_bytes(bytes)
}

impl Test {
    /// What asking takes, beside others.
    fn cost(&self) -> usize {
        match self {
            Test::Known(..) => 0,
            Test::Number { .. } | Test::Numbers { .. } | Test::IsNull(..) => 1,
            Test::NumberIn { .. } => 2,
            // Which of two says more is not known yet: they stay in the order in which they were written.
            Test::Text { .. } => 4,
            Test::Like { .. } => 30,
            // Which branch holds is hard to foresee, for the processor too.
            Test::Any(branches) => 2 + 2 * branches.iter().flatten().map(Test::cost).sum::<usize>(),
        }
    }

    fn holds(&self, layout: &RawLayout<'_>, row: &[u8], columns: usize) -> bool {
        match self {
            Test::Known(column, truth) => {
                *truth
                    && match column.place < columns {
                        true => !column.is_null(layout, row),
                        false => !layout.absent(column.place).is_null(),
                    }
            }
            Test::Number { column, within, negated } => {
                column.read(layout, row, columns).is_some_and(|n| within.has(n) != *negated)
            }
            Test::NumberIn { column, list, negated } => column
                .read(layout, row, columns)
                .is_some_and(|n| list.binary_search(&n).is_ok() != *negated),
            Test::Numbers { left, op, right } => {
                let (left, right) =
                    (left.read(layout, row, columns), right.read(layout, row, columns));
                left.zip(right).is_some_and(|(a, b)| satisfies(*op, a.cmp(&b)))
            }
            Test::IsNull(column, negated) => {
                let null = column.place >= columns || layout.layout().is_null(row, column.place);
                null != *negated
            }
            Test::Text { column, part, texts, negated } => {
                let Some(cell) = text(layout, row, columns, *column) else {
                    let value = part.of_value(layout.value(row, column.place));
                    let equal = |other: &Value| order(&value, other).map(|o| o.is_eq());
                    return !value.is_null()
                        && texts.values().any(|other| equal(other) == Some(true)) != *negated;
                };
                cell.is_some_and(|cell| texts.has(part.of_cell(cell)) != *negated)
            }
            Test::Like { column, pattern, negated } => {
                let Some(cell) = text(layout, row, columns, *column) else {
                    let value = layout.value(row, column.place);
                    return value.as_str().is_some_and(|text| pattern.matches(text) != *negated);
                };
                let text = cell.and_then(|cell| std::str::from_utf8(cell).ok());
                text.is_some_and(|text| pattern.matches(text) != *negated)
            }
            Test::Any(branches) => branches
                .iter()
                .any(|tests| tests.iter().all(|test| test.holds(layout, row, columns))),
        }
    }
}

/// The bytes of a text where they are ASCII; inside None where it is NULL, None where it must be decoded.
#[inline]
fn text<'r>(
    layout: &RawLayout<'_>,
    row: &'r [u8],
    columns: usize,
    column: Column,
) -> Option<Option<&'r [u8]>> {
    if column.place >= columns {
        return None;
    }
    if column.is_null(layout, row) {
        return Some(None);
    }
    let cell = layout.layout().raw(row, column.place);
    cell.is_ascii().then_some(Some(cell))
}
