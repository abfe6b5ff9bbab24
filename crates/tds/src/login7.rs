//! LOGIN7 (MS-TDS 2.2.6.4): who the client is, what it wants, and how the two will talk.
//!
//! ```text
//!  0  length of all            4 bytes
//!  4  TDS version              4
//!  8  packet size              4   0: as the server likes
//! 12  client library version   4
//! 16  client process id        4
//! 20  connection id            4
//! 24  option flags 1, 2, type flags, option flags 3
//! 28  time zone (minutes), 32 locale
//! 36  offset and length (in characters, 2 bytes each) of host, user, password, application, server,
//!     extension (bytes), library, language, database; client id (6 bytes); SSPI (bytes), file, new password
//! 90  long length of SSPI      4
//! ```
//!
//! Offsets count from the first byte; all are checked. The password is only obfuscated (nibbles swapped, XOR
//! 0xA5); see [`Password`] for how it is kept, and [`Framer::wipe`](crate::Framer::wipe) for the bytes received.

use crate::ProtocolError;
use crate::reader::{put_utf16, utf16};
use std::fmt;

/// Feature extension ids (2.2.6.4, FeatureExt).
pub mod feature {
    pub const SESSION_RECOVERY: u8 = 0x01;
    pub const FED_AUTH: u8 = 0x02;
    pub const COLUMN_ENCRYPTION: u8 = 0x04;
    pub const GLOBAL_TRANSACTIONS: u8 = 0x05;
    pub const DATA_CLASSIFICATION: u8 = 0x09;
    /// The one that is acknowledged, with one byte 1: UTF-8 collations are understood.
    pub const UTF8_SUPPORT: u8 = 0x0A;
    pub const DNS_CACHING: u8 = 0x0B;
    pub const JSON_SUPPORT: u8 = 0x0D;
    pub const VECTOR_SUPPORT: u8 = 0x0E;
    pub const USER_AGENT: u8 = 0x10;
    pub const TERMINATOR: u8 = 0xFF;
}

/// Longest name, in UTF-16 units.
const NAME_UNITS_MAX: usize = 128;
/// Length of the fixed part, with the long SSPI length.
const FIXED_BYTES: usize = 94;

/// A password: never printed, zeroed when dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(Vec<u8>);

impl Password {
    pub fn new(text: &str) -> Password {
        Password(text.as_bytes().to_vec())
    }

    /// The password itself. Do not copy it further than needed.
    pub fn reveal(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or("")
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

impl Drop for Password {
    fn drop(&mut self) {
        self.0.fill(0);
        std::hint::black_box(&mut self.0);
    }
}

/// What LOGIN7 says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login7 {
    /// The TDS version asked for: [`Version::from_login`](crate::Version::from_login).
    pub tds_version: u32,
    /// The packet size asked for: [`negotiate_packet_size`](crate::negotiate_packet_size).
    pub packet_size: u32,
    pub client_version: u32,
    pub client_process_id: u32,
    pub connection_id: u32,
    /// fOLEDB, fReadOnlyIntent (0x20) and the SQL type.
    pub type_flags: u8,
    /// fODBC (0x02): ANSI settings and textsize as ODBC has them.
    pub odbc: bool,
    /// The initial database must exist, or the login fails (fDatabase).
    pub database_must_exist: bool,
    /// Minutes west of UTC, as the client says.
    pub time_zone_minutes: i32,
    pub locale: u32,
    pub host: String,
    pub user: String,
    pub password: Password,
    pub application: String,
    pub server: String,
    /// The client library's name.
    pub library: String,
    pub language: String,
    pub database: String,
    /// The MAC address, as the client says.
    pub client_id: [u8; 6],
    /// Windows authentication (fIntSecurity) is asked for; `sspi` has its first token.
    pub integrated_security: bool,
    pub sspi: Vec<u8>,
    pub attach_file: String,
    /// The password is to be changed to this.
    pub new_password: Option<Password>,
    /// Feature extensions: id and data, in order.
    pub features: Vec<(u8, Vec<u8>)>,
}

impl Default for Login7 {
    fn default() -> Self {
        Login7 {
            tds_version: crate::Version::V7_4.number(),
            packet_size: 4096,
            client_version: 0,
            client_process_id: 0,
            connection_id: 0,
            type_flags: 0,
            odbc: true,
            database_must_exist: true,
            time_zone_minutes: 0,
            locale: 0x0409,
            host: String::new(),
            user: String::new(),
            password: Password::new(""),
            application: String::new(),
            server: String::new(),
            library: String::new(),
            language: String::new(),
            database: String::new(),
            client_id: [0; 6],
            integrated_security: false,
            sspi: Vec::new(),
            attach_file: String::new(),
            new_password: None,
            features: Vec::new(),
        }
    }
}

/// Reads little-endian numbers at fixed places of a message long enough for them.
struct Fields<'a>(&'a [u8]);

const fn bad(what: &'static str) -> ProtocolError {
    ProtocolError::Login { what }
}

impl<'a> Fields<'a> {
    fn u16(&self, at: usize) -> usize {
        u16::from_le_bytes([self.0[at], self.0[at + 1]]) as usize
    }
    fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes([self.0[at], self.0[at + 1], self.0[at + 2], self.0[at + 3]])
    }
    fn bytes(&self, offset: usize, length: usize) -> Result<&'a [u8], ProtocolError> {
        if length == 0 {
            return Ok(&[]);
        }
        if offset < 36 {
            return Err(bad("LOGIN7 field inside its own header"));
        }
        self.0.get(offset..offset + length).ok_or(bad("LOGIN7 field outside the message"))
    }
    /// The bytes of the text whose offset and length stand at `at`.
    fn name(&self, at: usize) -> Result<&'a [u8], ProtocolError> {
        let (offset, units) = (self.u16(at), self.u16(at + 2));
        if units > NAME_UNITS_MAX {
            return Err(bad("LOGIN7 name longer than 128 characters"));
        }
        self.bytes(offset, units * 2)
    }
    fn text(&self, at: usize) -> Result<String, ProtocolError> {
        self.name(at).map(utf16)
    }
    fn password(&self, at: usize) -> Result<Password, ProtocolError> {
        let clear = |b: u8| (b ^ 0xA5).rotate_left(4);
        let hidden = self.name(at)?;
        let units = hidden.chunks_exact(2).map(|p| u16::from_le_bytes([clear(p[0]), clear(p[1])]));
        // Room for all of it: a buffer that grew would leave copies behind.
        let mut text = String::with_capacity(hidden.len() / 2 * 3);
        text.extend(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)));
        Ok(Password(text.into_bytes()))
    }
}

impl Login7 {
    /// Reads the message; 17832 when it contradicts itself.
    pub fn decode(data: &[u8]) -> Result<Login7, ProtocolError> {
        if data.len() < FIXED_BYTES {
            return Err(bad("LOGIN7 shorter than its fixed part"));
        }
        let length = u32::from_le_bytes([data[0], data[1], data[2], data[3]]) as usize;
        if length < FIXED_BYTES || length > data.len() {
            return Err(bad("LOGIN7 length"));
        }
        let data = &data[..length];
        let f = Fields(data);
        let (flags1, flags2, type_flags, flags3) = (data[24], data[25], data[26], data[27]);
        if flags1 & 0x0F != 0 {
            return Err(bad("LOGIN7 byte order, character set or floating point"));
        }
        let mut login = Login7 {
            tds_version: f.u32(4),
            packet_size: f.u32(8),
            client_version: f.u32(12),
            client_process_id: f.u32(16),
            connection_id: f.u32(20),
            type_flags,
            odbc: flags2 & 0x02 != 0,
            database_must_exist: flags1 & 0x40 != 0,
            time_zone_minutes: f.u32(28) as i32,
            locale: f.u32(32),
            host: f.text(36)?,
            user: f.text(40)?,
            password: f.password(44)?,
            application: f.text(48)?,
            server: f.text(52)?,
            library: f.text(60)?,
            language: f.text(64)?,
            database: f.text(68)?,
            client_id: [data[72], data[73], data[74], data[75], data[76], data[77]],
            integrated_security: flags2 & 0x80 != 0,
            sspi: Vec::new(),
            attach_file: f.text(82)?,
            new_password: None,
            features: Vec::new(),
        };
        let sspi = match f.u16(80) {
            0xFFFF if f.u32(90) != 0 => f.u32(90) as usize,
            short => short,
        };
        login.sspi = f.bytes(f.u16(78), sspi)?.to_vec();
        if flags3 & 0x01 != 0 {
            login.new_password = Some(f.password(86)?);
        }
        if flags3 & 0x10 != 0 {
            login.features = features(&f)?;
        }
        Ok(login)
    }

    /// The data of a feature extension, if the client sent it.
    pub fn feature(&self, id: u8) -> Option<&[u8]> {
        self.features.iter().find(|(have, _)| *have == id).map(|(_, data)| data.as_slice())
    }

    /// Appends the message body: the client's side. Names are cut to 128 characters.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.resize(start + FIXED_BYTES, 0);
        let mut fixed = [0u8; FIXED_BYTES];
        let mut put = |at: usize, bytes: &[u8]| fixed[at..at + bytes.len()].copy_from_slice(bytes);
        put(4, &self.tds_version.to_le_bytes());
        put(8, &self.packet_size.to_le_bytes());
        put(12, &self.client_version.to_le_bytes());
        put(16, &self.client_process_id.to_le_bytes());
        put(20, &self.connection_id.to_le_bytes());
        // fUseDB and fSetLang on; fDatabase as asked.
        put(24, &[0xA0 | if self.database_must_exist { 0x40 } else { 0 }]);
        let integrated = if self.integrated_security { 0x80 } else { 0 };
        put(25, &[integrated | if self.odbc { 0x03 } else { 0x01 }]);
        put(26, &[self.type_flags]);
        let extension = if self.features.is_empty() { 0 } else { 0x10 };
        put(27, &[extension | u8::from(self.new_password.is_some())]);
        put(28, &self.time_zone_minutes.to_le_bytes());
        put(32, &self.locale.to_le_bytes());
        put(72, &self.client_id);
        let mut field = |out: &mut Vec<u8>, at: usize, text: &str, hide: bool| {
            let offset = out.len() - start;
            put_utf16(out, crate::reader::cut_utf16(text, NAME_UNITS_MAX));
            let from = start + offset;
            if hide {
                out[from..].iter_mut().for_each(|b| *b = b.rotate_left(4) ^ 0xA5);
            }
            let units = (out.len() - from) / 2;
            put(at, &(offset as u16).to_le_bytes());
            put(at + 2, &(units as u16).to_le_bytes());
        };
        field(out, 36, &self.host, false);
        field(out, 40, &self.user, false);
        field(out, 44, self.password.reveal(), true);
        field(out, 48, &self.application, false);
        field(out, 52, &self.server, false);
        field(out, 60, &self.library, false);
        field(out, 64, &self.language, false);
        field(out, 68, &self.database, false);
        field(out, 82, &self.attach_file, false);
        field(out, 86, self.new_password.as_ref().map_or("", |p| p.reveal()), true);
        let mut put = |at: usize, bytes: &[u8]| fixed[at..at + bytes.len()].copy_from_slice(bytes);
        let offset = (out.len() - start) as u16;
        put(78, &offset.to_le_bytes());
        put(80, &(self.sspi.len().min(0xFFFF) as u16).to_le_bytes());
        if self.sspi.len() >= 0xFFFF {
            put(90, &(self.sspi.len() as u32).to_le_bytes());
        }
        out.extend_from_slice(&self.sspi);
        if !self.features.is_empty() {
            let at = out.len() - start;
            put(56, &(at as u16).to_le_bytes());
            put(58, &4u16.to_le_bytes());
            out.extend_from_slice(&(at as u32 + 4).to_le_bytes());
            for (id, data) in &self.features {
                out.push(*id);
                out.extend_from_slice(&(data.len() as u32).to_le_bytes());
                out.extend_from_slice(data);
            }
            out.push(feature::TERMINATOR);
        }
        let length = (out.len() - start) as u32;
        fixed[..4].copy_from_slice(&length.to_le_bytes());
        out[start..start + FIXED_BYTES].copy_from_slice(&fixed);
    }
}

fn features(f: &Fields<'_>) -> Result<Vec<(u8, Vec<u8>)>, ProtocolError> {
    let (offset, length) = (f.u16(56), f.u16(58));
    if length < 4 {
        return Ok(Vec::new());
    }
    let at = f.bytes(offset, 4)?;
    let at = u32::from_le_bytes([at[0], at[1], at[2], at[3]]) as usize;
    let mut rest = f.0.get(at..).ok_or(bad("LOGIN7 features outside the message"))?;
    let mut features = Vec::new();
    loop {
        match rest {
            [feature::TERMINATOR, ..] => return Ok(features),
            [id, a, b, c, d, data @ ..] => {
                let length = u32::from_le_bytes([*a, *b, *c, *d]) as usize;
                let value = data.get(..length).ok_or(bad("LOGIN7 feature outside the message"))?;
                features.push((*id, value.to_vec()));
                rest = &data[length..];
            }
            _ => return Err(bad("LOGIN7 features without their end")),
        }
    }
}
