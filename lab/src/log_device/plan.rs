//! Which combinations are measured: one axis at a time from a base, or all.

use super::{Beside, Carrier, Options, Way};
use serde::Serialize;

/// One combination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Axis {
    pub bytes: u64,
    pub way: Way,
    pub depth: usize,
    pub carrier: Carrier,
    pub beside: Beside,
}

/// A large block of the log beside the smallest one: group commit writes these.
const LARGE_BYTES: u64 = 61_440;
const SMALL_BYTES: u64 = 4096;

/// The rungs of a run, each once, in the order in which they are measured.
///
/// Without `product`: every size by every way; every depth by every carrier, of a small and a large write; and
/// beside a checkpoint every size, and every depth of a small write. What is not varied is as the engine has it, or
/// else the first of the list.
pub fn plan(o: &Options) -> Vec<Axis> {
    let all = every(&o.sizes, &o.ways, &o.depths, &o.carriers, &o.beside);
    if o.product {
        return all;
    }
    let size = base(&o.sizes, SMALL_BYTES);
    let way = base(&o.ways, Way::DirectRwfDsync);
    let depth = base(&o.depths, 1);
    let carrier = base(&o.carriers, Carrier::IoUring);
    let beside = base(&o.beside, Beside::Alone);
    let wanted = |a: &Axis| {
        let usual = a.carrier == carrier && a.beside == beside;
        let by_size = a.depth == depth && usual;
        let by_depth = a.way == way
            && a.beside == beside
            && (a.bytes == size || a.bytes == base(&o.sizes, LARGE_BYTES));
        let disturbed = a.beside != beside
            && a.way == way
            && a.carrier == carrier
            && (a.depth == depth || a.bytes == size);
        by_size || by_depth || disturbed
    };
    all.into_iter().filter(wanted).collect()
}

fn base<T: Copy + PartialEq>(list: &[T], wanted: T) -> T {
    if list.contains(&wanted) { wanted } else { list[0] }
}

fn every(
    sizes: &[u64],
    ways: &[Way],
    depths: &[usize],
    carriers: &[Carrier],
    besides: &[Beside],
) -> Vec<Axis> {
    let mut all = Vec::new();
    for &beside in besides {
        for &carrier in carriers {
            for &way in ways {
                for &depth in depths {
                    for &bytes in sizes {
                        let axis = Axis { bytes, way, depth, carrier, beside };
                        if !all.contains(&axis) {
                            all.push(axis);
                        }
                    }
                }
            }
        }
    }
    all
}
