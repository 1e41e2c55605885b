#!/usr/bin/env python3
"""Runs a program on a terminal of its own and prints what is to be seen there at the end:
    terminal.py COLUMNS ROWS [TIMES:ACTION]... -- PROGRAM [ARGUMENT...]
An action comes once the program has rewritten its lines so many times since the last one: COLUMNSxROWS, which makes
the terminal so large, or a text that is typed (^C as such). What is there before each action and at the end is
printed, with a line "== ACTION" or "== end" after it. The exit status is the program's.

The terminal knows what the program uses of a real one: lines that fold when it becomes narrower, lines that are
cleared from the cursor on, and a cursor that moves up. Anything else is a fault, and ends it.
"""
import codecs
import fcntl
import os
import pty
import re
import struct
import sys
import termios
import unicodedata


def width_of(character):
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


class Terminal:
    """Rows of characters. A row that is folded goes on in the next one."""

    def __init__(self, columns, rows):
        self.columns, self.height = columns, rows
        self.rows, self.folded = [[]], [False]
        self.y = self.x = 0
        self.wraps = True
        self.rewritten = 0
        self.rest = ""

    def top(self):
        return max(0, len(self.rows) - self.height)

    def resize(self, columns, rows):
        text, ends, cursor = [[]], [], None
        for y, row in enumerate(self.rows):
            if y == self.y:
                cursor = (len(text) - 1, len(text[-1]) + self.x)
            text[-1] += row
            if not self.folded[y]:
                text.append([])
        text.pop()
        self.rows, self.folded = [], []
        for number, line in enumerate(text):
            parts = [line[i : i + columns] for i in range(0, max(len(line), 1), columns)]
            if number == cursor[0]:
                self.y = len(self.rows) + min(cursor[1] // columns, len(parts) - 1)
                self.x = cursor[1] % columns
            self.rows += parts
            self.folded += [True] * (len(parts) - 1) + [False]
        self.columns, self.height = columns, rows

    def put(self, character):
        width = width_of(character)
        if self.x + width > self.columns:
            if not self.wraps:
                return
            self.folded[self.y] = True
            self.line_feed()
            self.x = 0
        row = self.rows[self.y]
        row += [" "] * (self.x - len(row))
        row[self.x : self.x + width] = [character] + [""] * (width - 1)
        self.x += width

    def line_feed(self):
        self.y += 1
        if self.y == len(self.rows):
            self.rows.append([])
            self.folded.append(False)

    def clear_line(self):
        del self.rows[self.y][self.x :]
        self.folded[self.y] = False

    def escape(self, parameters, final):
        number = int(parameters) if parameters.isdigit() else 0
        if final == "A":
            self.y = max(self.top(), self.y - max(1, number))
        elif final == "K" and number == 0:
            self.clear_line()
        elif final == "J" and number == 0:
            self.clear_line()
            del self.rows[self.y + 1 :], self.folded[self.y + 1 :]
        elif parameters == "?7":
            self.wraps = final == "h"
            self.rewritten += self.wraps
        elif final != "m":
            sys.exit(f"terminal.py: no such escape sequence here: {parameters}{final}")

    def feed(self, text):
        text = self.rest + text
        self.rest = ""
        while text:
            if text[0] == "\x1b":
                found = re.match(r"\x1b\[([?0-9;]*)([A-Za-z])", text)
                if not found:
                    self.rest = text
                    return
                self.escape(*found.groups())
                text = text[found.end() :]
                continue
            if text[0] == "\r":
                self.x = 0
            elif text[0] == "\n":
                self.line_feed()
            elif text[0] >= " ":
                self.put(text[0])
            else:
                sys.exit(f"terminal.py: no such control character here: {text[0]!r}")
            text = text[1:]

    def show(self, title):
        for row in self.rows:
            print("".join(row).rstrip())
        print("==", title, flush=True)


def set_size(file, columns, rows):
    fcntl.ioctl(file, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def main():
    end = sys.argv.index("--")
    columns, rows = int(sys.argv[1]), int(sys.argv[2])
    actions = [word.split(":", 1) for word in sys.argv[3:end]]
    child, file = pty.fork()
    if child == 0:
        set_size(0, columns, rows)
        os.execvp(sys.argv[end + 1], sys.argv[end + 1 :])
    terminal = Terminal(columns, rows)
    decoder = codecs.getincrementaldecoder("utf-8")()
    while True:
        try:
            data = os.read(file, 65536)
        except OSError:  # nobody writes any more
            break
        terminal.feed(decoder.decode(data))
        if not actions or terminal.rewritten < int(actions[0][0]):
            continue
        terminal.rewritten = 0
        action = actions.pop(0)[1]
        terminal.show(action)
        size = re.fullmatch(r"(\d+)x(\d+)", action)
        if size:
            terminal.resize(*map(int, size.groups()))
            set_size(file, *map(int, size.groups()))
        else:
            os.write(file, action.replace("^C", "\x03").encode())
    terminal.show("end")
    if actions:
        sys.exit(f"terminal.py: the program ended before {actions[0][1]}")
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


main()
