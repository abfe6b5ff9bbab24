//! A disk that forgets: files and folders, what of them would survive a loss of power, and the loss itself.
//!
//! Rules, the strictest that POSIX allows:
//! 1. A write is volatile until fsync or fdatasync of its file, or durable at once when it asks so (O_DSYNC, RWF_DSYNC).
//! 2. A name (made, removed, changed) is volatile until fsync of its folder, whatever is done to the file.
//! 3. A power cut keeps, of what is volatile: for each file any choice of writes and changes of length, each write
//!    whole or in any choice of its 512-byte sectors; for each folder some first part of the changes, in order.
//!    A rename is one change.
//!
//! Invariant: `live` is `durable` with all of `pending` applied, in order.

mod image;

use image::Image;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;
use stdx::Prng;

const SECTOR: usize = 512;
/// The root folder's number, as FUSE has it.
pub const ROOT: u64 = 1;

/// An error number of the operating system.
pub type Refusal = i32;

#[derive(Clone)]
enum Change {
    Write { offset: u64, bytes: Arc<[u8]> },
    Length(u64),
}

impl Change {
    fn apply(&self, image: &mut Image) {
        match self {
            Change::Write { offset, bytes } => image.write(*offset, bytes),
            Change::Length(len) => image.set_len(*len),
        }
    }
}

#[derive(Clone)]
struct Pending {
    change: Change,
    /// Durable already; kept in the list because something volatile came before it.
    settled: bool,
    /// A failed sync covered it: no later sync makes it durable.
    orphaned: bool,
}

#[derive(Clone, Default)]
struct FileNode {
    live: Image,
    durable: Image,
    pending: Vec<Pending>,
}

impl FileNode {
    fn change(&mut self, change: Change, settled: bool) {
        change.apply(&mut self.live);
        if settled && self.pending.is_empty() {
            change.apply(&mut self.durable);
        } else {
            self.pending.push(Pending { change, settled, orphaned: false });
        }
    }

    /// What no failed sync covered is durable; it waits in the list while something volatile lies before it.
    fn sync(&mut self) {
        self.pending.iter_mut().for_each(|p| p.settled |= !p.orphaned);
        let volatile = self.pending.iter().position(|p| !p.settled).unwrap_or(self.pending.len());
        for durable in self.pending.drain(..volatile) {
            durable.change.apply(&mut self.durable);
        }
    }
}

#[derive(Clone)]
enum NameChange {
    Insert(OsString, u64),
    Remove(OsString),
    Rename(OsString, OsString),
}

type Names = BTreeMap<OsString, u64>;

fn apply(names: &mut Names, change: &NameChange) {
    match change {
        NameChange::Insert(name, number) => {
            names.insert(name.clone(), *number);
        }
        NameChange::Remove(name) => {
            names.remove(name);
        }
        NameChange::Rename(from, to) => {
            if let Some(number) = names.remove(from) {
                names.insert(to.clone(), number);
            }
        }
    }
}

#[derive(Clone, Default)]
struct FolderNode {
    live: Names,
    durable: Names,
    pending: Vec<NameChange>,
}

#[derive(Clone)]
enum Node {
    File(FileNode),
    Folder(FolderNode),
}

/// What `stat` tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    pub number: u64,
    pub folder: bool,
    pub len: u64,
    pub allocated: u64,
    pub mode: u16,
}

/// The disk. A copy shares its bytes until one of the two changes.
#[derive(Clone)]
pub struct Medium {
    nodes: HashMap<u64, (Node, u16)>,
    next: u64,
}

impl Default for Medium {
    fn default() -> Medium {
        let mut medium = Medium { nodes: HashMap::new(), next: ROOT };
        medium.make(Node::Folder(FolderNode::default()), 0o755);
        medium
    }
}

impl Medium {
    fn make(&mut self, node: Node, mode: u16) -> u64 {
        let number = self.next;
        self.next += 1;
        self.nodes.insert(number, (node, mode));
        number
    }

    fn file(&self, number: u64) -> Result<&FileNode, Refusal> {
        match self.nodes.get(&number) {
            Some((Node::File(file), _)) => Ok(file),
            Some(_) => Err(libc::EISDIR),
            None => Err(libc::ESTALE),
        }
    }

    fn file_mut(&mut self, number: u64) -> Result<&mut FileNode, Refusal> {
        match self.nodes.get_mut(&number) {
            Some((Node::File(file), _)) => Ok(file),
            Some(_) => Err(libc::EISDIR),
            None => Err(libc::ESTALE),
        }
    }

    fn folder(&self, number: u64) -> Result<&FolderNode, Refusal> {
        match self.nodes.get(&number) {
            Some((Node::Folder(folder), _)) => Ok(folder),
            Some(_) => Err(libc::ENOTDIR),
            None => Err(libc::ESTALE),
        }
    }

    fn rename_in(&mut self, folder: u64, change: NameChange) -> Result<(), Refusal> {
        match self.nodes.get_mut(&folder) {
            Some((Node::Folder(folder), _)) => {
                apply(&mut folder.live, &change);
                folder.pending.push(change);
                Ok(())
            }
            Some(_) => Err(libc::ENOTDIR),
            None => Err(libc::ESTALE),
        }
    }

    pub fn lookup(&self, folder: u64, name: &OsStr) -> Result<u64, Refusal> {
        self.folder(folder)?.live.get(name).copied().ok_or(libc::ENOENT)
    }

    pub fn attributes(&self, number: u64) -> Result<Attributes, Refusal> {
        let (node, mode) = self.nodes.get(&number).ok_or(libc::ESTALE)?;
        let (folder, len, allocated) = match node {
            Node::File(file) => (false, file.live.len(), file.live.allocated()),
            Node::Folder(_) => (true, 4096, 4096),
        };
        Ok(Attributes { number, folder, len, allocated, mode: *mode })
    }

    pub fn set_mode(&mut self, number: u64, mode: u16) {
        if let Some((_, of)) = self.nodes.get_mut(&number) {
            *of = mode;
        }
    }

    /// Name and number of what lies in a folder, in order.
    pub fn list(&self, folder: u64) -> Result<Vec<(OsString, u64)>, Refusal> {
        Ok(self.folder(folder)?.live.iter().map(|(name, &number)| (name.clone(), number)).collect())
    }

    /// Bytes that all files hold.
    pub fn allocated(&self) -> u64 {
        let files = self.nodes.values().filter_map(|(node, _)| match node {
            Node::File(file) => Some(file.live.allocated()),
            Node::Folder(_) => None,
        });
        files.sum()
    }

    pub fn create(&mut self, folder: u64, name: &OsStr, mode: u16) -> Result<u64, Refusal> {
        self.add(folder, name, Node::File(FileNode::default()), mode)
    }

    pub fn make_folder(&mut self, folder: u64, name: &OsStr, mode: u16) -> Result<u64, Refusal> {
        self.add(folder, name, Node::Folder(FolderNode::default()), mode)
    }

    fn add(&mut self, folder: u64, name: &OsStr, node: Node, mode: u16) -> Result<u64, Refusal> {
        if self.folder(folder)?.live.contains_key(name) {
            return Err(libc::EEXIST);
        }
        let number = self.make(node, mode);
        self.rename_in(folder, NameChange::Insert(name.to_owned(), number))?;
        Ok(number)
    }

    pub fn remove(&mut self, folder: u64, name: &OsStr, is_folder: bool) -> Result<(), Refusal> {
        let number = self.lookup(folder, name)?;
        match (&self.nodes[&number].0, is_folder) {
            (Node::File(_), true) => return Err(libc::ENOTDIR),
            (Node::Folder(_), false) => return Err(libc::EISDIR),
            (Node::Folder(inner), true) if !inner.live.is_empty() => return Err(libc::ENOTEMPTY),
            _ => {}
        }
        self.rename_in(folder, NameChange::Remove(name.to_owned()))
    }

    /// Within one folder; between two is refused as between two devices.
    pub fn rename(
        &mut self,
        folder: u64,
        from: &OsStr,
        to_folder: u64,
        to: &OsStr,
    ) -> Result<(), Refusal> {
        self.lookup(folder, from)?;
        if folder != to_folder {
            return Err(libc::EXDEV);
        }
        self.rename_in(folder, NameChange::Rename(from.to_owned(), to.to_owned()))
    }

    pub fn read(&self, file: u64, offset: u64, size: usize) -> Result<Vec<u8>, Refusal> {
        Ok(self.file(file)?.live.read(offset, size))
    }

    pub fn write(
        &mut self,
        file: u64,
        offset: u64,
        bytes: &[u8],
        durable: bool,
    ) -> Result<(), Refusal> {
        let change = Change::Write { offset, bytes: bytes.into() };
        self.file_mut(file)?.change(change, durable);
        Ok(())
    }

    pub fn set_len(&mut self, file: u64, len: u64) -> Result<(), Refusal> {
        self.file_mut(file)?.change(Change::Length(len), false);
        Ok(())
    }

    pub fn sync(&mut self, file: u64) -> Result<(), Refusal> {
        self.file_mut(file)?.sync();
        Ok(())
    }

    /// A sync that failed: what it covered reads as written, and no later sync saves it, as Linux has it.
    pub fn fail_sync(&mut self, file: u64) {
        if let Ok(file) = self.file_mut(file) {
            file.pending.iter_mut().for_each(|p| p.orphaned |= !p.settled);
        }
    }

    pub fn sync_folder(&mut self, folder: u64) -> Result<(), Refusal> {
        match self.nodes.get_mut(&folder) {
            Some((Node::Folder(folder), _)) => {
                folder.durable = folder.live.clone();
                folder.pending.clear();
                Ok(())
            }
            _ => Err(libc::ENOTDIR),
        }
    }

    /// The power goes, and comes back: what is left is chosen by `random`, and is durable from now on.
    pub fn cut(&mut self, random: &mut Prng) -> Loss {
        // One way for the whole disk, or one for each file.
        let whole = random.one_in(2).then(|| Way::any(random));
        self.cut_in(whole, random)
    }

    /// All that is there is durable, as after days of rest.
    pub fn settle(&mut self) {
        for (node, _) in self.nodes.values_mut() {
            match node {
                Node::File(file) => {
                    file.durable = file.live.clone();
                    file.pending.clear();
                }
                Node::Folder(folder) => {
                    folder.durable = folder.live.clone();
                    folder.pending.clear();
                }
            }
        }
    }

    /// The power goes, and everything volatile with it.
    pub fn lose(&mut self) -> Loss {
        self.cut_in(Some(Way::Nothing), &mut Prng::new(0))
    }

    fn cut_in(&mut self, whole: Option<Way>, random: &mut Prng) -> Loss {
        let mut loss = Loss::default();
        let mut numbers: Vec<u64> = self.nodes.keys().copied().collect();
        numbers.sort_unstable();
        for number in numbers {
            let way = whole.unwrap_or_else(|| Way::any(random));
            match &mut self.nodes.get_mut(&number).expect("it was listed").0 {
                Node::File(file) => cut_file(file, way, random, &mut loss),
                Node::Folder(folder) => cut_folder(folder, way, random, &mut loss),
            }
        }
        self.forget_unreachable();
        loss
    }

    fn forget_unreachable(&mut self) {
        let mut seen = HashSet::from([ROOT]);
        let mut todo = vec![ROOT];
        while let Some(number) = todo.pop() {
            if let Some((Node::Folder(folder), _)) = self.nodes.get(&number) {
                todo.extend(folder.live.values().filter(|&&n| seen.insert(n)));
            }
        }
        self.nodes.retain(|number, _| seen.contains(number));
    }

    /// Two disks with the same names and bytes have the same number; so distinct states can be counted.
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.visit(ROOT, &mut |path, image| {
            path.hash(&mut hasher);
            if let Some(image) = image {
                image.len().hash(&mut hasher);
                for (offset, bytes) in image.pages() {
                    if bytes.iter().any(|&b| b != 0) {
                        (offset, bytes).hash(&mut hasher);
                    }
                }
            }
        });
        hasher.finish()
    }

    /// Copies everything into a folder of the real file system, to be looked at.
    pub fn save(&self, to: &Path) -> std::io::Result<()> {
        use std::os::unix::fs::FileExt;
        let mut result = Ok(());
        self.visit(ROOT, &mut |path, image| {
            let place = to.join(path);
            let one = match image {
                None => std::fs::create_dir_all(&place),
                Some(image) => std::fs::File::create(&place).and_then(|file| {
                    file.set_len(image.len())?;
                    image.pages().try_for_each(|(offset, bytes)| file.write_all_at(bytes, offset))
                }),
            };
            if result.is_ok() {
                result = one;
            }
        });
        result
    }

    fn visit(&self, from: u64, see: &mut dyn FnMut(&Path, Option<&Image>)) {
        let mut todo = vec![(from, std::path::PathBuf::new())];
        while let Some((number, path)) = todo.pop() {
            match self.nodes.get(&number) {
                Some((Node::File(file), _)) => see(&path, Some(&file.live)),
                Some((Node::Folder(folder), _)) => {
                    see(&path, None);
                    todo.extend(folder.live.iter().rev().map(|(name, &n)| (n, path.join(name))));
                }
                None => {}
            }
        }
    }
}

/// What a power cut took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    /// Volatile changes of files, and those that did not survive whole.
    pub changes: u64,
    pub lost: u64,
    /// Writes of which some sectors survived and others did not.
    pub torn: u64,
    pub names: u64,
    pub names_lost: u64,
}

#[derive(Clone, Copy, Debug)]
enum Way {
    Nothing,
    Everything,
    /// Each change survives with this probability, in eighths.
    Some(u64),
    /// Each sector does.
    Sectors(u64),
    /// The first ones, in order; the last of them torn.
    First,
}

impl Way {
    fn any(random: &mut Prng) -> Way {
        match random.below(6) {
            0 => Way::Nothing,
            1 => Way::Everything,
            2 | 3 => Way::Some(1 + random.below(7)),
            4 => Way::Sectors(1 + random.below(7)),
            _ => Way::First,
        }
    }
}

fn cut_file(file: &mut FileNode, way: Way, random: &mut Prng, loss: &mut Loss) {
    let pending = std::mem::take(&mut file.pending);
    let mut image = std::mem::take(&mut file.durable);
    let first = random.below(pending.len() as u64 + 1) as usize;
    for (i, Pending { change, settled, .. }) in pending.into_iter().enumerate() {
        let in_eighths = match way {
            _ if settled => 8,
            Way::Nothing => 0,
            Way::Everything => 8,
            Way::Some(eighths) => 8 * u64::from(random.below(8) < eighths),
            Way::Sectors(eighths) => eighths,
            Way::First => 8 * u64::from(i < first) + 4 * u64::from(i == first),
        };
        loss.changes += u64::from(!settled);
        let kept = match &change {
            _ if in_eighths == 8 => {
                change.apply(&mut image);
                true
            }
            Change::Write { offset, bytes } if in_eighths > 0 => {
                let mut kept = 0;
                for (k, sector) in bytes.chunks(SECTOR).enumerate() {
                    if random.below(8) < in_eighths {
                        image.write(offset + (k * SECTOR) as u64, sector);
                        kept += 1;
                    }
                }
                let all = bytes.len().div_ceil(SECTOR);
                loss.torn += u64::from(kept > 0 && kept < all);
                kept == all
            }
            Change::Length(_) if random.below(8) < in_eighths => {
                change.apply(&mut image);
                true
            }
            _ => false,
        };
        loss.lost += u64::from(!kept);
    }
    file.live = image.clone();
    file.durable = image;
}

fn cut_folder(folder: &mut FolderNode, way: Way, random: &mut Prng, loss: &mut Loss) {
    let pending = std::mem::take(&mut folder.pending);
    let all = pending.len() as u64;
    let kept = match way {
        Way::Nothing => 0,
        Way::Everything => all,
        _ => random.below(all + 1),
    };
    for change in pending.iter().take(kept as usize) {
        apply(&mut folder.durable, change);
    }
    folder.live = folder.durable.clone();
    loss.names += all;
    loss.names_lost += all - kept;
}

#[cfg(test)]
mod tests;
