//! CREATE, ALTER and DROP of logins, users, roles, application roles and schemas.
//!
//! The server's principals change in a transaction of their own, so these statements are refused (574) inside a user's
//! transaction; those of a database change in the session's transaction. Who may do what is asked before anything is
//! looked up, so that nobody learns names he may not know.

mod application_roles;
mod logins;
mod roles;
mod schemas;
mod users;

use crate::Commands;
use crate::procedures::Argument;
use catalog::Directory;
use executor::SqlError;
use security::{Permission, Target};
use syntax::ast::{
    AlterRoleAction, ApplicationRoleOptions, Ident, LoginOptions, Secret, SecurityStatement as S,
    Span, UserLogin, UserOptions, Voucher,
};
use types::Value;

/// 15151: `what` is "alter the login", "drop the user" ...
pub(crate) fn cannot(what: &str, name: &str) -> SqlError {
    SqlError::new(
        15151,
        16,
        format!("Cannot {what} '{name}', because it does not exist or you do not have permission."),
    )
}

/// 15150.
fn fixed(what: &str, name: &str) -> SqlError {
    SqlError::new(15150, 16, format!("Cannot {what} '{name}'."))
}

/// 15405.
fn special(name: &str) -> SqlError {
    SqlError::new(15405, 11, format!("Cannot use the special principal '{name}'."))
}

fn no_permission() -> SqlError {
    SqlError::new(15247, 16, "User does not have permission to perform this action.")
}

fn unknown(kind: &str, name: &str) -> SqlError {
    cannot(&format!("find the {kind}"), name)
}

/// Nobody vouches for anybody here: there are no accounts of Windows, no certificates and no keys, and Microsoft Entra ID
/// is not asked. 15401, 15151; 37525 for `what`, LOGIN or USER.
fn no_voucher(what: &str, name: &str, from: &Voucher) -> SqlError {
    match from {
        Voucher::ExternalProvider => {
            let text = format!(
                "Command 'CREATE {what} FROM EXTERNAL PROVIDER' is not supported as Azure Active Directory is not configured \
                 for this instance."
            );
            SqlError::new(37525, 16, text)
        }
        Voucher::Windows => {
            let text =
                format!("Windows NT user or group '{name}' not found. Check the name again.");
            SqlError::new(15401, 16, text)
        }
        Voucher::Certificate(certificate) => unknown("certificate", &certificate.value),
        Voucher::AsymmetricKey(key) => unknown("asymmetric key", &key.value),
    }
}

fn now() -> u64 {
    runtime::clock::unix_ns()
}

/// The statement that has replaced a procedure of before SQL Server 2005; none of sp_changedbowner.
pub fn principal_statement(procedure: &str, args: &[Argument]) -> Result<Option<S>, SqlError> {
    let given = |at: usize, names: &[&str]| -> Option<&str> {
        let named = args.iter().find(|arg| {
            let name = arg.name.as_deref().unwrap_or("");
            names.iter().any(|known| name.trim_start_matches('@').eq_ignore_ascii_case(known))
        });
        let placed = args.get(at).filter(|arg| arg.name.is_none());
        named.or(placed)?.value.as_ref()?.as_str()
    };
    let needed = |at: usize, names: &[&str]| {
        given(at, names).map(ident).ok_or_else(|| {
            crate::procedures::arguments::missing(procedure, &format!("@{}", names[0]))
                .with_state(4)
        })
    };
    Ok(Some(match procedure {
        "sp_addrolemember" => S::AlterRole {
            server: false,
            name: needed(0, &["rolename"])?,
            action: AlterRoleAction::Add(needed(1, &["membername"])?),
        },
        "sp_droprolemember" => S::AlterRole {
            server: false,
            name: needed(0, &["rolename"])?,
            action: AlterRoleAction::Drop(needed(1, &["membername"])?),
        },
        "sp_addsrvrolemember" => S::AlterRole {
            server: true,
            name: needed(1, &["rolename"])?,
            action: AlterRoleAction::Add(needed(0, &["loginame"])?),
        },
        "sp_dropsrvrolemember" => S::AlterRole {
            server: true,
            name: needed(1, &["rolename"])?,
            action: AlterRoleAction::Drop(needed(0, &["loginame"])?),
        },
        "sp_addlogin" => S::CreateLogin {
            name: needed(0, &["loginame"])?,
            options: LoginOptions {
                password: Some(Secret(given(1, &["passwd"]).unwrap_or("").to_owned().into())),
                default_database: given(2, &["defdb"]).map(ident),
                default_language: given(3, &["deflanguage"]).map(ident),
                ..LoginOptions::default()
            },
        },
        "sp_droplogin" => S::DropLogin { name: needed(0, &["loginame"])?, if_exists: false },
        "sp_grantdbaccess" | "sp_adduser" => {
            let login = needed(0, &["loginame"])?;
            let name = given(1, &["name_in_db"]).map_or_else(|| login.clone(), ident);
            S::CreateUser { name, login: UserLogin::Login(login), options: UserOptions::default() }
        }
        "sp_revokedbaccess" | "sp_dropuser" => {
            S::DropUser { name: needed(0, &["name_in_db"])?, if_exists: false }
        }
        "sp_addrole" => S::CreateRole {
            server: false,
            name: needed(0, &["rolename"])?,
            owner: given(1, &["ownername"]).map(ident),
        },
        "sp_droprole" => {
            S::DropRole { server: false, name: needed(0, &["rolename"])?, if_exists: false }
        }
        "sp_addapprole" => S::CreateApplicationRole {
            name: needed(0, &["rolename"])?,
            options: ApplicationRoleOptions {
                password: Some(secret(&needed(1, &["password"])?)),
                ..ApplicationRoleOptions::default()
            },
        },
        "sp_approlepassword" => S::AlterApplicationRole {
            name: needed(0, &["rolename"])?,
            options: ApplicationRoleOptions {
                password: Some(secret(&needed(1, &["newpwd"])?)),
                ..ApplicationRoleOptions::default()
            },
        },
        "sp_dropapprole" => S::DropApplicationRole { name: needed(0, &["rolename"])? },
        _ => return Ok(None),
    }))
}

impl Commands<'_> {
    /// Runs a statement about principals, schemas or permissions.
    #[cold]
    #[inline(never)]
    pub fn security(
        &mut self,
        statement: &S,
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<(), SqlError> {
        let state = &mut *self.state;
        state.refresh_identity(&*self.host);
        match statement {
            S::CreateLogin { name, options } => self.create_login(name, options),
            S::CreateLoginFrom { name, from } => self.create_login_from(name, from),
            S::AlterLogin { name, enable, options } => self.alter_login(name, *enable, options),
            S::DropLogin { name, if_exists } => self.drop_login(name, *if_exists),
            S::CreateUser { name, login, options } => self.create_user(name, login, options, frame),
            S::AlterUser { name, options } => self.alter_user(name, options, frame),
            S::DropUser { name, if_exists } => self.drop_user(name, *if_exists, frame),
            S::CreateRole { server, name, owner } => {
                self.create_role(*server, name, owner.as_ref(), frame)
            }
            S::AlterRole { server: true, name, action } => self.alter_server_role(name, action),
            S::AlterRole { server: false, name, action } => self.alter_role(name, action, frame),
            S::DropRole { server, name, if_exists } => {
                self.drop_role(*server, name, *if_exists, frame)
            }
            S::CreateApplicationRole { name, options } => {
                self.create_application_role(name, options, frame)
            }
            S::AlterApplicationRole { name, options } => {
                self.alter_application_role(name, options, frame)
            }
            S::DropApplicationRole { name } => self.drop_application_role(name, frame),
            S::CreateSchema { name, owner, elements } if elements.is_empty() => {
                self.create_schema(name, owner.as_ref(), frame)
            }
            S::CreateSchema { name, owner, elements } => {
                self.create_schema_with(name, owner.as_ref(), elements, frame, guarded)
            }
            S::AlterSchema { name, on } => self.alter_schema(name, on, frame),
            S::DropSchema { name, if_exists } => self.drop_schema(name, *if_exists, frame),
            S::AlterAuthorization { on, to } => self.alter_authorization(on, to.as_ref(), frame),
            S::Grant(grant) => self.grant(grant, frame),
        }?;
        // What was changed counts for the rest of this batch too.
        self.state.refresh_identity(&*self.host);
        Ok(())
    }

    /// The procedures of before SQL Server 2005, as the statements that replaced them.
    pub fn principal_procedure(
        &mut self,
        procedure: &str,
        args: &[Argument],
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        if let Some(statement) = principal_statement(procedure, args)? {
            if let S::AlterRole { server: false, name, action: AlterRoleAction::Add(member) } =
                &statement
            {
                self.check_membership(&name.value, &member.value)?;
            }
            self.security(&statement, frame, false)?;
            // sp_adduser may name a role too.
            let role = crate::procedures::arguments::text(args, 2, "@grpname").map(str::to_owned);
            if let (S::CreateUser { name, .. }, "sp_adduser", Some(role)) =
                (&statement, procedure, role)
            {
                self.check_membership(&role, &name.value)?;
                let action = AlterRoleAction::Add(name.clone());
                let name = syntax::ast::Ident { value: role, ..name.clone() };
                self.security(&S::AlterRole { server: false, name, action }, frame, false)?;
            }
            return Ok(());
        }
        // sp_changedbowner.
        let login = crate::procedures::arguments::needed(procedure, args, 0, "@loginame")?;
        self.state.refresh_identity(&*self.host);
        if !self.allows(Permission::TakeOwnership, Target::Database) {
            return Err(no_permission());
        }
        self.change_owner(login, frame)?;
        self.state.refresh_identity(&*self.host);
        Ok(())
    }

    /// What sp_addrolemember wants to be there: 15014, 15410.
    fn check_membership(&mut self, role: &str, member: &str) -> Result<(), SqlError> {
        self.state.refresh_identity(&*self.host);
        let directory = self.state.identity.access().database();
        if !directory.find(role).is_some_and(|p| p.is_role()) {
            let text = format!("The role '{role}' does not exist in the current database.");
            return Err(SqlError::new(15014, 16, text));
        }
        if directory.find(member).is_none() {
            let text = format!("User or role '{member}' does not exist in this database.");
            return Err(SqlError::new(15410, 11, text));
        }
        Ok(())
    }

    /// Changes the server's directory.
    pub(crate) fn change_server(
        &mut self,
        mut change: impl FnMut(&mut Directory) -> Result<(), SqlError>,
    ) -> Result<(), SqlError> {
        if self.state.trancount() > 0 {
            return Err(SqlError::new(
                574,
                16,
                "A statement that changes principals or permissions of the server cannot be used inside a user \
                 transaction.",
            ));
        }
        self.host.change_server(&mut change)
    }

    /// Changes the database's directory in the session's transaction.
    pub(crate) fn change_database(
        &mut self,
        frame: &mut [Value],
        change: impl FnOnce(&mut Directory) -> Result<(), SqlError>,
    ) -> Result<(), SqlError> {
        self.in_catalog(frame, |catalog, txn, scope| {
            catalog.change_directory(txn, scope, change).map(drop)
        })
    }

    fn allows(&self, permission: Permission, target: Target) -> bool {
        self.state.identity.access().allows(permission, target)
    }
}

/// A password that came as a value.
fn secret(text: &Ident) -> Secret {
    Secret(text.value.clone().into())
}

/// A name that came as a value.
fn ident(name: &str) -> Ident {
    Ident { value: name.to_owned(), quoted: true, span: Span::default() }
}

fn same(a: &str, b: &str) -> bool {
    catalog::same_name(a, b)
}

/// 15006, 103.
fn check_principal_name(name: &str) -> Result<(), SqlError> {
    if name.is_empty() || name.contains('\\') || name.contains('\0') {
        return Err(SqlError::new(
            15006,
            16,
            format!("'{name}' is not a valid name because it contains invalid characters."),
        ));
    }
    if name.encode_utf16().count() > 128 {
        let start: String = name.chars().take(128).collect();
        return Err(SqlError::new(
            103,
            15,
            format!(
                "The identifier that starts with '{start}' is too long. Maximum length is 128."
            ),
        ));
    }
    Ok(())
}

/// 15025.
fn server_principal_exists(name: &str) -> SqlError {
    SqlError::new(15025, 16, format!("The server principal '{name}' already exists."))
}

/// 15023.
fn database_principal_exists(name: &str) -> SqlError {
    SqlError::new(
        15023,
        16,
        format!("User, group, or role '{name}' already exists in the current database."),
    )
}

/// 15138, 15421, 15183, 15184, 15154.
fn check_owns_nothing(
    directory: &Directory,
    id: i32,
    catalog: &catalog::Catalog,
) -> Result<(), SqlError> {
    if directory.schemas.values().any(|schema| schema.owner == id) {
        return Err(SqlError::new(
            15138,
            16,
            "The database principal owns a schema in the database, and cannot be dropped.",
        ));
    }
    if directory.principals.values().any(|p| p.is_role() && p.owner == id && p.id != id) {
        return Err(SqlError::new(
            15421,
            16,
            "The database principal owns a database role and cannot be dropped.",
        ));
    }
    let owned = directory.owners.iter().find(|(_, owner)| **owner == id).map(|(id, _)| *id);
    if let Some(owned) = owned {
        use catalog::ModuleKind::{AliasType, TableType, XmlSchemaCollection};
        let kind = match catalog.object_by_id(owned) {
            Some(catalog::ObjectRef::Procedure(module)) => Some(module.kind),
            _ => None,
        };
        let (number, text) = match kind {
            Some(AliasType | TableType) => (
                15184,
                "The database principal owns data types in the database and cannot be dropped.",
            ),
            Some(XmlSchemaCollection) => (
                15154,
                "The database principal owns an XML schema collection and cannot be dropped.",
            ),
            _ => (
                15183,
                "The database principal owns objects in the database and cannot be dropped.",
            ),
        };
        return Err(SqlError::new(number, 16, text));
    }
    Ok(())
}
