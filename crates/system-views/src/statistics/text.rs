//! The texts of requests: sys.dm_exec_sql_text and sys.dm_exec_input_buffer.
//!
//! A text's handle is made of the text alone, so it names the text and not the request. Found are the texts of cached
//! plans, by the handle of the text or of the plan, and of the last request of each session.

use crate::context::Context;
use crate::declare::{Declared, view};
use executor::SqlError;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&SQL_TEXT, &INPUT_BUFFER];

/// A text that a session has sent, or that of a cached plan.
pub struct Text {
    /// Of a plan: the database it was compiled in, and the procedure that it is.
    place: Option<(i16, Option<i32>)>,
    text: String,
}

fn text(context: &Context<'_>, args: &[Value]) -> Result<Vec<Text>, SqlError> {
    let Some(Value::Binary(handle)) = args.first() else { return Ok(Vec::new()) };
    let Some(wanted) = handle.get(..20) else { return Ok(Vec::new()) };
    for plan in context.session.plans.plans() {
        if plan.handle()[..20] == *wanted || plan.sql_handle()[..20] == *wanted {
            let place = Some((plan.database_id() as i16, plan.object_id()));
            return Ok(vec![Text { place, text: plan.text() }]);
        }
    }
    let sessions = context.server.sessions().into_iter();
    let found = sessions
        .map(|s| s.input.text)
        .find(|text| !text.is_empty() && interpreter::sql_handle(text)[..20] == *wanted);
    Ok(found.into_iter().map(|text| Text { place: None, text }).collect())
}

view! {
    SQL_TEXT = "sys.dm_exec_sql_text" of Text as t, rows text, params (varbinary(64));
    dbid smallint null = t.place.map(|(database, _)| database);
    objectid int null = t.place.and_then(|(_, object)| object);
    number smallint null = t.place.and_then(|(_, object)| object).map(|_| 1i16);
    encrypted bit = false;
    text nvarchar(max) null = &t.text;
}

fn input(context: &Context<'_>, args: &[Value]) -> Result<Vec<interpreter::Input>, SqlError> {
    let Some(wanted) = args.first().and_then(Value::as_i64) else { return Ok(Vec::new()) };
    // There is one request in a session, number 0.
    if args.get(1).and_then(Value::as_i64).is_some_and(|request| request != 0) {
        return Ok(Vec::new());
    }
    let sessions = context.server.sessions().into_iter();
    Ok(sessions
        .filter(|s| i64::from(s.id) == wanted && s.system.is_none())
        .map(|s| s.input)
        .collect())
}

view! {
    INPUT_BUFFER = "sys.dm_exec_input_buffer" of interpreter::Input as i, rows input, params (smallint, int);
    event_type nvarchar(256) null = i.kind.name();
    parameters smallint null = 0i16;
    event_info nvarchar(max) null = &i.text;
}
