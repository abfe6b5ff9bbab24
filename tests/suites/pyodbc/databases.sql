-- A database of its own, as the tests make tables in it.
CREATE DATABASE test
