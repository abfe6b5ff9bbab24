//! What the functions about indexes are asked for: a database, an object, an index of it and a partition; NULL, 0 (but for
//! an index) and -1 mean all.

use crate::catalog_views::indexes::{Index, of_tables};
use crate::catalog_views::partitions::{Partition, partitions_of};
use crate::catalog_views::principals::access;
use crate::context::Context;
use catalog::ObjectRef;
use executor::SqlError;
use security::{Permission, Target};
use session_state::{check_server_state, database_state_denied, object_target};
use types::Value;

/// See the file's first lines.
pub struct Asked {
    database: Option<i64>,
    object: Option<i64>,
    index: Option<i64>,
    number: Option<i64>,
}

impl Asked {
    pub fn of(args: &[Value]) -> Asked {
        let asked = |i: usize| args.get(i).and_then(Value::as_i64).filter(|id| *id != -1);
        let or_all = |i: usize| asked(i).filter(|id| *id != 0);
        Asked { database: or_all(0), object: or_all(1), index: asked(2), number: or_all(3) }
    }

    /// 2561 where something is asked for of no object or no index; 2521 or 2573 where there is no such database, or no such
    /// object in it.
    pub fn check(&self, context: &Context<'_>) -> Result<(), SqlError> {
        let heap = Some(0);
        let of_nothing = [
            (2, self.database.is_none() && self.object.is_some()),
            (3, self.object.is_none() && self.index.is_some() && self.index != heap),
            (4, self.index.is_none() && self.number.is_some()),
        ];
        if let Some((parameter, _)) = of_nothing.into_iter().find(|(_, wrong)| *wrong) {
            return Err(incorrect(parameter));
        }
        let Some(id) = self.database else { return Ok(()) };
        let Some(there) = context.of_database_id(id) else {
            let text = format!(
                "Could not find database ID {id}. The database ID either does not exist, or the database was dropped \
                 before a statement tried to use it. Verify if the database ID exists by querying the sys.databases \
                 catalog view."
            );
            return Err(SqlError::new(2521, 16, text));
        };
        let Some(object) = self.object else { return Ok(()) };
        if there.objects().iter().any(|known| i64::from(known.object_id()) == object) {
            return Ok(());
        }
        let text = format!("Could not find table or object ID {object}. Check system catalog.");
        Err(SqlError::new(2573, 16, text))
    }

    /// CONTROL of the object that is asked for, or else a permission on the database, or on the server for all databases: 262
    /// or 300, and 297.
    pub fn check_permission(&self, context: &Context<'_>) -> Result<(), SqlError> {
        let Some(id) = self.database else {
            let access = context.session.identity.access();
            return check_server_state(Permission::ViewServerPerformanceState, access);
        };
        // A database that is not there has an error of its own.
        let Some(there) = context.of_database_id(id) else { return Ok(()) };
        let access = access(&there);
        let of_all = Permission::ViewDatabasePerformanceState;
        if access.allows(of_all, Target::Database) {
            return Ok(());
        }
        let is_asked = |object: &ObjectRef| Some(i64::from(object.object_id())) == self.object;
        let may = match there.objects().into_iter().find(is_asked) {
            Some(ObjectRef::Table(table)) if table.is_private() => true,
            Some(object) => access.allows(Permission::Control, object_target(&access, &object)),
            None => false,
        };
        // What was denied of the database is denied of each object in it.
        if may && !access.denies(of_all, Target::Database) {
            return Ok(());
        }
        Err(database_state_denied(of_all, there.name()))
    }

    /// What fits, in every database that is open, each told of with its id. Rows of partitions are counted for what is told
    /// alone.
    pub fn partitions<'a>(
        &self,
        context: &Context<'a>,
        takes: impl Fn(&Context<'a>, &Index) -> bool,
    ) -> Result<Vec<(i32, Context<'a>, Vec<Partition>)>, SqlError> {
        let mut all = Vec::new();
        for known in context.server.databases() {
            if self.database.is_some_and(|id| id != i64::from(known.id)) {
                continue;
            }
            let Some(there) = context.of_database_id(known.id.into()) else { continue };
            let mut indexes =
                of_tables(&there, |id| self.object.is_none_or(|o| o == i64::from(id)));
            indexes.retain(|index| self.index.is_none_or(|id| id == i64::from(index.id)));
            indexes.retain(|index| takes(&there, index));
            let mut found = partitions_of(&there, indexes)?;
            found.retain(|partition| {
                self.number.is_none_or(|number| number == i64::from(partition.number()))
            });
            all.push((known.id, there, found));
        }
        Ok(all)
    }
}

/// 2561.
pub fn incorrect(parameter: i32) -> SqlError {
    SqlError::new(2561, 16, format!("Parameter {parameter} is incorrect for this statement."))
}
