//! The languages of collations: their names' first part, code pages, locale ids, and whose order they follow.
//!
//! Promise: a family's place in [`FAMILIES`] is part of what databases keep; new ones go to the end. Sources: SQL
//! documentation, "Windows collation name", "Collation Settings in Setup" (locales, code pages), "COLLATIONPROPERTY";
//! locale ids and versions also from SqlClient's list. What these do not say (some sorts' locale ids, that Maltese_100
//! and Maori_100 have no code page, whose scripts come after the Latin one) was not held against a server. Those without a
//! code page are for nchar, nvarchar and UTF-8 only.

use super::pages::CodePage::{self, *};

/// The collations whose names begin alike.
#[derive(Debug, PartialEq)]
pub(crate) struct Family {
    /// Up to the comparison style, without the last underscore.
    pub name: &'static str,
    /// As fn_helpcollations begins its description.
    pub title: Title,
    /// CLDR's locale whose order it is. Root (`und`) also where a locale does no more than put its script first: Windows
    /// has one order of scripts, the Latin one first.
    pub order: &'static str,
    pub page: CodePage,
    /// The locale id, with the number of its sort above 16 bits.
    pub locale: u32,
    pub kind: Kind,
}

/// Where the description comes from.
#[derive(Debug, PartialEq)]
pub(crate) enum Title {
    /// The name with hyphens.
    Name,
    /// Another.
    As(&'static str),
}

/// Which names there are of a family.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// Of SQL Server 2000: CI / CS, AI / AS, KS, WS; BIN, BIN2.
    V80,
    /// Of 2005: also SC, and UTF8 with it.
    V90,
    /// Of 2008, likewise.
    V100,
    /// Of 2017: supplementary characters always; VSS, UTF8.
    V140,
    /// An old one of SQL Server, by its sort ids (0 for none): CS_AS, CI_AS, CI_AI.
    Sql(u8, u8, u8),
}

const fn windows(
    name: &'static str,
    order: &'static str,
    page: CodePage,
    locale: u32,
    kind: Kind,
) -> Family {
    Family { name, title: Title::Name, order, page, locale, kind }
}

const fn sql(
    name: &'static str,
    title: &'static str,
    order: &'static str,
    page: CodePage,
    locale: u32,
    ids: (u8, u8, u8),
) -> Family {
    Family {
        name,
        title: Title::As(title),
        order,
        page,
        locale,
        kind: Kind::Sql(ids.0, ids.1, ids.2),
    }
}

use Kind::{V80, V90, V100, V140};

/// All but Latin1_General, Latin1_General_100 and SQL_Latin1_General_CP1, which have an order of their own.
pub(crate) static FAMILIES: &[Family] = &[
    windows("Albanian", "sq", Cp1250, 0x041C, V80),
    windows("Arabic", "und", Cp1256, 0x0401, V80),
    windows("Chinese_PRC", "zh", Cp936, 0x0804, V80),
    windows("Chinese_PRC_Stroke", "zh-u-co-stroke", Cp936, 0x2_0804, V80),
    windows("Chinese_Taiwan_Bopomofo", "zh-u-co-zhuyin", Cp950, 0x3_0404, V80),
    windows("Chinese_Taiwan_Stroke", "zh-u-co-stroke", Cp950, 0x0404, V80),
    windows("Croatian", "hr", Cp1250, 0x041A, V80),
    windows("Cyrillic_General", "und", Cp1251, 0x0419, V80),
    windows("Czech", "cs", Cp1250, 0x0405, V80),
    windows("Danish_Norwegian", "da", Cp1252, 0x0406, V80),
    windows("Estonian", "et", Cp1257, 0x0425, V80),
    windows("Finnish_Swedish", "sv", Cp1252, 0x040B, V80),
    windows("French", "fr", Cp1252, 0x040C, V80),
    windows("Georgian_Modern_Sort", "und", Cp1252, 0x1_0437, V80),
    windows("German_PhoneBook", "de-u-co-phonebk", Cp1252, 0x1_0407, V80),
    windows("Greek", "und", Cp1253, 0x0408, V80),
    windows("Hebrew", "und", Cp1255, 0x040D, V80),
    windows("Hungarian", "hu", Cp1250, 0x040E, V80),
    windows("Hungarian_Technical", "und", Cp1250, 0x1_040E, V80),
    windows("Icelandic", "is", Cp1252, 0x040F, V80),
    windows("Japanese", "ja", Cp932, 0x0411, V80),
    windows("Japanese_Unicode", "und", Cp932, 0x1_0411, V80),
    windows("Korean_Wansung", "ko", Cp949, 0x0412, V80),
    windows("Latvian", "lv", Cp1257, 0x0426, V80),
    windows("Lithuanian", "lt", Cp1257, 0x0427, V80),
    windows("Modern_Spanish", "es", Cp1252, 0x0C0A, V80),
    windows("Polish", "pl", Cp1250, 0x0415, V80),
    windows("Romanian", "ro", Cp1250, 0x0418, V80),
    windows("Slovak", "sk", Cp1250, 0x041B, V80),
    windows("Slovenian", "sl", Cp1250, 0x0424, V80),
    windows("Thai", "th", Cp874, 0x041E, V80),
    windows("Traditional_Spanish", "es-u-co-trad", Cp1252, 0x040A, V80),
    windows("Turkish", "tr", Cp1254, 0x041F, V80),
    windows("Ukrainian", "uk", Cp1251, 0x0422, V80),
    windows("Vietnamese", "vi", Cp1258, 0x042A, V80),
    windows("Chinese_Hong_Kong_Stroke_90", "zh-u-co-stroke", Cp950, 0x0C04, V90),
    windows("Chinese_PRC_90", "zh", Cp936, 0x0804, V90),
    windows("Chinese_PRC_Stroke_90", "zh-u-co-stroke", Cp936, 0x2_0804, V90),
    windows("Chinese_Taiwan_Bopomofo_90", "zh-u-co-zhuyin", Cp950, 0x3_0404, V90),
    windows("Chinese_Taiwan_Stroke_90", "zh-u-co-stroke", Cp950, 0x0404, V90),
    windows("Divehi_90", "dv", Absent, 0x0465, V90),
    windows("Indic_General_90", "und", Absent, 0x0439, V90),
    windows("Japanese_90", "ja", Cp932, 0x0411, V90),
    windows("Kazakh_90", "kk", Cp1251, 0x043F, V90),
    windows("Korean_90", "ko", Cp949, 0x0412, V90),
    windows("Macedonian_FYROM_90", "mk", Cp1251, 0x042F, V90),
    windows("Syriac_90", "syr", Absent, 0x045A, V90),
    windows("Tatar_90", "tt", Cp1251, 0x0444, V90),
    windows("Uzbek_Latin_90", "uz", Cp1254, 0x0443, V90),
    windows("Albanian_100", "sq", Cp1250, 0x041C, V100),
    windows("Arabic_100", "und", Cp1256, 0x0401, V100),
    windows("Assamese_100", "as", Absent, 0x044D, V100),
    windows("Azeri_Cyrillic_100", "az-Cyrl", Cp1251, 0x082C, V100),
    windows("Azeri_Latin_100", "az", Cp1254, 0x042C, V100),
    windows("Bashkir_100", "ba", Cp1251, 0x046D, V100),
    windows("Bengali_100", "bn", Absent, 0x0445, V100),
    windows("Bosnian_Cyrillic_100", "bs-Cyrl", Cp1251, 0x201A, V100),
    windows("Bosnian_Latin_100", "bs", Cp1250, 0x141A, V100),
    windows("Breton_100", "br", Cp1252, 0x047E, V100),
    windows("Chinese_Simplified_Pinyin_100", "zh", Cp936, 0x0804, V100),
    windows("Chinese_Simplified_Stroke_Order_100", "zh-u-co-stroke", Cp936, 0x2_0804, V100),
    windows("Chinese_Traditional_Bopomofo_100", "zh-u-co-zhuyin", Cp950, 0x3_0404, V100),
    windows("Chinese_Traditional_Pinyin_100", "zh", Cp950, 0x1404, V100),
    windows("Chinese_Traditional_Stroke_Count_100", "zh-u-co-stroke", Cp950, 0x0404, V100),
    windows("Chinese_Traditional_Stroke_Order_100", "zh-u-co-stroke", Cp950, 0x2_1404, V100),
    windows("Corsican_100", "co", Cp1252, 0x0483, V100),
    windows("Croatian_100", "hr", Cp1250, 0x041A, V100),
    windows("Cyrillic_General_100", "und", Cp1251, 0x0419, V100),
    windows("Czech_100", "cs", Cp1250, 0x0405, V100),
    windows("Danish_Greenlandic_100", "da", Cp1252, 0x0406, V100),
    windows("Dari_100", "fa-AF", Cp1256, 0x048C, V100),
    windows("Divehi_100", "dv", Absent, 0x0465, V100),
    windows("Estonian_100", "et", Cp1257, 0x0425, V100),
    windows("Finnish_Swedish_100", "sv", Cp1252, 0x040B, V100),
    windows("French_100", "fr", Cp1252, 0x040C, V100),
    windows("Frisian_100", "fy", Cp1252, 0x0462, V100),
    windows("Georgian_Modern_Sort_100", "und", Cp1252, 0x1_0437, V100),
    windows("German_PhoneBook_100", "de-u-co-phonebk", Cp1252, 0x1_0407, V100),
    windows("Greek_100", "und", Cp1253, 0x0408, V100),
    windows("Hebrew_100", "und", Cp1255, 0x040D, V100),
    windows("Hungarian_100", "hu", Cp1250, 0x040E, V100),
    windows("Hungarian_Technical_100", "und", Cp1250, 0x1_040E, V100),
    windows("Icelandic_100", "is", Cp1252, 0x040F, V100),
    windows("Indic_General_100", "und", Absent, 0x0439, V100),
    windows("Japanese_Bushu_Kakusu_100", "ja-u-co-unihan", Cp932, 0x4_0411, V100),
    windows("Japanese_XJIS_100", "ja", Cp932, 0x0411, V100),
    windows("Kazakh_100", "kk", Cp1251, 0x043F, V100),
    windows("Khmer_100", "km", Absent, 0x0453, V100),
    windows("Korean_100", "ko", Cp949, 0x0412, V100),
    windows("Lao_100", "lo", Absent, 0x0454, V100),
    windows("Latvian_100", "lv", Cp1257, 0x0426, V100),
    windows("Lithuanian_100", "lt", Cp1257, 0x0427, V100),
    windows("Macedonian_FYROM_100", "mk", Cp1251, 0x042F, V100),
    windows("Maltese_100", "mt", Absent, 0x043A, V100),
    windows("Maori_100", "mi", Absent, 0x0481, V100),
    windows("Mapudungan_100", "arn", Cp1252, 0x047A, V100),
    windows("Modern_Spanish_100", "es", Cp1252, 0x0C0A, V100),
    windows("Mohawk_100", "moh", Cp1252, 0x047C, V100),
    windows("Nepali_100", "ne", Absent, 0x0461, V100),
    windows("Norwegian_100", "no", Cp1252, 0x0414, V100),
    windows("Pashto_100", "ps", Absent, 0x0463, V100),
    windows("Persian_100", "fa", Cp1256, 0x0429, V100),
    windows("Polish_100", "pl", Cp1250, 0x0415, V100),
    windows("Romanian_100", "ro", Cp1250, 0x0418, V100),
    windows("Romansh_100", "rm", Cp1252, 0x0417, V100),
    windows("Sami_Norway_100", "se", Cp1252, 0x043B, V100),
    windows("Sami_Sweden_Finland_100", "se", Cp1252, 0x083B, V100),
    windows("Serbian_Cyrillic_100", "sr", Cp1251, 0x0C1A, V100),
    windows("Serbian_Latin_100", "sr-Latn", Cp1250, 0x081A, V100),
    windows("Slovak_100", "sk", Cp1250, 0x041B, V100),
    windows("Slovenian_100", "sl", Cp1250, 0x0424, V100),
    windows("Syriac_100", "syr", Absent, 0x045A, V100),
    windows("Tamazight_100", "tzm", Cp1252, 0x085F, V100),
    windows("Tatar_100", "tt", Cp1251, 0x0444, V100),
    windows("Thai_100", "th", Cp874, 0x041E, V100),
    windows("Tibetan_100", "bo", Absent, 0x0451, V100),
    windows("Traditional_Spanish_100", "es-u-co-trad", Cp1252, 0x040A, V100),
    windows("Turkish_100", "tr", Cp1254, 0x041F, V100),
    windows("Turkmen_100", "tk", Cp1250, 0x0442, V100),
    windows("Uighur_100", "ug", Cp1256, 0x0480, V100),
    windows("Ukrainian_100", "uk", Cp1251, 0x0422, V100),
    windows("Upper_Sorbian_100", "hsb", Cp1252, 0x042E, V100),
    windows("Urdu_100", "ur", Cp1256, 0x0420, V100),
    windows("Uzbek_Latin_100", "uz", Cp1254, 0x0443, V100),
    windows("Vietnamese_100", "vi", Cp1258, 0x042A, V100),
    windows("Welsh_100", "cy", Cp1252, 0x0452, V100),
    windows("Yakut_100", "sah", Cp1251, 0x0485, V100),
    windows("Japanese_Bushu_Kakusu_140", "ja-u-co-unihan", Cp932, 0x4_0411, V140),
    windows("Japanese_XJIS_140", "ja", Cp932, 0x0411, V140),
    sql("SQL_Latin1_General_CP1250", "Latin1-General", "und", Cp1250, 0x0409, (81, 82, 0)),
    sql("SQL_Czech_CP1250", "Czech", "cs", Cp1250, 0x0405, (83, 84, 0)),
    sql("SQL_Hungarian_CP1250", "Hungarian", "hu", Cp1250, 0x040E, (85, 86, 0)),
    sql("SQL_Polish_CP1250", "Polish", "pl", Cp1250, 0x0415, (87, 88, 0)),
    sql("SQL_Romanian_CP1250", "Romanian", "ro", Cp1250, 0x0418, (89, 90, 0)),
    sql("SQL_Croatian_CP1250", "Croatian", "hr", Cp1250, 0x041A, (91, 92, 0)),
    sql("SQL_Slovak_CP1250", "Slovak", "sk", Cp1250, 0x041B, (93, 94, 0)),
    sql("SQL_Slovenian_CP1250", "Slovenian", "sl", Cp1250, 0x0424, (95, 96, 0)),
    sql("SQL_Latin1_General_CP1251", "Latin1-General", "und", Cp1251, 0x0409, (105, 106, 0)),
    sql("SQL_Ukrainian_CP1251", "Ukrainian", "uk", Cp1251, 0x0422, (107, 108, 0)),
    sql("SQL_Latin1_General_CP1253", "Latin1-General", "und", Cp1253, 0x0409, (113, 114, 124)),
    sql("SQL_Latin1_General_CP1254", "Latin1-General", "und", Cp1254, 0x0409, (129, 130, 0)),
    sql("SQL_Latin1_General_CP1255", "Latin1-General", "und", Cp1255, 0x0409, (137, 138, 0)),
    sql("SQL_Latin1_General_CP1256", "Latin1-General", "und", Cp1256, 0x0409, (145, 146, 0)),
    sql("SQL_Latin1_General_CP1257", "Latin1-General", "und", Cp1257, 0x0409, (153, 154, 0)),
    sql("SQL_Estonian_CP1257", "Estonian", "et", Cp1257, 0x0425, (155, 156, 0)),
    sql("SQL_Latvian_CP1257", "Latvian", "lv", Cp1257, 0x0426, (157, 158, 0)),
    sql("SQL_Lithuanian_CP1257", "Lithuanian", "lt", Cp1257, 0x0427, (159, 160, 0)),
    sql("SQL_Danish_Pref_CP1", "Danish-Norwegian", "da", Cp1252, 0x0406, (0, 183, 0)),
    sql("SQL_SwedishPhone_Pref_CP1", "Finnish-Swedish", "sv", Cp1252, 0x040B, (0, 184, 0)),
    sql("SQL_SwedishStd_Pref_CP1", "Finnish-Swedish", "sv", Cp1252, 0x040B, (0, 185, 0)),
    sql("SQL_Icelandic_Pref_CP1", "Icelandic", "is", Cp1252, 0x040F, (0, 186, 0)),
    sql("SQL_Latin1_General_Pref_CP1", "Latin1-General", "und", Cp1252, 0x0409, (0, 53, 0)),
];
