/** What the listeners answer beside the declared endpoints: written by hand, as there is no declaration to read. */
import { itemAt } from '../../../src/platform/core/present.ts';
import { readTestFiles } from './endpoint-coverage.ts';

interface Elsewhere {
  address: string;
  credential: string;
  what: string;
  /** Those whose text has the address. */
  tests: string[];
}

const ADDRESSES: readonly [address: string, credential: string, what: string][] = [
  ['GET /healthz', '', 'The process is up (both listeners)'],
  ['GET /readyz', '', 'It can serve: the database and Temporal answer (both listeners)'],
  ['GET /metrics', '', 'Figures for Prometheus (control plane only)'],
  ['GET /', '', 'Leads a browser to the console'],
  ['GET /console', '', 'The console, at every address below it'],
  ['GET /docs', '', 'Reference page of the public API'],
  ['GET /docs/control-plane', '', 'Reference page of the control plane'],
  ['GET /openapi/public.json', '', 'OpenAPI document of the public API'],
  ['GET /openapi/control-plane.json', '', 'OpenAPI document of the control plane'],
  ['GET /login', '', 'Sign-in page, or the way to the OpenID provider'],
  ['POST /login/code', '', 'Mails a sign-in code'],
  ['POST /login/verify', 'code', 'Takes the code and begins a session'],
  ['GET /login/link', 'link', 'What the link in a sign-in mail opens; signs nobody in by itself'],
  ['POST /login/link', 'link', 'Signs in by the link, once'],
  ['GET /login/local', 'link', 'Signs the owner in by the link that the embedded mode prints, once, on this machine'],
  ['POST /login/workspace', 'choice', 'Chooses one of several workspaces'],
  ['GET /login/callback', 'OpenID provider', 'Where the OpenID provider sends people back to'],
  ['POST /logout', 'session', 'Ends the session, or all of the person'],
  ['GET /.well-known/jwks.json', '', 'Keys of the local issuer of access tokens (embedded mode)'],
  ['GET /miniapps/{token}', 'token', 'A page that an agent gave to a person'],
  ['POST /miniapps/{token}', 'token', 'What the person answered'],
  ['GET /outputs/confirm', 'link', 'Asks an address whether it wants the artifacts of a workspace by mail'],
  ['POST /outputs/confirm', 'link', 'What it answered'],
  ['GET /act/{token}', 'link', 'What waits for whom it was mailed to; opening it decides nothing'],
  ['POST /act/{token}', 'link', 'Their answer, once'],
  ['POST /mcp', 'api-key', 'The service as an MCP server'],
];

/** Tests of the platform count here: these are its own addresses. */
export async function elsewhere(): Promise<Elsewhere[]> {
  const files = await readTestFiles(/^(architecture|security)\//);
  return ADDRESSES.map(([address, credential, what]) => {
    const path = itemAt(address.split(' '), 1)
      .replace(/\{\w+\}$/, '')
      .replaceAll('.', '\\.');
    const named = new RegExp(`${path}(?![\\w.-])`);
    const tests = files.filter(({ text }) => named.test(text)).map(({ name }) => name);
    return { address, credential: credential || 'none', what, tests };
  });
}
