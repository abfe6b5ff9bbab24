//! The guest's root: this program as `/init`, the server, what both link to, and the kernel's modules, as one archive
//! (the "newc" form of cpio, linux Documentation/driver-api/early-userspace/buffer-format.rst).

use super::agent::MODULES;
use object::{Object, ObjectSection};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the guest's devices need, each after what it depends on.
const WANTED: &[&str] = &[
    "crc32c_generic",
    "virtio_pci",
    "virtio_blk",
    "virtio_net",
    "ext4",
    "dm_mod",
    "dm_log_writes",
    "dm_flakey",
];

/// An unpacked Debian package of the kernel.
pub struct Kernel {
    pub image: PathBuf,
    modules: PathBuf,
}

impl Kernel {
    /// From Debian's archive, once: unpacked under `folder`, not installed.
    pub fn get(folder: &Path) -> Result<Kernel, String> {
        let unpacked = folder.join("kernel");
        if let Ok(kernel) = Kernel::find(&unpacked) {
            return Ok(kernel);
        }
        std::fs::create_dir_all(folder)
            .map_err(|error| format!("{}: {error}", folder.display()))?;
        let package = match newest() {
            Some(package) => package,
            // A machine that was just made has no lists.
            None => {
                output(Command::new("apt-get").args(["update", "-qq"]))?;
                newest().ok_or("apt knows no kernel (linux-image-amd64)")?
            }
        };
        println!("guest: getting {package}");
        output(Command::new("apt-get").args(["download", "-qq", &package]).current_dir(folder))?;
        let file = std::fs::read_dir(folder)
            .map_err(|error| error.to_string())?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .find(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                name.starts_with(&package) && name.ends_with(".deb")
            })
            .ok_or("apt-get download left no package")?;
        let new = folder.join("kernel-new");
        let _ = std::fs::remove_dir_all(&new);
        output(Command::new("dpkg-deb").arg("-x").arg(&file).arg(&new))?;
        let _ = std::fs::remove_dir_all(&unpacked);
        std::fs::rename(&new, &unpacked).map_err(|error| error.to_string())?;
        let _ = std::fs::remove_file(file);
        Kernel::find(&unpacked)
    }

    fn find(unpacked: &Path) -> Result<Kernel, String> {
        let first = |folder: &Path, prefix: &str| {
            let entries = std::fs::read_dir(folder).ok()?;
            let mut paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
            paths.find(|p| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with(prefix)))
        };
        let image = first(&unpacked.join("boot"), "vmlinuz-").ok_or("no kernel")?;
        let modules = first(&unpacked.join("lib/modules"), "").ok_or("no modules")?;
        Ok(Kernel { image, modules })
    }

    /// The files of the wanted modules and all they depend on, in the order of loading.
    fn modules(&self) -> Result<Vec<PathBuf>, String> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.modules.join("kernel")];
        while let Some(folder) = folders.pop() {
            let entries = std::fs::read_dir(&folder).map_err(|error| error.to_string())?;
            for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|e| e == "ko") {
                    let name = path.file_stem().unwrap_or_default().to_string_lossy();
                    files.insert(name.replace('-', "_"), path);
                }
            }
        }
        let builtin = std::fs::read_to_string(self.modules.join("modules.builtin"));
        let builtin = builtin.unwrap_or_default().replace('-', "_");
        let mut order = Vec::new();
        for name in WANTED {
            add(name, &files, &builtin, &mut order)?;
        }
        Ok(order)
    }
}

/// The package that linux-image-amd64 stands for.
fn newest() -> Option<String> {
    let text = output(Command::new("apt-cache").args(["depends", "linux-image-amd64"])).ok()?;
    let version = text.lines().find_map(|l| l.trim().strip_prefix("Depends: linux-image-"))?;
    Some(format!("linux-image-{version}"))
}

fn add(
    name: &str,
    files: &BTreeMap<String, PathBuf>,
    builtin: &str,
    order: &mut Vec<PathBuf>,
) -> Result<(), String> {
    let Some(file) = files.get(name) else {
        let own = format!("/{name}.ko");
        let has = builtin.lines().any(|line| line.ends_with(&own));
        return if has { Ok(()) } else { Err(format!("the kernel has no module {name}")) };
    };
    if order.contains(file) {
        return Ok(());
    }
    for dependency in depends(file)? {
        add(&dependency, files, builtin, order)?;
    }
    order.push(file.clone());
    Ok(())
}

/// The line `depends=` of a module's own description.
fn depends(module: &Path) -> Result<Vec<String>, String> {
    let said = |error: &dyn std::fmt::Display| format!("{}: {error}", module.display());
    let bytes = std::fs::read(module).map_err(|error| said(&error))?;
    let file = object::File::parse(&*bytes).map_err(|error| said(&error))?;
    let section = file.section_by_name(".modinfo").ok_or_else(|| said(&"no .modinfo"))?;
    let data = section.data().map_err(|error| said(&error))?;
    let lines = data.split(|byte| *byte == 0).filter_map(|line| std::str::from_utf8(line).ok());
    let names = lines.filter_map(|line| line.strip_prefix("depends=")).flat_map(|l| l.split(','));
    Ok(names.filter(|n| !n.is_empty()).map(|n| n.replace('-', "_")).collect())
}

/// Writes the archive.
pub fn build(kernel: &Kernel, server: &Path, to: &Path) -> Result<(), String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let scratch = to.with_extension("stripped");
    let mut archive = Archive::default();
    archive.node("dev/console", 0o020_600, (5, 1));
    let mut libraries = Vec::new();
    for (name, program) in [("init", own.as_path()), ("bin/millrace", server)] {
        // Debug information would be most of it.
        let strip = Command::new("strip")
            .arg("--strip-debug")
            .arg("-o")
            .arg(&scratch)
            .arg(program)
            .status();
        let stripped = strip.is_ok_and(|status| status.success());
        archive.file(name, 0o755, if stripped { &scratch } else { program })?;
        libraries.extend(linked(program)?);
    }
    let _ = std::fs::remove_file(&scratch);
    libraries.sort();
    libraries.dedup();
    for library in libraries {
        archive.file(library.to_string_lossy().trim_start_matches('/'), 0o755, &library)?;
    }
    for (i, module) in kernel.modules()?.iter().enumerate() {
        let name = module.file_name().unwrap_or_default().to_string_lossy();
        archive.file(
            &format!("{}/{i:03}-{name}", MODULES.trim_start_matches('/')),
            0o644,
            module,
        )?;
    }
    std::fs::write(to, archive.end()).map_err(|error| format!("{}: {error}", to.display()))
}

/// What the loader takes with it: `/lib/x/name.so` stands alone or behind `=>`.
fn linked(program: &Path) -> Result<Vec<PathBuf>, String> {
    let text = output(Command::new("ldd").arg(program))?;
    let paths = text.lines().filter_map(|line| {
        let line = line.trim();
        let path = line.split_once("=> ").map_or(line, |(_, path)| path);
        let path = path.split(' ').next()?;
        path.starts_with('/').then(|| PathBuf::from(path))
    });
    Ok(paths.collect())
}

/// Runs a tool to its end.
pub fn output(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let done = command.output().map_err(|error| format!("{program}: {error}"))?;
    if !done.status.success() {
        let words = String::from_utf8_lossy(&done.stderr).into_owned();
        return Err(format!("{program}: {}: {}", done.status, words.trim()));
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

#[derive(Default)]
struct Archive {
    bytes: Vec<u8>,
    folders: std::collections::BTreeSet<String>,
}

impl Archive {
    fn file(&mut self, name: &str, mode: u32, from: &Path) -> Result<(), String> {
        let data = std::fs::read(from).map_err(|error| format!("{}: {error}", from.display()))?;
        self.folders_of(name);
        self.entry(name, 0o100_000 | mode, (0, 0), &data);
        Ok(())
    }

    fn node(&mut self, name: &str, mode: u32, device: (u32, u32)) {
        self.folders_of(name);
        self.entry(name, mode, device, &[]);
    }

    fn folders_of(&mut self, name: &str) {
        for (at, _) in name.match_indices('/') {
            if self.folders.insert(name[..at].to_owned()) {
                self.entry(&name[..at], 0o040_755, (0, 0), &[]);
            }
        }
    }

    fn entry(&mut self, name: &str, mode: u32, device: (u32, u32), data: &[u8]) {
        let name_len = name.len() as u32 + 1;
        let (major, minor) = device;
        let fields = [0, mode, 0, 0, 1, 0, data.len() as u32, 0, 0, major, minor, name_len, 0];
        self.bytes.extend_from_slice(b"070701");
        for field in fields {
            self.bytes.extend_from_slice(format!("{field:08x}").as_bytes());
        }
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend_from_slice(data);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    fn end(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, (0, 0), &[]);
        self.bytes
    }
}
