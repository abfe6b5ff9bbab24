    @sp_name nvarchar(390) = NULL,
    @sp_owner nvarchar(384) = NULL,
    @sp_qualifier sysname = NULL,
    @fUsePattern bit = 1
AS
IF @sp_qualifier IS NOT NULL AND @sp_qualifier <> '' AND @sp_qualifier <> '%' AND @sp_qualifier <> DB_NAME()
BEGIN
    RAISERROR(15250, -1, -1)
    RETURN
END
SELECT PROCEDURE_QUALIFIER, PROCEDURE_OWNER, PROCEDURE_NAME, NUM_INPUT_PARAMS, NUM_OUTPUT_PARAMS,
    NUM_RESULT_SETS, REMARKS, PROCEDURE_TYPE
FROM sys.spt_procedures
WHERE (@sp_name IS NULL OR (@fUsePattern = 1 AND PROCEDURE_BARE_NAME LIKE @sp_name ESCAPE '\') OR (@fUsePattern = 0 AND PROCEDURE_BARE_NAME = @sp_name))
    AND (@sp_owner IS NULL OR (@fUsePattern = 1 AND PROCEDURE_OWNER LIKE @sp_owner ESCAPE '\') OR (@fUsePattern = 0 AND PROCEDURE_OWNER = @sp_owner))
ORDER BY 1, 2, 3
