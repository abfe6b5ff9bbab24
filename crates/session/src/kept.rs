//! What of a configuration is kept among the settings of the server, for the next start.

use catalog::Settings;
use topology::format_cpulist;

/// Among the settings that are kept: the CPUs, as the kernel lists them. Not there: all.
pub(crate) const AFFINITY: &str = "process affinity";

/// CPUs of schedulers of this instance, ascending, not none; `None`: all.
pub(crate) type Chosen = Option<Vec<usize>>;

/// Among the settings: for the next start.
pub(crate) fn keep_cpus(settings: &mut Settings, chosen: &Chosen) {
    match chosen {
        None => drop(settings.remove(AFFINITY)),
        Some(cpus) => drop(settings.insert(AFFINITY.to_owned(), format_cpulist(cpus))),
    }
}

/// Among the settings: for the next start.
pub(crate) fn keep_values(
    settings: &mut Settings,
    values: impl IntoIterator<Item = (&'static str, i64)>,
) {
    settings.extend(values.into_iter().map(|(name, value)| (name.to_owned(), value.to_string())));
}
