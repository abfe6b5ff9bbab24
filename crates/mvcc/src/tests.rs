//! Every combination of stamp, snapshot and status that visibility tells apart.

use super::*;
use Visibility::*;
use log_manager::Lsn;

fn check(stamp: Stamp, status: XidStatus, expect: Visibility) {
    assert_eq!(visible(stamp, Lsn(100), Xid(7), |_| status), expect, "{stamp:?} {status:?}");
}

#[test]
fn commit_numbers_below_the_snapshot_are_seen() {
    for (csn, expect) in [(0, Visible), (8, Visible), (99, Visible), (100, Older), (101, Older)] {
        check(Stamp::committed(Lsn(csn)), XidStatus::Active, expect);
        check(Stamp::committed(Lsn(csn)).with_older(), XidStatus::Active, expect);
        check(Stamp::active(Xid(9)), XidStatus::Committed(Lsn(csn)), expect);
        let ghost = if expect == Visible { VisibleGhost } else { Older };
        check(Stamp::committed(Lsn(csn)).ghost(), XidStatus::Active, ghost);
    }
    check(Stamp::frozen(), XidStatus::Active, Visible);
}

#[test]
fn own_rows_are_seen_and_others_only_when_committed() {
    check(Stamp::active(Xid(7)), XidStatus::Active, Visible);
    check(Stamp::active(Xid(7)).ghost(), XidStatus::Active, VisibleGhost);
    check(Stamp::active(Xid(9)), XidStatus::Active, Older);
    check(Stamp::active(Xid(9)), XidStatus::Aborted, Older);
    check(Stamp::active(Xid(9)), XidStatus::Committing, Spin);
}

#[test]
fn a_reader_without_a_transaction_owns_nothing() {
    let v = visible(Stamp::active(Xid(1)), Lsn(100), Xid::NONE, |_| XidStatus::Active);
    assert_eq!(v, Older);
}

#[test]
fn stamps_keep_flags_and_value_apart() {
    let s = Stamp::active(Xid(0x1234)).with_older().ghost();
    assert_eq!(
        (s.xid(), s.csn(), s.has_older(), s.is_ghost()),
        (Some(Xid(0x1234)), None, true, true)
    );
    assert_eq!(s.without_older(), Stamp::active(Xid(0x1234)).ghost());
    assert_eq!(Stamp::committed(Lsn(64)).csn(), Some(Lsn(64)));
}
