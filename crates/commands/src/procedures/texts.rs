//! Extended procedures that put texts together and take them apart: xp_sprintf, xp_sscanf.
//!
//! Promises: `%s` is the only form, as in SQL Server; texts are of 255 characters at most there, here of any length.

use crate::Commands;
use crate::procedures::Argument;
use crate::procedures::arguments;
use executor::SqlError;
use types::{Len, SqlType, Value, convert};

impl Commands<'_> {
    /// xp_sprintf @text OUTPUT, format [, argument ...]
    pub(crate) fn sprintf(
        &mut self,
        args: &[Argument],
        vars: &[SqlType],
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let format = arguments::needed("xp_sprintf", args, 1, "@format")?;
        let mut given = args.iter().skip(2).map(|arg| {
            let value = arg.value.as_ref()?;
            types::format::to_text(value, arg.ty, 0).ok().flatten()
        });
        let mut text = String::new();
        for (i, part) in format.split("%s").enumerate() {
            if i > 0 {
                text.push_str(&given.next().flatten().unwrap_or_default());
            }
            text.push_str(part);
        }
        give(args.first(), &text, vars, frame)
    }

    /// xp_sscanf text, format [, @argument OUTPUT ...]
    pub(crate) fn sscanf(
        &mut self,
        args: &[Argument],
        vars: &[SqlType],
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let text = arguments::needed("xp_sscanf", args, 0, "@text")?;
        let format = arguments::needed("xp_sscanf", args, 1, "@format")?;
        for (arg, found) in args.iter().skip(2).zip(scan(text, format)) {
            give(Some(arg), found, vars, frame)?;
        }
        Ok(())
    }
}

/// What stands in the text where the format has `%s`, up to the first place where they differ.
fn scan<'t>(text: &'t str, format: &str) -> Vec<&'t str> {
    let mut found = Vec::new();
    let mut parts = format.split("%s");
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else {
        return found;
    };
    for part in parts {
        // A value ends before what follows it in the format, or before a blank.
        let next = part.chars().next();
        let end = rest.find(|c: char| c.is_whitespace() || Some(c) == next).unwrap_or(rest.len());
        found.push(&rest[..end]);
        match rest[end..].strip_prefix(part) {
            Some(after) => rest = after,
            None => break,
        }
    }
    found
}

fn give(
    to: Option<&Argument>,
    text: &str,
    vars: &[SqlType],
    frame: &mut [Value],
) -> Result<(), SqlError> {
    if let Some(var) = to.and_then(|arg| arg.output) {
        let from = SqlType::VarChar(Len::N(8000));
        frame[var as usize] = convert::cast(&Value::str(text), from, vars[var as usize], 0)?;
    }
    Ok(())
}
