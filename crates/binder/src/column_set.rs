//! COLUMN_SET FOR ALL_SPARSE_COLUMNS: all sparse columns of a table as one column of type xml.
//!
//! No row keeps it. Whoever reads it gets the sparse columns that are not NULL, an element each; whoever gives it a value
//! gives the sparse columns theirs, NULL to those that the value does not name. `*` shows it in place of the sparse columns.
//!
//! Source: SQL documentation, "Use Column Sets"; numbers and texts are those of sys.messages.

use crate::context::Binder;
use catalog::{ColumnDef, ColumnSpec, TableDef};
use ir::*;
use semantics::typing::{call, nullable};
use semantics::{BindError, Result};
use types::{Len, SqlType, Value};

impl Binder<'_> {
    /// What a column set is worth in a row with these columns.
    pub(crate) fn column_set_value(&self, table: &TableDef, ids: &[ColId]) -> Expr {
        let mut args = Vec::new();
        for (column, id) in table.columns.iter().zip(ids).filter(|(c, _)| c.marks.sparse) {
            args.push(name_of(&semantics::xml_names::xml_name(&column.name, &[])));
            args.push(Expr::col(*id, column.ty, true));
        }
        nullable(call(FuncId::ColumnSet, args, SqlType::Xml))
    }

    /// The value that an INSERT gives the column set, if it gives one; 360.
    pub(crate) fn given_set(
        &mut self,
        table: &TableDef,
        given: &[Option<usize>],
        values: &mut [Option<Expr>],
    ) -> Result<Option<Expr>> {
        let Some(set) = table.column_set() else { return Ok(None) };
        let Some(position) = given[set] else { return Ok(None) };
        let named: Vec<usize> = (0..given.len()).filter(|i| given[*i].is_some()).collect();
        self.check_set_alone(table, &named)?;
        match values[position].take() {
            Some(value) => {
                let set = self.set_as_xml(value)?;
                Ok(Some(self.once(set)?))
            }
            None => Ok(None),
        }
    }

    /// 360 for a column set and a sparse column of it among the columns that are given values.
    pub(crate) fn check_set_alone(&self, table: &TableDef, named: &[usize]) -> Result<()> {
        let has = |f: fn(&ColumnDef) -> bool| named.iter().any(|i| f(&table.columns[*i]));
        match has(|c| c.marks.column_set) && has(|c| c.marks.sparse) {
            false => Ok(()),
            true => Err(self.error(
                360,
                "The target column list of an INSERT, UPDATE, or MERGE statement cannot contain both a sparse column and \
                 the column set that contains the sparse column. Rewrite the statement to include either the sparse column \
                 or the column set, but not both.",
            )),
        }
    }

    /// A value for a column set.
    pub(crate) fn set_as_xml(&self, value: Expr) -> Result<Expr> {
        self.coerce(value, SqlType::Xml, CastMode::Implicit)
    }

    /// A value for a column set as something that each of its columns may read: what is not the same each time it is
    /// computed, or is a query, is computed once, below the statement's rows. 40510 where there is no place for it.
    pub(crate) fn once(&mut self, set: Expr) -> Result<Expr> {
        let differs = set.any(&mut |e| match &e.kind {
            ExprKind::Subquery { .. } => true,
            ExprKind::Func { func: FuncId::User(_) | FuncId::Rand, .. } => true,
            // All copies of it have one number.
            ExprKind::Func { func: FuncId::NextValue(_) | FuncId::ThisValue(_), .. } => false,
            ExprKind::Func { func, .. } => func.is_per_row(),
            _ => false,
        });
        if !differs {
            return Ok(set);
        }
        let id = self.new_col();
        let Some(values) = &mut self.set_values else {
            let what = "a value with a query, a user's function or one that differs from call to call for a column set here";
            return Err(BindError::unsupported(what, self.line));
        };
        let (ty, nullable) = (set.ty, set.nullable);
        values.push((id, set));
        Ok(Expr::col(id, ty, nullable))
    }

    /// The rows of an UPDATE with these values for column sets beside what else is read of them.
    pub(crate) fn beside(
        &self,
        rel: Rel,
        values: Vec<(ColId, Expr)>,
        read: impl Iterator<Item = (ColId, SqlType, bool)>,
    ) -> Rel {
        if values.is_empty() {
            return rel;
        }
        // Each is passed on once.
        let mut left: std::collections::HashSet<ColId> = rel.columns().into_iter().collect();
        let passed = read.filter(|(id, ..)| left.remove(id));
        let mut exprs: Vec<_> =
            passed.map(|(id, ty, null)| (id, Expr::col(id, ty, null))).collect();
        exprs.extend(values);
        Rel::Project { input: Box::new(rel), exprs }
    }

    /// The names that [`Binder::part_of_set`] asks for: the set's, its columns', the table's others', which are shared by
    /// all that have them.
    pub(crate) fn names_of_set(&self, table: &TableDef) -> [Expr; 3] {
        let own = table.column_set().map_or("", |at| &table.columns[at].name);
        let all = |sparse: bool| {
            let those = table.columns.iter().filter(|c| c.marks.sparse == sparse);
            let names: Vec<&str> = those.map(|c| &*c.name).collect();
            Expr::constant(Value::str(&names.join("\0")), SqlType::NVarChar(Len::Max))
        };
        [name_of(own), all(true), all(false)]
    }

    /// What a value for the column set says of one of its columns.
    pub(crate) fn part_of_set(&self, set: &Expr, names: &[Expr; 3], column: &ColumnDef) -> Expr {
        let mut args = vec![set.clone(), name_of(&column.name)];
        args.extend_from_slice(names);
        nullable(call(FuncId::PartOfSet, args, column.ty))
    }

    /// SET of the column set: of each of its columns.
    pub(crate) fn update_by_set(
        &self,
        set: &Expr,
        table: &TableDef,
        out: &mut Vec<UpdateSet>,
    ) -> Result<()> {
        let names = self.names_of_set(table);
        for (ordinal, column) in table.columns.iter().enumerate().filter(|(_, c)| c.marks.sparse) {
            let part = self.part_of_set(set, &names, column);
            let value = self.store(part, column.ty, column.collation, ordinal)?;
            out.push(UpdateSet::Column { ordinal, value });
        }
        Ok(())
    }

    /// 1732, 1734: a column set that is added to a table.
    pub(crate) fn check_new_set(&self, table: &TableDef, added: &[ColumnSpec]) -> Result<()> {
        let Some(set) = added.iter().find(|column| column.marks.column_set) else { return Ok(()) };
        if table.column_set().is_some() {
            return Err(self.second_set(&set.name, &table.name, self.line));
        }
        if table.columns.iter().any(|column| column.marks.sparse) {
            let text = format!(
                "Cannot create the sparse column set '{}' in the table '{}' because the table already contains one or more \
                 sparse columns. A sparse column set cannot be added to a table if the table contains a sparse column.",
                set.name, table.name
            );
            return Err(self.error(1734, text));
        }
        Ok(())
    }

    /// 1732.
    pub(crate) fn second_set(&self, name: &str, table: &str, line: u32) -> BindError {
        let text = format!(
            "Cannot create the sparse column set '{name}' in the table '{table}' because a table cannot have more than one \
             sparse column set. Modify the statement so that only one column is specified as COLUMN_SET FOR \
             ALL_SPARSE_COLUMNS."
        );
        BindError::new(1732, 16, line, text)
    }
}

fn name_of(name: &str) -> Expr {
    Expr::constant(Value::str(name), SqlType::NVarChar(Len::N(128)))
}
