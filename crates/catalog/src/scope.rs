//! Uncommitted definitions of one transaction.
//!
//! A list of changes in the order in which they were made; the last one about a name holds. The
//! system tables hold the same under the transaction, so rolling back is forgetting.

use crate::changes::Changes;
use crate::def::{ObjectRef, fold};
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
    pub(crate) changes: Changes,
}

/// What a scope says of a name, or of an object.
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

    /// What it says of a name, by its [`name_key`].
    pub(crate) fn find(&self, key: &str) -> Local<'_> {
        match self.changes.of_name(key) {
            None => Local::Unknown,
            Some(Change::Put(entry)) => Local::Defined(entry),
            Some(_) => Local::Dropped,
        }
    }

    /// The same of an object.
    pub(crate) fn find_object(&self, object_id: i32) -> Local<'_> {
        match self.changes.of_object(object_id) {
            None => Local::Unknown,
            Some(Change::Put(entry)) => Local::Defined(entry),
            Some(_) => Local::Dropped,
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
