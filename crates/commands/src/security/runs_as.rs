//! EXECUTE AS as a clause of a module, whom OWNER stands for in it, and who may act for whom.

use catalog::{Directory, ModuleKind, TableDef};
use ir::ObjectName;
use security::{Access, Permission, Principal, PrincipalKind, Target, database_role};

/// EXECUTE AS as a clause of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunsAs {
    /// Its owner: see [`owner_of`].
    Owner,
    /// A user by name; SELF of a module that dbo has defined is `dbo`.
    User(Box<str>),
    /// A login by name, of a trigger of the server.
    Login(Box<str>),
}

impl RunsAs {
    /// Of the options of a module; none for CALLER.
    pub fn of(options: &[String]) -> Option<RunsAs> {
        options.iter().find_map(|option| match option.as_str() {
            "EXECUTE AS OWNER" => Some(RunsAs::Owner),
            "EXECUTE AS SELF" => Some(RunsAs::User("dbo".into())),
            other => {
                let name = other.strip_prefix("EXECUTE AS '")?.strip_suffix('\'')?;
                Some(RunsAs::User(name.into()))
            }
        })
    }
}

impl RunsAs {
    /// The same of a trigger of the server, where names are of logins.
    pub fn of_server(options: &[String]) -> Option<RunsAs> {
        let of = RunsAs::of(options);
        match of {
            Some(RunsAs::User(name)) if !options.iter().any(|o| o == "EXECUTE AS SELF") => {
                Some(RunsAs::Login(name))
            }
            other => other,
        }
    }
}

/// A module as its definition is asked for whom it may run as.
#[derive(Clone, Copy, Debug)]
pub enum Defined<'d> {
    /// A procedure or function, which may be there already.
    Module(&'d ObjectName, ModuleKind),
    /// A trigger, which belongs to whom its table does; of a view, with the view's rows.
    TriggerOn(&'d TableDef),
    /// A trigger of the database, or a temporary procedure: dbo's.
    OfDbo,
}

/// To whom something in a schema belongs: its own owner, else the schema's. Of a trigger the id is its table's. Both what
/// EXECUTE AS OWNER asks and what it does go by this.
pub(super) fn owner_of(directory: &Directory, object_id: Option<i32>, schema: &str) -> i32 {
    let own = object_id.and_then(|id| directory.owners.get(&id).copied());
    let of_schema = || directory.schema(schema).map(|schema| schema.owner);
    own.or_else(of_schema).unwrap_or(database_role::DBO)
}

/// May it give things to a principal, and grant in its name? It is it or in it, or has IMPERSONATE on a user or login,
/// ALTER on a role; for a fixed role, which ALTER ANY ROLE does not alter, CONTROL of the whole.
pub(super) fn may_stand_for(access: &Access, principal: &Principal, server: bool) -> bool {
    let (token, target) = match server {
        true => (access.login_token(), Target::Login(principal.id)),
        false => (access.user_token(), Target::Principal(principal.id)),
    };
    let may = match principal.kind {
        PrincipalKind::User => access.allows(Permission::Impersonate, target),
        PrincipalKind::Role | PrincipalKind::Application if !principal.fixed => {
            access.allows(Permission::Alter, target)
        }
        PrincipalKind::Role | PrincipalKind::Application if server => {
            access.allows(Permission::ControlServer, Target::Server)
        }
        PrincipalKind::Role | PrincipalKind::Application => {
            access.allows(Permission::Control, Target::Database)
        }
    };
    token.contains(&principal.id) || may
}
