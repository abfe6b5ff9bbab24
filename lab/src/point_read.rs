//! Point reads over the wire.

use crate::bench::Bench;
use crate::error::LabError;
use crate::experiment::Experiment;
use crate::workload::{Kind, Mode, Settings};

/// `point-read`.
pub struct PointRead;

impl Experiment for PointRead {
    fn name(&self) -> &'static str {
        "point-read"
    }

    fn what(&self) -> &'static str {
        "N sessions read single rows of a million by key, at random, one prepared statement per round trip. Shows what \
         the way from the socket to the row and back costs when nothing is written. Needs a target that is a server."
    }

    fn posts(&self) -> &'static [u8] {
        &[]
    }

    fn takes(&self) -> &'static [&'static str] {
        &["sessions", "target", "mode", "pairs"]
    }

    fn defaults(&self) -> Settings {
        Settings { mode: Mode::Roundtrip, ..Settings::default() }
    }

    fn run(&self, bench: &mut Bench<'_>) -> Result<(), LabError> {
        if bench.settings().mode != Mode::Roundtrip {
            return Err(LabError::Options("point-read has the mode roundtrip only".to_owned()));
        }
        bench.measure(Kind::PointRead)
    }
}
