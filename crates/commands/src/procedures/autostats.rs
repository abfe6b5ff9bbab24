//! sp_autostats: whether statistics are made anew by themselves, shown and set.
//!
//! Source: SQL Server's documentation of sp_autostats. What it says of the database are ALTER DATABASE's switches.

use crate::Commands;
use crate::procedures::Argument;
use crate::procedures::arguments;
use catalog::{ObjectRef, Statistic, StatisticSpec, StatisticsSwitch, TableDef, same_name};
use executor::{ColumnMeta, Command, SqlError, SqlMessage};
use session_state::messages;
use std::sync::Arc;
use types::{Len, SqlType, Value};

impl Commands<'_> {
    /// sp_autostats @tblname [, @flagc [, @indname]]. 15009, 15323, 15600.
    pub(crate) fn autostats(&mut self, args: &[Argument]) -> Result<(), SqlError> {
        let table = arguments::needed("sp_autostats", args, 0, "@tblname");
        let table = table.map_err(|e| e.with_state(4))?;
        let flag = arguments::text(args, 1, "@flagc").map(str::to_owned);
        let index = arguments::text(args, 2, "@indname").map(str::to_owned);
        let mut parts = session_state::name_parts(table).into_iter().rev();
        let bare = parts.next().unwrap_or_default();
        let schema = parts.next().filter(|s| !s.is_empty());
        let found = self.state.find_object(schema.as_deref(), &bare);
        let def = match found.filter(|found| self.may_change(found, false)) {
            Some(ObjectRef::Table(def)) => def,
            _ => return Err(messages::error(15009, &[table, &self.state.database.name])),
        };
        let mut specs = crate::define::statistics::known(&def);
        if let Some(index) = &index {
            specs.retain(|spec| same_name(&spec.name, index));
            if specs.is_empty() {
                let text =
                    format!("The selected index '{index}' does not exist on table '{table}'.");
                return Err(SqlError::new(15323, 16, text));
            }
        }
        match flag.as_deref() {
            None => {
                self.tell_switches(&def);
                self.show_autostats(&def, &specs);
                Ok(())
            }
            Some(flag) if flag.eq_ignore_ascii_case("ON") => self.set_autostats(&def, &specs, true),
            Some(flag) if flag.eq_ignore_ascii_case("OFF") => {
                self.set_autostats(&def, &specs, false)
            }
            Some(_) => Err(SqlError::new(
                17000,
                10,
                "Usage: sp_autostats <table_name> [, {ON|OFF} [, <index_name>] ]",
            )),
        }
    }

    fn tell_switches(&mut self, def: &TableDef) {
        let configuration = self.state.database.catalog.configuration();
        let word = |switch| if configuration.statistics(switch) { "ON" } else { "OFF" };
        let text = format!(
            "Global statistics settings for [{}]:\n  Automatic update statistics: {}\n  Automatic create \
             statistics: {}\n\nSettings for table [{}]\n",
            self.state.database.name,
            word(StatisticsSwitch::AutoUpdate),
            word(StatisticsSwitch::AutoCreate),
            def.name
        );
        self.sink.message(&SqlMessage::info(0, 1, text));
    }

    fn show_autostats(&mut self, def: &TableDef, specs: &[StatisticSpec]) {
        self.sink.columns(&[
            ColumnMeta::new("Index Name", SqlType::NVarChar(Len::N(130)), true),
            ColumnMeta::new("AUTOSTATS", SqlType::VarChar(Len::N(3)), false),
            ColumnMeta::new("Last Updated", SqlType::DateTime, true),
        ]);
        for spec in specs {
            let made = made(def, spec.id);
            let updated = made.as_ref().map_or(Value::Null, |s| {
                Value::DateTime(types::datetime::datetime_from_unix_ns(s.updated_unix_ns))
            });
            let is_off = made.is_some_and(|s| s.no_recompute);
            self.sink.row(&[
                Value::str(&format!("[{}]", spec.name)),
                Value::str(if is_off { "OFF" } else { "ON" }),
                updated,
            ]);
        }
        self.tell_done(Command::Select, Some(specs.len() as u64));
    }

    /// A statistic that is not made yet is made, for there to be something to set.
    fn set_autostats(
        &mut self,
        def: &Arc<TableDef>,
        specs: &[StatisticSpec],
        on: bool,
    ) -> Result<(), SqlError> {
        let catalog = self.state.database.catalog.clone();
        let missing: Vec<StatisticSpec> =
            specs.iter().filter(|spec| made(def, spec.id).is_none()).cloned().collect();
        if !missing.is_empty() {
            catalog.gather(def, &missing, catalog::Extent::Default)?;
        }
        for spec in specs {
            catalog.set_recompute(def, spec.id, on)?;
        }
        let (word, count) = (if on { "on" } else { "off" }, specs.len());
        let text = format!(
            "Automatic statistics maintenance turned {word} for the following {count} {} of table [{}].",
            if count == 1 { "statistic" } else { "statistics" },
            def.name
        );
        self.sink.message(&SqlMessage::info(0, 1, text));
        Ok(())
    }
}

fn made(def: &TableDef, id: i32) -> Option<Arc<Statistic>> {
    def.statistics.all().into_iter().find(|s| s.id == id && s.is_of(def))
}
