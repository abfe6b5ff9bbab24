//! What a statement makes happen: the events of DDL triggers, each with the object that it is about.
//!
//! Worked out from the statement's syntax before it runs, for what is dropped can be asked for its schema only then, and
//! only where there are triggers at all. Temporary tables and procedures make nothing happen.
//!
//! Elements and their order: `events.xsd` of SQL Server as its documentation of EVENTDATA quotes it.

use super::event::Occurrence;
use super::text::element;
use catalog::{ModuleKind, ObjectRef, ProcedureDef, is_global_name, same_name};
use session_state::SessionState;
use session_state::is_temporary;
use std::sync::Arc;
use syntax::ast::{
    AlterDatabaseAction, AlterTable, AlterTableAction, AlterTableDrop, AuditStatement, CreateMode,
    DropKind, DropObjects, FulltextStatement, GovernorStatement, Ident, ObjectName,
    PartitionStatement, QueryBody, RareStatement, SpecificationChange, StatementKind as S,
    StatisticsStatement, TablePart, TriggerScope, XmlSchemaStatement,
};

/// The events of a statement, whose text is there too.
pub fn occurrences(state: &SessionState, statement: &S, text: &str) -> Vec<Occurrence> {
    let context = Context { state };
    match statement {
        S::Security(statement) => super::principals::occurrences(state, statement),
        S::Drop(drop) => drop.names.iter().filter_map(|name| context.dropped(drop, name)).collect(),
        S::Statistics(statement) => context.statistics(statement),
        other => context.one(other, text).into_iter().collect(),
    }
}

/// Is it a statement that no transaction can hold: of databases, or of what belongs to the server?
pub fn is_apart(statement: &S) -> bool {
    match statement {
        S::CreateDatabase(_) | S::AlterServer(_) => true,
        S::Rare(rare) => match &**rare {
            RareStatement::Governor(_) => true,
            RareStatement::Audit(AuditStatement::Specification(specification)) => {
                !specification.of_database
            }
            RareStatement::Audit(_) => true,
            _ => false,
        },
        S::AlterDatabase(alter) => !matches!(alter.action, AlterDatabaseAction::Scoped { .. }),
        S::CreateDdlTrigger(create) => create.scope == TriggerScope::Server,
        S::Drop(drop) => matches!(drop.kind, DropKind::Database | DropKind::ServerTrigger),
        _ => false,
    }
}

fn governor(statement: &GovernorStatement) -> Occurrence {
    let of = |event: &str, name: &Ident, ty| Occurrence::new(event).object(&name.value, ty);
    match statement {
        GovernorStatement::CreatePool { name, .. } => {
            of("CREATE_RESOURCE_POOL", name, "RESOURCE POOL")
        }
        GovernorStatement::AlterPool { name, .. } => {
            of("ALTER_RESOURCE_POOL", name, "RESOURCE POOL")
        }
        GovernorStatement::DropPool(name) => of("DROP_RESOURCE_POOL", name, "RESOURCE POOL"),
        GovernorStatement::CreateGroup { name, .. } => {
            of("CREATE_WORKLOAD_GROUP", name, "WORKLOAD GROUP")
        }
        GovernorStatement::AlterGroup { name, .. } => {
            of("ALTER_WORKLOAD_GROUP", name, "WORKLOAD GROUP")
        }
        GovernorStatement::DropGroup(name) => of("DROP_WORKLOAD_GROUP", name, "WORKLOAD GROUP"),
        GovernorStatement::Alter(_) => Occurrence::new("ALTER_RESOURCE_GOVERNOR_CONFIG"),
    }
}

fn audit(statement: &AuditStatement) -> Occurrence {
    let of = |event: &str, name: &Ident, ty| Occurrence::new(event).object(&name.value, ty);
    match statement {
        AuditStatement::Create { name, .. } => of("CREATE_SERVER_AUDIT", name, "SERVER AUDIT"),
        AuditStatement::Alter { name, .. } | AuditStatement::Rename { name, .. } => {
            of("ALTER_SERVER_AUDIT", name, "SERVER AUDIT")
        }
        AuditStatement::Drop(name) => of("DROP_SERVER_AUDIT", name, "SERVER AUDIT"),
        AuditStatement::Specification(specification) => {
            let verb = match specification.change {
                SpecificationChange::Create { .. } => "CREATE",
                SpecificationChange::Alter { .. } => "ALTER",
                SpecificationChange::Drop => "DROP",
            };
            let (scope, ty) = match specification.of_database {
                true => ("DATABASE", "DATABASE AUDIT SPECIFICATION"),
                false => ("SERVER", "SERVER AUDIT SPECIFICATION"),
            };
            let event = format!("{verb}_{scope}_AUDIT_SPECIFICATION");
            of(&event, &specification.name, ty)
        }
    }
}

struct Context<'a> {
    state: &'a SessionState,
}

impl Context<'_> {
    /// The event of a statement that has one at most.
    fn one(&self, statement: &S, text: &str) -> Option<Occurrence> {
        Some(match statement {
            S::Select(query) => {
                let QueryBody::Select(select) = &query.body else { return None };
                self.new_table(&select.into.as_ref()?.table)?
            }
            S::CreateTable(create) => self.new_table(&create.name)?,
            S::AlterTable(alter) => {
                let own = actions(alter);
                Occurrence { own, ..self.table("ALTER_TABLE", &alter.name)? }
            }
            S::Switch(switch) => self.table("ALTER_TABLE", &switch.source)?,
            // The statement of its own makes nothing happen; ALTER TABLE does.
            S::EnableTrigger(enable) if first_word_is(text, "ALTER") => {
                self.table("ALTER_TABLE", &enable.table)?
            }
            S::CreateIndex(create) => {
                self.index("CREATE_INDEX", &create.index.name.value, &create.table)?
            }
            S::AlterIndex(alter) => {
                let name = alter.index.as_ref().map_or("", |index| &index.value);
                self.index("ALTER_INDEX", name, &alter.table)?
            }
            S::CreateView(view) => self.module("VIEW", ModuleKind::View, view.mode, &view.name)?,
            S::CreateProcedure(create) => {
                self.module("PROCEDURE", ModuleKind::Procedure, create.mode, &create.name)?
            }
            S::CreateFunction(create) => {
                self.module("FUNCTION", ModuleKind::ScalarFunction, create.mode, &create.name)?
            }
            S::CreateTrigger(create) => {
                let (schema, ty) = self.relation(&create.table)?;
                let name = ObjectName {
                    schema: Some(Ident { value: schema.clone(), ..create.table.name.clone() }),
                    ..create.name.clone()
                };
                let made = self.module("TRIGGER", ModuleKind::Trigger, create.mode, &name)?;
                made.target(&create.table.name.value, ty)
            }
            S::CreateDdlTrigger(create) => {
                let kind = crate::define::ddl_trigger::kind_of(create.scope);
                let known = match create.scope {
                    TriggerScope::Database => self.bare(kind, &create.name.value).is_some(),
                    TriggerScope::Server => create.mode == CreateMode::Alter,
                };
                let event = match create.mode {
                    CreateMode::Alter => "ALTER_TRIGGER",
                    CreateMode::CreateOrAlter if known => "ALTER_TRIGGER",
                    _ => "CREATE_TRIGGER",
                };
                ddl_trigger(event, kind, &create.name.value)
            }
            S::CreateBindable(create) => {
                let (event, ty) = match create.rule {
                    true => ("CREATE_RULE", "RULE"),
                    false => ("CREATE_DEFAULT", "DEFAULT"),
                };
                self.fresh(event, &create.name, ty)
            }
            S::CreateType(create) => self.fresh("CREATE_TYPE", &create.name, "TYPE"),
            S::DefineSequence(sequence) => {
                let event = if sequence.alter { "ALTER_SEQUENCE" } else { "CREATE_SEQUENCE" };
                self.existing_or_fresh(event, &sequence.name, "SEQUENCE")
            }
            S::CreateSynonym(synonym) => {
                let made = self.fresh("CREATE_SYNONYM", &synonym.name, "SYNONYM");
                let part = |part: &Option<Ident>| part.as_ref().map_or("", |p| &p.value).to_owned();
                let base = &synonym.base;
                made.with("TargetServerName", &part(&base.server))
                    .with("TargetDatabaseName", &part(&base.database))
                    .with("TargetSchemaName", &part(&base.schema))
                    .with("TargetObjectName", &base.name.value)
            }
            S::SecurityPolicy(policy) => {
                let event = match policy.alter {
                    true => "ALTER_SECURITY_POLICY",
                    false => "CREATE_SECURITY_POLICY",
                };
                self.existing_or_fresh(event, &policy.name, "SECURITY POLICY")
            }
            S::Partition(statement) => partition(statement),
            S::CreateDatabase(create) => database("CREATE_DATABASE", &create.name.value),
            S::AlterDatabase(alter) => match &alter.action {
                AlterDatabaseAction::Scoped { .. } => {
                    Occurrence::new("ALTER_DATABASE_SCOPED_CONFIGURATION")
                }
                _ => {
                    let own = &self.state.database.name;
                    let name = alter.name.as_ref().map_or(own, |name| &name.value);
                    database("ALTER_DATABASE", name)
                }
            },
            S::AlterServer(_) => Occurrence::new("ALTER_SERVER_CONFIGURATION"),
            S::Rare(rare) => match &**rare {
                RareStatement::Governor(statement) => governor(statement),
                RareStatement::Audit(statement) => audit(statement),
                RareStatement::XmlSchema(statement) => self.xml_schemas(statement),
                RareStatement::Fulltext(statement) => self.fulltext(statement),
                RareStatement::Sensitivity(statement) => {
                    let event = match statement.said {
                        Some(_) => "ADD_SENSITIVITY_CLASSIFICATION",
                        None => "DROP_SENSITIVITY_CLASSIFICATION",
                    };
                    let (table, _) = statement.columns.first()?;
                    self.table(event, table)?
                }
                _ => return None,
            },
            _ => return None,
        })
    }

    /// One of the names of a DROP; none when there is nothing of that name.
    fn dropped(&self, drop: &DropObjects, name: &ObjectName) -> Option<Occurrence> {
        let bare = &name.name.value;
        let module = |event: &str, kind: ModuleKind, ty: &'static str| {
            let found = self.module_of(kind, name)?;
            Some(Occurrence::new(event).schema(&*found.schema).object(bare, ty))
        };
        match drop.kind {
            DropKind::Database => Some(database("DROP_DATABASE", bare)),
            DropKind::Table => self.table("DROP_TABLE", name),
            DropKind::View => module("DROP_VIEW", ModuleKind::View, "VIEW"),
            DropKind::Procedure => module("DROP_PROCEDURE", ModuleKind::Procedure, "PROCEDURE"),
            DropKind::Function => {
                let found = self.module_of(ModuleKind::ScalarFunction, name);
                let found = found.or_else(|| self.module_of(ModuleKind::InlineFunction, name));
                let found = found.or_else(|| self.module_of(ModuleKind::TableFunction, name))?;
                Some(
                    Occurrence::new("DROP_FUNCTION")
                        .schema(&*found.schema)
                        .object(bare, "FUNCTION"),
                )
            }
            DropKind::Trigger => {
                let found = self.module_of(ModuleKind::Trigger, name)?;
                let parent = found.trigger?.parent;
                let scope = self.state.definitions();
                let parent = self.state.database.catalog.object_in(scope, parent)?;
                let (table, ty) = match &parent {
                    ObjectRef::Table(table) => (&table.name, "TABLE"),
                    ObjectRef::Procedure(view) => (&view.name, "VIEW"),
                };
                let gone = module("DROP_TRIGGER", ModuleKind::Trigger, "TRIGGER")?;
                Some(gone.target(&**table, ty))
            }
            DropKind::DatabaseTrigger => {
                self.bare(ModuleKind::DatabaseTrigger, bare)?;
                Some(ddl_trigger("DROP_TRIGGER", ModuleKind::DatabaseTrigger, bare))
            }
            DropKind::ServerTrigger => {
                Some(ddl_trigger("DROP_TRIGGER", ModuleKind::ServerTrigger, bare))
            }
            DropKind::Sequence => module("DROP_SEQUENCE", ModuleKind::Sequence, "SEQUENCE"),
            DropKind::Synonym => module("DROP_SYNONYM", ModuleKind::Synonym, "SYNONYM"),
            DropKind::SecurityPolicy => {
                module("DROP_SECURITY_POLICY", ModuleKind::SecurityPolicy, "SECURITY POLICY")
            }
            DropKind::Rule => module("DROP_RULE", ModuleKind::Rule, "RULE"),
            DropKind::Default => module("DROP_DEFAULT", ModuleKind::Default, "DEFAULT"),
            DropKind::Type => module("DROP_TYPE", ModuleKind::TableType, "TYPE")
                .or_else(|| module("DROP_TYPE", ModuleKind::AliasType, "TYPE")),
            DropKind::Index => {
                let table = name.whole()?;
                let found = self.table_of(&table)?;
                found.index(bare)?;
                self.index("DROP_INDEX", bare, &table)
            }
        }
    }

    fn statistics(&self, statement: &StatisticsStatement) -> Vec<Occurrence> {
        let about = |event: &str, name: Option<&str>, table: &ObjectName| {
            let (schema, ty) = self.relation(table)?;
            let made = Occurrence::new(event).schema(schema).target(&table.name.value, ty);
            Some(match name {
                Some(name) => made.object(name, "STATISTICS"),
                None => made,
            })
        };
        match statement {
            StatisticsStatement::Create { name, table, .. } => {
                about("CREATE_STATISTICS", Some(&name.value), table).into_iter().collect()
            }
            StatisticsStatement::Update { table, .. } => {
                about("UPDATE_STATISTICS", None, table).into_iter().collect()
            }
            StatisticsStatement::Drop(names) => {
                let each = names.iter().filter_map(|name| {
                    let table = name.whole()?;
                    about("DROP_STATISTICS", Some(&name.name.value), &table)
                });
                each.collect()
            }
        }
    }

    // ---- Objects by name

    fn new_table(&self, name: &ObjectName) -> Option<Occurrence> {
        let is_private = is_temporary(&name.name.value) || is_global_name(&name.name.value);
        (!is_private).then(|| self.fresh("CREATE_TABLE", name, "TABLE"))
    }

    /// What is to be made, in the schema that it will be in.
    fn fresh(&self, event: &str, name: &ObjectName, ty: &'static str) -> Occurrence {
        let schema = match &name.schema {
            Some(schema) => &schema.value,
            None => self.state.default_schema().unwrap_or("dbo"),
        };
        Occurrence::new(event).schema(schema).object(&name.name.value, ty)
    }

    fn xml_schemas(&self, statement: &XmlSchemaStatement) -> Occurrence {
        let event = match statement {
            XmlSchemaStatement::Create { .. } => "CREATE_XML_SCHEMA_COLLECTION",
            XmlSchemaStatement::Add { .. } => "ALTER_XML_SCHEMA_COLLECTION",
            XmlSchemaStatement::Drop { .. } => "DROP_XML_SCHEMA_COLLECTION",
        };
        self.fresh(event, statement.name(), "XML SCHEMA COLLECTION")
    }

    fn fulltext(&self, statement: &FulltextStatement) -> Occurrence {
        let catalog = |event: &str, name: &Ident| {
            Occurrence::new(event).object(&name.value, "FULLTEXT CATALOG")
        };
        let index = |event: &str, table: &ObjectName| self.fresh(event, table, "FULLTEXT INDEX");
        match statement {
            FulltextStatement::CreateCatalog { name, .. } => {
                catalog("CREATE_FULLTEXT_CATALOG", name)
            }
            FulltextStatement::AlterCatalog { name, .. } => catalog("ALTER_FULLTEXT_CATALOG", name),
            FulltextStatement::DropCatalog { name } => catalog("DROP_FULLTEXT_CATALOG", name),
            FulltextStatement::CreateIndex(made) => index("CREATE_FULLTEXT_INDEX", &made.table),
            FulltextStatement::AlterIndex { table, .. } => index("ALTER_FULLTEXT_INDEX", table),
            FulltextStatement::DropIndex { table } => index("DROP_FULLTEXT_INDEX", table),
        }
    }

    fn existing_or_fresh(&self, event: &str, name: &ObjectName, ty: &'static str) -> Occurrence {
        match self.find(name) {
            Some(ObjectRef::Procedure(found)) => {
                Occurrence::new(event).schema(&*found.schema).object(&name.name.value, ty)
            }
            _ => self.fresh(event, name, ty),
        }
    }

    /// A module that is made or changed; none of a temporary procedure.
    fn module(
        &self,
        ty: &'static str,
        kind: ModuleKind,
        mode: CreateMode,
        name: &ObjectName,
    ) -> Option<Occurrence> {
        if is_temporary(&name.name.value) {
            return None;
        }
        let known = match kind {
            ModuleKind::ScalarFunction => {
                matches!(self.find(name), Some(ObjectRef::Procedure(m)) if m.kind.is_function())
            }
            kind => self.module_of(kind, name).is_some(),
        };
        let alters = mode == CreateMode::Alter || (mode == CreateMode::CreateOrAlter && known);
        let event = format!("{}_{ty}", if alters { "ALTER" } else { "CREATE" });
        Some(match alters {
            true => self.existing_or_fresh(&event, name, ty),
            false => self.fresh(&event, name, ty),
        })
    }

    fn table(&self, event: &str, name: &ObjectName) -> Option<Occurrence> {
        let found = self.table_of(name)?;
        Some(Occurrence::new(event).schema(&*found.schema).object(&name.name.value, "TABLE"))
    }

    fn index(&self, event: &str, index: &str, table: &ObjectName) -> Option<Occurrence> {
        let (schema, ty) = self.relation(table)?;
        let made = Occurrence::new(event).schema(schema).object(index, "INDEX");
        Some(made.target(&table.name.value, ty))
    }

    /// The schema of a table or view, and which of them it is; none of a temporary table.
    fn relation(&self, name: &ObjectName) -> Option<(String, &'static str)> {
        match self.find(name)? {
            ObjectRef::Table(table) if !is_global_name(&table.name) => {
                Some((table.schema.to_string(), "TABLE"))
            }
            ObjectRef::Procedure(module) if module.kind == ModuleKind::View => {
                Some((module.schema.to_string(), "VIEW"))
            }
            _ => None,
        }
    }

    fn table_of(&self, name: &ObjectName) -> Option<Arc<catalog::TableDef>> {
        match self.find(name)? {
            ObjectRef::Table(table) if !is_global_name(&table.name) => Some(table),
            _ => None,
        }
    }

    fn find(&self, name: &ObjectName) -> Option<ObjectRef> {
        let schema = name.schema.as_ref().map(|schema| schema.value.as_str());
        self.state.find_own(schema, &name.name.value)
    }

    fn module_of(&self, kind: ModuleKind, name: &ObjectName) -> Option<Arc<ProcedureDef>> {
        let catalog = &self.state.database.catalog;
        let schema = name.schema.as_ref().map(|schema| schema.value.as_str());
        let own = |schema| catalog.module(self.state.definitions(), schema, &name.name.value, kind);
        match (schema, self.state.default_schema()) {
            (None, Some(default)) => own(Some(default)).or_else(|| own(None)),
            _ => own(schema),
        }
    }

    /// A trigger of this database by its name.
    fn bare(&self, kind: ModuleKind, name: &str) -> Option<Arc<ProcedureDef>> {
        self.state.database.catalog.module(self.state.definitions(), None, name, kind)
    }
}

/// A trigger of the database or the server: its schema and target have no names.
pub fn ddl_trigger(event: &str, kind: ModuleKind, name: &str) -> Occurrence {
    let ty = if kind == ModuleKind::ServerTrigger { "Server" } else { "Database" };
    Occurrence::new(event).schema("").object(name, "TRIGGER").target("", ty)
}

fn database(event: &str, name: &str) -> Occurrence {
    Occurrence { database: Some(name.into()), ..Occurrence::new(event) }
}

fn partition(statement: &PartitionStatement) -> Occurrence {
    use PartitionStatement::*;
    let (event, name, ty) = match statement {
        CreateFunction { name, .. } => ("CREATE_PARTITION_FUNCTION", name, "PARTITION FUNCTION"),
        AlterFunction { name, .. } => ("ALTER_PARTITION_FUNCTION", name, "PARTITION FUNCTION"),
        DropFunction(name) => ("DROP_PARTITION_FUNCTION", name, "PARTITION FUNCTION"),
        CreateScheme { name, .. } => ("CREATE_PARTITION_SCHEME", name, "PARTITION SCHEME"),
        NextUsed { scheme, .. } => ("ALTER_PARTITION_SCHEME", scheme, "PARTITION SCHEME"),
        DropScheme(name) => ("DROP_PARTITION_SCHEME", name, "PARTITION SCHEME"),
    };
    Occurrence::new(event).object(&name.value, ty)
}

/// AlterTableActionList: the columns and constraints that an ALTER TABLE names, by what becomes of them.
fn actions(alter: &AlterTable) -> String {
    let mut out = String::new();
    let mut list = |verb: &str, kind: &str, names: &mut dyn Iterator<Item = &str>| {
        let mut inner = String::new();
        names.for_each(|name| element("Name", name, &mut inner));
        if !inner.is_empty() {
            out += &format!("<{verb}><{kind}>{inner}</{kind}></{verb}>");
        }
    };
    match &alter.action {
        AlterTableAction::Add { definition, .. } => {
            let mut columns = definition.columns.iter().map(|column| column.name.value.as_str());
            list("Create", "Columns", &mut columns);
            let named = definition.constraints.iter().filter_map(|c| c.name.as_ref());
            list("Create", "Constraints", &mut named.map(|name| name.value.as_str()));
        }
        AlterTableAction::AlterColumn { name, .. }
        | AlterTableAction::MarkColumn { name, .. }
        | AlterTableAction::MaskColumn { name, .. } => {
            list("Alter", "Columns", &mut std::iter::once(name.value.as_str()));
        }
        AlterTableAction::Drop(items) => {
            let of = |kind: TablePart| {
                let items = items.iter().filter(move |item: &&AlterTableDrop| item.kind == kind);
                items.map(|item| item.name.value.as_str())
            };
            list("Drop", "Columns", &mut of(TablePart::Column));
            list("Drop", "Constraints", &mut of(TablePart::Constraint));
            list("Drop", "Indexes", &mut of(TablePart::Index));
        }
        AlterTableAction::CheckConstraint { enable, names, .. } => {
            let verb = if *enable { "Check" } else { "Nocheck" };
            list(verb, "Constraints", &mut names.iter().map(|name| name.value.as_str()));
        }
        _ => {}
    }
    match out.is_empty() {
        true => out,
        false => format!("<AlterTableActionList>{out}</AlterTableActionList>"),
    }
}

/// Does a text begin with this word, behind blanks and comments?
fn first_word_is(text: &str, word: &str) -> bool {
    let text = super::text::without_blanks(text);
    text.get(..word.len()).is_some_and(|first| same_name(first, word))
}
