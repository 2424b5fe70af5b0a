/** Keeps a provisioner from coming to an end. */
import type { ExternalProvisioner } from '../../resources/workspaces/provisioner.ts';

type Interference = Parameters<ExternalProvisioner['interfere']>[0];
const held = new WeakMap<ExternalProvisioner, Map<string, Interference>>();

/**
 * What the provisioner does with one workspace, beside what it does with others.
 * @returns when it is first asked how far something has come, and is held
 */
export function hold(provisioner: ExternalProvisioner, customerId: string, interference: Interference): Promise<void> {
  const all = held.get(provisioner) ?? new Map<string, Interference>();
  return new Promise((resolve) => {
    held.set(
      provisioner,
      all.set(customerId, (asked) => {
        const answer = interference(asked);
        if (answer && asked.method === 'GET') resolve();
        return answer;
      }),
    );
    provisioner.interfere((asked) => {
      for (const [name, each] of all) if (asked.path.includes(`/${name}/`)) return each(asked);
      return undefined;
    });
  });
}
