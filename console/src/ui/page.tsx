/** The head of a page: its place, its actions, and the title of the tab. */
import { Link } from '@tanstack/react-router';
import { useEffect, type ReactNode } from 'react';
import { cx } from './cx.ts';
import { Icon } from './icon.tsx';

interface Crumb {
  label: string;
  to: string;
}

const ENVIRONMENT = document.querySelector<HTMLMetaElement>('meta[name=environment]')?.content ?? '';
export const environmentName = ENVIRONMENT;

function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · ${ENVIRONMENT ? `${ENVIRONMENT} · ` : ''}Console`;
  }, [title]);
}

export interface PageProps {
  title: string;
  /** Is shown in the place of the title, where that is more than a word. */
  heading?: ReactNode;
  crumbs?: readonly Crumb[];
  actions?: ReactNode;
  /** The page fills the window and scrolls within, as lists and timelines do. */
  isFilling?: boolean;
  children: ReactNode;
}

export function Page({ title, heading, crumbs = [], actions, isFilling = false, children }: PageProps) {
  useTitle(title);
  return (
    <main id="main" tabIndex={-1} className={cx('flex min-w-0 flex-1 flex-col outline-none', isFilling && 'min-h-0')}>
      <header className="flex min-h-12 flex-wrap items-center gap-x-3 gap-y-1 border-b bg-surface px-4 py-2">
        <div className={cx('flex min-w-0 flex-1 items-center gap-1.5', heading !== undefined && 'max-sm:basis-full')}>
          {crumbs.length > 0 && (
            <nav aria-label="Breadcrumb" className="flex shrink-0 items-center gap-1.5 text-soft">
              {crumbs.map(({ label, to }) => (
                <span key={to} className="flex items-center gap-1.5">
                  <Link to={to} className="rounded py-0.5 hover:text-ink hover:underline pointer-coarse:py-3">
                    {label}
                  </Link>
                  <Icon name="right" className="size-3" />
                </span>
              ))}
            </nav>
          )}
          <h1 className={cx('min-w-0 font-semibold', heading === undefined ? 'truncate' : 'sm:truncate')}>
            {heading ?? title}
          </h1>
        </div>
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      {children}
    </main>
  );
}
