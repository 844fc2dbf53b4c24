"""Games in Portable Game Notation, as users' files have them: several encodings, compressed, some of them broken."""
