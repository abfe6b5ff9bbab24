//! Expressions and conditions over the columns in reach.

use super::random::Random;
use super::schema::{Kind, Schema, value};

/// A column that an expression may name.
#[derive(Clone, Debug)]
pub struct Reach {
    pub name: String,
    pub kind: Kind,
}

/// Writes expressions.
pub struct Writer<'a> {
    pub schema: &'a Schema,
    pub random: &'a mut Random,
    pub columns: Vec<Reach>,
}

impl Writer<'_> {
    fn column(&mut self, kind: Kind) -> Option<String> {
        let fitting: Vec<&Reach> = self.columns.iter().filter(|c| c.kind == kind).collect();
        if fitting.is_empty() {
            return None;
        }
        Some(fitting[self.random.below(fitting.len())].name.clone())
    }

    fn leaf(&mut self, kind: Kind) -> String {
        if self.random.chance(75)
            && let Some(column) = self.column(kind)
        {
            return column;
        }
        match kind {
            Kind::Date => format!("CAST({} AS date)", value(kind, self.random)),
            _ if self.random.chance(4) => match kind {
                Kind::Int => "CAST(NULL AS int)".into(),
                Kind::Text => "CAST(NULL AS varchar(5))".into(),
                Kind::Decimal => "CAST(NULL AS decimal(5, 2))".into(),
                _ => "CAST(NULL AS float)".into(),
            },
            _ => value(kind, self.random),
        }
    }

    /// A value of this kind.
    pub fn value(&mut self, kind: Kind, depth: usize) -> String {
        if depth == 0 || self.random.chance(35) {
            return self.leaf(kind);
        }
        let d = depth - 1;
        match self.random.below(10) {
            0 => {
                let condition = self.condition(d);
                let (a, b) = (self.value(kind, d), self.value(kind, d));
                return match self.random.below(3) {
                    0 => format!("CASE WHEN {condition} THEN {a} ELSE {b} END"),
                    1 => format!("CASE WHEN {condition} THEN {a} END"),
                    _ => format!("IIF({condition}, {a}, {b})"),
                };
            }
            1 => return format!("COALESCE({}, {})", self.value(kind, d), self.value(kind, d)),
            2 => return format!("NULLIF({}, {})", self.value(kind, d), self.value(kind, d)),
            3 => return format!("ISNULL({}, {})", self.value(kind, d), self.value(kind, d)),
            4 if self.random.chance(40) => return self.scalar_subquery(kind),
            _ => {}
        }
        match kind {
            Kind::Int => match self.random.below(9) {
                0 => format!("({} + {})", self.value(kind, d), self.value(kind, d)),
                1 => format!("({} - {})", self.value(kind, d), self.value(kind, d)),
                2 => format!("({} * {})", self.value(kind, d), self.value(kind, d)),
                3 => format!("({} / NULLIF({}, 0))", self.value(kind, d), self.value(kind, d)),
                4 => format!("({} % NULLIF({}, 0))", self.value(kind, d), self.value(kind, d)),
                5 => format!("ABS({})", self.value(kind, d)),
                6 => format!("LEN({})", self.value(Kind::Text, d)),
                7 => format!(
                    "DATEDIFF(day, {}, {})",
                    self.value(Kind::Date, d),
                    self.value(Kind::Date, d)
                ),
                _ => format!("(- {})", self.value(kind, d)),
            },
            Kind::Text => match self.random.below(8) {
                0 => format!("({} + {})", self.value(kind, d), self.value(kind, d)),
                1 => format!("UPPER({})", self.value(kind, d)),
                2 => format!("LOWER({})", self.value(kind, d)),
                3 => format!("LEFT({}, {})", self.value(kind, d), self.random.below(5)),
                4 => format!(
                    "SUBSTRING({}, {}, {})",
                    self.value(kind, d),
                    self.random.below(4),
                    self.random.below(4)
                ),
                5 => format!("CAST({} AS varchar(40))", self.value(Kind::Int, d)),
                6 => format!("REVERSE({})", self.value(kind, d)),
                _ => format!("RTRIM({})", self.value(kind, d)),
            },
            Kind::Decimal => match self.random.below(4) {
                0 => format!("({} + {})", self.value(kind, d), self.value(kind, d)),
                1 => format!("({} - {})", self.value(kind, d), self.value(kind, d)),
                2 => format!("CAST({} AS decimal(20, 3))", self.value(Kind::Int, d)),
                _ => format!("ROUND({}, 1)", self.value(kind, d)),
            },
            Kind::Float => match self.random.below(4) {
                0 => format!("({} + {})", self.value(kind, d), self.value(kind, d)),
                1 => format!("({} * {})", self.value(kind, d), self.value(kind, d)),
                2 => format!("CAST({} AS float)", self.value(Kind::Int, d)),
                _ => format!("FLOOR({})", self.value(kind, d)),
            },
            Kind::Date => {
                let part = *self.random.pick(&["day", "month", "year"]);
                let by = self.random.between(-9, 9);
                format!("DATEADD({part}, {by}, {})", self.value(kind, d))
            }
        }
    }

    /// `(SELECT MAX(c) FROM t)`, perhaps with a condition of its own.
    fn scalar_subquery(&mut self, kind: Kind) -> String {
        let table = self.random.pick(&self.schema.tables);
        let fitting: Vec<_> = table.columns.iter().filter(|c| c.kind == kind).collect();
        if fitting.is_empty() {
            return self.leaf(kind);
        }
        let column = &fitting[self.random.below(fitting.len())].name;
        let aggregate = if self.random.chance(50) { "MIN" } else { "MAX" };
        let limit = self.random.below(20);
        format!("(SELECT {aggregate}(s.{column}) FROM {} AS s WHERE s.id < {limit})", table.name)
    }

    /// A condition.
    pub fn condition(&mut self, depth: usize) -> String {
        let kind = *self.random.pick(super::schema::KINDS);
        let d = depth.saturating_sub(1);
        match self.random.below(if depth == 0 { 6 } else { 12 }) {
            0..=2 => {
                let op = *self.random.pick(&["=", "<>", "<", "<=", ">", ">="]);
                format!("{} {op} {}", self.value(kind, d), self.value(kind, d))
            }
            3 => {
                let not = if self.random.chance(50) { " NOT" } else { "" };
                format!("{} IS{not} NULL", self.value(kind, d))
            }
            4 => {
                let not = if self.random.chance(30) { "NOT " } else { "" };
                format!(
                    "{} {not}BETWEEN {} AND {}",
                    self.value(kind, d),
                    self.value(kind, d),
                    self.value(kind, d)
                )
            }
            5 => {
                let not = if self.random.chance(30) { "NOT " } else { "" };
                let list: Vec<String> =
                    (0..1 + self.random.below(4)).map(|_| self.leaf(kind)).collect();
                format!("{} {not}IN ({})", self.value(kind, d), list.join(", "))
            }
            6 => format!("({} AND {})", self.condition(d), self.condition(d)),
            7 => format!("({} OR {})", self.condition(d), self.condition(d)),
            8 => format!("NOT ({})", self.condition(d)),
            9 => {
                let not = if self.random.chance(30) { "NOT " } else { "" };
                let pattern =
                    *self.random.pick(&["a%", "%b", "_", "%", "[a-c]%", "%x%", "[^a]%", "A_c"]);
                format!("{} {not}LIKE '{pattern}'", self.value(Kind::Text, d))
            }
            10 => {
                let table = self.random.pick(&self.schema.tables).clone();
                let fitting: Vec<_> = table.columns.iter().filter(|c| c.kind == kind).collect();
                if fitting.is_empty() {
                    return "1 = 1".into();
                }
                let column = fitting[self.random.below(fitting.len())].name.clone();
                let not = if self.random.chance(30) { "NOT " } else { "" };
                let limit = self.random.below(20);
                format!(
                    "{} {not}IN (SELECT s.{column} FROM {} AS s WHERE s.id < {limit})",
                    self.value(kind, d),
                    table.name
                )
            }
            _ => {
                let table = self.random.pick(&self.schema.tables).name.clone();
                let outer = self.value(Kind::Int, d);
                let not = if self.random.chance(30) { "NOT " } else { "" };
                format!("{not}EXISTS (SELECT 1 FROM {table} AS s WHERE s.id = {outer})")
            }
        }
    }
}
