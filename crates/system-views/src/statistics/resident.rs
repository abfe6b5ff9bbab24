//! Where the memory of the process lies, by the kernel's word.

use parking_lot::Mutex;
use runtime::clock;

/// KiB by node.
type Resident = Vec<(i32, i64)>;

/// Resident KiB of the process on each node, as of the last second: the kernel walks all of its pages for an answer.
pub fn resident_by_node() -> Resident {
    static LAST: Mutex<Option<(u64, Resident)>> = Mutex::new(None);
    let mut last = LAST.lock();
    match &*last {
        Some((at, told)) if clock::now_ns().saturating_sub(*at) < KEPT_NS => told.clone(),
        _ => {
            let told = read_resident();
            last.insert((clock::now_ns(), told)).1.clone()
        }
    }
}

/// How long an answer is kept.
const KEPT_NS: u64 = 1_000_000_000;

/// From `/proc/self/numa_maps`.
fn read_resident() -> Resident {
    let told = std::fs::read_to_string("/proc/self/numa_maps").unwrap_or_default();
    let mut all: std::collections::BTreeMap<i32, i64> = Default::default();
    for line in told.lines() {
        let words = || line.split_whitespace();
        let page_kb = words()
            .find_map(|w| w.strip_prefix("kernelpagesize_kB="))
            .and_then(|kb| kb.parse::<i64>().ok())
            .unwrap_or(4);
        for word in words() {
            let Some((node, pages)) = word.strip_prefix('N').and_then(|w| w.split_once('=')) else {
                continue;
            };
            if let (Ok(node), Ok(pages)) = (node.parse::<i32>(), pages.parse::<i64>()) {
                *all.entry(node).or_default() += pages * page_kb;
            }
        }
    }
    all.into_iter().collect()
}
