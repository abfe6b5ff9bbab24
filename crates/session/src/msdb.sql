-- What msdb has of SQL Server: the history of backups, and what SQL Server Agent keeps of jobs. Columns, procedures, their
-- parameters and errors are those of SQL Server's documentation ("Backup and restore tables", "SQL Server Agent tables",
-- "SQL Server Agent stored procedures"). There is no Agent here: jobs are kept, scripted and changed, and nothing runs them
-- (22022 for who asks), as on a server whose Agent is stopped.
CREATE TABLE dbo.backupmediaset (
  media_set_id int IDENTITY NOT NULL PRIMARY KEY, media_uuid uniqueidentifier NULL, media_family_count tinyint NULL,
  name nvarchar(128) NULL, description nvarchar(255) NULL, software_name nvarchar(128) NULL, software_vendor_id int NULL,
  MTF_major_version tinyint NULL, mirror_count tinyint NULL, is_password_protected bit NULL, is_compressed bit NULL,
  is_encrypted bit NULL)
CREATE TABLE dbo.backupmediafamily (
  media_set_id int NOT NULL, family_sequence_number tinyint NOT NULL, media_family_id uniqueidentifier NULL, media_count int NULL,
  logical_device_name nvarchar(128) NULL, physical_device_name nvarchar(260) NULL, device_type tinyint NULL,
  physical_block_size int NULL, mirror tinyint NOT NULL DEFAULT 0, PRIMARY KEY (media_set_id, family_sequence_number, mirror))
CREATE TABLE dbo.backupset (
  backup_set_id int IDENTITY NOT NULL PRIMARY KEY, backup_set_uuid uniqueidentifier NOT NULL, media_set_id int NOT NULL,
  first_family_number tinyint NULL, first_media_number smallint NULL, last_family_number tinyint NULL, last_media_number smallint NULL,
  catalog_family_number tinyint NULL, catalog_media_number smallint NULL, position int NULL, expiration_date datetime NULL,
  software_vendor_id int NULL, name nvarchar(128) NULL, description nvarchar(255) NULL, user_name nvarchar(128) NULL,
  software_major_version tinyint NULL, software_minor_version tinyint NULL, software_build_version smallint NULL,
  time_zone smallint NULL, mtf_minor_version tinyint NULL, first_lsn numeric(25, 0) NULL, last_lsn numeric(25, 0) NULL,
  checkpoint_lsn numeric(25, 0) NULL, database_backup_lsn numeric(25, 0) NULL, database_creation_date datetime NULL,
  backup_start_date datetime NULL, backup_finish_date datetime NULL, type char(1) NULL, sort_order smallint NULL,
  code_page smallint NULL, compatibility_level tinyint NULL, database_version int NULL, backup_size numeric(20, 0) NULL,
  database_name nvarchar(128) NULL, server_name nvarchar(128) NULL, machine_name nvarchar(128) NULL, flags int NULL,
  unicode_locale int NULL, unicode_compare_style int NULL, collation_name nvarchar(128) NULL, is_password_protected bit NULL,
  recovery_model nvarchar(60) NULL, has_bulk_logged_data bit NULL, is_snapshot bit NULL, is_readonly bit NULL,
  is_single_user bit NULL, has_backup_checksums bit NULL, is_damaged bit NULL, begins_log_chain bit NULL,
  has_incomplete_metadata bit NULL, is_force_offline bit NULL, is_copy_only bit NULL,
  first_recovery_fork_guid uniqueidentifier NULL, last_recovery_fork_guid uniqueidentifier NULL, fork_point_lsn numeric(25, 0) NULL,
  database_guid uniqueidentifier NULL, family_guid uniqueidentifier NULL, differential_base_lsn numeric(25, 0) NULL,
  differential_base_guid uniqueidentifier NULL, compressed_backup_size numeric(20, 0) NULL, key_algorithm nvarchar(32) NULL,
  encryptor_thumbprint varbinary(20) NULL, encryptor_type nvarchar(32) NULL, last_valid_restore_time datetime NULL,
  time_zone_id nvarchar(128) NULL, compression_algorithm nvarchar(32) NULL)
CREATE INDEX backupsetDate ON dbo.backupset (backup_finish_date)
GRANT SELECT ON dbo.backupset TO public
GRANT SELECT ON dbo.backupmediaset TO public
GRANT SELECT ON dbo.backupmediafamily TO public
GO
CREATE TABLE dbo.sysjobs (
  job_id uniqueidentifier NOT NULL PRIMARY KEY, originating_server_id int NOT NULL, name sysname NOT NULL, enabled tinyint NOT NULL,
  description nvarchar(512) NULL, start_step_id int NOT NULL, category_id int NOT NULL, owner_sid varbinary(85) NOT NULL,
  notify_level_eventlog int NOT NULL, notify_level_email int NOT NULL, notify_level_netsend int NOT NULL,
  notify_level_page int NOT NULL, notify_email_operator_id int NOT NULL, notify_netsend_operator_id int NOT NULL,
  notify_page_operator_id int NOT NULL, delete_level int NOT NULL, date_created datetime NOT NULL, date_modified datetime NOT NULL,
  version_number int NOT NULL)
CREATE UNIQUE INDEX byname ON dbo.sysjobs (name)
CREATE TABLE dbo.sysjobsteps (
  job_id uniqueidentifier NOT NULL, step_id int NOT NULL, step_name sysname NOT NULL, subsystem nvarchar(40) NOT NULL,
  command nvarchar(max) NULL, flags int NOT NULL, additional_parameters nvarchar(max) NULL, cmdexec_success_code int NOT NULL,
  on_success_action tinyint NOT NULL, on_success_step_id int NOT NULL, on_fail_action tinyint NOT NULL, on_fail_step_id int NOT NULL,
  server sysname NULL, database_name sysname NULL, database_user_name sysname NULL, retry_attempts int NOT NULL,
  retry_interval int NOT NULL, os_run_priority int NOT NULL, output_file_name nvarchar(200) NULL, last_run_outcome int NOT NULL,
  last_run_duration int NOT NULL, last_run_retries int NOT NULL, last_run_date int NOT NULL, last_run_time int NOT NULL,
  proxy_id int NULL, step_uid uniqueidentifier NULL, PRIMARY KEY (job_id, step_id))
CREATE TABLE dbo.sysjobservers (
  job_id uniqueidentifier NOT NULL, server_id int NOT NULL, last_run_outcome tinyint NOT NULL,
  last_outcome_message nvarchar(4000) NULL, last_run_date int NOT NULL, last_run_time int NOT NULL, last_run_duration int NOT NULL,
  PRIMARY KEY (job_id, server_id))
CREATE TABLE dbo.sysschedules (
  schedule_id int IDENTITY NOT NULL PRIMARY KEY, schedule_uid uniqueidentifier NOT NULL, originating_server_id int NOT NULL,
  name sysname NOT NULL, owner_sid varbinary(85) NOT NULL, enabled int NOT NULL, freq_type int NOT NULL, freq_interval int NOT NULL,
  freq_subday_type int NOT NULL, freq_subday_interval int NOT NULL, freq_relative_interval int NOT NULL,
  freq_recurrence_factor int NOT NULL, active_start_date int NOT NULL, active_end_date int NOT NULL, active_start_time int NOT NULL,
  active_end_time int NOT NULL, date_created datetime NOT NULL, date_modified datetime NOT NULL, version_number int NOT NULL)
CREATE TABLE dbo.sysjobschedules (
  schedule_id int NOT NULL, job_id uniqueidentifier NOT NULL, next_run_date int NOT NULL, next_run_time int NOT NULL,
  PRIMARY KEY (job_id, schedule_id))
CREATE TABLE dbo.sysjobhistory (
  instance_id int IDENTITY NOT NULL PRIMARY KEY, job_id uniqueidentifier NOT NULL, step_id int NOT NULL, step_name sysname NOT NULL,
  sql_message_id int NOT NULL, sql_severity int NOT NULL, message nvarchar(4000) NULL, run_status int NOT NULL, run_date int NOT NULL,
  run_time int NOT NULL, run_duration int NOT NULL, operator_id_emailed int NOT NULL, operator_id_netsent int NOT NULL,
  operator_id_paged int NOT NULL, retries_attempted int NOT NULL, server sysname NOT NULL)
GO
CREATE VIEW dbo.sysjobs_view AS
SELECT job_id, CONVERT(nvarchar(128), SERVERPROPERTY('ServerName')) AS originating_server, name, enabled, description, start_step_id,
  category_id, owner_sid, notify_level_eventlog, notify_level_email, notify_level_netsend, notify_level_page,
  notify_email_operator_id, notify_netsend_operator_id, notify_page_operator_id, delete_level, date_created, date_modified,
  version_number, originating_server_id, CONVERT(bit, 0) AS master_server
FROM dbo.sysjobs
GO
-- The job of a name or an id: 14262 for none, 14294 for neither or both.
CREATE PROCEDURE dbo.sp_verify_job_identifiers
  @name_of_name_parameter varchar(60), @name_of_id_parameter varchar(60), @job_name sysname OUTPUT,
  @job_id uniqueidentifier OUTPUT, @sqlagent_starting_test varchar(7) = 'TEST', @owner_sid varbinary(85) = NULL OUTPUT
AS
SET NOCOUNT ON
IF (@job_name IS NULL AND @job_id IS NULL) OR (@job_name IS NOT NULL AND @job_id IS NOT NULL)
BEGIN
  RAISERROR (14294, 16, 1, @name_of_id_parameter, @name_of_name_parameter)
  RETURN 1
END
IF @job_id IS NOT NULL
BEGIN
  SELECT @job_name = name, @owner_sid = owner_sid FROM dbo.sysjobs WHERE job_id = @job_id
  IF @@ROWCOUNT = 0
  BEGIN
    DECLARE @id varchar(36) = CONVERT(varchar(36), @job_id)
    RAISERROR (14262, 16, 1, '@job_id', @id)
    RETURN 1
  END
END
ELSE
BEGIN
  SELECT @job_id = job_id, @owner_sid = owner_sid FROM dbo.sysjobs WHERE name = @job_name
  IF @@ROWCOUNT = 0
  BEGIN
    RAISERROR (14262, 16, 1, '@job_name', @job_name)
    RETURN 1
  END
END
RETURN 0
GO
CREATE PROCEDURE dbo.sp_add_job
  @job_name sysname, @enabled tinyint = 1, @description nvarchar(512) = NULL, @start_step_id int = 1, @category_name sysname = NULL,
  @category_id int = NULL, @owner_login_name sysname = NULL, @notify_level_eventlog int = 2, @notify_level_email int = 0,
  @notify_level_netsend int = 0, @notify_level_page int = 0, @notify_email_operator_name sysname = NULL,
  @notify_netsend_operator_name sysname = NULL, @notify_page_operator_name sysname = NULL, @delete_level int = 0,
  @job_id uniqueidentifier = NULL OUTPUT, @originating_server sysname = NULL
AS
SET NOCOUNT ON
SET @job_name = LTRIM(RTRIM(@job_name))
IF EXISTS (SELECT * FROM dbo.sysjobs WHERE name = @job_name)
BEGIN
  RAISERROR (14261, 16, 1, '@job_name', @job_name)
  RETURN 1
END
IF @enabled NOT IN (0, 1)
BEGIN
  RAISERROR (14266, 16, 1, '@enabled', '0, 1')
  RETURN 1
END
IF @category_name IS NOT NULL
BEGIN
  SELECT @category_id = category_id FROM dbo.syscategories WHERE category_class = 1 AND name = @category_name
  IF @@ROWCOUNT = 0
  BEGIN
    RAISERROR (14262, 16, 1, '@category_name', @category_name)
    RETURN 1
  END
END
DECLARE @owner varbinary(85) = SUSER_SID(ISNULL(@owner_login_name, ORIGINAL_LOGIN()))
IF @owner IS NULL
BEGIN
  RAISERROR (14234, 16, 1, '@owner_login_name', 'sp_helplogins')
  RETURN 1
END
SET @job_id = NEWID()
INSERT dbo.sysjobs VALUES (@job_id, 0, @job_name, @enabled, ISNULL(@description, N'No description available.'), @start_step_id,
  ISNULL(@category_id, 0), @owner, @notify_level_eventlog, @notify_level_email, @notify_level_netsend, @notify_level_page, 0, 0, 0,
  @delete_level, GETDATE(), GETDATE(), 1)
RETURN 0
GO
CREATE PROCEDURE dbo.sp_update_job
  @job_id uniqueidentifier = NULL, @job_name sysname = NULL, @new_name sysname = NULL, @enabled tinyint = NULL,
  @description nvarchar(512) = NULL, @start_step_id int = NULL, @category_name sysname = NULL, @owner_login_name sysname = NULL,
  @notify_level_eventlog int = NULL, @notify_level_email int = NULL, @notify_level_netsend int = NULL,
  @notify_level_page int = NULL, @notify_email_operator_name sysname = NULL, @notify_netsend_operator_name sysname = NULL,
  @notify_page_operator_name sysname = NULL, @delete_level int = NULL, @automatic_post bit = 1
AS
SET NOCOUNT ON
DECLARE @r int, @category_id int
EXEC @r = dbo.sp_verify_job_identifiers '@job_name', '@job_id', @job_name OUTPUT, @job_id OUTPUT
IF @r <> 0 RETURN 1
IF EXISTS (SELECT * FROM dbo.sysjobs WHERE name = @new_name AND job_id <> @job_id)
BEGIN
  RAISERROR (14261, 16, 1, '@new_name', @new_name)
  RETURN 1
END
IF @category_name IS NOT NULL
BEGIN
  SELECT @category_id = category_id FROM dbo.syscategories WHERE category_class = 1 AND name = @category_name
  IF @@ROWCOUNT = 0
  BEGIN
    RAISERROR (14262, 16, 1, '@category_name', @category_name)
    RETURN 1
  END
END
UPDATE dbo.sysjobs SET name = ISNULL(@new_name, name), enabled = ISNULL(@enabled, enabled),
  description = ISNULL(@description, description), start_step_id = ISNULL(@start_step_id, start_step_id),
  category_id = ISNULL(@category_id, category_id), owner_sid = ISNULL(SUSER_SID(@owner_login_name), owner_sid),
  notify_level_eventlog = ISNULL(@notify_level_eventlog, notify_level_eventlog),
  notify_level_email = ISNULL(@notify_level_email, notify_level_email),
  notify_level_netsend = ISNULL(@notify_level_netsend, notify_level_netsend),
  notify_level_page = ISNULL(@notify_level_page, notify_level_page), delete_level = ISNULL(@delete_level, delete_level),
  date_modified = GETDATE(), version_number = version_number + 1
WHERE job_id = @job_id
RETURN 0
GO
CREATE PROCEDURE dbo.sp_delete_job
  @job_id uniqueidentifier = NULL, @job_name sysname = NULL, @originating_server sysname = NULL, @delete_history bit = 1,
  @delete_unused_schedule bit = 1
AS
SET NOCOUNT ON
DECLARE @r int
EXEC @r = dbo.sp_verify_job_identifiers '@job_name', '@job_id', @job_name OUTPUT, @job_id OUTPUT
IF @r <> 0 RETURN 1
BEGIN TRANSACTION
DECLARE @schedules TABLE (schedule_id int)
DELETE dbo.sysjobschedules OUTPUT deleted.schedule_id INTO @schedules WHERE job_id = @job_id
IF @delete_unused_schedule = 1
  DELETE dbo.sysschedules WHERE schedule_id IN (SELECT schedule_id FROM @schedules)
    AND schedule_id NOT IN (SELECT schedule_id FROM dbo.sysjobschedules)
IF @delete_history = 1 DELETE dbo.sysjobhistory WHERE job_id = @job_id
DELETE dbo.sysjobservers WHERE job_id = @job_id
DELETE dbo.sysjobsteps WHERE job_id = @job_id
DELETE dbo.sysjobs WHERE job_id = @job_id
COMMIT
RETURN 0
GO
CREATE PROCEDURE dbo.sp_add_jobstep
  @job_id uniqueidentifier = NULL, @job_name sysname = NULL, @step_id int = NULL, @step_name sysname,
  @subsystem nvarchar(40) = N'TSQL', @command nvarchar(max) = NULL, @additional_parameters nvarchar(max) = NULL,
  @cmdexec_success_code int = 0, @on_success_action tinyint = 1, @on_success_step_id int = 0, @on_fail_action tinyint = 2,
  @on_fail_step_id int = 0, @server sysname = NULL, @database_name sysname = NULL, @database_user_name sysname = NULL,
  @retry_attempts int = 0, @retry_interval int = 0, @os_run_priority int = 0, @output_file_name nvarchar(200) = NULL,
  @flags int = 0, @proxy_id int = NULL, @proxy_name sysname = NULL, @step_uid uniqueidentifier = NULL OUTPUT
AS
SET NOCOUNT ON
DECLARE @r int, @last int
EXEC @r = dbo.sp_verify_job_identifiers '@job_name', '@job_id', @job_name OUTPUT, @job_id OUTPUT
IF @r <> 0 RETURN 1
SELECT @last = ISNULL(MAX(step_id), 0) FROM dbo.sysjobsteps WHERE job_id = @job_id
SET @step_id = ISNULL(@step_id, @last + 1)
IF @step_id < 1 OR @step_id > @last + 1
BEGIN
  DECLARE @upper varchar(10) = CONVERT(varchar(10), @last + 1)
  RAISERROR (14266, 16, 1, '@step_id', @upper)
  RETURN 1
END
IF EXISTS (SELECT * FROM dbo.sysjobsteps WHERE job_id = @job_id AND step_name = @step_name)
BEGIN
  RAISERROR (14261, 16, 1, '@step_name', @step_name)
  RETURN 1
END
IF @subsystem = N'TSQL' SET @database_name = ISNULL(@database_name, N'master')
SET @step_uid = NEWID()
BEGIN TRANSACTION
UPDATE dbo.sysjobsteps SET step_id = step_id + 1 WHERE job_id = @job_id AND step_id >= @step_id
INSERT dbo.sysjobsteps VALUES (@job_id, @step_id, @step_name, @subsystem, @command, @flags, @additional_parameters,
  @cmdexec_success_code, @on_success_action, @on_success_step_id, @on_fail_action, @on_fail_step_id, @server, @database_name,
  @database_user_name, @retry_attempts, @retry_interval, @os_run_priority, @output_file_name, 0, 0, 0, 0, 0, @proxy_id, @step_uid)
UPDATE dbo.sysjobs SET date_modified = GETDATE(), version_number = version_number + 1 WHERE job_id = @job_id
COMMIT
RETURN 0
GO
CREATE PROCEDURE dbo.sp_delete_jobstep @job_id uniqueidentifier = NULL, @job_name sysname = NULL, @step_id int
AS
SET NOCOUNT ON
DECLARE @r int
EXEC @r = dbo.sp_verify_job_identifiers '@job_name', '@job_id', @job_name OUTPUT, @job_id OUTPUT
IF @r <> 0 RETURN 1
IF @step_id <> 0 AND NOT EXISTS (SELECT * FROM dbo.sysjobsteps WHERE job_id = @job_id AND step_id = @step_id)
BEGIN
  DECLARE @id varchar(10) = CONVERT(varchar(10), @step_id)
  RAISERROR (14262, 16, 1, '@step_id', @id)
  RETURN 1
END
BEGIN TRANSACTION
DELETE dbo.sysjobsteps WHERE job_id = @job_id AND (step_id = @step_id OR @step_id = 0)
UPDATE dbo.sysjobsteps SET step_id = step_id - 1 WHERE job_id = @job_id AND step_id > @step_id AND @step_id > 0
UPDATE dbo.sysjobs SET date_modified = GETDATE(), version_number = version_number + 1 WHERE job_id = @job_id
COMMIT
RETURN 0
GO
CREATE PROCEDURE dbo.sp_add_jobserver
  @job_id uniqueidentifier = NULL, @job_name sysname = NULL, @server_name sysname = NULL, @automatic_post bit = 1
AS
SET NOCOUNT ON
DECLARE @r int
EXEC @r = dbo.sp_verify_job_identifiers '@job_name', '@job_id', @job_name OUTPUT, @job_id OUTPUT
IF @r <> 0 RETURN 1
IF ISNULL(@server_name, N'(local)') NOT IN (N'(local)', N'.', CONVERT(nvarchar(128), SERVERPROPERTY('ServerName')))
BEGIN
  RAISERROR (14262, 16, 1, '@server_name', @server_name)
  RETURN 1
END
IF EXISTS (SELECT * FROM dbo.sysjobservers WHERE job_id = @job_id)
BEGIN
  RAISERROR (14269, 16, 1, @job_name, @server_name)
  RETURN 1
END
INSERT dbo.sysjobservers VALUES (@job_id, 0, 5, NULL, 0, 0, 0)
RETURN 0
GO
CREATE PROCEDURE dbo.sp_add_schedule
  @schedule_name sysname, @enabled tinyint = 1, @freq_type int = 0, @freq_interval int = 0, @freq_subday_type int = 0,
  @freq_subday_interval int = 0, @freq_relative_interval int = 0, @freq_recurrence_factor int = 0, @active_start_date int = NULL,
  @active_end_date int = 99991231, @active_start_time int = 0, @active_end_time int = 235959, @owner_login_name sysname = NULL,
  @schedule_uid uniqueidentifier = NULL OUTPUT, @schedule_id int = NULL OUTPUT, @originating_server sysname = NULL
AS
SET NOCOUNT ON
IF @freq_type NOT IN (1, 4, 8, 16, 32, 64, 128)
BEGIN
  RAISERROR (14266, 16, 1, '@freq_type', '1, 4, 8, 16, 32, 64, 128')
  RETURN 1
END
SET @schedule_uid = NEWID()
INSERT dbo.sysschedules VALUES (@schedule_uid, 0, @schedule_name, SUSER_SID(ISNULL(@owner_login_name, ORIGINAL_LOGIN())), @enabled,
  @freq_type, @freq_interval, @freq_subday_type, @freq_subday_interval, @freq_relative_interval, @freq_recurrence_factor,
  ISNULL(@active_start_date, CONVERT(int, CONVERT(char(8), GETDATE(), 112))), @active_end_date, @active_start_time, @active_end_time,
  GETDATE(), GETDATE(), 1)
SET @schedule_id = SCOPE_IDENTITY()
RETURN 0
GO
CREATE PROCEDURE dbo.sp_attach_schedule
  @job_id uniqueidentifier = NULL, @job_name sysname = NULL, @schedule_id int = NULL, @schedule_name sysname = NULL,
  @automatic_post bit = 1
AS
SET NOCOUNT ON
DECLARE @r int
EXEC @r = dbo.sp_verify_job_identifiers '@job_name', '@job_id', @job_name OUTPUT, @job_id OUTPUT
IF @r <> 0 RETURN 1
IF @schedule_id IS NULL SELECT @schedule_id = schedule_id FROM dbo.sysschedules WHERE name = @schedule_name
IF NOT EXISTS (SELECT * FROM dbo.sysschedules WHERE schedule_id = @schedule_id)
BEGIN
  DECLARE @shown sysname = ISNULL(@schedule_name, CONVERT(varchar(10), @schedule_id))
  RAISERROR (14262, 16, 1, '@schedule_name', @shown)
  RETURN 1
END
IF NOT EXISTS (SELECT * FROM dbo.sysjobschedules WHERE job_id = @job_id AND schedule_id = @schedule_id)
  INSERT dbo.sysjobschedules VALUES (@schedule_id, @job_id, 0, 0)
RETURN 0
GO
CREATE PROCEDURE dbo.sp_add_jobschedule
  @job_id uniqueidentifier = NULL, @job_name sysname = NULL, @name sysname, @enabled tinyint = 1, @freq_type int = 1,
  @freq_interval int = 0, @freq_subday_type int = 0, @freq_subday_interval int = 0, @freq_relative_interval int = 0,
  @freq_recurrence_factor int = 0, @active_start_date int = NULL, @active_end_date int = 99991231, @active_start_time int = 0,
  @active_end_time int = 235959, @schedule_id int = NULL OUTPUT, @automatic_post bit = 1,
  @schedule_uid uniqueidentifier = NULL OUTPUT
AS
SET NOCOUNT ON
DECLARE @r int
EXEC @r = dbo.sp_verify_job_identifiers '@job_name', '@job_id', @job_name OUTPUT, @job_id OUTPUT
IF @r <> 0 RETURN 1
EXEC @r = dbo.sp_add_schedule @name, @enabled, @freq_type, @freq_interval, @freq_subday_type, @freq_subday_interval,
  @freq_relative_interval, @freq_recurrence_factor, @active_start_date, @active_end_date, @active_start_time, @active_end_time,
  NULL, @schedule_uid OUTPUT, @schedule_id OUTPUT
IF @r <> 0 RETURN 1
INSERT dbo.sysjobschedules VALUES (@schedule_id, @job_id, 0, 0)
RETURN 0
GO
CREATE PROCEDURE dbo.sp_delete_schedule @schedule_id int = NULL, @schedule_name sysname = NULL, @force_delete bit = 0,
  @automatic_post bit = 1
AS
SET NOCOUNT ON
IF @schedule_id IS NULL SELECT @schedule_id = schedule_id FROM dbo.sysschedules WHERE name = @schedule_name
IF NOT EXISTS (SELECT * FROM dbo.sysschedules WHERE schedule_id = @schedule_id)
BEGIN
  DECLARE @shown sysname = ISNULL(@schedule_name, CONVERT(varchar(10), @schedule_id))
  RAISERROR (14262, 16, 1, '@schedule_name', @shown)
  RETURN 1
END
IF @force_delete = 0 AND EXISTS (SELECT * FROM dbo.sysjobschedules WHERE schedule_id = @schedule_id)
BEGIN
  RAISERROR (14372, 16, 1)
  RETURN 1
END
DELETE dbo.sysjobschedules WHERE schedule_id = @schedule_id
DELETE dbo.sysschedules WHERE schedule_id = @schedule_id
RETURN 0
GO
CREATE PROCEDURE dbo.sp_start_job @job_name sysname = NULL, @job_id uniqueidentifier = NULL, @error_flag int = 1,
  @server_name sysname = NULL, @step_name sysname = NULL, @output_flag int = 1
AS
SET NOCOUNT ON
DECLARE @r int
EXEC @r = dbo.sp_verify_job_identifiers '@job_name', '@job_id', @job_name OUTPUT, @job_id OUTPUT
IF @r <> 0 RETURN 1
RAISERROR (22022, 16, 1)
RETURN 1
GO
CREATE PROCEDURE dbo.sp_delete_backuphistory @oldest_date datetime
AS
SET NOCOUNT ON
DECLARE @media TABLE (media_set_id int)
BEGIN TRANSACTION
DELETE dbo.backupset OUTPUT deleted.media_set_id INTO @media WHERE backup_finish_date < @oldest_date
DELETE dbo.backupmediafamily WHERE media_set_id IN (SELECT media_set_id FROM @media)
DELETE dbo.backupmediaset WHERE media_set_id IN (SELECT media_set_id FROM @media)
COMMIT
GO
CREATE PROCEDURE dbo.sp_delete_database_backuphistory @database_name sysname
AS
SET NOCOUNT ON
DECLARE @media TABLE (media_set_id int)
BEGIN TRANSACTION
DELETE dbo.backupset OUTPUT deleted.media_set_id INTO @media WHERE database_name = @database_name
DELETE dbo.backupmediafamily WHERE media_set_id IN (SELECT media_set_id FROM @media)
DELETE dbo.backupmediaset WHERE media_set_id IN (SELECT media_set_id FROM @media)
COMMIT
GO
