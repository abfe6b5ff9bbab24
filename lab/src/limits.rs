//! What a machine cannot show of a post's experiment, in words.

use crate::bench::Bench;

/// The post ran on `cores` cores. `so`: what becomes of it on fewer.
pub(crate) fn of_cpus(bench: &mut Bench<'_>, cores: usize, so: &str) {
    let cpus = match bench.settings().cpus.len() {
        0 => bench.machine().cpus,
        chosen => chosen,
    };
    if cpus < cores {
        bench.cannot_show(format!(
            "The post's machine has {cores} cores, this run has {cpus} CPU(s): {so}."
        ));
    }
}

/// The post ran on several sockets.
pub(crate) fn of_sockets(bench: &mut Bench<'_>, sockets: usize) {
    let here = bench.machine().packages.max(1);
    if here < sockets {
        bench.cannot_show(format!(
            "The post's machine has {sockets} sockets, this one {here}: what it costs to hand a cache line from one \
             socket to another is not in these figures."
        ));
    }
}

/// The post's log lay on flash in the machine itself.
pub(crate) fn of_device(bench: &mut Bench<'_>) {
    if bench.machine().virtual_machine {
        bench.cannot_show(
            "The post's log lay on a PCIe flash card; this is a virtual machine, whose flushes go as far as its host \
             takes them. `lab run log-device` tells what they cost.",
        );
    }
}
