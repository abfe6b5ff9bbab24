//! The system base tables: where SQL Server keeps what the catalog views show. sys.objects lists them in every database,
//! as type S; nobody but SQL Server itself reads them, and here they are names with the ids that they have there.
//!
//! Source: SQL Server's documentation of the system base tables.

use crate::context::built_in;
use crate::object::{Object, SYS, What};

/// Ids and names.
const TABLES: &[(i32, &str)] = &[
    (3, "sysrscols"),
    (5, "sysrowsets"),
    (6, "sysclones"),
    (7, "sysallocunits"),
    (8, "sysfiles1"),
    (9, "sysseobjvalues"),
    (17, "syspriorities"),
    (18, "sysdbfrag"),
    (19, "sysfgfrag"),
    (20, "sysdbfiles"),
    (21, "syspru"),
    (22, "sysbrickfiles"),
    (23, "sysphfg"),
    (24, "sysprufiles"),
    (25, "sysftinds"),
    (27, "sysowners"),
    (28, "sysdbreg"),
    (29, "sysprivs"),
    (34, "sysschobjs"),
    (41, "syscolpars"),
    (42, "sysxlgns"),
    (43, "sysxsrvs"),
    (44, "sysnsobjs"),
    (45, "sysusermsgs"),
    (46, "syscerts"),
    (47, "sysrmtlgns"),
    (48, "syslnklgns"),
    (49, "sysxprops"),
    (50, "sysscalartypes"),
    (51, "systypedsubobjs"),
    (54, "sysidxstats"),
    (55, "sysiscols"),
    (56, "sysendpts"),
    (57, "syswebmethods"),
    (58, "sysbinobjs"),
    (59, "sysaudacts"),
    (60, "sysobjvalues"),
    (64, "sysclsobjs"),
    (65, "sysrowsetrefs"),
    (67, "sysremsvcbinds"),
    (68, "sysxmitqueue"),
    (69, "sysrts"),
    (71, "sysconvgroup"),
    (72, "sysdesend"),
    (73, "sysdercv"),
    (74, "syssingleobjrefs"),
    (75, "sysmultiobjrefs"),
    (78, "sysguidrefs"),
    (90, "sysqnames"),
    (91, "sysxmlcomponent"),
    (92, "sysxmlfacet"),
    (93, "sysxmlplacement"),
    (94, "sysobjkeycrypts"),
    (95, "sysasymkeys"),
    (96, "syssqlguides"),
    (97, "sysbinsubobjs"),
    (98, "syssoftobjrefs"),
];

/// As objects.
pub fn all() -> impl Iterator<Item = Object> {
    TABLES.iter().map(|(id, name)| Object {
        id: *id,
        name: (*name).to_owned(),
        schema_id: SYS,
        schema: "sys".to_owned(),
        parent: 0,
        created: built_in(),
        is_readable: true,
        what: What::SystemTable,
    })
}
