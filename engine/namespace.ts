/* oxlint-disable max-lines -- the composition of a namespace */
// A namespace that is served: its definitions in force, its committer, its runs. Opening one takes over the unfinished work of dead
// processes.

import type { Db } from 'mongodb';
import type { Logger } from 'pino';
import type { Identity } from '../resources/api.ts';
import type { ObjectValue } from '../stdlib/values/index.ts';
import { FEATURES } from './features.ts';
import { FeatureStates } from '../resources/states.ts';
import { releaseRequests } from '../features/builtins/index.ts';
import { RULE_GRAPH, RuleGraph, loadRule, abandonTooDeep, abandonLost, ConditionFailures } from '../features/rules/index.ts';
import { IMPLEMENTED_EVENTS, openState, stateNamesOf, ImplementedEvents, serviceHandledBy } from '../features/services/index.ts';
import { SOURCES_STATE, Sources } from '../features/sources/index.ts';
import { SCHEDULE, Schedule } from '../features/schedules/index.ts';
import { DELIVERIES_STATE, Deliveries, deadLetter } from '../features/delivery/index.ts';
import type { Stalls } from '../platform/stalls/index.ts';
import type { Clock } from '../platform/clock/index.ts';
import {
  attemptOf,
  Committer,
  Fenced,
  openEpochs,
  QueueFull,
  type RunId,
  type Step,
  type StoredEvent,
} from '../runtime/transactions/index.ts';
import { followIds, ownershipOf } from '../model/types/index.ts';
import { Correlations, EVALUATION_TEXTS, EVALUATIONS } from '../runtime/correlation/index.ts';
import { apiError } from '../model/errors/index.ts';
import { Listeners, LOGS_PATH, ASYNC, programIn } from '../runtime/events/index.ts';
import { HANDED_OFF_TEXTS, HandedOffEvents, HANDED_OFF_EVENTS, fence, TakeOver } from '../runtime/cluster/index.ts';
import { typeOfCollection, DefinitionStore, type Catalog, type Installation, type Namespace } from '../resources/catalog/index.ts';
import { eventsOf, isTraced, logLevelOf, RECORDINGS, recordingWrites, snapshot } from '../features/diagnostics/index.ts';
import { callableOf, type KnownProcedure } from '../features/procedures/index.ts';
import {
  type CompiledBy,
  COMPILATION_CACHE,
  CompilationCache,
  ProgramStore,
  executableKey,
  programFor,
  type Executable,
} from '../runtime/programs/index.ts';
import { dropOrphans, loadTypes, undoHalfRenames } from '../features/types/index.ts';
import { loadScalars } from '../features/scalars/index.ts';
import { CURSORS, refusalOf, indexDependents } from '../resources/instances/index.ts';
import { INDEX_BUILDS, IndexBuilds, indexBuildsOf, resumeBuilds, resumeRemovals } from '../resources/collections/index.ts';
import { pureBuiltins } from '../resources/host-context.ts';
import { changeAtOnce, perform, present } from '../resources/operations/index.ts';
import { acting, AUDITS, CONSTRAINT_CONSTANTS, RULE_RIGHTS, RuleRights } from '../resources/access/index.ts';
import { IDEMPOTENCY_RECORDS, indexIdempotencyRecords } from '../resources/requests/index.ts';
import { NODES_OUTLET } from '../features/nodes/index.ts';
import { FEDERATION, Federation, Outbox } from '../features/federation/index.ts';
import type { Egress } from '../platform/egress/index.ts';
import { openMaintenance } from './maintenance.ts';
import { findTaken, uniqueKeysOf } from './unique-keys.ts';
import { Contention, ErrorBreaker, ExecutionTimes, NO_LIMITS, HIGH, Backpressure, type RunHost, Runner } from '../runtime/runs/index.ts';
import type { ResolvedProcedure, Sandbox } from '../sandbox/index.ts';
import { EqualityReads, PointReads, RowReader, retryUntilAvailable, type Store } from '../platform/mongo/index.ts';
import { endWithRights, mayListenIn, presentIn, Subscribers } from '../features/subscriptions/index.ts';
import { TriggerIndex, type TriggerIndexOptions } from '../runtime/triggers/index.ts';
import type { Counters } from '../resources/counters.ts';
import { type StageReached, reportCommitted, reportDelivered } from '../runtime/context/index.ts';

export interface OpenNamespace extends AsyncDisposable {
  readonly space: Namespace;
  resolveProcedure(name: string): Promise<ResolvedProcedure | null>;
  /** Takes over the unfinished work of former owners, and starts timers and maintenance. A failed take-over may be retried. */
  takeOver(): Promise<void>;
  /** Whether no work is left to do here without a request: then no process has to have it open. */
  isAtRest(): Promise<boolean>;
  /** Whether closing it would lose state that its services keep between calls. */
  readonly hasState: boolean;
  /** Whether a client listens to events here. */
  readonly hasListeners: boolean;
  /** The epoch of this ownership. */
  readonly epoch: number;
  /** Number of runs that have not ended. */
  readonly pending: number;
  drained(): Promise<void>;
}

const COLLECTIONS = [
  IDEMPOTENCY_RECORDS,
  HANDED_OFF_EVENTS,
  HANDED_OFF_TEXTS,
  EVALUATIONS,
  EVALUATION_TEXTS,
  COMPILATION_CACHE,
  'journal',
  'journalValues',
  'logs',
  'programs',
  RECORDINGS,
  'resources',
  AUDITS,
  't.ArsRuleSnapshot',
];

export interface NamespaceOptions {
  readonly name: string;
  readonly store: Store;
  /** The epoch of this ownership, which its journal rows bear. */
  readonly epoch: number;
  /** Epochs of former owners whose journals may still be open. */
  readonly unclosed: readonly number[];
  /** The second of the newest `_id` that a former owner has given, unless its journal has a newer one. */
  readonly idSecond: number;
  /** The epoch of the process, which is shown to people. */
  readonly processEpoch: number;
  /** Called when another process owns the namespace now. */
  readonly onFenced: () => void;
  readonly sandbox: Sandbox;
  readonly clock: Clock;
  /** Bound of the open evaluations of one rule (language.md K10). */
  readonly mostOpenEvaluations: number;
  readonly log: Logger;
  readonly installation: Installation;
  readonly compiled: CompiledBy;
  readonly counters: Counters;
  readonly stalls: Stalls;
  readonly egress: Egress;
}

// oxlint-disable-next-line max-lines-per-function -- opens the parts of a namespace one after the other, and closes them in the reverse order
export async function openNamespace({
  name,
  store,
  epoch,
  unclosed,
  idSecond,
  processEpoch,
  onFenced,
  sandbox,
  clock,
  mostOpenEvaluations,
  log,
  installation,
  compiled,
  counters,
  stalls,
  egress,
}: NamespaceOptions): Promise<OpenNamespace> {
  const db = store.namespace(name);
  const rows = new RowReader(store.queries(name));
  await createCollections(db);
  const others = (): Promise<number[]> => openEpochs(db, (one) => one !== epoch);
  const newestSecond = Math.max(idSecond, await fence(db, [...new Set([...unclosed, ...(await others())])], clock));
  followIds(newestSecond, ownershipOf(installation.about.nodeUuid, epoch));
  await indexIdempotencyRecords(db);
  await Outbox.index(db);
  await indexDependents(db);
  const definitions = await DefinitionStore.load(db);
  await undoHalfRenames(db, (type) => definitions.get('types', type) !== undefined);
  const scalars = loadScalars(definitions);
  const cipher = await installation.keys.cipherOf(name);
  const types = loadTypes({ features: FEATURES, scalars, definitions }, cipher, (type, error) =>
    log.error({ err: error, type }, 'a stored type cannot be read'),
  );
  const catalog: Catalog = { features: FEATURES, types, scalars, definitions };
  const compilations = await CompilationCache.open(db, compiled);
  if (definitions.list('rules').length + definitions.list('procedures').length > 0) sandbox.prepare();
  const sources = new Sources({ space: () => space, db, epoch: processEpoch, outlet: egress.outletOf(name) });
  await sources.counts.load();
  const callables = new Map<string, KnownProcedure>();
  const recorded = new Map<RunId, readonly Step[]>();
  const contention = new Contention();
  const backpressure = new Backpressure();
  const executionTimes = new ExecutionTimes();
  const errorBreaker = new ErrorBreaker(() => clock.now());
  const executables = new Map<string, Executable>();
  const sharedState = openState(() => space);
  const environment: TriggerIndexOptions = {
    typeOf: (type) => types.get(type) ?? null,
    builtin: pureBuiltins(clock),
    namespace: name,
    clock,
    onError: (rule, error) => failures.record(rule.name, error),
  };
  const failures = new ConditionFailures(() => space);
  const ruleRights = new RuleRights(() => space);
  const editor = (username: string): Identity => ({ username, namespace: name, profiles: [] });
  const implementedEvents = new ImplementedEvents(definitions.list('services'), (username, path, payload, by) =>
    ruleRights.mayPassOn(editor(username), path, payload, by),
  );
  const stages = counters.stages.of(name);
  const reached: StageReached = (rule, stage, ms) => stages.add(rule, stage, ms);
  let runner: Runner | null = null;
  const presentEvent = presentIn(() => space);
  const subscribers = new Subscribers(presentEvent, (error) =>
    log.error({ err: error, namespace: name }, 'an event could not be delivered to a subscriber'),
  );

  const listeners = new Listeners((error, listener) =>
    log.error({ err: error, namespace: name, listener }, 'a listener to committed events failed'),
  );
  const committer: Committer = new Committer({
    client: store.client,
    db,
    epoch,
    measure: (work) => stalls.run('commit', name, 'a transaction', work),
    onEvents: (events, fresh) => {
      listeners.call('metrics', () => {
        for (const { path } of events) counters.event(path);
        reportCommitted(events, reached);
      });
      const begun = listeners.call('correlation', () => correlations.arrive(events)) ?? events.map(withoutPlaces);
      listeners.call('rules', () => runner?.begin(begun));
      listeners.call('subscriptions', () => subscribers.deliver(fresh.filter((event) => attemptOf(event) === 1)));
      listeners.call('metrics', () =>
        reportDelivered(
          fresh.filter(({ path }) => subscribers.has(path)),
          reached,
        ),
      );
      listeners.call('deliveries', () => deliveries.committed(fresh));
    },
    onLogs: (logs) => {
      if (!subscribers.has(LOGS_PATH) && !deliveries.hasSubscribers(LOGS_PATH)) return;
      const events = eventsOf(logs);
      listeners.call('subscriptions', () => subscribers.deliver(events));
      listeners.call('deliveries', () => deliveries.committed(events));
    },
    onFenced,
    uniqueKeys: (unit) => uniqueKeysOf(unit, (collection) => typeOfCollection(space, collection)),
    cipher: () => space.storage.cipher,
    refuses: (unit) => refusalOf(space, unit),
    findTaken: (units) => findTaken(db, units, (collection) => typeOfCollection(space, collection)),
    onError: (error, message) => log.error({ err: error, namespace: name }, message),
    isFull: () => {
      if (backpressure.isHigh) return new QueueFull('waitingRuns', HIGH.runs);
      const usage = installation.quotas.known(name);
      return usage?.isBackedUp ? new QueueFull('execution', usage.executionRate) : null;
    },
  });
  const handedOff: HandedOffEvents = new HandedOffEvents({
    db,
    committer: () => committer,
    cipher: () => space.storage.cipher,
    onError: (error) => log.error({ err: error, namespace: name }, 'events of another process could not be taken'),
  });
  const correlations = new Correlations({
    namespace: name,
    clock,
    committer,
    conditions: environment,
    cipher: () => space.storage.cipher,
    log,
    failed: (rule, error) => failures.record(rule, error),
    runs: () => runs,
    full: (most) => apiError('cascade.quota.exceeded', 'openEvaluations', most),
    mostOpen: mostOpenEvaluations,
    mayTake: (editor, path, payload, by) => ruleRights.mayTake(editor, path, payload, by),
  });
  const schedule = new Schedule(() => space);
  const federation = new Federation(() => space, egress.nodesOutletOf(name));
  const runs: RunHost = {
    namespace: name,
    clock,
    sandbox,
    committer,
    contention,
    backpressure,
    executionTimes,
    errorBreaker,
    limits: () => installation.quotas.known(name)?.runLimits ?? NO_LIMITS,
    log,
    conditions: environment,
    executable: (rule, program) => executableFor(space, rule, program),
    programFor,
    conditionFailed: (rule, error) => failures.record(rule, error),
    declined: (actor) => deliveries.acknowledgeRun(actor),
    admit: (identity) => acting({ installation }, identity),
    turn: () => installation.quotas.known(name)?.execution(),
    perform: (kind, payloadJson, actor) => perform(space, kind, payloadJson, actor),
    changeAtOnce: (kind, payloadJson, initiator) => changeAtOnce(space, kind, payloadJson, initiator),
    ran: (rule, outcome, seconds) => counters.ran(name, rule, outcome, seconds),
    reached,
    release: (run) => {
      sharedState.release(run);
      federation.release(run);
      space.states.get(CURSORS).release(run);
      releaseRequests(space, run);
    },
    holdsLocks: (run) => sharedState.holdsLocks(run),
    present: (instance, actor) => present(space, instance, actor),
    takeRecorded: (run) => {
      const steps = recorded.get(run) ?? [];
      recorded.delete(run);
      return steps;
    },
    settle: (event, rule, store) => deliveries.settle(event, `/rules/${rule}`, store),
    lost: (event, rule) => abandonLost(space, event, rule),
    poisoned: (event, target, error) => deadLetter(space, { event, target, reason: 'poison', error, deliveries: attemptOf(event) }),
    failure: (resource, invocation, error, actor) => {
      deliveries.failed(resource, error, actor);
      return snapshot(space, resource, invocation, error, actor);
    },
    record: (recording) => recordingWrites(space, recording),
    isTraced: (resource) => isTraced({ catalog }, resource, clock.now()),
    logLevel: (resource) => logLevelOf({ catalog }, resource, clock.now()),
    serviceOf: ({ path }, { name: rule, service }) => service ?? serviceHandledBy(space, path, rule),
    mapOf: (module) => {
      for (const { callable } of callables.values())
        if (callable.resolved.program.module.hash === module)
          return { map: callable.map, resource: `/procedures/${callable.resolved.name}` };
      return null;
    },
  };
  const deliveries = new Deliveries({
    space: () => space,
    epoch,
    present: presentEvent,
    mayListen: mayListenIn(() => space),
    isOpen: (event, rule) => runner?.isOpen(event, rule) === true,
    resend: (node, event) => federation.outbox.again(node, event),
  });
  const states = new FeatureStates();
  states.set(RULE_GRAPH, new RuleGraph());
  states.set(RULE_RIGHTS, ruleRights);
  states.set(INDEX_BUILDS, new IndexBuilds(db));
  states.set(IMPLEMENTED_EVENTS, implementedEvents);
  states.set(SOURCES_STATE, sources);
  states.set(SCHEDULE, schedule);
  states.set(FEDERATION, federation);
  states.set(NODES_OUTLET, federation.outlet);
  states.set(DELIVERIES_STATE, deliveries);
  const space: Namespace = {
    name,
    clock,
    log,
    storage: { db, rows, points: new PointReads(rows), equals: new EqualityReads(rows), cipher },
    catalog,
    transactions: committer,
    execution: {
      sandbox,
      runs,
      contention,
      executables,
      programs: new ProgramStore({ db, executables, epoch, committer }),
      compilations,
      sharedState,
    },
    events: {
      when: new TriggerIndex({
        ...environment,
        mayTake: (rule, path, payload, by) => ruleRights.mayTake(programIn(rule).executable.identity, path, payload, by),
      }),
      before: new TriggerIndex({
        ...environment,
        mayTake: (rule, path, payload, by) => ruleRights.mayChange(programIn(rule).executable.identity, path, payload as ObjectValue, by),
      }),
      correlations,
      implementedEvents,
      deliveries,
      subscribers,
    },
    installation,
    states,
  };
  const recheckRights = endWithRights(space);
  definitions.onChanged = (kind, changed) => {
    recheckRights(kind);
    ruleRights.changed(kind);
    states.get(CONSTRAINT_CONSTANTS).changed(space, kind);
    errorBreaker.forget(`/${kind}/${changed}`);
  };
  for (const [rule, object] of definitions.list('rules')) {
    try {
      loadRule(space, object);
    } catch (error) {
      log.warn({ err: error, rule, namespace: name }, 'a stored rule no longer compiles and is not in force');
    }
  }
  runner = new Runner({
    host: runs,
    backpressure,
    find: (rule, program) => executableFor(space, rule, program),
    refuse: (event, rule) => abandonTooDeep(space, event, rule),
    lost: runs.lost,
  });

  const opened: AsyncDisposable[] = [];
  const uses = (key: string): boolean => runner.uses(key);
  /** Timers and maintenance start after the take-over of unfinished work. */
  const beginMaintenance = async (): Promise<void> => {
    schedule.start();
    federation.open();
    await resumeBuilds(space);
    resumeRemovals(space);
    await dropOrphans(db, clock.now(), true);
    await deliveries.look();
    opened.push(openMaintenance(space, uses));
  };
  const takeOver = new TakeOver(space, store, recorded);
  let resuming: Promise<void> = Promise.resolve();
  let isClosing = false;
  let isTakenOver = false;
  /** A take-over that is under way when the namespace is closed begins nothing any more. */
  const requireOpen = (): void => {
    if (isClosing) throw new Fenced('the namespace is closed here');
  };
  const isWanted = (): boolean => !isClosing;
  const resume = async (): Promise<void> => {
    requireOpen();
    const events = await takeOver.take([...new Set([...unclosed, ...(await others())])]);
    requireOpen();
    if (correlations.areAsleep) {
      // The former owner's journal is closed by now: until then that owner may have spilled evaluations.
      await retryUntilAvailable(() => correlations.restore(db), { isWanted });
      // First the former owner's events, then those that a process of an earlier version stored for its leader, then new commits.
      await committer.exclusive(async (commit) => {
        await retryUntilAvailable(() => handedOff.start(commit), { isWanted });
        correlations.start(events);
      });
    }
    requireOpen();
    if (opened.length === 0) await beginMaintenance();
    requireOpen();
    sources.start();
    isTakenOver = true;
  };
  const close = async (): Promise<void> => {
    isClosing = true;
    indexBuildsOf(space).close();
    states.get(CONSTRAINT_CONSTANTS).close();
    await resuming.catch(() => undefined);
    backpressure.close();
    for (const one of opened) await one[Symbol.asyncDispose]();
    await sources.close();
    await federation.close();
    await sources
      .settle(clock.now(), true)
      .catch((err: unknown) => log.warn({ err, namespace: name }, 'the counts of sources could not be stored'));
    await deliveries.close();
    await handedOff.close();
    await schedule[Symbol.asyncDispose]();
    await correlations[Symbol.asyncDispose]();
    await committer[Symbol.asyncDispose]();
    executionTimes.close(); // until here, runs have to be ended that take too long
    await space.states.get(CURSORS).closeAll();
  };
  try {
    await space.execution.compilations.settle();
    const editors = [...[...executables.values()].map(({ identity }) => identity), ...[...implementedEvents.editors()].map(editor)];
    await ruleRights.readAll(editors); // before any event comes
    await space.execution.programs.open(clock.now());
    await states.get(CONSTRAINT_CONSTANTS).settle(space);
    await deliveries.load();
  } catch (error) {
    await close().catch((failed: unknown) =>
      log.error({ err: failed, namespace: name }, 'a namespace that could not be opened could not be closed either'),
    );
    throw error;
  }
  return {
    space,
    takeOver: () => (resuming = resuming.catch(() => undefined).then(resume)),
    async isAtRest() {
      if (!isTakenOver || runner.pending > 0 || correlations.isBusy || correlations.open > 0 || schedule.isBusy || !schedule.isEmpty)
        return false;
      if (definitions.list('sources').length > 0 || indexBuildsOf(space).areOpen) return false;
      return (await federation.outbox.isEmpty()) && (await deliveries.pending()) === 0;
    },
    epoch,
    get hasListeners() {
      return subscribers.size > 0 || deliveries.hasListeners;
    },
    get hasState() {
      return definitions.list('services').some(([service]) => stateNamesOf(space, service) !== null);
    },
    resolveProcedure: async (procedure) => (await callableOf(space, procedure, callables))?.resolved ?? null,
    get pending() {
      return runner.pending;
    },
    async drained() {
      while (runner.pending > 0 || correlations.isBusy || schedule.isBusy || handedOff.isBusy) {
        await handedOff.settled();
        await schedule.settled();
        await runner.drained();
        await correlations.settled();
      }
    },
    [Symbol.asyncDispose]: close,
  };
}

async function createCollections(db: Db): Promise<void> {
  const present = new Set((await db.listCollections({}, { nameOnly: true }).toArray()).map((one) => one.name));
  for (const name of COLLECTIONS) if (!present.has(name)) await db.createCollection(name);
  await db.collection('logs').createIndex({ invocationId: 1, sequenceId: 1 });
}

function executableFor(space: Namespace, rule: string, program: string): Executable | null {
  if (program !== ASYNC) return space.execution.executables.get(executableKey(rule, program)) ?? null;
  // The procedure is found by its name when it runs; it runs with the identity of the event.
  return {
    resource: `/procedures/${rule}`,
    name: rule,
    program: { id: ASYNC, module: { hash: ASYNC, source: '' }, constantsJson: '[]' },
    map: '',
    service: null,
    identity: nobody(space),
    procedure: rule,
  };
}

const nobody = (space: Namespace): Identity => ({ username: 'system', namespace: space.name, profiles: [] });

/** The event for the rules over a single event. */
const withoutPlaces = (event: StoredEvent): StoredEvent => ({ ...event, runs: event.runs.filter(({ places }) => !places) });
