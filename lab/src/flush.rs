//! The device's own flush, measured where the log will lie: what a commit cannot beat.

use crate::document::DeviceFlush;
use crate::error::LabError;
use device::{FileSystem, OpenOptions};
use hdrhistogram::Histogram;
use runtime::clock;
use scheduler::Schedulers;
use std::path::Path;
use std::sync::Arc;
use telemetry::WaitType;

/// Blocks of the scratch file, written in turn.
const BLOCKS: u64 = 1024;
const BLOCK_BYTES: u64 = 4096;
const SECONDS: u64 = 1;

/// Durable 4 KiB writes, one after the other, by one task of `schedulers`, for a second.
pub(crate) fn measure(
    schedulers: &Arc<Schedulers>,
    fs: &Arc<dyn FileSystem>,
    folder: &Path,
) -> Result<DeviceFlush, LabError> {
    let path = folder.join("flush.tmp");
    let file = fs.open(&path, OpenOptions::create().direct())?;
    file.allocate(0, BLOCKS * BLOCK_BYTES)?;
    let task = schedulers.spawn("device flush", None, move || -> std::io::Result<_> {
        let bytes = stdx::AlignedBuf::zeroed(BLOCK_BYTES as usize);
        let mut latencies =
            Histogram::<u64>::new_with_max(60_000_000_000, 3).map_err(std::io::Error::other)?;
        let began = clock::now_ns();
        let mut now = began;
        let mut block = 0;
        while now - began < SECONDS * 1_000_000_000 {
            file.write_all_at(block * BLOCK_BYTES, &bytes, true, WaitType::WriteLog)?;
            block = (block + 1) % BLOCKS;
            let then = std::mem::replace(&mut now, clock::now_ns());
            latencies.saturating_record(now - then);
        }
        Ok((latencies, (now - began) as f64 / 1e9))
    });
    let measured = task.join().map_err(|_| LabError::Panicked("device flush".to_owned()))?;
    let (latencies, seconds) = measured?;
    fs.remove(&path)?;
    let us = |q| latencies.value_at_quantile(q) as f64 / 1e3;
    Ok(DeviceFlush {
        p10_us: us(0.10),
        p50_us: us(0.50),
        p99_us: us(0.99),
        flushes_per_s: latencies.len() as f64 / seconds,
    })
}
