//! Definitions of natively compiled modules: what CREATE, ALTER and DROP of one refuse.

use crate::Commands;
use catalog::{ModuleKind, ObjectRef, ProcedureDef, PutMode, same_name};
use executor::{Reach, SqlError};
use ir::ObjectName;
use ir::ddl::CreateProcedure;
use session_state::{SessionNames, bind_error, languages};
use syntax::ast::CreateTrigger;

impl Commands<'_> {
    /// CREATE and ALTER of a module: 41392, 41393; of one that is natively compiled 12331, 41332, 3729, 2740.
    pub fn check_native(
        &mut self,
        kind: ModuleKind,
        create: &CreateProcedure,
    ) -> Result<(), SqlError> {
        let native = semantics::native::is_native(&create.options);
        let schema = self.schema_of(&create.name);
        let scope = self.state.definitions();
        let catalog = &self.state.database.catalog;
        let old = match create.mode {
            PutMode::Create => None,
            _ => catalog.module(scope, schema.as_deref(), &create.name.name, kind),
        };
        if let Some(old) = &old
            && semantics::native::has_option(old, semantics::native::NATIVE) != native
        {
            return Err(match native {
                false => SqlError::new(
                    41392,
                    16,
                    "Cannot ALTER a natively compiled module into a non-native module. Include WITH \
                     NATIVE_COMPILATION or drop and recreate the module.",
                ),
                true => SqlError::new(
                    41393,
                    16,
                    "Cannot ALTER a non-native module into a natively compiled module. Omit WITH NATIVE_COMPILATION \
                     or drop and recreate the module.",
                ),
            });
        }
        if !native {
            return Ok(());
        }
        self.check_native_transaction()?;
        if self.state.options.isolation == engine::Isolation::Snapshot {
            return Err(under_snapshot());
        }
        if let Some(old) = old.filter(|_| kind.is_function()) {
            self.check_unbound("ALTER", &old)?;
        }
        match &create.language {
            Some(language) if languages::find(language).is_none() => Err(SqlError::new(
                2740,
                16,
                format!(
                    "SET LANGUAGE failed because '{language}' is not an official language name or a language alias on \
                     this SQL Server."
                ),
            )),
            _ => Ok(()),
        }
    }

    /// CREATE and ALTER TRIGGER of a table: natively compiled ones are of tables in memory, and the others are not. 10776,
    /// 10777, 41392, 41393, 12331, 41332.
    pub(crate) fn check_native_trigger(
        &mut self,
        create: &CreateTrigger,
        parent: &ObjectRef,
    ) -> Result<(), SqlError> {
        let native = semantics::native::is_native(&create.options);
        let in_memory = matches!(parent, ObjectRef::Table(table) if table.is_memory());
        if native && !in_memory {
            let text =
                "Triggers on non-memory optimized tables cannot use WITH NATIVE_COMPILATION.";
            return Err(SqlError::new(10776, 16, text));
        }
        if in_memory && !native {
            let text = "Triggers on memory-optimized tables must use WITH NATIVE_COMPILATION.";
            return Err(SqlError::new(10777, 16, text));
        }
        if !native {
            return Ok(());
        }
        self.check_native_transaction()?;
        if self.state.options.isolation == engine::Isolation::Snapshot {
            return Err(under_snapshot());
        }
        let names = SessionNames::new(self.state, self.host);
        semantics::native::check_trigger_body(create, &names).map_err(bind_error)
    }

    /// DROP of a module: 12331, 3729.
    pub fn check_native_drop(&mut self, module: &ProcedureDef) -> Result<(), SqlError> {
        if !semantics::native::has_option(module, semantics::native::NATIVE) {
            return Ok(());
        }
        self.check_native_transaction()?;
        self.check_unbound(&format!("DROP {}", module.kind.word().to_uppercase()), module)
    }

    /// 3729.
    fn check_unbound(&mut self, verb: &str, module: &ProcedureDef) -> Result<(), SqlError> {
        let Some(user) = self.bound_to(module) else { return Ok(()) };
        let text = format!(
            "Cannot {verb} '{}.{}' because it is being referenced by object '{user}'.",
            module.schema, module.name
        );
        Err(SqlError::new(3729, 16, text))
    }

    /// A natively compiled module that names a module or type, and so is bound to it.
    pub fn bound_to(&mut self, wanted: &ProcedureDef) -> Option<Box<str>> {
        let all = self.state.database.catalog.objects_in(self.state.definitions());
        let names = SessionNames::new(self.state, self.host);
        let is_meant = |name: &ObjectName| {
            let schema = name.schema.as_deref().unwrap_or("dbo");
            same_name(&name.name, &wanted.name) && same_name(schema, &wanted.schema)
        };
        all.into_iter().find_map(|object| match object {
            ObjectRef::Procedure(module) if module.object_id != wanted.object_id => {
                let named = semantics::native::native_references(&module, &names);
                named.iter().any(is_meant).then(|| module.name.clone())
            }
            _ => None,
        })
    }

    fn check_native_transaction(&self) -> Result<(), SqlError> {
        self.alone("natively compiled modules")
    }
}

/// 41332.
pub fn under_snapshot() -> SqlError {
    SqlError::new(
        41332,
        16,
        "Memory optimized tables and natively compiled modules cannot be accessed or created when the session \
         TRANSACTION ISOLATION LEVEL is set to SNAPSHOT.",
    )
    .with_reach(Reach::Batch)
}
