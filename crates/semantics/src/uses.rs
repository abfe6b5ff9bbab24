//! What the statements of a module read and change, column by column: for the views of dependencies.
//!
//! A column is read where an expression of a bound statement names it, also through `*`; what a view or function reads
//! itself is its own matter. Whoever binds notes the tables that a text names ([`Sources`]).
//!
//! Promise: an object is named once, whatever is done with it; columns have the order in which they were met.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use catalog::TableDef;
use ir::*;
use syntax::ast;

/// An object, and the names of its columns by what is done with them.
#[derive(Clone, Debug, Default)]
pub struct Used {
    /// The table's or view's.
    pub object_id: i32,
    /// Rows of it are read.
    pub is_read: bool,
    /// Columns that are read.
    pub read: Vec<String>,
    /// Columns that are given values.
    pub changed: Vec<String>,
    /// `*` stands for its columns somewhere.
    pub is_select_all: bool,
    /// An INSERT names no columns of it.
    pub is_insert_all: bool,
}

/// What is noted so far.
pub type Uses = Rc<RefCell<Vec<Used>>>;

/// A table or view that a text reads.
#[derive(Debug, Clone)]
pub struct Source {
    pub object_id: i32,
    /// Its columns and their ids in the query; of a view those that the text uses.
    pub columns: Vec<(String, ColId)>,
    /// `*` stands for its columns.
    pub is_all: bool,
}

/// What is noted while a module's own text is bound.
#[derive(Debug, Default)]
pub struct Sources {
    pub list: Vec<Source>,
    /// How often the views and functions that it names use a column themselves.
    pub inner: HashMap<ColId, usize>,
}

impl Sources {
    /// `*` stands for the columns of the table whose first column that is.
    pub fn shown_whole(&mut self, first: ColId) {
        let is_it = |source: &&mut Source| source.columns.first().is_some_and(|c| c.1 == first);
        if let Some(source) = self.list.iter_mut().find(is_it) {
            source.is_all = true;
        }
    }

    /// A view or function is named whose query is this one.
    pub fn unfolded(&mut self, rel: &Rel) {
        count_columns(rel, &mut self.inner);
    }
}

/// Counts how often each column is used.
pub fn count_columns(rel: &Rel, counts: &mut HashMap<ColId, usize>) {
    rel.walk_exprs(&mut |expr| {
        expr.walk(&mut |expr| {
            if let ExprKind::Col(id) = expr.kind {
                *counts.entry(id).or_default() += 1;
            }
        });
    });
}

/// A statement without statements inside. What a statement of another database uses is that database's.
pub fn of_statement(
    uses: &Uses,
    sources: Option<Sources>,
    kind: &StmtKind,
    written: &ast::StatementKind,
) {
    let mut counts = HashMap::new();
    masking::each_rel(kind, &mut |rel| count_columns(rel, &mut counts));
    let mut value = |e: &Expr| count_value(e, &mut counts);
    masking::each_value(kind, &mut value);
    let data = kind.data();
    // What it shows is read, too. (`each_value` has been through the values of SET and RETURN.)
    match data {
        Data::Select(select) => shown(&select.query, &mut counts),
        Data::Cursor(cursor) => {
            cursor.definition().iter().for_each(|cursor| shown(&cursor.query, &mut counts));
        }
        Data::Insert(_)
        | Data::Update(_)
        | Data::Delete(_)
        | Data::Merge(_)
        | Data::SetVars(_)
        | Data::Return(_)
        | Data::None => {}
    }
    note_read(uses, sources, &counts);
    changed(uses, data, written);
}

/// A condition, or what a variable begins with.
pub fn of_value(uses: &Uses, sources: Option<Sources>, value: &Expr) {
    let mut counts = HashMap::new();
    count_value(value, &mut counts);
    note_read(uses, sources, &counts);
}

fn count_value(e: &Expr, counts: &mut HashMap<ColId, usize>) {
    e.walk(&mut |e| match &e.kind {
        ExprKind::Col(id) => *counts.entry(*id).or_default() += 1,
        // What is inside of it the walk comes to.
        ExprKind::Subquery { query, kind, .. } if !matches!(kind, SubqueryKind::Exists) => {
            shown(query, counts);
        }
        _ => {}
    });
}

fn shown(query: &Query, counts: &mut HashMap<ColId, usize>) {
    for column in &query.output {
        *counts.entry(column.id).or_default() += 1;
    }
}

fn note_read(uses: &Uses, sources: Option<Sources>, counts: &HashMap<ColId, usize>) {
    let Some(Sources { list, inner }) = sources else { return };
    for source in list.into_iter().filter(|source| source.object_id > 0) {
        let mut all = uses.borrow_mut();
        let used = entry(&mut all, source.object_id);
        used.is_read = true;
        used.is_select_all |= source.is_all;
        for (name, id) in source.columns {
            if counts.get(&id).copied() > inner.get(&id).copied() {
                put(&mut used.read, &name);
            }
        }
    }
}

/// What a statement gives values.
fn changed(uses: &Uses, data: Data<'_>, written: &ast::StatementKind) {
    let mut all = uses.borrow_mut();
    match data {
        Data::Insert(insert) => {
            let ast::StatementKind::Insert(written) = written else { return };
            inserted(&mut all, &insert.table, &written.columns);
        }
        Data::Update(update) => set(&mut all, &update.table, &update.set),
        Data::Merge(merge) => {
            for clause in &merge.clauses {
                match &clause.action {
                    MergeAction::Update(sets) => set(&mut all, &merge.table, sets),
                    MergeAction::Insert(_) | MergeAction::Delete => {}
                }
            }
            let ast::StatementKind::Merge(written) = written else { return };
            for clause in &written.clauses {
                match &clause.action {
                    ast::MergeAction::Insert { columns, .. } => {
                        inserted(&mut all, &merge.table, columns);
                    }
                    ast::MergeAction::Update(_) | ast::MergeAction::Delete => {}
                }
            }
        }
        // A DELETE gives no column a value.
        Data::Delete(_)
        | Data::Select(_)
        | Data::Cursor(_)
        | Data::SetVars(_)
        | Data::Return(_)
        | Data::None => {}
    }
}

fn inserted(all: &mut Vec<Used>, table: &TableDef, columns: &[ast::Ident]) {
    if table.object_id <= 0 {
        return;
    }
    let used = entry(all, table.object_id);
    used.is_insert_all |= columns.is_empty();
    for column in &table.columns {
        let named = columns.iter().any(|c| catalog::same_name(&c.value, &column.name));
        if named || columns.is_empty() && column.is_given() {
            put(&mut used.changed, &column.name);
        }
    }
}

fn set(all: &mut Vec<Used>, table: &TableDef, sets: &[UpdateSet]) {
    if table.object_id <= 0 {
        return;
    }
    let used = entry(all, table.object_id);
    for set in sets {
        if let UpdateSet::Column { ordinal, .. } | UpdateSet::Both { ordinal, .. } = set {
            put(&mut used.changed, &table.columns[*ordinal].name);
        }
    }
}

fn entry(all: &mut Vec<Used>, object_id: i32) -> &mut Used {
    let at = all.iter().position(|used| used.object_id == object_id).unwrap_or_else(|| {
        all.push(Used { object_id, ..Used::default() });
        all.len() - 1
    });
    &mut all[at]
}

fn put(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}
