/** Posts to Slack: of an artifact, its beginning and the address at which the rest is read. */
import type { GuardedFetch } from '../../../platform/egress/egress.ts';
import { discard } from '../../../platform/egress/read-capped.ts';
import { SAMPLE_NOTE } from '../../samples/model.ts';
import type { DestinationTarget } from '../contract.ts';
import { fileOf, refusedWith, type DeliveredOutput } from './output.ts';

type SlackConfig = Extract<DestinationTarget, { kind: 'slack' }>['config'];

/** Slack takes 3,000 characters in a section, escapes included: each of these may become five. */
const MAX_EXCERPT = 500;

/** Escapes what Slack would read as a mention, a link or markup of its own. */
export const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const escapedInCode = (text: string): string => escaped(text).replaceAll('```', "'''");

/** @param text may have Slack's own markup */
export const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text } });

interface SlackMessage {
  /** Notifications show this text, because they show no blocks. */
  text: string;
  blocks: readonly object[];
}

/** @throws OutputError */
export async function postToSlack(
  fetch: GuardedFetch,
  { webhook_url: url }: SlackConfig,
  { text, blocks }: SlackMessage,
  signal?: AbortSignal,
): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text, blocks }),
    redirect: 'manual',
    signal,
  });
  await discard(response);
  if (!response.ok) throw refusedWith(response.status, 'Slack');
}

export async function sendSlack(
  { fetch, linkTo }: { fetch: GuardedFetch; linkTo: (projectId: string) => string },
  config: SlackConfig,
  output: DeliveredOutput,
  signal?: AbortSignal,
): Promise<void> {
  const { project, artifact, isSample } = output;
  const { text } = fileOf(output);
  const characters = [...text];
  const isCut = characters.length > MAX_EXCERPT;
  const excerpt = characters.slice(0, MAX_EXCERPT).join('') + (isCut ? '…' : '');
  const title = `${escapedInCode(project.title)}: ${artifact.phaseSlug}, version ${artifact.version}`;
  const blocks = [
    section(`*${title}*`),
    ...(isSample ? [section(SAMPLE_NOTE)] : []),
    section(`\`\`\`${escapedInCode(excerpt)}\`\`\``),
    section(`<${linkTo(project.id)}|${isCut ? 'Read all of it' : 'All artifacts of the project'}>`),
  ];
  await postToSlack(fetch, config, { text: title, blocks }, signal);
}
