//! An open database, and who may come in.

use security::{Access, Directory, Permission, Target};
use std::sync::Arc;

/// An open database: the storage engine's door and the catalog that says what is in it.
#[derive(Clone)]
pub struct OpenDatabase {
    /// database_id; 1 is master.
    pub id: u16,
    /// Its name as created.
    pub name: String,
    /// Where its rows live.
    pub engine: Arc<engine::Database>,
    /// What exists in it.
    pub catalog: Arc<catalog::Catalog>,
}

/// master, tempdb, model and msdb have the first ids.
const SYSTEM_MAX: u16 = 4;

impl OpenDatabase {
    /// Is it one of the server's own?
    pub fn is_system(&self) -> bool {
        self.id <= SYSTEM_MAX
    }

    /// The user that a login is here; `None`: it may not come in. Into the databases of the system everybody may, as their
    /// guest where he is no user of them ("Special considerations for the guest user").
    pub fn user_of(&self, server: &Directory, login: i32) -> Option<i32> {
        let guest = || self.is_system().then_some(security::database_role::GUEST);
        security::user_of(server, login, &self.catalog.directory(None)).or_else(guest)
    }

    /// Whether guests may come in: every database of the system lets them.
    pub fn admits_guests(&self, server: &Arc<Directory>) -> bool {
        let guest = security::database_role::GUEST;
        let of_guest = || Access::new(server.clone(), None, self.catalog.directory(None), guest);
        self.is_system() || of_guest().allows(Permission::Connect, Target::Database)
    }
}
