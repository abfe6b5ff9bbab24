//! CREATE RULE and CREATE DEFAULT, and what their objects mean for the columns that they are bound to; the value of a
//! column that is given none.
//!
//! Promise: neither reads rows. A rule has one variable, which stands for the value of the column; its type is the
//! column's, so whether a rule makes sense is known only where it is bound.
//!
//! Sources: "CREATE RULE (Transact-SQL)", "CREATE DEFAULT (Transact-SQL)", sys.messages for 160, 161, 4105.

use catalog::{Binding, TableDef};
use ir::*;
use syntax::ast;
use types::{Len, SqlType, Value};

use crate::context::{Binder, Scope};
use semantics::{BindError, Result};

/// What the variable of a rule is taken for as long as it is bound to nothing.
const ANY: SqlType = SqlType::NVarChar(Len::N(4000));

/// The definition that a binding brings along.
fn definition(binding: &Binding) -> Result<ast::CreateBindable> {
    match semantics::kept::statement(&binding.text, binding.quoted_identifier) {
        Some(ast::StatementKind::CreateBindable(create)) => Ok(*create),
        _ => Err(BindError::unsupported("a rule or default that cannot be read", 1)),
    }
}

/// The variables of a rule, each once.
fn variables(e: &ast::Expr, out: &mut Vec<String>) {
    if let ast::ExprKind::Variable(v) = &e.kind
        && !out.iter().any(|known| catalog::same_name(known, &v.name))
    {
        out.push(v.name.clone());
    }
    e.for_each_child(&mut |child| variables(child, out));
}

impl Binder<'_> {
    /// The DEFAULT of a column, or NULL (a NOT NULL column without one fails when it is run, 515).
    pub fn default_value(&mut self, table: &TableDef, ordinal: usize) -> Result<Expr> {
        let column = &table.columns[ordinal];
        match (&column.default, &column.bound_default) {
            (Some(default), _) => self.default_text(&default.text),
            (None, Some(bound)) => self.bound_default(bound),
            (None, None) => Ok(Expr::constant(Value::Null, column.ty)),
        }
    }

    /// Binds the text of a DEFAULT: it sees no columns.
    pub fn default_text(&mut self, text: &str) -> Result<Expr> {
        let parsed =
            syntax::parse_expression(text, &syntax::LexOptions::default()).map_err(|errors| {
                match errors.into_iter().next() {
                    Some(e) => BindError::new(e.number, 15, self.line, e.message),
                    None => self.error(102, format!("Incorrect syntax near '{text}'.")),
                }
            })?;
        let scopes = std::mem::take(&mut self.scopes);
        let selects = std::mem::take(&mut self.selects);
        let around = std::mem::replace(&mut self.in_default, true);
        let placing = std::mem::take(&mut self.placing);
        let bound = self.expr(&parsed);
        self.placing = placing;
        self.in_default = around;
        self.scopes = scopes;
        self.selects = selects;
        bound
    }

    /// What can be said of a rule or default before it is bound: 128, 137, 160, 161, 1046, 4105.
    pub fn check_bindable(&mut self, create: &ast::CreateBindable) -> Result<()> {
        let line = create.value.span.line.max(1);
        let mut names = Vec::new();
        variables(&create.value, &mut names);
        if create.rule && names.len() != 1 {
            let (number, text) = match names.len() {
                0 => (160, "Rule does not contain a variable."),
                _ => (161, "Rule contains more than one variable."),
            };
            return Err(BindError::new(number, 15, line, text));
        }
        // A default has no variable to read: 137.
        let params = if create.rule { vec![(names[0].to_lowercase(), variable())] } else { vec![] };
        let around = self.params.replace(params);
        let bound = match create.rule {
            true => self.condition(&create.value),
            false => self.expr(&create.value),
        };
        self.params = around;
        match bound {
            Ok(bound) => {
                let queries = bound.any(&mut |e| matches!(e.kind, ExprKind::Subquery { .. }));
                let calls = bound
                    .any(&mut |e| matches!(e.kind, ExprKind::Func { func: FuncId::User(_), .. }));
                match (queries, calls) {
                    (true, _) => Err(self.error(
                        1046,
                        "Subqueries are not allowed in this context. Only scalar expressions are allowed.",
                    )),
                    (_, true) => Err(no_function(line)),
                    _ => Ok(()),
                }
            }
            Err(e) => match e.number {
                207 | 4104 => Err(not_permitted(&e, line)),
                4121 => Err(no_function(line)),
                // Whether the types go together is the column's affair.
                _ if create.rule && !matches!(e.number, 137 | 195 | 174 | 189 | 40510) => Ok(()),
                _ => Err(e),
            },
        }
    }

    /// The name of a rule that is bound to a column of the table.
    pub fn rule_of(&self, table: &TableDef) -> Option<String> {
        let rule = table.columns.iter().find_map(|column| column.rule.as_ref())?;
        Some(self.names.bindable_name(rule.object_id).unwrap_or_default())
    }

    /// A rule over the column that its variable stands for, whose id is `column`.
    pub fn rule_over(&mut self, rule: &Binding, value: Expr) -> Result<Expr> {
        let create = definition(rule)?;
        let mut names = Vec::new();
        variables(&create.value, &mut names);
        let name = names.first().map_or_else(String::new, |name| name.to_lowercase());
        let around = self.params.replace(vec![(name, value)]);
        let bound = self.condition(&create.value);
        self.params = around;
        bound
    }

    /// The value of a default that is bound to a column: it sees no columns.
    pub fn bound_default(&mut self, default: &Binding) -> Result<Expr> {
        let create = definition(default)?;
        let scopes = std::mem::replace(&mut self.scopes, vec![Scope::default()]);
        let selects = std::mem::take(&mut self.selects);
        let bound = self.expr(&create.value);
        self.scopes = scopes;
        self.selects = selects;
        bound
    }
}

fn variable() -> Expr {
    Expr::new(ExprKind::Col(ColId(0)), ANY, true)
}

fn no_function(line: u32) -> BindError {
    BindError::new(
        4105,
        16,
        line,
        "User-defined functions, partition functions, and column references are not allowed in expressions in this context.",
    )
    .with_state(3)
}

/// 128, for a name that was looked for among columns.
pub(crate) fn not_permitted(e: &BindError, line: u32) -> BindError {
    BindError::new(
        128,
        15,
        line,
        format!(
            "The name \"{}\" is not permitted in this context. Valid expressions are constants, constant \
             expressions, and (in some contexts) variables. Column names are not permitted.",
            e.text.split(['\'', '"']).nth(1).unwrap_or_default()
        ),
    )
}
