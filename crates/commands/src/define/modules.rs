//! Procedures, functions, views, triggers, sequences, defaults and rules: made, altered and dropped by their texts.

use crate::Commands;
use crate::define::dependents::Bound;
use crate::define::security_policy::calls;
use crate::refusals::cannot_drop;
use crate::security::Defined;
use catalog::{
    CatalogError, ModuleKind, ModuleOptions, ObjectRef, PredicateDef, ProcedureDef, PutMode,
};
use executor::{SqlError, SqlMessage};
use ir::ObjectName;
use ir::ddl::CreateProcedure;
use security::Permission;
use session_state::is_temporary;
use std::sync::Arc;
use types::Value;

impl Commands<'_> {
    pub(super) fn create_procedure(
        &mut self,
        create: &CreateProcedure,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let kind = ModuleKind::Procedure;
        let defined = match is_temporary(&create.name.name) {
            true => Defined::OfDbo,
            false => Defined::Module(&create.name, kind),
        };
        self.check_module_execute_as(&create.options, defined)?;
        if is_temporary(&create.name.name) {
            return self.create_own_procedure(create);
        }
        if catalog::is_global_name(&create.name.name) {
            let what = format!("global temporary procedure {}", create.name.name);
            return Err(SqlError::unsupported(what));
        }
        self.check_native(kind, create)?;
        self.create_module(kind, create.mode, &create.name, &create.text, frame)
    }

    pub(crate) fn create_module(
        &mut self,
        kind: ModuleKind,
        mode: PutMode,
        name: &ObjectName,
        text: &str,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        match kind {
            ModuleKind::Procedure => no_database_part(name, "CREATE/ALTER PROCEDURE")?,
            ModuleKind::View => no_database_part(name, "CREATE VIEW")?,
            kind if kind.is_function() => no_database_part(name, "CREATE FUNCTION")?,
            _ => self.local(name)?,
        }
        let options = ModuleOptions {
            quoted_identifier: self.state.options.quoted_identifier,
            ansi_nulls: self.state.options.settings().ansi_nulls,
        };
        let schema = self.module_schema(kind, mode, name)?;
        if mode != PutMode::Create {
            self.check_alterable(kind, schema.as_deref(), name)?;
        }
        let text = &syntax::as_created(text);
        self.check_schema_binding(kind, name, text)?;
        let alters = mode != PutMode::Create && (kind.is_function() || kind == ModuleKind::View);
        if let Some(old) =
            alters.then(|| self.known_module(schema.as_deref(), name, kind)).flatten()
        {
            self.check_dependents("ALTER", name, &Bound::of(&old))?;
        }
        self.in_catalog(frame, |catalog, txn, scope| {
            let schema = schema.as_deref();
            if kind == ModuleKind::InlineFunction && mode != PutMode::Create {
                let concerns = |p: &PredicateDef| calls(p, schema, &name.name);
                catalog.check_policies(scope, "ALTER", &name.to_string(), concerns)?;
            }
            catalog.put_module(txn, scope, kind, mode, schema, &name.name, text, options)?;
            Ok(())
        })?;
        if kind == ModuleKind::Procedure {
            self.tell_missing(schema.as_deref(), &name.name, text);
        }
        Ok(())
    }

    fn known_module(
        &self,
        schema: Option<&str>,
        name: &ObjectName,
        kind: ModuleKind,
    ) -> Option<Arc<ProcedureDef>> {
        let scope = self.state.definitions();
        self.state.database.catalog.module(scope, schema, &name.name, kind)
    }

    /// 2010: ALTER of a name that is an object's of another kind.
    fn check_alterable(
        &self,
        kind: ModuleKind,
        schema: Option<&str>,
        name: &ObjectName,
    ) -> Result<(), SqlError> {
        let Some(found) = self.state.find_own(schema, &name.name) else { return Ok(()) };
        let same = match &found {
            ObjectRef::Table(_) => false,
            ObjectRef::Procedure(module) => module.kind == kind,
        };
        if same || !self.may_change(&found, false) {
            return Ok(());
        }
        let text =
            format!("Cannot perform alter on '{name}' because it is an incompatible object type.");
        Err(SqlError::new(2010, 16, text))
    }

    /// 2007 for each procedure that a new one calls and that is not there.
    fn tell_missing(&mut self, schema: Option<&str>, module: &str, text: &str) {
        let quoted_identifier = self.state.options.quoted_identifier;
        let mut told: Vec<String> = Vec::new();
        for mention in syntax::mentions(text, &syntax::LexOptions { quoted_identifier }) {
            let name = ObjectName::from(&mention.name);
            let is_call = mention.kind == syntax::MentionKind::Procedure;
            let elsewhere = mention.name.server.is_some()
                || name.database.is_some()
                || self.state.stands_for(&name).is_some();
            // Those of the system are there, or are looked for when they are called.
            let start = name.name.get(..3).unwrap_or_default();
            let system = start.eq_ignore_ascii_case("sp_") || start.eq_ignore_ascii_case("xp_");
            if !is_call || elsewhere || system || name.name.starts_with('#') {
                continue;
            }
            let written = name.schema.as_deref().or(schema);
            let found = self.state.find_object(written, &name.name);
            let dbo = || self.state.find_object(Some("dbo"), &name.name);
            if found.or_else(|| name.schema.is_none().then(dbo).flatten()).is_some() {
                continue;
            }
            let shown = name.to_string();
            if told.iter().any(|known| catalog::same_name(known, &shown)) {
                continue;
            }
            let text = format!(
                "The module '{module}' depends on the missing object '{shown}'. The module will still be created; \
                 however, it cannot run successfully until the object exists."
            );
            let message = SqlMessage::info(2007, mention.name.span.line, text);
            self.sink.message(&SqlMessage { procedure: Some(module.to_owned()), ..message });
            told.push(shown);
        }
    }

    /// The schema of a module to create or alter, after the permissions; 262, 2760, 208.
    fn module_schema(
        &self,
        kind: ModuleKind,
        mode: PutMode,
        name: &ObjectName,
    ) -> Result<Option<String>, SqlError> {
        let schema = name.schema.clone();
        let schema = schema.or_else(|| self.state.default_schema().map(str::to_owned));
        let scope = self.state.definitions();
        let found = self.state.database.catalog.module(scope, schema.as_deref(), &name.name, kind);
        match found.filter(|_| mode != PutMode::Create) {
            Some(found) => {
                if !self.may_change(&ObjectRef::Procedure(found), false) {
                    return Err(SqlError::new(208, 16, format!("Invalid object name '{name}'.")));
                }
            }
            None => {
                self.check_database(match kind {
                    ModuleKind::Procedure => Permission::CreateProcedure,
                    ModuleKind::TableType | ModuleKind::AliasType => Permission::CreateType,
                    ModuleKind::XmlSchemaCollection => Permission::CreateXmlSchemaCollection,
                    ModuleKind::FulltextCatalog | ModuleKind::FulltextIndex => {
                        Permission::CreateFulltextCatalog
                    }
                    // With its table's: see `create_trigger`.
                    ModuleKind::Trigger
                    | ModuleKind::DatabaseTrigger
                    | ModuleKind::ServerTrigger => return Ok(schema),
                    // Of the schema alone.
                    ModuleKind::Sequence => {
                        self.check_in_schema(
                            Permission::CreateSequence,
                            schema.as_deref().unwrap_or("dbo"),
                        )?;
                        return Ok(schema);
                    }
                    // In no schema: see `define_partitioning`.
                    ModuleKind::PartitionFunction | ModuleKind::PartitionScheme => {
                        return Ok(schema);
                    }
                    // After ALTER ANY SECURITY POLICY: see `define_policy`.
                    ModuleKind::SecurityPolicy => {
                        self.check_schema(schema.as_deref().unwrap_or("dbo"))?;
                        return Ok(schema);
                    }
                    ModuleKind::Synonym => Permission::CreateSynonym,
                    ModuleKind::Rule => Permission::CreateRule,
                    ModuleKind::Default => Permission::CreateDefault,
                    ModuleKind::View => Permission::CreateView,
                    ModuleKind::ScalarFunction
                    | ModuleKind::InlineFunction
                    | ModuleKind::TableFunction => Permission::CreateFunction,
                })?;
                self.check_schema(schema.as_deref().unwrap_or("dbo"))?;
            }
        }
        Ok(schema)
    }

    pub(crate) fn drop_module(
        &mut self,
        kind: ModuleKind,
        name: &ObjectName,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        no_database_part(name, &format!("DROP {}", kind.word().to_uppercase()))?;
        let schema = self.schema_of(name);
        if let Some(found) = self.known_module(schema.as_deref(), name, kind) {
            if !self.may_change(&ObjectRef::Procedure(found.clone()), true) {
                return Err(cannot_drop(kind.word(), &name.to_string()));
            }
            self.check_native_drop(&found)?;
            if kind.is_function() || matches!(kind, ModuleKind::View | ModuleKind::Sequence) {
                self.check_dependents(drop_verb(kind), name, &Bound::of(&found))?;
            }
        }
        self.in_catalog(frame, |catalog, txn, scope| {
            let schema = schema.as_deref();
            if kind == ModuleKind::InlineFunction {
                let concerns = |p: &PredicateDef| calls(p, schema, &name.name);
                catalog.check_policies(scope, "DROP FUNCTION", &name.to_string(), concerns)?;
            }
            Ok(catalog.drop_module(txn, scope, kind, schema, &name.name).map_err(|e| match e {
                CatalogError::CannotDrop { kind, .. } => {
                    CatalogError::CannotDrop { kind, name: name.to_string().into() }
                }
                other => other,
            })?)
        })
    }

    /// DROP FUNCTION of any kind; 3701.
    pub(super) fn drop_function(
        &mut self,
        name: &ObjectName,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let schema = self.schema_of(name);
        let kind = match self.state.find_object(schema.as_deref(), &name.name) {
            Some(ObjectRef::Procedure(module)) if module.kind.is_function() => module.kind,
            _ => ModuleKind::ScalarFunction,
        };
        self.drop_module(kind, name, frame)
    }
}

/// 166: a name of three parts where two are allowed.
pub(super) fn no_database_part(name: &ObjectName, what: &str) -> Result<(), SqlError> {
    if name.database.is_none() {
        return Ok(());
    }
    let text = format!(
        "'{what}' does not allow specifying the database name as a prefix to the object name."
    );
    Err(SqlError::new(166, 15, text))
}

/// DROP of what others may be bound to.
fn drop_verb(kind: ModuleKind) -> &'static str {
    match kind {
        ModuleKind::View => "DROP VIEW",
        ModuleKind::Sequence => "DROP SEQUENCE",
        _ => "DROP FUNCTION",
    }
}
