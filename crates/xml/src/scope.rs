//! Namespaces in scope: what each prefix stands for, the innermost declaration first.
//!
//! Promise: a document may declare as many as its text has room for; they are entered and left step by step, and each
//! costs the same.

use runtime::task::{Breath, Many};
use std::collections::HashMap;

/// Declarations, the innermost last.
pub(crate) struct Scope<'t, U> {
    all: Many<Declaration<'t, U>>,
    /// Where the innermost of each prefix stands.
    places: HashMap<&'t str, usize>,
    breath: Breath,
}

struct Declaration<'t, U> {
    prefix: &'t str,
    uri: U,
    /// Where the next outer one of the same prefix stands.
    outer: Option<usize>,
}

impl<'t, U> Scope<'t, U> {
    pub fn new() -> Scope<'t, U> {
        Scope { all: Many::new(), places: HashMap::new(), breath: Breath::new() }
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn push(&mut self, prefix: &'t str, uri: U) {
        // Whoever reads or writes the document asks whether to stop.
        let _ = self.breath.goes_on_by(16);
        let outer = self.places.insert(prefix, self.all.len());
        self.all.push(Declaration { prefix, uri, outer });
    }

    /// Leaves what was entered behind the first `len`.
    pub fn truncate(&mut self, len: usize) {
        while self.all.len() > len
            && let Some(left) = self.all.pop()
        {
            let _ = self.breath.goes_on_by(16);
            match left.outer {
                Some(outer) => self.places.insert(left.prefix, outer),
                None => self.places.remove(left.prefix),
            };
        }
    }

    pub fn find(&self, prefix: &str) -> Option<&U> {
        self.places.get(prefix).map(|place| &self.all[*place].uri)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_counts_until_it_is_left() {
        let mut scope = Scope::new();
        scope.push("a", 1);
        scope.push("b", 2);
        let inner = scope.len();
        scope.push("a", 3);
        scope.push("a", 4);
        assert_eq!((scope.find("a"), scope.find("b")), (Some(&4), Some(&2)));
        scope.truncate(inner);
        assert_eq!((scope.find("a"), scope.find("b")), (Some(&1), Some(&2)));
        scope.truncate(0);
        assert_eq!((scope.find("a"), scope.find("b")), (None, None));
    }
}
