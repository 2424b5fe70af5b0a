/** Shows commands and texts that people copy. */
import { useId, useState } from 'react';
import { Button, IconButton } from './button.tsx';
import { cx } from './cx.ts';

function useCopied(): [boolean, (text: string) => void] {
  const [copied, setCopied] = useState(false);
  return [
    copied,
    (text) => {
      void navigator.clipboard.writeText(text).then(() => {
        setCopied(true);
        setTimeout(() => setCopied(false), 1_500);
      });
    },
  ];
}

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [copied, copy] = useCopied();
  return <IconButton icon={copied ? 'check' : 'copy'} label={copied ? 'Copied' : label} onClick={() => copy(text)} />;
}

/** Saves a text as a file. Somebody else's page is opened from there, and never in the origin of the console. */
export function SaveButton({ text, filename, label }: { text: string; filename: string; label: string }) {
  const save = () => {
    const url = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }));
    Object.assign(document.createElement('a'), { href: url, download: filename }).click();
    URL.revokeObjectURL(url);
  };
  return <IconButton icon="download" label={label} onClick={save} />;
}

/** Shows a text of several lines with a button that copies it. */
export function Command({ text, label, className }: { text: string; label: string; className?: string }) {
  return (
    <div className={cx('card flex items-start gap-1 bg-raised text-left', className)}>
      <pre
        tabIndex={0}
        aria-label={label}
        className="max-h-80 min-w-0 flex-1 overflow-y-auto p-2 font-mono text-xs leading-5 wrap-anywhere whitespace-pre-wrap"
      >
        {text}
      </pre>
      <CopyButton text={text} label={`Copy ${label}`} />
    </div>
  );
}

export interface Commands {
  curl: string;
  aos?: string | undefined;
}

/** Offers what this page shows or does as commands for a terminal. */
export function CopyAs({ curl, aos }: Commands) {
  const id = useId();
  return (
    <>
      <Button look="ghost" icon="copy" title="Copy as" popoverTarget={id} className="max-sm:px-2">
        <span className="max-sm:sr-only">Copy as</span>
      </Button>
      <div
        popover="auto"
        id={id}
        className="card m-auto w-[min(44rem,calc(100vw-2rem))] space-y-3 p-4 text-ink shadow-lg"
      >
        <h2 className="font-semibold">The same from a terminal</h2>
        <Command label="curl command" text={curl} />
        {aos && <Command label="aos command" text={aos} />}
        <p className="text-xs text-soft">
          KEY is an API key of the workspace, COOKIE a session: <code>npx aos session</code> prints one.
        </p>
      </div>
    </>
  );
}
