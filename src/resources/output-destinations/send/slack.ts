/** Sends a message with the beginning of the artifact, and the address at which the rest is read. */
import type { GuardedFetch } from '../../../platform/egress/egress.ts';
import { discard } from '../../../platform/egress/read-capped.ts';
import type { DestinationTarget } from '../contract.ts';
import { fileOf, refusedWith, type Output } from './output.ts';

type SlackConfig = Extract<DestinationTarget, { kind: 'slack' }>['config'];

/** Slack takes 3,000 characters in a section, escapes included: each of these may become five. */
const MAX_EXCERPT = 500;

/** Escapes what Slack would read as a mention, a link or markup of its own. */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('```', "'''");

export async function sendSlack(
  { fetch, linkTo }: { fetch: GuardedFetch; linkTo: (projectId: string) => string },
  { webhook_url: url }: SlackConfig,
  output: Output,
  signal?: AbortSignal,
): Promise<void> {
  const { project, artifact } = output;
  const { text } = fileOf(output);
  const characters = [...text];
  const isCut = characters.length > MAX_EXCERPT;
  const excerpt = characters.slice(0, MAX_EXCERPT).join('') + (isCut ? '…' : '');
  const title = `${escaped(project.title)}: ${artifact.phaseSlug}, version ${artifact.version}`;
  const section = (words: string) => ({ type: 'section', text: { type: 'mrkdwn', text: words } });
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      // Notifications show this text, because they show no blocks.
      text: title,
      blocks: [
        section(`*${title}*`),
        section(`\`\`\`${escaped(excerpt)}\`\`\``),
        section(`<${linkTo(project.id)}|${isCut ? 'Read all of it' : 'All artifacts of the project'}>`),
      ],
    }),
    redirect: 'manual',
    signal,
  });
  await discard(response);
  if (!response.ok) throw refusedWith(response.status, 'Slack');
}
