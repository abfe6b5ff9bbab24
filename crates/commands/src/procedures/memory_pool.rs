//! sp_xtp_bind_db_resource_pool and sp_xtp_unbind_db_resource_pool: which resource pool bounds what the rows of a database's
//! memory-optimised tables take.
//!
//! Source: SQL Server's documentation of both. Who may: CONTROL SERVER (15247).

use crate::Commands;
use crate::procedures::Argument;
use crate::procedures::arguments;
use executor::{SqlError, SqlMessage};
use security::Permission;

impl Commands<'_> {
    pub(crate) fn bind_pool(&mut self, args: &[Argument]) -> Result<(), SqlError> {
        let own = "sp_xtp_bind_db_resource_pool";
        let database = arguments::needed(own, args, 0, "@database_name")?;
        let pool = arguments::needed(own, args, 1, "@resource_pool_name")?;
        self.check_server(Permission::ControlServer)?;
        let (database, pool) = self.host.bind_pool(database, pool)?;
        let told = format!(
            "A resource binding has been successfully created between the database with ID {database} and the resource \
             pool with ID {pool}."
        );
        self.sink.message(&SqlMessage::info(0, 1, told));
        Ok(())
    }

    pub(crate) fn unbind_pool(&mut self, args: &[Argument]) -> Result<(), SqlError> {
        let own = "sp_xtp_unbind_db_resource_pool";
        let database = arguments::needed(own, args, 0, "@database_name")?;
        self.check_server(Permission::ControlServer)?;
        self.host.unbind_pool(database)
    }
}
