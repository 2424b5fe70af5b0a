/** The pages that the link in a question leads to. */
import { escaped, hidden, page } from '../../platform/http/pages.ts';
import { QUESTION_PATH, type RecipientState } from './model.ts';

interface Question {
  token: string;
  email: string;
  workspaceId: string;
  destination: string;
  state: RecipientState;
}

const SAID: Readonly<Record<RecipientState, string>> = {
  waiting: 'Nothing is sent to you until you say so.',
  confirmed: 'You have said yes. You can still change your mind.',
  refused: 'You have said no, and nothing is sent to you. You can still change your mind.',
  member: 'You are a member of the workspace: its artifacts are sent to you without asking.',
};

export const questionPage = (nonce: string, { token, email, workspaceId, destination, state }: Question): string =>
  page(
    'Artifacts by mail',
    nonce,
    `<h1>Artifacts by mail</h1>
<p>The workspace wants to mail the artifacts of its projects to you.</p>
<dl>
<dt>To</dt><dd>${escaped(email)}</dd>
<dt>Workspace</dt><dd>${escaped(workspaceId)}</dd>
<dt>Its name for this</dt><dd>${escaped(destination)}</dd>
</dl>
<p>${SAID[state]}</p>
<form method="post" action="${QUESTION_PATH}">
${hidden('token', token)}
<button name="answer" value="confirmed">Yes, send them to me</button>
<button class="quiet" name="answer" value="refused">No, send me nothing</button>
</form>`,
  );

export const answeredPage = (nonce: string, answer: 'confirmed' | 'refused'): string =>
  page(
    'Artifacts by mail',
    nonce,
    answer === 'confirmed'
      ? '<h1>You will be sent them</h1>\n<p>What was held back for you in the last days is on its way.</p>'
      : '<h1>You will be sent nothing</h1>\n<p>The workspace sees that you do not want its artifacts.</p>',
  );

export const goneLinkPage = (nonce: string): string =>
  page(
    'Artifacts by mail',
    nonce,
    '<h1>This link is not good any more</h1>\n<p>It is too old, or nobody wants to send you anything any more.</p>',
  );
