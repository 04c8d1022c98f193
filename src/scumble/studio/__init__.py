"""The studio: a local web page that leads a data owner from a table to a published folder.

It has no mathematics of its own. Every button calls a function of `scumble.flows` or starts a command of the command
line, and every page shows the command that does the same. Whatever is chosen is written to `run.yaml` in the project's
folder at once; `scumble run run.yaml` repeats it without a browser.

- `server`: the socket on 127.0.0.1 and the secret token; `guard`: which requests are answered at all;
- `projects`: the project folders inside the chosen folder;
- `jobs` and `worker`: long work, in processes that survive the server;
- `pages`: templates; `pictures`: trees, intervals and bars; `commands`: the commands that are shown;
- `screens`: one module for each screen.
"""
