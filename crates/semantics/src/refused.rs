//! Built-in functions of SQL Server 2022 that are not here: they are refused by name.
//!
//! Together with what [`super`] knows this is the whole of the documentation's list;
//! `crates/session/tests/it/builtins.rs` calls every one and docs/compatibility.md names them.

/// Known to SQL Server 2022, not carried out here.
const REFUSED: &[&str] = &[
    // Keys, certificates and signatures.
    "ASYMKEYPROPERTY",
    "ASYMKEY_ID",
    "CERTENCODED",
    "CERTPRIVATEKEY",
    "CERTPROPERTY",
    "CERT_ID",
    "DECRYPTBYASYMKEY",
    "DECRYPTBYCERT",
    "DECRYPTBYKEY",
    "DECRYPTBYKEYAUTOASYMKEY",
    "DECRYPTBYKEYAUTOCERT",
    "DECRYPTBYPASSPHRASE",
    "ENCRYPTBYASYMKEY",
    "ENCRYPTBYCERT",
    "ENCRYPTBYKEY",
    "ENCRYPTBYPASSPHRASE",
    "IS_OBJECTSIGNED",
    "KEY_GUID",
    "KEY_ID",
    "KEY_NAME",
    "SIGNBYASYMKEY",
    "SIGNBYCERT",
    "SYMKEYPROPERTY",
    "VERIFYSIGNEDBYASYMKEY",
    "VERIFYSIGNEDBYCERT",
    // Metadata of what is not here.
    "ASSEMBLYPROPERTY",
    "FILEPROPERTYEX",
    "GET_FILESTREAM_TRANSACTION_CONTEXT",
    "TERTIARY_WEIGHTS",
    "GETANSINULL",
    // Graphs.
    "EDGE_ID_FROM_PARTS",
    "GRAPH_ID_FROM_EDGE_ID",
    "GRAPH_ID_FROM_NODE_ID",
    "NODE_ID_FROM_PARTS",
    "OBJECT_ID_FROM_EDGE_ID",
    "OBJECT_ID_FROM_NODE_ID",
    "SHORTEST_PATH",
    // Replication, and others.
    "PUBLISHINGSERVERNAME",
    "PREDICT",
    "COLLATIONPROPERTYEX",
];

/// Whether the name (in upper case) is one of them.
pub fn is_refused(name: &str) -> bool {
    REFUSED.contains(&name)
}
