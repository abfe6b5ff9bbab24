//! Permissions by SQL Server's names, what they can be granted on, and which one implies which.
//!
//! A permission is known by its name; the same name on several classes (SELECT on an object, a schema, the database) is
//! one [`Permission`]. Which implies which follows SQL Server's sys.fn_builtin_permissions (columns
//! covering_permission_name, parent_class_desc and parent_covering_permission_name) for the classes below.

/// The class of what is secured; its number is `class` in the permission views.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    Server,
    Login,
    Database,
    Schema,
    Object,
    Column,
    Type,
    XmlSchemas,
    User,
}

impl Class {
    /// `class`.
    pub fn number(self) -> u8 {
        match self {
            Class::Server => 100,
            Class::Login => 101,
            Class::Database => 0,
            Class::Object | Class::Column => 1,
            Class::Schema => 3,
            Class::User => 4,
            Class::Type => 6,
            Class::XmlSchemas => 10,
        }
    }

    /// `class_desc`.
    pub fn description(self) -> &'static str {
        match self {
            Class::Server => "SERVER",
            Class::Login => "SERVER_PRINCIPAL",
            Class::Database => "DATABASE",
            Class::Object | Class::Column => "OBJECT_OR_COLUMN",
            Class::Schema => "SCHEMA",
            Class::User => "DATABASE_PRINCIPAL",
            Class::Type => "TYPE",
            Class::XmlSchemas => "XML_SCHEMA_COLLECTION",
        }
    }
}

/// What a permission is granted on, within its scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Securable {
    Server,
    Database,
    Schema(i32),
    Object(i32),
    /// A table's column by its number, from 1.
    Column(i32, i32),
    /// A user-defined type by its user_type_id.
    Type(i32),
    /// A collection of XML schemas by its id.
    XmlSchemas(i32),
    /// A login in the server's directory, a user or role in a database's.
    Principal(i32),
}

impl Securable {
    /// `major_id`.
    pub fn major_id(self) -> i32 {
        match self {
            Securable::Server | Securable::Database => 0,
            Securable::Schema(id)
            | Securable::Object(id)
            | Securable::Principal(id)
            | Securable::Type(id)
            | Securable::XmlSchemas(id)
            | Securable::Column(id, _) => id,
        }
    }

    /// `minor_id`.
    pub fn minor_id(self) -> i32 {
        match self {
            Securable::Column(_, column) => column,
            _ => 0,
        }
    }

    /// Its class; principals' differ with the scope.
    pub fn class(self, server: bool) -> Class {
        match self {
            Securable::Server => Class::Server,
            Securable::Database => Class::Database,
            Securable::Schema(_) => Class::Schema,
            Securable::Object(_) => Class::Object,
            Securable::Column(..) => Class::Column,
            Securable::Type(_) => Class::Type,
            Securable::XmlSchemas(_) => Class::XmlSchemas,
            Securable::Principal(_) if server => Class::Login,
            Securable::Principal(_) => Class::User,
        }
    }

    /// From the columns of a stored permission; a column's is told by its permission.
    pub fn from_class(class: u8, major_id: i32) -> Option<Securable> {
        Some(match class {
            100 => Securable::Server,
            0 => Securable::Database,
            3 => Securable::Schema(major_id),
            1 => Securable::Object(major_id),
            4 | 101 => Securable::Principal(major_id),
            6 => Securable::Type(major_id),
            10 => Securable::XmlSchemas(major_id),
            _ => return None,
        })
    }
}

macro_rules! permissions {
    ($($variant:ident = $id:literal, $name:literal, $code:literal,)*) => {
        /// A permission by name. Its number is what the system tables hold: never reused.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Permission { $($variant = $id,)* }

        impl Permission {
            /// Every one.
            pub const ALL: &'static [Permission] = &[$(Permission::$variant,)*];
            /// As in GRANT, and `permission_name`.
            pub fn name(self) -> &'static str { match self { $(Permission::$variant => $name,)* } }
            /// `type`: up to four letters.
            pub fn code(self) -> &'static str { match self { $(Permission::$variant => $code,)* } }
            /// As stored.
            pub fn number(self) -> i16 { self as i16 }
        }
    };
}

permissions! {
    Control = 1, "CONTROL", "CL",
    Alter = 2, "ALTER", "AL",
    TakeOwnership = 3, "TAKE OWNERSHIP", "TO",
    Impersonate = 4, "IMPERSONATE", "IM",
    ViewDefinition = 5, "VIEW DEFINITION", "VW",
    Select = 6, "SELECT", "SL",
    Insert = 7, "INSERT", "IN",
    Update = 8, "UPDATE", "UP",
    Delete = 9, "DELETE", "DL",
    References = 10, "REFERENCES", "RF",
    Execute = 11, "EXECUTE", "EX",
    ViewChangeTracking = 12, "VIEW CHANGE TRACKING", "VWCT",
    Connect = 20, "CONNECT", "CO",
    CreateTable = 21, "CREATE TABLE", "CRTB",
    CreateProcedure = 22, "CREATE PROCEDURE", "CRPR",
    CreateView = 23, "CREATE VIEW", "CRVW",
    CreateFunction = 24, "CREATE FUNCTION", "CRFN",
    CreateSchema = 25, "CREATE SCHEMA", "CRSM",
    CreateRole = 26, "CREATE ROLE", "CRRL",
    CreateType = 27, "CREATE TYPE", "CRTY",
    AlterAnyUser = 28, "ALTER ANY USER", "ALUS",
    AlterAnyRole = 29, "ALTER ANY ROLE", "ALRL",
    AlterAnySchema = 30, "ALTER ANY SCHEMA", "ALSM",
    ViewDatabaseState = 31, "VIEW DATABASE STATE", "VWDS",
    BackupDatabase = 32, "BACKUP DATABASE", "BADB",
    BackupLog = 33, "BACKUP LOG", "BALO",
    Checkpoint = 34, "CHECKPOINT", "CP",
    ShowPlan = 35, "SHOWPLAN", "SPLN",
    Unmask = 36, "UNMASK", "UMSK",
    AlterAnyMask = 37, "ALTER ANY MASK", "AAMK",
    CreateDefault = 38, "CREATE DEFAULT", "CRDF",
    CreateRule = 39, "CREATE RULE", "CRRU",
    AlterAnyDatabaseDdlTrigger = 40, "ALTER ANY DATABASE DDL TRIGGER", "ALTG",
    AlterAnyApplicationRole = 41, "ALTER ANY APPLICATION ROLE", "ALAR",
    CreateXmlSchemaCollection = 42, "CREATE XML SCHEMA COLLECTION", "CRXS",
    CreateFulltextCatalog = 43, "CREATE FULLTEXT CATALOG", "CRFT",
    AlterAnyDatabaseAudit = 44, "ALTER ANY DATABASE AUDIT", "ALDA",
    CreateSynonym = 45, "CREATE SYNONYM", "CRSN",
    AlterAnySecurityPolicy = 46, "ALTER ANY SECURITY POLICY", "ALSP",
    AlterAnyDataspace = 47, "ALTER ANY DATASPACE", "ALDS",
    AlterAnyDatabaseScopedConfiguration = 48, "ALTER ANY DATABASE SCOPED CONFIGURATION", "ALDC",
    AlterAnySensitivityClassification = 49, "ALTER ANY SENSITIVITY CLASSIFICATION", "AASC",
    ConnectSql = 50, "CONNECT SQL", "COSQ",
    ControlServer = 51, "CONTROL SERVER", "CL",
    ViewServerState = 52, "VIEW SERVER STATE", "VWSS",
    AlterServerState = 53, "ALTER SERVER STATE", "ALSS",
    AlterSettings = 54, "ALTER SETTINGS", "ALST",
    AlterAnyLogin = 55, "ALTER ANY LOGIN", "ALLG",
    AlterAnyDatabase = 56, "ALTER ANY DATABASE", "ALDB",
    AlterAnyServerRole = 57, "ALTER ANY SERVER ROLE", "ALSR",
    AlterAnyConnection = 58, "ALTER ANY CONNECTION", "ALCO",
    AlterTrace = 59, "ALTER TRACE", "ALTR",
    CreateAnyDatabase = 60, "CREATE ANY DATABASE", "CRDB",
    ViewAnyDatabase = 61, "VIEW ANY DATABASE", "VWDB",
    ViewAnyDefinition = 62, "VIEW ANY DEFINITION", "VWAD",
    ConnectAnyDatabase = 63, "CONNECT ANY DATABASE", "CADB",
    SelectAllUserSecurables = 64, "SELECT ALL USER SECURABLES", "SUS",
    ImpersonateAnyLogin = 65, "IMPERSONATE ANY LOGIN", "IAL",
    AdministerBulkOperations = 66, "ADMINISTER BULK OPERATIONS", "ADBO",
    Shutdown = 67, "SHUTDOWN", "SHDN",
    ViewAnyErrorLog = 68, "VIEW ANY ERROR LOG", "VAEL",
    AlterAnyServerAudit = 69, "ALTER ANY SERVER AUDIT", "ALAA",
    CreateSequence = 200, "CREATE SEQUENCE", "CRSO",
    ViewAnySensitivityClassification = 201, "VIEW ANY SENSITIVITY CLASSIFICATION", "VASC",
}

use Permission::*;

/// What can be granted on an object. EXECUTE is a procedure's; the rest a table's or a view's, but for the general ones.
const ON_OBJECT: &[Permission] = &[
    Control,
    Alter,
    TakeOwnership,
    ViewDefinition,
    Select,
    Insert,
    Update,
    Delete,
    References,
    Execute,
    ViewChangeTracking,
    Unmask,
];
/// What can be granted on single columns.
const ON_COLUMN: &[Permission] = &[Select, Update, References, Unmask];
/// And on a type of a user's.
const ON_TYPE: &[Permission] = &[Control, TakeOwnership, ViewDefinition, References, Execute];
/// And on a collection of XML schemas.
const ON_XML_SCHEMAS: &[Permission] =
    &[Control, Alter, TakeOwnership, ViewDefinition, References, Execute];
const ON_PRINCIPAL: &[Permission] = &[Control, Alter, TakeOwnership, Impersonate, ViewDefinition];

impl Permission {
    /// By its name, in capitals with single spaces; EXEC and ALL are the parser's matter.
    pub fn by_name(name: &str) -> Option<Permission> {
        Permission::ALL.iter().copied().find(|p| p.name() == name)
    }

    /// As stored.
    pub fn from_number(number: i16) -> Option<Permission> {
        Permission::ALL.iter().copied().find(|p| p.number() == number)
    }

    /// Can it be granted on this class?
    pub fn applies_to(self, class: Class) -> bool {
        match class {
            Class::Object => ON_OBJECT.contains(&self),
            Class::Schema => ON_OBJECT.contains(&self) || self == CreateSequence,
            Class::Column => ON_COLUMN.contains(&self),
            Class::Type => ON_TYPE.contains(&self),
            Class::XmlSchemas => ON_XML_SCHEMAS.contains(&self),
            Class::User | Class::Login => ON_PRINCIPAL.contains(&self),
            Class::Server => {
                (ConnectSql.number()..CreateSequence.number()).contains(&self.number())
            }
            Class::Database => {
                (ON_OBJECT.contains(&self) && self != ViewChangeTracking)
                    || (Connect.number()..ConnectSql.number()).contains(&self.number())
                    || self == ViewAnySensitivityClassification
            }
        }
    }

    /// The one on the same class that implies it.
    pub fn covering(self, class: Class) -> Option<Permission> {
        match (class, self) {
            (Class::Server, ControlServer) => None,
            (Class::Server, ViewAnyDatabase) => Some(ViewAnyDefinition),
            (Class::Server, CreateAnyDatabase) => Some(AlterAnyDatabase),
            (Class::Server, ViewServerState) => Some(AlterServerState),
            (Class::Server, _) => Some(ControlServer),
            (Class::Column, _) => None,
            (_, Control) => None,
            (Class::Database, CreateSchema) => Some(AlterAnySchema),
            (Class::Database, CreateRole) => Some(AlterAnyRole),
            (
                Class::Database,
                AlterAnyUser
                | AlterAnyApplicationRole
                | AlterAnyRole
                | AlterAnySchema
                | CreateTable
                | CreateProcedure
                | CreateView
                | CreateFunction
                | CreateType
                | CreateXmlSchemaCollection
                | CreateFulltextCatalog
                | CreateDefault
                | CreateRule
                | CreateSynonym
                | AlterAnyDataspace
                | Checkpoint
                | AlterAnyDatabaseDdlTrigger
                | AlterAnySensitivityClassification,
            ) => Some(Alter),
            (Class::Schema, CreateSequence) => Some(Alter),
            (_, _) => Some(Control),
        }
    }

    /// The one on the parent's class that implies it: (parent's class, permission).
    pub fn parent_covering(self, class: Class) -> Option<(Class, Permission)> {
        match class {
            Class::Server => None,
            Class::Column => Some((Class::Object, self)),
            Class::Object => Some((Class::Schema, self)),
            Class::Type | Class::XmlSchemas => Some((
                Class::Schema,
                match self {
                    TakeOwnership => Control,
                    other => other,
                },
            )),
            Class::Schema => Some((
                Class::Database,
                match self {
                    Alter | CreateSequence => AlterAnySchema,
                    TakeOwnership => Control,
                    ViewChangeTracking => Control,
                    other => other,
                },
            )),
            Class::User => Some((
                Class::Database,
                match self {
                    // A role's is ALTER ANY ROLE, an application role's its own; see `Securable::Principal` in `access.rs`.
                    Alter => AlterAnyUser,
                    ViewDefinition => ViewDefinition,
                    _ => Control,
                },
            )),
            Class::Login => Some((
                Class::Server,
                match self {
                    Alter => AlterAnyLogin,
                    Impersonate => ImpersonateAnyLogin,
                    ViewDefinition => ViewAnyDefinition,
                    _ => ControlServer,
                },
            )),
            Class::Database => Some((
                Class::Server,
                match self {
                    Alter => AlterAnyDatabase,
                    ViewDefinition => ViewAnyDefinition,
                    ViewDatabaseState => ViewServerState,
                    Connect => ConnectAnyDatabase,
                    Select => SelectAllUserSecurables,
                    ShowPlan => AlterTrace,
                    AlterAnyDatabaseAudit => AlterAnyServerAudit,
                    _ => ControlServer,
                },
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_permission_leads_to_control_server() {
        let classes = [
            Class::Server,
            Class::Login,
            Class::Database,
            Class::Schema,
            Class::Object,
            Class::Column,
            Class::Type,
            Class::XmlSchemas,
            Class::User,
        ];
        for class in classes {
            for permission in Permission::ALL.iter().filter(|p| p.applies_to(class)) {
                let (mut at, mut here, mut steps) = (*permission, class, 0);
                loop {
                    assert!(
                        at.applies_to(here),
                        "{permission:?} of {class:?}: {at:?} is not of {here:?}"
                    );
                    steps += 1;
                    assert!(steps < 12, "{permission:?} of {class:?} goes in a circle");
                    match (at.covering(here), at.parent_covering(here)) {
                        (Some(up), _) => at = up,
                        (None, Some((parent, up))) => (here, at) = (parent, up),
                        (None, None) => break,
                    }
                }
                assert_eq!(
                    (here, at),
                    (Class::Server, ControlServer),
                    "{permission:?} of {class:?}"
                );
            }
        }
    }

    #[test]
    fn parents_cover_with_something_they_have() {
        use Class::*;
        for class in [Login, Database, Schema, Object, Column, Type, User] {
            for permission in Permission::ALL.iter().filter(|p| p.applies_to(class)) {
                let (parent, covering) = permission.parent_covering(class).unwrap();
                assert!(covering.applies_to(parent), "{permission:?} of {class:?}: {covering:?}");
            }
        }
    }

    #[test]
    fn names_and_numbers_are_unlike() {
        let names: BTreeSet<_> = Permission::ALL.iter().map(|p| p.name()).collect();
        let numbers: BTreeSet<_> = Permission::ALL.iter().map(|p| p.number()).collect();
        assert_eq!((names.len(), numbers.len()), (Permission::ALL.len(), Permission::ALL.len()));
        for permission in Permission::ALL {
            assert_eq!(Permission::by_name(permission.name()), Some(*permission));
            assert_eq!(Permission::from_number(permission.number()), Some(*permission));
        }
    }
}
