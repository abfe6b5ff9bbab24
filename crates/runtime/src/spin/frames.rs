//! A function for each class of spinlock, so that a sampled stack says for which lock it spun.
//!
//! They do nothing but call. A constant of its own keeps each from being merged with the others, and the work after the
//! call keeps its frame on the stack.

use telemetry::SpinClass;

macro_rules! frames {
    ($($class:ident)*) => {
        /// Runs `wait` under the frame of `class`.
        pub(super) fn under(class: SpinClass, wait: &mut dyn FnMut()) {
            match class { $(SpinClass::$class => of::$class(wait)),* }
        }

        #[allow(non_snake_case, reason = "the classes' own names, as profiles show them")]
        mod of {
            use telemetry::SpinClass;

            $(#[cold]
            #[inline(never)]
            pub fn $class(wait: &mut dyn FnMut()) {
                wait();
                std::hint::black_box(SpinClass::$class as u32);
            })*
        }
    };
}

frames! {
    LogCacheAccess
    LogFlushQ
    LogLease
    XdesMgr
    Xdes
    OptIdxStats
    OptIdxMissKey
    LockHash
    SosScheduler
    SosTask
    SosObjectStore
    SosSuspendQueue
    SqlMgr
    Mutex
    BufFreeList
    BufHash
    DpList
    VersionStore
    Alloc
    Test
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_a_frame() {
        let mut calls = 0;
        SpinClass::ALL.iter().for_each(|&class| under(class, &mut || calls += 1));
        assert_eq!(calls, SpinClass::ALL.len());
    }
}
