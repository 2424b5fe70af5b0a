/** Answers requests: finds the handler, reads the body, and turns problems into replies. */
import { signIn, signOut, signUp } from './accounts.js';
import { closeBake, listBakes, openBake, showBake, showMenu } from './bakes.js';
import { Problem } from './checks.js';
import { cancelOrder, changeOrder, placeOrder, showOrder } from './orders.js';
import { readPage } from './pages.js';

const MAX_BODY = 16_384;
const IDS = { id: '[0-9a-f]{10}', number: '[0-9]{1,10}', key: '[0-9a-f]{32}' };

const ROUTES = [
  ['POST', '/api/bakers', signUp],
  ['POST', '/api/sessions', signIn],
  ['DELETE', '/api/sessions', signOut],
  ['GET', '/api/bakes', listBakes],
  ['POST', '/api/bakes', openBake],
  ['GET', '/api/bakes/:id', showBake],
  ['PATCH', '/api/bakes/:id', closeBake],
  ['PATCH', '/api/bakes/:id/orders/:number', changeOrder],
  ['GET', '/api/menus/:id', showMenu],
  ['PUT', '/api/orders/:key', placeOrder],
  ['GET', '/api/orders/:key', showOrder],
  ['DELETE', '/api/orders/:key', cancelOrder],
].map(([method, path, handler]) => {
  const pattern = new RegExp(`^${path.replace(/:(\w+)/g, (_, name) => `(?<${name}>${IDS[name]})`)}$`);
  return { method, pattern, handler };
});

/** A form of another site cannot send JSON, so this also keeps other sites from acting for a signed-in baker. */
async function readBody(request) {
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? ''))
    throw new Problem(415, 'not_json', 'Send JSON with the content type application/json.');
  const tooLarge = new Problem(413, 'too_large', 'That is too much at once: at most 16 KB.');
  if (Number(request.headers['content-length']) > MAX_BODY) throw tooLarge;
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_BODY) throw tooLarge;
    chunks.push(chunk);
  }
  try {
    const body = JSON.parse(Buffer.concat(chunks).toString());
    if (body !== null && typeof body === 'object' && !Array.isArray(body)) return body;
  } catch {
    // Answered below, like everything else that is no object.
  }
  throw new Problem(400, 'invalid', 'The body must be a JSON object.');
}

async function answer(context, request) {
  const [path] = request.url.split('?');
  const page = ['GET', 'HEAD'].includes(request.method) && (await readPage(path));
  if (page) return page;
  const routes = ROUTES.filter(({ pattern }) => pattern.test(path));
  const route = routes.find(({ method }) => method === request.method);
  if (routes.length === 0) throw new Problem(404, 'not_found', 'There is nothing at this address.');
  if (!route) throw new Problem(405, 'wrong_method', 'This address does not do that.');
  const { groups: params = {} } = route.pattern.exec(path);
  const body = ['GET', 'DELETE'].includes(request.method) ? {} : await readBody(request);
  return route.handler({ ...context, request, params, body });
}

const SECURITY = {
  'content-security-policy': "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
  'x-content-type-options': 'nosniff',
  // The address of an order opens it, so no other site may learn it.
  'referrer-policy': 'no-referrer',
};

/** @returns a listener for `http.createServer` */
export function createApp({ db, now = Date.now, secure = false }) {
  const context = { db, now, secure, tries: new Map() };
  return async (request, response) => {
    let reply;
    try {
      reply = await answer(context, request);
    } catch (error) {
      const isProblem = error instanceof Problem;
      if (!isProblem) console.error(error);
      const { status, code, message, more } = isProblem
        ? error
        : new Problem(500, 'fault', 'That did not work, and the fault is ours. Try again in a minute.');
      reply = { status, body: { error: code, message, ...more } };
    }
    const { status = 200, body, page, headers } = reply;
    const type = { 'content-type': 'application/json', 'cache-control': 'no-store' };
    response.writeHead(status, { ...SECURITY, ...(body && type), ...headers });
    response.end(page ?? (body && JSON.stringify(body)));
  };
}
