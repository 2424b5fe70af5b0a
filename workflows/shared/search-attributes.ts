/** Makes the search attributes of a child: those of its parent, and its agent. */
import { defineSearchAttributeKey, type TypedSearchAttributes } from '@temporalio/common';
import { workflowInfo } from '@temporalio/workflow';

const AgentSlug = defineSearchAttributeKey('AgentSlug', 'KEYWORD');

export const foundByAgent = (agent: string): TypedSearchAttributes =>
  workflowInfo().typedSearchAttributes.updateCopy([{ key: AgentSlug, value: agent }]);
