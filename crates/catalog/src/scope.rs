//! Uncommitted definitions of one transaction.
//!
//! A list of changes in the order in which they were made; the last one about a name holds. The
//! system tables hold the same under the transaction, so rolling back is forgetting.

use crate::def::{ObjectRef, fold};
use security::Directory;
use std::collections::HashMap;
use std::collections::hash_map::Entry as Place;
use std::hash::Hash;
use std::ops::Deref;
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

/// The changes in the order in which they were made, and where those of a name and of an object stand. Every statement
/// looks up its names here first, and a transaction may hold thousands of changes (a check of all tables that is switched
/// off and on again), so a look-up must not pass by all of them. Read as a slice.
///
/// Always holds: the places of a name, and of an object, go up, and are those of the list's changes that tell of it.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    list: Vec<Change>,
    /// By [`name_key`]: definitions, drops and renames.
    names: HashMap<String, Vec<usize>>,
    /// By object_id: definitions and drops.
    objects: HashMap<i32, Vec<usize>>,
}

impl Changes {
    pub(crate) fn push(&mut self, change: Change) {
        let place = self.list.len();
        if let Some(key) = name_of(&change) {
            self.names.entry(key).or_default().push(place);
        }
        if let Some(id) = object_of(&change) {
            self.objects.entry(id).or_default().push(place);
        }
        self.list.push(change);
    }

    pub(crate) fn pop(&mut self) -> Option<Change> {
        let change = self.list.pop()?;
        if let Some(key) = name_of(&change) {
            forget(&mut self.names, key);
        }
        if let Some(id) = object_of(&change) {
            forget(&mut self.objects, id);
        }
        Some(change)
    }

    pub(crate) fn extend(&mut self, later: Changes) {
        later.list.into_iter().for_each(|change| self.push(change));
    }

    /// The last change that tells of a name, which is a [`name_key`].
    pub(crate) fn of_name(&self, key: &str) -> Option<&Change> {
        self.names.get(key)?.last().map(|place| &self.list[*place])
    }

    /// The last one that defines or drops an object.
    pub(crate) fn of_object(&self, object_id: i32) -> Option<&Change> {
        self.objects.get(&object_id)?.last().map(|place| &self.list[*place])
    }
}

impl Deref for Changes {
    type Target = [Change];

    fn deref(&self) -> &[Change] {
        &self.list
    }
}

impl<'a> IntoIterator for &'a Changes {
    type Item = &'a Change;
    type IntoIter = std::slice::Iter<'a, Change>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

impl IntoIterator for Changes {
    type Item = Change;
    type IntoIter = std::vec::IntoIter<Change>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

/// The last place of a key goes; a key without places too.
fn forget<K: Hash + Eq>(places: &mut HashMap<K, Vec<usize>>, key: K) {
    if let Place::Occupied(mut found) = places.entry(key) {
        found.get_mut().pop();
        if found.get().is_empty() {
            found.remove();
        }
    }
}

fn name_of(change: &Change) -> Option<String> {
    match change {
        Change::Put(entry) => Some(name_key_of(&entry.object)),
        Change::Drop { schema, name, .. } | Change::Rename { schema, name, .. } => {
            Some(name_key(schema, name))
        }
        _ => None,
    }
}

fn object_of(change: &Change) -> Option<i32> {
    match change {
        Change::Put(entry) => Some(entry.object.object_id()),
        Change::Drop { object_id, .. } => Some(*object_id),
        _ => None,
    }
}
