//! AT TIME ZONE, for zones under their Windows names.
//!
//! Each zone has a base offset and the rule by which it keeps daylight saving time today; the rule is applied to all
//! years, so moments before a zone took it up may differ from SQL Server, which knows the rules of each year. A zone
//! that is not in the table is 9820, as an unknown one in SQL Server.

use crate::message::SqlError;
use types::datetime;
use types::{DateTime2, DateTimeOffset, SqlType, Value};

/// When daylight saving time (one hour, but for Lord Howe) begins and ends.
#[derive(Clone, Copy, PartialEq)]
enum Rule {
    None,
    /// Last Sunday of March to last Sunday of October, at 01:00 UTC.
    Europe,
    /// Second Sunday of March to first Sunday of November, at 02:00 local time.
    America,
    /// First Sunday of October to first Sunday of April, at 02:00 standard time.
    Australia,
    /// Last Sunday of September to first Sunday of April, at 02:00 standard time.
    NewZealand,
}

/// Windows name, base offset in minutes, rule.
const ZONES: &[(&str, i16, Rule)] = &[
    ("Dateline Standard Time", -720, Rule::None),
    ("UTC-11", -660, Rule::None),
    ("Hawaiian Standard Time", -600, Rule::None),
    ("Marquesas Standard Time", -570, Rule::None),
    ("Alaskan Standard Time", -540, Rule::America),
    ("UTC-09", -540, Rule::None),
    ("UTC-08", -480, Rule::None),
    ("Pacific Standard Time", -480, Rule::America),
    ("Pacific Standard Time (Mexico)", -480, Rule::America),
    ("US Mountain Standard Time", -420, Rule::None),
    ("Mountain Standard Time", -420, Rule::America),
    ("Yukon Standard Time", -420, Rule::None),
    ("Central America Standard Time", -360, Rule::None),
    ("Central Standard Time", -360, Rule::America),
    ("Central Standard Time (Mexico)", -360, Rule::None),
    ("Canada Central Standard Time", -360, Rule::None),
    ("SA Pacific Standard Time", -300, Rule::None),
    ("Eastern Standard Time (Mexico)", -300, Rule::None),
    ("Eastern Standard Time", -300, Rule::America),
    ("US Eastern Standard Time", -300, Rule::America),
    ("Atlantic Standard Time", -240, Rule::America),
    ("Venezuela Standard Time", -240, Rule::None),
    ("SA Western Standard Time", -240, Rule::None),
    ("Newfoundland Standard Time", -210, Rule::America),
    ("E. South America Standard Time", -180, Rule::None),
    ("SA Eastern Standard Time", -180, Rule::None),
    ("Argentina Standard Time", -180, Rule::None),
    ("Montevideo Standard Time", -180, Rule::None),
    ("Bahia Standard Time", -180, Rule::None),
    ("UTC-02", -120, Rule::None),
    ("Azores Standard Time", -60, Rule::Europe),
    ("Cape Verde Standard Time", -60, Rule::None),
    ("UTC", 0, Rule::None),
    ("GMT Standard Time", 0, Rule::Europe),
    ("Greenwich Standard Time", 0, Rule::None),
    ("W. Europe Standard Time", 60, Rule::Europe),
    ("Central Europe Standard Time", 60, Rule::Europe),
    ("Romance Standard Time", 60, Rule::Europe),
    ("Central European Standard Time", 60, Rule::Europe),
    ("W. Central Africa Standard Time", 60, Rule::None),
    ("GTB Standard Time", 120, Rule::Europe),
    ("E. Europe Standard Time", 120, Rule::Europe),
    ("FLE Standard Time", 120, Rule::Europe),
    ("South Africa Standard Time", 120, Rule::None),
    ("Kaliningrad Standard Time", 120, Rule::None),
    ("Libya Standard Time", 120, Rule::None),
    ("Turkey Standard Time", 180, Rule::None),
    ("Arabic Standard Time", 180, Rule::None),
    ("Arab Standard Time", 180, Rule::None),
    ("Belarus Standard Time", 180, Rule::None),
    ("Russian Standard Time", 180, Rule::None),
    ("E. Africa Standard Time", 180, Rule::None),
    ("Iran Standard Time", 210, Rule::None),
    ("Arabian Standard Time", 240, Rule::None),
    ("Azerbaijan Standard Time", 240, Rule::None),
    ("Georgian Standard Time", 240, Rule::None),
    ("Caucasus Standard Time", 240, Rule::None),
    ("Mauritius Standard Time", 240, Rule::None),
    ("Afghanistan Standard Time", 270, Rule::None),
    ("West Asia Standard Time", 300, Rule::None),
    ("Ekaterinburg Standard Time", 300, Rule::None),
    ("Pakistan Standard Time", 300, Rule::None),
    ("India Standard Time", 330, Rule::None),
    ("Sri Lanka Standard Time", 330, Rule::None),
    ("Nepal Standard Time", 345, Rule::None),
    ("Bangladesh Standard Time", 360, Rule::None),
    ("Myanmar Standard Time", 390, Rule::None),
    ("SE Asia Standard Time", 420, Rule::None),
    ("N. Central Asia Standard Time", 420, Rule::None),
    ("China Standard Time", 480, Rule::None),
    ("Singapore Standard Time", 480, Rule::None),
    ("W. Australia Standard Time", 480, Rule::None),
    ("Taipei Standard Time", 480, Rule::None),
    ("Ulaanbaatar Standard Time", 480, Rule::None),
    ("Aus Central W. Standard Time", 525, Rule::None),
    ("Tokyo Standard Time", 540, Rule::None),
    ("Korea Standard Time", 540, Rule::None),
    ("Yakutsk Standard Time", 540, Rule::None),
    ("AUS Central Standard Time", 570, Rule::None),
    ("Cen. Australia Standard Time", 570, Rule::Australia),
    ("E. Australia Standard Time", 600, Rule::None),
    ("AUS Eastern Standard Time", 600, Rule::Australia),
    ("Tasmania Standard Time", 600, Rule::Australia),
    ("West Pacific Standard Time", 600, Rule::None),
    ("Vladivostok Standard Time", 600, Rule::None),
    ("Central Pacific Standard Time", 660, Rule::None),
    ("New Zealand Standard Time", 720, Rule::NewZealand),
    ("UTC+12", 720, Rule::None),
    ("Fiji Standard Time", 720, Rule::None),
    ("Tonga Standard Time", 780, Rule::None),
    ("Samoa Standard Time", 780, Rule::None),
    ("UTC+13", 780, Rule::None),
    ("Line Islands Standard Time", 840, Rule::None),
];

/// `value AT TIME ZONE zone`: a datetimeoffset is shown in the zone, any other moment is taken to be local there.
pub(super) fn at_time_zone(value: &Value, zone: &str, ty: SqlType) -> Result<Value, SqlError> {
    let wanted = zone.trim_end_matches(' ');
    let found = ZONES.iter().find(|(name, ..)| name.eq_ignore_ascii_case(wanted));
    let Some((_, base, rule)) = found else {
        return Err(SqlError::new(
            9820,
            16,
            format!("The time zone parameter '{zone}' provided to AT TIME ZONE clause is invalid."),
        ));
    };
    let made = match super::calendar::moment(value, ty)? {
        Value::DateTimeOffset(at) => {
            let offset = offset_at(at.utc, *base, *rule);
            Some(DateTimeOffset { utc: at.utc, offset_minutes: offset })
        }
        Value::DateTime2(local) => from_local(local, *base, *rule),
        _ => None,
    };
    made.map(Value::DateTimeOffset).ok_or_else(|| {
        SqlError::new(
            9813,
            16,
            "The timezone provided to builtin function AT TIME ZONE would cause the datetimeoffset \
             to overflow the range of valid date range in either UTC or local time.",
        )
    })
}

/// A local time: in the hour that comes twice standard time counts; one that is left out is moved on by an hour.
fn from_local(local: DateTime2, base: i16, rule: Rule) -> Option<DateTimeOffset> {
    let standard = local.shift_minutes(-i64::from(base))?;
    let summer = local.shift_minutes(-i64::from(base) - 60)?;
    let in_standard = offset_at(standard, base, rule) == base;
    let in_summer = offset_at(summer, base, rule) != base;
    let utc = match (in_standard, in_summer) {
        (true, _) => standard,
        (false, true) => summer,
        // The clock skips it: the moment is read by the offset before, and shown by the one after.
        (false, false) => standard,
    };
    Some(DateTimeOffset { utc, offset_minutes: offset_at(utc, base, rule) })
}

/// The offset that holds at a moment.
fn offset_at(utc: DateTime2, base: i16, rule: Rule) -> i16 {
    // The year by standard time; changes are far from its ends.
    let local = utc.shift_minutes(base.into()).unwrap_or(utc);
    let (year, _, _) = datetime::civil_from_days(local.days);
    let minute_of = |d: DateTime2| i64::from(d.days) * 1440 + (d.ticks / 600_000_000) as i64;
    let now = minute_of(utc);
    let day = |days: i32, minutes: i64| i64::from(days) * 1440 + minutes;
    let base_minutes = i64::from(base);
    let summer = match rule {
        Rule::None => false,
        Rule::Europe => {
            let start = day(last_sunday(year, 3, 31), 60);
            let end = day(last_sunday(year, 10, 31), 60);
            (start..end).contains(&now)
        }
        Rule::America => {
            let start = day(nth_sunday(year, 3, 2), 120 - base_minutes);
            let end = day(nth_sunday(year, 11, 1), 60 - base_minutes);
            (start..end).contains(&now)
        }
        Rule::Australia | Rule::NewZealand => {
            let start = match rule {
                Rule::Australia => nth_sunday(year, 10, 1),
                _ => last_sunday(year, 9, 30),
            };
            let start = day(start, 120 - base_minutes);
            let end = day(nth_sunday(year, 4, 1), 120 - base_minutes);
            !(end..start).contains(&now)
        }
    };
    base + if summer { 60 } else { 0 }
}

/// Days since 0001-01-01, a Monday, of the month's n-th Sunday.
fn nth_sunday(year: i32, month: u32, n: i32) -> i32 {
    let first = datetime::days_from_civil(year, month, 1);
    first + (6 - first).rem_euclid(7) + 7 * (n - 1)
}

fn last_sunday(year: i32, month: u32, last: u32) -> i32 {
    let end = datetime::days_from_civil(year, month, last);
    end - (end + 1).rem_euclid(7)
}
