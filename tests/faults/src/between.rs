//! What lies between the server and the disk that forgets: nothing, or a real ext4 on a loop device.
//!
//! With nothing, the server meets the strictest rules that POSIX allows. With ext4, the disk is one file, the block
//! device: what the kernel's file system makes of syncs, journal and flushes decides what survives, and any choice of
//! 512-byte sectors that were written since the last flush may be lost, as a drive with a volatile cache may lose
//! them.

use crate::mount::Mount;
use clap::ValueEnum;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The block device's size. Only what is written is held in memory.
const DISK_BYTES: u64 = 1 << 30;

/// What there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Between {
    #[default]
    Nothing,
    Ext4,
}

/// The place for the server's files.
pub enum Ground {
    Nothing { folder: PathBuf },
    Ext4 { image: PathBuf, folder: PathBuf, up: bool },
}

impl Ground {
    pub fn new(between: Between, mount: &Mount) -> Result<Ground, String> {
        let below = mount.folder().to_owned();
        Ok(match between {
            Between::Nothing => Ground::Nothing { folder: below },
            Between::Ext4 => {
                let folder = below.with_extension("ext4");
                std::fs::create_dir_all(&folder)
                    .map_err(|e| format!("{}: {e}", folder.display()))?;
                Ground::Ext4 { image: below.join("disk"), folder, up: false }
            }
        })
    }

    /// Where files go, once it is up.
    pub fn folder(&self) -> &Path {
        match self {
            Ground::Nothing { folder } | Ground::Ext4 { folder, .. } => folder,
        }
    }

    /// Makes the file system on an empty disk. Durable on return.
    pub fn make(&mut self) -> Result<(), String> {
        let Ground::Ext4 { image, .. } = self else { return Ok(()) };
        let file = OpenOptions::new().write(true).create_new(true).open(&*image);
        file.and_then(|file| {
            file.set_len(DISK_BYTES)?;
            file.sync_all()?;
            std::fs::File::open(image.parent().expect("it lies in a folder"))?.sync_all()
        })
        .map_err(|error| format!("{}: {error}", image.display()))?;
        // Errors end the file system at once: what comes later would not be what a machine without power does.
        run(
            "mkfs.ext4",
            &["-q", "-F", "-e", "remount-ro", "-O", "^resize_inode", "-J", "size=16", &text(image)],
        )
        .map(drop)
    }

    /// Attaches and mounts.
    pub fn up(&mut self) -> Result<(), String> {
        let Ground::Ext4 { image, folder, up } = self else { return Ok(()) };
        if *up {
            return Ok(());
        }
        let device = run("losetup", &["--find", "--show", "--direct-io=on", &text(image)])?;
        let device = device.trim();
        let mounted = run("mount", &["-t", "ext4", "-o", "noatime", device, &text(folder)]);
        // Gone with its last user.
        run("losetup", &["--detach", device])?;
        *up = mounted.is_ok();
        mounted.map(drop)
    }

    /// Unmounts, whatever the disk says.
    pub fn down(&mut self) {
        if let Ground::Ext4 { folder, up, .. } = self
            && std::mem::take(up)
            && let Err(error) = run("umount", &[&text(folder)])
        {
            eprintln!("faults: {error}");
        }
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        self.down();
        if let Ground::Ext4 { folder, .. } = self {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Runs a tool; its output, or what it complained of.
fn run(tool: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(tool).args(arguments).output().map_err(|e| format!("{tool}: {e}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!(
        "{tool} {}: {}",
        arguments.join(" "),
        String::from_utf8_lossy(&output.stderr).trim()
    ))
}

/// Mounts from here on are this process's and its children's alone, and end with them. Before the first thread.
pub fn keep_mounts_private() {
    // SAFETY: plain system calls with constant strings; where they are refused, mounts are as usual.
    unsafe {
        if libc::unshare(libc::CLONE_NEWNS) == 0 {
            let (none, root) = (c"none".as_ptr(), c"/".as_ptr());
            libc::mount(none, root, none, libc::MS_REC | libc::MS_PRIVATE, std::ptr::null());
        }
    }
}
