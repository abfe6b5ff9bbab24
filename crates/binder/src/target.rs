//! The target of a change, and of an UPDATE or DELETE its place among the sources of its FROM: a table, or a view, common
//! table expression or derived table that rows of one come through.
//!
//! Invariant: exactly one reading has the locator, but where a trigger of a view runs instead: then it is a constant.

use std::sync::Arc;

use catalog::{Event, TableDef};
use ir::*;
use syntax::ast;

use crate::context::*;
use crate::instead::{Instead, with_locator};
use crate::updatable::Mapped;
use semantics::hints;
use semantics::{BindError, Result};

/// The rows that an UPDATE or DELETE changes.
pub(crate) struct ChangeSource {
    pub table: Arc<TableDef>,
    pub hints: TableHints,
    pub rel: Rel,
    pub locator: ColId,
    pub old: Vec<ColId>,
    pub tables: Vec<ScopeTable>,
    /// Of a target that is no table: what its columns are in the table.
    pub mapped: Option<Mapped>,
    /// Of a view: the trigger that runs instead.
    pub instead: Option<Arc<Fires>>,
    pub check: Option<Arc<Expr>>,
}

impl Binder<'_> {
    /// The table that a statement changes, with its hints: 208, 1087, 10700.
    pub fn target<'t>(
        &self,
        target: &'t ast::Target,
    ) -> Result<(Arc<TableDef>, &'t [ast::TableHint])> {
        match target {
            ast::Target::Table { name, hints } => Ok((self.target_table(name)?, hints)),
            ast::Target::Variable(v) => Ok((self.writable_variable(v)?, &[])),
        }
    }

    /// The table that a statement changes; 208.
    fn target_table(&self, name: &ast::ObjectName) -> Result<Arc<TableDef>> {
        self.of_this_server(name)?;
        let wanted = self.meant(name);
        let line = name.span.line.max(1);
        if name.schema.is_none() && self.frame.table(&name.name.value).is_some() {
            return Err(BindError::new(
                286,
                16,
                line,
                "The logical tables INSERTED and DELETED cannot be updated.",
            ));
        }
        self.table(&wanted).ok_or_else(|| match self.names.view(&wanted) {
            Some(_) => BindError::unsupported(format!("change of rows of view {name} here"), line),
            None => self.no_object(name, &wanted),
        })
    }

    pub fn writable_variable(&self, v: &ast::Variable) -> Result<Arc<TableDef>> {
        let table = self.table_variable(v)?;
        if table.readonly {
            return Err(BindError::new(
                10700,
                16,
                v.span.line.max(1),
                format!(
                    "The table-valued parameter \"{}\" is READONLY and cannot be modified.",
                    v.name
                ),
            ));
        }
        Ok(table.def.clone())
    }

    /// `database.schema.table`
    pub fn shown_table(&self, table: &TableDef) -> String {
        let database = match (table.is_private(), &self.away) {
            (true, _) => "tempdb".to_string(),
            (false, Some(away)) => away.database.to_string(),
            (false, None) => self.names.database(),
        };
        format!("{database}.{}.{}", table.schema, table.name)
    }

    /// Rows of a history come from the changes of its table alone: 13559 to 13562.
    pub fn check_history(&self, table: &TableDef, number: i32) -> Result<()> {
        if !matches!(table.temporal, catalog::Temporal::History { .. }) {
            return Ok(());
        }
        let shown = self.shown_table(table);
        let text = match number {
            13559 => format!("Cannot insert rows in a temporal history table '{shown}'."),
            13560 => format!("Cannot delete rows from a temporal history table '{shown}'."),
            13561 => format!("Cannot update rows in a temporal history table '{shown}'."),
            _ => format!("Cannot perform MERGE operation on temporal history table '{shown}'."),
        };
        Err(self.error(number, text))
    }

    /// 271, 272, 273, 13536, 13537: a value for a column whose values the engine makes.
    pub fn made_column(
        &self,
        table: &TableDef,
        column: &catalog::ColumnDef,
        insert: bool,
    ) -> BindError {
        if column.generated.is_some() {
            let shown = self.shown_table(table);
            return match insert {
                true => self.error(
                    13536,
                    format!(
                        "Cannot insert an explicit value into a GENERATED ALWAYS column in table '{shown}'. Use INSERT \
                         with a column list to exclude the GENERATED ALWAYS column, or insert a DEFAULT into GENERATED \
                         ALWAYS column."
                    ),
                ),
                false => self.error(
                    13537,
                    format!("Cannot update GENERATED ALWAYS columns in table '{shown}'."),
                ),
            };
        }
        match (column.rowversion, insert) {
            (false, _) => self.error(
                271,
                format!(
                    "The column \"{}\" cannot be modified because it is either a computed column or \
                     is the result of a UNION operator.",
                    column.name
                ),
            ),
            (true, true) => self.error(
                273,
                "Cannot insert an explicit value into a timestamp column. Use INSERT with a column \
                 list to exclude the timestamp column, or insert a DEFAULT into the timestamp column.",
            ),
            (true, false) => self.error(272, "Cannot update a timestamp column."),
        }
    }

    /// FROM of an UPDATE or DELETE: the target among it, with its locator.
    pub fn change_source(
        &mut self,
        target: &ast::Target,
        from: &[ast::TableRef],
        filter: Option<&ast::Expr>,
        current_of: Option<&ast::CursorName>,
        top: Option<&ast::Top>,
        set: Option<&[String]>,
    ) -> Result<ChangeSource> {
        let target_hints = match target {
            ast::Target::Table { hints, .. } => hints.as_slice(),
            ast::Target::Variable(v) => {
                self.writable_variable(v)?;
                &[]
            }
        };
        let event = if set.is_some() { Event::Update } else { Event::Delete };
        let target_hints_bound = hints::target_hints(target_hints, Some(event))?;
        let locator = self.new_col();
        let mut mapped = None;
        let mut instead = if from.is_empty() { self.instead_of(target, event)? } else { None };
        let through = if from.is_empty() { self.target_rows(target, None)? } else { None };
        let (mut rel, tables, old) = if let (Some(_), Some(source)) = (&instead, &through) {
            let old = source.tables[0].columns.iter().map(|c| c.id).collect();
            (with_locator(source.rel.clone(), &source.tables, locator), source.tables.clone(), old)
        } else if let Some(mut source) = through {
            let scope = source.tables[0].clone();
            self.note_written(&scope, set.unwrap_or_default().iter().map(String::as_str));
            let (old, names) =
                self.through(&mut source.rel, &scope, set, locator, target_hints_bound)?;
            mapped = Some(names);
            (source.rel, source.tables, old)
        } else if from.is_empty() {
            let (table, _) = self.target(target)?;
            let (mut get, scope) = self.get(table, None, target_hints)?;
            get.locator = Some(locator);
            get.database = self.database_of(target);
            let old = get.columns.clone();
            (self.filtered(get)?, vec![scope], old)
        } else {
            let source = self.from(from)?;
            let (parts, shown, line) = match target {
                ast::Target::Table { name, .. } => {
                    let parts = name.schema.iter().cloned().chain([name.name.clone()]).collect();
                    (parts, name.to_string(), name.span.line.max(1))
                }
                ast::Target::Variable(v) => {
                    let name = ast::Ident { value: v.name.clone(), quoted: false, span: v.span };
                    (vec![name], v.name.clone(), v.span.line.max(1))
                }
            };
            let (first, source) = match self.find_target(&parts, &shown, line, from, &source) {
                Ok(first) => (first, source),
                Err(error) if error.number == AMBIGUOUS => return Err(error),
                // A target that FROM does not name is one more table of it.
                Err(error) => {
                    let Ok((table, _)) = self.target(target) else { return Err(error) };
                    let (mut get, scope) = self.get(table, None, target_hints)?;
                    get.database = self.database_of(target);
                    let first = get.columns[0];
                    let (left, right) = (Box::new(self.filtered(get)?), Box::new(source.rel));
                    let rel = Rel::Join { kind: JoinKind::Cross, left, right, on: None };
                    let tables = std::iter::once(scope).chain(source.tables).collect();
                    (first, Source { rel, tables })
                }
            };
            let mut rel = source.rel;
            let mut old = None;
            let exposed = source.tables.iter().find(|t| t.columns[0].id == first);
            match exposed.and_then(|t| self.view_among(from, &t.name)) {
                Some(view) => instead = self.instead_of_view(&view, event)?,
                None => set_locator(&mut rel, first, locator, target_hints_bound, &mut old),
            }
            let old = match old {
                Some(old) => old,
                None if instead.is_some() => {
                    rel = with_locator(rel, &source.tables, locator);
                    let target = source.tables.iter().find(|t| t.columns[0].id == first);
                    target.map_or_else(Vec::new, |t| t.columns.iter().map(|c| c.id).collect())
                }
                // A view, a common table expression or a derived table among FROM's.
                None => {
                    let scope = source.tables.iter().find(|t| t.columns[0].id == first).cloned();
                    let Some(scope) = scope else {
                        return Err(BindError::invalid_object(&shown, line));
                    };
                    self.note_written(&scope, set.unwrap_or_default().iter().map(String::as_str));
                    let (old, names) =
                        self.through(&mut rel, &scope, set, locator, target_hints_bound)?;
                    mapped = Some(names);
                    old
                }
            };
            (rel, source.tables, old)
        };
        self.scopes.push(Scope::of(tables.clone()));
        self.selects.push(SelectState::new(self.scopes.len()));
        let result = (|| {
            if let Some(filter) = filter {
                let predicate = self.in_clause(Clause::Where, |b| b.condition(filter))?;
                let input = Box::new(std::mem::replace(&mut rel, Rel::OneRow));
                rel = Rel::Filter { input, predicate };
            }
            if let Some(cursor) = current_of {
                if instead.is_some() {
                    let what = "WHERE CURRENT OF for a view with an INSTEAD OF trigger";
                    return Err(BindError::unsupported(what, self.line));
                }
                let (table, ..) = find_get(&rel, locator).expect("the locator was just placed");
                let predicate =
                    self.current_of(cursor, &table, locator, &old, set.unwrap_or_default())?;
                let input = Box::new(std::mem::replace(&mut rel, Rel::OneRow));
                rel = Rel::Filter { input, predicate };
            }
            if let Some(top) = top {
                let input = std::mem::replace(&mut rel, Rel::OneRow);
                rel = self.top(input, top, Vec::new())?;
            }
            Ok(())
        })();
        self.selects.pop();
        self.scopes.pop();
        result?;
        if let Some(Instead { table, fires }) = instead {
            let (hints, instead) = (target_hints_bound, Some(fires));
            return Ok(ChangeSource {
                table,
                hints,
                rel,
                locator,
                old,
                tables,
                mapped,
                instead,
                check: None,
            });
        }
        let (table, hints, database) =
            find_get(&rel, locator).expect("the locator was just placed");
        self.goes_to(database);
        let check = match (set, old.first()) {
            (Some(_), Some(first)) => self.check_option(*first)?,
            _ => None,
        };
        Ok(ChangeSource { table, hints, rel, locator, old, tables, mapped, instead: None, check })
    }

    /// The database that the target names, when its table is of another one.
    pub(crate) fn database_of(&self, target: &ast::Target) -> Option<Arc<str>> {
        match target {
            ast::Target::Table { name, .. } => self.other_database(name),
            ast::Target::Variable(_) => None,
        }
    }

    /// The first column's id of the FROM item that the target names (alias, else table); 208, 8154.
    fn find_target(
        &self,
        parts: &[ast::Ident],
        shown: &str,
        line: u32,
        from: &[ast::TableRef],
        Source { rel, tables }: &Source,
    ) -> Result<ColId> {
        let name = parts.last().map_or("", |part| &part.value);
        let found = tables
            .iter()
            .find(|t| answers_to(t, parts))
            .or_else(|| tables.iter().find(|t| catalog::same_name(&t.name, name)));
        if let Some(found) = found {
            return Ok(found.columns[0].id);
        }
        // Under an alias the table still answers to its own name, if it is there once.
        let mut aliases = Vec::new();
        aliases_of(from, name, &mut aliases);
        match aliases[..] {
            [] => {}
            [alias] => {
                if let Some(found) = tables.iter().find(|t| catalog::same_name(&t.name, alias)) {
                    return Ok(found.columns[0].id);
                }
            }
            _ => {
                let text = format!("The table '{shown}' is ambiguous.");
                return Err(BindError::new(AMBIGUOUS, 16, line, text));
            }
        }
        let mut gets = Vec::new();
        tables_of(rel, &mut gets);
        gets.retain(|get| catalog::same_name(&get.table.name, name));
        if let [get] = gets[..] {
            return Ok(get.columns[0]);
        }
        Err(BindError::invalid_object(shown, line))
    }
}

/// A target that several sources of FROM could be.
const AMBIGUOUS: i32 = 8154;

/// The aliases that FROM gives to a table or table variable of the name.
fn aliases_of<'f>(from: &'f [ast::TableRef], wanted: &str, out: &mut Vec<&'f str>) {
    for item in from {
        match item {
            ast::TableRef::Named { name, alias: Some(alias), .. }
                if catalog::same_name(&name.name.value, wanted) =>
            {
                out.push(&alias.value);
            }
            ast::TableRef::Variable { name, alias: Some(alias) }
                if catalog::same_name(&name.name, wanted) =>
            {
                out.push(&alias.value);
            }
            ast::TableRef::Join { left, right, .. } => {
                aliases_of(std::slice::from_ref(left), wanted, out);
                aliases_of(std::slice::from_ref(right), wanted, out);
            }
            _ => {}
        }
    }
}

/// Puts the locator on the reading whose first column is `first`.
fn set_locator(
    rel: &mut Rel,
    first: ColId,
    locator: ColId,
    hints: TableHints,
    old: &mut Option<Vec<ColId>>,
) {
    if let Rel::Get(get) = rel
        && get.columns.first() == Some(&first)
    {
        get.locator = Some(locator);
        if hints != TableHints::default() {
            get.hints = hints;
        }
        *old = Some(get.columns.clone());
        return;
    }
    // Not below groupings and the like: their columns are no longer the table's rows.
    match rel {
        Rel::Join { left, right, .. } | Rel::Apply { left, right, .. } => {
            set_locator(left, first, locator, hints, old);
            set_locator(right, first, locator, hints, old);
        }
        Rel::Filter { input, .. } | Rel::Top { input, .. } | Rel::Sort { input, .. } => {
            set_locator(input, first, locator, hints, old);
        }
        _ => {}
    }
}

/// Readings of tables that a change can reach.
fn tables_of<'r>(rel: &'r Rel, out: &mut Vec<&'r Get>) {
    match rel {
        Rel::Get(get) => out.push(get),
        Rel::Join { .. } | Rel::Apply { .. } | Rel::Filter { .. } | Rel::Top { .. } => {
            rel.inputs().into_iter().for_each(|input| tables_of(input, out));
        }
        _ => {}
    }
}

/// The table of the reading that has the locator, its hints, and the database if another one is named.
pub(crate) fn find_get(
    rel: &Rel,
    locator: ColId,
) -> Option<(Arc<TableDef>, TableHints, Option<Arc<str>>)> {
    if let Rel::Get(get) = rel
        && get.locator == Some(locator)
    {
        return Some((get.table.clone(), get.hints, get.database.clone()));
    }
    rel.inputs().into_iter().find_map(|input| find_get(input, locator))
}
