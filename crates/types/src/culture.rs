//! Cultures: how a language writes numbers, dates and money, for FORMAT, PARSE and TRY_PARSE.
//!
//! A culture that is not in the table is 9818 above, as an unknown one in SQL Server. The facts are those of the Unicode
//! CLDR and of .NET's CultureInfo.

use crate::datetime::{MONTHS, WEEKDAYS};

/// How a language and country write things.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Culture {
    /// `en-US`.
    pub name: &'static str,
    /// Decimal and thousands separators.
    pub decimal: &'static str,
    pub group: &'static str,
    /// Currency sign, and where it stands: `$n` is before, `n $` behind.
    pub currency: &'static str,
    pub currency_pattern: &'static str,
    pub currency_negative: &'static str,
    pub currency_digits: usize,
    /// `n %`, `n%`.
    pub percent_pattern: &'static str,
    /// Patterns of `d`, `D`, `t`, `T`.
    pub short_date: &'static str,
    pub long_date: &'static str,
    pub short_time: &'static str,
    pub long_time: &'static str,
    /// Pattern of `M` (month and day) and `Y` (year and month).
    pub month_day: &'static str,
    pub year_month: &'static str,
    pub months: [&'static str; 12],
    pub short_months: [&'static str; 12],
    /// From Sunday.
    pub days: [&'static str; 7],
    pub short_days: [&'static str; 7],
    pub am_pm: [&'static str; 2],
    /// The separator that `/` in a pattern stands for.
    pub date_separator: &'static str,
}

const ENGLISH_SHORT_MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const ENGLISH_SHORT_DAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

const EN_US: Culture = Culture {
    name: "en-US",
    decimal: ".",
    group: ",",
    currency: "$",
    currency_pattern: "$n",
    currency_negative: "($n)",
    currency_digits: 2,
    percent_pattern: "n%",
    short_date: "M/d/yyyy",
    long_date: "dddd, MMMM d, yyyy",
    short_time: "h:mm tt",
    long_time: "h:mm:ss tt",
    month_day: "MMMM d",
    year_month: "MMMM yyyy",
    months: MONTHS,
    short_months: ENGLISH_SHORT_MONTHS,
    days: WEEKDAYS,
    short_days: ENGLISH_SHORT_DAYS,
    am_pm: ["AM", "PM"],
    date_separator: "/",
};

const DE_DE: Culture = Culture {
    name: "de-DE",
    decimal: ",",
    group: ".",
    currency: "€",
    currency_pattern: "n $",
    currency_negative: "-n $",
    percent_pattern: "n %",
    short_date: "dd.MM.yyyy",
    long_date: "dddd, d. MMMM yyyy",
    short_time: "HH:mm",
    long_time: "HH:mm:ss",
    month_day: "d. MMMM",
    months: [
        "Januar",
        "Februar",
        "März",
        "April",
        "Mai",
        "Juni",
        "Juli",
        "August",
        "September",
        "Oktober",
        "November",
        "Dezember",
    ],
    short_months: [
        "Jan", "Feb", "Mrz", "Apr", "Mai", "Jun", "Jul", "Aug", "Sep", "Okt", "Nov", "Dez",
    ],
    days: ["Sonntag", "Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag"],
    short_days: ["So", "Mo", "Di", "Mi", "Do", "Fr", "Sa"],
    am_pm: ["", ""],
    date_separator: ".",
    ..EN_US
};

const FR_FR: Culture = Culture {
    name: "fr-FR",
    decimal: ",",
    group: "\u{a0}",
    currency: "€",
    currency_pattern: "n $",
    currency_negative: "-n $",
    percent_pattern: "n %",
    short_date: "dd/MM/yyyy",
    long_date: "dddd d MMMM yyyy",
    short_time: "HH:mm",
    long_time: "HH:mm:ss",
    month_day: "d MMMM",
    months: [
        "janvier",
        "février",
        "mars",
        "avril",
        "mai",
        "juin",
        "juillet",
        "août",
        "septembre",
        "octobre",
        "novembre",
        "décembre",
    ],
    short_months: [
        "janv.", "févr.", "mars", "avr.", "mai", "juin", "juil.", "août", "sept.", "oct.", "nov.",
        "déc.",
    ],
    days: ["dimanche", "lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi"],
    short_days: ["dim.", "lun.", "mar.", "mer.", "jeu.", "ven.", "sam."],
    am_pm: ["", ""],
    date_separator: "/",
    ..EN_US
};

const ES_ES: Culture = Culture {
    name: "es-ES",
    decimal: ",",
    group: ".",
    currency: "€",
    currency_pattern: "n $",
    currency_negative: "-n $",
    percent_pattern: "n %",
    short_date: "dd/MM/yyyy",
    long_date: "dddd, d' de 'MMMM' de 'yyyy",
    short_time: "H:mm",
    long_time: "H:mm:ss",
    month_day: "d' de 'MMMM",
    year_month: "MMMM' de 'yyyy",
    months: [
        "enero",
        "febrero",
        "marzo",
        "abril",
        "mayo",
        "junio",
        "julio",
        "agosto",
        "septiembre",
        "octubre",
        "noviembre",
        "diciembre",
    ],
    short_months: [
        "ene.", "feb.", "mar.", "abr.", "may.", "jun.", "jul.", "ago.", "sep.", "oct.", "nov.",
        "dic.",
    ],
    days: ["domingo", "lunes", "martes", "miércoles", "jueves", "viernes", "sábado"],
    short_days: ["do.", "lu.", "ma.", "mi.", "ju.", "vi.", "sá."],
    am_pm: ["", ""],
    date_separator: "/",
    ..EN_US
};

const IT_IT: Culture = Culture {
    name: "it-IT",
    decimal: ",",
    group: ".",
    currency: "€",
    currency_pattern: "n $",
    currency_negative: "-n $",
    percent_pattern: "n%",
    short_date: "dd/MM/yyyy",
    long_date: "dddd d MMMM yyyy",
    short_time: "HH:mm",
    long_time: "HH:mm:ss",
    month_day: "d MMMM",
    months: [
        "gennaio",
        "febbraio",
        "marzo",
        "aprile",
        "maggio",
        "giugno",
        "luglio",
        "agosto",
        "settembre",
        "ottobre",
        "novembre",
        "dicembre",
    ],
    short_months: [
        "gen", "feb", "mar", "apr", "mag", "giu", "lug", "ago", "set", "ott", "nov", "dic",
    ],
    days: ["domenica", "lunedì", "martedì", "mercoledì", "giovedì", "venerdì", "sabato"],
    short_days: ["dom", "lun", "mar", "mer", "gio", "ven", "sab"],
    am_pm: ["", ""],
    date_separator: "/",
    ..EN_US
};

const CULTURES: &[Culture] = &[
    EN_US,
    Culture {
        name: "",
        currency: "¤",
        percent_pattern: "n %",
        short_date: "MM/dd/yyyy",
        long_date: "dddd, dd MMMM yyyy",
        short_time: "HH:mm",
        long_time: "HH:mm:ss",
        month_day: "MMMM dd",
        year_month: "yyyy MMMM",
        ..EN_US
    },
    Culture {
        name: "en-GB",
        currency: "£",
        currency_negative: "-$n",
        short_date: "dd/MM/yyyy",
        long_date: "dd MMMM yyyy",
        short_time: "HH:mm",
        long_time: "HH:mm:ss",
        month_day: "d MMMM",
        ..EN_US
    },
    Culture {
        name: "en-CA",
        currency_negative: "-$n",
        short_date: "yyyy-MM-dd",
        long_date: "MMMM d, yyyy",
        date_separator: "-",
        ..EN_US
    },
    Culture {
        name: "en-AU",
        currency_negative: "-$n",
        short_date: "d/MM/yyyy",
        long_date: "dddd, d MMMM yyyy",
        month_day: "d MMMM",
        ..EN_US
    },
    Culture {
        name: "en-IN",
        currency: "₹",
        short_date: "dd-MM-yyyy",
        long_date: "dd MMMM yyyy",
        short_time: "HH:mm",
        long_time: "HH:mm:ss",
        date_separator: "-",
        ..EN_US
    },
    DE_DE,
    Culture { name: "de-AT", currency_pattern: "$ n", currency_negative: "-$ n", ..DE_DE },
    Culture {
        name: "de-CH",
        decimal: ".",
        group: "’",
        currency: "CHF",
        currency_pattern: "$ n",
        currency_negative: "$-n",
        percent_pattern: "n%",
        ..DE_DE
    },
    FR_FR,
    Culture {
        name: "fr-CA",
        currency: "$",
        currency_negative: "(n $)",
        short_date: "yyyy-MM-dd",
        long_date: "d MMMM yyyy",
        date_separator: "-",
        ..FR_FR
    },
    ES_ES,
    Culture {
        name: "es-MX",
        decimal: ".",
        group: ",",
        currency: "$",
        currency_pattern: "$n",
        currency_negative: "-$n",
        percent_pattern: "n%",
        ..ES_ES
    },
    IT_IT,
    Culture {
        name: "nl-NL",
        decimal: ",",
        group: ".",
        currency: "€",
        currency_pattern: "$ n",
        currency_negative: "$ -n",
        percent_pattern: "n%",
        short_date: "d-M-yyyy",
        long_date: "dddd d MMMM yyyy",
        short_time: "HH:mm",
        long_time: "HH:mm:ss",
        month_day: "d MMMM",
        months: [
            "januari",
            "februari",
            "maart",
            "april",
            "mei",
            "juni",
            "juli",
            "augustus",
            "september",
            "oktober",
            "november",
            "december",
        ],
        short_months: [
            "jan", "feb", "mrt", "apr", "mei", "jun", "jul", "aug", "sep", "okt", "nov", "dec",
        ],
        days: ["zondag", "maandag", "dinsdag", "woensdag", "donderdag", "vrijdag", "zaterdag"],
        short_days: ["zo", "ma", "di", "wo", "do", "vr", "za"],
        am_pm: ["", ""],
        date_separator: "-",
        ..EN_US
    },
    Culture {
        name: "pt-BR",
        decimal: ",",
        group: ".",
        currency: "R$",
        currency_pattern: "$ n",
        currency_negative: "-$ n",
        short_date: "dd/MM/yyyy",
        long_date: "dddd, d' de 'MMMM' de 'yyyy",
        short_time: "HH:mm",
        long_time: "HH:mm:ss",
        month_day: "d' de 'MMMM",
        year_month: "MMMM' de 'yyyy",
        months: [
            "janeiro",
            "fevereiro",
            "março",
            "abril",
            "maio",
            "junho",
            "julho",
            "agosto",
            "setembro",
            "outubro",
            "novembro",
            "dezembro",
        ],
        short_months: [
            "jan", "fev", "mar", "abr", "mai", "jun", "jul", "ago", "set", "out", "nov", "dez",
        ],
        days: [
            "domingo",
            "segunda-feira",
            "terça-feira",
            "quarta-feira",
            "quinta-feira",
            "sexta-feira",
            "sábado",
        ],
        short_days: ["dom", "seg", "ter", "qua", "qui", "sex", "sáb"],
        am_pm: ["", ""],
        ..EN_US
    },
    Culture {
        name: "ja-JP",
        currency: "¥",
        currency_negative: "-$n",
        currency_digits: 0,
        short_date: "yyyy/MM/dd",
        long_date: "yyyy'年'M'月'd'日'",
        short_time: "H:mm",
        long_time: "H:mm:ss",
        month_day: "M'月'd'日'",
        year_month: "yyyy'年'M'月'",
        months: [
            "1月", "2月", "3月", "4月", "5月", "6月", "7月", "8月", "9月", "10月", "11月", "12月",
        ],
        short_months: ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"],
        days: ["日曜日", "月曜日", "火曜日", "水曜日", "木曜日", "金曜日", "土曜日"],
        short_days: ["日", "月", "火", "水", "木", "金", "土"],
        am_pm: ["午前", "午後"],
        ..EN_US
    },
    Culture {
        name: "zh-CN",
        currency: "¥",
        currency_negative: "$-n",
        short_date: "yyyy/M/d",
        long_date: "yyyy'年'M'月'd'日'",
        short_time: "H:mm",
        long_time: "H:mm:ss",
        month_day: "M'月'd'日'",
        year_month: "yyyy'年'M'月'",
        months: [
            "一月",
            "二月",
            "三月",
            "四月",
            "五月",
            "六月",
            "七月",
            "八月",
            "九月",
            "十月",
            "十一月",
            "十二月",
        ],
        short_months: [
            "1月", "2月", "3月", "4月", "5月", "6月", "7月", "8月", "9月", "10月", "11月", "12月",
        ],
        days: ["星期日", "星期一", "星期二", "星期三", "星期四", "星期五", "星期六"],
        short_days: ["周日", "周一", "周二", "周三", "周四", "周五", "周六"],
        am_pm: ["上午", "下午"],
        ..EN_US
    },
];

impl Culture {
    /// us_english, what a session has unless it says otherwise.
    pub const US: &'static Culture = &EN_US;

    /// What a language of SET LANGUAGE writes by; us_english's where its culture is not in the table.
    pub fn of_language(place: u8) -> &'static Culture {
        Culture::find(crate::languages::Language::of(place).culture).unwrap_or(Culture::US)
    }

    /// By name, any case; the empty name is the invariant culture, a bare language its largest country.
    pub fn find(name: &str) -> Option<&'static Culture> {
        let name = &*name.replace('_', "-");
        let exact = CULTURES.iter().find(|c| c.name.eq_ignore_ascii_case(name));
        exact.or_else(|| {
            let bare = name.len() == 2;
            CULTURES
                .iter()
                .find(|c| bare && c.name.get(..2).is_some_and(|l| l.eq_ignore_ascii_case(name)))
        })
    }
}
