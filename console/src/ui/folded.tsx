/** Shows the beginning of a text of any length, and the rest when it is asked for. */
import { useState } from 'react';
import { Button } from './button.tsx';
import { bytes } from './figures.ts';
import { cx } from './cx.ts';

const MAX_LINES = 14;
const MAX_CHARACTERS = 2_000;

export function Folded({ text, isCode = false }: { text: string; isCode?: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const beginning = beginningOf(text);
  const isLong = beginning.length < text.length;
  return (
    <>
      <pre
        className={cx('break-words whitespace-pre-wrap', isCode ? 'font-mono text-xs leading-5' : 'font-sans')}
        {...(isOpen && { tabIndex: 0 })}
      >
        {isOpen ? text : beginning}
        {isLong && !isOpen && '…'}
      </pre>
      {isLong && (
        <Button look="ghost" className="-ml-2 px-2" icon={isOpen ? 'left' : 'down'} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Show less' : `Show all (${bytes(new Blob([text]).size)})`}
        </Button>
      )}
    </>
  );
}

function beginningOf(text: string): string {
  let end = 0;
  for (let line = 0; line < MAX_LINES; line++) {
    const next = text.indexOf('\n', end);
    if (next === -1) return text.slice(0, MAX_CHARACTERS);
    end = next + 1;
  }
  return text.slice(0, Math.min(end - 1, MAX_CHARACTERS));
}
