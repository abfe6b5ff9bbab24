//! Making the log file shorter: DBCC SHRINKFILE of a log.
//!
//! Free VLFs at the end of the file go. Opening finds the log by the unbroken run of sequences up to the highest, and
//! refuses strays below a gap; so before a used VLF goes, its header and those of all free ones with lower sequences
//! are wiped, lowest first, durably: whatever a loss of power leaves is an unbroken run. For that no header may be
//! on its way to a VLF that was used before, and none is begun until the file is cut. A header that cannot be wiped poisons the
//! log: what the file has is not known.

use crate::core::Core;
use crate::lsn::BLOCK_BYTES;
use crate::{Log, LogError};
use std::io;
use std::sync::atomic::Ordering::*;
use stdx::AlignedBuf;
use telemetry::WaitType;

/// VLFs that stay: one is the reserve for rollbacks.
const VLFS_MIN: usize = 2;

impl Log {
    /// Gives free VLFs at the end of the file back to the file system until it has `target_bytes` or nothing at its end
    /// is free; at least one free VLF stays. The file's length in bytes afterwards. Suspends.
    pub fn shrink(&self, target_bytes: u64) -> Result<u64, LogError> {
        let core = self.core_ref();
        core.check()?;
        // Nobody makes the file longer meanwhile.
        while core.growing.swap(true, AcqRel) {
            runtime::task::sleep_ns(1_000_000, WaitType::LogMgrReserveAppend);
        }
        let done = core.shrink_alone(target_bytes);
        core.growing.store(false, Release);
        core.space_came();
        done?;
        Ok(self.size_bytes())
    }
}

impl Core {
    fn shrink_alone(&self, target_bytes: u64) -> Result<(), LogError> {
        let io = |e| LogError::io("shrinking the log", &e);
        let (len, mut wipe, vlf_bytes) = loop {
            self.check()?;
            let mut vlfs = self.vlfs.lock();
            if !vlfs.is_activating() {
                let Some((len, wipe)) = vlfs.cut(target_bytes, VLFS_MIN) else { return Ok(()) };
                break (len, wipe, vlfs.vlf_bytes);
            }
            drop(vlfs);
            runtime::task::sleep_ns(1_000_000, WaitType::LogMgrReserveAppend);
        };
        wipe.sort_unstable();
        debug_assert!(len >= vlf_bytes);
        let wiped = self.wipe(&wipe);
        if let Err(error) = &wiped {
            self.fail(format!("shrinking the log: {error}"));
        }
        let done = wiped.and_then(|()| {
            self.file.set_len(len)?;
            self.file.sync(WaitType::IoCompletion)
        });
        self.vlfs.lock().give_back();
        done.map_err(io)
    }

    /// Wipes the headers, each durably before the next.
    fn wipe(&self, headers: &[(u64, u64)]) -> io::Result<()> {
        let zeros = AlignedBuf::zeroed(BLOCK_BYTES);
        for (_, offset) in headers {
            self.file.write_all_at(*offset, &zeros, true, WaitType::IoCompletion)?;
        }
        Ok(())
    }
}
