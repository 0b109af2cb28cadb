// IndexedDB with promises: what the page keeps on the device. One database for the device, one for each person who has logged in there.

export interface Database {
  get<T>(store: string, key: string): Promise<T | undefined>;
  all<T>(store: string): Promise<T[]>;
  keys(store: string): Promise<string[]>;
  /** All of it or nothing. @throws DOMException ConstraintError: an `add` met a key that is there */
  change(stores: readonly string[], changes: (write: Writer) => void): Promise<void>;
  /** Puts a value in the place of one that fits, in one step with looking at it. @returns whether it did */
  replace<T>(store: string, key: string, fits: (before: T | undefined) => boolean, value: T): Promise<boolean>;
  close(): void;
}

export interface Writer {
  put(store: string, key: string, value: unknown): void;
  add(store: string, key: string, value: unknown): void;
  delete(store: string, key: string): void;
  clear(store: string): void;
  /** Looks at a value in the same step as the changes, and makes more of them. */
  look<T>(store: string, key: string, then: (value: T | undefined) => void): void;
}

const VERSION = 1;

export function openDatabase(name: string, stores: readonly string[]): Promise<Database> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(name, VERSION);
    opening.onupgradeneeded = () => {
      for (const store of stores) if (!opening.result.objectStoreNames.contains(store)) opening.result.createObjectStore(store);
    };
    opening.onsuccess = () => resolve(wrapped(opening.result));
    opening.onerror = () => reject(opening.error ?? new Error(name));
    opening.onblocked = () => reject(new Error(`${name} is in use`));
  });
}

export function deleteDatabase(name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const deleting = indexedDB.deleteDatabase(name);
    deleting.onsuccess = () => resolve();
    deleting.onblocked = () => resolve(); // goes when the other tab lets go of it, which it does when it is asked to (onversionchange)
    deleting.onerror = () => reject(deleting.error ?? new Error(name));
  });
}

function wrapped(database: IDBDatabase): Database {
  database.onversionchange = () => database.close();
  const read = <T>(store: string, ask: (from: IDBObjectStore) => IDBRequest): Promise<T> =>
    new Promise((resolve, reject) => {
      const asking = ask(database.transaction(store).objectStore(store));
      asking.onsuccess = () => resolve(asking.result as T);
      asking.onerror = () => reject(asking.error ?? new Error(store));
    });
  return {
    get: (store, key) => read(store, (from) => from.get(key)),
    all: (store) => read(store, (from) => from.getAll()),
    keys: (store) => read(store, (from) => from.getAllKeys()),
    change: (stores, changes) =>
      new Promise((resolve, reject) => {
        const transaction = database.transaction([...stores], 'readwrite');
        transaction.oncomplete = () => resolve();
        transaction.onabort = () => reject(transaction.error ?? new Error('aborted'));
        changes({
          put: (store, key, value) => void transaction.objectStore(store).put(value, key),
          add: (store, key, value) => void transaction.objectStore(store).add(value, key),
          delete: (store, key) => void transaction.objectStore(store).delete(key),
          clear: (store) => void transaction.objectStore(store).clear(),
          look: (store, key, then) => {
            const looking = transaction.objectStore(store).get(key);
            looking.onsuccess = () => then(looking.result);
          },
        });
      }),
    replace: (store, key, fits, value) =>
      new Promise((resolve, reject) => {
        const transaction = database.transaction(store, 'readwrite');
        const objects = transaction.objectStore(store);
        const looking = objects.get(key);
        let isPut = false;
        looking.onsuccess = () => {
          isPut = fits(looking.result);
          if (isPut) objects.put(value, key);
        };
        transaction.oncomplete = () => resolve(isPut);
        transaction.onabort = () => reject(transaction.error ?? new Error('aborted'));
      }),
    close: () => database.close(),
  };
}
