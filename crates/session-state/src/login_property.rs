//! LOGINPROPERTY: what the password policy knows of a login.
//!
//! Source: SQL Server's documentation of the function. NULL for what is not kept of a login, and for who may not know of
//! it; moments are those that sys.server_principals shows.

use crate::host::Host;
use security::{Access, Permission, Target};
use types::Value;
use types::languages::Language;

/// No password is remembered but the one that is in force.
const HISTORY: i32 = 0;

pub(crate) fn login_property(
    host: &mut dyn Host,
    access: &Access,
    login: Option<&str>,
    property: Option<&str>,
) -> Value {
    let server = access.server();
    let found = login.and_then(|name| server.find(name)).filter(|p| !p.is_role());
    let (Some(found), Some(property)) = (found, property) else { return Value::Null };
    let Some(facts) = found.login.as_ref() else { return Value::Null };
    let own = access.login() == Some(found.id);
    if !own && !access.sees(Target::Login(found.id)) {
        return Value::Null;
    }
    let (rules, now) = (host.password_rules(), runtime::clock::unix_ns());
    let bad = host.bad_passwords(found.id);
    let hash = facts.password.as_ref();
    let flag = |on: bool| Value::Int(i32::from(on));
    let moment = |unix_ns: u64| Value::DateTime(types::datetime::datetime_from_unix_ns(unix_ns));
    let value = match property.trim().to_ascii_lowercase().as_str() {
        "defaultdatabase" => Value::str(found.default.as_deref().unwrap_or("master")),
        "defaultlanguage" => Value::str(Language::of(facts.language).name),
        "isexpired" => flag(rules.is_expired(found, now)),
        "islocked" => flag(rules.is_locked(found, now)),
        "ismustchange" => flag(facts.must_change),
        "badpasswordcount" => Value::Int(bad.map_or(0, |(count, _)| count as i32)),
        "badpasswordtime" => bad.map_or(Value::Null, |(_, at)| moment(at)),
        "lockouttime" if rules.is_locked(found, now) => moment(facts.locked_unix_ns),
        "historylength" => Value::Int(HISTORY),
        "passwordlastsettime" => moment(found.password_set_unix_ns()),
        "daysuntilexpiration" => match rules.days_left(found, now) {
            Some(days) => Value::Int(i32::try_from(days).unwrap_or(i32::MAX)),
            None if facts.check_policy && facts.check_expiration => Value::Int(-1),
            None => Value::Null,
        },
        "passwordhash"
            if access
                .allows(Permission::ViewAnyCryptographicallySecuredDefinition, Target::Server) =>
        {
            hash.map_or(Value::Null, |hash| Value::binary(hash.stored()))
        }
        // 2 is SHA-2; what else there is has no number.
        "passwordhashalgorithm" => match hash.map(|hash| hash.stored()) {
            Some([2, 0, ..]) => Value::Int(2),
            _ => Value::Null,
        },
        _ => Value::Null,
    };
    let ty = value.natural_type();
    types::Variant::wrap(value, ty).unwrap_or_default()
}
