//! A session on a server.

use super::Runs;
use super::desk::Done;
use super::print::Printer;
use client::{Address, Connection};
use std::net::TcpStream;

/// A connection of the shell's.
pub struct Remote(Connection<TcpStream>);

impl Remote {
    /// Connects and signs in.
    pub fn open(address: &Address) -> Result<Remote, String> {
        let opened = Connection::open(address, "millrace sql");
        opened.map(Remote).map_err(|error| format!("{address}: {error}"))
    }
}

impl Runs for Remote {
    fn run(
        &mut self,
        text: &str,
        count: u32,
        place: Option<(String, u32)>,
    ) -> Result<Done, String> {
        let mut printer = Printer::new(place);
        for _ in 0..count {
            self.0.execute(text, &mut printer).map_err(|error| error.to_string())?;
            if printer.ended() {
                break;
            }
        }
        printer.finish();
        Ok(Done { failed: printer.failed(), ended: printer.ended() })
    }

    fn close(self) -> Result<(), String> {
        Ok(())
    }
}
