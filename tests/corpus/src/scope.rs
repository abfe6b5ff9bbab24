//! Which statements concern the engine's language at all (docs/corpora.md has the rule in words).
//!
//! The engine's language is what defines and uses tables, rows, queries, modules, principals, permissions, transactions
//! and databases of one server. What other services beside the engine offer through T-SQL (messaging, full-text search,
//! events, endpoints, the CLR, XML schemas, external data, keys, clusters, the resource governor, graphs,
//! Azure) is counted apart.

/// Of the names under which the parser refuses, those of other services. A name matches with all its words in their order,
/// from its first or after CREATE, ALTER, DROP, ADD, OPEN, CLOSE, BACKUP, RESTORE.
const OUTSIDE: &[&str] = &[
    // Messaging.
    "BROKER",
    "CONTRACT",
    "CONVERSATION",
    "BEGIN DIALOG",
    "BEGIN CONVERSATION",
    "END CONVERSATION",
    "GET CONVERSATION",
    "MOVE CONVERSATION",
    "MESSAGE",
    "QUEUE",
    "RECEIVE",
    "REMOTE",
    "ROUTE",
    "SEND ON",
    "SERVICE",
    "WAITFOR",
    "KILL QUERY NOTIFICATION SUBSCRIPTION",
    // Full-text and semantic search.
    "CONTAINS",
    "CONTAINSTABLE",
    "FREETEXT",
    "FREETEXTTABLE",
    "FULLTEXT",
    "SEARCH",
    "SEMANTICKEYPHRASETABLE",
    "SEMANTICSIMILARITYTABLE",
    "SEMANTICSIMILARITYDETAILSTABLE",
    // Events, endpoints, clusters, resources of the server.
    "EVENT",
    "ENDPOINT",
    "AVAILABILITY",
    "DATABASE SET HADR",
    "DATABASE SET PARTNER",
    "DATABASE SET WITNESS",
    "RESOURCE",
    "WORKLOAD",
    "SERVER CONFIGURATION",
    // The CLR, XML schemas and indexes, shapes.
    "AGGREGATE",
    "ASSEMBLY",
    "PROCEDURE AS EXTERNAL NAME",
    "FUNCTION AS EXTERNAL NAME",
    "TRIGGER AS EXTERNAL NAME",
    "TYPE EXTERNAL NAME",
    "methods of CLR types",
    "XML",
    "PRIMARY XML",
    "INDEX of a selective XML index",
    "xml of a schema collection",
    "SELECTIVE",
    // Data elsewhere.
    "EXTERNAL",
    "EXECUTE AT",
    "EXECUTE of OPENDATASOURCE",
    "OPENDATASOURCE",
    "OPENQUERY",
    "OPENROWSET",
    "PREDICT",
    // Keys and secrets.
    "APPLICATION",
    "ASYMMETRIC",
    "CERTIFICATE",
    "COLUMN",
    "COUNTER",
    "CREDENTIAL",
    "CRYPTOGRAPHIC",
    "DATABASE ENCRYPTION KEY",
    "DATABASE SCOPED CREDENTIAL",
    "ENCRYPTED columns",
    "KEY",
    "LOGIN FROM WINDOWS",
    "MASTER",
    "SENSITIVITY",
    "SIGNATURE",
    "SYMMETRIC",
    // Graphs, files as rows, ledgers.
    "FILESTREAM",
    "FILESTREAM_ON",
    "FOR PATH of a graph table",
    "CONNECTION constraints of edge tables",
    "graph tables and FILETABLE",
    "MATCH of graph tables",
    "WITHIN GROUP (GRAPH PATH)",
    "TABLE DISABLE FILETABLE_NAMESPACE",
    "TABLE ENABLE FILETABLE_NAMESPACE",
    "LEDGER",
    // Azure and Synapse.
    "FEDERATION",
    "NOT ENFORCED",
    "MATERIALIZED",
    "TABLE MERGE",
    "TABLE SPLIT",
    "option DISTRIBUTION",
    "option FILTER_PREDICATE",
    "option REMOTE_DATA_ARCHIVE",
    "options of Azure Synapse",
    // GENERATED ALWAYS AS SUSER_SID and SUSER_SNAME: no document of SQL Server knows what they would hold, and no
    // version has them.
    "columns GENERATED ALWAYS",
];

/// Whether a statement refused under this name is of another service than the engine.
pub fn is_outside(what: &str) -> bool {
    const VERBS: &[&str] = &[
        "CREATE OR ALTER ",
        "CREATE ",
        "ALTER ",
        "DROP ",
        "ADD ",
        "OPEN ",
        "CLOSE ",
        "BACKUP ",
        "RESTORE ",
    ];
    let rest = VERBS.iter().find_map(|verb| what.strip_prefix(verb)).unwrap_or(what);
    OUTSIDE.iter().any(|name| {
        [what, rest].iter().any(|text| {
            text.strip_prefix(name).is_some_and(|after| after.is_empty() || after.starts_with(' '))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_are_outside_and_tables_are_not() {
        for what in [
            "CREATE EVENT",
            "DROP FULLTEXT",
            "RECEIVE",
            "CREATE ENDPOINT",
            "CONTAINS",
            "BACKUP SERVICE MASTER KEY",
            "RESTORE MASTER KEY",
            "ALTER TABLE SPLIT",
        ] {
            assert!(is_outside(what), "{what}");
        }
        for what in [
            "CREATE STATISTICS",
            "GENERATED ALWAYS (temporal and ledger tables)",
            "BULK INSERT",
            "BACKUP DATABASE FILE",
            "RESTORE REWINDONLY",
            "KILL STATS JOB",
            "CREATE SERVER AUDIT",
        ] {
            assert!(!is_outside(what), "{what}");
        }
    }
}
