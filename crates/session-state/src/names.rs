//! What names mean to the binder: the session's database, its own uncommitted definitions first.

use crate::database::OpenDatabase;
use crate::host::Host;
use crate::state::SessionState;
use binder::{BindError, Names};
use catalog::{Catalog, DdlScope, ObjectRef, ProcedureDef, TableDef};
use executor::SqlError;
use ir::ObjectName;
use ir::SystemView;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// Is it the name of a temporary table (or procedure) of the session alone?
pub fn is_temporary(name: &str) -> bool {
    name.starts_with('#') && !catalog::is_global_name(name)
}

/// The module of that id, as a transaction sees it.
pub fn module_by_id(
    catalog: &Catalog,
    scope: Option<&DdlScope>,
    object_id: i32,
) -> Option<Arc<ProcedureDef>> {
    match catalog.object_in(scope, object_id)? {
        ObjectRef::Procedure(module) => Some(module),
        ObjectRef::Table(_) => None,
    }
}

/// The columns of a view, table-valued function or table type as those of a table; none of other modules, and of a text
/// that does not bind any more.
pub fn module_columns(
    state: &SessionState,
    host: &mut dyn Host,
    module: &ProcedureDef,
) -> Option<Arc<TableDef>> {
    let mut find = || {
        let names = SessionNames::new(state, host).with_settings(ir::Settings::default());
        binder::shape_of(module, &names).ok().map(Arc::new)
    };
    match state.definitions().is_some_and(|scope| !scope.is_empty()) {
        true => find(),
        false => state.database.catalog.shape_of(module.object_id, find),
    }
}

/// The binder's view of a session.
pub struct SessionNames<'a> {
    state: &'a SessionState,
    host: RefCell<&'a mut dyn Host>,
    private: Cell<bool>,
    /// A view of another database was found.
    foreign: Cell<bool>,
    /// Where ids are looked up that are not of the session's database.
    asked: RefCell<Option<Arc<OpenDatabase>>>,
    settings: ir::Settings,
}

impl<'a> SessionNames<'a> {
    pub fn new(state: &'a SessionState, host: &'a mut dyn Host) -> SessionNames<'a> {
        let settings = state.options.settings();
        SessionNames {
            state,
            host: RefCell::new(host),
            private: Cell::new(false),
            foreign: Cell::new(false),
            asked: RefCell::new(None),
            settings,
        }
    }

    /// For the text of a module, which keeps ANSI_NULLS from when it was made.
    pub fn of_module(mut self, ansi_nulls: bool) -> SessionNames<'a> {
        self.settings.ansi_nulls = ansi_nulls;
        self
    }

    /// For a text that means the same under whatever the session has set.
    pub fn with_settings(mut self, settings: ir::Settings) -> SessionNames<'a> {
        self.settings = settings;
        self
    }

    /// What was bound holds for the temporary tables of now only: their generation, if any was asked for. For once only,
    /// where a view of another database was asked for: nobody tells when it is altered.
    pub fn private_version(&self) -> Option<u64> {
        match self.foreign.get() {
            true => Some(u64::MAX),
            false => self.private.get().then(|| self.state.transaction.private.generation()),
        }
    }

    /// The catalog in which ids are looked up, and the session's own definitions in it.
    fn catalog_of_ids(&self) -> (Arc<Catalog>, Option<&DdlScope>) {
        match &*self.asked.borrow() {
            None => (self.state.database.catalog.clone(), self.state.definitions()),
            Some(other) => {
                (other.catalog.clone(), self.state.transaction.definitions_in(&other.engine))
            }
        }
    }

    fn is_current(&self, name: &ObjectName) -> bool {
        name.database.as_ref().is_none_or(|d| d.eq_ignore_ascii_case(&self.state.database.name))
    }
}

impl Names for SessionNames<'_> {
    fn version(&self) -> u64 {
        self.state.database.catalog.version()
    }

    fn table(&self, name: &ObjectName) -> Option<Arc<TableDef>> {
        if is_temporary(&name.name) {
            self.private.set(true);
            let tempdb = name.database.as_ref().is_none_or(|d| d.eq_ignore_ascii_case("tempdb"));
            let found = self.state.transaction.private.find(&name.name).filter(|_| tempdb);
            return found.cloned();
        }
        if !self.is_current(name) {
            let other = self.host.borrow_mut().database(name.database.as_deref()?)?;
            let scope = self.state.transaction.definitions_in(&other.engine);
            let schema = name.schema.as_deref().filter(|schema| !schema.is_empty());
            return match other.catalog.object(scope, schema, &name.name)? {
                ObjectRef::Table(table) => Some(table),
                ObjectRef::Procedure(_) => None,
            };
        }
        match self.state.find_object(name.schema.as_deref(), &name.name)? {
            ObjectRef::Table(table) => Some(table),
            ObjectRef::Procedure(_) => None,
        }
    }

    fn table_by_id(&self, object_id: i32) -> Option<Arc<TableDef>> {
        let (catalog, scope) = self.catalog_of_ids();
        catalog.table_by_id(scope, object_id)
    }

    fn ask_in(&self, database: Option<&str>) {
        let found = database.and_then(|name| self.host.borrow_mut().database(name));
        *self.asked.borrow_mut() = found;
    }

    fn predicates(&self, database: Option<&str>, table: i32) -> Vec<catalog::PredicateDef> {
        if let Some(other) = database {
            let other = self.host.borrow_mut().database(other);
            return other.map_or_else(Vec::new, |other| other.catalog.predicates_on(None, table));
        }
        let (catalog, scope) = self.catalog_of_ids();
        catalog.predicates_on(scope, table)
    }

    fn system_view(&self, name: &ObjectName) -> Option<Arc<SystemView>> {
        // The tables of msdb and master are found without a database's name there.
        let current = &self.state.database.name;
        let has_own = ["msdb", "master"].iter().any(|own| current.eq_ignore_ascii_case(own));
        if name.database.is_none() && has_own {
            let named = ObjectName { database: Some(current.clone()), ..name.clone() };
            return self.host.borrow_mut().system_view(&named);
        }
        // A view that another database really has is not to be read as one without rows.
        if let Some(database) = name.database.as_deref().filter(|_| !self.is_current(name)) {
            let other = self.host.borrow_mut().database(database);
            let schema = name.schema.as_deref().filter(|schema| !schema.is_empty());
            if other.is_some_and(|other| other.catalog.object(None, schema, &name.name).is_some()) {
                return None;
            }
        }
        self.host.borrow_mut().system_view(name)
    }

    fn view(&self, name: &ObjectName) -> Option<Arc<catalog::ProcedureDef>> {
        let found = match self.is_current(name) {
            true => self.state.find_object(name.schema.as_deref(), &name.name)?,
            false => {
                let other = self.host.borrow_mut().database(name.database.as_deref()?)?;
                let scope = self.state.transaction.definitions_in(&other.engine);
                let schema = name.schema.as_deref().filter(|schema| !schema.is_empty());
                other.catalog.object(scope, schema, &name.name)?
            }
        };
        let ObjectRef::Procedure(found) = found else { return None };
        let view = Some(found).filter(|found| found.kind == catalog::ModuleKind::View)?;
        self.foreign.set(self.foreign.get() || !self.is_current(name));
        Some(view)
    }

    fn function(&self, name: &ObjectName) -> Option<Arc<catalog::ProcedureDef>> {
        if !self.is_current(name) {
            return None;
        }
        match self.state.find_object(name.schema.as_deref(), &name.name)? {
            ObjectRef::Procedure(module) if module.kind.is_function() => Some(module),
            _ => None,
        }
    }

    fn function_by_id(&self, object_id: i32) -> Option<Arc<catalog::ProcedureDef>> {
        let (catalog, scope) = self.catalog_of_ids();
        module_by_id(&catalog, scope, object_id).filter(|module| module.kind.is_function())
    }

    fn procedure(&self, name: &ObjectName) -> Option<Arc<catalog::ProcedureDef>> {
        if !self.is_current(name) {
            return None;
        }
        match self.state.find_object(name.schema.as_deref(), &name.name)? {
            ObjectRef::Procedure(found) if found.kind == catalog::ModuleKind::Procedure => {
                Some(found)
            }
            _ => None,
        }
    }

    fn stands_for(&self, name: &ObjectName) -> Option<ObjectName> {
        self.state.stands_for(name)
    }

    fn is_synonym(&self, name: &ObjectName) -> bool {
        let own = || self.state.find_own(name.schema.as_deref(), &name.name);
        self.is_current(name)
            && matches!(own(), Some(ObjectRef::Procedure(m)) if m.kind == catalog::ModuleKind::Synonym)
    }

    fn lost_synonym(&self, name: &ObjectName) -> Option<binder::LostSynonym> {
        let synonym = |schema: Option<&str>, name: &str| match self.state.find_own(schema, name)? {
            ObjectRef::Procedure(found) if found.kind == catalog::ModuleKind::Synonym => {
                Some(found)
            }
            _ => None,
        };
        let found =
            synonym(name.schema.as_deref(), &name.name).filter(|_| self.is_current(name))?;
        let mut parts = crate::name_parts(&found.text).into_iter().rev();
        let base = parts.next().unwrap_or_default();
        let mut part = || parts.next().filter(|p| !p.is_empty());
        let (schema, database) = (part(), part());
        let here = database.is_none_or(|d| d.eq_ignore_ascii_case(&self.state.database.name));
        Some(match here && synonym(schema.as_deref(), &base).is_some() {
            true => binder::LostSynonym::Chained(match schema {
                Some(schema) => format!("{schema}.{base}"),
                None => base,
            }),
            false => binder::LostSynonym::Missing,
        })
    }

    fn has_memory_optimized_type(&self, name: &ObjectName) -> Option<bool> {
        let scope = self.state.transaction.scope();
        let catalog = &self.state.database.catalog;
        let kind = catalog::ModuleKind::TableType;
        let found = catalog.module(scope, name.schema.as_deref(), &name.name, kind)?;
        Some(semantics::type_names::is_memory_optimized(&found))
    }

    fn sequence(&self, name: &ObjectName) -> Option<Arc<catalog::ProcedureDef>> {
        if !self.is_current(name) {
            return None;
        }
        match self.state.find_object(name.schema.as_deref(), &name.name)? {
            ObjectRef::Procedure(module) if module.sequence.is_some() => Some(module),
            _ => None,
        }
    }

    fn triggers(&self, parent: i32) -> Vec<Arc<catalog::ProcedureDef>> {
        let (catalog, scope) = self.catalog_of_ids();
        catalog.triggers_of(scope, parent)
    }

    fn table_type(&self, name: &ObjectName) -> Option<(i32, catalog::TableSpec)> {
        let scope = self.state.transaction.scope();
        let catalog = &self.state.database.catalog;
        let kind = catalog::ModuleKind::TableType;
        let found = catalog.module(scope, name.schema.as_deref(), &name.name, kind)?;
        // It was bound when it was created.
        let spec = binder::bind_table_type(&found.text, self).ok()?;
        Some((found.object_id, spec))
    }

    fn alias_type(&self, name: &ObjectName) -> Option<binder::AliasType> {
        let scope = self.state.transaction.scope();
        let catalog = &self.state.database.catalog;
        let kind = catalog::ModuleKind::AliasType;
        let found = catalog.module(scope, name.schema.as_deref(), &name.name, kind)?;
        semantics::type_names::alias_of(&found)
    }

    fn xml_schemas(&self, name: &ObjectName) -> Option<u32> {
        let found = self.state.find_xml_schemas(name.schema.as_deref(), &name.name)?;
        found.xml_schema.as_ref().map(|schemas| schemas.number())
    }

    fn fulltext(&self, table: i32) -> Option<(catalog::FulltextIndex, bool)> {
        self.state.database.catalog.fulltext_of(self.state.transaction.scope(), table)
    }

    fn bindable_name(&self, object_id: i32) -> Option<String> {
        let (catalog, scope) = self.catalog_of_ids();
        let found = catalog.bindable_by_id(scope, object_id);
        found.map(|module| module.name.to_string())
    }

    fn partition_function(&self, name: &str) -> Option<Arc<catalog::ProcedureDef>> {
        let kind = catalog::ModuleKind::PartitionFunction;
        self.state.database.catalog.module(self.state.transaction.scope(), None, name, kind)
    }

    fn settings(&self) -> ir::Settings {
        self.settings
    }

    fn collation(&self, database: Option<&str>) -> types::Collation {
        match database {
            None => self.state.database.catalog.collation(),
            Some(name) => {
                let other = self.host.borrow_mut().database(name);
                other.map(|other| other.catalog.collation()).unwrap_or_default()
            }
        }
    }

    fn database(&self) -> String {
        self.state.database.name.clone()
    }

    fn is_this_server(&self, server: &str) -> bool {
        catalog::same_name(&self.host.borrow().server_name(), server)
    }

    fn why_closed(&self, database: &str) -> Option<(i32, u8, String)> {
        let mut host = self.host.borrow_mut();
        let closed = host.why_closed(database).filter(|_| host.database(database).is_none())?;
        Some((closed.number, closed.severity, closed.text))
    }
}

/// A binder's error as the client sees it.
pub fn bind_error(error: BindError) -> SqlError {
    let error = error.into_inner();
    let ahead = error.ahead.iter().map(|e| bind_error(e.clone()).to_message()).collect();
    let mut converted = SqlError::new(error.number, error.severity, error.text).with_ahead(ahead);
    converted.state = error.state;
    converted.line = error.line;
    converted.procedure = error.module.map(String::from);
    converted
}
