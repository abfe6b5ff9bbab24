//! Which objects a session may know of: those on which it has any right (SQL Server's metadata visibility); and whose text
//! it may read: with VIEW DEFINITION.
//!
//! Promise: a session that is not limited pays one test; for any other the rights on objects are looked up by schema, and
//! one by one only for those that have grants of their own, so that thousands of objects cost no more than a look each.

use crate::catalog_views::principals;
use crate::context::Context;
use catalog::ObjectRef;
use security::{Access, Permission, Securable, Target};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

/// What one session sees in one database.
pub struct Visibility {
    access: Access,
    /// Objects with grants or denials of their own.
    own: HashSet<i32>,
    /// Objects of which it has been granted a column.
    columns: HashSet<i32>,
    /// By schema: are objects without grants of their own seen, and may their texts be read?
    schemas: RefCell<HashMap<i32, (bool, bool)>>,
}

impl Visibility {
    /// `None`: everything is seen.
    pub fn of(context: &Context<'_>) -> Option<Visibility> {
        if !context.session.identity.is_limited() {
            return None;
        }
        let access = principals::access(context);
        if access.is_unlimited() {
            return None;
        }
        // Who owns an object sees it, and who owns its schema need not.
        let mut own: HashSet<i32> = access.database().owners.keys().copied().collect();
        let mut columns = HashSet::new();
        for (key, value) in &access.database().grants {
            match key.securable {
                Securable::Object(id) => {
                    own.insert(id);
                }
                Securable::Column(id, _) => {
                    own.insert(id);
                    if access.user_token().contains(&key.grantee) && value.state.code() != "D" {
                        columns.insert(id);
                    }
                }
                _ => {}
            }
        }
        Some(Visibility { access, own, columns, schemas: RefCell::default() })
    }

    /// Whether it may know of a user-defined type.
    pub fn of_type(&self, id: i32, schema: i32) -> bool {
        self.access.sees(Target::Type { id, schema })
    }

    /// Whether it may know of the object, and read its text.
    pub fn of_object(&self, context: &Context<'_>, object: &ObjectRef) -> (bool, bool) {
        let (id, schema) = match object {
            ObjectRef::Table(table) => (table.object_id, &table.schema),
            ObjectRef::Procedure(module) if module.kind == catalog::ModuleKind::TableType => {
                let schema = context.schema_id(&module.schema);
                let target = Target::Type { id: module.object_id, schema };
                let reads = self.access.allows(Permission::ViewDefinition, target);
                return (self.access.sees(target), reads);
            }
            // A trigger is its table's.
            ObjectRef::Procedure(module) => {
                let parent = module.trigger.map(|t| t.parent).filter(|parent| *parent > 0);
                (parent.unwrap_or(module.object_id), &module.schema)
            }
        };
        let schema = context.schema_id(schema);
        let ask = |id: i32| {
            let target = Target::Object { id, schema, owner: None };
            (self.access.sees(target), self.access.allows(Permission::ViewDefinition, target))
        };
        if !self.own.contains(&id) {
            // No object has the id 0.
            return *self.schemas.borrow_mut().entry(schema).or_insert_with(|| ask(0));
        }
        let (seen, read) = ask(id);
        (seen || self.columns.contains(&id), read)
    }
}
