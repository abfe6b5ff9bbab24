//! The time zones that AT TIME ZONE knows.
//!
//! Columns and types: SQL Server's documentation of sys.time_zone_info.

use crate::context::Context;
use crate::declare::{Declared, view};
use executor::SqlError;
use functions::Zone;
use types::{DateTime2, Value};

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&TIME_ZONE_INFO];

/// A zone as it is now.
pub struct Now {
    zone: &'static Zone,
    offset_minutes: i16,
    summer: bool,
}

fn zones(_: &Context<'_>, _: &[Value]) -> Result<Vec<Now>, SqlError> {
    let now: DateTime2 = types::datetime::datetime2_from_unix_ns(runtime::clock::unix_ns());
    let one = |zone: &'static Zone| Now {
        zone,
        offset_minutes: zone.offset_at(now),
        summer: zone.is_summer(now),
    };
    Ok(functions::time_zones().iter().map(one).collect())
}

/// `+05:30`.
fn shown(minutes: i16) -> String {
    let sign = if minutes < 0 { '-' } else { '+' };
    format!("{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60)
}

view! {
    TIME_ZONE_INFO = "sys.time_zone_info" of Now as z, rows zones;
    name sysname = z.zone.name;
    current_utc_offset nvarchar(12) = shown(z.offset_minutes);
    is_currently_dst bit = z.summer;
}
