/**
 * Lets the connections of a listener go without that a request is left unanswered. Each answer from then on says that it
 * is the last of its connection; a connection at which nothing is asked is closed.
 */
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * So long a connection that is kept alive may bring its next request, counted from its last answer: whoever sent it could
 * not know yet that there is none to follow.
 */
const LINGER_MS = 500;
const LOOK_MS = 50;

interface Use {
  /** Requests that have no answer yet. */
  open: number;
  /** When it was opened, or gave its last answer. */
  since: number;
}

export interface Drain {
  /** @param lingerMs as long as those in front keep a connection that they do not use, where that is longer */
  begin(lingerMs?: number): void;
}

export function createDrain(server: Server): Drain {
  const uses = new Map<Socket, Use>();
  const unanswered = new Set<ServerResponse>();
  let hasBegun = false;
  const sayLast = (response: ServerResponse): void => {
    if (!response.headersSent) response.setHeader('connection', 'close');
  };

  server.on('connection', (socket) => {
    uses.set(socket, { open: 0, since: performance.now() });
    socket.once('close', () => uses.delete(socket));
  });
  // Before the application, which may answer at once.
  server.prependListener('request', ({ socket }, response) => {
    const use = uses.get(socket);
    if (use) use.open += 1;
    unanswered.add(response);
    if (hasBegun) sayLast(response);
    response.once('close', () => {
      unanswered.delete(response);
      if (!use) return;
      use.open -= 1;
      use.since = performance.now();
    });
  });

  function closeIdle(lingerMs: number): void {
    const now = performance.now();
    for (const [socket, { open, since }] of uses) if (open === 0 && now - since >= lingerMs) socket.destroySoon();
  }

  return {
    begin(lingerMs = 0) {
      if (hasBegun) return;
      hasBegun = true;
      for (const response of unanswered) sayLast(response);
      const close = () => closeIdle(Math.max(LINGER_MS, lingerMs));
      close();
      const looking = setInterval(close, LOOK_MS);
      server.once('close', () => clearInterval(looking));
    },
  };
}
