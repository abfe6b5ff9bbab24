//! Statements about the server as a whole: backups, KILL, SHUTDOWN, EXECUTE AS.

mod backup;
mod control;
mod governor;
