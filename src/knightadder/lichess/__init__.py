"""A bot for Lichess: answers challenges and plays, by Lichess's bot API."""
