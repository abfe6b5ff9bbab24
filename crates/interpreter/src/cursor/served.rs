//! Server cursors of the drivers: sp_cursoropen, sp_cursorfetch, sp_cursor and their like.
//!
//! ```text
//! sp_cursoropen      -> handle          a cursor over one SELECT, or the statements run at once (ALLOW_DIRECT)
//! sp_cursorprepexec  -> two handles     the same, and the text is kept
//! sp_cursorfetch     a block of rows, the fetch buffer, each with its ROWSTAT behind it
//! sp_cursor          UPDATE, DELETE, INSERT of rows of the buffer
//! ```
//!
//! A server cursor is a cursor as DECLARE makes them, without a name: what `cursor.rs` promises holds of it too. Its fetch
//! buffer is a range of its rows. Source: the documentation of these procedures; what drivers ask of them beyond that is
//! mssql-jdbc's.

mod called;
mod change;
mod fetch;

use super::{Cursor, Cursors, Name, Vm};
use crate::call::{Called, number_of, text_of, throw};
use crate::rpc::RpcParam;
use executor::{ColumnMeta, Command, Done, SqlError, column_meta};
use ir::CursorKind;
use session_state::Halt;
use std::ops::Range;
use std::sync::Arc;
use syntax::LexOptions;
use syntax::ast::{QueryBody, StatementKind};
use types::{SqlType, Value};

use fetch::CLOSED;

/// The name under which one is declared, and by which WHERE CURRENT OF finds it, for as long as a call takes: one of each
/// level of calls, since a trigger of a cursor's change may call these procedures too, and none that a text would have.
fn name_at(nesting: u32) -> String {
    format!("\u{1}served {nesting}")
}

/// Handles begin here, as SQL Server's do.
const FIRST_HANDLE: i32 = 180_150_003;
/// Rows of a block, when it is not said how many.
const BLOCK_ROWS: i64 = 20;

/// Is it one of the procedures, by its name in small letters?
pub(crate) fn is_of_cursors(name: &str) -> bool {
    matches!(
        name,
        "sp_cursor"
            | "sp_cursoropen"
            | "sp_cursorprepare"
            | "sp_cursorexecute"
            | "sp_cursorprepexec"
            | "sp_cursorunprepare"
            | "sp_cursorfetch"
            | "sp_cursoroption"
            | "sp_cursorclose"
    )
}

/// Bits of *scrollopt*.
mod scroll {
    pub const KEYSET: i32 = 1;
    pub const DYNAMIC: i32 = 2;
    pub const FORWARD_ONLY: i32 = 4;
    pub const STATIC: i32 = 8;
    pub const FAST_FORWARD: i32 = 0x10;
    pub const KINDS: i32 = 0x1f;
    pub const PARAMETERIZED: i32 = 0x1000;
    pub const AUTO_FETCH: i32 = 0x2000;
    pub const AUTO_CLOSE: i32 = 0x4000;
}

/// Bits of *ccopt*.
mod concurrency {
    pub const READ_ONLY: i32 = 1;
    pub const SCROLL_LOCKS: i32 = 2;
    pub const OPTIMISTIC: i32 = 4;
    pub const KINDS: i32 = 0xf;
    pub const ALLOW_DIRECT: i32 = 0x2000;
}

/// One that is open.
pub(super) struct Served {
    handle: i32,
    pub(super) id: u32,
    scroll: i32,
    concurrency: i32,
    auto_close: bool,
    /// Numbers of rows, from 1; empty before the first row (0), behind the last, and while nothing has been fetched.
    buffer: Range<usize>,
}

/// Text and declarations of sp_cursorprepare.
#[derive(Debug)]
pub(crate) struct PreparedCursor {
    text: String,
    declarations: String,
}

/// What one is opened with.
struct Opening<'a> {
    text: &'a str,
    declarations: &'a str,
    scroll: i32,
    concurrency: i32,
    rows: i64,
    /// Values of the parameters, from this one of the call's on.
    values: usize,
    /// A caller has a TRY block open.
    guarded: bool,
}

impl Cursors {
    fn serve(&mut self, id: u32, scroll: i32, concurrency: i32) -> i32 {
        let last = self.served.iter().map(|s| s.handle).max();
        let handle = last.map_or(FIRST_HANDLE, |handle| handle.wrapping_add(2));
        let auto_close = scroll & scroll::AUTO_CLOSE != 0;
        let scroll = scroll & scroll::KINDS;
        self.served.push(Served { handle, id, scroll, concurrency, auto_close, buffer: 0..0 });
        handle
    }

    fn stop_serving(&mut self, handle: i32) -> bool {
        let before = self.served.len();
        self.served.retain(|s| s.handle != handle);
        self.sweep();
        self.served.len() < before
    }

    /// 16909.
    fn served_mut(
        &mut self,
        procedure: &str,
        handle: i32,
    ) -> Result<(&mut Served, &mut Cursor), SqlError> {
        let all = &mut self.all;
        let found = self.served.iter_mut().find(|s| s.handle == handle);
        let found = found.and_then(|served| all.get_mut(&served.id).map(|cursor| (served, cursor)));
        found.ok_or_else(|| {
            let text = format!(
                "{procedure}: The cursor identifier value provided ({handle:x}) is not valid."
            );
            SqlError::new(16909, 16, text)
        })
    }

    /// Runs `body` while the cursor can be named.
    fn name_for_now(&mut self, name: &str, id: u32) {
        self.names.push(Name { name: name.to_owned(), depth: None, id });
    }

    fn take_name(&mut self, name: &str) -> Option<u32> {
        let at = self.names.iter().rposition(|n| n.depth.is_none() && n.name == name)?;
        Some(self.names.remove(at).id)
    }
}

impl Vm<'_> {
    /// One of the procedures, by its name.
    pub(crate) fn server_cursor(
        &mut self,
        name: &str,
        params: &[RpcParam],
        guarded: bool,
    ) -> Called {
        let number = |i: usize| number_of(params, i);
        let given = |i: usize, usual: i32| params.get(i).map_or(usual, |_| number_of(params, i));
        match name {
            "sp_cursoropen" => {
                let scroll = given(2, scroll::KEYSET);
                let has_values = scroll & scroll::PARAMETERIZED != 0;
                let opening = Opening {
                    text: text_of(params, 1),
                    declarations: if has_values { text_of(params, 5) } else { "" },
                    scroll,
                    concurrency: given(3, concurrency::OPTIMISTIC),
                    rows: i64::from(number(4)),
                    values: if has_values { 6 } else { usize::MAX },
                    guarded,
                };
                self.open_served(&opening, params, 0, None)
            }
            "sp_cursorprepare" => {
                let handle = self.prepare_cursor(text_of(params, 2), text_of(params, 1))?;
                self.sink.return_status(0);
                self.give(params, 0, handle);
                self.give_options(params, 4, number(4), number(5));
                Ok(0)
            }
            "sp_cursorprepexec" => {
                let handle = self.prepare_cursor(text_of(params, 3), text_of(params, 2))?;
                let opening = Opening {
                    text: text_of(params, 3),
                    declarations: text_of(params, 2),
                    scroll: given(4, scroll::KEYSET),
                    concurrency: given(5, concurrency::OPTIMISTIC),
                    rows: i64::from(number(6)),
                    values: 7,
                    guarded,
                };
                self.open_served(&opening, params, 1, Some(handle)).inspect_err(|_| {
                    // Nobody has been told of it.
                    self.programs.texts.release(handle);
                })
            }
            "sp_cursorexecute" => {
                let handle = number(0);
                let Some(prepared) = self.programs.texts.prepared_cursor(handle) else {
                    return Err(throw(crate::call::no_handle(handle)));
                };
                let opening = Opening {
                    text: &prepared.text,
                    declarations: &prepared.declarations,
                    scroll: given(2, scroll::KEYSET),
                    concurrency: given(3, concurrency::OPTIMISTIC),
                    rows: i64::from(number(4)),
                    values: 5,
                    guarded,
                };
                self.open_served(&opening, params, 1, None)
            }
            "sp_cursorunprepare" => {
                if !self.programs.texts.release(number(0)) {
                    return Err(throw(crate::call::no_handle(number(0))));
                }
                self.sink.return_status(0);
                Ok(0)
            }
            "sp_cursorfetch" => self.fetch_block(params),
            "sp_cursoroption" => self.cursor_option(params),
            "sp_cursorclose" => {
                let handle = number(0);
                self.programs.cursors.served_mut("sp_cursorclose", handle).map_err(throw)?;
                self.programs.cursors.stop_serving(handle);
                self.sink.return_status(0);
                Ok(0)
            }
            _ => self.change_rows(params, guarded),
        }
    }

    fn prepare_cursor(&mut self, text: &str, declarations: &str) -> Result<i32, Halt> {
        // A mistake in the text is told now.
        self.compile_text(text, Some(declarations)).map_err(throw)?;
        let (text, declarations) = (text.to_owned(), declarations.to_owned());
        Ok(self.programs.texts.prepare_cursor(PreparedCursor { text, declarations }))
    }

    fn give(&mut self, params: &[RpcParam], i: usize, value: i32) {
        if let Some(param) = params.get(i).filter(|param| param.output) {
            let name = param.name.as_deref().unwrap_or("");
            self.sink.output(i as u16, name, SqlType::Int, &Value::Int(value));
        }
    }

    /// *scrollopt* and *ccopt* as they came out.
    fn give_options(&mut self, params: &[RpcParam], at: usize, scroll: i32, concurrency: i32) {
        self.give(params, at, scroll & scroll::KINDS);
        self.give(params, at + 1, concurrency & concurrency::KINDS);
    }

    /// Opens a cursor, or runs the text where it is no single SELECT. `cursor` is the place of its handle among the
    /// parameters, behind which come *scrollopt*, *ccopt* and *rowcount*; in sp_cursorprepexec the text's two stand between.
    fn open_served(
        &mut self,
        opening: &Opening<'_>,
        params: &[RpcParam],
        cursor: usize,
        prepared: Option<i32>,
    ) -> Called {
        let options = match (cursor, prepared) {
            (0, _) => 2,
            (_, Some(_)) => 4,
            (_, None) => 2,
        };
        if !self.is_cursor_text(opening.text)? {
            if opening.concurrency & concurrency::ALLOW_DIRECT == 0 {
                return Err(throw(SqlError::new(
                    16938,
                    16,
                    "sp_cursoropen/sp_cursorprepare: The statement parameter can only be a batch or a stored procedure with \
                     a single select, without FOR BROWSE, COMPUTE BY, or variable assignments.",
                )));
            }
            let status = self.run_directly(
                opening.text,
                opening.declarations,
                params,
                opening.values,
                opening.guarded,
            )?;
            self.sink.return_status(status);
            if let Some(handle) = prepared {
                self.give(params, 0, handle);
            }
            self.give(params, cursor, 0);
            self.give_options(params, options, opening.scroll, opening.concurrency);
            self.give(params, options + 2, -1);
            return Ok(status);
        }
        let kind = match opening.scroll & scroll::KINDS {
            scroll::DYNAMIC => "DYNAMIC",
            scroll::FORWARD_ONLY => "FORWARD_ONLY",
            scroll::STATIC => "STATIC",
            scroll::FAST_FORWARD => "FAST_FORWARD",
            _ => "KEYSET",
        };
        let locks = match opening.concurrency & concurrency::KINDS {
            _ if matches!(kind, "STATIC" | "FAST_FORWARD") => "",
            concurrency::READ_ONLY => " READ_ONLY",
            concurrency::SCROLL_LOCKS => " SCROLL_LOCKS",
            _ => " OPTIMISTIC",
        };
        let name = name_at(self.state.nesting);
        let text = format!("DECLARE [{name}] CURSOR GLOBAL {kind}{locks} FOR {}", opening.text);
        let (values, guarded) = (opening.values, opening.guarded);
        let declared = self.run_directly(&text, opening.declarations, params, values, guarded);
        let id = self.programs.cursors.take_name(&name);
        declared?;
        // Where it could not be declared, that has been told.
        let Some(id) = id else {
            self.sink.return_status(1);
            return Ok(1);
        };
        let handle = self.programs.cursors.serve(id, opening.scroll, opening.concurrency);
        if let Err(error) = self.open_by_id(id) {
            self.programs.cursors.stop_serving(handle);
            return Err(throw(error));
        }
        let (scrolls, agrees, count) = {
            let (served, cursor) =
                self.programs.cursors.served_mut("sp_cursoropen", handle).map_err(throw)?;
            let count = cursor.rows.as_ref().map_or(0, |rows| rows.len());
            if cursor.def.read_only {
                served.concurrency = concurrency::READ_ONLY;
                if served.scroll == scroll::KEYSET {
                    served.scroll = scroll::STATIC;
                }
            }
            let known = matches!(cursor.def.kind, CursorKind::Static | CursorKind::Keyset);
            (served.scroll, served.concurrency, if known { count as i32 } else { -1 })
        };
        let mut rows = count;
        let mut status = 0;
        if opening.scroll & scroll::AUTO_FETCH != 0 {
            let wanted = if opening.rows > 0 { opening.rows } else { BLOCK_ROWS };
            let sent = self.send_block(handle, 0x2, 0, wanted).inspect_err(|_| {
                // Nobody has been told of it.
                self.programs.cursors.stop_serving(handle);
            });
            let (sent, ended) = sent.map_err(throw)?;
            rows = sent as i32;
            status = ended;
        } else {
            let columns = self.served_columns(id);
            self.sink.columns(&columns);
            self.select_done(0);
        }
        self.sink.return_status(status);
        if let Some(handle) = prepared {
            self.give(params, 0, handle);
        }
        self.give(params, cursor, if status == CLOSED { 0 } else { handle });
        self.give_options(params, options, scrolls, agrees);
        self.give(params, options + 2, rows);
        Ok(status)
    }

    /// A single SELECT, without INTO.
    fn is_cursor_text(&self, text: &str) -> Result<bool, Halt> {
        let options = LexOptions { quoted_identifier: self.state.options.quoted_identifier };
        let batch = syntax::parse_batch(text, &options);
        let batch = batch.map_err(|errors| throw(crate::mistakes::first_mistake(errors)))?;
        let [statement] = &batch.statements[..] else { return Ok(false) };
        Ok(match &statement.kind {
            StatementKind::Select(query) => match &query.body {
                QueryBody::Select(select) => select.into.is_none(),
                _ => true,
            },
            _ => false,
        })
    }

    /// Runs a text with the call's parameters from `first` on.
    pub(super) fn run_directly(
        &mut self,
        text: &str,
        declarations: &str,
        params: &[RpcParam],
        first: usize,
        guarded: bool,
    ) -> Called {
        let (slot, code, learnt) = self.compiled(text, Some(declarations), false).map_err(throw)?;
        self.run_quietly(slot, &code, learnt, params, first.min(params.len()), guarded)
    }

    pub(super) fn served_columns(&self, id: u32) -> Vec<ColumnMeta> {
        let Some(cursor) = self.programs.cursors.all.get(&id) else { return Vec::new() };
        let mut columns = column_meta(&cursor.def.query.output[..cursor.def.visible]);
        // A cursor tells of the tables that its rows can be changed in, as browse mode does.
        for column in columns.iter_mut().filter(|_| !cursor.def.read_only) {
            let base = column.base.get_or_insert_with(Default::default);
            Arc::make_mut(base).browse = true;
        }
        columns
            .push(ColumnMeta { hidden: true, ..ColumnMeta::new("ROWSTAT", SqlType::Int, false) });
        columns
    }

    pub(super) fn select_done(&mut self, rows: u64) {
        self.sink.done(Done {
            rows: Some(rows),
            command: Command::Select,
            in_procedure: true,
            failed: false,
        });
    }

    /// sp_cursoroption cursor, code, value.
    fn cursor_option(&mut self, params: &[RpcParam]) -> Called {
        let (handle, code) = (number_of(params, 0), number_of(params, 1));
        let (served, cursor) =
            self.programs.cursors.served_mut("sp_cursoroption", handle).map_err(throw)?;
        let (id, scroll, agrees) = (served.id, served.scroll, served.concurrency);
        let count = cursor.rows.as_ref().map_or(0, |rows| rows.len()) as i32;
        let value = match code {
            2 => {
                let name = text_of(params, 2).to_owned();
                let cursors = &mut self.programs.cursors;
                cursors.names.retain(|n| n.id != id);
                cursors.names.push(Name { name, depth: None, id });
                None
            }
            // All text is data.
            3 => None,
            4 => Some(scroll),
            5 => Some(agrees & concurrency::KINDS),
            6 if scroll == scroll::DYNAMIC => Some(-1),
            6 => Some(count),
            _ => {
                return Err(throw(SqlError::unsupported(format!(
                    "sp_cursoroption with the code {code}"
                ))));
            }
        };
        self.sink.return_status(0);
        if let Some(value) = value {
            self.give(params, 2, value);
        }
        Ok(0)
    }
}
