/**
 * The reference page and the OpenAPI documents that it shows. Swagger UI comes from its package, so the page makes no
 * request to anyone else; its content security policy refuses one, and with it any script the page did not name.
 */
import express, { type RequestHandler } from 'express';
import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';

export interface DocsOptions {
  /** Schemas of files that people write, by name: editors complete and check by them. */
  schemas?: Readonly<Record<string, () => unknown>>;
  /** Each is called once, when it is first asked for. */
  documents: { public: () => unknown; controlPlane: () => unknown };
}

interface Page {
  path: string;
  name: string;
  documentUrl: string;
}

const PAGES: readonly Page[] = [
  { path: '/docs', name: 'Public API', documentUrl: '/openapi/public.json' },
  { path: '/docs/control-plane', name: 'Control plane', documentUrl: '/openapi/control-plane.json' },
];

// Only these files are served, because others of the package include a page that loads a document from the internet.
const ASSETS = new Set(['swagger-ui-bundle.js', 'swagger-ui.css']);
const require = createRequire(import.meta.url);
const ASSETS_DIR = dirname(require.resolve('swagger-ui-dist/package.json'));

/** Mount it at the root of the gateway. */
export function docsRouter({ documents, schemas = {} }: DocsOptions): express.Router {
  const router = express.Router();
  router.get('/openapi/public.json', sendDocument(documents.public));
  router.get('/openapi/control-plane.json', sendDocument(documents.controlPlane));
  for (const [name, schema] of Object.entries(schemas)) router.get(`/schemas/${name}.json`, sendDocument(schema));
  router.get('/docs/assets/:name', (request, response, next) => {
    const { name } = request.params;
    if (ASSETS.has(name)) response.sendFile(name, { root: ASSETS_DIR, maxAge: '1h' });
    else next();
  });
  for (const page of PAGES) router.get(page.path, sendPage(page));
  return router;
}

function sendDocument(build: () => unknown): RequestHandler {
  let text: string | undefined;
  return (_request, response) => {
    text ??= JSON.stringify(build());
    response.type('json').send(text);
  };
}

const sendPage =
  (page: Page): RequestHandler =>
  (_request, response) => {
    const nonce = randomBytes(16).toString('base64');
    response
      .set({
        'content-security-policy': policy(nonce),
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
      })
      .type('html')
      .send(html(page, nonce));
  };

// The images in `data:` are the icons in Swagger UI's style sheet.
const policy = (nonce: string): string =>
  [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

const html = (page: Page, nonce: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${page.name} - Agent Orchestration Service</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/docs/assets/swagger-ui.css">
    <style nonce="${nonce}">
      body { margin: 0; }
      nav { display: flex; gap: 1rem; padding: 0.75rem 1.5rem; background: #1b1b1b; font: 600 1rem sans-serif; }
      nav a { color: #bbb; text-decoration: none; }
      nav a[aria-current] { color: #fff; border-bottom: 2px solid #49cc90; }
    </style>
  </head>
  <body>
    <nav aria-label="Documents">
      ${PAGES.map(({ path, name }) => `<a href="${path}"${path === page.path ? ' aria-current="page"' : ''}>${name}</a>`).join('\n      ')}
    </nav>
    <main id="reference"></main>
    <script nonce="${nonce}" src="/docs/assets/swagger-ui-bundle.js"></script>
    <script nonce="${nonce}">
      SwaggerUIBundle({ dom_id: '#reference', url: '${page.documentUrl}', deepLinking: true, filter: true });
    </script>
  </body>
</html>
`;
