//! Experiments: workloads, driver, measurement, report.
