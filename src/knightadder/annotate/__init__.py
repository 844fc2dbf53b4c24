"""The subcommand `annotate`: the engine's evaluations, best lines and marks for files of games."""
