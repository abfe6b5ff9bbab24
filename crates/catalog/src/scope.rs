//! Uncommitted definitions of one transaction.
//!
//! A list of changes in the order in which they were made; the last one about a name holds. The
//! system tables hold the same under the transaction, so rolling back is forgetting.

use crate::def::{ObjectRef, fold, same_name};
use security::Directory;
use std::sync::Arc;

/// A definition as the cache holds it, with the count of its definitions (`modified`).
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) object: ObjectRef,
    pub(crate) modified: i64,
}

#[derive(Clone, Debug)]
pub(crate) enum Change {
    Put(Entry),
    Drop {
        schema: Box<str>,
        name: Box<str>,
        object_id: i32,
    },
    /// The object has another name from here on (what follows it puts it under that).
    Rename {
        schema: Box<str>,
        name: Box<str>,
        object_id: i32,
    },
    /// Principals, schemas and permissions as they are from here on.
    Directory(Arc<Directory>),
    /// An extended property.
    Property(crate::properties::ChangedProperty),
    /// A table's identity goes on from elsewhere.
    Reseed(crate::identity::Reseed),
}

/// Uncommitted definitions of one transaction, held beside its `Txn`. Empty for most.
#[derive(Debug, Default)]
pub struct DdlScope {
    pub(crate) changes: Vec<Change>,
}

/// What a scope says of a name.
pub(crate) enum Local<'a> {
    /// Nothing: ask the cache.
    Unknown,
    Dropped,
    Defined(&'a Entry),
}

impl Drop for DdlScope {
    fn drop(&mut self) {
        self.rollback_to(0);
    }
}

impl DdlScope {
    /// Has the transaction defined anything?
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// A mark to come back to (SAVE TRANSACTION, or a statement that fails).
    pub fn mark(&self) -> usize {
        self.changes.len()
    }

    /// Forgets what was defined after the mark.
    pub fn rollback_to(&mut self, mark: usize) {
        // The last one first, for each may put back what it found.
        while self.changes.len() > mark {
            self.changes.pop();
        }
    }

    pub(crate) fn directory(&self) -> Option<Arc<Directory>> {
        self.changes.iter().rev().find_map(|change| match change {
            Change::Directory(directory) => Some(directory.clone()),
            _ => None,
        })
    }

    /// Compares without writing keys anew: a transaction may hold thousands of changes, and every statement looks.
    pub(crate) fn find(&self, key: &str) -> Local<'_> {
        let (schema, name) = key.split_once('\0').unwrap_or(("", key));
        for change in self.changes.iter().rev() {
            match change {
                Change::Put(entry) if has_name(&entry.object, schema, name) => {
                    return Local::Defined(entry);
                }
                Change::Drop { schema: its, name: gone, .. }
                | Change::Rename { schema: its, name: gone, .. }
                    if same_name(gone, name) && same_name(its, schema) =>
                {
                    return Local::Dropped;
                }
                _ => {}
            }
        }
        Local::Unknown
    }
}

fn has_name(object: &ObjectRef, schema: &str, name: &str) -> bool {
    match object {
        ObjectRef::Table(t) => same_name(&t.name, name) && same_name(&t.schema, schema),
        ObjectRef::Procedure(p) => {
            same_name(&p.kind.key(&p.name), name) && same_name(&p.schema, schema)
        }
    }
}

/// The key of a name in look-up tables.
pub(crate) fn name_key(schema: &str, name: &str) -> String {
    // No identifier holds a NUL.
    if schema.is_ascii() && name.is_ascii() {
        let mut key = String::with_capacity(schema.len() + 1 + name.len());
        key.push_str(schema);
        key.push('\0');
        key.push_str(name);
        key.make_ascii_lowercase();
        return key;
    }
    fold(schema) + "\0" + &fold(name)
}

pub(crate) fn name_key_of(object: &ObjectRef) -> String {
    match object {
        ObjectRef::Table(t) => name_key(&t.schema, &t.name),
        ObjectRef::Procedure(p) => name_key(&p.schema, &p.kind.key(&p.name)),
    }
}
