/** What connections of the service call themselves at Postgres. Alone in its file: the embedded server knows it too. */
export const APPLICATION_NAME = 'agent-orchestration-service';
