/** Shows what a wait is about: everything that somebody has to see to decide. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import type { EditPlan, WaitDetail } from '../../api/types.ts';
import { Content } from '../../ui/content.tsx';
import { Refusal, Skeleton } from '../../ui/empty.tsx';
import { plural } from '../../ui/figures.ts';
import { Icon } from '../../ui/icon.tsx';
import { asText } from '../../ui/json.tsx';
import { Money } from '../../ui/money.tsx';
import { Time } from '../../ui/time.tsx';
import { artifactsQuery, attemptsQuery } from '../projects/queries.ts';
import { Plan } from './plan.tsx';
import { answerWords, wayWords } from './words.ts';

const Diff = lazy(() => import('../../ui/diff.tsx').then((module) => ({ default: module.Diff })));

export function Subject({ wait }: { wait: WaitDetail }) {
  return (
    <div className="space-y-3">
      {wait.failures.map((failure) => (
        <div key={failure.subtask_id} className="card space-y-1 border-bad p-3">
          <h3 className="font-medium">
            {failure.phase_slug}: {failure.step_slug}
          </h3>
          {failure.error && <p className="break-words text-bad">{failure.error}</p>}
          {failure.outcome_unknown && (
            <p className="text-warn">
              It may have done what must not be done twice: look there before it is tried again.
            </p>
          )}
        </div>
      ))}
      {wait.limits.length > 0 && <Limits limits={wait.limits} />}
      {wait.budgets.length > 0 && <Budgets budgets={wait.budgets} />}
      {wait.plan && <Plan plan={wait.plan as unknown as EditPlan} projectId={wait.project_id!} />}
      {wait.work.map((work, i) => (
        <WorkView key={work.attempt_id} wait={wait} work={work} isOpen={isMain(wait, i)} />
      ))}
      {wait.reviews.length > 0 && (
        <Fold title={`What reviewers objected to (${wait.reviews.length})`}>
          <ul className="space-y-3">
            {wait.reviews.map(({ step_slug: step, role, feedback, at }) => (
              <li key={step + at}>
                <p className="text-xs text-soft">
                  {step}, {role}, <Time at={at} />
                </p>
                <Content content={feedback} />
              </li>
            ))}
          </ul>
        </Fold>
      )}
      {wait.artifacts.map((artifact) => (
        <ArtifactFold key={artifact.id} projectId={wait.project_id!} artifact={artifact} />
      ))}
      {wait.decisions.length > 0 && (
        <Fold title={`Decided before (${wait.decisions.length})`} isOpen>
          <ul className="space-y-2">
            {wait.decisions.map((decision) => (
              <Said key={decision.revision + decision.at} {...decision} />
            ))}
          </ul>
        </Fold>
      )}
      {wait.votes.length > 0 && (
        <Fold title={`Said so far (${wait.votes.length})`} isOpen>
          <ul className="space-y-2">
            {wait.votes.map((vote) => (
              <Said key={vote.by} {...vote} />
            ))}
          </ul>
        </Fold>
      )}
    </div>
  );
}

/** Opens the work that was made last, because that is what people come to see. */
const isMain = ({ work }: WaitDetail, i: number): boolean => {
  const last = work.findLastIndex(({ role }) => role === 'producer');
  return i === (last === -1 ? work.length - 1 : last);
};

function Said({
  by,
  answer,
  comment,
  at,
  via,
}: {
  by: string;
  answer: string;
  comment: string | null;
  at: string;
  via: string;
}) {
  return (
    <li>
      <p>
        {by} {answerWords(answer).done} {wayWords(via)} <Time at={at} className="text-soft" />
      </p>
      {comment && <p className="border-l-2 pl-2 break-words whitespace-pre-wrap">{comment}</p>}
    </li>
  );
}

interface FoldProps {
  title: ReactNode;
  isOpen?: boolean;
  onOpen?: () => void;
  children: ReactNode;
}

function Fold({ title, isOpen = false, onOpen, children }: FoldProps) {
  return (
    <details className="card" open={isOpen} onToggle={({ currentTarget }) => currentTarget.open && onOpen?.()}>
      <summary className="min-h-9 px-3 py-2 text-sm text-soft pointer-coarse:min-h-11">{title}</summary>
      <div tabIndex={0} role="group" aria-label="Content" className="max-h-[60vh] overflow-y-auto border-t p-3">
        {children}
      </div>
    </details>
  );
}

interface WorkViewProps {
  wait: WaitDetail;
  work: WaitDetail['work'][number];
  isOpen: boolean;
}

interface ComparedProps {
  content: unknown;
  /** The earlier version, where it is known. */
  before: unknown;
  /** Names the two versions. */
  label: string;
  isDiff: boolean;
}

/** Shows a content, or how it differs from its earlier version. */
function Compared({ content, before, label, isDiff }: ComparedProps) {
  if (!isDiff || before === undefined) return <Content content={content} />;
  return (
    <Suspense fallback={<Skeleton rows={3} />}>
      <Diff from={asText(before)} to={asText(content)} label={label} />
    </Suspense>
  );
}

function DiffSwitch({ isDiff, onChange, since }: { isDiff: boolean; onChange: (is: boolean) => void; since: string }) {
  return (
    <label className="mb-2 flex min-h-8 items-center gap-2 text-sm pointer-coarse:min-h-11">
      <input type="checkbox" checked={isDiff} onChange={() => onChange(!isDiff)} />
      Only what has changed since {since}
    </label>
  );
}

/** Shows what a step made. Once the step was done again, it first shows the difference from the attempt before. */
function WorkView({ wait, work, isOpen }: WorkViewProps) {
  const hasBefore = work.attempt_number > 1;
  const [isDiff, setDiff] = useState(false);
  const attempts = useQuery({ ...attemptsQuery(wait.project_id ?? '', work.subtask_id), enabled: isDiff });
  const before = attempts.data?.data.findLast(
    ({ attempt_number: n, output }) => n < work.attempt_number && output !== null,
  );
  const name = work.role === 'producer' ? 'What it is about' : 'What was said';
  return (
    <Fold title={`${name}: ${work.step_slug}${hasBefore ? `, attempt ${work.attempt_number}` : ''}`} isOpen={isOpen}>
      {hasBefore && <DiffSwitch isDiff={isDiff} onChange={setDiff} since="the attempt before" />}
      {isDiff && attempts.isPending && <Skeleton rows={3} />}
      <Compared
        content={work.output}
        before={before?.output}
        label={`attempt ${before?.attempt_number} to ${work.attempt_number}`}
        isDiff={isDiff}
      />
      {work.is_cut && wait.project_id && (
        <p className="pt-2 text-sm text-soft">
          That is its beginning. The{' '}
          <Link
            to="/projects/$projectId"
            params={{ projectId: wait.project_id }}
            search={wait.phase_slug ? { phase: wait.phase_slug } : {}}
            className="text-accent underline"
          >
            project’s page
          </Link>{' '}
          has the whole.
        </p>
      )}
    </Fold>
  );
}

/**
 * Shows an artifact that the work was made from. It is loaded when it is opened, and can be compared with the version
 * before.
 */
function ArtifactFold({ projectId, artifact }: { projectId: string; artifact: WaitDetail['artifacts'][number] }) {
  const [isOpened, setOpened] = useState(false);
  const [isDiff, setDiff] = useState(false);
  const all = useQuery({ ...artifactsQuery(projectId), enabled: isOpened });
  const shown = all.data?.data.find(({ id }) => id === artifact.id);
  const before = all.data?.data.find(
    ({ phase_slug: slug, version }) => slug === artifact.phase_slug && version === artifact.version - 1,
  );
  return (
    <Fold
      title={
        <>
          Made from: {artifact.phase_slug} v{artifact.version}, <Time at={artifact.created_at} />
          {artifact.stale && <span className="pl-2 text-warn">stale: what it was made from has changed since</span>}
        </>
      }
      onOpen={() => setOpened(true)}
    >
      <Refusal error={all.error} />
      {before && <DiffSwitch isDiff={isDiff} onChange={setDiff} since={`v${before.version}`} />}
      {shown ? (
        <Compared
          content={shown.content}
          before={before?.content}
          label={`v${before?.version} to v${shown.version}`}
          isDiff={isDiff}
        />
      ) : (
        <Skeleton rows={3} />
      )}
    </Fold>
  );
}

function Budgets({ budgets }: Pick<WaitDetail, 'budgets'>) {
  return (
    <table className="card tabular w-full text-sm">
      <caption className="sr-only">{plural(budgets.length, 'budget')}</caption>
      <thead className="text-left text-xs text-soft">
        <tr>
          <th className="px-3 py-1.5 font-normal">Budget of</th>
          <th className="px-3 py-1.5 text-right font-normal">Spent</th>
          <th className="px-3 py-1.5 text-right font-normal">Budget</th>
        </tr>
      </thead>
      <tbody>
        {budgets.map(({ of, budget_usd: budget, spent_usd: spent }) => (
          <tr key={of} className="border-t">
            <td className="px-3 py-1.5">
              {Number(spent) >= Number(budget) && <Icon name="warning" className="mr-1 inline text-warn" />}
              {of}
            </td>
            <td className="px-3 py-1.5 text-right">
              <Money usd={spent} />
            </td>
            <td className="px-3 py-1.5 text-right">
              <Money usd={budget} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const RAISED_BY: Record<WaitDetail['limits'][number]['raised_by'], string> = {
  members: 'members',
  admins: 'owners and admins',
  payment: 'topping up',
};

function Limits({ limits }: Pick<WaitDetail, 'limits'>) {
  return (
    <div className="card overflow-x-auto">
      <table className="tabular w-full text-sm">
        <caption className="sr-only">{plural(limits.length, 'limit')}</caption>
        <thead className="text-left text-xs text-soft">
          <tr>
            <th className="px-3 py-1.5 font-normal">Stopped by</th>
            <th className="px-3 py-1.5 text-right font-normal">Left</th>
            <th className="px-3 py-1.5 text-right font-normal">Limit</th>
            <th className="px-3 py-1.5 text-right font-normal">Needed</th>
            <th className="px-3 py-1.5 font-normal">Raised by</th>
          </tr>
        </thead>
        <tbody>
          {limits.map(({ name, free_usd: free, limit_usd: limit, needs_usd: needs, raised_by: by }) => (
            <tr key={name} className="border-t">
              <td className="px-3 py-1.5">{name}</td>
              <td className="px-3 py-1.5 text-right">
                <Money usd={free} />
              </td>
              <td className="px-3 py-1.5 text-right">
                <Money usd={limit} />
              </td>
              <td className="px-3 py-1.5 text-right">
                <Money usd={needs} />
              </td>
              <td className="px-3 py-1.5">{RAISED_BY[by]}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
