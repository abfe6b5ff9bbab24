//! The arguments of a call: which parameter each is for, as what type, and what is wrong with them.
//!
//! Errors: 201, 206, 8114, 8143 to 8145, 8162, 8178. Source: SQL documentation, "EXECUTE".

use crate::code::Code;
use commands::Argument;
use executor::SqlError;
use session_state::SetOptions;
use smallvec::{SmallVec, smallvec};
use types::{SqlType, TypeError, Value};

/// For each parameter the number of its argument, if it was given one.
pub(crate) type Bound = SmallVec<[Option<usize>; 8]>;

/// Puts arguments and defaults into the callee's frame; for each parameter its argument.
pub(crate) fn bind_arguments(
    code: &Code,
    args: &[Argument],
    frame: &mut [Value],
    options: &SetOptions,
) -> Result<Bound, SqlError> {
    let mut given: Bound = smallvec![None; code.params.len()];
    for (i, arg) in args.iter().enumerate() {
        let place = match &arg.name {
            None => (i < code.params.len()).then_some(i),
            Some(name) => code.params.iter().position(|p| p.name.eq_ignore_ascii_case(name)),
        };
        match (place, &arg.name) {
            (Some(place), _) if given[place].is_some() => {
                return Err(SqlError::new(
                    8143,
                    16,
                    format!("Parameter '{}' was supplied multiple times.", code.params[place].name),
                ));
            }
            (Some(place), _) => given[place] = Some(i),
            (None, name) => return Err(no_parameter(code, name.as_deref())),
        }
    }
    for (place, param) in code.params.iter().enumerate() {
        let is_table = given[place].is_some_and(|i| args[i].table.is_some());
        if param.table.is_some() {
            check_table(code, param, given[place].map(|i| &args[i]))?;
            continue;
        }
        if is_table {
            return Err(clash(param, "table"));
        }
        match (param.cursor, given[place].map(|i| args[i].cursor)) {
            (Some(_), Some(Some(_))) => continue,
            (Some(_), Some(None)) => {
                let given = given[place].map_or("int", |i| args[i].ty.name());
                return Err(clash(param, given));
            }
            (Some(_), None) => return Err(not_supplied(code, &param.name)),
            (None, Some(Some(_))) => return Err(clash(param, "cursor")),
            (None, _) => {}
        }
        let supplied = given[place].map(|i| &args[i]);
        if supplied.is_some_and(|arg| arg.output.is_some()) && !param.output {
            return Err(no_output(&param.name));
        }
        frame[place] = match supplied.and_then(|arg| Some((arg.value.as_ref()?, arg.ty))) {
            Some((value, ty)) => as_argument(value, ty, param.ty, code, options)?,
            None => match &param.default {
                Some(value) => default_of(value, param, code, options)?,
                None => return Err(not_supplied(code, &param.name)),
            },
        };
    }
    Ok(given)
}

/// A parameter's default. One that is a date by the session's settings is kept as its text.
pub(crate) fn default_of(
    value: &Value,
    param: &ir::ProcParam,
    code: &Code,
    options: &SetOptions,
) -> Result<Value, SqlError> {
    match value {
        Value::Str(_) if param.ty.is_temporal() => {
            Ok(options.cast(value, SqlType::NVarChar(types::Len::Max), param.ty)?)
        }
        Value::Str(text) if param.ty.is_character() && !text.is_ascii() => {
            Ok(options.cast_by(code.program.rule, value, param.ty, param.ty)?)
        }
        value => Ok(value.clone()),
    }
}

/// A table-valued parameter takes rows of its own type, or none.
fn check_table(code: &Code, param: &ir::ProcParam, arg: Option<&Argument>) -> Result<(), SqlError> {
    let Some(arg) = arg else { return Ok(()) };
    match (&arg.table, &arg.value) {
        (Some(table), _) => {
            let wanted = param.table.map(|slot| &code.tables[slot as usize]);
            let same = wanted.is_some_and(|wanted| {
                let (a, b) = (&wanted.columns, &table.def().columns);
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.ty == b.ty)
            });
            if same { Ok(()) } else { Err(clash(param, "table")) }
        }
        (None, None) => Ok(()),
        (None, Some(_)) => Err(clash(param, arg.ty.name())),
    }
}

/// 206: what is given is of a kind that the parameter is not.
pub(crate) fn clash(param: &ir::ProcParam, given: &str) -> SqlError {
    let wanted = match (&param.of_type, param.cursor) {
        (Some(of_type), _) => of_type,
        (None, Some(_)) => "cursor",
        (None, None) => param.ty.name(),
    };
    SqlError::new(206, 16, format!("Operand type clash: {given} is incompatible with {wanted}"))
        .with_state(2)
}

/// 8144 for one argument too many, 8145 for a name that is no parameter, 8146 where the procedure has none at all.
#[cold]
pub(crate) fn no_parameter(code: &Code, name: Option<&str>) -> SqlError {
    let procedure = code.name.as_deref().unwrap_or("");
    let error = match name {
        _ if code.params.is_empty() && (name.is_none() || !procedure.is_empty()) => {
            let text =
                format!("Procedure {procedure} has no parameters and arguments were supplied.");
            let state = if procedure.is_empty() { 1 } else { 2 };
            return SqlError::new(8146, 16, text).with_state(state);
        }
        None => SqlError::new(
            8144,
            16,
            format!("Procedure or function {procedure} has too many arguments specified."),
        ),
        Some(name) => {
            SqlError::new(8145, 16, format!("{name} is not a parameter for procedure {procedure}."))
        }
    };
    error.with_state(2)
}

/// A value as an argument for a parameter of a type: 8114 where it is none, or out of its range.
pub(crate) fn as_argument(
    value: &Value,
    from: SqlType,
    to: SqlType,
    code: &Code,
    options: &SetOptions,
) -> Result<Value, TypeError> {
    options.cast_by(code.program.rule, value, from, to).map_err(|error| match error {
        TypeError::ConversionFailed { .. }
        | TypeError::Overflow { .. }
        | TypeError::OverflowNumeric { .. }
        | TypeError::OverflowValue { .. }
        | TypeError::OverflowFloat { .. }
        | TypeError::OverflowString { .. }
        | TypeError::BadDate
        | TypeError::BadSmallDate
        | TypeError::DateOutOfRange { .. }
        | TypeError::BadMoney
        | TypeError::NoSpace { .. }
        | TypeError::BadGuid => {
            // As the parameter was declared.
            let to = if to.as_decimal().is_some() { to.name() } else { to.message_name() };
            TypeError::ConvertError { from: from.message_name(), to }
        }
        error => error,
    })
}

/// 8162.
#[cold]
pub(crate) fn no_output(parameter: &str) -> SqlError {
    let text = format!(
        "The formal parameter \"{parameter}\" was not declared as an OUTPUT parameter, but the actual parameter passed in \
         requested output."
    );
    SqlError::new(8162, 16, text).with_state(2)
}

/// 201, or 8178 for a parameterised text.
#[cold]
pub(crate) fn not_supplied(code: &Code, parameter: &str) -> SqlError {
    if let Some(declarations) = &code.declarations {
        return SqlError::new(
            8178,
            16,
            format!(
                "The parameterized query '({declarations}){}' expects the parameter '{parameter}', which was not \
                 supplied.",
                code.program.text
            ),
        );
    }
    let procedure = code.name.as_deref().unwrap_or("");
    commands::arguments::missing(procedure, parameter).with_state(4)
}
