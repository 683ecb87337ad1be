"""What operators do, where their name and schema do not say it. By operator and overload; the Go name goes before."""

SENTENCES = {}
for line in """
add.Tensor: is t + other, broadcast; other is multiplied by Alpha first.
add.Scalar: is t + other; other is multiplied by Alpha first.
sub.Tensor: is t - other, broadcast; other is multiplied by Alpha first.
sub.Scalar: is t - other; other is multiplied by Alpha first.
mul.Tensor: is t * other, element by element, broadcast.
mul.Scalar: is t * other.
div.Tensor: is t / other, element by element, broadcast; of integers it is a float.
div.Scalar: is t / other; of integers it is a float.
div.Tensor_mode: is t / other, rounded as roundingMode says: "trunc", "floor", or "" for not at all.
div.Scalar_mode: is t / other, rounded as roundingMode says: "trunc", "floor", or "" for not at all.
eq.Tensor: is t == other, element by element, of type [Bool].
eq.Scalar: is t == other, element by element, of type [Bool].
ne.Tensor: is t != other, element by element, of type [Bool].
ne.Scalar: is t != other, element by element, of type [Bool].
lt.Tensor: is t < other, element by element, of type [Bool].
lt.Scalar: is t < other, element by element, of type [Bool].
le.Tensor: is t <= other, element by element, of type [Bool].
le.Scalar: is t <= other, element by element, of type [Bool].
gt.Tensor: is t > other, element by element, of type [Bool].
gt.Scalar: is t > other, element by element, of type [Bool].
ge.Tensor: is t >= other, element by element, of type [Bool].
ge.Scalar: is t >= other, element by element, of type [Bool].
matmul: is the matrix product: of matrices, of vectors, or of batches of matrices.
mm: is the matrix product of two matrices.
bmm: is the matrix product of two batches of matrices.
mv: is the product of a matrix and a vector.
dot: is the dot product of two vectors.
pow.Tensor_Tensor: is t to the power of exponent, element by element, broadcast.
pow.Tensor_Scalar: is t to the power of exponent.
pow.Scalar: is the number self to the power of exponent, element by element.
neg: is -t.
abs: is |t|.
exp: is e to the power of t.
log: is the natural logarithm.
sqrt: is the square root.
rsqrt: is 1 / sqrt(t).
reciprocal: is 1 / t.
square: is t * t.
tanh: is the hyperbolic tangent.
sigmoid: is 1 / (1 + exp(-t)).
relu: is max(t, 0).
clamp: limits the elements to Min and Max; one that is not set is no limit.
clamp.Tensor: limits the elements to those of Min and Max, broadcast; nil is no limit.
detach: is the same elements, without their history.
clone: is a copy that autograd follows.
contiguous: is t itself when it is contiguous, else a contiguous copy.
all: is whether all elements are true.
any: is whether any element is true.
sum: is the sum of all elements.
sum.dim_IntList: is the sum over those dimensions, nil for all; KeepDim leaves them with size 1.
mean: is the mean of all elements.
mean.dim: is the mean over those dimensions, nil for all; KeepDim leaves them with size 1.
prod: is the product of all elements.
max: is the largest element.
min: is the smallest element.
max.dim: gives the largest elements along a dimension and where they are.
min.dim: gives the smallest elements along a dimension and where they are.
max.other: is the larger of both elements; [Tensor.Maximum] is the same.
min.other: is the smaller of both elements; [Tensor.Minimum] is the same.
argmax: is where the largest element of each slice along dim is.
argmin: is where the smallest element of each slice along dim is.
view: is the same elements under another shape; one size may be -1.
reshape: is View where that is possible, else a copy.
flatten.using_ints: merges dimensions startDim to endDim, both included, into one; -1 is the last.
transpose.int: swaps two dimensions.
t: is the transposed matrix.
permute: puts the dimensions into that order.
unsqueeze: inserts a dimension of size 1 before dim.
squeeze: is t without its dimensions of size 1.
squeeze.dim: is t without that dimension, if its size is 1.
expand: repeats dimensions of size 1 without a copy; -1 leaves one as it is.
repeat: repeats the tensor that often along each dimension, as a copy.
slice.Tensor: is elements start to end, the latter excluded, of a dimension, as a view.
select.int: is element index of a dimension, as a view without that dimension.
narrow: is length elements of a dimension from start on, as a view.
index_select: is the elements of a dimension whose numbers are in index, a vector of [Int64].
index.Tensor: is t[indices], an index tensor (or nil: all) for each of the first dimensions.
index_put: is t with t[indices] = values; nil as an index means all.
index_put_: sets t[indices] = values in place; nil as an index means all. It returns t.
gather: takes, along dim, the elements whose numbers are in index, a tensor of [Int64].
masked_fill.Scalar: is t with value wherever mask is true.
masked_fill.Tensor: is t with value, a tensor of one element, wherever mask is true.
masked_select: is the elements where mask is true, as a vector.
softmax.int: is the softmax along dim.
log_softmax.int: is the logarithm of the softmax along dim.
to.dtype: converts the elements; t itself when they are of that type already.
to.device: moves and converts the elements; t itself when nothing is to be done.
fill_.Scalar: overwrites all elements with value. It returns t.
fill_.Tensor: overwrites all elements with value, a tensor of one element. It returns t.
copy_: overwrites t with the elements of src, broadcast, converted and moved. It returns t.
zero_: overwrites all elements with zero. It returns t.
cat: joins tensors along a dimension that they have.
stack: joins tensors along a new dimension.
split.Tensor: gives views of splitSize elements of dim each, the last perhaps of fewer.
chunk: gives that many views, of about equally many elements of dim.
unbind.int: gives a view of each element of dim.
allclose: tells whether |t - other| <= ATol + RTol * |other| holds for all elements.
equal: tells whether both tensors have the same shape and elements.
where.self: is the elements of self where condition is true, those of other elsewhere, broadcast.
where: gives the indices of true elements, a vector for each dimension.
sort: gives the elements in order along Dim, the last, and where they were.
topk: gives the k largest elements along Dim, the last, and where they are.
einsum: sums products as the equation says: "ij,jk->ik" is a matrix product.
zeros: is a tensor of zeros.
ones: is a tensor of ones.
empty.memory_format: is a tensor whose elements are not set.
full: is a tensor of that value throughout.
rand: is a tensor of random numbers, uniform in [0, 1).
randn: is a tensor of random numbers, normal with mean 0 and variance 1.
randint: is a tensor of random integers, uniform in [0, high).
randint.low: is a tensor of random integers, uniform in [low, high).
randperm: is a random permutation of the numbers below n.
arange: is the vector 0, 1, … below end.
arange.start: is the vector start, start + 1, … below end.
arange.start_step: is the vector start, start + step, … below end.
linspace: is a vector of that many numbers from start to end, both included.
eye: is the n by n matrix with ones on its diagonal.
eye.m: is the n by m matrix with ones on its diagonal.
tril: is the lower triangle of matrices, zero elsewhere.
triu: is the upper triangle of matrices, zero elsewhere.
cumsum: is the sum of all elements up to each, along dim.
einsum: sums products as the equation says: "ij,jk->ik" is a matrix product.
linear: is input Wᵀ + b; bias may be nil.
conv1d: convolves [batch, channels, length] with weight [out, in/groups, length]; bias may be nil.
conv2d: convolves [batch, channels, height, width] with weight [out, in/groups, height, width]; bias may be nil.
conv3d: convolves [batch, channels, depth, height, width]; bias may be nil.
embedding: looks up the rows of weight whose numbers are in indices.
cross_entropy_loss: is the loss of logits [batch, classes, …] and targets: class numbers [batch, …] of Int64, or probabilities of the logits' shape.
nll_loss_nd: is the loss of log-probabilities [batch, classes, …] and class numbers [batch, …] of Int64.
mse_loss: is the mean, or sum, of squared differences.
l1_loss: is the mean, or sum, of absolute differences.
gelu: is x · Φ(x), or its approximation by "tanh".
silu: is x / (1 + exp(-x)).
dropout: zeroes elements with probability p when train is true, and scales the others.
max_pool2d: is the largest element of each window; kernelSize has one or two numbers.
avg_pool2d: is the mean of each window; kernelSize has one or two numbers.
layer_norm: normalises over the last dimensions, whose sizes are normalizedShape; weight and bias may be nil.
scaled_dot_product_attention: is softmax(query keyᵀ · Scale + AttnMask) value.
""".strip().splitlines():
    key, _, text = line.partition(": ")
    SENTENCES[key] = text
