//! What std lacks, and nothing about databases.
