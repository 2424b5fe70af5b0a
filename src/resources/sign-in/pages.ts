/** The pages of sign-in. */
import { alert, escaped, hidden, page } from '../../platform/http/pages.ts';
import type { Membership } from '../members/store/index.ts';
import { CHALLENGE_TTL_MS } from './model.ts';

const described = (text: string | undefined): string => (text === undefined ? '' : ' aria-describedby="problem"');

/** How somebody signs in where no mail server is set, who has the address of the service and nothing else. */
interface WithoutMail {
  /** The owner of an embedded deployment, whom the link that `npm start` prints signs in. */
  owner: string | undefined;
}

const inTheLog = (withoutMail: WithoutMail | undefined): string =>
  withoutMail === undefined
    ? ''
    : `<p class="more">No mail server is set here: the code is a line of the log of the service, with the event <code>mail</code>.${
        withoutMail.owner === undefined
          ? ''
          : ` The owner is <strong>${escaped(withoutMail.owner)}</strong>. The link that <code>npm start</code> prints into its terminal needs no code.`
      }</p>`;

interface EmailPage {
  next: string;
  problem?: string;
  withoutMail?: WithoutMail | undefined;
}

export const emailPage = (nonce: string, { next, problem, withoutMail }: EmailPage): string =>
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
</form>${inTheLog(withoutMail)}`,
  );

interface CodePage {
  challengeId: string;
  next: string;
  problem?: string;
  withoutMail?: WithoutMail | undefined;
}

export const codePage = (nonce: string, { challengeId, next, problem, withoutMail }: CodePage): string =>
  page(
    'Enter the code',
    nonce,
    `<h1>Enter the code</h1>
<p>${
      withoutMail === undefined
        ? 'If the address belongs to a member, a code is on its way.'
        : 'If the address belongs to a member, a code is in the log of the service, in the latest line with the event <code>mail</code>.'
    } It is valid for ${CHALLENGE_TTL_MS / 60_000} minutes.
If no new ${withoutMail === undefined ? 'mail' : 'line'} comes, the link in one of the last hour signs you in.</p>
${alert(problem)}<form method="post" action="/login/verify">
${hidden('challenge_id', challengeId)}
${hidden('next', next)}
<label for="code">Six-digit code</label>
<input type="text" class="code" id="code" name="code" inputmode="numeric" autocomplete="one-time-code" pattern="[0-9]{6}" maxlength="6" title="Six digits" required autofocus${described(problem)}>
<button>Sign in</button>
</form>
<p class="more"><a href="/login?next=${escaped(encodeURIComponent(next))}">Use another address, or get a new code</a></p>`,
  );

export const linkPage = (nonce: string, { token, email }: { token: string; email: string }): string =>
  page(
    'Sign in',
    nonce,
    `<h1>Sign in</h1>
<p>You sign in here, in this browser, as <strong>${escaped(email)}</strong>.</p>
<form method="post" action="/login/link">
${hidden('token', token)}
<button>Sign in</button>
</form>
<p class="more">If you did not ask for this, close the page.</p>`,
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
<p><a href="/console">Open the console</a></p>
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
