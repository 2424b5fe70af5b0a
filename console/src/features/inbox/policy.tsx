/** Shows who decides at a gate, how many of them have to approve, and how many have. */
import type { GatePolicy, WaitDetail } from '../../api/types.ts';
import { plural } from '../../ui/figures.ts';
import { Icon } from '../../ui/icon.tsx';
import { Time } from '../../ui/time.tsx';

type Approvers = NonNullable<GatePolicy['approvers']>;

const who = ({ members = [], roles = [], emails = [], api_keys: keys }: Approvers): string =>
  [...members, ...emails, ...roles.map((role) => `every ${role}`), ...(keys ? ['API keys'] : [])].join(', ');

type PolicyViewProps = Pick<
  WaitDetail,
  'policy' | 'may_answer' | 'approvals' | 'reminders' | 'escalated_at' | 'status'
>;

export function PolicyView(wait: PolicyViewProps) {
  const { policy, may_answer: isMine, approvals, reminders, escalated_at: escalatedAt, status } = wait;
  if (!policy) return null;
  const quorum = policy.quorum ?? 1;
  return (
    <div className="space-y-1 text-sm text-soft">
      {status === 'open' && !isMine && (
        <p className="flex items-start gap-1.5 text-warn">
          <Icon name="hand" className="mt-0.5" />
          {policy.approvers ? `Others decide here: ${who(policy.approvers)}.` : 'Somebody else has to decide here.'}
        </p>
      )}
      <p>
        {[
          policy.approvers && isMine && `Decided by ${who(policy.approvers)}`,
          quorum > 1 && `${approvals} of ${plural(quorum, 'approval')} so far; one rejection decides`,
          policy.four_eyes && 'not by whoever started the project or changed what it is about',
          reminders > 0 && plural(reminders, 'reminder'),
        ]
          .filter(Boolean)
          .join('; ')}
      </p>
      {escalatedAt && (
        <p>
          Since <Time at={escalatedAt} />{' '}
          {policy.escalate_to ? `${who(policy.escalate_to)} may decide too` : 'escalated'}.
        </p>
      )}
    </div>
  );
}
