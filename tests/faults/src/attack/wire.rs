//! A wire that its owner leaves at a fixed moment, whatever still comes over it.
//!
//! A time-out of a read alone would not do: an answer without end keeps coming.

use client::Wire;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// See the file's first lines.
pub struct Leaving {
    stream: TcpStream,
    until: Instant,
}

impl Leaving {
    /// Connects to a port of this machine; `patience` is for all that is ever done with it.
    pub fn connect(port: u16, patience: Duration) -> io::Result<Leaving> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        Ok(Leaving { stream, until: Instant::now() + patience })
    }

    /// The patience begins again.
    pub fn again(&mut self, patience: Duration) {
        self.until = Instant::now() + patience;
    }

    fn left(&self) -> io::Result<Duration> {
        let left = self.until.saturating_duration_since(Instant::now());
        match left < Duration::from_millis(1) {
            true => {
                Err(io::Error::new(ErrorKind::TimedOut, "the time for this connection is over"))
            }
            false => Ok(left),
        }
    }
}

impl Wire for Leaving {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.left()?))?;
        loop {
            match Read::read(&mut self.stream, buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                done => return done,
            }
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        // In pieces: a server that takes a little at a time is left all the same.
        for piece in bytes.chunks(64 << 10) {
            self.stream.set_write_timeout(Some(self.left()?))?;
            Write::write_all(&mut self.stream, piece)?;
        }
        Ok(())
    }
}
