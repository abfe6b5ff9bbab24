//! CREATE, ALTER and DROP XML SCHEMA COLLECTION.
//!
//! Sources: SQL documentation of the three statements; numbers and texts are those of sys.messages.

use crate::Commands;
use catalog::{CatalogError, ModuleKind, ObjectRef, ProcedureDef, same_name};
use executor::{Reach, SqlError};
use ir::{Expr, ObjectName};
use security::Permission;
use std::sync::Arc;
use syntax::ast::{FunctionReturns, StatementKind, TypeName};
use types::Value;

const KIND: ModuleKind = ModuleKind::XmlSchemaCollection;

impl Commands<'_> {
    /// CREATE, and ALTER ... ADD: 6361, 6348, 6347, what is wrong with the schemas.
    pub(crate) fn put_xml_schemas(
        &mut self,
        add: bool,
        name: &ObjectName,
        text: &Expr,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        self.local(name)?;
        let text = self.value(text, frame)?;
        let Some(text) = text.as_str().map(str::to_owned) else {
            let text = "Invalid null parameter specified. XML Schema Collections can only be created from a non-null value.";
            return Err(SqlError::new(6361, 16, text));
        };
        let shown = &name.name;
        if add {
            let found = self.xml_schemas_named(name, false);
            let missing = || {
                SqlError::new(
                    6347,
                    16,
                    format!(
                        "Specified collection '{shown}' cannot be altered because it does not exist or you do not have permission."
                    ),
                )
            };
            let Some(found) = found else { return Err(missing()) };
            if text.trim().is_empty() {
                return Ok(());
            }
            return self.in_catalog(frame, |catalog, txn, scope| {
                let (schema, name) = (Some(&*found.schema), &*found.name);
                match catalog.add_xml_schemas(txn, scope, schema, name, &text).map_err(ending)? {
                    Some(()) => Ok(()),
                    None => Err(missing()),
                }
            });
        }
        let schema = name.schema.clone();
        let schema = schema.or_else(|| self.state.default_schema().map(str::to_owned));
        self.check_database(Permission::CreateXmlSchemaCollection)?;
        self.check_schema(schema.as_deref().unwrap_or("dbo"))?;
        self.in_catalog(frame, |catalog, txn, scope| {
            let made = catalog.create_xml_schemas(txn, scope, schema.as_deref(), shown, &text);
            made.map_err(|e| match e {
                CatalogError::AlreadyExists { .. } => SqlError::new(
                    6348,
                    16,
                    format!(
                        "Specified collection '{shown}' cannot be created because it already exists or you do not have \
                         permission."
                    ),
                ),
                e => ending(e),
            })
        })
    }

    /// DROP: 6314, 6328.
    pub(crate) fn drop_xml_schemas(
        &mut self,
        name: &ObjectName,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        self.local(name)?;
        let found = self.xml_schemas_named(name, true);
        let Some(found) = found else {
            let shown = &name.name;
            let text = format!("Collection specified does not exist in metadata : '{shown}'");
            return Err(SqlError::new(6314, 16, text));
        };
        if let Some(user) = self.module_of_xml_schemas(&found) {
            return Err(used(&found, &user));
        }
        self.in_catalog(frame, |catalog, txn, scope| {
            let (schema, name) = (Some(&*found.schema), &*found.name);
            // Looked at again once it is locked: a table may have come.
            let dropped = catalog.drop_module(txn, scope, KIND, schema, name);
            if let Some(table) = catalog.user_of_xml_schemas(Some(scope), &found) {
                return Err(used(&found, &format!("{}.{}", table.schema, table.name)));
            }
            Ok(dropped?)
        })
    }

    /// A collection by its name, if the user may alter or drop it.
    fn xml_schemas_named(&self, name: &ObjectName, drop: bool) -> Option<Arc<ProcedureDef>> {
        let found = self.state.find_xml_schemas(name.schema.as_deref(), &name.name)?;
        self.may_change(&ObjectRef::Procedure(found.clone()), drop).then_some(found)
    }

    /// A procedure or function with a parameter of the collection.
    fn module_of_xml_schemas(&self, wanted: &ProcedureDef) -> Option<String> {
        let is_meant = |ty: &TypeName| {
            ty.xml.as_ref().is_some_and(|of| {
                let schema = of.collection.schema.as_ref().map_or("dbo", |s| &s.value);
                same_name(&of.collection.name.value, &wanted.name)
                    && same_name(schema, &wanted.schema)
            })
        };
        let all = self.state.database.catalog.objects_in(self.state.definitions());
        all.into_iter().find_map(|object| {
            let ObjectRef::Procedure(module) = object else { return None };
            if module.kind != ModuleKind::Procedure && !module.kind.is_function() {
                return None;
            }
            let uses = match semantics::kept::definition_with(&module, "XML")? {
                StatementKind::CreateProcedure(create) => {
                    create.parameters.iter().any(|p| is_meant(&p.ty))
                }
                StatementKind::CreateFunction(create) => {
                    let returned = match &create.returns {
                        FunctionReturns::Scalar { ty, .. } => is_meant(ty),
                        _ => false,
                    };
                    returned || create.parameters.iter().any(|p| is_meant(&p.ty))
                }
                _ => false,
            };
            uses.then(|| format!("{}.{}", module.schema, module.name))
        })
    }
}

/// 6328.
fn used(collection: &ProcedureDef, by: &str) -> SqlError {
    let name = &collection.name;
    let text = format!(
        "Specified collection '{name}' cannot be dropped because it is used by object '{by}'."
    );
    SqlError::new(6328, 16, text)
}

/// A mistake in a schema ends the batch, as SQL Server has it.
fn ending(e: CatalogError) -> SqlError {
    match e {
        CatalogError::Refused { .. } => SqlError::from(e).with_reach(Reach::Batch),
        e => e.into(),
    }
}
