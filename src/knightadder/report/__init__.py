"""The subcommand `report`: how a player plays, in one page."""
