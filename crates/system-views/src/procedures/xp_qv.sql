    @feature nvarchar(64) = NULL,
    @instance nvarchar(128) = NULL
AS
-- Not documented: whether a component that is installed apart (Agent, full-text) is there. None is.
RETURN 0
