//! The rows of TPC-DS, and how an engine comes to have them.
//!
//! They come from the crate `tpcdsgen`, which writes what the consortium's own generator writes, and are loaded from
//! files as a user would: fields parted by `|`, a field without text is NULL. Engines that read rows have the
//! specification's primary keys, and indexes of the larger tables by date and by customer; DuckDB, which reads columns,
//! has neither. Where the rows of sales and returns lie is a choice here ([`Clustering`]): a heap of PostgreSQL keeps them
//! as they were loaded, and the generator writes them by date.

use crate::beside::{Dialect, Engine};
use crate::run::Failure;
use std::fmt::Display;
use std::io::{BufWriter, Write};
use std::path::Path;
use tpcdsgen::config::{SessionBuilder, Table};
use tpcdsgen::row;

/// What the rows of sales and returns lie by in our engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Clustering {
    /// Their primary keys, which begin with the item.
    Key,
    /// The date, the usual clustered index of tables that are asked for months and years.
    Date,
}

const TABLES: &str = include_str!("tables.sql");

const INDEXES: [&str; 13] = [
    "create index store_sales_date on store_sales (ss_sold_date_sk)",
    "create index store_sales_customer on store_sales (ss_customer_sk)",
    "create index store_returns_date on store_returns (sr_returned_date_sk)",
    "create index store_returns_customer on store_returns (sr_customer_sk)",
    "create index catalog_sales_date on catalog_sales (cs_sold_date_sk)",
    "create index catalog_sales_customer on catalog_sales (cs_bill_customer_sk)",
    "create index catalog_returns_date on catalog_returns (cr_returned_date_sk)",
    "create index catalog_returns_customer on catalog_returns (cr_returning_customer_sk)",
    "create index web_sales_date on web_sales (ws_sold_date_sk)",
    "create index web_sales_customer on web_sales (ws_bill_customer_sk)",
    "create index web_returns_date on web_returns (wr_returned_date_sk)",
    "create index web_returns_customer on web_returns (wr_returning_customer_sk)",
    "create index customer_of_address on customer (c_current_addr_sk)",
];

/// The names of the tables, and the text that makes each.
fn tables() -> Vec<(&'static str, String)> {
    let all = TABLES.split("create table ").skip(1);
    let named = all.map(|text| {
        let name = text.split_once(' ').unwrap_or_default().0;
        let words: Vec<&str> = text.split_whitespace().collect();
        (name, format!("create table {}", words.join(" ")))
    });
    named.collect()
}

/// Each row of the generator ends with a `|`, which is no field.
fn write_rows(path: &Path, rows: impl Iterator<Item = impl Display>) -> std::io::Result<()> {
    let mut file = BufWriter::new(std::fs::File::create(path)?);
    for row in rows {
        let row = row.to_string();
        file.write_all(row.strip_suffix('|').unwrap_or(&row).as_bytes())?;
        file.write_all(b"\n")?;
    }
    file.flush()
}

/// Writes the rows of every table into a file of its name.
pub fn generate(scale: f64, folder: &Path) -> Result<(), Failure> {
    let session = SessionBuilder::new().with_scale_factor(scale).build();
    let session = session.map_err(|error| Failure(format!("rows of TPC-DS: {error}")))?;
    macro_rules! write {
        ($($file:literal $table:ident $generator:ident,)*) => {
            $({
                let count = session.get_scaling().get_row_count(Table::$table);
                let path = folder.join(concat!($file, ".tbl"));
                write_rows(&path, row::$generator::new(session.clone(), count))
                    .map_err(|error| Failure(format!("{}: {error}", path.display())))?;
            })*
        };
    }
    write!(
        "call_center" CallCenter CallCenterRowGenerator,
        "catalog_page" CatalogPage CatalogPageRowGenerator,
        "catalog_returns" CatalogReturns CatalogReturnsRowGenerator,
        "catalog_sales" CatalogSales CatalogSalesRowGenerator,
        "customer" Customer CustomerRowGenerator,
        "customer_address" CustomerAddress CustomerAddressRowGenerator,
        "customer_demographics" CustomerDemographics CustomerDemographicsRowGenerator,
        "date_dim" DateDim DateDimRowGenerator,
        "household_demographics" HouseholdDemographics HouseholdDemographicsRowGenerator,
        "income_band" IncomeBand IncomeBandRowGenerator,
        "inventory" Inventory InventoryRowGenerator,
        "item" Item ItemRowGenerator,
        "promotion" Promotion PromotionRowGenerator,
        "reason" Reason ReasonRowGenerator,
        "ship_mode" ShipMode ShipModeRowGenerator,
        "store" Store StoreRowGenerator,
        "store_returns" StoreReturns StoreReturnsRowGenerator,
        "store_sales" StoreSales StoreSalesRowGenerator,
        "time_dim" TimeDim TimeDimRowGenerator,
        "warehouse" Warehouse WarehouseRowGenerator,
        "web_page" WebPage WebPageRowGenerator,
        "web_returns" WebReturns WebReturnsRowGenerator,
        "web_sales" WebSales WebSalesRowGenerator,
        "web_site" WebSite WebSiteRowGenerator,
    );
    Ok(())
}

/// An index of a table of sales or returns by its date.
fn by_date(index: &str) -> bool {
    index.contains("_date on ")
}

/// The seconds it took.
pub fn load(engine: &mut Engine, folder: &Path, clustering: Clustering) -> Result<f64, Failure> {
    let by_dates = clustering == Clustering::Date && engine.dialect == Dialect::Tsql;
    let (clustered, indexes): (Vec<&str>, Vec<&str>) =
        INDEXES.iter().partition(|index| by_dates && by_date(index));
    let mut seconds = 0.0;
    for (table, text) in tables() {
        let file = folder.join(format!("{table}.tbl"));
        let file = file.display();
        let of_table = format!(" on {table} (");
        let clustered = clustered.iter().find(|index| index.contains(&of_table));
        let text = match engine.dialect {
            Dialect::Tsql => match clustered {
                Some(_) => text.replace(", primary key (", ", primary key nonclustered ("),
                None => text,
            },
            Dialect::Postgres => text.replacen("create table", "create unlogged table", 1),
            // DuckDB's primary keys are indexes that only changes ask.
            Dialect::Duck => {
                format!("{})", text.split(", primary key (").next().unwrap_or_default())
            }
        };
        seconds += engine.run(&text)?.1;
        if let Some(index) = clustered {
            let index = index.replacen("create index", "create clustered index", 1);
            seconds += engine.run(&index)?.1;
        }
        let copy = match engine.dialect {
            Dialect::Tsql => format!(
                "bulk insert {table} from '{file}' with (fieldterminator = '|', rowterminator = '0x0a', codepage = \
                 '65001', tablock)"
            ),
            Dialect::Postgres => {
                format!("\\copy {table} from '{file}' with (delimiter '|', null '')")
            }
            Dialect::Duck => {
                format!(
                    "copy {table} from '{file}' (delimiter '|', header false, nullstr '', quote '')"
                )
            }
        };
        seconds += engine.run(&copy)?.1;
    }
    if engine.dialect != Dialect::Duck {
        for index in indexes {
            seconds += engine.run(index)?.1;
        }
    }
    if engine.dialect == Dialect::Postgres {
        seconds += engine.run("vacuum analyze")?.1;
    }
    Ok(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sales_and_returns_have_an_index_by_date() {
        let names: Vec<&str> = tables().into_iter().map(|(name, _)| name).collect();
        let dated = INDEXES.into_iter().filter(|index| by_date(index));
        let dated: Vec<&str> = dated.filter_map(|index| index.split(' ').nth(4)).collect();
        assert_eq!(dated.len(), 6);
        assert!(
            dated.iter().all(|table| names.contains(table) && table.contains('_')),
            "{dated:?}"
        );
    }

    #[test]
    fn there_are_24_tables_with_keys() {
        let all = tables();
        assert_eq!(all.len(), 24);
        for (name, text) in all {
            assert!(text.starts_with(&format!("create table {name} (")), "{text}");
            assert!(text.contains(", primary key (") && text.ends_with("))"), "{text}");
        }
    }
}
