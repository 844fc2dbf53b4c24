"""A bot for Lichess: answers challenges and plays games through Lichess's bot API."""
