//! What can be granted on each class, and which permission implies which: SQL Server 2022's sys.fn_builtin_permissions,
//! a line for a row.
//!
//! `CREATE TABLE: ALTER, CONTROL SERVER` says that ALTER on the database implies CREATE TABLE there, and so does
//! CONTROL SERVER on the server that the database lies in; `-` is NULL. Sources: the tables of "Permissions (Database
//! Engine)" (parents) and of GRANT Server and GRANT Database Permissions (what covers on the same class). Where the
//! first says less than the permissions' own descriptions do (CONNECT ANY DATABASE, SELECT ALL USER SECURABLES,
//! IMPERSONATE ANY LOGIN), the descriptions are followed. What is not said there of what SQL Server 2022 brought is
//! CONTROL.

use super::{Class, Permission};
use Permission::*;

/// A permission on a class.
struct Row {
    permission: Permission,
    /// Implies it on the same class.
    covering: Option<Permission>,
    /// Implies it on the class that this one lies in.
    parent: Option<Permission>,
}

macro_rules! rows {
    ($($permission:ident: $covering:tt, $parent:tt;)*) => {
        &[$(Row {
            permission: $permission,
            covering: rows!(@ $covering),
            parent: rows!(@ $parent),
        },)*]
    };
    (@ -) => { None };
    (@ $permission:ident) => { Some($permission) };
}

const SERVER: &[Row] = rows! {
    ConnectSql: ControlServer, -;
    Shutdown: ControlServer, -;
    CreateEndpoint: AlterAnyEndpoint, -;
    CreateAnyDatabase: AlterAnyDatabase, -;
    CreateAvailabilityGroup: AlterAnyAvailabilityGroup, -;
    CreateLogin: AlterAnyLogin, -;
    AlterAnyLogin: ControlServer, -;
    AlterAnyCredential: ControlServer, -;
    AlterAnyEndpoint: ControlServer, -;
    AlterAnyLinkedServer: ControlServer, -;
    AlterAnyConnection: ControlServer, -;
    AlterAnyDatabase: ControlServer, -;
    AlterResources: ControlServer, -;
    AlterSettings: ControlServer, -;
    AlterTrace: ControlServer, -;
    AlterAnyAvailabilityGroup: ControlServer, -;
    AdministerBulkOperations: ControlServer, -;
    AuthenticateServer: ControlServer, -;
    ExternalAccessAssembly: UnsafeAssembly, -;
    ViewAnyDatabase: ViewAnyDefinition, -;
    ViewAnySecurityDefinition: ViewAnyDefinition, -;
    ViewAnyPerformanceDefinition: ViewAnyDefinition, -;
    ViewAnyDefinition: ControlServer, -;
    ViewAnyCryptographicallySecuredDefinition: ControlServer, -;
    ViewServerPerformanceState: ViewServerState, -;
    ViewServerSecurityState: ViewServerState, -;
    ViewServerState: AlterServerState, -;
    CreateDdlEventNotification: AlterAnyEventNotification, -;
    CreateTraceEventNotification: AlterAnyEventNotification, -;
    AlterAnyEventNotification: ControlServer, -;
    AlterServerState: ControlServer, -;
    UnsafeAssembly: ControlServer, -;
    AlterAnyServerAudit: ControlServer, -;
    CreateServerRole: AlterAnyServerRole, -;
    AlterAnyServerRole: ControlServer, -;
    CreateAnyEventSession: AlterAnyEventSession, -;
    DropAnyEventSession: AlterAnyEventSession, -;
    AlterAnyEventSessionOption: AlterAnyEventSession, -;
    AlterAnyEventSessionAddEvent: AlterAnyEventSession, -;
    AlterAnyEventSessionDropEvent: AlterAnyEventSession, -;
    AlterAnyEventSessionEnable: AlterAnyEventSession, -;
    AlterAnyEventSessionDisable: AlterAnyEventSession, -;
    AlterAnyEventSessionAddTarget: AlterAnyEventSession, -;
    AlterAnyEventSessionDropTarget: AlterAnyEventSession, -;
    AlterAnyEventSession: ControlServer, -;
    ConnectAnyDatabase: ControlServer, -;
    ImpersonateAnyLogin: ControlServer, -;
    SelectAllUserSecurables: ControlServer, -;
    ViewAnyErrorLog: ControlServer, -;
    ViewServerSecurityAudit: ControlServer, -;
    ControlServer: -, -;
};

/// A login, and a server role but for what [`Permission::parent_covering`] leaves to the role.
const LOGIN: &[Row] = rows! {
    Impersonate: Control, ImpersonateAnyLogin;
    ViewDefinition: Control, ViewAnyDefinition;
    Alter: Control, AlterAnyLogin;
    TakeOwnership: Control, ControlServer;
    Control: -, ControlServer;
};

const DATABASE: &[Row] = rows! {
    CreateTable: Alter, ControlServer;
    CreateView: Alter, ControlServer;
    CreateProcedure: Alter, ControlServer;
    CreateFunction: Alter, ControlServer;
    CreateRule: Alter, ControlServer;
    CreateDefault: Alter, ControlServer;
    BackupDatabase: Control, ControlServer;
    BackupLog: Control, ControlServer;
    CreateDatabase: Control, CreateAnyDatabase;
    CreateType: Alter, ControlServer;
    CreateAssembly: AlterAnyAssembly, ControlServer;
    CreateXmlSchemaCollection: Alter, ControlServer;
    CreateSchema: AlterAnySchema, ControlServer;
    CreateSynonym: Alter, ControlServer;
    CreateAggregate: Alter, ControlServer;
    CreateRole: AlterAnyRole, ControlServer;
    CreateMessageType: AlterAnyMessageType, ControlServer;
    CreateService: AlterAnyService, ControlServer;
    CreateContract: AlterAnyContract, ControlServer;
    CreateRemoteServiceBinding: AlterAnyRemoteServiceBinding, ControlServer;
    CreateRoute: AlterAnyRoute, ControlServer;
    CreateQueue: Alter, ControlServer;
    CreateSymmetricKey: AlterAnySymmetricKey, ControlServer;
    CreateAsymmetricKey: AlterAnyAsymmetricKey, ControlServer;
    CreateFulltextCatalog: AlterAnyFulltextCatalog, ControlServer;
    CreateCertificate: AlterAnyCertificate, ControlServer;
    CreateDatabaseDdlEventNotification: AlterAnyDatabaseEventNotification, CreateDdlEventNotification;
    CreateUser: AlterAnyUser, ControlServer;
    CreateExternalLanguage: Control, ControlServer;
    CreateExternalLibrary: Control, ControlServer;
    CreateAnyDatabaseEventSession: AlterAnyDatabaseEventSession, CreateAnyEventSession;
    Connect: ConnectReplication, ConnectAnyDatabase;
    ConnectReplication: Control, ControlServer;
    Checkpoint: Control, ControlServer;
    SubscribeQueryNotifications: Control, ControlServer;
    Authenticate: Control, AuthenticateServer;
    ShowPlan: Control, AlterTrace;
    AlterAnyUser: Alter, ControlServer;
    AlterAnyRole: Alter, ControlServer;
    AlterAnyApplicationRole: Alter, ControlServer;
    AlterAnyColumnEncryptionKey: Alter, ControlServer;
    AlterAnyColumnMasterKey: Alter, ControlServer;
    AlterAnySchema: Alter, ControlServer;
    AlterAnyAssembly: Alter, ControlServer;
    AlterAnyDatabaseScopedConfiguration: Control, ControlServer;
    AlterAnyDataspace: Alter, ControlServer;
    AlterAnyExternalDataSource: Alter, ControlServer;
    AlterAnyExternalFileFormat: Alter, ControlServer;
    AlterAnyExternalJob: Control, ControlServer;
    AlterAnyExternalLanguage: Control, ControlServer;
    AlterAnyExternalLibrary: Control, ControlServer;
    AlterAnyExternalStream: Control, ControlServer;
    AlterAnyMessageType: Alter, ControlServer;
    AlterAnyContract: Alter, ControlServer;
    AlterAnyService: Alter, ControlServer;
    AlterAnyRemoteServiceBinding: Alter, ControlServer;
    AlterAnyRoute: Alter, ControlServer;
    AlterAnyFulltextCatalog: Alter, ControlServer;
    AlterAnySymmetricKey: Alter, ControlServer;
    AlterAnyAsymmetricKey: Alter, ControlServer;
    AlterAnyCertificate: Alter, ControlServer;
    AlterAnySecurityPolicy: Control, ControlServer;
    AlterAnySensitivityClassification: Control, ControlServer;
    AlterAnyMask: Control, ControlServer;
    AlterAnyDatabaseDdlTrigger: Alter, ControlServer;
    AlterAnyDatabaseEventNotification: Alter, AlterAnyEventNotification;
    AlterAnyDatabaseAudit: Alter, AlterAnyServerAudit;
    AlterAnyDatabaseEventSessionOption: AlterAnyDatabaseEventSession, AlterAnyEventSessionOption;
    AlterAnyDatabaseEventSessionAddEvent: AlterAnyDatabaseEventSession, AlterAnyEventSessionAddEvent;
    AlterAnyDatabaseEventSessionDropEvent: AlterAnyDatabaseEventSession, AlterAnyEventSessionDropEvent;
    AlterAnyDatabaseEventSessionEnable: AlterAnyDatabaseEventSession, AlterAnyEventSessionEnable;
    AlterAnyDatabaseEventSessionDisable: AlterAnyDatabaseEventSession, AlterAnyEventSessionDisable;
    AlterAnyDatabaseEventSessionAddTarget: AlterAnyDatabaseEventSession, AlterAnyEventSessionAddTarget;
    AlterAnyDatabaseEventSessionDropTarget: AlterAnyDatabaseEventSession, AlterAnyEventSessionDropTarget;
    AlterAnyDatabaseEventSession: Alter, AlterAnyEventSession;
    DropAnyDatabaseEventSession: AlterAnyDatabaseEventSession, DropAnyEventSession;
    KillDatabaseConnection: Control, AlterAnyConnection;
    AdministerDatabaseBulkOperations: Control, ControlServer;
    ExecuteAnyExternalScript: Control, ControlServer;
    ExecuteAnyExternalEndpoint: Control, ControlServer;
    AlterLedger: Control, ControlServer;
    AlterLedgerConfiguration: Control, ControlServer;
    EnableLedger: Control, ControlServer;
    ViewLedgerContent: Control, ControlServer;
    ViewDatabasePerformanceState: ViewDatabaseState, ViewServerPerformanceState;
    ViewDatabaseSecurityState: ViewDatabaseState, ViewServerSecurityState;
    ViewDatabaseState: Control, ViewServerState;
    ViewDatabaseSecurityAudit: Control, ControlServer;
    ViewAnyColumnEncryptionKeyDefinition: Control, ViewServerState;
    ViewAnyColumnMasterKeyDefinition: Control, ViewServerState;
    ViewAnySensitivityClassification: Control, ControlServer;
    ViewCryptographicallySecuredDefinition: Control, ViewAnyCryptographicallySecuredDefinition;
    ViewPerformanceDefinition: ViewDefinition, ViewAnyPerformanceDefinition;
    ViewSecurityDefinition: ViewDefinition, ViewAnySecurityDefinition;
    ViewDefinition: Control, ViewAnyDefinition;
    Select: Control, SelectAllUserSecurables;
    Insert: Control, ControlServer;
    Update: Control, ControlServer;
    Delete: Control, ControlServer;
    Execute: Control, ControlServer;
    References: Control, ControlServer;
    Unmask: Control, ControlServer;
    TakeOwnership: Control, ControlServer;
    Alter: Control, AlterAnyDatabase;
    Control: -, ControlServer;
};

const SCHEMA: &[Row] = rows! {
    Select: Control, Select;
    Insert: Control, Insert;
    Update: Control, Update;
    Delete: Control, Delete;
    Execute: Control, Execute;
    References: Control, References;
    ViewChangeTracking: Control, Control;
    Unmask: Control, Unmask;
    CreateSequence: Alter, AlterAnySchema;
    ViewDefinition: Control, ViewDefinition;
    Alter: Control, AlterAnySchema;
    TakeOwnership: Control, Control;
    Control: -, Control;
};

/// EXECUTE is a procedure's, RECEIVE a queue's; the rest a table's or a view's, but for the general ones.
const OBJECT: &[Row] = rows! {
    Select: Control, Select;
    Insert: Control, Insert;
    Update: Control, Update;
    Delete: Control, Delete;
    Execute: Control, Execute;
    Receive: Control, Control;
    References: Control, References;
    ViewChangeTracking: Control, ViewChangeTracking;
    Unmask: Control, Unmask;
    ViewDefinition: Control, ViewDefinition;
    Alter: Control, Alter;
    TakeOwnership: Control, Control;
    Control: -, Control;
};

/// Of single columns, which SQL Server has no rows for.
const COLUMN: &[Row] = rows! {
    Select: -, Select;
    Update: -, Update;
    References: -, References;
    Unmask: -, Unmask;
};

const TYPE: &[Row] = rows! {
    References: Control, References;
    Execute: Control, Execute;
    ViewDefinition: Control, ViewDefinition;
    TakeOwnership: Control, Control;
    Control: -, Control;
};

const XML_SCHEMAS: &[Row] = rows! {
    References: Control, References;
    Execute: Control, Execute;
    ViewDefinition: Control, ViewDefinition;
    Alter: Control, Alter;
    TakeOwnership: Control, Control;
    Control: -, Control;
};

/// A user; and a role and an application role, of which ALTER is implied by a permission of their own: see
/// `Target::Principal` in `access.rs`.
const USER: &[Row] = rows! {
    Impersonate: Control, Control;
    ViewDefinition: Control, ViewDefinition;
    Alter: Control, AlterAnyUser;
    TakeOwnership: Control, Control;
    Control: -, Control;
};

impl Class {
    fn rows(self) -> &'static [Row] {
        match self {
            Class::Server => SERVER,
            Class::Login => LOGIN,
            Class::Database => DATABASE,
            Class::Schema => SCHEMA,
            Class::Object => OBJECT,
            Class::Column => COLUMN,
            Class::Type => TYPE,
            Class::XmlSchemas => XML_SCHEMAS,
            Class::User => USER,
        }
    }

    /// What can be granted on it.
    pub fn permissions(self) -> impl Iterator<Item = Permission> {
        self.rows().iter().map(|row| row.permission)
    }

    /// The class that it lies in.
    pub fn parent(self) -> Option<Class> {
        match self {
            Class::Server => None,
            Class::Login | Class::Database => Some(Class::Server),
            Class::Schema | Class::User => Some(Class::Database),
            Class::Object | Class::Type | Class::XmlSchemas => Some(Class::Schema),
            Class::Column => Some(Class::Object),
        }
    }
}

impl Permission {
    fn row(self, class: Class) -> Option<&'static Row> {
        class.rows().iter().find(|row| row.permission == self)
    }

    /// Can it be granted on this class?
    pub fn applies_to(self, class: Class) -> bool {
        self.row(class).is_some()
    }

    /// The one on the same class that implies it.
    pub fn covering(self, class: Class) -> Option<Permission> {
        self.row(class)?.covering
    }

    /// The one on the parent's class that implies it: (parent's class, permission).
    pub fn parent_covering(self, class: Class) -> Option<(Class, Permission)> {
        Some((class.parent()?, self.row(class)?.parent?))
    }
}
