//! Documents that a session keeps for OPENXML, by the handles of sp_xml_preparedocument.
//!
//! They are kept until they are removed or the session ends or is reset; their sizes together are limited (6624).

use executor::SqlError;
use functions::openxml::PreparedXml;
use std::sync::Arc;

/// Bytes that the documents of a session may take.
const BYTES_MAX: usize = 64 << 20;

/// The documents of a session.
#[derive(Debug, Default)]
pub struct PreparedDocuments {
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
    pub fn remove(&mut self, handle: i64) -> bool {
        let before = self.list.len();
        self.list.retain(|(h, _)| i64::from(*h) != handle);
        self.list.len() < before
    }

    pub fn add(&mut self, document: PreparedXml) -> Result<i32, SqlError> {
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
