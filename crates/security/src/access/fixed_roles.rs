//! What the fixed roles may do: SQL Server's documentation of "Server-level roles", with those that SQL Server 2022
//! brought (`##MS_...##`), and of "Database-level roles". What each of these permissions implies is the lattice's matter.

use crate::directory::{database_role, server_role};
use crate::permission::Permission::{self, *};

/// What a fixed server role may do, on the server.
pub(super) fn of_server_role(role: i32, permission: Permission) -> Option<bool> {
    let may = match role {
        server_role::SYSADMIN => permission == ControlServer,
        server_role::SECURITYADMIN => permission == AlterAnyLogin,
        server_role::SERVERADMIN => matches!(
            permission,
            AlterAnyEndpoint
                | AlterResources
                | AlterServerState
                | AlterSettings
                | Shutdown
                | ViewServerState
        ),
        server_role::SETUPADMIN => permission == AlterAnyLinkedServer,
        server_role::PROCESSADMIN => {
            matches!(permission, AlterAnyConnection | AlterServerState | ViewServerState)
        }
        server_role::DISKADMIN => permission == AlterResources,
        server_role::DBCREATOR | server_role::DATABASE_MANAGER => {
            matches!(permission, CreateAnyDatabase | AlterAnyDatabase)
        }
        server_role::BULKADMIN => permission == AdministerBulkOperations,
        server_role::SERVER_STATE_READER => matches!(
            permission,
            ViewServerState | ViewServerPerformanceState | ViewServerSecurityState
        ),
        server_role::SERVER_STATE_MANAGER => matches!(
            permission,
            AlterServerState
                | ViewServerState
                | ViewServerPerformanceState
                | ViewServerSecurityState
        ),
        server_role::SERVER_PERFORMANCE_STATE_READER => permission == ViewServerPerformanceState,
        server_role::SERVER_SECURITY_STATE_READER => permission == ViewServerSecurityState,
        server_role::DEFINITION_READER => matches!(
            permission,
            ViewAnyDatabase
                | ViewAnyDefinition
                | ViewAnyPerformanceDefinition
                | ViewAnySecurityDefinition
        ),
        server_role::PERFORMANCE_DEFINITION_READER => permission == ViewAnyPerformanceDefinition,
        server_role::SECURITY_DEFINITION_READER => permission == ViewAnySecurityDefinition,
        server_role::DATABASE_CONNECTOR => permission == ConnectAnyDatabase,
        server_role::LOGIN_MANAGER => matches!(permission, CreateLogin | AlterAnyLogin),
        _ => false,
    };
    may.then_some(true)
}

/// What a fixed database role may do, or must not, on the database.
pub(super) fn of_database_role(role: i32, permission: Permission) -> Option<bool> {
    let may = match role {
        database_role::OWNER => permission == Control,
        database_role::ACCESSADMIN => matches!(permission, AlterAnyUser | Connect | CreateSchema),
        database_role::SECURITYADMIN => {
            matches!(
                permission,
                AlterAnyApplicationRole | AlterAnyRole | CreateSchema | ViewDefinition
            )
        }
        database_role::DDLADMIN => matches!(
            permission,
            AlterAnyAssembly
                | AlterAnyAsymmetricKey
                | AlterAnyCertificate
                | AlterAnyContract
                | AlterAnyDatabaseDdlTrigger
                | AlterAnyDatabaseEventNotification
                | AlterAnyDataspace
                | AlterAnyFulltextCatalog
                | AlterAnyMessageType
                | AlterAnyRemoteServiceBinding
                | AlterAnyRoute
                | AlterAnySchema
                | AlterAnyService
                | AlterAnySymmetricKey
                | Checkpoint
                | CreateAggregate
                | CreateDefault
                | CreateFunction
                | CreateProcedure
                | CreateQueue
                | CreateRule
                | CreateSchema
                | CreateSynonym
                | CreateTable
                | CreateType
                | CreateView
                | CreateXmlSchemaCollection
                | References
        ),
        database_role::BACKUPOPERATOR => {
            matches!(permission, BackupDatabase | BackupLog | Checkpoint)
        }
        database_role::DATAREADER => permission == Select,
        database_role::DATAWRITER => matches!(permission, Insert | Update | Delete),
        database_role::DENYDATAREADER if permission == Select => return Some(false),
        database_role::DENYDATAWRITER if matches!(permission, Insert | Update | Delete) => {
            return Some(false);
        }
        _ => false,
    };
    may.then_some(true)
}
