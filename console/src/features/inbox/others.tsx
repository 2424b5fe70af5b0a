/** Offers what can be done about a wait besides answering it: having others reminded, named, or kept out. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { del, post } from '../../api/client.ts';
import { mayChange, useSession } from '../../api/session.ts';
import type { WaitDelegation, WaitDetail } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Refusal } from '../../ui/empty.tsx';
import { Field } from '../../ui/field.tsx';
import { notify } from '../../ui/notice.tsx';

const DAY_MS = 86_400_000;

export function Others({ wait }: { wait: WaitDetail }) {
  const client = useQueryClient();
  const may = mayChange(useSession());
  const [asks, setAsks] = useState<'delegate' | 'withdraw'>();
  const close = () => setAsks(undefined);
  const path = `/v1/inbox/${wait.id}`;
  const changed = (now: WaitDetail) => client.setQueryData(['inbox', 'one', wait.id], now);
  const remind = useMutation({
    mutationFn: () => post<WaitDetail>(`${path}/remind`),
    onSuccess(now) {
      changed(now);
      notify('Those who can answer are reminded');
    },
  });
  if (!may || wait.status !== 'open') return null;
  return (
    <section aria-label="Others" className="space-y-2">
      <div className="flex flex-wrap gap-2">
        <Button isBusy={remind.isPending} onClick={() => remind.mutate()}>
          Remind
        </Button>
        {wait.policy?.approvers && wait.may_answer && (
          <Button onClick={() => setAsks('delegate')}>Let somebody stand in</Button>
        )}
        <Button look="danger" onClick={() => setAsks('withdraw')}>
          Withdraw links
        </Button>
      </div>
      <Refusal error={remind.error} />
      {asks === 'delegate' && (
        <Delegate
          onClose={close}
          send={async (delegation) => {
            changed(await post<WaitDetail>(`${path}/delegate`, delegation));
            notify(`${delegation.to} may answer in your place`);
          }}
        />
      )}
      <Confirm
        title="Withdraw every link to it?"
        action="Withdraw them"
        isDangerous
        isOpen={asks === 'withdraw'}
        onClose={close}
        onConfirm={async () => {
          await del(`${path}/links`);
          notify('The links that were sent lead nowhere now');
        }}
      >
        <p>Links in mails and messages stop working. Here, in the command line and by API it is answered as before.</p>
      </Confirm>
    </section>
  );
}

interface DelegateProps {
  onClose: () => void;
  send: (delegation: WaitDelegation) => Promise<unknown>;
}

/** @returns a time as the control for local times takes it, to the minute */
const local = (at: Date): string => new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

function Delegate({ onClose, send }: DelegateProps) {
  const [to, setTo] = useState('');
  const [until, setUntil] = useState(() => local(new Date(Date.now() + 7 * DAY_MS)));
  const sending = useMutation({
    mutationFn: () => send({ to: to.trim(), until: new Date(until).toISOString() }),
    onSuccess: onClose,
  });
  return (
    <Dialog title="Let somebody stand in" isOpen onClose={onClose}>
      <form
        className="space-y-3 p-4"
        onSubmit={(event) => {
          event.preventDefault();
          sending.mutate();
        }}
      >
        <p>Until then their answer counts in your place. You may still answer yourself; both of you count as one.</p>
        <Field label="E-mail of a member" isRequired>
          {(props) => (
            <input
              {...props}
              type="email"
              required
              className="field w-full"
              value={to}
              onChange={({ target }) => setTo(target.value)}
            />
          )}
        </Field>
        <Field label="Until" isRequired>
          {(props) => (
            <input
              {...props}
              type="datetime-local"
              required
              className="field w-full"
              value={until}
              onChange={({ target }) => setUntil(target.value)}
            />
          )}
        </Field>
        <Refusal error={sending.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" isBusy={sending.isPending}>
            Name them
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
