//! The rule of texts that belong to no column, in a database whose collation is not the usual one.
//!
//! A value without a mark goes by the usual rule. So there, and only there, whatever an expression makes of no column is
//! given the database's rule where it is bound: a constant has it in itself, a variable and what is computed stand under
//! [`FuncId::Collate`]. How many arguments that has tells what it is:
//!
//! | arguments | the text is |
//! |---|---|
//! | text | nobody's: it gives way to every column (coercible-default) |
//! | text, name | under a COLLATE (explicit) |
//! | text, name, NULL | computed from a column (implicit) |
//!
//! Promises: a variable is given no rule, so that its value means the same to a procedure of another database; what is
//! stored in a column has the column's rule, whatever it had. With the usual collation nothing is done here.

use super::*;

impl Binder<'_> {
    /// What was bound, with its rule.
    #[inline]
    pub(crate) fn given(&self, e: Expr) -> Expr {
        match self.usual.rule {
            Some(usual) if e.ty.is_character() && e.ty != crate::UNDECLARED => self.give(e, usual),
            _ => e,
        }
    }

    #[inline(never)]
    fn give(&self, mut e: Expr, usual: Rule) -> Expr {
        if e.is_null_constant() || rule_over(&e).is_some() || self.long_name(&e).is_some() {
            return e;
        }
        let label = self.label(&e);
        match &mut e.kind {
            ExprKind::Const(value) => {
                if let Value::Str(text) = value {
                    *text = text.clone().with_rule(label.map_or(usual, |l| l.rule));
                }
                return e;
            }
            ExprKind::Col(id) => {
                let id = *id;
                return match label {
                    Some(label) if label.bare => computed(e, label),
                    None if self.plain.contains(&id) => under(e, usual),
                    _ => e,
                };
            }
            _ => {}
        }
        match label {
            // 468 or 451 is still to come.
            Some(label) if label.conflict.is_some() => e,
            Some(label) if label.explicit => collate(e, label.rule, &label.name),
            Some(label) => computed(e, label),
            None if self.is_of_table(&e) => computed(e, Label::implicit(self.usual.collation)),
            None => under(e, usual),
        }
    }

    /// What several texts go by together: the first explicit one, or else the first; none where that is in conflict.
    fn decisive<'e>(&self, all: impl Iterator<Item = &'e Expr> + Clone) -> Option<Label> {
        let labels = || all.clone().filter_map(|e| self.label(e));
        let chosen = labels().find(|l| l.explicit).or_else(|| labels().next());
        chosen.filter(|l| l.conflict.is_none())
    }

    /// The arguments of a function under one rule.
    pub(crate) fn agree(&self, args: &mut [Expr]) {
        if self.usual.rule.is_none() {
            return;
        }
        let Some(chosen) = self.decisive(args.iter()) else { return };
        for e in args.iter_mut().filter(|e| e.ty.is_character()) {
            *e = self.fitting(std::mem::replace(e, Expr::int(0)), chosen.rule);
        }
    }

    /// The text under the rule, which it may have already.
    pub(super) fn fitting(&self, mut e: Expr, rule: Rule) -> Expr {
        if e.is_null_constant() || self.carried(&e) == Some(rule) {
            return e;
        }
        match &mut e.kind {
            ExprKind::Const(Value::Str(text)) => {
                *text = text.clone().with_rule(rule);
                e
            }
            _ => under(e, rule),
        }
    }

    /// The rule that a value has with it, where that is known.
    fn carried(&self, e: &Expr) -> Option<Rule> {
        match &e.kind {
            ExprKind::Const(value) => Some(value.rule()),
            ExprKind::Col(id) => match self.collated.get(id) {
                Some(label) => (!label.bare).then_some(label.rule),
                None if self.is_of_table(e) => self.usual.rule,
                None => None,
            },
            _ => rule_over(e),
        }
    }

    /// What the columns of two queries have in common that become one: none where they go by the database's.
    pub(crate) fn rule_of_both(&self, a: &Expr, b: &Expr) -> Option<Label> {
        self.usual.rule?;
        let chosen = self.decisive([a, b].into_iter())?;
        let both = [a, b].into_iter().filter_map(|e| self.label(e)).all(|l| l.name == chosen.name);
        (chosen.explicit || both).then_some(Label { explicit: false, bare: false, ..chosen })
    }

    /// The texts of a query's output under these rules, as far as they are not.
    pub(crate) fn bring_under(&mut self, query: &mut Query, rules: &[Option<Label>]) {
        if rules.iter().all(Option::is_none) {
            return;
        }
        let mut exprs = Vec::with_capacity(query.output.len());
        let mut changed = false;
        for (column, rule) in query.output.iter_mut().zip(rules) {
            let value = Expr::col(column.id, column.ty, column.nullable);
            let fits = match rule {
                Some(label) if column.ty.is_character() => self.carried(&value) == Some(label.rule),
                _ => true,
            };
            let value = match (fits, rule) {
                (false, Some(label)) => under(value, label.rule),
                _ => value,
            };
            if !fits {
                changed = true;
                column.id = self.new_col();
            }
            exprs.push((column.id, value));
        }
        if changed {
            let input = std::mem::replace(&mut query.rel, Rel::OneRow);
            query.rel = Rel::Project { input: Box::new(input), exprs };
        }
    }

    /// Keeps in mind what the columns of a set operation go by.
    pub(crate) fn note_labels(&mut self, columns: &[ColId], rules: Vec<Option<Label>>) {
        for (id, label) in columns.iter().zip(rules) {
            if let Some(label) = label {
                self.collated.insert(*id, label);
            }
        }
    }

    /// What a variable is given.
    pub(super) fn ungiven(&self, mut e: Expr) -> Expr {
        if !e.ty.is_character() || e.ty == crate::UNDECLARED || e.is_null_constant() {
            return e;
        }
        match &mut e.kind {
            ExprKind::Const(Value::Str(text)) => {
                *text = text.clone().with_rule(Rule::CiAs);
                return e;
            }
            ExprKind::Const(_) | ExprKind::Var(_) => return e,
            ExprKind::Func { func: FuncId::Collate(_), args }
                if matches!(args[0].kind, ExprKind::Var(_)) =>
            {
                let (ty, nullable) = (e.ty, e.nullable);
                return Expr { ty, nullable, ..args.swap_remove(0) };
            }
            _ => {}
        }
        under(e, Rule::CiAs)
    }

    /// What a table's column is computed as, with the rule that whoever reads the column counts on.
    pub(crate) fn as_column(&self, value: Expr, column: &catalog::ColumnDef) -> Expr {
        let told = column.collation != Collation::default() || self.usual.rule.is_some();
        match told && column.ty.is_character() {
            true => computed(value, Label::implicit(column.collation)),
            false => value,
        }
    }

    /// The columns of another database's view, whose texts go by that one's collation.
    pub(crate) fn note_foreign(&mut self, source: &crate::context::Source, theirs: Collation) {
        if theirs == self.usual.collation {
            return;
        }
        let columns = source.tables.iter().flat_map(|table| &table.columns);
        for column in columns.filter(|c| c.ty.is_character()) {
            self.collated.entry(column.id).or_insert_with(|| Label::implicit(theirs));
        }
    }

    /// Columns whose texts come without a rule.
    pub(crate) fn note_plain(&mut self, columns: impl Iterator<Item = (ColId, SqlType)>) {
        if self.usual.rule.is_some() {
            self.plain.extend(columns.filter(|(_, ty)| ty.is_character()).map(|(id, _)| id));
        }
    }
}

/// The rule that the expression is put under.
pub(super) fn rule_over(e: &Expr) -> Option<Rule> {
    match e.kind {
        ExprKind::Func { func: FuncId::Collate(rule), .. } => Some(rule),
        _ => None,
    }
}

/// A text of nobody's under a rule.
pub(crate) fn under(e: Expr, rule: Rule) -> Expr {
    let (ty, nullable) = (e.ty, e.nullable);
    Expr { nullable, ..call(FuncId::Collate(rule), vec![e], ty) }
}

/// What is computed from columns of a collation.
fn computed(e: Expr, label: Label) -> Expr {
    let mut made = collate(e, label.rule, &label.name);
    if let ExprKind::Func { args, .. } = &mut made.kind {
        args.truncate(2);
        args.push(Expr::constant(Value::Null, SqlType::Int));
    }
    made
}

/// Without what it was given: for a column, which has its own rule.
pub(super) fn bare(mut e: Expr) -> Expr {
    while let ExprKind::Func { func: FuncId::Collate(_), args } = &mut e.kind
        && args.len() != 2
    {
        let (ty, nullable) = (e.ty, e.nullable);
        e = Expr { ty, nullable, ..args.swap_remove(0) };
    }
    e
}
