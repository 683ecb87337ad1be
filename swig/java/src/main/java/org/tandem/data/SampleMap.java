package org.tandem.data;

import org.tandem.Tensor;

/** Makes a sample of a sample: see {@link Dataset#map}. It is called as {@link Samples#get} is. */
@FunctionalInterface
public interface SampleMap {
  Tensor[] map(Tensor[] sample) throws Exception;
}
