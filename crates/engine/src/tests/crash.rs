//! Power loss at random moments, with a model as oracle.
