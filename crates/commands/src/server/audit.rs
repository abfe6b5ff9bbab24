//! Statements of SQL Server Audit: who may say them, and where; the host keeps what they define.
//!
//! Sources: SQL Server's documentation of the statements, and the texts of its messages 33071 to 33239.

use crate::Commands;
use executor::SqlError;
use security::Permission;
use syntax::ast::{AuditOption, AuditSpecification, AuditStatement, Ident, SpecificationChange};

/// The number of ON_FAILURE = SHUTDOWN.
const SHUTDOWN: u8 = 1;

impl Commands<'_> {
    #[cold]
    pub(crate) fn define_audit(&mut self, statement: &AuditStatement) -> Result<(), SqlError> {
        let (verb, what, name) = told(statement);
        let of_database = matches!(
            statement,
            AuditStatement::Specification(AuditSpecification { of_database: true, .. })
        );
        let may = match of_database {
            true => self.check_database(Permission::AlterAnyDatabaseAudit).is_ok(),
            false => self.may_on_server(Permission::AlterAnyServerAudit),
        };
        if !may {
            return Err(match verb {
                "create" => {
                    let text = "User does not have permission to perform this action.";
                    SqlError::new(15247, 16, text)
                }
                _ => absent(verb, what, &name.value),
            });
        }
        if !of_database {
            if !catalog::same_name(&self.state.database.name, "master") {
                let text = format!(
                    "Cannot {verb} a {what} from a user database. This operation must be performed in the master \
                     database."
                );
                return Err(SqlError::new(33074, 16, text));
            }
            if self.state.trancount() > 0 {
                let statement = format!("{verb} {what}").to_uppercase();
                let text =
                    format!("{statement} statement cannot be used inside a user transaction.");
                return Err(SqlError::new(574, 16, text));
            }
        }
        if let AuditStatement::Create { options, .. } | AuditStatement::Alter { options, .. } =
            statement
            && options.contains(&AuditOption::OnFailure(SHUTDOWN))
            && !self.may_on_server(Permission::Shutdown)
        {
            return Err(SqlError::new(
                33228,
                16,
                "You cannot configure SQL Server Audit to shutdown the server because you do not have the permission to \
                 shut down the server. Contact your system administrator.",
            ));
        }
        let mut by = self.state.audit_record(b"AUSC", b"A ");
        by.server_instance_name = Some(self.host.server_name().into());
        by.database_name = None;
        let database = self.state.database.clone();
        self.host.define_audit(statement, &by, &database)
    }
}

/// What a statement does, to what, of which name.
fn told(statement: &AuditStatement) -> (&'static str, &'static str, &Ident) {
    match statement {
        AuditStatement::Create { name, .. } => ("create", "server audit", name),
        AuditStatement::Alter { name, .. } | AuditStatement::Rename { name, .. } => {
            ("alter", "server audit", name)
        }
        AuditStatement::Drop(name) => ("drop", "server audit", name),
        AuditStatement::Specification(AuditSpecification { of_database, name, change }) => {
            let verb = match change {
                SpecificationChange::Create { .. } => "create",
                SpecificationChange::Alter { .. } => "alter",
                SpecificationChange::Drop => "drop",
            };
            let what = match of_database {
                true => "database audit specification",
                false => "server audit specification",
            };
            (verb, what, name)
        }
    }
}

/// 15151.
fn absent(verb: &str, what: &str, name: &str) -> SqlError {
    let text = format!(
        "Cannot {verb} the {what} '{name}', because it does not exist or you do not have permission."
    );
    SqlError::new(15151, 16, text)
}
