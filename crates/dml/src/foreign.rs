//! FOREIGN KEY constraints: every row finds what it refers to, whatever goes on at the same time.
//!
//! **Write first, then look.** Who adds a reference writes its row and then looks for the row referred to; who takes a
//! key away deletes it and then looks for references to it. Both look at the newest state under locks, waiting for
//! unfinished transactions, at every isolation level: of two that are at odds at least one sees the other, or both wait
//! for each other and one dies. So no lock on the other table need be kept.
//!
//! Who looks for the row referred to by the whole of a unique key takes no lock of that row either ([`Seek`]): if it is
//! there, whoever takes it away has not begun to, and will look for references after he has, when ours is written; if
//! somebody has begun, he is waited for.
//!
//! A statement is judged by what it leaves behind: references of a table to itself, and keys that go, are looked at when
//! it ends. Actions (CASCADE, SET NULL, SET DEFAULT) are carried out row by row, through a writer of the other table.

mod seek;

use crate::write::TableWriter;
use catalog::{ForeignKeyDef, Place, RefAction, TableDef};
use engine::{Isolation, ReadOptions, RowLock, ScanOptions};
use executor::{Cx, SqlError, engine_error, engine_tree, row_bytes};
use runtime::task::Many;
use seek::Seek;
use std::ops::Bound;
use std::sync::Arc;
use types::{Value, compare, key};

/// The foreign keys that a change of a table's rows must heed.
#[derive(Default)]
pub(crate) struct ForeignKeys {
    own: Vec<Own>,
    children: Vec<Child>,
    /// An action on behalf of this constraint is under way: it need not be looked at.
    pub exempt: Option<i32>,
    /// The same, but it must be looked at even where the columns keep their values.
    pub forced: Option<i32>,
}

/// A foreign key of the table.
struct Own {
    key: ForeignKeyDef,
    parent: Arc<TableDef>,
    /// A key known to be there. Our unfinished row that refers to it keeps it.
    seen: Option<Vec<Value>>,
    /// References of the table to itself: looked at when the statement ends.
    pending: Many<Vec<Value>>,
    seek: Option<Seek>,
    /// The row at hand refers to the key in `seek`.
    noted: bool,
}

/// A foreign key to the table.
struct Child {
    key: ForeignKeyDef,
    table: Arc<TableDef>,
    writer: Option<Box<TableWriter>>,
    /// Keys that have gone, to which nobody may refer when the statement ends.
    gone: Many<Vec<Value>>,
}

/// What happens to a key.
#[derive(Clone, Copy)]
pub(crate) enum Fate<'v> {
    Deleted,
    Changed(&'v [Value]),
}

impl ForeignKeys {
    /// Those of a table and those to it.
    pub fn of(table: &Arc<TableDef>, cx: &mut Cx<'_>) -> Result<ForeignKeys, SqlError> {
        let mut all = ForeignKeys::default();
        let missing = |id: i32| SqlError::new(208, 16, format!("Invalid object id {id}."));
        for key in table.foreign_keys.iter().filter(|k| !k.disabled) {
            let parent = match key.table == table.object_id {
                true => table.clone(),
                false => cx.env.table(key.table).ok_or_else(|| missing(key.table))?,
            };
            let seek = match cx.txn.as_deref() {
                Some(txn) if key.table != table.object_id => {
                    Seek::to(&parent, &key.referenced, txn.database())
                }
                _ => None,
            };
            let (seen, pending) = (None, Many::new());
            let key = key.clone();
            all.own.push(Own { key, parent, seen, pending, seek, noted: false });
        }
        for id in &table.referencing {
            let child = match *id == table.object_id {
                true => Some(table.clone()),
                // It may have been dropped since.
                false => cx.env.table(*id),
            };
            let Some(child) = child else { continue };
            let to_us =
                child.foreign_keys.iter().filter(|k| k.table == table.object_id && !k.disabled);
            for key in to_us {
                let (key, table) = (key.clone(), child.clone());
                all.children.push(Child { key, table, writer: None, gone: Many::new() });
            }
        }
        Ok(all)
    }

    /// Another run of the same statement begins: what the one before has seen or put off is nothing to it.
    pub fn restart(&mut self) {
        for own in &mut self.own {
            own.seen = None;
            own.pending.clear();
        }
        for child in &mut self.children {
            child.writer = None;
            child.gone.clear();
        }
        (self.exempt, self.forced) = (None, None);
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.own.is_empty() && self.children.is_empty()
    }

    /// Whether the table refers to nothing.
    pub fn are_of_others(&self) -> bool {
        self.own.is_empty()
    }

    /// Whether nothing refers to the table.
    pub fn are_own(&self) -> bool {
        self.children.is_empty()
    }

    /// Whether all that a row refers to lies under a whole unique key of another table.
    pub fn can_be_vouched_for(&self) -> bool {
        self.own.iter().all(|own| own.seek.is_some())
    }

    /// A row is to be written: notes the keys that it refers to, and did not before.
    pub fn note_parents(&mut self, old: Option<&[Value]>, new: Option<&[Value]>) {
        for own in &mut self.own {
            own.noted = false;
            let (Some(new), Some(seek)) = (new, &mut own.seek) else { continue };
            let columns = &own.key.columns;
            let stays = old.is_some_and(|old| same(columns, old, new));
            if !stays && !columns.iter().any(|column| new[*column].is_null()) {
                seek.encode(|at| &new[columns[at]]);
                own.noted = true;
            }
        }
    }

    /// The keys noted.
    pub fn parents(&self) -> impl Iterator<Item = engine::Parent<'_>> {
        let noted = self.own.iter().filter(|own| own.noted);
        noted.filter_map(|own| own.seek.as_ref()).map(Seek::parent)
    }

    /// What rows of the table refer to is no longer looked for.
    pub fn forget_own(&mut self) {
        self.own.clear();
    }

    /// Those stay that have such a column of the table.
    pub fn keep_those_over(&mut self, wanted: impl Fn(usize) -> bool) {
        self.own.retain(|own| own.key.columns.iter().any(|i| wanted(*i)));
        self.children.retain(|child| child.key.referenced.iter().any(|i| wanted(*i)));
    }

    /// Columns of the table that they are about.
    pub fn columns(&self) -> impl Iterator<Item = usize> + '_ {
        let own = self.own.iter().flat_map(|o| o.key.columns.iter().copied());
        own.chain(self.children.iter().flat_map(|c| c.key.referenced.iter().copied()))
    }

    /// Whether somebody may look through an index with this key for references, or for what is referred to, as [`find`]
    /// does.
    pub fn look_through(&self, key: &[(usize, bool)]) -> bool {
        let own = self.own.iter().map(|own| &own.key.columns[..]);
        let children = self.children.iter().map(|child| &child.key.referenced[..]);
        own.chain(children).any(|columns| begins_with(key, columns))
    }

    /// A row has been written: what it refers to must be there. `old`: the row that it was before. 547.
    pub fn written(
        &mut self,
        table: &TableDef,
        old: Option<&[Value]>,
        new: &[Value],
        verb: &str,
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        let exempt = self.exempt;
        for own in self.own.iter_mut().filter(|o| Some(o.key.object_id) != exempt) {
            let Some(wanted) = values_of(&own.key.columns, new) else { continue };
            if self.forced == Some(own.key.object_id) {
                own.look(&wanted, own.key.table == table.object_id, verb, cx)?;
                continue;
            }
            if old.is_some_and(|old| same(&own.key.columns, old, new)) {
                continue;
            }
            if own.seen.as_ref().is_some_and(|seen| equal(seen, &wanted)) {
                continue;
            }
            if own.key.table == table.object_id {
                cx.hold(row_bytes(&wanted))?;
                own.pending.push(wanted);
                continue;
            }
            own.look(&wanted, false, verb, cx)?;
            own.seen = Some(wanted);
        }
        Ok(())
    }

    /// A row has gone, or its keys have changed: what refers to it follows, or is looked at when the statement ends.
    pub fn left(
        &mut self,
        old: &[Value],
        fate: Fate<'_>,
        verb: &'static str,
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        for child in &mut self.children {
            let Some(key) = values_of(&child.key.referenced, old) else { continue };
            let action = match fate {
                Fate::Changed(new) if same(&child.key.referenced, old, new) => continue,
                Fate::Changed(_) => child.key.on_update,
                Fate::Deleted => child.key.on_delete,
            };
            if action == RefAction::NoAction {
                cx.hold(row_bytes(&key))?;
                child.gone.push(key);
            } else {
                child.follow(&key, action, fate, verb, cx)?;
            }
        }
        Ok(())
    }

    /// The statement is over: what was put off is looked at. 547.
    pub fn finish(
        &mut self,
        table: &Arc<TableDef>,
        verb: &str,
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        for child in &mut self.children {
            if let Some(writer) = &mut child.writer {
                writer.finish(cx)?;
            }
        }
        for own in &mut self.own {
            for wanted in std::mem::take(&mut own.pending) {
                own.look(&wanted, true, verb, cx)?;
            }
        }
        for child in &mut self.children {
            for key in std::mem::take(&mut child.gone) {
                // It may have come back under another row.
                if find(table, &child.key.referenced, &key, false, cx)?.is_empty()
                    && !find(&child.table, &child.key.columns, &key, false, cx)?.is_empty()
                {
                    let own = child.table.object_id == table.object_id;
                    let kind = if own { "SAME TABLE REFERENCE" } else { "REFERENCE" };
                    let about = (&*child.table, &child.key.columns[..]);
                    return Err(conflict(verb, kind, &child.key.name, about, cx));
                }
            }
        }
        Ok(())
    }
}

impl Own {
    fn look(
        &mut self,
        wanted: &[Value],
        own: bool,
        verb: &str,
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        let there = match (&mut self.seek, cx.txn.as_deref_mut()) {
            (Some(seek), Some(txn)) => {
                let found = seek.finds(wanted, txn);
                found.map_err(|e| engine_error(e, Some(&self.parent), cx))?
            }
            _ => !find(&self.parent, &self.key.referenced, wanted, false, cx)?.is_empty(),
        };
        if there {
            return Ok(());
        }
        let kind = if own { "FOREIGN KEY SAME TABLE" } else { "FOREIGN KEY" };
        let about = (&*self.parent, &self.key.referenced[..]);
        Err(conflict(verb, kind, &self.key.name, about, cx))
    }
}

impl Child {
    /// Rows that refer to `key` go with it, or refer to something else from here on.
    fn follow(
        &mut self,
        key: &[Value],
        action: RefAction,
        fate: Fate<'_>,
        verb: &'static str,
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        let rows = find(&self.table, &self.key.columns, key, true, cx)?;
        if rows.is_empty() {
            return Ok(());
        }
        let rules = binder::rules_with(&self.table, &|name| cx.env.function(name))
            .map_err(crate::error::from_binder)?;
        let writer = match &mut self.writer {
            Some(writer) => writer,
            none => {
                let mut writer =
                    TableWriter::new(&self.table, cx)?.changing(self.key.columns.clone());
                writer.on_behalf(verb, self.key.object_id);
                none.insert(Box::new(writer))
            }
        };
        for locator in rows {
            cx.breathe()?;
            let Some(old) = writer.read(&locator, cx)? else { continue };
            // Others may have changed it before we had its lock.
            if !values_of(&self.key.columns, &old).is_some_and(|now| equal(&now, key)) {
                continue;
            }
            if let (RefAction::Cascade, Fate::Deleted) = (action, fate) {
                if writer.delete(&locator, cx)? {
                    cx.note_followed(&self.table, &[], &old, None)?;
                }
                continue;
            }
            let mut new = old.clone();
            for (column, referenced) in self.key.columns.iter().zip(&self.key.referenced) {
                new[*column] = match (action, fate) {
                    (RefAction::Cascade, Fate::Changed(now)) => now[*referenced].clone(),
                    (RefAction::SetDefault, _) => {
                        let default = rules.defaults.iter().find(|(c, _)| c == column);
                        match default {
                            Some((_, expr)) => executor::eval(expr, &[], cx)?,
                            None => Value::Null,
                        }
                    }
                    _ => Value::Null,
                };
            }
            // A default must refer to something; what the parent has become does.
            writer.exempt(action != RefAction::SetDefault);
            writer.change(&locator, &old, &new, cx)?;
            let set = &self.key.columns;
            cx.note_followed(&self.table, set, &old, Some(writer.written(&new)))?;
        }
        Ok(())
    }
}

/// Whether a key begins with these columns, in some order.
fn begins_with(key: &[(usize, bool)], columns: &[usize]) -> bool {
    key.len() >= columns.len() && key[..columns.len()].iter().all(|(c, _)| columns.contains(c))
}

/// Storage keys of the rows of a table whose `columns` have these values, in their newest state; `change`: all of them,
/// unlocked, to be locked by whoever changes them; otherwise one at most, seen under its lock.
pub(crate) fn find(
    table: &TableDef,
    columns: &[usize],
    values: &[Value],
    change: bool,
    cx: &mut Cx<'_>,
) -> Result<Vec<Vec<u8>>, SqlError> {
    let Some(txn) = cx.txn.as_deref_mut() else {
        stdx::fatal!("a foreign key is looked at without a transaction");
    };
    let db = txn.database().clone();
    let base = engine_tree(&db, table);
    let read = ReadOptions {
        // Rows in memory are not locked: what was found, or not, must still be so when the transaction commits.
        isolation: Some(match table.is_memory() {
            true => Isolation::Serializable,
            false => Isolation::ReadCommitted,
        }),
        lock: if change { RowLock::Exclusive } else { RowLock::Shared },
        ..ReadOptions::default()
    };
    let fits = |key: &[(usize, bool)]| begins_with(key, columns);
    let clustered = fits(table.clustered_key());
    let index = table.secondary().find(|i| i.filter.is_none() && fits(&i.columns));
    let (tree, layout, key_columns) = match index {
        _ if clustered => (base.clone(), Some(&table.key_layout), table.clustered_key()),
        Some(index) => (db.tree(index.tree), Some(&index.key_layout), &index.columns[..]),
        None => (base.clone(), None, &[][..]),
    };
    let index = index.filter(|_| !clustered);
    let mut prefix = Vec::new();
    for ((column, _), part) in
        key_columns.iter().zip(layout.iter().flat_map(|l| l.parts())).take(columns.len())
    {
        let at = columns.iter().position(|c| c == column).unwrap_or(0);
        key::encode_part(part, &values[at], &mut prefix);
    }
    let failed = |e, cx: &Cx<'_>| engine_error(e, Some(table), cx);
    txn.enter_for_read(&base, read).map_err(|e| engine_error(e, Some(table), cx))?;
    let mut end = prefix.clone();
    let bounded = layout.is_some() && key::prefix_successor(&mut end);
    let lower = if layout.is_some() { Bound::Included(&prefix[..]) } else { Bound::Unbounded };
    let upper = if bounded { Bound::Excluded(&end[..]) } else { Bound::Unbounded };
    let buckets = match index {
        Some(index) => index.buckets,
        None => table.buckets(None),
    };
    let one_value = buckets.is_some() && layout.is_some() && key_columns.len() == columns.len();
    let options = ScanOptions { read, reverse: false, one_value };
    let Some(txn) = cx.txn.as_deref_mut() else { return Ok(Vec::new()) };
    let mut scan = txn.scan(&tree, lower, upper, options).map_err(|e| failed(e, cx))?;
    let mut found = Vec::new();
    let mut since_breath = 0u32;
    while let Some(txn) = cx.txn.as_deref_mut() {
        let next = scan.next(txn).map_err(|e| engine_error(e, Some(table), cx))?;
        let Some((key, row)) = next else { break };
        since_breath += 1;
        if since_breath.is_multiple_of(1024) {
            cx.breathe()?;
        }
        if layout.is_none() {
            let mut all = true;
            for (column, wanted) in columns.iter().zip(values) {
                let value = executor::lob::column(table, row, *column, cx)?;
                all &= compare::compare(&value, wanted).is_some_and(|o| o.is_eq());
            }
            if !all {
                continue;
            }
        }
        let locator = match index {
            Some(index) => executor::index::locator(&index.layout, row)?,
            None => key.to_vec(),
        };
        cx.hold(locator.len())?;
        found.push(locator);
        if !change {
            break;
        }
    }
    Ok(found)
}

/// The values of columns; none when one is NULL, which refers to nothing.
fn values_of(columns: &[usize], row: &[Value]) -> Option<Vec<Value>> {
    let values: Vec<Value> = columns.iter().map(|c| row[*c].clone()).collect();
    (!values.iter().any(Value::is_null)).then_some(values)
}

fn same(columns: &[usize], a: &[Value], b: &[Value]) -> bool {
    columns.iter().all(|c| a[*c] == b[*c])
}

fn equal(a: &[Value], b: &[Value]) -> bool {
    a.iter().zip(b).all(|(a, b)| compare::compare(a, b).is_some_and(|o| o.is_eq()))
}

/// 547.
pub(crate) fn conflict(
    verb: &str,
    kind: &str,
    name: &str,
    (table, columns): (&TableDef, &[usize]),
    cx: &Cx<'_>,
) -> SqlError {
    let column = match columns {
        [column] => format!(", column '{}'", table.columns[*column].name),
        _ => String::new(),
    };
    // A temporary table has its whole name in tempdb.
    let (database, shown) = match table.place {
        Place::Database => (cx.env.database_name(), table.name.to_string()),
        Place::Temporary(number) => {
            ("tempdb".to_owned(), format!("{:_<116}{number:012X}", table.name))
        }
        Place::Variable(_) => ("tempdb".to_owned(), table.name.to_string()),
    };
    SqlError::new(
        547,
        16,
        format!(
            "The {verb} statement conflicted with the {kind} constraint \"{name}\". The conflict \
             occurred in database \"{database}\", table \"{}.{shown}\"{column}.",
            table.schema
        ),
    )
    .with_state(0)
}
