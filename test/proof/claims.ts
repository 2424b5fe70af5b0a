/** What must hold, in the order of the table in `docs/operate/proof.md`. A proof names one of these; none goes without a proof. */
export interface Claim {
  /** R: it works whatever breaks. S: nobody gets what is not theirs. */
  id: string;
  /** Of `npm run proof:<name>`. */
  proof: string;
  holds: string;
}

export const CLAIMS: readonly Claim[] = [
  {
    id: 'R1',
    proof: 'crash',
    holds: 'Killed at any moment, every part of it, each accepted run and project still ends, once',
  },
  { id: 'R2', proof: 'network', holds: 'The same with slow, cut and dead connections between the parts' },
  { id: 'R3', proof: 'replay', holds: 'Every workflow replays, from its record and without a cache' },
  {
    id: 'R4',
    proof: 'webhooks',
    holds: 'Each event is delivered within eight attempts or recorded as exhausted, and the log tells what was seen',
  },
  { id: 'R5', proof: 'fuzz', holds: 'No request breaks it: no undocumented 5xx, no process that ends or stands still' },
  {
    id: 'R6',
    proof: 'upgrade',
    holds: 'A database of any version since 1.0 is brought forward whole, also by many at once',
  },
  { id: 'R7', proof: 'acks', holds: 'What was carried out once counts once, also where its answer is lost' },
  {
    id: 'R8',
    proof: 'long-waits',
    holds: 'Whatever a workflow waits for, sixty days of it fill no history, and then it goes on',
  },
  {
    id: 'R9',
    proof: 'engine',
    holds:
      'Whatever is done to a project, what is stale says so, nothing ready is left undone, and every pause has a way out',
  },
  {
    id: 'R10',
    proof: 'crash-embedded',
    holds: 'On one machine in trouble (killed, no room, files gone) the same, and one process writes a database',
  },
  {
    id: 'R11',
    proof: 'followers',
    holds: 'Whoever follows a workspace sees each event once, in order, whatever is killed meanwhile',
  },
  {
    id: 'R12',
    proof: 'power',
    holds: 'A machine that loses its power loses no answer that was given, and what was accepted ends once',
  },
  {
    id: 'R13',
    proof: 'projects',
    holds: 'What a step, a gate and a post were given is current, nothing stands for good, and who caused it is named',
  },
  {
    id: 'R14',
    proof: 'model',
    holds: 'A real model, streamed over the OpenAI protocol, is used, limited, stopped and booked as it says',
  },
  { id: 'S1', proof: 'auth', holds: 'Every route refuses every wrong credential' },
  { id: 'S2', proof: 'tenancy', holds: "Another workspace's things are unknown, and show nowhere" },
  { id: 'S3', proof: 'egress', holds: 'Nothing that a tenant names leads inside, in no spelling and by no detour' },
  { id: 'S4', proof: 'otp', holds: 'A code confirms one request, once, and guessing is stopped' },
  { id: 'S5', proof: 'secrets', holds: 'No secret is in histories, logs, traces, dumps or replies' },
  { id: 'S6', proof: 'sandbox', holds: 'Code that a tenant brings gets nothing, and ends in time' },
  {
    id: 'S7',
    proof: 'limits',
    holds: 'Caps, credit and gates hold when many come at once, and nobody waits for the backlog of another',
  },
  { id: 'S8', proof: 'bodies', holds: 'Nothing that comes in from outside is read without end' },
];
