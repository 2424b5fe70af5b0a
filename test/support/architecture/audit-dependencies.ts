/**
 * `npm run check:audit`: known weaknesses of the packages that the service runs on, from the registry's own audit. Any of
 * severity high or critical fails. A registry that has no audit is no finding: then a loud line says that none was made.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

interface AuditReport {
  /** Instead of the others where the registry could not be asked. */
  message?: string;
  error?: unknown;
  vulnerabilities?: Record<
    string,
    { severity: string; range: string; via: (string | { title: string; url: string })[] }
  >;
}

export interface AuditResult {
  exitCode: number;
  text: string;
}

/** @param output of `npm audit --json` */
export function judgeAudit(output: string): AuditResult {
  const report = parsed(output);
  if (!report?.vulnerabilities) {
    const reason = report?.message ?? (output.trim().slice(0, 200) || 'it answered nothing');
    return { exitCode: 0, text: `*** SKIPPED: dependencies were not audited, the registry offers no audit: ${reason}` };
  }
  const bad = Object.entries(report.vulnerabilities).filter(([, { severity }]) => /^(high|critical)$/.test(severity));
  const lines = bad.map(([name, { severity, range, via }]) => {
    const why = via.map((each) => (typeof each === 'string' ? `by ${each}` : `${each.title} (${each.url})`));
    return `${severity}: ${name} ${range}: ${why.join('; ')}`;
  });
  return bad.length > 0
    ? { exitCode: 1, text: lines.join('\n') }
    : { exitCode: 0, text: 'no dependency of the service has a known weakness of severity high or critical' };
}

function parsed(output: string): AuditReport | undefined {
  try {
    return JSON.parse(output) as AuditReport;
  } catch {
    return undefined;
  }
}

if (import.meta.main) {
  const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json'], {
    cwd: ROOT,
    encoding: 'utf8',
    timeout: 120_000,
    maxBuffer: 64 * 1_024 * 1_024,
  });
  const { exitCode, text } = judgeAudit(stdout ?? '');
  process.stderr.write(`${text}\n`);
  process.exitCode = exitCode;
}
