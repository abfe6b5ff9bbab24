//! The texts of requests: sys.dm_exec_sql_text and sys.dm_exec_input_buffer; and what a text would answer, which the
//! session that asks finds out: sys.dm_exec_describe_first_result_set and its like for an object.
//!
//! A text's handle is made of the text alone, so it names the text and not the request. Found are the texts of cached
//! plans, by the handle of the text or of the plan, and of the last request of each session.

use crate::context::Context;
use crate::declare::{Declared, view};
use executor::SqlError;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] =
    &[&SQL_TEXT, &INPUT_BUFFER, &FIRST_RESULT_SET, &FIRST_RESULT_SET_FOR_OBJECT];

/// A text that a session has sent, or that of a cached plan.
pub struct Text {
    /// Of a plan: the database it was compiled in, and the procedure that it is.
    place: Option<(i16, Option<i32>)>,
    text: String,
}

fn text(context: &Context<'_>, args: &[Value]) -> Result<Vec<Text>, SqlError> {
    let Some(Value::Binary(handle)) = args.first() else { return Ok(Vec::new()) };
    let Some(wanted) = handle.get(..20) else { return Ok(Vec::new()) };
    for plan in context.server.plans() {
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

fn input(context: &Context<'_>, args: &[Value]) -> Result<Vec<session_state::Input>, SqlError> {
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
    INPUT_BUFFER = "sys.dm_exec_input_buffer" of session_state::Input as i, rows input, params (smallint, int);
    event_type nvarchar(256) null = i.kind.name();
    parameters smallint null = 0i16;
    event_info nvarchar(max) null = &i.text;
}

type Row = Vec<Value>;

/// The session answers in its stead: it alone can read a text.
fn nothing(_: &Context<'_>, _: &[Value]) -> Result<Vec<Row>, SqlError> {
    Ok(Vec::new())
}

/// A view of the columns of a first result set.
macro_rules! first_result_set {
    ($name:ident = $text:literal, params ($($params:tt)*)) => {
        view! {
            $name = $text of Row as r, rows nothing, params ($($params)*);
            is_hidden bit = &r[0];
            column_ordinal int = &r[1];
            name sysname null = &r[2];
            is_nullable bit null = &r[3];
            system_type_id int null = &r[4];
            system_type_name nvarchar(256) null = &r[5];
            max_length smallint null = &r[6];
            precision tinyint null = &r[7];
            scale tinyint null = &r[8];
            collation_name sysname null = &r[9];
            user_type_id int null = &r[10];
            user_type_database sysname null = &r[11];
            user_type_schema sysname null = &r[12];
            user_type_name sysname null = &r[13];
            assembly_qualified_type_name nvarchar(4000) null = &r[14];
            xml_collection_id int null = &r[15];
            xml_collection_database sysname null = &r[16];
            xml_collection_schema sysname null = &r[17];
            xml_collection_name sysname null = &r[18];
            is_xml_document bit null = &r[19];
            is_case_sensitive bit null = &r[20];
            is_fixed_length_clr_type bit null = &r[21];
            source_server sysname null = &r[22];
            source_database sysname null = &r[23];
            source_schema sysname null = &r[24];
            source_table sysname null = &r[25];
            source_column sysname null = &r[26];
            is_identity_column bit null = &r[27];
            is_part_of_unique_key bit null = &r[28];
            is_updateable bit null = &r[29];
            is_computed_column bit null = &r[30];
            is_sparse_column_set bit null = &r[31];
            ordinal_in_order_by_list smallint null = &r[32];
            order_by_is_descending smallint null = &r[33];
            order_by_list_length smallint null = &r[34];
            error_number int null = &r[35];
            error_severity int null = &r[36];
            error_state int null = &r[37];
            error_message nvarchar(4000) null = &r[38];
            error_type int null = &r[39];
            error_type_desc nvarchar(60) null = &r[40];
        }
    };
}

first_result_set! { FIRST_RESULT_SET = "sys.dm_exec_describe_first_result_set", params (nvarchar(max), nvarchar(max), tinyint) }
first_result_set! { FIRST_RESULT_SET_FOR_OBJECT = "sys.dm_exec_describe_first_result_set_for_object", params (int, tinyint) }
