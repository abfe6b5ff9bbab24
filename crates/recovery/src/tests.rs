//! The list of what pages lack, and who works it off.

use crate::Pending;
use crate::turns::{Taken, Turns};
use buffer_pool::PageId;
use log_manager::Lsn;
use std::sync::atomic::{AtomicUsize, Ordering::*};
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

#[test]
fn nobody_takes_what_another_is_at() {
    let turns = Turns::new(10);
    let Taken::Next(first, one) = turns.take(6) else { panic!("six pages") };
    let Taken::Next(second, two) = turns.take(6) else { panic!("four pages") };
    assert_eq!((first, second), (0..6, 6..10));
    for _ in 0..3 {
        assert!(matches!(turns.take(6), Taken::Nothing));
    }
    drop(one);
    assert!(matches!(turns.take(6), Taken::Nothing), "the second is still at its own");
    // It fails: what it leaves on the list is one task's.
    drop(two);
    let Taken::Rest(rest) = turns.take(6) else { panic!("what is left") };
    assert!(matches!(turns.take(6), Taken::Nothing));
    drop(rest);
    assert!(matches!(turns.take(6), Taken::Rest(_)));
    assert!(matches!(Turns::new(0).take(1), Taken::Rest(_)));
}

#[test]
fn threads_take_every_page_once_and_the_rest_one_at_a_time() {
    const PAGES: usize = 20_000;
    let turns = Turns::new(PAGES);
    let count = || AtomicUsize::new(0);
    let (seen, at_rest, rests) = (count(), count(), count());
    std::thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                while rests.load(Relaxed) < 100 {
                    match turns.take(7) {
                        Taken::Next(pages, _turn) => {
                            seen.fetch_add(pages.len(), AcqRel);
                            assert_eq!(at_rest.load(Acquire), 0);
                        }
                        Taken::Rest(_turn) => {
                            assert_eq!(at_rest.fetch_add(1, AcqRel), 0);
                            assert_eq!(seen.load(Acquire), PAGES, "somebody is still at his pages");
                            at_rest.fetch_sub(1, AcqRel);
                            rests.fetch_add(1, Relaxed);
                        }
                        Taken::Nothing => std::thread::yield_now(),
                    }
                }
            });
        }
    });
    assert_eq!(seen.into_inner(), PAGES);
}
