//! Collations of expressions: which rule a comparison goes by.
//!
//! COLLATE makes an expression explicit, a table's column is implicit in the column's collation, all else is the
//! database's and gives way. That holds for what is computed from them. Explicit beats implicit, implicit beats the
//! database's; two explicit or two implicit ones that differ do not compare (468). Source: SQL documentation,
//! "Collation precedence".
//!
//! A text carries its rule at run time, and what is read of a column has the column's. So a comparison with a column
//! needs nothing more, and can seek an index, whose keys are ordered by the same rule; a COLLATE is a function around
//! both sides.
//!
//! In a database of another collation than the usual one (crate `catalog`, `collation.rs`) texts that belong to no column
//! are given its rule where they are bound (`collate/given.rs`).

use ir::*;
use types::collation::{CodePage, Collation, Rule};
use types::{SqlType, Value};

mod given;
mod page;

use crate::context::Binder;
use crate::notes::Label;
use semantics::typing::{call, collate};
use semantics::{BindError, Result};

impl Label {
    fn implicit(collation: Collation) -> Label {
        Label {
            rule: collation.rule(),
            name: collation.name(),
            explicit: false,
            conflict: None,
            bare: false,
        }
    }
}

impl Binder<'_> {
    /// Keeps in mind that a column of the select list has a collation of its own.
    #[inline(never)]
    pub(crate) fn note_collation(&mut self, id: ColId, e: &Expr) {
        if let Some(found) = self.label(e) {
            let marked = given::rule_over(e).is_some();
            let bare = !(marked || self.carries(e));
            self.collated.insert(id, Label { bare, ..found });
        }
    }

    /// Keeps in mind the collations of a table's columns, in order.
    pub(crate) fn note_columns(&mut self, table: &catalog::TableDef, ids: &[ColId]) {
        for (c, id) in table.columns.iter().zip(ids) {
            self.note_column(c, *id);
        }
        if let (Some(first), Some(last)) = (ids.first(), ids.last()) {
            self.base_columns.push((first.0, last.0));
        }
    }

    /// The same for one of them.
    pub(crate) fn note_column(&mut self, column: &catalog::ColumnDef, id: ColId) {
        if column.collation != self.usual.collation && column.ty.is_character() {
            self.collated.insert(id, Label::implicit(column.collation));
        }
    }

    /// The same for a row whose values do not carry their columns' rules; ids are ordinals.
    pub(crate) fn note_row(&mut self, table: &catalog::TableDef) {
        self.note_values(table.columns.iter().map(|c| (c.ty, c.collation)));
    }

    /// The same for columns that are being defined.
    pub(crate) fn note_values(&mut self, columns: impl Iterator<Item = (SqlType, Collation)>) {
        for (i, (ty, collation)) in columns.enumerate() {
            let told = collation != self.usual.collation || self.usual.rule.is_some();
            if told && ty.is_character() {
                let label = Label { bare: true, ..Label::implicit(collation) };
                self.collated.insert(ColId(i as u32), label);
            }
        }
    }

    /// The collation that a column made of the expression has.
    pub(crate) fn collation_of(&self, e: &Expr) -> Collation {
        if !e.ty.is_character() {
            return Collation::default();
        }
        self.label(e).and_then(|l| Collation::of_name(&l.name)).unwrap_or(self.usual.collation)
    }

    /// The collation that is known of a column.
    pub(crate) fn collation_of_column(&self, id: ColId, ty: SqlType) -> Collation {
        let found = self.collated.get(&id).and_then(|l| Collation::of_name(&l.name));
        found.unwrap_or_else(|| self.usual_of(ty))
    }

    /// The database's collation for a text, the default for anything else, as columns have it.
    pub(crate) fn usual_of(&self, ty: SqlType) -> Collation {
        if ty.is_character() { self.usual.collation } else { Collation::default() }
    }

    /// `expr COLLATE name`: 447, 448.
    #[inline(never)]
    pub(crate) fn collate(&self, input: Expr, name: &str, line: u32) -> Result<Expr> {
        if !input.ty.is_character() && !input.is_null_constant() {
            return Err(wrong_type(input.ty, line));
        }
        let usual_name = self.usual.collation.name();
        let name = if Collation::is_databases(name) { usual_name.as_str() } else { name };
        let Some(rule) = Rule::of_name(name) else { return Err(unknown(name, "", line)) };
        if !input.ty.is_unicode() && rule.code_page() == CodePage::Absent {
            return Err(unicode_only(name, line));
        }
        // What is usual anyway changes nothing, so that an index may still be used.
        let usual = rule == Rule::CiAs && self.collated.is_empty() && self.label(&input).is_none();
        if input.is_null_constant() || usual && name.eq_ignore_ascii_case(&usual_name) {
            return Ok(input);
        }
        self.collates.set(true);
        Ok(collate(input, rule, name))
    }

    /// COLLATE of a column; without it the database's, which for a temporary table is that of tempdb. 447, 448; what is
    /// not there is refused by name.
    pub(crate) fn column_collation(
        &self,
        table: &str,
        name: Option<&syntax::ast::Ident>,
        ty: SqlType,
        line: u32,
    ) -> Result<Collation> {
        let Some(name) = name else {
            if table.starts_with('#') || !ty.is_character() {
                return Ok(Collation::default());
            }
            self.touched.set(true);
            return Ok(self.usual.collation);
        };
        if !ty.is_character() {
            return Err(wrong_type(ty, line));
        }
        let name = name.value.as_str();
        if Collation::is_databases(name) {
            return Ok(self.usual.collation);
        }
        match Collation::of_name(name) {
            Some(found) if found.page() == CodePage::Absent && !ty.is_unicode() => {
                Err(unicode_only(&found.name(), line))
            }
            Some(found) => Ok(found),
            None => Err(unknown(name, " of a column", line)),
        }
    }

    /// A value for a column, of its type. What goes into varchar in another code page than the database's is converted
    /// there, also from varchar.
    pub(crate) fn store(
        &self,
        value: Expr,
        ty: SqlType,
        collation: Collation,
        ordinal: usize,
    ) -> Result<Expr> {
        let apart = ty.is_character()
            && !ty.is_unicode()
            && [collation, self.usual.collation].iter().any(|c| c.page() != CodePage::Cp1252)
            && value.ty.is_character()
            && value.ty != crate::UNDECLARED
            && !value.is_null_constant();
        let value = match self.usual.rule {
            Some(_) if !apart => given::bare(value),
            _ => value,
        };
        let value = match apart {
            true => {
                let wide = SqlType::NVarChar(types::Len::Max);
                Expr { ty: wide, ..collate(value, collation.rule(), &collation.name()) }
            }
            false => value,
        };
        self.coerce(value, ty, CastMode::Store { column: ordinal as u16 })
    }

    /// 468 for texts that meet in `operation` ("add") under two explicit collations.
    #[inline(never)]
    pub(crate) fn explicit_once(&self, texts: &[&Expr], operation: &str) -> Result<()> {
        if !self.collates.get() {
            return Ok(());
        }
        let mut explicit = texts.iter().filter_map(|e| self.label(e)).filter(|l| l.explicit);
        let Some(first) = explicit.next() else { return Ok(()) };
        match explicit.find(|other| !other.name.eq_ignore_ascii_case(&first.name)) {
            Some(other) => {
                Err(self.error(468, conflict(&first.name, &other.name, operation)).with_state(9))
            }
            None => Ok(()),
        }
    }

    /// 451 for a column of a result, by its number, that texts of two collations were put together in. What is under an
    /// explicit one has that.
    pub(crate) fn has_collation(&self, e: &Expr, column: usize) -> Result<()> {
        if !e.ty.is_character() || (self.collated.is_empty() && !self.collates.get()) {
            return Ok(());
        }
        let (parts, operator): (Vec<&Expr>, &str) = match &e.kind {
            ExprKind::Cast { input, .. } => return self.has_collation(input, column),
            ExprKind::Func { func: FuncId::Collate(_), args } if args.len() != 2 => {
                return self.has_collation(&args[0], column);
            }
            ExprKind::Concat { left, right } => (vec![left, right], "add"),
            ExprKind::Case { branches, otherwise } => {
                let results = branches.iter().map(|(_, result)| result);
                (results.chain(otherwise.as_deref()).collect(), "CASE")
            }
            _ => return Ok(()),
        };
        self.one_collation(&parts, operator, column)?;
        if self.label(e).is_some_and(|label| label.explicit) {
            return Ok(());
        }
        parts.into_iter().try_for_each(|part| self.has_collation(part, column))
    }

    /// 451 where texts with two implicit collations become one column of a result.
    pub(crate) fn one_collation(
        &self,
        parts: &[&Expr],
        operator: &str,
        column: usize,
    ) -> Result<()> {
        let labels: Vec<_> = parts.iter().map(|part| self.label(part)).collect();
        if labels.iter().flatten().any(|label| label.explicit) {
            return Ok(());
        }
        let usual = self.usual.collation.name();
        let mut names = parts.iter().zip(labels).filter_map(|(part, label)| match label {
            Some(label) => Some(label.name),
            None => self.is_of_table(part).then(|| usual.clone()),
        });
        let Some(first) = names.next() else { return Ok(()) };
        match names.find(|name| !name.eq_ignore_ascii_case(&first)) {
            Some(other) => Err(self.error(
                451,
                format!(
                    "Cannot resolve collation conflict between \"{other}\" and \"{first}\" in {operator} operator \
                     occurring in SELECT statement column {column}."
                ),
            )),
            None => Ok(()),
        }
    }

    /// Two texts that meet in `operation` ("equal to"), under one rule; 468.
    #[inline(never)]
    pub(crate) fn one_rule(
        &self,
        left: Expr,
        right: Expr,
        operation: &str,
    ) -> Result<(Expr, Expr)> {
        if !(left.ty.is_character() && right.ty.is_character()) {
            return Ok((left, right));
        }
        let (a, b) = (self.label(&left), self.label(&right));
        if a.is_none() && b.is_none() {
            return Ok((left, right));
        }
        let conflict = |a: &str, b: &str| self.error(468, conflict(a, b, operation)).with_state(9);
        for (one, other) in [(&a, &b), (&b, &a)] {
            if let Some(Label { conflict: Some(second), name, .. }) = one
                && !other.as_ref().is_some_and(|o| o.explicit)
            {
                return Err(conflict(name, second));
            }
        }
        let usual = self.usual.collation.name();
        let chosen = match (a, b) {
            (Some(a), Some(b)) if a.explicit == b.explicit => {
                if !a.name.eq_ignore_ascii_case(&b.name) {
                    return Err(conflict(&a.name, &b.name));
                }
                a
            }
            (Some(a), Some(b)) => {
                if a.explicit {
                    a
                } else {
                    b
                }
            }
            (Some(one), None) => {
                if !one.explicit && self.is_of_table(&right) && one.name != usual {
                    return Err(conflict(&one.name, &usual));
                }
                one
            }
            (None, Some(one)) => {
                if !one.explicit && self.is_of_table(&left) && one.name != usual {
                    return Err(conflict(&usual, &one.name));
                }
                one
            }
            (None, None) => return Ok((left, right)),
        };
        if self.usual.rule.is_some() {
            return Ok((self.fitting(left, chosen.rule), self.fitting(right, chosen.rule)));
        }
        if chosen.explicit {
            let (rule, name) = (chosen.rule, chosen.name);
            return Ok((collate(left, rule, &name), collate(right, rule, &name)));
        }
        // What is read of a column has its rule already, which a constant gives way to.
        let settled = match (self.carries(&left), self.carries(&right)) {
            (true, true) => true,
            (true, false) => is_fixed(&right),
            (false, true) => is_fixed(&left),
            (false, false) => false,
        };
        if chosen.rule == Rule::CiAs || settled {
            return Ok((left, right));
        }
        Ok((collate(left, chosen.rule, &chosen.name), collate(right, chosen.rule, &chosen.name)))
    }

    /// Is it a column whose values carry its rule?
    fn carries(&self, e: &Expr) -> bool {
        matches!(e.kind, ExprKind::Col(id) if self.collated.get(&id).is_some_and(|l| !l.bare))
    }

    /// What a variable is given has the database's collation from then on.
    pub(crate) fn plain_text(&self, e: Expr) -> Expr {
        let e = self.cast_to_usual_page(e);
        if self.usual.rule.is_some() {
            return self.ungiven(e);
        }
        match self.label(&e) {
            Some(l) if l.rule != Rule::CiAs && e.ty.is_character() => given::under(e, Rule::CiAs),
            _ => e,
        }
    }

    /// Is it a table's column as it is, or computed from one?
    pub fn is_of_table(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Col(id) => {
                self.base_columns.iter().any(|(first, last)| (*first..=*last).contains(&id.0))
            }
            _ if !e.ty.is_character() => false,
            // It is nobody's any more.
            ExprKind::Func { func: FuncId::Collate(_), args } if args.len() == 1 => false,
            ExprKind::Func { args, .. } => args.iter().any(|e| self.is_of_table(e)),
            ExprKind::Concat { left, right } => self.is_of_table(left) || self.is_of_table(right),
            ExprKind::Cast { input, .. } => self.is_of_table(input),
            _ => false,
        }
    }

    /// The collation of an expression, seen through what is computed from it.
    fn label(&self, e: &Expr) -> Option<Label> {
        if !e.ty.is_character() {
            return None;
        }
        match &e.kind {
            ExprKind::Col(id) if !self.collated.is_empty() => self.collated.get(id).cloned(),
            ExprKind::Func { func: FuncId::Collate(_), args } if args.len() == 1 => None,
            ExprKind::Func { func: FuncId::Collate(rule), args } => {
                let name = match &args[1].kind {
                    ExprKind::Const(Value::Str(name)) => name.to_string(),
                    _ => String::new(),
                };
                let explicit = args.len() == 2;
                Some(Label { rule: *rule, name, explicit, conflict: None, bare: false })
            }
            ExprKind::Subquery { kind: SubqueryKind::Scalar, query }
                if self.usual.rule.is_some() =>
            {
                self.collated.get(&query.output.first()?.id).cloned()
            }
            ExprKind::Func { args, .. } => self.of_several(args.iter()),
            ExprKind::Concat { left, right } => self.of_several([&**left, right].into_iter()),
            ExprKind::Cast { input, .. } => self.label(input),
            ExprKind::Case { branches, otherwise } => {
                let results = branches.iter().map(|(_, result)| result);
                self.of_several(results.chain(otherwise.as_deref()))
            }
            _ => None,
        }
    }

    fn of_several<'e>(&self, all: impl Iterator<Item = &'e Expr>) -> Option<Label> {
        let mut found: Option<Label> = None;
        for label in all.filter_map(|e| self.label(e)) {
            match &mut found {
                None => found = Some(label),
                Some(known) if label.explicit && !known.explicit => found = Some(label),
                Some(known) if known.explicit => {}
                Some(known) if known.name != label.name => known.conflict = Some(label.name),
                Some(_) => {}
            }
        }
        found
    }
}

/// The same for every row: what seeks may compare with.
fn is_fixed(e: &Expr) -> bool {
    !e.any(&mut |e| matches!(e.kind, ExprKind::Col(_) | ExprKind::Subquery { .. }))
}

fn wrong_type(ty: SqlType, line: u32) -> BindError {
    let text = format!("Expression type {} is invalid for COLLATE clause.", ty.message_name());
    BindError::new(447, 16, line, text)
}

fn unicode_only(name: &str, line: u32) -> BindError {
    let text = format!(
        "Collation '{name}' is supported on Unicode data types only and cannot be applied to char, varchar or text \
         data types."
    );
    BindError::new(459, 16, line, text)
}

/// A collation that is not there: refused by name if SQL Server has it.
fn unknown(name: &str, place: &str, line: u32) -> BindError {
    match Collation::is_elsewhere(name) {
        true => BindError::unsupported(format!("COLLATE {name}{place}"), line),
        false => BindError::new(448, 16, line, format!("Invalid collation '{name}'.")),
    }
}

/// The text of 468.
fn conflict(left: &str, right: &str, operation: &str) -> String {
    format!(
        "Cannot resolve the collation conflict between \"{right}\" and \"{left}\" in the {operation} operation."
    )
}
