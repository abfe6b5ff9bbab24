use super::{Sample, growth};

fn samples(memory: impl Iterator<Item = u64>) -> Vec<Sample> {
    memory.map(|memory| Sample { memory: memory << 20, ..Sample::default() }).collect()
}

#[test]
fn a_cache_that_fills_is_no_growth() {
    let filling = samples([40, 90, 118, 120, 121, 120, 122, 121, 121].into_iter());
    assert_eq!(growth(&filling), Vec::<String>::new());
}

#[test]
fn a_leak_is_found_among_noise() {
    let leak = samples((0..12).map(|round| 100 + round * 4 + round % 3));
    let found = growth(&leak);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("bytes of memory grow"), "{found:?}");
}

#[test]
fn a_descriptor_a_round_is_too_many() {
    let all = (0..9).map(|round| Sample { descriptors: 20 + round, ..Sample::default() });
    assert_eq!(growth(&all.collect::<Vec<_>>()).len(), 1);
}

#[test]
fn a_database_that_comes_and_goes_is_no_growth() {
    let two_levels = [428, 284, 284, 444, 284, 284, 444, 444, 284, 444, 444, 284];
    assert_eq!(growth(&samples(two_levels.into_iter())), Vec::<String>::new());
}
