// The registration of a feature with the service. A feature is one folder of features/, and one line in engine/features.ts; nothing below
// it names it.
import type { ObjectValue, Value } from '../../stdlib/values/index.ts';
import { typeToValue, type TypeDefinition } from '../../model/types/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { Answer } from '../../runtime/transactions/index.ts';
import type { ApiReply, ApiRequest, Identity } from '../api.ts';
import type { DefinitionResource, InstallationResource, InstanceResource, Namespace, Resource } from './types.ts';
import { systemProperties } from './system-types.ts';
import type { Policy } from './policy.ts';
import type { HostBuiltins } from './builtin-types.ts';

/**
 * Carries out one statement of a program (stdlib/isolate/protocol.ts, OpPayloads).
 * @throws CascadeError the exception that the program gets
 */
export type ProgramOperation = (space: Namespace, payload: ObjectValue, actor: Actor) => Promise<Answer>;

/** A custom command (resources-and-api.md 2.13). @param id as addressed; `*` may mean all */
export type Command = (space: Namespace, id: string, request: ApiRequest, actor: Actor) => Promise<ApiReply>;

/** A request of a client with a meaning of its own for this resource. */
export type ResourceRequest = (space: Namespace, request: ApiRequest, actor: Actor) => Promise<ApiReply>;
type OwnRequest = 'publish' | 'query' | 'status' | 'channels';

/** Publishes on a topic by raising its event. */
export type Publish = (topic: string, value: Value, actor: Actor) => Promise<void>;

/** A feature that reacts to publications on topics, with changes in the unit of the topic's event. */
export interface PublicationFollower {
  concerns(space: Namespace, topic: string): Promise<boolean>;
  /** Publishes the messages, in order and in one unit with the feature's own changes. */
  follow(space: Namespace, topic: string, messages: readonly Value[], actor: Actor, publish: Publish): Promise<unknown>;
}

/** Publishes to sources of one type, whose messages are stored first and sent from there. @param source its name */
export type SourcePublisher = (space: Namespace, source: string, request: ObjectValue, actor: Actor) => Promise<void>;

export interface Feature {
  readonly name: string;
  /** Resources whose members are definitions: few, in memory, stored by name. */
  readonly kinds?: readonly DefinitionResource[];
  /** System resources whose members are instances, each in a collection of its own. */
  readonly instances?: readonly InstanceResource[];
  /** Resources that belong to the installation and not to a namespace. */
  readonly installation?: readonly InstallationResource[];
  /** Statements of programs, by the kind of the operation. */
  readonly operations?: Readonly<Record<string, ProgramOperation>>;
  readonly builtins?: HostBuiltins;
  /** Policies on access and changes, asked in the order of the features. */
  readonly policies?: readonly Policy[];
  /** Custom commands, by resource and name. */
  readonly commands?: Readonly<Record<string, Readonly<Record<string, Command>>>>;
  /** Handlers of PUBLISH, QUERY and STATUS of clients, by resource. */
  readonly answers?: Readonly<Record<string, Readonly<Partial<Record<OwnRequest, ResourceRequest>>>>>;
  /** Handlers of requests to names that are no resources, by name; addressed without `custom/`. */
  readonly requests?: Readonly<Record<string, ResourceRequest>>;
  readonly follower?: PublicationFollower;
  /** Publishers by the type of the source. */
  readonly publishers?: Readonly<Record<string, SourcePublisher>>;
  readonly forgetUser?: ForgetUser;
}

/**
 * Takes what a user has by its name from it, before it is deleted or loses the namespace: whoever has the name later is somebody else.
 * Repeating the deletion resumes it.
 * @param by the admin who deletes the user, or revokes its access, to whom passes what needs an owner
 */
type ForgetUser = (space: Namespace, username: string, by: Identity) => Promise<void>;

/** All features of a service, indexed by what they offer. Fixed when the service starts. */
export class FeatureRegistry {
  readonly kinds: readonly DefinitionResource[];
  readonly installation: readonly InstallationResource[];
  readonly policies: readonly Policy[];
  readonly operations: ReadonlyMap<string, ProgramOperation>;
  readonly builtins: ReadonlyMap<string, HostBuiltins[string]>;
  readonly requests: ReadonlyMap<string, ResourceRequest>;
  readonly followers: readonly PublicationFollower[];
  readonly publishers: ReadonlyMap<string, SourcePublisher>;
  /** The service's own types as `types` lists them; they never change. Their ids are lower than all others, so they come first. */
  readonly systemTypes: ReadonlyMap<string, ObjectValue>;
  readonly #named = new Map<string, Resource>();
  readonly #byTypeName = new Map<string, Resource>();
  readonly #byCollection = new Map<string, TypeDefinition>();
  readonly #installation = new Map<string, InstallationResource>();
  readonly #kinds = new Map<string, DefinitionResource>();
  readonly #commands: ReadonlyMap<string, Readonly<Record<string, Command>>>;
  readonly #answers: ReadonlyMap<string, Readonly<Partial<Record<OwnRequest, ResourceRequest>>>>;
  readonly #forgetting: readonly ForgetUser[];

  /** @throws Error when two features offer the same */
  constructor(features: readonly Feature[]) {
    this.kinds = features.flatMap(({ kinds = [] }) => kinds);
    this.installation = features.flatMap(({ installation = [] }) => installation);
    const instances = features.flatMap((feature) => feature.instances ?? []);
    for (const kind of this.kinds) {
      put(this.#kinds, kind.name, kind);
      put(this.#named, kind.name, kind);
      put(this.#byTypeName, kind.systemType, kind);
    }
    for (const resource of instances) {
      if (!resource.asType) put(this.#named, resource.name, resource);
      put(this.#byTypeName, resource.type.name, resource);
      put(this.#byCollection, resource.collection, resource.type);
    }
    for (const resource of this.installation)
      for (const name of [resource.name, resource.type.name]) put(this.#installation, name, resource);
    this.policies = features.flatMap(({ policies = [] }) => policies);
    this.operations = merged(features.map(({ operations }) => operations));
    this.builtins = merged(features.map(({ builtins }) => builtins));
    this.requests = merged(features.map(({ requests }) => requests));
    this.followers = features.flatMap(({ follower }) => follower ?? []);
    this.publishers = merged(features.map(({ publishers }) => publishers));
    this.#forgetting = features.flatMap(({ forgetUser }) => forgetUser ?? []);
    this.#commands = merged(features.map(({ commands }) => commands));
    this.#answers = merged(features.map(({ answers }) => answers));
    const types = [
      ...this.kinds.map(({ type, listed }) => listed ?? type),
      ...[...this.installation, ...instances].map(({ type }) => type),
    ];
    this.systemTypes = new Map(
      types.map((type, i) => [type.name, { _id: (i + 1).toString(16).padStart(24, '0'), ...typeToValue(type), ...systemProperties }]),
    );
  }

  /** Finds a system resource by its own name. */
  named(name: string): Resource | undefined {
    return this.#named.get(name);
  }

  /** Finds a system resource by the name of its type. */
  ofType(name: string): Resource | undefined {
    return this.#byTypeName.get(name);
  }

  kind(name: string): DefinitionResource | undefined {
    return this.#kinds.get(name);
  }

  /** The custom commands of a resource. */
  commandsOf(resource: string): Readonly<Record<string, Command>> {
    return this.#commands.get(resource) ?? {};
  }

  answer(resource: string, operation: OwnRequest): ResourceRequest | undefined {
    return this.#answers.get(resource)?.[operation];
  }

  /** Takes what a user has by its name from it in all features. @param by the admin who deletes the user */
  async forgetUser(space: Namespace, username: string, by: Identity): Promise<void> {
    for (const forget of this.#forgetting) await forget(space, username, by);
  }

  /** The service's own type for a collection of instances. */
  typeOfCollection(collection: string): TypeDefinition | undefined {
    return this.#byCollection.get(collection);
  }

  /**
   * Finds a resource of the installation; undefined when the name means something else.
   * @param custom as for resolve(): under `custom/` only the name of its type counts
   */
  installationResource(name: string, custom: boolean | null): InstallationResource | undefined {
    const bare = name.startsWith('system.') ? name.slice('system.'.length) : name;
    const found = this.#installation.get(bare);
    return custom === true && found?.name === bare ? undefined : found;
  }

  /** Every system resource with addressable instances: by its own name, or else by its type's (under `custom/`). */
  *addressed(): Iterable<{ name: string; custom: boolean; resource: Resource }> {
    for (const [name, resource] of this.#named) yield { name, custom: false, resource };
    const named = new Set(this.#named.values());
    for (const [name, resource] of this.#byTypeName) if (!named.has(resource)) yield { name, custom: true, resource };
  }
}

function put<T>(map: Map<string, T>, name: string, value: T): void {
  if (map.has(name)) throw new Error(`two features offer ${name}`);
  map.set(name, value);
}

function merged<T>(parts: readonly (Readonly<Record<string, T>> | undefined)[]): Map<string, T> {
  const map = new Map<string, T>();
  for (const part of parts) for (const [name, value] of Object.entries(part ?? {})) put(map, name, value);
  return map;
}
