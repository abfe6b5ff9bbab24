//! The kernel's paths down to the medium: what std and io_uring's flags become on the way.

use super::*;
use std::fs;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};

/// A mounted disk, or `None` where this process may not mount; CI may, and says so if not.
fn mounted(name: &str) -> Option<Mount> {
    let folder = std::env::temp_dir().join(format!("forgetful-{name}-{}", std::process::id()));
    match Mount::new(&folder) {
        Ok(mount) => Some(mount),
        Err(error) if std::env::var_os("CI").is_none() => {
            eprintln!("left out: no FUSE here: {error}");
            None
        }
        Err(error) => panic!("CI has FUSE: {error}"),
    }
}

fn cut_to_what_is_durable(mount: &Mount) {
    mount.freeze();
    mount.lose();
}

#[test]
fn files_are_files_until_the_power_goes() {
    let Some(mount) = mounted("files") else { return };
    let folder = mount.folder().join("d");
    fs::create_dir(&folder).unwrap();
    let path = folder.join("f");
    fs::write(&path, b"hello").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"hello");
    fs::rename(&path, folder.join("g")).unwrap();
    let file = fs::OpenOptions::new().read(true).write(true).open(folder.join("g")).unwrap();
    file.sync_all().unwrap();
    fs::File::open(&folder).unwrap().sync_all().unwrap();
    fs::File::open(mount.folder()).unwrap().sync_all().unwrap();
    file.write_all_at(b"lost!", 0).unwrap();
    file.set_len(100).unwrap();
    assert_eq!(fs::read(folder.join("g")).unwrap().len(), 100);
    drop(file);
    cut_to_what_is_durable(&mount);
    assert_eq!(fs::read(folder.join("g")).unwrap(), b"hello");
}

#[test]
fn a_write_with_rwf_dsync_is_durable_and_one_without_is_not() {
    let Some(mount) = mounted("dsync") else { return };
    let path = mount.folder().join("f");
    let open = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .custom_flags(libc::O_DIRECT)
        .open(&path);
    let file = open.unwrap();
    file.set_len(8192).unwrap();
    file.sync_all().unwrap();
    fs::File::open(mount.folder()).unwrap().sync_all().unwrap();
    #[repr(align(4096))]
    struct Block([u8; 4096]);
    let block = Box::new(Block([7; 4096]));
    let iov = libc::iovec { iov_base: block.0.as_ptr().cast_mut().cast(), iov_len: 4096 };
    // SAFETY: an open descriptor, and memory that lives and is only read.
    let n = unsafe { libc::pwritev2(file.as_raw_fd(), &iov, 1, 4096, libc::RWF_DSYNC) };
    assert_eq!(n, 4096);
    // SAFETY: as above.
    assert_eq!(unsafe { libc::pwritev(file.as_raw_fd(), &iov, 1, 0) }, 4096);
    drop(file);
    cut_to_what_is_durable(&mount);
    let left = fs::read(&path).unwrap();
    assert!(left[..4096].iter().all(|&b| b == 0) && left[4096..].iter().all(|&b| b == 7));
}

#[test]
fn a_planned_fault_strikes_once_and_the_power_goes_when_told() {
    let Some(mount) = mounted("faults") else { return };
    let path = mount.folder().join("f");
    let file = fs::File::create(&path).unwrap();
    let site = Site { request: Asked::Sync, file: "f".to_owned(), nth: 2 };
    mount.plan(Some((site, Failing(libc::EIO))));
    file.sync_all().unwrap();
    assert_eq!(file.sync_all().unwrap_err().raw_os_error(), Some(libc::EIO));
    assert!(mount.fired());
    file.sync_all().unwrap();
    mount.arm(Some(2));
    file.write_all_at(b"one", 0).unwrap();
    assert!(!mount.is_dead());
    assert_eq!(file.write_all_at(b"two", 0).unwrap_err().raw_os_error(), Some(libc::EIO));
    assert!(mount.wait_for_death(Duration::from_secs(60)));
    assert!(fs::metadata(&path).is_err());
}
