//! What a scan will read once the next rows of a join start it anew: the processor fetches it side by side.

use super::TableScan;
use super::bounds::range_of;
use crate::cx::Cx;
use ir::{Expr, ExprKind};
use std::ops::Bound;

impl TableScan<'_> {
    /// The tree that is searched by keys that parameters alone give, where a look ahead is worth it.
    fn sought(&self, cx: &Cx<'_>) -> Option<engine::Tree> {
        let plain = |e: &Expr| matches!(e.kind, ExprKind::Param(_) | ExprKind::Const(_));
        let range = self.plan.range.as_ref()?;
        let by_key = range.row.is_none() && range.lower.is_none() && range.upper.is_none();
        if !by_key || range.prefix.is_empty() || !range.prefix.iter().all(plain) {
            return None;
        }
        // Before the first start nothing is known of it.
        let table = self.tree.as_ref()?;
        let tree = match self.plan.index {
            None => table.clone(),
            Some(at) => cx.txn.as_deref()?.database().tree(self.plan.table.indexes[at].tree),
        };
        tree.fetches_ahead().then_some(tree)
    }

    pub(super) fn foresees(&self, cx: &Cx<'_>) -> bool {
        self.sought(cx).is_some()
    }

    /// Notes what it would read with the parameters as they are. What goes wrong shows when it is started.
    pub(super) fn foresee_one(&mut self, cx: &mut Cx<'_>) {
        if let Ok(Some((Bound::Included(key), _))) = range_of(self.plan, cx) {
            self.foreseen.push(key);
        }
    }

    pub(super) fn fetch_noted(&mut self, cx: &Cx<'_>) {
        if let Some(tree) = self.sought(cx) {
            tree.fetch_ahead(self.foreseen.iter().map(Vec::as_slice));
        }
        self.foreseen.clear();
    }
}
