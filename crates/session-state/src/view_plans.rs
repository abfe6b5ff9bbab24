//! What a session has planned for the indexed views above tables that it changes.
//!
//! Knows nothing of whether a plan is still of use: whoever takes one asks ([`crate::view_changes`]).

use executor::ViewChange;
use std::collections::HashMap;
use std::sync::Arc;

/// Kept at most; a session that changes tables below more views plans anew.
const KEPT_MAX: usize = 256;

/// A database, a view, and the tables whose changed rows are read.
pub(crate) type ViewKey = (u16, i32, Vec<i32>);

/// Queries over changed rows, planned.
#[derive(Default)]
pub struct ViewPlans(HashMap<ViewKey, Arc<ViewChange>>);

impl ViewPlans {
    pub(crate) fn get(&self, key: &ViewKey) -> Option<&Arc<ViewChange>> {
        self.0.get(key)
    }

    pub(crate) fn keep(&mut self, key: ViewKey, change: Arc<ViewChange>) {
        if self.0.len() >= KEPT_MAX {
            self.0.clear();
        }
        self.0.insert(key, change);
    }
}
