/** Shows what was said, turn by turn: by whom, which tools were called, and what they answered. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { Button } from '../../ui/button.tsx';
import { Empty, Problem, Skeleton } from '../../ui/empty.tsx';
import { Folded } from '../../ui/folded.tsx';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { asText, Value } from '../../ui/json.tsx';
import { Status } from '../../ui/status.tsx';
import { transcriptQuery } from './queries.ts';
import type { ShownRun, Spoken, ToolCall } from './types.ts';

const Markdown = lazy(() => import('../../ui/markdown.tsx').then((module) => ({ default: module.Markdown })));

const WHO: Record<Spoken['role'], { word: string; icon: IconName }> = {
  system: { word: 'System', icon: 'settings' },
  user: { word: 'Prompt', icon: 'agent' },
  assistant: { word: 'Model', icon: 'model' },
};

export function TranscriptView({ run }: { run: ShownRun }) {
  const query = useInfiniteQuery(transcriptQuery(run.run_id));
  if (query.isPending) return <Skeleton />;
  if (query.isError) return <Problem error={query.error} onRetry={() => void query.refetch()} />;
  const spoken = query.data.pages.flatMap(({ data }) => data);
  if (spoken.length === 0) return <Empty title="Nothing was said yet">The run waits for its first turn.</Empty>;
  return (
    <ol className="mx-auto w-full max-w-4xl space-y-3 p-4">
      {spoken.map((message) => (
        <li key={`${message.turn} ${message.role}`} className="card">
          <h2 className="flex items-center gap-2 border-b px-3 py-1.5 text-sm text-soft">
            <Icon name={WHO[message.role].icon} />
            {WHO[message.role].word}
            {message.turn > 0 && <span className="tabular ml-auto">turn {message.turn}</span>}
          </h2>
          <Message message={message} />
        </li>
      ))}
      {query.hasNextPage && (
        <li className="text-center">
          <Button isBusy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            More turns
          </Button>
        </li>
      )}
    </ol>
  );
}

function Message({ message: { role, content, calls } }: { message: Spoken }) {
  const texts = textsOf(content);
  return (
    <div className="space-y-3 p-3">
      {texts.map(({ kind, text }, i) =>
        kind === 'reasoning' ? (
          <details key={i} className="text-soft">
            <summary>Reasoning</summary>
            <Folded text={text} />
          </details>
        ) : role === 'assistant' ? (
          <Suspense key={i} fallback={<p className="whitespace-pre-wrap">{text}</p>}>
            <Markdown text={text} />
          </Suspense>
        ) : (
          <Folded key={i} text={text} />
        ),
      )}
      {calls.map((call) => (
        <Call key={call.call_id} call={call} />
      ))}
      {texts.length === 0 && calls.length === 0 && <p className="text-soft">It said nothing.</p>}
    </div>
  );
}

function Call({ call }: { call: ToolCall }) {
  return (
    <details className="rounded-md border" open={call.status === 'failed'}>
      <summary className="flex min-h-8 items-center gap-2 px-2 text-sm">
        <Status status={call.status} isIconOnly />
        <span className="font-medium">{call.tool}</span>
        <span className="min-w-0 flex-1 truncate font-mono text-xs text-soft">
          {asText(call.arguments).replace(/\s+/g, ' ')}
        </span>
        <Icon name="down" className="text-soft" />
      </summary>
      <div className="space-y-2 border-t p-2">
        <h3 className="text-xs text-soft">Arguments</h3>
        <Value value={call.arguments} label="the arguments" />
        <h3 className="text-xs text-soft">Answer</h3>
        {call.status === 'pending' ? (
          <p className="text-soft">None yet.</p>
        ) : (
          <Value value={call.result} label="the answer" />
        )}
      </div>
    </details>
  );
}

interface Said {
  kind: 'text' | 'reasoning';
  text: string;
}

/**
 * @returns the parts of a content, which is a text, the parts of a model's message, or a system message's parts by name
 */
function textsOf(content: unknown): Said[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }];
  if (Array.isArray(content)) {
    return content.flatMap((part: unknown): Said[] => {
      const { type, text } = part as { type?: unknown; text?: unknown };
      if ((type !== 'text' && type !== 'reasoning') || typeof text !== 'string' || text === '') return [];
      return [{ kind: type, text }];
    });
  }
  return Object.entries(content ?? {})
    .filter(([, text]) => text !== '')
    .map(([name, text]) => ({ kind: 'text', text: name === 'prompt' ? asText(text) : `${name}\n${asText(text)}` }));
}
