/**
 * The pages of sign-in: forms without a script, so that their policy allows none. All that is shown is escaped, and no
 * address but this service's own is linked to or posted to.
 */
import type { Membership } from '../members/store.ts';
import { CHALLENGE_TTL_MS } from './model.ts';

const escaped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');

export const contentSecurityPolicy = (nonce: string): string =>
  [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    'img-src data:',
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

const STYLE = `
:root { color-scheme: light dark; --ink: #17202e; --soft: #55627a; --paper: #fff; --ground: #eef1f6; --line: #b9c2d2;
  --accent: #1d4fd7; --on-accent: #fff; --bad: #a3120a; --bad-ground: #fdecea; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e9edf5; --soft: #a9b4c8; --paper: #1a2130; --ground: #10151f; --line: #46526a;
    --accent: #8fb0ff; --on-accent: #0c1530; --bad: #ffb4ab; --bad-ground: #43201d; }
}
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem; background: var(--ground);
  color: var(--ink); font: 1rem/1.55 system-ui, -apple-system, 'Segoe UI', sans-serif; }
main { width: 100%; max-width: 26rem; padding: 2rem; background: var(--paper); border: 1px solid var(--line);
  border-radius: 0.9rem; box-shadow: 0 0.6rem 2rem rgb(10 20 40 / 10%); }
.brand { margin: 0 0 1.5rem; color: var(--soft); font-size: 0.875rem; font-weight: 600; }
h1 { margin: 0 0 0.5rem; font-size: 1.5rem; line-height: 1.25; }
p { margin: 0 0 1.25rem; color: var(--soft); }
label { display: block; margin-bottom: 0.4rem; font-weight: 600; }
input[type='email'], input[type='text'] { width: 100%; padding: 0.7rem 0.8rem; font: inherit; color: inherit;
  background: transparent; border: 1px solid var(--line); border-radius: 0.5rem; }
input.code { font: 600 1.5rem/1.2 ui-monospace, monospace; letter-spacing: 0.35em; text-align: center; }
button { width: 100%; margin-top: 1rem; padding: 0.75rem 1rem; font: inherit; font-weight: 600; color: var(--on-accent);
  background: var(--accent); border: 1px solid var(--accent); border-radius: 0.5rem; cursor: pointer; }
button.quiet { color: var(--accent); background: transparent; border-color: var(--line); }
:is(a, button, input):focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
a { color: var(--accent); }
.alert { padding: 0.7rem 0.9rem; color: var(--bad); background: var(--bad-ground); border-radius: 0.5rem; }
.more { margin: 1.5rem 0 0; font-size: 0.9rem; }
fieldset { margin: 0; padding: 0; border: 0; }
legend { padding: 0; font-weight: 600; }
.choice { display: flex; gap: 0.7rem; align-items: center; margin: 0.6rem 0 0; padding: 0.7rem 0.8rem; font-weight: 400;
  border: 1px solid var(--line); border-radius: 0.5rem; cursor: pointer; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 0.4rem 1rem; margin: 0 0 1.25rem; }
dt { color: var(--soft); }
dd { margin: 0; font-weight: 600; overflow-wrap: anywhere; }`;

const page = (title: string, nonce: string, body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} - Agent Orchestration Service</title>
<link rel="icon" href="data:,">
<style nonce="${nonce}">${STYLE}
</style>
</head>
<body>
<main>
<p class="brand">Agent Orchestration Service</p>
${body}
</main>
</body>
</html>
`;

const alert = (text: string | undefined): string =>
  text === undefined ? '' : `<p class="alert" role="alert" id="problem">${escaped(text)}</p>\n`;
const described = (text: string | undefined): string => (text === undefined ? '' : ' aria-describedby="problem"');
const hidden = (name: string, value: string): string =>
  `<input type="hidden" name="${name}" value="${escaped(value)}">`;

export const emailPage = (nonce: string, { next, problem }: { next: string; problem?: string }): string =>
  page(
    'Sign in',
    nonce,
    `<h1>Sign in</h1>
<p>We send a six-digit code to your e-mail address.</p>
${alert(problem)}<form method="post" action="/login/code">
${hidden('next', next)}
<label for="email">E-mail address</label>
<input type="email" id="email" name="email" autocomplete="email" required autofocus${described(problem)}>
<button>Send me a code</button>
</form>`,
  );

interface CodePage {
  challengeId: string;
  next: string;
  problem?: string;
}

export const codePage = (nonce: string, { challengeId, next, problem }: CodePage): string =>
  page(
    'Enter the code',
    nonce,
    `<h1>Enter the code</h1>
<p>If the address belongs to a member, a code is on its way. It is valid for ${CHALLENGE_TTL_MS / 60_000} minutes.</p>
${alert(problem)}<form method="post" action="/login/verify">
${hidden('challenge_id', challengeId)}
${hidden('next', next)}
<label for="code">Six-digit code</label>
<input type="text" class="code" id="code" name="code" inputmode="numeric" autocomplete="one-time-code" pattern="[0-9]{6}" maxlength="6" title="Six digits" required autofocus${described(problem)}>
<button>Sign in</button>
</form>
<p class="more"><a href="/login?next=${escaped(encodeURIComponent(next))}">Use another address, or get a new code</a></p>`,
  );

const choice = ({ workspaceId, role }: Membership, i: number): string =>
  `<label class="choice"><input type="radio" name="workspace" value="${escaped(workspaceId)}"${i === 0 ? ' checked' : ''} required>
<span>${escaped(workspaceId)} (${role})</span></label>`;

export const workspacePage = (nonce: string, memberships: readonly Membership[]): string =>
  page(
    'Choose a workspace',
    nonce,
    `<h1>Choose a workspace</h1>
<form method="post" action="/login/workspace">
<fieldset>
<legend>You are a member of several</legend>
${memberships.map(choice).join('\n')}
</fieldset>
<button>Continue</button>
</form>`,
  );

interface SignedIn {
  email: string;
  workspace: string;
  role: string;
  endsAt: Date;
}

export const signedInPage = (nonce: string, { email, workspace, role, endsAt }: SignedIn): string =>
  page(
    'Signed in',
    nonce,
    `<h1>You are signed in</h1>
<dl>
<dt>As</dt><dd>${escaped(email)}</dd>
<dt>Workspace</dt><dd>${escaped(workspace)}</dd>
<dt>Role</dt><dd>${escaped(role)}</dd>
<dt>Until</dt><dd><time datetime="${endsAt.toISOString()}">${endsAt.toISOString().slice(0, 16).replace('T', ' ')} UTC</time></dd>
</dl>
<p>Reference: <a href="/docs">public API</a>, <a href="/docs/control-plane">control plane</a></p>
<form method="post" action="/logout"><button>Sign out</button></form>
<form method="post" action="/logout?everywhere=1"><button class="quiet">Sign out everywhere</button></form>`,
  );

export const noticePage = (nonce: string, problem: string): string =>
  page(
    'Not signed in',
    nonce,
    `<h1>You are not signed in</h1>
${alert(problem)}<p class="more"><a href="/login">Try again</a></p>`,
  );

export const signedOutPage = (nonce: string): string =>
  page('Signed out', nonce, `<h1>You are signed out</h1>\n<p><a href="/login">Sign in again</a></p>`);
