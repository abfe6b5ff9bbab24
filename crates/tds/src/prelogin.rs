//! PRELOGIN (MS-TDS 2.2.6.5): version, encryption and a few options, in big-endian.
//!
//! ```text
//! *( token 1 byte, offset 2 bytes, length 2 bytes )  0xFF  data
//! ```
//!
//! Offsets count from the first byte of the message. The answer is a message of type [`PacketType::Reply`]
//! (0x04); with 0x12 no client gets further.
//!
//! [`PacketType::Reply`]: crate::PacketType::Reply

use crate::ProtocolError;

const VERSION: u8 = 0;
const ENCRYPTION: u8 = 1;
const INSTANCE: u8 = 2;
const THREAD_ID: u8 = 3;
const MARS: u8 = 4;
const TRACE_ID: u8 = 5;
const FED_AUTH_REQUIRED: u8 = 6;
const NONCE: u8 = 7;
const TERMINATOR: u8 = 0xFF;

/// What a side says about TLS inside TDS 7.x. In TDS 8.0 the byte is not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Encryption {
    /// Possible; if both sides say so, LOGIN7 alone is encrypted.
    Off = 0,
    /// Wanted for everything.
    On = 1,
    /// Not possible.
    NotSupported = 2,
    /// Demanded.
    Required = 3,
}

impl Encryption {
    fn from_byte(byte: u8) -> Option<Encryption> {
        // 0x80 says that the client has a certificate; it is not asked for.
        Some(match byte & 0x7F {
            0 => Encryption::Off,
            // 4 is what go-mssqldb says inside TDS 8.0.
            1 | 4 => Encryption::On,
            2 => Encryption::NotSupported,
            3 => Encryption::Required,
            _ => return None,
        })
    }

    /// The server's answer and what follows, by the table in 2.2.6.5. `server` is what the server would have.
    pub fn negotiate(client: Encryption, server: Encryption) -> (Encryption, Negotiated) {
        use Encryption::*;
        match (client, server) {
            (NotSupported, Required | On) => (Required, Negotiated::Refused),
            (Required | On, NotSupported) => (NotSupported, Negotiated::Refused),
            (NotSupported, _) | (_, NotSupported) => (NotSupported, Negotiated::Plain),
            (Off, Off) => (Off, Negotiated::LoginOnly),
            (Off, On | Required) => (Required, Negotiated::Everything),
            (On | Required, _) => (On, Negotiated::Everything),
        }
    }
}

/// What follows the PRELOGIN exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Negotiated {
    /// No TLS.
    Plain,
    /// TLS handshake in PRELOGIN packets; the LOGIN7 message through it; then both sides go on in the clear.
    LoginOnly,
    /// TLS handshake in PRELOGIN packets, then everything through it.
    Everything,
    /// The two do not come together: send the answer and close.
    Refused,
}

/// What the client says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prelogin {
    /// Major, minor, build (2 bytes) and sub-build (2 bytes) of the client's library.
    pub version: [u8; 6],
    pub encryption: Encryption,
    /// The instance asked for; empty for the default one.
    pub instance: String,
    pub thread_id: Option<u32>,
    /// Whether the client would like several requests at a time (MARS).
    pub mars: bool,
    /// Connection and activity ids for tracing.
    pub trace_id: Option<[u8; 36]>,
    /// The client can do federated authentication.
    pub fed_auth_required: Option<bool>,
    pub nonce: Option<[u8; 32]>,
}

impl Prelogin {
    /// Reads the client's message; 17832 when offsets or lengths lie outside it. Options of other kinds are skipped.
    pub fn decode(data: &[u8]) -> Result<Prelogin, ProtocolError> {
        let bad = |what| ProtocolError::Login { what };
        let mut prelogin = Prelogin {
            version: [0; 6],
            encryption: Encryption::NotSupported,
            instance: String::new(),
            thread_id: None,
            mars: false,
            trace_id: None,
            fed_auth_required: None,
            nonce: None,
        };
        let mut at = 0;
        loop {
            let token = *data.get(at).ok_or(bad("PRELOGIN without its end"))?;
            if token == TERMINATOR {
                return Ok(prelogin);
            }
            let entry = data.get(at + 1..at + 5).ok_or(bad("PRELOGIN option cut off"))?;
            let offset = u16::from_be_bytes([entry[0], entry[1]]) as usize;
            let length = u16::from_be_bytes([entry[2], entry[3]]) as usize;
            let value = data
                .get(offset..offset + length)
                .ok_or(bad("PRELOGIN option outside the message"))?;
            at += 5;
            match token {
                VERSION => {
                    prelogin.version = *value.first_chunk().ok_or(bad("PRELOGIN version"))?
                }
                ENCRYPTION => {
                    let byte = *value.first().ok_or(bad("PRELOGIN encryption"))?;
                    prelogin.encryption =
                        Encryption::from_byte(byte).ok_or(bad("PRELOGIN encryption"))?;
                }
                INSTANCE => {
                    let end = value.iter().position(|&b| b == 0).unwrap_or(value.len());
                    prelogin.instance = String::from_utf8_lossy(&value[..end]).into_owned();
                }
                THREAD_ID => {
                    prelogin.thread_id = value.first_chunk().map(|id| u32::from_be_bytes(*id))
                }
                MARS => prelogin.mars = value.first().is_some_and(|&b| b != 0),
                TRACE_ID => prelogin.trace_id = value.first_chunk().copied(),
                FED_AUTH_REQUIRED => {
                    prelogin.fed_auth_required = value.first().map(|&b| b != 0);
                }
                NONCE => prelogin.nonce = value.first_chunk().copied(),
                _ => {}
            }
        }
    }

    /// The client's side.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let instance: Vec<u8> = self.instance.bytes().chain([0]).collect();
        let thread = self.thread_id.unwrap_or(0).to_be_bytes();
        let mut options: Vec<(u8, &[u8])> = vec![
            (VERSION, &self.version),
            (
                ENCRYPTION,
                std::slice::from_ref(match self.encryption {
                    Encryption::Off => &0,
                    Encryption::On => &1,
                    Encryption::NotSupported => &2,
                    Encryption::Required => &3,
                }),
            ),
            (INSTANCE, &instance),
            (THREAD_ID, &thread),
            (MARS, if self.mars { &[1] } else { &[0] }),
        ];
        if let Some(id) = &self.trace_id {
            options.push((TRACE_ID, id));
        }
        if let Some(required) = self.fed_auth_required {
            options.push((FED_AUTH_REQUIRED, if required { &[1] } else { &[0] }));
        }
        if let Some(nonce) = &self.nonce {
            options.push((NONCE, nonce));
        }
        put_options(out, &options);
    }
}

/// What the server answers. The instance is always the right one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreloginReply {
    /// Major, minor, build, as in LOGINACK.
    pub version: (u8, u8, u16),
    pub encryption: Encryption,
    /// Several requests at a time, in streams of [`crate::SmpHeader`] once the login is done.
    pub mars: bool,
    /// Answer the client's FEDAUTHREQUIRED; only when it sent one.
    pub fed_auth_required: Option<bool>,
}

impl PreloginReply {
    /// Appends the message body.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let (major, minor, build) = self.version;
        let [build_hi, build_lo] = build.to_be_bytes();
        let version = [major, minor, build_hi, build_lo, 0, 0];
        let encryption = [self.encryption as u8];
        let mut options: Vec<(u8, &[u8])> = vec![
            (VERSION, &version),
            (ENCRYPTION, &encryption),
            (INSTANCE, &[0]),
            (THREAD_ID, &[]),
            (MARS, if self.mars { &[1] } else { &[0] }),
        ];
        if let Some(required) = self.fed_auth_required {
            options.push((FED_AUTH_REQUIRED, if required { &[1] } else { &[0] }));
        }
        put_options(out, &options);
    }
}

fn put_options(out: &mut Vec<u8>, options: &[(u8, &[u8])]) {
    let mut offset = options.len() * 5 + 1;
    for (token, value) in options {
        out.push(*token);
        out.extend_from_slice(&(offset as u16).to_be_bytes());
        out.extend_from_slice(&(value.len() as u16).to_be_bytes());
        offset += value.len();
    }
    out.push(TERMINATOR);
    for (_, value) in options {
        out.extend_from_slice(value);
    }
}
