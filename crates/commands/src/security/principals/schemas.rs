//! Schemas, and who owns them.

use super::{cannot, check_principal_name, fixed, same, unknown};
use crate::Commands;
use crate::define::security_policy::calls;
use crate::procedures::constraint_table;
use crate::refusals::database_denied;
use catalog::{ModuleKind, ObjectRef, PolicyDef, PredicateDef};
use executor::{Reach, SqlError};
use security::{Permission, SchemaDef, Securable, Target, database_role};
use session_state::{OneStatement, object_target};
use syntax::ast::{Ident, SecurableName};
use types::Value;

/// No T-SQL can name it.
const SAVEPOINT: &str = "\u{1}CREATE SCHEMA";

impl Commands<'_> {
    pub(super) fn create_schema(
        &mut self,
        name: &Ident,
        owner: Option<&Ident>,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let access = self.state.identity.access().clone();
        if !access.allows(Permission::CreateSchema, Target::Database) {
            return Err(database_denied("CREATE SCHEMA", &self.state.database.name));
        }
        check_principal_name(&name.value)?;
        self.change_database(frame, |directory| {
            if directory.schema(&name.value).is_some() {
                return Err(SqlError::new(
                    2714,
                    16,
                    format!("There is already an object named '{}' in the database.", name.value),
                )
                .with_state(6));
            }
            let owner = match owner {
                None => access.user(),
                Some(owner) => {
                    let found = directory.find(&owner.value).map(|p| p.id);
                    let own = |id: i32| access.user_token().contains(&id);
                    found
                        .filter(|id| {
                            own(*id)
                                || access.allows(Permission::Impersonate, Target::Principal(*id))
                        })
                        .ok_or_else(|| unknown("user", &owner.value))?
                }
            };
            let taken = |id: &i32| directory.schemas.contains_key(id);
            let id = (database_role::FIRST..).find(|id| !taken(id)).unwrap_or_default();
            let name = name.value.as_str().into();
            directory.schemas.insert(id, SchemaDef { id, name, owner });
            Ok(())
        })
    }

    /// CREATE SCHEMA with what is in it: all of it, or nothing (2759).
    #[cold]
    #[inline(never)]
    pub(super) fn create_schema_with(
        &mut self,
        name: &Ident,
        owner: Option<&Ident>,
        elements: &[String],
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<(), SqlError> {
        let one = OneStatement::begin(self.state, SAVEPOINT)?;
        let created = self.create_schema(name, owner, frame).and_then(|()| {
            self.state.refresh_identity(&*self.host);
            let before = self.state.enter_schema(Some(name.value.as_str().into()));
            let made = elements.iter().try_for_each(|text| self.run_part(text));
            self.state.enter_schema(before);
            made.map_err(|cause| {
                if !guarded {
                    self.tell_error(&cause);
                }
                // The batch ends with its transaction, as it does for most definitions that fail.
                SqlError::new(2759, 16, "CREATE SCHEMA failed due to previous errors.")
                    .with_reach(Reach::Batch)
            })
        });
        let ended = one.end(self.state, created.is_ok());
        self.state.refresh_identity(&*self.host);
        created.and(ended)
    }

    /// ALTER SCHEMA TRANSFER: 15151, 2710, 15347, 15348, 15530. What is there already stays.
    pub(super) fn alter_schema(
        &mut self,
        schema: &Ident,
        on: &SecurableName,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let access = self.state.identity.access().clone();
        if same(&schema.value, "sys") || same(&schema.value, "INFORMATION_SCHEMA") {
            let text = format!(
                "You are not the owner specified for the object '{}' in this statement (CREATE, ALTER, TRUNCATE, UPDATE \
                 STATISTICS or BULK INSERT).",
                schema.value
            );
            return Err(SqlError::new(2710, 16, text));
        }
        let to = access.database().schema(&schema.value).cloned();
        let to = to.filter(|to| access.allows(Permission::Alter, Target::Schema(to.id)));
        let Some(to) = to else { return Err(cannot("alter the schema", &schema.value)) };
        let (kind, name) = match on.class.as_deref().unwrap_or("OBJECT") {
            "OBJECT" => ("object", &on.name),
            "TYPE" => ("type", &on.name),
            "XML SCHEMA COLLECTION" => {
                return Err(unknown("xml schema collection", &on.name.name.value));
            }
            _ => return Err(SqlError::new(102, 15, "Incorrect syntax near ':'.")),
        };
        let missing = || unknown(kind, &name.name.value);
        let other = name.database.as_ref().filter(|d| !same(&d.value, &self.state.database.name));
        if other.is_some() || name.server.is_some() {
            return Err(missing());
        }
        let from = name.schema.as_ref().map(|s| s.value.clone());
        let from = from.or_else(|| self.state.default_schema().map(str::to_owned));
        let catalog = &self.state.database.catalog;
        let (scope, bare) = (self.state.definitions(), name.name.value.as_str());
        let find = |schema: Option<&str>| match kind {
            "type" => [ModuleKind::TableType, ModuleKind::AliasType]
                .into_iter()
                .find_map(|kind| catalog.module(scope, schema, bare, kind))
                .map(ObjectRef::Procedure),
            _ => catalog.object(scope, schema, bare),
        };
        let owned = || {
            let text = "Cannot transfer an object that is owned by a parent object.";
            SqlError::new(15347, 16, text)
        };
        let Some(found) = find(from.as_deref()) else {
            let constraint = || constraint_table(catalog, scope, from.as_deref(), bare).is_some();
            return Err(if kind == "object" && constraint() { owned() } else { missing() });
        };
        if let ObjectRef::Procedure(module) = &found
            && module.kind == ModuleKind::Trigger
        {
            return Err(owned());
        }
        if !access.allows(Permission::Control, object_target(&access, &found)) {
            return Err(missing());
        }
        let there = find(Some(&to.name)).filter(|there| there.object_id() != found.object_id());
        if there.is_some() {
            let text = format!("The {kind} with name \"{bare}\" already exists.");
            return Err(SqlError::new(15530, 16, text));
        }
        self.in_catalog(frame, |catalog, txn, scope| {
            let concerns = |p: &PredicateDef| match &found {
                ObjectRef::Table(table) => p.table == table.object_id,
                ObjectRef::Procedure(f) => calls(p, Some(&f.schema), &f.name),
            };
            let bound = |p: &PolicyDef| p.schema_bound && p.predicates.iter().any(concerns);
            if catalog.policies(Some(scope)).iter().any(|(_, policy)| bound(policy)) {
                return Err(SqlError::new(15348, 16, "Cannot transfer a schemabound object."));
            }
            Ok(catalog.transfer(txn, scope, &found, &to.name).map(drop)?)
        })
    }

    pub(super) fn drop_schema(
        &mut self,
        name: &Ident,
        if_exists: bool,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let access = self.state.identity.access().clone();
        let found = access.database().schema(&name.value).cloned();
        let Some(schema) = found else {
            return match if_exists {
                true => Ok(()),
                false => Err(cannot("drop the schema", &name.value)),
            };
        };
        if !access.allows(Permission::Control, Target::Schema(schema.id)) {
            return Err(cannot("drop the schema", &name.value));
        }
        if schema.id < database_role::FIRST {
            return Err(fixed("drop the schema", &schema.name));
        }
        let all = self.state.database.catalog.objects_in(self.state.definitions());
        let inside = all.iter().find(|object| match object_target(&access, object) {
            Target::Object { schema: id, .. }
            | Target::Type { schema: id, .. }
            | Target::XmlSchemas { schema: id, .. } => id == schema.id,
            _ => false,
        });
        if let Some(inside) = inside {
            let object = match inside {
                catalog::ObjectRef::Table(t) => &t.name,
                catalog::ObjectRef::Procedure(p) => &p.name,
            };
            return Err(SqlError::new(
                3729,
                16,
                format!(
                    "Cannot drop schema '{}' because it is being referenced by object '{object}'.",
                    schema.name
                ),
            ));
        }
        self.change_database(frame, |directory| {
            directory.schemas.remove(&schema.id);
            directory.grants.retain(|key, _| key.securable != Securable::Schema(schema.id));
            Ok(())
        })
    }
}
