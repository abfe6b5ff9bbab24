//! Stored rows left out by where they lie.

use engine::Spot;

/// Leaves the rows for which `passes` says so, in their order: those move to the front without a branch.
#[inline]
pub(super) fn keep(rows: &mut Vec<Spot>, mut passes: impl FnMut(Spot) -> bool) {
    let mut kept = 0;
    for i in 0..rows.len() {
        let row = rows[i];
        rows[kept] = row;
        kept += usize::from(passes(row));
    }
    rows.truncate(kept);
}
