//! The changes of a scope in the order in which they were made, and where those of a name and of an object stand.
//!
//! Every statement looks up its names here first, and a transaction may hold thousands of changes (a check of all
//! tables that is switched off and on again), so a look-up must not pass by all of them.
//!
//! Always holds: the places of a name, and of an object, go up, and are those of the list's changes that tell of it.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::ops::Deref;

use crate::scope::{Change, name_key, name_key_of};

/// Read as a slice.
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
    if let Entry::Occupied(mut found) = places.entry(key) {
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
