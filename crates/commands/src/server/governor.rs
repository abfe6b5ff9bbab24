//! Resource Governor's statements: who may say them, and which function classifies.

use crate::Commands;
use catalog::{ModuleKind, ObjectRef, ProcedureDef};
use executor::SqlError;
use security::Permission;
use std::sync::Arc;
use syntax::ast::{self, AlterGovernor, GovernorStatement};

impl Commands<'_> {
    #[cold]
    pub(crate) fn govern(&mut self, statement: &GovernorStatement) -> Result<(), SqlError> {
        if !self.may_on_server(Permission::ControlServer) {
            let text =
                "User does not have permission to alter the resource governor configuration.";
            return Err(SqlError::new(10901, 16, text));
        }
        if self.state.trancount() > 0 {
            let what = match statement {
                GovernorStatement::CreatePool { .. } => "CREATE RESOURCE POOL",
                GovernorStatement::AlterPool { .. } => "ALTER RESOURCE POOL",
                GovernorStatement::DropPool(_) => "DROP RESOURCE POOL",
                GovernorStatement::CreateGroup { .. } => "CREATE WORKLOAD GROUP",
                GovernorStatement::AlterGroup { .. } => "ALTER WORKLOAD GROUP",
                GovernorStatement::DropGroup(_) => "DROP WORKLOAD GROUP",
                GovernorStatement::Alter(_) => "ALTER RESOURCE GOVERNOR",
            };
            let text = format!("{what} statement cannot be used inside a user transaction.");
            return Err(SqlError::new(574, 16, text));
        }
        let classifier = match statement {
            GovernorStatement::Alter(AlterGovernor::Classifier(Some(name))) => {
                self.classifier(name)?.object_id
            }
            _ => 0,
        };
        self.host.govern(statement, classifier)
    }

    /// A function of `master` that may classify: schema-bound, without parameters, of type sysname. 10902, 10903, 10906.
    fn classifier(&mut self, name: &ast::ObjectName) -> Result<Arc<ProcedureDef>, SqlError> {
        let function = &name.name.value;
        let absent = || {
            let text = format!(
                "User-defined function '{function}' does not exist in master database, or the user does not have \
                 permission to access it."
            );
            SqlError::new(10902, 16, text)
        };
        let master = self.host.database("master").ok_or_else(absent)?;
        let elsewhere =
            name.database.as_ref().is_some_and(|db| !catalog::same_name(&db.value, "master"));
        if elsewhere {
            return Err(absent());
        }
        let schema = name.schema.as_ref().map_or("dbo", |schema| &schema.value);
        if master.catalog.directory(None).schema(schema).is_none() {
            let text = format!(
                "The specified schema name '{schema}' for classifier user-defined function either does not exist, or the \
                 user does not have permission to use it."
            );
            return Err(SqlError::new(10903, 16, text));
        }
        let wrong = || {
            let text = format!(
                "The object '{schema}'.'{function}' is not a valid resource governor classifier user-defined function. A \
                 valid classifier user-defined function must be schema-bound, return sysname, and have no parameters."
            );
            SqlError::new(10906, 16, text)
        };
        let found = match master.catalog.object(None, Some(schema), function) {
            Some(ObjectRef::Procedure(found)) if found.kind == ModuleKind::ScalarFunction => found,
            Some(_) => return Err(wrong()),
            None => return Err(absent()),
        };
        match semantics::native::is_classifier(&found) {
            true => Ok(found),
            false => Err(wrong()),
        }
    }
}
