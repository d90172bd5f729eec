"""The language server, for editors. Specs are loaded and proved in processes of their own (`analysis`), never here."""
