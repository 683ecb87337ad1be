package serve;

/**
 * A request's rows.
 *
 * @param numbers of all, one row after the other
 */
record Rows(int count, double[] numbers) {}
