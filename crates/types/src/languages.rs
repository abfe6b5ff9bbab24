//! The languages of SET LANGUAGE: names, the order of dates and the first day of the week that come with them, and what
//! they call months and days.
//!
//! As sys.syslanguages of SQL Server lists them; a language is known by its place there (@@LANGID). Invariant: each has
//! twelve months, twelve short ones and seven days, apart by commas.

use crate::convert::DateOrder::{self, Dmy, Mdy, Ymd};

/// A language.
pub struct Language {
    /// Its own name: @@LANGUAGE.
    pub name: &'static str,
    /// Its English name.
    pub alias: &'static str,
    pub order: DateOrder,
    /// DATEFIRST.
    pub first: u8,
    /// The locale.
    pub lcid: i32,
    /// Of FORMAT, where none is named.
    pub culture: &'static str,
    /// From January.
    pub months: &'static str,
    pub short_months: &'static str,
    /// From Monday.
    pub days: &'static str,
}

impl Language {
    /// By its place; us_english for one that is not there.
    pub fn of(place: u8) -> &'static Language {
        LANGUAGES.get(usize::from(place)).unwrap_or(&LANGUAGES[0])
    }

    /// The place of a language in [`LANGUAGES`], by either name, any case.
    pub fn find(name: &str) -> Option<u8> {
        let folded = name.to_lowercase();
        let same =
            |l: &Language| l.name.to_lowercase() == folded || l.alias.to_lowercase() == folded;
        LANGUAGES.iter().position(same).map(|i| i as u8)
    }

    /// From 1, January.
    pub fn month(&self, number: u32) -> &'static str {
        nth(self.months, number as usize - 1)
    }

    /// The same in short.
    pub fn short_month(&self, number: u32) -> &'static str {
        nth(self.short_months, number as usize - 1)
    }

    /// From 1, Sunday.
    pub fn weekday(&self, number: u32) -> &'static str {
        nth(self.days, (number as usize + 5) % 7)
    }

    /// The number of a month by its name, long or short, any case.
    pub fn month_of(&self, word: &str) -> Option<u32> {
        let same = |name: &str| {
            name.eq_ignore_ascii_case(word)
                || !word.is_ascii() && name.to_lowercase() == word.to_lowercase()
        };
        let place = |names: &str| names.split(',').position(same).map(|i| i as u32 + 1);
        place(self.months).or_else(|| place(self.short_months))
    }
}

fn nth(names: &'static str, at: usize) -> &'static str {
    names.split(',').nth(at).unwrap_or("")
}

macro_rules! languages {
    ($($name:literal $alias:literal $order:ident $first:literal $lcid:literal $culture:literal
        $months:expr; $short:expr; $days:expr;)*) => {
        /// By @@LANGID.
        pub static LANGUAGES: [Language; 33] = [$(Language {
            name: $name,
            alias: $alias,
            order: $order,
            first: $first,
            lcid: $lcid,
            culture: $culture,
            months: $months,
            short_months: $short,
            days: $days,
        }),*];
    };
}

const ENGLISH_MONTHS: &str =
    "January,February,March,April,May,June,July,August,September,October,November,December";
const ENGLISH_SHORT: &str = "Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec";
const ENGLISH_DAYS: &str = "Monday,Tuesday,Wednesday,Thursday,Friday,Saturday,Sunday";
const NUMBERS: &str = "01,02,03,04,05,06,07,08,09,10,11,12";
const ROMAN: &str = "I,II,III,IV,V,VI,VII,VIII,IX,X,XI,XII";
const CHINESE_DAYS: &str = "星期一,星期二,星期三,星期四,星期五,星期六,星期日";

languages! {
    "us_english" "English" Mdy 7 1033 "en-US"
        ENGLISH_MONTHS; ENGLISH_SHORT; ENGLISH_DAYS;
    "Deutsch" "German" Dmy 1 1031 "de-DE"
        "Januar,Februar,März,April,Mai,Juni,Juli,August,September,Oktober,November,Dezember";
        "Jan,Feb,Mär,Apr,Mai,Jun,Jul,Aug,Sep,Okt,Nov,Dez";
        "Montag,Dienstag,Mittwoch,Donnerstag,Freitag,Samstag,Sonntag";
    "Français" "French" Dmy 1 1036 "fr-FR"
        "janvier,février,mars,avril,mai,juin,juillet,août,septembre,octobre,novembre,décembre";
        "janv,févr,mars,avr,mai,juin,juil,août,sept,oct,nov,déc";
        "lundi,mardi,mercredi,jeudi,vendredi,samedi,dimanche";
    "日本語" "Japanese" Ymd 7 1041 "ja-JP"
        NUMBERS; NUMBERS; "月曜日,火曜日,水曜日,木曜日,金曜日,土曜日,日曜日";
    "Dansk" "Danish" Dmy 1 1030 "da-DK"
        "januar,februar,marts,april,maj,juni,juli,august,september,oktober,november,december";
        "jan,feb,mar,apr,maj,jun,jul,aug,sep,okt,nov,dec";
        "mandag,tirsdag,onsdag,torsdag,fredag,lørdag,søndag";
    "Español" "Spanish" Dmy 1 3082 "es-ES"
        "Enero,Febrero,Marzo,Abril,Mayo,Junio,Julio,Agosto,Septiembre,Octubre,Noviembre,Diciembre";
        "Ene,Feb,Mar,Abr,May,Jun,Jul,Ago,Sep,Oct,Nov,Dic";
        "Lunes,Martes,Miércoles,Jueves,Viernes,Sábado,Domingo";
    "Italiano" "Italian" Dmy 1 1040 "it-IT"
        "gennaio,febbraio,marzo,aprile,maggio,giugno,luglio,agosto,settembre,ottobre,novembre,dicembre";
        "gen,feb,mar,apr,mag,giu,lug,ago,set,ott,nov,dic";
        "lunedì,martedì,mercoledì,giovedì,venerdì,sabato,domenica";
    "Nederlands" "Dutch" Dmy 1 1043 "nl-NL"
        "januari,februari,maart,april,mei,juni,juli,augustus,september,oktober,november,december";
        "jan,feb,mrt,apr,mei,jun,jul,aug,sep,okt,nov,dec";
        "maandag,dinsdag,woensdag,donderdag,vrijdag,zaterdag,zondag";
    "Norsk" "Norwegian" Dmy 1 2068 "nn-NO"
        "januar,februar,mars,april,mai,juni,juli,august,september,oktober,november,desember";
        "jan,feb,mar,apr,mai,jun,jul,aug,sep,okt,nov,des";
        "mandag,tirsdag,onsdag,torsdag,fredag,lørdag,søndag";
    "Português" "Portuguese" Dmy 7 2070 "pt-PT"
        "Janeiro,Fevereiro,Março,Abril,Maio,Junho,Julho,Agosto,Setembro,Outubro,Novembro,Dezembro";
        "Jan,Fev,Mar,Abr,Mai,Jun,Jul,Ago,Set,Out,Nov,Dez";
        "segunda-feira,terça-feira,quarta-feira,quinta-feira,sexta-feira,sábado,domingo";
    "Suomi" "Finnish" Dmy 1 1035 "fi-FI"
        "tammikuuta,helmikuuta,maaliskuuta,huhtikuuta,toukokuuta,kesäkuuta,heinäkuuta,elokuuta,syyskuuta,lokakuuta,marraskuuta,joulukuuta";
        "tammi,helmi,maalis,huhti,touko,kesä,heinä,elo,syys,loka,marras,joulu";
        "maanantai,tiistai,keskiviikko,torstai,perjantai,lauantai,sunnuntai";
    "Svenska" "Swedish" Ymd 1 1053 "sv-SE"
        "januari,februari,mars,april,maj,juni,juli,augusti,september,oktober,november,december";
        "jan,feb,mar,apr,maj,jun,jul,aug,sep,okt,nov,dec";
        "måndag,tisdag,onsdag,torsdag,fredag,lördag,söndag";
    "čeština" "Czech" Dmy 1 1029 "cs-CZ"
        "leden,únor,březen,duben,květen,červen,červenec,srpen,září,říjen,listopad,prosinec";
        ROMAN; "pondělí,úterý,středa,čtvrtek,pátek,sobota,neděle";
    "magyar" "Hungarian" Ymd 1 1038 "hu-HU"
        "január,február,március,április,május,június,július,augusztus,szeptember,október,november,december";
        "jan,febr,márc,ápr,máj,jún,júl,aug,szept,okt,nov,dec";
        "hétfő,kedd,szerda,csütörtök,péntek,szombat,vasárnap";
    "polski" "Polish" Dmy 1 1045 "pl-PL"
        "styczeń,luty,marzec,kwiecień,maj,czerwiec,lipiec,sierpień,wrzesień,październik,listopad,grudzień";
        ROMAN; "poniedziałek,wtorek,środa,czwartek,piątek,sobota,niedziela";
    "română" "Romanian" Dmy 1 1048 "ro-RO"
        "ianuarie,februarie,martie,aprilie,mai,iunie,iulie,august,septembrie,octombrie,noiembrie,decembrie";
        "Ian,Feb,Mar,Apr,Mai,Iun,Iul,Aug,Sep,Oct,Nov,Dec";
        "luni,marţi,miercuri,joi,vineri,sîmbătă,duminică";
    "hrvatski" "Croatian" Ymd 1 1050 "hr-HR"
        "siječanj,veljača,ožujak,travanj,svibanj,lipanj,srpanj,kolovoz,rujan,listopad,studeni,prosinac";
        "sij,vel,ožu,tra,svi,lip,srp,kol,ruj,lis,stu,pro";
        "ponedjeljak,utorak,srijeda,četvrtak,petak,subota,nedjelja";
    "slovenčina" "Slovak" Dmy 1 1051 "sk-SK"
        "január,február,marec,apríl,máj,jún,júl,august,september,október,november,december";
        ROMAN; "pondelok,utorok,streda,štvrtok,piatok,sobota,nedeľa";
    "slovenski" "Slovenian" Dmy 1 1060 "sl-SI"
        "januar,februar,marec,april,maj,junij,julij,avgust,september,oktober,november,december";
        "jan,feb,mar,apr,maj,jun,jul,avg,sept,okt,nov,dec";
        "ponedeljek,torek,sreda,četrtek,petek,sobota,nedelja";
    "ελληνικά" "Greek" Dmy 1 1032 "el-GR"
        "Ιανουαρίου,Φεβρουαρίου,Μαρτίου,Απριλίου,Μαΐου,Ιουνίου,Ιουλίου,Αυγούστου,Σεπτεμβρίου,Οκτωβρίου,Νοεμβρίου,Δεκεμβρίου";
        "Ιαν,Φεβ,Μαρ,Απρ,Μαϊ,Ιουν,Ιουλ,Αυγ,Σεπ,Οκτ,Νοε,Δεκ";
        "Δευτέρα,Τρίτη,Τετάρτη,Πέμπτη,Παρασκευή,Σάββατο,Κυριακή";
    "български" "Bulgarian" Dmy 1 1026 "bg-BG"
        "януари,февруари,март,април,май,юни,юли,август,септември,октомври,ноември,декември";
        "януари,февруари,март,април,май,юни,юли,август,септември,октомври,ноември,декември";
        "понеделник,вторник,сряда,четвъртък,петък,събота,неделя";
    "русский" "Russian" Dmy 1 1049 "ru-RU"
        "Январь,Февраль,Март,Апрель,Май,Июнь,Июль,Август,Сентябрь,Октябрь,Ноябрь,Декабрь";
        "янв,фев,мар,апр,май,июн,июл,авг,сен,окт,ноя,дек";
        "понедельник,вторник,среда,четверг,пятница,суббота,воскресенье";
    "Türkçe" "Turkish" Dmy 1 1055 "tr-TR"
        "Ocak,Şubat,Mart,Nisan,Mayıs,Haziran,Temmuz,Ağustos,Eylül,Ekim,Kasım,Aralık";
        "Oca,Şub,Mar,Nis,May,Haz,Tem,Ağu,Eyl,Eki,Kas,Ara";
        "Pazartesi,Salı,Çarşamba,Perşembe,Cuma,Cumartesi,Pazar";
    "British" "British English" Dmy 1 2057 "en-GB"
        ENGLISH_MONTHS; ENGLISH_SHORT; ENGLISH_DAYS;
    "eesti" "Estonian" Dmy 1 1061 "et-EE"
        "jaanuar,veebruar,märts,aprill,mai,juuni,juuli,august,september,oktoober,november,detsember";
        "jaan,veebr,märts,apr,mai,juuni,juuli,aug,sept,okt,nov,dets";
        "esmaspäev,teisipäev,kolmapäev,neljapäev,reede,laupäev,pühapäev";
    "latviešu" "Latvian" Ymd 1 1062 "lv-LV"
        "janvāris,februāris,marts,aprīlis,maijs,jūnijs,jūlijs,augusts,septembris,oktobris,novembris,decembris";
        "jan,feb,mar,apr,mai,jūn,jūl,aug,sep,okt,nov,dec";
        "pirmdiena,otrdiena,trešdiena,ceturtdiena,piektdiena,sestdiena,svētdiena";
    "lietuvių" "Lithuanian" Ymd 1 1063 "lt-LT"
        "sausis,vasaris,kovas,balandis,gegužė,birželis,liepa,rugpjūtis,rugsėjis,spalis,lapkritis,gruodis";
        "sau,vas,kov,bal,geg,bir,lie,rgp,rgs,spl,lap,grd";
        "pirmadienis,antradienis,trečiadienis,ketvirtadienis,penktadienis,šeštadienis,sekmadienis";
    "Português (Brasil)" "Brazilian" Dmy 7 1046 "pt-BR"
        "Janeiro,Fevereiro,Março,Abril,Maio,Junho,Julho,Agosto,Setembro,Outubro,Novembro,Dezembro";
        "Jan,Fev,Mar,Abr,Mai,Jun,Jul,Ago,Set,Out,Nov,Dez";
        "Segunda-Feira,Terça-Feira,Quarta-Feira,Quinta-Feira,Sexta-Feira,Sábado,Domingo";
    "繁體中文" "Traditional Chinese" Ymd 7 1028 "zh-TW"
        NUMBERS; NUMBERS; CHINESE_DAYS;
    "한국어" "Korean" Ymd 7 1042 "ko-KR"
        NUMBERS; NUMBERS; "월요일,화요일,수요일,목요일,금요일,토요일,일요일";
    "简体中文" "Simplified Chinese" Ymd 7 2052 "zh-CN"
        NUMBERS; NUMBERS; CHINESE_DAYS;
    "Arabic" "Arabic" Dmy 1 1025 "ar-SA"
        "Muharram,Safar,Rabie I,Rabie II,Jumada I,Jumada II,Rajab,Shaaban,Ramadan,Shawwal,Thou Alqadah,Thou Alhajja";
        ENGLISH_SHORT; ENGLISH_DAYS;
    "ไทย" "Thai" Dmy 7 1054 "th-TH"
        "มกราคม,กุมภาพันธ์,มีนาคม,เมษายน,พฤษภาคม,มิถุนายน,กรกฎาคม,สิงหาคม,กันยายน,ตุลาคม,พฤศจิกายน,ธันวาคม";
        "ม.ค.,ก.พ.,มี.ค.,เม.ย.,พ.ค.,มิ.ย.,ก.ค.,ส.ค.,ก.ย.,ต.ค.,พ.ย.,ธ.ค.";
        "จันทร์,อังคาร,พุธ,พฤหัสบดี,ศุกร์,เสาร์,อาทิตย์";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_has_two_names() {
        assert_eq!(Language::find("US_ENGLISH"), Some(0));
        assert_eq!(Language::find("english"), Some(0));
        assert_eq!(Language::find("français"), Language::find("French"));
        assert_eq!(Language::find("Klingon"), None);
        assert_eq!(LANGUAGES[23].alias, "British English");
    }

    #[test]
    fn every_month_and_day_has_a_name() {
        for language in &LANGUAGES {
            for number in 1..=12 {
                assert_eq!(language.month_of(language.month(number)), Some(number));
                assert!(!language.short_month(number).is_empty(), "{}", language.name);
            }
            assert_eq!(language.days.split(',').count(), 7, "{}", language.name);
            assert_eq!(language.months.split(',').count(), 12, "{}", language.name);
        }
        assert_eq!(LANGUAGES[1].weekday(1), "Sonntag");
        assert_eq!(LANGUAGES[1].month_of("MÄR"), Some(3));
    }
}
