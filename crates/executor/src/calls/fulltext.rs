//! CONTAINS and FREETEXT, asked of a row's own values.
//!
//! The condition is read once for all rows that ask the same; each text is read as it comes. Of xml what is searched are its
//! texts and attributes, of a document in varbinary(max) what the file type of its type column makes of it: text, HTML and
//! XML are read, of others there is no filter and so no word.

use crate::cx::Cx;
use crate::eval::eval;
use crate::message::SqlError;
use crate::warnings::Warnings;
use fulltext::{ConditionError, Options, Search};
use ir::{Expr, FuncId, fulltext_flags as flag};
use runtime::task::Breath;
use std::borrow::Cow;
use std::sync::Arc;
use types::Value;
use xml::{Encoding, Kind};

/// LCIDs of English.
const ENGLISH: [i64; 2] = [1033, 2057];

#[inline(never)]
pub(super) fn call(
    func: FuncId,
    args: &[Expr],
    row: &[Value],
    cx: &mut Cx<'_>,
) -> Result<Value, SqlError> {
    let search = search(args, row, cx)?;
    let mut best = None;
    for pair in args[3..].chunks(2) {
        let value = eval(&pair[0], row, cx)?;
        let kind = match pair.get(1) {
            Some(kind) => eval(kind, row, cx)?,
            None => Value::Null,
        };
        let text = match &value {
            Value::Str(text) if pair[0].ty.is_xml() => Cow::Owned(words_of_xml(text.as_str())?),
            Value::Str(text) => Cow::Borrowed(text.as_str()),
            Value::Binary(bytes) => match document(bytes, kind.as_str().unwrap_or(""))? {
                Some(text) => text,
                None => continue,
            },
            _ => continue,
        };
        best = best.max(search.rank(&text)?);
    }
    Ok(match func {
        FuncId::FulltextRank => best.map_or(Value::Null, |rank| Value::Int(rank as i32)),
        _ => Value::Bit(best.is_some()),
    })
}

/// The condition: 7630, 7632, 7645, 7696.
fn search(args: &[Expr], row: &[Value], cx: &mut Cx<'_>) -> Result<Arc<Search>, SqlError> {
    let condition = eval(&args[0], row, cx)?;
    let language = eval(&args[1], row, cx)?.as_i64();
    let flags = eval(&args[2], row, cx)?.as_i64().unwrap_or(0);
    let Value::Str(text) = condition else { return Err(empty()) };
    let language = language.filter(|lcid| catalog::is_fulltext_language(*lcid as i32));
    let Some(language) = language else {
        let text = "Invalid locale ID was specified. Please verify that the locale ID is correct and corresponding language \
                    resource has been installed.";
        return Err(SqlError::new(7696, 16, text));
    };
    if let Some((last, of, search)) = &cx.keep().fulltext
        && *of == (language, flags)
        && last.as_str() == text.as_str()
    {
        return Ok(search.clone());
    }
    if text.as_str().trim().is_empty() {
        return Err(empty());
    }
    let has = |flag: i32| flags & i64::from(flag) != 0;
    let options = Options {
        english: ENGLISH.contains(&language),
        stopwords: !has(flag::NO_STOPWORDS),
        accents: !has(flag::NO_ACCENTS),
    };
    let made = match has(flag::FREETEXT) {
        true => Search::freetext(text.as_str(), options),
        false => Search::contains(text.as_str(), options).map_err(|e| match e {
            ConditionError::Stopped(stopped) => stopped.into(),
            e => match e.message(text.as_str()) {
                Some((number, told)) => SqlError::new(number, 15, told),
                None => empty(),
            },
        })?,
    };
    if made.is_noisy() {
        cx.env.warn(Warnings::NOISE_WORDS);
    }
    let made = Arc::new(made);
    cx.keep().fulltext = Some((text, (language, flags), made.clone()));
    Ok(made)
}

/// 7645.
fn empty() -> SqlError {
    SqlError::new(7645, 15, "Null or empty full-text predicate.")
}

/// Texts and values of attributes, in their order.
fn words_of_xml(text: &str) -> Result<String, SqlError> {
    let options = xml::Options { preserve: true, encoding: Encoding::Known };
    let document = xml::parse(text, options)?;
    let (mut out, mut breath) = (String::new(), Breath::new());
    for id in 0..document.node_count() as u32 {
        breath.steps(4)?;
        if matches!(document.kind(id), Kind::Text | Kind::Attribute) {
            runtime::task::append(&mut out, document.content(id));
            out.push('\n');
        }
    }
    Ok(out)
}

/// The text of a document by its file type; none where there is no filter for it.
fn document<'b>(bytes: &'b [u8], kind: &str) -> Result<Option<Cow<'b, str>>, SqlError> {
    let kind = kind.trim().trim_start_matches('.').to_ascii_lowercase();
    let text = match kind.as_str() {
        "txt" | "xml" | "htm" | "html" => decoded(bytes),
        _ => return Ok(None),
    };
    Ok(Some(match kind.as_str() {
        "xml" => match words_of_xml(text.trim_start_matches('\u{feff}')) {
            Ok(words) => Cow::Owned(words),
            // What is no XML is a text with tags in it.
            Err(e) if e.number < 9400 || e.number >= 9500 => return Err(e),
            Err(_) => Cow::Owned(without_tags(&text)?),
        },
        "txt" => text,
        _ => Cow::Owned(without_tags(&text)?),
    }))
}

/// UTF-16 with its mark, UTF-8, else Windows-1252.
fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    let wide = |swap: bool| {
        let units = bytes[2..].chunks_exact(2).map(|two| match swap {
            true => u16::from_be_bytes([two[0], two[1]]),
            false => u16::from_le_bytes([two[0], two[1]]),
        });
        let units = runtime::task::breathing(units);
        char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    };
    match bytes {
        [0xff, 0xfe, ..] => Cow::Owned(wide(false)),
        [0xfe, 0xff, ..] => Cow::Owned(wide(true)),
        bytes => match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => Cow::Owned(
                runtime::task::breathing(bytes.iter())
                    .map(|b| types::collation::from_cp1252(*b))
                    .collect(),
            ),
        },
    }
}

/// A text whose tags are blanks.
fn without_tags(text: &str) -> Result<String, SqlError> {
    let (mut out, mut inside, mut breath) =
        (String::with_capacity(text.len()), false, Breath::new());
    for c in text.chars() {
        breath.step()?;
        match c {
            '<' => {
                inside = true;
                out.push(' ');
            }
            '>' if inside => inside = false,
            c if !inside => out.push(c),
            _ => {}
        }
    }
    Ok(out)
}
