// The shape of a type once it has been checked: what coercion, storage, conditions and triggers read (resources-and-api.md 4.1).
import { BASE_TYPES } from '../../stdlib/convert/index.ts';
import type { ObjectValue, Value } from '../../stdlib/values/index.ts';
import type { Cipher } from './cipher.ts';

export { BASE_TYPES };
export type BaseType = (typeof BASE_TYPES)[number];

export interface PropertyDefinition {
  readonly name: string;
  /** As declared: a base type, a user scalar or another type. */
  readonly type: string;
  /** What is stored: the scalar's base type, `Object` for another type's name. */
  readonly base: BaseType;
  readonly kind: 'base' | 'scalar' | 'type';
  /** For a user scalar: what it says of its values. */
  readonly scalar?: ScalarDefinition;
  /** For another type's name: that type as it is now; undefined once it is gone. */
  readonly structure?: () => TypeDefinition | undefined;
  readonly multi: boolean;
  /** Any value, arrays too; only in types of the service's own. The base is Object. */
  readonly anything?: true;
  /** `Map` or `Value`: a variable of a service's state that several runs may hold (language.md 8); never stored. The base is Object. */
  readonly shared?: 'Map' | 'Value';
  readonly required: boolean;
  /** Already coerced; absent where there is none. */
  readonly default?: Value;
  readonly unique: boolean;
  readonly indexed: boolean;
  /** In Unicode code points; String only. */
  readonly maxLength?: number;
  /** Always there for Decimal and Currency. */
  readonly scale?: number;
  readonly encrypted: boolean;
  /** Usernames, which compare as they are stored (resources-and-api.md 1.3); only in types of the service's own. */
  readonly isUsername?: true;
  /** Which members of an Object nobody is shown, by the path inside it; only in types of the service's own. */
  readonly hidesMember?: (path: readonly string[]) => boolean;
  readonly description?: string;
  /** Attributes that we don't know, or that mean nothing for this base type. */
  readonly other: ObjectValue;
  /** All attributes as they came: what the type's representation shows. */
  readonly declared: ObjectValue;
}

export interface IndexKey {
  /** A property, or a dotted path into one. */
  readonly path: string;
  readonly direction: 1 | -1 | 'geo';
}

export interface IndexDefinition {
  readonly keys: readonly IndexKey[];
  readonly unique: boolean;
  /** As declared, unknown ones included; null when left out. */
  readonly options: ObjectValue | null;
}

export interface TypeDefinition {
  readonly name: string;
  /** Where its instances are stored. It does not follow the name: a type that is renamed keeps it. */
  readonly collection: string;
  readonly role: 'standard' | 'schema';
  /** In the order of declaration. */
  readonly properties: ReadonlyMap<string, PropertyDefinition>;
  /** All of them have base types, and are shown as they are stored. */
  readonly isPlain: boolean;
  /** Of a type of the service's own: properties that are written and never shown. */
  readonly secrets: readonly string[];
  readonly naturalKey: readonly string[];
  readonly indexes: readonly IndexDefinition[];
  /** Metadata only, never enforced. */
  readonly foreignKeys: Value;
  readonly audited: boolean;
  readonly groupEnabled: boolean;
  readonly groupRequired: boolean;
  readonly userAccessLevel: string;
  readonly adminAccessLevel: string;
  readonly accessLevels: ObjectValue;
  /** In bytes; 0 = no limit. Above 0 the type is capped. */
  readonly maxStorage: number;
  /** 0 = no limit. */
  readonly maxObjects: number;
  /** As declared (text or ms), and in milliseconds; null = instances do not expire. */
  readonly expiresAfter: Value;
  readonly expiresAfterMs: number | null;
  readonly rulesSuppressed: boolean;
  /** What encrypted properties are stored with; absent where the namespace has no key. */
  readonly cipher?: Cipher;
  /** description, version, documentation, ars_ properties of the caller and every field that we don't know. */
  readonly other: ObjectValue;
}

/** The procedures that a scalar may name (resources-and-api.md 4.2). */
export const SCALAR_ACTIONS = ['toInternal', 'toExternal', 'toConstraint', 'comparator'] as const;
export type ScalarAction = (typeof SCALAR_ACTIONS)[number];

/** A user scalar (resources-and-api.md 4.2): a base type, and names of procedures that convert and compare its values. */
export interface ScalarDefinition extends Readonly<Partial<Record<ScalarAction, string>>> {
  readonly name: string;
  readonly baseType: BaseType;
  readonly maxLength?: number;
  readonly scale?: number;
}

/** The names that a property's type may have besides the base types. */
export interface KnownNames {
  readonly types: Pick<ReadonlyMap<string, TypeDefinition>, 'get' | 'has'>;
  readonly scalars: ReadonlyMap<string, ScalarDefinition>;
  /** The namespace's, for the types to keep. */
  readonly cipher?: Cipher | null;
  /** For a definition that is stored: it was checked then, so that a name which is unknown now is that of a type that has been deleted. */
  readonly isStored?: boolean;
  /** For a change of a definition: the types' names that the stored properties have, which may be those of deleted types and stay. */
  readonly kept?: ReadonlyMap<string, Value>;
}

/** The names of 1.3, in the order in which they follow the declared properties. */
export const SYSTEM_PROPERTIES = {
  ars_namespace: 'String',
  ars_version: 'Integer',
  ars_createdAt: 'DateTime',
  ars_createdBy: 'String',
  ars_modifiedAt: 'DateTime',
  ars_modifiedBy: 'String',
  ars_group: 'String',
  ars_properties: 'Object',
  ars_public: 'Boolean',
  ars_relationships: 'Object',
  ars_dependentResource: 'ResourceReference',
} as const satisfies Record<string, BaseType>;
export type SystemProperty = keyof typeof SYSTEM_PROPERTIES;

const SERVICE_SET: ReadonlySet<string> = new Set([
  '_id',
  'ars_namespace',
  'ars_version',
  'ars_createdAt',
  'ars_createdBy',
  'ars_modifiedAt',
  'ars_modifiedBy',
]);

/** Properties that the service alone sets (1.3): ignored in bodies, never refused, as clients send back what they have selected. */
export const isServiceSet = (name: string): boolean => SERVICE_SET.has(name);

/** Whether only properties of the service are named: then nothing is changed, and no event is raised (2.5). */
export const namesNothing = (changes: ObjectValue): boolean => Object.keys(changes).every(isServiceSet);
