//! What a planned statement or an expression needs: read off its tree, before anybody is asked whether he has it
//! (`permission.rs`).
//!
//! Promise: all that is read, changed or called has its need here, once for each place where it stands; what is in another
//! database is asked about where that is opened.

use crate::security::reached::{Columns, Reached};
use catalog::TableDef;
use ir::{
    Called, ColId, ColumnUse, Data, Expr, ExprKind, Get, InsertSource, Rel, Select, StmtKind,
    SystemView, TableFunc,
};
use security::Permission;
use types::SqlType;

/// What is to be allowed.
pub(super) enum Need<'a> {
    Table(Reached<'a>),
    /// The changes of a table, by its id: what it is asked for beside SELECT.
    Changes(i32),
    View(&'a SystemView),
    /// A user-defined function, or a sequence.
    Function(Permission, Called),
    /// The rows of a function with statements, and the ids of its columns.
    Rows(Called, &'a SystemView, &'a [ColId]),
    /// EXECUTE of a collection of XML schemas by its number: of values that are validated, and of those that are asked.
    XmlSchemas(u32),
}

pub(super) fn of_statement<'a>(kind: &'a StmtKind, needs: &mut Vec<Need<'a>>) {
    match kind.data() {
        Data::Select(select) => of_select(select, needs),
        Data::Insert(insert) => {
            let through = insert.through.as_deref();
            needs.push(Need::whole(Permission::Insert, &insert.table, through));
            match &insert.source {
                InsertSource::Values(rows) => {
                    rows.iter().flatten().for_each(|expr| of_expr(expr, needs));
                }
                InsertSource::Query { query, row } => {
                    of_rel(&query.rel, needs);
                    row.iter().for_each(|expr| of_expr(expr, needs));
                }
                InsertSource::Changed(from) => {
                    of_statement(&from.change, needs);
                    from.filter.iter().chain(&from.row).for_each(|expr| of_expr(expr, needs));
                }
                InsertSource::Exec { exec, .. } => {
                    if let ir::ProcRef::Text(text) = &exec.procedure {
                        of_expr(text, needs);
                    }
                    exec.args.iter().flat_map(|arg| &arg.value).for_each(|e| of_expr(e, needs));
                }
            }
            of_output(insert.output.as_ref(), &insert.table, through, needs);
        }
        Data::Update(update) => {
            let through = way(&update.query.rel, update.locator);
            needs.push(of_set(&update.set, &update.table, through));
            let values: Vec<&Expr> = update.set.iter().map(|set| set.value()).collect();
            of_target(
                &update.query.rel,
                update.locator,
                &update.old,
                &values,
                &update.table,
                needs,
            );
            of_output(update.output.as_ref(), &update.table, through, needs);
        }
        Data::Delete(delete) => {
            let through = way(&delete.query.rel, delete.locator);
            needs.push(Need::whole(Permission::Delete, &delete.table, through));
            of_target(&delete.query.rel, delete.locator, &delete.old, &[], &delete.table, needs);
            of_output(delete.output.as_ref(), &delete.table, through, needs);
        }
        Data::Cursor(cursor) => {
            if let Some(definition) = cursor.definition() {
                of_rel(&definition.query.rel, needs);
            }
        }
        Data::Merge(merge) => {
            let through = way(&merge.query.rel, merge.locator);
            needs.extend(merge.clauses.iter().map(|clause| match &clause.action {
                ir::MergeAction::Insert(_) => {
                    Need::whole(Permission::Insert, &merge.table, through)
                }
                ir::MergeAction::Update(set) => of_set(set, &merge.table, through),
                ir::MergeAction::Delete => Need::whole(Permission::Delete, &merge.table, through),
            }));
            of_rel(&merge.query.rel, needs);
            merge.for_each_expr(&mut |expr| of_expr(expr, needs));
            of_output(merge.output.as_ref(), &merge.table, through, needs);
        }
        Data::SetVars(sets) => sets.iter().for_each(|(_, expr)| of_expr(expr, needs)),
        Data::Return(expr) => of_expr(expr, needs),
        Data::None => of_values(kind, needs),
    }
}

/// What a statement without rows computes its values of. Whoever runs it asks for what it needs beside these.
fn of_values<'a>(kind: &'a StmtKind, needs: &mut Vec<Need<'a>>) {
    match kind {
        StmtKind::Print(expr) => of_expr(expr, needs),
        StmtKind::Exec(exec) => {
            exec.args.iter().flat_map(|arg| &arg.value).for_each(|expr| of_expr(expr, needs));
        }
        StmtKind::ExecString { text } => of_expr(text, needs),
        StmtKind::RaiseError(raise) => {
            of_expr(&raise.message, needs);
            raise.args.iter().for_each(|expr| of_expr(expr, needs));
        }
        _ => {}
    }
}

fn of_select<'a>(select: &'a Select, needs: &mut Vec<Need<'a>>) {
    of_rel(&select.query.rel, needs);
    if let ir::SelectTarget::Vars(sets) = &select.target {
        sets.iter().for_each(|(_, expr)| of_expr(expr, needs));
    }
}

impl<'a> Need<'a> {
    fn whole(
        permission: Permission,
        table: &'a TableDef,
        through: Option<&'a ir::Through>,
    ) -> Need<'a> {
        Need::Table(Reached { permission, table, through, columns: Columns::Whole })
    }

    fn read(get: &'a Get) -> Need<'a> {
        Need::Table(Reached {
            permission: Permission::Select,
            table: &get.table,
            through: get.through.as_deref(),
            columns: Columns::Read(&get.columns),
        })
    }
}

/// UPDATE of the columns that are set.
fn of_set<'a>(
    set: &[ir::UpdateSet],
    table: &'a TableDef,
    through: Option<&'a ir::Through>,
) -> Need<'a> {
    let ordinals = set.iter().filter_map(|set| match set {
        ir::UpdateSet::Column { ordinal, .. } | ir::UpdateSet::Both { ordinal, .. } => {
            Some(*ordinal)
        }
        ir::UpdateSet::Var { .. } => None,
    });
    let columns = Columns::These(ordinals.collect());
    Need::Table(Reached { permission: Permission::Update, table, through, columns })
}

/// The view through which the rows with that locator are reached.
fn way(rel: &Rel, locator: ColId) -> Option<&ir::Through> {
    match rel {
        Rel::Get(get) if get.locator == Some(locator) => get.through.as_deref(),
        _ => rel.inputs().into_iter().find_map(|input| way(input, locator)),
    }
}

/// The view that the statement itself names.
fn outermost(through: Option<&ir::Through>) -> Option<&ir::Through> {
    std::iter::successors(through, |module| module.outer.as_deref()).last()
}

/// The view whose rows a table stands for.
fn stood_for<'a>(rel: &'a Rel, table: &TableDef) -> Option<&'a ir::Through> {
    match rel {
        Rel::Get(get) if table.is_private() => {
            outermost(get.through.as_deref()).filter(|view| view.object_id == table.object_id)
        }
        _ => rel.inputs().into_iter().find_map(|input| stood_for(input, table)),
    }
}

/// UPDATE and DELETE read their target only where the target's columns decide something.
fn of_target<'a>(
    rel: &'a Rel,
    locator: ColId,
    old: &[ColId],
    values: &[&'a Expr],
    table: &'a TableDef,
    needs: &mut Vec<Need<'a>>,
) {
    sources(rel, &mut |source| match source {
        Source::Table(get) if get.locator == Some(locator) => {}
        source => needs.push(of_source(source)),
    });
    let mut read = Vec::new();
    deciding(rel, &mut |expr| expr.columns(&mut read));
    values.iter().for_each(|expr| expr.columns(&mut read));
    let decide = (0..old.len()).filter(|ordinal| read.contains(&old[*ordinal]));
    let decide: Vec<usize> = decide.collect();
    // The rows of a view that a trigger stands in for: what its own text reads is not the statement's.
    let decide = match stood_for(rel, table) {
        Some(view) => view.used(ColumnUse::Read),
        None => decide,
    };
    let through = way(rel, locator);
    // A view may compute from the target's columns what decides.
    let of_view = outermost(through).is_some_and(|view| !view.used(ColumnUse::Read).is_empty());
    if of_view || !decide.is_empty() {
        let columns = Columns::These(decide);
        let permission = Permission::Select;
        needs.push(Need::Table(Reached { permission, table, through, columns }));
    }
    rel.walk_exprs(&mut |expr| of_expr(expr, needs));
    values.iter().for_each(|expr| of_expr(expr, needs));
}

/// OUTPUT reads what it shows.
fn of_output<'a>(
    output: Option<&'a ir::Output>,
    table: &'a TableDef,
    through: Option<&'a ir::Through>,
    needs: &mut Vec<Need<'a>>,
) {
    let Some(output) = output else { return };
    let mut read = Vec::new();
    output.exprs().for_each(|expr| expr.columns(&mut read));
    let shows =
        |ids: &[ColId], ordinal: usize| ids.get(ordinal).is_some_and(|id| read.contains(id));
    let shown = (0..table.columns.len())
        .filter(|ordinal| shows(&output.inserted, *ordinal) || shows(&output.deleted, *ordinal));
    let columns = Columns::These(shown.collect());
    needs.push(Need::Table(Reached { permission: Permission::Select, table, through, columns }));
    output.exprs().for_each(|expr| of_expr(expr, needs));
    if let Some((into, _)) = &output.into {
        needs.push(Need::whole(Permission::Insert, into, None));
    }
}

fn of_rel<'a>(rel: &'a Rel, needs: &mut Vec<Need<'a>>) {
    sources(rel, &mut |source| needs.push(of_source(source)));
    rel.walk_exprs(&mut |expr| of_expr(expr, needs));
}

fn of_source(source: Source<'_>) -> Need<'_> {
    match source {
        Source::Table(get) => Need::read(get),
        Source::View(view, columns) => match view.function {
            Some(called) => Need::Rows(called, view, columns),
            None => Need::View(view),
        },
        Source::Changes(id) => Need::Changes(id),
        Source::Nodes(schema) => Need::XmlSchemas(schema),
    }
}

/// A method of xml asks by the collection that types it.
fn of_xml(args: &[Expr], needs: &mut Vec<Need<'_>>) {
    if let Some(SqlType::TypedXml { schema, .. }) = args.first().map(|e| e.ty) {
        needs.push(Need::XmlSchemas(schema));
    }
}

/// What subqueries read, and which functions are called.
pub(super) fn of_expr<'a>(expr: &'a Expr, needs: &mut Vec<Need<'a>>) {
    expr.walk(&mut |e| {
        match (&e.kind, e.ty) {
            (ExprKind::Xml { args, .. }, _) => of_xml(args, needs),
            (ExprKind::Cast { .. }, SqlType::TypedXml { schema, .. }) => {
                needs.push(Need::XmlSchemas(schema));
            }
            _ => {}
        }
        if let ExprKind::Func { func: ir::FuncId::User(called), .. } = &e.kind {
            needs.push(Need::Function(Permission::Execute, *called));
        }
        if let ExprKind::Func { func: ir::FuncId::NextValue(id), .. } = &e.kind {
            let sequence = Called { object_id: *id, within: 0 };
            needs.push(Need::Function(Permission::Update, sequence));
        }
        if let ExprKind::Subquery { query, .. } = &e.kind
            && !query.hints.policy
        {
            sources(&query.rel, &mut |source| needs.push(of_source(source)));
        }
    });
}

/// A leaf of a relational tree.
enum Source<'a> {
    Table(&'a Get),
    View(&'a SystemView, &'a [ColId]),
    Changes(i32),
    /// nodes() of what a collection of XML schemas types.
    Nodes(u32),
}

fn sources<'a>(rel: &'a Rel, f: &mut dyn FnMut(Source<'a>)) {
    match rel {
        // What is in another database is asked about where it is opened.
        Rel::Get(get) if get.database.is_some() => {}
        Rel::Get(get) => f(Source::Table(get)),
        Rel::System { view, columns, .. } => f(Source::View(view, columns)),
        Rel::Function { func: TableFunc::Changes(id) | TableFunc::RowVersion(id), .. } => {
            f(Source::Changes(*id));
        }
        Rel::Function { func: TableFunc::XmlNodes(_), args, .. } => {
            if let Some(SqlType::TypedXml { schema, .. }) = args.first().map(|e| e.ty) {
                f(Source::Nodes(schema));
            }
        }
        _ => rel.inputs().into_iter().for_each(|input| sources(input, f)),
    }
}

/// The expressions that decide which rows there are, and in which order.
fn deciding<'a>(rel: &'a Rel, f: &mut dyn FnMut(&'a Expr)) {
    if !matches!(rel, Rel::Project { .. }) {
        rel.own_exprs(f);
    }
    rel.inputs().into_iter().for_each(|input| deciding(input, f));
}
