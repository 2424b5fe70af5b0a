/**
 * What a person's browser gets: a frame around the page, and the page in a sandbox of its own origin within.
 *
 * The page is a workspace's, its arguments are a model's. It runs scripts, and can reach nothing: no cookie and no
 * storage (its origin is opaque), no address (the frame's policy is its own too, and refuses to load, to post and to go
 * anywhere), no other window. All it can do is to hand a value to the frame, which sends it to the page's own address.
 */
import { escaped } from '../../platform/http/pages.ts';

/** @param submitUrls the addresses of pages, under each name that the browser may know the service by */
export const contentSecurityPolicy = (submitUrls: readonly string[]): string =>
  [
    'sandbox allow-scripts allow-forms',
    "default-src 'none'",
    "script-src 'unsafe-inline'",
    "style-src 'unsafe-inline'",
    'img-src data: blob:',
    'font-src data:',
    'media-src data: blob:',
    `connect-src ${submitUrls.join(' ')}`,
    // The page is written into the frame, so nothing has to be loaded into it from an address.
    "frame-src 'none'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

const attribute = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

/** Writes a value into a script so that nothing in it can end the script. */
const scriptValue = (value: unknown): string =>
  `JSON.parse(${JSON.stringify(JSON.stringify(value)).replaceAll('<', '\\u003c')})`;

/** Runs before the page: it gives it its arguments and `window.submit`, and takes what its forms would send. */
const prelude = (args: unknown): string => `<script>
window.ARGS = ${scriptValue(args)};
window.submit = (value) => parent.postMessage({ submitted: JSON.stringify(value === undefined ? null : value) }, '*');
addEventListener('submit', (event) => {
  if (event.defaultPrevented) return;
  event.preventDefault();
  const fields = new FormData(event.target, event.submitter);
  const texts = (name) => fields.getAll(name).map((field) => (typeof field === 'string' ? field : field.name));
  const values = [...new Set(fields.keys())].map((name) => [name, texts(name)]);
  submit(Object.fromEntries(values.map(([name, all]) => [name, all.length > 1 ? all : all[0]])));
});
</script>
`;

const STYLE = `html, body { margin: 0; height: 100%; font: 16px/1.5 system-ui, sans-serif; }
body { display: flex; flex-direction: column; }
iframe { flex: 1; width: 100%; border: 0; }
p { margin: 0; padding: 0.75rem 1rem; background: #eef3fb; color: #123; }
header { padding: 0.5rem 1rem; font-size: 0.875rem; background: #eef3fb; color: #123; overflow-wrap: anywhere; }`;

const document = (body: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Input needed</title>
<style>
${STYLE}
</style>
${body}
</html>
`;

export interface MiniappPage {
  html: string;
  args: unknown;
  agent: string | null;
  runId: string;
  workspace: string;
  /** ISO 8601, or as Postgres writes it. */
  expiresAt: string;
}

/**
 * Says who asks, of which run, until when. It stands outside of the sandbox, so that no page can say anything else in its
 * place.
 */
function origin({ agent, runId, workspace, expiresAt }: MiniappPage): string {
  const until = new Date(expiresAt);
  const inWords = until.toUTCString().replace(/:\d\d GMT$/, ' UTC');
  const asker = agent === null ? 'An agent' : `The agent <b>${escaped(agent)}</b>`;
  return `<header>${asker} of the workspace <b>${escaped(workspace)}</b> asks, in run <code>${escaped(runId)}</code>.
It takes an answer until <time datetime="${until.toISOString()}">${inWords}</time>.</header>`;
}

export const pageDocument = (page: MiniappPage): string =>
  document(`${origin(page)}
<iframe title="Page" sandbox="allow-scripts allow-forms" srcdoc="${attribute(prelude(page.args) + page.html)}"></iframe>
<p role="status" hidden></p>
<script>
const frame = document.querySelector('iframe');
const notice = document.querySelector('p');
const say = (text) => { notice.textContent = text; notice.hidden = false; };
let isSending = false;
addEventListener('message', async ({ source, data }) => {
  if (source !== frame.contentWindow || typeof data?.submitted !== 'string' || isSending) return;
  isSending = true;
  say('Sending...');
  const sent = { method: 'POST', body: data.submitted, credentials: 'omit', cache: 'no-store' };
  const answer = await fetch(location.href, sent).catch(() => undefined);
  if (answer?.ok || answer?.status === 409) {
    frame.remove();
    return say(answer.ok ? 'Sent. You can close this page.' : 'This was answered already.');
  }
  isSending = false;
  if (answer?.status === 413) return say('That is too long to be sent.');
  say(answer?.status === 404 ? 'This page takes no answer any more.' : 'It could not be sent. Please try again.');
});
</script>`);

/** Makes the document of a page that takes nothing, or nothing any more. */
export const noticeDocument = (text: string): string => document(`<p role="status">${text}</p>`);
