//! A session acts as somebody: following the directories, EXECUTE AS and REVERT, who may enter a database.

use crate::database::OpenDatabase;
use crate::host::Host;
use crate::identity::{Acting, Context, Depth, End, Identity, Seen};
use crate::state::SessionState;
use executor::{Reach, SqlError};
use security::{Access, PrincipalKind, SA_ID, Target, database_role};
use std::sync::Arc;
use types::Value;

impl SessionState {
    /// Makes the identity anew when a directory, or the database, has changed since.
    #[inline]
    pub fn follow_identity(&mut self, host: &dyn Host) {
        if self.identity.seen != Some(self.identity_source(host)) {
            self.refresh_identity(host);
        }
    }

    #[inline]
    fn identity_source(&self, host: &dyn Host) -> Seen {
        let version = self.database.catalog.version();
        let uncommitted = self.transaction.definitions();
        (host.server_directory_version(), version, self.database.id, uncommitted)
    }

    /// Makes the identity anew from the directories of now, the transaction's own changes included.
    #[cold]
    pub fn refresh_identity(&mut self, host: &dyn Host) {
        let seen = self.identity_source(host);
        let server_version = seen.0;
        let server = host.server_directory();
        let database = self.database.catalog.directory(self.transaction.scope());
        let (login, user) = match self.identity.current() {
            Context::Login(login) => {
                let user = security::user_of(&server, login, &database);
                (Some(login), user.unwrap_or(database_role::GUEST))
            }
            Context::User(user) => (None, user),
            Context::Application { role, database } if database == self.database.id => (None, role),
            Context::Application { .. } => (None, database_role::GUEST),
        };
        let access = Access::new(server, login, database, user);
        let identity = &mut self.identity;
        identity.limited = !access.is_unlimited();
        identity.stamp = 0;
        if identity.limited {
            let mix = (server_version as u64) << 34
                ^ (login.map_or(0, |login| login as u64 + 1)) << 17
                ^ user as u64;
            identity.stamp = (stdx::mix64(mix) as u32).max(1);
        }
        identity.access = Arc::new(access);
        identity.seen = Some(seen);
    }

    /// May the session enter the database? 916; 923 and 924 by the database's state.
    pub fn check_entry(&self, host: &dyn Host, database: &OpenDatabase) -> Result<(), SqlError> {
        let may_restricted = || match self.identity.current() {
            Context::Login(login) => {
                let users = database.catalog.directory(None);
                security::may_enter_restricted(&host.server_directory(), login, &users)
            }
            Context::User(_) | Context::Application { .. } => self.identity.access.is_sysadmin(),
        };
        if let Some(refusal) = host.refuses_entry(database, &may_restricted) {
            return Err(refusal);
        }
        if self.identity.access.is_sysadmin() {
            return Ok(());
        }
        let enters = match self.identity.current() {
            Context::Login(login) => database.user_of(&host.server_directory(), login).is_some(),
            // A user's name means nothing in another database.
            Context::User(_) => false,
            Context::Application { database: own, .. } => {
                own == database.id || database.admits_guests(&host.server_directory())
            }
        };
        if enters || database.id == self.database.id {
            return Ok(());
        }
        let name = self.login_name();
        Err(SqlError::new(
            916,
            14,
            format!(
                "The server principal \"{name}\" is not able to access the database \"{}\" under the current \
                 security context.",
                database.name
            ),
        ))
    }

    /// SUSER_SNAME(): the login it acts as; for a user the login with its sid, or its own name; for an application role
    /// the one that signed in.
    pub fn login_name(&self) -> String {
        let access = &self.identity.access;
        if let Context::Application { .. } = self.identity.current() {
            return access.server().name(self.identity.original).to_owned();
        }
        if let Some(login) = access.login() {
            return access.server().name(login).to_owned();
        }
        let user = access.database().principals.get(&access.user());
        let sid = user.and_then(|user| user.sid.as_deref());
        let login = sid.and_then(|sid| access.server().by_sid(sid));
        login.or(user).map_or_else(String::new, |found| found.name.to_string())
    }

    /// USER_NAME().
    pub fn user_name(&self) -> String {
        let access = &self.identity.access;
        access.database().name(access.user()).to_owned()
    }

    /// The schema of names without one: the user's default. `None`: dbo.
    pub fn default_schema(&self) -> Option<&str> {
        if let Some(schema) = &self.identity.schema {
            return Some(schema);
        }
        if !self.identity.limited {
            return None;
        }
        let access = &self.identity.access;
        let user = access.database().principals.get(&access.user())?;
        user.default.as_deref().filter(|schema| *schema != "dbo")
    }

    /// From now on names without a schema are of this one; the one before it.
    pub fn enter_schema(&mut self, schema: Option<Box<str>>) -> Option<Box<str>> {
        std::mem::replace(&mut self.identity.schema, schema)
    }

    /// EXECUTE AS; 15517, 15406.
    pub fn execute_as(
        &mut self,
        host: &dyn Host,
        login: bool,
        name: &str,
        end: End,
    ) -> Result<(), SqlError> {
        // Whatever the transaction has just granted counts.
        self.refresh_identity(host);
        let id = self.may_act_as(login, name)?;
        self.act(host, if login { Context::Login(id) } else { Context::User(id) }, end);
        Ok(())
    }

    fn act(&mut self, host: &dyn Host, context: Context, end: End) {
        let database = self.database.id;
        self.identity.contexts.push(Acting { context, end, database });
        self.refresh_identity(host);
    }

    /// SETUSER 'name'; 15157.
    pub fn set_user(
        &mut self,
        host: &dyn Host,
        name: &str,
        no_reset: bool,
    ) -> Result<(), SqlError> {
        self.execute_as(host, false, name, End::SetUser { no_reset }).map_err(|_| {
            let text = format!(
                "Setuser failed because of one of the following reasons: the database principal '{name}' does not exist, \
                 its corresponding server principal does not have server access, this type of database principal \
                 cannot be impersonated, or you do not have permission."
            );
            SqlError::new(15157, 16, text)
        })
    }

    /// SETUSER: back to who it was before the last ones, as far as they were SETUSER themselves and without NORESET.
    pub fn end_set_user(&mut self, host: &dyn Host) {
        let Identity { contexts, outer, .. } = &mut self.identity;
        let ends = |a: &Acting| a.end == End::SetUser { no_reset: false };
        while contexts.len() > *outer && contexts.last().is_some_and(ends) {
            contexts.pop();
        }
        self.refresh_identity(host);
    }

    /// sp_setapprole, once the password is known to be the role's.
    pub fn become_application_role(
        &mut self,
        host: &dyn Host,
        role: i32,
        cookie: Option<Box<[u8]>>,
    ) {
        let database = self.database.id;
        self.act(host, Context::Application { role, database }, End::Application(cookie));
    }

    /// sp_unsetapprole: back to who it was before the role. False: none was taken last, or not with this cookie, or it
    /// was in another database.
    pub fn leave_application_role(&mut self, host: &dyn Host, cookie: &[u8]) -> bool {
        let fits = self.identity.contexts.last().is_some_and(|last| {
            matches!(&last.end, End::Application(Some(own)) if **own == *cookie)
                && last.database == self.database.id
        });
        if fits {
            self.identity.contexts.pop();
            self.refresh_identity(host);
        }
        fits
    }

    /// The id of a principal that may be impersonated; 15517, 15406.
    pub fn may_act_as(&self, login: bool, name: &str) -> Result<i32, SqlError> {
        let access = self.identity.access.clone();
        let directory = if login { access.server() } else { access.database() };
        let found = directory.find(name).filter(|found| {
            let special = !login
                && matches!(found.id, database_role::INFORMATION_SCHEMA | database_role::SYS);
            let target = if login { Target::Login(found.id) } else { Target::Principal(found.id) };
            let current = if login { access.login() } else { Some(access.user()) };
            found.kind == PrincipalKind::User
                && !special
                && (current == Some(found.id)
                    || access.allows(security::Permission::Impersonate, target))
        });
        found.map(|found| found.id).ok_or_else(|| cannot_act_as(login, name))
    }

    /// A module that runs as a user of the database begins.
    pub fn act_as_user(&mut self, host: &dyn Host, user: i32) {
        self.act(host, Context::User(user), End::Module);
    }

    /// The same as a login of the server.
    pub fn act_as_login(&mut self, host: &dyn Host, login: i32) {
        self.act(host, Context::Login(login), End::Module);
    }

    /// REVERT [WITH COOKIE]; nothing to revert is no error. 15199, 15196, 15591, each the end of the batch.
    pub fn revert(&mut self, host: &dyn Host, cookie: Option<&Value>) -> Result<(), SqlError> {
        let refused =
            |number: i32, text: &str| Err(SqlError::new(number, 16, text).with_reach(Reach::Scope));
        let Identity { contexts, outer, .. } = &self.identity;
        let Some(last) = contexts.last() else { return Ok(()) };
        if contexts.len() <= *outer || matches!(last.end, End::Module | End::Application(_)) {
            // It is the caller's, the module's own, or an application role's.
            return Ok(());
        }
        if last.database != self.database.id {
            return refused(
                15199,
                "The current security context cannot be reverted. Please switch to the original database where 'Execute \
                 As' was called and try it again.",
            );
        }
        let fits = match (&last.end, cookie) {
            (End::Never, _) => {
                return refused(
                    15196,
                    "The current security context is non-revertible. The \"Revert\" statement failed.",
                );
            }
            (End::Cookie(wanted), Some(Value::Binary(given))) => **wanted == **given,
            (End::Cookie(_), _) => false,
            (_, given) => given.is_none(),
        };
        if !fits {
            return refused(
                15591,
                "The current security context cannot be reverted using this statement. A cookie may or may not be needed \
                 with 'Revert' statement depending on how the context was set with 'Execute As' statement.",
            );
        }
        self.identity.contexts.pop();
        self.refresh_identity(host);
        Ok(())
    }

    /// Takes back every EXECUTE AS that has come since: a procedure or text has ended.
    #[inline]
    pub fn revert_to(&mut self, host: &dyn Host, depth: Depth) {
        self.identity.outer = depth.outer;
        if self.identity.contexts.len() > depth.contexts {
            self.identity.contexts.truncate(depth.contexts);
            self.refresh_identity(host);
        }
    }

    /// Takes back every EXECUTE AS: the connection begins anew.
    pub fn revert_all(&mut self) {
        self.identity.contexts.clear();
        self.identity.outer = 0;
        self.identity.seen = None;
        // Until the next request knows better.
        self.identity.limited = self.identity.original != SA_ID;
    }
}

/// 15406 of a login, 15517 of a user.
pub fn cannot_act_as(login: bool, name: &str) -> SqlError {
    let (number, kind) = if login { (15406, "server") } else { (15517, "database") };
    SqlError::new(
        number,
        16,
        format!(
            "Cannot execute as the {kind} principal because the principal \"{name}\" does not exist, this type of \
             principal cannot be impersonated, or you do not have permission."
        ),
    )
}
