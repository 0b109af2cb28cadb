// A collection of a real mongod for tests, where the test set-up gives one.
import { type Document, MongoClient } from 'mongodb';
import type { ObjectValue } from '../../../stdlib/values/index.ts';
import type { TypeDefinition } from '../../types/index.ts';
import { instanceToBson } from '../../values/index.ts';

export interface TestCollection extends AsyncDisposable {
  /** Puts in instances, known from then on by their place in the list. */
  fill(type: TypeDefinition, instances: readonly ObjectValue[]): Promise<void>;
  createIndex(key: Record<string, '2dsphere'>): Promise<void>;
  /** The places of the instances that a filter finds, ascending. */
  find(filter: Document): Promise<number[]>;
}

/** Null, with the reason told, when CASCADE_TEST_MONGO is not set. */
export async function openTestCollection(name: string): Promise<TestCollection | null> {
  const uri = process.env.CASCADE_TEST_MONGO;
  if (!uri) {
    console.info(`${name}: not compared with a store, as CASCADE_TEST_MONGO is not set`);
    return null;
  }
  const client = await new MongoClient(uri).connect();
  const database = client.db(`test_${name}_${process.pid}`);
  const collection = database.collection('instances');
  return {
    async fill(type, instances) {
      await collection.deleteMany({});
      await collection.insertMany(instances.map((instance, place) => ({ ...instanceToBson(type, instance), place })));
    },
    async createIndex(key) {
      await collection.createIndex(key);
    },
    async find(filter) {
      const found = await collection.find(filter, { projection: { place: 1 } }).toArray();
      return found.map((document) => document['place'] as number).sort((a, b) => a - b);
    },
    async [Symbol.asyncDispose]() {
      await database.dropDatabase();
      await client.close();
    },
  };
}
