//! The options of sp_configure: a value that is configured, and one that is in use since the last RECONFIGURE. What
//! RECONFIGURE has installed is kept in `master`, and in use after the next start, with what waits for one.
//!
//! Promise: RECONFIGURE installs what it has checked, and that is kept first; where something is refused, or cannot be kept,
//! nothing has changed.
//!
//! Invariant: every value is within its option's range, and both affinity masks in use are what the schedulers were told
//! last, by RECONFIGURE or by ALTER SERVER CONFIGURATION; 0 where masks cannot say it.

use crate::Instance;
use crate::affinity_masks::{self, Mask};
use crate::facts::memory_kb;
use crate::kept::{keep_cpus, keep_values};
use catalog::Settings;
use executor::SqlError;
use session_state::{
    ConfigurationOption, NO_NULL_COLUMNS, NULL_COLUMNS, NUMERIC_ROUNDABORT, SetOptions,
};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, Ordering::Relaxed};
use system_views::CONFIGURATION_OPTIONS;
use tracing::info;
use types::convert::CUTOFF;
use types::languages::LANGUAGES;

pub(crate) const MEMORY_MB: &str = "max server memory (MB)";
pub(crate) const MEMORY_MIN_MB: &str = "min server memory (MB)";
const PARALLELISM: &str = "max degree of parallelism";
const COST_THRESHOLD: &str = "cost threshold for parallelism";
const RECOVERY_INTERVAL: &str = "recovery interval (min)";
/// What SQL Server recommends at most.
const RECOVERY_INTERVAL_MIN_MAX: i64 = 60;
const DEFAULT_LANGUAGE: &str = "default language";
const YEAR_CUTOFF: &str = "two digit year cutoff";
const STUBS_FIRST: &str = "optimize for ad hoc workloads";
const COST_LIMIT: &str = "query governor cost limit";
const NO_TRIGGER_RESULTS: &str = "disallow results from triggers";
const USER_CONNECTIONS: &str = "user connections";
const USER_OPTIONS: &str = "user options";
const ALLOW_UPDATES: &str = "allow updates";
/// Set by ALTER SERVER CONFIGURATION SET SOFTNUMA, and by nothing else.
const NO_SOFT_NUMA: &str = "automatic soft-NUMA disabled";

/// What was set, by name; the others are at their defaults.
#[derive(Default)]
pub(crate) struct Configuration {
    configured: BTreeMap<&'static str, i64>,
    in_use: BTreeMap<&'static str, i64>,
}

/// Options in use that statements and requests ask for, without the lock.
pub(crate) struct OftenAsked {
    /// 'disallow results from triggers'.
    pub no_trigger_results: AtomicBool,
    /// 'two digit year cutoff'.
    pub year_cutoff: AtomicU16,
    /// 'query governor cost limit'; 0: none.
    pub cost_limit: AtomicU32,
}

impl Default for OftenAsked {
    fn default() -> OftenAsked {
        OftenAsked {
            no_trigger_results: AtomicBool::new(false),
            year_cutoff: AtomicU16::new(CUTOFF),
            cost_limit: AtomicU32::new(0),
        }
    }
}

impl Configuration {
    /// As it was kept. What is not an option's value any more is left out.
    pub fn kept(settings: &Settings) -> Configuration {
        let of = |option: &system_views::ConfigurationOption| {
            let value = settings.get(option.name)?.parse().ok()?;
            (option.minimum..=option.maximum).contains(&value).then_some((option.name, value))
        };
        let configured: BTreeMap<_, _> = CONFIGURATION_OPTIONS.iter().filter_map(of).collect();
        Configuration { in_use: configured.clone(), configured }
    }

    /// Whether the next start, or this one, shall divide large nodes.
    pub fn divides_nodes(&self) -> bool {
        self.get(NO_SOFT_NUMA).is_none_or(|(_, in_use)| in_use == 0)
    }

    /// These values come into use. What is not dynamic waits for the next start.
    fn install(&mut self, values: &BTreeMap<&'static str, i64>) {
        let is_dynamic = |name: &str| {
            CONFIGURATION_OPTIONS.iter().any(|option| option.name == name && option.is_dynamic)
        };
        self.in_use.extend(values.iter().filter(|(name, _)| is_dynamic(name)));
    }

    /// The CPUs in force, as masks tell them.
    pub fn set_mask(&mut self, mask: Mask) {
        self.configured.extend(mask.values());
        self.in_use.extend(mask.values());
    }

    /// Configured and in use, of the two options that make a mask.
    fn mask(&self, names: [&str; 2]) -> [Mask; 2] {
        let [low, high] = names.map(|name| self.get(name).unwrap_or_default());
        [Mask::of_options([low.0, high.0]), Mask::of_options([low.1, high.1])]
    }

    /// What is legal and not recommended: 5807 and 5808, which WITH OVERRIDE keeps quiet.
    fn check_recommended(&self) -> Result<(), SqlError> {
        let configured = |name| self.get(name).map_or(0, |(configured, _)| configured);
        if configured(RECOVERY_INTERVAL) > RECOVERY_INTERVAL_MIN_MAX {
            let text = format!(
                "Recovery intervals above {RECOVERY_INTERVAL_MIN_MAX} minutes not recommended. Use the RECONFIGURE WITH \
                 OVERRIDE statement to force this configuration."
            );
            return Err(SqlError::new(5807, 16, text));
        }
        if configured(ALLOW_UPDATES) != 0 {
            let text = "Ad hoc update to system catalogs is not supported.";
            return Err(SqlError::new(5808, 16, text));
        }
        Ok(())
    }

    /// 5829, also WITH OVERRIDE: of two settings that turn each other off, both.
    fn check_user_options(&self) -> Result<(), SqlError> {
        const BOTH: i64 = (NULL_COLUMNS | NO_NULL_COLUMNS) as i64;
        match self.get(USER_OPTIONS) {
            Some((configured, _)) if configured & BOTH == BOTH => {
                Err(SqlError::new(5829, 16, "The specified user options value is invalid."))
            }
            _ => Ok(()),
        }
    }

    /// 5831, also WITH OVERRIDE.
    fn check_memory(&self) -> Result<(), SqlError> {
        let [min, max] =
            [MEMORY_MIN_MB, MEMORY_MB].map(|name| self.get(name).map(|(configured, _)| configured));
        match min.zip(max) {
            Some((min, max)) if min > max => {
                let text = format!(
                    "Minimum server memory value ({min}) must be less than or equal to the maximum value ({max})."
                );
                Err(SqlError::new(5831, 16, text))
            }
            _ => Ok(()),
        }
    }

    /// Configured and in use; `None`: never set.
    pub fn get(&self, name: &str) -> Option<(i64, i64)> {
        let option = CONFIGURATION_OPTIONS.iter().find(|option| option.name == name)?;
        let of = |map: &BTreeMap<&str, i64>| map.get(name).copied().unwrap_or(option.default);
        Some((of(&self.configured), of(&self.in_use)))
    }
}

impl Instance {
    /// At the start, once the schedulers run and the databases are open: what was kept comes into force.
    pub(crate) fn start_configuration(&self) {
        self.take_up_options();
        self.start_affinity();
    }

    /// What follows from the values in use.
    fn take_up_options(&self) {
        let settings = self.settings.lock();
        let in_use = |name: &str| settings.get(name).map_or(0, |(_, in_use)| in_use);
        self.set_memory_limit(in_use(MEMORY_MB));
        let often = &self.often_asked;
        often.no_trigger_results.store(in_use(NO_TRIGGER_RESULTS) == 1, Relaxed);
        let cutoff = u16::try_from(in_use(YEAR_CUTOFF)).unwrap_or(CUTOFF);
        often.year_cutoff.store(cutoff, Relaxed);
        often.cost_limit.store(u32::try_from(in_use(COST_LIMIT)).unwrap_or(0), Relaxed);
        self.plans.set_stubs_first(in_use(STUBS_FIRST) == 1);
        self.workspace.set_parallelism(in_use(PARALLELISM), in_use(COST_THRESHOLD));
        drop(settings);
        self.fit_pools();
        self.fit_quotas();
    }

    /// The lesser of 'max server memory (MB)' and of what the process was started with.
    fn set_memory_limit(&self, mb: i64) {
        if let Some(most) = self.config.memory_bytes {
            let bytes = most.min((mb.max(0) as u64).saturating_mul(1 << 20));
            runtime::memory::change_limit_bytes(bytes);
            let for_queries = (bytes / 4).min(self.config.query_memory_bytes);
            self.workspace.memory.set_size(usize::try_from(for_queries).unwrap_or(usize::MAX));
        }
    }

    /// Bytes that the server may take: of the machine's memory, by its settings and by what it was started with.
    pub(crate) fn may_take_bytes(&self) -> u64 {
        let mb = self.settings.lock().get(MEMORY_MB).map_or(i64::MAX, |(_, in_use)| in_use);
        let set = (mb.max(0) as u64).saturating_mul(1 << 20);
        let machine = match memory_kb().max(0) as u64 {
            0 => u64::MAX,
            kb => kb << 10,
        };
        set.min(machine).min(self.config.memory_bytes.unwrap_or(u64::MAX))
    }

    /// 'user connections': how many users may be connected at most; none: as many as the server takes by itself.
    pub fn user_connections(&self) -> Option<usize> {
        let most = self.option_in_use(USER_CONNECTIONS)?;
        usize::try_from(most).ok().filter(|most| *most > 0)
    }

    /// SET options of a new session, by 'user options'; `driver`: of a client of ODBC's kind.
    pub(crate) fn first_options(&self, driver: bool) -> SetOptions {
        let bits = self.option_in_use(USER_OPTIONS).unwrap_or(0);
        SetOptions::of_user_options(u32::try_from(bits).unwrap_or(0), driver)
    }

    /// The value of an option that is in use; none where there is no such option.
    pub(crate) fn option_in_use(&self, name: &str) -> Option<i64> {
        self.settings.lock().get(name).map(|(_, in_use)| in_use)
    }

    /// Every option, by name.
    pub(crate) fn configuration(&self) -> Vec<ConfigurationOption> {
        let settings = self.settings.lock();
        let mut all: Vec<_> = CONFIGURATION_OPTIONS
            .iter()
            .map(|option| {
                let (configured, in_use) =
                    settings.get(option.name).unwrap_or((option.default, option.default));
                ConfigurationOption {
                    name: option.name,
                    minimum: option.minimum,
                    maximum: option.maximum,
                    configured,
                    in_use,
                    is_advanced: option.is_advanced,
                }
            })
            .collect();
        all.sort_by_key(|option| option.name.to_lowercase());
        all
    }

    /// 15129 for a value out of range, for the number of a language that there is not, and for the option that ALTER SERVER
    /// CONFIGURATION alone may set; 40510 for user options that are not to be had.
    pub(crate) fn configure(&self, name: &str, value: i64) -> Result<(), SqlError> {
        let option = CONFIGURATION_OPTIONS.iter().find(|option| option.name == name);
        let option = option.ok_or_else(|| no_option(name))?;
        // The default of some lies outside: 0 of 'max worker threads' leaves it to the server.
        let is_legal =
            (option.minimum..=option.maximum).contains(&value) || value == option.default;
        let is_known = option.name != DEFAULT_LANGUAGE || (value as usize) < LANGUAGES.len();
        if !is_legal || !is_known || option.name == NO_SOFT_NUMA {
            let text = format!("'{value}' is not a valid value for configuration option '{name}'.");
            return Err(SqlError::new(15129, 16, text));
        }
        if option.name == USER_OPTIONS && value & i64::from(NUMERIC_ROUNDABORT) != 0 {
            return Err(SqlError::unsupported("user options with NUMERIC_ROUNDABORT"));
        }
        let mut settings = self.settings.lock();
        let before = settings.configured.insert(option.name, value).unwrap_or(option.default);
        drop(settings);
        // As SQL Server's log has it, where 15457 is told to the client too.
        info!(
            "Configuration option '{name}' changed from {before} to {value}. Run the RECONFIGURE statement to install."
        );
        Ok(())
    }

    /// RECONFIGURE: what is configured comes into use, and is kept. 5829 for user options that exclude each other; 5831 where
    /// the least memory is above the most; 5832 for a mask that this machine has not; if this is not to be overridden, 5807
    /// and 5808 for what is not recommended, and 5834 where the masks of sessions and of input and output meet. Suspends.
    pub(crate) fn reconfigure(&self, overridden: bool) -> Result<(), SqlError> {
        let _passage = self.configuration_gate.enter();
        let (values, [process, process_before], [io, io_before]) = {
            let settings = self.settings.lock();
            settings.check_memory()?;
            settings.check_user_options()?;
            if !overridden {
                settings.check_recommended()?;
            }
            let mask = |names| settings.mask(names);
            (settings.configured.clone(), mask(affinity_masks::PROCESS), mask(affinity_masks::IO))
        };
        // None: they stay.
        let chosen = match process == process_before {
            true => None,
            false => Some(self.chosen(process.cpus())?),
        };
        if io != io_before {
            self.check_io_cpus(&io.cpus())?;
        }
        if io.meets(process) && !overridden {
            let text = "The affinity mask specified conflicts with the IO affinity mask specified. Use the override \
                        option to force this configuration.";
            return Err(SqlError::new(5834, 16, text));
        }
        self.server.change_settings(|settings| {
            keep_values(settings, values.iter().map(|(name, value)| (*name, *value)));
            if let Some(chosen) = &chosen {
                keep_cpus(settings, chosen);
            }
        })?;
        self.settings.lock().install(&values);
        if let Some(chosen) = chosen {
            self.use_cpus(chosen.as_deref());
        }
        self.take_up_options();
        Ok(())
    }

    /// ALTER SERVER CONFIGURATION SET SOFTNUMA: kept at once, in force from the next start on. Suspends.
    pub(crate) fn set_soft_numa(&self, on: bool) -> Result<(), SqlError> {
        let _passage = self.configuration_gate.enter();
        let value = (NO_SOFT_NUMA, i64::from(!on));
        self.server.change_settings(|settings| keep_values(settings, [value]))?;
        self.settings.lock().configured.insert(value.0, value.1);
        Ok(())
    }
}

/// 15123.
fn no_option(name: &str) -> SqlError {
    let text = format!(
        "The configuration option '{name}' does not exist, or it may be an advanced option."
    );
    SqlError::new(15123, 16, text)
}
