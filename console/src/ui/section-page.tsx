/** A page with several views of one subject. The address holds the view and the open row. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Page } from './page.tsx';
import type { SectionSearch } from './section-search.ts';
import { TabPanel, Tabs } from './tabs.tsx';

interface SectionPageProps {
  title: string;
  views: readonly { tab: string; label: string; view: (search: SectionSearch) => ReactNode }[];
  actions?: ReactNode;
}

export function SectionPage({ title, views, actions }: SectionPageProps) {
  const search = useSearch({ strict: false }) as SectionSearch;
  const navigate = useNavigate();
  const shown = views.find(({ tab }) => tab === search.tab) ?? views[0]!;
  return (
    <Page
      title={views.length > 1 ? `${title}: ${shown.label.toLowerCase()}` : title}
      heading={title}
      actions={actions}
      isFilling
    >
      <Tabs
        label={`Views of ${title.toLowerCase()}`}
        tabs={views.map(({ tab, label }) => ({ value: tab, label }))}
        value={shown.tab}
        onChange={(tab) => void navigate({ to: '.', search: (tab === views[0]!.tab ? {} : { tab }) as never })}
      />
      <TabPanel value={shown.tab}>{shown.view(search)}</TabPanel>
    </Page>
  );
}
