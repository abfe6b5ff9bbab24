//! Roles of the server and of a database, and who is in them.
//!
//! Invariant: no role is in itself, by whatever way; fixed roles keep their name and stay.

use super::{
    cannot, check_owns_nothing, check_principal_name, database_principal_exists, fixed, now, same,
    server_principal_exists, special, unknown,
};
use crate::Commands;
use catalog::Directory;
use executor::SqlError;
use security::{Permission, Principal, PrincipalKind, SA_ID, Target, database_role, server_role};
use syntax::ast::{AlterRoleAction, Ident};
use types::Value;

impl Commands<'_> {
    pub(super) fn create_role(
        &mut self,
        server: bool,
        name: &Ident,
        owner: Option<&Ident>,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        check_principal_name(&name.value)?;
        let access = self.state.identity.access().clone();
        let owner_id = |directory: &Directory, default: i32| match owner {
            None => Ok(default),
            Some(owner) => {
                let found = directory.find(&owner.value);
                found.map(|p| p.id).ok_or_else(|| unknown("principal", &owner.value))
            }
        };
        if server {
            self.check_server(Permission::CreateServerRole)?;
            let creator = access.login().unwrap_or(SA_ID);
            return self.change_server(|directory| {
                if directory.find(&name.value).is_some() {
                    return Err(server_principal_exists(&name.value));
                }
                let owner = owner_id(directory, creator)?;
                let id = directory.free_id(server_role::FIRST);
                directory.put(Principal::new(id, &name.value, PrincipalKind::Role, owner));
                Ok(())
            });
        }
        self.check_database(Permission::CreateRole)?;
        let creator = access.user();
        self.change_database(frame, |directory| {
            if directory.find(&name.value).is_some() {
                return Err(database_principal_exists(&name.value));
            }
            let owner = owner_id(directory, creator)?;
            let id = directory.free_id(database_role::FIRST);
            directory.put(Principal::new(id, &name.value, PrincipalKind::Role, owner));
            Ok(())
        })
    }

    pub(super) fn alter_server_role(
        &mut self,
        name: &Ident,
        action: &AlterRoleAction,
    ) -> Result<(), SqlError> {
        let refused = || cannot("alter the server role", &name.value);
        let access = self.state.identity.access().clone();
        let server = self.host.server_directory();
        let role = server.find(&name.value).filter(|p| p.is_role()).ok_or_else(refused)?.clone();
        // A fixed role is given away by those who are in it; not even CONTROL SERVER is enough.
        let may = match role.fixed {
            true => access.is_sysadmin() || access.login_token().contains(&role.id),
            false => access.allows(Permission::Alter, Target::Login(role.id)),
        };
        if !may {
            return Err(refused());
        }
        self.change_server(|directory| {
            change_role(directory, &role, action, "login", server_principal_exists)
        })
    }

    pub(super) fn alter_role(
        &mut self,
        name: &Ident,
        action: &AlterRoleAction,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let refused = || cannot("alter the role", &name.value);
        let access = self.state.identity.access().clone();
        let found = access.database().find(&name.value).filter(|p| p.is_role());
        let role = found.ok_or_else(refused)?.clone();
        // A fixed role is the owner's to give away.
        let may = match role.fixed {
            true => access.allows(Permission::Control, Target::Database),
            false => access.allows(Permission::Alter, Target::Principal(role.id)),
        };
        if !may {
            return Err(refused());
        }
        self.change_database(frame, |directory| {
            change_role(directory, &role, action, "user", database_principal_exists)
        })
    }

    pub(super) fn drop_role(
        &mut self,
        server: bool,
        name: &Ident,
        if_exists: bool,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let (what, access) = (
            if server { "drop the server role" } else { "drop the role" },
            self.state.identity.access().clone(),
        );
        let directory = if server { access.server() } else { access.database() };
        let found = directory.find(&name.value).filter(|p| p.is_role()).cloned();
        let Some(role) = found else {
            return if if_exists { Ok(()) } else { Err(cannot(what, &name.value)) };
        };
        let may = match server {
            true => access.allows(Permission::Alter, Target::Login(role.id)),
            false => access.allows(Permission::Alter, Target::Principal(role.id)),
        };
        if !may {
            return Err(cannot(what, &name.value));
        }
        if role.fixed {
            return Err(fixed(what, &role.name));
        }
        let database = self.state.database.clone();
        let drop = |directory: &mut Directory| {
            if directory.members.iter().any(|(of, _)| *of == role.id) {
                return Err(SqlError::new(
                    15144,
                    16,
                    "The role has members. It must be empty before it can be dropped.",
                ));
            }
            check_owns_nothing(directory, role.id, &database.catalog)?;
            directory.remove(role.id);
            Ok(())
        };
        if server { self.change_server(drop) } else { self.change_database(frame, drop) }
    }
}

/// ADD MEMBER, DROP MEMBER, WITH NAME.
fn change_role(
    directory: &mut Directory,
    role: &Principal,
    action: &AlterRoleAction,
    kind: &str,
    exists: impl Fn(&str) -> SqlError,
) -> Result<(), SqlError> {
    if same(&role.name, "public") {
        return Err(SqlError::new(15081, 16, "Membership of the public role cannot be changed."));
    }
    match action {
        AlterRoleAction::Add(member) | AlterRoleAction::Drop(member) => {
            let add = matches!(action, AlterRoleAction::Add(_));
            let verb = if add { "add" } else { "drop" };
            let found = directory.find(&member.value).cloned();
            let found =
                found.ok_or_else(|| cannot(&format!("{verb} the principal"), &member.value))?;
            let untouchable = match kind {
                "login" => found.id == SA_ID || found.id == server_role::PUBLIC,
                _ => found.id < database_role::FIRST && found.id != database_role::GUEST,
            };
            if untouchable || (found.fixed && found.is_role()) {
                return Err(special(&found.name));
            }
            if !add {
                directory.members.remove(&(role.id, found.id));
                return Ok(());
            }
            let inside = directory.token(role.id, role.id);
            if inside.contains(&found.id) {
                return Err(SqlError::new(15413, 11, "Cannot make a role a member of itself."));
            }
            directory.members.insert((role.id, found.id));
            Ok(())
        }
        AlterRoleAction::Rename(new) => {
            if role.fixed {
                return Err(fixed("alter the role", &role.name));
            }
            if directory.find(&new.value).is_some_and(|other| other.id != role.id) {
                return Err(exists(&new.value));
            }
            check_principal_name(&new.value)?;
            if let Some(role) = directory.principals.get_mut(&role.id) {
                role.name = new.value.as_str().into();
                role.modified_unix_ns = now();
            }
            Ok(())
        }
    }
}
