//! What DDL triggers fire for: events, and groups of them.
//!
//! Promise: numbers, names and parents are those of sys.trigger_event_types, in the order of numbers. Sources: SQL Server's
//! documentation, "DDL Event Groups"; what came after that page (309 and later) by the numbers of ScriptDOM's
//! `EventNotificationEventType`. Events of what this server does not have are known too: scripts name them.

use crate::def::same_name;

/// A row of sys.trigger_event_types: an event, or a group of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DdlEvent {
    /// Its number; from 10001 on of a group.
    pub number: u16,
    /// The number of the group that it belongs to; 0 for none.
    pub parent: u16,
    /// As in CREATE TRIGGER.
    pub name: &'static str,
}

/// A login: the one event that is no definition, and not in sys.trigger_event_types.
pub const LOGON: DdlEvent = of(147, 0, "LOGON");

/// The number of the group of what happens in one database.
const DATABASE_LEVEL: u16 = 10016;

impl DdlEvent {
    /// By its name, in any case; LOGON too.
    pub fn by_name(name: &str) -> Option<&'static DdlEvent> {
        let mut all = DDL_EVENTS.iter().chain([&LOGON]);
        all.find(|event| same_name(event.name, name))
    }

    /// By its number; LOGON too.
    pub fn by_number(number: u16) -> Option<&'static DdlEvent> {
        if number == LOGON.number {
            return Some(&LOGON);
        }
        let at = DDL_EVENTS.binary_search_by_key(&number, |event| event.number);
        at.ok().map(|at| &DDL_EVENTS[at])
    }

    /// Is it a group?
    pub fn is_group(&self) -> bool {
        self.number > 10_000
    }

    /// Is it `other`, or a group in which that is?
    pub fn covers(&self, other: &DdlEvent) -> bool {
        let up = |event: &&'static DdlEvent| DdlEvent::by_number(event.parent);
        let mut chain = std::iter::successors(DdlEvent::by_number(other.number), up);
        chain.any(|event| event.number == self.number)
    }

    /// May a trigger of a database be for it? A group is, when what is in it happens in databases.
    pub fn is_of_database(&self) -> bool {
        DdlEvent::by_number(DATABASE_LEVEL).is_some_and(|group| group.covers(self))
    }

    /// The events of a group, or the event itself, in the order of numbers.
    pub fn events(&self) -> impl Iterator<Item = &'static DdlEvent> {
        let own = *self;
        let all = DDL_EVENTS.iter().chain([&LOGON]);
        all.filter(move |event| !event.is_group() && own.covers(event))
    }
}

const fn of(number: u16, parent: u16, name: &'static str) -> DdlEvent {
    DdlEvent { number, parent, name }
}

/// All of them, by number.
#[rustfmt::skip]
pub static DDL_EVENTS: &[DdlEvent] = &[
    of(21, 10018, "CREATE_TABLE"),
    of(22, 10018, "ALTER_TABLE"),
    of(23, 10018, "DROP_TABLE"),
    of(24, 10020, "CREATE_INDEX"),
    of(25, 10020, "ALTER_INDEX"),
    of(26, 10020, "DROP_INDEX"),
    of(27, 10021, "CREATE_STATISTICS"),
    of(28, 10021, "UPDATE_STATISTICS"),
    of(29, 10021, "DROP_STATISTICS"),
    of(34, 10022, "CREATE_SYNONYM"),
    of(36, 10022, "DROP_SYNONYM"),
    of(41, 10019, "CREATE_VIEW"),
    of(42, 10019, "ALTER_VIEW"),
    of(43, 10019, "DROP_VIEW"),
    of(51, 10024, "CREATE_PROCEDURE"),
    of(52, 10024, "ALTER_PROCEDURE"),
    of(53, 10024, "DROP_PROCEDURE"),
    of(61, 10023, "CREATE_FUNCTION"),
    of(62, 10023, "ALTER_FUNCTION"),
    of(63, 10023, "DROP_FUNCTION"),
    of(71, 10025, "CREATE_TRIGGER"),
    of(72, 10025, "ALTER_TRIGGER"),
    of(73, 10025, "DROP_TRIGGER"),
    of(74, 10026, "CREATE_EVENT_NOTIFICATION"),
    of(76, 10026, "DROP_EVENT_NOTIFICATION"),
    of(91, 10028, "CREATE_TYPE"),
    of(93, 10028, "DROP_TYPE"),
    of(101, 10027, "CREATE_ASSEMBLY"),
    of(102, 10027, "ALTER_ASSEMBLY"),
    of(103, 10027, "DROP_ASSEMBLY"),
    of(131, 10031, "CREATE_USER"),
    of(132, 10031, "ALTER_USER"),
    of(133, 10031, "DROP_USER"),
    of(134, 10032, "CREATE_ROLE"),
    of(135, 10032, "ALTER_ROLE"),
    of(136, 10032, "DROP_ROLE"),
    of(137, 10033, "CREATE_APPLICATION_ROLE"),
    of(138, 10033, "ALTER_APPLICATION_ROLE"),
    of(139, 10033, "DROP_APPLICATION_ROLE"),
    of(141, 10034, "CREATE_SCHEMA"),
    of(142, 10034, "ALTER_SCHEMA"),
    of(143, 10034, "DROP_SCHEMA"),
    of(144, 10006, "CREATE_LOGIN"),
    of(145, 10006, "ALTER_LOGIN"),
    of(146, 10006, "DROP_LOGIN"),
    of(151, 10042, "CREATE_MESSAGE_TYPE"),
    of(152, 10042, "ALTER_MESSAGE_TYPE"),
    of(153, 10042, "DROP_MESSAGE_TYPE"),
    of(154, 10043, "CREATE_CONTRACT"),
    of(156, 10043, "DROP_CONTRACT"),
    of(157, 10044, "CREATE_QUEUE"),
    of(158, 10044, "ALTER_QUEUE"),
    of(159, 10044, "DROP_QUEUE"),
    of(161, 10045, "CREATE_SERVICE"),
    of(162, 10045, "ALTER_SERVICE"),
    of(163, 10045, "DROP_SERVICE"),
    of(164, 10046, "CREATE_ROUTE"),
    of(165, 10046, "ALTER_ROUTE"),
    of(166, 10046, "DROP_ROUTE"),
    of(167, 10007, "GRANT_SERVER"),
    of(168, 10007, "DENY_SERVER"),
    of(169, 10007, "REVOKE_SERVER"),
    of(170, 10035, "GRANT_DATABASE"),
    of(171, 10035, "DENY_DATABASE"),
    of(172, 10035, "REVOKE_DATABASE"),
    of(174, 10047, "CREATE_REMOTE_SERVICE_BINDING"),
    of(175, 10047, "ALTER_REMOTE_SERVICE_BINDING"),
    of(176, 10047, "DROP_REMOTE_SERVICE_BINDING"),
    of(177, 10048, "CREATE_XML_SCHEMA_COLLECTION"),
    of(178, 10048, "ALTER_XML_SCHEMA_COLLECTION"),
    of(179, 10048, "DROP_XML_SCHEMA_COLLECTION"),
    of(181, 10003, "CREATE_ENDPOINT"),
    of(182, 10003, "ALTER_ENDPOINT"),
    of(183, 10003, "DROP_ENDPOINT"),
    of(191, 10050, "CREATE_PARTITION_FUNCTION"),
    of(192, 10050, "ALTER_PARTITION_FUNCTION"),
    of(193, 10050, "DROP_PARTITION_FUNCTION"),
    of(194, 10051, "CREATE_PARTITION_SCHEME"),
    of(195, 10051, "ALTER_PARTITION_SCHEME"),
    of(196, 10051, "DROP_PARTITION_SCHEME"),
    of(197, 10030, "CREATE_CERTIFICATE"),
    of(198, 10030, "ALTER_CERTIFICATE"),
    of(199, 10030, "DROP_CERTIFICATE"),
    of(201, 10004, "CREATE_DATABASE"),
    of(202, 10004, "ALTER_DATABASE"),
    of(203, 10004, "DROP_DATABASE"),
    of(204, 10008, "ALTER_AUTHORIZATION_SERVER"),
    of(205, 10036, "ALTER_AUTHORIZATION_DATABASE"),
    of(206, 10020, "CREATE_XML_INDEX"),
    of(207, 10032, "ADD_ROLE_MEMBER"),
    of(208, 10032, "DROP_ROLE_MEMBER"),
    of(209, 10005, "ADD_SERVER_ROLE_MEMBER"),
    of(210, 10005, "DROP_SERVER_ROLE_MEMBER"),
    of(211, 10053, "ALTER_EXTENDED_PROPERTY"),
    of(212, 10054, "ALTER_FULLTEXT_CATALOG"),
    of(213, 10020, "ALTER_FULLTEXT_INDEX"),
    of(214, 10002, "ALTER_INSTANCE"),
    of(215, 10014, "ALTER_MESSAGE"),
    of(216, 10055, "ALTER_PLAN_GUIDE"),
    of(217, 10015, "ALTER_REMOTE_SERVER"),
    of(218, 10052, "BIND_DEFAULT"),
    of(219, 10056, "BIND_RULE"),
    of(220, 10052, "CREATE_DEFAULT"),
    of(221, 10011, "CREATE_EXTENDED_PROCEDURE"),
    of(222, 10053, "CREATE_EXTENDED_PROPERTY"),
    of(223, 10054, "CREATE_FULLTEXT_CATALOG"),
    of(224, 10020, "CREATE_FULLTEXT_INDEX"),
    of(225, 10012, "CREATE_LINKED_SERVER"),
    of(226, 10013, "CREATE_LINKED_SERVER_LOGIN"),
    of(227, 10014, "CREATE_MESSAGE"),
    of(228, 10055, "CREATE_PLAN_GUIDE"),
    of(229, 10056, "CREATE_RULE"),
    of(230, 10015, "CREATE_REMOTE_SERVER"),
    of(231, 10052, "DROP_DEFAULT"),
    of(232, 10011, "DROP_EXTENDED_PROCEDURE"),
    of(233, 10053, "DROP_EXTENDED_PROPERTY"),
    of(234, 10054, "DROP_FULLTEXT_CATALOG"),
    of(235, 10020, "DROP_FULLTEXT_INDEX"),
    of(236, 10013, "DROP_LINKED_SERVER_LOGIN"),
    of(237, 10014, "DROP_MESSAGE"),
    of(238, 10055, "DROP_PLAN_GUIDE"),
    of(239, 10056, "DROP_RULE"),
    of(240, 10015, "DROP_REMOTE_SERVER"),
    of(241, 10016, "RENAME"),
    of(242, 10052, "UNBIND_DEFAULT"),
    of(243, 10056, "UNBIND_RULE"),
    of(244, 10037, "CREATE_SYMMETRIC_KEY"),
    of(245, 10037, "ALTER_SYMMETRIC_KEY"),
    of(246, 10037, "DROP_SYMMETRIC_KEY"),
    of(247, 10038, "CREATE_ASYMMETRIC_KEY"),
    of(248, 10038, "ALTER_ASYMMETRIC_KEY"),
    of(249, 10038, "DROP_ASYMMETRIC_KEY"),
    of(251, 10010, "ALTER_SERVICE_MASTER_KEY"),
    of(252, 10040, "CREATE_MASTER_KEY"),
    of(253, 10040, "ALTER_MASTER_KEY"),
    of(254, 10040, "DROP_MASTER_KEY"),
    of(255, 10039, "ADD_SIGNATURE_SCHEMA_OBJECT"),
    of(256, 10039, "DROP_SIGNATURE_SCHEMA_OBJECT"),
    of(257, 10039, "ADD_SIGNATURE"),
    of(258, 10039, "DROP_SIGNATURE"),
    of(259, 10009, "CREATE_CREDENTIAL"),
    of(260, 10009, "ALTER_CREDENTIAL"),
    of(261, 10009, "DROP_CREDENTIAL"),
    of(262, 10012, "DROP_LINKED_SERVER"),
    of(263, 10012, "ALTER_LINKED_SERVER"),
    of(264, 10057, "CREATE_EVENT_SESSION"),
    of(265, 10057, "ALTER_EVENT_SESSION"),
    of(266, 10057, "DROP_EVENT_SESSION"),
    of(267, 10059, "CREATE_RESOURCE_POOL"),
    of(268, 10059, "ALTER_RESOURCE_POOL"),
    of(269, 10059, "DROP_RESOURCE_POOL"),
    of(270, 10060, "CREATE_WORKLOAD_GROUP"),
    of(271, 10060, "ALTER_WORKLOAD_GROUP"),
    of(272, 10060, "DROP_WORKLOAD_GROUP"),
    of(273, 10058, "ALTER_RESOURCE_GOVERNOR_CONFIG"),
    of(274, 10020, "CREATE_SPATIAL_INDEX"),
    of(275, 10061, "CREATE_CRYPTOGRAPHIC_PROVIDER"),
    of(276, 10061, "ALTER_CRYPTOGRAPHIC_PROVIDER"),
    of(277, 10061, "DROP_CRYPTOGRAPHIC_PROVIDER"),
    of(278, 10062, "CREATE_DATABASE_ENCRYPTION_KEY"),
    of(279, 10062, "ALTER_DATABASE_ENCRYPTION_KEY"),
    of(280, 10062, "DROP_DATABASE_ENCRYPTION_KEY"),
    of(281, 10063, "CREATE_BROKER_PRIORITY"),
    of(282, 10063, "ALTER_BROKER_PRIORITY"),
    of(283, 10063, "DROP_BROKER_PRIORITY"),
    of(284, 10064, "CREATE_SERVER_AUDIT"),
    of(285, 10064, "ALTER_SERVER_AUDIT"),
    of(286, 10064, "DROP_SERVER_AUDIT"),
    of(287, 10065, "CREATE_SERVER_AUDIT_SPECIFICATION"),
    of(288, 10065, "ALTER_SERVER_AUDIT_SPECIFICATION"),
    of(289, 10065, "DROP_SERVER_AUDIT_SPECIFICATION"),
    of(290, 10066, "CREATE_DATABASE_AUDIT_SPECIFICATION"),
    of(291, 10066, "ALTER_DATABASE_AUDIT_SPECIFICATION"),
    of(292, 10066, "DROP_DATABASE_AUDIT_SPECIFICATION"),
    of(293, 10067, "CREATE_FULLTEXT_STOPLIST"),
    of(294, 10067, "ALTER_FULLTEXT_STOPLIST"),
    of(295, 10067, "DROP_FULLTEXT_STOPLIST"),
    of(296, 0, "ALTER_SERVER_CONFIGURATION"),
    of(297, 10069, "CREATE_SEARCH_PROPERTY_LIST"),
    of(298, 10069, "ALTER_SEARCH_PROPERTY_LIST"),
    of(299, 10069, "DROP_SEARCH_PROPERTY_LIST"),
    of(300, 10005, "CREATE_SERVER_ROLE"),
    of(301, 10005, "ALTER_SERVER_ROLE"),
    of(302, 10005, "DROP_SERVER_ROLE"),
    of(303, 10070, "CREATE_SEQUENCE"),
    of(304, 10070, "ALTER_SEQUENCE"),
    of(305, 10070, "DROP_SEQUENCE"),
    of(306, 10071, "CREATE_AVAILABILITY_GROUP"),
    of(307, 10071, "ALTER_AVAILABILITY_GROUP"),
    of(308, 10071, "DROP_AVAILABILITY_GROUP"),
    of(309, 10072, "CREATE_DATABASE_AUDIT"),
    of(310, 10072, "DROP_DATABASE_AUDIT"),
    of(311, 10072, "ALTER_DATABASE_AUDIT"),
    of(312, 10073, "CREATE_SECURITY_POLICY"),
    of(313, 10073, "ALTER_SECURITY_POLICY"),
    of(314, 10073, "DROP_SECURITY_POLICY"),
    of(315, 10074, "CREATE_COLUMN_MASTER_KEY"),
    of(316, 10074, "DROP_COLUMN_MASTER_KEY"),
    of(317, 10075, "CREATE_COLUMN_ENCRYPTION_KEY"),
    of(318, 10075, "ALTER_COLUMN_ENCRYPTION_KEY"),
    of(319, 10075, "DROP_COLUMN_ENCRYPTION_KEY"),
    of(320, 10016, "ALTER_DATABASE_SCOPED_CONFIGURATION"),
    of(321, 10076, "CREATE_EXTERNAL_RESOURCE_POOL"),
    of(322, 10076, "ALTER_EXTERNAL_RESOURCE_POOL"),
    of(323, 10076, "DROP_EXTERNAL_RESOURCE_POOL"),
    of(324, 10077, "CREATE_EXTERNAL_LIBRARY"),
    of(325, 10077, "ALTER_EXTERNAL_LIBRARY"),
    of(326, 10077, "DROP_EXTERNAL_LIBRARY"),
    of(327, 10078, "ADD_SENSITIVITY_CLASSIFICATION"),
    of(328, 10078, "DROP_SENSITIVITY_CLASSIFICATION"),
    of(329, 10079, "CREATE_EXTERNAL_LANGUAGE"),
    of(330, 10079, "ALTER_EXTERNAL_LANGUAGE"),
    of(331, 10079, "DROP_EXTERNAL_LANGUAGE"),
    of(10001, 0, "DDL_EVENTS"),
    of(10002, 10001, "DDL_SERVER_LEVEL_EVENTS"),
    of(10003, 10002, "DDL_ENDPOINT_EVENTS"),
    of(10004, 10002, "DDL_DATABASE_EVENTS"),
    of(10005, 10002, "DDL_SERVER_SECURITY_EVENTS"),
    of(10006, 10005, "DDL_LOGIN_EVENTS"),
    of(10007, 10005, "DDL_GDR_SERVER_EVENTS"),
    of(10008, 10005, "DDL_AUTHORIZATION_SERVER_EVENTS"),
    of(10009, 10005, "DDL_CREDENTIAL_EVENTS"),
    of(10010, 10005, "DDL_SERVICE_MASTER_KEY_EVENTS"),
    of(10011, 10002, "DDL_EXTENDED_PROCEDURE_EVENTS"),
    of(10012, 10002, "DDL_LINKED_SERVER_EVENTS"),
    of(10013, 10012, "DDL_LINKED_SERVER_LOGIN_EVENTS"),
    of(10014, 10002, "DDL_MESSAGE_EVENTS"),
    of(10015, 10002, "DDL_REMOTE_SERVER_EVENTS"),
    of(10016, 10001, "DDL_DATABASE_LEVEL_EVENTS"),
    of(10017, 10016, "DDL_TABLE_VIEW_EVENTS"),
    of(10018, 10017, "DDL_TABLE_EVENTS"),
    of(10019, 10017, "DDL_VIEW_EVENTS"),
    of(10020, 10017, "DDL_INDEX_EVENTS"),
    of(10021, 10017, "DDL_STATISTICS_EVENTS"),
    of(10022, 10016, "DDL_SYNONYM_EVENTS"),
    of(10023, 10016, "DDL_FUNCTION_EVENTS"),
    of(10024, 10016, "DDL_PROCEDURE_EVENTS"),
    of(10025, 10016, "DDL_TRIGGER_EVENTS"),
    of(10026, 10016, "DDL_EVENT_NOTIFICATION_EVENTS"),
    of(10027, 10016, "DDL_ASSEMBLY_EVENTS"),
    of(10028, 10016, "DDL_TYPE_EVENTS"),
    of(10029, 10016, "DDL_DATABASE_SECURITY_EVENTS"),
    of(10030, 10029, "DDL_CERTIFICATE_EVENTS"),
    of(10031, 10029, "DDL_USER_EVENTS"),
    of(10032, 10029, "DDL_ROLE_EVENTS"),
    of(10033, 10029, "DDL_APPLICATION_ROLE_EVENTS"),
    of(10034, 10029, "DDL_SCHEMA_EVENTS"),
    of(10035, 10029, "DDL_GDR_DATABASE_EVENTS"),
    of(10036, 10029, "DDL_AUTHORIZATION_DATABASE_EVENTS"),
    of(10037, 10029, "DDL_SYMMETRIC_KEY_EVENTS"),
    of(10038, 10029, "DDL_ASYMMETRIC_KEY_EVENTS"),
    of(10039, 10029, "DDL_CRYPTO_SIGNATURE_EVENTS"),
    of(10040, 10029, "DDL_MASTER_KEY_EVENTS"),
    of(10041, 10016, "DDL_SSB_EVENTS"),
    of(10042, 10041, "DDL_MESSAGE_TYPE_EVENTS"),
    of(10043, 10041, "DDL_CONTRACT_EVENTS"),
    of(10044, 10041, "DDL_QUEUE_EVENTS"),
    of(10045, 10041, "DDL_SERVICE_EVENTS"),
    of(10046, 10041, "DDL_ROUTE_EVENTS"),
    of(10047, 10041, "DDL_REMOTE_SERVICE_BINDING_EVENTS"),
    of(10048, 10016, "DDL_XML_SCHEMA_COLLECTION_EVENTS"),
    of(10049, 10016, "DDL_PARTITION_EVENTS"),
    of(10050, 10049, "DDL_PARTITION_FUNCTION_EVENTS"),
    of(10051, 10049, "DDL_PARTITION_SCHEME_EVENTS"),
    of(10052, 10016, "DDL_DEFAULT_EVENTS"),
    of(10053, 10016, "DDL_EXTENDED_PROPERTY_EVENTS"),
    of(10054, 10016, "DDL_FULLTEXT_CATALOG_EVENTS"),
    of(10055, 10016, "DDL_PLAN_GUIDE_EVENTS"),
    of(10056, 10016, "DDL_RULE_EVENTS"),
    of(10057, 10002, "DDL_EVENT_SESSION_EVENTS"),
    of(10058, 10002, "DDL_RESOURCE_GOVERNOR_EVENTS"),
    of(10059, 10058, "DDL_RESOURCE_POOL"),
    of(10060, 10058, "DDL_WORKLOAD_GROUP"),
    of(10061, 10005, "DDL_CRYPTOGRAPHIC_PROVIDER_EVENTS"),
    of(10062, 10029, "DDL_DATABASE_ENCRYPTION_KEY_EVENTS"),
    of(10063, 10041, "DDL_BROKER_PRIORITY_EVENTS"),
    of(10064, 10005, "DDL_SERVER_AUDIT_EVENTS"),
    of(10065, 10005, "DDL_SERVER_AUDIT_SPECIFICATION_EVENTS"),
    of(10066, 10029, "DDL_DATABASE_AUDIT_SPECIFICATION_EVENTS"),
    of(10067, 10016, "DDL_FULLTEXT_STOPLIST_EVENTS"),
    of(10069, 10016, "DDL_SEARCH_PROPERTY_LIST_EVENTS"),
    of(10070, 10016, "DDL_SEQUENCE_EVENTS"),
    of(10071, 10002, "DDL_AVAILABILITY_GROUP_EVENTS"),
    of(10072, 10029, "DDL_DATABASE_AUDIT_EVENTS"),
    of(10073, 10016, "DDL_SECURITY_POLICY_EVENTS"),
    of(10074, 10016, "DDL_COLUMN_MASTER_KEY_EVENTS"),
    of(10075, 10016, "DDL_COLUMN_ENCRYPTION_KEY_EVENTS"),
    of(10076, 10058, "DDL_EXTERNAL_RESOURCE_POOL_EVENTS"),
    of(10077, 10016, "DDL_LIBRARY_EVENTS"),
    of(10078, 10016, "DDL_SENSITIVITY_EVENTS"),
    of(10079, 10016, "DDL_EXTERNAL_LANGUAGE_EVENTS"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_hold_together() {
        assert!(DDL_EVENTS.windows(2).all(|pair| pair[0].number < pair[1].number));
        for event in DDL_EVENTS {
            assert!(event.parent == 0 || DdlEvent::by_number(event.parent).unwrap().is_group());
            assert_eq!(DdlEvent::by_name(&event.name.to_lowercase()), Some(event));
            assert!(!event.is_group() || event.events().next().is_some(), "{}", event.name);
        }
        let tables = DdlEvent::by_name("DDL_TABLE_VIEW_EVENTS").unwrap();
        let table = DdlEvent::by_name("CREATE_TABLE").unwrap();
        assert!(tables.covers(table) && !table.covers(tables));
        assert!(table.is_of_database() && !LOGON.is_of_database());
        assert!(!DdlEvent::by_name("CREATE_LOGIN").unwrap().is_of_database());
        let names: Vec<&str> = DdlEvent::by_name("ddl_table_events")
            .unwrap()
            .events()
            .map(|event| event.name)
            .collect();
        assert_eq!(names, ["CREATE_TABLE", "ALTER_TABLE", "DROP_TABLE"]);
    }
}
