//! CREATE TYPE and DROP TYPE, and the procedures sp_addtype and sp_droptype that come to the same.
//!
//! Both kinds of types are modules whose text is the statement. A type is not dropped while a column or a parameter is
//! declared with it. Sources: SQL documentation of CREATE TYPE, DROP TYPE, sp_addtype, sp_droptype; the messages are
//! those of sys.messages.

use crate::Commands;
use crate::procedures::Argument;
use crate::procedures::arguments;
use catalog::{ModuleKind, ObjectRef, ProcedureDef, PutMode, same_name};
use executor::SqlError;
use ir::ObjectName;
use security::{GrantKey, GrantState, GrantValue, Permission, Securable, database_role};
use std::sync::Arc;
use syntax::ast::{self, StatementKind};
use types::Value;

const KINDS: [ModuleKind; 2] = [ModuleKind::TableType, ModuleKind::AliasType];

impl Commands<'_> {
    /// CREATE TYPE; 219.
    pub(crate) fn create_type(
        &mut self,
        alias: bool,
        name: &ObjectName,
        text: &str,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let kind = KINDS[usize::from(alias)];
        self.create_module(kind, PutMode::Create, name, text, frame).map_err(|e| match e.number {
            2714 => SqlError::new(
                219,
                16,
                format!(
                    "The type '{name}' already exists, or you do not have permission to create it."
                ),
            ),
            _ => e,
        })
    }

    /// DROP TYPE; 218, 3732.
    pub(crate) fn drop_type(
        &mut self,
        name: &ObjectName,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let Some(found) = self.type_named(name) else {
            return Err(SqlError::new(
                218,
                16,
                format!(
                    "Could not find the type '{name}'. Either it does not exist or you do not have the necessary \
                     permission."
                ),
            ));
        };
        if let Some(user) = self.user_of_type(&found).or_else(|| self.bound_to(&found)) {
            return Err(SqlError::new(
                3732,
                16,
                format!(
                    "Cannot drop type '{name}' because it is being referenced by object '{user}'. There may be other \
                     objects that reference this type."
                ),
            ));
        }
        self.drop_module(found.kind, name, frame)
    }

    pub(crate) fn type_named(&self, name: &ObjectName) -> Option<Arc<ProcedureDef>> {
        let scope = self.state.definitions();
        let catalog = &self.state.database.catalog;
        KINDS
            .iter()
            .find_map(|kind| catalog.module(scope, name.schema.as_deref(), &name.name, *kind))
    }

    /// An object with a column or parameter of the type.
    fn user_of_type(&self, wanted: &ProcedureDef) -> Option<Box<str>> {
        let is_meant = |ty: &ast::TypeName| {
            let schema = ty.schema.as_ref().map_or("dbo", |s| &s.value);
            same_name(&ty.name, &wanted.name) && same_name(schema, &wanted.schema)
        };
        let all = self.state.database.catalog.objects_in(self.state.definitions());
        all.into_iter().find_map(|object| match object {
            ObjectRef::Table(table) => {
                let uses = table.columns.iter().any(|c| c.alias == Some(wanted.object_id));
                uses.then(|| table.name.clone())
            }
            ObjectRef::Procedure(module) => {
                let uses = match first_statement(&module)? {
                    StatementKind::CreateProcedure(create) => {
                        create.parameters.iter().any(|p| is_meant(&p.ty))
                    }
                    StatementKind::CreateFunction(create) => {
                        let returned = match &create.returns {
                            ast::FunctionReturns::Scalar { ty, .. } => is_meant(ty),
                            _ => false,
                        };
                        returned || create.parameters.iter().any(|p| is_meant(&p.ty))
                    }
                    _ => false,
                };
                uses.then(|| module.name.clone())
            }
        })
    }

    /// sp_addtype @typename, @phystype, @nulltype: 201, 15036, 219.
    pub(crate) fn add_type(
        &mut self,
        args: &[Argument],
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let name = arguments::needed("sp_addtype", args, 0, "@typename")?;
        let base = arguments::needed("sp_addtype", args, 1, "@phystype")?;
        let nulls = arguments::text(args, 2, "@nulltype").map(|n| n.trim().to_uppercase());
        let nulls = match nulls.as_deref() {
            None | Some("") | Some("NULL") => "NULL",
            Some("NOT NULL" | "NONULL") => "NOT NULL",
            Some(_) => {
                let text = "Usage: sp_addtype @typename, @phystype [, NULL | NOT NULL | NONULL]";
                return Err(SqlError::new(15600, 15, text));
            }
        };
        let quoted = ast::bracketed(name.trim());
        let text = format!("CREATE TYPE {quoted} FROM {} {nulls}", base.trim());
        let known = parsed(&text, true).is_some_and(|kind| match kind {
            StatementKind::CreateType(create) => match create.definition {
                ast::TypeDefinition::Alias { base, .. } => {
                    let system = base.schema.as_ref().is_none_or(|s| same_name(&s.value, "sys"));
                    system && binder::type_of(&base).is_some()
                }
                ast::TypeDefinition::Table(_) => false,
            },
            _ => false,
        });
        if !known {
            return Err(no_type(base));
        }
        let name = ObjectName { database: None, schema: None, name: name.trim().into() };
        self.create_type(true, &name, &text, frame)?;
        // What CREATE TYPE does not: everybody may have columns of it.
        let Some(made) = self.type_named(&name) else { return Ok(()) };
        self.change_database(frame, |directory| {
            let key = GrantKey {
                securable: Securable::Type(made.object_id),
                grantee: database_role::PUBLIC,
                permission: Permission::References,
            };
            let value = GrantValue { state: GrantState::Grant, grantor: database_role::DBO };
            directory.grants.insert(key, value);
            Ok(())
        })
    }

    /// sp_droptype @typename: 201, 15036, 15180.
    pub(crate) fn remove_type(
        &mut self,
        args: &[Argument],
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let name = arguments::needed("sp_droptype", args, 0, "@typename")?;
        let mut parts = session_state::name_parts(name).into_iter().rev();
        let bare = parts.next().unwrap_or_default();
        let wanted = ObjectName { database: None, schema: parts.next(), name: bare };
        let Some(found) = self.type_named(&wanted) else { return Err(no_type(name)) };
        if self.user_of_type(&found).or_else(|| self.bound_to(&found)).is_some() {
            return Err(SqlError::new(15180, 16, "Cannot drop. The data type is being used."));
        }
        self.drop_module(found.kind, &wanted, frame)
    }
}

fn no_type(name: &str) -> SqlError {
    let text = format!("The data type '{name}' does not exist or you do not have permission.");
    SqlError::new(15036, 16, text)
}

fn parsed(text: &str, quoted_identifier: bool) -> Option<StatementKind> {
    let options = syntax::LexOptions { quoted_identifier };
    let batch = syntax::parse_batch(text, &options).ok()?;
    batch.statements.into_iter().next().map(|s| s.kind)
}

fn first_statement(module: &ProcedureDef) -> Option<StatementKind> {
    match module.kind {
        ModuleKind::Procedure => {}
        kind if kind.is_function() => {}
        _ => return None,
    }
    parsed(&module.text, module.quoted_identifier)
}
