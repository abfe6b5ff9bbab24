//! One program of tests of sessions: to link one is quicker than fourteen, and their cases share the processors. What
//! needs a process of its own (its memory, its flags, its figures) has a file beside this folder.

mod affinity;
mod audits;
mod backup;
mod builtins;
mod checkdb;
mod filters;
mod first_rows;
mod governor;
mod growth;
mod instance;
mod large;
mod logon;
mod parameters;
mod plans_agree;
mod seeks_agree;
mod seen_through;
mod space;
mod spill;
mod system_views;
mod told_messages;
