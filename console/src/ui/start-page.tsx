/** A page whose form starts something, beside the same request for a terminal. Who may only look is told so. */
import type { ReactNode } from 'react';
import { Empty } from './empty.tsx';
import { ForWriters } from './for-writers.tsx';
import { Page, type PageProps } from './page.tsx';

interface StartPageProps extends Pick<PageProps, 'title' | 'crumbs'> {
  /** What is started, in the plural. */
  what: string;
  onStart: () => void;
  /** The commands for a terminal. */
  commands: ReactNode;
  children: ReactNode;
}

export function StartPage({ title, crumbs, what, onStart, commands, children }: StartPageProps) {
  return (
    <Page title={title} {...(crumbs && { crumbs })}>
      <ForWriters instead={<Empty title="You may only look here">Somebody with another role starts {what}.</Empty>}>
        <form
          className="grid w-full max-w-5xl grid-cols-[minmax(0,1fr)] gap-6 p-4 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]"
          onSubmit={(event) => {
            event.preventDefault();
            onStart();
          }}
        >
          <div className="space-y-4">{children}</div>
          <aside aria-label="The same from a terminal" className="space-y-2">
            <h2 className="font-medium">The same from a terminal</h2>
            {commands}
            <p className="text-xs text-soft">KEY is an API key of the workspace.</p>
          </aside>
        </form>
      </ForWriters>
    </Page>
  );
}
