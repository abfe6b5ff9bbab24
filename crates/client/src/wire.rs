//! What carries the bytes, and how to wait for them.

use runtime::net::Waiting;
use std::io::{self, Read, Write};
use std::net::TcpStream;

/// A connected stream whose calls wait.
pub trait Wire {
    /// Reads at least one byte; 0: the other side has closed.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize>;
    /// Writes all of it.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()>;
}

/// On a plain thread, which blocks.
impl Wire for TcpStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match Read::read(self, buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => return done,
            }
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        Write::write_all(self, bytes)
    }
}

/// On a scheduler's task, which suspends.
impl Wire for Waiting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Waiting::read(self, buffer)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        Waiting::write_all(self, bytes)
    }
}
