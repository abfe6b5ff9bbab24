//! Frames handed out, given back and trimmed; their memory told.

use super::*;
use std::collections::BTreeSet;

fn take_all(frames: &Frames) -> Vec<u32> {
    std::iter::from_fn(|| frames.take()).collect()
}

fn of_nodes(count: usize, nodes: &[usize]) -> Frames {
    Frames::new(count, &Ask { nodes, ..Ask::default() }).expect("mapped")
}

#[test]
fn every_frame_is_of_one_part_and_is_handed_out_once() {
    for (count, nodes) in [(16, &[][..]), (1000, &[0, 1]), (777, &[3, 5, 9]), (17, &[0, 1, 2, 3])] {
        let frames = of_nodes(count, nodes);
        let all = take_all(&frames);
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), count, "{nodes:?}");
        assert!(all.iter().all(|f| (*f as usize) < count));
        assert_eq!((frames.used(), frames.available()), (count, 0));
        all.iter().for_each(|f| frames.give(*f));
        assert_eq!(frames.available(), count);
    }
}

#[test]
fn a_thread_gets_frames_of_its_own_node_first() {
    let frames = of_nodes(1024, &[2, 7]);
    for node in [7, 2] {
        runtime::numa::set_place(runtime::numa::Place { node, memory: node });
        let mine: Vec<u32> = (0..512).filter_map(|_| frames.take()).collect();
        assert!(mine.iter().all(|f| frames.node_of(*f) == node), "{node}");
    }
    runtime::numa::set_place(runtime::numa::Place::default());
    assert_eq!(frames.take(), None);
}

#[test]
fn memory_of_each_part_is_told_once_and_taken_back_once() {
    const PAGE: u64 = PAGE_BYTES as u64;
    let frames = of_nodes(4096, &[2, 7]);
    let take = |node, count| -> Vec<u32> {
        runtime::numa::set_place(runtime::numa::Place { node, memory: node });
        let some = (0..count).map(|_| frames.take().expect("free")).collect();
        runtime::numa::set_place(runtime::numa::Place::default());
        some
    };
    let mut held = take(7, 300);
    assert_eq!(frames.backed_bytes(), 300 * PAGE);
    while frames.prefault_step() {}
    let ready = frames.backed_bytes();
    assert!(ready >= 600 * PAGE, "as much ahead as is in use");
    held.extend(take(7, 300));
    assert_eq!(frames.backed_bytes(), ready, "it was ready");
    // Frames of the other node, most of them below those.
    held.extend(take(2, 300));
    assert_eq!(frames.backed_bytes(), ready + 300 * PAGE);
    while frames.prefault_step() {}
    let ready = frames.backed_bytes();
    held.extend(take(2, 300));
    assert_eq!(frames.backed_bytes(), ready, "it was ready");
    held.iter().for_each(|f| frames.give(*f));
    frames.set_target(100);
    assert!(!frames.prefault_step());
    let trimmed = frames.trim(usize::MAX);
    // Those of the first node that were ready and in nobody's hands, and those of the other.
    assert_eq!((trimmed as u64 * PAGE, frames.backed_bytes()), (ready, 0));
    let mut steps = 0;
    frames.populate_all(|| {
        steps += 1;
        true
    });
    assert_eq!((steps > 0, frames.backed_bytes()), (true, 4096 * PAGE));
}

#[test]
fn what_was_ready_at_first_is_told_and_can_be_trimmed() {
    for nodes in [&[][..], &[0, 1, 5]] {
        let ask = Ask { prefault_bytes: 100 * PAGE_BYTES, nodes, ..Ask::default() };
        let frames = Frames::new(1000, &ask).expect("mapped");
        assert_eq!(frames.backed_bytes(), 100 * PAGE_BYTES as u64);
        let all = take_all(&frames);
        assert_eq!(frames.backed_bytes(), 1000 * PAGE_BYTES as u64);
        all.iter().for_each(|f| frames.give(*f));
        frames.set_target(0);
        assert_eq!((frames.trim(usize::MAX), frames.backed_bytes()), (1000, 0));
    }
}

#[test]
fn what_was_ready_and_never_handed_out_goes_too() {
    for nodes in [&[][..], &[0, 1, 5]] {
        let ask = Ask { prefault_bytes: 700 * PAGE_BYTES, nodes, ..Ask::default() };
        let frames = Frames::new(1000, &ask).expect("mapped");
        let held: Vec<u32> = (0..100).filter_map(|_| frames.take()).collect();
        assert_eq!((held.len(), frames.trim(usize::MAX)), (100, 0), "all may be used");
        frames.set_target(900);
        let mut steps = Vec::new();
        while let trimmed @ 1.. = frames.trim(250) {
            steps.push(trimmed);
        }
        assert_eq!(steps, [250, 250, 100], "{nodes:?}");
        assert_eq!(frames.backed_bytes(), 100 * PAGE_BYTES as u64);
        // They can be had as before, each once.
        frames.set_target(1000);
        let all: BTreeSet<u32> = held.iter().copied().chain(take_all(&frames)).collect();
        assert_eq!((all.len(), frames.available()), (1000, 0));
        assert_eq!(frames.backed_bytes(), 1000 * PAGE_BYTES as u64);
    }
}

#[test]
fn a_lower_target_is_kept_and_a_higher_one_brings_frames_back() {
    let frames = of_nodes(100, &[]);
    let all = take_all(&frames);
    frames.set_target(40);
    assert_eq!((frames.beyond_target(), frames.available(), frames.take()), (60, 0, None));
    all[..70].iter().for_each(|f| frames.give(*f));
    assert_eq!((frames.beyond_target(), frames.available()), (0, 10));
    assert_eq!(frames.trim(1000), 70);
    assert_eq!(take_all(&frames).len(), 10);
    frames.set_target(usize::MAX);
    assert_eq!((frames.available(), take_all(&frames).len()), (60, 60));
}
