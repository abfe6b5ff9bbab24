//! Crash states tried on a simulated device, against a model.
