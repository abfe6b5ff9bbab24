//! Partition functions: their definitions, and `$PARTITION.f(x)`.
//!
//! Boundaries are constant expressions, which may use variables: whoever runs the statement evaluates them and brings
//! them to the function's type, as an INSERT would.

use ir::ddl::{PartitionDdl, Reorganize, Switch};
use ir::*;
use syntax::ast;
use types::SqlType;

use crate::context::Binder;
use semantics::type_names::system_type;
use semantics::{BindError, Result};

impl Binder<'_> {
    /// CREATE, ALTER and DROP of partition functions and schemes: 7703, 7704, 7705.
    pub fn partition_statement(
        &mut self,
        statement: &ast::PartitionStatement,
    ) -> Result<PartitionDdl> {
        let text = |name: &ast::Ident| name.value.as_str().into();
        Ok(match statement {
            ast::PartitionStatement::CreateFunction { name, types, collation, right, values } => {
                let [ty] = types.as_slice() else {
                    let text =
                        "Can not create RANGE partition function with multiple parameter types.";
                    return Err(BindError::new(7703, 16, name.span.line.max(1), text));
                };
                let line = ty.span.line.max(1);
                let found = self.partition_type(ty)?;
                let collation = self.column_collation("", collation.as_ref(), found, line)?;
                let values = values.iter().enumerate();
                let values = values.map(|(i, value)| self.boundary(value, found, i + 1));
                PartitionDdl::CreateFunction {
                    name: text(name),
                    ty: found,
                    collation,
                    right: *right,
                    values: values.collect::<Result<_>>()?,
                }
            }
            ast::PartitionStatement::AlterFunction { name, merge, value } => {
                self.touched.set(true);
                let found = self.names.partition_function(&name.value);
                let ty = found.as_ref().and_then(|f| f.partition_function()).map(|f| f.ty);
                let ty = ty.ok_or_else(|| {
                    let text = format!(
                        "Cannot alter the partition function '{}', because it does not exist or you do not have \
                         permission.",
                        name.value
                    );
                    BindError::new(15151, 16, name.span.line.max(1), text)
                })?;
                let Some(value) = value else {
                    let text = "Partition range value is missing.";
                    return Err(BindError::new(7714, 16, name.span.line.max(1), text));
                };
                let value = self.boundary(value, ty, 1)?;
                PartitionDdl::AlterFunction { name: text(name), merge: *merge, value }
            }
            ast::PartitionStatement::CreateScheme { name, function, all, filegroups } => {
                PartitionDdl::CreateScheme {
                    name: text(name),
                    function: text(function),
                    all: *all,
                    filegroups: filegroups.iter().map(text).collect(),
                }
            }
            ast::PartitionStatement::NextUsed { scheme, filegroup } => PartitionDdl::NextUsed {
                scheme: text(scheme),
                filegroup: filegroup.as_ref().map(text),
            },
            ast::PartitionStatement::DropFunction(name) => PartitionDdl::DropFunction(text(name)),
            ast::PartitionStatement::DropScheme(name) => PartitionDdl::DropScheme(text(name)),
        })
    }

    /// The type of a function's parameter; 7704.
    fn partition_type(&self, ty: &ast::TypeName) -> Result<SqlType> {
        let line = ty.span.line.max(1);
        let refused = |state: u8| {
            let shown = match ty.args.as_slice() {
                [ast::TypeArg::Max] => format!("{}(max)", ty.name),
                _ => ty.name.to_string(),
            };
            let text = format!("The type '{shown}' is not valid for this operation.");
            BindError::new(7704, 16, line, text).with_state(state)
        };
        if semantics::table_definition::is_rowversion(ty) {
            return Err(refused(1));
        }
        if SqlType::from_name(&ty.name, &[]).is_none() {
            let alias = ObjectName {
                database: None,
                schema: ty.schema.as_ref().map(ToString::to_string),
                name: ty.name.to_string(),
            };
            return Err(refused(if self.names.alias_type(&alias).is_some() { 3 } else { 2 }));
        }
        let found = system_type(ty, false)?;
        match found {
            SqlType::VarChar(types::Len::Max)
            | SqlType::NVarChar(types::Len::Max)
            | SqlType::VarBinary(types::Len::Max) => Err(refused(1)),
            _ => Ok(found),
        }
    }

    /// A boundary as it is written; 7705 where nothing of its type may become one of the function's.
    fn boundary(&mut self, value: &ast::Expr, ty: SqlType, ordinal: usize) -> Result<Expr> {
        let line = value.span.line.max(1);
        let bound = self.expr(value)?;
        if self.coerce(bound.clone(), ty, CastMode::Implicit).is_err() {
            let text = format!(
                "Could not implicitly convert range values type specified at ordinal {ordinal} to partition function \
                 parameter type."
            );
            return Err(BindError::new(7705, 16, line, text));
        }
        Ok(bound)
    }

    /// `$PARTITION.f(x)`, `db.$PARTITION.f(x)`: 208, 8144.
    pub fn partition_number(&mut self, f: &ast::FunctionCall, line: u32) -> Result<Expr> {
        let missing = || {
            let text = format!("Invalid object name '{}'.", f.name);
            BindError::new(208, 16, line, text)
        };
        if let Some(database) = &f.name.database
            && !catalog::same_name(&database.value, &self.names.database())
        {
            let what = "$PARTITION of another database";
            return Err(BindError::unsupported(what, line));
        }
        self.not_of_another("partition function", &f.name)?;
        // A function that comes to be, or goes, changes what the statement is.
        self.touched.set(true);
        let found = self.names.partition_function(&f.name.name.value).ok_or_else(missing)?;
        let function = found.partition_function().ok_or_else(missing)?;
        let arg = match f.args.as_slice() {
            [arg] => arg,
            [] => return Err(BindError::new(102, 15, line, "Incorrect syntax near ')'.")),
            _ => {
                let name = &f.name.name.value;
                let text =
                    format!("Procedure or function {name} has too many arguments specified.");
                return Err(BindError::new(8144, 16, line, text));
            }
        };
        let value = self.expr(arg)?;
        let value = self.coerce(value, function.ty, CastMode::Implicit)?;
        let func = FuncId::PartitionNumber(found.object_id);
        Ok(Expr::new(ExprKind::Func { func, args: vec![value] }, SqlType::Int, false))
    }

    /// The number of a partition.
    pub(crate) fn partition(&mut self, number: Option<&ast::Expr>) -> Result<Option<Expr>> {
        number.map(|number| self.expr(number)).transpose()
    }

    /// WITH (PARTITIONS (1, 3 TO 5)).
    pub fn partition_spans(
        &mut self,
        spans: &[(ast::Expr, Option<ast::Expr>)],
    ) -> Result<Vec<(Expr, Option<Expr>)>> {
        let mut bound = Vec::with_capacity(spans.len());
        for (first, last) in spans {
            bound.push((self.expr(first)?, self.partition(last.as_ref())?));
        }
        Ok(bound)
    }

    /// ALTER TABLE ... REBUILD PARTITION = number; 4902.
    pub fn rebuild_partition(&mut self, alter: &ast::AlterTable) -> Result<Reorganize> {
        let table = ObjectName::from(&alter.name);
        if self.table(&table).is_none() {
            return Err(BindError::cannot_find(4902, &alter.name, alter.name.span.line.max(1)));
        }
        let number = match &alter.action {
            ast::AlterTableAction::Rebuild(number, _) => number.as_ref(),
            _ => None,
        };
        let partition = self.partition(number)?;
        Ok(Reorganize { table, index: None, large_values: true, partition, rebuild: true })
    }

    /// ALTER TABLE ... SWITCH: 4902, 1088, 4949.
    pub fn switch(&mut self, switch: &ast::Switch) -> Result<Switch> {
        let (source, target) = (ObjectName::from(&switch.source), ObjectName::from(&switch.target));
        if self.table(&source).is_none() {
            return Err(BindError::cannot_find(
                4902,
                &switch.source,
                switch.source.span.line.max(1),
            ));
        }
        if self.table(&target).is_none() {
            if self.names.view(&target).is_some() {
                let text = format!(
                    "ALTER TABLE SWITCH statement failed because the object '{}' is not a user defined table.",
                    switch.target
                );
                return Err(BindError::new(4949, 16, switch.target.span.line.max(1), text));
            }
            return Err(BindError::cannot_find(
                1088,
                &switch.target,
                switch.target.span.line.max(1),
            )
            .with_state(29));
        }
        Ok(Switch {
            source,
            partition: self.partition(switch.partition.as_ref())?,
            target,
            target_partition: self.partition(switch.target_partition.as_ref())?,
        })
    }
}
