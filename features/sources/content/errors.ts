/** A text or value that does not fit its content type. The reason is for people and holds no secret. */
export class ContentError extends Error {}
