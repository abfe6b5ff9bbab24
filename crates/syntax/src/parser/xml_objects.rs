//! XML schema collections and XML indexes.

use super::*;

impl Parser<'_> {
    /// XML SCHEMA COLLECTION, or (PRIMARY) XML INDEX behind CREATE, stands here.
    pub(super) fn at_xml_object(&self, verb: Kw) -> bool {
        let collection = self.at_word("XML") && self.kind_ahead(1) == TokenKind::Key(Kw::Schema);
        let index = self.at_word("XML") && self.kind_ahead(1) == TokenKind::Key(Kw::Index)
            || self.at_kw(Kw::Primary) && self.word_ahead(1, "XML");
        collection || (verb == Kw::Create && index)
    }

    /// What stands there, behind `verb`.
    #[cold]
    pub(super) fn xml_object(&mut self, verb: Kw) -> ParseResult<StatementKind> {
        if self.at_kw(Kw::Primary) || self.kind_ahead(1) == TokenKind::Key(Kw::Index) {
            return self.create_xml_index();
        }
        self.at += 2;
        self.expect_word("COLLECTION")?;
        let statement = match verb {
            Kw::Drop => XmlSchemaStatement::Drop { name: self.object_name()? },
            Kw::Alter => {
                let name = self.object_name()?;
                self.expect_kw(Kw::Add)?;
                XmlSchemaStatement::Add { name, text: self.value()? }
            }
            _ => {
                let name = self.object_name()?;
                self.expect_kw(Kw::As)?;
                XmlSchemaStatement::Create { name, text: self.value()? }
            }
        };
        Ok(StatementKind::Rare(Box::new(RareStatement::XmlSchema(statement))))
    }

    /// `[PRIMARY] XML INDEX name ON table (column) [USING XML INDEX name [FOR kind]] [WITH (...)]`
    fn create_xml_index(&mut self) -> ParseResult<StatementKind> {
        let start = self.at - 1;
        let primary = self.eat_kw(Kw::Primary);
        self.expect_word("XML")?;
        self.expect_kw(Kw::Index)?;
        let name = self.ident()?;
        self.expect_kw(Kw::On)?;
        let table = self.object_name()?;
        self.expect_sym(Sym::LeftParen)?;
        let column = self.ident()?;
        self.expect_sym(Sym::RightParen)?;
        let mut xml = XmlIndex { primary, using: None, kind: None };
        if self.eat_word("USING") {
            self.expect_word("XML")?;
            self.expect_kw(Kw::Index)?;
            xml.using = Some(self.ident()?);
            if self.eat_kw(Kw::For) {
                let word = self.any_word()?;
                if !matches!(word.as_str(), "PATH" | "VALUE" | "PROPERTY") {
                    self.at -= 1;
                    return Err(self.unexpected());
                }
                xml.kind = Some(word);
            }
        }
        let mut options = Vec::new();
        if self.at_kw(Kw::With) && self.kind_ahead(1) == TokenKind::Symbol(Sym::LeftParen) {
            self.at += 1;
            options = self.option_list()?;
        }
        let index = IndexDefinition {
            name,
            unique: false,
            clustered: Some(false),
            hash: false,
            columnstore: false,
            spatial: None,
            xml: Some(xml),
            columns: vec![IndexColumn { name: column, descending: false }],
            order: Vec::new(),
            include: Vec::new(),
            filter: None,
            options,
            filegroup: None,
            span: self.span_from(start),
        };
        Ok(StatementKind::CreateIndex(Box::new(CreateIndex { table, index })))
    }
}
