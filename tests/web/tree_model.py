"""The tree of moves as a page has it: told whole once, and then only what changes."""

import chess
import chess.pgn


class TreeModel:
    """Takes the server's messages about the tree; `rows` are its nodes by number."""

    def __init__(self):
        self.rows = {}
        self.children = {}
        self.headers = {}

    def take(self, message):
        """Take a message, if it is about the tree."""
        match message["type"]:
            case "tree":
                self.rows, self.children = {}, {None: []}
                self._add(message["nodes"])
                self.headers = message["headers"]
            case "nodes":
                self._add(message["nodes"])
            case "deleted":
                self.children[self.rows[message["node"]]["parent"]].remove(message["node"])
                self._drop(message["node"])
            case "promoted":
                number = message["node"]
                while number is not None:
                    parent = self.rows[number]["parent"]
                    self.children[parent].remove(number)
                    self.children[parent].insert(0, number)
                    number = parent
            case "reordered":
                siblings = self.children[self.rows[message["node"]]["parent"]]
                siblings.remove(message["node"])
                siblings.insert(message["place"], message["node"])
            case "headers":
                self.headers = message["headers"]

    def _add(self, rows):
        for row in rows:
            if row["id"] not in self.rows:
                self.children[row["parent"]].append(row["id"])
                self.children[row["id"]] = []
            self.rows[row["id"]] = row

    def _drop(self, number):
        del self.rows[number]
        for child in self.children.pop(number):
            self._drop(child)

    def nodes(self):
        """Give the rows in the order of the tree, variations behind the move that they vary from."""
        order, rows = list(self.children[None]), []
        while order:
            number = order.pop()
            rows.append(self.rows[number])
            order += reversed(self.children[number])
        return rows

    def game(self):
        """Make a game of python-chess from what is known."""
        game = chess.pgn.Game(self.headers)
        made = {}
        for row in self.nodes():
            node = game
            if row["parent"] is not None:
                parent = made[row["parent"]]
                node = parent.add_variation(parent.board().parse_san(row["san"]))
            node.comment, node.nags = row["comment"], set(row["nags"])
            if row["before"]:
                node.starting_comment = row["before"]
            made[row["id"]] = node
        return game

    def pgn(self):
        """Write the game as python-chess does."""
        return str(self.game())
