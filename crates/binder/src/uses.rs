//! What the statements of a module read and change, column by column: for the views of dependencies.
//!
//! Found by binding them: a column is read where an expression of the statement names it, also through `*`; what a view
//! or function reads itself is its own matter. A statement that cannot be bound yet names none.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use catalog::TableDef;
use ir::*;
use syntax::ast;

use crate::notes::{Sources, count_columns};

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
pub(crate) type Uses = Rc<RefCell<Vec<Used>>>;

/// Statements that neither show rows nor give columns values; those with statements inside come one by one. What a
/// statement of another database uses is that database's.
macro_rules! shows_nothing {
    () => {
        StmtKind::SetVars(_)
            | StmtKind::If { .. }
            | StmtKind::While { .. }
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Block(_)
            | StmtKind::TryCatch { .. }
            | StmtKind::Label(_)
            | StmtKind::Goto(_)
            | StmtKind::Return(_)
            | StmtKind::Begin { .. }
            | StmtKind::Commit { .. }
            | StmtKind::Rollback { .. }
            | StmtKind::Save { .. }
            | StmtKind::There(_)
            | StmtKind::Truncate { .. }
            | StmtKind::Exec(_)
            | StmtKind::ExecString { .. }
            | StmtKind::Print(_)
            | StmtKind::RaiseError(_)
            | StmtKind::Throw(_)
            | StmtKind::WaitFor(_)
            | StmtKind::Set(_)
            | StmtKind::Use { .. }
            | StmtKind::Ddl(_)
            | StmtKind::Security(_)
            | StmtKind::Statistics(_)
            | StmtKind::ExecuteAs { .. }
            | StmtKind::Revert { .. }
            | StmtKind::Rare(_)
            | StmtKind::Dbcc { .. }
            | StmtKind::BulkInsert(_)
            | StmtKind::Backup(_)
            | StmtKind::Restore(_)
            | StmtKind::Checkpoint
            | StmtKind::Kill { .. }
            | StmtKind::Reconfigure
            | StmtKind::AlterServer(_)
            | StmtKind::NotSupported { .. }
            | StmtKind::Deferred
            | StmtKind::Nothing
    };
}

/// A statement without statements inside.
pub(crate) fn of_statement(
    uses: &Uses,
    sources: Option<Sources>,
    kind: &StmtKind,
    written: &ast::StatementKind,
) {
    let mut counts = HashMap::new();
    masking::each_rel(kind, &mut |rel| count_columns(rel, &mut counts));
    let mut value = |e: &Expr| count_value(e, &mut counts);
    masking::each_value(kind, &mut value);
    // What it shows is read, too. (`each_value` has been through the values of SET and RETURN.)
    match kind {
        StmtKind::Select(select) => shown(&select.query, &mut counts),
        StmtKind::Cursor(cursor) => match &**cursor {
            CursorStmt::Declare { definition, .. } | CursorStmt::Set { definition, .. } => {
                shown(&definition.query, &mut counts);
            }
            CursorStmt::Assign { .. }
            | CursorStmt::Open(_)
            | CursorStmt::Close(_)
            | CursorStmt::Deallocate(_)
            | CursorStmt::Fetch { .. } => {}
        },
        StmtKind::Insert(_) | StmtKind::Update(_) | StmtKind::Delete(_) | StmtKind::Merge(_) => {}
        shows_nothing!() => {}
    }
    note_read(uses, sources, &counts);
    changed(uses, kind, written);
}

/// A condition, or what a variable begins with.
pub(crate) fn of_value(uses: &Uses, sources: Option<Sources>, value: &Expr) {
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
fn changed(uses: &Uses, kind: &StmtKind, written: &ast::StatementKind) {
    let mut all = uses.borrow_mut();
    match kind {
        StmtKind::Insert(insert) => {
            let ast::StatementKind::Insert(written) = written else { return };
            inserted(&mut all, &insert.table, &written.columns);
        }
        StmtKind::Update(update) => set(&mut all, &update.table, &update.set),
        StmtKind::Merge(merge) => {
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
        StmtKind::Delete(_) | StmtKind::Select(_) | StmtKind::Cursor(_) => {}
        shows_nothing!() => {}
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
