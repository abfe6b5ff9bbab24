//! Which cases there are, and which share a life.

use super::*;

fn site(key: u64, number: i64, count: u64, whole: bool) -> Seen {
    Seen { key, number, count, whole, stack: vec![1] }
}

#[test]
fn half_a_transfer_is_not_tried_where_no_kernel_makes_one() {
    let mut random = Prng::new(1);
    for (whole, shorts) in [(true, 0), (false, 2)] {
        let site = site(1, libc::SYS_write, 2, whole);
        let cases = cases_of(&site, true, &mut random);
        let short = |fault: &Fault| fault.how == How::Short;
        assert_eq!(cases.iter().filter(|(_, _, fault)| short(fault)).count(), shorts);
    }
}

#[test]
fn a_life_has_each_call_once_and_a_last_attempt_has_one_alone() {
    let sites: Vec<Seen> = (0..3).map(|key| site(key, libc::SYS_write, 1, false)).collect();
    let mut random = Prng::new(1);
    let all = sites.iter().flat_map(|site| cases_of(site, true, &mut random));
    let mut cases: VecDeque<Case<'_>> = all
        .enumerate()
        .map(|(number, (site, call, fault))| Case { number, site, call, fault, attempts: 0 })
        .collect();
    let total = cases.len();
    cases[1].attempts = ATTEMPTS - 1;
    let mut lives = Vec::new();
    while !cases.is_empty() {
        lives.push(next(&mut cases, 2));
    }
    assert_eq!(lives.iter().map(Vec::len).sum::<usize>(), total, "no case is left out");
    for life in &lives {
        assert!(life.len() <= 2);
        let mut calls: Vec<_> = life.iter().map(|c| (c.fault.key, c.fault.nth)).collect();
        calls.dedup();
        assert_eq!(calls.len(), life.len());
        assert!(life.len() == 1 || life.iter().all(|c| c.number != 1));
    }
}
