//! The cases of `../types.json` as tiberius's own wire-near values, which hold all of them exactly; `money` alone comes
//! as a float.

use tiberius::ColumnData;
use tiberius::numeric::Numeric;
use tiberius::time::{Date, DateTime, DateTime2, DateTimeOffset, SmallDateTime, Time};

/// Days from 0001-01-01 to 1900-01-01.
const DAYS_TO_1900: u32 = 693_595;

/// One type of the list.
pub struct Type {
    pub name: String,
    pub kind: String,
    pub values: Vec<Case>,
}

pub struct Case {
    pub sql: String,
    pub text: String,
}

pub fn types() -> Vec<Type> {
    let text = |value: &serde_json::Value| value.as_str().expect("text").to_owned();
    let list = crate::json("types.json");
    let types = list.as_array().expect("a list").iter().map(|entry| Type {
        name: text(&entry["type"]),
        kind: text(&entry["kind"]),
        values: entry["values"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|value| Case {
                sql: text(&value["sql"]),
                text: text(&value["text"]).repeat(value["repeat"].as_u64().unwrap_or(1) as usize),
            })
            .collect(),
    });
    types.collect()
}

/// What the client gives for this value of this type, and what a program sends.
pub fn value(ty: &Type, text: &str) -> ColumnData<'static> {
    let string = || ColumnData::String(Some(text.to_owned().into()));
    match ty.kind.as_str() {
        "bit" => ColumnData::Bit(Some(text == "1")),
        "int" => match ty.name.as_str() {
            "tinyint" => ColumnData::U8(Some(text.parse().expect("u8"))),
            "smallint" => ColumnData::I16(Some(text.parse().expect("i16"))),
            _ => ColumnData::I32(Some(text.parse().expect("i32"))),
        },
        "bigint" => ColumnData::I64(Some(text.parse().expect("i64"))),
        "decimal" => ColumnData::Numeric(Some(numeric(text))),
        "money" | "float" => ColumnData::F64(Some(text.parse().expect("f64"))),
        "real" => ColumnData::F32(Some(text.parse().expect("f32"))),
        "varchar" | "nvarchar" => string(),
        "binary" => ColumnData::Binary(Some(bytes(text).into())),
        "guid" => ColumnData::Guid(Some(text.parse().expect("uuid"))),
        "date" => ColumnData::Date(Some(Date::new(days(text)))),
        "time" => ColumnData::Time(Some(time(text))),
        "datetime" if ty.name == "smalldatetime" => {
            let (day, clock) = text.split_once(' ').expect("a date and a time");
            let minutes = time(clock).increments() / 60;
            ColumnData::SmallDateTime(Some(SmallDateTime::new(
                (days(day) - DAYS_TO_1900) as u16,
                minutes as u16,
            )))
        }
        "datetime" => {
            let (day, clock) = text.split_once(' ').expect("a date and a time");
            // Ticks of 1/300 s; the text has them rounded to milliseconds.
            let ticks = (time(clock).increments() * 3 + 5) / 10;
            let day = i64::from(days(day)) - i64::from(DAYS_TO_1900);
            ColumnData::DateTime(Some(DateTime::new(day as i32, ticks as u32)))
        }
        "datetime2" => ColumnData::DateTime2(Some(moment(text))),
        "datetimeoffset" => {
            let (local, zone) = text.rsplit_once(' ').expect("an offset");
            let minutes: i16 = zone[1..3].parse::<i16>().expect("hours") * 60
                + zone[4..6].parse::<i16>().expect("minutes");
            let minutes = if zone.starts_with('-') { -minutes } else { minutes };
            ColumnData::DateTimeOffset(Some(offset(moment(local), minutes)))
        }
        other => panic!("kind {other}"),
    }
}

/// NULL of the kind.
pub fn null(ty: &Type) -> ColumnData<'static> {
    match ty.kind.as_str() {
        "bit" => ColumnData::Bit(None),
        "int" => match ty.name.as_str() {
            "tinyint" => ColumnData::U8(None),
            "smallint" => ColumnData::I16(None),
            _ => ColumnData::I32(None),
        },
        "bigint" => ColumnData::I64(None),
        "decimal" => ColumnData::Numeric(None),
        "money" | "float" => ColumnData::F64(None),
        "real" => ColumnData::F32(None),
        "binary" => ColumnData::Binary(None),
        "guid" => ColumnData::Guid(None),
        "date" => ColumnData::Date(None),
        "time" => ColumnData::Time(None),
        "datetime" if ty.name == "smalldatetime" => ColumnData::SmallDateTime(None),
        "datetime" => ColumnData::DateTime(None),
        "datetime2" => ColumnData::DateTime2(None),
        "datetimeoffset" => ColumnData::DateTimeOffset(None),
        _ => ColumnData::String(None),
    }
}

pub fn is_null(value: &ColumnData<'_>) -> bool {
    format!("{value:?}").ends_with("(None)")
}

/// Whether the client gave the value, exactly.
pub fn same(ty: &Type, text: &str, got: &ColumnData<'_>) -> bool {
    let want = value(ty, text);
    match (&want, got) {
        (ColumnData::F64(Some(want)), ColumnData::F64(Some(got))) if ty.kind == "money" => {
            (want - got).abs() <= want.abs() * 1e-15
        }
        (ColumnData::Numeric(Some(want)), ColumnData::Numeric(Some(got))) => {
            want.value() == got.value() && want.scale() == got.scale()
        }
        _ => want == *got,
    }
}

fn numeric(text: &str) -> Numeric {
    let scale = text.split_once('.').map_or(0, |(_, digits)| digits.len());
    Numeric::new_with_scale(text.replace('.', "").parse().expect("i128"), scale as u8)
}

fn bytes(text: &str) -> Vec<u8> {
    (0..text.len() / 2)
        .map(|n| u8::from_str_radix(&text[2 * n..2 * n + 2], 16).expect("hex"))
        .collect()
}

/// Days since 0001-01-01.
fn days(text: &str) -> u32 {
    let mut parts = text.split('-').map(|part| part.parse::<u32>().expect("a number"));
    let (year, month, day) =
        (parts.next().expect("y"), parts.next().expect("m"), parts.next().expect("d"));
    let leap = |year: u32| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let lengths = [31, if leap(year) { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let before = year - 1;
    before * 365 + before / 4 - before / 100
        + before / 400
        + lengths[..month as usize - 1].iter().sum::<u32>()
        + day
        - 1
}

/// A time of day in units of its own last digit.
fn time(text: &str) -> Time {
    let (clock, digits) = text.split_once('.').unwrap_or((text, ""));
    let mut parts = clock.split(':').map(|part| part.parse::<u64>().expect("a number"));
    let seconds =
        parts.next().expect("h") * 3600 + parts.next().expect("m") * 60 + parts.next().expect("s");
    let unit = 10u64.pow(digits.len() as u32);
    Time::new(seconds * unit + digits.parse::<u64>().unwrap_or(0), digits.len() as u8)
}

fn moment(text: &str) -> DateTime2 {
    let (day, clock) = text.split_once(' ').expect("a date and a time");
    DateTime2::new(Date::new(days(day)), time(clock))
}

/// On the wire the moment is in UTC.
fn offset(local: DateTime2, minutes: i16) -> DateTimeOffset {
    let scale = local.time().scale();
    let unit = 10i64.pow(scale.into());
    let ticks = local.time().increments() as i64 - i64::from(minutes) * 60 * unit;
    let day = 86_400 * unit;
    let date = i64::from(local.date().days()) + ticks.div_euclid(day);
    let time = Time::new(ticks.rem_euclid(day) as u64, scale);
    DateTimeOffset::new(DateTime2::new(Date::new(date as u32), time), minutes)
}
