//! master's spt_values; and what a fresh msdb has rows in: the categories of SQL Server Agent, and how policies are configured. Its other tables
//! are in `empty_views.txt`.

use crate::context::Context;
use crate::declare::{Declared, variant, view};
use executor::SqlError;
use types::{SqlType, Value};

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&SPT_VALUES, &CATEGORIES, &POLICY_CONFIGURATION];

/// Numbers that statements count by (type P: a byte and a bit in it for each), and the bytes of a page (type E).
pub struct SptValue {
    name: Option<&'static str>,
    number: i32,
    kind: &'static str,
    low: i32,
    high: i32,
}

fn spt_values(_: &Context<'_>, _: &[Value]) -> Result<Vec<SptValue>, SqlError> {
    let counted = (0..2048).map(|number| SptValue {
        name: None,
        number,
        kind: "P  ",
        low: number / 8 + 1,
        high: 1 << (number % 8),
    });
    let page = SptValue { name: Some("WINDOWS/NT"), number: 1, kind: "E  ", low: 8192, high: 0 };
    Ok(counted.chain([page]).collect())
}

view! {
    SPT_VALUES = "master.spt_values" of SptValue as v, rows spt_values;
    name nvarchar(35) null = v.name;
    number int = v.number;
    type nchar(3) = v.kind;
    low int null = v.low;
    high int null = v.high;
    status int null = 0;
}

/// A category: id, class (1 jobs, 2 alerts, 3 operators), type (1 local, 2 of several servers, 3 neither), name.
pub struct Category(i32, i32, u8, &'static str);

fn categories(_: &Context<'_>, _: &[Value]) -> Result<Vec<Category>, SqlError> {
    const LOCAL: [(i32, &str); 18] = [
        (0, "[Uncategorized (Local)]"),
        (1, "Jobs from MSX"),
        (3, "Database Maintenance"),
        (4, "Web Assistant"),
        (5, "Full-Text"),
        (6, "Log Shipping"),
        (7, "Database Engine Tuning Advisor"),
        (8, "Data Collector"),
        (10, "REPL-Distribution"),
        (11, "REPL-Distribution Cleanup"),
        (12, "REPL-History Cleanup"),
        (13, "REPL-LogReader"),
        (14, "REPL-Merge"),
        (15, "REPL-Snapshot"),
        (16, "REPL-Checkup"),
        (17, "REPL-Subscription Cleanup"),
        (18, "REPL-Alert Response"),
        (19, "REPL-QueueReader"),
    ];
    let mut all: Vec<Category> = LOCAL.iter().map(|(id, name)| Category(*id, 1, 1, name)).collect();
    all.push(Category(2, 1, 2, "[Uncategorized (Multi-Server)]"));
    all.push(Category(20, 2, 3, "Replication"));
    all.push(Category(98, 2, 3, "[Uncategorized]"));
    all.push(Category(99, 3, 3, "[Uncategorized]"));
    all.sort_by_key(|category| category.0);
    Ok(all)
}

view! {
    CATEGORIES = "msdb.syscategories" of Category as c, rows categories;
    category_id int = c.0;
    category_class int = c.1;
    category_type tinyint = c.2;
    name sysname = c.3;
}

fn policy_configuration(
    _: &Context<'_>,
    _: &[Value],
) -> Result<Vec<(&'static str, i32)>, SqlError> {
    Ok(vec![("Enabled", 1), ("HistoryRetentionInDays", 0), ("LogOnSuccess", 0)])
}

view! {
    POLICY_CONFIGURATION = "msdb.syspolicy_configuration" of (&'static str, i32) as p, rows policy_configuration;
    name sysname = p.0;
    current_value sql_variant null = variant(p.1, SqlType::Int);
}
