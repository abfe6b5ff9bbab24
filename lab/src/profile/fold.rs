//! Addresses to names, and stacks to folded lines.

use super::KERNEL_LEAST;
use crate::document::StackShare;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::os::raw::c_void;
use std::path::Path;

/// Folded stacks that the document keeps.
const KEPT: usize = 4_000;
/// Functions in the table.
pub(super) const FUNCTIONS: usize = 100;
const NAME_CHARS_MAX: usize = 160;

/// A folded stack: frames from the root, and how often.
pub(super) type Folded = Vec<(Vec<String>, u64)>;

/// Names every frame, inlined ones included; equal stacks become one. Sorted, so that equal samples give equal output.
pub(super) fn fold(stacks: &HashMap<Vec<u64>, u64>) -> Folded {
    let mut names: HashMap<u64, Vec<String>> = HashMap::new();
    let kernel = Kernel::read();
    let mut all: BTreeMap<Vec<String>, u64> = BTreeMap::new();
    for (stack, count) in stacks {
        let mut frames = Vec::new();
        for &address in stack {
            let named = names.entry(address).or_insert_with(|| match address >= KERNEL_LEAST {
                true => vec![kernel.name(address)],
                false => of_this_process(address),
            });
            frames.extend(named.iter().cloned());
        }
        frames.reverse();
        *all.entry(frames).or_default() += count;
    }
    all.into_iter().collect()
}

/// The functions that an address is in, innermost first: more than one where calls were inlined.
fn of_this_process(address: u64) -> Vec<String> {
    let mut names = Vec::new();
    backtrace::resolve(address as usize as *mut c_void, |symbol| {
        if let Some(name) = symbol.name() {
            // The alternate form leaves out the hash.
            names.push(tidy(&named(&format!("{name:#}"), symbol.filename())));
        }
    });
    if names.is_empty() {
        names.push("[unknown]".to_owned());
    }
    names
}

/// A name with its path. Debug information that has lines only tells the bare name of an inlined function; then the
/// path is that of its file: `append<()>` in crates/log-manager/src/core.rs is `log_manager::core::append`.
fn named(name: &str, file: Option<&Path>) -> String {
    let bare = name.split('<').next().unwrap_or(name);
    let is_whole = bare.is_empty() && !name.starts_with("<impl") || bare.contains("::");
    let path = file.and_then(Path::to_str).and_then(module);
    match path.filter(|_| !is_whole) {
        Some(path) => format!("{path}::{}", if bare.is_empty() { name } else { bare }),
        None => name.to_owned(),
    }
}

/// The module of a source file: the crate's folder is the one above `src`, without its version.
fn module(file: &str) -> Option<String> {
    let (before, inside) = file.rsplit_once("/src/")?;
    let folder = before.rsplit('/').next()?;
    let is_number = |part: &str| part.starts_with(|c: char| c.is_ascii_digit());
    let package = match folder.rsplit_once('-') {
        Some((package, version)) if is_number(version) => package,
        _ => folder,
    };
    let mut path = vec![package.replace('-', "_")];
    path.extend(inside.strip_suffix(".rs")?.split('/').map(str::to_owned));
    if path.last().is_some_and(|last| matches!(last.as_str(), "mod" | "lib" | "main")) {
        path.pop();
    }
    Some(path.join("::"))
}

/// Separators of the folded form have no place in a name.
fn tidy(name: &str) -> String {
    let mut name: String =
        name.chars().map(|c| if c == ';' || c == '\n' { ':' } else { c }).collect();
    if name.chars().count() > NAME_CHARS_MAX {
        name = name.chars().take(NAME_CHARS_MAX).chain("...".chars()).collect();
    }
    name
}

/// The kernel's symbols, where it shows them.
struct Kernel {
    /// By address.
    symbols: Vec<(u64, String)>,
}

impl Kernel {
    fn read() -> Kernel {
        let text = std::fs::read_to_string("/proc/kallsyms").unwrap_or_default();
        let mut symbols: Vec<_> = text.lines().filter_map(Kernel::line).collect();
        symbols.sort_unstable();
        Kernel { symbols }
    }

    /// `ffffffff81000000 T name [module]`; addresses are zero for those who may not see them.
    fn line(line: &str) -> Option<(u64, String)> {
        let mut words = line.split_whitespace();
        let address = u64::from_str_radix(words.next()?, 16).ok()?;
        let is_code = matches!(words.next()?, "t" | "T" | "w" | "W");
        let name = words.next()?;
        (is_code && address >= KERNEL_LEAST).then(|| (address, format!("{name} [k]")))
    }

    fn name(&self, address: u64) -> String {
        let next = self.symbols.partition_point(|(at, _)| *at <= address);
        match next.checked_sub(1) {
            Some(index) => self.symbols[index].1.clone(),
            None => "[kernel]".to_owned(),
        }
    }
}

/// Each function's share, by itself and with what it calls; the largest first.
pub(super) fn functions(folded: &Folded) -> Vec<StackShare> {
    let total: u64 = folded.iter().map(|(_, n)| n).sum();
    let mut counts: HashMap<&str, (u64, u64)> = HashMap::new();
    for (frames, n) in folded {
        if let Some(leaf) = frames.last() {
            counts.entry(leaf).or_default().0 += n;
        }
        // A function that calls itself is there once.
        let distinct: HashSet<&str> = frames.iter().map(String::as_str).collect();
        for name in distinct {
            counts.entry(name).or_default().1 += n;
        }
    }
    let share = |n: u64| n as f64 / total.max(1) as f64;
    let mut all: Vec<StackShare> = counts
        .into_iter()
        .map(|(name, (itself, total))| StackShare {
            name: name.to_owned(),
            itself: share(itself),
            total: share(total),
        })
        .collect();
    all.sort_by(|a, b| {
        let by_share = b.itself.total_cmp(&a.itself).then(b.total.total_cmp(&a.total));
        by_share.then_with(|| a.name.cmp(&b.name))
    });
    all.truncate(FUNCTIONS);
    all
}

/// As the document has them.
pub(super) fn most_frequent(mut folded: Folded) -> Vec<(String, u64)> {
    folded.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    folded.truncate(KEPT);
    folded.into_iter().map(|(frames, n)| (frames.join(";"), n)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_name_gets_its_files_path() {
        let named = |name, file| named(name, Some(Path::new(file)));
        for (name, file, wanted) in [
            ("append<()>", "/x/crates/log-manager/src/core.rs", "log_manager::core::append"),
            ("{closure#0}", "/x/lab/src/profile/mod.rs", "lab::profile::{closure#0}"),
            ("spin_loop", "/rustc/abc/library/core/src/hint.rs", "core::hint::spin_loop"),
            (
                "park<X>",
                "/r/src/parking_lot-0.12.3/src/raw_mutex.rs",
                "parking_lot::raw_mutex::park",
            ),
            ("a::b::c", "/x/crates/engine/src/lib.rs", "a::b::c"),
            ("<a::B as c::D>::e", "/x/crates/engine/src/lib.rs", "<a::B as c::D>::e"),
            ("__GI_sched_yield", "sched_yield.c", "__GI_sched_yield"),
        ] {
            assert_eq!(named(name, file), wanted, "{name} in {file}");
        }
    }

    #[test]
    fn shares_count_a_function_once_a_stack() {
        let stack = |text: &str, n| (text.split(' ').map(str::to_owned).collect(), n);
        let folded = vec![stack("main f f g", 3), stack("main f", 1)];
        let all = functions(&folded);
        let of = |name: &str| all.iter().find(|f| f.name == name).map(|f| (f.itself, f.total));
        assert_eq!(of("f"), Some((0.25, 1.0)));
        assert_eq!(of("g"), Some((0.75, 0.75)));
        assert_eq!(all[0].name, "g");
    }
}
