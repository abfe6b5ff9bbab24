//! T-SQL values: types, NULL logic, collation, decimal, date and time, conversions, row and key encoding.
