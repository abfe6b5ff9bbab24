//! The queue of one lock: holders and waiters.
//!
//! A queue is fair: a newcomer waits behind conflicting waiters; a holder that wants more (a conversion) goes first.
//!
//! Invariant: whoever waits conflicts with a holder or with a waiter before it, so that [`Queue::blockers`] names somebody
//! and a cycle is seen.

use crate::Owner;
use crate::wait::WaitNode;
use std::collections::VecDeque;
use std::sync::Arc;

pub(crate) struct Waiter<M> {
    pub(crate) owner: Owner,
    pub(crate) mode: M,
    pub(crate) node: Arc<WaitNode>,
}

/// Holders and waiters of one lock. The first holder lies in the struct: most locks have one.
pub(crate) struct Queue<M> {
    first: Option<(Owner, M)>,
    more: Vec<(Owner, M)>,
    pub(crate) waiters: VecDeque<Waiter<M>>,
}

impl<M> Default for Queue<M> {
    fn default() -> Self {
        Queue { first: None, more: Vec::new(), waiters: VecDeque::new() }
    }
}

impl<M: Copy + PartialEq> Queue<M> {
    /// With one holder.
    #[inline]
    pub(crate) fn of(owner: Owner, mode: M) -> Queue<M> {
        Queue { first: Some((owner, mode)), ..Queue::default() }
    }

    pub(crate) fn holders(&self) -> impl Iterator<Item = (Owner, M)> + '_ {
        self.first.iter().chain(&self.more).copied()
    }

    pub(crate) fn holds(&self, owner: Owner) -> bool {
        self.holders().any(|(o, _)| o == owner)
    }

    pub(crate) fn mode_of(&self, owner: Owner) -> Option<M> {
        self.holders().find(|(o, _)| *o == owner).map(|(_, m)| m)
    }

    pub(crate) fn add(&mut self, owner: Owner, mode: M) {
        if self.first.is_none() {
            self.first = Some((owner, mode));
        } else {
            self.more.push((owner, mode));
        }
    }

    /// Changes the mode of a holder.
    pub(crate) fn set(&mut self, owner: Owner, mode: M) {
        for holder in self.first.iter_mut().chain(&mut self.more) {
            if holder.0 == owner {
                holder.1 = mode;
            }
        }
    }

    /// Removes one hold of `owner` for which `which` is true.
    pub(crate) fn remove(&mut self, owner: Owner, which: impl Fn(M) -> bool) {
        if self.first.is_some_and(|(o, m)| o == owner && which(m)) {
            self.first = self.more.pop();
        } else if let Some(i) = self.more.iter().position(|&(o, m)| o == owner && which(m)) {
            self.more.swap_remove(i);
        }
    }

    pub(crate) fn is_unused(&self) -> bool {
        self.first.is_none() && self.waiters.is_empty()
    }

    /// Whether `owner` could hold `mode` beside the other holders.
    pub(crate) fn fits(&self, owner: Owner, mode: M, compatible: impl Fn(M, M) -> bool) -> bool {
        self.holders().all(|(o, m)| o == owner || compatible(mode, m))
    }

    /// Conversions go before newcomers, and among themselves in order.
    pub(crate) fn enqueue(&mut self, waiter: Waiter<M>) {
        if self.holds(waiter.owner) {
            let conversions = self.waiters.iter().take_while(|w| self.holds(w.owner)).count();
            self.waiters.insert(conversions, waiter);
        } else {
            self.waiters.push_back(waiter);
        }
    }

    /// Whether a newcomer need not wait for those who do.
    pub(crate) fn lets_pass(&self, mode: M, compatible: impl Fn(M, M) -> bool) -> bool {
        self.waiters.iter().all(|w| compatible(w.mode, mode))
    }

    /// The first waiter that need not wait any longer: it has room beside the holders, and conflicts with nobody before it.
    pub(crate) fn ready(
        &self,
        has_room: impl Fn(&Waiter<M>) -> bool,
        compatible: impl Fn(M, M) -> bool,
    ) -> Option<usize> {
        // Few modes: see `blockers`.
        let mut before: Vec<M> = Vec::new();
        self.waiters.iter().position(|w| {
            let ready = before.iter().all(|m| compatible(*m, w.mode)) && has_room(w);
            if !ready && !before.contains(&w.mode) {
                before.push(w.mode);
            }
            ready
        })
    }

    /// Takes a waiter out. False when it is not there (any more).
    pub(crate) fn withdraw(&mut self, owner: Owner) -> bool {
        let before = self.waiters.len();
        self.waiters.retain(|w| w.owner != owner);
        self.waiters.len() != before
    }

    /// Whom `owner` waits for here, directly or by waiters between: conflicting holders, and conflicting waiters
    /// before it; those that these wait for in turn.
    pub(crate) fn blockers(
        &self,
        owner: Owner,
        compatible: impl Fn(M, M) -> bool,
        out: &mut Vec<Owner>,
    ) {
        let Some(at) = self.waiters.iter().position(|w| w.owner == owner) else { return };
        // Few modes: a list without duplicates stays short however long the queue is.
        let mut modes = vec![self.waiters[at].mode];
        for w in self.waiters.range(..at).rev() {
            if modes.iter().any(|m| !compatible(*m, w.mode)) {
                out.push(w.owner);
                if !modes.contains(&w.mode) {
                    modes.push(w.mode);
                }
            }
        }
        let conflicts = |m: M| modes.iter().any(|wanted| !compatible(*wanted, m));
        out.extend(self.holders().filter(|&(o, m)| o != owner && conflicts(m)).map(|(o, _)| o));
    }

    /// The same, only those directly in the way: for `blocking_session_id`.
    pub(crate) fn first_blocker(
        &self,
        owner: Owner,
        compatible: impl Fn(M, M) -> bool,
    ) -> Option<Owner> {
        let at = self.waiters.iter().position(|w| w.owner == owner)?;
        let mode = self.waiters[at].mode;
        let holder = self.holders().find(|&(o, m)| o != owner && !compatible(mode, m));
        let before = || self.waiters.range(..at).find(|w| !compatible(mode, w.mode));
        holder.map(|(o, _)| o).or_else(|| before().map(|w| w.owner))
    }
}
