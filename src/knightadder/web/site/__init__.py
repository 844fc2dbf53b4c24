"""The server of the board: its routes, access control, the tabs, and their messages."""
