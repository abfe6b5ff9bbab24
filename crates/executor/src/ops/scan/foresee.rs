//! The leaves that a scan will come to once the next rows of a join start it anew: the processor fetches them side by side.

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
        let by_key = range.row.is_none()
            && range.lower.is_none()
            && range.upper.is_none()
            && range.starts.is_none()
            && !range.null;
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

    /// Has what it will read with each of these parameters fetched. What goes wrong shows when it is started.
    pub(super) fn fetch_for(
        &self,
        times: usize,
        set: &dyn Fn(usize, &mut Cx<'_>),
        cx: &mut Cx<'_>,
    ) -> bool {
        let Some(tree) = self.sought(cx) else { return false };
        let mut keys = Vec::with_capacity(times);
        for n in 0..times {
            set(n, cx);
            if let Ok(Some((Bound::Included(key), _))) = range_of(self.plan, cx) {
                keys.push(key);
            }
        }
        tree.fetch_ahead(keys.iter().map(Vec::as_slice));
        true
    }
}
