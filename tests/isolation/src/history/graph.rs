//! Adya's direct serialisation graph of a history, and the cycles that name anomalies.
//!
//! Edges between committed transactions: ww (replaced its version), wr (read its version), rw (read a version that the
//! other replaced), and rw by predicate (read a set to which the other added a member that was not seen).

use super::{NOTHING, Op, Transaction};
use crate::{Level, Tables};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

/// What is wrong with a history.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Anomaly {
    /// A cycle of ww edges.
    G0,
    /// A value of a transaction that rolled back was read.
    G1a,
    /// A value that its writer replaced itself was read.
    G1b,
    /// A cycle of ww and wr edges.
    G1c,
    /// Two transactions replaced the version that both had read.
    LostUpdate,
    /// A cycle with one rw edge, of registers only.
    GSingleItem,
    /// A cycle with one rw edge.
    GSingle,
    /// A cycle with rw edges, of registers only.
    G2Item,
    /// A cycle.
    G2,
    /// A transaction did not see what it had written itself.
    Internal,
    /// A register that was always there was not.
    Vanished,
}

/// What a level forbids, by where tables live.
pub fn forbidden(tables: Tables, level: Level) -> &'static [Anomaly] {
    use Anomaly::*;
    match (tables, level) {
        (Tables::Disk, Level::ReadUncommitted) => &[G0, Internal, Vanished],
        (Tables::Disk, Level::ReadCommittedLocking | Level::ReadCommittedSnapshot)
        // Of those on disk no more is promised, and the two kinds are seen as of two moments.
        | (Tables::Mixed, _) => &[G0, G1a, G1b, G1c, Internal, Vanished],
        (Tables::Disk, Level::RepeatableRead) => {
            &[G0, G1a, G1b, G1c, LostUpdate, GSingleItem, G2Item, Internal, Vanished]
        }
        // One snapshot, and more.
        (Tables::Memory, Level::RepeatableRead) => {
            &[G0, G1a, G1b, G1c, LostUpdate, GSingleItem, GSingle, G2Item, Internal, Vanished]
        }
        (_, Level::Serializable) => {
            &[G0, G1a, G1b, G1c, LostUpdate, GSingleItem, GSingle, G2Item, G2, Internal, Vanished]
        }
        (_, Level::Snapshot) | (Tables::Memory, _) => {
            &[G0, G1a, G1b, G1c, LostUpdate, GSingleItem, GSingle, Internal, Vanished]
        }
    }
}

#[derive(Default)]
struct Edges {
    ww: Vec<(usize, usize)>,
    wr: Vec<(usize, usize)>,
    rw_item: Vec<(usize, usize)>,
    rw_predicate: Vec<(usize, usize)>,
}

/// The anomalies of a history.
pub fn check(history: &[Transaction]) -> BTreeSet<Anomaly> {
    let mut found = BTreeSet::new();
    let edges = edges(history, &mut found);
    let count = history.len();
    let all = |parts: &[&[(usize, usize)]]| adjacency(count, parts);
    let ww = all(&[&edges.ww]);
    let dependencies = all(&[&edges.ww, &edges.wr]);
    if has_cycle(&ww) {
        found.insert(Anomaly::G0);
    }
    if has_cycle(&dependencies) {
        found.insert(Anomaly::G1c);
    }
    let mut ways = Ways::new(&dependencies, history);
    if edges.rw_item.iter().any(|&(a, b)| ways.reaches(b, a)) {
        found.extend([Anomaly::GSingleItem, Anomaly::GSingle]);
    } else if edges.rw_predicate.iter().any(|&(a, b)| ways.reaches(b, a)) {
        found.insert(Anomaly::GSingle);
    }
    if has_cycle(&all(&[&edges.ww, &edges.wr, &edges.rw_item])) {
        found.insert(Anomaly::G2Item);
    }
    if has_cycle(&all(&[&edges.ww, &edges.wr, &edges.rw_item, &edges.rw_predicate])) {
        found.insert(Anomaly::G2);
    }
    // A cycle of dependencies alone has no rw edge: it is G1c, and nothing of what follows.
    found
}

fn edges(history: &[Transaction], found: &mut BTreeSet<Anomaly>) -> Edges {
    // Who wrote which value of a register, whether it was its last there; who added which member.
    let mut writers: HashMap<(i64, i64), (usize, bool)> = HashMap::new();
    let mut replaced: HashMap<(i64, i64), usize> = HashMap::new();
    let mut adders: HashMap<(i64, i64), usize> = HashMap::new();
    let mut added: HashMap<i64, Vec<(i64, usize)>> = HashMap::new();
    for (t, transaction) in history.iter().enumerate() {
        let mut last: HashMap<i64, i64> = HashMap::new();
        for op in &transaction.ops {
            match op {
                Op::Write { key, value, .. } => {
                    if let Some(before) = last.insert(*key, *value) {
                        writers.insert((*key, before), (t, false));
                    }
                    writers.insert((*key, *value), (t, true));
                }
                Op::Add { key, member } => {
                    adders.insert((*key, *member), t);
                    if transaction.committed {
                        added.entry(*key).or_default().push((*member, t));
                    }
                }
                Op::Read { .. } | Op::Members { .. } => {}
            }
        }
    }
    let mut edges = Edges::default();
    for (t, transaction) in history.iter().enumerate().filter(|(_, t)| t.committed) {
        for op in &transaction.ops {
            let Op::Write { key, before, .. } = op else { continue };
            match writers.get(&(*key, *before)) {
                Some((w, _)) if *w != t => {
                    if !history[*w].committed {
                        found.insert(Anomaly::G1a);
                    }
                    edges.ww.push((*w, t));
                    replaced.insert((*key, *before), t);
                }
                None => {
                    replaced.insert((*key, *before), t);
                }
                Some(_) => {}
            }
        }
    }
    for (t, transaction) in history.iter().enumerate().filter(|(_, t)| t.committed) {
        let mut own: HashMap<i64, i64> = HashMap::new();
        let mut own_members: BTreeSet<(i64, i64)> = BTreeSet::new();
        let mut read_first: HashMap<i64, i64> = HashMap::new();
        for op in &transaction.ops {
            match op {
                Op::Read { value: NOTHING, .. } => {
                    found.insert(Anomaly::Vanished);
                }
                Op::Read { key, value } => {
                    if let Some(mine) = own.get(key) {
                        if mine != value {
                            found.insert(Anomaly::Internal);
                        }
                        continue;
                    }
                    read_first.entry(*key).or_insert(*value);
                    match writers.get(&(*key, *value)) {
                        Some((w, last)) if *w != t => {
                            if !history[*w].committed {
                                found.insert(Anomaly::G1a);
                            } else if !last {
                                found.insert(Anomaly::G1b);
                            }
                            edges.wr.push((*w, t));
                        }
                        _ => {}
                    }
                    if let Some(next) = replaced.get(&(*key, *value)).filter(|n| **n != t) {
                        edges.rw_item.push((t, *next));
                    }
                }
                Op::Write { key, before, value } => {
                    let stale = read_first.get(key).is_some_and(|seen| seen != before);
                    if stale && !own.contains_key(key) {
                        // Between its read and its write another one wrote: if that one had read the same version,
                        // or not, the update was made from a value that was gone.
                        found.insert(Anomaly::LostUpdate);
                    }
                    own.insert(*key, *value);
                }
                Op::Add { key, member } => {
                    own_members.insert((*key, *member));
                }
                Op::Members { key, members } => {
                    let seen: BTreeSet<i64> = members.iter().copied().collect();
                    if own_members.iter().any(|(k, m)| k == key && !seen.contains(m)) {
                        found.insert(Anomaly::Internal);
                    }
                    for member in &seen {
                        match adders.get(&(*key, *member)) {
                            Some(w) if *w != t => {
                                if !history[*w].committed {
                                    found.insert(Anomaly::G1a);
                                }
                                edges.wr.push((*w, t));
                            }
                            _ => {}
                        }
                    }
                    for (member, w) in added.get(key).into_iter().flatten() {
                        if *w != t && !seen.contains(member) {
                            edges.rw_predicate.push((t, *w));
                        }
                    }
                }
            }
        }
    }
    edges
}

fn adjacency(count: usize, parts: &[&[(usize, usize)]]) -> Vec<Vec<usize>> {
    let mut next = vec![Vec::new(); count];
    for (a, b) in parts.iter().flat_map(|p| p.iter()) {
        next[*a].push(*b);
    }
    next
}

/// Takes away what nobody points at, again and again: what is left lies on cycles or behind them.
fn has_cycle(next: &[Vec<usize>]) -> bool {
    let mut incoming = vec![0usize; next.len()];
    next.iter().flatten().for_each(|b| incoming[*b] += 1);
    let mut free: Vec<usize> = (0..next.len()).filter(|n| incoming[*n] == 0).collect();
    let mut gone = 0;
    while let Some(a) = free.pop() {
        gone += 1;
        for &b in &next[a] {
            incoming[b] -= 1;
            if incoming[b] == 0 {
                free.push(b);
            }
        }
    }
    gone < next.len()
}

/// Asks many times whether one transaction can be reached from another.
///
/// Transactions stand in an order in which every edge goes forwards, and among those that may come next the one that
/// wrote the lowest value does: about the order in which they ran. So an answer looks only at what lies between the two,
/// which is little, as two that are asked about ran side by side; and nothing where the one from which to start comes
/// later.
struct Ways<'a> {
    next: &'a [Vec<usize>],
    /// Place in the order; what lies on a cycle or behind one has the last.
    place: Vec<usize>,
    /// In which question it was seen last.
    seen: Vec<u32>,
    question: u32,
    todo: Vec<usize>,
}

impl<'a> Ways<'a> {
    fn new(next: &'a [Vec<usize>], history: &[Transaction]) -> Ways<'a> {
        let when = |t: usize| {
            let written = |op: &Op| match op {
                Op::Write { value, .. } => Some(*value),
                Op::Add { member, .. } => Some(*member),
                Op::Read { value, .. } => Some(*value),
                Op::Members { members, .. } => members.iter().copied().max(),
            };
            history[t].ops.iter().filter_map(written).max().unwrap_or(0)
        };
        let mut incoming = vec![0usize; next.len()];
        next.iter().flatten().for_each(|b| incoming[*b] += 1);
        let mut free: BinaryHeap<Reverse<(i64, usize)>> = BinaryHeap::new();
        let ready = (0..next.len()).filter(|t| incoming[*t] == 0);
        free.extend(ready.map(|t| Reverse((when(t), t))));
        let mut place = vec![next.len(); next.len()];
        let mut places = 0..;
        while let Some(Reverse((_, a))) = free.pop() {
            place[a] = places.next().unwrap_or(next.len());
            for &b in &next[a] {
                incoming[b] -= 1;
                if incoming[b] == 0 {
                    free.push(Reverse((when(b), b)));
                }
            }
        }
        Ways { next, place, seen: vec![0; next.len()], question: 0, todo: Vec::new() }
    }

    fn reaches(&mut self, from: usize, to: usize) -> bool {
        let last = self.place[to];
        if self.place[from] > last {
            return false;
        }
        self.question += 1;
        self.todo.clear();
        self.todo.push(from);
        while let Some(at) = self.todo.pop() {
            if at == to {
                return true;
            }
            for &b in &self.next[at] {
                let seen = std::mem::replace(&mut self.seen[b], self.question);
                if seen != self.question && self.place[b] <= last {
                    self.todo.push(b);
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn t(ops: &[Op]) -> Transaction {
        Transaction { session: 0, ops: ops.to_vec(), committed: true }
    }

    fn read(key: i64, value: i64) -> Op {
        Op::Read { key, value }
    }

    fn write(key: i64, before: i64, value: i64) -> Op {
        Op::Write { key, before, value }
    }

    fn set(key: i64, members: &[i64]) -> Op {
        Op::Members { key, members: members.to_vec() }
    }

    #[test]
    fn each_anomaly_is_named() {
        use Anomaly::*;
        let add = |key, member| Op::Add { key, member };
        let aborted = |ops: &[Op]| Transaction { committed: false, ..t(ops) };
        let cases: Vec<(Vec<Transaction>, &[Anomaly])> = vec![
            (vec![t(&[write(1, 0, 5)]), t(&[read(1, 5), write(1, 5, 6)])], &[]),
            (
                vec![t(&[write(1, 0, 5), write(2, 7, 6)]), t(&[write(1, 5, 8), write(2, 0, 7)])],
                &[G0, G1c, G2Item, G2],
            ),
            (vec![aborted(&[write(1, 0, 5)]), t(&[read(1, 5)])], &[G1a]),
            (vec![t(&[write(1, 0, 5), write(1, 5, 6)]), t(&[read(1, 5)])], &[G1b]),
            (
                vec![t(&[write(1, 0, 5), read(2, 6)]), t(&[write(2, 0, 6), read(1, 5)])],
                &[G1c, G2Item, G2],
            ),
            (
                vec![t(&[read(1, 0), write(1, 0, 5)]), t(&[read(1, 0), write(1, 5, 6)])],
                &[LostUpdate, GSingleItem, GSingle, G2Item, G2],
            ),
            (
                vec![t(&[read(1, 0), read(2, 6)]), t(&[write(1, 0, 5), write(2, 0, 6)])],
                &[GSingleItem, GSingle, G2Item, G2],
            ),
            (
                vec![
                    t(&[read(1, 0), read(2, 0), write(1, 0, 5)]),
                    t(&[read(1, 0), read(2, 0), write(2, 0, 6)]),
                ],
                &[G2Item, G2],
            ),
            (vec![t(&[set(1, &[]), add(1, 5)]), t(&[set(1, &[]), add(1, 6)])], &[G2]),
            (vec![t(&[set(1, &[]), set(1, &[5])]), t(&[add(1, 5)])], &[GSingle, G2]),
            (vec![t(&[write(1, 0, 5), read(1, 0)])], &[Internal]),
            (vec![t(&[set(1, &[5]), add(1, 6)]), t(&[add(1, 5)])], &[]),
            (vec![t(&[read(1, NOTHING)])], &[Vanished]),
        ];
        for (history, expected) in cases {
            let found: Vec<Anomaly> = check(&history).into_iter().collect();
            assert_eq!(found, expected, "{history:#?}");
        }
    }

    #[test]
    fn ways_are_those_of_a_plain_search() {
        let mut rng = stdx::Prng::new(7);
        for case in 0..300 {
            let count = 2 + rng.below(24) as usize;
            let mut next = vec![Vec::new(); count];
            for _ in 0..rng.below(3 * count as u64) {
                let (a, b) = (rng.below(count as u64) as usize, rng.below(count as u64) as usize);
                // Two thirds of the graphs have no cycle.
                if case % 3 == 0 || a < b {
                    next[a].push(b);
                }
            }
            let history: Vec<_> =
                (0..count).map(|_| t(&[write(1, 0, rng.below(9) as i64)])).collect();
            let mut ways = Ways::new(&next, &history);
            for from in 0..count {
                let mut reached = vec![false; count];
                let mut todo = vec![from];
                while let Some(at) = todo.pop() {
                    if !std::mem::replace(&mut reached[at], true) {
                        todo.extend(&next[at]);
                    }
                }
                for (to, reached) in reached.into_iter().enumerate() {
                    assert_eq!(ways.reaches(from, to), reached, "case {case}: {from} to {to}");
                }
            }
        }
    }
}
