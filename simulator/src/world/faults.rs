//! Which kinds of faults a world has.

use std::fmt;
use std::str::FromStr;

/// Kinds of faults, each on or off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Faults {
    /// Requests to the disk fail or take long, or there is no room.
    pub disk: bool,
    /// Delay, resets at any byte, silence, nobody to be reached; attentions, slow readers.
    pub network: bool,
    /// Loss of power, also while starting.
    pub crash: bool,
    /// The wall clock is set, the whole machine stands still for a while.
    pub clock: bool,
}

impl Faults {
    pub const ALL: Faults = Faults { disk: true, network: true, crash: true, clock: true };
    pub const NONE: Faults = Faults { disk: false, network: false, crash: false, clock: false };
}

impl FromStr for Faults {
    type Err = String;

    /// A list as `disk,crash`; `all`; `none`.
    fn from_str(text: &str) -> Result<Faults, String> {
        let mut faults = Faults::NONE;
        for name in text.split(',') {
            match name.trim() {
                "all" => faults = Faults::ALL,
                "none" => {}
                "disk" => faults.disk = true,
                "network" => faults.network = true,
                "crash" => faults.crash = true,
                "clock" => faults.clock = true,
                other => {
                    return Err(format!(
                        "there are no faults '{other}'; there are disk, network, crash, clock, all and none"
                    ));
                }
            }
        }
        Ok(faults)
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = [
            ("disk", self.disk),
            ("network", self.network),
            ("crash", self.crash),
            ("clock", self.clock),
        ];
        let names: Vec<&str> = named.iter().filter(|(_, on)| *on).map(|(name, _)| *name).collect();
        f.write_str(&if names.is_empty() { "none".to_owned() } else { names.join(",") })
    }
}
