//! A histogram: what a column's values are, in at most 200 steps, and how many rows a predicate leaves.
//!
//! A step is a value that the sample has, with the rows that have it, and what lies between it and the step before: rows,
//! and different values among them. NULLs have a step of their own, the first.
//!
//! Source: SQL Server's documentation of DBCC SHOW_STATISTICS (RANGE_HI_KEY, RANGE_ROWS, EQ_ROWS,
//! DISTINCT_RANGE_ROWS, AVG_RANGE_ROWS). How steps are chosen is ours: all values while they are few, else those that
//! are frequent, and ends of ranges with about equally many rows.

use std::cmp::Ordering;
use types::Value;
use types::compare::sort_order;
use types::datetime;

/// The most steps there may be.
pub const STEPS_MAX: usize = 200;

/// See the file's first lines. Rows are those of the whole table, also where a sample was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// RANGE_HI_KEY.
    pub high: Value,
    /// Rows between the step before and this one.
    pub range_rows: f64,
    /// Rows with this very value.
    pub equal_rows: f64,
    /// Different values between the step before and this one.
    pub distinct_range_rows: f64,
}

impl Step {
    /// AVG_RANGE_ROWS.
    pub fn average_range_rows(&self) -> f64 {
        if self.distinct_range_rows > 0.0 {
            self.range_rows / self.distinct_range_rows
        } else {
            1.0
        }
    }
}

/// The steps of a column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// By value, that of NULL first.
    pub steps: Vec<Step>,
}

/// Values of one kind in order; NULL before all others.
pub(crate) fn order(a: &Value, b: &Value) -> Ordering {
    sort_order(a, b)
}

impl Histogram {
    /// Of a sorted sample, each row of which stands for `scale` rows; where the table has `scale` times as many rows,
    /// it may have as many as `distinct_scale` times as many different values.
    pub fn of(sorted: &[Value], scale: f64, distinct_scale: f64) -> Histogram {
        let groups: Vec<(&Value, usize)> = sorted
            .chunk_by(|a, b| order(a, b).is_eq())
            .map(|group| (&group[0], group.len()))
            .collect();
        let all_fit = groups.len() <= STEPS_MAX;
        // Rows of a range, and of a value frequent enough for a step of its own.
        let depth = (sorted.len() / (STEPS_MAX / 2)).max(1);
        let mut steps: Vec<Step> = Vec::new();
        let (mut rows, mut distinct) = (0, 0);
        for (i, (value, count)) in groups.iter().enumerate() {
            let is_end = i + 1 == groups.len() || steps.is_empty();
            let left = STEPS_MAX.saturating_sub(steps.len());
            let wanted =
                all_fit || is_end || value.is_null() || *count >= depth || rows + count >= depth;
            if wanted && (left > 1 || i + 1 == groups.len()) {
                steps.push(Step {
                    high: (*value).clone(),
                    range_rows: rows as f64 * scale,
                    equal_rows: *count as f64 * scale,
                    distinct_range_rows: (distinct as f64 * distinct_scale)
                        .min(rows as f64 * scale),
                });
                (rows, distinct) = (0, 0);
            } else {
                rows += count;
                distinct += 1;
            }
        }
        Histogram { steps }
    }

    /// Rows in all.
    pub fn rows(&self) -> f64 {
        self.steps.iter().map(|s| s.range_rows + s.equal_rows).sum()
    }

    /// Rows that are NULL.
    pub fn null_rows(&self) -> f64 {
        self.steps.first().filter(|s| s.high.is_null()).map_or(0.0, |s| s.equal_rows)
    }

    /// Rows with this value; none beyond the last step's. None for NULL, which equals nothing.
    pub fn equal(&self, value: &Value) -> f64 {
        if value.is_null() {
            return 0.0;
        }
        let at = self.steps.partition_point(|s| order(&s.high, value).is_lt());
        match self.steps.get(at) {
            Some(step) if order(&step.high, value).is_eq() => step.equal_rows,
            Some(step) if step.range_rows > 0.0 => step.average_range_rows(),
            _ => 0.0,
        }
    }

    /// Rows below `value`, with those that have it where `inclusive`; NULLs not.
    pub fn below(&self, value: &Value, inclusive: bool) -> f64 {
        let mut rows = 0.0;
        let mut low: Option<&Value> = None;
        for step in self.steps.iter().filter(|s| !s.high.is_null()) {
            match order(&step.high, value) {
                Ordering::Less => rows += step.range_rows + step.equal_rows,
                Ordering::Equal => {
                    rows += step.range_rows;
                    return if inclusive { rows + step.equal_rows } else { rows };
                }
                Ordering::Greater => {
                    // Before the first step there is nothing.
                    return match low {
                        None => rows,
                        Some(low) => rows + step.range_rows * share(low, &step.high, value),
                    };
                }
            }
            low = Some(&step.high);
        }
        rows
    }

    /// Rows within bounds, each with inclusive or not.
    pub fn between(&self, lower: Option<(&Value, bool)>, upper: Option<(&Value, bool)>) -> f64 {
        let top = match upper {
            Some((value, inclusive)) => self.below(value, inclusive),
            None => self.rows() - self.null_rows(),
        };
        let bottom = lower.map_or(0.0, |(value, inclusive)| self.below(value, !inclusive));
        (top - bottom).max(0.0)
    }
}

impl Histogram {
    /// Pairs of a row of this column and one of another that are equal: value by value where either has a step of its
    /// own, else by the rows and different values of both between such steps, the fewer values among the more.
    pub fn joined(&self, other: &Histogram) -> f64 {
        let known = |h: &'_ Histogram| h.steps.iter().position(|s| !s.high.is_null());
        let (Some(a), Some(b)) = (known(self), known(other)) else { return 0.0 };
        let (mut a, mut b) = (Walk::new(&self.steps[a..]), Walk::new(&other.steps[b..]));
        let mut pairs = 0.0;
        // To the next end of a step of either; beyond the last of one there are no pairs.
        while let (Some(x), Some(y)) = (a.high(), b.high()) {
            let to = if order(x, y).is_le() { x } else { y };
            let ((rows, values), (others, their_values)) = (a.range_to(to), b.range_to(to));
            let most = values.max(their_values);
            if most > 0.0 {
                pairs += rows * others / most.max(1.0);
            }
            pairs += a.equal_to(to) * b.equal_to(to);
            a.pass(to);
            b.pass(to);
        }
        pairs
    }
}

/// A walk over the steps of a column, in pieces.
struct Walk<'s> {
    steps: &'s [Step],
    /// Where the step at hand begins, and how much of its range has been walked, from 0 to 1.
    low: Option<&'s Value>,
    walked: f64,
}

impl<'s> Walk<'s> {
    fn new(steps: &'s [Step]) -> Walk<'s> {
        Walk { steps, low: None, walked: 0.0 }
    }

    /// The end of the step at hand.
    fn high(&self) -> Option<&'s Value> {
        self.steps.first().map(|s| &s.high)
    }

    /// How much of the step's range lies below `to`, which is not past its end.
    fn place(&self, to: &Value) -> f64 {
        let Some(step) = self.steps.first() else { return 1.0 };
        match self.low {
            _ if order(&step.high, to).is_eq() => 1.0,
            // Below the first step there is nothing.
            None => 0.0,
            Some(low) => share(low, &step.high, to).max(self.walked),
        }
    }

    /// Rows, and different values, from here up to `to`.
    fn range_to(&self, to: &Value) -> (f64, f64) {
        let Some(step) = self.steps.first() else { return (0.0, 0.0) };
        let part = self.place(to) - self.walked;
        (step.range_rows * part, step.distinct_range_rows * part)
    }

    /// Rows with just this value, which is not past the step's end.
    fn equal_to(&self, value: &Value) -> f64 {
        match self.steps.first() {
            Some(step) if order(&step.high, value).is_eq() => step.equal_rows,
            // A range has one of its values with some chance: as many as lie there, of the places that there are.
            Some(step) if self.low.is_some() && step.range_rows > 0.0 => step.average_range_rows(),
            _ => 0.0,
        }
    }

    /// Goes on to `to`.
    fn pass(&mut self, to: &Value) {
        let Some((step, rest)) = self.steps.split_first() else { return };
        if order(&step.high, to).is_eq() {
            (self.steps, self.low, self.walked) = (rest, Some(&step.high), 0.0);
        } else {
            self.walked = self.place(to);
        }
    }
}

/// How far `value` lies between two others, from 0 to 1.
fn share(low: &Value, high: &Value, value: &Value) -> f64 {
    let places = match (low, high, value) {
        (Value::Binary(low), Value::Binary(high), Value::Binary(value)) => {
            // Where they begin alike, as versions of rows do, they are told apart by what follows.
            let alike = low.iter().zip(high.iter()).take_while(|(a, b)| a == b).count();
            let rest = |bytes: &[u8]| Some(leading(bytes.get(alike..).unwrap_or(&[])));
            (rest(low), rest(high), rest(value))
        }
        _ => (number(low), number(high), number(value)),
    };
    match places {
        (Some(low), Some(high), Some(value)) if high > low => {
            ((value - low) / (high - low)).clamp(0.0, 1.0)
        }
        _ => 0.5,
    }
}

/// A value as a place on a line, where it has one.
fn number(value: &Value) -> Option<f64> {
    Some(match value {
        Value::Float(v) => *v,
        Value::Real(v) => f64::from(*v),
        Value::Money(units) => *units as f64,
        Value::Date(days) => f64::from(*days),
        Value::Time(ticks) => *ticks as f64,
        Value::DateTime(v) => f64::from(v.days) + f64::from(v.ticks) / (86_400.0 * 300.0),
        Value::DateTime2(v) => instant(v),
        Value::DateTimeOffset(v) => instant(&v.utc),
        Value::Decimal(d) => d.to_f64(),
        Value::Str(text) => {
            // The first characters, as digits of a number.
            let mut place = 0.0;
            for c in text.as_str().chars().chain(std::iter::repeat('\0')).take(6) {
                place = place * 128.0 + f64::from((c as u32).min(127));
            }
            place
        }
        // Its order begins with its last six bytes.
        Value::Guid(bytes) => leading(&bytes[10..]),
        other => other.as_i64()? as f64,
    })
}

/// The first six bytes, as digits of a number.
fn leading(bytes: &[u8]) -> f64 {
    let padded = bytes.iter().copied().chain(std::iter::repeat(0)).take(6);
    padded.fold(0.0, |place, byte| place * 256.0 + f64::from(byte))
}

/// In days.
fn instant(v: &datetime::DateTime2) -> f64 {
    f64::from(v.days) + v.ticks as f64 / 864_000_000_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(values: impl IntoIterator<Item = i32>) -> Vec<Value> {
        let mut all: Vec<Value> = values.into_iter().map(Value::Int).collect();
        all.sort_by(order);
        all
    }

    #[test]
    fn few_values_have_a_step_each() {
        let mut sample = ints([3, 1, 2, 2, 1, 1]);
        sample.insert(0, Value::Null);
        let h = Histogram::of(&sample, 10.0, 1.0);
        assert_eq!(h.steps.len(), 4);
        assert_eq!(
            (h.null_rows(), h.equal(&Value::Int(1)), h.equal(&Value::Int(4))),
            (10.0, 30.0, 0.0)
        );
        assert_eq!(h.equal(&Value::Null), 0.0);
        assert_eq!(h.below(&Value::Int(2), false), 30.0);
        assert_eq!(h.below(&Value::Int(2), true), 50.0);
        assert_eq!(h.between(Some((&Value::Int(2), true)), None), 30.0);
        assert_eq!(h.rows(), 70.0);
    }

    #[test]
    fn pairs_of_two_columns_are_counted_step_by_step() {
        let of = |values: Vec<i32>| Histogram::of(&ints(values), 1.0, 1.0);
        // Few values: exactly.
        let (a, b) = (of(vec![1, 1, 1, 2, 5]), of(vec![1, 1, 3, 5]));
        assert_eq!((a.joined(&b), b.joined(&a)), (7.0, 7.0));
        // One value has half of the rows of both sides: 25 million pairs, where values alone would say some 10,000.
        let skewed = || (0..10_000).map(|i| if i % 2 == 0 { 7 } else { i }).collect::<Vec<_>>();
        let (a, b) = (of(skewed()), of(skewed()));
        let pairs = a.joined(&b);
        assert!((24_900_000.0..26_000_000.0).contains(&pairs), "{pairs}");
        // What does not overlap has none.
        let (low, high) = (of((0..5_000).collect()), of((6_000..9_000).collect()));
        assert!(low.joined(&high) < 1.0);
        // Half of it overlaps.
        let (a, b) = (of((0..5_000).collect()), of((2_500..7_500).collect()));
        let pairs = a.joined(&b);
        assert!((2_300.0..2_800.0).contains(&pairs), "{pairs}");
        let nulls = Histogram::of(&vec![Value::Null; 10], 1.0, 1.0);
        assert_eq!(nulls.joined(&nulls), 0.0);
    }

    #[test]
    fn many_values_are_at_most_200_steps_and_ranges_are_near() {
        let h = Histogram::of(&ints(0..10_000), 1.0, 1.0);
        assert!(h.steps.len() <= STEPS_MAX, "{}", h.steps.len());
        assert!((h.rows() - 10_000.0).abs() < 1.0);
        let below = h.below(&Value::Int(2_500), false);
        assert!((below - 2_500.0).abs() < 60.0, "{below}");
        let one = h.equal(&Value::Int(77));
        assert!((0.5..2.0).contains(&one), "{one}");
    }

    #[test]
    fn what_lies_within_one_step_is_a_share_of_it() {
        // A value each day; bounds of some ninety days, most of whose steps are longer.
        let within = |of: &dyn Fn(i32) -> Value, low: i32, high: i32| {
            let days: Vec<Value> = (0..73_000).map(of).collect();
            let h = Histogram::of(&days, 1.0, 1.0);
            h.between(Some((&of(low), true)), Some((&of(high), true)))
        };
        let instant = |day| datetime::DateTime2 { days: day, ticks: 5 };
        let guid = |day: i32| {
            let mut bytes = [0; 16];
            bytes[12..].copy_from_slice(&day.to_be_bytes());
            Value::Guid(bytes)
        };
        let forms: [&dyn Fn(i32) -> Value; 8] = [
            &Value::Date,
            &|day| Value::Time(day as u64 * 1_000_000),
            &|day| Value::DateTime(datetime::DateTime { days: day, ticks: 7 }),
            &|day| Value::DateTime2(instant(day)),
            &|day| {
                let offset_minutes = 60;
                Value::DateTimeOffset(datetime::DateTimeOffset {
                    utc: instant(day),
                    offset_minutes,
                })
            },
            &|day| Value::Money(i64::from(day) * 10_000),
            // A version of a row.
            &|day| Value::binary(&i64::from(day).to_be_bytes()),
            &guid,
        ];
        for form in forms {
            let rows = within(form, 36_550, 36_640);
            assert!((85.0..97.0).contains(&rows), "{:?}: {rows}", form(0));
        }
    }

    #[test]
    fn a_frequent_value_stands_out() {
        let rare = (0..5_000).map(|i| i * 2);
        let h = Histogram::of(&ints(rare.chain(std::iter::repeat_n(777, 5_000))), 2.0, 1.0);
        assert_eq!(h.equal(&Value::Int(777)), 10_000.0);
        let rare = h.equal(&Value::Int(778));
        assert!(rare < 10.0, "{rare}");
        assert!((h.rows() - 20_000.0).abs() < 1.0);
    }
}
