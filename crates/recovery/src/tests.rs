//! The list of what pages lack.

use crate::Pending;
use buffer_pool::PageId;
use log_manager::Lsn;
use storage::{LogRow, PageOp, TreeId};

const PAGE: PageId = PageId::new(1, 40);
const TREE: TreeId = TreeId(PAGE);

fn insert(page: PageId) -> PageOp<'static> {
    PageOp::Insert { tree: TREE, page, key: b"k", row: LogRow::whole(b"row") }
}

#[test]
fn a_page_made_anew_needs_nothing_from_before() {
    let mut list = Pending::from(Lsn(1 << 20));
    let other = PageId::new(1, 41);
    for n in 0..10 {
        let at = (1 << 20) + n * 64;
        list.note(&insert(PAGE), Lsn(at), Lsn(at + 64));
        list.note(&insert(other), Lsn(at + 32), Lsn(at + 64));
    }
    let before = list.bytes();
    let split = PageOp::Split {
        tree: TREE,
        parent: PageId::new(1, 42),
        left: other,
        right: PAGE,
        keep: 3,
        separator: b"s",
        image: b"image",
    };
    list.note(&split, Lsn(2 << 20), Lsn((2 << 20) + 800));
    list.note(&insert(PAGE), Lsn(3 << 20), Lsn((3 << 20) + 64));
    assert!(list.bytes() > 0 && list.pages() == 3);
    assert_eq!(list.records, 11 + 1 + 2, "{before}");
    let lsn = |at: u32| list.base.0 + u64::from(at) * 8;
    let page = &list.pages[&PAGE.0];
    assert!(page.anew && page.at.len() == 2);
    assert_eq!((lsn(page.first()), lsn(page.last())), (2 << 20, 3 << 20));
    let left = &list.pages[&other.0];
    assert!(!left.anew && left.at.len() == 11 && lsn(left.first()) == (1 << 20) + 32);
}

#[test]
fn a_map_page_keeps_its_changes() {
    let mut list = Pending::from(Lsn(1 << 20));
    let map = PageId::new(1, 2);
    let alloc = PageOp::AllocExtent { map, extent: 7, owner: TREE };
    list.note(&alloc, Lsn(1 << 20), Lsn((1 << 20) + 64));
    let free = PageOp::FreeExtents { map, owner: TREE };
    list.note(&free, Lsn(2 << 20), Lsn((2 << 20) + 56));
    let page = &list.pages[&map.0];
    assert!(page.at.is_empty() && page.map.len() == 2);
    assert_eq!((page.map[0].extent, page.map[0].len), (Some(7), 8));
    assert_eq!((page.map[1].extent, page.map[1].len), (None, 7));
    assert!(page.first() < page.last());
}

#[test]
fn a_list_is_full_before_positions_run_out() {
    let mut list = Pending::from(Lsn(1 << 20));
    let far = list.base.0 + 8 * (u64::from(u32::MAX) - (2 << 20));
    list.note(&insert(PAGE), Lsn(far), Lsn(far + 64));
    assert!(!list.is_full());
    let beyond = far + (16 << 20);
    list.note(&insert(PAGE), Lsn(beyond - 64), Lsn(beyond));
    assert!(list.is_full());
}
