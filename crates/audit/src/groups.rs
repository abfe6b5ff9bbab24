//! Action groups, actions and classes: what audits are asked for, and the letters that stand for it in records.
//!
//! Promises: every group that SQL Server knows is here, and says whether this server raises it; no two have one name or
//! one id. Sources: SQL Server's documentation, "SQL Server Audit Action Groups and Actions"; the letters are those of
//! sys.dm_audit_actions and sys.dm_audit_class_type_map.

/// In which specifications a group may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupScope {
    Server,
    /// And of databases too.
    Both,
}

/// A group, as it is known by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupFacts {
    pub name: &'static str,
    /// Four letters, blanks at the end.
    pub id: &'static str,
    pub scope: GroupScope,
    /// None: nothing raises it here.
    pub group: Option<Group>,
}

macro_rules! groups {
    (raised $($variant:ident = $name:literal, $id:literal, $scope:ident,)*; refused $($other:literal, $other_id:literal, $other_scope:ident,)*) => {
        /// A group that this server raises. Its bit is its place here.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Group { $($variant,)* }

        /// Every group: those raised first, in the order of [`Group`].
        pub const GROUPS: &[GroupFacts] = &[
            $(GroupFacts { name: $name, id: $id, scope: GroupScope::$scope, group: Some(Group::$variant) },)*
            $(GroupFacts { name: $other, id: $other_id, scope: GroupScope::$other_scope, group: None },)*
        ];
    };
}

groups! {
    raised
    SuccessfulLogin = "SUCCESSFUL_LOGIN_GROUP", "LGSD", Server,
    FailedLogin = "FAILED_LOGIN_GROUP", "LGFL", Server,
    Logout = "LOGOUT_GROUP", "LO  ", Server,
    LoginChangePassword = "LOGIN_CHANGE_PASSWORD_GROUP", "PWCG", Server,
    ServerPrincipalChange = "SERVER_PRINCIPAL_CHANGE_GROUP", "MNSP", Server,
    ServerRoleMemberChange = "SERVER_ROLE_MEMBER_CHANGE_GROUP", "ADSP", Server,
    ServerPermissionChange = "SERVER_PERMISSION_CHANGE_GROUP", "GRSV", Server,
    ServerObjectPermissionChange = "SERVER_OBJECT_PERMISSION_CHANGE_GROUP", "GRSO", Server,
    ServerStateChange = "SERVER_STATE_CHANGE_GROUP", "STSV", Server,
    DatabaseChange = "DATABASE_CHANGE_GROUP", "MNDB", Both,
    DatabaseOwnershipChange = "DATABASE_OWNERSHIP_CHANGE_GROUP", "TODB", Both,
    DatabasePrincipalChange = "DATABASE_PRINCIPAL_CHANGE_GROUP", "MNDP", Both,
    DatabaseRoleMemberChange = "DATABASE_ROLE_MEMBER_CHANGE_GROUP", "ADDP", Both,
    DatabasePermissionChange = "DATABASE_PERMISSION_CHANGE_GROUP", "GRDB", Both,
    DatabaseObjectChange = "DATABASE_OBJECT_CHANGE_GROUP", "MNDO", Both,
    DatabaseObjectPermissionChange = "DATABASE_OBJECT_PERMISSION_CHANGE_GROUP", "GRDO", Both,
    DatabaseObjectOwnershipChange = "DATABASE_OBJECT_OWNERSHIP_CHANGE_GROUP", "TODO", Both,
    SchemaObjectChange = "SCHEMA_OBJECT_CHANGE_GROUP", "MNO ", Both,
    SchemaObjectPermissionChange = "SCHEMA_OBJECT_PERMISSION_CHANGE_GROUP", "GRO ", Both,
    SchemaObjectOwnershipChange = "SCHEMA_OBJECT_OWNERSHIP_CHANGE_GROUP", "TOO ", Both,
    BackupRestore = "BACKUP_RESTORE_GROUP", "BRDB", Both,
    AuditChange = "AUDIT_CHANGE_GROUP", "CNAU", Both,
    Dbcc = "DBCC_GROUP", "DBCG", Both,
    ; refused
    "APPLICATION_ROLE_CHANGE_PASSWORD_GROUP", "PWAR", Both,
    "BATCH_COMPLETED_GROUP", "BCMG", Both,
    "BATCH_STARTED_GROUP", "BSTG", Both,
    "BROKER_LOGIN_GROUP", "LGBG", Server,
    "DATABASE_LOGOUT_GROUP", "DAGL", Both,
    "DATABASE_MIRRORING_LOGIN_GROUP", "LGMG", Server,
    "DATABASE_OBJECT_ACCESS_GROUP", "ACDO", Both,
    "DATABASE_OPERATION_GROUP", "OPDB", Both,
    "DATABASE_PRINCIPAL_IMPERSONATION_GROUP", "IMDP", Both,
    "EXTGOV_OPERATION_GROUP", "EXOP", Both,
    "FAILED_DATABASE_AUTHENTICATION_GROUP", "DAGF", Both,
    "FULLTEXT_GROUP", "FTG ", Server,
    "GLOBAL_TRANSACTIONS_LOGIN_GROUP", "LGGG", Server,
    "LEDGER_OPERATION_GROUP", "LDGR", Both,
    "SCHEMA_OBJECT_ACCESS_GROUP", "ACO ", Both,
    "SENSITIVE_BATCH_COMPLETED_GROUP", "SBCG", Both,
    "SERVER_OBJECT_CHANGE_GROUP", "MNSO", Server,
    "SERVER_OBJECT_OWNERSHIP_CHANGE_GROUP", "TOSO", Server,
    "SERVER_OPERATION_GROUP", "OPSV", Server,
    "SERVER_PRINCIPAL_IMPERSONATION_GROUP", "IMSP", Server,
    "STATEMENT_ROLLBACK_GROUP", "UDTG", Both,
    "SUCCESSFUL_DATABASE_AUTHENTICATION_GROUP", "DAGS", Both,
    "TRACE_CHANGE_GROUP", "TRCG", Server,
    "TRANSACTION_BEGIN_GROUP", "TXBG", Both,
    "TRANSACTION_COMMIT_GROUP", "TXCG", Both,
    "TRANSACTION_GROUP", "TXGR", Both,
    "TRANSACTION_ROLLBACK_GROUP", "TXRG", Both,
    "USER_CHANGE_PASSWORD_GROUP", "UCGP", Both,
    "USER_DEFINED_AUDIT_GROUP", "UDAG", Both,
}

/// A group by its name, in any case.
pub fn group_named(name: &str) -> Option<&'static GroupFacts> {
    GROUPS.iter().find(|group| group.name.eq_ignore_ascii_case(name))
}

impl Group {
    /// A word with its bit alone.
    pub fn bit(self) -> u64 {
        1 << self as u32
    }

    pub fn facts(self) -> &'static GroupFacts {
        &GROUPS[self as usize]
    }
}

/// An action that records name: its letters, its name, and where it may come from: group and class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    pub id: &'static str,
    pub name: &'static str,
    pub class: &'static str,
    pub group: Group,
}

const fn of(id: &'static str, name: &'static str, class: &'static str, group: Group) -> Action {
    Action { id, name, class, group }
}

/// CREATE, ALTER and DROP of a class.
macro_rules! changes {
    ($class:literal, $group:ident) => {
        [
            of("CR  ", "CREATE", $class, Group::$group),
            of("AL  ", "ALTER", $class, Group::$group),
            of("DR  ", "DROP", $class, Group::$group),
        ]
    };
}

/// GRANT, DENY and REVOKE on a class.
macro_rules! grants {
    ($class:literal, $group:ident) => {
        [
            of("G   ", "GRANT", $class, Group::$group),
            of("GWG ", "GRANT WITH GRANT", $class, Group::$group),
            of("D   ", "DENY", $class, Group::$group),
            of("DWC ", "DENY WITH CASCADE", $class, Group::$group),
            of("R   ", "REVOKE", $class, Group::$group),
            of("RWG ", "REVOKE WITH GRANT", $class, Group::$group),
            of("RWC ", "REVOKE WITH CASCADE", $class, Group::$group),
        ]
    };
}

/// Every action that this server writes.
pub const ACTIONS: &[&[Action]] = &[
    &[
        of("LGIS", "LOGIN SUCCEEDED", "LOGIN", Group::SuccessfulLogin),
        of("LGIF", "LOGIN FAILED", "LOGIN", Group::FailedLogin),
        of("LGO ", "LOGOUT", "LOGIN", Group::Logout),
        of("PWC ", "CHANGE PASSWORD", "LOGIN", Group::LoginChangePassword),
        of("PWCS", "CHANGE OWN PASSWORD", "LOGIN", Group::LoginChangePassword),
        of("PWR ", "RESET PASSWORD", "LOGIN", Group::LoginChangePassword),
        of("PWRS", "RESET OWN PASSWORD", "LOGIN", Group::LoginChangePassword),
        of("PWMC", "MUST CHANGE PASSWORD", "LOGIN", Group::LoginChangePassword),
        of("PWU ", "UNLOCK ACCOUNT", "LOGIN", Group::LoginChangePassword),
    ],
    &changes!("LOGIN", ServerPrincipalChange),
    &changes!("SERVER ROLE", ServerPrincipalChange),
    &[
        of("APRL", "ADD MEMBER", "SERVER ROLE", Group::ServerRoleMemberChange),
        of("DPRL", "DROP MEMBER", "SERVER ROLE", Group::ServerRoleMemberChange),
        of("SVSR", "SERVER STARTED", "SERVER", Group::ServerStateChange),
        of("SVSD", "SERVER SHUTDOWN", "SERVER", Group::ServerStateChange),
    ],
    &grants!("SERVER", ServerPermissionChange),
    &grants!("LOGIN", ServerObjectPermissionChange),
    &grants!("SERVER ROLE", ServerObjectPermissionChange),
    &changes!("DATABASE", DatabaseChange),
    &[of("TO  ", "TAKE OWNERSHIP", "DATABASE", Group::DatabaseOwnershipChange)],
    &changes!("USER", DatabasePrincipalChange),
    &changes!("ROLE", DatabasePrincipalChange),
    &changes!("APPLICATION ROLE", DatabasePrincipalChange),
    &[
        of("APRL", "ADD MEMBER", "ROLE", Group::DatabaseRoleMemberChange),
        of("DPRL", "DROP MEMBER", "ROLE", Group::DatabaseRoleMemberChange),
    ],
    &grants!("DATABASE", DatabasePermissionChange),
    &changes!("SCHEMA", DatabaseObjectChange),
    &changes!("DATABASE", DatabaseObjectChange),
    &changes!("FULLTEXT CATALOG", DatabaseObjectChange),
    &grants!("SCHEMA", DatabaseObjectPermissionChange),
    &grants!("USER", DatabaseObjectPermissionChange),
    &grants!("ROLE", DatabaseObjectPermissionChange),
    &[
        of("TO  ", "TAKE OWNERSHIP", "SCHEMA", Group::DatabaseObjectOwnershipChange),
        of("TO  ", "TAKE OWNERSHIP", "ROLE", Group::DatabaseObjectOwnershipChange),
    ],
    &changes!("OBJECT", SchemaObjectChange),
    &[of("TRO ", "TRANSFER", "OBJECT", Group::SchemaObjectChange)],
    &changes!("TYPE", SchemaObjectChange),
    &changes!("XML SCHEMA COLLECTION", SchemaObjectChange),
    &grants!("OBJECT", SchemaObjectPermissionChange),
    &grants!("TYPE", SchemaObjectPermissionChange),
    &grants!("XML SCHEMA COLLECTION", SchemaObjectPermissionChange),
    &[
        of("TO  ", "TAKE OWNERSHIP", "OBJECT", Group::SchemaObjectOwnershipChange),
        of("TO  ", "TAKE OWNERSHIP", "TYPE", Group::SchemaObjectOwnershipChange),
        of("BA  ", "BACKUP", "DATABASE", Group::BackupRestore),
        of("BAL ", "BACKUP LOG", "DATABASE", Group::BackupRestore),
        of("RS  ", "RESTORE", "DATABASE", Group::BackupRestore),
    ],
    &changes!("SERVER AUDIT", AuditChange),
    &changes!("SERVER AUDIT SPECIFICATION", AuditChange),
    &changes!("DATABASE AUDIT SPECIFICATION", AuditChange),
    &[
        of("AUSC", "AUDIT SESSION CHANGED", "SERVER AUDIT", Group::AuditChange),
        of("DBCC", "DBCC", "DATABASE", Group::Dbcc),
    ],
];

/// The first action with these letters.
pub fn action(id: &str) -> Option<&'static Action> {
    ACTIONS.iter().copied().flatten().find(|action| action.id.trim_end() == id.trim_end())
}

/// A class of records: two letters, what it is, and what permissions on it are permissions on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassType {
    pub class: &'static str,
    pub name: &'static str,
    pub securable: &'static str,
}

macro_rules! classes {
    ($($class:literal $name:literal $securable:literal,)*) => {
        /// Every class that records name here.
        pub const CLASSES: &[ClassType] =
            &[$(ClassType { class: $class, name: $name, securable: $securable },)*];
    };
}

classes! {
    "A " "SERVER AUDIT" "SERVER",
    "AR" "APPLICATION ROLE" "APPLICATION ROLE",
    "D " "DEFAULT" "OBJECT",
    "DA" "DATABASE AUDIT SPECIFICATION" "DATABASE",
    "DB" "DATABASE" "DATABASE",
    "DT" "TRIGGER DATABASE" "DATABASE",
    "FC" "FULLTEXT CATALOG" "FULLTEXT CATALOG",
    "FN" "FUNCTION SCALAR SQL" "OBJECT",
    "IF" "FUNCTION TABLE-VALUED INLINE SQL" "OBJECT",
    "IX" "INDEX" "OBJECT",
    "LX" "LOGIN" "LOGIN",
    "OB" "OBJECT" "OBJECT",
    "P " "STORED PROCEDURE" "OBJECT",
    "PF" "PARTITION FUNCTION" "DATABASE",
    "PS" "PARTITION SCHEME" "DATABASE",
    "R " "RULE" "OBJECT",
    "RL" "ROLE" "ROLE",
    "SA" "SERVER AUDIT SPECIFICATION" "SERVER",
    "SC" "SCHEMA" "SCHEMA",
    "SG" "SERVER ROLE" "SERVER ROLE",
    "SL" "SQL LOGIN" "LOGIN",
    "SN" "SYNONYM" "OBJECT",
    "SO" "SEQUENCE OBJECT" "OBJECT",
    "SP" "SECURITY POLICY" "OBJECT",
    "SR" "SERVER" "SERVER",
    "ST" "STATISTICS" "OBJECT",
    "SU" "SQL USER" "USER",
    "SX" "XML SCHEMA COLLECTION" "XML SCHEMA COLLECTION",
    "TF" "FUNCTION TABLE-VALUED SQL" "OBJECT",
    "TR" "TRIGGER" "OBJECT",
    "TY" "TYPE" "TYPE",
    "U " "TABLE" "OBJECT",
    "US" "USER" "USER",
    "V " "VIEW" "OBJECT",
}
