//! OUTPUT of INSERT, UPDATE and DELETE.

use catalog::TableDef;
use ir::*;
use syntax::ast;

use crate::context::*;
use crate::scope::Place;
use crate::updatable::Mapped;
use semantics::{BindError, Result};

impl Binder<'_> {
    /// OUTPUT: `inserted` and `deleted` as tables, with the names of the target where it is no table, and what else the
    /// statement reads.
    pub fn output(
        &mut self,
        output: &ast::Output,
        table: &TableDef,
        mapped: Option<&Mapped>,
        mut others: Vec<ScopeTable>,
        with_inserted: bool,
        with_deleted: bool,
    ) -> Result<Output> {
        let is_in_set = table.is_in_set();
        let mut pseudo = |name: &str| {
            let mut columns = Vec::with_capacity(table.columns.len());
            for c in &table.columns {
                let id = self.new_col();
                if c.marks.hidden || is_in_set(c) {
                    self.hidden.insert(id);
                }
                columns.push(ScopeColumn {
                    name: Some(c.name.to_string()),
                    id,
                    ty: c.ty,
                    nullable: c.nullable,
                    identity: None,
                    updatable: false,
                    rowguid: false,
                });
            }
            ScopeTable { name: name.to_string(), schema: None, shown: name.to_string(), columns }
        };
        let (mut inserted, mut deleted) = (pseudo("inserted"), pseudo("deleted"));
        let ids = |t: &ScopeTable| t.columns.iter().map(|c| c.id).collect::<Vec<ColId>>();
        let (inserted_ids, deleted_ids) = (ids(&inserted), ids(&deleted));
        self.note_volatile(table, &inserted_ids)?;
        self.note_volatile(table, &deleted_ids)?;
        if let Some(mapped) = mapped {
            inserted.columns = self.as_named(&inserted.columns, mapped);
            deleted.columns = self.as_named(&deleted.columns, mapped);
        }
        let mut tables = Vec::new();
        if with_inserted {
            tables.push(inserted);
        }
        if with_deleted {
            tables.push(deleted);
        }
        tables.append(&mut others);
        self.scopes.push(Scope { tables, place: Place::Output });
        let columns = self.output_columns(&output.items);
        let also = self.output_columns(&output.also);
        self.scopes.pop();
        let (columns, also) = (columns?, also?);
        let into = match &output.into {
            None => None,
            Some(target) => {
                self.check_into(target)?;
                if let ast::Target::Table { name, .. } = target
                    && self.other_database(name).is_some()
                {
                    let what = format!("OUTPUT INTO a table of another database ({name})");
                    return Err(BindError::unsupported(what, self.line));
                }
                let (table, _) = self.target(target)?;
                self.check_history(&table, 13559)?;
                self.check_into_table(target, &table, !also.is_empty())?;
                let ordinals = self.insert_columns(&table, &output.columns)?;
                let listed = !output.columns.is_empty();
                self.check_width(columns.len(), ordinals.len(), listed, (120, 121))?;
                let mut given = vec![None; table.columns.len()];
                for (position, ordinal) in ordinals.iter().enumerate() {
                    if let Some(ordinal) = ordinal {
                        given[*ordinal] = Some(position);
                    }
                }
                let values =
                    columns.iter().map(|(c, _)| Some(Expr::col(c.id, c.ty, c.nullable))).collect();
                let row = self.insert_row(&table, &given, values)?;
                Some((table, row))
            }
        };
        Ok(Output { inserted: inserted_ids, deleted: deleted_ids, columns, into, also })
    }

    /// OUTPUT INTO a view or common table expression: 330.
    fn check_into(&self, target: &ast::Target) -> Result<()> {
        let ast::Target::Table { name, .. } = target else { return Ok(()) };
        let cte = name.schema.is_none() && self.find_cte(&name.name.value).is_some();
        if !cte && !self.is_view(name) {
            return Ok(());
        }
        let what = "cannot be a view or common table expression.";
        let text = format!("The target '{name}' of the OUTPUT INTO clause {what}");
        Err(BindError::new(330, 16, self.line, text))
    }

    /// What the table of OUTPUT INTO cannot have: 331, 332, 333, and 359 where rows go to the client `also`. A table
    /// variable may have CHECK constraints.
    fn check_into_table(&self, target: &ast::Target, table: &TableDef, also: bool) -> Result<()> {
        let shown = crate::nested::shown_target(target);
        let refused = |number: i32, what: String| {
            let text = format!("The target table '{shown}' of the OUTPUT INTO clause {what}");
            Err(BindError::new(number, 16, self.line, text))
        };
        if self.has_triggers(table) {
            return refused(331, "cannot have any enabled triggers.".into());
        }
        if let Some(key) = self.reference_of(table) {
            let what = "cannot be on either side of a (primary key, foreign key) relationship.";
            return refused(332, format!("{what} Found reference constraint '{key}'."));
        }
        let checks = match table.place {
            catalog::Place::Variable(_) => &[][..],
            _ => &table.checks,
        };
        let check = checks.iter().find(|check| !check.disabled);
        if let Some(found) = check.map(|c| c.name.to_string()).or_else(|| self.rule_of(table)) {
            let what = "cannot have any enabled check constraints or any enabled rules.";
            return refused(333, format!("{what} Found check constraint or rule '{found}'."));
        }
        let ignores = table.indexes.iter().any(|index| index.ignore_dup_key);
        if also && (ignores || table.ignores_dup_key()) {
            let text = format!(
                "The target '{shown}' of an OUTPUT INTO clause has an index with the ignore_dup_key option and cannot be \
                 used when an OUTPUT clause is also used."
            );
            return Err(BindError::new(359, 16, self.line, text));
        }
        Ok(())
    }

    fn output_columns(&mut self, items: &[ast::SelectItem]) -> Result<Vec<(OutputColumn, Expr)>> {
        let mut columns = Vec::new();
        for item in items {
            match item {
                ast::SelectItem::Wildcard { qualifier, span } => {
                    let parts: Vec<ast::Ident> = qualifier.iter().map(|q| q.name.clone()).collect();
                    let scope = self.scopes.last().expect("pushed by output");
                    let found: Vec<ScopeColumn> = scope
                        .tables
                        .iter()
                        .filter(|t| answers_to(t, &parts))
                        .flat_map(|t| t.columns.clone())
                        .filter(|c| !self.hidden.contains(&c.id))
                        .collect();
                    if found.is_empty() {
                        return Err(BindError::new(
                            107,
                            15,
                            span.line.max(1),
                            format!(
                                "The column prefix '{}' does not match with a table name or alias \
                                 name used in the query.",
                                qualifier.as_ref().map_or(String::new(), ToString::to_string)
                            ),
                        ));
                    }
                    for c in found {
                        self.note_use(&c, ColumnUse::Read);
                        let column = OutputColumn {
                            base: None,
                            collation: self.collation_of_column(c.id, c.ty),
                            name: c.name,
                            id: self.new_col(),
                            ty: c.ty,
                            nullable: true,
                            identity: None,
                            updatable: false,
                        };
                        let value = match self.volatile.get(&c.id) {
                            Some(value) => value.clone(),
                            None => Expr::col(c.id, c.ty, c.nullable),
                        };
                        columns.push((column, value));
                    }
                }
                ast::SelectItem::Expr { expr, alias } => {
                    let bound = self.expr(expr)?;
                    if bound.any(&mut |e| matches!(e.kind, ExprKind::Subquery { .. })) {
                        let text = "Subqueries are not allowed in the OUTPUT clause.";
                        return Err(BindError::new(10705, 15, expr.span.line.max(1), text));
                    }
                    let name = match (&alias, &expr.kind) {
                        (Some(alias), _) => Some(alias.value.clone()),
                        (None, ast::ExprKind::Column(c)) if !bound.is_method() => {
                            Some(self.shown_name(c))
                        }
                        _ => None,
                    };
                    let column = OutputColumn {
                        base: None,
                        collation: self.collation_of(&bound),
                        name,
                        id: self.new_col(),
                        ty: bound.ty,
                        nullable: true,
                        identity: None,
                        updatable: false,
                    };
                    columns.push((column, bound));
                }
                ast::SelectItem::Assign { .. } => {
                    return Err(self.error(102, "Incorrect syntax near '='."));
                }
            }
        }
        Ok(columns)
    }

    /// The columns of a table as a target has them whose names come from them.
    fn as_named(&mut self, columns: &[ScopeColumn], mapped: &Mapped) -> Vec<ScopeColumn> {
        let mut named = Vec::with_capacity(mapped.len());
        for own in mapped {
            let Some(at) = own.ordinal else { continue };
            self.stands_for_exposed(columns[at].id, own.id);
            named.push(ScopeColumn { name: Some(own.name.clone()), ..columns[at].clone() });
        }
        named
    }
}
