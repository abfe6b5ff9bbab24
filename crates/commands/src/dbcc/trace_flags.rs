//! DBCC TRACEON, TRACEOFF and TRACESTATUS: which trace flags have a meaning here, and who has them on.
//!
//! Promises: every number above 0 is accepted, as in SQL Server, but that of a flag which counts at the start alone: turning it
//! on or off changes nothing, and 2597 says so; one without an effect is said to have none, and why, where it
//! is known from SQL Server. A flag set without -1 is the session's own; flags that concern the whole server then
//! change nothing, and a message says so.

use super::statistics::bad_parameter;
use crate::Commands;
use executor::{ColumnMeta, Command, SqlError, SqlMessage};
use types::{SqlType, Value};

/// When a flag acts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// For the whole server, as soon as it is set.
    Global(&'static str),
    /// For the whole server, if it is given at the start (`-T`).
    AtStart(&'static str),
    /// What it asks for is always so.
    Always(&'static str),
    /// Known from SQL Server, and without an effect here.
    None(&'static str),
    /// Not known.
    Unknown,
}

/// What a flag does in this server.
pub fn effect(flag: i32) -> Effect {
    match flag {
        661 => Effect::Global("deleted rows and empty pages are not cleaned up"),
        834 => Effect::AtStart(
            "the memory of buffer pools is taken in full at the start, in huge pages where the machine has them",
        ),
        1117 => Effect::Global("all files of a filegroup grow together"),
        1118 => Effect::Always("extents are never mixed"),
        1204 | 1222 => Effect::Global("every deadlock goes to the log"),
        2330 => Effect::Global("sys.dm_db_index_usage_stats is not kept"),
        2032 => Effect::None("no document says what it does"),
        8008 => Effect::Always("new work goes to the least loaded scheduler"),
        8015 => Effect::AtStart("the machine is taken as one node"),
        8048 => Effect::Always("memory objects are kept by CPU"),
        _ => Effect::Unknown,
    }
}

impl Commands<'_> {
    /// DBCC TRACEON / TRACEOFF (flag [, ...] [, -1]). The permission has been asked for. Messages name `line`; none
    /// without it. 2583 without an argument.
    pub(crate) fn set_trace_flags(
        &mut self,
        args: &[Value],
        on: bool,
        line: Option<u32>,
    ) -> Result<(), SqlError> {
        if args.is_empty() {
            return Err(super::wrong_count());
        }
        let (flags, global) = flags(args)?;
        for flag in flags {
            if let Effect::AtStart(_) = effect(flag) {
                if let Some(line) = line {
                    let text = format!(
                        "Ignoring trace flag {flag}. It is either an invalid trace flag or a trace flag that can only be \
                         specified during server startup."
                    );
                    self.sink.message(&SqlMessage::info(2597, line, text));
                }
                continue;
            }
            if global {
                self.host.trace_flag(flag, on);
            } else if on {
                self.state.trace_flags.insert(flag);
            } else {
                self.state.trace_flags.remove(&flag);
            }
            if let (true, Some(line)) = (on, line)
                && let Some(text) = without_effect(flag, global)
            {
                self.sink.message(&SqlMessage::info(0, line, text));
            }
        }
        Ok(())
    }

    /// DBCC TRACESTATUS ([flag [, ...]] [, -1]): without flags, those that are on; with -1, for the whole server alone.
    pub(crate) fn trace_status(&mut self, args: &[Value]) -> Result<(), SqlError> {
        let (mut asked, global_only) = flags(args)?;
        let global = self.host.trace_flags();
        let own: Vec<i32> = match global_only {
            true => Vec::new(),
            false => self.state.trace_flags.iter().copied().collect(),
        };
        if asked.is_empty() {
            asked = global.iter().chain(&own).copied().collect();
            asked.sort_unstable();
            asked.dedup();
            // SQL Server has no result set then, only the message.
            if asked.is_empty() {
                return Ok(());
            }
        }
        let column = |name: &str| ColumnMeta::new(name, SqlType::Int, false);
        self.sink.columns(&["TraceFlag", "Status", "Global", "Session"].map(column));
        let rows = asked.len() as u64;
        for flag in asked {
            let is_global = global.contains(&flag);
            let is_own = own.contains(&flag);
            let status = [is_global || is_own, is_global, is_own].map(|on| Value::Int(on.into()));
            let [status, global, session] = status;
            self.sink.row(&[Value::Int(flag), status, global, session]);
        }
        self.tell_done(Command::Dbcc, Some(rows));
        Ok(())
    }
}

/// The flags, and whether -1 is among them; 2560 for what is neither.
fn flags(args: &[Value]) -> Result<(Vec<i32>, bool), SqlError> {
    let (mut flags, mut global) = (Vec::new(), false);
    for (arg, n) in args.iter().zip(1..) {
        match arg.as_i64().and_then(|flag| i32::try_from(flag).ok()) {
            Some(-1) => global = true,
            Some(flag) if flag > 0 => flags.push(flag),
            _ => return Err(bad_parameter(n)),
        }
    }
    Ok((flags, global))
}

/// What is to be said of a flag that was just set and changes nothing.
fn without_effect(flag: i32, global: bool) -> Option<String> {
    let said = |why: String| Some(format!("Trace flag {flag} {why}"));
    match effect(flag) {
        Effect::Global(_) if global => None,
        Effect::Global(what) => said(format!(
            "has an effect for the whole server only ({what}): DBCC TRACEON ({flag}, -1)."
        )),
        // Told by 2597.
        Effect::AtStart(_) => None,
        Effect::Always(what) => said(format!("has no effect here: {what}.")),
        Effect::None(why) => said(format!("has no effect here: {why}.")),
        Effect::Unknown => said("has no effect here.".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How the page begins to say it.
    fn beginning(effect: Effect) -> &'static [&'static str] {
        match effect {
            Effect::Global(_) => &["while it is on: ", "while one is on: "],
            Effect::AtStart(_) => &["at the start: "],
            Effect::Always(_) => &["always so: "],
            Effect::None(_) | Effect::Unknown => &["no effect"],
        }
    }

    #[test]
    fn the_page_tells_every_flag() {
        let page = include_str!("../../../../docs/compatibility.md");
        let (_, section) = page.split_once("\n## Trace flags\n").expect("a section");
        let (section, _) = section.split_once("\n## ").expect("it ends");
        let mut told = Vec::new();
        for row in section.lines().filter_map(|line| line.strip_prefix("| ")) {
            let (flags, text) = row.split_once(" | ").expect("two columns");
            for flag in flags.split(", ").filter_map(|flag| flag.parse::<i32>().ok()) {
                let begins = beginning(effect(flag)).iter().any(|words| text.starts_with(words));
                assert!(begins, "{flag}: {:?}, and the page says: {text}", effect(flag));
                told.push(flag);
            }
        }
        let known: Vec<i32> = (1..20_000).filter(|n| effect(*n) != Effect::Unknown).collect();
        told.sort_unstable();
        assert_eq!(told, known);
    }
}
