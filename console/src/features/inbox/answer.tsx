/**
 * Shows the answers that a wait takes, with what each leads to and may cost. An answer names the revision that the
 * person saw.
 */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useMemo, useRef, useState } from 'react';
import { post } from '../../api/client.ts';
import { ApiProblem } from '../../api/problem.ts';
import { useSession } from '../../api/session.ts';
import type { WaitAnswer, WaitChoice, WaitDetail } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Refusal } from '../../ui/empty.tsx';
import { NoteField, UsdField } from '../../ui/field.tsx';
import { money } from '../../ui/figures.ts';
import { Icon } from '../../ui/icon.tsx';
import { notify } from '../../ui/notice.tsx';
import { Time } from '../../ui/time.tsx';
import { useKeys, type KeyMap } from '../../ui/keys.ts';
import { answerWords, wayWords } from './words.ts';

const NO_KEYS: KeyMap = {};

interface AnswersProps {
  wait: WaitDetail;
  /** The wait is the only one on the page, so keys of one letter act on it. */
  hasKeys?: boolean;
  onAnswered?: (wait: WaitDetail) => void;
}

export function Answers({ wait, hasKeys = false, onAnswered }: AnswersProps) {
  const session = useSession();
  const client = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const [comment, setComment] = useState('');
  const [data, setData] = useState('');
  const [raiseBy, setRaiseBy] = useState('');
  const [asks, setAsks] = useState<WaitChoice>();

  const answer = useMutation({
    mutationFn: (choice: WaitChoice) => {
      const body: WaitAnswer = {
        answer: choice.answer,
        revision: wait.revision,
        ...(choice.takes.includes('comment') && comment.trim() && { comment: comment.trim() }),
        ...(choice.takes.includes('data') && { data: dataOf(wait, data) }),
        ...(choice.takes.includes('raise_by_usd') && { raise_by_usd: raiseBy.trim() }),
      };
      return post<WaitDetail>(`/v1/inbox/${wait.id}/answer`, body);
    },
    onSuccess: (settled, { answer: given }) => {
      client.setQueryData(['inbox', 'one', wait.id], settled);
      // Where several people have to approve, the wait stays open for the others.
      notify(settled.status === 'open' ? `Noted: you ${answerWords(given).done}` : `You ${answerWords(given).done}`);
      onAnswered?.(settled);
    },
    // This is not awaited, so that a refusal is shown at once and stays when the wait is read anew and has no choices
    // any more.
    onSettled: () => {
      void client.invalidateQueries({ queryKey: ['inbox'] });
      if (wait.project_id) void client.invalidateQueries({ queryKey: ['projects', 'one', wait.project_id] });
    },
  });

  const keys = useMemo<KeyMap>(() => {
    if (!hasKeys) return NO_KEYS;
    const focus = (selector: string) => form.current?.querySelector<HTMLElement>(selector)?.focus();
    // A key only focuses the answer, and Enter gives it, so that nobody decides by a slip of the finger.
    return {
      a: () => focus('[data-choice="0"]'),
      r: () => focus('[data-answer="reject"], [data-answer="request_changes"], [data-choice="1"]'),
      c: () => focus('textarea, input'),
    };
  }, [hasKeys]);
  useKeys(keys);

  const takes = (what: WaitChoice['takes'][number]) => wait.choices.some((choice) => choice.takes.includes(what));
  const press = (choice: WaitChoice) => {
    if (choice.answer === 'abandon') setAsks(choice);
    else if (form.current?.reportValidity() !== false) answer.mutate(choice);
  };
  const isReady = ({ takes: needed, answer: name, refused }: WaitChoice) =>
    (!needed.includes('data') || data.trim() !== '') &&
    (!needed.includes('raise_by_usd') || raiseBy.trim() !== '') &&
    refused === null &&
    (name !== 'request_changes' || comment.trim() !== '');

  if (wait.choices.length === 0) return <Faster error={answer.error} />;
  return (
    <form ref={form} aria-label="Answer" className="card space-y-3 p-3" onSubmit={(event) => event.preventDefault()}>
      {takes('data') && <DataField wait={wait} value={data} onChange={setData} />}
      {takes('raise_by_usd') && (
        <UsdField label="Raise by, US dollars" hint={raiseHint(wait)} value={raiseBy} onChange={setRaiseBy} />
      )}
      {takes('comment') && (
        <NoteField
          label="Comment"
          hint="With a rejection: what should change. It is handed to whoever does it again."
          value={comment}
          onChange={setComment}
        />
      )}
      <Faster error={answer.error} />
      <ul className="space-y-2">
        {wait.choices.map((choice, i) => {
          const { verb, look } = answerWords(choice.answer);
          return (
            <li key={choice.answer} className="space-y-0.5">
              <Button
                look={look}
                className="w-full"
                data-choice={i}
                data-answer={choice.answer}
                disabled={session.is_archived || !wait.may_answer || answer.isPending || !isReady(choice)}
                isBusy={answer.isPending && answer.variables.answer === choice.answer}
                onClick={() => press(choice)}
              >
                {verb}
              </Button>
              <p className="text-xs text-soft">
                {choice.refused ?? choice.then}
                {Number(choice.cost_estimate_usd) > 0 && ` Costs about ${money(choice.cost_estimate_usd!)}.`}
              </p>
            </li>
          );
        })}
      </ul>
      {asks && (
        <Confirm
          title="Abandon this project?"
          action="Abandon it"
          isDangerous
          isOpen
          onClose={() => setAsks(undefined)}
          onConfirm={() => answer.mutateAsync(asks)}
        >
          <p>{asks.then} It cannot be resumed.</p>
        </Confirm>
      )}
    </form>
  );
}

/** Shows a refusal. Where somebody answered first, it says who that was, when, and what they answered. */
function Faster({ error }: { error: unknown }) {
  if (!(error instanceof ApiProblem)) return <Refusal error={error} />;
  const { code, more } = error;
  if (code === 'already_answered') {
    const { answer, answered_by: by, answered_at: at, answered_via: via, comment } = more as Record<string, string>;
    return (
      <div role="alert" className="space-y-1 text-warn">
        <p className="flex items-start gap-1.5">
          <Icon name="hand" className="mt-0.5" />
          <span>
            {by} was faster, and {answerWords(answer!).done} {wayWords(via!)} <Time at={at!} />. Your answer had no
            effect.
          </span>
        </p>
        {comment && <p className="border-l-2 pl-2 break-words whitespace-pre-wrap text-ink">{comment}</p>}
      </div>
    );
  }
  if (code === 'changed_since') {
    return (
      <p role="alert" className="flex items-start gap-1.5 text-warn">
        <Icon name="warning" className="mt-0.5" />
        {more.wait_id === null
          ? 'What it was about has moved on: there is nothing to answer any more.'
          : 'It has changed since you looked. Your answer had no effect; this is how it is now: look again, then answer.'}
      </p>
    );
  }
  return <Refusal error={error} />;
}

function raiseHint({ choices }: WaitDetail): string {
  const least = choices.find(({ answer }) => answer === 'raise_budget')?.at_least_usd;
  return `Added to each limit that stops it.${Number(least) > 0 ? ` At least ${least}.` : ''}`;
}

const isPlainQuestion = ({ question }: WaitDetail): boolean => question?.tool === 'ask_human';

/** @returns the values of a page's form, or the answer to a question */
function dataOf(wait: WaitDetail, text: string): WaitAnswer['data'] {
  if (isPlainQuestion(wait)) return { answer: text.trim() };
  try {
    return JSON.parse(text) as WaitAnswer['data'];
  } catch {
    throw new ApiProblem('What is sent must be JSON, such as {"answer": "yes"}. Nothing was sent.');
  }
}

interface DataFieldProps {
  wait: WaitDetail;
  value: string;
  onChange: (text: string) => void;
}

function DataField({ wait, value, onChange }: DataFieldProps) {
  const options = wait.question?.options;
  if (options && isPlainQuestion(wait)) {
    return (
      <fieldset className="space-y-1">
        <legend className="pb-1 font-medium">Answer</legend>
        {options.map((option) => (
          <label key={option} className="flex min-h-8 items-center gap-2 pointer-coarse:min-h-11">
            <input type="radio" name="answer" checked={value === option} onChange={() => onChange(option)} />
            {option}
          </label>
        ))}
      </fieldset>
    );
  }
  return (
    <NoteField
      label={isPlainQuestion(wait) ? 'Answer' : 'Answer as JSON'}
      hint={isPlainQuestion(wait) ? undefined : 'What the page that the run showed would send.'}
      rows={4}
      maxLength={50_000}
      value={value}
      onChange={onChange}
    />
  );
}
