/**
 * The console: files that `console/build.mjs` made. Their names carry the hash of their content, so that a browser keeps
 * them for ever; every other address below `/console` is the one page, whose script knows what the address means. Its
 * policy takes scripts, styles and data from this service alone.
 */
import { parseCookie } from 'cookie';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { escaped } from './pages.ts';

const CONSOLE_DIR = fileURLToPath(new URL('../../../.cache/console', import.meta.url));

export interface ConsoleOptions {
  /** The built files are in this folder. */
  folder?: string;
  /** The title and the header show this name; an empty one is not shown. */
  environmentName: string;
}

interface Asset {
  contentType: string;
  plain: Buffer;
  br?: Buffer;
  gzip?: Buffer;
}

const CONTENT_TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Mount it at the root of the gateway. */
export function consoleRouter({ folder = CONSOLE_DIR, environmentName }: ConsoleOptions): express.Router {
  const router = express.Router({ caseSensitive: true });
  const built = existsSync(join(folder, 'index.html')) ? load(folder) : undefined;

  router.get('/', (request, response, next) => {
    // A request for anything else than a page is answered as if there were no console.
    if (isForPerson(request)) response.set('vary', 'accept').redirect(302, '/console');
    else next();
  });
  if (!built) {
    router.get('/console{/*path}', (_request, response) => {
      response.status(503).type('text').send('The console is not built. Run: npm run setup\n');
    });
    return router;
  }
  router.get('/console/assets/:name', (request, response, next) => {
    const asset = built.assets.get(request.params.name);
    if (asset) sendAsset(asset, request, response);
    else next();
  });
  router.get('/console/assets{/*path}', (_request, response) => {
    // The file belongs to an earlier release. The page then loads itself anew, which it could not tell if it were given
    // the page in the place of a script.
    response.status(404).set('cache-control', 'no-store').type('text').send('There is no such file.\n');
  });
  router.get('/console{/*path}', sendPage(built.page, environmentName));
  return router;
}

const isForPerson = (request: Request): boolean => Boolean(request.get('accept')?.includes('text/html'));

function load(folder: string): { page: string; assets: Map<string, Asset> } {
  const assets = new Map<string, Asset>();
  const read = (name: string): Buffer => readFileSync(join(folder, 'assets', name));
  const names = new Set(readdirSync(join(folder, 'assets')));
  for (const name of names) {
    const contentType = CONTENT_TYPES[extname(name)];
    if (contentType === undefined) continue;
    assets.set(name, {
      contentType,
      plain: read(name),
      ...(names.has(`${name}.br`) && { br: read(`${name}.br`) }),
      ...(names.has(`${name}.gz`) && { gzip: read(`${name}.gz`) }),
    });
  }
  return { page: readFileSync(join(folder, 'index.html'), 'utf8'), assets };
}

function sendAsset({ contentType, plain, br, gzip }: Asset, request: Request, response: Response): void {
  const accepted = request.acceptsEncodings(['br', 'gzip', 'identity']);
  const [encoding, body] =
    accepted === 'br' && br ? ['br', br] : accepted !== 'identity' && accepted && gzip ? ['gzip', gzip] : ['', plain];
  response.set({
    'content-type': contentType,
    'cache-control': 'public, max-age=31536000, immutable',
    'x-content-type-options': 'nosniff',
    // Without it the middleware would compress what is compressed already, or choose an encoding itself.
    'content-encoding': encoding || 'identity',
    vary: 'accept-encoding',
  });
  response.end(body);
}

/** The page itself keeps the choice of a person here; reading it on the server avoids a flash of the other theme. */
const THEMES = new Set(['light', 'dark']);

function sendPage(page: string, environmentName: string): RequestHandler {
  const named = page.replaceAll('%ENVIRONMENT_NAME%', () => escaped(environmentName));
  return (request, response) => {
    const { console_theme: theme } = parseCookie(request.headers.cookie ?? '');
    const chosen = theme !== undefined && THEMES.has(theme) ? ` data-theme="${theme}"` : '';
    response
      .set({
        'content-security-policy': POLICY,
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'same-origin',
        'cross-origin-opener-policy': 'same-origin',
        'cache-control': 'no-store',
      })
      .type('html')
      .send(named.replace('<html', () => `<html${chosen}`));
  };
}
