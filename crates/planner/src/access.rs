//! How a table is read: by a range of its clustered key or of an index where the predicates give its leading columns,
//! by an index alone that has all columns needed, else whole.

use ir::*;
use types::SqlType;

use crate::columns::*;
use crate::cost;
use crate::estimate::{self, rows_of};
use crate::fold::all_of;
use crate::goal::Goal;
use crate::key_range::*;
use crate::lower::*;
use crate::plan::*;

impl Lowering {
    /// Reads a table under predicates.
    pub fn get(&mut self, get: Get, preds: Vec<Expr>, needed: &Needed) -> Lowered {
        let seeks = seeks_of_list(&get, &preds).filter(|seeks| {
            if get.sample.is_some() {
                return false;
            }
            if !self.facts.is_informed() {
                return true;
            }
            let each = |preds: &Vec<Expr>| self.choose(&get, preds.clone(), needed, None);
            let all = seeks.iter().map(each).enumerate();
            // Those after the first find the pages above the leaves, as the turns of a loop do.
            let sum: f64 = all.map(|(at, a)| if at == 0 { a.cost } else { a.again }).sum();
            let wanted = self.wanted.as_ref();
            sum <= self.choose(&get, preds.clone(), needed, wanted).cost
        });
        if seeks.is_none()
            && let Some(sought) = self.sought(&get, &preds, needed)
        {
            return sought;
        }
        match seeks {
            Some(alternatives) => self.seeks(&get, alternatives, needed),
            None => self.read(get, preds, needed),
        }
    }

    /// One seek after another, for values that differ: no row comes twice.
    fn seeks(&mut self, get: &Get, alternatives: Vec<Vec<Expr>>, needed: &Needed) -> Lowered {
        let kept = get.columns.iter().copied().filter(|c| needed.contains(c));
        let cols: Vec<ColId> = kept.chain(get.locator).collect();
        // One after another they come in no order.
        self.wanted = None;
        let mut inputs = Vec::with_capacity(alternatives.len());
        for preds in alternatives {
            let one = self.read(get.clone(), preds, needed);
            inputs.push(self.shape(one, &cols).node);
        }
        let rows = inputs.iter().map(|n| n.rows).sum();
        let types = inputs[0].types.clone();
        let op = Op::Concat { inputs: inputs.into() };
        plain(Node { op, types, rows }, cols)
    }

    fn read(&mut self, get: Get, preds: Vec<Expr>, needed: &Needed) -> Lowered {
        let wanted = self.wanted.take();
        let informed = self.facts.is_informed();
        let (row, preds) = row_of_heap(&get, preds);
        let access = match row {
            Some(_) => one_row(preds),
            None => self.choose(&get, preds, needed, wanted.as_ref()),
        };
        let Access { index, found, rest, covering, rows, rows_out, ordered: in_wanted, .. } =
            access;
        let share = wanted.and_then(|wanted| wanted.share).filter(|_| in_wanted);
        // Subqueries stay out of the scan: it only ever compares.
        let (above, in_scan): (Vec<Expr>, Vec<Expr>) = rest.into_iter().partition(has_subquery);
        let wanted = with_exprs(&with_exprs(needed, above.iter()), in_scan.iter());
        let columns: Vec<usize> =
            (0..get.columns.len()).filter(|i| wanted.contains(&get.columns[*i])).collect();
        let mut cols: Vec<ColId> = columns.iter().map(|i| get.columns[*i]).collect();
        let mut types: Vec<SqlType> = columns.iter().map(|i| get.table.columns[*i].ty).collect();
        let locator = get.locator.is_some();
        if let Some(id) = get.locator {
            cols.push(id);
            types.push(LOCATOR);
        }
        let key_columns = scan_key(&get.table, index);
        let mut fixed = Needed::new();
        let mut rows = rows;
        let range = found.map(|found| {
            fixed.extend(key_columns.iter().take(found.prefix.len()).map(|(o, _)| get.columns[*o]));
            KeyRange {
                prefix: found.prefix.into_iter().map(|e| self.expr(e, &[])).collect(),
                lower: found.lower.map(|(e, inclusive)| (self.expr(e, &[]), inclusive)),
                upper: found.upper.map(|(e, inclusive)| (self.expr(e, &[]), inclusive)),
                starts: found.starts.map(|(pattern, escape)| {
                    (self.expr(pattern, &[]), escape.map(|e| self.expr(e, &[])))
                }),
                null: found.null,
                row: None,
            }
        });
        let range = range.or_else(|| {
            let row = Some(self.expr(row?, &[]));
            Some(KeyRange {
                prefix: Vec::new(),
                lower: None,
                upper: None,
                starts: None,
                null: false,
                row,
            })
        });
        // What is hashed comes in no order.
        let ordered = get.table.buckets(index).is_none();
        let order = order_key(&get.table, index)
            .iter()
            .filter(|_| ordered)
            .map(|(o, desc)| (get.columns[*o], *desc))
            .collect();
        let rows_read = rows.max(1.0);
        if informed {
            rows = rows_out;
        } else if !in_scan.is_empty() {
            rows = (rows * 0.3).max(1.0);
        }
        let predicate = all_of(in_scan).map(|p| self.expr(p, &cols));
        let scan = Scan {
            table: get.table,
            database: get.database,
            index,
            covering,
            columns,
            locator,
            range,
            predicate,
            hints: get.hints,
            sample: get.sample,
            for_update: is_for_update(&get.hints, locator),
            reverse: false,
            rows_read,
        };
        if let Some(share) = share {
            rows = (rows * share).max(1.0);
        }
        let node = Node { op: Op::Scan(Box::new(scan)), types, rows };
        let few_read = share.is_some();
        self.filter(Lowered { node, cols, order, fixed, few_read }, above)
    }
}

/// A way to the rows of a table.
pub(crate) struct Access {
    index: Option<usize>,
    found: Option<Range>,
    /// Predicates that it does not promise.
    rest: Vec<Expr>,
    covering: bool,
    /// Estimated.
    rows: f64,
    /// Those that all predicates leave.
    pub rows_out: f64,
    /// See [`crate::cost`].
    pub cost: f64,
    /// Of doing it once more, with other values.
    pub again: f64,
    /// Rows come in the order that is wanted.
    pub ordered: bool,
}

impl Access {
    /// By the table itself, in no order that anybody wants: the rows that are read and those that are left, and what the first
    /// reading costs and one more.
    fn of_table(
        rest: Vec<Expr>,
        (rows, rows_out): (f64, f64),
        (cost, again): (f64, f64),
    ) -> Access {
        let (index, found, covering, ordered) = (None, None, false, false);
        Access { index, found, rest, covering, rows, rows_out, cost, again, ordered }
    }

    /// This one and another, one after the other.
    pub fn and(self, other: Access) -> Access {
        Access {
            rows: self.rows + other.rows,
            rows_out: self.rows_out + other.rows_out,
            cost: self.cost + other.cost,
            again: self.again + other.again,
            ordered: false,
            ..self
        }
    }

    /// What one more reading costs where all readings together find `rows` rows for `times` values: fewer than each would
    /// find of a value that is there, since many are not.
    pub fn again_for(&self, times: f64, rows: f64) -> f64 {
        let there = (rows / (times * self.rows_out).max(1.0)).min(1.0);
        let seek = cost::seek_again().min(self.again);
        seek + (self.again - seek) * there
    }
}

/// Reading a row through an entry of an index, in reads of a row where it lies.
const LOOKUP: f64 = 4.0;

/// Reading an entry, likewise: they are narrower.
const ENTRY: f64 = 0.8;

/// Tables of fewer rows have no statistics, and nothing is gained by a clever plan; but much lost by one that reads all
/// of a table that grows: the rules of thumb, which prefer a seek, hold for them.
pub(crate) const SMALL_ROWS: f64 = 500.0;

/// Rows read of a table before a TOP over an order is content, at a guess.
const FIRST_ROWS: f64 = 1_000.0;

impl Lowering {
    /// What reading a table under predicates comes to, at best, for somebody who has not planned yet what it is for.
    pub(crate) fn weigh(&self, get: &Get, preds: Vec<Expr>) -> Access {
        self.choose(get, preds, &self.facts.mentioned, None)
    }

    /// The same for whose rows are wanted in an order.
    pub(crate) fn weigh_for(&self, get: &Get, preds: Vec<Expr>, wanted: &Wanted) -> Access {
        self.choose(get, preds, &self.facts.mentioned, Some(wanted))
    }

    /// Chooses between the table and its indexes: by cost where its rows are known, else by rules of thumb: how many
    /// rows a range has, whether rows must be looked up one by one, and whether they come in the order that somebody
    /// above wants. An INDEX hint decides by itself.
    fn choose(
        &self,
        get: &Get,
        preds: Vec<Expr>,
        needed: &Needed,
        wanted: Option<&Wanted>,
    ) -> Access {
        if let Some(sample) = get.sample {
            return self.sampled(get, preds, sample);
        }
        let forced = get.hints.index;
        let total = rows_of(&get.table).filter(|_| self.facts.is_informed());
        let share = total.map_or(1.0, |_| self.facts.all_of_table(&preds, &get.columns));
        let mut best: Option<Access> = None;
        for index in ways(get, &preds) {
            let id = index.map_or(0, |at| get.table.indexes[at].index_id);
            // 0 and 1 both mean the table's own rows.
            if forced.is_some_and(|forced| i32::from(forced).max(1) != id.max(1)) {
                continue;
            }
            let (found, rest) = key_range(get, index, preds.clone());
            let read = with_exprs(needed, rest.iter());
            let is_read = |i: &usize| read.contains(&get.columns[*i]);
            let for_update = is_for_update(&get.hints, get.locator.is_some());
            let covering = index.is_some_and(|at| {
                let stored = &get.table.indexes[at].stored;
                !for_update
                    && get.locator.is_none()
                    && (0..get.columns.len()).filter(is_read).all(|i| stored.contains(&i))
            });
            let mut access = Access {
                index,
                found,
                rest,
                covering,
                rows: 0.0,
                rows_out: 0.0,
                cost: 0.0,
                again: 0.0,
                ordered: false,
            };
            match total {
                Some(total) if total >= SMALL_ROWS => {
                    self.price(get, &preds, (total, share), wanted, &mut access);
                }
                _ => by_thumb(get, wanted, &mut access),
            }
            if best.as_ref().is_none_or(|best| access.cost < best.cost) {
                best = Some(access);
            }
        }
        if let (Some(total), Some(best)) = (total.filter(|total| *total < SMALL_ROWS), &mut best) {
            // Chosen as if it were larger, for it may grow; it costs what it is.
            let rows = cost::read(total, estimate::width(&get.table, 0..get.table.columns.len()));
            best.rows_out = (total * share).max(1.0);
            best.rows = match best.found {
                Some(_) => best.rows.min(total).max(best.rows_out),
                None => total,
            };
            best.cost = rows.total();
            best.again = match best.found {
                Some(_) => cost::seek_again() + cost::pass(best.rows_out),
                None => rows.cpu,
            } + cost::joined(best.rows_out);
        }
        // None: the index that was asked for cannot be used: it is disabled, or its filter not implied.
        best.unwrap_or_else(|| {
            let (found, rest) = key_range(get, None, preds);
            let rows = Estimate::of(get, None, found.as_ref()).shown;
            let rows_out = total.map_or(rows, |total| (total * share).max(1.0));
            let (cost, again) = (rows, rows);
            Access { found, ..Access::of_table(rest, (rows, rows_out), (cost, again)) }
        })
    }

    /// Rows of some of the table's own pages: all pages are gone through, for nobody knows which hold what a key names.
    fn sampled(&self, get: &Get, preds: Vec<Expr>, sample: Sample) -> Access {
        let known = rows_of(&get.table).filter(|_| self.facts.is_informed());
        let total = known.unwrap_or(TABLE_ROWS);
        let rows = match sample.size {
            SampleSize::Percent(percent) => total * percent / 100.0,
            SampleSize::Rows(rows) => total.min(rows as f64),
        };
        let rows = rows.max(1.0);
        let share = known.map_or(1.0, |_| self.facts.all_of_table(&preds, &get.columns));
        let read = cost::read(total, estimate::width(&get.table, 0..get.table.columns.len()));
        let (cost, again) = match known {
            Some(_) => (
                read.total() + cost::pass(rows),
                read.cpu + cost::pass(rows) + cost::joined(rows * share),
            ),
            None => (total, total),
        };
        let rows_out = (rows * share).max(1.0);
        Access::of_table(preds, (rows, rows_out), (cost, again))
    }

    /// The cost of a way to a table of `total` rows, of which `share` remain.
    fn price(
        &self,
        get: &Get,
        preds: &[Expr],
        (total, share): (f64, f64),
        wanted: Option<&Wanted>,
        access: &mut Access,
    ) {
        let table = &get.table;
        let total = total.max(1.0);
        let key = scan_key(table, access.index);
        let all = estimate::width(table, 0..table.columns.len());
        let bytes = match access.index {
            Some(at) => estimate::width(table, table.indexes[at].stored.iter().copied()),
            None => all,
        };
        let prefix = access.found.as_ref().map_or(0, |f| f.prefix.len());
        let unique = match access.index {
            Some(at) => table.indexes[at].unique,
            None => !table.is_heap() && !table.has_uniquifier(),
        };
        let is_row = access.found.is_some() && unique && prefix == key.len();
        let mut out = (total * share).max(1.0);
        let mut met = match &access.found {
            None => total,
            Some(_) if is_row => 1.0,
            Some(found) => total * self.share_of_range(get, key, found, preds),
        };
        met = met.max(1.0);
        out = if is_row { 1.0 } else { out.min(met) };
        (access.rows, access.rows_out) = (met, out);
        let mut sort = 0.0;
        if let Some(wanted) = wanted {
            let ordered = table.buckets(access.index).is_none();
            access.ordered =
                ordered && wanted.comes_from(get, &order_key(table, access.index), prefix);
            match access.ordered {
                // Enough rows for the TOP, at the rate at which the other predicates let them through.
                true if wanted.top => {
                    let enough = wanted.limit.unwrap_or(FIRST_ROWS) * (met / out);
                    met = met.min(enough.max(1.0));
                }
                true => {}
                false => sort = cost::sort(out).total(),
            }
        }
        let lookups = match access.index {
            Some(_) if !access.covering => {
                met * cost::seek_again()
                    + (met.min(total * all / cost::PAGE_BYTES)) * cost::LOOKUP_PAGE
            }
            _ => 0.0,
        };
        let rows = cost::read(met, bytes);
        access.cost = rows.total() + lookups + cost::pass(met) + sort;
        let each = rows.cpu + cost::pages(met * bytes) + cost::joined(out);
        access.again = cost::seek_again() + each + lookups + cost::pass(met) + sort;
        // To seek at all is what FORCESEEK asks for.
        let seekable = table.is_seekable();
        if get.hints.forceseek && access.found.is_none() && seekable {
            access.cost += 1e12;
        }
    }

    /// The share of a table's rows that a range of a key has.
    fn share_of_range(
        &self,
        get: &Get,
        key: &[(usize, bool)],
        found: &Range,
        preds: &[Expr],
    ) -> f64 {
        let n = found.prefix.len();
        let place = |e: &Expr| {
            let id = estimate::as_column(e)?;
            key.iter().position(|(ordinal, _)| get.columns[*ordinal] == id)
        };
        let at = |pred: &Expr| match &pred.kind {
            ExprKind::Compare { op, left, right } => match day_of_column(pred) {
                // A day is a range of moments.
                Some(id) => {
                    let at = key.iter().position(|(ordinal, _)| get.columns[*ordinal] == id)?;
                    Some((if *op == CompareOp::Eq { CompareOp::Ge } else { *op }, at))
                }
                None => Some((*op, place(left).or_else(|| place(right))?)),
            },
            // Its beginning is a range.
            ExprKind::Like { input, negated: false, .. } if found.starts.is_some() => {
                Some((CompareOp::Ge, place(input)?))
            }
            ExprKind::IsNull { input, negated: false } if found.null => {
                Some((CompareOp::Ge, place(input)?))
            }
            _ => None,
        };
        let ends = found.ends() > 0;
        let of_range: Vec<Expr> = preds
            .iter()
            .filter(|p| match at(p) {
                Some((CompareOp::Eq, place)) => place < n,
                Some((CompareOp::Ne, _)) | None => false,
                Some((_, place)) => ends && place == n,
            })
            .cloned()
            .collect();
        let share = self.facts.all_of_table(&of_range, &get.columns);
        let ordinals: Vec<usize> = key[..n].iter().map(|(ordinal, _)| *ordinal).collect();
        let density = get.table.statistics.density_of(&get.table, &ordinals);
        let Some(density) = density.filter(|_| n > 1 && !ends) else { return share };
        let sought = |e: &Expr| match &e.kind {
            ExprKind::Compare { left, right, .. } => {
                let own =
                    |e: &Expr| estimate::as_column(e).is_some_and(|id| get.columns.contains(&id));
                self.facts.is_unknown(if own(left) { right } else { left })
            }
            _ => false,
        };
        // What any values leave is the density of all the columns; columns that go together leave more rows of values
        // that are known than each by itself would have it.
        match of_range.iter().all(sought) {
            true => density,
            false => share.max(density),
        }
    }
}

/// The same by rules of thumb, in reads of a row where it lies.
fn by_thumb(get: &Get, wanted: Option<&Wanted>, access: &mut Access) {
    let estimate = Estimate::of(get, access.index, access.found.as_ref());
    let per_row = match (access.index, access.covering) {
        (None, _) => 1.0,
        (_, true) => ENTRY,
        _ => LOOKUP,
    };
    let mut read = estimate.rows;
    let mut sort = 0.0;
    if let Some(wanted) = wanted {
        let key = order_key(&get.table, access.index);
        let fixed = access.found.as_ref().map_or(0, |f| f.prefix.len());
        let ordered = get.table.buckets(access.index).is_none();
        match ordered && wanted.comes_from(get, &key, fixed) {
            true if wanted.top => read = read.min(FIRST_ROWS),
            true => {}
            false => sort = if wanted.top { 0.5 } else { 1.5 },
        }
    }
    // To seek at all is what FORCESEEK asks for.
    let refused = get.hints.forceseek && access.found.is_none() && estimate.seekable;
    access.cost = read * per_row + estimate.rows * sort + if refused { 1e12 } else { 0.0 };
    access.again = access.cost;
    (access.rows, access.rows_out) = (estimate.shown, estimate.shown);
}

/// Rows expected of a range.
struct Estimate {
    /// For choosing.
    rows: f64,
    /// For what is above.
    shown: f64,
    /// There is something that could be sought.
    seekable: bool,
}

impl Estimate {
    fn of(get: &Get, index: Option<usize>, found: Option<&Range>) -> Estimate {
        let key = scan_key(&get.table, index);
        let unique = match index {
            Some(at) => get.table.indexes[at].unique,
            None => !get.table.has_uniquifier(),
        };
        let seekable = get.table.is_seekable();
        let Some(found) = found else {
            return Estimate { rows: TABLE_ROWS, shown: TABLE_ROWS, seekable };
        };
        if found.prefix.len() == key.len() && unique {
            return Estimate { rows: 1.0, shown: 1.0, seekable };
        }
        let ends = found.ends();
        let rows = match (found.prefix.len(), ends) {
            (0, 1) => 0.3 * TABLE_ROWS,
            (0, _) => 0.09 * TABLE_ROWS,
            (1, 0) => 1_000.0,
            (1, _) => 300.0,
            (n, ends) => 100.0 / (n + ends) as f64,
        };
        Estimate { rows, shown: rows.min(100.0), seekable }
    }
}

/// An order that somebody above a table wants its rows in.
pub(crate) struct Wanted {
    pub keys: Vec<(ColId, bool)>,
    /// Only the first rows.
    pub top: bool,
    /// How many, where it is known.
    pub limit: Option<f64>,
    /// The share of the table's rows that is expected to do: what is above keeps their order, and ends with the first rows.
    pub share: Option<f64>,
}

impl Wanted {
    /// What a goal asks of the table that is read first, of which `rows` remain and that share is expected to do.
    pub fn first(goal: &Goal, share: f64, rows: f64) -> Wanted {
        let limit = Some((share * rows).max(1.0));
        Wanted { keys: goal.keys.clone(), top: true, limit, share: Some(share) }
    }

    /// Whether rows by `key`, whose first `fixed` columns have one value, come so, forwards or backwards.
    fn comes_from(&self, get: &Get, key: &[(usize, bool)], fixed: usize) -> bool {
        let same = &key[..fixed];
        let is_same = |id: &ColId| same.iter().any(|(i, _)| get.columns[*i] == *id);
        let keys: Vec<_> = self.keys.iter().filter(|(id, _)| !is_same(id)).collect();
        let rest = &key[fixed..];
        let along = |turned: bool| {
            keys.len() <= rest.len()
                && keys.iter().zip(rest).all(|((id, desc), (i, key_desc))| {
                    get.columns[*i] == *id && *desc == (*key_desc != turned)
                })
        };
        along(false) || along(true)
    }
}

/// Whether rows are read as if they were about to be changed.
fn is_for_update(hints: &TableHints, locator: bool) -> bool {
    (locator && !hints.unlocked) || hints.updlock || hints.xlock
}

/// The locator that a predicate gives, where a heap's row is found by nothing else; and the other predicates.
fn row_of_heap(get: &Get, mut preds: Vec<Expr>) -> (Option<Expr>, Vec<Expr>) {
    let Some(locator) = get.locator else { return (None, preds) };
    if !get.table.is_heap() || get.table.is_memory() {
        return (None, preds);
    }
    let own: Vec<ColId> = get.columns.iter().copied().chain([locator]).collect();
    let found = preds.iter().enumerate().find_map(|(i, p)| {
        let (op, (value, exact)) = against(p, locator, LOCATOR, &own)?;
        (op == CompareOp::Eq && exact).then_some((i, value))
    });
    let Some((i, value)) = found else { return (None, preds) };
    preds.remove(i);
    (Some(value), preds)
}

/// The way to a row whose place is known.
fn one_row(rest: Vec<Expr>) -> Access {
    Access::of_table(rest, (1.0, 1.0), (1.0, 1.0))
}
