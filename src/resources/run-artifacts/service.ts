/** What a caller can learn of the files that runs saved. */
import { validate as isUuid } from 'uuid';
import { found } from '../../platform/db/client.ts';
import type { ArtifactFilter, RunArtifactRow, RunArtifactStore } from './store.ts';

export type RunArtifactService = ReturnType<typeof createRunArtifactService>;

export const createRunArtifactService = ({ store }: { store: RunArtifactStore }) => ({
  /** @throws Problem not_found where the run does not exist */
  async list(customerId: string, { limit, offset, ...filter }: ArtifactFilter & { limit: number; offset: number }) {
    if (filter.run_id !== undefined) found((await store.hasRun(customerId, filter.run_id)) || undefined);
    const { rows, total } = await store.list(customerId, filter, { limit, offset });
    return { data: rows.map(wire), meta: { total, limit, offset } };
  },

  /** @throws Problem not_found */
  get: async (customerId: string, id: string) => wire(found(isUuid(id) ? await store.find(customerId, id) : undefined)),
});

const wire = (row: RunArtifactRow) => ({ ...row, download_path: `/v1/files/download?id=${row.id}` });
