//! sys.fn_my_permissions: what the session's principals may do with the server, the database or an object
//! (learn.microsoft.com/sql/relational-databases/system-functions/sys-fn-my-permissions-transact-sql).

use crate::context::Context;
use crate::declare::{Declared, view};
use executor::SqlError;
use security::{Class, Permission, SCHEMA_DBO, Target};
use session_state::name_parts;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&MY_PERMISSIONS];

/// A securable, its column, what may be done.
type Mine = (String, String, Permission);

/// The permissions on one securable, those on its columns behind; none for a securable or a class that there is not.
fn mine(context: &Context<'_>, args: &[Value]) -> Result<Vec<Mine>, SqlError> {
    let text = |i: usize| args.get(i).and_then(Value::as_str);
    let class = text(1).map_or_else(|| "SERVER".to_owned(), |class| class.trim().to_uppercase());
    let access = context.session.identity.access();
    let mut of_columns = Vec::new();
    let (name, class, target) = match class.as_str() {
        "SERVER" => ("server".to_owned(), Class::Server, Target::Server),
        "DATABASE" => ("database".to_owned(), Class::Database, Target::Database),
        "OBJECT" => {
            let name = text(0).unwrap_or("");
            let parts = name_parts(name);
            let mut from_last = parts.iter().rev();
            let object = from_last.next().map_or("", |name| name.as_str());
            let schema = from_last.next().map(String::as_str).filter(|schema| !schema.is_empty());
            let elsewhere = from_last.next().is_some_and(|database| {
                !database.is_empty()
                    && !catalog::same_name(database, &context.session.database.name)
            });
            let found = crate::object::by_name(context, schema, object).filter(|_| !elsewhere);
            let Some(found) = found else { return Ok(Vec::new()) };
            let of = access.database().schema(&found.schema).map_or(SCHEMA_DBO, |s| s.id);
            let target = Target::Object { id: found.id, schema: of, owner: None };
            if matches!(found.kind(), "U" | "V" | "IF" | "TF") {
                for column in super::columns::of_object(context, &found) {
                    let target = Target::Column { id: found.id, schema: of, column: column.id };
                    let all = Permission::ALL.iter().filter(|p| p.applies_to(Class::Column));
                    let allowed = all.filter(|p| access.allows(**p, target));
                    of_columns
                        .extend(allowed.map(|p| (name.to_owned(), column.name.to_string(), *p)));
                }
            }
            (name.to_owned(), Class::Object, target)
        }
        "TYPE" => {
            let name = text(0).unwrap_or("");
            let found = crate::types_table::find(context, name).filter(|found| found.user_defined);
            let Some(found) = found else { return Ok(Vec::new()) };
            let target = Target::Type { id: found.user, schema: found.schema_id };
            (name.to_owned(), Class::Type, target)
        }
        _ => return Ok(Vec::new()),
    };
    let all = Permission::ALL.iter().filter(|p| p.applies_to(class));
    let allowed = all.filter(|p| access.allows(**p, target));
    let mut rows: Vec<Mine> = allowed.map(|p| (name.clone(), String::new(), *p)).collect();
    rows.append(&mut of_columns);
    Ok(rows)
}

view! {
    MY_PERMISSIONS = "sys.fn_my_permissions" of Mine as p, rows mine,
        params (sysname, sysname);
    entity_name sysname = &p.0;
    subentity_name sysname = &p.1;
    permission_name nvarchar(60) = p.2.name();
}
