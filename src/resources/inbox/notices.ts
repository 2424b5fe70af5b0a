/** What destinations are told of a wait, read when it is sent: as it is then, with a link of the recipient's own. */
import type { NoticeReader, ToldWait } from '../output-destinations/send/notice.ts';
import type { WaitRow } from './contract.ts';
import type { ActionLinks } from './links.ts';
import type { InboxStore } from './store.ts';

export interface NoticeReaderOptions {
  store: Pick<InboxStore, 'find'>;
  links: Pick<ActionLinks, 'issue' | 'read'>;
  /** The public address of the gateway. */
  baseUrl: string;
}

export const createNoticeReader = ({ store, links, baseUrl }: NoticeReaderOptions): NoticeReader => {
  /** By a link only whoever can answer by it; others look in the console. A repeated attempt makes another, as good. */
  async function ownLink(told: { customerId: string; waitId: string; revision: number; recipient: string }) {
    const link = await links.issue(told);
    const linked = link && (await links.read(link.token));
    return linked?.state === 'open' && linked.wait.may_answer ? link?.url : undefined;
  }

  return {
    async read({ customerId, waitId, revision, recipient }) {
      const row = await store.find({ customerId, actor: recipient ?? 'system', mayChange: true }, waitId);
      if (!row) return undefined;
      const own =
        recipient !== null && row.status === 'open'
          ? await ownLink({ customerId, waitId, revision, recipient })
          : undefined;
      return { wait: toldOf(row), url: own ?? `${baseUrl}/console/inbox/${waitId}`, isOwnLink: own !== undefined };
    },
  };
};

const iso = (time: WaitRow['due_at']): string | null => (time === null ? null : new Date(time).toISOString());

const toldOf = (row: WaitRow): ToldWait => ({
  id: row.id,
  kind: row.kind,
  title: row.title,
  status: row.status,
  projectId: row.project_id,
  projectTitle: row.project_title,
  workflowSlug: row.workflow_slug,
  phaseSlug: row.phase_slug,
  stepSlug: row.step_slug,
  runId: row.run_id,
  openedAt: new Date(row.opened_at).toISOString(),
  dueAt: iso(row.due_at),
  settledAt: iso(row.settled_at),
  answer: row.answer,
  settledBy: row.settled_by,
});
