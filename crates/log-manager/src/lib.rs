//! One sequence of records per database.
