//! The lattice as a graph, its names, and the numbers that old data folders hold.

use super::*;
use Permission::*;
use std::collections::BTreeSet;

const CLASSES: [Class; 9] = [
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

#[test]
fn every_permission_leads_to_control_server() {
    for class in CLASSES {
        for permission in class.permissions() {
            let (mut at, mut here, mut steps) = (permission, class, 0);
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
            assert_eq!((here, at), (Class::Server, ControlServer), "{permission:?} of {class:?}");
        }
    }
}

#[test]
fn parents_cover_with_something_they_have() {
    for class in CLASSES.into_iter().filter(|class| *class != Class::Server) {
        for permission in class.permissions() {
            let (parent, covering) = permission.parent_covering(class).unwrap();
            assert!(covering.applies_to(parent), "{permission:?} of {class:?}: {covering:?}");
        }
    }
}

#[test]
fn every_permission_is_of_a_class_and_once() {
    let mut of_any = BTreeSet::new();
    for class in CLASSES {
        let all: Vec<Permission> = class.permissions().collect();
        let unlike: BTreeSet<Permission> = all.iter().copied().collect();
        assert_eq!(unlike.len(), all.len(), "{class:?} has one twice");
        of_any.extend(unlike);
    }
    assert_eq!(of_any.len(), Permission::ALL.len(), "of no class");
}

#[test]
fn names_and_numbers_are_unlike() {
    let names: BTreeSet<_> = Permission::ALL.iter().map(|p| p.name()).collect();
    let numbers: BTreeSet<_> = Permission::ALL.iter().map(|p| p.number()).collect();
    assert_eq!((names.len(), numbers.len()), (Permission::ALL.len(), Permission::ALL.len()));
    for permission in Permission::ALL {
        assert!((1..1000).contains(&permission.number()), "{permission:?}");
        assert_eq!(Permission::by_name(permission.name()), Some(*permission));
        assert_eq!(Permission::from_number(permission.number()), Some(*permission));
    }
}

/// GRANT without ON takes the scope from the permission's name.
#[test]
fn no_name_is_of_the_server_and_of_a_database() {
    let both: Vec<Permission> =
        Class::Server.permissions().filter(|p| p.applies_to(Class::Database)).collect();
    assert_eq!(both, []);
}

#[test]
fn types_are_unlike_on_one_class() {
    for class in CLASSES {
        let codes: BTreeSet<_> = class.permissions().map(Permission::code).collect();
        assert_eq!(codes.len(), class.permissions().count(), "{class:?}");
        assert!(codes.iter().all(|code| (2..=4).contains(&code.len())), "{class:?}");
    }
}

/// As many as sys.fn_builtin_permissions of SQL Server 2022 has rows of these classes.
#[test]
fn so_many_there_are() {
    let counted = CLASSES.map(|class| class.permissions().count());
    assert_eq!(counted, [51, 5, 105, 13, 13, 4, 5, 6, 5]);
}

/// What folders of earlier versions hold keeps its meaning.
#[test]
fn stored_numbers_are_what_they_were() {
    for (number, name) in [
        (1, "CONTROL"),
        (2, "ALTER"),
        (3, "TAKE OWNERSHIP"),
        (4, "IMPERSONATE"),
        (5, "VIEW DEFINITION"),
        (6, "SELECT"),
        (7, "INSERT"),
        (8, "UPDATE"),
        (9, "DELETE"),
        (10, "REFERENCES"),
        (11, "EXECUTE"),
        (12, "VIEW CHANGE TRACKING"),
        (20, "CONNECT"),
        (21, "CREATE TABLE"),
        (30, "ALTER ANY SCHEMA"),
        (31, "VIEW DATABASE STATE"),
        (36, "UNMASK"),
        (49, "ALTER ANY SENSITIVITY CLASSIFICATION"),
        (50, "CONNECT SQL"),
        (51, "CONTROL SERVER"),
        (52, "VIEW SERVER STATE"),
        (61, "VIEW ANY DATABASE"),
        (69, "ALTER ANY SERVER AUDIT"),
        (100, "ALTER ANY AVAILABILITY GROUP"),
        (119, "CREATE LOGIN"),
        (130, "VIEW SERVER SECURITY STATE"),
        (200, "CREATE SEQUENCE"),
        (202, "RECEIVE"),
        (300, "ADMINISTER DATABASE BULK OPERATIONS"),
        (348, "CREATE USER"),
        (363, "VIEW SECURITY DEFINITION"),
    ] {
        assert_eq!(Permission::from_number(number).map(Permission::name), Some(name), "{number}");
    }
}

#[test]
fn what_2022_brought_lies_below_what_was_there() {
    for (class, permission, code, covering, parent) in [
        (Class::Server, ViewServerPerformanceState, "VSP", Some(ViewServerState), None),
        (Class::Server, ViewServerSecurityState, "VSS", Some(ViewServerState), None),
        (Class::Server, ViewAnySecurityDefinition, "VAS", Some(ViewAnyDefinition), None),
        (Class::Server, CreateLogin, "CRLG", Some(AlterAnyLogin), None),
        (Class::Server, AlterAnyEventSessionAddEvent, "LSAE", Some(AlterAnyEventSession), None),
        (Class::Database, CreateUser, "CUSR", Some(AlterAnyUser), Some(ControlServer)),
        (
            Class::Database,
            ViewDatabasePerformanceState,
            "VDP",
            Some(ViewDatabaseState),
            Some(ViewServerPerformanceState),
        ),
        (
            Class::Database,
            ViewSecurityDefinition,
            "VWS",
            Some(ViewDefinition),
            Some(ViewAnySecurityDefinition),
        ),
    ] {
        assert_eq!(permission.code(), code);
        assert_eq!(permission.covering(class), covering, "{permission:?}");
        assert_eq!(permission.parent_covering(class).map(|(_, up)| up), parent, "{permission:?}");
    }
}
