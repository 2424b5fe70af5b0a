/** Adds `aos audit`: who changed what about the configuration of the workspace. */
import type { Command } from 'commander';
import type { AuditEntry } from '../../client/src/api.ts';
import { fieldsInLine } from './fields.ts';
import { parseTime } from './filters.ts';
import { asList, list, type ListOptions } from './listing.ts';
import { shorten, shortTime } from './output.ts';

export function addAuditCommand(program: Command): void {
  asList(program.command('audit'))
    .description('who changed what about the configuration, newest first')
    .option('--actor <who>', 'an e-mail address, or api-key:<id>')
    .option('--action <id>', 'such as api-keys.create')
    .option('--from <time>', 'then or later: 2026-11-25, a time, or 3d, 12h, 30m ago', parseTime)
    .option('-n, --limit <count>', 'how many', '50')
    .addHelpText(
      'after',
      '\nExamples:\n  aos audit --from 7d --action api-keys.create\n  aos audit --actor ana@example.com -o wide',
    )
    .action(show);
}

const show = ({
  actor,
  action,
  from,
  limit,
  ...options
}: ListOptions & { actor?: string; action?: string; from?: string; limit: string }) =>
  list<AuditEntry>(
    {
      path: '/v1/audit-log',
      query: { actor, action, since: from, limit },
      columns: [
        { title: 'TIME (UTC)', value: (row) => shortTime(row.at) },
        { title: 'WHO', value: (row) => row.actor },
        { title: 'ACTION', value: (row) => row.action },
        { title: 'ANSWER', value: (row) => row.status, align: 'right' },
        { title: 'OF', value: (row) => shorten(fieldsInLine(row.target), 60) },
        { title: 'CHANGE', value: (row) => row.change && fieldsInLine(row.change), isWide: true },
      ],
      empty: 'nothing was changed',
    },
    options,
  );
