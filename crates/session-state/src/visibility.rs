//! Objects as permissions know them.

use catalog::{ModuleKind, ObjectRef};
use security::{Access, Target};

/// An object as the lattice knows it.
pub fn object_target(access: &Access, object: &ObjectRef) -> Target {
    match object {
        ObjectRef::Table(t) => target_in(access, t.object_id, &t.schema),
        ObjectRef::Procedure(p)
            if matches!(p.kind, ModuleKind::TableType | ModuleKind::AliasType) =>
        {
            Target::Type { id: p.object_id, schema: schema_in(access, &p.schema) }
        }
        ObjectRef::Procedure(p) if p.kind == ModuleKind::XmlSchemaCollection => {
            Target::XmlSchemas { id: p.object_id, schema: schema_in(access, &p.schema) }
        }
        ObjectRef::Procedure(p) => target_in(access, p.object_id, &p.schema),
    }
}

/// The same by its id and schema.
pub fn target_in(access: &Access, id: i32, schema: &str) -> Target {
    Target::Object { id, schema: schema_in(access, schema), owner: None }
}

fn schema_in(access: &Access, schema: &str) -> i32 {
    access.database().schema(schema).map_or(security::SCHEMA_DBO, |s| s.id)
}
