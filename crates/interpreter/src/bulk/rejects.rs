//! ERRORFILE.

use bulk_file::Rows;
use device::File;
use executor::SqlError;
use session_state::Host;
use session_state::load_error;
use std::io;
use std::sync::Arc;
use telemetry::WaitType;

/// ERRORFILE: the rows that were left out as they stood in the file, and beside it (`.Error.Txt`) where they stood.
pub(super) struct Rejects {
    rows: Written,
    places: Written,
}

impl Rejects {
    /// 4861: the files must be new.
    pub fn create(host: &mut dyn Host, path: &str) -> Result<Rejects, SqlError> {
        let mut create = |path: String| match host.create_file(&path) {
            Ok(file) => Ok(Written { file, path, at: 0, buffer: Vec::new() }),
            Err(error) => Err(match error.kind() {
                io::ErrorKind::AlreadyExists => {
                    let text = format!(
                        "Cannot bulk load because the file \"{path}\" could not be opened. Operating system error code \
                         80(The file exists.)."
                    );
                    SqlError::new(4861, 16, text)
                }
                _ => load_error(4861, "opened", &path, &error),
            }),
        };
        Ok(Rejects { rows: create(path.to_owned())?, places: create(format!("{path}.Error.Txt"))? })
    }

    pub fn add(&mut self, rows: &Rows) -> Result<(), SqlError> {
        let place = format!(
            "Row {} File Offset {} ErrorFile Offset {} - HRESULT 0x80004005\r\n",
            rows.number(),
            rows.offset(),
            self.rows.at + self.rows.buffer.len() as u64
        );
        self.rows.add(rows.raw())?;
        self.places.add(place.as_bytes())
    }

    pub fn close(&mut self) -> Result<(), SqlError> {
        self.rows.flush()?;
        self.places.flush()
    }
}

/// A file that grows.
struct Written {
    file: Arc<dyn File>,
    path: String,
    at: u64,
    buffer: Vec<u8>,
}

impl Written {
    fn add(&mut self, bytes: &[u8]) -> Result<(), SqlError> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() < 64 << 10 { Ok(()) } else { self.flush() }
    }

    /// 4870. Suspends.
    fn flush(&mut self) -> Result<(), SqlError> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let written = self.file.write_all_at(self.at, &self.buffer, false, WaitType::IoCompletion);
        written.map_err(|error| {
            let code = error.raw_os_error().unwrap_or_default();
            let text = format!(
                "Cannot bulk load because of an error writing file \"{}\". Operating system error code {code}({error}).",
                self.path
            );
            SqlError::new(4870, 16, text)
        })?;
        self.at += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}
