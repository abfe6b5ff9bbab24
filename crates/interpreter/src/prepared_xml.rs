//! sp_xml_preparedocument and sp_xml_removedocument: documents that a session keeps for OPENXML.
//!
//! They are kept until they are removed or the session ends or is reset; their sizes together are limited (6624).
//! Source: SQL documentation, "sp_xml_preparedocument (Transact-SQL)".

use std::sync::Arc;

use executor::{PreparedXml, SqlError};
use types::{SqlType, Value, convert};
use xml::{Encoding, Options};

use crate::arguments;
use crate::code::Code;
use crate::exec::Argument;
use crate::vm::Vm;

/// Bytes that the documents of a session may take.
const BYTES_MAX: usize = 64 << 20;

/// The documents of a session.
#[derive(Debug, Default)]
pub(crate) struct PreparedDocuments {
    list: Vec<(i32, Arc<PreparedXml>)>,
    last: i32,
}

impl PreparedDocuments {
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The document of a handle.
    pub fn find(&self, handle: i64) -> Option<Arc<PreparedXml>> {
        let found = self.list.iter().find(|(h, _)| i64::from(*h) == handle);
        found.map(|(_, document)| document.clone())
    }

    /// Forgets it; false for none.
    fn remove(&mut self, handle: i64) -> bool {
        let before = self.list.len();
        self.list.retain(|(h, _)| i64::from(*h) != handle);
        self.list.len() < before
    }

    fn add(&mut self, document: PreparedXml) -> Result<i32, SqlError> {
        let bytes: usize = self.list.iter().map(|(_, d)| d.document.bytes()).sum();
        if bytes + document.document.bytes() > BYTES_MAX {
            return Err(SqlError::new(
                6624,
                16,
                "XML document could not be created because server memory is low. Use sp_xml_removedocument to release \
                 XML documents.",
            ));
        }
        // Odd numbers, as SQL Server hands out.
        self.last = self.last.wrapping_add(if self.last == 0 { 1 } else { 2 });
        self.list.push((self.last, Arc::new(document)));
        Ok(self.last)
    }
}

impl Vm<'_> {
    /// sp_xml_preparedocument @hdoc OUTPUT [, @xmltext [, @xpath_namespaces]]; 201, 6602, 6624.
    pub(crate) fn prepare_xml(
        &mut self,
        args: &[Argument],
        code: &Code,
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
        let to = code.vars[var as usize];
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
