//! The system tables: fixed trees, fixed columns. To the byte they are ordinary rows
//! (docs/formats/row.md) in the trees that every database is born with.
//!
//! | tree | table | key | columns |
//! |---|---|---|---|
//! | 0 | names | schema, name | object_id |
//! | 1 | objects | object_id | schema, name, kind, created_unix_ns, modified |
//! | 2 | columns | object_id, ordinal | name, type, length, precision, scale, nullable, default name, default text, seed, increment, absent, computed text, flags (1 persisted or, of a column that is not computed, a column set, 2 rowversion or a computed column that is volatile, 4 row start, 8 row end, 16 hidden, 32 rowguidcol, 64 sparse, 128 not for replication), alias type, collation, masking function, rule, default that is bound |
//! | 3 | keys | object_id | name, clustered, columns, ignores duplicates, options (see `index_options.rs`) |
//! | 4 | tables | object_id | tree, filegroup, tree of large values, history table, retention, its unit, tree of changes, of changes by key, of the database's versions, whether columns are tracked, version at which that began, numbering of the columns, memory (1 durable, 2 not), its bucket count, compression of a heap, of an indexed view (whose id this then is) the ids of the tables that its rows come from, four bytes each |
//! | 5 | modules | object_id, part | quoted_identifier, ansi_nulls, text, of a trigger its table and flags (see `def.rs`), of an alias type the rule and the default that are bound (0: none), of a DDL trigger its events, two bytes each |
//! | 6 | filegroups | number | name, is_default, containers of MEMORY_OPTIMIZED_DATA |
//! | 7 | files | file_id | filegroup, name, path, size_bytes, max_bytes |
//! | 8 | identities | object_id, tree | last value reserved |
//! | 9 | databases (master) | database_id | name, state, created_unix_ns |
//! | 10 | database options (master) | database_id, name | value; of database 0, numbers of transactions over several databases that were decided to commit |
//! | 11 | database filegroups (master) | database_id, number | name, is_default, containers |
//! | 12 | database files (master) | database_id, file_id | filegroup (0: log), name, path, size_bytes, max_bytes |
//! | 13 | principals | scope, what, id | name, kind, sid, owner, default, flags, password hash, created_unix_ns, modified_unix_ns |
//! | 14 | members | scope, role, member | there |
//! | 15 | permissions | scope, class, major_id, grantee, permission (1000 + n: UNMASK of column n) | state, grantor |
//! | 16 | indexes | object_id, index_id | name, constraint_id, kind, flags, fill factor, tree, filegroup, columns, include, filter, of a columnstore index: see `columnstore.rs`, bucket count, options, of a spatial index: see `spatial_index.rs`, of an XML index: see `xml_index.rs` |
//! | 17 | constraints | object_id, constraint_id | name, kind (1 check, 2 foreign key), flags, columns, table, its columns, on delete, on update, text |
//! | 18 | configuration | name | value, value for secondaries (CHANGE_TRACKING: see `tracking.rs`; COLLATION: see `collation.rs`; MESSAGE: see `messages.rs`; AUDIT SPECIFICATION: see `audits.rs`) |
//! | 19 | statistics | object_id, stats_id, part | name, flags (1 auto created, 2 user created, 4 no recompute), bytes |
//! | 20 | partitioned | object_id, index_id (0: the table's rows) | scheme, ordinal of the column |
//! | 21 | properties | class, major_id, minor_id, name without blanks at its end | name if it ends in blanks, value, of parameters and of columns of views and table types their name |
//!
//! `scope` is 0 for the database's own principals, 1 for the server's (in `master`); see `principals.rs`.
//!
//! `names` makes names unique across sessions: who creates an object inserts its name, and waits
//! there for another transaction that has done so. `modified` counts an object's definitions, so
//! that whoever has waited for its lock can tell whether the cache is behind (see `catalog.rs`).

use crate::{CatalogError, TreeId};
use engine::{
    Database, EngineError, InsertHint, PageId, ReadOptions, RowImage, ScanOptions, Tree, Txn,
};
use std::ops::Bound;
use std::sync::Arc;
use types::{KeyLayout, KeyPart, Len, RowColumn, RowLayout, SqlType, Value};

const NAME: SqlType = SqlType::NVarChar(Len::N(128));
const TEXT: SqlType = SqlType::NVarChar(Len::Max);

/// One system table: a tree, its columns, and how many of them, from the first, are the key.
pub(crate) struct SystemTable {
    tree: Tree,
    layout: RowLayout,
    key: KeyLayout,
}

impl SystemTable {
    fn new(db: &Arc<Database>, n: usize, key_columns: usize, columns: &[SqlType]) -> SystemTable {
        let row: Vec<RowColumn> = columns
            .iter()
            .enumerate()
            .map(|(i, ty)| RowColumn {
                ty: *ty,
                nullable: i >= key_columns,
                rule: types::collation::Rule::CiAs,
            })
            .collect();
        let key = columns[..key_columns]
            .iter()
            .map(|ty| KeyPart {
                ty: *ty,
                nullable: false,
                desc: false,
                rule: types::collation::Rule::CiAs,
            })
            .collect();
        SystemTable {
            tree: db.tree(db.system_tree(n)),
            layout: RowLayout::new(&row),
            key: KeyLayout::new(key),
        }
    }

    fn encode(&self, row: &[Value]) -> Result<(Vec<u8>, Vec<u8>), CatalogError> {
        let key = self.key.encode(&row[..self.key.parts().len()])?;
        let mut bytes = Vec::new();
        self.layout.encode(row, &mut bytes)?;
        Ok((key, bytes))
    }

    /// `false`: a row with this key is there.
    pub(crate) fn insert(&self, txn: &mut Txn, row: &[Value]) -> Result<bool, CatalogError> {
        let (key, bytes) = self.encode(row)?;
        let image = RowImage::new(&bytes);
        match txn.insert(&self.tree, &key, &image, &mut InsertHint::default()) {
            Ok(()) => Ok(true),
            Err(EngineError::Duplicate) => Ok(false),
            Err(e) => Err(e.into()),
        }
    }

    /// `false`: there is no such row.
    pub(crate) fn update(&self, txn: &mut Txn, row: &[Value]) -> Result<bool, CatalogError> {
        let (key, bytes) = self.encode(row)?;
        Ok(txn.update(&self.tree, &key, &RowImage::new(&bytes))?)
    }

    /// Inserts, or replaces what is there.
    pub(crate) fn put(&self, txn: &mut Txn, row: &[Value]) -> Result<(), CatalogError> {
        if self.update(txn, row)? || self.insert(txn, row)? || self.update(txn, row)? {
            return Ok(());
        }
        Err(corrupt("a system row comes and goes"))
    }

    /// `false`: there is no such row.
    pub(crate) fn delete(&self, txn: &mut Txn, key: &[Value]) -> Result<bool, CatalogError> {
        Ok(txn.delete(&self.tree, &self.key.encode(key)?)?)
    }

    /// Locks the row and reads its newest state.
    pub(crate) fn read_locked(
        &self,
        txn: &mut Txn,
        key: &[Value],
    ) -> Result<Option<Vec<Value>>, CatalogError> {
        let key = self.key.encode(key)?;
        let mut row = Vec::new();
        let found = txn.read_latest_locked(&self.tree, &key, &mut row)?;
        if found { self.decode(&row).map(Some) } else { Ok(None) }
    }

    /// All rows whose key begins with `prefix`, in key order.
    pub(crate) fn scan(
        &self,
        txn: &mut Txn,
        prefix: &[Value],
    ) -> Result<Vec<Vec<Value>>, CatalogError> {
        let low = self.key.encode(prefix)?;
        let mut high = low.clone();
        let bounded = types::key::prefix_successor(&mut high);
        let upper = if bounded { Bound::Excluded(&high[..]) } else { Bound::Unbounded };
        // Whatever the session's level: definitions are guarded by schema locks.
        let options =
            ScanOptions { read: ReadOptions::versions(), reverse: false, one_value: false };
        let mut scan = txn.scan(&self.tree, Bound::Included(&low), upper, options)?;
        let mut rows = Vec::new();
        while let Some((_, row)) = scan.next(txn)? {
            rows.push(self.decode(row)?);
        }
        Ok(rows)
    }

    fn decode(&self, row: &[u8]) -> Result<Vec<Value>, CatalogError> {
        (0..self.layout.columns().len())
            // Rows written before a column was added to the system table have NULL there.
            .map(|i| Ok(self.layout.decode_column(row, i).unwrap_or_default()))
            .collect()
    }
}

/// The system tables of one database.
pub(crate) struct SystemTables {
    pub(crate) names: SystemTable,
    pub(crate) objects: SystemTable,
    pub(crate) columns: SystemTable,
    pub(crate) keys: SystemTable,
    pub(crate) tables: SystemTable,
    pub(crate) modules: SystemTable,
    pub(crate) filegroups: SystemTable,
    pub(crate) files: SystemTable,
    pub(crate) identities: SystemTable,
    pub(crate) indexes: SystemTable,
    pub(crate) constraints: SystemTable,
    pub(crate) configuration: SystemTable,
    pub(crate) statistics: SystemTable,
    pub(crate) partitioned: SystemTable,
    pub(crate) properties: SystemTable,
    pub(crate) security: SecurityTables,
}

impl SystemTables {
    pub(crate) fn new(db: &Arc<Database>) -> SystemTables {
        use SqlType::{BigInt, Bit, Int, SmallInt, TinyInt};
        let bytes = SqlType::VarBinary(Len::Max);
        SystemTables {
            names: SystemTable::new(db, 0, 2, &[NAME, NAME, Int]),
            objects: SystemTable::new(db, 1, 1, &[Int, NAME, NAME, TinyInt, BigInt, BigInt]),
            columns: SystemTable::new(
                db,
                2,
                2,
                &[
                    Int, SmallInt, NAME, TinyInt, Int, TinyInt, TinyInt, Bit, NAME, TEXT, BigInt,
                    BigInt, bytes, TEXT, TinyInt, Int, Int, TEXT, Int, Int,
                ],
            ),
            keys: SystemTable::new(db, 3, 1, &[Int, NAME, Bit, bytes, Bit, Int]),
            tables: SystemTable::new(
                db,
                4,
                1,
                &[
                    Int, BigInt, Int, BigInt, Int, Int, Int, BigInt, BigInt, BigInt, Bit, BigInt,
                    Int, TinyInt, Int, TinyInt, bytes,
                ],
            ),
            modules: SystemTable::new(db, 5, 2, &[Int, Int, Bit, Bit, TEXT, Int, Int, bytes]),
            filegroups: SystemTable::new(db, 6, 1, &[Int, NAME, Bit, TEXT]),
            files: SystemTable::new(db, 7, 1, &[Int, Int, NAME, TEXT, BigInt, BigInt]),
            identities: SystemTable::new(db, 8, 2, &[Int, BigInt, BigInt]),
            indexes: SystemTable::new(
                db,
                16,
                2,
                &[
                    Int, Int, NAME, Int, TinyInt, TinyInt, TinyInt, BigInt, NAME, bytes, bytes,
                    TEXT, bytes, Int, Int, bytes,
                ],
            ),
            constraints: SystemTable::new(
                db,
                17,
                2,
                &[Int, Int, NAME, TinyInt, TinyInt, bytes, Int, bytes, TinyInt, TinyInt, TEXT],
            ),
            configuration: SystemTable::new(db, 18, 1, &[NAME, TEXT, TEXT]),
            partitioned: SystemTable::new(db, 20, 2, &[Int, Int, Int, Int]),
            properties: SystemTable::new(
                db,
                21,
                4,
                &[TinyInt, Int, Int, NAME, NAME, SqlType::Variant, NAME],
            ),
            statistics: SystemTable::new(db, 19, 3, &[Int, Int, Int, NAME, TinyInt, bytes]),
            security: SecurityTables::new(db),
        }
    }
}

/// The tables of principals and permissions.
pub(crate) struct SecurityTables {
    pub(crate) principals: SystemTable,
    pub(crate) members: SystemTable,
    pub(crate) permissions: SystemTable,
}

impl SecurityTables {
    pub(crate) fn new(db: &Arc<Database>) -> SecurityTables {
        use SqlType::{BigInt, Int, SmallInt, TinyInt};
        let bytes = SqlType::VarBinary(Len::Max);
        SecurityTables {
            principals: SystemTable::new(
                db,
                13,
                3,
                &[
                    TinyInt, TinyInt, Int, NAME, TinyInt, bytes, Int, NAME, Int, bytes, BigInt,
                    BigInt,
                ],
            ),
            members: SystemTable::new(db, 14, 3, &[TinyInt, Int, Int, TinyInt]),
            permissions: SystemTable::new(
                db,
                15,
                5,
                &[TinyInt, TinyInt, Int, Int, SmallInt, TinyInt, Int],
            ),
        }
    }
}

/// The tables that `master` has besides.
pub(crate) struct MasterTables {
    pub(crate) databases: SystemTable,
    pub(crate) options: SystemTable,
    pub(crate) filegroups: SystemTable,
    pub(crate) files: SystemTable,
}

impl MasterTables {
    pub(crate) fn new(db: &Arc<Database>) -> MasterTables {
        use SqlType::{BigInt, Bit, Int, TinyInt};
        MasterTables {
            databases: SystemTable::new(db, 9, 1, &[Int, NAME, TinyInt, BigInt]),
            options: SystemTable::new(db, 10, 2, &[Int, NAME, TEXT]),
            filegroups: SystemTable::new(db, 11, 2, &[Int, Int, NAME, Bit, TEXT]),
            files: SystemTable::new(db, 12, 2, &[Int, Int, Int, NAME, TEXT, BigInt, BigInt]),
        }
    }
}

pub(crate) fn corrupt(what: &str) -> CatalogError {
    CatalogError::Corrupt { what: what.into() }
}

/// Cells of a system row, taken in order, with the kind each must have.
pub(crate) struct Cells {
    row: std::vec::IntoIter<Value>,
}

impl Cells {
    pub(crate) fn new(row: Vec<Value>) -> Cells {
        Cells { row: row.into_iter() }
    }
    fn next(&mut self) -> Result<Value, CatalogError> {
        self.row.next().ok_or_else(|| corrupt("a system row is short"))
    }
    pub(crate) fn skip(&mut self) -> Result<(), CatalogError> {
        self.next().map(drop)
    }
    pub(crate) fn int(&mut self) -> Result<i64, CatalogError> {
        self.opt_int()?.ok_or_else(|| corrupt("a number is missing in a system row"))
    }
    pub(crate) fn opt_int(&mut self) -> Result<Option<i64>, CatalogError> {
        Ok(self.next()?.as_i64())
    }
    pub(crate) fn flag(&mut self) -> Result<bool, CatalogError> {
        Ok(self.int()? != 0)
    }
    pub(crate) fn text(&mut self) -> Result<Box<str>, CatalogError> {
        self.opt_text()?.ok_or_else(|| corrupt("a text is missing in a system row"))
    }
    pub(crate) fn opt_text(&mut self) -> Result<Option<Box<str>>, CatalogError> {
        Ok(self.next()?.as_str().map(Into::into))
    }
    pub(crate) fn opt_bytes(&mut self) -> Result<Option<Vec<u8>>, CatalogError> {
        Ok(match self.next()? {
            Value::Binary(bytes) => Some(bytes.to_vec()),
            _ => None,
        })
    }
}

/// Text or NULL.
pub(crate) fn text_or_null(text: Option<&str>) -> Value {
    text.map_or(Value::Null, Value::str)
}

/// Of a stored number.
pub(crate) fn tree_id(stored: i64) -> TreeId {
    TreeId(PageId(stored as u64))
}
