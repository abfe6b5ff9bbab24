//! The loop of a work as atomic blocks of a natively compiled procedure.

/// The procedure of an atomic block of so many repetitions, and the one that calls it.
pub fn procedures(key: &str, body: &str, each: u32) -> [String; 2] {
    let body = body.replace("{t}", "dbo.{t}");
    [
        format!(
            "create procedure dbo.{{t}}_block @s bigint not null, @from bigint not null, @i int not null, @n int not null \
             with native_compilation, schemabinding as begin atomic with (transaction isolation level = snapshot, \
             language = N'us_english') declare @k bigint, @first bigint = @s * 1000000000, @l tinyint, @o int, @j \
             int, @m bigint, @q int, @dist char(24); while @i < @n begin set @k = {key}; {body}; set @i = @i + 1 \
             end end"
        ),
        format!(
            "create procedure {{t}}_run @s bigint, @from bigint, @n int as begin set nocount on; declare @i int = 0, @to \
             int; while @i < @n begin set @to = @i + {each}; exec dbo.{{t}}_block @s, @from, @i, @to; set @i = \
             @to end end"
        ),
    ]
}
