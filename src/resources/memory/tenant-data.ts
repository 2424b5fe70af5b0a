/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { SAME_TENANT, type TenantData } from '../../platform/db/tenant-data.ts';

export const memoryData: TenantData = {
  memory_entries: {
    end: { goes: 'before made again' },
    archive: {
      columns:
        'id type slug name description content agent scope source_attribution call_key status always_load last_verified_at meta category agents hit_count impression_count last_hit_at created_at updated_at',
      without: { ...SAME_TENANT, embedding: 'made of the content again, by the model of the other deployment' },
    },
  },
  memory_edges: {
    end: { goesWith: 'memory_entries' },
    archive: { columns: 'id src_id edge_type dst_slug dst_id', without: SAME_TENANT },
  },
};
