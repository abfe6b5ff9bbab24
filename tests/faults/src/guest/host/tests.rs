//! A disk in memory as a loop device with ext4: brought to a state, changed, brought back; and nothing left over.

use super::*;
use crate::guest::initramfs::output;
use std::process::Command;

/// Whether this process may; in CI it must.
fn may() -> bool {
    // SAFETY: a plain system call.
    let root = unsafe { libc::geteuid() } == 0;
    let may = root && Path::new("/dev/loop-control").exists();
    assert!(may || std::env::var_os("CI").is_none(), "CI has root and loop devices");
    if !may {
        eprintln!("left out: this needs root and loop devices");
    }
    may
}

fn loops() -> Vec<String> {
    let own = format!("{DISK}{}", std::process::id());
    let loops = names(Path::new("/sys/block")).filter(|name| {
        let told = Path::new("/sys/block").join(name).join("loop/backing_file");
        std::fs::read_to_string(told).is_ok_and(|backing| backing.contains(&own))
    });
    loops.collect()
}

#[test]
fn a_disk_is_mounted_changed_and_brought_back() {
    if !may() {
        return;
    }
    keep_mounts_to_oneself().unwrap();
    let folder = std::env::temp_dir().join(format!("guest-host-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (disk, point) = (folder.join("disk"), folder.join("mnt"));
    drop(sparse(&disk, 16 << 20).unwrap());
    output(Command::new("mke2fs").args(["-q", "-t", "ext4", "-F"]).arg(&disk)).unwrap();
    let image = Image::read(&disk).unwrap();
    let mut slot = Slot::new(image.len()).unwrap();
    assert!(slot.bring(&image).unwrap() > 0);
    assert_eq!(slot.bring(&image).unwrap(), 0, "only what differs is written");

    let mounted = Mounted::new(slot.file(), &point).unwrap();
    std::fs::write(mounted.path().join("f"), vec![7; 3 << 20]).unwrap();
    assert_eq!(loops().len(), 1);
    mounted.unmount().unwrap();
    assert!(loops().is_empty(), "the loop device is gone with the mount");

    // What was mounted is what is there next time.
    let mounted = Mounted::new(slot.file(), &point).unwrap();
    assert_eq!(std::fs::read(mounted.path().join("f")).unwrap(), vec![7; 3 << 20]);
    mounted.unmount().unwrap();

    assert!(slot.bring(&image).unwrap() > 700, "the file's pages are taken back");
    let mut back = vec![0; image.len()];
    slot.file.read_exact_at(&mut back, 0).unwrap();
    assert!(back == std::fs::read(&disk).unwrap());
    let mounted = Mounted::new(slot.file(), &point).unwrap();
    assert!(!mounted.path().join("f").exists());
    // Also undone when a case ends in the middle.
    drop(mounted);
    assert!(loops().is_empty());
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn folders_of_runs_that_are_gone_are_removed() {
    let folder = std::env::temp_dir().join(format!("guest-sweep-{}", std::process::id()));
    // The second number is none of a process: they end below it.
    let own = own_folder(&folder);
    let gone = folder.join(format!("{FOLDER}{}", u32::MAX));
    let other = folder.join("odd-guest-1");
    for path in [&own, &gone, &other] {
        std::fs::create_dir_all(path).unwrap();
    }
    sweep(&folder);
    assert!(own.exists() && other.exists() && !gone.exists());
    std::fs::remove_dir_all(&folder).unwrap();
}
