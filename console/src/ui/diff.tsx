/** Shows how one text became another, line by line. Long stretches that are the same are left out. */
import { diffLines } from 'diff';
import { cx } from './cx.ts';

const CONTEXT = 3;

interface Line {
  sign: '+' | '-' | ' ';
  text: string;
}

export function Diff({ from, to, label }: { from: string; to: string; label: string }) {
  const lines = linesOf(from, to);
  if (lines.every(({ sign }) => sign === ' ')) return <p className="text-soft">The two are the same.</p>;
  return (
    <pre
      tabIndex={0}
      role="group"
      aria-label={`Changes from ${label}`}
      className="overflow-x-auto rounded-md border bg-surface py-1 font-mono text-xs leading-5"
    >
      {lines.map(({ sign, text }, i) => (
        <div
          key={i}
          className={cx(
            'px-2 break-words whitespace-pre-wrap',
            sign === '+' && 'bg-good/12',
            sign === '-' && 'bg-bad/12',
            sign === ' ' && 'text-soft',
          )}
        >
          {sign} {sign !== ' ' && <span className="sr-only">{sign === '+' ? 'added: ' : 'removed: '}</span>}
          {text}
        </div>
      ))}
    </pre>
  );
}

function linesOf(from: string, to: string): Line[] {
  return diffLines(from, to).flatMap(({ value, added, removed }, i, all): Line[] => {
    const sign = added ? '+' : removed ? '-' : ' ';
    const texts = value.replace(/\n$/, '').split('\n');
    if (sign !== ' ' || texts.length <= 2 * CONTEXT + 1) return texts.map((text) => ({ sign, text }));
    const before = i === 0 ? [] : texts.slice(0, CONTEXT);
    const after = i === all.length - 1 ? [] : texts.slice(-CONTEXT);
    const left = texts.length - before.length - after.length;
    return [...before, `… ${left} lines are the same`, ...after].map((text) => ({ sign, text }));
  });
}
