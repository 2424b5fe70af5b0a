/** Workspaces that share this deployment: an area of the file storage, settings in it, and the runtime that is here. */
import { present } from '../../../platform/core/present.ts';
import type { FileStore } from '../../../platform/files/files.ts';
import { FileNotFoundError } from '../../../platform/files/files.ts';
import { isStorageAway } from '../../../platform/files/storage-away.ts';
import { ProvisionerError, unknownResource, type ProvisionedTenant, type Provisioner } from './provisioner.ts';

export interface LocalProvisionerOptions {
  files: Pick<FileStore, 'put' | 'get' | 'delete'>;
  /** This deployment is reached at this address. */
  runtimeBaseUrl: string;
  /** It fails while the runtime of this deployment does not answer. */
  checkRuntime: () => Promise<unknown>;
}

const areaOf = ({ customerId }: ProvisionedTenant): string => `workspaces/${customerId}`;

/** Each resource is a file with these contents. */
const CONTENTS: Record<string, (tenant: ProvisionedTenant) => object> = {
  storage: ({ workspaceId }) => ({ workspace_id: workspaceId }),
  settings: (tenant) => ({
    workspace_id: tenant.workspaceId,
    customer_id: tenant.customerId,
    plan: tenant.plan,
    storage: areaOf(tenant),
  }),
};

export const createLocalProvisioner = ({
  files,
  runtimeBaseUrl,
  checkRuntime,
}: LocalProvisionerOptions): Provisioner => {
  const keyOf = (tenant: ProvisionedTenant, resource: string): string => {
    if (!Object.hasOwn(CONTENTS, resource)) throw unknownResource(resource);
    return `${areaOf(tenant)}/${resource}.json`;
  };
  const told = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof ProvisionerError || error instanceof FileNotFoundError || isStorageAway(error)) throw error;
      throw new ProvisionerError('storage_failed', 'the file storage does not take or give files');
    }
  };

  return {
    resources: Object.keys(CONTENTS),

    async create(tenant, resource) {
      const key = keyOf(tenant, resource);
      const text = JSON.stringify(present(CONTENTS[resource])(tenant));
      await told(() => files.put(key, Buffer.from(text), 'application/json'));
      return { isReady: true, facts: { key } };
    },

    async find(tenant, resource) {
      const key = keyOf(tenant, resource);
      try {
        await told(() => files.get(key));
        return { isReady: true, facts: { key } };
      } catch (error) {
        if (error instanceof FileNotFoundError) return undefined;
        throw error;
      }
    },

    async remove(tenant, resource) {
      const key = keyOf(tenant, resource);
      await told(() => files.delete(key));
    },

    async reachRuntime() {
      try {
        await checkRuntime();
      } catch {
        throw new ProvisionerError('runtime_unreachable', 'the runtime does not answer');
      }
      return runtimeBaseUrl;
    },
  };
};
