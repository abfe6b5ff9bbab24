//! Transaction ids, states, snapshots, old row versions.
