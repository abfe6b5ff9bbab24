//! Definitions of what is kept as text: procedures, views, functions, triggers, types, sequences and their like.

/// What is kept as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModuleKind {
    Procedure,
    /// CREATE TYPE ... AS TABLE. Types have names of their own: a table may be called the same.
    TableType,
    View,
    ScalarFunction,
    /// An inline table-valued function.
    InlineFunction,
    /// A table-valued function with statements.
    TableFunction,
    Trigger,
    Sequence,
    /// Its text is the name of what it stands for.
    Synonym,
    /// CREATE TYPE ... FROM. Its name is one of types.
    AliasType,
    /// Its text is the catalog's own: see [`crate::PolicyDef`].
    SecurityPolicy,
    /// See [`crate::PartitionFunctionDef`]. It has no schema, and its name is no object's.
    PartitionFunction,
    /// See [`crate::PartitionSchemeDef`]; likewise.
    PartitionScheme,
    /// CREATE XML SCHEMA COLLECTION. Its text is its schemas; its name is one of its own kind.
    XmlSchemaCollection,
    /// CREATE FULLTEXT CATALOG: see [`crate::FulltextCatalog`]. It has no schema, and its name is no object's.
    FulltextCatalog,
    /// CREATE FULLTEXT INDEX: see [`crate::FulltextIndex`]. Its name is the id of its table.
    FulltextIndex,
    /// CREATE RULE: see [`crate::Binding`].
    Rule,
    /// CREATE DEFAULT, likewise.
    Default,
    /// CREATE TRIGGER ... ON DATABASE. It has no schema, and its name is no object's.
    DatabaseTrigger,
    /// CREATE TRIGGER ... ON ALL SERVER, likewise; in `master`.
    ServerTrigger,
}

impl ModuleKind {
    /// In the `kind` column of `objects`.
    pub(crate) fn number(self) -> u8 {
        match self {
            ModuleKind::Procedure => 2,
            ModuleKind::TableType => 3,
            ModuleKind::View => 4,
            ModuleKind::ScalarFunction => 5,
            ModuleKind::InlineFunction => 6,
            ModuleKind::TableFunction => 7,
            ModuleKind::Trigger => 8,
            ModuleKind::Sequence => 9,
            ModuleKind::Synonym => 10,
            ModuleKind::AliasType => 11,
            ModuleKind::SecurityPolicy => 12,
            ModuleKind::Rule => 13,
            ModuleKind::Default => 14,
            ModuleKind::DatabaseTrigger => 15,
            ModuleKind::ServerTrigger => 16,
            ModuleKind::PartitionFunction => 20,
            ModuleKind::PartitionScheme => 21,
            ModuleKind::XmlSchemaCollection => 22,
            ModuleKind::FulltextCatalog => 23,
            ModuleKind::FulltextIndex => 24,
        }
    }

    pub(crate) fn of_number(number: u8) -> Option<ModuleKind> {
        use ModuleKind::*;
        let all = [
            Procedure,
            TableType,
            View,
            ScalarFunction,
            InlineFunction,
            TableFunction,
            Trigger,
            Sequence,
            Synonym,
            AliasType,
            SecurityPolicy,
            PartitionFunction,
            PartitionScheme,
            XmlSchemaCollection,
            FulltextCatalog,
            FulltextIndex,
            Rule,
            Default,
            DatabaseTrigger,
            ServerTrigger,
        ];
        all.into_iter().find(|kind| kind.number() == number)
    }

    /// One may be altered into the other.
    pub(crate) fn replaces(self, other: ModuleKind) -> bool {
        let table = |kind| matches!(kind, ModuleKind::InlineFunction | ModuleKind::TableFunction);
        self == other || (table(self) && table(other))
    }

    /// Is it a user-defined function?
    pub fn is_function(self) -> bool {
        use ModuleKind::*;
        matches!(self, ScalarFunction | InlineFunction | TableFunction)
    }

    /// Is it listed among the objects? Types, partitionings and triggers of no table are apart.
    pub fn is_object(self) -> bool {
        use ModuleKind::*;
        let apart = matches!(
            self,
            AliasType
                | PartitionFunction
                | PartitionScheme
                | XmlSchemaCollection
                | FulltextCatalog
                | FulltextIndex
        );
        !apart && !self.is_ddl_trigger()
    }

    /// Is it a trigger of a database, or of the server?
    pub fn is_ddl_trigger(self) -> bool {
        matches!(self, ModuleKind::DatabaseTrigger | ModuleKind::ServerTrigger)
    }

    /// In messages.
    pub fn word(self) -> &'static str {
        match self {
            ModuleKind::Procedure => "procedure",
            ModuleKind::TableType | ModuleKind::AliasType => "type",
            ModuleKind::View => "view",
            ModuleKind::Trigger | ModuleKind::DatabaseTrigger | ModuleKind::ServerTrigger => {
                "trigger"
            }
            ModuleKind::Sequence => "sequence object",
            ModuleKind::Synonym => "synonym",
            ModuleKind::SecurityPolicy => "security policy",
            ModuleKind::PartitionFunction => "partition function",
            ModuleKind::PartitionScheme => "partition scheme",
            ModuleKind::XmlSchemaCollection => "xml schema collection",
            ModuleKind::FulltextCatalog => "full-text catalog",
            ModuleKind::FulltextIndex => "full-text index",
            ModuleKind::Rule => "rule",
            ModuleKind::Default => "default",
            _ => "function",
        }
    }

    /// `name` as the key of look-ups: types are apart from objects, and so is what has no schema.
    pub(crate) fn key(self, name: &str) -> String {
        match self {
            ModuleKind::TableType | ModuleKind::AliasType => format!("\u{1}{name}"),
            ModuleKind::PartitionFunction => format!("\u{2}{name}"),
            ModuleKind::PartitionScheme => format!("\u{3}{name}"),
            ModuleKind::DatabaseTrigger => format!("\u{4}{name}"),
            ModuleKind::ServerTrigger => format!("\u{5}{name}"),
            ModuleKind::XmlSchemaCollection => format!("\u{6}{name}"),
            ModuleKind::FulltextCatalog => format!("\u{7}{name}"),
            ModuleKind::FulltextIndex => format!("\u{8}{name}"),
            _ => name.to_owned(),
        }
    }
}

/// A stored procedure or another module: its text, whole, from CREATE on.
#[derive(Clone, Debug)]
pub struct ProcedureDef {
    pub kind: ModuleKind,
    pub object_id: i32,
    pub schema: Box<str>,
    pub name: Box<str>,
    pub text: Box<str>,
    /// SET options in force when it was created: they govern its lexing and NULL comparison.
    pub quoted_identifier: bool,
    pub ansi_nulls: bool,
    /// Of a trigger.
    pub trigger: Option<TriggerDef>,
    /// Of a DDL trigger: what it is for, by the numbers of [`crate::DdlEvent`], as it was said; then each event for which
    /// it is the first trigger, with 0x4000, or the last, with 0x8000.
    pub ddl_events: std::sync::Arc<[u16]>,
    /// Of an alias type.
    pub bindings: crate::TypeBindings,
    /// Of a sequence.
    pub sequence: Option<SequenceDef>,
    /// Of a security policy.
    pub policy: Option<std::sync::Arc<crate::PolicyDef>>,
    /// Of a collection of XML schemas.
    pub xml_schema: Option<xml_schema::Registered>,
    /// Of a full-text catalog or index.
    pub fulltext: Option<std::sync::Arc<crate::Fulltext>>,
    /// Of a partition function or scheme.
    pub partitioning: Option<std::sync::Arc<crate::Partitioning>>,
    /// Of an indexed view: where its rows are kept.
    pub rows: Option<std::sync::Arc<crate::TableDef>>,
    /// As in [`TableDef::version`].
    pub version: u64,
    pub created_unix_ns: u64,
}

/// Of a number in [`ProcedureDef::ddl_events`].
const FIRST: u16 = 0x4000;
const LAST: u16 = 0x8000;

impl ProcedureDef {
    /// What a DDL trigger is for, as it was said.
    pub fn declared_events(&self) -> impl Iterator<Item = &'static crate::DdlEvent> {
        // Numbers with a place are none.
        self.ddl_events.iter().filter_map(|number| crate::DdlEvent::by_number(*number))
    }

    /// Does this event fire it, were it enabled?
    pub fn is_for(&self, event: &crate::DdlEvent) -> bool {
        self.declared_events().any(|declared| declared.covers(event))
    }

    /// The same trigger, enabled or not.
    pub fn enabled(&self, enabled: bool) -> ProcedureDef {
        ProcedureDef { trigger: self.trigger.map(|t| t.enabled(enabled)), ..self.clone() }
    }

    /// -1 for the first trigger of an event, 1 for the last, 0 for those between.
    pub fn order_of(&self, event: &crate::DdlEvent) -> i8 {
        match (
            self.ddl_events.contains(&(event.number | FIRST)),
            self.ddl_events.contains(&(event.number | LAST)),
        ) {
            (true, _) => -1,
            (_, true) => 1,
            _ => 0,
        }
    }

    /// The same trigger at that place.
    pub fn ordered_for(&self, event: &crate::DdlEvent, order: i8) -> ProcedureDef {
        let others =
            self.ddl_events.iter().filter(|n| **n & !(FIRST | LAST) != event.number || **n < FIRST);
        let own = match order {
            -1 => Some(event.number | FIRST),
            1 => Some(event.number | LAST),
            _ => None,
        };
        ProcedureDef { ddl_events: others.copied().chain(own).collect(), ..self.clone() }
    }
}

/// A sequence: which numbers it gives, in which order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequenceDef {
    /// Its type as it is kept: id, length, precision, scale.
    pub ty: [i32; 4],
    /// START WITH, or the last RESTART WITH.
    pub original: i128,
    /// The first number of this generation.
    pub start: i128,
    pub increment: i128,
    pub minimum: i128,
    pub maximum: i128,
    pub cycle: bool,
    /// None: the server chooses; 0: NO CACHE.
    pub cache: Option<u32>,
    /// Moves on when counting begins anew.
    pub generation: u32,
}

/// A kind of statement that changes rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    Insert,
    Update,
    Delete,
}

/// What fires a trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TriggerDef {
    /// Object id of its table or view; see [`TriggerDef::OF_DATABASE`].
    pub parent: i32,
    /// Bits: 1 INSERT, 2 UPDATE, 4 DELETE, 8 INSTEAD OF, 16 disabled, 32 NOT FOR REPLICATION; the same three of the
    /// statements from 256 on where it is the first, from 2048 on where it is the last trigger.
    pub flags: u32,
}

impl TriggerDef {
    /// The parent of a database's DDL triggers.
    pub const OF_DATABASE: i32 = 0;
    /// The parent of the server's triggers, which are in `master`.
    pub const OF_SERVER: i32 = -1;

    const INSTEAD_OF: u32 = 8;
    const DISABLED: u32 = 16;
    const NOT_FOR_REPLICATION: u32 = 32;

    /// Of a definition.
    pub fn new(
        parent: i32,
        events: &[Event],
        instead_of: bool,
        not_for_replication: bool,
    ) -> TriggerDef {
        let mut flags = events.iter().fold(0, |flags, event| flags | TriggerDef::bit(*event));
        flags |= if instead_of { TriggerDef::INSTEAD_OF } else { 0 };
        flags |= if not_for_replication { TriggerDef::NOT_FOR_REPLICATION } else { 0 };
        TriggerDef { parent, flags }
    }
    fn bit(event: Event) -> u32 {
        match event {
            Event::Insert => 1,
            Event::Update => 2,
            Event::Delete => 4,
        }
    }
    /// Does a statement of this kind fire it, were it enabled?
    pub fn is_on(&self, event: Event) -> bool {
        self.flags & TriggerDef::bit(event) != 0
    }
    pub fn is_instead_of(&self) -> bool {
        self.flags & TriggerDef::INSTEAD_OF != 0
    }
    pub fn is_disabled(&self) -> bool {
        self.flags & TriggerDef::DISABLED != 0
    }
    pub fn is_not_for_replication(&self) -> bool {
        self.flags & TriggerDef::NOT_FOR_REPLICATION != 0
    }
    /// The same, enabled or not.
    pub fn enabled(self, enabled: bool) -> TriggerDef {
        let flags = self.flags & !TriggerDef::DISABLED;
        TriggerDef { flags: if enabled { flags } else { flags | TriggerDef::DISABLED }, ..self }
    }
    /// -1 for the first trigger of such statements, 1 for the last, 0 for those between.
    pub fn order(&self, event: Event) -> i8 {
        let bit = TriggerDef::bit(event);
        match (self.flags & bit << 8 != 0, self.flags & bit << 11 != 0) {
            (true, _) => -1,
            (_, true) => 1,
            _ => 0,
        }
    }
    /// The same with that order.
    pub fn ordered(self, event: Event, order: i8) -> TriggerDef {
        let bit = TriggerDef::bit(event);
        let flags = self.flags & !(bit << 8 | bit << 11);
        let flags = match order {
            -1 => flags | bit << 8,
            1 => flags | bit << 11,
            _ => flags,
        };
        TriggerDef { flags, ..self }
    }
}
