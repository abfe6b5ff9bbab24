//! The lattice, case by case.

use super::*;
use crate::directory::{GrantState::*, Principal, PrincipalKind, SchemaDef};
use Permission::*;

const TABLE: Target = Target::Object { id: 1_000_001, schema: 1, owner: None };
const SALES: Target = Target::Object { id: 1_000_002, schema: 7, owner: None };

/// A database with the users ann (5) and ben (6), the roles readers (10) and staff (11), the schema sales (7) that ben
/// owns; a server with their logins (300, 301).
struct Kit {
    server: Directory,
    database: Directory,
}

impl Kit {
    fn new() -> Kit {
        let mut server = Directory::server();
        let mut database = Directory::database(&crate::SA_SID);
        for (login, user, name) in [(300, 5, "ann"), (301, 6, "ben")] {
            let mut principal = Principal::new(login, name, PrincipalKind::User, login);
            principal.sid = Some([login as u8; 16].into());
            server.put(principal);
            server.grant(Securable::Server, login, ConnectSql, Grant, 1);
            let mut principal = Principal::new(user, name, PrincipalKind::User, user);
            principal.sid = Some([login as u8; 16].into());
            database.put(principal);
            database.grant(Securable::Database, user, Connect, Grant, 1);
        }
        for (role, name) in [(10, "readers"), (11, "staff")] {
            database.put(Principal::new(role, name, PrincipalKind::Role, 1));
        }
        database.schemas.insert(7, SchemaDef { id: 7, name: "sales".into(), owner: 6 });
        Kit { server, database }
    }

    fn say(
        &mut self,
        state: GrantState,
        permission: Permission,
        target: Target,
        to: i32,
    ) -> &mut Kit {
        let (securable, server) = target.securable();
        let directory = if server { &mut self.server } else { &mut self.database };
        directory.grant(securable, to, permission, state, 1);
        self
    }

    fn member(&mut self, role: i32, member: i32) -> &mut Kit {
        self.database.members.insert((role, member));
        self
    }

    fn of(&self, login: i32, user: i32) -> Access {
        Access::new(
            Arc::new(self.server.clone()),
            Some(login),
            Arc::new(self.database.clone()),
            user,
        )
    }

    fn ann(&self) -> Access {
        self.of(300, 5)
    }

    fn ben(&self) -> Access {
        self.of(301, 6)
    }
}

#[test]
fn nothing_is_allowed_that_was_not_granted() {
    let mut kit = Kit::new();
    assert!(!kit.ann().allows(Select, TABLE));
    kit.say(Grant, Select, TABLE, 5);
    assert!(kit.ann().allows(Select, TABLE));
    assert!(!kit.ann().allows(Insert, TABLE));
    assert!(!kit.ben().allows(Select, TABLE));
    assert!(kit.ann().sees(TABLE) && !kit.ben().sees(TABLE));
}

#[test]
fn a_denial_beats_every_grant_wherever_they_are() {
    for target in [TABLE, Target::Schema(1), Target::Database] {
        for denied in [TABLE, Target::Schema(1), Target::Database] {
            for (grantee, refused) in [(5, 11), (11, 5), (10, database_role::PUBLIC)] {
                let mut kit = Kit::new();
                kit.member(10, 5).member(11, 10);
                kit.say(Grant, Select, target, grantee);
                assert!(kit.ann().allows(Select, TABLE), "{target:?} {grantee}");
                kit.say(Deny, Select, denied, refused);
                assert!(!kit.ann().allows(Select, TABLE), "{target:?} {denied:?}");
                assert!(!kit.ann().allows(Update, TABLE));
            }
        }
    }
}

#[test]
fn wider_permissions_imply_narrower_ones() {
    for (granted, target) in [
        (Control, TABLE),
        (Select, Target::Schema(1)),
        (Control, Target::Schema(1)),
        (Select, Target::Database),
        (Control, Target::Database),
    ] {
        let mut kit = Kit::new();
        kit.say(Grant, granted, target, 5);
        assert!(kit.ann().allows(Select, TABLE), "{granted:?} {target:?}");
        assert_eq!(kit.ann().allows(Delete, TABLE), granted == Control, "{granted:?} {target:?}");
    }
    let mut kit = Kit::new();
    kit.say(Grant, Alter, Target::Database, 5);
    assert!(kit.ann().allows(CreateTable, Target::Database));
    assert!(kit.ann().allows(Alter, Target::Principal(10)), "through ALTER ANY ROLE");
    assert!(kit.ann().allows(Alter, TABLE), "through ALTER ANY SCHEMA");
    assert!(!kit.ann().allows(Select, TABLE));
    let mut kit = Kit::new();
    kit.say(Grant, AlterAnyUser, Target::Database, 5);
    assert!(kit.ann().allows(Alter, Target::Principal(6)));
    assert!(!kit.ann().allows(Alter, Target::Principal(10)), "a role");
}

#[test]
fn denying_control_denies_all() {
    let mut kit = Kit::new();
    kit.say(Grant, Select, TABLE, 5).say(Deny, Control, Target::Schema(1), 5);
    assert!(!kit.ann().allows(Select, TABLE));
}

#[test]
fn roles_nest_and_may_meet_again() {
    let mut kit = Kit::new();
    kit.member(10, 5).member(11, 10).member(11, 5).say(Grant, Execute, TABLE, 11);
    assert!(kit.ann().allows(Execute, TABLE));
    assert!(!kit.ben().allows(Execute, TABLE));
}

#[test]
fn owners_are_not_asked() {
    let mut kit = Kit::new();
    kit.say(Deny, Select, Target::Schema(7), database_role::PUBLIC);
    assert!(kit.ben().allows(Select, SALES), "ben owns the schema");
    assert!(kit.ben().allows(Alter, Target::Schema(7)));
    assert!(!kit.ann().allows(Select, SALES));
    let own = Target::Object { id: 9, schema: 7, owner: Some(5) };
    assert!(kit.ann().allows(Delete, own), "ann owns the object");
    assert!(kit.ann().owns(own) && !kit.ben().owns(own));
}

#[test]
fn dbo_and_sysadmin_are_unlimited() {
    let mut kit = Kit::new();
    kit.say(Deny, Control, Target::Database, database_role::PUBLIC);
    let dbo = kit.of(300, database_role::DBO);
    assert!(dbo.is_unlimited() && dbo.allows(Delete, SALES));
    assert!(!dbo.allows(ViewServerState, Target::Server), "not at the server");
    kit.server.members.insert((server_role::SYSADMIN, 300));
    assert!(kit.ann().is_unlimited() && kit.ann().allows(Shutdown, Target::Server));
}

#[test]
fn fixed_roles() {
    let cases = [
        (database_role::DATAREADER, Select, TABLE, true),
        (database_role::DATAREADER, Insert, TABLE, false),
        (database_role::DATAWRITER, Delete, SALES, true),
        (database_role::DATAWRITER, Select, TABLE, false),
        (database_role::DDLADMIN, CreateTable, Target::Database, true),
        (database_role::DDLADMIN, Alter, TABLE, true),
        (database_role::DDLADMIN, Select, TABLE, false),
        (database_role::OWNER, Select, TABLE, true),
        (database_role::OWNER, AlterAnyUser, Target::Database, true),
        (database_role::ACCESSADMIN, Alter, Target::Principal(6), true),
        (database_role::SECURITYADMIN, Alter, Target::Principal(10), true),
        (database_role::SECURITYADMIN, Select, TABLE, false),
        (database_role::BACKUPOPERATOR, BackupLog, Target::Database, true),
    ];
    for (role, permission, target, expected) in cases {
        let mut kit = Kit::new();
        kit.member(role, 5);
        assert_eq!(kit.ann().allows(permission, target), expected, "{role} {permission:?}");
    }
    let mut kit = Kit::new();
    kit.member(database_role::DATAREADER, 5).member(database_role::DENYDATAREADER, 5);
    assert!(!kit.ann().allows(Select, TABLE));
    kit.member(database_role::OWNER, 6).member(database_role::DENYDATAWRITER, 6);
    assert!(kit.ben().allows(Select, TABLE) && !kit.ben().allows(Update, TABLE));
    let cases = [
        (server_role::SECURITYADMIN, AlterAnyLogin, true),
        (server_role::SECURITYADMIN, ControlServer, false),
        (server_role::DBCREATOR, CreateAnyDatabase, true),
        (server_role::PROCESSADMIN, AlterAnyConnection, true),
        (server_role::SERVERADMIN, AlterSettings, true),
        (server_role::SERVERADMIN, AlterAnyLogin, false),
        (server_role::SETUPADMIN, AlterAnyLinkedServer, true),
        (server_role::DISKADMIN, AlterResources, true),
        (server_role::SERVER_STATE_READER, ViewServerSecurityState, true),
        (server_role::SERVER_STATE_READER, AlterServerState, false),
        (server_role::SERVER_STATE_MANAGER, AlterServerState, true),
        (server_role::SERVER_STATE_MANAGER, ViewServerPerformanceState, true),
        (server_role::SERVER_PERFORMANCE_STATE_READER, ViewServerPerformanceState, true),
        (server_role::SERVER_PERFORMANCE_STATE_READER, ViewServerSecurityState, false),
        (server_role::SERVER_SECURITY_STATE_READER, ViewServerSecurityState, true),
        (server_role::SERVER_SECURITY_STATE_READER, ViewServerState, false),
        (server_role::DEFINITION_READER, ViewAnySecurityDefinition, true),
        (server_role::DEFINITION_READER, ViewAnyCryptographicallySecuredDefinition, false),
        (server_role::SECURITY_DEFINITION_READER, ViewAnySecurityDefinition, true),
        (server_role::SECURITY_DEFINITION_READER, ViewAnyDefinition, false),
        (server_role::PERFORMANCE_DEFINITION_READER, ViewAnyPerformanceDefinition, true),
        (server_role::DATABASE_CONNECTOR, ConnectAnyDatabase, true),
        (server_role::DATABASE_MANAGER, CreateAnyDatabase, true),
        (server_role::LOGIN_MANAGER, CreateLogin, true),
        (server_role::LOGIN_MANAGER, AlterAnyServerRole, false),
    ];
    for (role, permission, expected) in cases {
        let mut kit = Kit::new();
        kit.server.members.insert((role, 300));
        assert_eq!(kit.ann().allows(permission, Target::Server), expected, "{role} {permission:?}");
    }
}

/// The roles of SQL Server 2022 reach into databases, and give nothing on.
#[test]
fn what_server_roles_reach_in_a_database() {
    for (role, permission, expected) in [
        (server_role::SERVER_STATE_READER, ViewDatabaseState, true),
        (server_role::SERVER_PERFORMANCE_STATE_READER, ViewDatabasePerformanceState, true),
        (server_role::SERVER_PERFORMANCE_STATE_READER, ViewDatabaseSecurityState, false),
        (server_role::SERVER_SECURITY_STATE_READER, ViewDatabaseSecurityState, true),
        (server_role::DEFINITION_READER, ViewDefinition, true),
        (server_role::SECURITY_DEFINITION_READER, ViewSecurityDefinition, true),
        (server_role::SECURITY_DEFINITION_READER, ViewDefinition, false),
        (server_role::PERFORMANCE_DEFINITION_READER, ViewPerformanceDefinition, true),
        (server_role::DATABASE_CONNECTOR, Connect, true),
        (server_role::DATABASE_MANAGER, Alter, true),
        (server_role::LOGIN_MANAGER, CreateUser, false),
    ] {
        let mut kit = Kit::new();
        kit.server.members.insert((role, 300));
        let ann = kit.ann();
        assert_eq!(ann.allows(permission, Target::Database), expected, "{role} {permission:?}");
        assert!(!ann.may_grant(CreateLogin, Target::Server), "{role}");
    }
    let mut kit = Kit::new();
    kit.server.members.insert((server_role::DATABASE_CONNECTOR, 301));
    kit.database.remove(6);
    assert_eq!(user_of(&kit.server, 301, &kit.database), Some(database_role::GUEST));
}

#[test]
fn a_denial_above_refuses_what_lies_below() {
    let mut kit = Kit::new();
    kit.say(Grant, ViewServerPerformanceState, Target::Server, 300);
    assert!(kit.ann().allows(ViewServerPerformanceState, Target::Server));
    assert!(!kit.ann().allows(ViewServerState, Target::Server));
    assert!(!kit.ann().denies(ViewServerState, Target::Server), "nothing was said of it");
    kit.say(Deny, ViewServerState, Target::Server, 300);
    assert!(!kit.ann().allows(ViewServerPerformanceState, Target::Server));
    assert!(kit.ann().denies(ViewDatabasePerformanceState, Target::Database));
}

#[test]
fn a_server_role_is_altered_by_another_permission_than_a_login() {
    let mut kit = Kit::new();
    kit.server.put(Principal::new(302, "team", PrincipalKind::Role, 1));
    kit.say(Grant, AlterAnyLogin, Target::Server, 300);
    kit.say(Grant, AlterAnyServerRole, Target::Server, 301);
    for (target, ann, ben) in [(Target::Login(301), true, false), (Target::Login(302), false, true)]
    {
        assert_eq!(kit.ann().allows(Alter, target), ann, "{target:?}");
        assert_eq!(kit.ben().allows(Alter, target), ben, "{target:?}");
    }
}

#[test]
fn the_server_covers_its_databases() {
    let mut kit = Kit::new();
    kit.say(Grant, ViewServerState, Target::Server, 300);
    assert!(kit.ann().allows(ViewDatabaseState, Target::Database));
    assert!(!kit.ann().allows(Select, TABLE));
    kit.say(Grant, ControlServer, Target::Server, 300);
    assert!(kit.ann().allows(Select, TABLE));
    kit.say(Deny, Select, Target::Schema(1), 5);
    assert!(!kit.ann().allows(Select, TABLE), "CONTROL SERVER can be denied, sysadmin cannot");
}

#[test]
fn who_may_give_on() {
    let mut kit = Kit::new();
    kit.say(Grant, Select, TABLE, 5);
    assert!(!kit.ann().may_grant(Select, TABLE));
    kit.say(GrantWithGrantOption, Select, TABLE, 5);
    assert!(kit.ann().may_grant(Select, TABLE) && kit.ann().allows(Select, TABLE));
    assert!(!kit.ann().may_grant(Insert, TABLE));
    assert!(kit.ben().may_grant(Insert, SALES), "the owner");
    kit.member(database_role::SECURITYADMIN, 5);
    assert!(kit.ann().may_grant(Insert, TABLE) && !kit.ann().allows(Insert, TABLE));
    kit.server.members.insert((server_role::SECURITYADMIN, 301));
    assert!(kit.ben().may_grant(ViewServerState, Target::Server));
    assert!(!kit.ben().may_grant(ControlServer, Target::Server));
}

#[test]
fn which_user_a_login_is() {
    let mut kit = Kit::new();
    let user = |kit: &Kit, login| user_of(&kit.server, login, &kit.database);
    assert_eq!(user(&kit, 300), Some(5));
    assert_eq!(user(&kit, crate::SA_ID), Some(database_role::DBO));
    kit.say(Deny, Connect, Target::Database, 5);
    assert_eq!(user(&kit, 300), None);
    kit.database.remove(6);
    assert_eq!(user(&kit, 301), None, "guest may not connect");
    kit.say(Grant, Connect, Target::Database, database_role::GUEST);
    assert_eq!(user(&kit, 301), Some(database_role::GUEST));
    kit.server.members.insert((server_role::SYSADMIN, 301));
    assert_eq!(user(&kit, 301), Some(database_role::DBO));
    assert!(may_connect(&Arc::new(kit.server.clone()), 300));
    kit.say(Deny, ConnectSql, Target::Server, 300);
    assert!(!may_connect(&Arc::new(kit.server.clone()), 300));
}
