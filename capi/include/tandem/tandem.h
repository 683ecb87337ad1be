/* The stable C ABI of Tandem: PyTorch's engine and data-parallel training for any language.
 *
 * Rules that hold for every function below (docs/abi-*.md has a page on each):
 *
 * - Errors. A function that can fail returns `tdm_error*`: NULL on success, else an owned error that the caller frees
 *   with tdm_error_free(). On error no output is touched. Nothing throws or aborts across this boundary, and there is
 *   no thread-local "last error".
 * - Ownership. Owned results come through the last out-parameters (`**out`), and the comment names the function that
 *   frees them; every tdm_X_free() accepts NULL. A pointer that is *returned* is borrowed, and the comment says how
 *   long it lives. Inputs are borrowed for the duration of the call unless the comment says otherwise.
 * - Strings are UTF-8. Those that end in NUL are `const char*`; data is pointer + length.
 * - Options structs begin with `size_t struct_size`, grow only at their end, and are initialised by their `_INIT` macro
 *   or, from languages that have no macros, by tdm_X_init(&made, size of X): the same bytes, of an X as large as the
 *   caller knows it. Those functions need no tdm_load(), and do nothing for NULL or a size that no struct has. NULL for
 *   an options pointer means the defaults. No struct has padding between its fields, but where it is said why.
 * - Mistakes. NULL, handles of another type or that were freed, counts that cannot be, values and numbers that a
 *   function does not take are errors that name the argument; docs/abi-errors.md says what cannot be told.
 * - Threads. Handles may be used from any thread, one thread at a time unless stated. Functions marked "Blocks" may
 *   wait on peers, files or other threads.
 * - Loading. libtandem contains no LibTorch: the first fallible call finds and opens it (see tdm_load()).
 */
#ifndef TANDEM_TANDEM_H
#define TANDEM_TANDEM_H

#include <stddef.h>
#include <stdint.h>

#define TDM_VERSION_MAJOR 0
#define TDM_VERSION_MINOR 1
#define TDM_VERSION_PATCH 0

#ifndef TDM_API
#define TDM_API
#endif

/* Before the declaration of what is to go with the next SOVERSION: `since` is the release that said so, `instead` what
 * to use. Compilers warn where it is used, unless the program defines this macro as nothing. docs/abi-versions.md has
 * the rules. */
#ifndef TDM_DEPRECATED
#if defined(__GNUC__) || defined(__clang__)
#define TDM_DEPRECATED(since, instead) __attribute__((deprecated("since Tandem " since ": " instead)))
#else
#define TDM_DEPRECATED(since, instead)
#endif
#endif

/* What a type does not say of a function, a parameter or a struct's member, for who reads and for programs: abi.json is
 * made of it (docs/abi-json.md). Compilers see none of it.
 *
 * - TDM_NULLABLE: may be NULL, as options, user_data, destroy, what a function frees, and memory of no bytes may.
 * - TDM_NULLABLE_ELEMENTS: so may elements of the list.
 * - TDM_MAYBE: NULL may come out, without an error.
 * - TDM_INOUT: read, then overwritten.
 * - TDM_BORROWED: what comes out stays Tandem's; else it is the caller's, who frees it. What a callback gives stays the
 *   callback's.
 * - TDM_KEPT: memory that is used after the call as well.
 * - TDM_OPAQUE: a pointer of the program's own, which is handed on.
 * - TDM_COUNT(length): of how many elements or bytes, where that is not the count that follows.
 * - TDM_CALLED(when), of a callback. here: during the call, on its threads, several at once; autograd: within a backward
 *   pass, or what replays one, on its thread or one of the engine's; loader: on threads that make batches, several at
 *   once, or in the call that needs the sample; work: where a collective ends, or a call of another worker, also within the
 *   call that registers it; rpc: on threads of RPC, several at once, when a worker calls it; never. destroy: once, on any
 *   thread.
 * - TDM_BLOCKS: may wait: for other ranks, files, the network, a device, or the end of threads.
 * - TDM_THREAD_SAFE: several threads may call it at once with the same handle; those without a handle always may. */
#ifndef TDM_NULLABLE
#define TDM_NULLABLE
#define TDM_NULLABLE_ELEMENTS
#define TDM_MAYBE
#define TDM_INOUT
#define TDM_BORROWED
#define TDM_KEPT
#define TDM_OPAQUE
#define TDM_COUNT(length)
#define TDM_CALLED(when)
#define TDM_BLOCKS
#define TDM_THREAD_SAFE
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------ opaque handles */

typedef struct tdm_error tdm_error;
typedef struct tdm_string tdm_string;
typedef struct tdm_strings tdm_strings;
typedef struct tdm_tensor tdm_tensor;
typedef struct tdm_named_tensors tdm_named_tensors;
typedef struct tdm_scope tdm_scope;
typedef struct tdm_mode tdm_mode;
typedef struct tdm_hook tdm_hook;
typedef struct tdm_generator tdm_generator;
typedef struct tdm_stream tdm_stream;
typedef struct tdm_event tdm_event;
typedef struct tdm_op tdm_op;
typedef struct tdm_module tdm_module;
typedef struct tdm_optimizer tdm_optimizer;
typedef struct tdm_lr_scheduler tdm_lr_scheduler;
typedef struct tdm_averaged_parameters tdm_averaged_parameters;
typedef struct tdm_grad_scaler tdm_grad_scaler;
typedef struct tdm_store tdm_store;
typedef struct tdm_process_group tdm_process_group;
typedef struct tdm_work tdm_work;
typedef struct tdm_ddp tdm_ddp;
typedef struct tdm_data_parallel tdm_data_parallel;
typedef struct tdm_device_mesh tdm_device_mesh;
typedef struct tdm_pipeline tdm_pipeline;
typedef struct tdm_model_averager tdm_model_averager;
typedef struct tdm_recordio_writer tdm_recordio_writer;
typedef struct tdm_recordio_reader tdm_recordio_reader;
typedef struct tdm_dataset tdm_dataset;
typedef struct tdm_sampler tdm_sampler;
typedef struct tdm_loader tdm_loader;
typedef struct tdm_summary_writer tdm_summary_writer;
typedef struct tdm_checkpoint_folder tdm_checkpoint_folder;
typedef struct tdm_checkpoint tdm_checkpoint;
typedef struct tdm_elastic tdm_elastic;
typedef struct tdm_rpc_future tdm_rpc_future;
typedef struct tdm_rpc_result tdm_rpc_result;
typedef struct tdm_rref tdm_rref;
typedef struct tdm_distributed_optimizer tdm_distributed_optimizer;
typedef struct tdm_parameter_server tdm_parameter_server;
typedef struct tdm_parameter_client tdm_parameter_client;
typedef struct tdm_own_tensors tdm_own_tensors;

/* --------------------------------------------------------------------------------------------------------- errors */

/* Codes are frozen numbers. */
typedef int32_t tdm_error_code;
enum {
  TDM_ERROR_INTERNAL = 1,          /* a defect of Tandem or of LibTorch */
  TDM_ERROR_INVALID_ARGUMENT = 2,  /* a value, shape, dtype or option that the operation does not take */
  TDM_ERROR_OUT_OF_RANGE = 3,      /* an index past the end */
  TDM_ERROR_NOT_FOUND = 4,         /* a file, operator, module type, option or key that does not exist */
  TDM_ERROR_IO = 5,                /* the operating system refused: open, read, write, bind, connect */
  TDM_ERROR_DATA_LOSS = 6,         /* a file whose bytes are not what they claim to be */
  TDM_ERROR_TIMEOUT = 7,           /* a wait ended; the message says who was missing */
  TDM_ERROR_ABORTED = 8,           /* the operation was aborted: tdm_process_group_abort(), tdm_loader_abort(), tdm_shutdown() */
  TDM_ERROR_PEER_LOST = 9,         /* another rank died or closed its connection */
  TDM_ERROR_UNSUPPORTED = 10,      /* this build, LibTorch or machine cannot do it (a GPU that is not there) */
  TDM_ERROR_CLOSED = 11,           /* the handle was closed before */
  TDM_ERROR_LIBRARY = 12,          /* LibTorch or Tandem's core is missing, of a wrong version, or loaded twice */
  TDM_ERROR_OUT_OF_MEMORY = 13,
  TDM_ERROR_CALLBACK = 14          /* a callback of the caller's failed */
};

/* Code, operation and message of `error`. The strings are borrowed and live as long as the error. */
TDM_API tdm_error_code tdm_error_get_code(const tdm_error* error);
TDM_API const char* tdm_error_operation(const tdm_error* error);
TDM_API const char* tdm_error_message(const tdm_error* error);
TDM_API void tdm_error_free(tdm_error* error);

/* An error of the caller's own, for a callback to return; a callback may as well return one that it got from a function
 * of this header. Either way Tandem takes it, and the function that led to the callback fails with TDM_ERROR_CALLBACK
 * and this message. From what reads samples (tdm_dataset_create(), tdm_dataset_map(), tdm_iterable), TDM_ERROR_IO and
 * TDM_ERROR_TIMEOUT say that a sample cannot be read now: loaders do what their on_io_error says, and where they fail,
 * it is with that code. TDM_ERROR_OUT_OF_MEMORY stays that as well, and counts against no sample. `user_data`, an
 * exception of the caller's language for instance, goes over to that error: destroy(user_data) is called when it is
 * freed. Both may be NULL, and so may `operation`. Needs no tdm_load(). */
TDM_API tdm_error* tdm_error_create(tdm_error_code code, TDM_NULLABLE const char* operation, const char* message,
                                    void* user_data, void (*destroy)(void* user_data));
/* What was attached with that destroy function, borrowed; NULL else. */
TDM_API void* tdm_error_user_data(const tdm_error* error, TDM_CALLED(never) void (*destroy)(void* user_data));

/* Owned text. tdm_string_data() is NUL-terminated and lives as long as the string. */
TDM_API const char* tdm_string_data(const tdm_string* string);
TDM_API size_t tdm_string_size(const tdm_string* string);
TDM_API void tdm_string_free(tdm_string* string);

/* Owned texts, in a fixed order. Each lives as long as the list and is NUL-terminated; NULL and 0 past the end. Lists of
 * texts that go in are an array and its count. */
TDM_API size_t tdm_strings_count(const tdm_strings* list);
TDM_API const char* tdm_strings_data(const tdm_strings* list, size_t index);
TDM_API size_t tdm_strings_size(const tdm_strings* list, size_t index);
TDM_API void tdm_strings_free(tdm_strings* list);

/* ------------------------------------------------------------------------------------------- loading and leaving */

typedef int32_t tdm_load_device;
enum {
  TDM_LOAD_DEVICE_AUTO = 0, /* CUDA when LibTorch has it and the machine has a GPU, else CPU */
  TDM_LOAD_DEVICE_CPU = 1,
  TDM_LOAD_DEVICE_CUDA = 2  /* an error when there is no GPU */
};

typedef struct tdm_load_options {
  size_t struct_size;
  TDM_NULLABLE const char*
      libtorch; /* folder that holds lib/libtorch_cpu.so; NULL: TANDEM_LIBTORCH, beside this library, system */
  tdm_load_device device;   /* AUTO: the environment's TANDEM_DEVICE=auto|cpu|cuda */
} tdm_load_options;
#define TDM_LOAD_OPTIONS_INIT { sizeof(tdm_load_options), NULL, TDM_LOAD_DEVICE_AUTO }
TDM_API void tdm_load_options_init(tdm_load_options* made, size_t struct_size);

/* Finds LibTorch, decides between CPU and CUDA, and opens the core built for that version of LibTorch. Implicit at the
 * first fallible call; a second call with the same options does nothing, with others it is an error. Thread-safe.
 * Errors: TDM_ERROR_LIBRARY (missing, wrong version, another copy already in the process), TDM_ERROR_UNSUPPORTED. */
TDM_API TDM_BLOCKS TDM_THREAD_SAFE tdm_error* tdm_load(const tdm_load_options* options);

/* Aborts all process groups, stops loaders and joins every native thread of the core. Call it before the program
 * leaves main; later calls of any other function are TDM_ERROR_CLOSED. Does nothing when nothing was loaded.
 * Blocks up to timeout_ms. Errors: TDM_ERROR_TIMEOUT naming what still runs; it may be called again to wait on.
 * As a safety net the process's exit() does the same for two seconds; where calls go on even then, it flushes stdio and
 * leaves with the exit status, without the exit handlers that would run next. */
TDM_API TDM_BLOCKS tdm_error* tdm_shutdown(int64_t timeout_ms);

/* "0.1.0"; static. */
TDM_API const char* tdm_version(void);
/* "2.11.0", or "" before loading; static. */
TDM_API const char* tdm_libtorch_version(void);
/* Number of usable CUDA devices, 0 on CPU. */
TDM_API tdm_error* tdm_cuda_device_count(int32_t* out);

/* Live handles of a type ("tensor", "module", "optimizer", "store", "process_group", "work", "ddp",
 * "recordio_writer", "recordio_reader", "loader", "scope", "named_tensors", "string", "strings", "mode", "hook",
 * "callback", "generator", "stream", "event", "grad_scaler", "model_averager", "summary_writer", "data_parallel",
 * "dataset", "sampler", "checkpoint_folder", "checkpoint", "lr_scheduler", "averaged_parameters", "pipeline", "device_mesh",
 * "rpc_future", "rpc_result", "rref", "distributed_optimizer", "parameter_server", "parameter_client", "own_tensors",
 * "error"), for leak tests. -1 for an unknown type. */
TDM_API int64_t tdm_live_count(const char* type);
/* Bytes of tensor storage that live handles keep alive (an upper bound: shared storage counts once a handle). */
TDM_API int64_t tdm_tensor_live_bytes(void);

/* -------------------------------------------------------------------------------------------- dtypes and devices */

/* Where a comment says so: leaves a dtype, a device (as its type), a layout or a setting as it is. Fields that structs
 * gain take it as they take zero: a library that does not know such a field accepts both. */
enum { TDM_UNCHANGED = -1 };

/* Numbers of enumerations, here and below, are frozen, and later releases add some: a program takes one that its header
 * does not know for a value that it cannot handle. What LibTorch has and this header does not, such as quantized dtypes
 * or the devices of extensions, comes out as -1, never as a number of LibTorch's. */

/* In LibTorch's order of ScalarType where it has one. */
typedef int32_t tdm_dtype;
enum {
  TDM_DTYPE_UINT8 = 0, TDM_DTYPE_INT8 = 1, TDM_DTYPE_INT16 = 2, TDM_DTYPE_INT32 = 3, TDM_DTYPE_INT64 = 4,
  TDM_DTYPE_FLOAT16 = 5, TDM_DTYPE_FLOAT32 = 6, TDM_DTYPE_FLOAT64 = 7,
  TDM_DTYPE_COMPLEX32 = 8, TDM_DTYPE_COMPLEX64 = 9, TDM_DTYPE_COMPLEX128 = 10,
  TDM_DTYPE_BOOL = 11, TDM_DTYPE_BFLOAT16 = 15,
  TDM_DTYPE_FLOAT8_E5M2 = 23, TDM_DTYPE_FLOAT8_E4M3FN = 24,
  TDM_DTYPE_UINT16 = 27, TDM_DTYPE_UINT32 = 28, TDM_DTYPE_UINT64 = 29
};

typedef int32_t tdm_device_type;
enum {
  TDM_DEVICE_CPU = 0, TDM_DEVICE_CUDA = 1, TDM_DEVICE_META = 14,
  TDM_DEVICE_PRIVATE_USE_1 = 20 /* an accelerator that is not LibTorch's own, but of a library: tdm_load_library() */
};

typedef struct tdm_device {
  tdm_device_type type;
  int32_t index; /* -1: the current device of that type */
} tdm_device;

typedef int32_t tdm_layout;
enum {
  TDM_LAYOUT_STRIDED = 0, TDM_LAYOUT_SPARSE = 1, TDM_LAYOUT_SPARSE_CSR = 2, TDM_LAYOUT_SPARSE_CSC = 4,
  TDM_LAYOUT_SPARSE_BSR = 5, TDM_LAYOUT_SPARSE_BSC = 6
};

typedef int32_t tdm_memory_format;
enum {
  TDM_MEMORY_FORMAT_CONTIGUOUS = 0, TDM_MEMORY_FORMAT_PRESERVE = 1,
  TDM_MEMORY_FORMAT_CHANNELS_LAST = 2, TDM_MEMORY_FORMAT_CHANNELS_LAST_3D = 3
};

/* -------------------------------------------------------------------------------------------------------- tensors */

/* A handle holds one reference to a LibTorch tensor; several handles may hold the same tensor. A handle made while a
 * scope is open on the calling thread belongs to that scope as well. */

/* Copies `data` (C-contiguous, ndim sizes) into a new CPU tensor. `data` may be NULL when the tensor has no elements.
 * Free with tdm_tensor_free(). */
TDM_API tdm_error* tdm_tensor_from_data(const void* data, size_t data_bytes, tdm_dtype dtype, const int64_t* sizes,
                                        int64_t ndim, tdm_tensor** out);

/* A CPU tensor over the caller's memory, without a copy. `destroy(user_data)` is called once, from any thread, when
 * LibTorch drops the memory; NULL when nothing has to be done. On error destroy is not called. */
TDM_API tdm_error* tdm_tensor_from_blob(TDM_KEPT TDM_INOUT void* data, size_t data_bytes, tdm_dtype dtype,
                                        const int64_t* sizes, int64_t ndim, void (*destroy)(void* user_data),
                                        void* user_data, tdm_tensor** out);

/* A second handle to the same tensor. */
TDM_API tdm_error* tdm_tensor_share(const tdm_tensor* tensor, tdm_tensor** out);
TDM_API void tdm_tensor_free(tdm_tensor* tensor);

/* Getters. `sizes` and `strides` (in elements) point to tdm_tensor_dim() numbers and live until the tensor is resized
 * or the handle is freed. All return 0, NULL or -1 when `tensor` is NULL. */
TDM_API int64_t tdm_tensor_dim(const tdm_tensor* tensor);
TDM_API const int64_t* tdm_tensor_sizes(const tdm_tensor* tensor);
TDM_API const int64_t* tdm_tensor_strides(const tdm_tensor* tensor); /* NULL for sparse tensors */
TDM_API int64_t tdm_tensor_numel(const tdm_tensor* tensor);
TDM_API size_t tdm_tensor_nbytes(const tdm_tensor* tensor);
/* Bytes of the storage, which the tensor keeps alive and other tensors, its views, may share. */
TDM_API size_t tdm_tensor_storage_nbytes(const tdm_tensor* tensor);
TDM_API tdm_dtype tdm_tensor_get_dtype(const tdm_tensor* tensor);
TDM_API tdm_device tdm_tensor_get_device(const tdm_tensor* tensor);
TDM_API tdm_layout tdm_tensor_get_layout(const tdm_tensor* tensor);
TDM_API int32_t tdm_tensor_requires_grad(const tdm_tensor* tensor);
TDM_API int32_t tdm_tensor_is_leaf(const tdm_tensor* tensor);
TDM_API int32_t tdm_tensor_is_contiguous(const tdm_tensor* tensor);
/* 1 when both handles hold the same tensor. */
TDM_API int32_t tdm_tensor_is_same(const tdm_tensor* a, const tdm_tensor* b);

/* First element of a dense CPU tensor; lives as long as the handle. TDM_ERROR_INVALID_ARGUMENT on another device. */
TDM_API tdm_error* tdm_tensor_data(const tdm_tensor* tensor, TDM_BORROWED void** out);
/* Copies all elements, C-contiguous, to `destination` of exactly tdm_tensor_nbytes() bytes, from any device. */
TDM_API TDM_BLOCKS tdm_error* tdm_tensor_copy_to(const tdm_tensor* tensor, void* destination, size_t bytes);
/* Overwrites all elements from `source` of exactly tdm_tensor_nbytes() bytes. */
TDM_API TDM_BLOCKS tdm_error* tdm_tensor_copy_from(tdm_tensor* tensor, const void* source, size_t bytes);
/* The single element of a tensor of one element. */
TDM_API TDM_BLOCKS tdm_error* tdm_tensor_item_double(const tdm_tensor* tensor, double* out);
TDM_API TDM_BLOCKS tdm_error* tdm_tensor_item_int64(const tdm_tensor* tensor, int64_t* out);
/* As PyTorch's C++ printing has it. Free with tdm_string_free(). */
TDM_API TDM_BLOCKS tdm_error* tdm_tensor_to_string(const tdm_tensor* tensor, tdm_string** out);
/* What autograd recorded `tensor` as a result of, such as "MulBackward0"; *out = NULL for nothing, "Invalid" for a view
 * that was changed where autograd could not follow. Free with tdm_string_free(). Source: Python's tensor.grad_fn. */
TDM_API tdm_error* tdm_tensor_grad_fn_name(const tdm_tensor* tensor, TDM_MAYBE tdm_string** out);

/* Names with tensors, in a fixed order: parameters, buffers, optimizer state, checkpoint content. */
TDM_API size_t tdm_named_tensors_size(const tdm_named_tensors* list);
/* Borrowed from the list; NULL past the end. */
TDM_API const char* tdm_named_tensors_name(const tdm_named_tensors* list, size_t index);
/* A new handle, freed with tdm_tensor_free(). */
TDM_API tdm_error* tdm_named_tensors_get(const tdm_named_tensors* list, size_t index, tdm_tensor** out);
TDM_API void tdm_named_tensors_free(tdm_named_tensors* list);

/* ---------------------------------------------------------------------------------------------------------- scope */

/* Frees every tensor handle that this thread makes between enter and exit, but those kept. Scopes nest. The thread
 * that enters must be the one that exits (pin tasks that move between threads). End it with tdm_scope_exit(). */
TDM_API tdm_error* tdm_scope_enter(tdm_scope** out);
/* Frees the scope and all its tensors, those of open inner scopes first. Accepts NULL. The use of handles that a scope
 * freed is TDM_ERROR_CLOSED, and freeing them, or exiting the scope again, does nothing. */
TDM_API void tdm_scope_exit(tdm_scope* scope);
/* Hands `tensor` to the scope around its own, or to the caller when there is none. */
TDM_API void tdm_scope_keep(tdm_tensor* tensor);
/* Identity of the innermost scope that owns `tensor`, 0 when none: slot in the low 32 bits, generation above. */
TDM_API uint64_t tdm_tensor_scope_id(const tdm_tensor* tensor);
TDM_API uint64_t tdm_scope_id(const tdm_scope* scope);
/* Identity of the innermost scope that is open on this thread, 0 when none. */
TDM_API uint64_t tdm_scope_current(void);

/* ------------------------------------------------------------------------------------------- values and operators */

typedef int32_t tdm_value_tag;
enum {
  TDM_VALUE_NONE = 0,
  TDM_VALUE_DEFAULT = 1, /* arguments only: the schema's default */
  TDM_VALUE_TENSOR = 2,
  TDM_VALUE_BOOL = 3,
  TDM_VALUE_INT = 4,
  TDM_VALUE_DOUBLE = 5,
  TDM_VALUE_COMPLEX = 6,
  TDM_VALUE_STRING = 7,
  TDM_VALUE_DTYPE = 8,
  TDM_VALUE_LAYOUT = 9,
  TDM_VALUE_MEMORY_FORMAT = 10,
  TDM_VALUE_DEVICE = 11,
  TDM_VALUE_TENSOR_LIST = 12, /* elements may be NULL where the schema takes Tensor?[] */
  TDM_VALUE_BOOL_LIST = 13,   /* of uint8_t */
  TDM_VALUE_INT_LIST = 14,    /* of int64_t */
  TDM_VALUE_DOUBLE_LIST = 15,
  TDM_VALUE_STRING_LIST = 16, /* of const char*, each NUL-terminated */
  TDM_VALUE_SCALAR_LIST = 17, /* of tdm_value: BOOL, INT, DOUBLE or COMPLEX */
  TDM_VALUE_GENERATOR = 18,   /* arguments only */
  TDM_VALUE_TUPLE = 19,       /* of tdm_value, any; a list whose elements are not all alike, too */
  TDM_VALUE_DICT = 20,        /* of tdm_value: a key, which is a STRING, its value, the next key, and so on */
  TDM_VALUE_LIST = 21,        /* of tdm_value, any: Python's list, where that is no tuple (tdm_pt_load()) */
  TDM_VALUE_RREF = 22         /* of calls alone: tdm_rpc_sync() */
};

/* A tagged value: argument or result of an operator or a module, or an option. Where a schema says Scalar, BOOL, INT,
 * DOUBLE and COMPLEX are taken. As a result it owns what it holds: tdm_value_clear(). TUPLE, DICT and LIST nest, 64
 * deep at most; a value must not contain itself. */
typedef struct tdm_value {
  tdm_value_tag tag; /* the four bytes behind it, which align the union, mean nothing */
  union {
    tdm_tensor* tensor;
    int32_t boolean;
    int64_t integer;
    double real;
    struct {
      double re, im;
    } complex_number;
    struct { const char* data; size_t size; } string;
    int32_t enumeration; /* DTYPE, LAYOUT, MEMORY_FORMAT */
    tdm_device device;
    tdm_generator* generator;
    tdm_rref* rref;
    struct { const void* data; size_t size; } list; /* size counts elements */
  } as;
} tdm_value;

/* Frees what a result owns, at any depth, and makes it NONE. Tensors are freed too: take a tensor out by setting its
 * slot to NONE. */
TDM_API void tdm_value_clear(TDM_INOUT tdm_value* value);

/* What stands between the commas of Python's x[...]. */
typedef int32_t tdm_index_kind;
enum {
  TDM_INDEX_NONE = 0,     /* a new dimension of size 1 */
  TDM_INDEX_ELLIPSIS = 1, /* all dimensions that the others leave */
  TDM_INDEX_INTEGER = 2,  /* one place of a dimension, which goes; negative ones count from its end */
  TDM_INDEX_BOOLEAN = 3,  /* a new dimension of size 1 or 0 */
  TDM_INDEX_SLICE = 4,    /* start, stop, step; INT64_MAX as stop is the end, and step is positive */
  TDM_INDEX_TENSOR = 5    /* of integers or bools; a bool tensor stands for as many dimensions as it has */
};
typedef struct tdm_index {
  tdm_index_kind kind;
  int32_t boolean;
  int64_t start; /* the place, where the kind is INTEGER */
  int64_t stop, step;
  TDM_NULLABLE tdm_tensor* tensor;
} tdm_index;
#define TDM_INDEX_INIT { TDM_INDEX_SLICE, 0, 0, INT64_MAX, 1, NULL } /* ":" */

/* x[indices...]: a view where no index is a tensor or a boolean. Free with tdm_tensor_free(). Errors:
 * TDM_ERROR_OUT_OF_RANGE for an integer past a dimension's end, and for more indices than dimensions. Source: Python's
 * indexing, by way of at::Tensor::index. */
TDM_API tdm_error* tdm_tensor_index(const tdm_tensor* tensor, const tdm_index* indices, size_t count, tdm_tensor** out);
/* x[indices...] = value, in place: `value` is a tensor, which is broadcast, or a number. Errors: as above. Source:
 * Python's indexing, by way of at::Tensor::index_put_. */
TDM_API tdm_error* tdm_tensor_index_put(tdm_tensor* tensor, const tdm_index* indices, size_t count,
                                        const tdm_value* value);

/* An operator by name ("aten::add") and overload ("Tensor"; "" or NULL for none); those of namespace "tandem" are what
 * Python composes ("tandem::interpolate"), see docs/operators.md. The result is borrowed and lives for ever.
 * TDM_ERROR_NOT_FOUND names the LibTorch that lacks it. Thread-safe; look each operator up once. */
TDM_API TDM_THREAD_SAFE tdm_error* tdm_op_find(const char* name, TDM_NULLABLE const char* overload,
                                               TDM_BORROWED const tdm_op** out);
/* "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"; lives for ever. */
TDM_API TDM_THREAD_SAFE const char* tdm_op_schema(const tdm_op* op);
TDM_API TDM_THREAD_SAFE size_t tdm_op_argument_count(const tdm_op* op);
TDM_API TDM_THREAD_SAFE size_t tdm_op_result_count(const tdm_op* op);

/* Calls `op` through LibTorch's dispatcher. Fewer arguments than the schema has mean defaults for the rest. Arity,
 * types and nullability are checked; messages name operator and argument. `results` has room for exactly
 * tdm_op_result_count(op) values and owns them: tdm_value_clear() each. Thread-safe. */
TDM_API TDM_THREAD_SAFE tdm_error* tdm_op_call(const tdm_op* op, const tdm_value* arguments, size_t argument_count,
                                               tdm_value* results, size_t result_count);

/* Loads a library whose TORCH_LIBRARY blocks register operators, which tdm_op_find() then finds; it is never unloaded.
 * `path` names the file, with a slash in it. TDM_ERROR_NOT_FOUND: no such file; TDM_ERROR_LIBRARY: it does not load,
 * such as one that was built against another LibTorch. Loading a file twice does nothing; a library that registers what
 * another has registered ends the process, which is LibTorch's doing. Source: torch.ops.load_library. */
TDM_API TDM_BLOCKS tdm_error* tdm_load_library(const char* path);

/* ------------------------------------------------------------------------------------------- autograd and modes */

/* Source: torch.autograd.backward. `gradients` may be NULL (ones for scalars), as may its elements. Blocks. */
TDM_API TDM_BLOCKS tdm_error* tdm_autograd_backward(tdm_tensor* const* tensors,
                                                    TDM_NULLABLE TDM_NULLABLE_ELEMENTS tdm_tensor* const* gradients,
                                                    size_t count, int32_t retain_graph, int32_t create_graph);
/* Source: torch.autograd.grad. outputs[i] with grad_outputs[i] (NULL: ones); results: one per input, NULL where
 * unused (only with allow_unused). Each is freed with tdm_tensor_free(). */
TDM_API TDM_BLOCKS tdm_error* tdm_autograd_grad(tdm_tensor* const* outputs,
                                                TDM_NULLABLE TDM_NULLABLE_ELEMENTS tdm_tensor* const* grad_outputs,
                                                size_t output_count, tdm_tensor* const* inputs, size_t input_count,
                                                int32_t retain_graph, int32_t create_graph, int32_t allow_unused,
                                                TDM_MAYBE TDM_COUNT(input_count) tdm_tensor** results);
/* The accumulated gradient; *out = NULL where there is none. */
TDM_API tdm_error* tdm_tensor_grad(const tdm_tensor* tensor, TDM_MAYBE tdm_tensor** out);
/* NULL clears it. */
TDM_API tdm_error* tdm_tensor_set_grad(tdm_tensor* tensor, TDM_NULLABLE const tdm_tensor* grad);
TDM_API tdm_error* tdm_tensor_set_requires_grad(tdm_tensor* tensor, int32_t requires_grad);

/* Modes of the calling thread. Each enter opens one, and tdm_mode_exit() restores what was before; they nest. The
 * thread that enters must be the one that exits: pin tasks that move between threads while a mode is open. Callbacks
 * run in the modes that the engine gives them; what they leave open ends with them, as it does with a thread.
 * docs/autograd.md has a page on this.
 *
 * grad: whether operations are recorded. Source: torch.no_grad, torch.enable_grad. */
TDM_API tdm_error* tdm_mode_enter_grad(int32_t enabled, tdm_mode** out);
/* inference: no recording, and tensors made inside can never take part in it. enabled 0 ends it for an inner part.
 * Source: torch.inference_mode. */
TDM_API tdm_error* tdm_mode_enter_inference(int32_t enabled, tdm_mode** out);
/* autocast: operators that gain from it compute in `dtype` (BFLOAT16, FLOAT16, or TDM_UNCHANGED: LibTorch's choice for
 * the device, at first bfloat16 on CPU and float16 on CUDA)
 * on devices of that type, others that need it in float32. enabled 0 switches it off for an inner part. Casts of
 * parameters are cached until a mode is entered or left. Errors: TDM_ERROR_UNSUPPORTED for CUDA without a GPU.
 * Source: torch.autocast. */
TDM_API tdm_error* tdm_mode_enter_autocast(tdm_device_type device, tdm_dtype dtype, int32_t enabled, tdm_mode** out);
/* anomaly: backward names the operator whose gradient is NaN (unless check_nan is 0) and prints where forward called it.
 * Of the whole process while any thread has it open, and slow. Source: torch.autograd.detect_anomaly. */
TDM_API tdm_error* tdm_mode_enter_anomaly(int32_t check_nan, tdm_mode** out);
/* Ends `mode`, and modes that were entered after it and are still open. Accepts NULL. Errors:
 * TDM_ERROR_INVALID_ARGUMENT when this thread did not enter it, or left it before; nothing changes then. */
TDM_API tdm_error* tdm_mode_exit(TDM_NULLABLE tdm_mode* mode);

/* The calling thread's modes. */
typedef struct tdm_modes {
  size_t struct_size;
  int32_t grad;
  int32_t inference;
  tdm_dtype autocast_cpu;  /* TDM_UNCHANGED: off */
  tdm_dtype autocast_cuda; /* likewise */
  int32_t anomaly;         /* of the process */
} tdm_modes;
#define TDM_MODES_INIT \
  { sizeof(tdm_modes), 1, 0, TDM_UNCHANGED, TDM_UNCHANGED, 0 }
TDM_API void tdm_modes_init(tdm_modes* made, size_t struct_size);
TDM_API tdm_error* tdm_get_modes(tdm_modes* out);

/* Callbacks of autograd. They run on the thread that called backward or on one of the engine's, with the modes of the
 * call that led to them and grad mode on where that asked for create_graph. Each runs in a scope of its own: handles
 * that it is given or makes are freed when it returns, but those it kept with tdm_scope_keep(). The error that one
 * returns (see tdm_error_create()) ends the backward pass. They must not capture the tensor that they belong to, which
 * would then keep itself alive. `destroy(user_data)` is called once, when nothing can call the function any more: the
 * tensor and the graphs it is part of are gone, or the hook was removed. It may be NULL. */

/* Has `hook` called with each gradient of `tensor`, which must require grad, before it goes on to where `tensor` came
 * from. *replacement, NULL at first, may be set to a handle of the tensor to go on with instead; it stays the
 * callback's. Free *out with tdm_hook_free(); NULL when the hook is never to be removed. Source:
 * torch.Tensor.register_hook. */
TDM_API tdm_error* tdm_tensor_register_hook(
    tdm_tensor* tensor,
    TDM_CALLED(autograd) tdm_error* (*hook)(void* user_data, tdm_tensor* gradient, TDM_MAYBE tdm_tensor** replacement),
    void* user_data, void (*destroy)(void* user_data), TDM_NULLABLE tdm_hook** out);
/* Has `hook` called with `tensor`, a leaf that requires grad, each time its gradient was added to. `out` may be NULL, as
 * above. Source: torch.Tensor.register_post_accumulate_grad_hook. */
TDM_API tdm_error* tdm_tensor_register_post_accumulate_grad_hook(
    tdm_tensor* tensor, TDM_CALLED(autograd) tdm_error* (*hook)(void* user_data, tdm_tensor* tensor), void* user_data,
    void (*destroy)(void* user_data), TDM_NULLABLE tdm_hook** out);
/* The hook is not called any more; one that runs on another thread ends first, or right after. Does nothing the second
 * time, or when the tensor is gone. Accepts NULL. */
TDM_API TDM_THREAD_SAFE void tdm_hook_remove(tdm_hook* hook);
/* Frees the handle; the hook stays. Accepts NULL. */
TDM_API void tdm_hook_free(tdm_hook* hook);

/* A computation of the caller's with a derivative of its own. The caller computes the outputs itself, with grad mode off
 * (tdm_mode_enter_grad()), and then has what it did recorded as one node of the graph. Source:
 * torch.autograd.Function. */
typedef struct tdm_function_backward {
  size_t struct_size;
  TDM_NULLABLE_ELEMENTS tdm_tensor* const*
      gradients; /* of the outputs; NULL where there is none, which materialize_grads makes zeros */
  size_t gradient_count;
  TDM_NULLABLE_ELEMENTS tdm_tensor* const* saved; /* NULL where NULL was saved */
  size_t saved_count;
  TDM_COUNT(input_count) const uint8_t* needs_input_grad; /* input_count flags */
  TDM_MAYBE tdm_tensor** results; /* input_count, NULL at first, for the gradients of the inputs: handles that stay the
                           callback's, NULL for none */
  size_t input_count;
} tdm_function_backward;

typedef struct tdm_function {
  size_t struct_size;
  TDM_NULLABLE const char* name;                   /* of the node, in messages; NULL: "Function" */
  TDM_NULLABLE_ELEMENTS tdm_tensor* const* inputs; /* elements may be NULL */
  size_t input_count;
  tdm_tensor* const* outputs;           /* at least one */
  size_t output_count;
  TDM_NULLABLE_ELEMENTS tdm_tensor* const* saved; /* for backward: inputs, outputs or others, checked against changes in
                               place. Elements may be NULL. Do not hold outputs in user_data instead. */
  size_t saved_count;
  tdm_tensor* const* dirty;             /* inputs that were changed in place; they are outputs too */
  size_t dirty_count;
  tdm_tensor* const* non_differentiable; /* outputs without a gradient */
  size_t non_differentiable_count;
  TDM_CALLED(autograd) tdm_error* (*backward)(void* user_data, const tdm_function_backward* call);
  void* user_data;
  void (*destroy)(void* user_data);
  int32_t materialize_grads;            /* zeros instead of gradients that are not there */
} tdm_function;
#define TDM_FUNCTION_INIT \
  { sizeof(tdm_function), NULL, NULL, 0, NULL, 0, NULL, 0, NULL, 0, NULL, 0, NULL, NULL, NULL, 1 }
TDM_API void tdm_function_init(tdm_function* made, size_t struct_size);

/* Records it; `results` has room for output_count handles, each freed with tdm_tensor_free(), which the caller goes on
 * with instead of the outputs. Nothing is recorded, and destroy is called at once, where grad mode is off or no input
 * requires grad. backward is called each time that gradients of the outputs are there; with create_graph what it
 * computes is recorded, so that derivatives of higher order follow. */
TDM_API tdm_error* tdm_function_record(const tdm_function* function,
                                       TDM_COUNT(function.output_count) tdm_tensor** results);

/* A mode in which operators keep nothing for backward. The caller computes with `inputs` (elements may be NULL) and
 * leaves the mode. When backward first needs some of what was not kept, `recompute` is called to compute the same again
 * from inputs that it is given (detached, NULL where they were NULL): with the random numbers, autocast and grad mode of
 * the first time. What it computes is not taken over; what operators save meanwhile is. It must not hold on to the
 * results of the first time. Without preserve_random_state the random numbers differ, and keeping them costs nothing.
 * Errors: TDM_ERROR_UNSUPPORTED in a process whose autograd engine is Python's. Source: torch.utils.checkpoint with
 * use_reentrant=False. */
TDM_API tdm_error* tdm_mode_enter_checkpoint(
    TDM_NULLABLE_ELEMENTS tdm_tensor* const* inputs, size_t input_count, int32_t preserve_random_state,
    TDM_CALLED(autograd)
        tdm_error* (*recompute)(void* user_data, TDM_NULLABLE_ELEMENTS tdm_tensor* const* inputs, size_t input_count),
    void* user_data, void (*destroy)(void* user_data), tdm_mode** out);

/* Seeds the default generators of all devices. Source: torch.manual_seed. */
TDM_API tdm_error* tdm_manual_seed(uint64_t seed);
/* A generator of random numbers on the CPU or a GPU, with LibTorch's default seed, for operators that take one
 * (TDM_VALUE_GENERATOR). Operators draw from it one at a time. Free with tdm_generator_free(). Source:
 * torch.Generator. */
TDM_API tdm_error* tdm_generator_create(tdm_device device, tdm_generator** out);
/* The one that operators use which are given none: tdm_manual_seed() seeds it. Free with tdm_generator_free(). */
TDM_API tdm_error* tdm_generator_default(tdm_device device, tdm_generator** out);
TDM_API void tdm_generator_free(tdm_generator* generator);
TDM_API TDM_THREAD_SAFE tdm_device tdm_generator_get_device(const tdm_generator* generator);
TDM_API TDM_THREAD_SAFE tdm_error* tdm_generator_manual_seed(tdm_generator* generator, uint64_t seed);
/* Seeds it from the system's randomness; *out, which may be NULL, is the seed. */
TDM_API TDM_THREAD_SAFE tdm_error* tdm_generator_seed(tdm_generator* generator, TDM_NULLABLE uint64_t* out);
/* The seed that it was given last. */
TDM_API TDM_THREAD_SAFE tdm_error* tdm_generator_initial_seed(const tdm_generator* generator, uint64_t* out);
/* All that the numbers to come depend on, as a CPU tensor of bytes, a copy. Free with tdm_tensor_free(). */
TDM_API TDM_THREAD_SAFE tdm_error* tdm_generator_get_state(const tdm_generator* generator, tdm_tensor** out);
/* Errors: TDM_ERROR_INVALID_ARGUMENT for what is no state of a generator of that device. */
TDM_API TDM_THREAD_SAFE tdm_error* tdm_generator_set_state(tdm_generator* generator, const tdm_tensor* state);
/* LibTorch's intra-op threads, from 1 to 1024. */
TDM_API tdm_error* tdm_set_num_threads(int32_t threads);
TDM_API tdm_error* tdm_get_num_threads(int32_t* out);

/* -------------------------------------------------------------------------------------------------------- devices */

/* What a GPU has and the CPU does not is TDM_ERROR_UNSUPPORTED for the CPU, and in a process that can use no GPU, with
 * the reason. The number of GPUs is tdm_cuda_device_count(). Sources: torch.cuda, torch.backends. */

/* The device of that type that this thread computes on where a call names none: {CPU, 0}, or the current GPU. */
TDM_API tdm_error* tdm_device_current(tdm_device_type type, tdm_device* out);
/* A mode, which tdm_mode_exit() ends: makes a GPU this thread's current one. For the CPU there is nothing to change. */
TDM_API tdm_error* tdm_mode_enter_device(tdm_device device, tdm_mode** out);
/* Waits until all work that was queued on the device is done; the CPU's is done when a call returns. Blocks. */
TDM_API TDM_BLOCKS tdm_error* tdm_device_synchronize(tdm_device device);

/* Of a GPU's memory, in bytes. */
typedef struct tdm_device_memory {
  size_t struct_size;
  int64_t allocated, peak_allocated; /* by tensors */
  int64_t reserved, peak_reserved;   /* taken from the driver, free blocks that LibTorch keeps among them */
  int64_t free, total;               /* of the device, other processes counted in */
  int64_t retries;                   /* allocations that had to give kept blocks back first */
  int64_t failures;                  /* that found no memory even then */
} tdm_device_memory;
#define TDM_DEVICE_MEMORY_INIT { sizeof(tdm_device_memory), 0, 0, 0, 0, 0, 0, 0, 0 }
TDM_API void tdm_device_memory_init(tdm_device_memory* made, size_t struct_size);
TDM_API tdm_error* tdm_device_get_memory(tdm_device device, tdm_device_memory* out);
/* Peaks begin again at what is there now. */
TDM_API tdm_error* tdm_device_reset_peak_memory(tdm_device device);
/* Gives the blocks that LibTorch keeps on GPUs back to the driver. */
TDM_API tdm_error* tdm_cuda_empty_cache(void);

/* Queues of a GPU's work, each in order, beside one another. Free handles with tdm_stream_free(), which ends nothing.
 * Source: torch.cuda.Stream. */
TDM_API tdm_error* tdm_stream_create(tdm_device device, int32_t high_priority, tdm_stream** out);
/* This thread's. */
TDM_API tdm_error* tdm_stream_current(tdm_device device, tdm_stream** out);
TDM_API tdm_error* tdm_stream_default(tdm_device device, tdm_stream** out);
TDM_API void tdm_stream_free(tdm_stream* stream);
/* A mode: this thread's work on the stream's device goes to it. */
TDM_API tdm_error* tdm_mode_enter_stream(const tdm_stream* stream, tdm_mode** out);
/* *out = 1 when all work that was queued is done. */
TDM_API tdm_error* tdm_stream_query(const tdm_stream* stream, int32_t* out);
TDM_API TDM_BLOCKS tdm_error* tdm_stream_synchronize(const tdm_stream* stream); /* Blocks. */
/* Work that is queued from now on begins after the event. */
TDM_API tdm_error* tdm_stream_wait_event(const tdm_stream* stream, const tdm_event* event);
/* The stream uses a tensor that was made on another one: its memory is not used again before that is done. */
TDM_API tdm_error* tdm_stream_record_tensor(const tdm_stream* stream, const tdm_tensor* tensor);

/* Marks in streams. Free with tdm_event_free(). Source: torch.cuda.Event. */
TDM_API tdm_error* tdm_event_create(tdm_device_type type, int32_t enable_timing, tdm_event** out);
TDM_API void tdm_event_free(tdm_event* event);
/* After what is queued on the stream now; NULL: on the current one of the current device. */
TDM_API tdm_error* tdm_event_record(tdm_event* event, TDM_NULLABLE const tdm_stream* stream);
TDM_API tdm_error* tdm_event_query(const tdm_event* event, int32_t* out);
TDM_API TDM_BLOCKS tdm_error* tdm_event_synchronize(const tdm_event* event); /* Blocks. */
/* Between two events that were made with enable_timing and are done. */
TDM_API tdm_error* tdm_event_elapsed_ms(const tdm_event* start, const tdm_event* end, double* out);

/* Of the process; TDM_UNCHANGED in a call to set leaves one as it is. */
typedef struct tdm_cuda_settings {
  size_t struct_size;
  int32_t cudnn_benchmark;     /* try out convolution algorithms for each new shape */
  int32_t cudnn_deterministic;
  int32_t tf32_matmul;         /* float32 products in TF32 */
  int32_t tf32_cudnn;
} tdm_cuda_settings;
#define TDM_CUDA_SETTINGS_INIT \
  { sizeof(tdm_cuda_settings), TDM_UNCHANGED, TDM_UNCHANGED, TDM_UNCHANGED, TDM_UNCHANGED }
TDM_API void tdm_cuda_settings_init(tdm_cuda_settings* made, size_t struct_size);
TDM_API tdm_error* tdm_cuda_get_settings(tdm_cuda_settings* out);
TDM_API tdm_error* tdm_cuda_set_settings(const tdm_cuda_settings* settings);

typedef int32_t tdm_determinism;
enum {
  TDM_DETERMINISM_OFF = 0,
  TDM_DETERMINISM_WARN = 1, /* an operator that has no deterministic form prints a warning */
  TDM_DETERMINISM_ON = 2    /* or fails */
};
/* Of the process: operators give the same bits each time where they can. Source: torch.use_deterministic_algorithms. */
TDM_API tdm_error* tdm_set_determinism(tdm_determinism determinism);
TDM_API tdm_error* tdm_get_determinism(tdm_determinism* out);
/* Threads that run operators beside one another (not those of one operator, tdm_set_num_threads()). Can be set once, before
 * they first run. */
TDM_API tdm_error* tdm_set_num_interop_threads(int32_t threads);
TDM_API tdm_error* tdm_get_num_interop_threads(int32_t* out);

/* ---------------------------------------------------------------------------------------- modules and optimizers */

/* A named option of a module, optimizer or other object. Names are those of LibTorch's options. */
typedef struct tdm_option {
  const char* name;
  tdm_value value;
} tdm_option;

/* A module by its name, of torch::nn ("Linear") or a network ("resnet18", docs/models.md), and options ("in_features",
 * …). Unknown types, unknown options and missing required ones are named. Free with tdm_module_free(). */
TDM_API tdm_error* tdm_module_create(const char* type, const tdm_option* options, size_t option_count,
                                     tdm_module** out);
TDM_API void tdm_module_free(tdm_module* module);
/* Calls forward, with arguments and results as torch.nn has them: an LSTM takes a tensor and a TUPLE (h, c), and gives
 * a tensor and a TUPLE (h, c). NONE, or nothing at the end, stands for an optional argument that is left out.
 * result_count: in, room; out, the number of results. Dropout and batch norm follow tdm_module_train(). */
TDM_API TDM_BLOCKS tdm_error* tdm_module_forward(tdm_module* module, const tdm_value* arguments, size_t argument_count,
                                                 tdm_value* results, TDM_INOUT size_t* result_count);
/* One that is tied stands under each of its names. Free with tdm_named_tensors_free(). */
TDM_API tdm_error* tdm_module_named_parameters(const tdm_module* module, tdm_named_tensors** out);
TDM_API tdm_error* tdm_module_named_buffers(const tdm_module* module, tdm_named_tensors** out);
TDM_API tdm_error* tdm_module_train(tdm_module* module, int32_t on);
/* 1 when it is in training mode, in which modules begin, but those of files that keep the mode; 0 for NULL. */
TDM_API int32_t tdm_module_is_training(const tdm_module* module);
/* Moves parameters and buffers; handles taken before keep following them. A device of type TDM_UNCHANGED, and the dtype
 * TDM_UNCHANGED, leave them where and what they are. */
TDM_API tdm_error* tdm_module_to(tdm_module* module, tdm_device device, tdm_dtype dtype);
/* How much the running statistics of a BatchNorm1d, 2d or 3d, or of all in a network, take of each batch: a number, or
 * NONE, with which they are the means over all batches. *before, which may be NULL, is what the first's was;
 * tdm_value_clear() it. Errors: TDM_ERROR_UNSUPPORTED for modules without any. */
TDM_API tdm_error* tdm_module_set_batch_norm_momentum(tdm_module* module, const tdm_value* momentum,
                                                      TDM_NULLABLE tdm_value* before);
/* Registered type names. Free with tdm_strings_free(). */
TDM_API tdm_error* tdm_module_types(tdm_strings** out);
/* A module of its own with copies of the parameters and buffers, and the same mode. Random numbers are not used up.
 * Errors: TDM_ERROR_UNSUPPORTED after tdm_module_synchronize_batch_norm(). Free with tdm_module_free(). Source:
 * torch::nn::Module::clone. */
TDM_API tdm_error* tdm_module_clone(const tdm_module* module, tdm_module** out);
/* Has a parameter of the module's own ("weight") be computed at each forward, from others that take its place among the
 * module's parameters, by Python's names: "parametrizations.weight.original0". `kind` is "weight_norm" (option "dim")
 * or "spectral_norm" ("n_power_iterations", "eps", "dim"). Forwards of the module are then one at a time. Errors:
 * TDM_ERROR_NOT_FOUND for an unknown kind, option or parameter; TDM_ERROR_INVALID_ARGUMENT where it is parametrized
 * already or an option makes no sense. Source: torch.nn.utils.parametrizations. */
TDM_API tdm_error* tdm_module_parametrize(tdm_module* module, const char* kind, const char* name,
                                          const tdm_option* options, size_t option_count);
/* What is computed becomes a parameter again: the tensor that was "original1", or "original". TDM_ERROR_NOT_FOUND where
 * it is not parametrized. Source: torch.nn.utils.parametrize.remove_parametrizations. */
TDM_API tdm_error* tdm_module_remove_parametrizations(tdm_module* module, const char* name);
/* What a network that predicts the next token ("gpt2", "llama") makes of input_ids [batch, length], int64: these, and at
 * most "max_new_tokens" (20) more. The likeliest ones, or with "do_sample" drawn ones: "temperature" (1), "top_k" (50; 0:
 * of all), "top_p" (1), "generator". Rows end with one of "eos_token_id" and go on with "pad_token_id". "attention_mask"
 * [batch, length] is 0 at padding, on the left. Keys and values of earlier positions are kept, unless "use_cache" is
 * false. Not recorded for autograd. Errors: TDM_ERROR_UNSUPPORTED for other modules, TDM_ERROR_INVALID_ARGUMENT for more
 * positions than the network knows. Free with tdm_tensor_free(). Source: generate() of Hugging Face's transformers. */
TDM_API TDM_BLOCKS tdm_error* tdm_module_generate(tdm_module* module, const tdm_tensor* input_ids,
                                                  const tdm_option* options, size_t option_count, tdm_tensor** out);

/* An optimizer of torch.optim by its name ("SGD", "AdamW") with Python's options ("lr", "momentum", …);
 * docs/modules-and-optimizers.md lists them. Uses LibTorch's fused kernels where parameters allow it. Holds the
 * parameters. Free with tdm_optimizer_free(). */
TDM_API tdm_error* tdm_optimizer_create(const char* type, tdm_tensor* const* parameters, size_t parameter_count,
                                        const tdm_option* options, size_t option_count, tdm_optimizer** out);
TDM_API void tdm_optimizer_free(tdm_optimizer* optimizer);
/* One more group of parameters, with settings of its own: what `options` leaves out is as the optimizer was made,
 * whatever tdm_optimizer_set_option() changed since. The first group, number 0, is what the optimizer was made of. Of
 * an optimizer whose state is spread over ranks, all ranks add the same. Source: torch.optim.Optimizer.add_param_group.
 */
TDM_API tdm_error* tdm_optimizer_add_group(tdm_optimizer* optimizer, tdm_tensor* const* parameters,
                                           size_t parameter_count, const tdm_option* options, size_t option_count);
TDM_API tdm_error* tdm_optimizer_group_count(const tdm_optimizer* optimizer, int64_t* out);
/* Blocks where the optimizer exchanges something between ranks, as that of tdm_zero_redundancy_optimizer_create() does.
 * Errors: TDM_ERROR_UNSUPPORTED of LBFGS, which needs a closure. */
TDM_API TDM_BLOCKS tdm_error* tdm_optimizer_step(tdm_optimizer* optimizer);
/* Calls `closure`, which clears the gradients, computes the loss, a tensor of one number, and calls backward; then
 * steps. LBFGS calls it several times a step. It runs on this thread, with grad mode on, and must not step the
 * optimizer. *loss, which may be NULL as well, is what it gave first; free it with tdm_tensor_free(). Where closure
 * fails on the way, parameters are where they were then. destroy(user_data) is called before this returns, but not on
 * error. */
TDM_API TDM_BLOCKS tdm_error* tdm_optimizer_step_closure(tdm_optimizer* optimizer,
                                                         TDM_CALLED(here)
                                                         tdm_error* (*closure)(void* user_data, tdm_tensor** loss),
                                                         void* user_data, void (*destroy)(void* user_data),
                                                         TDM_NULLABLE tdm_tensor** loss);
/* Drops the gradients when set_to_none (those in DDP's buckets too: the next backward puts them there again), else
 * zeroes them in place. */
TDM_API tdm_error* tdm_optimizer_zero_grad(tdm_optimizer* optimizer, int32_t set_to_none);
enum { TDM_ALL_GROUPS = -1 };
/* Sets an option of a group, or of TDM_ALL_GROUPS: of all of them or, where one refuses it, of none. Errors:
 * TDM_ERROR_NOT_FOUND, which lists the options that there are; TDM_ERROR_INVALID_ARGUMENT; TDM_ERROR_OUT_OF_RANGE, no
 * such group. */
TDM_API tdm_error* tdm_optimizer_set_option(tdm_optimizer* optimizer, int64_t group, const tdm_option* option);
/* An option of a group: a DOUBLE, a BOOL or, for "betas", a DOUBLE_LIST; tdm_value_clear() it. Of TDM_ALL_GROUPS: what
 * all have, TDM_ERROR_INVALID_ARGUMENT when they differ. */
TDM_API tdm_error* tdm_optimizer_get_option(const tdm_optimizer* optimizer, int64_t group, const char* name,
                                            tdm_value* out);
/* State as named tensors ("0.momentum_buffer", "0.step"), sharing storage. Free with tdm_named_tensors_free(). */
TDM_API tdm_error* tdm_optimizer_state(const tdm_optimizer* optimizer, tdm_named_tensors** out);
TDM_API tdm_error* tdm_optimizer_load_state(tdm_optimizer* optimizer, const char* const* names,
                                            tdm_tensor* const* tensors, size_t count);
/* The state as Python's optimizer.state_dict() is, a DICT of "state" and "param_groups", the options of which it has,
 * for tdm_pt_save(); tensors share storage. tdm_value_clear() it. */
TDM_API tdm_error* tdm_optimizer_state_dict(const tdm_optimizer* optimizer, tdm_value* out);
/* Takes over such a state, of Python's as well: options, and copies of tensors; all or nothing. Errors:
 * TDM_ERROR_INVALID_ARGUMENT where groups have other numbers of parameters, or there is what this optimizer has not. */
TDM_API tdm_error* tdm_optimizer_load_state_dict(tdm_optimizer* optimizer, const tdm_value* state_dict);

/* Sets "lr" of an optimizer's groups, and "momentum" or "beta1" where it cycles those, as the class of that name of
 * torch.optim.lr_scheduler does: at once, and with each step. "StepLR", "MultiStepLR", "ConstantLR", "LinearLR",
 * "ExponentialLR", "PolynomialLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR", "OneCycleLR",
 * "ReduceLROnPlateau" or "SWALR", with Python's options; what may differ between groups is a number for all or a
 * DOUBLE_LIST. Holds the optimizer. Errors: TDM_ERROR_NOT_FOUND for an unknown type or option. Free with
 * tdm_lr_scheduler_free(). */
TDM_API tdm_error* tdm_lr_scheduler_create(const char* type, tdm_optimizer* optimizer, const tdm_option* options,
                                           size_t option_count, tdm_lr_scheduler** out);
/* One that computes by a function of the program's: "LambdaLR" and "MultiplicativeLR", which ask it for each group's
 * factor at a number of steps, with the option "last_epoch"; or "CyclicLR", which asks it, as scale_fn, how large a
 * cycle is, for group 0 alone. It is called within this function and those that step, and must not use the optimizer or
 * the scheduler. A step that it fails in changes nothing, but for what a chain's schedulers before it did. Free with
 * tdm_lr_scheduler_free(). */
TDM_API tdm_error* tdm_lr_scheduler_create_with_function(
    const char* type, tdm_optimizer* optimizer, const tdm_option* options, size_t option_count,
    TDM_CALLED(here) tdm_error* (*function)(void* user_data, int64_t group, double at, double* factor), void* user_data,
    void (*destroy)(void* user_data), tdm_lr_scheduler** out);
/* One scheduler after the other, all of this optimizer: at each milestone, a number of steps, the next begins; there is
 * one milestone fewer than schedulers. last_epoch -1 begins anew. Holds them; they are not to be stepped by themselves
 * any more. Free with tdm_lr_scheduler_free(). Source: torch.optim.lr_scheduler.SequentialLR. */
TDM_API tdm_error* tdm_lr_scheduler_create_sequential(tdm_optimizer* optimizer, tdm_lr_scheduler* const* schedulers,
                                                      size_t count, const int64_t* milestones, size_t milestone_count,
                                                      int64_t last_epoch, tdm_lr_scheduler** out);
/* All of them at each step, each on what the one before made. As above otherwise. Source:
 * torch.optim.lr_scheduler.ChainedScheduler. */
TDM_API tdm_error* tdm_lr_scheduler_create_chained(tdm_lr_scheduler* const* schedulers, size_t count,
                                                   tdm_lr_scheduler** out);
TDM_API void tdm_lr_scheduler_free(tdm_lr_scheduler* scheduler);
/* After the optimizer's step. Errors: TDM_ERROR_UNSUPPORTED of ReduceLROnPlateau, which needs a metric. */
TDM_API tdm_error* tdm_lr_scheduler_step(tdm_lr_scheduler* scheduler);
/* Of ReduceLROnPlateau alone: `metric` is what is to become small, or with the option "mode" "max" great. */
TDM_API tdm_error* tdm_lr_scheduler_step_metric(tdm_lr_scheduler* scheduler, double metric);
/* Of CosineAnnealingWarmRestarts alone: to any place, also within an epoch, as in epoch + batch / batches. */
TDM_API tdm_error* tdm_lr_scheduler_step_to(tdm_lr_scheduler* scheduler, double epoch);
/* Each group's rate as the last step left it, a DOUBLE_LIST; tdm_value_clear() it. */
TDM_API tdm_error* tdm_lr_scheduler_last_lr(const tdm_lr_scheduler* scheduler, tdm_value* out);
/* A DICT, Python's state_dict(), but functions: its keys are STRINGs, those of MultiStepLR's milestones INTs; lists are
 * INT_LIST, DOUBLE_LIST and LIST. tdm_value_clear() it. */
TDM_API tdm_error* tdm_lr_scheduler_state(const tdm_lr_scheduler* scheduler, tdm_value* out);
/* All or nothing. Sets the groups' rates, and cycled momentums, to what they were, too. Takes what tdm_pt_load() reads of
 * Python's, and numbers that are keys as text, too, as JSON has them. Errors: TDM_ERROR_INVALID_ARGUMENT for a name that
 * is missing or unknown, or a value of another type. */
TDM_API tdm_error* tdm_lr_scheduler_load_state(tdm_lr_scheduler* scheduler, const tdm_value* state);

typedef int32_t tdm_averaging;
enum {
  TDM_AVERAGING_SWA = 0, /* the mean of all updates */
  TDM_AVERAGING_EMA = 1  /* decay * average + (1 - decay) * weight */
};
typedef struct tdm_averaged_parameters_options {
  size_t struct_size;
  tdm_averaging averaging;
  int32_t use_buffers; /* averages buffers like parameters; else they are copied at each update */
  double decay;        /* of TDM_AVERAGING_EMA, from 0 to 1 */
  tdm_device device;   /* of the averages; a type of TDM_UNCHANGED: each one's own */
} tdm_averaged_parameters_options;
#define TDM_AVERAGED_PARAMETERS_OPTIONS_INIT \
  { sizeof(tdm_averaged_parameters_options), TDM_AVERAGING_SWA, 0, 0.999, { TDM_UNCHANGED, -1 } }
TDM_API void tdm_averaged_parameters_options_init(tdm_averaged_parameters_options* made, size_t struct_size);

/* Averages of a model's parameters, and of its buffers, beside them. Holds the tensors; the averages begin as copies.
 * Either list may be empty. Free with tdm_averaged_parameters_free(). Source: torch.optim.swa_utils.AveragedModel. */
TDM_API tdm_error* tdm_averaged_parameters_create(tdm_tensor* const* parameters, size_t parameter_count,
                                                  tdm_tensor* const* buffers, size_t buffer_count,
                                                  const tdm_averaged_parameters_options* options,
                                                  tdm_averaged_parameters** out);
TDM_API void tdm_averaged_parameters_free(tdm_averaged_parameters* averages);
/* Takes what the tensors have now into the averages, after an optimizer's step; the first time they become that. */
TDM_API TDM_BLOCKS tdm_error* tdm_averaged_parameters_update(tdm_averaged_parameters* averages);
/* Exchanges the numbers of the tensors and the averages, to evaluate with these, and back. */
TDM_API TDM_BLOCKS tdm_error* tdm_averaged_parameters_swap(tdm_averaged_parameters* averages);
/* "n_averaged", the number of updates, "parameter.0" and so on, "buffer.0" and so on, the averages, sharing storage.
 * Free with tdm_named_tensors_free(). */
TDM_API tdm_error* tdm_averaged_parameters_state(const tdm_averaged_parameters* averages, tdm_named_tensors** out);
/* Copies. All or nothing. Errors: TDM_ERROR_INVALID_ARGUMENT for names that are missing or unknown, or wrong sizes. */
TDM_API tdm_error* tdm_averaged_parameters_load_state(tdm_averaged_parameters* averages, const char* const* names,
                                                      tdm_tensor* const* tensors, size_t count);

/* Scales losses so that float16 gradients neither vanish nor overflow: torch.amp.GradScaler. A step is: backward of the
 * scaled loss; tdm_grad_scaler_unscale() where gradients are looked at or clipped; tdm_grad_scaler_step() for each
 * optimizer, which skips it where gradients are infinite or NaN; one tdm_grad_scaler_update(). One thread at a time. */
typedef struct tdm_grad_scaler_options {
  size_t struct_size;
  double init_scale;
  double growth_factor;   /* after growth_interval steps in a row without infinite gradients */
  double backoff_factor;  /* after a step with them */
  int64_t growth_interval;
  int32_t enabled;        /* 0: scales by one and never skips */
} tdm_grad_scaler_options;
#define TDM_GRAD_SCALER_OPTIONS_INIT { sizeof(tdm_grad_scaler_options), 65536.0, 2.0, 0.5, 2000, 1 }
TDM_API void tdm_grad_scaler_options_init(tdm_grad_scaler_options* made, size_t struct_size);

/* Errors: TDM_ERROR_INVALID_ARGUMENT for factors on the wrong side of one. Free with tdm_grad_scaler_free(). */
TDM_API tdm_error* tdm_grad_scaler_create(const tdm_grad_scaler_options* options, tdm_grad_scaler** out);
TDM_API void tdm_grad_scaler_free(tdm_grad_scaler* scaler);
/* tensor · scale. Free with tdm_tensor_free(). */
TDM_API tdm_error* tdm_grad_scaler_scale(tdm_grad_scaler* scaler, const tdm_tensor* tensor, tdm_tensor** out);
/* Divides the gradients of the optimizer's parameters by the scale and notes infinite ones; at most once before the
 * optimizer's step. float16 gradients (of float16 parameters) are TDM_ERROR_INVALID_ARGUMENT. */
TDM_API tdm_error* tdm_grad_scaler_unscale(tdm_grad_scaler* scaler, tdm_optimizer* optimizer);
/* Unscales, unless that was done, and steps the optimizer unless gradients are infinite or NaN. *stepped (may be NULL)
 * tells whether it did. */
TDM_API TDM_BLOCKS tdm_error* tdm_grad_scaler_step(tdm_grad_scaler* scaler, tdm_optimizer* optimizer,
                                                   TDM_NULLABLE int32_t* stepped);
/* Adapts the scale; new_scale above 0 sets it instead. */
TDM_API tdm_error* tdm_grad_scaler_update(tdm_grad_scaler* scaler, double new_scale);

/* What a checkpoint has to hold beside the options, which it holds too. */
typedef struct tdm_grad_scaler_state {
  size_t struct_size;
  double scale;
  double growth_factor;
  double backoff_factor;
  int64_t growth_interval;
  int64_t growth_tracker; /* steps in a row without infinite gradients */
} tdm_grad_scaler_state;
#define TDM_GRAD_SCALER_STATE_INIT { sizeof(tdm_grad_scaler_state), 1.0, 2.0, 0.5, 2000, 0 }
TDM_API void tdm_grad_scaler_state_init(tdm_grad_scaler_state* made, size_t struct_size);
TDM_API TDM_BLOCKS tdm_error* tdm_grad_scaler_get_state(const tdm_grad_scaler* scaler, tdm_grad_scaler_state* out);
TDM_API tdm_error* tdm_grad_scaler_set_state(tdm_grad_scaler* scaler, const tdm_grad_scaler_state* state);

/* ----------------------------------------------------------------------------------------------- weights in files */

/* All saves write to a temporary name, sync and rename: `path` has the old content or the new, never a part. */

/* Writes tensors, and text metadata, in the safetensors format. */
TDM_API TDM_BLOCKS tdm_error* tdm_safetensors_save(const char* path, const char* const* names,
                                                   tdm_tensor* const* tensors, size_t count,
                                                   const char* const* metadata_keys, const char* const* metadata_values,
                                                   size_t metadata_count);
/* The same, spread over several files of a folder as Hugging Face lays them out: model-00001-of-00002.safetensors,
 * each of at most shard_bytes of tensors (a larger tensor has a file of its own), and
 * model.safetensors.index.json, which is written last. What fits one file becomes model.safetensors. The folder, which
 * is made where it is missing, may not have such files: TDM_ERROR_INVALID_ARGUMENT. */
TDM_API TDM_BLOCKS tdm_error* tdm_safetensors_save_sharded(const char* folder, const char* const* names,
                                                           tdm_tensor* const* tensors, size_t count,
                                                           const char* const* metadata_keys,
                                                           const char* const* metadata_values, size_t metadata_count,
                                                           int64_t shard_bytes);

typedef struct tdm_safetensors_load_options {
  size_t struct_size;
  int32_t mapped; /* tensors refer to the file: nothing is read before it is used, processes share it; 0: they get
                     memory of their own */
} tdm_safetensors_load_options;
#define TDM_SAFETENSORS_LOAD_OPTIONS_INIT { sizeof(tdm_safetensors_load_options), 0 }
TDM_API void tdm_safetensors_load_options_init(tdm_safetensors_load_options* made, size_t struct_size);

/* Of a file, of an index (*.json), or of a folder with what tdm_safetensors_save_sharded() writes. Text i of
 * *metadata_values is that of key i; both lists, freed with tdm_strings_free(), may be NULL when not wanted. A mapped
 * file that is cut off while it is used reads as zeros from there; writing to a tensor changes no file. Free *out with
 * tdm_named_tensors_free(). */
TDM_API TDM_BLOCKS tdm_error* tdm_safetensors_load(const char* path,
                                                   TDM_NULLABLE const tdm_safetensors_load_options* options,
                                                   tdm_named_tensors** out,
                                                   TDM_NULLABLE tdm_strings** metadata_keys,
                                                   TDM_NULLABLE tdm_strings** metadata_values);

typedef struct tdm_pt_load_options {
  size_t struct_size;
  int64_t most_values; /* that the file may hold, those in several places counted in each */
  int32_t copy;        /* tensors get memory of their own; 0: they refer to the file, mapped */
  int32_t check_crc;   /* compares all checksums, not the pickle's alone, which reads all of the file */
} tdm_pt_load_options;
#define TDM_PT_LOAD_OPTIONS_INIT { sizeof(tdm_pt_load_options), 4194304, 0, 0 }
TDM_API void tdm_pt_load_options_init(tdm_pt_load_options* made, size_t struct_size);

/* What a file of Python's torch.save holds (*.pt, *.pth, *.bin; zip or legacy format): tensors, on the CPU wherever
 * they were, and plain values. A str is a STRING, a list or set a LIST, a tuple or torch.Size a TUPLE, bytes are a
 * TENSOR of UINT8, dict and OrderedDict a DICT, whose keys may be INTs too. Nothing of the file's pickle is run. A
 * mapped file that is cut off while it is used reads as zeros from there; writing to a tensor changes no file.
 * tdm_value_clear() *out. Errors: TDM_ERROR_NOT_FOUND; TDM_ERROR_UNSUPPORTED, which names the class or function of
 * Python that the file wants; TDM_ERROR_DATA_LOSS. */
TDM_API TDM_BLOCKS tdm_error* tdm_pt_load(const char* path, const tdm_pt_load_options* options, tdm_value* out);
/* Writes what Python's torch.load(path, weights_only=True) gives back. Lists of all kinds become lists, a DICT a dict,
 * whose keys are STRINGs or INTs. Of tensors their values are saved, as state_dict() has them; views of one storage
 * share it again, which is written whole. Errors: TDM_ERROR_INVALID_ARGUMENT, which names the place of what cannot be
 * saved. */
TDM_API TDM_BLOCKS tdm_error* tdm_pt_save(const char* path, const tdm_value* value);

/* Names by rules, one after the other: each place of a name that matches patterns[i], a regular expression of
 * ECMAScript, becomes replacements[i], where $1 is its first group ("^module\\." and "" after DistributedDataParallel
 * in Python). Errors: TDM_ERROR_INVALID_ARGUMENT where two names become one. Free with tdm_strings_free(). */
TDM_API tdm_error* tdm_names_replace(const char* const* names, size_t count, const char* const* patterns,
                                     const char* const* replacements, size_t rule_count, tdm_strings** out);
/* Copies tensors `from` into those of `into` that have the same name, in place and outside of autograd; of one that has
 * several names in `into` one is enough. Nothing is copied where anything does not fit: one error,
 * TDM_ERROR_INVALID_ARGUMENT, lists shapes that differ, dtypes that do unless convert_dtype, and, if strict, names
 * of `into` that are missing and names of `from` that are unexpected. These come in the lists too, which
 * tdm_strings_free() frees; missing and unexpected may be NULL. */
TDM_API TDM_BLOCKS tdm_error* tdm_tensors_load(const char* const* into_names, tdm_tensor* const* into,
                                               size_t into_count, const char* const* from_names,
                                               tdm_tensor* const* from, size_t from_count, int32_t strict,
                                               int32_t convert_dtype, TDM_NULLABLE tdm_strings** missing,
                                               TDM_NULLABLE tdm_strings** unexpected);

/* ----------------------------------------------------------------------------------------------- exported programs */

typedef struct tdm_exported_options {
  size_t struct_size;
  TDM_NULLABLE const char* other_mode; /* another archive of the same model, exported after model.eval() where the first
                                          trains, or the other way round: tdm_module_train() changes between them */
  TDM_NULLABLE const char* compiled; /* a package of torch._inductor.aoti_compile_and_package for inference on the CPU, with
                                        the settings of docs/exported-models.md; of both modes, it is evaluation's */
} tdm_exported_options;
#define TDM_EXPORTED_OPTIONS_INIT { sizeof(tdm_exported_options), NULL, NULL }
TDM_API void tdm_exported_options_init(tdm_exported_options* made, size_t struct_size);

/* A model that Python exported (torch.export.export, torch.export.save), run and trained without Python: a tdm_module as
 * all others, of type "ExportedProgram". Its parameters and buffers have the names that they had in Python; weights are
 * mapped, copy-on-write. Without other_mode it has the mode that it was exported in,
 * and tdm_module_train() gives TDM_ERROR_UNSUPPORTED for the other. docs/exported-models.md has a page on this.
 *
 * Nothing of Python is in the archive: its graph are calls of operators. Errors: TDM_ERROR_NOT_FOUND, TDM_ERROR_IO;
 * TDM_ERROR_DATA_LOSS for an archive that is damaged or contradicts itself; TDM_ERROR_UNSUPPORTED for an operator that
 * this LibTorch lacks, with its node, and for containers other than tuples, lists, dicts and named tuples. Free with
 * tdm_module_free(). Source: torch.export.load.
 *
 * `compiled` is the exception: it is machine code, which loading runs, so take it only from whom you trust. Calls run it,
 * with the module's own tensors, where it gives what the graph does: grad mode is off, or nothing that the program reads
 * requires grad; the program is in the mode that was compiled; there is no autocast; tensors are on the CPU, as they were
 * compiled. Other calls run the graph. As many run at once as there are processors (64 at most), others wait. Errors:
 * TDM_ERROR_INVALID_ARGUMENT for a package of another program; TDM_ERROR_UNSUPPORTED for one for another device or
 * processor, or that has the values of parameters in its code; TDM_ERROR_LIBRARY for one that does not load, and for calls
 * that fail in it. */
TDM_API TDM_BLOCKS tdm_error* tdm_exported_load(const char* path, TDM_NULLABLE const tdm_exported_options* options,
                                                tdm_module** out);
/* Calls the program: tensors, numbers, STRINGs, TUPLEs, LISTs and DICTs as the Python module took them, keyword arguments
 * behind the others in the program's order. *out: what that gave, tuples as TUPLEs, dicts as DICTs; tdm_value_clear() it.
 * Errors: TDM_ERROR_INVALID_ARGUMENT for inputs of another structure, shape, dtype or outside of the ranges of dynamic
 * sizes, which are named, and for what an operator refuses, with the node. */
TDM_API TDM_BLOCKS TDM_THREAD_SAFE tdm_error* tdm_exported_call(tdm_module* program, const tdm_value* arguments,
                                                                size_t argument_count, tdm_value* out);
/* Its inputs in the order of arguments, nested ones flattened: names, and of each what it must be, "Float[s0, 3]". Free
 * both with tdm_strings_free(). */
TDM_API tdm_error* tdm_exported_inputs(const tdm_module* program, tdm_strings** names, tdm_strings** descriptions);
/* Writes an archive with the present tensors, which torch.export.load opens; `path` has the old content or the new. Errors:
 * TDM_ERROR_UNSUPPORTED after tdm_module_to() with another dtype. */
TDM_API TDM_BLOCKS tdm_error* tdm_exported_save(const tdm_module* program, const char* path);
/* The program in parts that run one after the other, as layers of a pipeline do: at least `least`, or as many as there are.
 * It is cut where the fewest values cross; each part takes the tensors that the one before gives, and has the parameters
 * and buffers that it reads, shared with the program. part_count: in, room; out, how many there are: where that is more
 * than there was room for, none is given. Free each with tdm_module_free(). Errors: TDM_ERROR_UNSUPPORTED for programs of
 * two modes, and for those that change their inputs. */
TDM_API tdm_error* tdm_exported_parts(const tdm_module* program, int64_t least, TDM_MAYBE tdm_module** parts,
                                      TDM_INOUT size_t* part_count);

/* ----------------------------------------------------------------------------------------------------- TorchScript */

/* Modules that Python scripted or traced (torch.jit.save), and functions compiled or traced here: a tdm_module as all
 * others, of type "ScriptModule". Its parameters and buffers have Python's names and are the script's own, so that
 * optimizers, DDP and checkpoints work with it; tdm_module_train() sets the script's `training`. A buffer that a method
 * assigns stays the same tensor, with the new value. Several threads may call methods that assign no attribute.
 * docs/jit.md has a page on this; PyTorch itself has deprecated TorchScript.
 *
 * Nothing of the file is run: its code is compiled, which methods then run when they are called, as a program of whoever
 * wrote it. Tensors come to the CPU. Errors: TDM_ERROR_NOT_FOUND, TDM_ERROR_IO; TDM_ERROR_DATA_LOSS for a file that is
 * damaged or none of TorchScript; TDM_ERROR_UNSUPPORTED for an operator that this LibTorch lacks, a file of torch.save,
 * and what loading would have to run, such as quantized modules. Free with tdm_module_free(). Source: torch.jit.load. */
TDM_API TDM_BLOCKS tdm_error* tdm_jit_load(const char* path, tdm_module** out);
/* The same of a file's bytes. Free with tdm_module_free(). */
TDM_API TDM_BLOCKS tdm_error* tdm_jit_load_bytes(const void* data, size_t data_bytes, tdm_module** out);
/* Functions, "def f(x, y: int = 2): ...", as methods of a module without tensors; a function may call those above it,
 * and those of torch. Errors: TDM_ERROR_INVALID_ARGUMENT with the place in `source`. Free with tdm_module_free().
 * Source: torch::jit::compile. */
TDM_API TDM_BLOCKS tdm_error* tdm_jit_compile(const char* source, tdm_module** out);
/* Writes what torch.jit.load reads in Python. Errors: TDM_ERROR_INVALID_ARGUMENT for a module of another type. */
TDM_API TDM_BLOCKS tdm_error* tdm_jit_save(const tdm_module* module, const char* path);
/* Free with tdm_string_free(). */
TDM_API TDM_BLOCKS tdm_error* tdm_jit_save_bytes(const tdm_module* module, tdm_string** out);
/* The names of its methods, sorted. Free with tdm_strings_free(). */
TDM_API tdm_error* tdm_jit_methods(const tdm_module* module, tdm_strings** out);
/* "forward(x: Tensor, by: int = 1) -> Tensor". Free with tdm_string_free(). */
TDM_API tdm_error* tdm_jit_schema(const tdm_module* module, const char* method, tdm_string** out);
/* Calls a method. Arguments take the types of its schema: an INT is a float where one is wanted, a TUPLE does for a list
 * and the other way, and the elements of lists and dicts, whose keys may be STRINGs, INTs, DOUBLEs and BOOLs, may be of
 * any kind that fits. What is left out at the end has the schema's default. *out: tuples are TUPLEs, dicts DICTs, lists
 * of tensors, numbers and strings those of their kind, and other lists LISTs; tdm_value_clear() it. Errors:
 * TDM_ERROR_NOT_FOUND for an unknown method, which lists those that there are; TDM_ERROR_INVALID_ARGUMENT for arguments
 * that do not fit, with the schema, and for what the method raises, with its place in the code. */
TDM_API TDM_BLOCKS TDM_THREAD_SAFE tdm_error* tdm_jit_call(tdm_module* module, const char* method,
                                                           const tdm_value* arguments, size_t argument_count,
                                                           tdm_value* out);

/* What a traced function is given. */
typedef struct tdm_jit_trace_call {
  size_t struct_size;
  tdm_tensor* const* inputs; /* the tensors in all inputs, at any depth, in order */
  size_t input_count;
  TDM_MAYBE tdm_tensor** outputs; /* NULL at first: handles that stay the callback's */
  size_t output_room;
  size_t* output_count;      /* 0 at first: how many there are */
} tdm_jit_trace_call;

typedef struct tdm_jit_trace {
  size_t struct_size;
  const tdm_value* inputs; /* tensors, or TUPLEs, LISTs and DICTs of them, with which the function is called once */
  size_t input_count;
  /* Tensors that the function uses besides its inputs, by Python's names ("layers.0.weight"): the new module's own,
   * shared with whoever gave them. Others become constants. */
  const char* const* parameter_names;
  tdm_tensor* const* parameters;
  size_t parameter_count;
  const char* const* buffer_names;
  tdm_tensor* const* buffers;
  size_t buffer_count;
  TDM_CALLED(here) tdm_error* (*function)(void* user_data, const tdm_jit_trace_call* call);
  void* user_data;
  void (*destroy)(void* user_data); /* called before tdm_jit_trace_function() returns, but not on error */
} tdm_jit_trace;
#define TDM_JIT_TRACE_INIT \
  { sizeof(tdm_jit_trace), NULL, 0, NULL, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL }
TDM_API void tdm_jit_trace_init(tdm_jit_trace* made, size_t struct_size);

/* Runs the function once, on this thread, and makes the operators that it called into a module whose forward computes
 * its one output, or a tuple of them, again. Choices that depend on values or sizes are made once, here. Errors:
 * TDM_ERROR_INVALID_ARGUMENT for a tensor that requires a gradient and is neither an input nor a parameter, and for an
 * output that comes from neither; TDM_ERROR_CALLBACK. Free with tdm_module_free(). Source: torch.jit.trace. */
TDM_API TDM_BLOCKS tdm_error* tdm_jit_trace_function(const tdm_jit_trace* trace, tdm_module** out);

/* ---------------------------------------------------------------------------------------------------------- stores */

/* Key-value stores through which ranks meet. All calls with a timeout block. Several threads may use one store, but
 * a TCPStore client serialises its callers. Free each with tdm_store_free(). */
typedef struct tdm_tcp_store_options {
  size_t struct_size;
  int32_t is_server;      /* this process listens */
  int32_t world_size;     /* with wait_workers: how many connect; 0: any number */
  int32_t wait_workers;   /* wait until all have connected */
  int32_t listen_fd;      /* server: an already listening socket to take over; -1: none */
  int64_t timeout_ms;     /* of connecting and of each get/wait */
} tdm_tcp_store_options;
#define TDM_TCP_STORE_OPTIONS_INIT { sizeof(tdm_tcp_store_options), 0, 0, 0, -1, 300000 }
TDM_API void tdm_tcp_store_options_init(tdm_tcp_store_options* made, size_t struct_size);

/* port 0 on the server: any free one, see tdm_store_port(). The server binds to `host` only. */
TDM_API TDM_BLOCKS tdm_error* tdm_store_tcp(const char* host, uint16_t port, const tdm_tcp_store_options* options,
                                            tdm_store** out);
/* world_size 0: the file is not removed at the end. */
TDM_API TDM_BLOCKS tdm_error* tdm_store_file(const char* path, int32_t world_size, tdm_store** out);
TDM_API tdm_error* tdm_store_hash(tdm_store** out);
/* Keys of `store` under "prefix/". Holds `store`. */
TDM_API TDM_THREAD_SAFE tdm_error* tdm_store_prefix(const char* prefix, const tdm_store* store, tdm_store** out);
TDM_API void tdm_store_free(tdm_store* store);
/* Port of a TCP store, 0 of another. */
TDM_API TDM_THREAD_SAFE uint16_t tdm_store_port(const tdm_store* store);

/* Sets the key to these bytes, whatever it had. */
TDM_API TDM_BLOCKS TDM_THREAD_SAFE tdm_error* tdm_store_set(tdm_store* store, const char* key, const void* data,
                                                            size_t size);
/* Waits for the key. Free with tdm_string_free(). */
TDM_API TDM_BLOCKS TDM_THREAD_SAFE tdm_error* tdm_store_get(tdm_store* store, const char* key, tdm_string** out);
/* *out, which may be NULL: the sum. */
TDM_API TDM_BLOCKS TDM_THREAD_SAFE tdm_error* tdm_store_add(tdm_store* store, const char* key, int64_t amount,
                                                            TDM_NULLABLE int64_t* out);
TDM_API TDM_BLOCKS TDM_THREAD_SAFE tdm_error* tdm_store_check(tdm_store* store, const char* const* keys, size_t count,
                                                              int32_t* out);
/* *out, which may be NULL: 1 when it was there. */
TDM_API TDM_BLOCKS TDM_THREAD_SAFE tdm_error* tdm_store_delete(tdm_store* store, const char* key,
                                                               TDM_NULLABLE int32_t* out);
TDM_API TDM_BLOCKS TDM_THREAD_SAFE tdm_error* tdm_store_wait(tdm_store* store, const char* const* keys, size_t count,
                                                             int64_t timeout_ms);
/* Sets the key to `desired` where it is `expected`, or, where `expected` has no bytes, where it is not there. *out, which may
 * be NULL: its value afterwards. Free with tdm_string_free(). */
TDM_API TDM_BLOCKS TDM_THREAD_SAFE tdm_error* tdm_store_compare_set(tdm_store* store, const char* key,
                                                                    const void* expected, size_t expected_size,
                                                                    const void* desired, size_t desired_size,
                                                                    TDM_NULLABLE tdm_string** out);
TDM_API tdm_error* tdm_store_set_timeout(tdm_store* store, int64_t timeout_ms);

/* -------------------------------------------------------------------------------------------------- process groups */

/* This process's place among those that a launcher or a scheduler started with it, from the environment, as "env://"
 * reads it: docs/schedulers.md. Each out may be NULL. *launcher: who says so: "the environment" (RANK and others, of
 * tandem run and torchrun), "Open MPI", "PMIx", "PMI", "Slurm", "Kubernetes", or "" where nobody does; then rank is 0 of
 * a world of 1. Free it with tdm_string_free(). local_rank (this process's number on its host), local_world_size (how
 * many are on it) and node_rank (the host's number) are -1 where the launcher does not say. Errors:
 * TDM_ERROR_INVALID_ARGUMENT for an environment that says a part, or that makes no sense. */
TDM_API tdm_error* tdm_launch_place(TDM_NULLABLE int32_t* rank, TDM_NULLABLE int32_t* world_size,
                                    TDM_NULLABLE int32_t* local_rank, TDM_NULLABLE int32_t* local_world_size,
                                    TDM_NULLABLE int32_t* node_rank, TDM_NULLABLE tdm_string** launcher);

/* How a group is made. Unset numbers (-1) and strings (NULL) come from the environment for "env://". */
typedef struct tdm_process_group_options {
  size_t struct_size;
  TDM_NULLABLE const char* backend;     /* "gloo", "nccl", "shm", "auto" or "none", or one for each device, as in
                              "cpu:shm,cuda:nccl": docs/process-groups.md; NULL: gloo */
  TDM_NULLABLE const char* init_method; /* "env://", "tcp://host:port", "file:///path"; ignored when a store is given */
  int32_t rank;
  int32_t world_size;
  int64_t timeout_ms;       /* of rendezvous and of each collective */
  tdm_device device;        /* of this rank, for nccl; cpu for gloo */
  TDM_NULLABLE const char* interface_name; /* network interface of gloo; NULL: GLOO_SOCKET_IFNAME, else the host's
                                 address, loopback when all ranks are on it */
  TDM_NULLABLE const char* name;           /* NULL: "default" */
} tdm_process_group_options;
#define TDM_PROCESS_GROUP_OPTIONS_INIT \
  { sizeof(tdm_process_group_options), NULL, "env://", -1, -1, 1800000, { TDM_DEVICE_CPU, -1 }, NULL, NULL }
TDM_API void tdm_process_group_options_init(tdm_process_group_options* made, size_t struct_size);

/* Meets the other ranks and connects to them. Blocks. `store` may be NULL: then init_method makes one.
 * Errors: TDM_ERROR_INVALID_ARGUMENT (no RANK and no scheduler, a rank outside the world, ranks with different sizes),
 * TDM_ERROR_TIMEOUT naming the ranks that are missing, TDM_ERROR_IO (a port in use), TDM_ERROR_UNSUPPORTED.
 * Free with tdm_process_group_free(), which aborts what is pending. */
TDM_API TDM_BLOCKS tdm_error* tdm_process_group_create(const tdm_process_group_options* options,
                                                       TDM_NULLABLE const tdm_store* store, tdm_process_group** out);
TDM_API TDM_BLOCKS void tdm_process_group_free(tdm_process_group* group);
TDM_API int32_t tdm_process_group_rank(const tdm_process_group* group);
TDM_API int32_t tdm_process_group_size(const tdm_process_group* group);
TDM_API const char* tdm_process_group_backend(const tdm_process_group* group); /* lives as long as the group */
TDM_API const char* tdm_process_group_name(const tdm_process_group* group);    /* lives as long as the group */
/* Wakes every waiter with TDM_ERROR_ABORTED; the group can then only be freed. From any thread. */
TDM_API TDM_THREAD_SAFE tdm_error* tdm_process_group_abort(tdm_process_group* group);

/* Sub-groups. Every rank of `group` calls these, with the same arguments; a rank that is in none of the new groups gets
 * *out = NULL, at once. Ranks are those of `group`. `name` NULL: the group's with a number. Backend, timeout and device
 * are the group's. Blocks. Errors: TDM_ERROR_INVALID_ARGUMENT (ranks outside the group or named twice), and those of
 * tdm_process_group_create(). Free with tdm_process_group_free(), in any order.
 * A group of these ranks, numbered in this order. */
TDM_API TDM_BLOCKS tdm_error* tdm_process_group_new_group(tdm_process_group* group, const int32_t* ranks,
                                                          size_t rank_count, TDM_NULLABLE const char* name,
                                                          TDM_MAYBE tdm_process_group** out);
/* Several groups without a rank in common: sizes[i] of `ranks` after another are group i's. Gives this rank's. */
TDM_API TDM_BLOCKS tdm_error* tdm_process_group_split(tdm_process_group* group, const int32_t* ranks, size_t rank_count,
                                                      const size_t* sizes, size_t group_count,
                                                      TDM_NULLABLE const char* name, TDM_MAYBE tdm_process_group** out);
/* Neighbours by `size`, which must divide the group's. */
TDM_API TDM_BLOCKS tdm_error* tdm_process_group_new_subgroups(tdm_process_group* group, int32_t size,
                                                              TDM_NULLABLE const char* name,
                                                              TDM_MAYBE tdm_process_group** out);
/* A rank's number in the group that sub-groups began with, and back; -1 where there is none. */
TDM_API int32_t tdm_process_group_global_rank(const tdm_process_group* group, int32_t rank);
TDM_API int32_t tdm_process_group_rank_of(const tdm_process_group* group, int32_t global_rank);

/* ----------------------------------------------------------------------------------------------------- collectives */

typedef int32_t tdm_reduce_op;
enum {
  TDM_REDUCE_OP_SUM = 0, TDM_REDUCE_OP_AVG = 1, TDM_REDUCE_OP_PRODUCT = 2, TDM_REDUCE_OP_MIN = 3,
  TDM_REDUCE_OP_MAX = 4, TDM_REDUCE_OP_BAND = 5, TDM_REDUCE_OP_BOR = 6, TDM_REDUCE_OP_BXOR = 7
};

/* All ranks call the same ones in the same order with tensors of the same dtype, and of shapes as given below; results
 * are written in place. Tensors are dense; those in lists, and those without an operation, are contiguous. With work ==
 * NULL the call blocks until done; otherwise *work is to be waited for and freed with tdm_work_free(), and the tensors
 * are held until then. Ranks (root, from, to) are the group's own.
 * Dtypes: what only moves takes every one. gloo reduces float32, float64, float16, bfloat16, int8, uint8, int32, int64
 * and bool (SUM and MAX are "or", PRODUCT and MIN "and"; no AVG), and complex numbers for SUM and AVG; reduce_scatter
 * takes int16 as well. AVG of whole numbers rounds towards zero; bitwise operations take whole numbers and bool.
 * Errors: TDM_ERROR_TIMEOUT, TDM_ERROR_PEER_LOST, TDM_ERROR_ABORTED, with a message that names the collective, its
 * number, the group, ranks and age, after which the group can only be freed; TDM_ERROR_INVALID_ARGUMENT, after which it
 * lives on. With TORCH_DISTRIBUTED_DEBUG=DETAIL in the environment ranks check first that all call the same.
 * Source: torch.distributed. */
TDM_API TDM_BLOCKS tdm_error* tdm_broadcast(tdm_process_group* group, tdm_tensor* tensor, int32_t root,
                                            TDM_NULLABLE tdm_work** work);
TDM_API TDM_BLOCKS tdm_error* tdm_all_reduce(tdm_process_group* group, tdm_tensor* tensor, tdm_reduce_op op,
                                             TDM_NULLABLE tdm_work** work);
/* Each rank's tensor, of a float or complex type, is multiplied by that rank's `factor` before the sum. */
TDM_API TDM_BLOCKS tdm_error* tdm_all_reduce_premul_sum(tdm_process_group* group, tdm_tensor* tensor, double factor,
                                                        TDM_NULLABLE tdm_work** work);
/* Several tensors, as one message for each dtype. */
TDM_API TDM_BLOCKS tdm_error* tdm_all_reduce_coalesced(tdm_process_group* group, tdm_tensor* const* tensors,
                                                       size_t tensor_count, tdm_reduce_op op,
                                                       TDM_NULLABLE tdm_work** work);
/* The result is root's; other ranks' tensors hold nothing of use afterwards. */
TDM_API TDM_BLOCKS tdm_error* tdm_reduce(tdm_process_group* group, tdm_tensor* tensor, int32_t root, tdm_reduce_op op,
                                         TDM_NULLABLE tdm_work** work);
/* outputs: one tensor per rank, in order of rank, of the shape of that rank's input; output_count must be the group's
 * size. Every rank gives the same list of shapes. */
TDM_API TDM_BLOCKS tdm_error* tdm_all_gather(tdm_process_group* group, tdm_tensor* const* outputs, size_t output_count,
                                             const tdm_tensor* input, TDM_NULLABLE tdm_work** work);
/* output: the group's size times the elements of `input`, which has the same shape on all ranks. */
TDM_API TDM_BLOCKS tdm_error* tdm_all_gather_into_tensor(tdm_process_group* group, tdm_tensor* output,
                                                         const tdm_tensor* input, TDM_NULLABLE tdm_work** work);
/* outputs: on root one a rank, shaped like `input`; elsewhere output_count is 0. */
TDM_API TDM_BLOCKS tdm_error* tdm_gather(tdm_process_group* group, tdm_tensor* const* outputs, size_t output_count,
                                         const tdm_tensor* input, int32_t root, TDM_NULLABLE tdm_work** work);
/* inputs: on root one a rank, shaped like `output`; elsewhere input_count is 0. */
TDM_API TDM_BLOCKS tdm_error* tdm_scatter(tdm_process_group* group, tdm_tensor* output, tdm_tensor* const* inputs,
                                          size_t input_count, int32_t root, TDM_NULLABLE tdm_work** work);
/* inputs: one a rank, of the shape of that rank's output. Every rank gives the same list of shapes. */
TDM_API TDM_BLOCKS tdm_error* tdm_reduce_scatter(tdm_process_group* group, tdm_tensor* output,
                                                 tdm_tensor* const* inputs, size_t input_count, tdm_reduce_op op,
                                                 TDM_NULLABLE tdm_work** work);
/* input: the group's size times the elements of `output`, which has the same shape on all ranks. */
TDM_API TDM_BLOCKS tdm_error* tdm_reduce_scatter_tensor(tdm_process_group* group, tdm_tensor* output,
                                                        const tdm_tensor* input, tdm_reduce_op op,
                                                        TDM_NULLABLE tdm_work** work);
/* inputs[r] goes to rank r, outputs[r] comes from it and has the shape of what it sends. */
TDM_API TDM_BLOCKS tdm_error* tdm_all_to_all(tdm_process_group* group, tdm_tensor* const* outputs, size_t output_count,
                                             tdm_tensor* const* inputs, size_t input_count,
                                             TDM_NULLABLE tdm_work** work);
/* The same with rows of one tensor (slices along its first dimension), as many for each rank as the splits say; counts
 * of 0: equal parts. */
TDM_API TDM_BLOCKS tdm_error* tdm_all_to_all_single(tdm_process_group* group, tdm_tensor* output,
                                                    const tdm_tensor* input, const int64_t* output_splits,
                                                    size_t output_split_count, const int64_t* input_splits,
                                                    size_t input_split_count, TDM_NULLABLE tdm_work** work);
TDM_API TDM_BLOCKS tdm_error* tdm_barrier(tdm_process_group* group, TDM_NULLABLE tdm_work** work);
/* Slower than tdm_barrier(), but its TDM_ERROR_TIMEOUT names every rank that has not come, on all that have, also on
 * those that come later; the group lives on. timeout_ms -1: the group's. Blocks. */
TDM_API TDM_BLOCKS tdm_error* tdm_monitored_barrier(tdm_process_group* group, int64_t timeout_ms);

/* Messages from one rank to another, of contiguous tensors. Those with the same tag (0 or more) arrive in the order in
 * which they were sent. A work that nobody waits for or asks may make no progress. */
TDM_API TDM_BLOCKS tdm_error* tdm_send(tdm_process_group* group, const tdm_tensor* tensor, int32_t to, int32_t tag,
                                       TDM_NULLABLE tdm_work** work);
/* from -1: any rank; *source, which may be NULL, is then the one that sent (with a work: see tdm_work_source_rank()). */
TDM_API TDM_BLOCKS tdm_error* tdm_recv(tdm_process_group* group, tdm_tensor* tensor, int32_t from, int32_t tag,
                                       TDM_NULLABLE int32_t* source, TDM_NULLABLE tdm_work** work);
typedef struct tdm_message {
  tdm_tensor* tensor;
  int32_t is_send; /* else it is received */
  int32_t peer;
  int32_t tag;
} tdm_message;
/* Several at once, as one work, so that ranks may exchange without waiting in circles. */
TDM_API TDM_BLOCKS tdm_error* tdm_batch_send_recv(tdm_process_group* group, const tdm_message* messages,
                                                  size_t message_count, TDM_NULLABLE tdm_work** work);

/* Bytes, of another length on each rank; more than 2^31 in one call is TDM_ERROR_INVALID_ARGUMENT on all ranks, before
 * memory is taken. Each *out is freed with tdm_string_free(). Blocks.
 * root's to all; `data` is ignored elsewhere and may be NULL. */
TDM_API TDM_BLOCKS tdm_error* tdm_broadcast_bytes(tdm_process_group* group, const void* data, size_t size, int32_t root,
                                                  tdm_string** out);
/* out: room for one string a rank; out_count must be the group's size. */
TDM_API TDM_BLOCKS tdm_error* tdm_all_gather_bytes(tdm_process_group* group, const void* data, size_t size,
                                                   tdm_string** out, size_t out_count);
/* The same on root; elsewhere out_count is 0. */
TDM_API TDM_BLOCKS tdm_error* tdm_gather_bytes(tdm_process_group* group, const void* data, size_t size, int32_t root,
                                               tdm_string** out, size_t out_count);
/* data, sizes: on root one a rank; elsewhere `count` is 0. */
TDM_API TDM_BLOCKS tdm_error* tdm_scatter_bytes(tdm_process_group* group, const void* const* data, const size_t* sizes,
                                                size_t count, int32_t root, tdm_string** out);

/* Blocks until the collective is done, at most timeout_ms (-1: the group's). */
TDM_API TDM_BLOCKS tdm_error* tdm_work_wait(tdm_work* work, int64_t timeout_ms);
/* 1 when it is done or has failed. */
TDM_API int32_t tdm_work_is_completed(const tdm_work* work);
/* *out: why it failed, an error of the caller's, freed with tdm_error_free(); NULL while it goes on, and after success. What
 * is returned is about this call alone. */
TDM_API tdm_error* tdm_work_error(const tdm_work* work, TDM_MAYBE tdm_error** out);
/* Has `callback` called once when the work is done, with NULL, or has failed, with the reason, which lives until the
 * callback returns: also where its group is aborted or freed first, and on this thread, before the function returns,
 * where it has ended by now. Else on the thread that ends it, which is the group's own or one that waits for the work,
 * in a scope of its own and with none of the caller's modes. It may queue and signal, make and free tensors, but must
 * not wait for works, begin collectives, or free work or group: other ranks wait for this thread. What queues on GPUs:
 * the callback comes when the work is queued, and what it queues itself runs after that. Several callbacks run in any
 * order, and the handle may be freed before them. destroy(user_data), which may be NULL, is called after the callback;
 * not on error. */
TDM_API tdm_error* tdm_work_on_completion(tdm_work* work,
                                          TDM_CALLED(work) void (*callback)(void* user_data, const tdm_error* error),
                                          void* user_data, void (*destroy)(void* user_data));
/* The tensors that hold the result once it is done: those that were given for it, in new handles freed with
 * tdm_tensor_free(). TDM_ERROR_OUT_OF_RANGE past the end. */
TDM_API size_t tdm_work_result_count(const tdm_work* work);
TDM_API tdm_error* tdm_work_result(const tdm_work* work, size_t index, tdm_tensor** out);
/* Of a receive that is done: the rank that sent; else -1. */
TDM_API int32_t tdm_work_source_rank(const tdm_work* work);
/* Blocks until a pending collective has ended, at most the group's timeout, for other ranks read and write its tensors until
 * then; a failure is not told. Who must not wait, a garbage collector's thread for example, frees it from
 * tdm_work_on_completion() on, which says when that no longer blocks, or aborts the group first. */
TDM_API TDM_BLOCKS void tdm_work_free(tdm_work* work);

/* The last collectives of this process, of all its groups, as JSON, oldest first: {"version", "process", "now_ns",
 * "entries": [{"group", "rank", "size", "sequence", "collective", "shapes", "dtypes", "state":
 * "started"|"completed"|"failed", "begun_ns", "ended_ns", "error", …}]}. The environment's TANDEM_FLIGHT_RECORD=PREFIX
 * has it written to PREFIX.rank<r>.json when a collective times out or loses a peer; TANDEM_FLIGHT_RECORD_SIZE is how
 * many entries are kept (2000). Free with tdm_string_free(). */
TDM_API tdm_error* tdm_flight_record(tdm_string** out);

/* Traces: what a rank did, and when, as a file for Perfetto and chrome://tracing: the parts of each step of
 * DistributedDataParallel, its buckets, and all collectives and messages on CPUs. The files of ranks are on one clock;
 * `tandem trace merge` makes one of them. The environment's TANDEM_TRACE=PREFIX, on all ranks, has a trace from the
 * first group that a process makes to that group's end written to PREFIX.rank<r>.json. */
typedef struct tdm_trace_options {
  size_t struct_size;
  int64_t most_events;   /* later ones are counted in the file as dropped; about 150 bytes each */
} tdm_trace_options;
#define TDM_TRACE_OPTIONS_INIT { sizeof(tdm_trace_options), 1000000 }
TDM_API void tdm_trace_options_init(tdm_trace_options* made, size_t struct_size);

/* From now on what this process does is kept. All ranks of the group call it together: they find out how their clocks
 * differ. Blocks. Errors: TDM_ERROR_INVALID_ARGUMENT while a trace is on; those of collectives. */
TDM_API TDM_BLOCKS tdm_error* tdm_trace_start(tdm_process_group* group, const tdm_trace_options* options);
/* Ends the trace and writes it; what is still under way is not in it. The file appears whole or not at all; after an
 * error of it the trace is on still. Errors: TDM_ERROR_INVALID_ARGUMENT when none is on, TDM_ERROR_IO. */
TDM_API TDM_BLOCKS tdm_error* tdm_trace_stop(const char* path);

/* LibTorch's profiler, Kineto: operators of all threads, collectives, and kernels where there is a GPU, on one
 * timeline. */
typedef struct tdm_profiler_options {
  size_t struct_size;
  int32_t cpu_only;        /* no kernels, also where this process has CUDA */
  int32_t record_shapes;   /* of operators' tensors */
  int32_t with_flops;      /* of matrix products and convolutions */
} tdm_profiler_options;
#define TDM_PROFILER_OPTIONS_INIT { sizeof(tdm_profiler_options), 0, 0, 0 }
TDM_API void tdm_profiler_options_init(tdm_profiler_options* made, size_t struct_size);

/* From now on everything that LibTorch runs in this process is noted. With `group` all its ranks call it together, and
 * their files are on one clock for `tandem trace merge`, with those of a trace that is on; it then blocks. NULL: this
 * process alone. Errors: TDM_ERROR_INVALID_ARGUMENT while it is on; those of collectives. */
TDM_API TDM_BLOCKS tdm_error* tdm_profiler_start(TDM_NULLABLE tdm_process_group* group,
                                                 const tdm_profiler_options* options);
/* Ends it. Writes a file for Perfetto and chrome://tracing, whole or not at all, to `path` (NULL: none), and gives a
 * table of what took time, a line a name (`table` NULL: none), which is freed with tdm_string_free(). Errors:
 * TDM_ERROR_INVALID_ARGUMENT when it is not on; TDM_ERROR_IO, after which the profile is lost. */
TDM_API TDM_BLOCKS tdm_error* tdm_profiler_stop(TDM_NULLABLE const char* path, TDM_NULLABLE tdm_string** table);

/* --------------------------------------------------------------------------------------- differentiable collectives */

/* Collectives that autograd sees: backward exchanges gradients between ranks. Inputs stay as they are, results are new
 * tensors, freed with tdm_tensor_free(). All ranks call them in the same order and run backward through the same of
 * them: inputs require gradients on all ranks or on none, and every result is part of what backward starts from.
 * Reductions take SUM and AVG. They block, as backward then does. Errors as above.
 * Source: torch.distributed.nn.functional.
 *
 * root's tensor, on every rank. Gradient: the sum of all ranks', on root; zeros elsewhere. */
TDM_API TDM_BLOCKS tdm_error* tdm_differentiable_broadcast(tdm_process_group* group, const tdm_tensor* tensor,
                                                           int32_t root, tdm_tensor** out);
/* Gradient: the same reduction of gradients. */
TDM_API TDM_BLOCKS tdm_error* tdm_differentiable_all_reduce(tdm_process_group* group, const tdm_tensor* tensor,
                                                            tdm_reduce_op op, tdm_tensor** out);
/* The reduction on root, zeros elsewhere. Gradient: root's, on every rank. */
TDM_API TDM_BLOCKS tdm_error* tdm_differentiable_reduce(tdm_process_group* group, const tdm_tensor* tensor,
                                                        int32_t root, tdm_reduce_op op, tdm_tensor** out);
/* out: room for one tensor a rank, on every rank: all ranks' tensors on root, zeros elsewhere. Gradient: scattered. */
TDM_API TDM_BLOCKS tdm_error* tdm_differentiable_gather(tdm_process_group* group, const tdm_tensor* tensor,
                                                        int32_t root, tdm_tensor** out, size_t out_count);
/* tensors: one a rank, on every rank, of one shape; only root's values count. Gradient: gathered to root. */
TDM_API TDM_BLOCKS tdm_error* tdm_differentiable_scatter(tdm_process_group* group, tdm_tensor* const* tensors,
                                                         size_t tensor_count, int32_t root, tdm_tensor** out);
/* out: room for one tensor a rank. All ranks' tensors have the same shape. Gradient: each rank's is the sum of what all
 * have for it. */
TDM_API TDM_BLOCKS tdm_error* tdm_differentiable_all_gather(tdm_process_group* group, const tdm_tensor* tensor,
                                                            tdm_tensor** out, size_t out_count);
/* tensors: one a rank, of the shape of that rank's result. Gradient: gathered from all. */
TDM_API TDM_BLOCKS tdm_error* tdm_differentiable_reduce_scatter(tdm_process_group* group, tdm_tensor* const* tensors,
                                                                size_t tensor_count, tdm_reduce_op op,
                                                                tdm_tensor** out);
/* tensors[r] goes to rank r, all of one shape; out: room for one a rank. Gradient: sent back. */
TDM_API TDM_BLOCKS tdm_error* tdm_differentiable_all_to_all(tdm_process_group* group, tdm_tensor* const* tensors,
                                                            size_t tensor_count, tdm_tensor** out, size_t out_count);
/* Rows of one tensor, as tdm_all_to_all_single() has it. */
TDM_API TDM_BLOCKS tdm_error* tdm_differentiable_all_to_all_single(tdm_process_group* group, const tdm_tensor* tensor,
                                                                   const int64_t* output_splits,
                                                                   size_t output_split_count,
                                                                   const int64_t* input_splits,
                                                                   size_t input_split_count, tdm_tensor** out);

/* -------------------------------------------------------------------------------------- DistributedDataParallel */

typedef struct tdm_ddp_options {
  size_t struct_size;
  double bucket_cap_mb;              /* MiB of gradients that travel together; 0: each gradient alone */
  double first_bucket_mb;            /* of what is ready first; 0: 1 MiB, or bucket_cap_mb where that is not 25 */
  int32_t broadcast_buffers;         /* from rank 0, at the start and before each forward that trains */
  int32_t find_unused_parameters;
  int32_t gradient_as_bucket_view;
  int32_t static_graph;
  int32_t init_sync;                 /* verify shapes and broadcast from rank 0 at the start */
  int32_t skip_all_reduce_unused_params; /* leave out buckets that no rank used; needs find_unused_parameters */
  int32_t average_by_samples;        /* a rank's gradient counts as much as its batch: tdm_ddp_set_batch_samples() */
  /* Mixed precision: what the module computes in (from prepare_forward to the end of backward), what gradients are
   * exchanged in (TDM_UNCHANGED: param_dtype), what buffers become. TDM_UNCHANGED: what they are. */
  tdm_dtype param_dtype;
  tdm_dtype reduce_dtype;
  tdm_dtype buffer_dtype;
  TDM_NULLABLE TDM_COUNT(tdm_ddp_create::parameter_count)
      const uint8_t* sparse_gradients; /* a flag a parameter: 1 for an embedding with sparse gradients; NULL: none */
} tdm_ddp_options;
#define TDM_DDP_OPTIONS_INIT \
  { sizeof(tdm_ddp_options), 25.0, 0.0, 1, 0, 0, 0, 1, 0, 0, TDM_UNCHANGED, TDM_UNCHANGED, TDM_UNCHANGED, NULL }
TDM_API void tdm_ddp_options_init(tdm_ddp_options* made, size_t struct_size);

/* Wraps c10d::Reducer around parameters (those that require no gradient are only broadcast) and buffers. `names` name
 * the parameters in errors; NULL: their numbers. Holds the tensors and the group. Blocks. All ranks give the same
 * shapes in the same order: else TDM_ERROR_INVALID_ARGUMENT names the first that differs, as it names a parameter that
 * cannot be trained (the result of an operation, an inference tensor, a sparse one, one without data). Parameters may be
 * on several devices, also of several types. Source: torch.nn.parallel.DistributedDataParallel. Free with tdm_ddp_free(). */
TDM_API TDM_BLOCKS tdm_error* tdm_ddp_create(tdm_process_group* group, tdm_tensor* const* parameters,
                                             TDM_NULLABLE const char* const* names, size_t parameter_count,
                                             tdm_tensor* const* buffers, size_t buffer_count,
                                             const tdm_ddp_options* options, tdm_ddp** out);
TDM_API void tdm_ddp_free(tdm_ddp* ddp);
/* Call before the module's forward, with its arguments, of any kind and depth; broadcasts buffers when `training`.
 * `prepared`: room for as many values, which forward is to be called with instead: tensors of floating point in them
 * are of param_dtype. They are owned: tdm_value_clear(). NULL: arguments are not cast. With average_by_samples the
 * batch is the first dimension of the first tensor in the arguments, and one sample without such. Several forwards may
 * come before one backward: buffers are then broadcast before the first. Blocks. Errors: TDM_ERROR_INVALID_ARGUMENT
 * names the parameters that got no gradient in the backward before, or one that requires a gradient only since the ddp
 * was made: with either, ranks would drift apart. */
TDM_API TDM_BLOCKS tdm_error* tdm_ddp_prepare_forward(tdm_ddp* ddp, int32_t training, const tdm_value* arguments,
                                                      size_t argument_count,
                                                      TDM_NULLABLE TDM_COUNT(argument_count) tdm_value* prepared);
/* Call with what forward gave, of any kind and depth, before backward. `prepared`: room for as many values, from which
 * the loss is to be computed instead, or from some of them. They are owned: tdm_value_clear(); `outputs` stay as they
 * are. A backward with create_graph is TDM_ERROR_UNSUPPORTED when it comes to the parameters. Errors:
 * TDM_ERROR_INVALID_ARGUMENT when there is no tensor in `outputs`, with gradients on. */
TDM_API tdm_error* tdm_ddp_prepare_backward(tdm_ddp* ddp, const tdm_value* outputs, size_t output_count,
                                            TDM_COUNT(output_count) tdm_value* prepared);
/* Instead of tdm_ddp_prepare_backward(), where forward failed or no backward will follow: parameters that mixed
 * precision has lowered are as before. */
TDM_API tdm_error* tdm_ddp_cancel_forward(tdm_ddp* ddp);
/* 0: gradients accumulate locally (no_sync) until switched on again; takes effect at the next forward. */
TDM_API tdm_error* tdm_ddp_set_require_backward_grad_sync(tdm_ddp* ddp, int32_t on);
/* How many samples this rank's next batches have, for average_by_samples, where that is not the first dimension of the
 * first tensor in forward's arguments; -1: that again. */
TDM_API tdm_error* tdm_ddp_set_batch_samples(tdm_ddp* ddp, int64_t samples);
/* The buffers that are broadcast from now on, where the module has replaced some. All ranks give as many, of the same
 * sizes. */
TDM_API tdm_error* tdm_ddp_set_buffers(tdm_ddp* ddp, tdm_tensor* const* buffers, size_t buffer_count);

/* Communication hooks: how a bucket of gradients is exchanged. All ranks set the same one, once, before the first
 * forward. Source: torch.distributed.algorithms.ddp_comm_hooks. */
typedef int32_t tdm_comm_hook;
enum {
  TDM_COMM_HOOK_ALLREDUCE = 0,
  TDM_COMM_HOOK_FP16_COMPRESS = 1,
  TDM_COMM_HOOK_BF16_COMPRESS = 2,
  TDM_COMM_HOOK_QUANTIZATION_PERTENSOR = 3, /* to bytes, with one scale a bucket */
  TDM_COMM_HOOK_QUANTIZATION_PERCHANNEL = 4, /* with one scale for every channel_size gradients */
  TDM_COMM_HOOK_POWER_SGD = 5,              /* as products of thin matrices, one a gradient */
  TDM_COMM_HOOK_BATCHED_POWER_SGD = 6,      /* one a bucket: quicker, less exact */
  TDM_COMM_HOOK_POST_LOCAL_SGD = 7,         /* over all ranks first, then over `subgroup` */
  TDM_COMM_HOOK_NOOP = 8                    /* nothing: each rank keeps its own gradients */
};

typedef struct tdm_comm_hook_options {
  size_t struct_size;
  int64_t channel_size;            /* of QUANTIZATION_PERCHANNEL */
  int64_t matrix_approximation_rank; /* from here to random_seed: of PowerSGD */
  int64_t start_power_sgd_iter;    /* before it gradients are all-reduced; at least 2 with one of the next two */
  double min_compression_rate;
  int32_t use_error_feedback;
  int32_t warm_start;
  double orthogonalization_epsilon;
  uint64_t random_seed;            /* the same on all ranks */
  TDM_NULLABLE const tdm_process_group* subgroup; /* this and the next two: of POST_LOCAL_SGD; NULL with
                                        post_local_gradient_allreduce 0 */
  int64_t start_local_sgd_iter;
  int32_t post_local_gradient_allreduce;
  tdm_dtype compress_dtype; /* FLOAT16 or BFLOAT16: gradients are cast to it around the hook; TDM_UNCHANGED: not */
} tdm_comm_hook_options;
#define TDM_COMM_HOOK_OPTIONS_INIT \
  { sizeof(tdm_comm_hook_options), 512, 1, 1000, 2.0, 1, 1, 0.0, 0, NULL, 0, 1, TDM_UNCHANGED }
TDM_API void tdm_comm_hook_options_init(tdm_comm_hook_options* made, size_t struct_size);
/* Has buckets exchanged by that hook. Errors: TDM_ERROR_INVALID_ARGUMENT after the first forward, when one is set already,
 * and for options that it cannot take. */
TDM_API tdm_error* tdm_ddp_set_comm_hook(tdm_ddp* ddp, tdm_comm_hook hook, const tdm_comm_hook_options* options);
/* What the next exchange begins with, for a checkpoint of this rank: "buckets", and with PowerSGD "power_sgd.iteration",
 * "power_sgd.error.0" and so on. Each rank saves and loads its own, for what compression lost differs between ranks.
 * Shares storage. Free with tdm_named_tensors_free(). Load after setting the same hook, before the first forward; else
 * TDM_ERROR_INVALID_ARGUMENT, as for names or sizes that do not fit. */
TDM_API tdm_error* tdm_ddp_state(const tdm_ddp* ddp, tdm_named_tensors** out);
TDM_API tdm_error* tdm_ddp_load_state(tdm_ddp* ddp, const char* const* names, tdm_tensor* const* tensors, size_t count);

/* A bucket, as a hook of the caller's sees it. Handles and lists live until the callback returns. */
typedef struct tdm_grad_bucket {
  size_t struct_size;
  int64_t index;
  tdm_tensor* buffer;              /* its gradients, flat; sparse for an embedding with sparse gradients */
  tdm_tensor* const* gradients;    /* views of the buffer; none where that is sparse */
  size_t gradient_count;
  tdm_tensor* const* parameters;
  size_t parameter_count;
  int32_t is_last;                 /* of this backward */
} tdm_grad_bucket;

/* A hook of the caller's. `begin` starts the exchange of a bucket: it may change the buffer, and may set *work (NULL at
 * first) to a collective that Tandem waits for. When that is done, `finish`, which may be NULL, may change the buffer
 * again, start and wait for more, and set *result (NULL at first) to a tensor of the buffer's shape and dtype that takes
 * its place. Both handles stay the callback's, after an error too: what a work of `begin` stands for is Tandem's to wait
 * for once that has returned, and its handle is freed after that, in `finish` for example, or in `destroy` where backward
 * failed before. Hooks divide, for a mean. Both are callbacks of autograd (see above): they run within backward, on its
 * thread, in the same order on all ranks (a bucket's finish after the begin of the next bucket, or of the last), and must
 * call no function of this ddp. destroy(user_data) is called when the ddp is freed, within tdm_ddp_free(), which so
 * waits where it waits: in tdm_work_free(), for example. */
TDM_API tdm_error* tdm_ddp_register_comm_hook(
    tdm_ddp* ddp,
    TDM_CALLED(autograd) tdm_error* (*begin)(void* user_data, const tdm_grad_bucket* bucket, TDM_MAYBE tdm_work** work),
    TDM_CALLED(autograd) TDM_NULLABLE tdm_error* (*finish)(void* user_data, const tdm_grad_bucket* bucket,
                                                           TDM_MAYBE tdm_tensor** result),
    void* user_data, void (*destroy)(void* user_data));

/* Has `optimizer`, which must hold the parameters, step each bucket as soon as it is averaged, within backward, which
 * frees its gradients, and once at the end of backward what else it holds; tdm_optimizer_step() is not to be called any
 * more. Before the first forward, after a hook. Holds the optimizer. Source: torch.distributed.optim._apply_optimizer_in_backward. */
TDM_API tdm_error* tdm_ddp_set_optimizer_in_backward(tdm_ddp* ddp, tdm_optimizer* optimizer);

/* For ranks that have different numbers of batches. Every rank begins, makes its steps and ends, which takes part in the
 * exchanges of those that still train until all are there, and then gives all the parameters of one of the last. Blocks.
 * tdm_ddp_cancel_join() only ends it on this rank, after an error. Source: torch.distributed.algorithms.Join. */
typedef struct tdm_ddp_join_options {
  size_t struct_size;
  int32_t divide_by_initial_world_size; /* 0: gradients are averaged over ranks that still have batches */
  int32_t throw_on_early_termination;   /* all ranks fail with TDM_ERROR_ABORTED when the first is out of batches */
  TDM_NULLABLE tdm_optimizer* optimizer; /* NULL, or one that exchanges something as it steps, like that of
                               tdm_zero_redundancy_optimizer_create(): a rank that is out of batches steps
                               it, and zeroes its gradients, with the others */
} tdm_ddp_join_options;
#define TDM_DDP_JOIN_OPTIONS_INIT { sizeof(tdm_ddp_join_options), 1, 0, NULL }
TDM_API void tdm_ddp_join_options_init(tdm_ddp_join_options* made, size_t struct_size);
TDM_API tdm_error* tdm_ddp_begin_join(tdm_ddp* ddp, const tdm_ddp_join_options* options);
TDM_API TDM_BLOCKS tdm_error* tdm_ddp_end_join(tdm_ddp* ddp);
TDM_API tdm_error* tdm_ddp_cancel_join(tdm_ddp* ddp);

/* What training has cost. Times are nanoseconds of the iterations that are kept (tdm_ddp_get_iteration()), without the
 * first two, in which memory and buckets are made, where there are others: of each kind of time the mean of the middle
 * half; 0: not known. On GPUs only the first eight fields, measured by c10d::Logger. */
typedef struct tdm_ddp_statistics {
  size_t struct_size;
  int64_t iterations;             /* that exchanged gradients */
  int64_t bucket_count;
  int64_t buckets_rebuilt;        /* 1: in the order in which gradients came */
  int64_t forward_compute;
  int64_t backward_compute;
  int64_t backward_communication; /* from the first bucket's start to the last one's end */
  int64_t overlap;                /* of the last two */
  int64_t step;                   /* from the first forward to the averaged gradients */
  int64_t communication;          /* how long at least one bucket was under way */
  /* What an exchange adds to a step: its time without step_without_exchange where that is known; else how long forward
   * and the end of backward waited. */
  int64_t exposed_communication;
  int64_t step_without_exchange;  /* this and the next: of separate iterations, tdm_ddp_set_separate_exchanges() */
  int64_t communication_alone;    /* the same buckets, one after the other, beside nothing else */
} tdm_ddp_statistics;
#define TDM_DDP_STATISTICS_INIT { sizeof(tdm_ddp_statistics), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }
TDM_API void tdm_ddp_statistics_init(tdm_ddp_statistics* made, size_t struct_size);
TDM_API tdm_error* tdm_ddp_get_statistics(const tdm_ddp* ddp, tdm_ddp_statistics* out);
/* Bytes of bucket `index`, in the order of exchange, and the names of its parameters. Either may be NULL. Free
 * *names with tdm_strings_free(). Errors: TDM_ERROR_OUT_OF_RANGE. */
TDM_API tdm_error* tdm_ddp_get_bucket(const tdm_ddp* ddp, int64_t index, TDM_NULLABLE int64_t* bytes,
                                      TDM_NULLABLE tdm_strings** names);
/* Keeps the times of every so many iterations; 1 at first. */
TDM_API tdm_error* tdm_ddp_set_statistics_sample_rate(tdm_ddp* ddp, int64_t iterations);
/* The statistics as text, for people. Free with tdm_string_free(). */
TDM_API tdm_error* tdm_ddp_statistics_table(const tdm_ddp* ddp, tdm_string** out);
/* Every so many iterations, the exchange waits until backward has computed, all ranks wait for each other, and buckets
 * are exchanged one after the other: that tells what a step costs without an exchange, and an exchange without a step.
 * The gradients are the same. 0 at first: never, nor in a join. All ranks call it with the same number, before the
 * same forward. TDM_ERROR_UNSUPPORTED on GPUs. */
TDM_API tdm_error* tdm_ddp_set_separate_exchanges(tdm_ddp* ddp, int64_t every);

/* One iteration: from the first forward to the averaged gradients of the backward that follows. Times are nanoseconds.
 * What is in `total` and in no other part of it is the program's own between forward and backward. */
typedef struct tdm_ddp_iteration {
  size_t struct_size;
  int64_t number;             /* of those that exchanged gradients, from 0 */
  int64_t separate;           /* 1: see tdm_ddp_set_separate_exchanges() */
  int64_t begun;              /* on CLOCK_MONOTONIC */
  int64_t forward_exchange;   /* before the module's forward: buffers, and who is there */
  int64_t forward;            /* of the module; of several before one backward, together */
  int64_t backward_begun;     /* since `begun`: the first gradient of an output */
  int64_t backward;           /* computing: from then to the last gradient of a parameter */
  int64_t wait;               /* from then until all averages are there */
  int64_t total;
  int64_t communication;      /* how long at least one bucket was under way */
  int64_t bucket_count;
} tdm_ddp_iteration;
#define TDM_DDP_ITERATION_INIT { sizeof(tdm_ddp_iteration), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }
TDM_API void tdm_ddp_iteration_init(tdm_ddp_iteration* made, size_t struct_size);
/* How many iterations are kept: of the last 256; 0 on GPUs. */
TDM_API tdm_error* tdm_ddp_get_iteration_count(const tdm_ddp* ddp, int64_t* out);
/* Of those that are kept, oldest first. Errors: TDM_ERROR_OUT_OF_RANGE. */
TDM_API tdm_error* tdm_ddp_get_iteration(const tdm_ddp* ddp, int64_t index, tdm_ddp_iteration* out);
/* A bucket of such an iteration, in the order in which they began: its bytes, and when its gradients and their averages
 * were there, since the iteration's begin. Errors: TDM_ERROR_OUT_OF_RANGE. */
TDM_API tdm_error* tdm_ddp_get_iteration_bucket(const tdm_ddp* ddp, int64_t index, int64_t bucket, int64_t* bytes,
                                                int64_t* begun, int64_t* done);

/* Which bucket sizes tdm_ddp_try_bucket_sizes() compares, and how thoroughly. */
typedef struct tdm_bucket_trial_options {
  size_t struct_size;
  TDM_NULLABLE const double* sizes_mb; /* as bucket_cap_mb; NULL: 0, 1, 5, 10, 25, 50 and 100 */
  size_t size_count;
  int64_t iterations;         /* measured of each size in a round, after two that are not */
  int64_t rounds;             /* after each, sizes that are clearly slower than the best are given up */
} tdm_bucket_trial_options;
#define TDM_BUCKET_TRIAL_OPTIONS_INIT { sizeof(tdm_bucket_trial_options), NULL, 0, 4, 6 }
TDM_API void tdm_bucket_trial_options_init(tdm_bucket_trial_options* made, size_t struct_size);

/* Finds the quickest bucket size while training goes on: uses each for a few iterations, several times over, and keeps
 * the one with the shortest step, on all ranks the same. Begins when the order of gradients is known, after the second
 * iteration. Statistics begin anew when it ends. All ranks call it together, between two iterations, and make the same
 * forwards until it is done. Errors: TDM_ERROR_INVALID_ARGUMENT (in a join, while sizes are tried),
 * TDM_ERROR_UNSUPPORTED on GPUs and with a communication hook. */
TDM_API tdm_error* tdm_ddp_try_bucket_sizes(tdm_ddp* ddp, const tdm_bucket_trial_options* options);

typedef struct tdm_bucket_advice {
  size_t struct_size;
  int64_t done;
  double bucket_cap_mb;       /* in use; after the trial the quickest */
  int64_t trial_count;        /* sizes that make the same buckets are tried once, as the first of them */
} tdm_bucket_advice;
#define TDM_BUCKET_ADVICE_INIT { sizeof(tdm_bucket_advice), 0, 0.0, 0 }
TDM_API void tdm_bucket_advice_init(tdm_bucket_advice* made, size_t struct_size);
/* How the last trial stands. */
TDM_API tdm_error* tdm_ddp_get_bucket_advice(const tdm_ddp* ddp, tdm_bucket_advice* out);
/* A size of the last trial: how many buckets it makes, and its step in nanoseconds, the mean over ranks of the median;
 * 0: not known yet. Errors: TDM_ERROR_OUT_OF_RANGE. */
TDM_API tdm_error* tdm_ddp_get_bucket_trial(const tdm_ddp* ddp, int64_t index, double* bucket_cap_mb, int64_t* buckets,
                                            int64_t* step);

/* Has a BatchNorm1d, 2d or 3d, or all in a network, with its parameters and buffers, normalize over the batches of all
 * ranks of `group` together, which then call its forward and backward together while it trains. Holds the group.
 * Errors: TDM_ERROR_INVALID_ARGUMENT for a module that has none. Source: torch.nn.SyncBatchNorm. */
TDM_API tdm_error* tdm_module_synchronize_batch_norm(tdm_module* module, tdm_process_group* group);

/* One process trains on several devices, or on several cores of the CPU as if they were devices: replicas of a module
 * compute parts of the batch, each on a thread of its own. Source: torch.nn.DataParallel. */
typedef struct tdm_data_parallel_options {
  size_t struct_size;
  int32_t replicas;          /* 0: one for each device, on the CPU one for each of tdm_get_num_threads() */
  int32_t threads;           /* that an operator of a replica uses on the CPU; 0: tdm_get_num_threads(), shared */
  tdm_device device;         /* where the module is */
  TDM_NULLABLE const tdm_device*
      devices; /* GPUs, one for each replica, the module's first; NULL: those of the process */
  size_t device_count;
  int64_t dim;               /* of the batch, in inputs and in outputs */
} tdm_data_parallel_options;
#define TDM_DATA_PARALLEL_OPTIONS_INIT \
  { sizeof(tdm_data_parallel_options), 0, 0, { TDM_DEVICE_CPU, -1 }, NULL, 0, 0 }
TDM_API void tdm_data_parallel_options_init(tdm_data_parallel_options* made, size_t struct_size);

/* Errors: TDM_ERROR_INVALID_ARGUMENT for what does not fit together, TDM_ERROR_UNSUPPORTED for a GPU that is not there.
 * Free with tdm_data_parallel_free(); the threads end when the graphs of its forwards are gone, too. */
TDM_API tdm_error* tdm_data_parallel_create(const tdm_data_parallel_options* options, tdm_data_parallel** out);
TDM_API TDM_BLOCKS void tdm_data_parallel_free(tdm_data_parallel* data_parallel);
/* The number of replicas; 0 for NULL. */
TDM_API TDM_THREAD_SAFE int32_t tdm_data_parallel_replicas(const tdm_data_parallel* data_parallel);

/* What a replica's function is given. */
typedef struct tdm_replica_call {
  size_t struct_size;
  int64_t replica;
  TDM_NULLABLE_ELEMENTS tdm_tensor* const* inputs; /* this replica's part of each; NULL where there is none */
  size_t input_count;
  TDM_MAYBE tdm_tensor** outputs; /* NULL at first: handles that stay the callback's, NULL for one that is not there */
  size_t output_room;
  size_t* output_count;      /* 0 at first: how many there are */
} tdm_replica_call;

/* A module and its replicas: copies with tensors of their own, as tdm_module_clone() makes them, in the same order. For
 * the length of a call, and until the graph of its results is gone, they belong to Tandem, which has the parameters of
 * all share the memory of the module's, as far as they are on one device, and gives the buffers of all but the first
 * replica the values of the module's. So calls before the first one's backward need replicas of their own. */
typedef struct tdm_replicas {
  size_t struct_size;
  tdm_tensor* const* parameters;
  size_t parameter_count;
  TDM_COUNT(parameter_count* tdm_data_parallel_replicas::)
  tdm_tensor* const* replica_parameters; /* of the first replica, then of the second, and so on */
  tdm_tensor* const* buffers;
  size_t buffer_count;
  TDM_COUNT(buffer_count* tdm_data_parallel_replicas::) tdm_tensor* const* replica_buffers;
  TDM_CALLED(here) tdm_error* (*forward)(void* user_data, const tdm_replica_call* call);
  void* user_data;
  void (*destroy)(void* user_data); /* called when the replicas are free again */
} tdm_replicas;
#define TDM_REPLICAS_INIT { sizeof(tdm_replicas), NULL, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL }
TDM_API void tdm_replicas_init(tdm_replicas* made, size_t struct_size);

/* Splits the inputs, which may be NULL, along `dim` as aten::chunk does (those without a dimension go to every replica),
 * calls `forward` for each replica that has a part, at the same time, each on a thread of its own with the modes of this
 * one and in a scope of its own, and joins the outputs along `dim` (those without a dimension become a vector). Gradients
 * are summed in the order of replicas; on the CPU each replica's part of backward runs on its thread, callbacks too.
 * result_count: in, room; out, the number of results, each freed with tdm_tensor_free(); NULL for an output that no
 * replica gave. From any thread: callers take turns. Blocks while replicas compute.
 * Errors: TDM_ERROR_INVALID_ARGUMENT (inputs that differ along `dim`, replicas that are no copies, a tensor that requires
 * a gradient and is neither a parameter nor an input), TDM_ERROR_CALLBACK and those of LibTorch, which say which replica
 * failed, and what it was given. */
TDM_API TDM_BLOCKS TDM_THREAD_SAFE tdm_error* tdm_data_parallel_forward(
    tdm_data_parallel* data_parallel, const tdm_replicas* replicas, TDM_NULLABLE_ELEMENTS tdm_tensor* const* inputs,
    size_t input_count, TDM_MAYBE tdm_tensor** results, TDM_INOUT size_t* result_count);

/* Averages models over ranks now and then, instead of gradients each step: every `period` steps from step `warmup_steps`
 * on. Free with tdm_model_averager_free(). Source: torch.distributed.algorithms.model_averaging. */
TDM_API tdm_error* tdm_periodic_model_averager_create(tdm_process_group* group, int64_t period, int64_t warmup_steps,
                                                      tdm_model_averager** out);
/* Over larger groups less often: this rank's group for each period, periods and sizes rising. Where several periods
 * divide a step, the largest counts. */
TDM_API tdm_error* tdm_hierarchical_model_averager_create(const int64_t* periods, tdm_process_group* const* groups,
                                                          size_t count, int64_t warmup_steps, tdm_model_averager** out);
TDM_API void tdm_model_averager_free(tdm_model_averager* averager);
/* Call once a step, after the optimizer's. *averaged, which may be NULL, tells whether this was a step to average in.
 * Blocks. */
TDM_API TDM_BLOCKS tdm_error* tdm_model_averager_average(tdm_model_averager* averager, tdm_tensor* const* parameters,
                                                         size_t parameter_count, TDM_NULLABLE int32_t* averaged);
/* An optimizer that steps `optimizer` and then averages its parameters; "averager.step" is part of its state. Holds both.
 * Free with tdm_optimizer_free(). Source: torch.distributed.optim.PostLocalSGDOptimizer. */
TDM_API tdm_error* tdm_post_local_sgd_optimizer_create(tdm_optimizer* optimizer, tdm_model_averager* averager,
                                                       tdm_optimizer** out);

/* An optimizer as tdm_optimizer_create() makes it, whose state is spread over the ranks: each updates its share of the
 * parameters and sends them to the others, so that tdm_optimizer_step() blocks and all ranks call it. Its state is this
 * rank's share until the next function; loading takes the whole. Holds the group. Free with tdm_optimizer_free().
 * Source: torch.distributed.optim.ZeroRedundancyOptimizer. */
TDM_API tdm_error* tdm_zero_redundancy_optimizer_create(tdm_process_group* group, const char* type,
                                                        tdm_tensor* const* parameters, size_t parameter_count,
                                                        const tdm_option* options, size_t option_count,
                                                        tdm_optimizer** out);
/* Has rank `to` hold the whole state, for tdm_optimizer_state() there, until the next step. All ranks call it. Blocks.
 * Errors: TDM_ERROR_INVALID_ARGUMENT for an optimizer of another kind. */
TDM_API TDM_BLOCKS tdm_error* tdm_zero_redundancy_optimizer_consolidate(tdm_optimizer* optimizer, int32_t to);

/* Hogwild!: puts these tensors, in place, into memory that all processes of `tandem run --shared-parameters` have (without a
 * launcher: all threads of this one). Each steps an optimizer of its own on them, without locks; moments and momentum are its
 * process's. Local rank 0's values are what all begin with, and *made, which may be NULL, is then 1 there; who comes later gets what they
 * are by then. `model` tells several of one program apart (NULL: ""). Waits up to timeout_ms for local rank 0. All or nothing.
 * Errors: TDM_ERROR_INVALID_ARGUMENT names the first tensor that another process has otherwise, one that cannot be shared, or
 * says that there is no such memory; TDM_ERROR_UNSUPPORTED for tensors that are not dense or not on the CPU;
 * TDM_ERROR_TIMEOUT; TDM_ERROR_OUT_OF_MEMORY. Source: torch.nn.Module.share_memory. */
TDM_API TDM_BLOCKS tdm_error* tdm_share_parameters(const char* const* names, tdm_tensor* const* tensors, size_t count,
                                                   TDM_NULLABLE const char* model, int64_t timeout_ms,
                                                   TDM_NULLABLE int32_t* made);

/* --------------------------------------------------------------------------------------------------- device meshes */

/* A grid of the ranks of `world`, in row-major order, with a name for each of `dimension_count` dimensions and a group of
 * the ranks along each. All ranks call it, with the same arguments. Holds the group. Blocks. Errors, on all ranks:
 * TDM_ERROR_INVALID_ARGUMENT for a shape whose product is not the group's size, for names that are empty or given twice,
 * and where ranks differ; those of tdm_process_group_split(). Free with tdm_device_mesh_free().
 * Source: torch.distributed.device_mesh.init_device_mesh. */
TDM_API TDM_BLOCKS tdm_error* tdm_device_mesh_create(tdm_process_group* world, const int64_t* shape,
                                                     const char* const* names, size_t dimension_count,
                                                     tdm_device_mesh** out);
TDM_API TDM_BLOCKS void tdm_device_mesh_free(tdm_device_mesh* mesh);
TDM_API int64_t tdm_device_mesh_dimensions(const tdm_device_mesh* mesh);
/* Of a dimension, from 0: its name, which lives as long as the mesh, NULL for a dimension that there is not; how many ranks
 * there are along it (0); this rank's place along it (-1). */
TDM_API const char* tdm_device_mesh_name(const tdm_device_mesh* mesh, int64_t dimension);
TDM_API int64_t tdm_device_mesh_size(const tdm_device_mesh* mesh, int64_t dimension);
TDM_API int64_t tdm_device_mesh_coordinate(const tdm_device_mesh* mesh, int64_t dimension);
/* The group of the ranks that differ from this one in that coordinate alone, numbered by it. Free the handle with
 * tdm_process_group_free(): the group itself ends with the meshes that have it, and whatever holds it. Errors:
 * TDM_ERROR_NOT_FOUND for a name that the mesh lacks. */
TDM_API tdm_error* tdm_device_mesh_group(const tdm_device_mesh* mesh, const char* name, tdm_process_group** out);
/* The mesh of some dimensions, in this one's order, with this rank's coordinates along the others. Shares the groups, and
 * asks no other rank. Errors: TDM_ERROR_NOT_FOUND as above; TDM_ERROR_INVALID_ARGUMENT for another order. */
TDM_API tdm_error* tdm_device_mesh_submesh(const tdm_device_mesh* mesh, const char* const* names, size_t name_count,
                                           tdm_device_mesh** out);
/* All its dimensions as one, with a group of all its ranks. All ranks of the first mesh's world call it, on meshes of the
 * same dimensions. Blocks. Errors: those of tdm_process_group_split(). */
TDM_API TDM_BLOCKS tdm_error* tdm_device_mesh_flatten(const tdm_device_mesh* mesh, const char* name,
                                                      tdm_device_mesh** out);

/* ------------------------------------------------------------------------------------------------------- pipelines */

/* What a stage's function is given: one micro-batch. */
typedef struct tdm_pipeline_call {
  size_t struct_size;
  int64_t stage;
  TDM_NULLABLE_ELEMENTS tdm_tensor* const* inputs; /* of the loss: what the last stage gave */
  size_t input_count;
  tdm_tensor* const* targets; /* of the loss; a stage has none */
  size_t target_count;
  TDM_MAYBE tdm_tensor** outputs; /* NULL at first: handles that stay the callback's; of the loss one, of one number */
  size_t output_room;
  size_t* output_count;      /* 0 at first: how many there are */
} tdm_pipeline_call;

typedef struct tdm_pipeline_options {
  size_t struct_size;
  TDM_NULLABLE const char* schedule; /* "gpipe", "1f1b" or "interleaved1f1b"; NULL: "1f1b" */
  int32_t micro_batches;     /* that a batch is cut into, as by aten::tensor_split */
  int32_t stages_per_rank;   /* rank r has the stages r, r + the group's size, and so on */
  int32_t average_losses;    /* losses are means over rows, and so is that of the batch; 0: they are added */
  int32_t broadcast_buffers; /* from the first replica; of replicas, as the last three */
  tdm_device device;         /* of the tensors that stages of this rank are given by others */
  TDM_NULLABLE tdm_process_group*
      replicas;              /* the ranks that have the same stages in other pipelines; NULL: there are none */
  TDM_NULLABLE tdm_process_group* everyone; /* all ranks of all of these pipelines; NULL where replicas is */
  double bucket_cap_mb;      /* this and the next: as of tdm_ddp_options */
  int32_t find_unused_parameters;
  int32_t gradient_as_bucket_view;
  TDM_NULLABLE const char* fault; /* what this rank found wrong before it could give its stages; NULL: nothing. All ranks
                                     fail with it, and none waits for this one */
  int32_t fault_code;        /* a tdm_error_code; 0: TDM_ERROR_INVALID_ARGUMENT */
} tdm_pipeline_options;
#define TDM_PIPELINE_OPTIONS_INIT \
  { sizeof(tdm_pipeline_options), NULL, 1, 1, 1, 1, { TDM_DEVICE_CPU, -1 }, NULL, NULL, 25.0, 0, 0, NULL, 0 }
TDM_API void tdm_pipeline_options_init(tdm_pipeline_options* made, size_t struct_size);

/* A model cut into stages on the ranks of `group`, trained on batches that are cut into micro-batches. `parameters` and
 * `buffers` are those of this rank's stages: stages[i] has parameter i. No two stages have a parameter of the same name but
 * those for which tied[i] is 1 on all of them, which are one: they begin with the lowest stage's values and get the sum of
 * their gradients; NULL: none is. sparse[i] is 1 for those with sparse gradients; NULL: none has. Buffers have names
 * likewise, and those of tied_buffers begin alike. `forward` computes a stage, `loss` on the rank of the last stage the loss of a
 * micro-batch: NULL elsewhere. Both are called within the three functions below, on their thread. Holds the tensors and
 * the groups. Blocks: what ranks give is compared. Errors, on all ranks: TDM_ERROR_INVALID_ARGUMENT naming the rank
 * whose schedule, stages or parameters do not fit the others'. Free with tdm_pipeline_free().
 * Source: torch.distributed.pipelining. */
TDM_API TDM_BLOCKS tdm_error* tdm_pipeline_create(
    tdm_process_group* group, tdm_tensor* const* parameters, const char* const* names, const int32_t* stages,
    TDM_NULLABLE const uint8_t* tied, TDM_NULLABLE const uint8_t* sparse, size_t parameter_count,
    tdm_tensor* const* buffers, const char* const* buffer_names, const int32_t* buffer_stages,
    TDM_NULLABLE const uint8_t* tied_buffers, size_t buffer_count, const tdm_pipeline_options* options,
    TDM_CALLED(here) tdm_error* (*forward)(void* user_data, const tdm_pipeline_call* call),
    TDM_CALLED(here) TDM_NULLABLE tdm_error* (*loss)(void* user_data, const tdm_pipeline_call* call), void* user_data,
    void (*destroy)(void* user_data), tdm_pipeline** out);
TDM_API void tdm_pipeline_free(tdm_pipeline* pipeline);
/* Forward and backward of a batch: adds to the gradients of the stages' parameters those of one process on the whole
 * batch. `inputs` are the first stage's, `targets` the last one's; other ranks give none. *loss is the batch's, on all
 * ranks; with replicas the mean of theirs. Blocks. A micro-batch that fails has all ranks fail with the same error, which
 * names stage, micro-batch and rank; without replicas the next step can be made. */
TDM_API TDM_BLOCKS tdm_error* tdm_pipeline_step(tdm_pipeline* pipeline, tdm_tensor* const* inputs, size_t input_count,
                                                tdm_tensor* const* targets, size_t target_count, double* loss);
/* The loss alone, without gradients. */
TDM_API TDM_BLOCKS tdm_error* tdm_pipeline_evaluate(tdm_pipeline* pipeline, tdm_tensor* const* inputs,
                                                    size_t input_count, tdm_tensor* const* targets,
                                                    size_t target_count, double* loss);
/* Forward alone, without gradients: on the rank of the last stage its outputs for the batch, elsewhere none.
 * result_count: in, room; out, the number of results, each freed with tdm_tensor_free(). */
TDM_API TDM_BLOCKS tdm_error* tdm_pipeline_forward(tdm_pipeline* pipeline, tdm_tensor* const* inputs,
                                                   size_t input_count, tdm_tensor** results,
                                                   TDM_INOUT size_t* result_count);
/* Whether this rank is the one that saves a parameter or buffer of its stages to a checkpoint, which then holds the whole
 * model under its own names: of a tied one the lowest stage's rank does, and of replicas the first. is_spread: where each
 * replica has a part of its own, as of what tdm_zero_redundancy_optimizer_create()'s remembers, all of them do. *saves: 1
 * or 0. */
TDM_API tdm_error* tdm_pipeline_saves(const tdm_pipeline* pipeline, const char* name, int32_t is_spread, int32_t* saves);

typedef struct tdm_pipeline_split_options {
  size_t struct_size;
  int32_t stages_per_rank;
  int32_t repeats; /* measurements, of which the median counts; one more goes before them */
  TDM_NULLABLE tdm_process_group* everyone; /* all ranks of all replicas of the pipeline, cut alike; NULL: there are none */
  TDM_NULLABLE const char* fault; /* why this rank cannot give its layers; NULL: it can. All ranks fail with it */
  int32_t fault_code;             /* a tdm_error_code; 0: TDM_ERROR_INVALID_ARGUMENT */
} tdm_pipeline_split_options;
#define TDM_PIPELINE_SPLIT_OPTIONS_INIT { sizeof(tdm_pipeline_split_options), 1, 5, NULL, NULL, 0 }
TDM_API void tdm_pipeline_split_options_init(tdm_pipeline_split_options* made, size_t struct_size);
/* Where to cut a model of `layer_count` layers in a row into stages that take about the same time, stages_per_rank for
 * each rank of `group`: stage i begins with layer first_layers[i]. All ranks call it; rank 0 of all alone needs inputs and
 * targets, a micro-batch: it measures forward and backward of each layer, and all take its answer. `forward` computes
 * layer `stage` of its call, `loss` the loss after the last one: NULL leaves it out. Both are called within this call, on
 * rank 0. `tensors`: the layers' parameters, whose gradients, and buffers, whose values are afterwards what they were, as
 * are the CPU's random numbers. first_layers: stages_per_rank times the group's size. Blocks. Errors, on all ranks: what a
 * layer fails of, with its number, and TDM_ERROR_INVALID_ARGUMENT for fewer layers than stages, and for ranks that give
 * other numbers of them. Source: torchgpipe's balance_by_time. */
TDM_API TDM_BLOCKS tdm_error* tdm_pipeline_split_by_time(
    tdm_process_group* group, int64_t layer_count, tdm_tensor* const* tensors, size_t tensor_count,
    tdm_tensor* const* inputs, size_t input_count, tdm_tensor* const* targets, size_t target_count,
    TDM_NULLABLE const tdm_pipeline_split_options* options,
    TDM_CALLED(here) tdm_error* (*forward)(void* user_data, const tdm_pipeline_call* call),
    TDM_CALLED(here) TDM_NULLABLE tdm_error* (*loss)(void* user_data, const tdm_pipeline_call* call), void* user_data,
    void (*destroy)(void* user_data), int64_t* first_layers, TDM_INOUT size_t* stage_count);

/* ------------------------------------------------------------------------------------------ checkpoints of a training */

/* A folder that gets one folder a save, of safetensors files and JSON that Python reads as they are; docs/checkpoints.md
 * says what stands where. A save writes under a temporary name, syncs, renames, and only then has the file `latest` name
 * it, so that whatever ends a save early, the one before loads. With a group all ranks make the same calls in the same
 * order, in a folder that all of them see, and all of them get an error where one failed. One thread at a time. */
typedef struct tdm_checkpoint_folder_options {
  size_t struct_size;
  int64_t keep; /* how many checkpoints stay, of the newest; 0: all */
} tdm_checkpoint_folder_options;
#define TDM_CHECKPOINT_FOLDER_OPTIONS_INIT { sizeof(tdm_checkpoint_folder_options), 3 }
TDM_API void tdm_checkpoint_folder_options_init(tdm_checkpoint_folder_options* made, size_t struct_size);

/* The folder itself is made with the first save. Holds the group, NULL for one process. Free with
 * tdm_checkpoint_folder_free(), which waits as tdm_checkpoint_folder_close() does. */
TDM_API tdm_error* tdm_checkpoint_folder_create(const char* path, const tdm_checkpoint_folder_options* options,
                                                TDM_NULLABLE tdm_process_group* group, tdm_checkpoint_folder** out);
TDM_API TDM_BLOCKS void tdm_checkpoint_folder_free(tdm_checkpoint_folder* folder);
TDM_API const char* tdm_checkpoint_folder_path(const tdm_checkpoint_folder* folder); /* lives as long as the folder */

/* A tensor that is saved. */
typedef struct tdm_checkpoint_tensor {
  const char* section; /* such as "model"; files are called after it: letters, digits, '_' and '-' */
  const char* name;
  tdm_tensor* tensor;
  int32_t own;  /* 0: the same on all ranks, rank 0's is written; 1: this rank's alone, as ZeRO's state */
  int32_t ndim; /* of whole and begin, which make an own tensor a part of a larger one; 0: it is no part */
  TDM_COUNT(ndim) const int64_t* whole; /* sizes of the larger one, of which all ranks' parts together are all */
  TDM_COUNT(ndim) const int64_t* begin; /* where in it this part begins */
} tdm_checkpoint_tensor;

/* `step`: how far training has come, from 0; a checkpoint of the same step is replaced. `values`: JSON of rank 0, kept
 * letter by letter; NULL: "{}".
 * Errors: TDM_ERROR_IO (the disk is full, or fails), TDM_ERROR_NOT_FOUND (the folder above is missing),
 * TDM_ERROR_INVALID_ARGUMENT (a name given twice, a dtype that safetensors lacks, values that are no JSON, parts that do
 * not make up a tensor), and those of collectives. */
TDM_API TDM_BLOCKS tdm_error* tdm_checkpoint_folder_save(tdm_checkpoint_folder* folder, int64_t step,
                                                         const tdm_checkpoint_tensor* tensors, size_t tensor_count,
                                                         TDM_NULLABLE const char* values);
/* The same beside training: returns as soon as all is copied into memory, which later saves use again. Waits for the save
 * before; where that failed, gives its error and saves nothing. Ranks exchange what they need by a group of its own. */
TDM_API TDM_BLOCKS tdm_error* tdm_checkpoint_folder_save_async(tdm_checkpoint_folder* folder, int64_t step,
                                                               const tdm_checkpoint_tensor* tensors,
                                                               size_t tensor_count, TDM_NULLABLE const char* values);
/* Instead of one of these, by a rank that cannot make what it would save; `beside`: 1 instead of the second. The other
 * ranks, which save, are told `reason` with this rank's number in front, and nobody saves. Errors: TDM_ERROR_CALLBACK
 * with the reason, always, unless the ranks cannot be told, and those of collectives. */
TDM_API TDM_BLOCKS tdm_error* tdm_checkpoint_folder_save_failed(tdm_checkpoint_folder* folder, int64_t step,
                                                                int32_t beside, const char* reason);
/* Whether a save goes on. */
TDM_API int32_t tdm_checkpoint_folder_saving(const tdm_checkpoint_folder* folder);
/* Until it does not; its error, once. */
TDM_API TDM_BLOCKS tdm_error* tdm_checkpoint_folder_wait(tdm_checkpoint_folder* folder);
/* The same before the folder is freed: but a save that waits for another rank is ended as by
 * tdm_checkpoint_folder_abort() once that rank's process has not run for some ten seconds, for it is stopped, or gone. */
TDM_API TDM_BLOCKS tdm_error* tdm_checkpoint_folder_close(tdm_checkpoint_folder* folder);
/* Ends a save beside training that waits for other ranks, with an error (TDM_ERROR_ABORTED) that names those who are
 * missing: a rank that is stopped would hold it up until the group's timeout. So does the end of the group. Afterwards
 * nothing can be saved beside training. */
TDM_API TDM_THREAD_SAFE tdm_error* tdm_checkpoint_folder_abort(tdm_checkpoint_folder* folder);

/* The steps of the checkpoints that are there, rising. step_count: in, room; out, how many there are; where that is more
 * than there was room for, only so many are written. */
TDM_API TDM_BLOCKS tdm_error* tdm_checkpoint_folder_steps(const tdm_checkpoint_folder* folder, int64_t* steps,
                                                          TDM_INOUT size_t* step_count);

/* The newest checkpoint that is whole, or with `step` from 0 that one; -1: the newest. Of the given sections; none: all.
 * *out is NULL where none was ever saved. Every byte is compared with its checksum. One that is torn, flipped or
 * unreadable on any rank is left out by all ranks for the one before: tdm_checkpoint_refused() says why. Free *out with
 * tdm_checkpoint_free(). Errors: TDM_ERROR_DATA_LOSS where no whole one is left, or the one that was asked for is not;
 * TDM_ERROR_NOT_FOUND where that is not there. */
TDM_API TDM_BLOCKS tdm_error* tdm_checkpoint_folder_load(tdm_checkpoint_folder* folder, int64_t step,
                                                         const char* const* sections, size_t section_count,
                                                         TDM_MAYBE tdm_checkpoint** out);

/* What of a checkpoint is read; files without any of it are not. */
typedef struct tdm_checkpoint_selection {
  size_t struct_size;
  int64_t step;                /* -1: the newest */
  const char* const* sections; /* none: all */
  size_t section_count;
  const char* const* without;  /* sections that are left out, whether they are there or not */
  size_t without_count;
  const char* const* prefixes; /* of tensors' names; none: all */
  size_t prefix_count;
} tdm_checkpoint_selection;
#define TDM_CHECKPOINT_SELECTION_INIT { sizeof(tdm_checkpoint_selection), -1, NULL, 0, NULL, 0, NULL, 0 }
TDM_API void tdm_checkpoint_selection_init(tdm_checkpoint_selection* made, size_t struct_size);
/* tdm_checkpoint_folder_load() of a part; NULL: all of the newest. */
TDM_API TDM_BLOCKS tdm_error* tdm_checkpoint_folder_load_part(tdm_checkpoint_folder* folder,
                                                              TDM_NULLABLE const tdm_checkpoint_selection* selection,
                                                              TDM_MAYBE tdm_checkpoint** out);
/* Tells the other ranks whether this one could use what was loaded: `failure` says why not, NULL that it could. All ranks
 * call it. Where any failed it is an error (TDM_ERROR_CALLBACK) on all of them, which on the others has the rank's number
 * in front. */
TDM_API TDM_BLOCKS tdm_error* tdm_checkpoint_folder_agree(tdm_checkpoint_folder* folder,
                                                          TDM_NULLABLE const char* failure);
TDM_API void tdm_checkpoint_free(tdm_checkpoint* checkpoint);
TDM_API int64_t tdm_checkpoint_step(const tdm_checkpoint* checkpoint);
TDM_API int32_t tdm_checkpoint_world_size(const tdm_checkpoint* checkpoint); /* ranks that saved it */
TDM_API const char* tdm_checkpoint_values(const tdm_checkpoint* checkpoint); /* lives as long as the checkpoint */
/* Why later checkpoints were not used, newest first. Free *out with tdm_strings_free(). */
TDM_API tdm_error* tdm_checkpoint_refused(const tdm_checkpoint* checkpoint, tdm_strings** out);
/* Free *out with tdm_strings_free(). */
TDM_API tdm_error* tdm_checkpoint_sections(const tdm_checkpoint* checkpoint, tdm_strings** out);
/* Whole tensors, of all ranks' files. Free *out with tdm_named_tensors_free(). Errors: TDM_ERROR_NOT_FOUND. */
TDM_API tdm_error* tdm_checkpoint_tensors(const tdm_checkpoint* checkpoint, const char* section,
                                          tdm_named_tensors** out);

/* ----------------------------------------------------------------------------------------------- elastic training */

/* Ranks come and go while a program trains, in the same processes, under `tandem run`; docs/elastic.md says what happens
 * when. Front ends have a function that does what follows; a program in C goes like this:
 *
 *   tdm_elastic_commit(run, …);                        what training begins with
 *   for (;;) {
 *     tdm_elastic_meet(run, &group);                   NULL: nobody needs this process
 *     tdm_elastic_committed(run, &state);              fill the model with it
 *     … train with that group; after each step:
 *         tdm_elastic_step(run, &next);                commit where it says so, stop where it says so
 *     where something failed, tdm_elastic_has_ended(run, &ended) says whether the next is to meet again
 *   }
 *   tdm_elastic_done(run);
 *
 * One thread at a time, but for tdm_elastic_notify() and tdm_elastic_abort(). */
typedef struct tdm_elastic_options {
  size_t struct_size;
  int64_t commit_every;                 /* steps: what a failure costs at most, against a copy of the state in memory */
  TDM_NULLABLE const char* checkpoints; /* a folder that all ranks see: where nobody is left who has a commit, training
                                           goes on from its newest checkpoint; NULL: none */
  int64_t checkpoint_every;             /* steps, a multiple of commit_every; 0: none are written */
  int32_t checkpoints_kept;             /* 0: all */
  int32_t has_seed; /* 1: random numbers of LibTorch's generators for the CPU and the group's device are those of
                       (seed, step, rank) in each step, so that a step that is made again draws what it drew before */
  uint64_t seed;
  int64_t check_every; /* steps, a multiple of commit_every, after which ranks compare the parameters that they are about to
                          commit (tensors that require a gradient); 0: never. tdm_elastic_commit() fails with
                          TDM_ERROR_DATA_LOSS where they differ: on a rank that has others than most, for good; on the
                          others so that tdm_elastic_has_ended(); where there is no majority, on all, for good */
} tdm_elastic_options;
#define TDM_ELASTIC_OPTIONS_INIT { sizeof(tdm_elastic_options), 10, NULL, 0, 3, 0, 0, 0 }
TDM_API void tdm_elastic_options_init(tdm_elastic_options* made, size_t struct_size);

/* Connects to the launcher's agent. Without one (torchrun, or no launcher) there is one membership epoch, of the ranks
 * that the environment names, or of one. `group`: backend, timeout, device and interface of the groups to come (NULL: gloo);
 * rank, size and init_method are the job's. Free with tdm_elastic_free(), to the others a loss where tdm_elastic_done() or
 * tdm_elastic_left() was not called. Errors: TDM_ERROR_INVALID_ARGUMENT, TDM_ERROR_IO where the agent cannot be reached. */
TDM_API TDM_BLOCKS tdm_error* tdm_elastic_create(TDM_NULLABLE const tdm_process_group_options* group,
                                                 const tdm_elastic_options* options, tdm_elastic** out);
TDM_API TDM_BLOCKS void tdm_elastic_free(tdm_elastic* elastic);

/* Copies what training goes on with, at the step that tdm_elastic_step() has come to. The same tensors on all ranks; those
 * that are own stay with their process, are in no checkpoint, and are no parts of larger ones. `values`: JSON; NULL: "{}".
 * Where a checkpoint is due it is written beside the steps that follow. Where the disk fails that, training goes on without it
 * and a line on stderr says so, once a checkpoint was written or loaded; before that, and of what else writing fails of, it is
 * a later call's error: TDM_ERROR_IO, TDM_ERROR_NOT_FOUND. */
TDM_API TDM_BLOCKS tdm_error* tdm_elastic_commit(tdm_elastic* elastic, const tdm_checkpoint_tensor* tensors,
                                                 size_t tensor_count, TDM_NULLABLE const char* values);
/* What the last commit has, or what tdm_elastic_meet() brought: tensors whose memory the next commit overwrites. Free *out
 * with tdm_checkpoint_free(). */
TDM_API tdm_error* tdm_elastic_committed(const tdm_elastic* elastic, tdm_checkpoint** out);
/* Waits for the next membership epoch, connects its ranks and brings all of them the newest commit that one of them has.
 * *out is NULL where the training came to its end without this process, or where tdm_elastic_has_left(). Free it with tdm_process_group_free(), which does
 * not close the group: that ends with its epoch. Errors: TDM_ERROR_INVALID_ARGUMENT (no commit, or a state with other names or shapes than the others'),
 * TDM_ERROR_DATA_LOSS, TDM_ERROR_PEER_LOST (the launcher is gone), TDM_ERROR_UNSUPPORTED (to meet again without one). */
TDM_API TDM_BLOCKS tdm_error* tdm_elastic_meet(tdm_elastic* elastic, TDM_MAYBE tdm_process_group** out);
TDM_API int64_t tdm_elastic_epoch(const tdm_elastic* elastic); /* of the membership, from 1; 0: none yet */
TDM_API int64_t tdm_elastic_steps(const tdm_elastic* elastic); /* completed since the job began, by whatever ranks */

typedef int32_t tdm_elastic_next;
enum {
  TDM_ELASTIC_NEXT_GO_ON = 0,
  TDM_ELASTIC_NEXT_COMMIT = 1, /* tdm_elastic_commit(), and go on */
  TDM_ELASTIC_NEXT_STOP = 2,   /* tdm_elastic_commit(), and tdm_elastic_meet(): ranks join or leave */
  TDM_ELASTIC_NEXT_LEAVE = 3   /* tdm_elastic_commit(), and tdm_elastic_left() */
};
/* This rank has completed a step, its optimizer's included. Waits where ranks are about to stop. Errors: TDM_ERROR_ABORTED
 * once the epoch has ended by a failure. */
TDM_API TDM_BLOCKS tdm_error* tdm_elastic_step(tdm_elastic* elastic, tdm_elastic_next* next);
/* Whether training failed because the epoch ended, or its group failed: then tdm_elastic_meet() is next. Waits a moment
 * for what the launcher has to say. */
TDM_API TDM_BLOCKS tdm_error* tdm_elastic_has_ended(tdm_elastic* elastic, int32_t* ended);
/* Training has come to its end. Waits for the checkpoint that is being written; where the one that was due last is not on the
 * disk the last commit is written in its place. Errors: TDM_ERROR_IO, TDM_ERROR_NOT_FOUND where that fails too. */
TDM_API TDM_BLOCKS tdm_error* tdm_elastic_done(tdm_elastic* elastic);
/* This process is to leave soon, as its machine is: tdm_elastic_step() says so at the next step at which all ranks can
 * stop. For a signal's handler, call it from a thread that waits for the signal. */
TDM_API TDM_THREAD_SAFE tdm_error* tdm_elastic_notify(tdm_elastic* elastic);
TDM_API TDM_BLOCKS tdm_error* tdm_elastic_left(tdm_elastic* elastic);
/* Whether tdm_elastic_notify() came while this process waited, and tdm_elastic_meet() ended by that. */
TDM_API int32_t tdm_elastic_has_left(const tdm_elastic* elastic);
/* Ends what waits for other ranks, in these calls and in the group, with TDM_ERROR_ABORTED, and all later ones. */
TDM_API TDM_THREAD_SAFE tdm_error* tdm_elastic_abort(tdm_elastic* elastic);
/* What the launcher says of the job beside its step, such as a loss; up to 200 bytes. */
TDM_API tdm_error* tdm_elastic_describe(tdm_elastic* elastic, const char* text);

/* ------------------------------------------------------------------------------------------- remote procedure calls */

/* Processes of a job call each other: operators of LibTorch, methods of TorchScript's modules, and functions that
 * programs register. Workers trust each other; docs/rpc.md says what that means, and what may be called. Unless it says
 * otherwise a function below is TDM_ERROR_CLOSED outside of tdm_rpc_init() and tdm_rpc_shutdown(). Source:
 * torch.distributed.rpc.
 *
 * Values are NONE, tensors, numbers, STRINGs of any bytes, lists, TUPLEs, DICTs and RREFs, at any depth, as
 * tdm_jit_call() takes and gives them. Tensors come as copies on the CPU, or where the options map their GPU to. */

/* Tensors of calls to a worker that are on the GPU `from` of this machine arrive on its GPU `to`, and results come back the
 * same way: one to one, by as many of these as there are pairs. All workers that have part load CUDA first. Source:
 * TensorPipeRpcBackendOptions.set_device_map. */
typedef struct tdm_rpc_device_map {
  const char* worker;
  tdm_device from;
  tdm_device to;
} tdm_rpc_device_map;

typedef struct tdm_rpc_options {
  size_t struct_size;
  TDM_NULLABLE const char* init_method; /* "env://", "tcp://host:port", "file:///path"; ignored when a store is given */
  int32_t rank;               /* -1: the environment's */
  int32_t world_size;         /* likewise */
  int64_t timeout_ms;         /* of meeting the other workers */
  int64_t rpc_timeout_ms;     /* of a call that names none */
  int64_t most_outstanding;   /* calls of this worker under way at a time; later ones wait for room */
  TDM_NULLABLE const char* address; /* where this worker listens: a numeric address of this machine or a network interface;
                                       NULL: TP_SOCKET_IFNAME, else loopback, which only workers of one host can share */
  int32_t num_worker_threads;  /* functions that others call run at a time, beside those that wait for calls of their own */
  int32_t most_worker_threads; /* those that wait among them; a call that finds no thread is run later, or times out */
  const tdm_rpc_device_map* device_maps;
  size_t device_map_count;
} tdm_rpc_options;
#define TDM_RPC_OPTIONS_INIT { sizeof(tdm_rpc_options), "env://", -1, -1, 300000, 60000, 16384, NULL, 16, 1024, NULL, 0 }
TDM_API void tdm_rpc_options_init(tdm_rpc_options* made, size_t struct_size);

/* Joins the job's workers under a name of its own: 1 to 128 letters, digits, '-', '_' and ':'. Blocks until all have
 * joined; from then on others may call this worker. A process joins once in its life. Errors:
 * TDM_ERROR_INVALID_ARGUMENT (a name that is taken or makes no sense, world sizes that differ, workers of several hosts
 * that listen on loopback), TDM_ERROR_NOT_FOUND (no such interface), TDM_ERROR_TIMEOUT naming the ranks that are missing,
 * TDM_ERROR_UNSUPPORTED for a second time. */
TDM_API TDM_BLOCKS tdm_error* tdm_rpc_init(const char* name, const tdm_rpc_options* options,
                                           TDM_NULLABLE const tdm_store* store);
/* Leaves. graceful: waits until all workers have called it and no call is under way anywhere. Otherwise, or after an
 * error, what is under way fails: here with TDM_ERROR_ABORTED, on others with TDM_ERROR_PEER_LOST. Functions that others
 * called are waited for. timeout_ms 0: that of the options. Does nothing outside of a session. Errors: TDM_ERROR_TIMEOUT
 * naming the workers that have not come, or when functions still run: then it may be called again. */
TDM_API TDM_BLOCKS TDM_THREAD_SAFE tdm_error* tdm_rpc_shutdown(int32_t graceful, int64_t timeout_ms);
TDM_API TDM_THREAD_SAFE int32_t tdm_rpc_is_initialized(void);
/* The names of all workers, in order of id, which are ranks. Free with tdm_strings_free(). */
TDM_API TDM_THREAD_SAFE tdm_error* tdm_rpc_workers(tdm_strings** out);
/* This worker's id. */
TDM_API TDM_THREAD_SAFE tdm_error* tdm_rpc_worker_id(int32_t* out);

/* Gives what a registered function returns, within that function: a copy of `value` is taken. Not called: NONE. */
TDM_API tdm_error* tdm_rpc_result_set(tdm_rpc_result* result, const tdm_value* value);
/* Has workers call `function` by this name, before or after tdm_rpc_init(): on threads of RPC, several at a time, each call
 * in a scope of its own. `arguments` are the callback's, which may take values out by making them NONE; the rest is freed
 * when it returns. An error that it returns its caller gets, with its code. Errors: TDM_ERROR_INVALID_ARGUMENT for a name that
 * is taken, is empty or has "::" in it. */
TDM_API tdm_error* tdm_rpc_register_function(
    const char* name,
    TDM_CALLED(rpc) tdm_error* (*function)(void* user_data, TDM_INOUT tdm_value* arguments, size_t argument_count,
                                           tdm_rpc_result* result),
    void* user_data, void (*destroy)(void* user_data));
/* The methods of a module of TorchScript, as "NAME.METHOD". Holds the module. Errors: as above, and for a module of another
 * type. */
TDM_API tdm_error* tdm_rpc_register_module(const char* name, tdm_module* module);
/* Of a function or module; calls that have begun go on. *existed, which may be NULL: 0 when there was none. */
TDM_API tdm_error* tdm_rpc_unregister(const char* name, TDM_NULLABLE int32_t* existed);

/* For functions that wait for calls of their own by other means than these functions, such as a runtime's own: until
 * tdm_rpc_wait_end() the function that this thread runs does not count among num_worker_threads. 1: that is due, on this
 * thread; 0: it is not, for no such function runs here, or it waits already. */
TDM_API TDM_THREAD_SAFE int32_t tdm_rpc_wait_begin(void);
TDM_API TDM_THREAD_SAFE void tdm_rpc_wait_end(void);

typedef struct tdm_rpc_call_options {
  size_t struct_size;
  int64_t timeout_ms; /* of each try; 0: rpc_timeout_ms of the worker's options */
  int64_t context;    /* of distributed autograd; -1: the thread's, which a function that was called inside of one has */
  int32_t retries;    /* how often a call that had no answer in time is made again: only for those that may happen twice */
} tdm_rpc_call_options;
#define TDM_RPC_CALL_OPTIONS_INIT { sizeof(tdm_rpc_call_options), 0, -1, 0 }
TDM_API void tdm_rpc_call_options_init(tdm_rpc_call_options* made, size_t struct_size);

/* Calls a function on a worker, which may be this one: an operator ("aten::add", or with overload "aten::add.Tensor"),
 * whose arguments are in the order of its schema, or what the worker has registered. *out: what it gives; tdm_value_clear()
 * it. Errors, naming the worker: TDM_ERROR_NOT_FOUND (no such worker or function), TDM_ERROR_TIMEOUT, TDM_ERROR_PEER_LOST (the
 * worker is gone), TDM_ERROR_ABORTED (this one has left), and what the function failed with there. */
TDM_API TDM_BLOCKS TDM_THREAD_SAFE tdm_error* tdm_rpc_sync(const char* to, const char* function,
                                                           const tdm_value* arguments, size_t argument_count,
                                                           const tdm_rpc_call_options* options, tdm_value* out);
/* The same without waiting but for room. Free with tdm_rpc_future_free(). */
TDM_API TDM_BLOCKS TDM_THREAD_SAFE tdm_error* tdm_rpc_async(const char* to, const char* function,
                                                            const tdm_value* arguments, size_t argument_count,
                                                            const tdm_rpc_call_options* options, tdm_rpc_future** out);
/* Waits for the call, and gives its result, each time a value of its own; tdm_value_clear() it. timeout_ms 0: as long as the
 * call may take. Errors: the call's; TDM_ERROR_TIMEOUT when this wait alone is over: the call goes on. */
TDM_API TDM_BLOCKS TDM_THREAD_SAFE tdm_error* tdm_rpc_future_wait(const tdm_rpc_future* future, int64_t timeout_ms,
                                                                  tdm_value* out);
TDM_API TDM_THREAD_SAFE int32_t tdm_rpc_future_is_done(const tdm_rpc_future* future);
/* Has `callback` called once the call is done, within this function where it is: with NULL or why it failed, which is
 * Tandem's. It must not block: what waits for calls there may wait for its own thread. */
TDM_API TDM_THREAD_SAFE tdm_error* tdm_rpc_future_on_completion(
    const tdm_rpc_future* future, TDM_CALLED(work) void (*callback)(void* user_data, TDM_NULLABLE const tdm_error* error),
    void* user_data, void (*destroy)(void* user_data));
/* The call goes on. */
TDM_API void tdm_rpc_future_free(tdm_rpc_future* future);

/* Calls a function as tdm_rpc_async() does, and gives a reference to its result, which stays on the worker, at once: a failure
 * is that of tdm_rref_to_here() and tdm_rref_local_value(). It takes no retries. Free with tdm_rref_free(). */
TDM_API TDM_BLOCKS TDM_THREAD_SAFE tdm_error* tdm_rpc_remote(const char* to, const char* function,
                                                             const tdm_value* arguments, size_t argument_count,
                                                             const tdm_rpc_call_options* options, tdm_rref** out);
/* A reference to a value of this worker's, which lives on it as long as any worker has one. Whoever gets it as an argument or
 * a result has one too. Free with tdm_rref_free(). Source: torch.distributed.rpc.RRef. */
TDM_API tdm_error* tdm_rref_create(const tdm_value* value, tdm_rref** out);
/* The id of the worker that has the value. */
TDM_API TDM_THREAD_SAFE tdm_error* tdm_rref_owner(const tdm_rref* rref, int32_t* out);
/* 1 where this worker has it. */
TDM_API TDM_THREAD_SAFE int32_t tdm_rref_is_owner(const tdm_rref* rref);
/* 1 where the owner knows of this reference. */
TDM_API TDM_THREAD_SAFE int32_t tdm_rref_confirmed_by_owner(const tdm_rref* rref);
/* On the owner: the value itself, with tensors of its storage; waits where it is still computed. timeout_ms 0: rpc_timeout_ms.
 * tdm_value_clear() it. Errors: TDM_ERROR_INVALID_ARGUMENT on other workers; what computing it failed with. */
TDM_API TDM_BLOCKS TDM_THREAD_SAFE tdm_error* tdm_rref_local_value(const tdm_rref* rref, int64_t timeout_ms,
                                                                   tdm_value* out);
/* A copy of the value, on the owner the value itself. It takes no retries. tdm_value_clear() it. Errors: as tdm_rpc_sync(). */
TDM_API TDM_BLOCKS TDM_THREAD_SAFE tdm_error* tdm_rref_to_here(const tdm_rref* rref,
                                                               const tdm_rpc_call_options* options, tdm_value* out);
TDM_API void tdm_rref_free(tdm_rref* rref);

/* What this worker holds for references. */
typedef struct tdm_rref_counts {
  size_t struct_size;
  int64_t owners;  /* values that others have references to, or had asked for */
  int64_t forks;   /* references to them */
  int64_t pending; /* references of this worker's that their owners have not confirmed yet */
} tdm_rref_counts;
#define TDM_RREF_COUNTS_INIT { sizeof(tdm_rref_counts), 0, 0, 0 }
TDM_API void tdm_rref_counts_init(tdm_rref_counts* made, size_t struct_size);
TDM_API TDM_THREAD_SAFE tdm_error* tdm_rref_get_counts(tdm_rref_counts* out);

/* Of the calls of this worker's to another one, tdm_rpc_remote() and tdm_rref_to_here() among them. */
typedef struct tdm_rpc_statistics {
  size_t struct_size;
  int64_t calls, failed, outstanding;
  int64_t bytes_sent, bytes_received; /* of messages with their tensors, but for what tdm_rref_to_here() fetches */
  int64_t latency_ns;                 /* of calls that succeeded, in all */
} tdm_rpc_statistics;
#define TDM_RPC_STATISTICS_INIT { sizeof(tdm_rpc_statistics), 0, 0, 0, 0, 0, 0 }
TDM_API void tdm_rpc_statistics_init(tdm_rpc_statistics* made, size_t struct_size);
TDM_API TDM_THREAD_SAFE tdm_error* tdm_rpc_get_statistics(const char* worker, tdm_rpc_statistics* out);

/* Autograd over calls. A context is one pass forward and back; calls that have its id in their options take part, and functions
 * that are called inside of it have it as their thread's. Gradients are kept with it, on each worker for the tensors there.
 * Source: torch.distributed.autograd. */
TDM_API TDM_THREAD_SAFE tdm_error* tdm_dist_autograd_new_context(int64_t* out);
/* Drops what all workers keep of it. */
TDM_API TDM_THREAD_SAFE tdm_error* tdm_dist_autograd_release_context(int64_t context);
/* The calling thread's; -1: none, outside of a session too. */
TDM_API TDM_THREAD_SAFE int64_t tdm_dist_autograd_current_context(void);
/* From `roots`, tensors of one number each, through all workers that took part. Errors: TDM_ERROR_INVALID_ARGUMENT for roots
 * without history, TDM_ERROR_NOT_FOUND for a context that is over, and what a node of the graph throws on whatever worker. */
TDM_API TDM_BLOCKS TDM_THREAD_SAFE tdm_error* tdm_dist_autograd_backward(int64_t context, tdm_tensor* const* roots,
                                                                         size_t count, int32_t retain_graph);
/* Of tensors of this worker's; NULL where there is none. Each is freed with tdm_tensor_free(). */
TDM_API TDM_THREAD_SAFE tdm_error* tdm_dist_autograd_gradients(int64_t context, tdm_tensor* const* tensors, size_t count,
                                                               TDM_MAYBE tdm_tensor** results);

typedef struct tdm_distributed_optimizer_options {
  size_t struct_size;
  TDM_NULLABLE const char* before_step; /* functions that each owner has registered, called there with the context's id, an INT, */
  TDM_NULLABLE const char* after_step;  /* around its step; NULL: none */
  int32_t locked; /* one step at a time on each worker; 0: several may update the same parameters at a time (Hogwild!) */
} tdm_distributed_optimizer_options;
#define TDM_DISTRIBUTED_OPTIMIZER_OPTIONS_INIT { sizeof(tdm_distributed_optimizer_options), NULL, NULL, 1 }
TDM_API void tdm_distributed_optimizer_options_init(tdm_distributed_optimizer_options* made, size_t struct_size);

/* An optimizer, as tdm_optimizer_create() takes type and options, on each worker that has some of the parameters: references
 * to tensors without history that require gradients. `distributed` may be NULL. Errors: TDM_ERROR_INVALID_ARGUMENT for no
 * parameters; those of tdm_optimizer_create(), naming the worker; those of calls. Free with
 * tdm_distributed_optimizer_free(). Source: torch.distributed.optim.DistributedOptimizer. */
TDM_API TDM_BLOCKS tdm_error* tdm_distributed_optimizer_create(
    const char* type, tdm_rref* const* parameters, size_t parameter_count, const tdm_option* options, size_t option_count,
    TDM_NULLABLE const tdm_distributed_optimizer_options* distributed, tdm_distributed_optimizer** out);
/* Applies the gradients of a context, on all owners at a time; parameters without one are left alone. Errors:
 * TDM_ERROR_NOT_FOUND where none had part in it; _UNSUPPORTED from LBFGS; those of calls: others may have stepped then. */
TDM_API TDM_BLOCKS TDM_THREAD_SAFE tdm_error* tdm_distributed_optimizer_step(tdm_distributed_optimizer* optimizer,
                                                                             int64_t context);
/* On all owners. Errors: those of tdm_optimizer_set_option(). */
TDM_API TDM_BLOCKS TDM_THREAD_SAFE tdm_error* tdm_distributed_optimizer_set_option(tdm_distributed_optimizer* optimizer,
                                                                                   const tdm_option* option);
TDM_API void tdm_distributed_optimizer_free(tdm_distributed_optimizer* optimizer);

/* Parameters that live on servers: trainers read them, and servers apply the trainers' gradients. Embedding tables are spread
 * over the servers by rows, of which a trainer reads and pushes only those that its batch needs. Servers and trainers are
 * workers of one session; docs/parameter-server.md has more. Sources: Li et al. 2014 (Scaling Distributed Machine Learning
 * with the Parameter Server); Ho et al. 2013 (stale synchronous parallel). */
typedef struct tdm_parameter_server_options {
  size_t struct_size;
  int64_t most_bytes; /* of all tables, without what optimizers remember; 0: three quarters of this machine's memory */
} tdm_parameter_server_options;
#define TDM_PARAMETER_SERVER_OPTIONS_INIT { sizeof(tdm_parameter_server_options), 0 }
TDM_API void tdm_parameter_server_options_init(tdm_parameter_server_options* made, size_t struct_size);

/* Makes this worker a server: one a process, before tdm_rpc_init(), so that no trainer comes too early. Free with
 * tdm_parameter_server_free(), which drops the tables. Errors: TDM_ERROR_INVALID_ARGUMENT where the process has one. */
TDM_API tdm_error* tdm_parameter_server_create(const tdm_parameter_server_options* options, tdm_parameter_server** out);
TDM_API void tdm_parameter_server_free(tdm_parameter_server* server);
/* Until all trainers have joined and none is left. *done: 0 where the time was over before. Errors, once none is left: why
 * the training failed, such as TDM_ERROR_PEER_LOST naming a trainer that died. */
TDM_API TDM_BLOCKS TDM_THREAD_SAFE tdm_error* tdm_parameter_server_wait(tdm_parameter_server* server,
                                                                        int64_t timeout_ms, int32_t* done);
typedef struct tdm_parameter_server_statistics {
  size_t struct_size;
  int64_t updates;     /* synchronous: of all tables at a time; else one a push */
  int64_t pushes;      /* that trainers made, one a step */
  int64_t waits;       /* pushes after which the trainer had to wait for others */
  int64_t rows_read;   /* of embedding tables */
  int64_t rows_pushed;
  int64_t most_ahead;  /* steps that a trainer was ahead of the slowest when it pushed */
  int64_t bytes;       /* of all tables */
} tdm_parameter_server_statistics;
#define TDM_PARAMETER_SERVER_STATISTICS_INIT { sizeof(tdm_parameter_server_statistics), 0, 0, 0, 0, 0, 0, 0 }
TDM_API void tdm_parameter_server_statistics_init(tdm_parameter_server_statistics* made, size_t struct_size);
TDM_API TDM_THREAD_SAFE tdm_error* tdm_parameter_server_get_statistics(const tdm_parameter_server* server,
                                                                       tdm_parameter_server_statistics* out);
/* The workers that train now. Free *out with tdm_strings_free(). */
TDM_API TDM_THREAD_SAFE tdm_error* tdm_parameter_server_trainers(const tdm_parameter_server* server, tdm_strings** out);
/* The tables of which this server has a part, and the dense parameters that it has. Free *out with tdm_strings_free(). */
TDM_API TDM_THREAD_SAFE tdm_error* tdm_parameter_server_tables(const tdm_parameter_server* server, tdm_strings** out);

/* Which server has a row. */
typedef int32_t tdm_row_placement;
enum {
  TDM_ROW_PLACEMENT_MODULO = 0, /* row modulo the number of servers: neighbours are on all servers */
  TDM_ROW_PLACEMENT_RANGE = 1   /* each server has rows that follow each other */
};
/* What becomes of the others where a trainer dies, or goes without tdm_parameter_client_leave(). */
typedef int32_t tdm_lost_trainers;
enum {
  TDM_LOST_TRAINERS_FAIL = 0, /* all get TDM_ERROR_PEER_LOST, naming it: the job goes on from a checkpoint */
  TDM_LOST_TRAINERS_LEAVE = 1 /* they go on without it */
};

/* A table of `rows` vectors. Source: torch.nn.Embedding. */
typedef struct tdm_embedding_table {
  const char* name; /* 1 to 255 bytes without '/', another one than those of dense parameters */
  int64_t rows;
  int64_t width;
  tdm_dtype dtype; /* TDM_DTYPE_FLOAT32 or TDM_DTYPE_FLOAT64 */
  tdm_row_placement placement;
  TDM_NULLABLE const char* optimizer;  /* as tdm_optimizer_create() takes it, one for sparse gradients: "SGD" without momentum and */
  const tdm_option* optimizer_options; /* weight decay, "Adagrad", "SparseAdam"; NULL: "SGD" */
  size_t optimizer_option_count;
  TDM_NULLABLE tdm_tensor* initial; /* [rows, width]; NULL: numbers of a normal distribution around 0, drawn on the servers: the */
  double standard_deviation;        /* same for a seed, however many servers there are */
  uint64_t seed;
} tdm_embedding_table;

typedef struct tdm_parameter_client_options {
  size_t struct_size;
  const char* const* servers; /* workers that are servers, in the same order on all trainers */
  size_t server_count;
  int64_t trainers;   /* that have to join before the first step; more may join later */
  int64_t staleness;  /* not synchronous: how many steps a trainer may be ahead of the slowest one before it waits */
  int64_t timeout_ms; /* of each call and each wait */
  TDM_NULLABLE const char* dense_optimizer; /* of the dense parameters, any of the registry but LBFGS; one a server; NULL: "SGD" */
  const tdm_option* dense_options;
  size_t dense_option_count;
  int32_t synchronous; /* the gradients that all trainers pushed in a step are averaged, and make one update; 0: each push makes
                          one at once, unscaled */
  tdm_lost_trainers lost_trainers;
} tdm_parameter_client_options;
#define TDM_PARAMETER_CLIENT_OPTIONS_INIT \
  { sizeof(tdm_parameter_client_options), NULL, 0, 1, 0, 300000, NULL, NULL, 0, 1, TDM_LOST_TRAINERS_FAIL }
TDM_API void tdm_parameter_client_options_init(tdm_parameter_client_options* made, size_t struct_size);

/* Joins as a trainer, one client a process at a time; all trainers give the same options and declare the same tables. Blocks
 * until `trainers` have joined; who comes later, until the present step is over. Then the dense parameters, tensors of this
 * trainer's under names, have the servers' values, which are those of the trainer that joined first. Free with
 * tdm_parameter_client_free(). Errors: TDM_ERROR_INVALID_ARGUMENT for what makes no sense, or differs from what other trainers
 * gave, naming table and trainers; TDM_ERROR_OUT_OF_MEMORY for more than a server's most_bytes; TDM_ERROR_UNSUPPORTED for an
 * optimizer that does not suit.
 *
 * Errors of what follows: TDM_ERROR_TIMEOUT naming the trainers, or the server, that it waited for; TDM_ERROR_PEER_LOST naming
 * a worker that is gone; TDM_ERROR_ABORTED after a trainer gave up; those of calls. What a step or the fetching of rows failed
 * of, unless it was a timeout, every later call fails of, too. */
TDM_API TDM_BLOCKS tdm_error* tdm_parameter_client_create(const tdm_parameter_client_options* options,
                                                          const char* const* names, tdm_tensor* const* parameters,
                                                          size_t parameter_count, const tdm_embedding_table* tables,
                                                          size_t table_count, tdm_parameter_client** out);
/* Without tdm_parameter_client_leave() before, the other trainers hear that this one gave up. */
TDM_API TDM_BLOCKS void tdm_parameter_client_free(tdm_parameter_client* client);
/* The rows of `indices`, int64 of any shape: [*indices, width] on the CPU. Each row is fetched once. With gradients enabled
 * the result has history, and the next step pushes the rows' gradients. Free *out with tdm_tensor_free(). Errors:
 * TDM_ERROR_NOT_FOUND (no such table), TDM_ERROR_OUT_OF_RANGE naming the table and the index. */
TDM_API TDM_BLOCKS tdm_error* tdm_parameter_client_embedding(tdm_parameter_client* client, const char* table,
                                                             tdm_tensor* indices, tdm_tensor** out);
/* Pushes the gradients of the dense parameters and of the rows that were fetched since the last step; waits as the mode has
 * it; then the dense parameters have the servers' new values, and gradients are dropped. A parameter without a gradient counts
 * as zeros where another trainer has one. After TDM_ERROR_TIMEOUT it may be called again: it pushes nothing, and waits on. */
TDM_API TDM_BLOCKS tdm_error* tdm_parameter_client_step(tdm_parameter_client* client);
/* The number of this trainer's next step, from 0; who joined late counts on from where the others were. */
TDM_API int64_t tdm_parameter_client_steps(const tdm_parameter_client* client);
/* Of the optimizer of a table or, for "", of the dense parameters, on all servers. One trainer calls it, between its steps.
 * Errors: TDM_ERROR_NOT_FOUND; those of tdm_optimizer_set_option(). */
TDM_API TDM_BLOCKS tdm_error* tdm_parameter_client_set_option(tdm_parameter_client* client, const char* table,
                                                              const tdm_option* option);
/* After the last step: the others go on without this trainer. Does nothing a second time. */
TDM_API TDM_BLOCKS tdm_error* tdm_parameter_client_leave(tdm_parameter_client* client);
/* For a checkpoint: what the servers have, of which each of `parts` trainers saves part `part`, from 0, as tensors of its own.
 * Section "tables" has the tables and the dense parameters by their names, "table_optimizers" what optimizers remember of
 * them, as "users.sum". All trainers call it between the same two steps. Free *out with tdm_own_tensors_free(). */
TDM_API TDM_BLOCKS tdm_error* tdm_parameter_client_state(tdm_parameter_client* client, int32_t part, int32_t parts,
                                                         tdm_own_tensors** out);
/* As tdm_checkpoint_folder_load_part(), but of the tables a trainer reads its part alone. selection NULL: all of the newest. Free
 * *out with tdm_checkpoint_free(). */
TDM_API TDM_BLOCKS tdm_error* tdm_parameter_client_read(const tdm_parameter_client* client, tdm_checkpoint_folder* folder,
                                                        TDM_NULLABLE const tdm_checkpoint_selection* selection, int32_t part,
                                                        int32_t parts, TDM_MAYBE tdm_checkpoint** out);
/* Gives the servers the part that tdm_parameter_client_read() read, of a checkpoint of any number of trainers and servers; the
 * dense parameters have its values then. Errors: TDM_ERROR_INVALID_ARGUMENT naming what is missing or of another shape or
 * dtype: tell the other ranks by tdm_checkpoint_folder_agree(). */
TDM_API TDM_BLOCKS tdm_error* tdm_parameter_client_load(tdm_parameter_client* client, const tdm_checkpoint* checkpoint,
                                                        int32_t part, int32_t parts);

/* Tensors of this process's own in a checkpoint, or its parts of them. */
TDM_API size_t tdm_own_tensors_size(const tdm_own_tensors* list);
/* Borrowed from the list, as the next three; NULL past the end. */
TDM_API const char* tdm_own_tensors_section(const tdm_own_tensors* list, size_t index);
TDM_API const char* tdm_own_tensors_name(const tdm_own_tensors* list, size_t index);
/* Sizes of the tensor of which this is a part, and where in that it begins, a number for each dimension; NULL: it is no part. */
TDM_API const int64_t* tdm_own_tensors_whole(const tdm_own_tensors* list, size_t index);
TDM_API const int64_t* tdm_own_tensors_begin(const tdm_own_tensors* list, size_t index);
/* A new handle, freed with tdm_tensor_free(). */
TDM_API tdm_error* tdm_own_tensors_get(const tdm_own_tensors* list, size_t index, tdm_tensor** out);
TDM_API void tdm_own_tensors_free(tdm_own_tensors* list);

/* --------------------------------------------------------------------------------------------------------- metrics */

/* What a rank measures while it trains, for the launcher that started it (docs/metrics.md). */
typedef struct tdm_metrics_options {
  size_t struct_size;
  int64_t step;        /* completed so far; 0: one more than at the call before, or as many as tdm_elastic_step() counts */
  int64_t epoch;       /* over the data, from 1; 0: as before */
  int64_t samples;     /* that this rank trained since the call before */
  int64_t has_loss;    /* 1: `loss` is given; 0: as before */
  double loss;
  double wait_seconds; /* for which this rank waited for others since the call before, beside what DDP counts on CPUs */
} tdm_metrics_options;
#define TDM_METRICS_OPTIONS_INIT { sizeof(tdm_metrics_options), 0, 0, 0, 0, 0, 0 }
TDM_API void tdm_metrics_options_init(tdm_metrics_options* made, size_t struct_size);

/* Once a step, or less often. Waits for nobody: what is reported lies in memory that the launcher reads. Does nothing where
 * no `tandem run` of this machine started the process. Errors: TDM_ERROR_INVALID_ARGUMENT for what is negative. */
TDM_API TDM_THREAD_SAFE tdm_error* tdm_metrics_report(const tdm_metrics_options* options);

/* -------------------------------------------------------------------------------------------------------- RecordIO */

typedef int32_t tdm_compressor;
/* Snappy and gzip are RecordIO v1's, zstd is v2's. */
enum { TDM_COMPRESSOR_NONE = 0, TDM_COMPRESSOR_SNAPPY = 1, TDM_COMPRESSOR_GZIP = 2, TDM_COMPRESSOR_ZSTD = 3 };

typedef struct tdm_recordio_writer_options {
  size_t struct_size;
  uint64_t chunk_bytes; /* of payload before compression */
  tdm_compressor compressor;
  int32_t version;      /* of RecordIO: 1 or 2; 0: 1 */
  /* Of version 2. */
  int64_t alignment;                  /* of records, in bytes: 1, 2, 4 to 64; 0: 64 */
  TDM_NULLABLE const char* schema;    /* JSON that describes the records; NULL: none */
  const char* const* metadata_keys;   /* UTF-8 */
  const char* const* metadata_values;
  size_t metadata_count;
  int32_t level;                      /* of zstd, 1 to 19; 0: 3 */
} tdm_recordio_writer_options;
#define TDM_RECORDIO_WRITER_OPTIONS_INIT \
  { sizeof(tdm_recordio_writer_options), 32u << 20, TDM_COMPRESSOR_NONE, 0, 0, NULL, NULL, NULL, 0, 0 }
TDM_API void tdm_recordio_writer_options_init(tdm_recordio_writer_options* made, size_t struct_size);

/* RecordIO v1 (github.com/wangkuiyi/recordio) or v2 (docs/recordio-v2.md). Writes beside `path` under a temporary name;
 * the file appears under its own name, synced, at tdm_recordio_writer_close(). Freed without close, it leaves nothing.
 * Any thread may write. Free with tdm_recordio_writer_free(). Errors: TDM_ERROR_INVALID_ARGUMENT for options that the
 * version does not have. */
TDM_API TDM_BLOCKS tdm_error* tdm_recordio_writer_create(const char* path, const tdm_recordio_writer_options* options,
                                                         tdm_recordio_writer** out);
TDM_API TDM_BLOCKS TDM_THREAD_SAFE tdm_error* tdm_recordio_writer_write(tdm_recordio_writer* writer, const void* data,
                                                                        size_t size);
TDM_API TDM_BLOCKS TDM_THREAD_SAFE tdm_error* tdm_recordio_writer_close(tdm_recordio_writer* writer);
TDM_API void tdm_recordio_writer_free(tdm_recordio_writer* writer);

/* Maps the file, of either version, and finds its chunks. Each chunk's checksum is verified at its first use.
 * Errors: TDM_ERROR_NOT_FOUND, TDM_ERROR_DATA_LOSS naming file, chunk and offset. Thread-safe after creation. Free with
 * tdm_recordio_reader_free(). */
TDM_API TDM_BLOCKS tdm_error* tdm_recordio_reader_create(const char* path, tdm_recordio_reader** out);
TDM_API TDM_THREAD_SAFE int64_t tdm_recordio_reader_count(const tdm_recordio_reader* reader);
/* Record `index`. *data is borrowed and lives as long as the reader; of an uncompressed chunk it is the mapped file,
 * and what a file that is cut off later has lost reads as zeros. */
TDM_API TDM_BLOCKS TDM_THREAD_SAFE tdm_error* tdm_recordio_reader_get(tdm_recordio_reader* reader, int64_t index,
                                                                      TDM_BORROWED const void** data, size_t* size);
/* Copies record `index` into `destination`, of as many bytes as tdm_recordio_reader_get() says: else
 * TDM_ERROR_INVALID_ARGUMENT. A copy is whole, or TDM_ERROR_DATA_LOSS, also where the file is cut off meanwhile. */
TDM_API TDM_BLOCKS TDM_THREAD_SAFE tdm_error* tdm_recordio_reader_copy(tdm_recordio_reader* reader, int64_t index,
                                                                       void* destination, size_t bytes);
/* 1 or 2. */
TDM_API TDM_THREAD_SAFE int32_t tdm_recordio_reader_version(const tdm_recordio_reader* reader);
/* What a file of version 2 says about its records, "" where it says nothing. Lives as long as the reader, here and
 * below. */
TDM_API TDM_THREAD_SAFE const char* tdm_recordio_reader_schema(const tdm_recordio_reader* reader);
TDM_API TDM_THREAD_SAFE int64_t tdm_recordio_reader_metadata_count(const tdm_recordio_reader* reader);
/* Number `index`, in the order of the keys; NULL past the last. */
TDM_API TDM_THREAD_SAFE const char* tdm_recordio_reader_metadata_key(const tdm_recordio_reader* reader, int64_t index);
TDM_API TDM_THREAD_SAFE const char* tdm_recordio_reader_metadata_value(const tdm_recordio_reader* reader,
                                                                       int64_t index);
TDM_API void tdm_recordio_reader_free(tdm_recordio_reader* reader);

/* ----------------------------------------------------------------------------------------------------- data loader */

/* One field of a record of fixed layout; fields follow one another without gaps. A batch has one tensor per field, of
 * shape [batch, sizes…]. */
typedef struct tdm_field {
  TDM_NULLABLE const char* name;
  tdm_dtype dtype;        /* in the record */
  tdm_dtype out_dtype;    /* of the batch tensor: same as dtype, float32 (converted), or int64 (converted) */
  const int64_t* sizes;   /* per sample; ndim 0: a scalar */
  int64_t ndim;
  double mean, std;       /* float32 output: (x · scale − mean) / std */
  double scale;           /* MNIST: 1/255 */
} tdm_field;

/* What becomes of the end of an epoch, less than a global batch; frozen numbers. */
typedef int32_t tdm_tail;
enum {
  TDM_TAIL_UNSET = 0,  /* as drop_last says: TDM_TAIL_DROP or TDM_TAIL_EVEN */
  TDM_TAIL_SHORT = 1,  /* a smaller global batch; ranks may get none of it */
  TDM_TAIL_DROP = 2,   /* left out */
  TDM_TAIL_PAD = 3,    /* a global batch filled up with zeros, which a mask tells from samples */
  TDM_TAIL_REPEAT = 4, /* a global batch filled up with the epoch's first samples */
  TDM_TAIL_EVEN = 5,   /* filled up so far only that all ranks get equally many, which depends on their number */
};

/* What a loader does where samples cannot be read (errors TDM_ERROR_IO and TDM_ERROR_TIMEOUT of files and servers),
 * though nothing is known to be wrong with them; frozen numbers. Nothing of that counts against a sample. */
typedef int32_t tdm_on_io_error;
enum {
  TDM_ON_IO_ERROR_RETRY = 0, /* tries again, with growing pauses, for io_retry_ms; then it is an error */
  TDM_ON_IO_ERROR_SKIP = 1,  /* the same, but then leaves samples that still cannot be read out, this time */
  TDM_ON_IO_ERROR_FAIL = 2,  /* an error at once */
};

typedef struct tdm_loader_options {
  size_t struct_size;
  int64_t batch_size; /* of each rank, or of all together: see global_batch */
  int32_t rank;
  int32_t world_size;
  int32_t global_batch; /* 1: batch_size is that of all ranks together, which need not be a multiple of their number;
                           0: of each rank */
  tdm_tail tail;
  int32_t drop_last; /* where `tail` is unset: 1: TDM_TAIL_DROP, 0: TDM_TAIL_EVEN */
  int32_t shuffle;
  uint64_t seed;
  int64_t shuffle_block;  /* shuffles blocks of so many consecutive samples, then the samples within each */
  int64_t shuffle_window; /* … so many consecutive ones of the shuffled blocks, 0: 16; block 0: all samples alike */
  TDM_NULLABLE const tdm_sampler* sampler; /* in place of shuffle, shuffle_block and shuffle_window; NULL: none */
  int32_t threads;        /* that make batches; 0: tdm_loader_next() makes them itself */
  int32_t prefetch;       /* batches ahead */
  int64_t prefetch_bytes; /* of batches ahead: none is begun that would be too much; 0: 256 MiB */
  int32_t pin_memory;     /* 1: batches in page-locked memory, from which copies to a GPU run beside computation;
                             TDM_ERROR_UNSUPPORTED in a process without CUDA */
  tdm_on_io_error on_io_error;
  tdm_device device;      /* where all tensors of batches are: the CPU, or a GPU (-1: the current one of the thread that
                             makes the loader). For that they are made in pinned memory and copied by the loader's
                             threads, ahead of their use, on a stream of their own; the stream that is current where
                             tdm_loader_next() is called waits for the copies, not the CPU. What is on the GPU counts
                             for prefetch_bytes, and what is not copied yet. TDM_ERROR_UNSUPPORTED in a process without
                             CUDA, TDM_ERROR_OUT_OF_RANGE past the last GPU */
  int64_t io_retry_ms;    /* for how long what cannot be read is tried again; 0: three minutes, -1: not at all */
  int64_t timeout_ms;     /* of tdm_loader_next(), for a batch that is not made: TDM_ERROR_TIMEOUT, and a later call
                             waits for it again; 0: half an hour, -1: none. Not without threads */
} tdm_loader_options;
#define TDM_LOADER_OPTIONS_INIT \
  { sizeof(tdm_loader_options), 1, 0, 1, 0, TDM_TAIL_UNSET, 0, 1, 0, 0, 0, NULL, 1, 2, 0, 0, TDM_ON_IO_ERROR_RETRY, \
    { TDM_DEVICE_CPU, 0 }, 0, 0 }
TDM_API void tdm_loader_options_init(tdm_loader_options* made, size_t struct_size);

/* Reads RecordIO files into batches: rank r of w takes its slice of each global batch of a shuffle that is a pure
 * function of (seed, epoch, position); slices differ by one sample at most. Free with tdm_loader_free(), which joins
 * its threads. tdm_loader_create_from() takes any data set, and tdm_loader_create_dynamic() deals global batches to
 * whichever rank is free. What one kind of loader alone has is TDM_ERROR_INVALID_ARGUMENT of the others, which names
 * what to call. One thread at a time, but for tdm_loader_abort() and what tells statistics. */
TDM_API TDM_BLOCKS tdm_error* tdm_loader_create(const char* const* paths, size_t path_count, const tdm_field* fields,
                                                size_t field_count, const tdm_loader_options* options,
                                                tdm_loader** out);
TDM_API TDM_BLOCKS void tdm_loader_free(tdm_loader* loader);
/* Samples of the data set; -1 where it does not say. */
TDM_API int64_t tdm_loader_sample_count(const tdm_loader* loader);
/* Batches that one epoch gives this rank; -1 where that is unknown, as in the dynamic partition. */
TDM_API int64_t tdm_loader_batch_count(const tdm_loader* loader);
/* Starts an epoch at its batch `first_batch` (0: its start; -1: its start too, but the epoch that tdm_loader_restore()
 * went on with where that was, the first time); what is left of the last one is dropped. Without it the first
 * tdm_loader_next() starts tdm_loader_current_epoch(), -1. Not in the dynamic partition: tdm_loader_next_step(). */
TDM_API tdm_error* tdm_loader_start_epoch(tdm_loader* loader, int64_t epoch, int64_t first_batch);
/* The next batch: `batch` has room for field_count handles, each freed with tdm_tensor_free(). *has_batch = 0 at the
 * end of the epoch, and the handles are untouched. In the dynamic partition: the next micro-batch of the step, and
 * *has_batch = 0 when all of the global batch is computed, by whichever ranks; asking says that the one before is
 * computed. Blocks until the batch is made, there also while others compute. Errors: TDM_ERROR_ABORTED after
 * tdm_loader_abort(), and for a rank of the dynamic partition that was given up; TDM_ERROR_TIMEOUT, there naming the
 * ranks that did not complete their parts; TDM_ERROR_DATA_LOSS there where too many samples cannot be loaded. */
TDM_API TDM_BLOCKS tdm_error* tdm_loader_next(tdm_loader* loader, tdm_tensor** batch, size_t field_count,
                                              int32_t* has_batch);
/* From any thread: ends a tdm_loader_next() that waits, and all later calls for batches, with TDM_ERROR_ABORTED. Waits for
 * none of the loader's threads, which may be in a callback: tdm_loader_free() does. A step of the dynamic partition that
 * is whole can still be committed. A second time does nothing. */
TDM_API TDM_THREAD_SAFE tdm_error* tdm_loader_abort(tdm_loader* loader);

/* About the batch that tdm_loader_next() gave last. */
typedef struct tdm_loader_batch {
  size_t struct_size;
  int64_t epoch;
  int64_t number;             /* in the epoch */
  int64_t rows;               /* of each tensor */
  int64_t local_count;        /* of them are samples; those behind are zeros (TDM_TAIL_PAD) */
  int64_t global_count;       /* samples in the batches of all ranks together; in the dynamic partition, of the step with
                                 all its samples */
  TDM_COUNT(local_count)
  const int64_t* samples; /* which they are, local_count of them; lives until the next tdm_loader_next(), here and
      below */
  TDM_COUNT(local_count)
  const uint64_t* randomness; /* a hash of seed, epoch and sample for each, from which augmentation is to follow */
  int64_t skipped;            /* samples of this rank's part that could not be read and are left out
                                 (TDM_ON_IO_ERROR_SKIP); they are in global_count, but in nothing else here */
} tdm_loader_batch;
#define TDM_LOADER_BATCH_INIT \
  { sizeof(tdm_loader_batch), 0, 0, 0, 0, 0, NULL, NULL, 0 }
TDM_API void tdm_loader_batch_init(tdm_loader_batch* made, size_t struct_size);
/* Errors: TDM_ERROR_OUT_OF_RANGE before the first batch, and at the end of an epoch or of a step. */
TDM_API tdm_error* tdm_loader_get_batch(const tdm_loader* loader, tdm_loader_batch* out);
/* bool [rows] of that batch, on the CPU: which of them are samples. Free with tdm_tensor_free(). */
TDM_API tdm_error* tdm_loader_get_batch_mask(const tdm_loader* loader, tdm_tensor** out);

/* Where training goes on: the state counts the batches up to the last one that was committed, and those before the one
 * that tdm_loader_next() gave last, which the program was done with when it asked for that. What is only made ahead
 * never counts. So commit after the optimizer's step, and save the model with the state then. In the dynamic partition
 * only steps that were committed count, whatever the other ranks say to it; *record, which may be NULL and is so for other
 * loaders, is then who computed what, a line of JSON for the run's log, freed with tdm_string_free(). */
TDM_API TDM_BLOCKS tdm_error* tdm_loader_commit(tdm_loader* loader, TDM_NULLABLE tdm_string** record);
/* The same bytes on every rank, less than 256: data set (a fingerprint), seed, epoch, position. Free with
 * tdm_string_free(). */
TDM_API tdm_error* tdm_loader_get_state(const tdm_loader* loader, tdm_string** out);
/* Goes on where the state says: with its seed and epoch, at the sample where its last batch ended, on however many
 * ranks, with batches of this loader's size. Errors: TDM_ERROR_DATA_LOSS for what is no state or damaged;
 * TDM_ERROR_INVALID_ARGUMENT for that of another data set, naming both fingerprints, or of another order, or after the
 * first epoch was started. Not in the dynamic partition: tdm_loader_create_dynamic() takes the state. */
TDM_API tdm_error* tdm_loader_restore(tdm_loader* loader, const void* data, size_t size);
/* The epoch to go on with: 0, or that of the restored state; after an epoch's last batch the one behind it. In the
 * dynamic partition that of the open step, or of the next one. */
TDM_API int64_t tdm_loader_current_epoch(const tdm_loader* loader);

/* ------------------------------------------------------------------------------------------------------- data sets */

/* Samples by number, each a list of tensors, equally many in each sample, with a name each. What is made of a data set
 * (a loader, another data set) keeps what it needs of it: the handle may be freed right after. Any thread may use it.
 * Free each with tdm_dataset_free(). */
TDM_API void tdm_dataset_free(tdm_dataset* dataset);
TDM_API TDM_THREAD_SAFE int64_t tdm_dataset_size(const tdm_dataset* dataset);
/* Tensors of a sample. */
TDM_API TDM_THREAD_SAFE size_t tdm_dataset_field_count(const tdm_dataset* dataset);
/* The name of each; borrowed from the data set, NULL past the end. */
TDM_API TDM_THREAD_SAFE const char* tdm_dataset_field_name(const tdm_dataset* dataset, size_t index);

/* One sample: `sample` has room for field_count handles, each freed with tdm_tensor_free(). Errors:
 * TDM_ERROR_OUT_OF_RANGE; what the batch with that sample would fail with. */
TDM_API TDM_BLOCKS TDM_THREAD_SAFE tdm_error* tdm_dataset_get(const tdm_dataset* dataset, int64_t index,
                                                              tdm_tensor** sample, size_t field_count);

/* How files of records are opened. What has to do with http://, https:// and s3:// is used for such paths alone; the
 * latter are signed with AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN of the environment, or with the
 * keys of the file AWS_SHARED_CREDENTIALS_FILE; both are looked at again when a service refuses what they said. */
typedef struct tdm_open_records_options {
  size_t struct_size;
  TDM_NULLABLE const char* format; /* "recordio", "tfrecord" and so on, see docs/record-formats.md; NULL: what each
                         file's first bytes say */
  int64_t skip;               /* records to leave out at the beginning of each file: a CSV file's header */
  uint64_t cache_bytes;       /* of decompressed and of fetched chunks in memory, of all files together */
  int32_t use_index;          /* whether FILE.idx is read for RecordIO v1, and written where that saves time */
  int32_t attempts;           /* how often a request is made before its failure is an error */
  TDM_NULLABLE const char* cache_folder; /* where what was fetched is kept for later runs; NULL: TANDEM_CACHE_DIR, else
                               $XDG_CACHE_HOME/tandem, else ~/.cache/tandem */
  int64_t cache_folder_bytes; /* of all that lies there, about; 0: nothing is kept; -1: TANDEM_CACHE_BYTES, else 10 GiB */
  TDM_NULLABLE const char* s3_endpoint; /* of services like S3's, "http://minio:9000"; NULL: AWS_ENDPOINT_URL_S3,
                              AWS_ENDPOINT_URL, else Amazon's */
  TDM_NULLABLE const char* s3_region;   /* NULL: AWS_REGION, AWS_DEFAULT_REGION, else "us-east-1" */
  int64_t connect_timeout_ms; /* for the connection of one attempt */
  int64_t stall_timeout_ms;   /* how long a reply may stand still, or be slower than least_speed; whole seconds, rounded
                                 up */
  uint64_t most_chunk_bytes;  /* memory that a compressed chunk of RecordIO may take once it is decompressed, or
                                 TDM_ERROR_UNSUPPORTED; 0: 1 GiB */
  int64_t least_speed;        /* bytes a second; 0: 1024 */
  int64_t request_timeout_ms; /* of a request with all its attempts; 0: ten minutes */
} tdm_open_records_options;
#define TDM_OPEN_RECORDS_OPTIONS_INIT \
  { sizeof(tdm_open_records_options), NULL, 0, 256u << 20, 1, 6, NULL, -1, NULL, NULL, 15000, 30000, 0, 0, 0 }
TDM_API void tdm_open_records_options_init(tdm_open_records_options* made, size_t struct_size);

/* Records of files of any format, one file after the other, as in tdm_loader_create(). `options` may be NULL. */
TDM_API TDM_BLOCKS tdm_error* tdm_dataset_from_records(const char* const* paths, size_t path_count,
                                                       const tdm_field* fields, size_t field_count,
                                                       const tdm_open_records_options* options, tdm_dataset** out);

/* Row i of each tensor is sample i. Takes the tensors as they are now, which must be dense, on the CPU, and of equally
 * many rows. */
TDM_API tdm_error* tdm_dataset_from_tensors(tdm_tensor* const* tensors, size_t count,
                                            TDM_COUNT(count) const char* const* names, tdm_dataset** out);
/* One after the other; their fields have the same names. */
TDM_API TDM_THREAD_SAFE tdm_error* tdm_dataset_concat(const tdm_dataset* const* datasets, size_t count,
                                                      tdm_dataset** out);
/* These samples of another, in this order. Errors: TDM_ERROR_OUT_OF_RANGE for one that is not there. */
TDM_API TDM_THREAD_SAFE tdm_error* tdm_dataset_subset(const tdm_dataset* dataset, const int64_t* samples, size_t count,
                                                      tdm_dataset** out);
/* Parts of these sizes, which are that of the data set together, each sample in one of them, drawn by the seed. `parts`
 * has room for `count` handles. */
TDM_API TDM_THREAD_SAFE tdm_error* tdm_dataset_random_split(const tdm_dataset* dataset, const int64_t* sizes,
                                                            size_t count, uint64_t seed,
                                                            TDM_COUNT(count) tdm_dataset** parts);
/* The sizes for that by fractions, which are 1 together: rounded down, and what that leaves goes to the parts from the
 * first on, one each. */
TDM_API TDM_THREAD_SAFE tdm_error* tdm_dataset_split_sizes(const tdm_dataset* dataset, const double* fractions,
                                                           size_t count, TDM_COUNT(count) int64_t* sizes);
/* Each sample as `map` makes it whenever it is loaded, a tensor for each of `names`. Loaders' threads call it, several
 * at once. It sets `mapped`, field_count handles, which stay the callback's; what it fails with is an error of the
 * batch, TDM_ERROR_CALLBACK unless it is one of reading (see tdm_error_create()), naming the sample. `destroy`, which
 * may be NULL, is called when nobody uses the data set any more, here and below. */
TDM_API TDM_THREAD_SAFE tdm_error* tdm_dataset_map(
    const tdm_dataset* dataset, const char* const* names, size_t field_count,
    TDM_CALLED(loader) tdm_error* (*map)(void* user_data, tdm_tensor* const* sample, size_t count, tdm_tensor** mapped,
                                         size_t field_count),
    void* user_data, void (*destroy)(void* user_data), tdm_dataset** out);
/* The caller's own samples, `size` of them: `get` sets `sample`, field_count handles, which stay the callback's, of dense
 * tensors on the CPU, alike in all samples. It is called as `map` above. `fingerprint` tells data sets apart in the
 * states of loaders; 0: by their size alone. */
TDM_API tdm_error* tdm_dataset_create(int64_t size, const char* const* names, size_t field_count, uint64_t fingerprint,
                                      TDM_CALLED(loader) tdm_error* (*get)(void* user_data, int64_t index,
                                                                           tdm_tensor** sample, size_t field_count),
                                      void* user_data, void (*destroy)(void* user_data), tdm_dataset** out);

/* The caller's own samples, one after the other: each epoch is a sequence, made anew from its start by `open`. Loaders
 * take it with `shuffle` 0; nothing else can be made of it (TDM_ERROR_UNSUPPORTED). As far as each stream of an epoch
 * gives the same, in every process, all holds that does for other data sets. What it gives up: each rank and each of a
 * loader's threads has a stream of its own, and goes through all samples, skipping those of others and, after
 * tdm_loader_restore(), those before; and where the size is unknown, so is the number of batches. */
typedef struct tdm_iterable {
  size_t struct_size;
  int64_t size; /* samples of each epoch; -1: unknown */
  const char* const* names;
  size_t field_count;
  uint64_t fingerprint;
  /* Sets *stream, which one thread at a time uses, not always the same. Called by several threads at once. */
  TDM_CALLED(loader) tdm_error* (*open)(void* user_data, uint64_t seed, int64_t epoch, TDM_OPAQUE void** stream);
  /* Sets `sample`, field_count handles that stay the callback's, and *has_sample 1; leaves it 0 at the end. */
  TDM_CALLED(loader)
  tdm_error* (*next)(void* user_data, TDM_OPAQUE void* stream, tdm_tensor** sample, size_t field_count,
                     int32_t* has_sample);
  /* Leaves `count` samples out and says how many there were; NULL: next() is called for each. */
  TDM_CALLED(loader)
  TDM_NULLABLE tdm_error* (*skip)(void* user_data, TDM_OPAQUE void* stream, int64_t count, int64_t* skipped);
  TDM_CALLED(loader) void (*close)(void* user_data, TDM_OPAQUE void* stream);
  void* user_data;
  void (*destroy)(void* user_data);
} tdm_iterable;
#define TDM_ITERABLE_INIT { sizeof(tdm_iterable), -1, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL }
TDM_API void tdm_iterable_init(tdm_iterable* made, size_t struct_size);
TDM_API tdm_error* tdm_dataset_from_iterable(const tdm_iterable* iterable, tdm_dataset** out);

/* tdm_loader_create() for any data set: tdm_loader_next() gives a tensor for each of a sample's. Free with
 * tdm_loader_free(). */
TDM_API TDM_THREAD_SAFE tdm_error* tdm_loader_create_from(const tdm_dataset* dataset, const tdm_loader_options* options,
                                                          tdm_loader** out);

/* Records of files of any format that a schema describes; docs/samples.md has its JSON. Threads of a loader decode them
 * straight into a batch's tensors. Fields of varying size have other tensors beside them: see
 * tdm_dataset_field_name(). A record that is not what the schema says is an error of the batch that it is in, naming
 * file, chunk, record and field. */
typedef struct tdm_schema_options {
  size_t struct_size;
  TDM_NULLABLE const char* schema; /* JSON; NULL: what the first file carries, one of RecordIO version 2 */
  TDM_NULLABLE const char*
      decoding; /* JSON, NULL for the defaults: {"fits": {"picture": {"kind": "random_resized_crop",
      "height": 224, "width": 224, "flip": true}}, "max_pixels": 100000000, "strict": true} */
  TDM_NULLABLE const char* collating; /* likewise: {"pad": {"tokens": {"value": 0, "multiple_of": 8, "max_length":
                            512}}, "pack": {"text": {"length": 1024}}} */
  TDM_NULLABLE const tdm_open_records_options* files; /* how they are opened; NULL: the defaults */
} tdm_schema_options;
#define TDM_SCHEMA_OPTIONS_INIT { sizeof(tdm_schema_options), NULL, NULL, NULL, NULL }
TDM_API void tdm_schema_options_init(tdm_schema_options* made, size_t struct_size);
TDM_API TDM_BLOCKS tdm_error* tdm_dataset_from_schema(const char* const* paths, size_t path_count,
                                                      const tdm_schema_options* options, tdm_dataset** out);

/* ----------------------------------------------------------------------------------------------- steps on batches */

/* Steps on each whole batch, in the loader's threads, after those that were added before: a JSON list such as
 * [{"step": "random_crop", "fields": ["image"], "height": 32, "width": 32, "padding": 4},
 *  {"step": "normalize", "fields": ["image"], "mean": [0.5], "std": [0.25], "scale": 0.00392156862745098}]
 * docs/samples.md has all steps. What is random about a sample follows from the seed, the epoch and the sample. Errors of
 * a step are those of the tdm_loader_next() that would have given the batch. Before the first epoch, or the first step of
 * the dynamic partition, where they see micro-batches, and no sample is left out for one that fails. */
TDM_API tdm_error* tdm_loader_add_transforms(tdm_loader* loader, const char* transforms);

/* A batch as a step of the caller's own sees it. Handles and lists live until the callback returns. */
typedef struct tdm_step_batch {
  size_t struct_size;
  tdm_tensor* const* tensors;
  const char* const* names;   /* of each */
  size_t tensor_count;
  tdm_tensor** outputs;       /* NULL at first: handles that stay the callback's; one for each tensor, which takes its
                                 place unless it stays NULL, then one for each of `adds` */
  size_t output_count;
  TDM_COUNT(rows) const uint64_t* randomness; /* a hash of (seed, epoch, sample) for each row; 0 for one of zeros */
  int64_t rows;
} tdm_step_batch;
/* A step of the caller's own, which may change no tensor in place. `adds` are the names of fields that it adds: give
 * tdm_loader_next() room for them. Threads of the loader call it at once, for different batches, without gradients; it
 * must not use the loader. destroy(user_data) is called when the loader is freed. */
TDM_API tdm_error* tdm_loader_add_step(tdm_loader* loader,
                                       TDM_CALLED(loader)
                                           tdm_error* (*step)(void* user_data, const tdm_step_batch* batch),
                                       const char* const* adds, size_t add_count, void* user_data,
                                       void (*destroy)(void* user_data));

/* -------------------------------------------------------------------------------------------- a loader's statistics */

/* What more speed would have to come from; frozen numbers. */
typedef int32_t tdm_loader_bottleneck;
enum {
  TDM_LOADER_BOTTLENECK_UNKNOWN = 0,      /* nothing was loaded yet */
  TDM_LOADER_BOTTLENECK_PROGRAM = 1,      /* it waits for less than a tenth of its time: batches are there */
  TDM_LOADER_BOTTLENECK_READING = 2,      /* records of files, with their checksums and decompression */
  TDM_LOADER_BOTTLENECK_DECODING = 3,     /* records, or whatever the data set holds, to tensors of batches */
  TDM_LOADER_BOTTLENECK_TRANSFORMING = 4, /* steps on batches */
  TDM_LOADER_BOTTLENECK_PINNING = 5,      /* copying to page-locked memory */
  TDM_LOADER_BOTTLENECK_COPYING = 6,      /* having copies to a GPU begin */
};

/* Where time went since the loader was made, in nanoseconds; times of threads are sums over all of them. In the dynamic
 * partition with micro-batches for batches; what the last tdm_loader_next() of a step waits for other ranks does not
 * count. */
typedef struct tdm_loader_statistics {
  size_t struct_size;
  int64_t batches;          /* made */
  int64_t samples;          /* in them */
  int64_t bytes;            /* of their tensors */
  int64_t most_bytes_ready; /* at once, of batches that were made and not asked for */
  int64_t threads;
  int64_t reading;
  int64_t decoding;
  int64_t transforming;
  int64_t pinning;
  int64_t copying;          /* until copies to a GPU are queued; they run by themselves */
  int64_t waiting_for_room; /* of threads, while as much was ahead as is allowed */
  int64_t delivered;        /* batches that tdm_loader_next() gave */
  int64_t waiting;          /* of the program in tdm_loader_next(); without threads it makes batches there */
  int64_t computing;        /* of the program between a batch and asking for the next */
  tdm_loader_bottleneck bottleneck;
} tdm_loader_statistics;
#define TDM_LOADER_STATISTICS_INIT \
  { sizeof(tdm_loader_statistics), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, TDM_LOADER_BOTTLENECK_UNKNOWN }
TDM_API void tdm_loader_statistics_init(tdm_loader_statistics* made, size_t struct_size);
TDM_API tdm_error* tdm_loader_get_statistics(const tdm_loader* loader, tdm_loader_statistics* out);
/* The same as one line of text, which ends with what the bottleneck is. Free with tdm_string_free(). */
TDM_API tdm_error* tdm_loader_statistics_text(const tdm_loader* loader, tdm_string** out);

/* -------------------------------------------------------------------------------------------------------- samplers */

/* Which samples an epoch visits, and in which order, as a function of seed, epoch and position. A loader keeps what it
 * needs: the handle may be freed right after. Unless noted otherwise, an epoch can be entered anywhere at no cost. Any
 * thread may use it. Free each with tdm_sampler_free(). */
TDM_API void tdm_sampler_free(tdm_sampler* sampler);
/* Positions of an epoch. */
TDM_API TDM_THREAD_SAFE int64_t tdm_sampler_size(const tdm_sampler* sampler);
/* The samples at `count` positions from `first` on. Errors: TDM_ERROR_OUT_OF_RANGE. */
TDM_API TDM_THREAD_SAFE tdm_error* tdm_sampler_samples(const tdm_sampler* sampler, uint64_t seed, int64_t epoch,
                                                       int64_t first, int64_t* samples, size_t count);

/* 0, 1, 2 …; shuffled anew in each epoch. */
TDM_API tdm_error* tdm_sampler_sequential(int64_t size, tdm_sampler** out);
TDM_API tdm_error* tdm_sampler_random(int64_t size, tdm_sampler** out);
/* `positions` samples, drawn by their weights: replacement 1: among all each time; 0: each at most once, for which
 * entering an epoch sorts all samples. Keeps 8 bytes a sample. */
TDM_API tdm_error* tdm_sampler_weighted(const double* weights, size_t count, int64_t positions, int32_t replacement,
                                        tdm_sampler** out);
/* These samples, shuffled or as they are listed. */
TDM_API tdm_error* tdm_sampler_subset(const int64_t* samples, size_t count, int32_t shuffle, tdm_sampler** out);
/* Batches of the caller's choice, batch_size samples each, one after the other; the last may have fewer, and stays the
 * last. Shuffled as whole batches, or as they are listed. */
TDM_API tdm_error* tdm_sampler_batches(const int64_t* samples, size_t count, int64_t batch_size, int32_t shuffle,
                                       tdm_sampler** out);
/* Samples of similar length come in one batch: in each window of so many batches of a shuffle, samples are sorted by
 * length, and the batches shuffled. Entering an epoch sorts one window. */
TDM_API tdm_error* tdm_sampler_by_length(const int64_t* lengths, size_t count, int64_t batch_size, int64_t window,
                                         tdm_sampler** out);
/* Every world_size-th position of another from `rank` on, filled up from its start: for a loader that knows nothing of
 * other ranks. */
TDM_API TDM_THREAD_SAFE tdm_error* tdm_sampler_distributed(const tdm_sampler* sampler, int32_t rank, int32_t world_size,
                                                           tdm_sampler** out);
/* The caller's own: `list` sets the samples at `count` positions from `first` on, the same for the same seed, epoch and
 * position in every process. Loaders' threads call it, several at once. by_epoch 1: it is called for all positions of an
 * epoch at once, by one thread at a time, and the list is kept: for orders that cannot be entered anywhere, which gives up
 * that at no cost, and memory of 8 bytes a position. `name`, at most 80 bytes, tells it from others in states. */
TDM_API tdm_error* tdm_sampler_create(const char* name, int64_t positions, int32_t by_epoch,
                                      TDM_CALLED(loader)
                                          tdm_error* (*list)(void* user_data, uint64_t seed, int64_t epoch,
                                                             int64_t first, int64_t* samples, size_t count),
                                      void* user_data, void (*destroy)(void* user_data), tdm_sampler** out);

/* ------------------------------------------------------------------------------------------------ dynamic partition */

/* Micro-batches of global batches for whichever rank is free: see docs/data.md. Members of a global batch are those
 * that other loaders have; the ranks of one generation of a group share a queue of leases through a store.
 *
 * On every rank: tdm_loader_next_step(); tdm_loader_next() and backward of the sum of the part's losses until there is
 * none; sum the gradients over all ranks, also by those that had no part, and divide them by
 * tdm_loader_step_global_count(); step the optimizer; tdm_loader_commit(). When ranks are lost, the survivors form the
 * next generation, take model, state and quarantine of one of them, and make new loaders. */
typedef struct tdm_dynamic_loader_options {
  size_t struct_size;
  int64_t batch_size;  /* of all ranks together */
  int64_t micro_batch; /* that a rank is given at a time */
  int32_t rank;
  int32_t world_size;
  int64_t generation;  /* counts up with every new group of the run */
  TDM_NULLABLE const char* name; /* of the loader among those that share the store; NULL: "loader" */
  int32_t shuffle;
  tdm_tail tail; /* TDM_TAIL_SHORT, which is also that of TDM_TAIL_UNSET, _DROP or _REPEAT */
  uint64_t seed;
  int64_t shuffle_block;      /* as in tdm_loader_options, here and below */
  int64_t shuffle_window;
  TDM_NULLABLE const tdm_sampler* sampler;
  int32_t threads;            /* that make micro-batches */
  int32_t prefetch;           /* micro-batches of this rank made ahead */
  int64_t prefetch_bytes;
  int32_t pin_memory;
  tdm_on_io_error on_io_error; /* a part counts as computed without what was left out */
  tdm_device device;
  int64_t io_retry_ms;
  int32_t most_failures;    /* of a sample in a step, on whichever ranks, before it is left out */
  int32_t most_quarantined; /* samples that may be left out; with one more tdm_loader_next() fails */
  int64_t lost_after_ms;    /* a rank without a sign of life for so long is given up */
  int64_t timeout_ms;       /* of tdm_loader_next(), when ranks that live do not complete their parts */
} tdm_dynamic_loader_options;
#define TDM_DYNAMIC_LOADER_OPTIONS_INIT \
  { sizeof(tdm_dynamic_loader_options), 1, 1, 0, 1, 1, NULL, 1, TDM_TAIL_UNSET, 0, 0, 0, NULL, 1, 1, 0, 0, \
    TDM_ON_IO_ERROR_RETRY, { TDM_DEVICE_CPU, 0 }, 0, 3, 1000, 30000, 300000 }
TDM_API void tdm_dynamic_loader_options_init(tdm_dynamic_loader_options* made, size_t struct_size);

/* `state` (size 0: from the start) is that of a loader of either kind to go on from, and `quarantine` (JSON, or NULL)
 * what tdm_loader_get_quarantine() gave with it. Keeps what it needs of data set and store.
 * Errors: TDM_ERROR_INVALID_ARGUMENT for options, or where ranks of one generation differ in them; TDM_ERROR_ABORTED
 * where a newer generation has begun; those of tdm_loader_restore() and of stores. Free with tdm_loader_free(), which
 * joins its threads. */
TDM_API TDM_BLOCKS tdm_error* tdm_loader_create_dynamic(const tdm_dataset* dataset, const tdm_store* store,
                                                        const tdm_dynamic_loader_options* options, const void* state,
                                                        size_t state_size, TDM_NULLABLE const char* quarantine,
                                                        tdm_loader** out);
/* Runs a recorded run again, without a store: deals what options->rank had out to it, in that order. `records` are those
 * that tdm_loader_commit() gave. Errors: those above; tdm_loader_next() gives TDM_ERROR_OUT_OF_RANGE at the log's end, and
 * TDM_ERROR_DATA_LOSS for a sample that cannot be loaded any more. */
TDM_API tdm_error* tdm_loader_create_replay(const tdm_dataset* dataset, const char* const* records, size_t record_count,
                                            const tdm_dynamic_loader_options* options, const void* state,
                                            size_t state_size, TDM_NULLABLE const char* quarantine, tdm_loader** out);

/* Begins the step behind the one that was committed last. *has_step = 0, once, at an epoch's end. Errors: what the
 * other ranks, or the store, answered to the last commit; TDM_ERROR_ABORTED after tdm_loader_abort(). */
TDM_API TDM_BLOCKS tdm_error* tdm_loader_next_step(tdm_loader* loader, int32_t* has_step);
/* Instead of computing the part that tdm_loader_next() gave last: `sample` of it cannot be computed. The part goes back,
 * and the sample's failures are counted as if it could not be loaded. Errors: TDM_ERROR_ABORTED after
 * tdm_loader_abort(). */
TDM_API TDM_BLOCKS tdm_error* tdm_loader_fail(tdm_loader* loader, int64_t sample, const char* reason);
/* The open step, or the next one, in its epoch; -1 of another loader, here and below. */
TDM_API int64_t tdm_loader_current_step(const tdm_loader* loader);
/* Samples of the step that this rank computed; that all ranks did, 0 before tdm_loader_next() gave none. */
TDM_API int64_t tdm_loader_step_local_count(const tdm_loader* loader);
TDM_API int64_t tdm_loader_step_global_count(const tdm_loader* loader);
/* Samples that are left out, by the steps that this model has seen: JSON, to be kept beside the state. Free with
 * tdm_string_free(). */
TDM_API tdm_error* tdm_loader_get_quarantine(const tdm_loader* loader, tdm_string** out);

/* -------------------------------------------------------------------------------------------------- summary writer */

/* Writes what a run measures to a file that TensorBoard shows: makes the folder if need be, and in it
 * events.out.tfevents.TIME.HOST.PROCESS.NUMBER and `suffix`, which may be NULL. Each event is in the file when its call
 * returns. Thread-safe. Free with tdm_summary_writer_free(). Errors: TDM_ERROR_IO naming folder or file.
 * Source: torch.utils.tensorboard.SummaryWriter. */
TDM_API TDM_BLOCKS tdm_error* tdm_summary_writer_create(const char* folder, TDM_NULLABLE const char* suffix,
                                                        tdm_summary_writer** out);
/* The file; lives as long as the writer. */
TDM_API TDM_THREAD_SAFE const char* tdm_summary_writer_path(const tdm_summary_writer* writer);
/* `wall_time` here and below: seconds since 1970; 0: now. */
TDM_API TDM_BLOCKS TDM_THREAD_SAFE tdm_error* tdm_summary_writer_add_scalar(tdm_summary_writer* writer, const char* tag,
                                                                            double value, int64_t step,
                                                                            double wall_time);
/* Counts of all elements, by size; those that are not finite are left out.
 * Errors: TDM_ERROR_INVALID_ARGUMENT for a complex tensor, and where no element is finite. */
TDM_API TDM_BLOCKS TDM_THREAD_SAFE tdm_error* tdm_summary_writer_add_histogram(tdm_summary_writer* writer,
                                                                               const char* tag,
                                                                               const tdm_tensor* values, int64_t step,
                                                                               double wall_time);

/* How an image's dimensions lie in its tensor; frozen numbers. */
typedef int32_t tdm_image_layout;
enum {
  TDM_IMAGE_CHW = 0, /* channels, height, width */
  TDM_IMAGE_HWC = 1,
  TDM_IMAGE_HW = 2,
  TDM_IMAGE_NCHW = 3, /* a batch: one picture, eight images a row */
  TDM_IMAGE_NHWC = 4,
};
/* As PNG. 1 (grey), 3 (RGB) or 4 (RGBA) channels; uint8 from 0 to 255, or floating point from 0 to 1, cut off outside.
 * Errors: TDM_ERROR_INVALID_ARGUMENT naming tag, shape and what it needs. */
TDM_API TDM_BLOCKS TDM_THREAD_SAFE tdm_error* tdm_summary_writer_add_image(tdm_summary_writer* writer, const char* tag,
                                                                           const tdm_tensor* image,
                                                                           tdm_image_layout layout, int64_t step,
                                                                           double wall_time);
/* Markdown. */
TDM_API TDM_BLOCKS TDM_THREAD_SAFE tdm_error* tdm_summary_writer_add_text(tdm_summary_writer* writer, const char* tag,
                                                                          const char* text, int64_t step,
                                                                          double wall_time);
/* Has the system write all events to the disk. */
TDM_API TDM_BLOCKS TDM_THREAD_SAFE tdm_error* tdm_summary_writer_flush(tdm_summary_writer* writer);
/* Flushes; later events are TDM_ERROR_CLOSED. A second time does nothing. */
TDM_API TDM_BLOCKS TDM_THREAD_SAFE tdm_error* tdm_summary_writer_close(tdm_summary_writer* writer);
TDM_API void tdm_summary_writer_free(tdm_summary_writer* writer);

#ifdef __cplusplus
}
#endif

#endif /* TANDEM_TANDEM_H */
