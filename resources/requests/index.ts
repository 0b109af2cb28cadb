// The door of resources/requests: the requests of clients.
export { pipelineIn } from './aggregate.ts';
export { ANSWER_ROOM } from './answer-room.ts';
export { carryOut } from './carry-out.ts';
export { commandsOf } from './commands.ts';
export { objectOf, requireKnown, requiredText, textIn } from './fields.ts';
export { IDEMPOTENCY_RECORDS, carryOutIdempotently, indexIdempotencyRecords } from './idempotency.ts';
export { inflated } from './inflated.ts';
export { eachInserted } from './insert.ts';
export { executeProcedure } from './invoke.ts';
export { NO_CONTENT, counted, demandedVersion, idOf, namesVersion, reply } from './request.ts';
