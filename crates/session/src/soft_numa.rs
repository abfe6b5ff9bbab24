//! Soft-NUMA at the start: by hand if CPUs were named, else automatic, unless ALTER SERVER CONFIGURATION SET SOFTNUMA OFF
//! is kept or trace flag 8015 makes one node of the machine.

use crate::config::{InstanceConfig, OpenError};
use crate::trace_flags::ONE_NODE;
use topology::Topology;
use topology::soft::{self, SoftNuma};

/// Says which nodes there are, before there are schedulers.
pub(crate) fn choose(config: &InstanceConfig, automatic: bool) -> Result<(), OpenError> {
    let Some(machine) = Topology::machine() else { return Ok(()) };
    let chosen = match &config.soft_nodes[..] {
        [] if automatic && !config.trace_flags.contains(&ONE_NODE) => SoftNuma::automatic(machine),
        [] => SoftNuma::off(machine),
        wanted => {
            let wrong = |wrong: soft::Wrong| OpenError::SoftNode { what: wrong.to_string() };
            SoftNuma::manual(machine, wanted).map_err(wrong)?
        }
    };
    soft::choose(chosen);
    Ok(())
}
