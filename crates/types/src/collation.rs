//! SQL_Latin1_General_CP1_CI_AS: weights, and the code page of varchar.
