//! Batches and procedures as register bytecode.
