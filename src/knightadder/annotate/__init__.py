"""The subcommand `annotate`: the engine's evaluations, best lines and marks for whole files of games."""
