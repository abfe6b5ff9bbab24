//! Catalog views: what exists in a database, and the databases of the instance.

pub mod absent;
pub mod absent_services;
pub mod columns;
pub mod configuration;
pub mod configuration_options;
pub mod constraints;
pub mod databases;
pub mod dependencies;
pub mod governor;
pub mod indexes;
pub mod messages;
pub mod modules;
pub mod my_permissions;
pub mod objects;
pub mod partitions;
pub mod policies;
pub mod principals;
pub mod properties;
pub mod sequences;
pub mod server;
pub mod spatial;
pub mod statistics;
pub mod time_zones;
pub mod tracking;
pub mod triggers;
