//! What queries and expressions of natively compiled modules may hold. Source: "Supported Features for Natively Compiled
//! T-SQL Modules"; functions that it leaves out and SQL Server is known to accept are among [`FUNCTIONS`].

use catalog::ModuleKind;
use ir::ObjectName;
use syntax::ast::{self, ExprKind as K};

use super::{Walk, has_option, refused, unsupported};
use crate::error::{BindError, Result};
use crate::signatures::aggregate_func;

/// Built-in functions that may be called: mathematical, of dates, of texts, for NULL and CASE, of JSON, of identities and
/// principals.
const FUNCTIONS: &str = "ABS ACOS ASIN ATAN ATN2 CEILING COS COT DEGREES EXP FLOOR LOG LOG10 PI POWER RADIANS RAND ROUND \
     SIGN SIN SQRT SQUARE TAN \
     CURRENT_TIMESTAMP DATEADD DATEDIFF DATEFROMPARTS DATENAME DATEPART DATETIME2FROMPARTS DATETIMEFROMPARTS DAY EOMONTH \
     GETDATE GETUTCDATE MONTH SMALLDATETIMEFROMPARTS SYSDATETIME SYSUTCDATETIME YEAR \
     CONCAT_WS LEN LTRIM RTRIM SUBSTRING TRANSLATE TRIM \
     CHOOSE COALESCE IIF ISNULL NULLIF \
     ISJSON JSON_ARRAY JSON_MODIFY JSON_OBJECT JSON_PATH_EXISTS JSON_QUERY JSON_VALUE \
     CONTEXT_INFO CURRENT_USER IS_MEMBER IS_ROLEMEMBER IS_SRVROLEMEMBER NEWID NEWSEQUENTIALID ORIGINAL_LOGIN \
     SCOPE_IDENTITY SESSION_USER SUSER_ID SUSER_NAME SUSER_SID SUSER_SNAME SYSTEM_USER USER USER_ID USER_NAME";

/// Of triggers.
const OF_TRIGGERS: &str = "COLUMNS_UPDATED TRIGGER_NESTLEVEL UPDATE";

const AGGREGATES: &str = "AVG COUNT COUNT_BIG MAX MIN STRING_AGG SUM";

const RANKING: &str = "DENSE_RANK NTILE RANK ROW_NUMBER";

/// Of CATCH blocks.
const ERRORS: &str =
    "ERROR_LINE ERROR_MESSAGE ERROR_NUMBER ERROR_PROCEDURE ERROR_SEVERITY ERROR_STATE";

impl Walk<'_> {
    /// A SELECT, in which subqueries may stand.
    pub(super) fn query(&mut self, query: &ast::Query) -> Result<()> {
        let outer = std::mem::replace(&mut self.subqueries, true);
        let result = self.query_parts(query);
        self.subqueries = outer;
        result
    }

    fn query_parts(&mut self, query: &ast::Query) -> Result<()> {
        self.no_expressions_with(&query.with)?;
        self.query_body(&query.body)?;
        if query.offset.is_some() || query.fetch.is_some() {
            return Err(unsupported("operator", "OFFSET", self.line));
        }
        if query.for_clause.as_ref().is_some_and(|clause| clause.xml) {
            return Err(unsupported("option", "FOR XML", self.line));
        }
        query.order_by.iter().try_for_each(|item| self.expr(&item.expr))?;
        self.query_hints(&query.option)
    }

    fn query_body(&mut self, body: &ast::QueryBody) -> Result<()> {
        match body {
            ast::QueryBody::Select(select) => self.select(select),
            ast::QueryBody::Nested(inner) => self.query_body(inner),
            ast::QueryBody::SetOperation { op, left, right, .. } => {
                match op {
                    ast::SetOperator::Union => {}
                    ast::SetOperator::Except => {
                        return Err(unsupported("operator", "EXCEPT", self.line));
                    }
                    ast::SetOperator::Intersect => {
                        return Err(unsupported("operator", "INTERSECT", self.line));
                    }
                }
                self.query_body(left)?;
                self.query_body(right)
            }
            ast::QueryBody::Values(_) => Err(unsupported("feature", "VALUES", self.line)),
        }
    }

    fn select(&mut self, select: &ast::Select) -> Result<()> {
        if select.into.is_some() {
            return Err(unsupported("feature", "SELECT INTO", self.line));
        }
        self.top(select.top.as_ref())?;
        for item in &select.items {
            match item {
                ast::SelectItem::Wildcard { span, .. } => {
                    let text = "Syntax '*' is not allowed in schema-bound objects.";
                    return Err(BindError::new(1054, 15, span.line.max(1), text));
                }
                ast::SelectItem::Expr { expr, .. } | ast::SelectItem::Assign { expr, .. } => {
                    self.expr(expr)?;
                }
            }
        }
        select.from.iter().try_for_each(|item| self.table(item))?;
        select.filter.iter().try_for_each(|e| self.expr(e))?;
        if select.group_all {
            return Err(unsupported("feature", "GROUP BY ALL", self.line));
        }
        for item in &select.group_by {
            let what = match item {
                ast::GroupItem::Expr(e) => {
                    self.expr(e)?;
                    continue;
                }
                ast::GroupItem::Composite(_) => "GROUP BY ()",
                ast::GroupItem::Rollup(_) => "ROLLUP",
                ast::GroupItem::Cube(_) => "CUBE",
                ast::GroupItem::Sets(_) | ast::GroupItem::Product(_) => "GROUPING SETS",
            };
            return Err(unsupported("feature", what, self.line));
        }
        select.having.iter().try_for_each(|e| self.expr(e))
    }

    pub(super) fn top(&mut self, top: Option<&ast::Top>) -> Result<()> {
        match top {
            None => Ok(()),
            Some(top) if top.percent => Err(unsupported("option", "PERCENT", self.line)),
            Some(top) => self.expr(&top.count),
        }
    }

    pub(super) fn query_hints(&self, hints: &[ast::QueryHint]) -> Result<()> {
        let known = |hint: &&ast::QueryHint| {
            matches!(hint.name.as_str(), "FORCE ORDER" | "LOOP JOIN")
                || hint.name.starts_with("OPTIMIZE FOR")
        };
        match hints.iter().find(|hint| !known(hint)) {
            Some(hint) => Err(unsupported("query hint", &hint.name, self.line)),
            None => Ok(()),
        }
    }

    fn table(&mut self, table: &ast::TableRef) -> Result<()> {
        use ast::TableRef as T;
        match table {
            T::Variable { .. } => Ok(()),
            T::Named { time: Some(_), .. } => {
                Err(unsupported("feature", "FOR SYSTEM_TIME", self.line))
            }
            T::Named { name, .. } => self.named_table(name),
            T::Derived { query, .. } => self.query(query),
            T::Function { name, args, .. } => {
                self.table_function(name)?;
                args.iter().try_for_each(|e| self.expr(e))
            }
            T::Join { kind, hint, left, right, on } => {
                if let Some(hint) = hint
                    && !hint.value.eq_ignore_ascii_case("LOOP")
                {
                    let hint = hint.value.to_ascii_uppercase();
                    return Err(unsupported("join hint", &hint, self.line));
                }
                if *kind == ast::JoinKind::Full {
                    return Err(unsupported("operator", "FULL OUTER JOIN", self.line));
                }
                self.table(left)?;
                self.table(right)?;
                on.iter().try_for_each(|e| self.expr(e))
            }
            T::Pivot { .. } => Err(unsupported("operator", "PIVOT", self.line)),
            T::Unpivot { .. } => Err(unsupported("operator", "UNPIVOT", self.line)),
            T::Sampled { .. } => Err(unsupported("operand", "TABLESAMPLE", self.line)),
            T::Changed { .. } => Err(unsupported("feature", "nested DML", self.line)),
            T::Changes(_) => Err(unsupported("operator", "CHANGETABLE", self.line)),
            T::Fulltext(rows) => {
                let name = if rows.ask.freetext { "FREETEXTTABLE" } else { "CONTAINSTABLE" };
                Err(unsupported("operator", name, self.line))
            }
        }
    }

    /// 12308, 208, 4512.
    fn table_function(&mut self, written: &ast::ObjectName) -> Result<()> {
        if written.is_bare(ir::OPENJSON) {
            return Ok(());
        }
        let name = ObjectName::from(written);
        let line = written.span.line.max(1);
        if name.schema.is_none() {
            let name = name.name.to_ascii_uppercase();
            return Err(unsupported("function", &name, line));
        }
        match self.names.function(&name) {
            None => Err(BindError::invalid_object(&name, line)),
            Some(def)
                if def.kind == ModuleKind::InlineFunction
                    && has_option(&def, "NATIVE_COMPILATION") =>
            {
                self.found.push(name);
                Ok(())
            }
            Some(_) => Err(refused(12308, "Table-valued functions are not supported with", line)),
        }
    }

    /// A table or view by its name: a memory-optimised table, or [`Walk::no_table`].
    pub(super) fn named_table(&mut self, written: &ast::ObjectName) -> Result<()> {
        let name = ObjectName::from(written);
        let of_trigger = ["inserted", "deleted"].iter().any(|rows| written.is_bare(rows));
        if self.kind == "trigger" && of_trigger {
            return Ok(());
        }
        let two_parts = name.schema.is_some() && name.database.is_none();
        if two_parts && self.names.table(&name).is_some_and(|table| table.is_memory()) {
            self.found.push(name);
            return Ok(());
        }
        Err(self.no_table(written))
    }

    /// Why a table or view cannot be used by its name: 12322, 4512, 10775, 208.
    fn no_table(&self, written: &ast::ObjectName) -> BindError {
        let name = ObjectName::from(written);
        let line = written.span.line.max(1);
        if crate::names::is_temporary(&name.name) {
            return refused(12322, "Temporary tables are not supported with", line);
        }
        if name.schema.is_none() || name.database.is_some() {
            return self.not_two_parts(&name);
        }
        if !self.names.has_object(&name) && self.names.system_view(&name).is_none() {
            return BindError::invalid_object(&name, line);
        }
        let text = format!(
            "Object '{name}' is not a memory optimized table or a natively compiled inline table-valued function and \
             cannot be accessed from a natively compiled module."
        );
        BindError::new(10775, 16, line, text)
    }

    /// 4512.
    pub(super) fn not_two_parts(&self, name: &ObjectName) -> BindError {
        let text = format!(
            "Cannot schema bind {} '{}' because name '{name}' is invalid for schema binding. Names must be in two-part \
             format and an object cannot reference itself.",
            self.kind, self.name
        );
        BindError::new(4512, 16, self.line, text).with_state(3)
    }

    fn subquery(&mut self, query: &ast::Query) -> Result<()> {
        if !self.subqueries {
            let text = "Subqueries (queries nested inside another query) is only supported in SELECT statements with";
            return Err(refused(12311, text, self.line));
        }
        self.query(query)
    }

    /// An expression or condition.
    pub(super) fn expr(&mut self, expr: &ast::Expr) -> Result<()> {
        match &expr.kind {
            K::Literal(_) | K::Column(_) | K::Variable(_) => Ok(()),
            K::SystemVariable(name) if name.eq_ignore_ascii_case("@@ROWCOUNT") => Ok(()),
            K::SystemVariable(name) => Err(unsupported("function", name, self.line)),
            K::Unary { expr, .. } | K::IsNull { expr, .. } | K::Collate { expr, .. } => {
                self.expr(expr)
            }
            K::Binary { left, right, .. } | K::IsDistinct { left, right, .. } => {
                self.expr(left)?;
                self.expr(right)
            }
            K::Chain { first, rest } => {
                self.expr(first)?;
                rest.iter().try_for_each(|(_, e)| self.expr(e))
            }
            K::Like { .. } => Err(unsupported("operator", "LIKE", self.line)),
            K::Between { expr, low, high, .. } => {
                self.expr(expr)?;
                self.expr(low)?;
                self.expr(high)
            }
            K::InList { expr, list, .. } => {
                self.expr(expr)?;
                list.iter().try_for_each(|e| self.expr(e))
            }
            K::InSubquery { expr, query, .. } => {
                self.expr(expr)?;
                self.subquery(query)
            }
            K::Quantified { left, query, .. } => {
                self.expr(left)?;
                self.subquery(query)
            }
            K::Exists(query) | K::Subquery(query) => self.subquery(query),
            K::Case { operand, branches, otherwise } => {
                operand.iter().chain(otherwise).try_for_each(|e| self.expr(e))?;
                for branch in branches {
                    self.expr(&branch.when)?;
                    self.expr(&branch.then)?;
                }
                Ok(())
            }
            K::Cast(cast) if cast.parse => {
                let name = if cast.try_ { "TRY_PARSE" } else { "PARSE" };
                Err(unsupported("function", name, self.line))
            }
            K::Cast(cast) => {
                self.data_type(&cast.ty)?;
                self.expr(&cast.expr)?;
                cast.style.iter().try_for_each(|e| self.expr(e))
            }
            K::Function(call) => self.call(call),
            K::Fulltext(ask) => {
                let name = if ask.freetext { "FREETEXT" } else { "CONTAINS" };
                Err(unsupported("operator", name, self.line))
            }
        }
    }

    fn call(&mut self, call: &ast::FunctionCall) -> Result<()> {
        let line = self.line;
        if call.name.schema.is_some() {
            // One that does not exist is for the binder to tell of.
            let name = ObjectName::from(&call.name);
            if let Some(def) = self.names.function(&name) {
                if !has_option(&def, "NATIVE_COMPILATION") {
                    let text = "Only natively compiled modules can be used with";
                    return Err(refused(12344, text, line));
                }
                self.found.push(name);
            }
            return call.args.iter().try_for_each(|e| self.expr(e));
        }
        let name = call.name.name.value.to_ascii_uppercase();
        let among = |list: &str| list.split_whitespace().any(|known| known == name);
        if name == "NEXT VALUE FOR" {
            return Err(unsupported("operator", &name, line));
        }
        if among(RANKING) {
            return Err(unsupported("ranking function", &name, line));
        }
        if call.over.is_some() {
            return Err(unsupported("feature", "OVER", line));
        }
        if aggregate_func(&name).is_some() {
            if !among(AGGREGATES) {
                return Err(unsupported("aggregate function", &name, line));
            }
            if call.distinct {
                return Err(unsupported("feature", "DISTINCT in an aggregate function", line));
            }
        } else if among(ERRORS) {
            if !self.in_catch {
                let text = format!(
                    "When used in a natively compiled module, the function '{name}' cannot appear outside of a catch block."
                );
                return Err(BindError::new(10792, 16, line, text));
            }
        } else if !among(FUNCTIONS) && (self.kind != "trigger" || !among(OF_TRIGGERS)) {
            return Err(unsupported("function", &name, line));
        }
        call.args.iter().try_for_each(|e| self.expr(e))?;
        call.within_group.iter().try_for_each(|item| self.expr(&item.expr))
    }
}
