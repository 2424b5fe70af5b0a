/**
 * Connections of the service tell Postgres this name. It has a file of its own because the embedded server needs it
 * without the rest.
 */
export const APPLICATION_NAME = 'agent-orchestration-service';
