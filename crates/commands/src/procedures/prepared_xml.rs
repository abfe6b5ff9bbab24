//! sp_xml_preparedocument and sp_xml_removedocument: documents that a session keeps for OPENXML.
//!
//! They are kept until they are removed or the session ends or is reset; their sizes together are limited (6624).
//! Source: SQL documentation, "sp_xml_preparedocument (Transact-SQL)".

use std::sync::Arc;

use executor::SqlError;
use functions::openxml::PreparedXml;
use types::{SqlType, Value, convert};
use xml::{Encoding, Options};

use crate::Commands;
use crate::procedures::Argument;
use crate::procedures::arguments;

impl Commands<'_> {
    /// sp_xml_preparedocument @hdoc OUTPUT [, @xmltext [, @xpath_namespaces]]; 201, 6602, 6624.
    pub(crate) fn prepare_xml(
        &mut self,
        args: &[Argument],
        vars: &[SqlType],
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        const PROCEDURE: &str = "sp_xml_preparedocument";
        let handle = arguments::given(args, 0, "@hdoc").and_then(|a| a.output);
        let Some(var) = handle else { return Err(arguments::missing(PROCEDURE, "@hdoc")) };
        let parse = |text: &str| {
            let options = Options { preserve: false, encoding: Encoding::Known };
            xml::parse(text, options).map_err(|e| {
                let text = format!("The error description is '{}'.", e.text());
                SqlError::new(6602, 16, text)
            })
        };
        let text = arguments::text(args, 1, "@xmltext").unwrap_or("<root/>");
        let document = Arc::new(parse(text)?);
        let namespaces = match arguments::text(args, 2, "@xpath_namespaces") {
            Some(text) => declarations(&parse(text)?.write(0)),
            None => Vec::new(),
        };
        let number = self.state.prepared_xml.add(PreparedXml { document, namespaces })?;
        let to = vars[var as usize];
        frame[var as usize] = convert::cast(&Value::Int(number), SqlType::Int, to, 0)?;
        Ok(())
    }

    /// sp_xml_removedocument @hdoc; 201, 6607.
    pub(crate) fn remove_xml(&mut self, args: &[Argument]) -> Result<(), SqlError> {
        const PROCEDURE: &str = "sp_xml_removedocument";
        let Some(handle) = arguments::value(args, 0, "@hdoc") else {
            return Err(arguments::missing(PROCEDURE, "@hdoc"));
        };
        match handle.as_i64().is_some_and(|handle| self.state.prepared_xml.remove(handle)) {
            true => Ok(()),
            false => Err(SqlError::new(
                6607,
                16,
                format!("{PROCEDURE}: The value supplied for parameter number 1 is invalid."),
            )),
        }
    }
}

/// The namespaces that the first element declares, of a text as documents are written: they stand right behind its name,
/// in double quotes.
fn declarations(text: &str) -> Vec<(String, String)> {
    let mut out = Vec::new();
    let tag = text.split_once('>').map_or(text, |(tag, _)| tag);
    let mut rest = tag;
    while let Some((_, found)) = rest.split_once(" xmlns") {
        let Some((name, value)) = found.split_once("=\"") else { break };
        let Some((uri, behind)) = value.split_once('"') else { break };
        let prefix = name.strip_prefix(':').unwrap_or("");
        out.push((prefix.to_owned(), uri.replace("&quot;", "\"").replace("&amp;", "&")));
        rest = behind;
    }
    out
}
