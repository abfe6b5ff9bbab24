//! The device mapper's ioctls, as far as the guest needs them (linux/dm-ioctl.h, version 4.0.0).
//!
//! A request is a header of 312 bytes, then what the command takes. Every request here fits in one page.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;

const HEADER: usize = 312;
const SIZE: usize = 4096;
const TARGET_SPEC: usize = 40;
const DEV_CREATE: u64 = 3;
const DEV_REMOVE: u64 = 4;
const DEV_SUSPEND: u64 = 6;
const TABLE_LOAD: u64 = 9;
const TARGET_MSG: u64 = 14;
/// A change of tables does not ask the file system to write out first: a loss of power would not, either.
const SKIP_LOCKFS_FLAG: u32 = 1 << 10;

/// The mapper's control device.
pub struct Mapper(File);

impl Mapper {
    pub fn open() -> io::Result<Mapper> {
        OpenOptions::new().read(true).write(true).open("/dev/mapper/control").map(Mapper)
    }

    pub fn create(&self, name: &str) -> io::Result<()> {
        self.ask(DEV_CREATE, name, 0, 0, &[])
    }

    pub fn remove(&self, name: &str) -> io::Result<()> {
        self.ask(DEV_REMOVE, name, 0, 0, &[])
    }

    /// Takes the place of the table that is live, without writing anything out.
    pub fn table(&self, name: &str, sectors: u64, target: &str, text: &str) -> io::Result<()> {
        let mut spec = vec![0u8; TARGET_SPEC];
        spec[8..16].copy_from_slice(&sectors.to_ne_bytes());
        spec[24..24 + target.len()].copy_from_slice(target.as_bytes());
        spec.extend_from_slice(text.as_bytes());
        spec.push(0);
        spec.resize(spec.len().next_multiple_of(8), 0);
        self.ask(TABLE_LOAD, name, 0, 1, &spec)?;
        // Without DM_SUSPEND_FLAG it resumes, with the table just loaded.
        self.ask(DEV_SUSPEND, name, SKIP_LOCKFS_FLAG, 0, &[])
    }

    /// A message to the target at sector 0.
    pub fn message(&self, name: &str, text: &str) -> io::Result<()> {
        let mut message = vec![0u8; 8];
        message.extend_from_slice(text.as_bytes());
        message.push(0);
        self.ask(TARGET_MSG, name, 0, 0, &message)
    }

    fn ask(
        &self,
        command: u64,
        name: &str,
        flags: u32,
        targets: u32,
        data: &[u8],
    ) -> io::Result<()> {
        assert!(HEADER + data.len() <= SIZE && name.len() < 128);
        // Of words, so that it is aligned as the kernel's structures are.
        let mut words = [0u64; SIZE / 8];
        let mut put = |at: usize, bytes: &[u8]| {
            for (i, byte) in bytes.iter().enumerate() {
                let (word, shift) = ((at + i) / 8, (at + i) % 8 * 8);
                words[word] |= u64::from(*byte) << shift;
            }
        };
        put(0, &4u32.to_le_bytes());
        put(12, &(SIZE as u32).to_le_bytes());
        put(16, &(HEADER as u32).to_le_bytes());
        put(20, &targets.to_le_bytes());
        put(28, &flags.to_le_bytes());
        put(48, name.as_bytes());
        put(HEADER, data);
        // _IOWR(0xfd, command, struct dm_ioctl)
        let request = 0xc000_0000 | (HEADER as u64) << 16 | 0xfd << 8 | command;
        // SAFETY: `words` is the request's whole memory, of the size that its header tells.
        match unsafe { libc::ioctl(self.0.as_raw_fd(), request, words.as_mut_ptr()) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}
