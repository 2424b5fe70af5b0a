/** All that can be searched. The first names the columns. */
import type { Searched } from '../platform/db/searched.ts';
import { searchedAttachment } from './attachments/searched.ts';
import { searchedLogEvent } from './event-log/searched.ts';
import { searchedEvent } from './events/searched.ts';
import { projectOfAttempt, searchedArtifact, searchedProject } from './projects/searched.ts';
import { searchedRun, searchedRunEvent, searchedRunFile } from './runs/searched.ts';

export const SEARCHED: readonly Searched[] = [
  searchedRun(projectOfAttempt),
  searchedProject,
  searchedArtifact,
  searchedRunFile,
  searchedAttachment,
  searchedEvent,
  searchedLogEvent,
  searchedRunEvent(projectOfAttempt),
];
