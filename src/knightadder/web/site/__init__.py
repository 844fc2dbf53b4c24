"""The server of the board: its routes, who may use it, the tabs, and their messages."""
