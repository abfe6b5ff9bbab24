//! Statements about the server as a whole: backups, KILL, SHUTDOWN, EXECUTE AS.

mod audit;
mod backup;
mod control;
mod governor;
