//! What a session's language means for messages. The languages themselves are [`types::languages`].
//!
//! Only what SQL Server tells most often is here in other words than English: that the language has changed.

pub use types::languages::LANGUAGES;
use types::languages::Language;

/// The place of a language in [`LANGUAGES`], by either name, any case.
pub fn find(name: &str) -> Option<u8> {
    Language::find(name)
}

/// `language_id` of the messages that are told in a language: British English has the American ones.
pub fn message_language(place: u8) -> i32 {
    const BRITISH: i32 = 2057;
    match LANGUAGES.get(usize::from(place)).map(|language| language.lcid) {
        None | Some(BRITISH) => 1033,
        Some(lcid) => lcid,
    }
}

/// 5703, in the language that now is: SQL Server has its messages in twenty-two.
pub fn changed(language: &Language) -> String {
    let name = language.name;
    match language.lcid {
        1028 => format!("已將語言設定變更為 {name}。"),
        1029 => format!("Nastavení jazyka bylo změněno na {name}."),
        1030 => format!("Sprogindstillingen blev ændret til {name}."),
        1031 => format!("Die Spracheneinstellung wurde in {name} geändert."),
        1032 => format!("Η ρύθμιση γλώσσας άλλαξε σε {name}."),
        1035 => format!("Kieliasetukseksi muutettiin {name}."),
        1036 => format!("Le paramètre de langue est passé à {name}."),
        1038 => format!("Nyelvi beállítás átállítva a következőre: {name}."),
        1040 => format!("L'impostazione della lingua è stata sostituita con {name}."),
        1041 => format!("言語設定が {name} に変更されました。"),
        1042 => format!("언어 설정이 {name}(으)로 변경되었습니다."),
        1043 => format!("De taalinstelling is gewijzigd in {name}."),
        1044 => format!("Endret språkinnstilling til {name}."),
        1045 => format!("Zmieniono ustawienia języka na {name}."),
        1046 => format!("Definição do idioma alterada para {name}."),
        1049 => format!("Язык изменен на {name}."),
        1053 => format!("Ändrade språkinställningen till {name}."),
        1055 => format!("Dil ayarı '{name}' olarak değiştirildi."),
        2052 => format!("已将语言设置更改为 {name}。"),
        2070 => format!("A definição de idioma foi alterada para {name}."),
        3082 => format!("Se cambió la configuración de idioma a {name}."),
        _ => format!("Changed language setting to {name}."),
    }
}
