"""The subcommand `report`: a page about how a player plays."""
