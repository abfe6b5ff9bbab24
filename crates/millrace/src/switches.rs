//! The flags of the switches: one for each row of `session::switches::SWITCHES`, with its values and its help.

use clap::{Arg, ArgMatches, Command};
use session::Switches;
use session::switches::{SWITCHES, Switch};
use std::collections::BTreeMap;

/// What was said on the command line.
#[derive(Clone, Debug, Default)]
pub struct SwitchFlags {
    /// Every switch, those not named at their defaults.
    pub switches: Switches,
}

/// The same flags, each with a list of values: for `lab run`, which measures every one.
#[derive(Clone, Debug, Default)]
pub struct SwitchLists {
    /// By name in small letters, those given.
    pub lists: BTreeMap<String, Vec<String>>,
}

impl clap::FromArgMatches for SwitchLists {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = SwitchLists::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for switch in SWITCHES {
            if let Ok(Some(values)) = matches.try_get_many::<Chosen>(switch.name) {
                let values = values.map(|value| value.0.to_lowercase()).collect();
                self.lists.insert(switch.name.to_lowercase(), values);
            }
        }
        Ok(())
    }
}

impl clap::Args for SwitchLists {
    fn augment_args(command: Command) -> Command {
        let list = |switch| flag(switch).value_delimiter(',').value_name("VALUE[,VALUE...]");
        SWITCHES.iter().fold(command, |command, switch| command.arg(list(switch)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for SwitchFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = SwitchFlags::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for switch in SWITCHES {
            // A command with a flag of its own under the same name reads that itself.
            if let Ok(Some(value)) = matches.try_get_one::<Chosen>(switch.name) {
                let set = self.switches.set(switch.name, Some(&value.0));
                set.map_err(|e| clap::Error::raw(clap::error::ErrorKind::InvalidValue, e))?;
            }
        }
        Ok(())
    }
}

impl clap::Args for SwitchFlags {
    fn augment_args(command: Command) -> Command {
        SWITCHES.iter().fold(command, |command, switch| {
            let taken = command.get_arguments().any(|a| a.get_long() == Some(switch.flag));
            if taken { command } else { command.arg(flag(switch)) }
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// A value that its switch takes.
#[derive(Clone, Debug)]
struct Chosen(String);

fn flag(switch: &'static Switch) -> Arg {
    let parse = move |text: &str| {
        let checked = Switches::default().set(switch.name, Some(text));
        checked.map(|()| Chosen(text.to_owned())).map_err(|e| e.to_string())
    };
    Arg::new(switch.name)
        .long(switch.flag)
        .value_name("VALUE")
        .help(format!("{} [{}; default: {}]", switch.description, switch.allowed, switch.default))
        .help_heading("Switches")
        .value_parser(parse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Own {
        #[arg(long, default_value_t = 7)]
        log_reserve: u32,
        #[command(flatten)]
        flags: SwitchFlags,
    }

    #[derive(Parser)]
    struct All {
        #[command(flatten)]
        flags: SwitchFlags,
    }

    #[derive(Parser)]
    struct Lists {
        #[command(flatten)]
        flags: SwitchLists,
    }

    #[test]
    fn a_switch_of_the_lab_takes_a_list() {
        let read = Lists::try_parse_from(["x", "--log-reserve", "lanes,SPINLOCK"]);
        let lists = read.unwrap_or_else(|e| panic!("{e}")).flags.lists;
        assert_eq!(lists["log_reserve"], ["lanes", "spinlock"]);
        assert_eq!(lists.len(), 1);
        assert!(Lists::try_parse_from(["x", "--log-reserve", "lanes,neither"]).is_err());
    }

    #[test]
    fn every_switch_has_a_flag() {
        for switch in SWITCHES {
            let flag = format!("--{}", switch.flag);
            let read = All::try_parse_from(["x", &flag, &switch.default.to_lowercase()]);
            assert!(read.is_ok_and(|all| all.flags.switches == Switches::default()), "{flag}");
            assert!(All::try_parse_from(["x", &flag, "nonsense"]).is_err(), "{flag}");
        }
        let all = All::try_parse_from(["x", "--log-queue-depth=112", "--backoff-cap", "900 ns"]);
        let switches = all.unwrap_or_else(|e| panic!("{e}")).flags.switches;
        let changed = switches.iter().filter(|(switch, value)| switch.default != *value);
        let changed: Vec<_> = changed.map(|(switch, value)| (switch.name, value)).collect();
        assert_eq!(changed, [("LOG_QUEUE_DEPTH", "112"), ("BACKOFF_CAP", "900 NS")]);
    }

    #[test]
    fn a_flag_of_the_command_itself_stays_its_own() {
        let own = Own::try_parse_from(["x", "--log-reserve", "9", "--log-writer", "dedicated"]);
        let own = own.unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(own.log_reserve, 9);
        let values = own.flags.switches.iter();
        assert!(values.into_iter().any(|(s, v)| s.name == "LOG_WRITER" && v == "DEDICATED"));
    }
}
