// The door of model/errors.
export {
  CascadeError,
  CascadeErrors,
  type ErrorDocument,
  apiError,
  errorDocument,
  isApiError,
  notOffered,
  refusalOfOne,
  retryAfterSeconds,
  statusOf,
} from './api-errors.ts';
