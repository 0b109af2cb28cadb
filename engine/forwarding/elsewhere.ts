/** Another process owns the namespace, or may own it. */
export class OwnedElsewhere extends Error {
  readonly owner: number | null;
  /** @param owner null: the owner has to be looked up again */
  constructor(owner: number | null) {
    super('another process owns the namespace');
    this.owner = owner;
  }
}
