"""Reads users' files in Portable Game Notation: in several encodings, compressed, with broken games."""
