//! The columns of views, table-valued functions and table types: their texts, bound against the catalog of now.
//!
//! Promise: a text that does not bind any more (its table is gone) has no columns, and fails nothing. What was found is kept
//! by the catalog until a definition changes; with a transaction's own definitions it is found anew each time.

use crate::context::Context;
use binder::{AliasType, Names};
use catalog::{
    Catalog, DdlScope, ModuleKind, ObjectRef, ProcedureDef, TableDef, TableSpec, same_name,
};
use ir::ObjectName;
use ir::SystemView;
use std::sync::Arc;

/// Do objects of this kind have columns that their text tells?
pub fn is_shaped(kind: ModuleKind) -> bool {
    use ModuleKind::*;
    matches!(kind, View | InlineFunction | TableFunction | TableType)
}

/// A module's columns as those of a table.
pub fn of_module(context: &Context<'_>, module: &ProcedureDef) -> Option<Arc<TableDef>> {
    let find = || {
        // The default schema is that of who asks: a text names the schema, or means its own.
        binder::shape_of(module, &DatabaseNames { context }).ok().map(Arc::new)
    };
    match context.scope().is_some_and(|scope| !scope.is_empty()) {
        true => find(),
        false => context.database.catalog.shape_of(module.object_id, find),
    }
}

/// Could a view have a clustered index?
pub fn is_indexable(context: &Context<'_>, view: &ProcedureDef) -> bool {
    binder::is_indexable(view, &DatabaseNames { context })
}

/// The tables and views that a view reads, each with the names of the columns that it uses.
pub fn sources_of(context: &Context<'_>, view: &ProcedureDef) -> Vec<(ObjectRef, Vec<String>)> {
    let names = DatabaseNames { context };
    let found = binder::sources_of(view, &names).unwrap_or_default();
    let mut out: Vec<(ObjectRef, Vec<String>)> = Vec::new();
    for source in found {
        let columns = source.columns.into_iter().map(|(name, _)| name);
        match out.iter_mut().find(|(known, _)| known.object_id() == source.object_id) {
            Some((_, known)) => {
                let new: Vec<String> = columns.filter(|name| !known.contains(name)).collect();
                known.extend(new);
            }
            None => {
                let scope = names.scope();
                let object = context.database.catalog.object_in(scope, source.object_id);
                out.extend(object.map(|object| (object, columns.collect())));
            }
        }
    }
    out
}

/// The tables and views that a module's statements read and change, each with its columns.
pub fn uses_of(context: &Context<'_>, module: &ProcedureDef) -> Vec<(ObjectRef, binder::Used)> {
    let names = DatabaseNames { context };
    let used = binder::uses_of(module, &names).unwrap_or_default();
    let catalog = &context.database.catalog;
    let object = |id: i32| catalog.object_in(names.scope(), id);
    used.into_iter().filter_map(|used| Some((object(used.object_id)?, used))).collect()
}

/// What names mean in the database that is asked about.
pub(crate) struct DatabaseNames<'a> {
    pub context: &'a Context<'a>,
}

impl DatabaseNames<'_> {
    fn catalog(&self) -> &Catalog {
        &self.context.database.catalog
    }

    fn scope(&self) -> Option<&DdlScope> {
        self.context.scope()
    }

    fn is_current(&self, name: &ObjectName) -> bool {
        let current = &self.context.database.name;
        name.database.as_ref().is_none_or(|database| same_name(database, current))
    }

    /// An object; a synonym gives what it stands for.
    fn object(&self, name: &ObjectName) -> Option<ObjectRef> {
        if !self.is_current(name) {
            return None;
        }
        let find =
            |schema: Option<&str>, name: &str| self.catalog().object(self.scope(), schema, name);
        let found = find(name.schema.as_deref(), &name.name)?;
        match &found {
            ObjectRef::Procedure(synonym) if synonym.kind == ModuleKind::Synonym => {
                let parts = session_state::name_parts(&synonym.text);
                let mut parts = parts.iter().rev().map(String::as_str);
                let name = parts.next()?;
                let schema = parts.next().filter(|schema| !schema.is_empty());
                let here = parts.next().filter(|database| !database.is_empty());
                let here = here.is_none_or(|d| same_name(d, &self.context.database.name));
                find(schema, name).filter(|_| here)
            }
            _ => Some(found),
        }
    }

    fn module_of(
        &self,
        name: &ObjectName,
        is_it: impl Fn(&ProcedureDef) -> bool,
    ) -> Option<Arc<ProcedureDef>> {
        match self.object(name)? {
            ObjectRef::Procedure(module) if is_it(&module) => Some(module),
            _ => None,
        }
    }

    fn of_kind(&self, name: &ObjectName, kind: ModuleKind) -> Option<Arc<ProcedureDef>> {
        self.catalog().module(self.scope(), name.schema.as_deref(), &name.name, kind)
    }
}

impl Names for DatabaseNames<'_> {
    fn collation(&self, database: Option<&str>) -> types::Collation {
        let Some(name) = database else { return self.catalog().collation() };
        let other = Context::of_database(self.context.server, self.context.session, name);
        other.map(|other| other.database.catalog.collation()).unwrap_or_default()
    }

    fn version(&self) -> u64 {
        self.catalog().version()
    }

    fn table(&self, name: &ObjectName) -> Option<Arc<TableDef>> {
        let found = match self.is_current(name) {
            true => self.object(name),
            false => {
                let database = name.database.as_deref()?;
                let (server, session) = (self.context.server, self.context.session);
                let other = Context::of_database(server, session, database)?;
                let schema = name.schema.as_deref().filter(|schema| !schema.is_empty());
                other.database.catalog.object(other.scope(), schema, &name.name)
            }
        };
        match found? {
            ObjectRef::Table(table) => Some(table),
            ObjectRef::Procedure(_) => None,
        }
    }

    fn table_by_id(&self, object_id: i32) -> Option<Arc<TableDef>> {
        self.catalog().table_by_id(self.scope(), object_id)
    }

    fn system_view(&self, name: &ObjectName) -> Option<Arc<SystemView>> {
        crate::registry::resolve(name)
    }

    fn table_type(&self, name: &ObjectName) -> Option<(i32, TableSpec)> {
        let found = self.of_kind(name, ModuleKind::TableType)?;
        let spec = binder::bind_table_type(&found.text, self).ok()?;
        Some((found.object_id, spec))
    }

    fn alias_type(&self, name: &ObjectName) -> Option<AliasType> {
        semantics::type_names::alias_of(&*self.of_kind(name, ModuleKind::AliasType)?)
    }

    fn xml_schemas(&self, name: &ObjectName) -> Option<u32> {
        let found = self.of_kind(name, ModuleKind::XmlSchemaCollection)?;
        found.xml_schema.as_ref().map(|schemas| schemas.number())
    }

    fn fulltext(&self, table: i32) -> Option<(catalog::FulltextIndex, bool)> {
        self.catalog().fulltext_of(self.scope(), table)
    }

    fn function_by_id(&self, object_id: i32) -> Option<Arc<ProcedureDef>> {
        match self.catalog().object_in(self.scope(), object_id)? {
            ObjectRef::Procedure(found) if found.kind.is_function() => Some(found),
            _ => None,
        }
    }

    fn view(&self, name: &ObjectName) -> Option<Arc<ProcedureDef>> {
        self.module_of(name, |module| module.kind == ModuleKind::View)
    }

    fn function(&self, name: &ObjectName) -> Option<Arc<ProcedureDef>> {
        self.module_of(name, |module| module.kind.is_function())
    }

    fn procedure(&self, name: &ObjectName) -> Option<Arc<ProcedureDef>> {
        self.module_of(name, |module| module.kind == ModuleKind::Procedure)
    }

    fn sequence(&self, name: &ObjectName) -> Option<Arc<ProcedureDef>> {
        self.module_of(name, |module| module.sequence.is_some())
    }

    fn partition_function(&self, name: &str) -> Option<Arc<ProcedureDef>> {
        self.catalog().module(self.scope(), None, name, ModuleKind::PartitionFunction)
    }

    fn database(&self) -> String {
        self.context.database.name.clone()
    }
}
