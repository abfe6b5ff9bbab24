//! MERGE.
//!
//! Source and target are joined: rows of the source alone are kept when some clause asks for them, rows of the target
//! alone likewise. A target row is there when its locator is, a source row when its marker is.
//!
//! Source: "MERGE (Transact-SQL)".

use std::sync::Arc;

use catalog::{Event, Operation, TableDef};
use ir::*;
use syntax::ast;
use types::{Len, SqlType};

use crate::context::*;
use crate::target::find_get;
use crate::updatable::Mapped;
use semantics::merge_clauses::check_clauses;
use semantics::{BindError, Result};

/// What the source is joined with.
struct MergeTarget {
    table: Arc<TableDef>,
    hints: TableHints,
    rel: Rel,
    scope: Vec<ScopeTable>,
    locator: ColId,
    old: Vec<ColId>,
    /// What the names of a target that is no table are in the table.
    mapped: Option<Mapped>,
}

impl Binder<'_> {
    /// A whole MERGE.
    pub fn merge(&mut self, merge: &ast::Merge) -> Result<Merge> {
        self.push_ctes(&merge.with);
        let maxdop = self.query_hints(&merge.option)?;
        check_clauses(&merge.clauses)?;
        let database = self.database_of(&merge.target);
        self.goes_to(database.clone());
        let MergeTarget { table, hints, rel: target_rel, scope: target, locator, old, mapped } =
            self.merge_target(merge, database)?;
        self.check_history(&table, 13562)?;
        if let Some(rule) = self.at_target(|b| b.rule_of(&table)) {
            let text = format!(
                "The target table '{}' of the MERGE statement cannot have any enabled rules. Found rule '{rule}'.",
                crate::nested::shown_target(&merge.target)
            );
            return Err(BindError::new(358, 16, self.line, text));
        }
        if let ast::TableRef::Changed { change, .. } = &merge.source {
            return Err(self.misplaced(10733, change.span.line));
        }
        let source = self.table_ref(&merge.source)?;
        self.check_names(&target, &source.tables)?;

        let present = self.new_col();
        let mut exprs: Vec<(ColId, Expr)> = Vec::new();
        for c in source.tables.iter().flat_map(|t| &t.columns) {
            if !exprs.iter().any(|(id, _)| *id == c.id) {
                exprs.push((c.id, Expr::col(c.id, c.ty, c.nullable)));
            }
        }
        exprs.push((present, Expr::int(1)));
        let source_rel = Rel::Project { input: Box::new(source.rel), exprs };
        let both: Vec<ScopeTable> = target.iter().chain(&source.tables).cloned().collect();
        let on = self.within(&both, |b| b.in_clause(Clause::On, |b| b.condition(&merge.on)))?;
        let asks = |when| merge.clauses.iter().any(|c| c.when == when);
        let inserts = asks(ast::MergeWhen::NotMatched);
        let alone = asks(ast::MergeWhen::NotMatchedBySource);
        let (kind, left, right) = match (inserts, alone) {
            (true, true) => (JoinKind::Full, source_rel, target_rel),
            (true, false) => (JoinKind::Left, source_rel, target_rel),
            (false, true) => (JoinKind::Left, target_rel, source_rel),
            (false, false) => (JoinKind::Inner, source_rel, target_rel),
        };
        let rel = Rel::Join { kind, left: Box::new(left), right: Box::new(right), on: Some(on) };
        let top = merge.top.as_ref().map(|top| self.top_count(top)).transpose()?;

        let mut explicit_identity = false;
        let mut clauses = Vec::with_capacity(merge.clauses.len());
        for clause in &merge.clauses {
            let tables = match clause.when {
                ast::MergeWhen::Matched => &both,
                ast::MergeWhen::NotMatched => &source.tables,
                ast::MergeWhen::NotMatchedBySource => &target,
            };
            let condition = match &clause.condition {
                Some(e) => {
                    let place = Place::MergeCondition(clause.when);
                    Some(self.within_place(tables, place, |b| b.in_merge(|b| b.condition(e)))?)
                }
                None => None,
            };
            let action = match &clause.action {
                ast::MergeAction::Delete => MergeAction::Delete,
                ast::MergeAction::Update(set) => MergeAction::Update(self.within(tables, |b| {
                    b.in_merge(|b| b.update_set(set, &table, &old, mapped.as_ref()))
                })?),
                ast::MergeAction::Insert { columns, values } => {
                    let ordinals = match &mapped {
                        Some(mapped) if values.is_some() => {
                            self.mapped_columns(&table, mapped, columns, &target[0].shown)?
                        }
                        _ => self.insert_columns(&table, columns)?,
                    };
                    let listed = !columns.is_empty();
                    let (row, explicit) = self.within(tables, |b| {
                        b.merge_row(&table, ordinals, listed, values.as_deref())
                    })?;
                    explicit_identity |= explicit;
                    MergeAction::Insert(row)
                }
            };
            clauses.push(MergeClause { when: when(clause.when), condition, action });
        }

        let action = self.new_col();
        let output = match &merge.output {
            None => None,
            Some(output) => {
                let mut others = source.tables.clone();
                others.push(ScopeTable {
                    name: "$action".into(),
                    schema: None,
                    shown: "$action".into(),
                    columns: vec![ScopeColumn {
                        name: Some("$action".into()),
                        id: action,
                        ty: SqlType::NVarChar(Len::N(10)),
                        nullable: false,
                        identity: None,
                        updatable: false,
                        rowguid: false,
                    }],
                });
                Some(self.output(output, &table, mapped.as_ref(), others, true, true)?)
            }
        };
        let query = Query { rel, output: Vec::new(), maxdop, hints: self.plan_hints };
        let fires = self.at_target(|b| b.merge_fires(&merge.clauses, &table, output.as_ref()))?;
        let mut operations = Vec::new();
        for clause in &clauses {
            operations.extend_from_slice(match &clause.action {
                MergeAction::Insert(_) => &[Operation::AfterInsert][..],
                MergeAction::Update(_) => &[Operation::BeforeUpdate, Operation::AfterUpdate],
                MergeAction::Delete => &[Operation::BeforeDelete],
            });
        }
        operations.sort_unstable();
        operations.dedup();
        let block = self.at_target(|b| b.blocks(&table, &old, &operations))?;
        let tracking_context = self.tracking_context(merge.tracking_context.as_deref())?;
        Ok(Merge {
            table,
            tracking_context,
            hints,
            query,
            locator,
            present,
            action,
            old,
            top,
            clauses,
            explicit_identity,
            output,
            fires,
            block,
        })
    }

    /// The rows that a MERGE is about: a table's, or those of a view or common table expression over one.
    fn merge_target(
        &mut self,
        merge: &ast::Merge,
        database: Option<Arc<str>>,
    ) -> Result<MergeTarget> {
        let locator = self.new_col();
        for event in [Event::Insert, Event::Update, Event::Delete] {
            if self.instead_of(&merge.target, event)?.is_some() {
                let what = "MERGE into a view with INSTEAD OF triggers";
                return Err(BindError::unsupported(what, self.line));
            }
        }
        let Some(mut source) = self.target_rows(&merge.target, merge.alias.as_ref())? else {
            let (table, hints) = self.target(&merge.target)?;
            let (mut get, scope) = self.get(table.clone(), merge.alias.as_ref(), hints)?;
            get.locator = Some(locator);
            get.database = database;
            let (hints, old) = (get.hints, get.columns.clone());
            let (rel, scope) = (self.filtered(get)?, vec![scope]);
            return Ok(MergeTarget { table, hints, rel, scope, locator, old, mapped: None });
        };
        let scope = source.tables[0].clone();
        let hints = match &merge.target {
            ast::Target::Table { hints, .. } => semantics::hints::target_hints(hints, None)?,
            ast::Target::Variable(_) => TableHints::default(),
        };
        let mut written: Vec<String> = Vec::new();
        for clause in &merge.clauses {
            match &clause.action {
                ast::MergeAction::Update(set) => {
                    let columns = set.iter().filter_map(|item| item.column.as_ref());
                    self.note_written(&scope, columns.clone().map(|c| c.name.value.as_str()));
                    written.extend(columns.map(|c| c.name.value.clone()));
                }
                ast::MergeAction::Insert { columns, values: Some(_) } if columns.is_empty() => {
                    written.extend(scope.columns.iter().filter_map(|c| c.name.clone()));
                }
                ast::MergeAction::Insert { columns, .. } => {
                    written.extend(columns.iter().map(|c| c.value.clone()));
                }
                ast::MergeAction::Delete => {}
            }
        }
        let written = (!written.is_empty()).then_some(&*written);
        let (old, names) = self.through(&mut source.rel, &scope, written, locator, hints)?;
        if self.check_option(old[0])?.is_some() {
            let what = "MERGE into a view WITH CHECK OPTION";
            return Err(BindError::unsupported(what, self.line));
        }
        let (table, hints, database) =
            find_get(&source.rel, locator).expect("the locator was just placed");
        self.goes_to(database);
        let (rel, scope, mapped) = (source.rel, source.tables, Some(names));
        Ok(MergeTarget { table, hints, rel, scope, locator, old, mapped })
    }

    /// The AFTER triggers of every action that a clause names, in the order INSERT, UPDATE, DELETE.
    fn merge_fires(
        &self,
        clauses: &[ast::MergeClause],
        table: &TableDef,
        output: Option<&Output>,
    ) -> Result<Vec<Arc<Fires>>> {
        let mut out = Vec::new();
        for event in [Event::Insert, Event::Update, Event::Delete] {
            let named = clauses.iter().any(|clause| match clause.action {
                ast::MergeAction::Insert { .. } => event == Event::Insert,
                ast::MergeAction::Update(_) => event == Event::Update,
                ast::MergeAction::Delete => event == Event::Delete,
            });
            let fires = if named { self.fires(table, event, output)? } else { None };
            if fires.as_ref().is_some_and(|fires| fires.instead.is_some()) {
                let what = "MERGE into a table with INSTEAD OF triggers";
                return Err(BindError::unsupported(what, self.line));
            }
            out.extend(fires);
        }
        Ok(out)
    }

    /// Binds something that sees these tables.
    fn within<T>(
        &mut self,
        tables: &[ScopeTable],
        f: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        self.within_place(tables, Place::Other, f)
    }

    fn within_place<T>(
        &mut self,
        tables: &[ScopeTable],
        place: Place,
        f: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        self.scopes.push(Scope { tables: tables.to_vec(), place });
        let result = f(self);
        self.scopes.pop();
        result
    }

    /// The row of INSERT, and whether it gives the identity column a value.
    fn merge_row(
        &mut self,
        table: &TableDef,
        ordinals: Vec<Option<usize>>,
        listed: bool,
        values: Option<&[ast::InsertValue]>,
    ) -> Result<(Vec<Expr>, bool)> {
        let Some(values) = values else {
            let row = self.insert_row(table, &vec![None; table.columns.len()], Vec::new())?;
            return Ok((row, false));
        };
        self.check_width(values.len(), ordinals.len(), listed, (109, 110))?;
        let mut given: Vec<Option<usize>> = vec![None; table.columns.len()];
        for (position, ordinal) in ordinals.iter().enumerate() {
            if let Some(ordinal) = ordinal {
                given[*ordinal] = Some(position);
            }
        }
        let explicit = table.identity().is_some_and(|i| ordinals.contains(&Some(i)));
        let mut bound = Vec::with_capacity(values.len());
        for value in values {
            bound.push(match value {
                ast::InsertValue::Default(_) | ast::InsertValue::Write(_) => None,
                ast::InsertValue::Expr(e) => Some(self.in_merge(|b| b.expr(e))?),
            });
        }
        Ok((self.insert_row(table, &given, bound)?, explicit))
    }
}

fn when(when: ast::MergeWhen) -> MergeWhen {
    match when {
        ast::MergeWhen::Matched => MergeWhen::Matched,
        ast::MergeWhen::NotMatched => MergeWhen::NotMatched,
        ast::MergeWhen::NotMatchedBySource => MergeWhen::NotMatchedBySource,
    }
}
