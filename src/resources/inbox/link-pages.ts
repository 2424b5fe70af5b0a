/** The pages of action links: without a script, for any width, and small, as they are opened on the way. */
import { alert, escaped, hidden, page } from '../../platform/http/pages.ts';
import { fieldsOf } from '../../platform/core/record.ts';
import type { WaitDetailRow } from './contract.ts';
import type { Linked } from './links.ts';
import { type Answer } from './model.ts';

/** What somebody has written already. */
export type Draft = Partial<Record<'answer' | 'comment' | 'text' | 'raise_by_usd' | 'code', string>>;

const TITLE = 'Your answer is asked for';
/** Characters: the page stays below 15 kB; all of it is in the console. */
const MAX_PROMPT = 2_000;
const MAX_WORK = 1_500;
const MAX_LISTED = 5;
const MAX_ACTIONS = 12;
const MAX_ACTION = 300;

const LABELS: Readonly<Record<Answer, string>> = {
  approve: 'Approve',
  reject: 'Reject',
  apply: 'Apply the plan',
  request_changes: 'Ask for changes',
  submit: 'Send the answer',
  resume: 'Resume',
  raise_budget: 'Raise the budget and resume',
  retry: 'Retry',
  abandon: 'Abandon the project',
  done: 'It took effect',
  not_done: 'It did not take effect',
};

const cut = (text: string, most: number): string => {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most).join('')} …`;
};
const at = (time: unknown): string => new Date(String(time)).toISOString().slice(0, 16).replace('T', ' ') + ' UTC';
const term = (name: string, value: string | null): string =>
  value === null ? '' : `<dt>${name}</dt><dd>${escaped(cut(value, 200))}</dd>\n`;

interface Shown {
  linked: Linked;
  baseUrl: string;
  draft?: Draft;
  problem?: string;
  /** It was just now, by this link. */
  isAnswered?: boolean;
}

export function linkedPage(nonce: string, { linked, baseUrl, draft = {}, problem, isAnswered }: Shown): string {
  const { wait, recipient, workspaceId, state } = linked;
  const facts = `<dl>
${term('Workspace', workspaceId)}${term('Project', wait.project_title)}${term('Step', placeOf(wait))}${term('Agent', wait.agent)}${term('Run', wait.run_id)}${term('Asked', recipient)}${term(
    'Due',
    wait.due_at === null ? null : at(wait.due_at),
  )}</dl>`;
  const console = `<p class="more"><a href="${escaped(`${baseUrl}/console/inbox/${wait.id}`)}" rel="noreferrer">All of it in the console</a></p>`;
  const body =
    state === 'open'
      ? `${about(wait)}\n${alert(problem)}${formOf(wait, draft)}`
      : `<p role="status">${escaped(NOTICES[state](wait, isAnswered === true))}</p>`;
  return page(TITLE, nonce, `<h1>${escaped(headingOf(wait))}</h1>\n${facts}\n${body}\n${console}`);
}

/** A title is the first line of what is asked. One that was cut says little and takes much, and the whole stands below. */
function headingOf({ title, prompt, kind }: WaitDetailRow): string {
  if (kind === 'paused') return 'The project has stopped';
  return prompt !== null && prompt !== title && restOf(prompt, title) === prompt ? TITLE : title;
}
/** What is asked after the line that is the title. */
const restOf = (prompt: string, title: string): string =>
  prompt.startsWith(`${title}\n`) ? prompt.slice(title.length).trim() : prompt;

const STOPPED_BY: Readonly<Record<NonNullable<WaitDetailRow['pause_reason']>, string>> = {
  requested: 'Somebody paused it.',
  subtask_failed: 'A step failed, and has no attempt left.',
  gate_rejected: 'A gate was rejected.',
  gate_misconfigured: 'A gate cannot be opened as it is set up.',
  budget_breached: 'What it may spend is used up, or would be by its next step.',
  repeat_crash: 'A step was broken off again and again.',
  nonidempotent_crash: 'A step was broken off that may have done what must not be done twice.',
  nothing_dispatchable: 'None of its steps can begin.',
  gate_expired: 'Nobody answered a gate in time.',
};

const RAISED_BY: Readonly<Record<WaitDetailRow['limits'][number]['raised_by'], string>> = {
  members: 'members raise it',
  admins: 'owners and admins raise it',
  payment: 'to be topped up',
};

const placeOf = ({ phase_slug, step_slug }: WaitDetailRow): string | null =>
  [phase_slug, step_slug].filter(Boolean).join(' / ') || null;

const NOTICES = {
  settled: ({ answer, settled_by, settled_at, comment }: WaitDetailRow, isAnswered: boolean) =>
    answer === null || settled_at === null
      ? 'Nothing waits for an answer any more: what this was about moved on.'
      : `${isAnswered ? 'Thank you. ' : ''}Answered: ${answer}, by ${settled_by}, ${at(settled_at)}.${comment ? ` "${cut(comment, 500)}"` : ''}`,
  counted: ({ approvals, policy }: WaitDetailRow) =>
    `Your answer was counted: ${approvals} of ${policy?.quorum ?? 1} approvals. It waits for others now.`,
  changed: () =>
    'What this is about has changed since the message was sent, so it takes no answer here. Look at it in the console, or wait for the next message.',
} as const;

function about(wait: WaitDetailRow): string {
  const { prompt, title, pause_reason: reason, artifacts, work, votes, failures, budgets, plan, effect, limits } = wait;
  const lines = [
    ...artifacts
      .slice(0, MAX_LISTED)
      .map(({ phase_slug, version, stale }) => `About ${phase_slug}, version ${version}${stale ? ' (stale)' : ''}`),
    ...failures.slice(0, MAX_LISTED).map(({ step_slug, error }) => `Failed: ${step_slug}. ${cut(error ?? '', 200)}`),
    ...budgets
      .slice(0, MAX_LISTED)
      .map(({ of, spent_usd, budget_usd }) => `Budget of ${of}: ${spent_usd} of ${budget_usd} USD spent`),
    ...limits
      .slice(0, MAX_LISTED)
      .map(
        ({ name, free_usd, limit_usd, needs_usd, raised_by }) =>
          `Stopped by ${name}: ${free_usd} of ${limit_usd} USD left, ${needs_usd} needed (${RAISED_BY[raised_by]})`,
      ),
    ...votes.slice(0, MAX_LISTED).map(({ by, answer }) => `${by}: ${answer}`),
  ].map((line) => `<li>${escaped(line)}</li>`);
  // A plan is shown in words, and not also as its planner wrote it.
  const texts = (plan === null ? work : [])
    .slice(-1)
    .map(
      ({ step_slug, output }) =>
        `<details><summary>${escaped(step_slug)}</summary><pre>${escaped(cut(textOf(output), MAX_WORK))}</pre></details>`,
    );
  return [
    reason === null ? '' : `<p class="asked">${escaped(STOPPED_BY[reason])}</p>`,
    prompt === null || prompt === title
      ? ''
      : `<p class="asked">${escaped(cut(restOf(prompt, title), MAX_PROMPT))}</p>`,
    lines.length > 0 ? `<ul>${lines.join('')}</ul>` : '',
    ...texts,
    plan === null ? '' : planOf(plan),
    effect === null
      ? ''
      : `<details open><summary>${escaped(effect.tool)}</summary><pre>${escaped(cut(textOf(effect.arguments), MAX_WORK))}</pre></details>`,
  ].join('\n');
}

/** An estimate is no more exact than cents. */
const estimate = (usd: unknown): string =>
  Number(usd) < 0.005 ? 'less than 0.01 USD' : `about ${Number(usd).toFixed(2)} USD`;

const PLANNED: Readonly<Record<string, string>> = {
  edit_artifact: 'writes the artifact',
  retrigger: 'runs the phase again',
  instruct: 'runs the phase again, with instructions',
};

/** What a planner proposes, an action a line. What it made is not believed to have the shape that it was asked for. */
function planOf({ summary, actions }: Record<string, unknown>): string {
  const lines = (Array.isArray(actions) ? actions : []).slice(0, MAX_ACTIONS).map((action) => {
    const { kind, phase_slug, rationale, instructions, risk, estimated_cost_usd } = fieldsOf(action);
    const facts = [
      risk !== undefined && `${String(risk)} risk`,
      Number(estimated_cost_usd) > 0 && estimate(estimated_cost_usd),
    ].filter(Boolean);
    const what = `${String(phase_slug)}: ${PLANNED[String(kind)] ?? String(kind)}${facts.length > 0 ? ` (${facts.join(', ')})` : ''}`;
    const why = [rationale, instructions].filter((text) => typeof text === 'string').join('\n');
    return `<li><strong>${escaped(what)}</strong><br>${escaped(cut(why, MAX_ACTION))}</li>`;
  });
  const said = typeof summary === 'string' ? `<p class="asked">${escaped(cut(summary, MAX_ACTION))}</p>\n` : '';
  return `<section aria-label="The plan">\n${said}<ol>${lines.join('')}</ol>\n</section>`;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

function formOf({ choices, question, may_answer: mayAnswer }: WaitDetailRow, draft: Draft): string {
  if (!mayAnswer) return '<p role="status">Others decide here: you are told of it, and are not asked.</p>';
  if (question && question.tool !== 'ask_human') return '<p role="status">It is answered on a page of its own.</p>';
  const takesComment = choices.some(({ takes }) => takes.includes('comment'));
  const raise = choices.find(({ takes, refused }) => takes.includes('raise_by_usd') && refused === null);
  const buttons = choices.map(({ answer, then, cost_estimate_usd: cost, refused }, i) =>
    refused !== null
      ? `<p class="then">${LABELS[answer]}: ${escaped(refused)}</p>`
      : `<button${i === 0 ? '' : ' class="quiet"'} name="answer" value="${answer}">${LABELS[answer]}</button>\n<p class="then">${escaped(then)}${cost === null || Number(cost) === 0 ? '' : ` It takes ${estimate(cost)}, by what the same work cost before.`}</p>`,
  );
  return `<form method="post">
${question ? answerField(question, draft) : ''}${
    takesComment
      ? `<label for="comment">Comment</label>\n<textarea id="comment" name="comment" rows="3" maxlength="10000">${escaped(draft.comment ?? '')}</textarea>\n`
      : ''
  }${
    raise
      ? `<label for="raise">Raise by, in US dollars, at least ${escaped(String(raise.at_least_usd))}</label>\n<input type="text" inputmode="decimal" id="raise" name="raise_by_usd" value="${escaped(draft.raise_by_usd ?? '')}">\n`
      : ''
  }${buttons.join('\n')}
</form>`;
}

function answerField({ options }: NonNullable<WaitDetailRow['question']>, draft: Draft): string {
  if (!options || options.length === 0)
    return `<label for="text">Answer</label>\n<textarea id="text" name="text" rows="3" maxlength="10000">${escaped(draft.text ?? '')}</textarea>\n`;
  const choices = options
    .slice(0, 20)
    .map(
      (option) =>
        `<label class="choice"><input type="radio" name="text" value="${escaped(option)}"${draft.text === option ? ' checked' : ''}> ${escaped(option)}</label>`,
    );
  return `<fieldset><legend>Answer</legend>${choices.join('\n')}</fieldset>\n`;
}

interface Asked {
  linked: Linked;
  draft: Draft;
  challenge: { challengeId: string; delivery: string };
  wasWrong: boolean;
}

export const codePage = (nonce: string, { linked, draft, challenge, wasWrong }: Asked): string =>
  page(
    TITLE,
    nonce,
    `<h1>${escaped(linked.wait.title)}</h1>
<p>This answer takes a confirmation code. One was sent: ${escaped(challenge.delivery)}</p>
${alert(wasWrong ? 'That code is not right, or not good any more.' : undefined)}<form method="post">
${(['answer', 'comment', 'text', 'raise_by_usd'] as const).map((name) => hidden(name, draft[name] ?? '')).join('\n')}
${hidden('challenge_id', challenge.challengeId)}
<label for="code">Code</label>
<input type="text" class="code" id="code" name="code" inputmode="numeric" autocomplete="one-time-code" maxlength="6" required>
<button>Confirm</button>
</form>`,
  );

const notice = (title: string, text: string) => (nonce: string) =>
  page(TITLE, nonce, `<h1>${title}</h1>\n<p>${text}</p>`);

export const goneLinkPage = notice(
  'This link is not good any more',
  'It is too old, was withdrawn, or is not for you any more. What waits for you is in the console.',
);
export const tooManyPage = notice('Too many requests', 'Try again in a minute.');
