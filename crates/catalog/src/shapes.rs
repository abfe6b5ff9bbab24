//! What views, table-valued functions and table types look like from outside, kept for as long as no definition changes.
//!
//! Who asks knows how to find it (the catalog binds nothing): [`Catalog::shape_of`] keeps what it is told. Invariant: what
//! is kept was found under the version of the catalog that it is given out under. `kept` is held for look-ups only, never
//! while a shape is found.

use crate::catalog::Catalog;
use crate::def::TableDef;
use parking_lot::Mutex;
use runtime::task::NoSuspend;
use std::collections::HashMap;
use std::sync::Arc;

/// The shapes that were asked for, by object id; `None`: the text does not bind.
#[derive(Default)]
pub(crate) struct Shapes {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    version: u64,
    by_id: HashMap<i32, Option<Arc<TableDef>>>,
}

impl Catalog {
    /// The shape of a committed module: kept, or what `find` gives, which must look at committed definitions only.
    pub fn shape_of(
        &self,
        object_id: i32,
        find: impl FnOnce() -> Option<Arc<TableDef>>,
    ) -> Option<Arc<TableDef>> {
        let version = self.version();
        if let Some(known) = self.shapes.get(version, object_id) {
            return known;
        }
        let found = find();
        self.shapes.keep(version, object_id, found.clone());
        found
    }
}

impl Shapes {
    fn get(&self, version: u64, object_id: i32) -> Option<Option<Arc<TableDef>>> {
        let kept = self.kept.lock();
        if kept.version == version { kept.by_id.get(&object_id).cloned() } else { None }
    }

    fn keep(&self, version: u64, object_id: i32, found: Option<Arc<TableDef>>) {
        // What goes is dropped at once.
        let _held = NoSuspend::new();
        let mut kept = self.kept.lock();
        if kept.version < version {
            *kept = Kept { version, by_id: HashMap::new() };
        }
        if kept.version == version {
            kept.by_id.insert(object_id, found);
        }
    }
}
