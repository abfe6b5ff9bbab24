//! Statements of a natively compiled module, one by one: what they may be, and what they may say.

use catalog::{ModuleKind, ProcedureDef};
use ir::ObjectName;
use syntax::ast::{self, StatementKind as S};

use super::{NATIVE, Walk, has_option, refused, unsupported};
use crate::error::{BindError, Result};
use crate::statement_rows;

impl Walk<'_> {
    pub(super) fn parameters(&mut self, parameters: &[ast::Parameter]) -> Result<()> {
        parameters.iter().try_for_each(|p| self.variable_type(&p.ty))
    }

    pub(super) fn statements(&mut self, statements: &[ast::Statement]) -> Result<()> {
        statements.iter().try_for_each(|s| self.statement(s))
    }

    fn statement(&mut self, statement: &ast::Statement) -> Result<()> {
        self.line = statement.span.line.max(1);
        match &statement.kind {
            S::Declare(declarations) => declarations.iter().try_for_each(|d| self.declaration(d)),
            S::SetVariable { expr, .. } => self.expr(expr),
            S::If { condition, then, otherwise } => {
                self.expr(condition)?;
                self.statement(then)?;
                otherwise.iter().try_for_each(|s| self.statement(s))
            }
            S::While { condition, body } => {
                self.expr(condition)?;
                self.statement(body)
            }
            S::Block(list) => self.statements(list),
            S::TryCatch { body, handler } => {
                self.statements(body)?;
                let outer = std::mem::replace(&mut self.in_catch, true);
                let result = self.statements(handler);
                self.in_catch = outer;
                result
            }
            S::Return(value) => value.iter().try_for_each(|e| self.expr(e)),
            S::Throw(args) => args.iter().flat_map(|a| a.iter()).try_for_each(|e| self.expr(e)),
            S::Select(query) => self.query(query),
            S::Insert(insert) => self.insert(insert),
            S::Update(update) => self.update(update),
            S::Delete(delete) => self.delete(delete),
            S::Execute(execute) => self.execute(execute),
            S::ExecuteString(_) => Err(self.not_by_name()),
            S::SetOption(_) => Err(BindError::new(
                10769,
                15,
                self.line,
                "SET options are not supported inside ATOMIC blocks.",
            )),
            S::SaveTransaction { .. } => {
                Err(refused(12326, "Creating a savepoint is not supported with", self.line))
            }
            S::DeclareCursor(_) | S::SetCursor { .. } | S::Cursor { .. } | S::Fetch(_) => {
                Err(self.no_cursors())
            }
            S::Unsupported { what } => Err(unsupported("feature", what, self.line)),
            S::Label(_) | S::Goto(_) => Err(unsupported("operator", "GOTO", self.line)),
            other => Err(unsupported("statement", statement_rows::of(other).native, self.line)),
        }
    }

    fn no_cursors(&self) -> BindError {
        refused(12306, "Cursors are not supported with", self.line)
    }

    pub(super) fn no_expressions_with(&self, with: &[ast::Cte]) -> Result<()> {
        match with {
            [] => Ok(()),
            _ => {
                let text = "Common Table Expressions (CTE) are not supported with";
                Err(refused(12310, text, self.line))
            }
        }
    }

    fn declaration(&mut self, declaration: &ast::Declaration) -> Result<()> {
        match &declaration.kind {
            ast::DeclarationKind::Table(_) => {
                Err(refused(12305, "Inline table variables are not supported with", self.line))
            }
            ast::DeclarationKind::Cursor => Err(self.no_cursors()),
            ast::DeclarationKind::Scalar { not_null: true, init: None, .. } => {
                let text = format!(
                    "The variable '{}' was declared as not null, and must be declared with an initial value.",
                    declaration.name.name
                );
                Err(BindError::new(10795, 15, declaration.name.span.line.max(1), text))
            }
            ast::DeclarationKind::Scalar { ty, init, .. } => {
                self.variable_type(ty)?;
                init.iter().try_for_each(|e| self.expr(e))
            }
        }
    }

    /// The type of a variable or parameter: table types must be in memory, 41323.
    fn variable_type(&mut self, ty: &ast::TypeName) -> Result<()> {
        let name = ObjectName {
            database: None,
            schema: ty.schema.as_ref().map(|s| s.value.clone()),
            name: ty.name.clone(),
        };
        match self.names.has_memory_optimized_type(&name) {
            Some(true) => {
                self.found.push(name);
                Ok(())
            }
            Some(false) => {
                let text = format!(
                    "The table type '{name}' is not a memory optimized table type and cannot be used in a natively \
                     compiled module."
                );
                Err(BindError::new(41323, 16, ty.span.line.max(1), text))
            }
            None => self.data_type(ty),
        }
    }

    /// "Supported Data Types for In-Memory OLTP".
    pub(super) fn data_type(&self, ty: &ast::TypeName) -> Result<()> {
        const NOT_THESE: [&str; 11] = [
            "datetimeoffset",
            "geography",
            "geometry",
            "hierarchyid",
            "image",
            "ntext",
            "rowversion",
            "sql_variant",
            "text",
            "timestamp",
            "xml",
        ];
        let of_system = ty.schema.as_ref().is_none_or(|s| s.value.eq_ignore_ascii_case("sys"));
        match NOT_THESE.iter().find(|name| ty.name.eq_ignore_ascii_case(name)) {
            Some(name) if of_system => Err(unsupported("type", name, ty.span.line.max(1))),
            _ => Ok(()),
        }
    }

    fn not_by_name(&self) -> BindError {
        let text = "The EXECUTE statement in natively compiled modules must use an object name. Variables and quoted \
                    identifiers are not supported.";
        BindError::new(12340, 16, self.line, text)
    }

    /// EXECUTE of another natively compiled module: 12340, 12341, 12342, 2812, 4512.
    fn execute(&mut self, execute: &ast::Execute) -> Result<()> {
        let ast::ProcedureName::Name(written) = &execute.procedure else {
            return Err(self.not_by_name());
        };
        if execute.result_sets.is_some() {
            let text = "The WITH clause is not supported with EXECUTE statements in";
            return Err(refused(12341, text, self.line));
        }
        let name = ObjectName::from(written);
        let schema = name.schema.as_deref().unwrap_or("dbo");
        if catalog::same_name(&name.name, &self.name.name)
            && self.name.schema.as_deref().is_some_and(|own| catalog::same_name(own, schema))
        {
            return Err(self.not_two_parts(&name));
        }
        let scalar = |def: &std::sync::Arc<ProcedureDef>| def.kind == ModuleKind::ScalarFunction;
        let found = self.names.procedure(&name);
        let found = found.or_else(|| self.names.function(&name).filter(scalar));
        let of_system = ["sp_", "xp_"]
            .iter()
            .any(|p| name.name.get(..3).is_some_and(|start| start.eq_ignore_ascii_case(p)));
        match found {
            Some(def) if has_option(&def, NATIVE) => self.found.push(name),
            None if !of_system => {
                let text = format!("Could not find stored procedure '{name}'.");
                return Err(BindError::new(2812, 16, self.line, text).with_state(62));
            }
            _ => {
                return Err(BindError::new(
                    12342,
                    16,
                    self.line,
                    "The EXECUTE statement in natively compiled modules only supports executing natively compiled \
                     modules.",
                ));
            }
        }
        execute.args.iter().try_for_each(|arg| self.value(&arg.value))
    }

    fn value(&mut self, value: &ast::InsertValue) -> Result<()> {
        match value {
            ast::InsertValue::Default(_) => Ok(()),
            ast::InsertValue::Expr(e) => self.expr(e),
            ast::InsertValue::Write(parts) => parts.iter().try_for_each(|e| self.expr(e)),
        }
    }

    fn insert(&mut self, insert: &ast::Insert) -> Result<()> {
        self.no_expressions_with(&insert.with)?;
        self.top(insert.top.as_ref())?;
        self.target(&insert.target)?;
        self.output(insert.output.as_ref())?;
        self.query_hints(&insert.option)?;
        match &insert.source {
            ast::InsertSource::Values(rows) if rows.len() > 1 => Err(refused(
                12309,
                "Statements of the form INSERT...VALUES... that insert multiple rows are not supported with",
                self.line,
            )),
            ast::InsertSource::Values(rows) => {
                rows.iter().flatten().try_for_each(|value| self.value(value))
            }
            ast::InsertSource::DefaultValues => Ok(()),
            ast::InsertSource::Query(query) => self.query(query),
            ast::InsertSource::Execute(_) | ast::InsertSource::ExecuteString(_) => {
                Err(unsupported("feature", "INSERT EXECUTE", self.line))
            }
        }
    }

    fn update(&mut self, update: &ast::Update) -> Result<()> {
        self.no_expressions_with(&update.with)?;
        self.changed(&update.from, update.current_of.as_ref())?;
        self.top(update.top.as_ref())?;
        self.target(&update.target)?;
        update.set.iter().try_for_each(|item| self.value(&item.value))?;
        self.output(update.output.as_ref())?;
        update.filter.iter().try_for_each(|e| self.expr(e))?;
        self.query_hints(&update.option)
    }

    fn delete(&mut self, delete: &ast::Delete) -> Result<()> {
        self.no_expressions_with(&delete.with)?;
        self.changed(&delete.from, delete.current_of.as_ref())?;
        self.top(delete.top.as_ref())?;
        self.target(&delete.target)?;
        self.output(delete.output.as_ref())?;
        delete.filter.iter().try_for_each(|e| self.expr(e))?;
        self.query_hints(&delete.option)
    }

    /// 12319; 12306.
    fn changed(&self, from: &[ast::TableRef], current_of: Option<&ast::CursorName>) -> Result<()> {
        if current_of.is_some() {
            return Err(self.no_cursors());
        }
        if from.is_empty() {
            return Ok(());
        }
        let text = "Using the FROM clause in an UPDATE statement and specifying a table source in a DELETE statement \
                    is not supported with";
        Err(refused(12319, text, self.line))
    }

    fn target(&mut self, target: &ast::Target) -> Result<()> {
        match target {
            ast::Target::Variable(_) => Ok(()),
            ast::Target::Table { name, .. } => self.named_table(name),
        }
    }

    fn output(&mut self, output: Option<&ast::Output>) -> Result<()> {
        let Some(output) = output else { return Ok(()) };
        for item in output.items.iter().chain(&output.also) {
            match item {
                ast::SelectItem::Wildcard { .. } => {}
                ast::SelectItem::Expr { expr, .. } | ast::SelectItem::Assign { expr, .. } => {
                    self.expr(expr)?;
                }
            }
        }
        output.into.iter().try_for_each(|target| self.target(target))
    }
}
