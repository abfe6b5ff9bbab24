//! This engine's own switches: sys.dm_millrace_switches. SQL Server has no such view.

use crate::context::Context;
use crate::declare::{Declared, view};
use executor::SqlError;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&SWITCHES];

/// A switch and its value, as the instance tells them.
#[derive(Clone, Debug)]
pub struct SwitchFacts {
    /// In ALTER SERVER CONFIGURATION SET MILLRACE.
    pub name: &'static str,
    /// In force now.
    pub value: String,
    /// Without a flag or a statement.
    pub default: &'static str,
    /// What it takes.
    pub allowed: String,
    /// On the command line.
    pub flag: String,
    /// The spinlock that the classic form takes, as in sys.dm_os_spinlock_stats.
    pub spinlock: Option<&'static str>,
    /// What it is.
    pub description: &'static str,
}

fn switches(context: &Context<'_>, _: &[Value]) -> Result<Vec<SwitchFacts>, SqlError> {
    Ok(context.server.switches())
}

view! {
    SWITCHES = "sys.dm_millrace_switches" of SwitchFacts as s, rows switches;
    name nvarchar(60) = s.name;
    value nvarchar(60) = &s.value;
    default_value nvarchar(60) = s.default;
    allowed_values nvarchar(256) = &s.allowed;
    command_line_flag nvarchar(60) = &s.flag;
    spinlock_name nvarchar(60) null = s.spinlock;
    description nvarchar(1024) = s.description;
}
