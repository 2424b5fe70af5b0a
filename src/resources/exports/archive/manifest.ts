/** The manifest of an archive, which stands at its end: what is in it, what is not, and why. */
import { ARCHIVE_FORMAT, ARCHIVE_VERSION } from '../model.ts';
import { BROUGHT } from '../store/contents.ts';
import { masked } from '../../workspaces/model.ts';
import { TENANT_DATA } from '../../tenant-data.ts';

export interface Workspace {
  identity_workspace_id: string;
  customer_id: string;
  plan: string;
  config: unknown;
  created_at: string;
}

/** A secret that is not in the archive, and has to be set again where it is brought to. */
export interface SecretPlace {
  kind:
    'integration' | 'integration_login' | 'api_key' | 'deploy_token' | 'webhook' | 'output_destination' | 'variable';
  name: string;
  /** Which of several it is. */
  field?: string;
}

export interface ExportSummary {
  /** Rows by table; a table without any is not named. */
  tables: Record<string, number>;
  rows: number;
  files: number;
  file_bytes: number;
  /** Files whose bytes were gone: the first of them, and how many there are. */
  missing_files: string[];
  missing: number;
  secrets: number;
}

export interface ManifestFacts {
  exportId: string;
  workspace: Workspace;
  /** Everything in the archive is as it was at this time. */
  asOf: string;
  summary: ExportSummary;
  secrets: readonly SecretPlace[];
  /** The SHA-256 of the list of all others. */
  sums: string;
}

const left = Object.fromEntries(
  Object.entries(TENANT_DATA).flatMap(([table, { archive }]) => ('left' in archive ? [[table, archive.left]] : [])),
);
const columnsLeft = Object.fromEntries(
  BROUGHT.flatMap(({ table, without }) => {
    const { customer_id: _same, ...named } = without;
    return Object.keys(named).length > 0 ? [[table, named]] : [];
  }),
);

export const manifestOf = ({ exportId, workspace, asOf, summary, secrets, sums }: ManifestFacts) => ({
  format: ARCHIVE_FORMAT,
  version: ARCHIVE_VERSION,
  archive_id: exportId,
  as_of: asOf,
  workspace: { ...workspace, config: masked(workspace.config) },
  tables: summary.tables,
  rows: summary.rows,
  files: {
    count: summary.files,
    bytes: summary.file_bytes,
    missing: summary.missing,
    missing_first: summary.missing_files,
  },
  secrets_to_set_again: secrets,
  sha256sums: sums,
  not_in_the_archive: { tables: left, columns: columnsLeft },
});

export const README = `This archive has everything of one workspace, as it was at one moment (manifest.json, as_of).

rows/<table>/NNNNNN.jsonl   what the database has: a JSON object a line, a field a column
manifests/NNNNNN.jsonl      agents, workflows, skills, tools and so on as files say them (see: aos apply)
files/<table>/<id>          what agents saved and people attached; rows/<table> has its name and type
SHA256SUMS                  of each file above; check them with: sha256sum -c SHA256SUMS
manifest.json               counts, what is not in here and why, and which secrets are to be set again

No secret, key, token or password that the service keeps is in it.
`;
