//! INSERT BULK: a client announces columns, then sends rows.
//!
//! Promises: the announcement is tried out and changes nothing; what it announced is one statement, in a transaction of
//! its own or in the session's; what is told of it (its end, errors, what triggers say) goes to the sink, as for any
//! request. Values for the identity column, where the client sends it, are kept.

use super::sorted::Sorted;
use super::{Column, Loading, Rules, TYPE_MISMATCH, unfit};
use crate::mistakes::first_mistake;
use crate::programs::Session;
use crate::request::request;
use crate::vm::Vm;
use executor::{Command, Done, ResultSink, SqlError};
use session_state::Host;
use session_state::InputKind;
use session_state::{Halt, Halted};
use syntax::LexOptions;
use syntax::ast::InsertBulk;
use types::{Len, SqlType, Value, convert};

/// Fills in a row, a value for each column announced; false: there are no more. May suspend.
pub type BulkRows<'r> = dyn FnMut(&mut Vec<Value>) -> Result<bool, SqlError> + 'r;

/// Whether a batch is an INSERT BULK: it announces rows and is given to [`announce_bulk`] instead of being run.
pub fn is_insert_bulk(batch: &str) -> bool {
    let mut words = batch.split_whitespace();
    words.next().is_some_and(|w| w.eq_ignore_ascii_case("insert"))
        && words.next().is_some_and(|w| w.eq_ignore_ascii_case("bulk"))
}

/// Says whether rows may follow an `INSERT BULK`. `Err` when an error was told (208 without the table, 229, 1088), or a
/// column is not there. Suspends.
#[allow(clippy::result_unit_err, reason = "the errors themselves have gone to the sink")]
pub fn announce_bulk(
    session: &mut Session,
    host: &mut dyn Host,
    insert: &str,
    sink: &mut dyn ResultSink,
) -> Result<(), ()> {
    request(session, host, sink, |vm| {
        match vm.plan_client(insert, false) {
            Ok(_) => {}
            // Of a column that is not there the DONE alone tells, as in SQL Server.
            Err(error) if error.number == 207 => {
                let command = Command::BulkInsert;
                vm.state.error = error.number;
                vm.failed = true;
                vm.sink.done(Done { rows: None, command, in_procedure: false, failed: true });
                return Err(Halt::Batch);
            }
            Err(error) => return Err(vm.ended_by(error)),
        }
        vm.state.error = 0;
        vm.tell_done(Command::BulkInsert, None);
        Ok(())
    })
}

/// Loads the rows that an `INSERT BULK` announced. `Err` when an error was told, and nothing of them stays; or it was
/// stopped from outside. Suspends.
#[allow(clippy::result_unit_err, reason = "the errors themselves have gone to the sink")]
pub fn load_bulk(
    session: &mut Session,
    host: &mut dyn Host,
    insert: &str,
    rows: &mut BulkRows<'_>,
    sink: &mut dyn ResultSink,
) -> Result<(), ()> {
    request(session, host, sink, |vm| {
        let count = match vm.load_client(insert, rows) {
            Ok(count) => count,
            Err(Halted::Batch) => return Err(Halt::Batch),
            Err(Halted::Error(error)) => return Err(vm.ended_by(error)),
        };
        vm.state.rowcount = count as i64;
        vm.state.error = 0;
        vm.tell_done(Command::BulkInsert, Some(count));
        Ok(())
    })
}

/// A planned load, and the column of each value of a row.
struct Announced {
    loading: Loading,
    columns: Vec<Column>,
    sent: Vec<usize>,
    sorted: Option<Sorted>,
}

impl Vm<'_> {
    fn load_client(&mut self, insert: &str, rows: &mut BulkRows<'_>) -> Result<u64, Halted> {
        let Announced { mut loading, columns, sent, mut sorted } =
            self.plan_client(insert, true)?;
        let mut number = 0;
        let mut next = |row: &mut Vec<Value>, _: &mut dyn ResultSink| {
            if !rows(row)? {
                return Ok(false);
            }
            number += 1;
            if row.len() != sent.len() {
                let text = "While reading current row from host, a premature end-of-message was encountered.";
                return Err(SqlError::new(4804, 16, text));
            }
            for (i, value) in row.iter_mut().enumerate() {
                fit(value, &columns[sent[i]])
                    .map_err(|misfit| misfit.error(number, i + 1, &columns[sent[i]]))?;
            }
            if let Some(sorted) = &mut sorted {
                sorted.check(row)?;
            }
            Ok(true)
        };
        loading.insert(self, &mut next, &mut [], false)
    }

    /// Reads and plans an INSERT BULK; `begins`: its rows are to come now.
    fn plan_client(&mut self, insert: &str, begins: bool) -> Result<Announced, SqlError> {
        self.state.activity.forget_statement();
        self.state.activity.begin_input(InputKind::Language, |input| input.push_str(insert));
        let options = LexOptions { quoted_identifier: true };
        let bulk = syntax::parse_insert_bulk(insert, &options).map_err(first_mistake)?;
        let has = |option: &str| bulk.options.iter().any(|o| o == option);
        let rules = Rules {
            statement: "INSERT BULK",
            table: &bulk.table,
            keeps_nulls: has("KEEP_NULLS"),
            checks_constraints: has("CHECK_CONSTRAINTS"),
            fires_triggers: has("FIRE_TRIGGERS"),
            locks_table: has("TABLOCK"),
        };
        let mut columns = self.bulk_columns(&rules)?;
        if !bulk.columns.is_empty() {
            columns.extend(self.sparse_columns(&rules));
        }
        let sent = announced(&bulk, &columns)?;
        let listed: Vec<&Column> = sent.iter().map(|c| &columns[*c]).collect();
        let loading = match begins {
            true => self.open_bulk(&rules, &listed, &mut [])?,
            false => self.plan_bulk(&rules, &listed, &mut [])?,
        };
        // What comes in another type than the column's is converted, and its order may be another.
        let comes_as_it_is = |place: usize, column: &Column| match bulk.columns.get(place) {
            Some((_, ty)) => binder::type_of(ty).is_none_or(|ty| ty == column.ty),
            None => true,
        };
        let names = listed.iter().enumerate();
        let names: Vec<&str> = names
            .map(|(place, column)| if comes_as_it_is(place, column) { &*column.name } else { "" })
            .collect();
        let target = super::find_table(self.state, &ir::ObjectName::from(rules.table));
        let sorted = target.and_then(|table| Sorted::by_hint(&table, &bulk.order, &names));
        Ok(Announced { loading, columns, sent, sorted })
    }
}

/// The columns whose values follow: those named, else all that take values.
fn announced(bulk: &InsertBulk, columns: &[Column]) -> Result<Vec<usize>, SqlError> {
    if bulk.columns.is_empty() {
        return Ok((0..columns.len()).filter(|c| !columns[*c].is_made).collect());
    }
    let place = |name: &str| columns.iter().position(|c| catalog::same_name(&c.name, name));
    let named = bulk.columns.iter().map(|(name, _)| {
        place(&name.value)
            .ok_or_else(|| SqlError::new(207, 16, format!("Invalid column name '{}'.", name.value)))
    });
    named.collect()
}

/// Makes a value that came one of its column.
fn fit(value: &mut Value, column: &Column) -> Result<(), Misfit> {
    match (&*value, column.ty) {
        (Value::Null, _) | (Value::Int(_), SqlType::Int) | (Value::BigInt(_), SqlType::BigInt) => {
            return Ok(());
        }
        _ => {}
    }
    let given = column.collation.mark(std::mem::replace(value, Value::Null));
    match convert::assign(&given, given.natural_type(), column.ty) {
        Ok(fitting) => {
            *value = fitting;
            Ok(())
        }
        Err(_) if is_too_long(&given, column.ty) => Err(Misfit::Length),
        Err(error) => Err(Misfit::Type(error.to_string())),
    }
}

/// Why a value is none of its column.
enum Misfit {
    Length,
    Type(String),
}

impl Misfit {
    fn error(self, row: u64, place: usize, column: &Column) -> SqlError {
        match self {
            Misfit::Length => SqlError::new(
                4815,
                16,
                format!("Received an invalid column length from the bcp client for colid {place}."),
            ),
            Misfit::Type(why) => {
                let mut error = unfit(4864, TYPE_MISMATCH, row, place, column);
                error.text = format!("{} {why}", error.text);
                error
            }
        }
    }
}

/// Longer than the column can hold.
fn is_too_long(value: &Value, ty: SqlType) -> bool {
    match (value, ty) {
        (
            Value::Str(text),
            SqlType::VarChar(Len::N(n))
            | SqlType::NVarChar(Len::N(n))
            | SqlType::Char(n)
            | SqlType::NChar(n),
        ) => text.encode_utf16().count() > n as usize,
        (Value::Binary(bytes), SqlType::VarBinary(Len::N(n)) | SqlType::Binary(n)) => {
            bytes.len() > n as usize
        }
        _ => false,
    }
}
