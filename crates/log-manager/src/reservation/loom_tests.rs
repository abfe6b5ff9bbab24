//! The reservation protocol under loom: as shipped it must hold in every interleaving; with one thing wrong at a
//! time, the same check must fail.
//!
//! The model: two workers append records of one unit to a ring of `RING` units, on leases of one record; a third
//! thread takes what is complete, reads it, and lets the room be reused. The ring's units are loom's `UnsafeCell`s,
//! so an unordered read or overwriting is found as a data race, and a value read must be that of its position.

use super::*;
use loom::cell::UnsafeCell;
use loom::thread;
use std::sync::Arc as StdArc;
use std::sync::atomic::AtomicU64 as StdAtomicU64;

const START: u64 = 8;
/// Every interleaving with at most this many preemptions is looked at.
const PREEMPTIONS: usize = 2;

struct World<P: Protocol> {
    stream: Reservation<P>,
    ring: Vec<UnsafeCell<u64>>,
}

// The cells are what is being checked: loom reports unordered use.
unsafe impl<P: Protocol> Send for World<P> {}
unsafe impl<P: Protocol> Sync for World<P> {}

impl<P: Protocol> World<P> {
    fn cell(&self, position: u64) -> &UnsafeCell<u64> {
        &self.ring[(position % self.ring.len() as u64) as usize]
    }

    /// Appends up to `records`; stops when there is no room.
    fn work(&self, slot: usize, records: usize) {
        for _ in 0..records {
            if !self.stream.lease(slot, 1, u64::MAX) {
                return;
            }
            self.append(slot);
        }
    }

    /// Appends a record of what is leased.
    fn append(&self, slot: usize) {
        self.stream.append(slot, 1, |at| {
            // SAFETY: checked by loom.
            self.cell(at).with_mut(|p| unsafe { *p = at });
        });
    }

    /// Takes what is complete, `looks` times; frees it if `reuse`. Returns how far it got.
    fn take(&self, from: u64, looks: usize, reuse: bool) -> u64 {
        let mut taken = from;
        for _ in 0..looks {
            let upto = self.stream.complete().upto;
            // A stale announcement may lie below what was already complete.
            while taken < upto {
                // SAFETY: checked by loom.
                let value = self.cell(taken).with(|p| unsafe { *p });
                assert_eq!(value, taken, "a hole was taken for a record");
                taken += 1;
            }
            if reuse {
                self.stream.set_limit(taken + self.ring.len() as u64);
            }
        }
        taken
    }
}

/// Looks at every interleaving of `main`, which gets a world of its own each time; returns how many there were.
fn explore<P: Protocol + 'static>(
    slots: usize,
    ring: u64,
    main: impl Fn(loom::sync::Arc<World<P>>) + Send + Sync + 'static,
) -> u64 {
    let states = StdArc::new(StdAtomicU64::new(0));
    let counted = states.clone();
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(PREEMPTIONS);
    model.max_branches = 10_000;
    model.check(move || {
        counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        main(loom::sync::Arc::new(World::<P> {
            stream: Reservation::new(slots, START, START + ring),
            ring: (0..ring).map(|_| UnsafeCell::new(0)).collect(),
        }));
    });
    states.load(std::sync::atomic::Ordering::Relaxed)
}

/// Two threads, of slots 0 and 1, that do `work` while `main` goes on; afterwards nobody is left, and everything is
/// complete from where `main` got to.
fn beside<P: Protocol + 'static>(
    world: &loom::sync::Arc<World<P>>,
    work: impl Fn(&World<P>, usize) + Clone + Send + 'static,
    main: impl FnOnce() -> u64,
) -> u64 {
    let workers: Vec<_> = (0..2)
        .map(|slot| {
            let (world, work) = (world.clone(), work.clone());
            thread::spawn(move || work(&world, slot))
        })
        .collect();
    let taken = main();
    for worker in workers {
        worker.join().unwrap();
    }
    let end = world.take(taken, 1, false);
    assert_eq!(end, world.stream.tail(), "a lane stayed announced");
    end
}

/// Runs the model; returns the number of interleavings looked at.
fn check<P: Protocol + 'static>(ring: u64, records: [usize; 2], looks: usize, reuse: bool) -> u64 {
    explore::<P>(2, ring, move |world| {
        let work = move |world: &World<P>, slot: usize| world.work(slot, records[slot]);
        beside(&world, work, || world.take(START, looks, reuse));
    })
}

#[track_caller]
fn caught<P: Protocol + 'static>(ring: u64, records: [usize; 2], looks: usize, reuse: bool) {
    let run = std::panic::catch_unwind(|| check::<P>(ring, records, looks, reuse));
    assert!(run.is_err(), "the model did not notice the seeded bug");
}

/// Plenty of room: readers against copies.
const WIDE: (u64, [usize; 2], usize, bool) = (8, [2, 1], 2, false);
/// A ring smaller than what is appended: reuse against reading.
const NARROW: (u64, [usize; 2], usize, bool) = (2, [2, 2], 2, true);

#[test]
fn loom_shipped_never_takes_a_hole() {
    let (ring, records, looks, reuse) = WIDE;
    let states = check::<Shipped>(ring, records, looks, reuse);
    println!("lanes, appending: {states} interleavings");
}

#[test]
fn loom_shipped_never_overwrites_what_is_being_read() {
    let (ring, records, looks, reuse) = NARROW;
    let states = check::<Shipped>(ring, records, looks, reuse);
    println!("lanes, reusing the ring: {states} interleavings");
}

#[test]
fn loom_shipped_seals_a_block_among_appends() {
    let states = explore::<Shipped>(3, 8, |world| {
        let end = beside(
            &world,
            |world, slot| world.work(slot, 1),
            || {
                let tail = world.stream.complete().tail;
                world.stream.seal(2, tail, tail + 1, || {
                    // SAFETY: checked by loom.
                    world.cell(tail).with_mut(|p| unsafe { *p = tail });
                });
                world.take(START, 1, false)
            },
        );
        assert_eq!(world.stream.granted(), end, "a lease was lost or made up");
    });
    println!("lanes, sealing: {states} interleavings");
}

/// Leases of two where there is room, of which one record is appended and the rest goes back, over a ring of two.
#[test]
fn loom_shipped_leases_go_back() {
    let states = explore::<Shipped>(2, 2, |world| {
        let work = |world: &World<Shipped>, slot: usize| {
            for _ in slot..2 {
                if world.stream.lease(slot, 2, u64::MAX) {
                    world.append(slot);
                    assert!(world.stream.give_back(slot, 0));
                } else {
                    world.work(slot, 1);
                }
            }
        };
        let end = beside(&world, work, || world.take(START, 2, true));
        assert_eq!(world.stream.granted(), end, "a lease was lost or made up");
    });
    println!("lanes, giving back: {states} interleavings");
}

macro_rules! seeded {
    ($test:ident, $bug:ident, $world:expr, { $($choice:tt)* }) => {
        struct $bug;
        impl Protocol for $bug { $($choice)* }
        #[test]
        fn $test() {
            let (ring, records, looks, reuse) = $world;
            caught::<$bug>(ring, records, looks, reuse);
        }
    };
}

seeded!(loom_catches_a_missing_announcement, NoAnnouncement, WIDE, {
    const ANNOUNCE: Announce = Announce::Never;
});
seeded!(loom_catches_an_announcement_after_reserving, LateAnnouncement, WIDE, {
    const ANNOUNCE: Announce = Announce::AfterReserving;
});
seeded!(loom_catches_a_relaxed_publication, RelaxedPublication, WIDE, {
    const PUBLISH_ORDER: Ordering = Relaxed;
});
seeded!(loom_catches_a_relaxed_announcement, RelaxedAnnouncement, WIDE, {
    const ANNOUNCE_ORDER: Ordering = Relaxed;
});
seeded!(loom_catches_lanes_read_before_the_tail, LanesFirst, WIDE, {
    const TAIL_BEFORE_LANES: bool = false;
});
seeded!(loom_catches_a_relaxed_reservation, RelaxedReservation, WIDE, {
    const RESERVE_ORDER: Ordering = Relaxed;
});
seeded!(loom_catches_a_relaxed_look_at_lanes, RelaxedLook, WIDE, {
    const LANE_LOAD_ORDER: Ordering = Relaxed;
});
seeded!(loom_catches_a_slot_enrolled_too_late, LateEnrolment, WIDE, {
    const ENROL_FIRST: bool = false;
});
seeded!(loom_catches_a_relaxed_limit, RelaxedLimit, NARROW, {
    const LIMIT_LOAD_ORDER: Ordering = Relaxed;
});
