/** What each history is recorded in. */
import { type Tenant, type TestService } from '../support/service/service.ts';
import { type WebhookReceiver } from '../support/fakes/webhook-receiver.ts';

/** Every prompt has it, and no history may: the replay test looks. */
export const CANARY = 'canary-prompt';

export interface Scene {
  service: TestService;
  tenant: Tenant;
  receiver: WebhookReceiver;
  /** Accepts a run of the assistant; its id. */
  dispatch(prompt: string, more?: object): Promise<string>;
  /** Writes the history of an ended execution. */
  keep(name: string, workflowId: string, firstExecution?: string): Promise<void>;
}
