//! Principals, schemas and permissions of a database, and the server's in `master`: kept in system tables, read whole.
//!
//! A [`Directory`] is small and changes seldom, so it is one immutable value behind an `Arc`. A change locks the row
//! that counts the directory's changes until its transaction ends, so changes are one after the other; writes the rows
//! that differ; and is published whole at commit ([`crate::DdlScope`]).
//!
//! What every server and database is born with is not stored but for what differs from it; a fixed membership or grant
//! that was taken away is stored as taken away.

use crate::catalog::{Catalog, PUBLISH_ROUNDS_MAX, behind};
use crate::properties::PropertyClass;
use crate::scope::{Change, DdlScope};
use crate::system::{Cells, SecurityTables, corrupt, text_or_null};
use crate::{CatalogError, Txn};
use security::{
    Directory, GrantKey, GrantState, GrantValue, LoginFacts, PasswordHash, Permission, Principal,
    PrincipalKind, SA_SID, SchemaDef, Securable,
};
use std::sync::Arc;
use types::Value;

/// Whose directory: the first column of the tables' keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Database = 0,
    Server = 1,
}

/// What a row of `principals` is: the second column of its key.
const PRINCIPAL: u8 = 0;
const SCHEMA: u8 = 1;
const VERSION: u8 = 2;
/// When a login's password was set (in `created`), and since when it is locked (in `modified`), where there is either.
const LOGIN_TIMES: u8 = 3;
/// Who owns an object that is not its schema's owner's: its id, and the principal in `owner`.
const OWNER: u8 = 4;

const FIXED: i32 = 1;
const LOGIN: i32 = 2;
const GENERATED: i32 = 4;
const DISABLED: i32 = 8;
const CHECK_POLICY: i32 = 16;
const CHECK_EXPIRATION: i32 = 32;
const MUST_CHANGE: i32 = 64;
/// Eight bits from here on are the place of a login's language, which is 0 in what older builds have written.
const LANGUAGE_AT: u32 = 8;

/// What can be said of a column is kept in the place of a permission's number: this, and so much more for each of these
/// before it, and the column's number. A table has 1,024 at most.
const OF_COLUMN: i32 = 1_000;
const OF_COLUMN_EACH: i32 = 2_000;
const ON_COLUMN: [Permission; 4] =
    [Permission::Unmask, Permission::Select, Permission::Update, Permission::References];

impl Scope {
    fn value(self) -> Value {
        Value::TinyInt(self as u8)
    }

    /// What is there without a stored row.
    fn born_with(self) -> Directory {
        match self {
            Scope::Database => Directory::database(&SA_SID),
            Scope::Server => Directory::server(),
        }
    }
}

/// Reads a directory.
pub(crate) fn load(
    tables: &SecurityTables,
    txn: &mut Txn,
    scope: Scope,
) -> Result<Directory, CatalogError> {
    let mut directory = scope.born_with();
    let prefix = [scope.value()];
    for row in tables.principals.scan(txn, &prefix)? {
        let mut cells = Cells::new(row);
        cells.int()?;
        let (what, id, name) = (cells.int()? as u8, cells.int()? as i32, cells.text()?);
        let (kind, sid, owner) = (cells.int()?, cells.opt_bytes()?, cells.int()? as i32);
        match what {
            PRINCIPAL => {
                let (default, flags) = (cells.opt_text()?, cells.int()? as i32);
                let password = cells.opt_bytes()?.map(|bytes| PasswordHash::parse(&bytes));
                let password = password.transpose().map_err(|_| corrupt("a password hash"))?;
                let login = LoginFacts {
                    password,
                    generated: flags & GENERATED != 0,
                    disabled: flags & DISABLED != 0,
                    check_policy: flags & CHECK_POLICY != 0,
                    check_expiration: flags & CHECK_EXPIRATION != 0,
                    must_change: flags & MUST_CHANGE != 0,
                    language: (flags >> LANGUAGE_AT) as u8,
                    // Behind all principals.
                    password_set_unix_ns: 0,
                    locked_unix_ns: 0,
                };
                let kind = match kind {
                    0 => PrincipalKind::User,
                    1 => PrincipalKind::Role,
                    2 => PrincipalKind::Application,
                    _ => return Err(corrupt("a principal of unknown kind")),
                };
                let own =
                    if kind == PrincipalKind::Application { login.password.clone() } else { None };
                // A fixed role that is younger than the folder gives way to who has its name already.
                let mut fixed = directory.principals.values().take_while(|other| other.fixed);
                let namesake =
                    fixed.find(|other| other.id != id && other.name.eq_ignore_ascii_case(&name));
                if let Some(namesake) = namesake.map(|other| other.id) {
                    directory.remove(namesake);
                }
                directory.put(Principal {
                    id,
                    name,
                    kind,
                    sid: sid.map(Into::into),
                    owner,
                    default,
                    fixed: flags & FIXED != 0,
                    login: (flags & LOGIN != 0).then_some(login),
                    password: own,
                    created_unix_ns: cells.int()? as u64,
                    modified_unix_ns: cells.int()? as u64,
                });
            }
            SCHEMA => {
                directory.schemas.insert(id, SchemaDef { id, name, owner });
            }
            LOGIN_TIMES => {
                cells.opt_text()?;
                cells.int()?;
                cells.opt_bytes()?;
                let times = (cells.int()? as u64, cells.int()? as u64);
                let login = directory.principals.get_mut(&id).and_then(|p| p.login.as_mut());
                if let Some(login) = login {
                    (login.password_set_unix_ns, login.locked_unix_ns) = times;
                }
            }
            OWNER => {
                directory.owners.insert(id, owner);
            }
            VERSION => directory.version = version_of(&mut cells)?,
            _ => return Err(corrupt("a principal of unknown kind")),
        }
    }
    for row in tables.members.scan(txn, &prefix)? {
        let mut cells = Cells::new(row);
        cells.int()?;
        let pair = (cells.int()? as i32, cells.int()? as i32);
        if cells.flag()? {
            directory.members.insert(pair);
        } else {
            directory.members.remove(&pair);
        }
    }
    for row in tables.permissions.scan(txn, &prefix)? {
        let mut cells = Cells::new(row);
        cells.int()?;
        let (class, major) = (cells.int()? as u8, cells.int()? as i32);
        let (grantee, permission) = (cells.int()? as i32, cells.int()? as i16);
        let (state, grantor) = (cells.int()?, cells.int()? as i32);
        let mut securable =
            Securable::from_class(class, major).ok_or_else(|| corrupt("a class"))?;
        let known = match i32::from(permission) - OF_COLUMN {
            of_column @ 1.. => {
                securable = Securable::Column(major, of_column % OF_COLUMN_EACH);
                ON_COLUMN.get((of_column / OF_COLUMN_EACH) as usize).copied()
            }
            _ => Permission::from_number(permission),
        };
        let permission = known.ok_or_else(|| corrupt("a permission"))?;
        let key = GrantKey { securable, grantee, permission };
        let state = match state {
            0 => {
                directory.grants.remove(&key);
                continue;
            }
            1 => GrantState::Grant,
            2 => GrantState::GrantWithGrantOption,
            3 => GrantState::Deny,
            _ => return Err(corrupt("a permission's state")),
        };
        directory.grants.insert(key, GrantValue { state, grantor });
    }
    Ok(directory)
}

/// Writes what differs between two states of a directory.
fn save(
    tables: &SecurityTables,
    txn: &mut Txn,
    scope: Scope,
    old: &Directory,
    new: &Directory,
) -> Result<(), CatalogError> {
    let born_with = scope.born_with();
    for principal in new.principals.values() {
        if old.principals.get(&principal.id) != Some(principal) {
            tables.principals.put(txn, &principal_row(scope, principal))?;
        }
        if old.principals.get(&principal.id).and_then(login_times) != login_times(principal) {
            tables.principals.put(txn, &login_times_row(scope, principal))?;
        }
    }
    for id in old.principals.keys().filter(|id| !new.principals.contains_key(id)) {
        tables.principals.delete(txn, &key(scope, PRINCIPAL, *id))?;
        if old.principals.get(id).and_then(login_times).is_some() {
            tables.principals.delete(txn, &key(scope, LOGIN_TIMES, *id))?;
        }
    }
    for schema in new.schemas.values() {
        if old.schemas.get(&schema.id) != Some(schema) {
            tables.principals.put(txn, &schema_row(scope, schema))?;
        }
    }
    for id in old.schemas.keys().filter(|id| !new.schemas.contains_key(id)) {
        tables.principals.delete(txn, &key(scope, SCHEMA, *id))?;
    }
    for (object, owner) in &new.owners {
        if old.owners.get(object) != Some(owner) {
            tables.principals.put(txn, &owner_row(scope, *object, *owner))?;
        }
    }
    for object in old.owners.keys().filter(|object| !new.owners.contains_key(object)) {
        tables.principals.delete(txn, &key(scope, OWNER, *object))?;
    }
    for (role, member) in new.members.difference(&old.members) {
        tables.members.put(txn, &member_row(scope, *role, *member, true))?;
    }
    for (role, member) in old.members.difference(&new.members) {
        let row = member_row(scope, *role, *member, false);
        if born_with.members.contains(&(*role, *member)) {
            tables.members.put(txn, &row)?;
        } else {
            tables.members.delete(txn, &row[..3])?;
        }
    }
    for (grant, value) in &new.grants {
        if old.grants.get(grant) != Some(value) {
            tables.permissions.put(txn, &grant_row(scope, grant, Some(value)))?;
        }
    }
    for grant in old.grants.keys().filter(|grant| !new.grants.contains_key(grant)) {
        let row = grant_row(scope, grant, None);
        if born_with.grants.contains_key(grant) {
            tables.permissions.put(txn, &row)?;
        } else {
            tables.permissions.delete(txn, &row[..5])?;
        }
    }
    Ok(())
}

fn key(scope: Scope, what: u8, id: i32) -> [Value; 3] {
    [scope.value(), Value::TinyInt(what), Value::Int(id)]
}

fn principal_row(scope: Scope, p: &Principal) -> Vec<Value> {
    let login = p.login.as_ref();
    let flag = |on: bool, bit: i32| if on { bit } else { 0 };
    let flags = flag(p.fixed, FIXED)
        | login.map_or(0, |login| {
            LOGIN
                | flag(login.generated, GENERATED)
                | flag(login.disabled, DISABLED)
                | flag(login.check_policy, CHECK_POLICY)
                | flag(login.check_expiration, CHECK_EXPIRATION)
                | flag(login.must_change, MUST_CHANGE)
                | i32::from(login.language) << LANGUAGE_AT
        });
    let password = login.and_then(|login| login.password.as_ref()).or(p.password.as_ref());
    let kind = match p.kind {
        PrincipalKind::User => 0,
        PrincipalKind::Role => 1,
        PrincipalKind::Application => 2,
    };
    let mut row = key(scope, PRINCIPAL, p.id).to_vec();
    row.extend([
        Value::str(&p.name),
        Value::TinyInt(kind),
        p.sid.as_deref().map_or(Value::Null, Value::binary),
        Value::Int(p.owner),
        text_or_null(p.default.as_deref()),
        Value::Int(flags),
        password.map_or(Value::Null, |hash| Value::binary(hash.stored())),
        Value::BigInt(p.created_unix_ns as i64),
        Value::BigInt(p.modified_unix_ns as i64),
    ]);
    row
}

fn schema_row(scope: Scope, schema: &SchemaDef) -> Vec<Value> {
    let mut row = key(scope, SCHEMA, schema.id).to_vec();
    row.extend([Value::str(&schema.name), Value::TinyInt(0), Value::Null]);
    row.extend([Value::Int(schema.owner), Value::Null, Value::Int(0), Value::Null]);
    row.extend([Value::BigInt(0), Value::BigInt(0)]);
    row
}

fn owner_row(scope: Scope, object: i32, owner: i32) -> Vec<Value> {
    let mut row = key(scope, OWNER, object).to_vec();
    row.extend([Value::str(""), Value::TinyInt(0), Value::Null, Value::Int(owner), Value::Null]);
    row.extend([Value::Int(0), Value::Null, Value::BigInt(0), Value::BigInt(0)]);
    row
}

/// What [`LOGIN_TIMES`] keeps of a principal.
fn login_times(p: &Principal) -> Option<(u64, u64)> {
    let login = p.login.as_ref()?;
    let times = (login.password_set_unix_ns, login.locked_unix_ns);
    (times != (0, 0)).then_some(times)
}

fn login_times_row(scope: Scope, p: &Principal) -> Vec<Value> {
    let (set, locked) = login_times(p).unwrap_or_default();
    let mut row = key(scope, LOGIN_TIMES, p.id).to_vec();
    row.extend([Value::str(""), Value::TinyInt(0), Value::Null, Value::Int(0), Value::Null]);
    row.extend([Value::Int(0), Value::Null]);
    row.extend([Value::BigInt(set as i64), Value::BigInt(locked as i64)]);
    row
}

/// The row that counts changes, which whoever changes the directory locks. The count is in the column `created`.
fn version_row(scope: Scope, version: i64) -> Vec<Value> {
    let mut row = key(scope, VERSION, 0).to_vec();
    row.extend([Value::str(""), Value::TinyInt(0), Value::Null, Value::Int(0), Value::Null]);
    row.extend([Value::Int(0), Value::Null, Value::BigInt(version), Value::BigInt(0)]);
    row
}

/// The count of changes: the cells up to the owner are taken already.
fn version_of(cells: &mut Cells) -> Result<i64, CatalogError> {
    cells.opt_text()?;
    cells.int()?;
    cells.opt_bytes()?;
    cells.int()
}

fn member_row(scope: Scope, role: i32, member: i32, there: bool) -> [Value; 4] {
    [scope.value(), Value::Int(role), Value::Int(member), Value::TinyInt(u8::from(there))]
}

fn grant_row(scope: Scope, grant: &GrantKey, value: Option<&GrantValue>) -> [Value; 7] {
    let state = match value.map(|value| value.state) {
        None => 0,
        Some(GrantState::Grant) => 1,
        Some(GrantState::GrantWithGrantOption) => 2,
        Some(GrantState::Deny) => 3,
    };
    [
        scope.value(),
        Value::TinyInt(grant.securable.class(scope == Scope::Server).number()),
        Value::Int(grant.securable.major_id()),
        Value::Int(grant.grantee),
        Value::SmallInt(match grant.securable {
            Securable::Column(_, column) => of_column(grant.permission, column),
            _ => grant.permission.number(),
        }),
        Value::TinyInt(state),
        Value::Int(value.map_or(0, |value| value.grantor)),
    ]
}

/// See [`OF_COLUMN`].
fn of_column(permission: Permission, column: i32) -> i16 {
    let at = ON_COLUMN.iter().position(|known| *known == permission);
    let at = at.unwrap_or_else(|| stdx::fatal!("{permission:?} of a column"));
    (OF_COLUMN + at as i32 * OF_COLUMN_EACH + column) as i16
}

/// Locks the row that counts changes and gives the count; 0 when nothing was ever changed.
fn lock_version(tables: &SecurityTables, txn: &mut Txn, scope: Scope) -> Result<i64, CatalogError> {
    loop {
        match tables.principals.read_locked(txn, &key(scope, VERSION, 0))? {
            Some(row) => return row[10].as_i64().ok_or_else(|| corrupt("no count of changes")),
            None if tables.principals.insert(txn, &version_row(scope, 0))? => return Ok(0),
            // Another session has made the row meanwhile.
            None => {}
        }
    }
}

/// Changes a directory under its lock: `current` gives what is published. Suspends.
pub(crate) fn change<E: From<CatalogError>>(
    tables: &SecurityTables,
    txn: &mut Txn,
    scope: Scope,
    current: impl Fn() -> Arc<Directory>,
    work: impl FnOnce(&mut Directory) -> Result<(), E>,
) -> Result<Arc<Directory>, E> {
    let version = lock_version(tables, txn, scope)?;
    let mut rounds = 0;
    let old = loop {
        let old = current();
        if old.version == version {
            break old;
        }
        rounds += 1;
        if rounds > PUBLISH_ROUNDS_MAX {
            return Err(behind().into());
        }
        // Another session has committed a change and is about to publish it.
        runtime::task::sleep_ns(1_000_000, telemetry::WaitType::SleepTask);
    };
    let mut new = (*old).clone();
    work(&mut new)?;
    new.version = version + 1;
    save(tables, txn, scope, &old, &new)?;
    tables.principals.put(txn, &version_row(scope, new.version)).map_err(E::from)?;
    Ok(Arc::new(new))
}

impl Catalog {
    /// Principals, schemas and permissions: the transaction's own state of them first.
    pub fn directory(&self, scope: Option<&DdlScope>) -> Arc<Directory> {
        let own = scope.and_then(DdlScope::directory);
        own.unwrap_or_else(|| self.defs.read().directory.clone())
    }

    /// Makes a login the owner, in a transaction of its own. Suspends.
    pub fn set_owner(&self, sid: &[u8]) -> Result<(), CatalogError> {
        let mut scope = DdlScope::default();
        self.in_transaction(|catalog, txn| {
            catalog.change_directory(txn, &mut scope, |directory| -> Result<(), CatalogError> {
                if let Some(dbo) = directory.principals.get_mut(&security::database_role::DBO) {
                    dbo.sid = Some(sid.into());
                }
                Ok(())
            })
        })?;
        self.commit(scope);
        Ok(())
    }

    /// What was granted or denied on an object goes with it, and who owned it. Suspends.
    pub(crate) fn forget_grants(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        object_id: i32,
    ) -> Result<(), CatalogError> {
        self.forget_rights(txn, scope, object_id, true)
    }

    /// The same, but its owner stays who it is unless `owner_too`. Suspends.
    pub(crate) fn forget_rights(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        object_id: i32,
        owner_too: bool,
    ) -> Result<(), CatalogError> {
        let gone = |securable: Securable| match securable {
            Securable::Object(id)
            | Securable::Column(id, _)
            | Securable::Type(id)
            | Securable::XmlSchemas(id) => id == object_id,
            _ => false,
        };
        let directory = self.directory(Some(scope));
        let is_owned = owner_too && directory.owners.contains_key(&object_id);
        if !is_owned && !directory.grants.keys().any(|key| gone(key.securable)) {
            return Ok(());
        }
        self.change_directory(txn, scope, |directory| -> Result<(), CatalogError> {
            if owner_too {
                directory.owners.remove(&object_id);
            }
            directory.grants.retain(|key, _| !gone(key.securable));
            Ok(())
        })?;
        Ok(())
    }

    /// What was granted or denied on a column goes with it, and those behind it have lower numbers. Suspends.
    pub(crate) fn forget_grants_of_column(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        object_id: i32,
        gone: i32,
    ) -> Result<(), CatalogError> {
        let concerned = |key: &GrantKey| match key.securable {
            Securable::Column(id, column) => id == object_id && column >= gone,
            _ => false,
        };
        if !self.directory(Some(scope)).grants.keys().any(concerned) {
            return Ok(());
        }
        self.change_directory(txn, scope, |directory| -> Result<(), CatalogError> {
            let moved: Vec<(GrantKey, GrantValue)> = directory
                .grants
                .iter()
                .filter(|(k, _)| concerned(k))
                .map(|(k, v)| (*k, *v))
                .collect();
            directory.grants.retain(|key, _| !concerned(key));
            for (key, value) in moved {
                if let Securable::Column(id, column) = key.securable
                    && column > gone
                {
                    let securable = Securable::Column(id, column - 1);
                    directory.grants.insert(GrantKey { securable, ..key }, value);
                }
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Keeps others from changing the directory until the transaction ends. Suspends.
    pub fn hold_directory(&self, txn: &mut Txn) -> Result<(), CatalogError> {
        lock_version(&self.tables.security, txn, Scope::Database).map(drop)
    }

    /// Changes the directory in the transaction; others wait for its end, and see the change at commit. What `work`
    /// refuses leaves everything as it was. Suspends.
    pub fn change_directory<E: From<CatalogError>>(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        work: impl FnOnce(&mut Directory) -> Result<(), E>,
    ) -> Result<Arc<Directory>, E> {
        let current = || self.directory(Some(scope));
        let old = current();
        let new = change(&self.tables.security, txn, Scope::Database, current, work)?;
        scope.changes.push(Change::Directory(new.clone()));
        let schema = |id: i32| old.schemas.contains_key(&id) && !new.schemas.contains_key(&id);
        let principal =
            |id: i32| old.principals.contains_key(&id) && !new.principals.contains_key(&id);
        self.forget_properties(txn, scope, |target| match target.class {
            PropertyClass::Schema => schema(target.major),
            PropertyClass::Principal => principal(target.major),
            _ => false,
        })?;
        Ok(new)
    }
}
