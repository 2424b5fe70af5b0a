/** Lists the places of the console, the most important ones first. */
import type { ComponentType } from 'react';
import type { IconName } from '../../ui/icon.tsx';
import { InboxBadge } from '../inbox/badge.tsx';

interface Place {
  label: string;
  to: string;
  icon: IconName;
  /** The key that goes there when it is pressed after `g`. */
  key: string;
  /** Shows how many things wait there. */
  badge?: ComponentType;
}

export const PLACES: readonly Place[] = [
  { label: 'Inbox', to: '/inbox', icon: 'inbox', key: 'i', badge: InboxBadge },
  { label: 'Runs', to: '/runs', icon: 'runs', key: 'r' },
  { label: 'Projects', to: '/projects', icon: 'projects', key: 'p' },
  { label: 'Chat', to: '/chat', icon: 'chat', key: 't' },
  { label: 'Costs', to: '/costs', icon: 'cost', key: 'c' },
  { label: 'Webhooks', to: '/webhooks', icon: 'webhook', key: 'w' },
  { label: 'Catalog', to: '/catalog', icon: 'agent', key: 'a' },
  { label: 'Memory', to: '/memory', icon: 'memory', key: 'm' },
  { label: 'Schedules', to: '/schedules', icon: 'schedule', key: 's' },
  { label: 'Workspace', to: '/workspace', icon: 'settings', key: 'o' },
  { label: 'Health', to: '/health', icon: 'health', key: 'h' },
];
