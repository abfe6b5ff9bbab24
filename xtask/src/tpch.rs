//! TPC-H: its data, its 22 queries as T-SQL, every answer held against another engine's, and times beside it.
//!
//! Rows come from the crate `tpchgen` and are loaded from files as a user would: BULK INSERT here, COPY elsewhere, into
//! tables with primary keys and an index for each foreign key that a primary key does not begin with (DuckDB, which
//! reads columns, has none). The queries run in turn on each engine, so that a slow minute of the machine falls on all.
//! An answer that differs makes the command fail: texts must be the same, numbers within the last digit that a quotient
//! or an average of T-SQL has.

use crate::beside::{Dialect, Engine, Setup, engines};
use crate::run::Failure;
use std::fmt::Display;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use tpchgen::generators as rows;

/// What to run.
#[derive(clap::Args)]
pub struct Options {
    /// 1: six million rows of lineitem, about a gigabyte.
    #[arg(long, default_value_t = 0.1)]
    scale: f64,
    /// Only these queries: 1,19.
    #[arg(long, value_delimiter = ',')]
    only: Vec<usize>,
    /// Degrees of parallelism, one after the other.
    #[arg(long, value_delimiter = ',', default_value = "1")]
    maxdop: Vec<u32>,
    /// What our engine may use, three quarters of it for pages.
    #[arg(long, default_value_t = 8192)]
    memory_mb: u64,
    /// postgres and duckdb (the shell in PATH, or the one that DUCKDB names); answers are compared with theirs.
    #[arg(long, value_delimiter = ',')]
    beside: Vec<String>,
    /// Of which the median counts.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Where the databases are made; removed at the end.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Examples `timed` of the crate session that are built already, as NAME=FILE or FILE; the first is what others are
    /// compared with.
    #[arg(long)]
    program: Vec<String>,
    /// Print the answers.
    #[arg(long)]
    answers: bool,
}

const QUERIES: &str = include_str!("tpch/queries.sql");

/// Tables, their columns and what may be asked of them; each engine's words are the same.
const TABLES: [(&str, &str); 8] = [
    (
        "region",
        "r_regionkey int not null primary key, r_name char(25) not null, r_comment varchar(152) not null",
    ),
    (
        "nation",
        "n_nationkey int not null primary key, n_name char(25) not null, n_regionkey int not null, n_comment \
         varchar(152) not null",
    ),
    (
        "supplier",
        "s_suppkey int not null primary key, s_name char(25) not null, s_address varchar(40) not null, s_nationkey int \
         not null, s_phone char(15) not null, s_acctbal decimal(15,2) not null, s_comment varchar(101) not null",
    ),
    (
        "customer",
        "c_custkey int not null primary key, c_name varchar(25) not null, c_address varchar(40) not null, c_nationkey \
         int not null, c_phone char(15) not null, c_acctbal decimal(15,2) not null, c_mktsegment char(10) not null, \
         c_comment varchar(117) not null",
    ),
    (
        "part",
        "p_partkey int not null primary key, p_name varchar(55) not null, p_mfgr char(25) not null, p_brand char(10) \
         not null, p_type varchar(25) not null, p_size int not null, p_container char(10) not null, p_retailprice \
         decimal(15,2) not null, p_comment varchar(23) not null",
    ),
    (
        "partsupp",
        "ps_partkey int not null, ps_suppkey int not null, ps_availqty int not null, ps_supplycost decimal(15,2) not \
         null, ps_comment varchar(199) not null, primary key (ps_partkey, ps_suppkey)",
    ),
    (
        "orders",
        "o_orderkey bigint not null primary key, o_custkey int not null, o_orderstatus char(1) not null, o_totalprice \
         decimal(15,2) not null, o_orderdate date not null, o_orderpriority char(15) not null, o_clerk char(15) not \
         null, o_shippriority int not null, o_comment varchar(79) not null",
    ),
    (
        "lineitem",
        "l_orderkey bigint not null, l_partkey int not null, l_suppkey int not null, l_linenumber int not null, \
         l_quantity decimal(15,2) not null, l_extendedprice decimal(15,2) not null, l_discount decimal(15,2) not null, \
         l_tax decimal(15,2) not null, l_returnflag char(1) not null, l_linestatus char(1) not null, l_shipdate date \
         not null, l_commitdate date not null, l_receiptdate date not null, l_shipinstruct char(25) not null, \
         l_shipmode char(10) not null, l_comment varchar(44) not null, primary key (l_orderkey, l_linenumber)",
    ),
];

/// Of the engines that read rows.
const INDEXES: [&str; 5] = [
    "create index supplier_nation on supplier (s_nationkey)",
    "create index customer_nation on customer (c_nationkey)",
    "create index partsupp_supplier on partsupp (ps_suppkey)",
    "create index orders_customer on orders (o_custkey)",
    "create index lineitem_part_supplier on lineitem (l_partkey, l_suppkey)",
];

/// Fields are parted by `|` and rows by a line feed; the generator ends each row with a `|`, which is no field.
fn write_rows(path: &Path, rows: impl Iterator<Item = impl Display>) -> std::io::Result<()> {
    let mut file = BufWriter::new(std::fs::File::create(path)?);
    for row in rows {
        let row = row.to_string();
        file.write_all(row.trim_end_matches('|').as_bytes())?;
        file.write_all(b"\n")?;
    }
    file.flush()
}

fn generate(scale: f64, folder: &Path) -> Result<(), Failure> {
    let path = |table: &str| folder.join(format!("{table}.tbl"));
    write_rows(&path("region"), rows::RegionGenerator::new(scale, 1, 1).iter())
        .and_then(|()| write_rows(&path("nation"), rows::NationGenerator::new(scale, 1, 1).iter()))
        .and_then(|()| {
            write_rows(&path("supplier"), rows::SupplierGenerator::new(scale, 1, 1).iter())
        })
        .and_then(|()| {
            write_rows(&path("customer"), rows::CustomerGenerator::new(scale, 1, 1).iter())
        })
        .and_then(|()| write_rows(&path("part"), rows::PartGenerator::new(scale, 1, 1).iter()))
        .and_then(|()| {
            write_rows(&path("partsupp"), rows::PartSuppGenerator::new(scale, 1, 1).iter())
        })
        .and_then(|()| write_rows(&path("orders"), rows::OrderGenerator::new(scale, 1, 1).iter()))
        .and_then(|()| {
            write_rows(&path("lineitem"), rows::LineItemGenerator::new(scale, 1, 1).iter())
        })
        .map_err(|error| Failure(format!("{}: {error}", folder.display())))
}

/// The seconds it took.
fn load(engine: &mut Engine, folder: &Path) -> Result<f64, Failure> {
    let mut seconds = 0.0;
    for (table, columns) in TABLES {
        let file = folder.join(format!("{table}.tbl"));
        let file = file.display();
        let columns = match engine.dialect {
            // DuckDB's primary keys are indexes that only changes ask.
            Dialect::Duck => {
                let columns = columns.split(", primary key (").next().unwrap_or_default();
                columns.replace(" primary key", "")
            }
            _ => columns.to_owned(),
        };
        let unlogged = if engine.dialect == Dialect::Postgres { "unlogged " } else { "" };
        seconds += engine.run(&format!("create {unlogged}table {table} ({columns})"))?.1;
        seconds += engine
            .run(&match engine.dialect {
                Dialect::Tsql => format!(
                    "bulk insert {table} from '{file}' with (fieldterminator = '|', rowterminator = '0x0a', tablock)"
                ),
                Dialect::Postgres => format!("\\copy {table} from '{file}' with (delimiter '|')"),
                Dialect::Duck => format!("copy {table} from '{file}' (delimiter '|', header false)"),
            })?
            .1;
    }
    if engine.dialect != Dialect::Duck {
        for index in INDEXES {
            seconds += engine.run(index)?.1;
        }
    }
    if engine.dialect == Dialect::Postgres {
        seconds += engine.run("vacuum analyze")?.1;
    }
    Ok(seconds)
}

/// The texts of the queries, the first at 0.
fn queries(scale: f64) -> Vec<String> {
    let fraction = format!("{:.10}", 0.0001 / scale);
    let text = |part: &str| {
        let lines = part.lines().skip(1).map(str::trim).collect::<Vec<_>>().join(" ");
        lines.trim().replace("{fraction}", &fraction)
    };
    QUERIES.split("\n-- Q").skip(1).map(text).collect()
}

/// A query in an engine's words.
fn spoken(query: &str, dialect: Dialect, maxdop: u32) -> String {
    if dialect == Dialect::Tsql {
        return format!("{query} option (maxdop {maxdop})");
    }
    let mut text = query.replace("year(", "extract(year from ");
    while let Some(at) = text.find("dateadd(") {
        // dateadd(UNIT, N, cast('D' as date))
        let end = at + text[at..].find("))").unwrap_or(text.len() - at) + 2;
        let inner = text[at + "dateadd(".len()..end - 1].to_owned();
        let mut parts = inner.splitn(3, ", ");
        let (unit, n, date) = (parts.next(), parts.next(), parts.next());
        let (unit, n, date) =
            (unit.unwrap_or_default(), n.unwrap_or_default(), date.unwrap_or_default());
        text.replace_range(at..end, &format!("cast({date} + interval '{n} {unit}' as date)"));
    }
    if let Some(rest) = text.strip_prefix("select top ")
        && let Some((n, rest)) = rest.split_once(' ')
    {
        text = format!("select {rest} limit {n}");
    }
    text
}

/// Whether two answers are one: see the file's first lines.
fn same(ours: &str, theirs: &str) -> Result<(), String> {
    let (a, b): (Vec<&str>, Vec<&str>) = (ours.lines().collect(), theirs.lines().collect());
    if a.len() != b.len() {
        return Err(format!("{} rows and {}", a.len(), b.len()));
    }
    for (n, (a, b)) in a.iter().zip(&b).enumerate() {
        let differs = || format!("row {}: `{a}` and `{b}`", n + 1);
        let (a, b): (Vec<&str>, Vec<&str>) = (a.split('\t').collect(), b.split('\t').collect());
        if a.len() != b.len() {
            return Err(differs());
        }
        for (a, b) in a.iter().zip(&b) {
            let (a, b) = (a.trim(), b.trim());
            let equal = match (a.parse::<f64>(), b.parse::<f64>()) {
                (Ok(a), Ok(b)) => (a - b).abs() <= 2e-6_f64.max(a.abs() * 1e-9),
                _ => a == b || (a == "NULL" && b.is_empty()),
            };
            if !equal {
                return Err(differs());
            }
        }
    }
    Ok(())
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let folder = match &options.data {
        Some(data) => data.clone(),
        None => std::env::temp_dir().join(format!("tpch-{}", std::process::id())),
    };
    let files = folder.join("rows");
    std::fs::create_dir_all(&files).map_err(|error| Failure(error.to_string()))?;
    let setup = Setup {
        database: "tpch",
        memory_mb: options.memory_mb,
        programs: &options.program,
        beside: &options.beside,
        folder: &folder,
    };
    let result = generate(options.scale, &files).and_then(|()| {
        let mut engines = engines(&setup)?;
        let result = compare(options, &mut engines, &files);
        engines.into_iter().for_each(Engine::stop);
        result
    });
    let _ = std::fs::remove_dir_all(&folder);
    result
}

fn compare(options: &Options, engines: &mut [Engine], files: &Path) -> Result<(), Failure> {
    for engine in &mut *engines {
        let seconds = load(engine, files)?;
        println!("{:<12} loaded scale {} in {seconds:.1} s", engine.name, options.scale);
    }
    let queries = queries(options.scale);
    let mut wrong = Vec::new();
    for &maxdop in &options.maxdop {
        println!("\nMAXDOP {maxdop}; seconds, medians of {}", options.rounds.max(1));
        print!("query");
        engines.iter().for_each(|engine| print!(" {:>12}", engine.name));
        println!();
        let mut sums = vec![0.0; engines.len()];
        for (i, query) in queries.iter().enumerate() {
            if !options.only.is_empty() && !options.only.contains(&(i + 1)) {
                continue;
            }
            let mut answers: Vec<String> = vec![String::new(); engines.len()];
            let mut seconds = vec![Vec::new(); engines.len()];
            // The first round warms up, and makes statistics.
            for round in 0..=options.rounds.max(1) {
                for (n, engine) in engines.iter_mut().enumerate() {
                    engine.spread(maxdop)?;
                    let (answer, took) = engine.run(&spoken(query, engine.dialect, maxdop))?;
                    answers[n] = answer;
                    if round > 0 {
                        seconds[n].push(took);
                    }
                }
            }
            print!("Q{:<4}", i + 1);
            for (n, mut all) in seconds.into_iter().enumerate() {
                all.sort_by(f64::total_cmp);
                let median = all[all.len() / 2];
                sums[n] += median;
                print!(" {median:>12.4}");
            }
            println!();
            if options.answers {
                println!("{}", answers[0]);
            }
            for (engine, answer) in engines.iter().zip(&answers).skip(1) {
                if let Err(what) = same(&answers[0], answer) {
                    println!("      {} answers otherwise: {what}", engine.name);
                    wrong.push(format!("Q{} ({}, MAXDOP {maxdop})", i + 1, engine.name));
                }
            }
        }
        print!("sum  ");
        sums.iter().for_each(|sum| print!(" {sum:>12.4}"));
        println!();
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(Failure(format!("answers differ: {}", wrong.join(", ")))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_22_queries_and_other_dialects_know_their_words() {
        let all = queries(1.0);
        assert_eq!(all.len(), 22);
        for query in all {
            assert!(query.starts_with("select ") || query.starts_with("with "), "{query}");
            let spoken = spoken(&query, Dialect::Postgres, 1);
            assert!(!spoken.contains("dateadd") && !spoken.contains(" top "), "{spoken}");
        }
        let q = spoken(
            "select top 3 a from t where d < dateadd(month, 3, cast('1993-07-01' as date))",
            Dialect::Duck,
            1,
        );
        assert_eq!(
            q,
            "select a from t where d < cast(cast('1993-07-01' as date) + interval '3 month' as date) limit 3"
        );
    }

    #[test]
    fn answers_differ_in_texts_and_in_more_than_last_digits() {
        assert!(same("a\t1.50", "a \t1.500001").is_ok());
        assert!(same("a\t1.50", "a\t1.51").is_err());
        assert!(same("a\t1", "b\t1").is_err());
        assert!(same("a", "a\nb").is_err());
    }
}
