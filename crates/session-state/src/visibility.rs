//! What a session may see of the server's state without VIEW SERVER STATE, and objects as permissions know them.

use catalog::ObjectRef;
use security::{Access, Target};

/// Views that show a session its own rows without VIEW SERVER STATE, by this column.
pub fn own_rows_by(view: &str) -> Option<&'static str> {
    Some(match view {
        "sys.dm_exec_sessions" | "sys.dm_exec_requests" | "sys.dm_exec_connections" => "session_id",
        "sys.sysprocesses" => "spid",
        _ => return None,
    })
}

/// A function that answers for the session itself without VIEW SERVER STATE, and else for nobody.
pub fn asks_by_session(view: &str) -> bool {
    view == "sys.dm_exec_input_buffer"
}

/// An object as the lattice knows it.
pub fn object_target(access: &Access, object: &ObjectRef) -> Target {
    let (id, schema) = match object {
        ObjectRef::Table(t) => (t.object_id, &t.schema),
        ObjectRef::Procedure(p) => (p.object_id, &p.schema),
    };
    target_in(access, id, schema)
}

/// The same by its id and schema.
pub fn target_in(access: &Access, id: i32, schema: &str) -> Target {
    let schema = access.database().schema(schema).map_or(security::SCHEMA_DBO, |s| s.id);
    Target::Object { id, schema, owner: None }
}
